"""Scenes as TOML files, both ways. A file is data: reading one runs no code and opens nothing beyond its folder."""

import re
import tomllib
from pathlib import Path

from pliant.checks import file_path
from pliant.errors import SceneError
from pliant.scene.scene import Scene
from pliant.scene_file.build import build_scene
from pliant.scene_file.folder import named_files
from pliant.scene_file.problems import Problems
from pliant.scene_file.run import RunSettings, SceneFile, View, read_run
from pliant.scene_file.schema import SceneTable
from pliant.scene_file.write import describe, same, save

__all__ = ["RunSettings", "SceneFile", "View", "describe", "from_tables", "load", "parse", "read", "same", "save"]

MAX_BYTES = 64 * 2**20
"""A scene file is text written by hand or by `save`; meshes are files of their own."""


MOST_PARTS = 100
"""How many names with dots between them make a key at most: each costs the parser as much as all before it."""

KEY_CHAIN = re.compile(rf"""(?<![\w"'-])(?>[\w"'-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS},}}""")


def load(path: str | Path) -> Scene:
    """The scene in a TOML file; SceneError lists everything that is wrong with it, a line each."""
    return read(path).scene


def read(path: str | Path) -> SceneFile:
    """The scene in a TOML file and how to run it; SceneError lists everything that is wrong with it, a line each."""
    path = file_path(path, "the path of a scene file")
    return from_tables(parse(path), folder_of(path), str(path))


def from_tables(data: dict, folder: Path, name: str) -> SceneFile:
    """The scene in the tables of a file, and how to run it; meshes are read from `folder`, errors start with `name`."""
    problems = Problems(name)
    table = problems.validate(SceneTable, data, ())
    run = read_run(data["run"], problems) if isinstance(data.get("run"), dict) else RunSettings()
    scene, keys = build_scene(data, table, folder, problems)
    problems.finish()
    return SceneFile(scene, run, name, keys, frozenset(named_files(data, folder)))


def folder_of(path: Path) -> Path:
    """The folder of a file, links resolved."""
    try:
        return path.parent.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to themselves
        raise SceneError(f"{path}: its folder cannot be read: {error}") from None


def parse(path: Path) -> dict:
    """The tables of a TOML file; SceneError names the line and column of a mistake in the syntax."""
    try:
        if path.exists() and not path.is_file():
            raise SceneError(f"{path}: this is not a file; a scene file is needed")
        if path.stat().st_size > MAX_BYTES:
            raise SceneError(f"{path}: the file is larger than {MAX_BYTES} bytes; is it a scene file?")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SceneError(f"{path}: cannot read the scene file: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SceneError(f"{path}: line {line}: the file is not UTF-8 text: {error.reason}") from None
    if chain := KEY_CHAIN.search(text):
        line = text.count("\n", 0, chain.start()) + 1
        raise SceneError(f"{path}: line {line}: a key has more than {MOST_PARTS} parts; is it a scene file?")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{path}: {_place(str(error), text)}") from None
    except RecursionError:
        raise SceneError(f"{path}: its arrays or tables are nested too deep; is it a scene file?") from None
    except ValueError as error:  # numbers of thousands of digits
        raise SceneError(f"{path}: the file is not a scene file: {error}") from None


def _place(message: str, text: str) -> str:
    """The message of the TOML parser, with the place in front."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if match:
        return f"line {match[2]}, column {match[3]}: not valid TOML: {match[1]}"
    lines = text.split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}: not valid TOML: {message}"
