"""Nodes of a filling are moved: onto sharp edges and corners of the surface, and until angles are as asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import topology
from .compiled import kernels
from .lattice import Filling
from .meetings import box_tree
from .surface_repair import RepairedSurface
from .tangles import NARROW, Boundary
from .tri_mesh import area_vectors

REACH = 1.5
"""A node may be moved this far to a sharp edge or corner, in parts of the size."""
PASSES = 12
"""How often all nodes around bad tets are moved."""
ROUNDS = 12
"""How often nodes at bad tets, or where the boundary meets itself, are taken off sharp edges again."""
RINGS = (1, 2, 4, 8)
"""How many edges around what then is still bad all nodes are put back, one try after the other."""


def shape(filling: Filling, surface: RepairedSurface, size: float, angle: float, sharp: float | None) -> np.ndarray:
    """Points (n, 3) [m] of the filling, moved so that dihedral angles are at least so large [degrees], where they can
    be, and so that edges at which the surface turns by more than `sharp` [degrees] are kept, where angles allow."""
    mover = Mover(filling, surface, size, angle)
    if sharp is not None:
        features = find_features(surface.points, surface.triangles, sharp)
        if len(features.edges):
            return _kept_features(mover, filling, surface, features)
    mover.improve()
    return mover.points


def tet_cosines(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Cosine of the smallest dihedral angle of each tet (m,); 2 for flat ones and those inside out."""
    found = np.empty(len(tets))
    kernels().moving.tet_cosines(points, np.asarray(tets, np.int64), found)
    return found


def smallest_angles(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Smallest dihedral angle of each tet (m,) [degrees]; 0 for flat ones and those inside out."""
    return np.degrees(np.arccos(np.minimum(tet_cosines(points, tets), 1.0)))


class Mover:
    """Nodes that move until angles are large enough."""

    def __init__(self, filling: Filling, surface: RepairedSurface, size: float, angle: float):
        self.loops = kernels().moving
        self.points, self.tets = filling.points.copy(), filling.tets
        self.size, self.enough = size, float(np.cos(np.radians(min(angle * 1.001 + 0.01, 90.0))))
        self.kind = np.where(filling.on_surface, self.loops.SURFACE, self.loops.FREE)
        self.corners = surface.points[surface.triangles]
        self.surface = self.curves = None
        self._starts = None

    def bad(self) -> np.ndarray:
        """Indices of the tets with too small an angle."""
        return np.flatnonzero(tet_cosines(self.points, self.tets) > self.enough)

    def improve(self) -> np.ndarray:
        """Move nodes around bad tets; the tets that are still bad."""
        bad = self.bad()
        for _ in range(PASSES):
            if not len(bad):
                break
            self.prepare()
            nodes = np.unique(self.tets[bad])
            moved = self.loops.improve(
                self.points,
                self.tets,
                self._starts,
                self._incident,
                nodes,
                self.kind,
                self.enough,
                self.size,
                self.surface,
                self.curves,
            )
            bad = self.bad()
            if not moved:
                break
        return bad

    def prepare(self) -> None:
        """Trees and lists of tets around nodes, which most meshes do not need."""
        if self._starts is None:
            nodes = self.tets.ravel()
            self._incident = np.argsort(nodes, kind="stable") // 4
            self._starts = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=len(self.points)))])
        if self.surface is None:
            self.surface = element_tree(self.corners)
        if self.curves is None:
            self.curves = self.surface


def element_tree(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles with corners (m, 3, 3) as kernels take them: corners (m, 9), order and boxes of the tree's nodes."""
    order, _, node, _, _ = box_tree(corners)
    return np.ascontiguousarray(corners.reshape(-1, 9)), order, node


def closest(points: np.ndarray, tree: tuple) -> tuple[np.ndarray, np.ndarray]:
    """For points (k, 3) the closest points (k, 3) [m] on the elements of a tree, and which elements these are (k,)."""
    place, element = np.empty_like(points), np.empty(len(points), np.int64)
    kernels().moving.closest_points(np.ascontiguousarray(points), *tree, place, element)
    return place, element


@dataclass(frozen=True)
class Features:
    """Sharp edges (k, 2) of a surface, corners (j,) where they meet, end or turn, and the patch of each triangle."""

    edges: np.ndarray
    corners: np.ndarray
    patch: np.ndarray


def find_features(points: np.ndarray, triangles: np.ndarray, sharp: float) -> Features:
    """Edges at which the normal turns by more than `sharp` [degrees]."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    normals = area_vectors(points, triangles)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    directed = triangles[:, topology.TRIANGLE_EDGES].reshape(-1, 2)
    group, counts = topology.group_counts(topology.set_keys(directed, len(points)))
    order = np.argsort(group, kind="stable")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    pairs = np.column_stack([order[first], order[first + np.minimum(counts, 2) - 1]])
    cosine = np.einsum("ij,ij->i", normals[pairs[:, 0] // 3], normals[pairs[:, 1] // 3])
    is_sharp = (counts != 2) | (cosine < np.cos(np.radians(sharp)))
    smooth = pairs[~is_sharp] // 3
    graph = coo_array((np.ones(len(smooth), np.int8), tuple(smooth.T)), shape=(len(triangles),) * 2)
    _, patch = connected_components(graph, directed=False)
    edges = np.sort(directed[pairs[is_sharp, 0]], axis=1)
    return Features(edges, _feature_corners(points, edges, sharp), patch)


def _feature_corners(points: np.ndarray, edges: np.ndarray, sharp: float) -> np.ndarray:
    """Points at which sharp edges meet, end, or turn by more than `sharp` [degrees]."""
    degree = np.bincount(edges.ravel(), minlength=len(points))
    corner = (degree > 0) & (degree != 2)
    way = points[edges[:, 1]] - points[edges[:, 0]]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    away = np.zeros((len(points), 3))
    np.add.at(away, edges[:, 0], way)
    np.add.at(away, edges[:, 1], -way)
    # two unit vectors away from a point, at an angle of 180 degrees less the turn, add up to this length
    corner |= (degree == 2) & (np.linalg.norm(away, axis=1) > 2 * np.sin(np.radians(sharp) / 2))
    return np.flatnonzero(corner)


def _kept_features(mover: Mover, filling: Filling, surface: RepairedSurface, features: Features) -> np.ndarray:
    """Move nodes to corners and sharp edges, improve, and put back those that spoil angles or make the boundary meet
    itself: others take their place."""
    ends = surface.points[features.edges]
    mover.curves = element_tree(np.concatenate([ends, ends[:, 1:]], axis=1))
    mover.prepare()
    home = mover.points.copy()
    mover.improve()
    safe = mover.points.copy()
    mover.points = home.copy()
    claims = Claims(mover, features, filling, home, safe)
    claims.take_corners(surface.points[features.corners])
    for number in range(ROUNDS):
        if number < ROUNDS // 2:
            claims.take_edges()
        if not len(spoiled := claims.spoiled()):
            return mover.points
        claims.give_back(spoiled)
    for ring in RINGS:
        if not len(spoiled := claims.spoiled()):
            return mover.points
        claims.give_back_around(spoiled, ring)
    return safe if len(claims.spoiled()) else mover.points


class Claims:
    """Which nodes of the boundary go to sharp edges and corners."""

    def __init__(self, mover: Mover, features: Features, filling: Filling, home: np.ndarray, safe: np.ndarray):
        """home, safe (n, 3) [m]: where nodes were before any moved, and where they may go back to."""
        self.mover, self.features, self.home, self.safe = mover, features, home, safe
        self.on_surface, self.outer = filling.on_surface, np.flatnonzero(filling.on_surface)
        count = len(filling.points)
        self.refused = np.zeros(count, bool)
        faces = topology.tet_faces(mover.tets)
        group, counts = topology.group_counts(topology.set_keys(faces, count))
        self.faces = faces[counts[group] == 1]
        self.boundary = Boundary(self.faces, count)
        self.edges = self.boundary.edges
        # what is narrower than that without sharp edges, as a slit of the surface, may stay so
        self.narrowest = np.minimum(self.boundary.outer_angles(safe), NARROW)
        self.order = np.argsort(self.faces.ravel(), kind="stable") // 3
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.faces.ravel(), minlength=count))])

    def spoiled(self) -> np.ndarray:
        """Move nodes around bad tets; nodes of those that are still bad, or else where the boundary meets itself."""
        bad = self.mover.improve()
        if len(bad):
            return np.unique(self.mover.tets[bad])
        points = self.mover.points
        return self.boundary.tangled(points, (points != self.home).any(axis=1), self.narrowest)

    def give_back(self, spoiled: np.ndarray) -> None:
        """Take those of the nodes (k,) that are on sharp edges off them again, or, if none is, that only made room."""
        back = spoiled[self.mover.kind[spoiled] >= self.mover.loops.CURVE]
        self.refused[back] = True
        self._put_back(back if len(back) else spoiled)

    def give_back_around(self, spoiled: np.ndarray, ring: int) -> None:
        """Put back all nodes that are so many edges of tets or fewer away from some of nodes (k,)."""
        mover, near = self.mover, np.zeros(len(self.safe), bool)
        near[spoiled] = True
        for _ in range(ring):
            near[mover.tets[near[mover.tets].any(axis=1)]] = True
        self._put_back(np.flatnonzero(near))

    def _put_back(self, nodes: np.ndarray) -> None:
        mover = self.mover
        mover.points[nodes] = self.safe[nodes]
        mover.kind[nodes] = np.where(self.on_surface[nodes], mover.loops.SURFACE, mover.loops.FREE)

    def take_corners(self, corners: np.ndarray) -> None:
        """The nearest node of the boundary goes to each corner and stays there."""
        from scipy.spatial import cKDTree

        mover = self.mover
        distance, nearest = cKDTree(mover.points[self.outer]).query(corners)
        for k in np.argsort(distance, kind="stable"):
            node = self.outer[nearest[k]]
            if distance[k] < REACH * mover.size and mover.kind[node] != mover.loops.FIXED:
                mover.points[node], mover.kind[node] = corners[k], mover.loops.FIXED

    def take_edges(self) -> None:
        """Of every edge of the boundary between two patches, the end nearer to the sharp edge goes there; the other one
        if that has been refused, or if all three nodes of a face would lie on sharp edges."""
        mover = self.mover
        points, outer, edges = mover.points, self.outer, self.edges
        patch = np.full(len(points), -1)
        patch[outer] = self.features.patch[closest(points[outer], mover.surface)[1]]
        place = points.copy()
        place[outer] = closest(points[outer], mover.curves)[0]
        distance = np.linalg.norm(place - points, axis=1)
        free = (mover.kind[edges] < mover.loops.CURVE).all(axis=1)
        edges = edges[free & (patch[edges[:, 0]] != patch[edges[:, 1]])]
        swap = distance[edges[:, 0]] > distance[edges[:, 1]]
        edges = np.where(swap[:, None], edges[:, ::-1], edges)
        for k in np.argsort(distance[edges[:, 0]], kind="stable"):
            if (mover.kind[edges[k]] >= mover.loops.CURVE).any():
                continue
            for node in edges[k]:
                if distance[node] < REACH * mover.size and not self.refused[node] and not self._closes_face(node):
                    points[node], mover.kind[node] = place[node], mover.loops.CURVE
                    break

    def _closes_face(self, node: int) -> bool:
        """Whether both other nodes of a face at the node are on sharp edges."""
        around = self.faces[self.order[self.starts[node] : self.starts[node + 1]]]
        taken = self.mover.kind[around] >= self.mover.loops.CURVE
        return bool((taken.sum(axis=1) == 2).any())
