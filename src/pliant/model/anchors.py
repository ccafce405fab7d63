"""Anchors of joints: points and frames on bodies, on faces of soft bodies, in the world."""

import numpy as np

from pliant.kernels.joints import BODY, FACE, WORLD
from pliant.model.places import face_axes
from pliant.rotations import conjugate, matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joint_options import world
from pliant.scene.scene import Scene

NO_FRAME = (1.0, 0.0, 0.0, 0.0)


class Anchorer:
    """Turns (thing, world point, world frame) into an anchor (kind, index (3,), local (3,), offset, frame (4,))."""

    def __init__(self, scene: Scene, node_start, body_position, body_rotation):
        self.node_start = node_start
        self.position, self.rotation = body_position, body_rotation
        self.soft_index = {id(body): i for i, body in enumerate(scene.soft_bodies)}
        self.rigid_index = {id(body): i for i, body in enumerate(scene.every_rigid)}

    def __call__(self, thing, point, frame=NO_FRAME):
        point = np.asarray(point, dtype=float)
        if thing is world:
            return WORLD, (0, 0, 0), point, 0.0, frame
        if isinstance(thing, Rigid):
            i = self.rigid_index[id(thing)]
            local = rotation_matrix(self.rotation[i]).T @ (point - self.position[i])
            return BODY, (i, 0, 0), local, 0.0, multiply_quaternions(conjugate(self.rotation[i]), frame)
        first = self.node_start[self.soft_index[id(thing)]]
        face, barycentric, offset = nearest_face(thing, point)
        own = multiply_quaternions(conjugate(matrix_quaternion(face_axes(thing.nodes.positions[face]))), frame)
        return FACE, tuple(face + first), barycentric, offset, own

    def node(self, soft: Soft, node: int):
        """An anchor that is one node of a soft body: a face of it with all the weight on that node."""
        first = self.node_start[self.soft_index[id(soft)]]
        others = soft.mesh.beside(node)
        return FACE, (node + first, others[0] + first, others[1] + first), np.array([1.0, 0.0, 0.0]), 0.0, NO_FRAME


def nearest_face(body: Soft, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The boundary triangle nearest to a point: its nodes, barycentric coordinates (sum 1) and normal offset of the
    point [m]."""
    faces = body.mesh.boundary_triangles
    p0, p1, p2 = (body.nodes.positions[faces[:, i]] for i in range(3))
    e1, e2 = p1 - p0, p2 - p0
    n = np.cross(e1, e2)
    area2 = np.einsum("ij,ij->i", n, n)
    d = point - p0
    beta = np.einsum("ij,ij->i", np.cross(d, e2), n) / area2
    gamma = np.einsum("ij,ij->i", np.cross(e1, d), n) / area2
    barycentric = np.stack([1 - beta - gamma, beta, gamma], axis=1)
    inside = np.clip(barycentric, 0, None)
    inside /= inside.sum(axis=1, keepdims=True)
    nearest = inside[:, :1] * p0 + inside[:, 1:2] * p1 + inside[:, 2:] * p2
    best = int(np.argmin(np.linalg.norm(nearest - point, axis=1)))
    offset = float(d[best] @ n[best] / np.sqrt(area2[best]))
    return faces[best].astype(np.int64), barycentric[best], offset
