"""Elements as rows (BV 2.2-2.5): rotation, strain, plastic flow, and what the dual family takes for its elements."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.elements.elements import Elements
from pliant.kernels.lanes import LANES

IDENTITY_BASIS = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# Eigenvectors of the isotropic law in the normal components (BV after eq. 36): the mean, and two shears of normals.
DIAGONAL_BASIS = tuple(
    (np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3.0], [2.0], [6.0]])).ravel().tolist()
)


class ElementRows:
    """Elements at positions x (n, 3): rotation (point groups, 9, LANES), strain and plastic strain (point groups, 6,
    LANES); rotation and strain are found when they are first asked for."""

    def __init__(self, elements: Elements, x: np.ndarray, plastic: np.ndarray):
        self.elements, self.x, self.plastic = elements, x, plastic

    @cached_property
    def _deformed(self) -> tuple[np.ndarray, np.ndarray]:
        return self.elements.deform(self.x)

    @cached_property
    def rotation(self) -> np.ndarray:
        return self.elements.rotations(self.x) if self.elements.only_sheets else self._deformed[0]

    @property
    def strain(self) -> np.ndarray:
        return self._deformed[1]

    @property
    def elastic(self) -> np.ndarray:
        """Strain less plastic strain."""
        return self.strain - self.plastic


def fill(elements: Elements, state, h: float) -> ElementRows:
    """Rotations, strains at the state's positions, and the plastic strain after this step's flow (not yet stored)."""
    rows = ElementRows(elements, state.x, state.plastic_strain)
    if elements.plastic:
        rows.plastic = state.plastic_strain.copy()
        for own in elements.volumes:
            material = (own.yield_strain, own.creep, own.max_strain)
            own.device.elements.flow_plastic(rows.strain[own.points], *material, h, rows.plastic[own.points])
    return rows


@dataclass
class RowElements:
    """The tets of four nodes that the dual family solves for, six rows each, one set after the other; arrays as in
    elements.sets. adjacency_start, adjacency: their slots by triple. count: how many there are."""

    nodes: np.ndarray
    gradients: np.ndarray
    volume: np.ndarray
    lam: np.ndarray
    mu: np.ndarray
    young: np.ndarray
    poisson: np.ndarray
    damping: np.ndarray
    adjacency_start: np.ndarray
    adjacency: np.ndarray
    count: int

    @classmethod
    def of(cls, elements: Elements) -> "RowElements":
        """Those of a model that has no others; springs are rows of their own, behind the joints."""
        empty = {"nodes": np.zeros((0, 4, LANES), np.int32), "gradients": np.zeros((0, 9, LANES))}
        numbers = ("volume", "lam", "mu", "young", "poisson", "damping")
        empty |= {name: np.zeros((0, LANES)) for name in numbers}
        columns = [
            np.concatenate([nothing, *(getattr(own, name) for own in elements.volumes)])
            for name, nothing in empty.items()
        ]
        return cls(*columns, *elements.without_springs.adjacency, sum(own.count for own in elements.volumes))

    def rigid(self, factor: float) -> "RowElements":
        """As they look without compliance and damping: so many times as stiff."""
        return replace(self, young=factor * self.young, damping=np.zeros_like(self.damping))

    def compliance(self, h: float) -> np.ndarray:
        """(g, 2, LANES): (1 + nu)/(E s) and -nu/(E s) with s = h (h + beta) V, the two numbers of R_c; empty lanes hold
        (1, 0)."""
        weight = h * (h + self.damping) * self.volume
        there = weight > 0
        safe = np.where(there, self.young * weight, 1.0)
        single = np.where(there, (1 + self.poisson) / safe, 1.0)
        coupled = np.where(there, -self.poisson / safe, 0.0)
        return np.ascontiguousarray(np.stack([single, coupled], axis=1))
