"""Small good mesh files in every format and variant, to be damaged."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import pliant as pl


@cache
def contents() -> dict[str, list[bytes]]:
    """Contents by suffix; of TetGen's pairs the .ele file after the .node file, with a line between them."""
    solid = pl.meshes.box((1, 1, 1), 1)
    named = pl.meshes.TetMesh(solid.points, solid.tets, {"low": [0, 1, 2], "x": [3]})
    shell = pl.meshes.TriMesh(*_surface(solid))
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix in (".vtu", ".msh", ".mesh", ".node"):
            for mesh in (named, *((solid.quadratic(),) if suffix != ".mesh" else ())):
                pl.meshes.write(folder / f"a{suffix}", mesh)
                found.setdefault(suffix, []).append(_content(folder / f"a{suffix}"))
        pl.meshes.write(folder / "b.msh", named, version="2")
        found[".msh"].append((folder / "b.msh").read_bytes())
        for suffix in (".obj", ".ply", ".stl", ".vtu", ".msh"):
            pl.meshes.write(folder / f"c{suffix}", shell)
            found.setdefault(suffix, []).append((folder / f"c{suffix}").read_bytes())
        _by_meshio(folder, solid, shell, found)
    return found


def _surface(solid) -> tuple[np.ndarray, np.ndarray]:
    surface = solid.surface()
    return surface.points, surface.triangles


def _content(path: Path) -> bytes:
    if path.suffix != ".node":
        return path.read_bytes()
    return path.read_bytes() + SEPARATOR + path.with_suffix(".ele").read_bytes()


SEPARATOR = b"\n=====\n"


def _by_meshio(folder: Path, solid, shell, found: dict[str, list[bytes]]) -> None:
    """Variants that pliant does not write: binary and text, packed and not."""
    import meshio

    tets = meshio.Mesh(solid.points, [("tetra", solid.tets[:, [0, 1, 3, 2]])])
    tets.cell_data = {
        "gmsh:physical": [np.ones(len(solid.tets), int)],
        "gmsh:geometrical": [np.ones(len(solid.tets), int)],
    }
    tris = meshio.Mesh(shell.points, [("triangle", shell.triangles)])
    path = folder / "m"
    for version in ("2.2", "4.1"):
        meshio.gmsh.write(path, tets, version, binary=True)
        found[".msh"].append(path.read_bytes())
    plain = meshio.Mesh(solid.points, tets.cells)
    for options in ({"binary": False}, {"compression": None}, {"compression": "zlib", "header_type": "UInt64"}):
        meshio.vtu.write(path, plain, **options)
        found[".vtu"].append(path.read_bytes())
    meshio.ply.write(path, tris, binary=False)
    found[".ply"].append(path.read_bytes())
    meshio.stl.write(path, tris, binary=True)
    found[".stl"].append(path.read_bytes())


def put(folder: Path, suffix: str, content: bytes) -> Path:
    """Write a case; a pair of files where the format has two."""
    path = folder / f"case{suffix}"
    if suffix == ".node":
        nodes, _, elements = content.partition(SEPARATOR)
        path.with_suffix(".ele").write_bytes(elements)
        content = nodes
    path.write_bytes(content)
    return path
