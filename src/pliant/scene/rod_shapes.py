"""The geometry of rods: segments and their frames, and the shapes by which points touch others."""

import warnings
from typing import NamedTuple

import numpy as np

from pliant.checks import numbers, refusal, whole
from pliant.errors import SceneError
from pliant.rotations import conjugate, matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.shapes import Box, Capsule, Sphere

# Segments shorter than this part of the rod's size have no direction.
SHORTEST = 1e-9

MOST = 1_000_000
"""How many segments a rod may have."""


def split_edges(points, edges, closed: bool, segments) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and edges (m, 2), every given edge in so many segments; without edges the points are one line,
    which is numbered along it. Points of a network keep their numbers, and those within its edges follow."""
    points = numbers(points, "the points of a rod", ((None, 3),), "an array (n, 3) of at least two points")
    if len(points) < 2:
        raise SceneError(f"a rod needs at least two points, got {len(points)}")
    segments, is_line = whole(segments, "segments", 1, MOST), edges is None
    if is_line:
        line = np.arange(len(points))
        edges = np.stack([line[:-1], line[1:]], axis=1)
        edges = np.concatenate([edges, [[len(points) - 1, 0]]]) if closed else edges
    elif closed:
        raise SceneError("a rod with edges=... is closed where its edges close it; closed=True is for lines of points")
    rule = "an array (m, 2) of whole numbers, at least one row"
    given, edges = edges, numbers(edges, "edges", ((None, 2),), rule)
    if not len(edges) or np.any(edges != np.rint(edges)):
        raise refusal("edges", rule, given)
    if edges.min() < 0 or edges.max() >= len(points):
        raise SceneError(f"edges must name points 0 to {len(points) - 1}, got {int(edges.min())} to {int(edges.max())}")
    edges = edges.astype(np.int64)
    _check_edges(points, edges)
    if len(edges) * segments > MOST:
        raise SceneError(f"a rod may have at most {MOST} segments, got {len(edges)} edges of {segments}")
    if segments == 1:
        return points, edges
    return _split_line(points, edges, closed, segments) if is_line else _split_network(points, edges, segments)


def _split_line(points: np.ndarray, edges: np.ndarray, closed: bool, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """The given point i has the number i segments."""
    more = np.concatenate([points[edges[:, 0], None], _within(points, edges, segments)], axis=1).reshape(-1, 3)
    begins = np.arange(len(more))
    ends = (begins + 1) % len(more) if closed else begins + 1
    return more if closed else np.concatenate([more, points[-1:]]), np.stack([begins, ends], axis=1)


def _split_network(points: np.ndarray, edges: np.ndarray, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """The given points come first, then those within the edges, edge by edge."""
    inside = len(points) + np.arange(len(edges) * (segments - 1)).reshape(len(edges), -1)
    chain = np.concatenate([edges[:, :1], inside, edges[:, 1:]], axis=1)
    pairs = np.stack([chain[:, :-1], chain[:, 1:]], axis=2).reshape(-1, 2)
    return np.concatenate([points, _within(points, edges, segments).reshape(-1, 3)]), pairs.astype(np.int64)


def _within(points: np.ndarray, edges: np.ndarray, segments: int) -> np.ndarray:
    """The points (m, segments - 1, 3) that cut edges into so many segments."""
    share = np.arange(1, segments) / segments
    first, second = points[edges[:, 0]], points[edges[:, 1]]
    return first[:, None] + share[None, :, None] * (second - first)[:, None]


def _check_edges(points: np.ndarray, edges: np.ndarray) -> None:
    """Raise at segments without length, edges said twice, points without an edge."""
    length = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    size = float(np.ptp(points, axis=0).max())
    bad = np.flatnonzero(length <= SHORTEST * max(size, 1e-300))
    if len(bad):
        i, j = edges[bad[0]]
        raise SceneError(
            f"segment {int(bad[0])} of a rod has no length: points {i} and {j} are both at {points[i].tolist()}"
        )
    keys = np.sort(edges, axis=1) @ [len(points), 1]
    unique, place = np.unique(keys, return_index=True)
    if len(unique) < len(edges):
        twice = int(np.setdiff1d(np.arange(len(edges)), place)[0])
        raise SceneError(f"edge {twice} of a rod, {edges[twice].tolist()}, is there twice")
    alone = np.setdiff1d(np.arange(len(points)), edges)
    if len(alone):
        raise SceneError(f"point {int(alone[0])} of a rod has no edge")


def edge_frames(points: np.ndarray, edges: np.ndarray, normal) -> np.ndarray:
    """Frames (m, 3, 3) of segments, the third column along each. The first is the normal's part across it; without one,
    frames follow each other along the edges with as little turn as possible."""
    along = points[edges[:, 1]] - points[edges[:, 0]]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    if normal is None:
        first = _carried(along, edges)
    else:
        rule = f"3 finite numbers, or an array ({len(along)}, 3) with a row for each segment"
        first = numbers(normal, "normal", ((3,), along.shape), rule)
        first = first - np.sum(first * along, axis=1)[:, None] * along
        size = np.linalg.norm(first, axis=1)
        if size.min() <= 1e-9:
            raise SceneError(f"the normal of segment {int(np.argmin(size))} of a rod lies along it, or is zero")
        first = first / size[:, None]
    return np.stack([first, np.cross(along, first), along], axis=2)


def _carried(along: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """First axes (m, 3), carried from an edge to the next one that begins where it ends by the smallest rotation."""
    out = np.zeros_like(along)
    for k, t in enumerate(along):
        if k and edges[k, 0] == edges[k - 1, 1] and np.array_equal(t, along[k - 1]):
            out[k] = out[k - 1]
            continue
        if k and edges[k, 0] == edges[k - 1, 1] and along[k - 1] @ t > -0.999:
            v = np.cross(along[k - 1], t)
            before = out[k - 1]
            new = before + np.cross(v, before) + np.cross(v, np.cross(v, before)) / (1 + along[k - 1] @ t)
        else:
            axis = np.eye(3)[np.argmin(np.abs(t))]
            new = axis - (axis @ t) * t
        new = new - (new @ t) * t
        out[k] = new / np.linalg.norm(new)
    return out


def straight_ends(frames: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Frames (m, 2, 3, 3) at both ends of the segments of a line, open or closed: midway between those of the segments
    that meet there, so that a straight line of them is without strain; at free ends turned on by as much."""
    after, before = {int(i): m for m, i in enumerate(edges[:, 0])}, {int(j): m for m, j in enumerate(edges[:, 1])}
    if len(after) < len(edges) or len(before) < len(edges):
        raise SceneError("straight=True is for lines of points, open or closed, not for networks")
    quaternions = np.array([matrix_quaternion(frame) for frame in frames])
    ends = np.full((len(edges), 2, 4), np.nan)
    for m, (i, j) in enumerate(edges.tolist()):
        for end, other in ((0, before.get(i)), (1, after.get(j))):
            if other is not None:
                mean = quaternions[m] + np.sign(quaternions[m] @ quaternions[other] or 1.0) * quaternions[other]
                ends[m, end] = mean / np.linalg.norm(mean)
    for m in range(len(edges)):
        for end in range(2):
            if np.isnan(ends[m, end, 0]):  # as far from the middle as the other end; of one segment, the middle itself
                other = quaternions[m] if np.isnan(ends[m, 1 - end, 0]) else ends[m, 1 - end]
                turn = multiply_quaternions(quaternions[m], conjugate(other))
                ends[m, end] = multiply_quaternions(turn, quaternions[m])
    return np.array([[rotation_matrix(q) for q in pair] for pair in ends])


class Around(NamedTuple):
    """The segments at each point of a rod, and which points (n,) touch with a ball: where more than two segments meet,
    and where two turn so sharply that a straight piece would leave them."""

    segments: list[list[int]]
    ball: np.ndarray


def around_points(rod) -> Around:
    """What there is around the points of a rod."""
    segments: list[list[int]] = [[] for _ in rod.points]
    for k, (i, j) in enumerate(rod.edges.tolist()):
        segments[i].append(k)
        segments[j].append(k)
    ball = np.array([len(own) > 2 for own in segments])
    for point, own in enumerate(segments):
        # the pieces beside it reach up to it, for which they must be pieces
        if _leaves(rod, point, own) > _most_off(rod) and not ball[rod.edges[own]].any():
            ball[point] = True
    return Around(segments, ball)


def _leaves(rod, point: int, own: list[int]) -> float:
    """How far [m] a straight piece through a point between two segments `own` leaves these."""
    if len(own) != 2:
        return 0.0
    along = [rod.frames[k][:, 2] * (1 if rod.edges[k, 0] == point else -1) for k in own]
    return 0.5 * max(rod.lengths[own]) * np.sqrt(max(0.5 * (1 + along[0] @ along[1]), 0.0))


def _most_off(rod) -> float:
    """How far [m] a piece may leave the segments."""
    return 2 * max(rod.section.extents)


def point_shapes(rod, around: Around) -> list[tuple]:
    """For every point of a rod its shape, its frame (3, 3) and where the point lies in the shape's frame (3,).

    A point between two segments has a piece from the middle of the one to that of the other, or up to a ball, or where
    the rod ends in a point with one segment half of that; a point where several meet, or that is a corner, is a ball.
    """
    return [_point_shape(rod, i, around) for i in range(len(rod.points))]


class Piece(NamedTuple):
    """What a point of a rod touches with: half its length [m] along the third axis of `frame` (3, 3), where the point
    lies in that (3,) [m], the segments behind it and before it, -1 for none, and the parts of these it reaches into."""

    frame: np.ndarray
    half: float
    place: np.ndarray
    segments: tuple[int, int]
    shares: tuple[float, float]


def point_piece(rod, point: int, around: Around) -> Piece | None:
    """That of a point; None for one that is a ball."""
    if around.ball[point]:
        return None
    behind, before = _behind_and_before(rod, point, around.segments[point])
    shares = tuple(_share(around, rod.edges[k], point) if k >= 0 else 0.0 for k in (behind, before))
    ends = np.zeros((2, 3))
    for side, (k, share) in enumerate(zip((behind, before), shares)):
        if k >= 0:
            ends[side] = share * (rod.points[rod.edges[k].sum() - point] - rod.points[point])
    along = ends[1] - ends[0]
    frame = _near(rod.frames[before if before >= 0 else behind], along)
    if frame[:, 2] @ along < 0.0:
        ends = ends[::-1]
        behind, before, shares = before, behind, shares[::-1]
    return Piece(frame, 0.5 * float(np.linalg.norm(along)), -frame.T @ ends.mean(axis=0), (behind, before), shares)


def _behind_and_before(rod, point: int, own: list[int]) -> tuple[int, int]:
    """The segments that lead to a point and away from it, -1 for none; of two that do the same either may be either."""
    leads = [k for k in own if rod.edges[k, 0] == point]
    if len(own) == 1:
        return (-1, own[0]) if leads else (own[0], -1)
    before = leads[-1] if leads else own[1]
    return own[0] if before == own[1] else own[1], before


def _point_shape(rod, point: int, around: Around) -> tuple:
    piece = point_piece(rod, point, around)
    if piece is None:
        return Sphere(max(rod.section.extents)), rod.frames[around.segments[point][0]], np.zeros(3)
    return _solid(rod.section, 2.0 * piece.half), piece.frame, piece.place


def bare_segments(rod, around: Around) -> np.ndarray:
    """The segments (k,) between two balls that do not touch each other, with which only planes meet all there is."""
    return np.flatnonzero(around.ball[rod.edges].all(axis=1) & (rod.lengths > 2 * max(rod.section.extents)))


def warn_of_kinks(rod, around: Around) -> None:
    """Say where a line turns so sharply that what a point touches with, straight through it, leaves the segments by
    more than their thickness."""
    off = [0.0 if around.ball[i] else _leaves(rod, i, own) for i, own in enumerate(around.segments)]
    where = int(np.argmax(off))
    if off[where] > _most_off(rod):
        warnings.warn(
            f"rod {rod.name!r} turns sharply at point {where}: its contacts are up to {off[where]:.3g} m off its line; "
            f"take shorter segments (segments=...) or collide=False",
            stacklevel=5,
        )


def _share(around: Around, edge: np.ndarray, point: int) -> float:
    """The part of a segment that a point at its end covers: half, or all of it if a ball is at the other end."""
    other = int(edge[1] if edge[0] == point else edge[0])
    return 1.0 if around.ball[other] else 0.5


def _near(frame: np.ndarray, third: np.ndarray) -> np.ndarray:
    """A frame turned so that its third axis has this direction; as it is where there is none."""
    size = np.linalg.norm(third)
    if size < 1e-6:
        return frame
    third = third / size
    if third @ frame[:, 2] < 0:
        third = -third
    if third @ frame[:, 2] > 1 - 1e-15:
        return frame
    first = frame[:, 0] - (frame[:, 0] @ third) * third
    if np.linalg.norm(first) < 1e-6:
        return frame
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


def _solid(section, length: float):
    """What a piece of a rod of this length touches with; an ellipse as a box, its corners beyond it."""
    if section.round:
        return Capsule(section.extents[0], length)
    return Box((2 * section.extents[0], 2 * section.extents[1], max(length, 1e-3 * min(section.extents))))
