"""Readers of sheets: curvature, and stress resultants per width."""

import numpy as np

from pliant.elements.bending import PLANE, BendingSet
from pliant.elements.potential import ElementPotential


def bending_of(model, body: int) -> tuple[BendingSet, np.ndarray] | None:
    """The set of a soft body that folds, and where its triangles lie in that; None for a body that does not bend."""
    for own in model.elements.sets:
        if isinstance(own, BendingSet):
            first = 0
            for part in own.parts:
                if part.body == body:
                    return own, np.arange(first, first + part.count)
                first += part.count
    return None


def curvature(model, state, body: int, thickness: float, rest: bool) -> np.ndarray:
    """Curvature (m, 3) [1/m] of the triangles of a sheet: 11, 22, 12, in axes of their own, along their edge from node
    0 to 1 and across it; positive where the side of the normals is convex. rest: seen from the rest shape, or whole."""
    found = bending_of(model, body)
    if found is None:
        return np.zeros((len(model.elements.cells[body]), 3))
    own, chosen = found
    turn = own.frames_at(state.x, np.zeros(0))[:, :3]
    turn = turn if rest else turn + own.rest_turn
    strain = np.einsum("gkal,gal->gkl", own.strains.reshape(-1, 3, 3, turn.shape[2]), turn)
    return own.point_values(strain)[chosen, 0] * np.array([1, 1, 0.5]) * (2 / thickness)


def resultants(model, state, body: int, thickness: float) -> tuple[np.ndarray, np.ndarray]:
    """Forces (m, 3) [N/m] and moments (m, 3) [N m/m] per width of the sheet at rest in triangles: 11, 22, 12, in axes
    of their own that turn with them. Forces are h S, with S the second Piola stress for small strains, R^T P else."""
    elements, potential = model.elements, ElementPotential.of(model.elements, state)
    sheet = elements.set_of(body)
    at = [own is sheet for own in elements.volumes].index(True)
    stresses = potential.stresses(state.x)
    rotation = elements.deform(state.x)[0]
    piola = elements.of_body(body, _among(elements, stresses[at][1], sheet))[:, 0].reshape(-1, 3, 3)
    turn = elements.of_body(body, rotation)[:, 0].reshape(-1, 3, 3)
    axes = elements.of_body(body, _among(elements, sheet.basis, sheet))[:, 0].reshape(-1, 2, 3)
    inner = np.einsum("mki,mkj->mij", turn, piola)
    plane = thickness * np.einsum("mai,mij,mbj->mab", axes, 0.5 * (inner + inner.transpose(0, 2, 1)), axes)
    forces = np.stack([plane[:, 0, 0], plane[:, 1, 1], plane[:, 0, 1]], axis=1)
    found = bending_of(model, body)
    if found is None:
        return forces, np.zeros_like(forces)
    own, chosen = found
    at = [one is own for one in elements.volumes].index(True)
    surface = own.point_values(stresses[at][1])[chosen, 0][:, [0, 4, 1]]
    return forces, surface * thickness**2 / 6


def _among(elements, values: np.ndarray, own) -> np.ndarray:
    """Values of a set's points (groups, c, LANES) in an array of all points."""
    out = np.zeros((elements.point_groups, *values.shape[1:]))
    out[own.points] = values
    return out


def plastic_fold(model, state, body: int) -> np.ndarray:
    """Plastic strain (m, 3) at the surface of a sheet by bending: xx, yy, xy (doubled) in the axes of its triangles."""
    found = bending_of(model, body)
    if found is None:
        return np.zeros((len(model.elements.cells[body]), 3))
    own, chosen = found
    return own.point_values(state.plastic_strain[own.points])[chosen, 0][:, PLANE]
