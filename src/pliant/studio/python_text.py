"""A scene as a Python script that builds the same scene and runs it the same way, bit for bit."""

from dataclasses import MISSING, fields, is_dataclass, replace
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.meshes import TriMesh
from pliant.meshes.generate import DEFAULT_PATTERN
from pliant.scene import selections as select
from pliant.scene import shapes
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.cloth import Clamp, Cloth
from pliant.scene.coordinates import Motor
from pliant.scene.held import Pin
from pliant.scene.joint_options import world
from pliant.scene.materials import Material
from pliant.scene.rods import Rod, RodPoint
from pliant.scene.scene import Keyframes, Scene
from pliant.scene_file import SceneFile
from pliant.scene_file.rods import rod_table

LOADS = {"pins": "pin", "forces": "force", "tractions": "traction", "pressures": "pressure", "winds": "wind"}
WIDTH = 110


def python_text(file: SceneFile, folder: Path) -> str:
    """The script; mesh files are named relative to `folder`, from which it is to be run."""
    return _Writer(file.scene, folder.resolve()).script(file.run)


class _Writer:
    """Names of variables and the expressions that use them."""

    def __init__(self, scene: Scene, folder: Path):
        self.scene, self.folder = scene, folder
        self.names: dict[int, str] = {id(world): "pliant.world"}
        taken = {"pliant", "scene", "sim", "world"}
        for thing in (*scene.bodies, *scene.joints):
            self.names[id(thing)] = _variable(thing.name, taken)
        for rod in scene.rods:
            self.names |= {id(point): f"{self.names[id(rod)]}[{k}]" for k, point in enumerate(rod)}

    def script(self, run) -> str:
        scene = self.scene
        lines = ["import pliant", "", _call("scene = pliant.Scene", self.options(scene, "gravity", "overlaps"))]
        for body in scene.bodies:
            lines += ["", *self.body(body)]
        lines += ["", *(self.joint(joint) for joint in scene.joints)] if scene.joints else []
        lines += [self.rule(rule) for rule in scene.contact_rules]
        place = [f"{key}={value!r}" for key, value in run.place.items() if value not in (None, "cpu", "float64")]
        lines += ["", _call("sim = scene.simulate", [f"dt={run.dt!r}", f"solver={self.say(run.solver)}", *place])]
        lines += [f"for _ in sim.run({run.seconds!r}):", "    pass"]
        lines += ['print(f"t = {sim.time:g} s, energy {sim.energy().total:.6g} J")', ""]
        return "\n".join(lines)

    def body(self, body: Any) -> list[str]:
        if isinstance(body, Rod):
            return self.rod(body)
        return self.soft(body) if isinstance(body, Soft) else self.rigid(body)

    def soft(self, body: Soft) -> list[str]:
        name, add = self.names[id(body)], "add_cloth" if isinstance(body, Cloth) else "add_soft"
        options = self.options(body, *_keyword_names(body, "mesh", "material"))
        lines = [_call(f"{name} = scene.{add}", [self.mesh(body), self.say(body.material), *options])]
        for group, method in LOADS.items():
            for load in getattr(body, group, ()):
                clamp = isinstance(load, Clamp)
                said = self.load(replace(load, axes=Pin.axes)) if clamp else self.load(load)
                lines.append(_call(f"{name}.{'clamp' if clamp else method}", said))
        return lines

    def rod(self, rod: Rod) -> list[str]:
        table = rod_table(rod, lambda *_: {}, lambda value: None, {})
        said = [f"{key}={self.say(table[key])}" for key in ("edges", "closed", "normal", "curvature") if key in table]
        round_rod = rod.section.kind == "circle"
        size = f"radius={rod.section.sizes[0]!r}" if round_rod else f"section={self.say(rod.section)}"
        names = _keyword_names(rod, "points", "edges", "material", "section", "normal", "curvature")
        options = [size, *said, *self.options(rod, *names)]
        name = self.names[id(rod)]
        lines = [_call(f"{name} = scene.add_rod", [self.say(rod.points), self.say(rod.material), *options])]
        for point in rod:
            lines += self.point_loads(point, self.names[id(point)])
        return lines

    def point_loads(self, point: RodPoint, name: str) -> list[str]:
        clamp = self.options(point, "velocity", "angular_velocity") if point.static else None
        lines = [] if clamp is None else [_call(f"{name}.clamp", clamp)]
        return lines + self.pushes(point, name)

    def load(self, load: Any) -> list[str]:
        """The arguments of a pin or load: where, how much, and what is not usual."""
        first, *others = fields(load)
        said = [self.say(getattr(load, first.name))]
        for entry in others:
            value = getattr(load, entry.name)
            if entry.default is MISSING or not _same(value, entry.default):
                said.append(f"{entry.name}={self.say(value)}")
        return said

    def rigid(self, body: Rigid) -> list[str]:
        name = self.names[id(body)]
        options = self.options(body, *_keyword_names(body, "shape"))
        return [_call(f"{name} = scene.add_rigid", [self.shape(body.shape), *options]), *self.pushes(body, name)]

    def pushes(self, body: Rigid, name: str) -> list[str]:
        """Forces and torques on a rigid body or a point of a rod."""
        lines = [
            _call(f"{name}.force", [self.say(force.vector), *([] if force.at is None else [self.say(force.at)])])
            for force in body.forces
        ]
        return lines + [_call(f"{name}.torque", [self.say(torque)]) for torque in body.torques]

    def mesh(self, body: Soft) -> str:
        source = dict(body.mesh.source or {})
        order = ".quadratic()" if source.pop("order", 1) == 2 else ""
        if source.get("pattern") == DEFAULT_PATTERN:
            del source["pattern"]
        if "tetrahedralize" in source:
            options = source["tetrahedralize"] | ({"repair": True} if source.get("repair") else {})
            words = [f"{key}={self.say(value)}" for key, value in options.items()]
            return f"pliant.meshes.tetrahedralize({', '.join([self.file(source['file']), *words])}){order}"
        if "file" in source:
            repair = ", repair=True" if source.get("repair") else ""
            return f"pliant.meshes.read({self.file(source['file'])}{repair}){order}"
        kind = next((key for key in ("box", "sphere", "cylinder", "grid", "disk") if key in source), None)
        if kind is None:
            raise SceneError(f"the mesh of {body.name!r} comes from no file and no generator: Python cannot say it")
        size = source.pop(kind)
        size = [f"{key}={value!r}" for key, value in size.items()] if isinstance(size, dict) else [self.say(size)]
        return f"pliant.meshes.{kind}({', '.join([*size, *(f'{k}={self.say(v)}' for k, v in source.items())])}){order}"

    def shape(self, shape: shapes.Shape) -> str:
        if isinstance(shape, shapes.Mesh | shapes.Hull | shapes.Heightfield) and shape.path is not None:
            if isinstance(shape, shapes.Heightfield):
                return f"pliant.Heightfield(None, {self.say(shape.size)}, {self.file(shape.path)})"
            repair = ["repair=True"] if shape.repair else []
            return f"pliant.{type(shape).__name__}({', '.join([f'path={self.file(shape.path)}', *repair])})"
        if isinstance(shape, shapes.Hull):
            return f"pliant.Hull({self.say(shape.points)})"
        if isinstance(shape, shapes.Heightfield):
            return f"pliant.Heightfield({self.say(shape.heights)}, {self.say(shape.size)})"
        return self.say(shape)

    def joint(self, joint: Any) -> str:
        held = [entry for entry in fields(joint) if entry.init and not entry.kw_only and entry.default is MISSING]
        said = [self.say(getattr(joint, entry.name)) for entry in held]
        names = [entry.name for entry in fields(joint) if entry.init and entry not in held]
        made = _call(f"pliant.{type(joint).__name__}", [*said, *self.options(joint, *names)])
        return _call(f"{self.names[id(joint)]} = scene.join", [made])

    def rule(self, rule: Any) -> str:
        pair = [self.say(rule.a), self.say(rule.b)]
        if rule.collide is False:
            return _call("scene.ignore_contact", pair)
        return _call("scene.contact", [*pair, *self.options(rule, "friction", "restitution")])

    def options(self, thing: Any, *names: str) -> list[str]:
        """Those of some fields that are not what they usually are, as name=value."""
        usual = {entry.name: entry.default for entry in fields(thing)}
        usual |= {e.name: e.default_factory() for e in fields(thing) if e.default_factory is not MISSING}
        given = [name for name in names if not _same(getattr(thing, name), usual[name])]
        return [f"{name}={self.say(getattr(thing, name))}" for name in given]

    def say(self, value: Any) -> str:
        """An expression for a value."""
        if id(value) in self.names:
            return self.names[id(value)]
        if isinstance(value, np.generic | np.ndarray):
            return self.say(value.tolist())
        if isinstance(value, select.Selection):
            return self.selection(value)
        if isinstance(value, TriMesh):
            repair = ", repair=True" if (value.source or {}).get("repair") else ""
            return f"pliant.meshes.read({self.file((value.source or {}).get('file', ''))}{repair})"
        if isinstance(value, Keyframes):
            return f"pliant.Keyframes({self.say(value.times)}, {self.say(value.values)})"
        if isinstance(value, Material) and value.law == "custom":
            return self.own_law(value)
        if isinstance(value, Motor):
            return f"pliant.Motor({', '.join(self.options(value, *(e.name for e in fields(value))))})"
        if is_dataclass(value):
            needed = [e.name for e in fields(value) if e.init and e.default is MISSING and e.default_factory is MISSING]
            said = [f"{name}={self.say(getattr(value, name))}" for name in needed]
            said += self.options(value, *(e.name for e in fields(value) if e.init and e.name not in needed))
            return f"pliant.{type(value).__name__}({', '.join(said)})"
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            return f"float('{value}')"
        if isinstance(value, list | tuple):
            inner = ", ".join(self.say(entry) for entry in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, bool | int | float | str | None):
            return repr(value)
        raise SceneError(f"a script cannot say {value!r}")

    def own_law(self, material: Material) -> str:
        """A material whose law is a formula."""
        if material.energy.text is None:
            raise SceneError("a law made from Python functions cannot be said by the studio")
        parameters = dict(zip(material.energy.names, material.energy.values))
        options = self.options(material, "damping", "mass_damping", "plasticity")
        said = [repr(material.energy.text), repr(material.density), repr(parameters), *options]
        return f"pliant.Material.custom({', '.join(said)})"

    def selection(self, picks: select.Selection) -> str:
        match picks:
            case select.Everything():
                return "'all'"
            case select.Where():
                return repr(picks.text)
            case select.Indices():
                return self.say(picks.indices)
            case _:
                said = [self.say(getattr(picks, entry.name)) for entry in fields(picks)]
                return f"pliant.selections.{type(picks).__name__}({', '.join(said)})"

    def file(self, path: Any) -> str:
        """A file beside the scene."""
        path = Path(path).resolve()
        return repr(path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.name)


def _keyword_names(thing: Any, *without: str) -> list[str]:
    return [entry.name for entry in fields(thing) if entry.init and entry.name not in without]


def _same(value: Any, usual: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(usual, np.ndarray):
        return usual is not MISSING and usual is not None and np.array_equal(value, usual)
    return bool(type(value) is type(usual) and value == usual) or value is usual


def _variable(name: str, taken: set[str]) -> str:
    """A variable for a thing of that name that no other has."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name).lower()
    plain = plain if plain[:1].isalpha() else f"body_{plain}"
    plain = f"{plain}_" if iskeyword(plain) else plain
    number = next(n for n in range(1, len(taken) + 2) if (plain if n == 1 else f"{plain}_{n}") not in taken)
    taken.add(chosen := plain if number == 1 else f"{plain}_{number}")
    return chosen


def _call(function: str, arguments: list[str]) -> str:
    """A call on one line, or an argument a line."""
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return line
    return f"{function}(\n" + "".join(f"    {_indented(argument)},\n" for argument in arguments) + ")"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
