"""The potential of elements whose stretches and rotations are unknowns of their own (T equation 3; theory section 6).

For given stretches S and rotations R of all points the mixed potential, with its multipliers eliminated, is quadratic
in the positions: the energy, stress and moduli of the law at S, seen in the frames that R turns. Springs, which have no
such points, are as they are.
"""

import numpy as np

from pliant.elements.elements import Elements
from pliant.elements.potential import ElementPotential
from pliant.kernels.elements import ElementTerms
from pliant.kernels.lanes import LANES


class _Expansion:
    """Where the points of one volume set are expanded."""

    def __init__(self, own):
        self.own = own
        count = len(own.volume)
        self.stretch, self.rotation, self.deformation, self.stress, self.turned = (
            np.empty((count, 9, LANES)) for _ in range(5)
        )
        self.moduli, self.misfit = np.empty((count, 12, LANES)), np.zeros(count)
        self.frames, self.at_stretch = np.empty((count, 21, LANES)), np.empty((count, 21, LANES))
        self.energy, self.out = np.zeros(count), np.empty((count, 9, LANES))

    @property
    def kernels(self):
        return self.own.device.mixed

    def deform(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """F (points, 9, LANES) at positions x (n, 3)."""
        tets = self.own.kind.nodes == 4
        kernel = self.kernels.tet_gradients if tets else self.own.device.quadratic.point_gradients
        kernel(x, self.own.nodes, gradients, self.deformation)
        return self.deformation

    def scatter(self, gradients: np.ndarray, slots: np.ndarray) -> None:
        """Stresses as forces in the slots."""
        if self.own.kind.nodes == 4:
            self.kernels.scatter_tets(self.out, gradients, slots)
        else:
            self.own.device.quadratic.scatter_points(self.out, gradients, False, slots)

    def expand(self, laws: list) -> None:
        """Energy, stress and moduli of the law at the stretches."""
        share, volume = self.own.kind.points, self.own.volume
        for law in laws:
            groups = (law.first * share, law.last * share)
            law.evaluate_points(law.law, *groups, self.stretch, volume, self.at_stretch, self.energy, self.stress)
            law.moduli(law.law, *groups, self.at_stretch, volume, True, self.moduli)


class MixedPotential(ElementPotential):
    """The energy of all elements, expanded at the stretches and rotations of their points.

    The way through a step: `take` stretches, `expand` at them, `turn` with the positions; then it is an element
    potential like others, quadratic in the positions, until `follow` takes the stretches that these lead to.
    """

    def __init__(self, elements: Elements, node_count: int):
        super().__init__(elements, node_count)
        self.expansions = [_Expansion(own) if own.facts.volume else None for own in elements.sets]

    def _expanded(self):
        for i, expansion in enumerate(self.expansions):
            if expansion is not None:
                yield i, expansion

    def take(self, stretch: np.ndarray | None, x: np.ndarray) -> None:
        """Stretches (point groups, 9, LANES) of all volume sets; None: those at positions x (n, 3)."""
        for i, own in self._expanded():
            if stretch is not None:
                own.stretch[:] = stretch[own.own.points]
                continue
            own.kernels.nearest_rotations(own.deform(x, self.gradients[i]), own.rotation)
            own.stretch[:] = 0.0
            own.kernels.seen_stretches(own.deformation, own.rotation, 1.0, own.stretch, own.misfit)

    def stretches(self) -> np.ndarray:
        """Stretches (point groups, 9, LANES) of all points."""
        return np.concatenate([own.stretch for _, own in self._expanded()] or [np.zeros((0, 9, LANES))])

    def expand(self) -> None:
        """Energies, stresses and moduli at the stretches (T: update H, g)."""
        for i, own in self._expanded():
            own.expand(self.laws[i])

    def turn(self, x: np.ndarray, alpha: float | None) -> None:
        """Rotations that fit positions x (n, 3): the polar factors of F or, with T's penalty alpha, the nearest to
        (l / beta + F) S^T (T equation 7)."""
        for i, own in self._expanded():
            f = own.deform(x, self.gradients[i])
            if alpha is None:
                own.kernels.nearest_rotations(f, own.rotation)
            else:
                own.kernels.procrustes(f, own.out, own.stretch, own.own.volume, alpha, own.rotation)
            own.kernels.turn_points(own.rotation, own.at_stretch, own.stress, own.frames, own.turned)

    def follow(self, x: np.ndarray, share: float) -> float:
        """Let stretches go a part of the way to where positions x (n, 3) lead, dS = H^-1 (W^T l - g), which is the
        symmetric part of R^T F - S; the largest entry of R S - F that is left."""
        for i, own in self._expanded():
            own.kernels.seen_stretches(own.deform(x, self.gradients[i]), own.rotation, share, own.stretch, own.misfit)
        return max((float(own.misfit.max(initial=0.0)) for _, own in self._expanded()), default=0.0)

    def finite(self) -> bool:
        """Whether the law has an energy at all stretches, as last expanded."""
        return all(bool(np.all(np.isfinite(own.energy))) for _, own in self._expanded())

    def evaluate(self, x: np.ndarray, v: np.ndarray | None = None) -> tuple[float, float, np.ndarray]:
        """As of an element potential, of the quadratic."""
        viscous = v is not None and self.frames is not None
        for i, (own, laws, gradients, space) in enumerate(self._each()):
            expansion = self.expansions[i]
            if expansion is None:
                own.evaluate(laws, x, gradients, space, self.slots)
            else:
                f = expansion.deform(x, gradients)
                there = (expansion.frames, expansion.moduli, expansion.turned, expansion.energy)
                expansion.kernels.quadratic_points(f, *there, expansion.out, space.energy)
                expansion.scatter(gradients, own.own_slots(self.slots))
            if viscous and own.damped:
                own.damp(v, self.frames[i], space, self.slots)
        power = sum(float(space.viscous.sum()) for space in self.spaces) if viscous else 0.0
        return self.energy, power, self._gathered()

    def terms(self, weight: float, damping: float = 0.0, project: bool = True) -> list:
        """As of an element potential; the quadratic has the same everywhere."""
        frames = self.frames or [None] * len(self.spaces)
        found = []
        for i, (own, laws, gradients, space) in enumerate(self._each()):
            expansion = self.expansions[i]
            if expansion is None:
                found.append(own.terms(laws, space, gradients, weight, frames[i], damping, project))
                continue
            damped = own.damped and damping > 0.0 and frames[i] is not None
            at, viscous = (frames[i], damping * own.damping * own.volume) if damped else (own.gradients, own.volume)
            material = (own.gradients, at, own.lam, own.mu, viscous)
            found.append(ElementTerms(expansion.frames, gradients, weight * expansion.moduli, damped, *material))
        return found
