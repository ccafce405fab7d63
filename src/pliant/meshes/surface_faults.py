"""What keeps a triangle surface from bounding a solid, and where: holes, crossings, flipped or useless triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import topology
from .checks import repeats_node
from .passing import Passages, passages
from .repair import signed_volume
from .tri_mesh import area_vectors, is_degenerate
from .wording import worded

NAMED = 3
"""How many places of a fault are named."""
LEAST_VOLUME = 1e-12
"""A surface encloses nothing when its volume is below this part of its area times its largest extent."""
FLAT = "surface that encloses no volume"
"""The fault that no repair helps."""


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
        area = np.linalg.norm(area_vectors(points, triangles), axis=1).sum()
        flat = -volume <= LEAST_VOLUME * area * float(np.ptp(points[triangles].reshape(-1, 3), axis=0).max())
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
    """Triangles that others pass through."""
    return passage_faults(points, passages(points, triangles))


def passage_faults(points: np.ndarray, found: Passages) -> list[Fault]:
    """The fault that these passages are."""
    pairs = np.column_stack([np.arange(len(found.edges)), found.triangles])
    return crossed_triangles("triangles that others pass through", points, found.edges, pairs)


def crossed_triangles(what: str, points: np.ndarray, edges: np.ndarray, pairs: np.ndarray) -> list[Fault]:
    """The fault that edges and triangles meet as pairs (k, 2) say; none where there are none."""
    if not len(pairs):
        return []
    crossed, first = np.unique(pairs[:, 1], return_index=True)
    return [Fault(what, "triangle", crossed[:, None], points[edges[pairs[first, 0]]].mean(axis=1))]


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
