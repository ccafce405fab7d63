"""The potential of elements whose stretches and rotations are unknowns of their own (T equation 3; theory section 6).

For given stretches S and rotations R of all points the mixed potential, with its multipliers eliminated, is quadratic
in the positions: the energy, stress and moduli of the law at S, seen in the frames that R turns. Springs, fibres, folds
of sheets and segments of rods have no such points and are as they are.
"""

import numpy as np

from pliant.elements.elements import Elements
from pliant.elements.mixed_sheets import SheetExpansion
from pliant.elements.mixed_volumes import PointExpansion, TetExpansion
from pliant.elements.potential import ElementPotential, summed
from pliant.kernels.lanes import LANES

# By what kinds of elements say of their stretches; those that have none keep their own energy.
EXPANSIONS = {"tets": TetExpansion, "points": PointExpansion, "sheets": SheetExpansion}
# How far rotations (`turn`) and entries of stretches may be from those of a matrix that serves another step.
LASTING_AGE, LASTING_STRETCH = 0.1, 0.01


class MixedPotential(ElementPotential):
    """The energy of all elements, expanded at the stretches and rotations of their points.

    The way through a step: `take` stretches, `expand` at them, `turn` with the positions; then it is an element
    potential like others, quadratic in the positions but for springs, fibres, folds and rods, until `follow` takes the
    stretches that these lead to.
    """

    def __init__(self, elements: Elements, node_count: int):
        super().__init__(elements, node_count)
        self.expansions = [EXPANSIONS[own.kind.stretches](own) if own.kind.stretches else None for own in elements.sets]
        self.h = 0.0
        self.quadratic = all(own is not None for own in self.expansions)
        self.alternates = any(own is not None for own in self.expansions)  # or nothing does with the positions
        self.fitted = None  # the positions (n, 3) that were last turned to, until they are evaluated
        # positions (n, 3) where stretches settled, and to which they were turned since, where nothing else makes the
        # stiffness; and those (2, n, 3) of the stiffness that `terms` last gave, or None
        self.settled_at = self.turned_at = self.stated = None
        # whether stretches may settle where positions lead, and the laws' forces are known there
        volumes = all(own is None or isinstance(own, PointExpansion) for own in self.expansions)
        self.settles = self.alternates and volumes and not (elements.damped or elements.on_bodies)

    def _expanded(self):
        for i, expansion in enumerate(self.expansions):
            if expansion is not None:
                yield i, expansion

    def take(self, stretch: np.ndarray | None, x: np.ndarray) -> None:
        """Stretches (point groups, 9, LANES) of all sets; None: those at positions x (n, 3)."""
        self.settled_at = None
        for i, own in self._expanded():
            if stretch is None:
                own.look(x, self.gradients[i])
            else:
                own.stretch[:] = stretch[own.own.points]

    def stretches(self) -> np.ndarray:
        """Stretches (point groups, 9, LANES) of all sets; of what has none, zero."""
        out = (np.empty if self.quadratic else np.zeros)((self.elements.point_groups, 9, LANES))
        for _, own in self._expanded():
            out[own.own.points] = own.stretch
        return out

    def expand(self) -> None:
        """Energies, stresses and moduli at the stretches (T: update H, g)."""
        for i, own in self._expanded():
            own.expand(self.laws[i])

    def pace(self, h: float) -> None:
        """Take steps of length h [s]."""
        if h != self.h:
            self.h = h
            for _, own in self._expanded():
                own.pace(h)

    def turn(self, x: np.ndarray, alpha: float | None, foresee: bool) -> float:
        """Rotations that fit positions x (n, 3): the polar factors of F or, with T's penalty alpha, the nearest to
        (l / beta + F) S^T (T equation 7). Evaluates there, too. foresee: turns are resisted as the stresses of the last
        global step say. How far they are from those that `terms` last saw: beyond 1 a matrix of these is too old."""
        for i, own in self._expanded():
            own.turn(x, self.gradients[i], alpha, foresee, self.spaces[i], self.slots)
        self.fitted, self.turned_at = x, x if alpha is None and not foresee else None
        return max((float(own.ages.max(initial=0.0)) for _, own in self._expanded()), default=0.0)

    def last(self, age: float) -> None:
        """Let the stiffness that `terms` last gave serve once more, if rotations, of an age that `turn` told, and
        stretches are nearly those of then."""
        self.lasting = age <= LASTING_AGE and all(own.stretched() <= LASTING_STRETCH for _, own in self._expanded())

    def keep(self) -> None:
        """Let the present stretches be those from which `follow` goes on."""
        for _, own in self._expanded():
            own.stretch, own.kept = own.kept, own.stretch

    def follow(self, x: np.ndarray, share: float) -> float:
        """Let stretches go a part of the way from those kept to where positions x (n, 3) lead, dS = H^-1 (W^T l - g),
        which is the symmetric part of R^T F - S; the largest entry of R S - F that is left."""
        self.settled_at = None
        return max((own.follow(x, self.gradients[i], share) for i, own in self._expanded()), default=0.0)

    def settle(self, x: np.ndarray) -> float:
        """Let stretches be those at positions x (n, 3), and expand at them: what `follow` and `expand` do but for the
        square of the misfit, with the law asked at F itself, once for both; the largest entry of R S - F."""
        self.settled_at = x
        return max((own.settle(x, self.gradients[i], self.laws[i]) for i, own in self._expanded()), default=0.0)

    def settled_forces(self, x: np.ndarray) -> np.ndarray:
        """Forces (n, 3) [N] by the laws themselves, with the sign of a gradient, at positions x (n, 3), where stretches
        settled last."""
        for i, own in enumerate(self.expansions):
            if own is None:
                super()._evaluate_set(i, x)
            else:
                own.scatter(self.gradients[i], self.slots)
        self.fitted = None
        return self._gathered()

    @property
    def settled_energy(self) -> float:
        """Energy [J] by the laws themselves, where stretches settled last and forces were asked for."""
        both = zip(self.expansions, self.spaces)
        return sum(summed((space if own is None else own).energy) for own, space in both)

    def finite(self) -> bool:
        """Whether the law has an energy at all stretches, as last expanded."""
        return all(bool(np.all(np.isfinite(own.energy))) for _, own in self._expanded())

    def evaluate(
        self, x: np.ndarray, v: np.ndarray | None = None, motion: np.ndarray | None = None
    ) -> tuple[float, float, np.ndarray]:
        """As of an element potential, of the quadratic."""
        if self.fitted is not None and not np.array_equal(self.fitted, x):
            self.fitted = None
        found = super().evaluate(x, v, motion)
        self.fitted = None  # damping has been added to the slots
        return found

    def _evaluate_set(self, i: int, x: np.ndarray) -> None:
        if self.expansions[i] is None:
            super()._evaluate_set(i, x)
        elif self.fitted is None:
            self.expansions[i].evaluate(x, self.gradients[i], self.spaces[i], self.slots)

    def terms(self, weight: float, damping: float = 0.0, project: bool = True) -> list:
        """As of an element potential; the quadratic has the same everywhere."""
        known = self.quadratic and self.settled_at is not None and self.turned_at is not None
        self.stated, self.lasting = np.stack([self.settled_at, self.turned_at]) if known else None, False
        frames = self.frames or [None] * len(self.spaces)
        found = []
        for i, (own, laws, gradients, space) in enumerate(self.each()):
            if self.expansions[i] is None:
                found.append(own.terms(laws, space, gradients, weight, frames[i], damping, project))
            else:
                found.append(self.expansions[i].terms(gradients, weight, frames[i], damping))
        return found
