"""Scene files that the studio opens and saves: those of one folder, and examples; no path leads anywhere else."""

from functools import cache
from pathlib import Path

from pliant.errors import SceneError
from pliant.files import write_atomically

PAGE = Path(__file__).parent / "page"
"""The page as `make studio` builds it, and a folder of examples."""

LONGEST_NAME = 120


def plain_name(name: object, *suffixes: str) -> str:
    """A file name without folders that ends in one of some suffixes."""
    fits = isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST_NAME and name[0] != "."
    if not fits or any(letter in name for letter in '/\\:<>|?*"') or Path(name).suffix.lower() not in suffixes:
        raise SceneError(f"a file name must be plain, without folders, and end in {' or '.join(suffixes)}")
    return name


def inside(folder: Path, name: str) -> Path:
    """The file of that name in a folder, links followed: it must not lead out."""
    path = (folder / name).resolve()
    if path.parent != folder.resolve():
        raise SceneError(f"{name!r} is a link that leads out of the folder of the studio")
    return path


def question(path: Path, own: bool, tables: dict) -> str | None:
    """What a person should know before a scene is written to a path; None where nothing is lost.

    own: whether it is the file that the scene was read from or last written to; tables: what would be written.
    """
    if not path.exists():
        return None
    if not own:
        return f"{path.name} exists already. Overwrite it?"
    try:
        lost = _comments(path.read_text(encoding="utf-8")) - _comments(scene_text(tables))
    except (OSError, UnicodeDecodeError):
        return f"{path.name} cannot be read any more. Overwrite it?"
    return f"The comments in {path.name} will be lost. Save nevertheless?" if lost else None


def _comments(text: str) -> set[str]:
    """The comments of a TOML file: what follows a # outside of quoted text, line by line."""
    found = set()
    for line in text.splitlines():
        quote = ""
        for place, letter in enumerate(line):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter == "#":
                found.add(line[place:].strip())
                break
    return found


MESHES = (".stl", ".obj", ".ply", ".msh", ".vtu")
"""Suffixes of mesh files that a page may put into the folder."""


def store(folder: Path, name: str, data: bytes) -> tuple[str, bool]:
    """Put a mesh file into a folder; no file that is there is changed. Its name, with a number where it was taken, and
    whether it is new."""
    name = plain_name(name, *MESHES)
    stem, suffix = Path(name).stem, Path(name).suffix
    for number in range(1, 1000):
        file = name if number == 1 else f"{stem} {number}{suffix}"
        path = inside(folder, file)
        if not path.exists():
            with write_atomically(path) as temporary:
                temporary.write_bytes(data)
            return file, True
        if path.is_file() and path.read_bytes() == data:
            return file, False
    raise SceneError(f"there are too many files named {name!r}")


def bring(tables: dict, base: Path, home: Path) -> None:
    """Put the mesh files that tables name in their folder, which may be that of the examples, into the studio's."""
    from pliant.scene_file.folder import named_files  # as in scene_text

    if base == home:
        return
    for file in sorted(named_files(tables, base.resolve())):
        path = inside(home, plain_name(file.name, *MESHES))
        if path.exists() and path.read_bytes() != file.read_bytes():
            raise SceneError(f"the scene needs the mesh {file.name!r}, and another file of that name is in the folder")
        store(home, file.name, file.read_bytes())


def scenes(folder: Path) -> list[str]:
    """The scene files in a folder."""
    files = folder.glob("*.toml") if folder.is_dir() else ()
    return sorted(file.name for file in files if file.is_file() and not file.name.startswith("."))


@cache
def examples(page: Path) -> list[dict[str, str]]:
    """The examples of a page: file, what its first comment says of it, and the address of its picture."""
    found = []
    for file in scenes(page / "examples"):
        comment = (page / "examples" / file).read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("#").strip()
        about = "" if comment.startswith("A pliant scene:") else comment  # what the writer of files says of all of them
        picture = picture_name(file)
        found.append({"file": file, "about": about, "picture": picture if (page / picture).is_file() else ""})
    return found


def picture_name(file: str) -> str:
    """The file of the page that shows an example."""
    return f"example-{Path(file).stem}.webp"


def write_scene(path: Path, tables: dict) -> None:
    """Write tables as a scene file."""
    with write_atomically(path) as temporary:
        temporary.write_text(scene_text(tables), encoding="utf-8", newline="\n")


def scene_text(tables: dict) -> str:
    """Tables as the text of a scene file."""
    from pliant.scene_file import layout  # takes a second to load, which nobody waits for before the page is there

    empty = {"run": {}, "materials": {}, "soft": [], "cloth": [], "rigid": [], "rod": [], "joint": [], "contact": []}
    return layout.scene_text(empty | tables)
