"""Joints to be seen: ropes, rods, springs and tendons as lines; on request axes, anchors and limits as well."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.joints import ANGLE, DISTANCE, LIMIT, ROPE, TRAVEL
from pliant.model.places import anchor_axes, anchor_position

LINE_COLOR, AXIS_COLOR, LIMIT_COLOR = "#333a42", "#e0a030", "#c23b3b"


@dataclass(frozen=True)
class Stroke:
    """A line through points (k, 3) [m] of a colour; an anchor is a line of one point."""

    points: np.ndarray
    color: str


def joint_strokes(sim, marks: bool, size: float) -> list[Stroke]:
    """Lines of the joints of a simulation as it is now. marks: axes, anchors and limits too; size [m]: of the scene."""
    model = sim.model.during(sim.state, sim.state.time)
    blocks, state = model.joints, sim.state
    strokes = []
    for k in np.flatnonzero(np.isin(blocks.family, (DISTANCE, ROPE)) & (blocks.joint >= 0)):
        between = range(blocks.more_start[k], blocks.more_start[k + 1])
        points = [anchor_position(blocks.a, k, state), *(anchor_position(blocks.more, m, state) for m in between)]
        strokes.append(Stroke(np.array([*points, anchor_position(blocks.b, k, state)]), LINE_COLOR))
    return strokes + _marks(blocks, state, 0.1 * size) if marks else strokes


def _marks(blocks, state, length: float) -> list[Stroke]:
    """Axes of free coordinates with their anchors, and where their limits are."""
    free, strokes = blocks.free, []
    for number in range(len(free.kind)):
        point, frame = anchor_position(free.a, number, state), anchor_axes(free.a, number, state)
        axis = frame[:, 2]
        strokes.append(Stroke(np.array([point - length * axis, point + length * axis]), AXIS_COLOR))
        strokes.append(Stroke(anchor_position(free.b, number, state)[None], AXIS_COLOR))
        for k in np.flatnonzero((blocks.family == LIMIT) & (blocks.joint == free.joint[number])):
            if blocks.which[k, 0] == number:
                bounds = (-blocks.rest[k, 0], blocks.rest[k, 1])
                strokes += [_limit(free.kind[number], point, frame, bound, length) for bound in bounds]
    return strokes


def _limit(kind: int, point: np.ndarray, frame: np.ndarray, bound: float, length: float) -> Stroke:
    """A short line where a coordinate ends: across a slider's way, or along the direction of an angle."""
    if kind == TRAVEL:
        centre = point + bound * frame[:, 2]
        return Stroke(np.array([centre - 0.5 * length * frame[:, 0], centre + 0.5 * length * frame[:, 0]]), LIMIT_COLOR)
    way = np.cos(bound) * frame[:, 0] + np.sin(bound) * frame[:, 1] if kind == ANGLE else frame[:, 2]
    return Stroke(np.array([point, point + length * way]), LIMIT_COLOR)
