"""Elements as rows (BV 2.2-2.5): rotation, strain, plastic flow, target and compliance of every tetrahedron."""

from functools import cached_property

import numpy as np

from pliant.kernels.cpu.elements import deform_elements, flow_plastic

IDENTITY_BASIS = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# Eigenvectors of the isotropic law in the normal components (BV after eq. 36): the mean, and two shears of normals.
DIAGONAL_BASIS = tuple(
    (np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3.0], [2.0], [6.0]])).ravel().tolist()
)


class ElementRows:
    """Elements at positions x (n, 3): rotation (g, 9, LANES), strain and plastic strain (g, 6, LANES); rotation and
    strain are found when they are first asked for."""

    def __init__(self, model, x: np.ndarray, plastic: np.ndarray):
        self.model, self.x, self.plastic = model, x, plastic

    @cached_property
    def _deformed(self) -> tuple[np.ndarray, np.ndarray]:
        return deform(self.model, self.x)

    @property
    def rotation(self) -> np.ndarray:
        return self._deformed[0]

    @property
    def strain(self) -> np.ndarray:
        return self._deformed[1]


def deform(model, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and total strain of every element at positions x, in lanes."""
    groups, lanes = model.volume.shape
    rotation, strain = np.empty((groups, 9, lanes)), np.empty((groups, 6, lanes))
    deform_elements(x, model.element_nodes, model.gradients, model.corotate, rotation, strain)
    strain *= (model.volume > 0)[:, None]  # empty lanes ask for nothing, and solvers' norms do not see them
    return rotation, strain


def fill(model, state, h: float) -> ElementRows:
    """Rotations, strains at the state's positions, and the plastic strain after this step's flow (not yet stored)."""
    elements = ElementRows(model, state.x, state.plastic_strain)
    if model.plastic:
        elements.plastic = state.plastic_strain.copy()
        flow_plastic(elements.strain, model.yield_strain, model.creep, model.max_strain, h, elements.plastic)
    return elements


def compliance(model, h: float) -> np.ndarray:
    """(g, 2, LANES): (1 + nu)/(E s) and -nu/(E s) with s = h (h + beta) V, the two numbers of R_c; empty lanes hold
    (1, 0)."""
    weight = h * (h + model.damping) * model.volume
    there = weight > 0
    safe = np.where(there, model.young * weight, 1.0)
    single = np.where(there, (1 + model.poisson) / safe, 1.0)
    coupled = np.where(there, -model.poisson / safe, 0.0)
    return np.ascontiguousarray(np.stack([single, coupled], axis=1))


def elastic_gradients(model, plastic: np.ndarray) -> np.ndarray:
    """Rest gradients (g, 9, LANES) seen from the plastic shape: F_e = F (I + e_p)^-1 = Ds B (I + e_p)^-1.

    To first order in the strains the elastic strain is e - e_p, as in the rows of the dual solver.
    """
    if not model.plastic or not np.any(plastic):
        return model.gradients
    halves = plastic * np.array([1, 1, 1, 0.5, 0.5, 0.5])[:, None]
    tensor = halves[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3, plastic.shape[2])
    inverse = np.linalg.inv(np.eye(3) + tensor.transpose(0, 3, 1, 2))
    rows = model.gradients.reshape(-1, 3, 3, plastic.shape[2])
    return np.ascontiguousarray(np.einsum("gijl,gljk->gikl", rows, inverse).reshape(model.gradients.shape))
