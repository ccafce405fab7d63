"""Tetrahedral meshes: checked on construction, constant afterwards."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import MeshError
from . import repair as repairs
from . import topology
from .checks import check_distinct_nodes, check_elements, check_points, check_sets, freeze, name_some, rigid_transform
from .mesh_quality import Quality, quality
from .tri_mesh import TriMesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEGENERATE = 1e-12
"""A tet is degenerate when its volume is below this fraction of its longest edge cubed (a regular one: 0.118)."""

FLIP = [1, 0, 2, 3]
"""Node order that turns a tet inside out; VTK, Gmsh and Medit order the nodes of every tet this way round."""


def tet_volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Signed volumes (m,) [m^3], det[X0-X3, X1-X3, X2-X3] / 6."""
    corners = points[tets]
    a, b, c = (corners[:, i] - corners[:, 3] for i in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6


def longest_edges(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Longest edge (m,) [m] of each tet."""
    ends = points[tets][:, topology.TET_EDGES]
    return np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).max(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh:
    """A solid made of linear tetrahedra.

    Every tet has `det[X0-X3, X1-X3, X2-X3] > 0`: seen from node 3, nodes 0, 1, 2 turn clockwise. VTK, Gmsh and
    Medit order nodes the other way round; `read` and `write` translate, and `repair=True` flips.

    points: (n, 3) float64, positions [m].
    tets: (m, 4) int32, indices of points.
    sets: name -> (k,) int32, named sets of nodes (physical groups, markers), sorted. Masks (n,) are accepted.
    repair: flip inverted tets, merge coincident points, drop degenerate and duplicate tets and unused points.
        Without it, each of these raises MeshError. A face of more than two tets always raises.
    source: how the mesh was made, as a scene file says it: the call of a generator or the file; None when unknown.
    """

    points: np.ndarray
    tets: np.ndarray
    sets: dict[str, np.ndarray] = field(default=None)
    repair: InitVar[bool] = False
    source: dict | None = field(default=None, init=False)

    def __post_init__(self, repair: bool) -> None:
        points = check_points(self.points)
        tets = check_elements(self.tets, 4, len(points), "tets")
        sets = check_sets(self.sets, len(points))
        if repair:
            points, tets, sets = repair_tets(points, tets, sets)
        check_tets(points, tets)
        self._assign(points, tets, sets)

    @classmethod
    def trusted(cls, points: np.ndarray, tets: np.ndarray, sets: dict[str, np.ndarray] | None = None) -> TetMesh:
        """Make a mesh from arrays known to be right (generators, transformations), without the checks."""
        mesh = object.__new__(cls)
        mesh._assign(np.asarray(points, dtype=np.float64), np.asarray(tets, dtype=np.int32), sets or {})
        return mesh

    def _assign(self, points: np.ndarray, tets: np.ndarray, sets: dict[str, np.ndarray]) -> None:
        object.__setattr__(self, "points", freeze(points))
        object.__setattr__(self, "tets", freeze(tets))
        object.__setattr__(self, "sets", {name: freeze(members) for name, members in sets.items()})

    def with_source(self, source: dict) -> TetMesh:
        """This mesh, which now remembers how it was made; for generators and readers."""
        object.__setattr__(self, "source", source)
        return self

    def __repr__(self) -> str:
        names = f", sets {sorted(self.sets)}" if self.sets else ""
        return f"TetMesh({len(self.points)} points, {len(self.tets)} tets{names})"

    @cached_property
    def volumes(self) -> np.ndarray:
        """Volume of each tet, (m,) [m^3]."""
        return freeze(tet_volumes(self.points, self.tets))

    @property
    def volume(self) -> float:
        """Total volume [m^3]."""
        return float(self.volumes.sum())

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner of the bounding box, (2, 3) [m]."""
        return np.array([self.points.min(axis=0), self.points.max(axis=0)])

    @cached_property
    def edges(self) -> np.ndarray:
        """Unique edges, (e, 2) int32, lower node first, ascending."""
        return freeze(topology.unique_edges(self.tets, topology.TET_EDGES, len(self.points)))

    @cached_property
    def _boundary(self) -> tuple[np.ndarray, np.ndarray]:
        faces = topology.tet_faces(self.tets)
        group, counts = topology.group_counts(topology.set_keys(faces, len(self.points)))
        outer = np.flatnonzero(counts[group] == 1)
        return freeze(faces[outer]), freeze((outer // 4).astype(np.int32))

    @property
    def boundary_faces(self) -> np.ndarray:
        """Boundary triangles, (k, 3) int32 indices of points, pointing outward."""
        return self._boundary[0]

    @property
    def boundary_tets(self) -> np.ndarray:
        """The tet behind each boundary triangle, (k,) int32."""
        return self._boundary[1]

    def surface(self) -> TriMesh:
        """Boundary as outward triangles that share points, indices and sets with this mesh."""
        return TriMesh.trusted(self.points, self.boundary_faces, self.sets)

    def quality(self) -> Quality:
        """Volumes, angles and radius ratios of the tets; see `quality`."""
        return quality(self)

    def transformed(
        self,
        scale: ArrayLike = 1.0,
        rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        translation: ArrayLike = (0.0, 0.0, 0.0),
    ) -> TetMesh:
        """Scale (one factor or three), then rotate by (w, x, y, z), then translate [m]; returns a new mesh."""
        points = rigid_transform(self.points, scale, rotation, translation)
        return TetMesh.trusted(points, self.tets, self.sets)


def repair_tets(points: np.ndarray, tets: np.ndarray, sets: repairs.Sets) -> tuple:
    """Merge points, drop degenerate and duplicate tets and unused points, flip inverted tets."""
    points, tets, sets = repairs.merge_points(points, tets, sets)
    tets = repairs.drop_repeated(tets, "tets")
    volumes = tet_volumes(points, tets)
    tets = np.where((volumes < 0)[:, None], tets[:, FLIP], tets)
    tets = repairs.drop_elements(tets, is_degenerate(points, tets, volumes), "tets")
    tets = repairs.drop_duplicates(tets, len(points))
    return repairs.drop_unused(points, tets, sets)


def is_degenerate(points: np.ndarray, tets: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    """Mask (m,) of the tets that are flat, whatever their size."""
    return np.abs(volumes) <= DEGENERATE * longest_edges(points, tets) ** 3


def check_tets(points: np.ndarray, tets: np.ndarray) -> None:
    """Raise MeshError for the first fault found: repeated nodes, volume, duplicates, faces, unused points."""
    check_distinct_nodes(tets, "tets")
    check_volumes(points, tets)
    doubled = topology.duplicates(tets, len(points))
    if len(doubled):
        raise MeshError(f"these tets repeat an earlier one: {name_some(doubled)}; pass repair=True to drop them")
    check_faces(tets, len(points))
    unused = topology.unused_nodes(tets, len(points))
    if len(unused):
        raise MeshError(f"these points belong to no tet: {name_some(unused)}; pass repair=True to drop them")


def check_volumes(points: np.ndarray, tets: np.ndarray) -> None:
    """Raise MeshError for degenerate or inverted tets."""
    volumes = tet_volumes(points, tets)
    flat = np.flatnonzero(is_degenerate(points, tets, volumes))
    if len(flat):
        raise MeshError(
            f"these tets are degenerate (no volume): {name_some(flat)}, the first with volume "
            f"{volumes[flat[0]]:.3g} m^3; pass repair=True to drop them"
        )
    inverted = np.flatnonzero(volumes < 0)
    if len(inverted) == len(tets):
        raise MeshError(
            f"all {len(tets)} tets are inverted: their nodes are ordered as in VTK and Gmsh, but here "
            "det[X0-X3, X1-X3, X2-X3] must be positive; pass tets[:, [1, 0, 2, 3]] or repair=True"
        )
    if len(inverted):
        raise MeshError(
            f"these tets are inverted (negative volume): {name_some(inverted)}, the first with volume "
            f"{volumes[inverted[0]]:.3g} m^3; det[X0-X3, X1-X3, X2-X3] must be positive; pass repair=True to flip them"
        )


def check_faces(tets: np.ndarray, point_count: int) -> None:
    """Raise MeshError for faces of more than two tets, and for two tets on the same side of a face."""
    faces = topology.tet_faces(tets)
    group, counts = topology.group_counts(topology.set_keys(faces, point_count))
    crowded = np.flatnonzero(counts[group] > 2)
    if len(crowded):
        owners = np.unique(crowded // 4)
        raise MeshError(
            f"the mesh is not a manifold: a face may belong to two tets at most, but the face with nodes "
            f"{tuple(int(node) for node in np.sort(faces[crowded[0]]))} belongs to {counts[group[crowded[0]]]}; "
            f"tets concerned: {name_some(owners)}"
        )
    side = np.bincount(group, weights=topology.permutation_parity(faces), minlength=len(counts))
    overlapping = np.flatnonzero((counts[group] == 2) & (side[group] != 0))
    if len(overlapping):
        raise MeshError(
            f"the mesh is not a manifold: these tets overlap, two of them lie on the same side of a face: "
            f"{name_some(np.unique(overlapping // 4))}"
        )
