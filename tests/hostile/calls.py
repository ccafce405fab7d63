"""Everything public that can be called, from the signatures: a new function is tried on the day it is there."""

import inspect
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.scene import bodies, rods
from pliant.scene import cloth as sheets

OPTIONS = {
    "add_soft": bodies.Soft,
    "add_rigid": bodies.Rigid,
    "add_cloth": sheets.Cloth,
    "add_rod": rods.Rod,
}
"""Classes whose fields are the options of calls that take any."""

LEFT_OUT = (".trusted", ".mass_properties", ".make_bodies")
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

    def simulated(self) -> pl.Simulation:
        if self.sim is None:
            self.sim = self.scene.simulate(dt=0.01)
        return self.sim

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


def samples(w: World) -> dict[str, list]:
    """Values that fit, by the name of the parameter they fit."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    mesh = pl.meshes.box((1, 1, 1), 1)
    material = pl.Material.linear(1e5, 0.3, 1000)
    dress = [] if w.rod is None else [w.cloth, w.rod, w.rod[1]]
    return {
        "scene": [w.scene],
        "mesh": [mesh, mesh.surface(), pl.meshes.grid((1, 1), 1)],
        "material": [material, pl.Material.corotated(1e5, 0.3, 1000)],
        "shape": [pl.Sphere(0.2), pl.Plane()],
        "body": [w.soft, w.ball, w.block, *dress],
        "a": [w.ball, w.soft, w.block, pl.world, *dress],
        "b": [w.block, w.soft, w.ball, pl.world, *dress],
        "first": [w.hinge, w.ball, w.screw_joint, w.soft],
        "second": [w.slider, w.hinge, w.block],
        "joint": [w.hinge, w.slider, pl.Ball(w.ball, w.block, (3, 0, 0.5))],
        "holder": [w.pin, w.hinge],
        "sim": [w.simulated] if w.sim is None else [w.sim],
        "at": [(3, 0, 0.5), ((3, 0, 0), (3, 0, 1)), "nodes", "elements"],
        "axis": [(0, 0, 1)],
        "second_axis": [(1, 0, 0)],
        "path": [[(w.ball, (3, 0, 0)), (w.block, (3, 0, 1))], str(w.folder / "case.png"), str(w.folder / "case.npz")],
        "names": [["case.vtu"], ["case.pvd"]],
        "folder": [str(w.folder)],
        "nodes": ["all", [0, 1], "x < 0.1"],
        "faces": ["all", [0]],
        "vector": [(0, 0, 1)],
        "pressure": [10.0],
        "points": [points],
        "tets": [np.array([[0, 2, 1, 3]])],
        "triangles": [np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])],
        "heights": [np.zeros((2, 2))],
        "size": [(1, 1), (1, 1, 1), (64, 48)],
        "cells": [1, 2],
        "energy": [lambda I1, J, mu, k: mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2],
        "parameters": [{"mu": 1e5, "k": 1e6}],
        "times": [(0, 1)],
        "values": [((0, 0, 0), (0, 0, 1)), (0, 1)],
        "solver": [pl.Newton(), pl.Dual(), pl.Mixed(), None],
        "x": [np.array(mesh.points)],
        "v": [np.zeros((8, 3))],
        "position": [(0, 0, 3), 0.5],
        "velocity": [(0, 0, 0.1), 0.5],
        "angular_velocity": [(0, 0, 0.1)],
        "rotation": [(1, 0, 0, 0)],
        "motor": [pl.Motor(velocity=1.0)],
        "limits": [(-1, 1)],
        "twist": [(-1, 1)],
        "length": [0.5, 1.0],
        "law": ["linear", "springs"],
        "name": ["ball", "new"],
        "dt": [0.01],
        "seconds": [0.01],
        "n": [1, 2],
        "radius": [0.1],
        "height": [0.2],
        "young": [1e5],
        "poisson": [0.3, 0.25],
        "density": [1000.0],
        "mass": [1.0, "lumped"],
        "static": [True],
        "coordinate": ["angle", None],
        "plasticity": [pl.Plasticity(0.1, 1.0, 0.5)],
        "tolerance": [1e-3],
        "stiffness": [100.0],
        "ratio": [2.0],
        "lead": [0.1],
        "threads": [1, None],
        "device": ["cpu"],
        "precision": ["float64"],
        "progress": [False],
        "camera": [None, {"eye": (3, -5, 2)}],
        "free": [pl.Coordinate(friction=1.0), None],
        "travel": [pl.Coordinate()],
        "angle": [pl.Coordinate()],
        "color": ["stress", "none"],
        "mode": [0],
        "k": [0],
        "thickness": [0.001],
        "kind": ["circle", "tube", "rectangle"],
        "sizes": [(0.01,), (0.02, 0.01)],
        "section": [pl.Section.rectangle(0.02, 0.01), None],
        "inner": [0.005],
        "edges": [[(0, 1), (0, 2), (0, 3)], None],
        "segments": [1, 3],
        "normal": [(1, 2, 3)],
        "curvature": [(0.1, 0, 0.2)],
        "stretched": [1.1],
        "point": [0, 3],
        "fibres": [pl.Fibres((1, 0, 0), 1e5), ()],
        "direction": [(1, 0, 0)],
        "drawing": [mesh.surface()],
    }


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
        things["sim"] = w.sim
    for label, thing in things.items():
        for own in dir(type(thing)):
            if not own.startswith("_") and inspect.isfunction(inspect.getattr_static(type(thing), own)):
                found[f"{label}.{own}"] = getattr(thing, own)
    return {name: value for name, value in found.items() if not name.endswith(LEFT_OUT)}


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
