"""How the meshes, hulls and heightfields of a scene are kept in a scene file."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant import meshes
from pliant.errors import PliantError
from pliant.meshes.generate import DEFAULT_PATTERN
from pliant.meshes.sheets import DEFAULT_GRID
from pliant.scene import shapes
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.cloth import Cloth
from pliant.scene.number_files import read_numbers
from pliant.scene.scene import Scene
from pliant.scene_file.folder import inside

Tables = dict[str, Any]

SHAPES_OF_ARRAYS = (shapes.Mesh, shapes.Hull, shapes.Heightfield)
"""Shapes that are more than a few numbers."""

INLINE_NUMBERS = 192
"""How many numbers of a hull or a heightfield stand in the scene file itself; more go to a file beside it."""


class MeshKeeper:
    """Decides how each mesh of a scene is kept: as a recipe, as a reference to a file of the folder, as a new file, or,
    if a hull or a heightfield is small, as numbers in the scene file."""

    def __init__(self, scene: Scene, path: Path):
        self.folder, self.stem = path.parent.resolve(), path.stem
        self.kept = {body.name: self._reference(body, _file_of(body), _still_holds) for body in scene.bodies}
        self.drawn = {
            body.name: self._reference(body, (body.drawing.source or {}).get("file"), _still_draws)
            for body in scene.soft_bodies
            if body.drawing is not None
        }
        self.new_files: dict[str, meshes.TetMesh | meshes.TriMesh | np.ndarray] = {}

    def _reference(self, body: Soft | Rigid, file: Any, holds: Callable) -> str | None:
        """The relative name of a file in the folder, if it still holds the mesh, shape or drawing of this body."""
        if file is None or not (path := Path(file).resolve()).is_relative_to(self.folder):
            return None
        reference = path.relative_to(self.folder).as_posix()
        try:
            return reference if holds(inside(self.folder, reference), body) else None
        except PliantError:
            return None

    def soft_table(self, body: Soft) -> Tables:
        """The value of `mesh`."""
        source = body.mesh.source or {}
        if source and "file" not in source and not body.mesh.sets:
            usual = ("pattern", DEFAULT_GRID if isinstance(body, Cloth) else DEFAULT_PATTERN)
            return {key: value for key, value in source.items() if (key, value) != usual}
        reference = self.kept[body.name]
        extra = {key: source[key] for key in ("repair", "order") if reference and source.get(key)}
        if reference and "tetrahedralize" in source:
            extra["tetrahedralize"] = source["tetrahedralize"]
        suffix = ".msh" if isinstance(body, Cloth) else ".node"
        return {"file": reference or self._new_file(body.name, suffix, body.mesh), **extra}

    def drawing_table(self, body: Soft) -> Tables:
        """The value of `drawing`."""
        reference = self.drawn[body.name]
        repair = {"repair": True} if reference and body.drawing.source.get("repair") else {}
        return {"file": reference or self._new_file(f"{body.name}_drawing", ".obj", body.drawing), **repair}

    def shape_table(self, body: Rigid) -> Tables:
        """The value of `shape`."""
        reference, shape = self.kept[body.name], body.shape
        if isinstance(shape, shapes.Heightfield):
            return {"heightfield": {"size": list(shape.size), **self._heights(body.name, reference, shape.heights)}}
        if isinstance(shape, shapes.Hull) and not reference and shape.points.size <= INLINE_NUMBERS:
            return {"hull": shape.points.tolist()}
        repair = {"repair": True} if reference and shape.repair else {}
        kind = "hull" if isinstance(shape, shapes.Hull) else "mesh"
        return {kind: reference or self._new_file(body.name, ".obj", shape.surface), **repair}

    def _heights(self, name: str, reference: str | None, heights: np.ndarray) -> Tables:
        if not reference and heights.size <= INLINE_NUMBERS:
            return {"heights": heights.tolist()}
        return {"file": reference or self._new_file(name, ".npy", heights)}

    def _new_file(self, name: str, suffix: str, mesh: meshes.TetMesh | meshes.TriMesh | np.ndarray) -> str:
        base = f"{self.stem}_{re.sub(r'[^A-Za-z0-9_-]', '_', name)}"
        taken = {Path(file).stem for file in (*self.kept.values(), *self.drawn.values(), *self.new_files) if file}
        number = next(n for n in range(len(taken) + 1) if (f"{base}_{n}" if n else base) not in taken)
        file = (f"{base}_{number}" if number else base) + suffix
        self.new_files[file] = mesh
        return file

    def write_files(self) -> None:
        """Write the meshes and heights that no recipe and no file holds."""
        for file, mesh in self.new_files.items():
            if isinstance(mesh, np.ndarray):
                np.save(self.folder / file, mesh)
            else:
                meshes.write(self.folder / file, mesh)


def _file_of(body: Soft | Rigid) -> Any:
    """The file that the mesh or shape of a body was read from."""
    if isinstance(body, Soft):
        return (body.mesh.source or {}).get("file")
    return body.shape.path if isinstance(body, Rigid) and isinstance(body.shape, SHAPES_OF_ARRAYS) else None


def _still_holds(path: Path, body: Soft | Rigid) -> bool:
    """Whether reading a file again gives the mesh or shape of a body."""
    if isinstance(body, Soft):
        source = body.mesh.source
        repair = source.get("repair", False)
        if "tetrahedralize" in source:
            found = meshes.tetrahedralize(path, repair=repair, **source["tetrahedralize"])
        else:
            found = meshes.read(path, repair=repair)
        return same_mesh(found.quadratic() if source.get("order", 1) == 2 else found, body.mesh)
    if isinstance(body.shape, shapes.Heightfield):
        return np.array_equal(read_numbers(path), body.shape.heights)
    return same_mesh(type(body.shape)(path=path, repair=body.shape.repair).surface, body.shape.surface)


def _still_draws(path: Path, body: Soft) -> bool:
    """Whether reading a file again gives the drawing of a body."""
    return same_mesh(meshes.read(path, repair=body.drawing.source.get("repair", False)), body.drawing)


def same_mesh(first: Any, second: Any) -> bool:
    """Whether two meshes of one kind have the same points, elements and (tets only) sets."""
    if type(first) is not type(second):
        return False
    tets = isinstance(first, meshes.TetMesh)
    elements = "tets" if tets else "triangles"
    alike = np.array_equal(first.points, second.points)
    alike = alike and np.array_equal(getattr(first, elements), getattr(second, elements))
    if not tets:
        return alike
    sets = first.sets.keys() == second.sets.keys()
    return alike and sets and all(np.array_equal(first.sets[name], second.sets[name]) for name in first.sets)
