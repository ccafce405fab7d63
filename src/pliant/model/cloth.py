"""The sheets of a scene as element sets: triangles that stretch, and triangles that fold with their neighbours."""

import numpy as np

from pliant.elements.bending import BendingSet
from pliant.elements.cloth import TriangleSet
from pliant.elements.fibres import FibreSet
from pliant.elements.kinds import Kind
from pliant.kernels.lanes import to_lanes
from pliant.meshes.topology import row_keys
from pliant.model.curvature import OPPOSITE, curvatures, rest_axes
from pliant.rotations import rotation_matrix
from pliant.scene.cloth import Clamp, Cloth, Fibres


def nodes_of(kind: Kind, body: Cloth) -> np.ndarray:
    """Nodes (m, 3) of a sheet's triangles, or (m, 6) with those of their neighbours; an own node where there is
    none."""
    triangles = body.mesh.triangles
    return triangles if kind is not BendingSet.kind else np.concatenate([triangles, far_nodes(body.mesh)[0]], axis=1)


def sheet_columns(kind: Kind, bodies: list[tuple[int, Cloth]], rest: list[np.ndarray]) -> dict:
    """Gradients, volumes and what else a set of sheets has beside the material; rest: triangles (m, 3, 3) [m]."""
    make = _triangle_columns if kind is TriangleSet.kind else _bending_columns
    columns = [make(body, corners) for (_, body), corners in zip(bodies, rest)]
    return {name: _lanes([own[name] for own in columns]) for name in columns[0]}


def _lanes(parts: list[np.ndarray]) -> np.ndarray:
    """Values (m, c) or (m,) of several bodies as (groups, c, LANES) or (groups, LANES)."""
    lanes = np.concatenate([to_lanes(values) for values in parts])
    return lanes if parts[0].ndim == 2 else lanes[:, 0]


def _triangle_columns(body: Cloth, corners: np.ndarray) -> dict:
    first, second, area = rest_axes(corners)
    # gradients of nodes 0 and 1: the edges opposite to them, turned by a right angle, over twice the area
    normal, edges = np.cross(first, second), corners[:, OPPOSITE[:2, 1]] - corners[:, OPPOSITE[:2, 0]]
    gradients = np.cross(normal[:, None], edges) / (2 * area)[:, None, None]
    return {
        "gradients": gradients.reshape(-1, 6),
        "volume": area * body.thickness,
        "basis": np.concatenate([first, second], axis=1),
        "free": np.full(len(area), float(body.thins)),
    }


def far_nodes(mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Across the edge opposite to each node of triangles: the node of the neighbour (m, 3), whether there is one (m,
    3), and which triangle it is (m, 3), -1 for none; where there is none, the node is the own one."""
    triangles, count = mesh.triangles.astype(np.int64), len(mesh.points)
    directed = triangles[:, OPPOSITE].reshape(-1, 2)
    keys, back = row_keys(directed, count), row_keys(directed[:, ::-1], count)
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], back).clip(max=len(keys) - 1)
    there = keys[order[place]] == back
    found = np.where(there, order[place], np.arange(len(keys)))
    nodes = triangles.reshape(-1)[found].reshape(-1, 3)
    there = there.reshape(-1, 3)
    return nodes, there, np.where(there, (found // 3).reshape(-1, 3), -1)


def edge_weights(body: Cloth) -> np.ndarray:
    """What share (m, 3) of an edge's angle a triangle bends by: half at an edge with a neighbour; all of it where both
    ends are clamped and there is no neighbour, or one that is clamped all over; nothing at a free edge, or in a
    triangle that is clamped all over."""
    _, there, neighbour = far_nodes(body.mesh)
    clamped = np.zeros(len(body.nodes), bool)
    for pin in body.pins:
        if isinstance(pin, Clamp):
            clamped[body.select(pin.nodes, "clamp")] = True
    held = clamped[body.mesh.triangles].all(axis=1)
    ends = clamped[body.mesh.triangles[:, OPPOSITE]].all(axis=2)
    beside = np.where(there, held[neighbour], True)
    weights = np.where(ends & beside, 1.0, np.where(there, 0.5, 0.0))
    return np.where(held[:, None], 0.0, weights)


def _bending_columns(body: Cloth, corners: np.ndarray) -> dict:
    first, second, area = rest_axes(corners)
    nodes, there, _ = far_nodes(body.mesh)
    edges = corners[:, OPPOSITE[:, 1]] - corners[:, OPPOSITE[:, 0]]
    normal = np.cross(first, second)
    # where there is no neighbour, what stands for it is the triangle's mirror image across the edge
    length = np.linalg.norm(edges, axis=2)
    across = np.cross(edges, normal[:, None]) / length[:, :, None]
    offset = across * (2 * area[:, None] / length)[:, :, None]
    poisson = body.material.poisson
    far = body.mesh.points[nodes]
    strains = 0.5 * body.thickness * curvatures(corners, far, edge_weights(body), poisson)
    # C = V / 3 E / (1 - nu^2) with the plate's stiffness D: e = h / 2 curvature
    scale = area * body.plate_stiffness * 4 / body.thickness**2
    angles = np.zeros(nodes.shape) if body.flat else rest_angles(corners, body.mesh.points[nodes], there)
    return {
        "volume": area * body.thickness,
        "present": there.astype(float),
        "offset": _turned(body, offset).reshape(-1, 9),
        "rest_turn": 2 * np.tan(angles / 2),
        "strains": strains.reshape(-1, 9),
        "moduli": scale[:, None] * np.array([1.0, poisson, (1 - poisson) / 2]),
        "gradients": np.zeros((len(area), 6)),
    }


def _turned(body: Cloth, vectors: np.ndarray) -> np.ndarray:
    """Vectors of the mesh as the scene turns the body: a clamp holds directions in space."""
    return vectors @ rotation_matrix(body.rotation).T


def rest_angles(corners: np.ndarray, far: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Angles (m, 3) [rad] between triangles (m, 3, 3) and their neighbours' far nodes (m, 3, 3), as formulas.cloth."""
    start, end = corners[:, OPPOSITE[:, 0]], corners[:, OPPOSITE[:, 1]]
    edge = end - start
    own, other = np.cross(edge, corners - start), np.cross(far - end, edge)
    length = np.linalg.norm(edge, axis=2)
    sine = np.einsum("mai,mai->ma", edge, np.cross(own, other)) / length
    return np.where(there, np.arctan2(sine, np.einsum("mai,mai->ma", own, other)), 0.0)


def fibre_set(columns: dict, bodies: list[tuple[int, Cloth]], rest: list[np.ndarray]) -> FibreSet:
    """One family of fibres of sheets, that with the number `energy` of the columns; rest: triangles (m, 3, 3) [m]."""
    number, parts = columns["energy"], []
    for (_, body), corners in zip(bodies, rest):
        parts.append(_fibre_columns(body, body.fibres[number], corners))
    lanes = {name: _lanes([own[name] for own in parts]) for name in parts[0]}
    return FibreSet(**(columns | {"energy": None}), **lanes)


def _fibre_columns(body: Cloth, fibres: Fibres, corners: np.ndarray) -> dict:
    shape = _triangle_columns(body, corners)
    normal = np.cross(shape["basis"][:, :3], shape["basis"][:, 3:])
    direction = np.array(fibres.direction) - (normal @ np.array(fibres.direction))[:, None] * normal
    length = np.linalg.norm(direction, axis=1)
    gradients = shape["gradients"].reshape(-1, 2, 3)
    two = np.einsum("mai,mi->ma", gradients, direction / length[:, None])
    return {
        "weights": np.concatenate([two, -two.sum(axis=1, keepdims=True)], axis=1),
        "stiffness": fibres.young * shape["volume"],
        "damping": np.full(len(length), body.material.damping),
    }


SETS = {own.kind: own for own in (TriangleSet, BendingSet)}
KINDS = (*SETS, FibreSet.kind)
