"""What the page draws: the surfaces of a scene once, and what moves in every frame, as float32 and uint32 arrays.

Of soft bodies only nodes move: points of a drawing follow them in the page, so that a frame is small however fine the
drawing is.
"""

from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from pliant.output.fields import COLOR_FIELDS, last_color, node_colors
from pliant.output.rod_fields import OF_RODS, of_rods
from pliant.output.rod_view import Tube
from pliant.output.scene_view import FLAT_FACED, RIGID_COLORS, SOFT_COLORS, STATIC_COLOR, Shot, triangulation
from pliant.output.skins import Skin
from pliant.rotations import rotation_matrix
from pliant.scene.cloth import Clamp
from pliant.scene.rods import Rod
from pliant.scene.shapes import Plane
from pliant.studio import motions
from pliant.studio.covers import Cover
from pliant.studio.messages import pack
from pliant.studio.symbols import anchors, body_loads, lines, pinned, rod_symbols, world_anchors

NO_COLOR = "none"
MOST_CONTACTS = 400
"""How many contacts of a moment are shown."""


def _as_described(rod: Rod) -> SimpleNamespace:
    return SimpleNamespace(points=rod.places, frames=rotation_matrix(rod.rotation) @ rod.frames)


AT_REST = SimpleNamespace(rod=_as_described)
"""In place of a simulation: rods as the scene describes them."""


@dataclass(frozen=True)
class Moment:
    """What is seen of a simulation at a time [s]: positions (n, 3) [m] and colour values (n,) of all nodes of each soft
    body in float32, poses of rigid bodies, points of rods' surfaces, lines of joints. Of a field that rods have
    (OF_RODS), values of the points of their surfaces follow; of one that all bodies have, those of the rigid
    bodies."""

    time: float
    positions: list[np.ndarray]
    values: list[np.ndarray] | None
    poses: list[tuple[np.ndarray, np.ndarray]]
    tubes: list[np.ndarray]
    strokes: list

    def plain(self) -> "Moment":
        """The same without colours."""
        return replace(self, values=None)

    @property
    def bytes(self) -> int:
        """How much memory it takes, nearly: every array and object has a few hundred bytes of its own."""
        arrays = (*self.positions, *self.tubes, *(self.values or ()), *(stroke.points for stroke in self.strokes))
        return sum(array.nbytes + 200 for array in arrays) + 400 * len(self.poses) + 600


class SceneGeometry:
    """The surfaces of a scene, and messages that say them and their motion.

    revision: the number of the scene; the page drops frames of scenes that it has no surfaces of.
    """

    def __init__(self, scene, revision: int):
        self.scene, self.revision = scene, revision
        self.skins = [Skin(body, shaded=True) for body in scene.soft_bodies]
        self.tubes = [Tube(rod, k) for k, rod in enumerate(scene.rods)]
        self.highest, self.contacts = 0.0, False
        self.moment: Moment | None = None
        self.cut(None)

    def cut(self, cutting: tuple[list[float], float] | None) -> None:
        """Show of soft bodies only the elements below a plane (its normal and offset [m]); None: all of them."""
        plane = None if cutting is None else (np.array(cutting[0], float), float(cutting[1]))
        self.covers = [Cover(body, skin, plane) for body, skin in zip(self.scene.soft_bodies, self.skins)]

    def surfaces(self) -> bytes:
        """All triangles; points of rigid bodies in the frames of their shapes [m]; pins, loads and joints."""
        soft, rods, arrays = [], [], []
        for k, (body, cover) in enumerate(zip(self.scene.soft_bodies, self.covers)):
            dots, pins = pinned(body, cover)
            looks = {"color": SOFT_COLORS[k % len(SOFT_COLORS)], "drawn": cover.drawn, "pinned": len(dots)}
            looks["pins"] = sum(not isinstance(pin, Clamp) for pin in body.pins)  # those that follow are clamps
            counts = {"nodes": len(body.mesh.points), "tets": len(getattr(body.mesh, "tets", ()))}
            held = {"loads": body_loads(body, cover), "anchors": anchors(self.scene, body, cover)}
            soft.append({"name": body.name, **looks, **cover.sizes(), **counts, **held})
            arrays += [*cover.arrays(), dots, pins]
        for tube in self.tubes:
            sizes = {"points": len(self._tube_points(tube, AT_REST)), "triangles": len(tube.triangles)}
            rods.append({"name": tube.rod.name, "color": tube.color, **sizes, **rod_symbols(self.scene, tube)})
            arrays.append(np.ascontiguousarray(tube.triangles, np.uint32))
        rigid = []
        for body in self.scene.rigid_bodies:
            header, shape = self._rigid(body, sum(not each["static"] for each in rigid))
            rigid.append(header)
            arrays += shape
        header = {"kind": "surfaces", "revision": self.revision, "soft": soft, "rods": rods, "rigid": rigid}
        return pack(header | {"anchors": world_anchors(self.scene), "lines": lines(self.scene)}, arrays)

    def _rigid(self, body, moving: int) -> tuple[dict[str, Any], list[np.ndarray]]:
        """What is said of a rigid body, and its points and triangles; moving: how many before it are not static."""
        points, triangles = triangulation(body.shape) or (np.zeros((0, 3)), np.zeros((0, 3)))
        color = STATIC_COLOR if body.static else RIGID_COLORS[moving % len(RIGID_COLORS)]
        looks = {"color": color, "flat": isinstance(body.shape, FLAT_FACED), "static": bool(body.static)}
        normal = [float(x) for x in body.shape.normal] if isinstance(body.shape, Plane) else None
        sizes = {"points": len(points), "triangles": len(triangles)}
        held = {"anchors": anchors(self.scene, body, None), "loads": body_loads(body, None)}
        header = {"name": body.name, "plane": normal, **held, **looks, **sizes}
        return header, [np.ascontiguousarray(points, np.float32), np.ascontiguousarray(triangles, np.uint32)]

    def _tube_points(self, tube: Tube, sim) -> np.ndarray:
        """Points of the surface of a rod; balls where several segments meet are not drawn."""
        points = tube.points(sim)
        return points[: len(points) - len(tube.balls)]

    def rest(self) -> bytes:
        """The frame of the scene as it is described, at time 0."""
        self.highest, self.moment = 0.0, None
        return self._frame({"time": 0.0, "steps": 0}, self._moved(self._still()), self._still().poses, [])

    def _still(self) -> Moment:
        positions = [body.nodes.positions for body in self.scene.soft_bodies]
        poses = [(np.array(body.position), np.array(body.rotation)) for body in self.scene.rigid_bodies]
        return Moment(0.0, positions, None, poses, [tube.points(AT_REST) for tube in self.tubes], [])

    def frame(self, sim, color: str, colored: bool, more: dict[str, Any]) -> bytes:
        """The frame of a simulation as it is now. color: one of COLOR_FIELDS or "none"; colored: whether it says
        colours, or the page keeps those that it has; more: further numbers."""
        moment = self.take(sim, color if colored else NO_COLOR)
        header = {"time": sim.time, **step_numbers(sim.info), **more}
        values = self._shown_values(moment) if color != NO_COLOR else []
        if values:
            soft = len(self.covers)
            self.highest = max(self.highest, last_color(color, moment.values[:soft], moment.values[soft:]))
        if color != NO_COLOR:
            header["field"] = self._field(color, bool(values))
        touching = self._touching(sim, header) if self.contacts else []
        return self._frame(header, self._moved(moment), moment.poses, [*values, *touching])

    def energies(self, sim) -> dict[str, float]:
        """The energies of a simulation by kind, and their sum [J]."""
        energy = sim.energy()
        return {**asdict(energy), "total": energy.total}

    def _field(self, color: str, fresh: bool) -> dict[str, Any]:
        """What the page needs to know of a field; fresh: whether the frame says values."""
        said = {"name": color, "title": COLOR_FIELDS[color].title, "high": self.highest or 1.0}
        return said | {"fresh": fresh, "rods": color in OF_RODS, "all": color in motions.ALL_BODIES}

    def _touching(self, sim, header: dict[str, Any]) -> list[np.ndarray]:
        """Points and forces (k, 6) [m, N] of contacts; their bodies are named in the header."""
        found = sim.contacts
        strongest = np.argsort(-np.linalg.norm(found.forces, axis=1), kind="stable")[:MOST_CONTACTS]
        header["touching"] = [[body.name for body in found.bodies[k]] for k in strongest]
        return [np.column_stack([found.points, found.forces])[strongest].reshape(-1, 6)]

    def take(self, sim, color: str) -> Moment:
        """What is seen of a simulation now; the same object as long as it has not gone on."""
        from pliant.output.joint_view import joint_strokes

        last = self.moment
        if last is None or last.time != sim.time or (last.values is None and color != NO_COLOR):
            positions = [sim.positions(body).astype(np.float32) for body in self.scene.soft_bodies]
            values = None
            if color != NO_COLOR:
                values = [field.astype(np.float32) for field in node_colors(sim, color)]
                values += of_rods(sim, self.tubes, color)
                values += [motions.of_rigid(sim, color)] if color in motions.ALL_BODIES else []
            poses = [sim.pose(body) for body in self.scene.rigid_bodies]
            strokes = joint_strokes(sim, False, 1.0) if self.scene.joints else []
            tubes = [tube.points(sim) for tube in self.tubes]
            self.moment = Moment(sim.time, positions, values, poses, tubes, strokes)
        return self.moment

    def dressed(self, moment: Moment) -> Shot:
        """A moment as pictures and films draw it."""
        points = [skin.at(each) for skin, each in zip(self.skins, moment.positions)]
        values = moment.values and [skin.at(each) for skin, each in zip(self.skins, moment.values)]
        rods = self._of_rods(moment.values or [])
        return Shot(moment.time, points, values, moment.poses, moment.tubes, moment.strokes, rods)

    def _of_rods(self, values: list[np.ndarray]) -> list[np.ndarray]:
        """Of the values of a moment those of rods."""
        return values[len(self.skins) : len(self.skins) + len(self.tubes)]

    def _moved(self, moment: Moment) -> list[np.ndarray]:
        """What moves of soft bodies and rods: nodes that are needed, points of surfaces of rods."""
        tubes = [points[: len(points) - len(tube.balls)] for tube, points in zip(self.tubes, moment.tubes)]
        return [*(each[cover.nodes] for cover, each in zip(self.covers, moment.positions)), *tubes]

    def _shown_values(self, moment: Moment) -> list[np.ndarray]:
        values = moment.values or []
        soft = [each[cover.nodes] for cover, each in zip(self.covers, values)]
        rods = [each[: len(each) - len(tube.balls)] for tube, each in zip(self.tubes, self._of_rods(values))]
        return [*soft, *rods, *values[len(self.skins) + len(self.tubes) :]]

    def kept(self, moment: Moment, color: str, steps: int) -> bytes:
        """The frame of a moment that was kept; steps: how many there have been till now."""
        header: dict[str, Any] = {"time": moment.time, "steps": steps, "scrubbed": True}
        values = self._shown_values(moment) if color != NO_COLOR else []
        if values:
            header["field"] = self._field(color, True)
        return self._frame(header, self._moved(moment), moment.poses, values)

    def mode(self, sim, header: dict[str, Any]) -> bytes:
        """A mode: everything at rest, and everything where a simulation has been put by the mode."""
        still, there = self._still(), self.take(sim, NO_COLOR)
        arrays = [array for each in (still, there) for array in (*self._moved(each), _poses(each.poses))]
        self.moment = None
        return pack({"kind": "mode", "revision": self.revision, **header}, [_plain(array) for array in arrays])

    def _frame(self, header: dict, points: list, poses: list, values: list) -> bytes:
        arrays = [_plain(each) for each in (*points, _poses(poses), *values)]
        return pack({"kind": "frame", "revision": self.revision, **header}, arrays)


def _plain(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, np.float32)


def _poses(poses: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Positions and quaternions (k, 7)."""
    return np.array([np.concatenate(pose) for pose in poses]).reshape(-1, 7)


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
        "held": list(info.held),
        "timings": {name: float(seconds) for name, seconds in info.timings.items()},
    }
