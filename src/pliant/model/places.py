"""Where the anchors of joints are, and their frames, at a state: for readers and pictures."""

import numpy as np

from pliant.kernels.joints import BODY, FACE, NODE
from pliant.rotations import multiply_quaternions, rotation_matrix
from pliant.rows.joints import Anchors


def anchor_position(anchors: Anchors, k: int, state) -> np.ndarray:
    """World position (3,) [m] of an anchor."""
    kind, index, local = anchors.kind[k], anchors.index[k], anchors.local[k]
    if kind == BODY:
        return state.body_position[index[0]] + rotation_matrix(state.body_rotation[index[0]]) @ local
    if kind == NODE:
        return state.x[index[0]]
    if kind == FACE:
        return local @ state.x[index] + anchors.offset[k] * face_axes(state.x[index])[:, 2]
    return local


def anchor_axes(anchors: Anchors, k: int, state) -> np.ndarray:
    """Axes (3, 3), in columns, of the joint's frame on the side of an anchor."""
    kind, index, own = anchors.kind[k], anchors.index[k], anchors.frame[k]
    if kind == BODY:
        return rotation_matrix(multiply_quaternions(state.body_rotation[index[0]], own))
    return face_axes(state.x[index]) @ rotation_matrix(own) if kind == FACE else rotation_matrix(own)


def face_axes(corners: np.ndarray) -> np.ndarray:
    """Axes (3, 3), in columns, of a triangle: x along its first edge, z along its normal (formulas.coordinates)."""
    edge = corners[1] - corners[0]
    normal = np.cross(edge, corners[2] - corners[0])
    x, z = edge / np.linalg.norm(edge), normal / np.linalg.norm(normal)
    return np.stack([x, np.cross(z, x), z], axis=1)
