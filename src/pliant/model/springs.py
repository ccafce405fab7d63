"""Bodies of the law "springs": every edge of the tet mesh is a spring, a compliant row between two nodes.

Van Gelder (1998) gives an edge the stiffness k = E sum(V) / L^2 over the tets around it. With edges in all directions
alike the energy of a strain e is then E V (2 e:e + tr^2 e) / 5, the isotropic law with the modulus E and Poisson's
ratio 1/4, the only one that a net of springs can have (Cauchy's relations).
"""

import numpy as np

from pliant.elements.springs import SPRING
from pliant.kernels.cpu.joints import DISTANCE, NODE
from pliant.meshes import TetMesh
from pliant.meshes.topology import TET_EDGES
from pliant.rows.joints import Anchors
from pliant.scene.bodies import Soft
from pliant.scene.scene import Scene

LAW = "springs"
# The elements of such a body carry its mass and measure its strain; of the stiffness they keep this part, as nothing.
ELEMENT_STIFFNESS = 1e-12


def element_share(material) -> float:
    """The part of a material's moduli that its elements carry."""
    return ELEMENT_STIFFNESS if material.law == LAW else 1.0


def edge_stiffness(mesh: TetMesh, young: float) -> np.ndarray:
    """Stiffness k (e,) [N/m] of every edge of a mesh."""
    corners = mesh.points[mesh.tets]
    volume = np.abs(np.linalg.det(corners[:, :3] - corners[:, 3:])) / 6
    pairs = np.sort(mesh.tets[:, TET_EDGES].reshape(-1, 2), axis=1)
    count = len(mesh.points)
    edges = mesh.edges
    place = np.searchsorted(
        edges[:, 0].astype(np.int64) * count + edges[:, 1], pairs[:, 0] * np.int64(count) + pairs[:, 1]
    )
    around = np.bincount(place, weights=np.repeat(volume, len(TET_EDGES)), minlength=len(edges))
    return young * around / np.sum((mesh.points[edges[:, 1]] - mesh.points[edges[:, 0]]) ** 2, axis=1)


def build_springs(scene: Scene, node_start: np.ndarray) -> list[dict]:
    """For every body of springs the columns of its blocks of rows, named as in JointBlocks."""
    pairs = zip(scene.soft_bodies, node_start)
    return [_springs(body, int(first)) for body, first in pairs if body.material.law == LAW]


def _springs(body: Soft, first: int) -> dict:
    """The springs of one body; damping acts along the axis only (theory section 7, erratum of C 1.3)."""
    edges, count = body.mesh.edges, len(body.mesh.edges)
    length = np.linalg.norm(body.mesh.points[edges[:, 1]] - body.mesh.points[edges[:, 0]], axis=1)
    stiffness = edge_stiffness(body.mesh, body.material.young)
    rest = np.zeros((count, 2))
    rest[:, 0] = length
    return {
        "joint": np.full(count, SPRING),
        "family": np.full(count, DISTANCE),
        "a": _node_anchors(edges[:, 0] + first),
        "b": _node_anchors(edges[:, 1] + first),
        "rest": rest,
        "compliance": 1 / stiffness,
        "damping": body.material.damping * stiffness,
        "reach": length,
    }


def _node_anchors(nodes: np.ndarray) -> Anchors:
    count = len(nodes)
    index = np.zeros((count, 3), np.int64)
    index[:, 0] = nodes
    frame = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    return Anchors(np.full(count, NODE), index, np.zeros((count, 3)), np.zeros(count), frame)
