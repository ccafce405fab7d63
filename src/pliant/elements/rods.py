"""Segments of rods: elements between two points with a place and a frame each, which are rigid bodies to all else."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.elements.kinds import ROD
from pliant.elements.sets import ElementSet, Space
from pliant.errors import SceneError
from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES, from_lanes
from pliant.kernels.laws import Law
from pliant.kernels.rods import DIRECTION, FRAME_COLUMNS, LENGTH, PSI

# What solvers must know of a rod's law.
FACTS = Law(may_tangle=False, volume=False)


@dataclass(frozen=True)
class BodyPlaces:
    """Where rigid bodies are: position (b, 3) [m], rotation (b, 4), and by which rotation vectors turn (b, 3) they came
    there."""

    position: np.ndarray
    rotation: np.ndarray
    turn: np.ndarray

    @classmethod
    def of(cls, state) -> "BodyPlaces":
        """Those of a state."""
        return cls(state.body_position, state.body_rotation, np.zeros_like(state.body_position))

    def moved(self, device: Device, motion: np.ndarray) -> "BodyPlaces":
        """After displacements and turns (2 b, 3) from here."""
        position, rotation, turn = np.empty_like(self.position), np.empty_like(self.rotation), np.empty_like(self.turn)
        device.rods.move_points(self.position, self.rotation, motion, position, rotation, turn)
        return BodyPlaces(position, rotation, turn)

    def moments(self, device: Device, gradient: np.ndarray) -> np.ndarray:
        """Gradients (b, 3) by the rotation vectors as those by spins: torques."""
        found = gradient.copy()
        device.rods.moments_of(self.turn, found)
        return found


def body_sizes(state) -> np.ndarray:
    """The numbers (2 b, 3) whose rounding is that of the triples of bodies: positions [m], and ones for turns."""
    return state.body_sizes


class RodTerms(NamedTuple):
    """What the blocks of segments need: strains (groups, 22, LANES), turns (b, 3), whether to leave out what is
    negative, tensions (groups, LANES) for that, the weight, and frames with weights (groups, 6, LANES) to damp in,
    or None."""

    frames: np.ndarray
    turn: np.ndarray
    project: bool
    tensions: np.ndarray
    weight: float
    damping: tuple | None


class Foreseen(NamedTuple):
    """Tensions (groups, LANES) [N] at an iterate and after a motion from there, and axes (groups, 3, LANES) then."""

    now: np.ndarray
    ahead: np.ndarray
    axes: np.ndarray

    def after(self, share: float) -> np.ndarray:
        """Tensions (groups, LANES) [N] after a share of the motion."""
        return self.now + share * (self.ahead - self.now)


@dataclass
class RodSet(ElementSet):
    """All segments of all rods. nodes (groups, 4, LANES): triples, linear and angular of both points."""

    kind = ROD
    bodies: np.ndarray  # (groups, 2, LANES) points among the rigid bodies
    offsets: np.ndarray  # (groups, 8, LANES) the segment's frame at rest seen from both points (quaternions)
    rest: np.ndarray  # (groups, LANES) L [m]
    natural: np.ndarray  # (groups, 3, LANES) L times natural curvature and twist [rad]
    bending: np.ndarray  # (groups, 3, LANES) EI about the first and second axis, GJ [N m2]; zero in empty lanes
    stretch: np.ndarray  # (groups, LANES) EA [N]
    shear: np.ndarray  # (groups, 3, LANES) [N] along the first and second axis, and the larger of both
    foreseen: Foreseen | None = field(default=None, init=False)

    @property
    def facts(self) -> Law:
        return FACTS

    @property
    def kernels(self):
        """Loops over segments."""
        return self.device.rods

    @property
    def material(self) -> tuple:
        """What loads are made of."""
        return self.rest, self.natural, self.bending, self.stretch, self.shear

    @cached_property
    def viscosity(self) -> np.ndarray:
        """beta times shear, stretch, bending and twist (groups, 6, LANES)."""
        parts = (self.shear[:, :2], self.stretch[:, None], self.bending)
        return self.damping[:, None] * np.concatenate(parts, axis=1)

    def laws(self, tangled: np.ndarray | None = None) -> list:
        """Rods have one law, which needs no help."""
        return []

    def by_body(self, of_groups: np.ndarray, total: np.ndarray) -> None:
        """Rods are not among the soft bodies."""

    def space(self) -> Space:
        """Room for strains and energies."""
        nothing, of_groups = np.zeros((0, 0, LANES)), (np.zeros(self.groups), np.zeros(self.groups))
        return Space(np.empty((self.groups, FRAME_COLUMNS, LANES)), nothing, *of_groups, nothing, nothing)

    def elastic_gradients(self, plastic: np.ndarray) -> None:
        """Rods do not flow."""

    def strains_at(self, places: BodyPlaces) -> np.ndarray:
        """Strains (groups, 22, LANES); columns as in kernels/rods.py."""
        frames = np.empty((self.groups, FRAME_COLUMNS, LANES))
        self.kernels.rod_frames(places.position, places.rotation, self.bodies, self.offsets, frames)
        return frames

    def frames_at(self, places: BodyPlaces, rotation: np.ndarray) -> np.ndarray:
        """The strains at the start of a step, in whose frames damping acts."""
        return self.strains_at(places)

    def evaluate(self, laws: list, places: BodyPlaces, gradients, space: Space, slots: np.ndarray) -> None:
        """Strains and energies into the space, the energy's gradient into the slots."""
        self.kernels.rod_frames(places.position, places.rotation, self.bodies, self.offsets, space.frames)
        self.turn = places.turn
        arguments = (space.frames, self.bodies, places.turn, *self.material)
        self.kernels.evaluate_rods(*arguments, space.energy, self.own_slots(slots))

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v (triples, 3) to the slots; powers into the space."""
        self.kernels.damp_rods(v, self.nodes, frames, self.rest, self.viscosity, space.viscous, self.own_slots(slots))

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool) -> RodTerms:
        """The stiffness times weight, and that of damping times `damping`, at the strains last evaluated."""
        damped = self.damped and damping > 0.0 and frames is not None
        viscous = (frames, damping * self.viscosity) if damped else None
        return RodTerms(space.frames, self.turn, project, self.tensions(space.frames), weight, viscous)

    def tensions(self, frames: np.ndarray) -> np.ndarray:
        """Tensions (groups, LANES) [N] that the next iterate will have, as foreseen; else those of these strains."""
        return self.own_tensions(frames) if self.foreseen is None else self.foreseen.ahead

    def own_tensions(self, frames: np.ndarray) -> np.ndarray:
        """Tensions (groups, LANES) [N] at strains."""
        return self.stretch * (frames[:, LENGTH] / self.rest - 1)

    def foresee(self, space: Space, motion: np.ndarray) -> None:
        """Foresee tensions after a motion (triples, 3) [m, rad] from what was last evaluated. While lengths are not met
        yet those of an iterate say nothing, and would hold a thin rod as if it were pulled tight."""
        ahead, axes = np.empty((self.groups, LANES)), np.empty((self.groups, 3, LANES))
        self.kernels.tensions_ahead(space.frames, self.nodes, motion, self.rest, self.stretch, axes, ahead)
        self.foreseen = Foreseen(self.own_tensions(space.frames), ahead, axes)

    def restore(self, space: Space, share: float, slots: np.ndarray) -> None:
        """Into the slots, with the sign of a gradient, what tensions last evaluated are beyond those foreseen for a
        share of the motion, along the axes of that time."""
        beyond = self.own_tensions(space.frames) - self.foreseen.after(share)
        self.kernels.rod_pulls(self.foreseen.axes, beyond, self.own_slots(slots))

    def blocks(self, terms: RodTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        own = self.own_blocks(out)
        arguments = (terms.frames, self.bodies, terms.turn, terms.project, terms.tensions, terms.weight, *self.material)
        self.kernels.rod_blocks(*arguments, own)
        if terms.damping is not None:
            frames, weights = terms.damping
            self.kernels.add_rod_damping(frames, self.rest, weights, own)

    def products(self, places: np.ndarray, dtype):
        """Refused: segments are always assembled."""
        raise SceneError("pliant.Newton(linear='matrix-free') has no products for rods; use linear='auto'")

    def loads(self, frames: np.ndarray) -> np.ndarray:
        """Shear forces and tension [N], moments and torque [N m] (count, 6) in the segments' frames."""
        out = np.empty((self.groups, 6, LANES))
        self.kernels.rod_loads(frames, *self.material, out)
        return self.of_segments(out)

    def strains(self, frames: np.ndarray) -> np.ndarray:
        """Stretch l/L, two shear angles, curvatures about two axes and twist per length (count, 6) [-, rad, 1/m]."""
        rest = self.rest[:, None]
        stretch, shear = frames[:, LENGTH : LENGTH + 1] / rest, frames[:, DIRECTION : DIRECTION + 2]
        return self.of_segments(np.concatenate([stretch, shear, frames[:, PSI : PSI + 3] / rest], axis=1))

    def middles(self, frames: np.ndarray) -> np.ndarray:
        """Frames (count, 3, 3) of the segments, columns are their axes."""
        return self.of_segments(frames[:, :9]).reshape(-1, 3, 3)

    def of_segments(self, values: np.ndarray) -> np.ndarray:
        """Values (groups, c, LANES) as (count, c)."""
        return from_lanes(values, self.groups * LANES)[self.lanes]

    def triple_stiffness(self) -> np.ndarray:
        """Mean diagonal entry (count, 4) [N/m, N m] of the stiffness at rest of each triple of a segment."""
        rest, shear = self.of_segments(self.rest[:, None])[:, 0], self.of_segments(self.shear)
        linear = (shear[:, 0] + shear[:, 1] + self.of_segments(self.stretch[:, None])[:, 0]) / (3 * rest)
        angular = self.of_segments(self.bending).sum(axis=1) / (3 * rest) + (shear[:, 0] + shear[:, 1]) * rest / 12
        return np.stack([linear, angular, linear, angular], axis=1)
