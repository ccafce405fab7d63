"""What keeps a triangle surface from bounding a solid, and where: holes, crossings, flipped or useless triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import topology
from .checks import repeats_node
from .compiled import collision_kernels
from .repair import signed_volume
from .tri_mesh import is_degenerate
from .wording import worded

NAMED = 3
"""How many places of a fault are named."""
APART, CROSSING = 0, 1
"""Answers of `edge_triangle_answers` for an edge that stays off a triangle, and for one that passes through it, inside
through inside; any other means that they touch, or cross by less than rounding shows."""
LEAST_VOLUME = 1e-12
"""A surface encloses nothing when its volume is below this part of its largest extent to the third power."""
FLAT = "surface that encloses no volume"
"""The fault that no repair helps."""
LEAF = 4
"""Triangles in a leaf of a tree of boxes, at most."""


@dataclass(frozen=True, eq=False)
class Fault:
    """One kind of fault: what, the triangles, edges or points concerned as rows of indices, and where they are.

    what: "triangles without area", "repeated triangles", "open edges", ... indices: (k, 1), (k, 2) or (k, 3) of points
    for edges and of triangles otherwise. places: (k, 3) [m].
    """

    what: str
    unit: str
    indices: np.ndarray
    places: np.ndarray

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.indices)

    def __str__(self) -> str:
        named = [
            f"{self.unit} {' '.join(str(int(i)) for i in row)} at ({', '.join(f'{x:.4g}' for x in place)})"
            for row, place in zip(self.indices[:NAMED], self.places[:NAMED])
        ]
        more = f" and {self.count - NAMED} more" if self.count > NAMED else ""
        return f"{self.count} {self.what}: {'; '.join(named)}{more}"


def surface_faults(points: np.ndarray, triangles: np.ndarray, crossings: bool = True) -> list[Fault]:
    """All faults of a surface with points (n, 3) [m] and triangles (m, 3).

    crossings: also look for triangles that pass through each other, which takes longest.
    """
    faults = useless_triangles(points, triangles) + edge_faults(points, triangles)
    if not faults and (volume := signed_volume(points, triangles)) <= 0:
        everywhere = np.zeros((1, 1), np.int64), points[triangles[0]].mean(axis=0)[None]
        flat = -volume <= LEAST_VOLUME * float(np.ptp(points[triangles].reshape(-1, 3), axis=0).max()) ** 3
        what = FLAT if flat else f"surface that points inward (its volume is {volume:.3g} m^3)"
        faults = [Fault(what, "triangle", *everywhere)]
    if crossings and not any("without area" in fault.what for fault in faults):
        faults += crossing_faults(points, triangles)
    return faults


def useless_triangles(points: np.ndarray, triangles: np.ndarray) -> list[Fault]:
    """Triangles without area, and such that repeat the nodes of an earlier one."""
    flat = np.flatnonzero(repeats_node(triangles) | is_degenerate(points, triangles))
    doubled = topology.duplicates(triangles, len(points))
    named = {"triangles without area": flat, "repeated triangles": doubled}
    return [
        Fault(what, "triangle", found[:, None], points[triangles[found]].mean(axis=1))
        for what, found in named.items()
        if len(found)
    ]


def edge_faults(points: np.ndarray, triangles: np.ndarray) -> list[Fault]:
    """Edges at which the surface is open, more than two triangles meet, or two disagree about the outside."""
    edges, counts, balance = topology.edge_balance(triangles, len(points))
    named = {
        "open edges": counts == 1,
        "edges of more than two triangles": counts > 2,
        "edges whose triangles disagree about the outside": (counts == 2) & (balance != 0),
    }
    return [
        Fault(what, "edge", edges[mask], points[edges[mask]].mean(axis=1)) for what, mask in named.items() if mask.any()
    ]


def crossing_faults(points: np.ndarray, triangles: np.ndarray) -> list[Fault]:
    """Triangles that an edge of another passes through, inside through inside."""
    edges = topology.unique_edges(triangles, topology.TRIANGLE_EDGES, len(points)).astype(np.int64)
    pairs, answer = meetings(points, edges, triangles)
    return crossed_triangles("triangles that others pass through", points, edges, pairs[answer == CROSSING])


def meetings(points: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) of edges (e, 2) and triangles (m, 3) without a common node that have points in common, and the
    answers (k,) for them: CROSSING, or that they touch as far as rounding shows."""
    triangles = np.ascontiguousarray(triangles, np.int64)
    pairs = _overlaps(points[edges], points[triangles])
    answer = np.empty(len(pairs), np.int64)
    collision_kernels().intersections.edge_triangle_answers(pairs, points, edges, triangles, answer)
    pairs, answer = pairs[answer != APART], answer[answer != APART]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], answer[order]


def crossed_triangles(what: str, points: np.ndarray, edges: np.ndarray, pairs: np.ndarray) -> list[Fault]:
    """The fault that edges and triangles meet as pairs (k, 2) say; none where there are none."""
    if not len(pairs):
        return []
    crossed, first = np.unique(pairs[:, 1], return_index=True)
    return [Fault(what, "triangle", crossed[:, None], points[edges[pairs[first, 0]]].mean(axis=1))]


def box_tree(corners: np.ndarray) -> tuple:
    """A tree over the boxes of elements with corners (m, k, 3): order, boxes, boxes of nodes, groups of both."""
    low, high = np.ascontiguousarray(corners.min(axis=1)), np.ascontiguousarray(corners.max(axis=1))
    count, leaves = len(corners), 1
    while leaves * LEAF < count:
        leaves *= 2
    order, group = np.empty(count, np.int64), np.full(count, -1)
    box, node, node_group = np.empty((count, 6)), np.empty((2 * leaves, 6)), np.empty(2 * leaves, np.int64)
    loops = collision_kernels().bvh
    loops.order_boxes(low, high, group, leaves, order)
    loops.fit_tree(low, high, group, order, box, node, node_group)
    return order, box, node, node_group, group


def _overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of elements with corners first and second whose boxes overlap."""
    columns = (*box_tree(first), *box_tree(second), False)
    pairs = np.empty((32 * len(first) + 16, 2), np.int64)
    count = collision_kernels().bvh.overlapping_pairs(*columns, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int64)
        collision_kernels().bvh.overlapping_pairs(*columns, pairs)
    return pairs[:count]


def refuse(faults: list[Fault], source: str = "the surface") -> None:
    """Raise MeshError that lists the faults, if there are any."""
    if faults:
        raise MeshError(listed(faults, source))


def listed(faults: list[Fault], source: str) -> str:
    """The faults, a line each, after what they mean and what helps."""
    remedy = "there is nothing inside that could be filled"
    if any(fault.what != FLAT for fault in faults):
        asked = worded("repair=True (in a scene file repair = true beside tetrahedralize)", "--repair")
        remedy = f"{asked} repairs what can be repaired"
    lines = "\n".join(f"  {fault}" for fault in faults)
    return f"{source} does not bound a solid; {remedy}:\n{lines}"
