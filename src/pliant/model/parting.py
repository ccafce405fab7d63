"""Surfaces that lie exactly on each other at the start: parted by next to nothing.

Bodies are put on each other by saying that one begins where the other ends. At distance zero there is no direction in
which to part them, and no part of it that could be left on their way. The sides of a solid are known, though: whatever
lies on it is moved outwards, by a billionth of an edge. Sheets that lie on each other have no sides.
"""

from itertools import pairwise

import numpy as np

from pliant.kernels.collide import VERTEX_FACE

# Distances that are none, and that to which they are parted, in parts of the mean edge; and in roundings of places.
NONE, APART, ROUNDINGS = 1e-12, 1e-9, 64
# How often shifts of all pairs are gone through, at most: what lies on what is shifted is shifted as well.
MOST_PASSES = 1000


def parted(model, state, sheets: list[int]):
    """A state in which no surface lies exactly on a solid; sheets: numbers of things that have no inside."""
    colliders = model.colliders
    if not colliders.certificates or not np.all(np.isfinite(state.x)):
        return state
    x, meshed = colliders.meshed.places(state), colliders.meshed
    if not any(colliders.certificates.may_touch(x, np.zeros(len(x)), 0.0)):
        return state
    rounding = np.finfo(float).eps * float(np.abs(x).max(initial=0.0))
    found = meshed.surfaces.contacts(x, np.zeros(len(x)), NONE * meshed.size + rounding, "start")
    own = meshed.thing[found.nodes[np.arange(len(found)), _first_node(found)]]
    its = meshed.thing[found.nodes[np.arange(len(found)), _second_node(found)]]
    solid = ~np.isin(np.arange(len(model.soft_names) + len(model.rigid_names)), sheets)
    which = np.flatnonzero((own != its) & (solid[own] | solid[its]))
    if not len(which):
        return state
    ways = _ways(meshed, x, found, which, solid[own], solid[its])
    pairs = _pairs(own[which], its[which], found.kind[which] == VERTEX_FACE, ways)
    least = max(APART * float(meshed.size[meshed.size > 0].min()), ROUNDINGS * rounding)
    shift = _shifts(pairs, _movable(model), least)
    softs = len(model.soft_names)
    nodes = np.repeat(shift[:softs], np.diff(model.node_start), axis=0)
    return state.changed(x=state.x + nodes, body_position=state.body_position + shift[softs:])


def _first_node(found) -> np.ndarray:
    """The column of a node of the first side of every contact."""
    return np.argmax(found.weights > 0.0, axis=1)


def _second_node(found) -> np.ndarray:
    return np.argmax(found.weights < 0.0, axis=1)


def _ways(meshed, x: np.ndarray, found, which: np.ndarray, first_solid, second_solid) -> np.ndarray:
    """Directions (k, 3) in which the first sides of contacts `which` (k,) leave the second: out of what is solid, by
    the normals of faces, or of the nodes that meet."""
    triangles = meshed.surfaces.index.triangles
    edges = x[triangles[:, 1:]] - x[triangles[:, :1]]
    normals, at = np.cross(edges[:, 0], edges[:, 1]), np.zeros_like(x)
    for corner in range(3):
        np.add.at(at, triangles[:, corner], normals)
    out = np.empty((len(which), 3))
    for row, k in enumerate(which.tolist()):
        nodes, weights = found.nodes[k], found.weights[k]
        first, second = (_unit((np.abs(weights[:, None]) * at[nodes])[side].sum(axis=0)) for side in _sides(weights))
        face = x[nodes[1:]] if found.kind[k] == VERTEX_FACE else None
        if face is not None and (weights[1:] < 0).all():
            flat = _unit(np.cross(face[1] - face[0], face[2] - face[0]))
            second = flat if second_solid[k] else flat * (1.0 if flat @ first < 0 else -1.0)
            first = np.zeros(3)
        out[row] = _unit(second * (second_solid[k] or not first.any()) - first * first_solid[k])
    return out


def _sides(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return weights > 0.0, weights < 0.0


def _unit(v: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(v))
    return v / size if size > 0.0 else v


def _pairs(own: np.ndarray, its: np.ndarray, faces: np.ndarray, ways: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """For every pair of things the direction (3,) in which the first leaves the second: the mean of those of their
    vertices on faces, whose normals are known, or else of all."""
    total: dict[tuple[int, int], list] = {}
    for a, b, exact, way in zip(own.tolist(), its.tolist(), faces.tolist(), ways):
        key, sign = ((a, b), 1.0) if a < b else ((b, a), -1.0)
        sums = total.setdefault(key, [np.zeros(3), np.zeros(3)])
        sums[0 if exact else 1] += sign * way
    return {key: _unit(sums[0] if sums[0].any() else sums[1]) for key, sums in sorted(total.items())}


def _movable(model) -> np.ndarray:
    """Which things (t,) can move: soft bodies that are not held everywhere, rigid ones that are not static."""
    free, start = (model.free > 0).any(axis=1), model.node_start
    softs = [bool(free[a:b].any()) for a, b in pairwise(start)]
    return np.concatenate([np.array(softs, bool), ~model.static])


def _shifts(pairs: dict, movable: np.ndarray, least: float) -> np.ndarray:
    """Shifts (t, 3) [m] of things with which all pairs are parted by so much along their directions; of two that can
    move the one that is higher along it goes."""
    shift = np.zeros((len(movable), 3))
    for _ in range(MOST_PASSES):
        moved = False
        for (a, b), way in pairs.items():
            lacks = least - float((shift[a] - shift[b]) @ way)
            if lacks <= 0.01 * least or not (movable[a] or movable[b]):
                continue
            up = way[2] >= 0.0 if movable[a] and movable[b] else movable[a]
            shift[a if up else b] += lacks * way * (1.0 if up else -1.0)
            moved = True
        if not moved:
            break
    return shift
