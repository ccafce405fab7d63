"""A car with sprung wheels drives over a rubber bump and steers: sliders, springs, a rack and its pinion, hinges.

The front wheels stand on struts that travel and turn (cylindrical joints), the rear ones on sliders; springs carry the
chassis. A motor turns the pinion, its rack pushes the steering arms through two rods. At rest springs carry the weight,
and a little more that the rods add, which friction under the wheels holds askew.
"""

import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.film import save_png
from pliant.output.scene_view import SceneView, _rod
from pliant.rotations import rotation_matrix

RADIUS, BASE, TRACK = 0.3, 2.4, 1.4  # m: of wheels, between axles, between wheels
CHASSIS, BAR, STIFFNESS, DAMPING = 580.0, 10.0, 2e4, 1.5e3  # kg, kg, N/m, N s/m
PINION = 0.05  # m


class CarView(SceneView):
    """Draws springs, steering rods and arms as well."""

    def _arm_surfaces(self, shot, radius):
        poses = {id(body): pose for body, pose in zip(self.sim.scene.rigid_bodies, shot.poses)}
        surfaces = []
        for joint in self.sim.scene.joints:
            if isinstance(joint, pl.Spring | pl.Distance):
                ends = []
                for body, point in zip((joint.a, joint.b), joint.at):
                    position, rotation = poses[id(body)]
                    ends.append(rotation_matrix(rotation) @ np.subtract(point, body.position) + position)
                path = coil(*ends) if isinstance(joint, pl.Spring) else [*ends, poses[id(joint.b)][0]]
                surfaces += [_rod(a, b, radius) for a, b in pairwise(path)]
        return surfaces


def coil(a, b, turns: int = 5, radius: float = 0.08) -> list:
    """Points of a coil between two points, upright or nearly so."""
    share = np.linspace(0, 1, 9 * turns + 1)
    angle = 2 * np.pi * turns * share
    across = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return list(np.outer(1 - share, a) + np.outer(share, b) + across)


def bump(scene):
    """A strip of rubber, rounded, on the way of the right wheels."""
    mesh = pl.meshes.box((0.8, 0.5, 1.0), cells=(12, 3, 1))
    points = mesh.points.copy()
    points[:, 2] *= 0.02 + 0.12 * np.sin(np.pi * points[:, 0] / 0.8) ** 2
    rubber = pl.Material.corotated(young=2e7, poisson=0.3, density=1100, damping=0.005)
    place = (1.75, -TRACK / 2 - 0.25, 0.001)
    body = scene.add_soft(pl.meshes.TetMesh(points, mesh.tets), rubber, position=place, friction=0.8, name="bump")
    body.pin(body.nodes.z < 0.002)


def main(folder: str = "out") -> float:
    """The share of its weight that springs and steering rods carry at rest."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.9)
    bump(scene)
    chassis = scene.add_rigid(pl.Box((2.8, 0.5, 0.26)), mass=CHASSIS, position=(0, 0, 0.57), collide=False)
    front = BASE / 2 + 0.3
    rack = scene.add_rigid(pl.Box((0.08, 0.8, 0.06)), mass=5, position=(front, 0, 0.34), collide=False)
    pinion = scene.add_rigid(pl.Cylinder(PINION, 0.6), mass=3, position=(front, 0, 0.62), collide=False)
    turn = pl.Motor(position=pl.Keyframes((0.7, 1.4), (0, -2.0)), stiffness=2e3, damping=50)
    column = scene.join(pl.Hinge(chassis, pinion, at=(front, 0, 0.5), axis=(0, 0, 1), motor=turn))
    way = scene.join(pl.Slider(chassis, rack, at=(front, 0, 0.34), axis=(0, 1, 0), limits=(-0.15, 0.15)))
    scene.join(pl.Rack(column, way, PINION))
    springs, rods, wheels = [], [], []
    for x in (BASE / 2, -BASE / 2):
        bar = scene.add_rigid(pl.Box((0.14, 1.16, 0.05)), mass=BAR, position=(x, 0, 0.725), collide=False)
        scene.join(pl.Fixed(chassis, bar, at=(x, 0, 0.7)))
        for side in (-1, 1):
            hub = (x, side * (TRACK / 2 - 0.2), RADIUS)
            top = (hub[0], hub[1], 0.7)
            strut = scene.add_rigid(pl.Cylinder(0.06, 0.2), mass=15, position=hub, collide=False)
            wheel = scene.add_rigid(
                pl.Cylinder(RADIUS, 0.2),
                mass=15,
                position=(x, side * TRACK / 2, RADIUS),
                rotation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0),
                friction=0.9,
            )
            wheels.append(wheel)
            stops = pl.Coordinate(limits=(-0.2, 0.2), limit_stiffness=2e5, limit_damping=2e3)
            if x > 0:
                scene.join(pl.Cylindrical(chassis, strut, at=hub, axis=(0, 0, 1), travel=stops))
                arm = (front, hub[1], RADIUS)
                rods.append(scene.join(pl.Distance(rack, strut, at=((front, side * 0.4, 0.34), arm))))
                scene.join(pl.Hinge(strut, wheel, at=hub, axis=(0, 1, 0)))
            else:
                scene.join(pl.Slider(chassis, strut, at=hub, axis=(0, 0, 1), free=stops))
                speed = pl.Motor(velocity=pl.Keyframes((0.5, 1.0), (0, 6)), max_torque=400)
                scene.join(pl.Hinge(strut, wheel, at=hub, axis=(0, 1, 0), motor=speed))
            spring = pl.Spring(chassis, strut, at=(top, hub), stiffness=STIFFNESS, damping=DAMPING, length=0.48)
            springs.append(scene.join(spring))
    for a, b in combinations(wheels, 2):
        scene.ignore_contact(a, b)
    sim = scene.simulate(dt=1 / 80, threads=1)
    camera = Camera((5.6, -4.2, 2.6), (0.85, -0.2, 0.35))
    with pl.Recorder(sim, folder, ["suspension.webp"], 10, camera=camera, color="none") as recorder:
        recorder.view = CarView(sim, "none")
        for _ in sim.run(0.5):
            recorder.frame()
        carried, pulled = (-sum(sim.reaction(joint)[2] for joint in joints) for joints in (springs, rods))
        for _ in sim.run(1.3):
            recorder.frame()
    on_top = min(recorder.shots, key=lambda shot: abs(shot.time - 1.4))
    save_png(Path(folder) / "suspension.png", recorder.view.draw(on_top, camera, None))
    weight = (CHASSIS + 2 * BAR + 8) * 9.81
    travel = sim.joint_position(way)
    print(f"springs carry {carried:.0f} N, steering rods {pulled:.0f} N of a weight of {weight:.0f} N;", end=" ")
    print(f"the pinion turns by {sim.joint_position(column):.2f} rad, the rack travels by {1000 * travel:.0f} mm")
    share = (carried + pulled) / weight
    assert abs(share - 1) < 0.02 and abs(travel / sim.joint_position(column) / PINION - 1) < 1e-3
    return float(share)


if __name__ == "__main__":
    main(*sys.argv[1:])
