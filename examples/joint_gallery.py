"""One tile per joint: each small scene moves as its joint lets it, and all of them stand in one picture.

Blue arrows show what is free. Every scene meets its equations: the largest imbalance of all of them is printed.
"""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.film import save_png
from pliant.output.scene_view import SceneView, _rod
from pliant.rotations import axis_quaternion, rotation_matrix
from pliant.scene.joints import held_points

TILE = (240, 180)  # pixels
ARROW = "#1f63c4"
FREE = pl.Coordinate


class JointView(SceneView):
    """Draws ropes, springs, rods and tendons as well, and arrows for what is free."""

    def _arm_surfaces(self, shot, radius):
        surfaces = []
        for joint in self.sim.scene.joints:
            at = self._place(shot, joint.b, joint.at) if joint.coordinates else None
            for path in free_ways(joint, at):
                surfaces += [replace(_rod(a, b, 1.5 * radius), color=ARROW) for a, b in pairwise(path)]
            if isinstance(joint, pl.Distance | pl.Rope | pl.Spring | pl.Tendon):
                path = [self._place(shot, thing, point) for thing, point in held_points(joint)]
                if isinstance(joint, pl.Spring):
                    path = coil(*path)
                surfaces += [_rod(a, b, 1.6 * radius) for a, b in pairwise(path)]
        return surfaces

    def _place(self, shot, thing, point):
        """Where a point of a thing is now; of a soft body: its nearest node on the surface."""
        scene = self.sim.scene
        if thing is pl.world:
            return np.array(point)
        if thing in scene.soft_bodies:
            k = scene.soft_bodies.index(thing)
            start = thing.nodes.positions[self.soft[k][0]]
            return shot.points[k][np.linalg.norm(start - point, axis=1).argmin()]
        position, rotation = shot.poses[scene.rigid_bodies.index(thing)]
        return (
            rotation_matrix(rotation) @ rotation_matrix(thing.rotation).T @ np.subtract(point, thing.position)
            + position
        )


def free_ways(joint, at) -> list[np.ndarray]:
    """Lines with arrow heads along and about the axes of a joint's free coordinates, through the point `at`."""
    axis = np.array(getattr(joint, "axis", (0, 0, 1)))
    along = rotation_matrix(axis_quaternion(axis))[:, 0]
    lines = {"travel": axis, "first": along, "second": np.cross(axis, along)}
    turns = {"angle": axis}
    if isinstance(joint, pl.Universal):
        lines, turns = {}, {"first": axis, "second": np.array(joint.second_axis)}
    ways = []
    for name in joint.coordinates:
        if name in lines:
            head = (
                0.12
                * np.cross(lines[name], (0.39, -0.92, 0.0))
                / np.linalg.norm(np.cross(lines[name], (0.39, -0.92, 0)))
            )
            for sign in (-1, 1):
                tip = at + sign * 0.5 * lines[name]
                ways += [
                    np.array([at, tip]),
                    *(np.array([tip, tip - sign * 0.12 * lines[name] + h]) for h in (head, -head)),
                ]
        else:
            frame = rotation_matrix(axis_quaternion(turns[name]))
            angle = np.linspace(-0.4, 4.2, 24)
            arc = at + 0.32 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) @ frame.T
            inward, back = (at - arc[-1]) / 0.32, arc[-2] - arc[-1]
            back = 0.1 * back / np.linalg.norm(back)
            ways += [arc, *(np.array([arc[-1], arc[-1] + back + sign * 0.09 * inward]) for sign in (-1, 1))]
    return ways


def coil(a, b, turns: int = 6, radius: float = 0.06) -> list:
    """Points of a coil about the line between two points."""
    share = np.linspace(0, 1, 9 * turns + 1)
    angle = 2 * np.pi * turns * share
    across = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return list(np.outer(1 - share, a) + np.outer(share, b) + across @ rotation_matrix(axis_quaternion(b - a)).T)


def box(scene, size, at, **options):
    return scene.add_rigid(pl.Box(size), density=500, position=at, collide=False, **options)


def still(scene, size, at):
    return scene.add_rigid(pl.Box(size), static=True, position=at, collide=False)


def bar(scene, start, end, radius: float = 0.05, static: bool = False):
    way = np.subtract(end, start)
    shape, place = pl.Capsule(radius, float(np.linalg.norm(way))), np.add(start, end) / 2
    return scene.add_rigid(
        shape,
        density=None if static else 500,
        static=static,
        position=place,
        rotation=axis_quaternion(way),
        collide=False,
    )


def wheel(scene, radius, at, axis=(0, 1, 0), width: float = 0.1):
    """A disc with a knob on its rim, which shows how it turns."""
    disc = scene.add_rigid(
        pl.Cylinder(radius, width), density=500, position=at, rotation=axis_quaternion(axis), collide=False
    )
    rim = np.add(at, (0.7 * radius, -width / 2, 0)) if axis[1] else np.add(at, (0.7 * radius, 0, width / 2))
    knob = scene.add_rigid(pl.Sphere(0.05), density=100, position=rim, collide=False)
    scene.join(pl.Fixed(disc, knob, at=rim))
    return disc


def ball(scene):
    still(scene, (0.5, 0.5, 0.06), (0, 0, 0.03))
    arm = bar(scene, (0, 0, 0), (0.5, 0, -0.6))
    scene.add_rigid(pl.Sphere(0.1), static=True, position=(0, 0, 0), collide=False)
    scene.join(pl.Ball(pl.world, arm, at=(0, 0, 0)))
    arm.force((0, 20, 0))


def fixed(scene):
    post, arm = bar(scene, (0, 0, -0.6), (0, 0, 0.1)), box(scene, (0.7, 0.15, 0.15), (0.28, 0, 0.1))
    scene.join(pl.Fixed(pl.world, post, at=(0, 0, -0.6)))
    scene.join(pl.Fixed(post, arm, at=(0, 0, 0.1)))
    still(scene, (0.5, 0.5, 0.06), (0, 0, -0.65))


def hinge(scene):
    still(scene, (0.12, 0.12, 1.0), (-0.06, 0.06, 0))
    door = box(scene, (0.6, 0.06, 0.8), (0.31, 0, 0))
    scene.join(pl.Hinge(pl.world, door, at=(0, 0, 0), axis=(0, 0, 1), motor=pl.Motor(velocity=-1.5)))


def slider(scene):
    rail = bar(scene, (-0.6, 0, -0.3), (0.6, 0, 0.2), 0.04, static=True)
    cart = scene.add_rigid(
        pl.Box((0.25, 0.2, 0.3)), density=500, position=(0.4, 0, 0.11), rotation=rail.rotation, collide=False
    )
    scene.join(pl.Slider(pl.world, cart, at=(0.4, 0, 0.11), axis=(1.2, 0, 0.5), limits=(-0.6, 0.1)))


def cylindrical(scene):
    bar(scene, (0, 0, -0.6), (0, 0, 0.6), 0.04, static=True)
    nut = wheel(scene, 0.3, (0, 0, 0.2), axis=(0, 0, 1), width=0.16)
    angle, travel = FREE(motor=pl.Motor(velocity=4)), FREE(friction=300.0)
    scene.join(pl.Cylindrical(pl.world, nut, at=(0, 0, 0.2), axis=(0, 0, 1), angle=angle, travel=travel))


def universal(scene):
    shaft, driven = bar(scene, (-0.7, 0, 0), (0, 0, 0)), bar(scene, (0, 0, 0), (0.55, 0, 0))
    flag = box(scene, (0.06, 0.06, 0.35), (-0.5, 0, 0.18))
    other = box(scene, (0.06, 0.06, 0.35), (0.4, 0, 0.18))
    scene.join(pl.Fixed(shaft, flag, at=(-0.5, 0, 0)))
    scene.join(pl.Fixed(driven, other, at=(0.4, 0, 0)))
    scene.join(pl.Hinge(pl.world, shaft, at=(-0.7, 0, 0), axis=(1, 0, 0), motor=pl.Motor(velocity=1.2)))
    scene.join(pl.Universal(shaft, driven, at=(0, 0, 0), axis=(0, 0, 1), second_axis=(0, 1, 0)))
    driven.force((0, 0, -3))


def planar(scene):
    still(scene, (1.0, 0.8, 0.06), (0, 0, -0.13))
    puck = box(scene, (0.4, 0.25, 0.2), (-0.3, 0.1, 0), velocity=(0.6, -0.2, 0), angular_velocity=(0, 0, 1))
    scene.join(pl.Planar(pl.world, puck, at=(-0.3, 0.1, 0), axis=(0, 0, 1)))


def on_line(scene):
    bar(scene, (-0.6, 0, 0.3), (0.6, 0, 0.3), 0.03, static=True)
    plate = box(scene, (0.5, 0.08, 0.5), (-0.4, 0, 0.05))
    scene.join(pl.OnLine(pl.world, plate, at=(-0.4, 0, 0.3), axis=(1, 0, 0)))
    plate.force((25, 0, 0), at=(-0.4, 0, -0.1))


def on_plane(scene):
    still(scene, (1.0, 0.8, 0.04), (0, 0, -0.32))
    top = box(scene, (0.1, 0.1, 0.6), (-0.3, 0, 0), angular_velocity=(0, 0.9, 0), velocity=(0.8, 0, 0))
    scene.join(pl.OnPlane(pl.world, top, at=(-0.3, 0, -0.3), axis=(0, 0, 1)))


def distance(scene):
    one, two = (scene.add_rigid(pl.Sphere(0.14), density=500, position=(x, 0, 0), collide=False) for x in (-0.4, 0.4))
    scene.join(pl.Distance(pl.world, one, at=((-0.4, 0, 0.5), (-0.4, 0, 0))))
    scene.join(pl.Distance(one, two, at=((-0.4, 0, 0), (0.4, 0, 0))))
    still(scene, (0.4, 0.3, 0.06), (-0.4, 0, 0.53))


def rope(scene):
    still(scene, (0.5, 0.3, 0.06), (0, 0, 0.53))
    weight = box(scene, (0.25, 0.25, 0.25), (0.6, 0, 0.3))
    scene.join(pl.Rope(pl.world, weight, at=((0, 0, 0.5), (0.6, 0, 0.42)), length=0.7))


def spring(scene):
    still(scene, (0.5, 0.3, 0.06), (0, 0, 0.53))
    weight = box(scene, (0.3, 0.3, 0.25), (0, 0, -0.1))
    scene.join(pl.Spring(pl.world, weight, at=((0, 0, 0.5), (0, 0, 0.02)), stiffness=500, damping=10))


def torsion(scene):
    still(scene, (0.12, 0.3, 0.12), (-0.5, 0.0, 0))
    arm = box(scene, (0.9, 0.12, 0.08), (-0.05, 0, 0))
    scene.join(pl.Hinge(pl.world, arm, at=(-0.5, 0, 0), axis=(0, 1, 0)))
    scene.join(pl.Torsion(pl.world, arm, at=(-0.5, 0, 0), axis=(0, 1, 0), stiffness=40, damping=4))


def gear(scene):
    places, radii = ((-0.35, 0, 0), (0.3, 0, 0)), (0.4, 0.25)
    wheels = [wheel(scene, r, at) for at, r in zip(places, radii)]
    one = pl.Hinge(pl.world, wheels[0], at=places[0], axis=(0, -1, 0), motor=pl.Motor(velocity=1.5))
    two = pl.Hinge(pl.world, wheels[1], at=places[1], axis=(0, -1, 0))
    scene.join(pl.Gear(scene.join(one), scene.join(two), -radii[0] / radii[1]))


def rack(scene):
    pinion, ridge = wheel(scene, 0.3, (0, 0, 0.1)), box(scene, (1.0, 0.12, 0.1), (-0.2, 0, -0.25))
    turn = pl.Hinge(pl.world, pinion, at=(0, 0, 0.1), axis=(0, -1, 0), motor=pl.Motor(velocity=2.0))
    way = pl.Slider(pl.world, ridge, at=(-0.2, 0, -0.25), axis=(1, 0, 0))
    scene.join(pl.Rack(scene.join(turn), scene.join(way), 0.3))


def screw(scene):
    bar(scene, (0, 0, -0.6), (0, 0, 0.6), 0.05, static=True)
    nut = wheel(scene, 0.3, (0, 0, -0.4), axis=(0, 0, 1), width=0.16)
    motor = FREE(motor=pl.Motor(velocity=8))
    thread = scene.join(pl.Cylindrical(pl.world, nut, at=(0, 0, -0.4), axis=(0, 0, 1), angle=motor))
    scene.join(pl.Screw(thread, lead=0.5))


def tendon(scene):
    still(scene, (1.0, 0.1, 0.06), (0, 0.1, 0.5))
    one, two = box(scene, (0.25, 0.25, 0.25), (-0.4, 0, -0.1)), box(scene, (0.32, 0.32, 0.32), (0.4, 0, 0.1))
    path = [(one, (-0.4, 0, 0.03)), (pl.world, (-0.4, 0, 0.5)), (pl.world, (0.4, 0, 0.5)), (two, (0.4, 0, 0.26))]
    scene.join(pl.Tendon(path))


def attach(scene):
    cup = box(scene, (0.25, 0.35, 0.35), (-0.5, 0, 0.1))
    rubber = pl.Material.corotated(2e5, 0.3, 1000, damping=0.02)
    finger = scene.add_soft(
        pl.meshes.box((1.1, 0.2, 0.2), cells=(11, 2, 2)), rubber, position=(-0.5, -0.1, 0.0), collide=False
    )
    scene.join(pl.Fixed(pl.world, cup, at=(-0.5, 0, 0.1)))
    scene.join(pl.Attach(cup, finger))


# what is shown and after how many seconds
SCENES = {
    ball: 0.35, fixed: 0.2, hinge: 0.5, slider: 0.3, cylindrical: 0.3, universal: 0.5, planar: 0.4, on_line: 0.45,
    on_plane: 0.3, distance: 0.35, rope: 0.35, spring: 0.35, torsion: 0.5, gear: 0.3, rack: 0.25, screw: 0.7,
    tendon: 0.25, attach: 0.5,
}  # fmt: skip


def tile(make, seconds: float) -> tuple[np.ndarray, float]:
    """The picture of a small scene, and the imbalance of its last step."""
    scene = pl.Scene(gravity=(0, 0, 0) if make in (universal, planar, on_plane, cylindrical) else (0, 0, -9.81))
    make(scene)
    sim = scene.simulate(dt=1 / 100, solver=pl.Newton(tolerance=1e-6), threads=1)
    view = JointView(sim, "none")
    sim.step(round(seconds / sim.dt))
    image = view.draw(view.shot(), Camera((1.2, -2.8, 1.2), (0, 0, -0.03)), None, TILE, caption="")
    return image, sim.info.imbalance


def main(folder: str = "out") -> float:
    """The largest imbalance of all the scenes."""
    columns, rows = 6, 3
    sheet, font = Image.new("RGB", (columns * 160, rows * 180), "white"), ImageFont.load_default(13)
    worst = 0.0
    for k, (make, seconds) in enumerate(SCENES.items()):
        image, imbalance = tile(make, seconds)
        worst = max(worst, imbalance)
        cut = Image.fromarray(image[:, 40:200])
        ImageDraw.Draw(cut).text((8, 160), make.__name__.replace("_", " "), fill="#333a42", font=font)
        sheet.paste(cut, (k % columns * 160, k // columns * 180))
    save_png(Path(folder) / "joint_gallery.png", np.array(sheet))
    print(f"{len(SCENES)} joints; the largest imbalance of a last step is {worst:.1e}")
    assert worst < 1e-3
    return worst


if __name__ == "__main__":
    main(*sys.argv[1:])
