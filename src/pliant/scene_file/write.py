"""From a scene to a TOML file: the scene as plain tables, meshes as recipes or as files beside it."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.scene import selections as select
from pliant.scene import shapes
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.catalogue import JOINTS
from pliant.scene.cloth import Clamp, Cloth
from pliant.scene.contact_options import CONTACT_KEYS, ContactRule
from pliant.scene.coordinates import Coordinate, Motor
from pliant.scene.couplings import Coupling, Tendon
from pliant.scene.materials import Material
from pliant.scene.scene import Keyframes, Scene
from pliant.scene_file.joints import COORDINATES
from pliant.scene_file.keeper import SHAPES_OF_ARRAYS, MeshKeeper
from pliant.scene_file.layout import scene_text
from pliant.scene_file.materials import CUSTOM, FILE_LAWS
from pliant.scene_file.rods import rod_table
from pliant.scene_file.run import RunSettings, option_kinds
from pliant.scene_file.values import FORMAT
from pliant.solve.options import SOLVERS

Tables = dict[str, Any]


def save(scene: Scene, path: str | Path, run: RunSettings | None = None) -> None:
    """Write the scene, and how to run it, as a TOML file that reads back as the same scene.

    Meshes made by a generator are saved as its call, meshes read from the folder of `path` as a reference, others as
    files beside `path`. A function of time can be saved as pliant.Keyframes only; others raise SceneError.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise SceneError(f"{path}: cannot save the scene, there is no folder {str(path.parent)!r}")
    check_saveable(scene)
    keeper = MeshKeeper(scene, path)
    tables = {"format": FORMAT, **describe(scene, keeper.soft_table, keeper.shape_table, keeper.drawing_table)}
    tables["run"] = {} if run is None else run_table(run)
    text = scene_text(name_materials(tables))
    try:
        keeper.write_files()
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SceneError(f"{path}: cannot write the scene file: {error.strerror or error}") from None


def same(first: Scene, second: Scene) -> bool:
    """Whether two scenes say the same, to the last digit; functions of time must be the same objects or Keyframes."""
    return describe(first) == describe(second)


def tet_arrays(body: Soft) -> Tables:
    """The mesh of a soft body as plain numbers."""
    sets = {name: members.tolist() for name, members in body.mesh.sets.items()}
    elements = "triangles" if isinstance(body, Cloth) else "tets"
    return {"points": body.mesh.points.tolist(), elements: getattr(body.mesh, elements).tolist(), "sets": sets}


def drawing_arrays(body: Soft) -> Tables:
    """The drawing of a soft body as plain numbers."""
    return {"points": body.drawing.points.tolist(), "triangles": body.drawing.triangles.tolist()}


def shape_arrays(body: Rigid) -> Tables:
    """One of SHAPES_OF_ARRAYS as plain numbers."""
    match body.shape:
        case shapes.Hull():
            return {"hull": body.shape.points.tolist()}
        case shapes.Heightfield():
            return {"heightfield": {"size": list(body.shape.size), "heights": body.shape.heights.tolist()}}
    surface = body.shape.surface
    return {"mesh": {"points": surface.points.tolist(), "triangles": surface.triangles.tolist()}}


def describe(
    scene: Scene,
    mesh: Callable[[Soft], Tables] = tet_arrays,
    shape: Callable[[Rigid], Tables] = shape_arrays,
    drawing: Callable[[Soft], Tables] = drawing_arrays,
) -> Tables:
    """The scene as plain nested tables, as in a file but with materials in place; defaults are left out.

    mesh: says the mesh of a soft body, shape: that of a rigid one if it is one of SHAPES_OF_ARRAYS, drawing: the
    surface drawn for a soft body; by default in full.
    """
    names = [body.name for body in scene.bodies]
    solids = [body for body in scene.soft_bodies if not isinstance(body, Cloth)]
    sheets = [body for body in scene.soft_bodies if isinstance(body, Cloth)]
    usual = [body.name for body in (*solids, *sheets, *scene.rigid_bodies, *scene.rods)]
    return {
        "gravity": list(scene.gravity),
        **given(scene, "overlaps"),
        "order": [] if names == usual else names,
        "soft": [soft_table(body, mesh(body), drawing) for body in solids],
        "cloth": [cloth_table(body, mesh(body), drawing) for body in sheets],
        "rigid": [rigid_table(body, shape) for body in scene.rigid_bodies],
        "rod": [rod_table(rod, given, plain, material_table(rod.material)) for rod in scene.rods],
        "joint": [joint_table(joint) for joint in scene.joints],
        "contact": [contact_table(rule) for rule in scene.contact_rules],
    }


def given(thing: Any, *keys: str) -> Tables:
    """Those of some fields of a dataclass that differ from their defaults."""
    defaults = {entry.name: plain(entry.default) for entry in fields(thing)}
    values = {key: plain(getattr(thing, key)) for key in keys}
    return {key: value for key, value in values.items() if value is not None and value != defaults[key]}


def plain(value: Any) -> Any:
    """Tuples and arrays as lists, keyframes as a table, plain numbers; functions of time stay what they are."""
    if isinstance(value, Keyframes):
        return {"times": list(value.times), "values": plain(value.values)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(entry) for entry in value] if isinstance(value, tuple) else value


def soft_table(body: Soft, mesh: Tables, drawing: Callable[[Soft], Tables]) -> Tables:
    """[[soft]]"""
    table = {"name": body.name, "mesh": mesh, "material": material_table(body.material)}
    table |= given(body, "position", "rotation", "velocity", *CONTACT_KEYS, "self_contact")
    if body.drawing is not None:
        table["drawing"] = drawing(body)
    table["pin"] = [
        {"nodes": selection_value(p.nodes), **given(p, "axes", "velocity", "displacement")}
        for p in body.pins
        if not isinstance(p, Clamp)
    ]
    table["force"] = [
        {"nodes": selection_value(f.nodes), "vector": plain(f.vector), **given(f, "spread")} for f in body.forces
    ]
    table["traction"] = [{"faces": selection_value(t.faces), "vector": plain(t.vector)} for t in body.tractions]
    table["pressure"] = [{"faces": selection_value(p.faces), "pressure": plain(p.pressure)} for p in body.pressures]
    return table


def cloth_table(body: Cloth, mesh: Tables, drawing: Callable[[Soft], Tables]) -> Tables:
    """[[cloth]]"""
    table = soft_table(body, mesh, drawing) | given(body, "thins", "bend_stiffness", "flat", "contact_distance")
    table["fibres"] = [{"direction": list(one.direction), "young": one.young} for one in body.fibres]
    table["clamp"] = [
        {"nodes": selection_value(p.nodes), **given(p, "velocity", "displacement")}
        for p in body.pins
        if isinstance(p, Clamp)
    ]
    table["wind"] = [
        {"velocity": plain(wind.velocity), **given(wind, "drag", "lift", "density")} for wind in body.winds
    ]
    return table


def material_table(material: Material) -> Tables:
    """[materials.NAME]; a law made from Python functions is only itself, and no file can say it."""
    formula = getattr(material.energy, "text", None) if material.law == CUSTOM else None
    if material.law == CUSTOM and formula is None:
        return {"law": CUSTOM, "material": material}
    if formula is not None:
        parameters = dict(zip(material.energy.names, material.energy.values))
        table = {"energy": formula} | ({"parameters": parameters} if parameters else {})
        table["density"] = material.density
    else:
        table = {key: getattr(material, key) for key in ("law", "young", "poisson", "density")}
    table |= given(material, "damping", "mass_damping")
    return table if material.plasticity is None else table | {"plasticity": dict(vars(material.plasticity))}


def rigid_table(body: Rigid, shape: Callable[[Rigid], Tables]) -> Tables:
    """[[rigid]]"""
    said = shape(body) if isinstance(body.shape, SHAPES_OF_ARRAYS) else shape_table(body.shape)
    table = {"name": body.name, "shape": said, **given(body, "static", "density", "mass")}
    if body.inertia is not None:
        diagonal = np.array_equal(body.inertia, np.diag(np.diag(body.inertia)))
        table["inertia"] = (np.diag(body.inertia) if diagonal else body.inertia).tolist()
    table |= given(body, "position", "rotation", "velocity", "angular_velocity", *CONTACT_KEYS)
    table["force"] = [{"vector": plain(f.vector), **({} if f.at is None else {"at": list(f.at)})} for f in body.forces]
    table["torque"] = [{"vector": plain(vector)} for vector in body.torques]
    return table


def shape_table(shape: shapes.Shape) -> Tables:
    """The value of `shape`, for shapes of a few numbers."""
    values = {entry.name: plain(getattr(shape, entry.name)) for entry in fields(shape)}
    return {type(shape).__name__.lower(): values if len(values) > 1 else next(iter(values.values()))}


def selection_value(selection: select.Selection) -> Any:
    """The value of `nodes` or `faces`."""
    if isinstance(selection, select.Everything):
        return "all"
    if isinstance(selection, select.Where):
        return selection.text
    if isinstance(selection, select.InBox):
        return {"box": [list(selection.low), list(selection.high)]}
    if isinstance(selection, select.InSphere):
        return {"sphere": {"centre": list(selection.centre), "radius": selection.radius}}
    if isinstance(selection, select.InHalfSpace):
        return {"halfspace": {"point": list(selection.point), "normal": list(selection.normal)}}
    if isinstance(selection, select.InSet):
        return {"set": selection.name}
    if isinstance(selection, select.Indices):
        return {"indices": selection.indices.tolist()}
    raise SceneError(f"a scene file cannot say the selection {selection!r}; give indices instead")


def joint_table(joint: Any) -> Tables:
    """[[joint]]"""
    kind = next(name for name, joint_class in JOINTS.items() if type(joint) is joint_class)
    table = {"name": joint.name, "type": kind} | held_table(joint)
    if getattr(joint, "nodes", None) is not None:
        table["nodes"] = selection_value(joint.nodes)
    if getattr(joint, "motor", None) is not None:
        table["motor"] = motor_table(joint.motor)
    for key in COORDINATES:
        if isinstance(free := getattr(joint, key, None), Coordinate) and free != Coordinate():
            table[key] = coordinate_table(free)
    special = ("a", "b", "at", "path", "nodes", "name", "motor", *COORDINATES)
    return table | given(joint, *(entry.name for entry in fields(joint) if entry.name not in special))


def contact_table(rule: ContactRule) -> Tables:
    """[[contact]]"""
    return {"between": [rule.a.name, rule.b.name], **given(rule, "collide", "friction", "restitution")}


def held_table(joint: Any) -> Tables:
    """What a joint holds on to."""
    if isinstance(joint, Coupling):
        tied = {"first": joint.first, "second": joint.second}
        return {key: other.name for key, other in tied.items() if other is not None}
    if isinstance(joint, Tendon):
        return {"path": [{"body": thing.name, "at": plain(point)} for thing, point in joint.path]}
    sides = {"a": joint.a.name, "b": joint.b.name}
    return sides | ({"at": plain(joint.at)} if hasattr(joint, "at") else {})


def coordinate_table(free: Coordinate) -> Tables:
    """What a free coordinate of a joint has."""
    table = given(free, *(entry.name for entry in fields(free) if entry.name != "motor"))
    return table | ({} if free.motor is None else {"motor": motor_table(free.motor)})


def motor_table(motor: Motor) -> Tables:
    """What drives a coordinate."""
    return given(motor, "velocity", "position", "stiffness", "damping", "max_torque")


def run_table(run: RunSettings) -> Tables:
    """[run]"""
    table = {"dt": run.dt, "seconds": run.seconds, **given(run, "device", "precision", "threads")}
    table |= {"frames_per_second": run.frames_per_second, "output": list(run.output), "color": run.color}
    table |= {key: True for key in ("joints", "contacts") if getattr(run, key)}
    if run.camera is not None:
        table["camera"] = {key: list(value) for key, value in run.camera.plain().items()}
    return table | {"solver": solver_table(run.solver)}


def solver_table(solver: Any) -> Tables:
    """run.solver"""
    name = next(name for name, kind in SOLVERS.items() if type(solver) is kind)
    for option in fields(solver):
        if getattr(solver, option.name) is None and option.default is not None:
            raise SceneError(
                f"run.solver.{option.name}: None cannot be saved to a file; left out, it would be {option.default!r}"
            )
    kinds = option_kinds(type(solver))
    return {"type": name, **{key: kinds[key](value) for key, value in given(solver, *kinds).items()}}


def name_materials(tables: Tables) -> Tables:
    """Move the materials of bodies to [materials], each once, named after the first body made of it."""
    named: dict[str, Tables] = {}
    for body in (*tables["soft"], *tables["cloth"], *tables["rod"]):
        same_material = (name for name, material in named.items() if material == body["material"])
        name = next(same_material, body["name"])
        named.setdefault(name, body["material"])
        body["material"] = name
    return tables | {"materials": named}


def check_saveable(scene: Scene) -> None:
    """Raise SceneError that names everything in the scene that only Python can say."""
    lines = []
    for kind in ("soft", "cloth", "rigid", "rod"):
        for body in describe(scene, lambda body: {}, lambda body: {})[kind]:
            what = "rod" if kind == "rod" else f"{kind} body"
            lines += [f"{what} {body['name']!r}: {line}" for line in unsaveable(body)]
    for joint in map(joint_table, scene.joints):
        lines += [f"joint {joint['name']!r}: {line}" for line in unsaveable(joint)]
    if lines:
        raise SceneError("\n".join(lines))


def unsaveable(body: Tables) -> Iterator[str]:
    """What the table of a body holds that no file can: functions, displacements node by node."""
    if body.get("material", {}).get("law") == CUSTOM:
        yield (
            "material: a law made from Python functions cannot be saved to a file; "
            f"use a formula as text, or one of the laws {', '.join(FILE_LAWS)}, instead"
        )
    for index, pin in enumerate(body.get("pin", ())):
        if isinstance(pin.get("displacement"), list) and isinstance(pin["displacement"][0], list):
            yield (
                f"pin[{index}].displacement: an array with a row for each node cannot be saved to a file; "
                "use one vector for all nodes of a pin instead"
            )
    for key in functions({name: value for name, value in body.items() if name != "material"}):
        yield (
            f"{key}: a Python function of time cannot be saved to a file; use pliant.Keyframes(times, values) instead"
        )


def functions(value: Any, key: str = "") -> Iterator[str]:
    """The keys under which plain tables hold a function."""
    if callable(value):
        yield key
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from functions(entry, f"{key}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from functions(entry, f"{key}[{index}]")
