"""Rows of joints: ball, angular part of a weld, distance; between rigid bodies, faces and nodes of soft bodies and the
world."""

from dataclasses import dataclass, fields

import numpy as np

from pliant.kernels.cpu.joints import ANGULAR, BALL, BODY, DISTANCE, FACE, NODE, WORLD, add_tensions, fill_blocks
from pliant.rows.table import Rows, layout

__all__ = [
    "ANGULAR",
    "BALL",
    "BODY",
    "DISTANCE",
    "FACE",
    "NODE",
    "WORLD",
    "Anchors",
    "JointBlocks",
    "fill",
    "joined",
    "lay_out",
    "tensions",
]

# Triples that an anchor of each kind touches.
ANCHOR_WIDTH = {WORLD: 0, BODY: 2, FACE: 3, NODE: 1}


@dataclass
class Anchors:
    """One side of every joint block.

    kind (n,): WORLD, BODY, FACE or NODE. index (n, 3): body or node in column 0, or the three nodes. local (n, 3):
    world point [m], point in the body's frame [m], or barycentric coordinates. offset (n,): delta along the face
    normal [m].
    """

    kind: np.ndarray
    index: np.ndarray
    local: np.ndarray
    offset: np.ndarray


@dataclass
class JointBlocks:
    """All joint blocks of a model: constant data.

    joint (n,): index of the joint in the scene, -1 for what is none. family (n,): BALL, ANGULAR or
    DISTANCE. rest (n, 4): rest orientation of b seen from a (quaternion) for ANGULAR, the length [m] in column 0
    for DISTANCE. compliance [m/N], damping [N s/m] (n,). reach (n,): length of the anchors' arms [m], the measure
    of gaps. start, slice, lane: where each block lies in the table.
    """

    joint: np.ndarray
    family: np.ndarray
    a: Anchors
    b: Anchors
    rest: np.ndarray
    compliance: np.ndarray
    damping: np.ndarray
    reach: np.ndarray
    start: np.ndarray
    slice: np.ndarray
    lane: np.ndarray


def lay_out(family: np.ndarray, a: Anchors, b: Anchors):
    """Slices for the blocks, by the number of triples each touches."""
    width = np.array([ANCHOR_WIDTH[kind] for kind in range(4)])
    point_width = width[a.kind] + width[b.kind]
    angular_width = (a.kind == BODY).astype(int) + (b.kind == BODY).astype(int)
    return layout(np.where(family == ANGULAR, angular_width, point_width))


def joined(parts: list[JointBlocks]) -> JointBlocks:
    """The blocks of several parts, each in slices of its own, one after the other."""
    if len(parts) == 1:
        return parts[0]

    def column(name: str, values: list):
        return Anchors(*map(np.concatenate, zip(*map(_columns, values)))) if name in "ab" else np.concatenate(values)

    columns = {f.name: column(f.name, [getattr(part, f.name) for part in parts]) for f in fields(JointBlocks)}
    slices = np.cumsum([0] + [len(part.start) - 1 for part in parts])
    entries = np.cumsum([0] + [int(part.start[-1]) for part in parts])
    columns["start"] = np.concatenate([[0], *(part.start[1:] + first for part, first in zip(parts, entries))])
    columns["slice"] = np.concatenate([part.slice + first for part, first in zip(parts, slices)])
    return JointBlocks(**columns)


def _columns(anchors: Anchors) -> list[np.ndarray]:
    return [getattr(anchors, f.name) for f in fields(Anchors)]


def tensions(blocks: JointBlocks, impulse: np.ndarray, body_rotation: np.ndarray, h: float) -> np.ndarray:
    """h^2 times the rotational stiffness (b, 6) of bodies held in tension by ball joints."""
    out = np.zeros((len(body_rotation), 6))
    if not len(blocks.family):  # kernels that have nothing to do are not even compiled
        return out
    a, b, place = blocks.a, blocks.b, (blocks.slice, blocks.lane)
    add_tensions(
        blocks.family, a.kind, a.index, a.local, b.kind, b.index, b.local, *place, impulse, body_rotation, h, out
    )
    return out


def fill(blocks: JointBlocks, rows: Rows, x, body_position, body_rotation, h: float) -> None:
    """Fill the rows of all joints."""
    if not len(blocks.family):
        return
    fill_blocks(
        blocks.family,
        blocks.a.kind,
        blocks.a.index,
        blocks.a.local,
        blocks.a.offset,
        blocks.b.kind,
        blocks.b.index,
        blocks.b.local,
        blocks.b.offset,
        blocks.rest,
        blocks.compliance,
        blocks.damping,
        blocks.start,
        blocks.slice,
        blocks.lane,
        x,
        body_position,
        body_rotation,
        h,
        rows.triples,
        rows.jacobian,
        rows.compliance,
        rows.target,
    )
