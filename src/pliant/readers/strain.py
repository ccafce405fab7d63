"""Readers of a state: deformation, strain and stress of elements, and averages of them."""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.springs import SpringSet
from pliant.kernels.lanes import LANES
from pliant.meshes import TriMesh, quadratic
from pliant.meshes.topology import TET_EDGES, row_keys

# Six components of a symmetric tensor of nine: xx, yy, zz, yz, xz, xy.
SIX = [0, 4, 8, 5, 2, 1]


def element_fields(model, state) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of every soft body the strain in the rotated frames of its elements and the Cauchy stress in world axes, (m, 6)
    each: sigma = P F^T / J, averaged over the points of an element.

    F is that of the elastic part of the deformation; a law without rotation knows no difference between P and sigma.
    A body of springs has the strain of its tets and the mean stress that their edges' tensions make (`virial_stress`).
    """
    elements = model.elements
    _, strain = elements.deform(state.x)
    stress = np.empty_like(strain)
    pairs = ElementPotential.of(elements, state).stresses(state.x)
    for own, (deformation, piola) in zip(elements.volumes, pairs):
        stress[own.points] = _cauchy(deformation, piola, own.facts.rotates)
    found = []
    for body in range(len(elements.cells)):
        own = elements.set_of(body)
        if own.facts.volume:
            found.append(tuple(point_average(elements, body, values) for values in (strain, stress)))
        else:
            found.append(spring_fields(own, model, state.x, body))
    return found


def point_average(elements, body: int, of_points: np.ndarray) -> np.ndarray:
    """Values of points (point groups, c, LANES) as means (m, c) over the points of a soft body's elements."""
    return elements.of_body(body, of_points).mean(axis=1)


def _cauchy(deformation: np.ndarray, piola: np.ndarray, rotates: bool) -> np.ndarray:
    """P F^T / J (point groups, 6, LANES) [Pa]."""
    if not rotates:
        return piola[:, SIX]
    f, p = deformation.reshape(-1, 3, 3, LANES), piola.reshape(-1, 3, 3, LANES)
    volume = np.linalg.det(f.transpose(0, 3, 1, 2))[:, None, None]
    world = np.einsum("gabl,gcbl->gacl", p, f) / np.where(np.abs(volume) > 1e-12, volume, 1e-12)
    return world.reshape(-1, 9, LANES)[:, SIX]


def spring_fields(own: SpringSet, model, x: np.ndarray, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Strain and stress (m, 6) of the tets whose edges are the springs of a body."""
    cells = model.elements.cells[body]
    f = _deformations(model.rest, x, cells)[:, 0]
    u, _, v = np.linalg.svd(f)
    v[:, 2] *= np.sign(np.linalg.det(u @ v))[:, None]
    strain = _six(0.5 * (lambda s: s + s.transpose(0, 2, 1))((u @ v).transpose(0, 2, 1) @ f) - np.eye(3))
    return strain, virial_stress(own, model.rest, x, cells)


def virial_stress(own: SpringSet, rest: np.ndarray, x: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Mean Cauchy stress (m, 6) [Pa] of tets (m, 4) with springs as edges: sum of w T L n n^T / v over its six edges of
    tension T, length L and direction n, with the tet's share w of the volume around the edge, and its volume v now.

    It is the stress that does the work of the springs when the tet is strained uniformly.
    """
    nodes, count = np.sort(own.connectivity, axis=1), len(x)
    pairs = np.sort(cells[:, TET_EDGES].reshape(-1, 2), axis=1)
    keys = row_keys(nodes, count)
    order = np.argsort(keys)
    spring = order[np.searchsorted(keys[order], row_keys(pairs, count))]
    volume, now = (quadratic.smallest_determinants(points, cells) / 6 for points in (rest, x))
    around = np.bincount(spring, weights=np.repeat(volume, len(TET_EDGES)), minlength=len(nodes))
    axis = x[pairs[:, 1]] - x[pairs[:, 0]]
    length = np.maximum(np.linalg.norm(axis, axis=1), 1e-12)
    tension = own.of_springs(own.stiffness)[spring] * (length - own.of_springs(own.rest)[spring])
    share = np.repeat(volume / np.where(np.abs(now) > 1e-300, now, 1e-300), len(TET_EDGES)) / around[spring]
    each = (share * tension / length)[:, None, None] * axis[:, :, None] * axis[:, None, :]
    return each.reshape(-1, len(TET_EDGES), 9).sum(axis=1)[:, SIX]


def von_mises(stress: np.ndarray) -> np.ndarray:
    """sqrt(3/2 s : s) with the deviator s of stresses (m, 6): xx, yy, zz, yz, xz, xy."""
    normal, shear = stress[:, :3], stress[:, 3:]
    deviator = normal - normal.mean(axis=1, keepdims=True)
    return np.sqrt(1.5 * (np.sum(deviator**2, axis=1) + 2 * np.sum(shear**2, axis=1)))


def node_average(mesh, values: np.ndarray) -> np.ndarray:
    """Values (m,) or (m, c) of the tets or triangles of a mesh as averages (n,) or (n, c) at its nodes, weighted by
    volume or area."""
    elements, sizes = (mesh.triangles, mesh.areas) if isinstance(mesh, TriMesh) else (mesh.tets, mesh.volumes)
    width = elements.shape[1]
    count, nodes, weight = len(mesh.points), elements.ravel(), np.repeat(sizes, width)
    columns = np.repeat(values.reshape(len(values), -1), width, axis=0)
    totals = [np.bincount(nodes, weights=weight * column, minlength=count) for column in columns.T]
    average = np.stack(totals, axis=1) / np.bincount(nodes, weights=weight, minlength=count)[:, None]
    return average.reshape(count, *values.shape[1:])


def deformation_gradient(mesh, x: np.ndarray) -> np.ndarray:
    """F = dx/dX (m, 3, 3) of the tets of a mesh whose nodes are at x (n, 3) [m]; of tets of ten nodes the mean over
    their Gauss points; of triangles with their normals for what is across."""
    if isinstance(mesh, TriMesh):
        return sheet_deformation(mesh, x)
    return _deformations(mesh.points, x, mesh.tets).mean(axis=1)


def mean_green_strain(mesh, x: np.ndarray) -> np.ndarray:
    """Green's strain (m, 6) of the tets of a mesh whose nodes are at x (n, 3) [m], its mean over their points."""
    if isinstance(mesh, TriMesh):
        return green_strain(sheet_deformation(mesh, x))
    f = _deformations(mesh.points, x, mesh.tets)
    return green_strain(f.reshape(-1, 3, 3)).reshape(len(f), -1, 6).mean(axis=1)


def _deformations(rest: np.ndarray, x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """F (m, points, 3, 3) at the points of tets (m, 4) or (m, 10)."""
    if tets.shape[1] == 4:
        before, now = (np.moveaxis(p[tets[:, :3]] - p[tets[:, 3:]], 1, 2)[:, None] for p in (rest, x))
    else:
        before, now = (quadratic.jacobians(p, tets, quadratic.GAUSS_POINTS) for p in (rest, x))
    return now @ np.linalg.inv(before)


def sheet_deformation(mesh: TriMesh, x: np.ndarray) -> np.ndarray:
    """F (m, 3, 3) of triangles, which maps unit normals to unit normals (T 3.5)."""

    def frames(points: np.ndarray) -> np.ndarray:
        corners = points[mesh.triangles]
        sides = corners[:, 1:] - corners[:, :1]
        normal = np.cross(sides[:, 0], sides[:, 1])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        return np.stack([sides[:, 0], sides[:, 1], normal], axis=2)

    return frames(x) @ np.linalg.inv(frames(mesh.points))


def green_strain(f: np.ndarray) -> np.ndarray:
    """Green's strain (F^T F - I)/2 (m, 6) of deformation gradients (m, 3, 3): xx, yy, zz, yz, xz, xy, shear doubled."""
    return _six(0.5 * (f.transpose(0, 2, 1) @ f - np.eye(3)))


def small_strain(f: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Strain of small displacements (m, 6) in world axes, for a body placed with a rotation (3, 3): the symmetric part
    of F R^T - I."""
    gradient = f @ rotation.T
    return _six(0.5 * (gradient + gradient.transpose(0, 2, 1)) - np.eye(3))


def _six(tensor: np.ndarray) -> np.ndarray:
    """Components xx, yy, zz, yz, xz, xy with doubled shear (m, 6) of symmetric tensors (m, 3, 3)."""
    return tensor.reshape(-1, 9)[:, SIX] * np.array([1.0, 1, 1, 2, 2, 2])
