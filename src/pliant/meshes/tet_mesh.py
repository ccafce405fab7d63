"""Tetrahedral meshes: checked on construction, constant afterwards."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..checks import shown, whole
from ..errors import MeshError
from . import quadratic as curved
from . import repair as repairs
from . import topology
from .checks import (
    check_distinct_nodes,
    check_elements,
    check_points,
    check_sets,
    finite,
    freeze,
    name_some,
    rigid_transform,
)
from .mesh_quality import Quality, quality
from .topology import FLIP, inside_out
from .tri_mesh import TriMesh
from .wording import option

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

DEGENERATE = 1e-12
"""A tet is degenerate when its volume is below this fraction of its longest edge cubed (a regular one: 0.118)."""


def tet_volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Signed volumes (m,) [m^3] between the corners, det[X0-X3, X1-X3, X2-X3] / 6."""
    corners = points[tets]
    a, b, c = (corners[:, i] - corners[:, 3] for i in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6


def longest_edges(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Longest distance (m,) [m] between two corners of each tet."""
    ends = points[tets][:, topology.TET_EDGES]
    return np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).max(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh:
    """A solid made of tetrahedra of four nodes (order 1), or of ten: corners and midpoints of edges (order 2).

    Every tet has `det[X0-X3, X1-X3, X2-X3] > 0`: seen from node 3, nodes 0, 1, 2 turn clockwise. VTK, Gmsh and
    Medit order nodes the other way round; `read` and `write` translate, and `repair=True` flips.

    points: (n, 3) float64, positions [m].
    tets: (m, 4) or (m, 10) int32, indices of points; nodes 4 to 9 are the midpoints of the edges 01, 12, 02, 03, 13, 23
        (`topology.TET10_EDGES`). They may lie off the middles of their edges: the tets are curved then.
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
        tets = check_elements(self.tets, (4, 10), len(points), "tets")
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
        if not isinstance(source, dict):
            raise MeshError(f"the source of a mesh must be a dict, as scene files say it, got {shown(source)}")
        object.__setattr__(self, "source", source)
        return self

    def __repr__(self) -> str:
        names = f", sets {sorted(self.sets)}" if self.sets else ""
        nodes = "" if self.order == 1 else " of 10 nodes"
        return f"TetMesh({len(self.points)} points, {len(self.tets)} tets{nodes}{names})"

    @property
    def order(self) -> int:
        """1 for tets of four nodes, 2 for tets of ten."""
        return 1 if self.tets.shape[1] == 4 else 2

    @cached_property
    def corners(self) -> np.ndarray:
        """The corners of each tet, (m, 4) int32; all its nodes when the order is 1."""
        return self.tets if self.order == 1 else freeze(self.tets[:, :4])

    @cached_property
    def volumes(self) -> np.ndarray:
        """Volume of each tet, (m,) [m^3]; exact for curved ones too."""
        return freeze((tet_volumes if self.order == 1 else curved.curved_volumes)(self.points, self.tets))

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
        """Unique edges between corners, (e, 2) int32, lower node first, ascending."""
        return freeze(topology.unique_edges(self.tets, topology.TET_EDGES, len(self.points)))

    @cached_property
    def midpoints(self) -> np.ndarray:
        """The midpoint of each of the `edges`, (e,) int32; order 2 only."""
        if self.order == 1:
            raise MeshError("a mesh of tets of four nodes has no midpoints; mesh.quadratic() has")
        return freeze(curved.edge_midpoints(self.tets, len(self.points)))

    @cached_property
    def _outer(self) -> np.ndarray:
        faces = topology.tet_faces(self.tets)
        group, counts = topology.group_counts(topology.set_keys(faces, len(self.points)))
        return np.flatnonzero(counts[group] == 1)

    @cached_property
    def boundary_faces(self) -> np.ndarray:
        """The corners of the boundary faces, (k, 3) int32 indices of points, pointing outward."""
        return freeze(topology.tet_faces(self.tets)[self._outer])

    @cached_property
    def boundary_elements(self) -> np.ndarray:
        """The boundary faces with all their nodes, (k, 3) or (k, 6) int32: corners a, b, c, midpoints of ab, bc, ca."""
        if self.order == 1:
            return self.boundary_faces
        return freeze(topology.tet_faces_with_midpoints(self.tets)[self._outer])

    @cached_property
    def boundary_tets(self) -> np.ndarray:
        """The tet behind each boundary face, (k,) int32."""
        return freeze((self._outer // 4).astype(np.int32))

    @cached_property
    def boundary_triangles(self) -> np.ndarray:
        """Triangles of three nodes through all nodes of the boundary, outward: `boundary_faces` (k, 3), or (4k, 3) with
        every face of six nodes cut into four, one after the other (`topology.TRIANGLE6_PARTS`)."""
        if self.order == 1:
            return self.boundary_faces
        return freeze(self.boundary_elements[:, topology.TRIANGLE6_PARTS].reshape(-1, 3))

    @cached_property
    def boundary_triangle_tets(self) -> np.ndarray:
        """The tet behind each of the `boundary_triangles`, (k,) or (4k,) int32."""
        return self.boundary_tets if self.order == 1 else freeze(np.repeat(self.boundary_tets, 4))

    @cached_property
    def _first_uses(self) -> np.ndarray:
        """Where each node (n,) stands first among `tets`, read row by row."""
        return topology.first_uses(self.tets, len(self.points))

    def beside(self, node: int) -> tuple[int, int]:
        """Two corners of a tet around a node that do not lie on a line with it."""
        first = self._first_uses[whole(node, "node", 0, len(self.points) - 1)]
        element, place = divmod(int(first), self.tets.shape[1])
        ends = topology.TET10_EDGES[place - 4] if place > 3 else (place,)
        off = [corner for corner in range(4) if corner not in ends]
        pair = off[:2] if place < 4 else (ends[0], off[0])
        return tuple(int(self.tets[element, corner]) for corner in pair)

    def surface(self) -> TriMesh:
        """`boundary_triangles` as a surface that shares points, indices and sets with this mesh."""
        return TriMesh.trusted(self.points, self.boundary_triangles, self.sets)

    def quadratic(self, project: Callable[[np.ndarray], np.ndarray] | None = None) -> TetMesh:
        """The mesh with tets of ten nodes; itself when its order is 2.

        Points keep their numbers; behind them come the midpoints, one per edge in the order of `edges`. A set gains the
        midpoint of every edge whose two ends it holds.
        project: where the midpoints of boundary edges go, (k, 3) -> (k, 3) [m]; None leaves all edges straight.
        """
        if self.order == 2:
            return self
        count = len(self.points)
        middles = (self.points[self.edges[:, 0]] + self.points[self.edges[:, 1]]) / 2
        tets = curved.add_midpoints(count, self.tets, self.edges)
        sets = curved.extend_sets(self.sets, self.edges, count)
        if project is not None:
            outer = np.unique(topology.tet_faces_with_midpoints(tets)[self._outer, 3:]) - count
            if not callable(project):
                raise MeshError(f"project must be a function of points (k, 3), got {shown(project)}")
            shape = (len(outer), 3)
            middles[outer] = finite(project(middles[outer]), "what project returns", (shape,), f"points {shape}")
            return TetMesh(np.concatenate([self.points, middles]), tets, sets)
        mesh = TetMesh.trusted(np.concatenate([self.points, middles]), tets, sets)
        return mesh.with_source({**self.source, "order": 2}) if self.source else mesh

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
    tets = np.where((volumes < 0)[:, None], inside_out(tets), tets)
    tets = repairs.drop_elements(tets, is_degenerate(points, tets, volumes), "tets")
    tets = np.delete(tets, topology.duplicates(tets[:, :4], len(points)), axis=0)
    return repairs.drop_unused(points, tets, sets)


def is_degenerate(points: np.ndarray, tets: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    """Mask (m,) of the tets that are flat, whatever their size."""
    return np.abs(volumes) <= DEGENERATE * longest_edges(points, tets) ** 3


def check_tets(points: np.ndarray, tets: np.ndarray) -> None:
    """Raise MeshError for the first fault found: repeated nodes, volume, duplicates, faces, bends, unused points."""
    check_distinct_nodes(tets, "tets")
    check_volumes(points, tets)
    doubled = topology.duplicates(tets[:, :4], len(points))
    if len(doubled):
        named = name_some(doubled)
        raise MeshError(f"these tets repeat an earlier one: {named}; pass {option('repair', True)} to drop them")
    check_faces(tets, len(points))
    if tets.shape[1] == 10:
        curved.check_midpoints(tets, len(points))
        curved.check_jacobians(points, tets)
    unused = topology.unused_nodes(tets, len(points))
    if len(unused):
        named = name_some(unused)
        raise MeshError(f"these points belong to no tet: {named}; pass {option('repair', True)} to drop them")


def check_volumes(points: np.ndarray, tets: np.ndarray) -> None:
    """Raise MeshError for degenerate or inverted tets."""
    volumes = tet_volumes(points, tets)
    flat = np.flatnonzero(is_degenerate(points, tets, volumes))
    if len(flat):
        raise MeshError(
            f"these tets are degenerate (no volume): {name_some(flat)}, the first with volume "
            f"{volumes[flat[0]]:.3g} m^3; pass {option('repair', True)} to drop them"
        )
    inverted = np.flatnonzero(volumes < 0)
    if len(inverted) == len(tets):
        raise MeshError(
            f"all {len(tets)} tets are inverted: their nodes are ordered as in VTK and Gmsh, but here "
            "det[X0-X3, X1-X3, X2-X3] must be positive; "
            f"pass tets[:, {FLIP if tets.shape[1] == 4 else topology.FLIP10}] or {option('repair', True)}"
        )
    if len(inverted):
        raise MeshError(
            f"these tets are inverted (negative volume): {name_some(inverted)}, the first with volume "
            f"{volumes[inverted[0]]:.3g} m^3; det[X0-X3, X1-X3, X2-X3] must be positive; "
            f"pass {option('repair', True)} to flip them"
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
