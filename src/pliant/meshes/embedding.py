"""Fine surfaces that follow coarse tets: each of their points keeps its weights in one tet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from .compiled import kernels
from .meetings import box_tree
from .quadratic import shape_functions
from .shaping import closest, element_tree
from .tet_mesh import TetMesh, longest_edges
from .tri_mesh import TriMesh

FAR = 2.0
"""Points may lie outside the tets by so many lengths of the longest edge."""
CURVED = 1e-6
"""How far a point may be from where its weights put it, in parts of the longest edge: curved tets have none."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points inside a tet mesh, or near it: nodes (k, 4) or (k, 10) of the mesh, and their weights, as many."""

    nodes: np.ndarray
    weights: np.ndarray

    def follow(self, values: np.ndarray) -> np.ndarray:
        """Positions (k, 3), or values (k, ...) of a field, from those at the nodes of the mesh (n, ...)."""
        return np.einsum("kc,kc...->k...", self.weights, np.asarray(values)[self.nodes])


def embed(mesh: TetMesh, surface: TriMesh) -> Embedding:
    """Where the points of a surface lie in a mesh.

    Points outside follow the tet behind the nearest boundary face. Raises MeshError that names points which are far
    from the mesh (two of its longest edges), or which a mesh of curved tets does not hold.
    """
    points = np.ascontiguousarray(surface.points)
    tets = np.ascontiguousarray(mesh.corners, np.int64)
    order, box, node, _, _ = box_tree(mesh.points[tets])
    chosen = np.empty(len(points), np.int64)
    loops = kernels().embedding
    loops.find_tets(points, mesh.points, tets, order, box, node, chosen)
    outside = np.flatnonzero(chosen < 0)
    longest = float(longest_edges(mesh.points, tets).max())
    if len(outside):
        place, face = closest(points[outside], element_tree(mesh.points[mesh.boundary_faces]))
        distance = np.linalg.norm(place - points[outside], axis=1)
        _refuse_far(outside[distance > FAR * longest], points, "lie far from the mesh; is it the same body and unit?")
        chosen[outside] = mesh.boundary_tets[face]
    weights = np.empty((len(points), 4))
    loops.tet_weights(points, mesh.points, tets, chosen, weights)
    nodes = mesh.tets[chosen]
    if mesh.order == 2:
        weights = shape_functions(weights)
    found = Embedding(nodes, weights)
    off = np.linalg.norm(found.follow(mesh.points) - points, axis=1)
    _refuse_far(np.flatnonzero(off > CURVED * longest), points, "lie in curved tets, which cannot carry them")
    return found


def _refuse_far(wrong: np.ndarray, points: np.ndarray, why: str) -> None:
    if len(wrong):
        named = "; ".join(f"{k} at {np.round(points[k], 6).tolist()}" for k in wrong[:3])
        raise MeshError(f"{len(wrong)} points of the drawn surface {why}: {named}")
