"""Points of a rod keep their places when the line is cut into other segments: what names them is numbered anew."""

from pliant.studio.commands import Command, Drop, Group, Path, Put, Tables

LOADS = ("clamp", "force", "torque")


def keeping_points(tables: Tables, command: Command) -> Command:
    """A command that changes into how many segments a line is cut, with the numbers that this changes; any other as it
    is."""
    path = command.path if isinstance(command, Put | Drop) else ()
    if len(path) != 3 or path[0] != "rod" or path[2] != "segments":
        return command
    rods, index = tables.get("rod", []), path[1]
    if not isinstance(index, int) or not 0 <= index < len(rods) or "edges" in rods[index]:
        return command
    rod = rods[index]
    before, after = rod.get("segments", 1), command.value if isinstance(command, Put) else 1
    if type(after) is not int or after < 1 or after == before:
        return command
    numbered = [
        Put(("rod", index, kind, k, "point"), round(load["point"] * after / before))
        for kind in LOADS
        for k, load in enumerate(rod.get(kind, ()))
    ]
    names = [(path, said, _renumbered(said, rod.get("name"), before, after)) for path, said in _names(tables)]
    return Group((command, *numbered, *(Put(path, new) for path, said, new in names if new != said)))


def _names(tables: Tables) -> list[tuple[Path, str]]:
    """Where joints name what they hold, and the names."""
    found: list[tuple[Path, str]] = []
    for number, joint in enumerate(tables.get("joint", ())):
        found += [(("joint", number, key), joint[key]) for key in ("a", "b") if key in joint]
        path = joint.get("path", ())
        found += [(("joint", number, "path", k, "body"), point["body"]) for k, point in enumerate(path)]
    return found


def _renumbered(said: str, rod: str | None, before: int, after: int) -> str:
    name, _, number = said.rpartition(".")
    return f"{name}.{round(int(number) * after / before)}" if name == rod and number.isdigit() else said
