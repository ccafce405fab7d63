"""From the tables of a scene file to a scene: what needs meshes, names and one another is checked here."""

import warnings
from math import prod
from pathlib import Path
from typing import Any

from pliant import meshes
from pliant.checks import listed
from pliant.errors import SceneError
from pliant.meshes.generate import BOX_PATTERNS, DEFAULT_PATTERN
from pliant.scene import shapes
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.contact_options import CONTACT_KEYS
from pliant.scene.joint_options import world
from pliant.scene.materials import Material, Plasticity
from pliant.scene.rods import Rod
from pliant.scene.scene import Keyframes, Scene
from pliant.scene_file.build_cloth import ClothBuilder
from pliant.scene_file.build_joints import JointBuilder, given, make_selection
from pliant.scene_file.build_rods import RodBuilder
from pliant.scene_file.folder import inside
from pliant.scene_file.loads import KeyframesTable, NumberKeyframesTable, PinTable
from pliant.scene_file.materials import EnergyTable, MaterialTable, material_kind
from pliant.scene_file.problems import MOST_WORDS, Problems, did_you_mean, show, show_path
from pliant.scene_file.problems import Path as KeyPath
from pliant.scene_file.schema import SHAPE_TABLES, ContactTable, RigidTable, SceneTable, SoftTable
from pliant.scene_file.values import Table

MAX_TETS = 2_000_000
"""How many tets and triangles of sheets all generated meshes of a file may have together."""

MANY_TETS = 200_000
"""More than so many are announced before they are made."""

BYTES_PER_TET = 4_000
"""About what a simulation needs for each."""


KINDS_OF_SHAPES = {shape.__name__.lower(): shape for shape in shapes.SHAPES}

SOFT_LOADS = {"force": ("nodes", "vector"), "traction": ("faces", "vector"), "pressure": ("faces", "pressure")}
"""The loads of a soft body: the key that picks where, the key of the value."""

NO_LOAD = {"vector": (0.0, 0.0, 0.0), "pressure": 0.0}
"""In place of a value that could not be made: whatever else is wrong with the load is found too."""


def build_scene(
    data: dict, table: SceneTable | None, folder: Path, problems: Problems
) -> tuple[Scene, dict[int, KeyPath]]:
    """The scene in the tables `data`, checked as `table`, and the keys of its bodies and joints by their id; meshes are
    read from `folder`.

    Problems are noted, and what has none is built.
    """
    scene = Scene() if table is None else Scene(**given(table, "gravity", "overlaps"))
    builder = Builder(scene, folder, problems)
    builder.add_materials(_tables(data, "materials", dict))
    for index, entry in enumerate(_tables(data, "soft", list)):
        builder.add_soft(entry, ("soft", index))
    for index, entry in enumerate(_tables(data, "cloth", list)):
        builder.add_cloth(entry, ("cloth", index))
    for index, entry in enumerate(_tables(data, "rigid", list)):
        builder.add_rigid(entry, ("rigid", index))
    for index, entry in enumerate(_tables(data, "rod", list)):
        builder.add_rod(entry, ("rod", index))
    for index, entry in enumerate(_tables(data, "joint", list)):
        builder.add_joint(entry, ("joint", index))
    for index, entry in enumerate(_tables(data, "contact", list)):
        builder.add_contact(entry, ("contact", index))
    if table is not None and table.order is not None:
        builder.reorder(table.order)
    return scene, builder.keys


def _tables(data: dict, key: str, kind: type) -> Any:
    """The tables under a key; none where the key holds something else, which the schema has noted."""
    return data[key] if isinstance(data.get(key), kind) else kind()


def tet_count(recipe: Table) -> int:
    """How many tets a generator will make; 0 for a mesh from a file."""
    cells = getattr(recipe, "cells", 0)
    if hasattr(recipe, "box"):
        return BOX_PATTERNS[recipe.pattern or DEFAULT_PATTERN] * (prod(cells) if isinstance(cells, list) else cells**3)
    if hasattr(recipe, "sphere"):
        return 48 * cells**3
    radial, axial = cells if isinstance(cells, list) else (cells, cells)
    return 24 * radial**2 * axial


def make_mesh(recipe: Table, folder: Path) -> meshes.TetMesh:
    """The tet mesh that a `mesh` table describes."""
    mesh = _linear_mesh(recipe, folder)
    return mesh.quadratic() if recipe.order == 2 else mesh


def _linear_mesh(recipe: Table, folder: Path) -> meshes.TetMesh:
    """The mesh of a file, or that of a recipe before its order is raised."""
    if hasattr(recipe, "file"):
        file, repair = inside(folder, recipe.file), bool(recipe.repair)
        if recipe.tetrahedralize is not None:
            options = given(recipe.tetrahedralize, *type(recipe.tetrahedralize).model_fields)
            return meshes.tetrahedralize(file, repair=repair, **options)
        mesh = meshes.read(file, repair=repair)
        if not isinstance(mesh, meshes.TetMesh):
            raise SceneError("the file holds a surface, but a soft body needs tets; tetrahedralize = {} makes them")
        return mesh
    if hasattr(recipe, "box"):
        return meshes.box(recipe.box, recipe.cells, recipe.pattern or DEFAULT_PATTERN)
    if hasattr(recipe, "sphere"):
        return meshes.sphere(recipe.sphere, recipe.cells)
    return meshes.cylinder(recipe.cylinder.radius, recipe.cylinder.height, recipe.cells)


def make_shape(table: Table, folder: Path) -> shapes.Shape:
    """The shape that a `shape` table describes."""
    kind = next(key for key in SHAPE_TABLES if hasattr(table, key))
    value = getattr(table, kind)
    if kind == "mesh":
        return shapes.Mesh(inside(folder, value), repair=bool(table.repair))
    if kind == "hull":
        return _make_hull(table, folder)
    if kind == "heightfield":
        return _make_heightfield(value, folder)
    shape = KINDS_OF_SHAPES[kind]
    return shape(value.radius, value.length) if isinstance(value, Table) else shape(value)


def _make_hull(table: Table, folder: Path) -> shapes.Hull:
    if isinstance(table.hull, str):
        return shapes.Hull(path=inside(folder, table.hull), repair=bool(table.repair))
    if table.repair is not None:
        raise SceneError("repair is for hulls of mesh files; the hull of points needs none")
    return shapes.Hull(table.hull)


def _make_heightfield(table: Table, folder: Path) -> shapes.Heightfield:
    if (table.heights is None) == (table.file is None):
        raise SceneError("a heightfield has its heights in one place; allowed: heights or file, one of the two")
    return shapes.Heightfield(table.heights, table.size, None if table.file is None else inside(folder, table.file))


def make_material(table: MaterialTable | EnergyTable) -> Material:
    """The material that a table describes."""
    options = given(table, *type(table).model_fields)
    if table.plasticity is not None:
        options["plasticity"] = Plasticity(**table.plasticity.model_dump())
    if isinstance(table, EnergyTable):
        options.pop("law", None)
        return Material.custom(**options)
    return Material(**options)


class Builder(ClothBuilder, RodBuilder, JointBuilder):
    """Fills a scene from tables; whatever is wrong is noted in `problems` and left out."""

    def __init__(self, scene: Scene, folder: Path, problems: Problems):
        self.scene = scene
        self.folder = folder
        self.problems = problems
        self.materials: dict[str, Material | None] = {}
        self.tets = 0
        self.keys: dict[int, KeyPath] = {}
        """By which key of the file a body or a joint is described, by its id."""
        self.joints: dict[str, Any] = {}
        self.failed: set[str] = set()
        """Names of bodies that could not be made: a joint with one of them is no further problem."""

    def add_materials(self, tables: dict[str, Any]) -> None:
        """[materials]"""
        for name, entry in tables.items():
            path = ("materials", name)
            self.materials[name] = None
            if (table := self.problems.validate(material_kind(entry), entry, path)) is not None:
                with self.problems.collect(path, entry):
                    self.materials[name] = make_material(table)

    def add_soft(self, entry: Any, path: KeyPath) -> None:
        """One of [[soft]]"""
        table = self.problems.validate(SoftTable, entry, path)
        mesh = None if table is None else self._mesh(table.mesh, entry["mesh"], (*path, "mesh"))
        material = None if table is None else self._material(table.material, entry["material"], (*path, "material"))
        if mesh is None or material is None:
            self._fail(entry)
            return
        options = given(table, "position", "rotation", "velocity", *CONTACT_KEYS, "self_contact", "name")
        if table.drawing is not None:
            options["drawing"] = self._drawing(table.drawing, entry["drawing"], (*path, "drawing"))
        thickness = options.pop("thickness", None)
        body = self._add(entry, path, lambda: self.scene.add_soft(mesh, material, **options))
        if body is not None:
            with self.problems.collect((*path, "thickness"), thickness):
                body.set_thickness(thickness)
            self._load_soft(body, table, entry, path)

    def _drawing(self, table: Table, entry: Any, path: KeyPath) -> meshes.TriMesh | None:
        with self.problems.collect(path, entry):
            surface = meshes.read(inside(self.folder, table.file), repair=bool(table.repair))
            if not isinstance(surface, meshes.TriMesh):
                raise SceneError("the file holds tets; a surface of triangles is drawn")
            return surface
        return None

    def _load_soft(self, body: Soft, table: SoftTable, entry: dict, path: KeyPath) -> None:
        for index, pin in enumerate(table.pin):
            self._pin(body, pin, entry["pin"][index], (*path, "pin", index))
        for kind, (picks, key) in SOFT_LOADS.items():
            for index, load in enumerate(getattr(table, kind)):
                source, where = entry[kind][index], (*path, kind, index)
                value = self._moving(getattr(load, key), source[key], (*where, key))
                with self.problems.collect((*where, picks), source[picks]):
                    selection = make_selection(getattr(load, picks))
                    getattr(body, kind)(selection, NO_LOAD[key] if value is None else value, **given(load, "spread"))

    def _pin(self, body: Soft, pin: PinTable, entry: dict, path: KeyPath, hold=None) -> None:
        """Hold nodes by a pin, or as `hold` does."""
        motion = {
            key: self._moving(getattr(pin, key), entry[key], (*path, key))
            for key in ("velocity", "displacement")
            if key in entry
        }
        if len(motion) == 2:
            self.problems.add(path, entry, "has a velocity and a displacement; allowed: one of the two")
            motion.clear()
        with self.problems.collect((*path, "nodes"), entry["nodes"]):
            (hold or body.pin)(make_selection(pin.nodes), **motion, **given(pin, "axes"))

    def add_rigid(self, entry: Any, path: KeyPath) -> None:
        """One of [[rigid]]"""
        table = self.problems.validate(RigidTable, entry, path)
        shape = None
        if table is not None:
            with self.problems.collect((*path, "shape"), entry["shape"]):
                shape = make_shape(table.shape, self.folder)
        if shape is None:
            self._fail(entry)
            return
        keys = ("position", "rotation", *CONTACT_KEYS, "name")
        options = given(table, *keys, "density", "mass", "inertia", "static")
        for key in table.model_fields_set & {"velocity", "angular_velocity"}:
            options[key] = self._moving(getattr(table, key), entry[key], (*path, key)) or (0.0, 0.0, 0.0)
        body = self._add(entry, path, lambda: self.scene.add_rigid(shape, **options))
        if body is not None:
            self._load_rigid(body, table, entry, path)

    def _load_rigid(self, body: Rigid, table: RigidTable, entry: dict, path: KeyPath) -> None:
        for kind in ("force", "torque"):
            for index, load in enumerate(getattr(table, kind)):
                source, where = entry[kind][index]["vector"], (*path, kind, index, "vector")
                vector = self._moving(load.vector, source, where)
                with self.problems.collect(where, source):
                    getattr(body, kind)(NO_LOAD["vector"] if vector is None else vector, **given(load, "at"))

    def add_contact(self, entry: Any, path: KeyPath) -> None:
        """One of [[contact]]"""
        table = self.problems.validate(ContactTable, entry, path)
        if table is None:
            return
        bodies = [self._body(name, (*path, "between", index)) for index, name in enumerate(table.between)]
        if None in bodies:
            return
        coefficients = given(table, "friction", "restitution")
        with self.problems.collect(path, entry):
            if table.collide is not False and not coefficients:
                raise SceneError("says nothing; allowed: collide = false, or friction, restitution or both")
            if table.collide is False and coefficients:
                raise SceneError(f"{' and '.join(coefficients)} of bodies that do not collide; allowed: collide alone")
            if table.collide is False:
                self.scene.ignore_contact(*bodies)
            else:
                self.scene.contact(*bodies, **coefficients)

    def reorder(self, names: list[str]) -> None:
        """Put the bodies in the order of the key `order`."""
        known = [body.name for body in self.scene.bodies]
        if sorted(names) == sorted(known):
            places = {name: place for place, name in enumerate(names)}
            self.scene.bodies.sort(key=lambda body: places[body.name])
        elif not self.failed:
            self.problems.add(("order",), names, f"does not name every body once; allowed: the names {listed(known)}")

    def _mesh(self, recipe: Table, entry: Any, path: KeyPath) -> meshes.TetMesh | None:
        count = 0 if hasattr(recipe, "file") else tet_count(recipe)
        if not self.affordable(count, "tets", entry, path):
            return None
        with self.problems.collect(path, entry):
            return make_mesh(recipe, self.folder)
        return None

    def affordable(self, count: int, what: str, entry: Any, path: KeyPath) -> bool:
        """Whether a body may have so many elements besides those before it; noted if not, announced if many."""
        if self.tets + count > MAX_TETS:
            many = f"asks for {count} {what}" + (f" besides {self.tets} of other bodies" if self.tets else "")
            self.problems.add(path, entry, f"{many}; allowed: at most {MAX_TETS} in a scene file, take fewer cells")
            return False
        self.tets += count
        if count > MANY_TETS:
            size = count * BYTES_PER_TET / 2**30
            text = f"asks for {count} {what}, which take about {size:.1f} GB to simulate; fewer cells take less"
            warnings.warn(f"{self.problems.file}: {show_path(path)}: {text}", stacklevel=3)
        return True

    def _material(self, value: Any, entry: Any, path: KeyPath) -> Material | None:
        if not isinstance(value, str):
            with self.problems.collect(path, entry):
                return make_material(value)
            return None
        if value not in self.materials:
            known = listed(self.materials) or "none is defined; write a table [materials.NAME]"
            hint = did_you_mean(value, self.materials)
            self.problems.add(path, value, f"no material has this name{hint}; allowed: {known}")
        return self.materials.get(value)

    def _moving(self, value: Any, entry: Any, path: KeyPath) -> Any:
        if not isinstance(value, KeyframesTable | NumberKeyframesTable):
            return value
        with self.problems.collect(path, entry):
            return Keyframes(tuple(value.times), tuple(value.values))
        return None

    def _add(self, entry: dict, path: KeyPath, add: Any) -> Soft | Rigid | None:
        with self.problems.collect(path, entry):
            body = add()
            self.keys[id(body)] = path
            return body
        self._fail(entry)
        return None

    def _fail(self, entry: Any) -> None:
        if isinstance(entry, dict):
            self.failed.add(str(entry.get("name")))

    def _side(self, name: str, path: KeyPath) -> Any:
        """What a joint holds on to; None where that is wrong, which is noted."""
        found = world if name == world.name else self._body(name, path, world.name)
        if isinstance(found, Rod):
            self.problems.add(
                path, name, f"a joint holds a point of a rod, not all of it; allowed: {found.point_names}"
            )
            return None
        return found

    def _body(self, name: str, path: KeyPath, *besides: str) -> Soft | Rigid | None:
        """The body of that name; None where there is none, which is noted. besides: what else the name may be."""
        body = self.scene.named(name)
        if body is not None or name.rpartition(".")[0] in self.failed:  # a point of a rod that is wrong
            return body
        if name not in self.failed and self.problems.full:
            self.problems.add(path, name, "no body has this name")
        elif isinstance(rod := self.scene.named(name.rpartition(".")[0]), Rod):
            self.problems.add(path, name, f"the rod has no such point; allowed: {rod.point_names}")
        elif name not in self.failed:
            names = [body.name for body in self.scene.bodies[:MOST_WORDS]]
            some = sorted(self.failed - {"None"})[:MOST_WORDS] if len(self.failed) <= MOST_WORDS else []
            known = ", ".join([listed([*names, *map(show, some)]), *besides]).removeprefix(", ")
            hint = did_you_mean(name, names)
            self.problems.add(path, name, f"no body has this name{hint}; allowed: {known}")
        return None
