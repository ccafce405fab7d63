"""What the page draws: the surfaces of a scene once, and what moves in every frame, as float32 and uint32 arrays."""

from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pliant.output.fields import COLOR_FIELDS, node_colors
from pliant.output.joint_view import joint_strokes
from pliant.output.rod_view import Tube
from pliant.output.scene_view import FLAT_FACED, RIGID_COLORS, SOFT_COLORS, STATIC_COLOR, Shot, triangulation
from pliant.output.skins import Skin
from pliant.rotations import rotation_matrix
from pliant.scene.joint_options import world
from pliant.scene.joints import held_points
from pliant.scene.shapes import Plane
from pliant.studio.messages import pack

NO_COLOR = "none"

AT_REST = SimpleNamespace(rod=lambda rod: SimpleNamespace(points=rod.points, frames=rod.frames))
"""In place of a simulation: rods as the scene describes them."""


class SceneGeometry:
    """The surfaces of a scene, and messages that say them and their motion.

    revision: the number of the scene; the page drops frames of scenes that it has no surfaces of.
    """

    def __init__(self, scene, revision: int):
        self.scene, self.revision = scene, revision
        self.skins = [Skin(body, shaded=True) for body in scene.soft_bodies]
        self.following = [_following(skin, len(body.nodes)) for skin, body in zip(self.skins, scene.soft_bodies)]
        self.tubes = [Tube(rod, k) for k, rod in enumerate(scene.rods)]
        self.highest = 0.0
        self.shot: Shot | None = None

    def surfaces(self) -> bytes:
        """All triangles; points of rigid bodies in the frames of their shapes [m], pinned points by number."""
        soft, rigid, arrays = [], [], []
        for k, (body, skin) in enumerate(zip(self.scene.soft_bodies, self.skins)):
            pinned = self._pinned(body, skin)
            looks = {"color": SOFT_COLORS[k % len(SOFT_COLORS)], "drawn": skin.embedded is not None}
            sizes = {"points": len(skin.nodes), "triangles": len(skin.triangles), "pinned": len(pinned)}
            counts = {"nodes": len(body.mesh.points), "tets": len(getattr(body.mesh, "tets", ()))}
            soft.append({"name": body.name, **looks, **sizes, **counts})
            arrays += [np.ascontiguousarray(skin.triangles, np.uint32), pinned.astype(np.uint32)]
        rods = []
        for tube in self.tubes:
            points = self._tube_points(tube, AT_REST)
            rods.append(
                {"name": tube.rod.name, "color": tube.color, "points": len(points), "triangles": len(tube.triangles)}
            )
            arrays.append(np.ascontiguousarray(tube.triangles, np.uint32))
        moving = 0
        for body in self.scene.rigid_bodies:
            points, triangles = triangulation(body.shape) or (np.zeros((0, 3)), np.zeros((0, 3)))
            looks = {"color": STATIC_COLOR, "flat": isinstance(body.shape, FLAT_FACED), "static": bool(body.static)}
            if not body.static:
                looks["color"], moving = RIGID_COLORS[moving % len(RIGID_COLORS)], moving + 1
            normal = [float(x) for x in body.shape.normal] if isinstance(body.shape, Plane) else None
            sizes = {"points": len(points), "triangles": len(triangles)}
            rigid.append({"name": body.name, "plane": normal, "anchors": self._anchors(body), **looks, **sizes})
            arrays += [np.ascontiguousarray(points, np.float32), np.ascontiguousarray(triangles, np.uint32)]
        header = {"kind": "surfaces", "revision": self.revision, "soft": soft, "rods": rods, "rigid": rigid}
        header["anchors"] = [
            list(point) for joint in self.scene.joints for s, point in held_points(joint) if s is world
        ]
        return pack(header, arrays)

    def _tube_points(self, tube: Tube, sim) -> np.ndarray:
        """Points of the surface of a rod; balls where several segments meet are not drawn."""
        points = tube.points(sim)
        return points[: len(points) - len(tube.balls)]

    def _pinned(self, body, skin: Skin) -> np.ndarray:
        """The points of a skin at pinned nodes; none of a drawing, whose points are no nodes."""
        if skin.embedded is not None or not body.pins:
            return np.zeros(0, np.uint32)
        nodes = np.concatenate([body.select(pin.nodes, "pin") for pin in body.pins])
        return np.flatnonzero(np.isin(skin.nodes, nodes))

    def _anchors(self, body) -> list[list[float]]:
        """Where joints hold a rigid body, in the frame of its shape [m]."""
        held = [point for joint in self.scene.joints for side, point in held_points(joint) if side is body]
        turn = rotation_matrix(body.rotation)
        return [(turn.T @ np.subtract(point, body.position)).tolist() for point in held]

    def rest(self) -> bytes:
        """The frame of the scene as it is described, at time 0."""
        points = [skin.at(body.nodes.positions) for body, skin in zip(self.scene.soft_bodies, self.skins)]
        points += [self._tube_points(tube, AT_REST) for tube in self.tubes]
        poses = [[*body.position, *body.rotation] for body in self.scene.rigid_bodies]
        self.highest, self.shot = 0.0, None
        return self._frame({"time": 0.0, "steps": 0}, points, poses, [])

    def frame(self, sim, color: str, more: dict[str, Any]) -> bytes:
        """The frame of a simulation as it is now. color: one of COLOR_FIELDS or "none"; more: further numbers."""
        shot = self.take(sim, color)
        energy = sim.energy()
        header = {"time": sim.time, "energy": {**asdict(energy), "total": energy.total}}
        header |= {**step_numbers(sim.info), **more}
        if shot.values:
            field = COLOR_FIELDS[color]
            self.highest = max(self.highest, float(np.quantile(np.concatenate(shot.values), field.share)))
            header["field"] = {"name": color, "title": field.title, "high": self.highest or 1.0}
        return self._frame(header, self._moved(shot), [np.concatenate(pose) for pose in shot.poses], shot.values or [])

    def take(self, sim, color: str) -> Shot:
        """What is seen of a simulation now; the same object as long as it has not gone on."""
        last = self.shot
        if last is None or last.time != sim.time or (last.values is None) != (color == NO_COLOR):
            points = [put(sim.positions(body)) for body, put in zip(self.scene.soft_bodies, self.following)]
            values = None
            if color != NO_COLOR:
                values = [put(field) for put, field in zip(self.following, node_colors(sim, color))]
            poses = [sim.pose(body) for body in self.scene.rigid_bodies]
            strokes = joint_strokes(sim, False, 1.0) if self.scene.joints else []
            tubes = [tube.points(sim) for tube in self.tubes]
            self.shot = Shot(sim.time, points, values, poses, tubes, strokes)
        return self.shot

    def _moved(self, shot: Shot) -> list[np.ndarray]:
        """The points of soft bodies and rods in a shot."""
        tubes = [points[: len(points) - len(tube.balls)] for tube, points in zip(self.tubes, shot.tubes)]
        return [*shot.points, *tubes]

    def kept(self, shot, color: str, steps: int) -> bytes:
        """The frame of a moment that was kept; steps: how many there have been till now."""
        poses = [np.concatenate(pose) for pose in shot.poses]
        header: dict[str, Any] = {"time": shot.time, "steps": steps, "scrubbed": True}
        if shot.values is not None and color != NO_COLOR:
            header["field"] = {"name": color, "title": COLOR_FIELDS[color].title, "high": self.highest or 1.0}
        return self._frame(header, self._moved(shot), poses, shot.values if "field" in header else [])

    def _frame(self, header: dict, points: list, poses: list, values: list) -> bytes:
        arrays = [np.ascontiguousarray(each, np.float32) for each in (*points, np.array(poses).reshape(-1, 7), *values)]
        return pack({"kind": "frame", "revision": self.revision, **header}, arrays)


def _following(skin: Skin, nodes: int) -> Callable[[np.ndarray], np.ndarray]:
    """What takes values at nodes to the points of a skin, in float32: a sparse product where the skin is a drawing."""
    if skin.embedded is None:
        return lambda values: np.asarray(values)[skin.nodes].astype(np.float32)
    held, weights = skin.embedded.nodes[skin.nodes], skin.embedded.weights[skin.nodes].astype(np.float32)
    starts = np.arange(0, held.size + 1, held.shape[1])
    matrix = csr_array((weights.ravel(), held.ravel(), starts), shape=(len(held), nodes))
    return lambda values: matrix @ np.asarray(values, np.float32)


def step_numbers(info) -> dict[str, Any]:
    """What the page shows of the last step: iterations, convergence, seconds per stage."""
    if info is None:
        return {}
    imbalance = float(info.imbalance)
    return {
        "solver": info.solver,
        "iterations": int(info.iterations),
        "converged": bool(info.converged),
        "imbalance": imbalance if np.isfinite(imbalance) else None,
        "contacts": int(info.contacts),
        "rows": int(info.rows),
        "parts": int(info.parts),
        "tangled": list(info.tangled),
        "timings": {name: float(seconds) for name, seconds in info.timings.items()},
    }
