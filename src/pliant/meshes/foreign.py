"""Formats written through meshio, an optional extra: .vtu, .ply, .stl. meshio is kept quiet."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from ..checks import shown
from ..errors import MeshError
from .raw_mesh import cell_block
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh
from .vtu_read import SET_PREFIX

if TYPE_CHECKING:
    from types import ModuleType


def import_meshio() -> ModuleType:
    """The module meshio, or MeshError that says how to get it."""
    try:
        import meshio
    except ImportError:
        raise MeshError("writing this format needs meshio: pip install 'pliant[io]'") from None
    return meshio


@contextlib.contextmanager
def guarded(doing: str):
    """Silence meshio and turn whatever it raises, even SystemExit, into MeshError."""
    messages = io.StringIO()
    try:
        with contextlib.redirect_stdout(messages), contextlib.redirect_stderr(messages), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with np.errstate(all="ignore"):
                yield
    except (MeshError, OSError):
        raise
    except (Exception, SystemExit) as error:
        said = [str(error)] if str(error) not in ("", "1") else messages.getvalue().split("\n")
        reason = next((line.strip() for line in said if line.strip()), type(error).__name__)
        raise MeshError(f"{doing} failed, the file is damaged or of another format: {reason}") from error


def attribute(name: str) -> str:
    """A name as XML writes it between quotes, which meshio leaves to others."""
    if not re.fullmatch("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*", name):
        raise MeshError(f"a .vtu file cannot store the name {shown(name)}; names may not hold control characters")
    return escape(name, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def write_foreign(path: Path, mesh: TetMesh | TriMesh, point_data: dict, cell_data: dict) -> None:
    """Write through meshio; only .vtu keeps sets."""
    meshio = import_meshio()
    cell_type, cells = cell_block(mesh)
    file_format = path.suffix.lower()[1:]
    points = dict(point_data)
    if file_format == "vtu":
        for name, members in mesh.sets.items():
            flags = np.zeros(len(mesh.points), dtype=np.int8)
            flags[members] = 1
            points[SET_PREFIX + name] = flags
        points = {attribute(name): values for name, values in points.items()}
        cell_data = {attribute(name): values for name, values in cell_data.items()}
    fields = {name: [np.asarray(values)] for name, values in cell_data.items()}
    with guarded("writing"):
        found = meshio.Mesh(mesh.points, [(cell_type, cells)], point_data=points, cell_data=fields)
        meshio.write(path, found, file_format=file_format)
