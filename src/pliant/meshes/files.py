"""Read and write meshes; the suffix of the file names the format.

| suffix | cells | reads sets from, writes sets as | fields |
|---|---|---|---|
| .vtu | tets of 4 or 10 nodes, or triangles | point data set:NAME | point and cell data |
| .msh | tets of 4 or 10 nodes, or triangles | physical groups | point and cell data |
| .node, .ele | tets of 4 or 10 nodes | point, face and region markers; point attributes | - |
| .mesh | tets of 4 nodes or triangles | references | - |
| .obj | triangles | groups; not written | - |
| .stl | triangles, in single precision | - | - |
| .ply | triangles | - | - |
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..checks import file_path, flag, shown
from ..errors import FileError, MeshError
from ..files import check_writable, write_atomically
from .checks import check_name
from .gmsh_read import read_gmsh
from .gmsh_write import gmsh_text
from .medit import medit_text, read_medit
from .ply import ply_bytes, read_ply
from .stl import read_stl, stl_bytes
from .tet_mesh import TetMesh
from .tetgen import element_text, node_text, read_tetgen
from .tri_mesh import TriMesh
from .vtu_read import read_vtu
from .vtu_write import write_mesh
from .wavefront import read_wavefront, wavefront_text
from .wording import worded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

READERS = {
    ".vtu": read_vtu,
    ".msh": read_gmsh,
    ".node": read_tetgen,
    ".ele": read_tetgen,
    ".mesh": read_medit,
    ".obj": read_wavefront,
    ".stl": read_stl,
    ".ply": read_ply,
}
TETS_ONLY = (".node", ".ele")
TRIANGLES_ONLY = (".obj", ".stl", ".ply")
WITH_FIELDS = (".vtu", ".msh")


def read(path: str | os.PathLike, repair: bool = False) -> TetMesh | TriMesh:
    """Read a mesh: a TetMesh when the file holds tets, a TriMesh when it holds triangles only.

    Tets of ten nodes make a mesh of order 2, with the midpoints where the file has them; a file that mixes tets of four
    and of ten nodes is refused. Tets in the node order of VTK and Gmsh are turned round. Physical groups, references
    and markers become `sets`.
    repair: as in TetMesh and TriMesh. Raises MeshError, which names the file, when it cannot be read.
    """
    path, repair = file_path(path), flag(repair, "repair")
    with reading(path):
        mesh = READERS[known_suffix(path)](path).build(repair)
    return mesh.with_source({"file": str(path.resolve()), "repair": repair})


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Let every error of reading a file be a MeshError that names it; an unknown suffix is named as well."""
    known_suffix(path)
    try:
        if not path.is_file():
            raise MeshError("this is not a file" if path.exists() else "there is no such mesh file")
        yield
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from error
    except (OSError, ValueError, LookupError, ArithmeticError, MemoryError, RecursionError) as error:
        raise MeshError(f"{path}: cannot be read, the file is damaged or of another format: {error}") from error


def write(
    path: str | os.PathLike,
    mesh: TetMesh | TriMesh,
    point_data: Mapping[str, ArrayLike] | None = None,
    cell_data: Mapping[str, ArrayLike] | None = None,
    version: str = "4",
) -> None:
    """Write a mesh; the file appears complete or not at all.

    point_data: name -> (n,) or (n, k), fields on points; cell_data: name -> (m,) or (m, k), on tets or triangles; for
    .vtu and .msh. version: of the Gmsh format, "2" or "4". Which formats keep sets: see `pliant.meshes.files`.
    """
    path = file_path(path)
    suffix = known_suffix(path)
    with writing(path):
        check_content(suffix, mesh, point_data, cell_data)
        point_data = check_fields(point_data, len(mesh.points), "point_data")
        cell_count = len(mesh.tets if isinstance(mesh, TetMesh) else mesh.triangles)
        cell_data = check_fields(cell_data, cell_count, "cell_data")
        write_all(path, suffix, mesh, point_data, cell_data, version)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let every error of writing a file be a MeshError that names it."""
    try:
        yield
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from error
    except FileError as error:
        raise MeshError(str(error)) from error


def known_suffix(path: Path) -> str:
    """The suffix in lower case, or MeshError that lists the allowed ones."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise MeshError(f"{path}: unknown mesh suffix {path.suffix!r}; allowed are {', '.join(READERS)}")
    return suffix


def check_content(suffix: str, mesh: TetMesh | TriMesh, point_data, cell_data) -> None:
    """Raise MeshError when the format cannot hold the mesh or the fields."""
    for fields in (point_data, cell_data):
        if not isinstance(fields, Mapping | None):
            raise MeshError(f"point_data and cell_data must be dicts of names and numbers, got {shown(fields)}")
    if not isinstance(mesh, TetMesh | TriMesh):
        raise MeshError(f"only a TetMesh or a TriMesh can be written, not {type(mesh).__name__}")
    check_kind(suffix, TetMesh if isinstance(mesh, TetMesh) else TriMesh)
    if suffix not in WITH_FIELDS and (point_data or cell_data):
        raise MeshError(f"{suffix} files hold no point_data or cell_data; use {' or '.join(WITH_FIELDS)}")


def check_kind(suffix: str, *kinds: type) -> None:
    """Raise MeshError when files of a suffix can hold none of the kinds, TetMesh and TriMesh."""
    if set(kinds).isdisjoint(kinds_in(suffix)):
        if suffix in TETS_ONLY:
            raise MeshError(f"{suffix} files hold tets only; for triangles use .vtu, .msh, .mesh, .obj, .stl, .ply")
        surface = worded("write mesh.surface()", "pliant mesh convert --surface writes surfaces of meshes")
        raise MeshError(f"{suffix} files hold triangles only; {surface}, or use .vtu, .msh, .mesh, .node")


def kinds_in(suffix: str) -> tuple[type, ...]:
    """The kinds of meshes that files of a suffix may hold."""
    if suffix in TETS_ONLY:
        return (TetMesh,)
    return (TriMesh,) if suffix in TRIANGLES_ONLY else (TetMesh, TriMesh)


def check_target(path: str | os.PathLike, *kinds: type) -> None:
    """Raise MeshError now when a mesh of none of the kinds, TetMesh and TriMesh, could be written later."""
    path = file_path(path)
    suffix = known_suffix(path)
    with writing(path):
        check_kind(suffix, *kinds)
        for file in written_files(path, suffix):
            check_writable(file)


def written_files(path: Path, suffix: str) -> list[Path]:
    """The files of one mesh."""
    return [path.with_suffix(each) for each in TETS_ONLY] if suffix in TETS_ONLY else [path]


def check_fields(fields: Mapping[str, ArrayLike] | None, count: int, kind: str) -> dict[str, np.ndarray]:
    """Fields as arrays of count rows, or MeshError."""
    checked = {}
    for name, given in (fields or {}).items():
        check_name(name, f"a name in {kind}")
        try:
            values = checked[name] = np.asarray(given)
        except ValueError:
            raise MeshError(f"{kind} {name!r} must be numbers, got {shown(given)}") from None
        if values.ndim not in (1, 2) or len(values) != count or not values.size or values.dtype.kind not in "iuf":
            raise MeshError(
                f"{kind} {name!r} must be numbers of shape ({count},) or ({count}, k), "
                f"not {values.dtype} of shape {values.shape}"
            )
    return checked


def write_all(path: Path, suffix: str, mesh: TetMesh | TriMesh, point_data: dict, cell_data: dict, version: str):
    """Write the file or files of one mesh."""
    if suffix in TETS_ONLY:
        for file, text in zip(written_files(path, suffix), (node_text(mesh), element_text(mesh))):
            write_text(file, text)
    elif suffix == ".msh":
        write_text(path, gmsh_text(mesh, point_data, cell_data, version))
    elif suffix == ".mesh":
        write_text(path, medit_text(mesh))
    elif suffix == ".obj":
        write_text(path, wavefront_text(mesh))
    elif suffix == ".vtu":
        write_mesh(path, mesh, point_data, cell_data)
    else:
        content = stl_bytes(mesh) if suffix == ".stl" else ply_bytes(mesh)
        with write_atomically(path) as temporary:
            temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text; the file appears complete or not at all."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def read_surface(path: str | os.PathLike) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) [m] and triangles (m, 3) of a surface file as they are, whatever is wrong with them."""
    path = file_path(path)
    with reading(path):
        return READERS[known_suffix(path)](path).triangles()


def read_as_given(path: str | os.PathLike) -> TetMesh | TriMesh:
    """As `read`, but a surface may have any of the faults that `surface_faults` finds; it remembers no file."""
    path = file_path(path)
    with reading(path):
        return READERS[known_suffix(path)](path).as_given()
