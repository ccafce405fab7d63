"""Triangle surfaces, open or closed: checked on construction, constant afterwards."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..checks import shown, whole
from ..errors import MeshError
from . import repair as repairs
from . import topology
from .checks import (
    check_distinct_nodes,
    check_elements,
    check_points,
    check_sets,
    freeze,
    name_rows,
    name_some,
    rigid_transform,
)
from .orientation import orient_surface
from .wording import option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEGENERATE = 1e-12
"""A triangle is degenerate when its area is below this fraction of its longest edge squared (equilateral: 0.433)."""


def area_vectors(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (k, 3) as long as the area of each triangle [m^2]."""
    corners = points[triangles]
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2


@dataclass(frozen=True, eq=False, repr=False)
class TriMesh:
    """A surface made of triangles, counter-clockwise seen from outside.

    points: (n, 3) float64, positions [m]; points that no triangle uses are allowed.
    triangles: (k, 3) int32, indices of points.
    sets: name -> (j,) int32, named sets of nodes, sorted. Masks (n,) are accepted.
    repair: merge coincident points, drop degenerate and duplicate triangles and unused points, and orient: neighbours
        agree, closed pieces point outward (cavities inward).
    source: the file the surface was read from; None when unknown.
    """

    points: np.ndarray
    triangles: np.ndarray
    sets: dict[str, np.ndarray] = field(default=None)
    repair: InitVar[bool] = False
    source: dict | None = field(default=None, init=False)

    def __post_init__(self, repair: bool) -> None:
        points = check_points(self.points)
        triangles = check_elements(self.triangles, (3,), len(points), "triangles")
        sets = check_sets(self.sets, len(points))
        if repair:
            points, triangles, sets = repair_triangles(points, triangles, sets)
        check_triangles(points, triangles)
        self._assign(points, triangles, sets)

    @classmethod
    def trusted(cls, points: np.ndarray, triangles: np.ndarray, sets: dict[str, np.ndarray] | None = None) -> TriMesh:
        """Make a surface from arrays known to be right, without the checks."""
        mesh = object.__new__(cls)
        mesh._assign(np.asarray(points, dtype=np.float64), np.asarray(triangles, dtype=np.int32), sets or {})
        return mesh

    def _assign(self, points: np.ndarray, triangles: np.ndarray, sets: dict[str, np.ndarray]) -> None:
        object.__setattr__(self, "points", freeze(points))
        object.__setattr__(self, "triangles", freeze(triangles))
        object.__setattr__(self, "sets", {name: freeze(members) for name, members in sets.items()})

    def with_source(self, source: dict) -> TriMesh:
        """This mesh, which now remembers how it was made; for generators and readers."""
        if not isinstance(source, dict):
            raise MeshError(f"the source of a mesh must be a dict, as scene files say it, got {shown(source)}")
        object.__setattr__(self, "source", source)
        return self

    def __repr__(self) -> str:
        names = f", sets {sorted(self.sets)}" if self.sets else ""
        return f"TriMesh({len(self.points)} points, {len(self.triangles)} triangles{names})"

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner of the bounding box of the triangles, (2, 3) [m]."""
        corners = self.points[self.triangles].reshape(-1, 3)
        return np.array([corners.min(axis=0), corners.max(axis=0)])

    @cached_property
    def areas(self) -> np.ndarray:
        """Area of each triangle, (k,) [m^2]."""
        return freeze(np.linalg.norm(area_vectors(self.points, self.triangles), axis=1))

    @cached_property
    def normals(self) -> np.ndarray:
        """Unit normal of each triangle, (k, 3); outward for a closed surface."""
        return freeze(area_vectors(self.points, self.triangles) / self.areas[:, None])

    @cached_property
    def edges(self) -> np.ndarray:
        """Unique edges, (e, 2) int32, lower node first, ascending."""
        return freeze(topology.unique_edges(self.triangles, topology.TRIANGLE_EDGES, len(self.points)))

    @property
    def order(self) -> int:
        """1: triangles have straight sides."""
        return 1

    @property
    def boundary_triangles(self) -> np.ndarray:
        """All triangles (k, 3): a surface is what of it can be seen and touched."""
        return self.triangles

    @property
    def boundary_elements(self) -> np.ndarray:
        """All triangles (k, 3)."""
        return self.triangles

    @cached_property
    def _first_uses(self) -> np.ndarray:
        """Where each node (n,) stands first among `triangles`, read row by row; -1 for nowhere."""
        return topology.first_uses(self.triangles, len(self.points))

    def beside(self, node: int) -> tuple[int, int]:
        """The two other corners of a triangle around a node."""
        node = whole(node, "node", 0, len(self.points) - 1)
        if (first := int(self._first_uses[node])) < 0:
            raise MeshError(f"no triangle uses node {node}")
        element, place = divmod(first, 3)
        return tuple(int(self.triangles[element, (place + k) % 3]) for k in (1, 2))

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge belongs to two triangles that agree on the outside."""
        return repairs.is_closed(self.triangles, len(self.points))

    def check_closed(self) -> None:
        """Raise MeshError that names open, non-manifold or inconsistently oriented edges."""
        edges, counts, balance = topology.edge_balance(self.triangles, len(self.points))
        faults = [
            (counts == 1, "is open: these edges belong to one triangle only", "close the holes"),
            (counts > 2, "is not a manifold: these edges belong to more than two triangles", "separate the sheets"),
            (
                (counts == 2) & (balance != 0),
                "is inconsistently oriented: the two triangles at these edges disagree about the outside",
                f"pass {option('repair', True)} to orient it",
            ),
        ]
        for mask, fault, remedy in faults:
            if mask.any():
                place = self.points[edges[mask][0]].mean(axis=0)
                where = "the first of them near ({:.3g}, {:.3g}, {:.3g})".format(*place)
                edge_list = name_rows(edges[mask])
                raise MeshError(f"the surface {fault}: {edge_list}; {where}; a closed surface is needed, {remedy}")

    def mass_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume [m^3], centroid (3,) [m] and inertia about it per unit density (3, 3) [m^5] of the solid inside.

        Exact sums over the signed tets from one point to each triangle (divergence theorem): with the corners a, b, c
        seen from that point and s = a + b + c, the integral of x x^T is
        det[a, b, c] / 120 (s s^T + a a^T + b b^T + c c^T).
        Raises MeshError when the surface is not closed or points inward.
        """
        self.check_closed()
        origin = self.bounds.mean(axis=0)
        corners = self.points[self.triangles] - origin
        determinant = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
        volume = float(determinant.sum() / 6)
        if volume <= 0:
            remedy = f"pass {option('repair', True)} to turn it"
            raise MeshError(f"the surface points inward (volume {volume:.3g} m^3); {remedy}")
        total = corners.sum(axis=1)
        offset = determinant @ total / (24 * volume)
        second = np.einsum("m,mi,mj->ij", determinant, total, total)
        second = (second + np.einsum("m,mki,mkj->ij", determinant, corners, corners)) / 120
        covariance = second - volume * np.outer(offset, offset)
        inertia = np.trace(covariance) * np.eye(3) - covariance
        return volume, origin + offset, (inertia + inertia.T) / 2

    def transformed(
        self,
        scale: ArrayLike = 1.0,
        rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        translation: ArrayLike = (0.0, 0.0, 0.0),
    ) -> TriMesh:
        """Scale (one factor or three), then rotate by (w, x, y, z), then translate [m]; returns a new surface."""
        points = rigid_transform(self.points, scale, rotation, translation)
        return TriMesh.trusted(points, self.triangles, self.sets)


def repair_triangles(points: np.ndarray, triangles: np.ndarray, sets: repairs.Sets) -> tuple:
    """Merge points, drop degenerate and duplicate triangles and unused points, orient."""
    points, triangles, sets = repairs.merge_points(points, triangles, sets)
    triangles = repairs.drop_repeated(triangles, "triangles")
    triangles = repairs.drop_elements(triangles, is_degenerate(points, triangles), "triangles")
    triangles = repairs.drop_duplicates(triangles, len(points))
    points, triangles, sets = repairs.drop_unused(points, triangles, sets)
    return points, orient_surface(points, triangles), sets


def is_degenerate(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Mask (k,) of the triangles without area, whatever their size."""
    corners = points[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return np.linalg.norm(area_vectors(points, triangles), axis=1) <= DEGENERATE * longest**2


def check_triangles(points: np.ndarray, triangles: np.ndarray) -> None:
    """Raise MeshError for the first fault found: repeated nodes, no area, duplicates."""
    check_distinct_nodes(triangles, "triangles")
    flat = np.flatnonzero(is_degenerate(points, triangles))
    remedy = f"pass {option('repair', True)} to drop them"
    if len(flat):
        raise MeshError(f"these triangles are degenerate (no area): {name_some(flat)}; {remedy}")
    doubled = topology.duplicates(triangles, len(points))
    if len(doubled):
        raise MeshError(f"these triangles repeat an earlier one: {name_some(doubled)}; {remedy}")
