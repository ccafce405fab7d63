"""The energy of all elements and its derivatives: the one place where sets are evaluated and their forces gathered."""

import numpy as np

from pliant.elements.elements import Elements
from pliant.elements.rods import BodyPlaces
from pliant.elements.rows import ElementRows
from pliant.kernels.lanes import LANES


def summed(numbers: np.ndarray) -> float:
    """Their sum, without detours."""
    return float(np.add.reduce(numbers, axis=None))


class ElementPotential:
    """Elastic energy and viscous power of a model's elements as functions of positions and velocities.

    What is fixed in a step is kept: plastic strain (point groups, 6, LANES), which bodies are tangled (soft,), and the
    frames in which damping acts. Arrays are reused from call to call.
    """

    quadratic = False  # whether the stiffness is the same at all positions until something else is taken
    lasting = False  # whether a matrix has the stiffness of a step before, which is good enough for another

    def __init__(self, elements: Elements, node_count: int):
        self.elements, self.node_count = elements, node_count
        self.count = elements.triple_count if elements.on_bodies else node_count
        self.start = self.bodies = None
        self.spaces = [own.space() for own in elements.sets]
        self.slots = np.zeros(elements.slot_count + 1)
        self.frames = None
        self.take_laws(None)
        self.gradients = [getattr(own, "gradients", None) for own in elements.sets]

    @classmethod
    def of(cls, elements: Elements, state) -> "ElementPotential":
        """That of elements with the plastic strain and the tangled bodies of a state."""
        potential = cls(elements, len(state.x))
        potential.take_plastic(state.plastic_strain)
        potential.take_laws(state.tangled)
        potential.take_bodies(state)
        return potential

    def keep_less(self) -> None:
        """Keep of what is evaluated no more than sheets whose bending is a matrix of numbers need."""
        for own, space in zip(self.elements.sets, self.spaces):
            own.keep_less(space)

    def take_plastic(self, plastic: np.ndarray) -> None:
        """See rest gradients from the plastic shape."""
        if self.elements.plastic:
            self.gradients = [own.elastic_gradients(plastic) for own in self.elements.sets]

    def take_laws(self, tangled: np.ndarray | None) -> None:
        """Let bodies with a time left in tangled (soft,) follow mu |F - R|^2."""
        self.laws = [own.laws(tangled) for own in self.elements.sets]

    def take_frames(self, x: np.ndarray, rotation: np.ndarray) -> None:
        """Let damping act in the frames at x (n, 3), of which those of tets are `rotation` (point groups, 9, LANES)."""
        self.frames = [
            own.frames_at(self.start if own.kind.on_bodies else x, rotation) if own.damped else None
            for own in self.elements.sets
        ]

    def take_frames_ahead(self, x: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> None:
        """Let damping act in the frames that elements will about have: with nodes at x (n, 3) and bodies at a position
        and rotation (b, 3), (b, 4)."""
        start, self.start = self.start, BodyPlaces(position, rotation, np.zeros_like(position))
        self.take_frames(x, self.elements.deform(x)[0])
        self.start = start

    def take_bodies(self, state) -> None:
        """Let rigid bodies start from where they are in a state."""
        if self.elements.on_bodies:
            self.start = self.bodies = BodyPlaces.of(state)
            for own in self.elements.sets:
                if own.kind.on_bodies:
                    own.foreseen = None

    def foresee(self, motion: np.ndarray) -> None:
        """Let elements on rigid bodies foresee their loads after a motion (triples, 3) [m, rad] from here."""
        for own, _, _, space in self.each():
            if own.kind.on_bodies:
                own.foresee(space, motion)

    def restoring(self, share: float) -> np.ndarray:
        """What pulls rods back to the lengths foreseen for a share of a motion, and no more (n + 2 b, 3) [N], with the
        sign of a gradient."""
        self.slots[:] = 0.0
        for own, _, _, space in self.each():
            if own.kind.on_bodies:
                own.restore(space, share, self.slots)
        return self._gathered()

    def each(self):
        """Sets with their laws, gradients and spaces."""
        return zip(self.elements.sets, self.laws, self.gradients, self.spaces)

    def evaluate(
        self, x: np.ndarray, v: np.ndarray | None = None, motion: np.ndarray | None = None
    ) -> tuple[float, float, np.ndarray]:
        """Energy [J], half of the viscous power [W], and their forces (n, 3) [N] with the sign of a gradient, at
        positions x and velocities v (n, 3); without velocities, or frames to damp in, elastic ones alone.

        With elements on rigid bodies velocities and forces are of all triples (n + 2 b, 3), torques by the rotation
        vectors of motion (2 b, 3) [m, rad], by which bodies went from where they started; None: they are there."""
        viscous = v is not None and self.frames is not None and bool(np.any(v))
        if self.elements.on_bodies:
            self.bodies = self.start if motion is None else self.start.moved(self.elements.device, motion)
        for i, (own, space) in enumerate(zip(self.elements.sets, self.spaces)):
            self._evaluate_set(i, x)
            if viscous and own.damped:
                own.damp(v, self.frames[i], space, self.slots)
        power = sum(summed(space.viscous) for space in self.spaces) if viscous else 0.0
        return self.energy, power, self._gathered()

    def _evaluate_set(self, i: int, x: np.ndarray) -> None:
        """Energies of one set into its space, their gradient into the slots, at positions x (n, 3)."""
        own, places = self.elements.sets[i], self.bodies if self.elements.sets[i].kind.on_bodies else x
        own.evaluate(self.laws[i], places, self.gradients[i], self.spaces[i], self.slots)

    def warped(self, strain: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """V J^T D e (n, 3) [N] for strains (point groups, 6, LANES) in given frames (point groups, 9, LANES): elastic
        forces linear in the strain, with the sign of a gradient."""
        for own in self.elements.volumes:
            own.warp(strain[own.points], rotation[own.points], self.slots)
        return self._gathered()

    def warped_step(self, rows: ElementRows, u: np.ndarray, h: float) -> np.ndarray:
        """h V J^T D (e + (h + beta) J u) (n, 3) [N s]: the impulses, with the sign of a gradient, of elements that are
        linear in the frames at the start of a step and move with velocities u (n, 3)."""
        strain = rows.elastic
        for own in self.elements.volumes:
            rates = np.zeros((len(own.volume), 6, LANES))
            own.subtract_rates(u, rows.rotation[own.points], rates)
            strain[own.points] -= (h + own.damping)[:, None] * rates
        return h * self.warped(strain, rows.rotation)

    def viscous(self, v: np.ndarray) -> np.ndarray:
        """Viscous forces (n, 3) [N] alone, with the sign of a gradient."""
        self.slots[:] = 0.0
        for i, (own, _, _, space) in enumerate(self.each()):
            if own.damped:
                own.damp(v, self.frames[i], space, self.slots)
        return self._gathered()

    def _gathered(self) -> np.ndarray:
        """Sums (n, 3) of the slots of every node, or of every triple."""
        out = np.zeros((self.count, 3))
        if self.elements.sets:
            self.elements.device.hyperelastic.gather_nodes(self.slots, *self.elements.adjacency, out)
        return out

    @property
    def energy(self) -> float:
        """Elastic energy [J] as last evaluated."""
        return sum(summed(space.energy) for space in self.spaces)

    def body_energies(self) -> np.ndarray:
        """Elastic energy (soft,) [J] of every soft body as last evaluated."""
        total = np.zeros(len(self.elements.cells))
        for own, space in zip(self.elements.sets, self.spaces):
            own.by_body(space.energy, total)
        return total

    def inverted(self, x: np.ndarray) -> np.ndarray:
        """How many elements of every soft body (soft,) are inverted at positions x (n, 3); none of laws that cannot
        tangle."""
        count = np.zeros(len(self.elements.cells), np.int64)
        for own, _, gradients, _ in self.each():
            if own.facts.may_tangle and (there := own.inverted(x, gradients)).any():
                own.by_body(there, count)
        return count

    def terms(self, weight: float, damping: float = 0.0, project: bool = True) -> list:
        """For every set its stiffness at what was last evaluated, times weight, and the damping's, times damping;
        project: without the directions in which it is negative."""
        frames = self.frames or [None] * len(self.spaces)
        return [
            own.terms(laws, space, gradients, weight, frame, damping, project)
            for (own, laws, gradients, space), frame in zip(self.each(), frames)
        ]

    def blocks(self, terms: list, out: np.ndarray) -> None:
        """Stiffness blocks (k, 9) of all elements, in the places that `Elements.connectivity` tells."""
        for own, own_terms in zip(self.elements.sets, terms):
            own.blocks(own_terms, out)

    def stresses(self, x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """F, of the elastic part, and first Piola stress (point groups, 9, LANES) [Pa] of every volume set."""
        each = [entry for entry in self.each() if entry[0].facts.volume]
        return [own.stresses(laws, x, gradients) for own, laws, gradients, _ in each]
