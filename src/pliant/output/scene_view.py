"""What a simulation looks like: its surfaces, ground and camera for the rasteriser.

A `Shot` is the little that changes from frame to frame. A film keeps its shots and draws them at the end, when the
whole motion is known: then one camera sees all of it and one range of colours holds for all frames.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.checks import choice, flag, instance
from pliant.errors import SceneError
from pliant.output.contact_view import ContactForces, arrow_surfaces, contact_forces, reference_force
from pliant.output.drawing import tessellate
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.colors import back_color
from pliant.output.drawing.picture import Ground, Legend, Surface
from pliant.output.fields import COLOR_FIELDS, last_color, node_colors
from pliant.output.looks import checked_size, eye_and_target
from pliant.output.rod_fields import OF_RODS, of_rods
from pliant.output.rod_view import Tube
from pliant.output.skins import Skin
from pliant.rotations import rotation_matrix
from pliant.scene import shapes
from pliant.scene.joint_options import world
from pliant.scene.joints import held_points

if TYPE_CHECKING:
    from pliant.output.joint_view import Stroke

PLAIN = "none"
SIZE = (960, 540)
RIGID_COLORS = ("#d9623f", "#e9ad4b", "#5b7f95", "#b5838d", "#7d8c5c", "#94765a")
SOFT_COLORS = ("#3f9aa3", "#8d7bb5", "#6aa86b", "#c98a5e")
STATIC_COLOR = "#9ba3ac"
JOINT_COLOR = "#333a42"
# The camera sees motion up to this many sizes of the first shot beyond it: what falls for ever leaves the picture.
REACH = 1.5
# Share of the picture left free around the scene.
MARGIN = 0.16
# Scenes keep clear of a legend that leaves them more than this share of the picture's width, or height.
LEAST_LEFT = 0.3
EYE_DIRECTION = (0.75, -1.9, 0.65)
# Radius of the dots at joints with the world as a share of the distance to the eye; of rods as a share of that.
DOT_SHARE = 0.006
ROD_SHARE = 0.4
CHECKER_SHARE = 0.15
# Shapes whose triangles are drawn as they are, with edges between them.
FLAT_FACED = (shapes.Mesh, shapes.Hull)


@dataclass(frozen=True)
class Shot:
    """A moment: time [s], surface points (k, 3) [m] and colour values (k,) of soft bodies, poses of rigid bodies,
    points of rods' surfaces and their colour values, where rods have the field."""

    time: float
    points: list[np.ndarray]
    values: list[np.ndarray] | None
    poses: list[tuple[np.ndarray, np.ndarray]]
    tubes: list[np.ndarray] = ()
    strokes: "list[Stroke]" = ()
    rod_values: list[np.ndarray] = ()
    contacts: ContactForces | None = None


class SceneView:
    """Draws the shots of one simulation; `color` is a field that colours soft bodies and rods, or "none". joints:
    whether axes, anchors and limits of joints are drawn too; contacts: whether their forces are, as arrows."""

    def __init__(self, sim, color: str = "displacement", joints: bool = False, contacts: bool = False):
        self.sim, self.color = sim, choice(color, "color", (*COLOR_FIELDS, PLAIN))
        self.joints, self.contacts = flag(joints, "joints"), flag(contacts, "contacts")
        self.forces: list[ContactForces] = []
        self.soft = [Skin(body, shaded=True) for body in sim.scene.soft_bodies]
        self.rigid = [triangulation(body.shape) for body in sim.scene.rigid_bodies]
        self.rigid_colors = _rigid_colors(sim.scene.rigid_bodies)
        self.arms = _arms(sim.scene)
        self.tubes = [Tube(rod, k) for k, rod in enumerate(sim.scene.rods)]

    def shot(self) -> Shot:
        """The simulation as it is now."""
        from pliant.output.joint_view import joint_strokes

        sim, values = self.sim, None
        points = [skin.at(sim.positions(body)) for body, skin in zip(sim.scene.soft_bodies, self.soft)]
        if self.color != PLAIN:
            values = [skin.at(field).astype(np.float32) for field, skin in zip(node_colors(sim, self.color), self.soft)]
        poses = [sim.pose(body) for body in sim.scene.rigid_bodies]
        tubes = [tube.points(sim) for tube in self.tubes]
        rod_values = of_rods(sim, self.tubes, self.color)
        shot = Shot(sim.time, [p.astype(np.float32) for p in points], values, poses, tubes, rod_values=rod_values)
        low, high = self.bounds(shot)
        strokes = joint_strokes(sim, self.joints, float(np.linalg.norm(high - low)))
        if not self.contacts:
            return replace(shot, strokes=strokes)
        # all shots have one scale of forces, which is known when they are drawn
        self.forces.append(contact_forces(sim))
        return replace(shot, strokes=strokes, contacts=self.forces[-1])

    def bounds(self, shot: Shot) -> np.ndarray:
        """Lowest and highest point (2, 3) [m] of everything but planes; down to a floor that is near."""
        clouds = [points for points in (*shot.points, *shot.tubes) if len(points)] + self._dots()
        for (points, _), (position, rotation) in self._solids(shot):
            clouds.append(points @ rotation_matrix(rotation).T + position)
        if not clouds:
            clouds = [np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]])]
        stacked = np.concatenate(clouds)
        low, high = stacked.min(axis=0), stacked.max(axis=0)
        near_floors = [z for z in self._floors(shot) if 0 < low[2] - z < np.linalg.norm(high - low)]
        low[2] = min([low[2], *near_floors])
        return np.array([low, high])

    def _floors(self, shot: Shot) -> list[float]:
        """Heights of the planes that face up [m]."""
        planes = zip(self.sim.scene.rigid_bodies, shot.poses)
        return [float(position[2]) for body, (position, rotation) in planes if _faces_up(body, rotation)]

    def _solids(self, shot: Shot):
        """Triangulations and poses of the rigid bodies that are not planes."""
        return [(mesh, pose) for mesh, pose in zip(self.rigid, shot.poses) if mesh is not None]

    def _dots(self) -> list[np.ndarray]:
        """Where joints hold on to the world, each (1, 3) [m]."""
        return [np.array([point]) for joint in self.sim.scene.joints for point in _world_points(joint)]

    def camera(self, shots: Sequence[Shot], eye=None, target=None, size: tuple[int, int] = SIZE) -> Camera:
        """The camera that sees all the shots, clear of the legend; `eye` or `target` [m] overrule it."""
        boxes = np.array([self.bounds(shot) for shot in shots])
        first_low, first_high = boxes[0]
        reach = REACH * float(np.linalg.norm(first_high - first_low))
        low = np.maximum(boxes[:, 0].min(axis=0), first_low - reach)
        high = np.minimum(boxes[:, 1].max(axis=0), first_high + reach)
        kept_free = self._legend_room(shots, size) if eye is None and target is None else {}
        look = {"aspect": size[0] / size[1], "margin": MARGIN} | kept_free
        chosen = Camera.framing(np.array([low, high]), EYE_DIRECTION, **look)
        if eye is None and target is not None:
            eye = np.add(target, np.subtract(chosen.eye, chosen.target))
        try:
            return Camera(eye if eye is not None else chosen.eye, target if target is not None else chosen.target)
        except ValueError as error:
            raise SceneError(str(error)) from None

    def limits(self, shots: Sequence[Shot]) -> tuple[float, float] | None:
        """The range of colours for all the shots: from 0 to about the largest value."""
        if self.color == PLAIN or not (self.soft or (self.tubes and self.color in OF_RODS)):
            return None
        return 0.0, max(last_color(self.color, shot.values, shot.rod_values) for shot in shots) or 1.0

    def _legend(self, limits: tuple[float, float] | None) -> Legend | None:
        """The legend of colours within such limits."""
        return None if limits is None else Legend(COLOR_FIELDS[self.color].title, *limits)

    def _legend_room(self, shots: Sequence[Shot], size: tuple[int, int]) -> dict[str, float]:
        """What `Camera.framing` keeps free of the shots, so that nothing lies under their legend."""
        from pliant.output.drawing.draw import legend_size  # fonts: what only shows surfaces, as the studio, needs none

        limits = self.limits(shots)
        if limits is None:
            return {}
        width, height = np.divide(legend_size(self._legend(limits), limits, size[1]), size)
        side, share = ("right", width) if width <= height else ("top", height)
        return {side: share} if share < 1 - LEAST_LEFT else {}

    def draw(
        self, shot: Shot, camera: Camera, limits, size: tuple[int, int] = SIZE, caption: str | None = None
    ) -> np.ndarray:
        """The picture (height, width, 3) uint8 of a shot; the caption is the time unless given."""
        from pliant.output.drawing.raster import render  # what only shows surfaces, as the studio, needs no rasteriser

        low, high = self.bounds(shot)
        scale = float(np.linalg.norm(high - low))
        surfaces = self._soft_surfaces(shot) + self._rigid_surfaces(shot)
        tubes = zip(self.tubes, shot.tubes, shot.rod_values or [None] * len(self.tubes))
        surfaces += [part for tube, *seen in tubes for part in tube.surfaces(*seen)]
        radius = DOT_SHARE * camera.distance
        surfaces += [_dot(point[0], radius) for point in self._dots()] + self._arm_surfaces(shot, ROD_SHARE * radius)
        surfaces += _stroke_surfaces(shot.strokes, radius)
        surfaces += arrow_surfaces(shot.contacts, reference_force(self.forces), scale, ROD_SHARE * radius, camera.eye)
        ground, walls = self._planes(shot, camera, scale)
        caption = f"t = {shot.time:.2f} s" if caption is None else caption
        return render(surfaces + walls, camera, size, ground=ground, legend=self._legend(limits), caption=caption)

    def _soft_surfaces(self, shot: Shot) -> list[Surface]:
        surfaces = []
        for k, (skin, points) in enumerate(zip(self.soft, shot.points)):
            values = None if shot.values is None else shot.values[k]
            color = SOFT_COLORS[k % len(SOFT_COLORS)]
            looks = {"smooth": True} if skin.embedded else {"edges": True}
            looks |= {"back": back_color(color)} if skin.sheet else {}
            surfaces.append(Surface(points, skin.triangles, color=color, field=values, **looks))
        return surfaces

    def _rigid_surfaces(self, shot: Shot) -> list[Surface]:
        surfaces = []
        for mesh, pose, color, body in zip(self.rigid, shot.poses, self.rigid_colors, self.sim.scene.rigid_bodies):
            if mesh is not None:
                points = mesh[0] @ rotation_matrix(pose[1]).T + pose[0]
                surfaces.append(Surface(points, mesh[1], color, smooth=not isinstance(body.shape, FLAT_FACED)))
        return surfaces

    def _arm_surfaces(self, shot: Shot, radius: float) -> list[Surface]:
        """Thin rods from rigid bodies to the points where joints hold them, for joints outside the shapes."""
        surfaces = []
        for body, start, end in self.arms:
            position, rotation = shot.poses[body]
            ends = np.array([start, end]) @ rotation_matrix(rotation).T + position
            surfaces.append(_rod(*ends, radius))
        return surfaces

    def _planes(self, shot: Shot, camera: Camera, scale: float) -> tuple[Ground | None, list[Surface]]:
        """The first plane that faces up as a checkerboard, the others that face the camera as squares."""
        ground, walls = None, []
        for body, (position, rotation) in zip(self.sim.scene.rigid_bodies, shot.poses):
            if not isinstance(body.shape, shapes.Plane):
                continue
            normal = rotation_matrix(rotation) @ body.shape.normal
            if _faces_up(body, rotation) and ground is None:
                ground = Ground(float(position[2]), _round_length(CHECKER_SHARE * camera.distance / 2))
            elif normal @ (np.array(camera.eye) - position) > 0:
                centre = position + _along(np.array(camera.target) - position, normal)
                walls.append(_square(centre, normal, 1.5 * scale))
        return ground, walls


def picture(
    sim,
    size: tuple[int, int] = SIZE,
    *,
    color: str = "displacement",
    camera=None,
    caption: str | None = None,
    joints: bool = False,
    contacts: bool = False,
) -> np.ndarray:
    """The simulation as it is now: an image (height, width, 3) uint8.

    size: (width, height) in pixels. color: "displacement", "speed", "strain", "stress" (of soft bodies and rods),
    "plastic_strain", "contact_pressure" (of soft bodies) or "none".
    camera: an output.camera.Camera; a dict, or something else, with `eye` and `target` [m] (either may be missing, or
    None); or None: sees it all.
    joints: axes, anchors and limits of joints are drawn too. contacts: the forces of contacts are, as arrows.
    """
    view, size = SceneView(sim, color, joints, contacts), checked_size(size)
    caption = None if caption is None else instance(caption, "caption", str, "a text")
    shot = view.shot()
    return view.draw(shot, as_camera(view, [shot], camera, size), view.limits([shot]), size, caption)


def as_camera(view: SceneView, shots: Sequence[Shot], camera, size: tuple[int, int]) -> Camera:
    """A camera as it is, one from `camera.eye` and `camera.target`, or the one that sees all the shots."""
    if isinstance(camera, Camera):
        return camera
    return view.camera(shots, *eye_and_target(camera), size)


@lru_cache(maxsize=256)
def triangulation(shape: shapes.Shape, segments: int = 48):
    """Points and triangles of a shape in its own frame; None for a plane. `segments`: around round shapes."""
    match shape:
        case shapes.Sphere():
            return tessellate.sphere(shape.radius, segments)
        case shapes.Box():
            return tessellate.box(tuple(length / 2 for length in shape.size))
        case shapes.Capsule() if not shape.length:
            return tessellate.sphere(shape.radius, segments)
        case shapes.Capsule():
            return tessellate.capsule(shape.radius, shape.length / 2, segments)
        case shapes.Cylinder():
            return tessellate.cylinder(shape.radius, shape.length / 2, segments)
        case shapes.Cone():
            return tessellate.cone(shape.radius, shape.length / 2, segments)
        case shapes.Mesh() | shapes.Hull() | shapes.Heightfield():
            return shape.surface.points, shape.surface.triangles
    return None


def _rigid_colors(bodies) -> list[str]:
    """Equal shapes have one colour, static bodies are grey."""
    colors: dict = {}
    for body in bodies:
        if not body.static:
            colors.setdefault(body.shape, RIGID_COLORS[len(colors) % len(RIGID_COLORS)])
    return [STATIC_COLOR if body.static else colors[body.shape] for body in bodies]


def _world_points(joint) -> list[tuple[float, float, float]]:
    """The points at which a joint holds on to the world [m]."""
    return [point for side, point in held_points(joint) if side is world][:1]


def _faces_up(body, rotation) -> bool:
    """Whether a body is a horizontal plane whose outside is above."""
    return isinstance(body.shape, shapes.Plane) and (rotation_matrix(rotation) @ body.shape.normal)[2] > 1 - 1e-9


def _arms(scene) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Number of the rigid body, its centre and the joint's point, both in the shape's frame [m]."""
    rods = []
    numbers = {id(body): number for number, body in enumerate(scene.rigid_bodies)}
    for joint in scene.joints:
        for side, point in held_points(joint):
            if id(side) in numbers and not side.static:
                local = rotation_matrix(side.rotation).T @ np.subtract(point, side.position)
                centre = side.mass_properties()[1]
                if np.linalg.norm(local - centre) > 1e-9:
                    rods.append((numbers[id(side)], centre, local))
    return rods


def _stroke_surfaces(strokes: "Sequence[Stroke]", radius: float) -> list[Surface]:
    """Lines as thin cylinders, points as dots."""
    surfaces = []
    for stroke in strokes:
        if len(stroke.points) == 1:
            surfaces.append(_dot(stroke.points[0], 0.8 * radius, stroke.color))
        pairs = zip(stroke.points[:-1], stroke.points[1:])
        surfaces += [_rod(p, q, ROD_SHARE * radius, stroke.color) for p, q in pairs if np.linalg.norm(q - p) > 1e-9]
    return surfaces


def _rod(start: np.ndarray, end: np.ndarray, radius: float, color: str = JOINT_COLOR) -> Surface:
    """A thin cylinder between two points."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    points, triangles = tessellate.cylinder(radius, length / 2, 12)
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    frame = np.array([first, np.cross(axis / length, first), axis / length])
    return Surface(points @ frame + (start + end) / 2, triangles, color, smooth=True)


def _dot(point: np.ndarray, radius: float, color: str = JOINT_COLOR) -> Surface:
    points, triangles = tessellate.sphere(radius, 16)
    return Surface(points + point, triangles, color, smooth=True)


def _along(vector: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The part of a vector along a plane."""
    return vector - (vector @ normal) * normal


def _square(centre: np.ndarray, normal: np.ndarray, half: float) -> Surface:
    """A square with half sides `half` [m]."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    corners = [centre + half * (i * first + j * second) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return Surface(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]), STATIC_COLOR, shadow=False)


def _round_length(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(min((factor * power for factor in (1, 2, 5, 10)), key=lambda value: abs(np.log(value / length))))
