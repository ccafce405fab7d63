"""What a static problem must not be: free to move as a whole, or answered with inverted elements."""

import numpy as np

from pliant.errors import SceneError, SolverError
from pliant.kernels.joints import BODY, WORLD
from pliant.meshes.quadratic import smallest_determinants

# Singular values below this are motions that nothing resists; and how many nodes of a pin are looked at.
RANK, MOST_NODES = 1e-6, 60


def refuse_free_motions(model, state) -> list[str]:
    """Raise if nothing holds a body; returns the names of bodies that are held but free to swing.

    A soft body is held by pins that it cannot move along as a whole; it may swing about them, as about joints to what
    is held, and comes to rest where its loads lead it, as rigid bodies do. Bodies that may touch others are let pass.
    """
    _refuse_wind(model)
    bodies = np.flatnonzero(~model.static)
    names = [*model.soft_names, *(model.rigid_names[b] for b in bodies)]
    own = [_own_rows(model, state, i) for i in range(len(model.soft_names))]
    rank = [_rank(rows) for rows in own] + [0] * len(bodies)
    links = _links(model, bodies)
    held = {i for i, rows in enumerate(own) if _rank(rows[:, :3]) == 3}
    held |= {i for i, j in links if j < 0}
    beside: dict[int, list[int]] = {}
    for i, j in links:
        beside.setdefault(j, []).append(i)
        beside.setdefault(i, []).append(j)
    waiting = list(held)
    while waiting:
        more = {i for i in beside.get(waiting.pop(), []) if i >= 0 and i not in held}
        held |= more
        waiting.extend(more)
    touches = _may_touch(model, bodies)
    loose = [i for i in range(len(names)) if i not in held and not touches[i]]
    if loose:
        raise SceneError(
            f"equilibrium: {', '.join(repr(names[i]) for i in loose)} can move or turn as a whole without resistance; "
            f"pin nodes in all three directions, clamp them (a sheet, a rod), or join it to the world or to something "
            f"that is held"
        )
    return [names[i] for i in range(len(names)) if rank[i] < 6]


def _refuse_wind(model) -> None:
    for triangles, _ in model.winds:
        name = model.soft_names[int(np.searchsorted(model.node_start, triangles[0, 0], side="right") - 1)]
        raise SceneError(f"equilibrium: the wind on {name!r} has no place in statics; use a pressure, or simulate it")


def _rank(rows: np.ndarray) -> int:
    """How many motions rows (k, 3 or 6) resist."""
    return int(np.linalg.matrix_rank(rows, tol=RANK)) if len(rows) else 0


def _links(model, bodies) -> list[tuple[int, int]]:
    """Pairs of bodies (soft, then moving rigid) that joints connect; -1 stands for the world and static bodies."""
    number = {int(b): len(model.soft_names) + k for k, b in enumerate(bodies)}
    joints, links = model.joints, []
    for k in range(len(joints.family)):
        ends = []
        for side in (joints.a, joints.b):
            if side.kind[k] == BODY:
                ends.append(number.get(int(side.index[k, 0]), -1))
            elif side.kind[k] == WORLD:
                ends.append(-1)
            else:
                ends.append(int(np.searchsorted(model.node_start, side.index[k, 0], side="right") - 1))
        links += [(i, j) for i, j in (ends, ends[::-1]) if i >= 0]
    return links + _rod_links(model, number)


def _rod_links(model, number: dict[int, int]) -> list[tuple[int, int]]:
    """The same of points that segments of rods connect."""
    if model.rods.set is None:
        return []
    points = (model.rods.set.connectivity[:, [0, 2]] - model.node_count) // 2
    ends = [[number.get(int(b), -1) for b in pair] for pair in points]
    return [(i, j) for pair in ends for i, j in (pair, pair[::-1]) if i >= 0]


def _own_rows(model, state, soft: int) -> np.ndarray:
    """Rows (k, 6) of the pins of a soft body on its motions as a whole, turns scaled by its size."""
    first, last = model.node_start[soft], model.node_start[soft + 1]
    x = state.x[first:last]
    centre, size = x.mean(axis=0), max(float(np.ptp(x, axis=0).max()), 1e-9)
    rows = []
    for pin in model.pins:
        nodes = pin.nodes[(pin.nodes >= first) & (pin.nodes < last)]
        for node in nodes[np.unique(np.linspace(0, len(nodes) - 1, MOST_NODES).astype(int))] if len(nodes) else []:
            for axis in np.flatnonzero(pin.axes):
                direction = np.eye(3)[axis]
                rows.append(np.concatenate([direction, np.cross(state.x[node] - centre, direction) / size]))
        if len(nodes) and pin.clamped:
            rows += np.eye(6)[3:].tolist()
    return np.array(rows).reshape(-1, 6)


def _may_touch(model, bodies) -> list[bool]:
    """Whether each soft and each moving rigid body may touch another one."""
    softs = len(model.soft_names)
    touches = model.colliders.things.may_touch_others()
    return [*touches[:softs].tolist(), *(bool(touches[softs + b]) for b in bodies)]


def refuse_inverted(model, state) -> None:
    """Raise if an element is turned inside out."""
    tets = [(name, cells) for name, cells in zip(model.soft_names, model.elements.cells) if cells.shape[1] > 3]
    for name, cells in tets:  # a triangle in space has no inside
        bad = np.flatnonzero(~(smallest_determinants(state.x, cells) > 0))
        if len(bad):
            raise SolverError(
                f"equilibrium: {len(bad)} elements of {name!r} came out inverted, the first is element {int(bad[0])}: "
                f"the load is more than this material can carry"
            )
