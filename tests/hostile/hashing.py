"""Prints a hash of every bit of the states of some scenes: python hashing.py THREADS RESUMED_AT STEPS.

The scenes together have every kind of body, element, contact and solver; one begins from its static balance.
"""

import hashlib
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import pliant as pl

RUBBER = pl.Material.corotated(5e4, 0.3, 1000, damping=0.005)


def coupled() -> pl.Scene:
    """Soft bodies, rigid bodies, joints and a motor."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (16, 4, 4)), RUBBER, position=(0, 0, 0.5))
    beam.pin("x < 0.01")
    scene.add_soft(pl.meshes.sphere(0.1, 3), RUBBER, position=(0.6, 0.1, 0.9))
    ball = scene.add_rigid(pl.Sphere(0.08), density=800, position=(1.0, 0.1, 0.3))
    scene.join(pl.Ball(ball, beam, (1.0, 0.1, 0.5)))
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), density=500, position=(2, 0, 0.4))
    motor = pl.Motor(velocity=pl.Keyframes((0, 1), (0, 3)), max_torque=50)
    scene.join(pl.Hinge(pl.world, box, (2, 0, 0.6), (0, 1, 0), motor=motor))
    scene.add_rigid(pl.Plane(), static=True)
    return scene


def cloth() -> pl.Scene:
    """A sheet that falls on a ball."""
    scene, material = pl.Scene(), pl.Material.corotated(1e6, 0.3, 300, damping=0.01)
    sheet = scene.add_cloth(pl.meshes.grid((0.5, 0.5), 16), material, 0.002, position=(-0.25, -0.25, 0.13))
    sheet.wind((0.0, 0.5, 0.0), drag=0.5)
    scene.add_rigid(pl.Sphere(0.12), static=True)
    return scene


def rods() -> pl.Scene:
    """A clamped rod with a weight, one that falls on it, and a ring."""
    scene, material = pl.Scene(), pl.Material.linear(1e7, 0.3, 1000, damping=1e-3)
    beam = scene.add_rod([(0, 0, 0), (1, 0, 0)], material, 0.01, segments=20)
    beam.clamp(0)
    weight = scene.add_rigid(pl.Sphere(0.03), density=1000, position=(1, 0, -0.05))
    scene.join(pl.Ball(beam[-1], weight, (1, 0, 0)))
    scene.add_rod([(0.4, -0.3, 0.03), (0.4, 0.3, 0.03)], material, 0.01, segments=10)
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ring = np.stack([0.2 * np.cos(turns), 0.2 * np.sin(turns) + 1, np.full(16, 0.1)], axis=1)
    scene.add_rod(ring, material, 0.01, closed=True)
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.3))
    return scene


def mixed() -> pl.Scene:
    """A stiff beam, a ball that hits it, a joint."""
    scene = pl.Scene()
    material = pl.Material.neohookean(1e7, 0.45, 1000)
    scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (8, 2, 2)), material).pin("x < 0.01")
    scene.add_rigid(pl.Sphere(0.1), density=800, position=(0.9, 0.1, 0.32), velocity=(0, 0, -1))
    return scene


def pile() -> pl.Scene:
    """Rigid bodies of all convex shapes that come down on each other."""
    scene = pl.Scene()
    shapes = [pl.Sphere(0.05), pl.Box((0.1, 0.1, 0.1)), pl.Capsule(0.04, 0.06), pl.Cylinder(0.05, 0.1)]
    for k in range(32):
        place = (0.101 * (k % 4), 0.101 * (k // 4 % 4) + 0.003 * k, 0.06 + 0.101 * (k // 16))
        scene.add_rigid(shapes[k % 4], density=500, position=place)
    scene.add_rigid(pl.Plane(), static=True)
    return scene


def rolling() -> pl.Scene:
    """Balls that roll and spin with resistance, one of them on another."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    for k in range(4):
        options = {"rolling_friction": 1e-3 * k, "torsional_friction": 2e-3, "velocity": (0.5, 0.1 * k, 0)}
        scene.add_rigid(pl.Sphere(0.1), density=1000, position=(0.3 * k, 0, 0.1), angular_velocity=(1, 5, 3), **options)
    scene.add_rigid(pl.Sphere(0.1), density=1000, position=(0.02, 0, 0.3), rolling_friction=1e-3)
    return scene


def surfaces() -> pl.Scene:
    """A soft body made of a surface, with a drawing, on a rigid mesh on ground of heights."""
    scene, shell = pl.Scene(), pl.meshes.sphere(0.2, 3).surface()
    shell = pl.meshes.TriMesh(shell.points, shell.triangles, repair=True)
    tets = pl.meshes.tetrahedralize(shell, size=0.1, max_volume_error=0.2)
    scene.add_soft(tets, RUBBER, position=(0, 0, 0.75), drawing=shell)
    with tempfile.TemporaryDirectory() as folder:
        pl.meshes.write(Path(folder) / "ball.ply", shell)
        scene.add_rigid(pl.Mesh(Path(folder) / "ball.ply"), density=500, position=(0.05, 0, 0.32))
    scene.add_rigid(pl.Heightfield(np.array([[0, 0.05, 0], [0.05, 0.1, 0.05], [0, 0.05, 0]]), (2, 2)), static=True)
    return scene


def thread_of_beads() -> pl.Scene:
    """What fewer solvers know: a beam of springs, beads on ropes."""
    scene = pl.Scene()
    springs = pl.Material.springs(1e5, 1000)
    scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (8, 2, 2)), springs).pin("x < 0.01")
    bead = scene.add_rigid(pl.Sphere(0.05), density=1000, position=(2, 0, 0))
    scene.join(pl.Rope(pl.world, bead, ((2, 0, 0.5), (2, 0, 0)), length=0.55))
    return scene


def quadratic() -> pl.Scene:
    """Tets of ten nodes under pressure, clay that yields, a law of one's own."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (6, 2, 2)).quadratic(), RUBBER, position=(0, 0, 0.5))
    beam.pin("x < 0.01")
    beam.pressure("z > 0.69", 200.0)
    clay = pl.Material.corotated(5e4, 0.3, 800, plasticity=pl.Plasticity(0.02, 40, 0.4))
    scene.add_soft(pl.meshes.sphere(0.1, 3), clay, position=(2, 0, 0.11), velocity=(0, 0, -2))
    own = pl.Material.custom("mu / 2 * (I1 - 3 - 2 * log(J)) + k / 2 * log(J) ** 2", 1000, {"mu": 2e4, "k": 5e4})
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 2), own, position=(3, 0, 0.01))
    scene.add_rigid(pl.Plane(), static=True)
    return scene


def linear() -> pl.Scene:
    """What a constant matrix can say: a beam of the linear law, a weight in a joint, ground."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (8, 2, 2)), pl.Material.linear(5e5, 0.3, 1000))
    beam.pin("x < 0.01")
    weight = scene.add_rigid(pl.Sphere(0.08), density=800, position=(1.0, 0.1, -0.1))
    scene.join(pl.Ball(weight, beam, (1.0, 0.1, 0.1)))
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.2))
    return scene


def hanging() -> pl.Scene:
    """A sheet and a rod that hang, for solvers and balances without contacts."""
    scene, material = pl.Scene(), pl.Material.corotated(1e6, 0.3, 300, damping=0.01)
    sheet = scene.add_cloth(pl.meshes.grid((0.5, 0.5), 8), material, 0.002, collide=False)
    sheet.clamp("x < 0.01")
    rod = scene.add_rod([(2, 0, 0), (2.5, 0, 0)], pl.Material.linear(1e7, 0.3, 1000), 0.01, segments=10, collide=False)
    rod.clamp(0)
    return scene


SCENES = {
    "newton": (coupled, pl.Newton()),
    "bdf2": (coupled, pl.Newton(integrator="bdf2")),
    "dual": (coupled, pl.Dual()),
    "cloth": (cloth, pl.Newton()),
    "rods": (rods, pl.Newton()),
    "mixed": (mixed, pl.Mixed()),
    "quadratic": (quadratic, pl.Newton()),
    "linear": (linear, pl.Linear()),
    "hanging": (hanging, pl.Mixed()),
    "balance": (hanging, pl.Newton()),
    "pile": (pile, pl.Newton()),
    "rolling": (rolling, pl.Newton()),
    "surfaces": (surfaces, pl.Newton()),
    "xpbd": (thread_of_beads, pl.Xpbd()),
    "explicit": (thread_of_beads, pl.Explicit()),
}


def state_hash(sim: pl.Simulation) -> str:
    """A hash of all arrays of the state."""
    whole = hashlib.sha256()
    for name, values in sorted(sim.state.arrays().items()):
        whole.update(name.encode() + np.ascontiguousarray(values).tobytes())
    return whole.hexdigest()[:16]


def main(threads: int, resumed_at: int, steps: int) -> None:
    warnings.simplefilter("ignore")
    for name, (make, solver) in SCENES.items():
        start = make().equilibrium if name == "balance" else make().simulate
        sim = start(dt=1 / 120 if name != "explicit" else 1e-4, solver=solver, threads=threads)
        if resumed_at:
            with tempfile.TemporaryDirectory() as folder:
                sim.step(resumed_at).checkpoint(Path(folder) / "a.npz")
                sim = pl.resume(Path(folder) / "a.npz")
        print(name, state_hash(sim.step(steps - resumed_at)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
