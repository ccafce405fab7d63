"""Edits of a scene as commands on its tables, those of a scene file: apply, invert, serialise.

`apply` changes the tables and returns the inverse command, so undo needs no copies of scenes. Tables are plain: dicts,
lists, text, numbers and booleans, as TOML and JSON both say them.
"""

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.errors import SceneError

Tables = dict[str, Any]
Path = tuple[str | int, ...]

BODIES = ("soft", "cloth", "rigid", "rod")
ROOTS = ("gravity", "overlaps", "order", "run", "materials", *BODIES, "joint", "contact")
"""What a command may change; `format` stays what it is."""

DEEPEST = 12
"""How many keys a path may have, and how deep a value may be nested."""

MOST_COMMANDS = 1000
"""How many edits can be undone."""

MOST_LOGGED = 400
"""How many edits a log holds; older ones become a part of the tables with which it begins."""


def find(tables: Tables, path: Path) -> Any:
    """What lies at a path; SceneError where nothing does."""
    place: Any = tables
    for depth, key in enumerate(path):
        fits = isinstance(place, list if isinstance(key, int) else dict)
        if (
            not fits
            or (isinstance(key, int) and not 0 <= key < len(place))
            or (isinstance(key, str) and key not in place)
        ):
            raise SceneError(f"the scene has no {'.'.join(map(str, path[: depth + 1]))}")
        place = place[key]
    return place


@dataclass(frozen=True)
class Put:
    """Gives a key of a table a value, whether it had one or not."""

    path: Path
    value: Any

    def apply(self, tables: Tables) -> "Command":
        table, key = find(tables, self.path[:-1]), self.path[-1]
        if isinstance(table, list):
            before = find(tables, self.path)
            table[key] = self.value
            return Put(self.path, before)
        if not isinstance(table, dict) or not isinstance(key, str):
            raise SceneError(f"{'.'.join(map(str, self.path))} is no key of a table")
        inverse = Put(self.path, table[key]) if key in table else Drop(self.path)
        table[key] = self.value
        return inverse


@dataclass(frozen=True)
class Drop:
    """Takes a key out of a table, or an entry out of a list."""

    path: Path

    def apply(self, tables: Tables) -> "Command":
        table, before = find(tables, self.path[:-1]), find(tables, self.path)
        inverse = Insert(self.path, before) if isinstance(table, list) else Put(self.path, before)
        del table[self.path[-1]]
        return inverse


@dataclass(frozen=True)
class Insert:
    """Puts an entry into a list, before the one that has its index."""

    path: Path
    value: Any

    def apply(self, tables: Tables) -> "Command":
        entries, index = find(tables, self.path[:-1]), self.path[-1]
        if not isinstance(entries, list) or not isinstance(index, int) or not 0 <= index <= len(entries):
            raise SceneError(f"{'.'.join(map(str, self.path))} is no place in a list")
        entries.insert(index, self.value)
        return Drop(self.path)


@dataclass(frozen=True)
class Group:
    """Several commands, one after the other; all or none."""

    members: tuple["Command", ...]

    def apply(self, tables: Tables) -> "Command":
        inverses: list[Command] = []
        try:
            for member in self.members:
                inverses.append(member.apply(tables))
        except SceneError:
            for inverse in reversed(inverses):
                inverse.apply(tables)
            raise
        return Group(tuple(reversed(inverses)))


Command = Put | Drop | Insert | Group
KINDS = {"put": Put, "drop": Drop, "insert": Insert}


def serialise(command: Command) -> Tables:
    """The command as plain tables, for JSON."""
    if isinstance(command, Group):
        return {"do": "group", "members": [serialise(member) for member in command.members]}
    name = next(name for name, kind in KINDS.items() if isinstance(command, kind))
    return {"do": name, "path": list(command.path)} | ({} if name == "drop" else {"value": command.value})


def deserialise(data: Any, depth: int = 0) -> Command:
    """The command that plain tables say; SceneError for anything else."""
    if not isinstance(data, dict) or depth > DEEPEST:
        raise SceneError("a command is a table")
    if data.get("do") == "group" and isinstance(data.get("members"), list):
        return Group(tuple(deserialise(member, depth + 1) for member in data["members"]))
    if data.get("do") not in KINDS:
        raise SceneError(f"a command does one of {', '.join(KINDS)}, group, got {str(data.get('do'))[:40]!r}")
    path = _path(data.get("path"))
    if data["do"] == "drop":
        return Drop(path)
    if "value" not in data:
        raise SceneError("the command has no value")
    _check_plain(data["value"])
    return KINDS[data["do"]](path, data["value"])


def _path(path: Any) -> Path:
    good = isinstance(path, list) and 0 < len(path) <= DEEPEST
    if not good or not all(type(key) in (str, int) for key in path) or path[0] not in ROOTS:
        raise SceneError(f"a path is a list of keys and indices that starts with one of {', '.join(ROOTS)}")
    return tuple(path)


def _check_plain(value: Any, depth: int = 0) -> None:
    """Refuse what no scene file can say: null, and tables nested very deep."""
    if depth > DEEPEST:
        raise SceneError(f"a value is nested more than {DEEPEST} deep")
    if value is None:
        raise SceneError("a value is empty")
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_plain(entry, depth + 1)


@dataclass
class History:
    """What has been done to the tables, and what has been undone."""

    tables: Tables
    undos: list[Command] = field(default_factory=list)
    redos: list[Command] = field(default_factory=list)
    done: list[Command] = field(default_factory=list)
    """What has been applied since `start`, undoing included: the log that a crash leaves."""
    start: Tables = field(init=False)

    def __post_init__(self):
        self.start = copy.deepcopy(self.tables)

    def settle(self) -> None:
        """The tables as they are have been saved: the log begins anew."""
        self.start, self.done = copy.deepcopy(self.tables), []

    def do(self, command: Command) -> None:
        """Apply a command; what was undone before it can no longer be done again."""
        self._write_down(command)
        try:
            self.undos.append(command.apply(self.tables))
        except SceneError:
            self.done.pop()
            raise
        self.redos.clear()
        del self.undos[:-MOST_COMMANDS]

    def undo(self) -> None:
        """Take back the last command."""
        self._turn(self.undos, self.redos, "undo")

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._turn(self.redos, self.undos, "redo")

    def forget(self) -> None:
        """Take back the last command for good: it turned out to be wrong."""
        self.undos.pop().apply(self.tables)
        self.done.pop()

    def _turn(self, source: list[Command], target: list[Command], name: str) -> None:
        if not source:
            raise SceneError(f"there is nothing to {name}")
        command = source.pop()
        self._write_down(command)
        target.append(command.apply(self.tables))

    def _write_down(self, command: Command) -> None:
        """Log a command as it is before later ones change what it has put into the tables."""
        self.done.append(copy.deepcopy(command))
        if len(self.done) > MOST_LOGGED:
            for old in self.done[: MOST_LOGGED // 2]:
                old.apply(self.start)
            del self.done[: MOST_LOGGED // 2]


def free_name(tables: Tables, wanted: str) -> str:
    """The wanted name of a body or joint, where one has it with the next number: after "part 2" comes "part 3"."""
    taken = {entry.get("name") for kind in (*BODIES, "joint") for entry in tables.get(kind, ())} | {"world"}
    base = re.sub(r" \d+$", "", wanted)
    names = (f"{base} {number}" for number in range(2, len(taken) + 4))
    return wanted if wanted not in taken else next(name for name in names if name not in taken)


def adding(tables: Tables, kind: str, table: Tables) -> Command:
    """The command that adds a body or joint under a free name, or a rule of contact."""
    if kind not in (*BODIES, "joint", "contact"):
        raise SceneError(f"what is added must be one of {', '.join(BODIES)}, joint, contact, got {str(kind)[:40]!r}")
    if not isinstance(table, dict):
        raise SceneError("what is added must be a table")
    _check_plain(table)
    wanted = table.get("name")
    name = {"name": free_name(tables, wanted if isinstance(wanted, str) and wanted else kind)}
    named = table if kind == "contact" else {**table, **name}
    index = len(tables.get(kind, ()))
    make = [] if kind in tables else [Put((kind,), [])]
    order = [Insert(("order", len(tables["order"])), named["name"])] if kind in BODIES and tables.get("order") else []
    return Group((*make, Insert((kind, index), named), *order))


def removing(tables: Tables, kind: str, index: int) -> Command:
    """The command that takes out a body or joint, with the joints and contacts that name it."""
    gone = [(kind, index)]
    name = find(tables, (kind, index)).get("name")
    if name is not None:
        names, more = {name}, True
        while more:  # a gear goes with its joints
            more = [
                ("joint", number)
                for number, joint in enumerate(tables.get("joint", ()))
                if ("joint", number) not in gone and names & set(_named(joint))
            ]
            gone += more
            names |= {tables["joint"][number].get("name") for _, number in more} - {None}
        gone += [("contact", k) for k, rule in enumerate(tables.get("contact", ())) if name in rule.get("between", ())]
    commands: list[Command] = [Drop(path) for path in sorted(gone, key=lambda path: -path[1])]
    if name in tables.get("order", ()):
        commands.append(Drop(("order", tables["order"].index(name))))
    return Group(tuple(commands))


def renaming(tables: Tables, kind: str, index: int, name: str) -> Command:
    """The command that gives a body or joint another name, and all that name it."""
    if not isinstance(name, str) or not name.strip():
        raise SceneError("a name must not be empty")
    name, old = name.strip(), find(tables, (kind, index)).get("name")
    if name != old and free_name(tables, name) != name:
        raise SceneError(f"the name {name[:60]!r} is taken")
    commands: list[Command] = [Put((kind, index, "name"), name)]
    if old is None:
        return Group(tuple(commands))
    for number, joint in enumerate(tables.get("joint", ())):
        for key in ("a", "b", "first", "second"):
            if (said := _renamed(joint.get(key), old, name)) is not None:
                commands.append(Put(("joint", number, key), said))
        for place, point in enumerate(joint.get("path", ())):
            if (said := _renamed(point.get("body"), old, name)) is not None:
                commands.append(Put(("joint", number, "path", place, "body"), said))
    for number, rule in enumerate(tables.get("contact", ())):
        for place, said in enumerate(rule.get("between", ())):
            if said == old:
                commands.append(Put(("contact", number, "between", place), name))
    if old in tables.get("order", ()):
        commands.append(Put(("order", tables["order"].index(old)), name))
    return Group(tuple(commands))


def _renamed(said: Any, old: str, name: str) -> str | None:
    """What names a thing after it has another name; None where something else is named. `old.3` is a point of a rod."""
    if said == old:
        return name
    return name + said[len(old) :] if isinstance(said, str) and said.startswith(f"{old}.") else None


def _named(joint: Tables) -> list[str]:
    """The bodies and joints that a joint holds on to."""
    held: Sequence[Any] = [joint.get(key) for key in ("a", "b", "first", "second")]
    return [name for name in held if isinstance(name, str)] + [point.get("body") for point in joint.get("path", ())]
