"""From the tables of a scene file to rods."""

from typing import Any

from pliant import meshes
from pliant.errors import SceneError
from pliant.scene.rods import Rod
from pliant.scene.sections import Section
from pliant.scene_file.build_joints import given
from pliant.scene_file.folder import inside
from pliant.scene_file.problems import Path as KeyPath
from pliant.scene_file.rods import ROD_KEYS, RodTable, make_section

MAX_SEGMENTS = 50_000
"""How many segments all rods of a file may have together."""


class RodBuilder:
    """Part of the Builder: [[rod]]."""

    segments = 0
    """So many so far."""

    def add_rod(self, entry: Any, path: KeyPath) -> None:
        """One of [[rod]]"""
        table = self.problems.validate(RodTable, entry, path)
        material = None if table is None else self._material(table.material, entry["material"], (*path, "material"))
        if material is None:
            self._fail(entry)
            return
        shape, section = self._shape(table, entry, path), self._section(table, entry, path)
        wrong = shape is None or (table.section is not None and section is None)
        if wrong or not self._countable(table, shape, entry, path):
            self._fail(entry)
            return
        options = given(table, "position", "rotation", "velocity", *ROD_KEYS, "self_contact", "name")
        options |= given(table, "radius", "edges", "closed", "segments", "normal", "curvature", "straight", "stretched")
        options |= {} if section is None else {"section": section}
        rod = self._add(entry, path, lambda: self.scene.add_rod(shape, material, **options))
        if rod is not None:
            self._load_rod(rod, table, entry, path)

    def _shape(self, table: RodTable, entry: dict, path: KeyPath):
        """The points of a rod, or the mesh of a file whose edges it is; None where something is wrong with these."""
        if (table.mesh is None) == (table.points is None):
            said = "has points and a mesh" if table.mesh is not None else "has neither points nor a mesh"
            allowed = "allowed: `points`, or a `mesh` whose edges are its segments"
            self.problems.add(path, entry, f"a rod {said}; {allowed}")
            return None
        if table.mesh is None:
            return table.points
        for key in ("edges", "closed"):
            if getattr(table, key) is not None:
                self.problems.add((*path, key), entry[key], "goes with `points`; a mesh has its own edges")
                return None
        with self.problems.collect((*path, "mesh"), entry["mesh"]):
            return meshes.read(inside(self.folder, table.mesh.file), repair=bool(table.mesh.repair))
        return None

    def _section(self, table: RodTable, entry: dict, path: KeyPath) -> Section | None:
        """The section of a rod; None where none is said, or where it is wrong, which is noted."""
        if table.section is not None:
            with self.problems.collect((*path, "section"), entry["section"]):
                return make_section(table.section)
        return None

    def _countable(self, table: RodTable, shape, entry: dict, path: KeyPath) -> bool:
        """Whether the segments of all rods are not too many; it is noted where they are."""
        edges = table.edges or (shape if table.mesh is None else shape.edges)
        count = len(edges) * (table.segments or 1)
        if (total := self.segments + count) > MAX_SEGMENTS:
            key = "segments" if table.segments is not None else "points" if table.mesh is None else "mesh"
            allowed = f"allowed: at most {MAX_SEGMENTS} of all rods of a scene file"
            self.problems.add((*path, key), entry[key], f"makes {total} segments of rods; {allowed}")
            return False
        self.segments = total
        return True

    def _load_rod(self, rod: Rod, table: RodTable, entry: dict, path: KeyPath) -> None:
        for kind in ("clamp", "force", "torque"):
            for index, load in enumerate(getattr(table, kind)):
                source, where = entry[kind][index], (*path, kind, index)
                keys = [key for key in ("vector", "velocity", "angular_velocity") if key in source]
                said = {key: self._moving(getattr(load, key), source[key], (*where, key)) for key in keys}
                values = {key: (0.0, 0.0, 0.0) if value is None else value for key, value in said.items()}
                with self.problems.collect((*where, "point"), load.point):
                    if load.point >= len(rod):
                        raise SceneError(f"the rod has the points 0 to {len(rod) - 1}")
                    getattr(rod[load.point], kind)(**values, **given(load, "at"))
