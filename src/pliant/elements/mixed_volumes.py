"""Tets whose stretches and rotations are unknowns of their own (T section 3).

The law is asked at the stretches S = U s V^T: its energy, principal stresses and moduli. With a rotation R the frames
are R U and V, and in these the energy is quadratic in F around R S.
"""

import numpy as np

from pliant.elements.sets import Space, VolumeSet
from pliant.kernels.elements import ElementTerms
from pliant.kernels.lanes import LANES
from pliant.kernels.mixed import Assembled


class PointExpansion:
    """Where the points of one set of tets of any number of nodes are expanded."""

    def __init__(self, own: VolumeSet):
        self.own = own
        count = len(own.volume)
        self.stretch, self.kept, self.deformation, self.stress = (np.zeros((count, 9, LANES)) for _ in range(4))
        self.rotation, self.principal = np.zeros((count, 9, LANES)), np.empty((count, 3, LANES))
        self.moduli, self.turned_moduli = np.empty((count, 12, LANES)), np.empty((count, 12, LANES))
        self.frames, self.turned = np.empty((count, 21, LANES)), np.empty((count, 21, LANES))
        self.energy, self.misfit, self.ages = np.zeros(count), np.zeros(count), np.zeros(count)
        self.stated = np.zeros_like(self.stretch)  # the stretches whose stiffness `terms` last gave
        self.squares = (own.gradients**2).sum(axis=1)
        self.assembled = Assembled(np.zeros((count, 9, LANES)), np.zeros((count, 3, LANES)), np.zeros_like(own.volume))

    @property
    def kernels(self):
        """Loops over such points."""
        return self.own.device.mixed

    def _deform(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """F (points, 9, LANES) at positions x (n, 3)."""
        self.own.device.quadratic.point_gradients(x, self.own.nodes, gradients, self.deformation)
        return self.deformation

    @property
    def expansion(self) -> tuple[np.ndarray, ...]:
        """What the quadratic is made of."""
        return self.frames, self.moduli, self.principal, self.energy

    def look(self, x: np.ndarray, gradients: np.ndarray) -> None:
        """Take the stretches at positions x (n, 3)."""
        self.kernels.nearest_rotations(self._deform(x, gradients), self.rotation)
        self.kernels.seen_stretches(self.deformation, self.rotation, 1.0, self.stretch, self.stretch, self.misfit)

    def expand(self, laws: list) -> None:
        """Energy, stress and moduli of the law at the stretches."""
        self._ask(laws, self.stretch)

    def _ask(self, laws: list, deformation: np.ndarray) -> None:
        """Energy, stress and moduli of the law at deformation gradients (points, 9, LANES), in their frames."""
        share, volume = self.own.kind.points, self.own.volume
        for law in laws:
            groups = (law.first * share, law.last * share)
            law.evaluate_points(law.law, *groups, deformation, volume, self.frames, self.energy, self.stress)
            law.moduli(law.law, *groups, self.frames, volume, True, self.moduli)
        self.kernels.principal_stresses(self.frames, self.stress, volume, self.moduli, self.principal)

    def settle(self, x: np.ndarray, gradients: np.ndarray, laws: list) -> float:
        """Take the stretches at positions x (n, 3), and expand there: the law is asked at F, and its stress is that of
        the element itself. The misfit that is left."""
        f = self._deform(x, gradients)
        self._ask(laws, f)
        self.kernels.settle_stretches(f, self.rotation, self.frames, self.stretch, self.misfit)
        return float(self.misfit.max(initial=0.0))

    def stretched(self) -> float:
        """The largest entry by which stretches differ from those whose stiffness `terms` last gave."""
        self.own.device.hyperelastic.changes(self.stretch, self.stated, self.misfit)
        return float(self.misfit.max(initial=0.0))

    def scatter(self, gradients: np.ndarray, slots: np.ndarray) -> None:
        """The gradient of the law's energy into the slots, where stretches settled."""
        self.own.device.quadratic.scatter_points(self.stress, gradients, False, self.own.own_slots(slots))

    def pace(self, h: float) -> None:
        """Take steps of length h [s]."""
        own, squares = self.own, h * h * self.squares  # a point that turns alone strains its neighbours, too
        resisting = own.volume * (own.density + squares * own.mu)
        np.divide(squares, resisting, out=self.assembled.speed, where=own.volume > 0)

    def turn(
        self, x: np.ndarray, gradients: np.ndarray, alpha: float | None, foresee: bool, space: Space, slots: np.ndarray
    ) -> None:
        """Take the rotations that fit positions x (n, 3), and evaluate there."""
        f, there = self._deform(x, gradients), self.expansion
        if foresee:
            self.kernels.foresee_points(f, *there[:3], self.rotation)
        if alpha is None:
            self.kernels.nearest_rotations(f, self.rotation)
        else:
            # l is that of the quadratic with the rotations so far
            self.kernels.quadratic_points(f, *there, self.rotation, self.stress, space.energy)
            self.kernels.procrustes(f, self.stress, self.stretch, alpha, self.rotation)
        self.kernels.ages(self.rotation, self.moduli, self.assembled, self.ages)
        self.evaluate(x, gradients, space, slots)

    def follow(self, x: np.ndarray, gradients: np.ndarray, share: float) -> float:
        """Let stretches go a part of the way from those kept to where positions x (n, 3) lead; the misfit that is
        left."""
        f = self._deform(x, gradients)
        self.kernels.seen_stretches(f, self.rotation, share, self.kept, self.stretch, self.misfit)
        return float(self.misfit.max(initial=0.0))

    def evaluate(self, x: np.ndarray, gradients: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Energies of the quadratic into the space, its gradient into the slots."""
        f = self._deform(x, gradients)
        self.kernels.quadratic_points(f, *self.expansion, self.rotation, self.stress, space.energy)
        self.own.device.quadratic.scatter_points(self.stress, gradients, False, self.own.own_slots(slots))

    def terms(self, gradients: np.ndarray, weight: float, frames, damping: float) -> ElementTerms:
        """The stiffness of the quadratic times weight, and the damping's in frames, times damping."""
        own = self.own
        self.stated[:] = self.stretch
        turned = (self.turned, self.turned_moduli)
        self.kernels.turn_points(self.rotation, self.frames, self.moduli, weight, *turned, *self.assembled[:2])
        damped = own.damped and damping > 0.0 and frames is not None
        at, viscous = (frames, damping * own.damping * own.volume) if damped else (own.gradients, own.volume)
        material = (own.gradients, at, own.lam, own.mu, viscous)
        return ElementTerms(self.turned, gradients, self.turned_moduli, damped, *material)


class TetExpansion(PointExpansion):
    """The same of tets of four nodes, in fewer passes over memory."""

    def _deform(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        self.kernels.tet_gradients(x, self.own.nodes, gradients, self.deformation)
        return self.deformation

    def turn(
        self, x: np.ndarray, gradients: np.ndarray, alpha: float | None, foresee: bool, space: Space, slots: np.ndarray
    ) -> None:
        """Take the rotations that fit positions x (n, 3), and evaluate there."""
        if alpha is not None:
            super().turn(x, gradients, alpha, foresee, space, slots)
            return
        found = (self.rotation, self.ages, space.energy, self.own.own_slots(slots))
        self.kernels.fit_tets(x, self.own.nodes, gradients, *self.expansion, foresee, self.assembled, *found)

    def scatter(self, gradients: np.ndarray, slots: np.ndarray) -> None:
        """The gradient of the law's energy into the slots, where stretches settled."""
        self.kernels.scatter_tets(self.stress, gradients, self.own.own_slots(slots))

    def evaluate(self, x: np.ndarray, gradients: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Energies of the quadratic into the space, its gradient into the slots."""
        found = (space.energy, self.own.own_slots(slots))
        self.kernels.quadratic_tets(x, self.own.nodes, gradients, *self.expansion, self.rotation, *found)
