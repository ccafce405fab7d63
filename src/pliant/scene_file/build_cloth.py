"""From the tables of a scene file to sheets."""

from math import prod
from pathlib import Path
from typing import Any

from pliant import meshes
from pliant.errors import SceneError
from pliant.meshes.sheets import DEFAULT_GRID, GRID_PATTERNS
from pliant.scene.cloth import Cloth, Fibres, check_fibres
from pliant.scene.contact_options import CONTACT_KEYS
from pliant.scene_file.build_joints import given
from pliant.scene_file.folder import inside
from pliant.scene_file.problems import Path as KeyPath
from pliant.scene_file.schema import ClothTable
from pliant.scene_file.values import Table

CLOTH_KEYS = ("thins", "bend_stiffness", "flat", "contact_distance")
"""What a sheet says beside what all soft bodies do."""


def triangle_count(recipe: Table) -> int:
    """How many triangles a generator will make; 0 for a mesh from a file."""
    if hasattr(recipe, "file"):
        return 0
    if hasattr(recipe, "disk"):
        return 8 * recipe.cells**2
    cells = recipe.cells
    return GRID_PATTERNS[recipe.pattern or DEFAULT_GRID] * (prod(cells) if isinstance(cells, list) else cells**2)


def make_sheet(recipe: Table, folder: Path) -> meshes.TriMesh:
    """The triangle mesh that a `mesh` table describes."""
    if hasattr(recipe, "file"):
        mesh = meshes.read(inside(folder, recipe.file), repair=bool(recipe.repair))
        if not isinstance(mesh, meshes.TriMesh):
            raise SceneError(f"the file holds tets, but a cloth needs a surface; it is a {mesh!r}")
        return mesh
    if hasattr(recipe, "grid"):
        return meshes.grid(recipe.grid, recipe.cells, recipe.pattern or DEFAULT_GRID)
    return meshes.disk(recipe.disk, recipe.cells)


class ClothBuilder:
    """Part of the Builder: [[cloth]]."""

    def add_cloth(self, entry: Any, path: KeyPath) -> None:
        """One of [[cloth]]"""
        table, mesh = self.problems.validate(ClothTable, entry, path), None
        if table is not None and self.affordable(
            triangle_count(table.mesh), "triangles", entry["mesh"], (*path, "mesh")
        ):
            with self.problems.collect((*path, "mesh"), entry["mesh"]):
                mesh = make_sheet(table.mesh, self.folder)
        material = None if table is None else self._material(table.material, entry["material"], (*path, "material"))
        if mesh is None or material is None:
            self._fail(entry)
            return
        keys = ("position", "rotation", "velocity", *CONTACT_KEYS, "self_contact", "name", *CLOTH_KEYS)
        options = given(table, *keys)
        options["fibres"] = self._fibres(mesh, table, entry, (*path, "fibres"))
        if len(options["fibres"]) < len(table.fibres):
            self._fail(entry)
            return
        body = self._add(entry, path, lambda: self.scene.add_cloth(mesh, material, **options))
        if body is not None:
            self._load_soft(body, table, entry, path)
            self._clamp_and_blow(body, table, entry, path)

    def _fibres(self, mesh: meshes.TriMesh, table: ClothTable, entry: dict, path: KeyPath) -> tuple[Fibres, ...]:
        """Those that lie within the sheet; the others are noted."""
        found = []
        for index, one in enumerate(table.fibres):
            with self.problems.collect((*path, index, "direction"), entry["fibres"][index]["direction"]):
                fibres = Fibres(one.direction, one.young)
                check_fibres(mesh, fibres)
                found.append(fibres)
        return tuple(found)

    def _clamp_and_blow(self, body: Cloth, table: ClothTable, entry: dict, path: KeyPath) -> None:
        for index, clamp in enumerate(table.clamp):
            self._pin(body, clamp, entry["clamp"][index], (*path, "clamp", index), body.clamp)
        for index, wind in enumerate(table.wind):
            source, where = entry["wind"][index], (*path, "wind", index)
            velocity = self._moving(wind.velocity, source["velocity"], (*where, "velocity"))
            with self.problems.collect(where, source):
                body.wind((0.0, 0.0, 0.0) if velocity is None else velocity, **given(wind, "drag", "lift", "density"))
