"""Points of rods, whose pieces reach into the segments beside them, and follow these as they stretch and bend."""

from dataclasses import dataclass

import numpy as np

# Part of a piece's half length by which its ends may lie off where segments ask for them: rounding.
LITTLE = 1e-9


@dataclass(frozen=True)
class RodArms:
    """body (k,): rigid bodies, the points. far (k, 2): the bodies at the other ends of the segments behind and before
    each, or itself; share (k, 2): the parts of these segments into which pieces reach, 0 where there is none.

    A piece is straight and leads from where it ends in one segment to where it ends in the other, so those of
    neighbours meet, however a rod is stretched or bent; it is moved towards its point by less than keeps them
    overlapping. Where a rod turns sharply pieces cut the corner. It moves as the segments do: what touches it pushes
    the points at both ends of these (`rows.contacts`), and how frames turn against segments does not matter.
    """

    body: np.ndarray
    far: np.ndarray
    share: np.ndarray

    def __post_init__(self):
        place = np.full(1 + max(self.far.max(), self.body.max()), -1)
        place[self.body] = np.arange(len(self.body))
        object.__setattr__(self, "place", place)

    def pieces(self, solids, position: np.ndarray, rotation: np.ndarray):
        """Rotations (b, 4) from principal axes to those of shapes, places (b, 3) [m] of bodies in these and half
        lengths (k,) [m] of pieces with bodies at a position (b, 3) and rotation (b, 4); None where none has moved
        against its body, or is longer or shorter, by more than a little. solids: the pieces as they were made."""
        principal, centre, half = solids.principal.copy(), solids.centre.copy(), solids.half_lengths(self.body)
        out = np.empty_like(half)
        pose = (position, rotation, solids.parameter[self.body, 0])
        given = (self.body, self.far, self.share, LITTLE, *pose, solids.principal, half)
        changed = solids.kernels.pieces.place_pieces(*given, principal, centre, out)
        return (principal, centre, out) if changed else None

    def moving(self, kernels, state):
        """The state with velocities and spins of points as their pieces have them."""
        velocity, spin = state.body_velocity.copy(), state.body_angular_velocity.copy()
        numbers = (state.body_position, state.body_velocity)
        kernels.pieces.move_pieces(self.body, self.far, self.share, *numbers, spin, velocity)
        return state.changed(body_velocity=velocity, body_angular_velocity=spin)

    def swept(self, start, end, solids, other, motion: np.ndarray, turn: np.ndarray):
        """The solids with pieces that are fixed in their bodies on the way from one state to another, that way's start
        with bodies that are turned so, and its motions and turns (b, 3); solids, other: with pieces at both ends."""
        placed, there = solids.placed(start), other.placed(end)
        rotation, principal = start.body_rotation.copy(), solids.principal.copy()
        motion, turn = motion.copy(), turn.copy()
        ends = (
            (start.body_rotation, solids.principal, placed.origin),
            (end.body_rotation, other.principal, there.origin),
        )
        solids.kernels.pieces.sweep_pieces(self.body, *ends, rotation, principal, motion, turn)
        position, centre = start.body_position.copy(), solids.centre.copy()
        position[self.body], centre[self.body] = placed.origin[self.body], 0.0
        half = np.maximum(solids.half_lengths(self.body), other.half_lengths(self.body))
        fixed = solids.with_pieces(self.body, principal, centre, half)
        return fixed, start.changed(body_position=position, body_rotation=rotation), motion, turn

    def together(self, times: np.ndarray) -> None:
        """Lower the parts (b,) of their ways that points may go to those of their pieces, which hang on three."""
        own = times[self.body]
        for side in range(2):
            np.minimum.at(times, self.far[:, side], own)

    def corners(self, solids, state) -> np.ndarray:
        """How far (k,) [m] points lie off their pieces at a state."""
        placed, out = solids.placed(state), np.empty(len(self.body))
        solids.kernels.pieces.corners_off(self.body, state.body_position, placed.frame, placed.origin, out)
        return out
