"""Good scene files, small, with every key that there is: what mutations begin with."""

from pathlib import Path

import numpy as np

import pliant as pl

BASES = {path.stem: path.read_bytes() for path in sorted((Path(__file__).parent / "scenes").glob("*.toml"))}


def put_files(folder: Path) -> None:
    """The files that the scenes name."""
    solid = pl.meshes.box((1, 1, 1), 1)
    shell = solid.surface()
    pl.meshes.write(folder / "box.stl", pl.meshes.TriMesh(shell.points, shell.triangles))
    pl.meshes.write(folder / "box.msh", pl.meshes.TetMesh(solid.points, solid.tets, {"low": [0, 1, 2, 3]}))
    pl.meshes.write(folder / "sheet.obj", pl.meshes.grid((1, 1), 1))
    np.save(folder / "heights.npy", np.zeros((3, 3)))
