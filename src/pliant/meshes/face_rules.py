"""Integrals over triangles of three nodes, or of six: corners a, b, c, then the midpoints of ab, bc, ca."""

from typing import NamedTuple

import numpy as np

# Dunavant's rule of degree 4 (1985): barycentric coordinates of two orbits of three points, and their weights.
ORBITS = ((0.445948490915965, 0.223381589678011), (0.091576213509771, 0.109951743655322))


class FaceRule(NamedTuple):
    """Values (q, w) and slopes (q, w, 2) of the shape functions of the w nodes along the coordinates of b and c, and
    weights (q,) of sum 1/2."""

    values: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray


def face_rule(nodes: int) -> FaceRule:
    """The rule for faces of so many nodes: exact for the load of a pressure on them, curved or not."""
    if nodes == 3:
        return FaceRule(np.full((1, 3), 1 / 3), np.array([[[-1.0, -1], [1, 0], [0, 1]]]), np.array([0.5]))
    places = np.concatenate([np.full((3, 3), at) + (1 - 3 * at) * np.eye(3) for at, _ in ORBITS])
    return FaceRule(*six_node_shapes(places), np.repeat([weight / 2 for _, weight in ORBITS], 3))


def six_node_shapes(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (q, 6) and slopes (q, 6, 2) at barycentric coordinates (q, 3)."""
    pairs = np.array([[0, 1], [1, 2], [2, 0]])
    values = np.concatenate([places * (2 * places - 1), 4 * places[:, pairs[:, 0]] * places[:, pairs[:, 1]]], axis=1)
    slopes = np.zeros((len(places), 6, 3))
    for corner in range(3):
        slopes[:, corner, corner] = 4 * places[:, corner] - 1
    for node, (a, b) in enumerate(pairs, start=3):
        slopes[:, node, a], slopes[:, node, b] = 4 * places[:, b], 4 * places[:, a]
    return values, slopes[:, :, 1:] - slopes[:, :, :1]


def tangents(points: np.ndarray, faces: np.ndarray, rule: FaceRule) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives (k, q, 3) of the place on faces (k, w) along the two coordinates, or of another field at points."""
    corners = points[faces] - points[faces[:, :1]]
    return tuple(np.einsum("kai,qa->kqi", corners, rule.slopes[:, :, axis]) for axis in range(2))


def node_shares(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The area (k, w) [m2] that belongs to each node of faces (k, w), the integral of its shape function: of a straight
    face of six nodes a third to each midpoint, nothing to the corners."""
    rule = face_rule(faces.shape[1])
    area = np.linalg.norm(np.cross(*tangents(points, faces, rule)), axis=2)
    shares = np.einsum("kq,q,qa->ka", area, rule.weights, rule.values)
    return np.where(np.abs(shares) > 1e-12 * shares.sum(axis=1, keepdims=True), shares, 0.0)


def area_loads(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Integrals (k, w, 3) [m2] of the outward normal times the shape function of every node of faces (k, w)."""
    rule = face_rule(faces.shape[1])
    return np.einsum("kqi,q,qa->kai", np.cross(*tangents(points, faces, rule)), rule.weights, rule.values)


def area_load_changes(points: np.ndarray, moves: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Derivatives (k, w, 3) [m2] of `area_loads` when points (n, 3) move by `moves` (n, 3)."""
    rule = face_rule(faces.shape[1])
    (a, b), (da, db) = (tangents(field, faces, rule) for field in (points, moves))
    return np.einsum("kqi,q,qa->kai", np.cross(da, b) + np.cross(a, db), rule.weights, rule.values)
