"""Triangles of sheets whose stretches and rotations are unknowns of their own (T 3.5).

A stretch is a symmetric 2x2 matrix along two axes of the rest triangle, in the corner of a 3x3 one: the stretch across
is what the law of the sheet makes of it. Laws are asked by their own kernels, as of triangles that lie in these axes.
"""

import numpy as np

from pliant.elements.cloth import TriangleSet, TriangleTerms
from pliant.elements.sets import Space
from pliant.kernels.lanes import LANES
from pliant.kernels.mixed import Assembled
from pliant.kernels.sheets import TRIANGLE_DATA


class SheetExpansion:
    """Where the triangles of one set are expanded; sizes in lanes: F and stress (6), rotation (9), data (20)."""

    def __init__(self, own: TriangleSet):
        self.own, groups = own, own.groups
        axes = own.basis.reshape(groups, 2, 3, LANES)
        seen = np.einsum("gicl,gacl->gial", own.gradients.reshape(groups, 2, 3, LANES), axes)
        self.gradients = np.concatenate([seen, np.zeros((groups, 2, 1, LANES))], axis=2).reshape(groups, 6, LANES)
        self.axes = np.repeat(np.eye(3)[:2].reshape(1, 6, 1), LANES, axis=2).repeat(groups, axis=0)
        # a triangle of its own for every lane, whose third node lies in the origin
        self.places = np.zeros((groups * LANES, 3, 3))
        corners = np.arange(groups * LANES * 3).reshape(groups, LANES, 3)
        self.corners = np.ascontiguousarray(corners.transpose(0, 2, 1)).astype(own.nodes.dtype)
        self.stretch, self.kept = np.zeros((groups, 9, LANES)), np.zeros((groups, 9, LANES))
        self.rotation = np.empty((groups, 9, LANES))
        self.slots = np.empty((groups, 9, LANES))
        self.deformation, self.stress = np.empty((groups, 6, LANES)), np.empty((groups, 6, LANES))
        self.frames, self.data = np.empty((groups, 21, LANES)), np.empty((groups, TRIANGLE_DATA, LANES))
        self.turned = np.empty((1 + own.damped, groups, TRIANGLE_DATA, LANES))
        self.principal, self.energy = np.empty((groups, 2, LANES)), np.zeros(groups)
        self.misfit, self.ages = np.zeros(groups), np.zeros(groups)
        squares, weight = 3 * (own.gradients**2).sum(axis=1), own.density * own.volume
        self.speed = np.divide(squares, weight, out=np.zeros_like(weight), where=weight > 0)
        self.assembled = Assembled(np.zeros((groups, 9, LANES)), np.zeros((groups, 3, LANES)), np.zeros_like(weight))

    @property
    def kernels(self):
        """Loops over such triangles."""
        return self.own.device.mixed_sheets

    def _deform(self, x: np.ndarray) -> np.ndarray:
        self.kernels.sheet_gradients(x, self.own.nodes, self.gradients, self.deformation)
        return self.deformation

    def look(self, x: np.ndarray, gradients: np.ndarray) -> None:
        """Take the stretches at positions x (n, 3)."""
        self.kernels.sheet_rotations(self._deform(x), self.rotation)
        self.kernels.follow_sheets(self.deformation, self.rotation, 1.0, self.stretch, self.stretch, self.misfit)

    def expand(self, laws: list) -> None:
        """Energy, stress and moduli of the law at the stretches."""
        own, x = self.own, self.places.reshape(-1, 3)
        self.kernels.place_stretches(self.stretch, self.places)
        for law in laws:
            groups, geometry = (law.first, law.last), (self.axes, self.axes, own.volume, own.free)
            law.evaluate(law.law, *groups, x, self.corners, *geometry, self.frames, self.energy, self.slots)
            law.moduli(law.law, *groups, self.frames, self.gradients, own.volume, own.free, True, self.data)
        self.kernels.principal_stresses(self.frames, self.slots, own.volume, self.data, self.principal)

    @property
    def expansion(self) -> tuple[np.ndarray, ...]:
        """What the quadratic is made of."""
        return self.gradients, self.frames, self.data, self.principal, self.energy

    def pace(self, h: float) -> None:
        """Take steps of length h [s]."""
        np.multiply(self.speed, h * h, out=self.assembled.speed)

    def turn(
        self, x: np.ndarray, gradients: np.ndarray, alpha: float | None, foresee: bool, space: Space, slots: np.ndarray
    ) -> None:
        """Take the rotations that fit positions x (n, 3), and evaluate there."""
        if foresee:
            self.kernels.foresee_sheets(self._deform(x), self.frames, self.data, self.principal, self.rotation)
        if alpha is None:
            found = (self.rotation, self.ages, space.energy, self.own.own_slots(slots))
            self.kernels.fit_sheets(x, self.own.nodes, *self.expansion, self.assembled, *found)
            return
        self.evaluate(x, gradients, space, slots)  # l is the stress of the quadratic with the rotations so far
        self.kernels.sheet_procrustes(self._deform(x), self.stress, self.stretch, alpha, self.rotation)
        self.kernels.sheet_ages(self.rotation, self.data, self.assembled, self.ages)
        self.evaluate(x, gradients, space, slots)

    def follow(self, x: np.ndarray, gradients: np.ndarray, share: float) -> float:
        """Let stretches go a part of the way from those kept to where positions x (n, 3) lead; the misfit that is
        left."""
        self.kernels.follow_sheets(self._deform(x), self.rotation, share, self.kept, self.stretch, self.misfit)
        return float(self.misfit.max(initial=0.0))

    def evaluate(self, x: np.ndarray, gradients: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Energies of the quadratic into the space, its gradient into the slots."""
        found = (self.stress, space.energy, self.own.own_slots(slots))
        self.kernels.quadratic_sheets(x, self.own.nodes, *self.expansion, self.rotation, *found)

    def terms(self, gradients: np.ndarray, weight: float, frames, damping: float) -> TriangleTerms:
        """The stiffness of the quadratic times weight, and the damping's in frames, times damping."""
        own, count = self.own, 1
        self.kernels.turn_data(self.rotation, self.data, weight, self.turned[0], *self.assembled[:2])
        if own.damped and damping > 0.0 and frames is not None:
            material = (own.plane_lam, own.mu, damping * own.damping * own.volume)
            own.kernels.pack_triangle_damping(frames, own.gradients, own.basis, *material, self.turned[1])
            count = 2
        return TriangleTerms(self.turned[:count])
