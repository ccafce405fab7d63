"""Everything public that can be called, from the signatures: a new function is tried on the day it is there."""

import inspect
import tempfile
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import pliant as pl
from pliant.scene import bodies, rods
from pliant.scene import cloth as sheets
from pliant.scene.sealed import Sealed

OPTIONS = {
    "add_soft": bodies.Soft,
    "add_rigid": bodies.Rigid,
    "add_cloth": sheets.Cloth,
    "add_rod": rods.Rod,
}
"""Classes whose fields are the options of calls that take any."""

LEFT_OUT = (".trusted", ".mass_properties", ".make_bodies", ".put", ".seal", ".open_copy", ".with_motor")
"""Methods for pliant itself."""

LOOKS = ("size", "color", "camera", "caption", "joints", "contacts")
MOTOR = ("velocity", "position", "stiffness", "damping", "max_torque")
MATERIAL = ("damping", "mass_damping", "plasticity")


@dataclass
class World:
    """A small scene with something of everything, fresh for each case."""

    scene: pl.Scene
    soft: bodies.Soft
    ball: bodies.Rigid
    block: bodies.Rigid
    hinge: pl.Hinge
    slider: pl.Slider
    screw_joint: pl.Cylindrical
    pin: bodies.Pin
    folder: Path
    sim: pl.Simulation | None = None
    cloth: sheets.Cloth | None = None
    rod: rods.Rod | None = None
    many: pl.Simulations | None = None
    modes: pl.Modes | None = None

    def simulated(self) -> pl.Simulation:
        if self.sim is None:
            self.sim = self.scene.simulate(dt=0.01)
            self.many = pl.simulate_many(self.scene, 0.01, count=2, workers=1)
        return self.sim

    def ringing(self) -> pl.Modes:
        if self.modes is None:
            self.modes = self.scene.modes(3)
        return self.modes

    def dressed(self) -> "World":
        """With a sheet and a rod, which fewer solvers know."""
        material = pl.Material.corotated(1e6, 0.3, 300)
        self.cloth = self.scene.add_cloth(pl.meshes.grid((1, 1), 1), material, 0.001, position=(0, 5, 0), name="sheet")
        self.rod = self.scene.add_rod([(6, 0, 0), (6, 1, 0)], material, 0.01, segments=3, name="rod")
        self.cloth.clamp("x < 0.1")
        self.rod.clamp(0)
        return self


def world(folder: Path | None = None, joints: bool = True) -> World:
    """The scene of a case; without joints it has an equilibrium nearby."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), 1), pl.Material.corotated(1e5, 0.3, 1000), name="soft")
    pin = soft.pin("x < 0.1")
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1.0, position=(3, 0, 0), name="ball")
    block = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), density=500, position=(3, 0, 1), name="block")
    if not joints:
        for body in (ball, block):
            scene.join(pl.Fixed(pl.world, body, body.position))
        return World(scene, soft, ball, block, *scene.joints, None, pin, Path(folder or tempfile.gettempdir()))
    motor = pl.Motor(velocity=1.0, max_torque=2.0)
    hinge = scene.join(pl.Hinge(pl.world, ball, (3, 0, 0.5), (0, 1, 0), motor=motor, limits=(-1, 1)))
    slider = scene.join(pl.Slider(ball, block, (3, 0, 1), (0, 0, 1)))
    both = scene.join(pl.Cylindrical(pl.world, block, (3, 0, 1), (0, 0, 1)))
    return World(scene, soft, ball, block, hinge, slider, both, pin, Path(folder or tempfile.gettempdir()))


def callables(w: World) -> dict[str, object]:
    """Public names with what they call: classes, functions, and methods of things in a world."""
    found = {}
    for name in pl.__all__:
        thing = getattr(pl, name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            found[name] = thing
            for own, value in inspect.getmembers(thing):
                if isinstance(inspect.getattr_static(thing, own), classmethod) and not own.startswith("_"):
                    found[f"{name}.{own}"] = value
        elif inspect.isfunction(thing):
            found[name] = thing
        elif inspect.ismodule(thing):
            public = getattr(thing, "__all__", [key for key in vars(thing) if not key.startswith("_")])
            for own in public:
                value = getattr(thing, own)
                if callable(value) and getattr(value, "__module__", "").startswith(thing.__name__.split(".meshes")[0]):
                    found[f"{name}.{own}"] = value
    things = {"scene": w.scene, "soft": w.soft, "ball": w.ball, "mesh": w.soft.mesh, "surface": w.soft.mesh.surface()}
    if w.rod is not None:
        things |= {"cloth": w.cloth, "rod": w.rod, "point": w.rod[1]}
    if w.sim is not None:
        things |= {"sim": w.sim, "many": w.many}
        things["recorder"] = pl.Recorder(w.sim, w.folder, ["case.vtu"])
    things |= {"hinge": w.hinge, "section": pl.Section.tube(0.02, 0.01), "motor": pl.Motor(velocity=1.0)}
    if w.modes is not None:
        things["modes"] = w.modes
    things |= {"nodes": w.soft.nodes, "path": pl.Keyframes((0, 1), (0, 1))}
    for label, thing in things.items():
        for own in dir(type(thing)):
            if not own.startswith(("_", "check_")) and inspect.isfunction(inspect.getattr_static(type(thing), own)):
                found[f"{label}.{own}"] = getattr(thing, own)
    return {name: value for name, value in found.items() if not name.endswith(LEFT_OUT)} | assignments(w)


def assignments(w: World) -> dict[str, object]:
    """What assigns to the fields of things of a scene."""
    found = {}
    for label, thing in vars(w).items():
        for field in fields(thing) if is_dataclass(thing) and isinstance(thing, Sealed) else ():
            if not field.name.startswith("_"):
                found[f"{label}.{field.name} = "] = assigning(thing, field.name)
    return found


def assigning(thing, name: str):
    """A function with one parameter, which it assigns."""

    def assign(**given) -> None:
        setattr(thing, name, given[name])

    assign.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)])
    return assign


def parameters(name: str, function) -> dict[str, inspect.Parameter]:
    """The parameters of a call; options that it takes by any name are those it hands on."""
    try:
        found = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}
    anything = [key for key, value in found.items() if value.kind == value.VAR_KEYWORD]
    found = {k: v for k, v in found.items() if v.kind not in (v.VAR_KEYWORD, v.VAR_POSITIONAL)}
    if anything:
        own = name.rpartition(".")[2]
        extra = LOOKS if own == "save" else MOTOR if own == "set_motor" else ()
        if own in OPTIONS:
            extra = [key for key in inspect.signature(OPTIONS[own]).parameters if key not in found]
        if name.startswith("Material."):
            extra = MATERIAL
        for key in extra:
            found[key] = inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None)
    return found
