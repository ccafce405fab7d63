"""The demonstration: soft, plastic and rigid bodies, joints and contacts in one scene.

A soft beam is clamped in a wall; a rigid ball hangs from its tip by a ball joint. A block of clay drops on the floor. A
wrecking ball on a chain of capsules swings into the clay, dents it and goes on to hit the beam.
"""

import os
from math import atan2, cos, sin
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.recorder import Recorder
from pliant.output.run_log import RunLog, run_recorded
from pliant.scene_file.run import RunSettings, View

SECONDS = 4.0
STEP = 1 / 60
FILES = ("demo.webp", "demo.png", "demo.pvd")
CAMERA = View(eye=(1.8, -4.25, 1.75), target=(0.58, 0.0, 0.76))
PICTURE_SIZE = (640, 360)
HOOK = (0.85, 0.0, 1.58)


def demo_scene() -> pl.Scene:
    """The scene at its start, in metres; the whole stands on the floor z = 0."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.6, name="floor")
    add_stand(scene)
    add_beam_with_ball(scene)
    clay = pl.Material.corotated(
        young=8e4,
        poisson=0.35,
        density=500,
        damping=0.005,
        plasticity=pl.Plasticity(yield_strain=0.06, creep=60, max_strain=0.6),
    )
    block = pl.meshes.box((0.42, 0.42, 0.42), cells=6)
    scene.add_soft(block, clay, position=(0.22, -0.21, 0.4), friction=0.5, name="clay")
    add_wrecking_ball(scene, tilt=-0.12)
    return scene


def add_stand(scene: pl.Scene) -> None:
    """What holds the beam and the chain; for the eye only, nothing touches it."""
    looks = {"static": True, "collide": False}
    scene.add_rigid(pl.Box((0.16, 0.34, 1.36)), position=(-0.98, 0, 0.68), name="wall", **looks)
    scene.add_rigid(pl.Cylinder(0.035, 1.62), position=(HOOK[0], 0.6, 0.81), name="post", **looks)
    scene.add_rigid(
        pl.Cylinder(0.025, 0.62), position=(HOOK[0], 0.31, HOOK[2]), rotation=(1, 1, 0, 0), name="arm", **looks
    )


def add_beam_with_ball(scene: pl.Scene) -> None:
    """A rubber beam with one end in the wall, and the ball that hangs from its tip."""
    rubber = pl.Material.corotated(young=5e5, poisson=0.4, density=1000, damping=0.006)
    mesh = pl.meshes.box((0.84, 0.15, 0.15), cells=(14, 3, 3))
    beam = scene.add_soft(mesh, rubber, position=(-0.92, -0.075, 1.1), name="beam")
    beam.pin("x < -0.9")
    tip = (-0.08, 0.0, 1.1)
    ball = scene.add_rigid(pl.Sphere(0.11), density=1200, position=(-0.08, 0, 0.78), velocity=(0, -1.2, 0), name="ball")
    scene.join(pl.Ball(ball, beam, at=tip))


def add_wrecking_ball(scene: pl.Scene, tilt: float) -> None:
    """A ball on five capsules, stretched out from the hook at an angle `tilt` [rad] above the horizontal."""
    radius, length, ball_radius = 0.032, 0.15, 0.13
    along = np.array([cos(tilt), 0.0, sin(tilt)])
    turn = atan2(along[0], along[2])
    rotation = (cos(turn / 2), 0.0, sin(turn / 2), 0.0)
    above, at = pl.world, np.array(HOOK)
    for number in range(5):
        middle = at + along * (length / 2 + radius)
        capsule = pl.Capsule(radius, length)
        link = scene.add_rigid(capsule, density=3000, position=middle, rotation=rotation, name=f"link {number + 1}")
        scene.join(pl.Ball(above, link, at=at))
        above, at = link, at + along * (length + 2 * radius)
    ball = scene.add_rigid(pl.Sphere(ball_radius), density=2000, position=at + along * ball_radius, name="wrecker")
    scene.join(pl.Ball(above, ball, at=at))


def demo_settings(seconds: float = SECONDS) -> RunSettings:
    """How the demonstration runs."""
    return RunSettings(
        dt=STEP,
        seconds=seconds,
        solver=pl.Newton(),
        frames_per_second=30,
        output=FILES,
        color="strain",
        camera=CAMERA,
    )


def run_demo(folder: str | os.PathLike = "out", seconds: float = SECONDS, progress: bool | None = None) -> RunLog:
    """Run the demonstration and leave its film, its last picture and its series in `folder`."""
    run = demo_settings(seconds)
    sim = demo_scene().simulate(dt=run.dt, solver=run.solver, **run.place)
    recorder = Recorder(
        sim,
        Path(folder),
        list(run.output),
        run.frames_per_second,
        color=run.color,
        camera=run.camera,
        size=PICTURE_SIZE,
    )
    return run_recorded(sim, run.seconds, recorder, progress)
