"""Saving the present state of a simulation; the suffix of the file says as what."""

import os
from pathlib import Path

import numpy as np

from pliant import meshes
from pliant.checks import file_path
from pliant.errors import SceneError
from pliant.output.checkpoint import write_checkpoint
from pliant.output.film import save_png
from pliant.output.grids import grids, merged
from pliant.output.scene_view import SIZE, picture
from pliant.output.vtu import PvdSeries, write_vtu


def save(sim, path: str | os.PathLike, **options) -> None:
    """Write the present state.

    .vtu: all bodies in one file; .pvd: a file per body, and their list; .png: a picture, with the options of
    `scene_view.picture` (size, color, camera, caption, joints, contacts); .obj, .stl, .ply: the surfaces of all bodies
    but planes and rods, of soft ones as `Simulation.surface` gives them; .npz: a checkpoint.
    """
    path = file_path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise SceneError(
            f"{path}: a state cannot be saved as {path.suffix or 'a file without a suffix'!r}; allowed are "
            f"{', '.join(WRITERS)} (films and series: pliant.Recorder)"
        )
    if options and suffix != ".png":
        raise SceneError(f"{path}: only .png takes options, got {', '.join(options)}")
    WRITERS[suffix](sim, path, **options)


def _save_vtu(sim, path: Path) -> None:
    write_vtu(path, *merged(_some_grids(sim, path)))


def _save_pvd(sim, path: Path) -> None:
    append_state(PvdSeries(path), sim)


def append_state(series: PvdSeries, sim) -> None:
    """Add the present state to a series, a part per body."""
    for grid in _some_grids(sim, series.path):
        series.append(sim.time, grid.points, grid.blocks, grid.point_data, grid.cell_data, part=grid.name)


def _some_grids(sim, path: Path):
    found = grids(sim)
    if not found:
        raise SceneError(f"{path}: there is nothing to write, the scene holds planes only")
    return found


def _save_png(sim, path: Path, *, size=SIZE, **looks) -> None:
    save_png(path, picture(sim, size, **looks))


def _save_surfaces(sim, path: Path) -> None:
    plain = [body for body in sim.scene.soft_bodies if body.drawing is None]
    sheets = {body.name for body in plain}  # these are triangles among the grids too
    found = [part for part in _some_grids(sim, path) if part.kind == "triangle" and part.name not in sheets]
    parts = [(part.points, part.cells) for part in found]
    parts += [(surface.points, surface.triangles) for surface in map(sim.surface, plain)]
    if not parts:
        raise SceneError(
            f"{path}: there is nothing to write, the scene has no surfaces; rods are lines, in .vtu and .pvd"
        )
    offsets = np.cumsum([0] + [len(points) for points, _ in parts])
    triangles = np.concatenate([cells + offset for (_, cells), offset in zip(parts, offsets)])
    meshes.write(path, meshes.TriMesh.trusted(np.concatenate([points for points, _ in parts]), triangles))


WRITERS = {".vtu": _save_vtu, ".pvd": _save_pvd, ".png": _save_png, ".npz": write_checkpoint}
WRITERS |= dict.fromkeys((".obj", ".stl", ".ply"), _save_surfaces)
