"""Files that a scene file names: all of them lie in its folder."""

from pathlib import Path

from pliant.errors import SceneError


def inside(folder: Path, reference: str) -> Path:
    """The file a reference names, which must lie in `folder`, symbolic links resolved."""
    rule = "allowed: a relative path with '/' to a file in the folder of the scene file"
    parts = reference.split("/")
    if not reference.isprintable() or "\\" in reference or ":" in parts[0] or parts[0] in ("", "~") or ".." in parts:
        raise SceneError(f"the path leads out of the folder of the scene file; {rule}")
    try:
        return _found(folder, (folder / reference).resolve(), rule)
    except (OSError, RuntimeError) as error:  # names too long, links that lead to themselves
        reason = getattr(error, "strerror", None) or "links that lead to themselves"
        raise SceneError(f"this file cannot be opened ({reason}); {rule}") from None


def _found(folder: Path, path: Path, rule: str) -> Path:
    """The path, if it and what is read along with it are files of the folder."""
    for file in (path, *partners(path)):
        if not file.resolve().is_relative_to(folder):
            raise SceneError(f"the path leads out of the folder of the scene file through a symbolic link; {rule}")
        if file.exists() and not file.is_file():
            raise SceneError(f"this is not a file; {rule}")
    if not path.exists():
        raise SceneError(f"there is no such file in {str(folder)!r}; {rule}")
    return path


def partners(path: Path) -> list[Path]:
    """The files that are read along with a mesh file."""
    family = (".node", ".ele", ".face")  # of TetGen
    return [path.with_suffix(suffix) for suffix in family] if path.suffix.lower() in family else []


def named_files(data: object, folder: Path) -> set[Path]:
    """The files of the folder that some text in tables names, with what is read along with them."""
    if isinstance(data, dict | list):
        entries = data.values() if isinstance(data, dict) else data
        return set().union(*(named_files(entry, folder) for entry in entries))
    if not isinstance(data, str) or "." not in data:
        return set()
    try:
        path = inside(folder, data)
    except SceneError:
        return set()
    return {path, *(file.resolve() for file in partners(path))}
