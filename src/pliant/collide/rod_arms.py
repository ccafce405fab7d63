"""Points of rods, whose pieces reach into the segments beside them, and follow these as they stretch and bend."""

from dataclasses import dataclass

import numpy as np

# Part of a piece's half length by which its ends may lie off where segments ask for them: rounded ends cover it.
LITTLE = 5e-3


@dataclass(frozen=True)
class RodArms:
    """body (k,): rigid bodies, the points. far (k, 2): the bodies at the other ends of the segments behind and before
    each, or itself; share (k, 2): the parts of these segments into which pieces reach, 0 where there is none.

    A piece is straight and leads about from where it ends in one segment to where it ends in the other, so those of
    neighbours meet, however a rod is stretched or bent; it is moved towards its point as far as they still do. Where a
    rod turns sharply pieces cut the corner.
    """

    body: np.ndarray
    far: np.ndarray
    share: np.ndarray

    def __post_init__(self):
        place = np.full(1 + max(self.far.max(), self.body.max()), -1)
        place[self.body] = np.arange(len(self.body))
        object.__setattr__(self, "place", place)
        object.__setattr__(self, "work", np.empty((4, len(self.body), 3)))

    def pieces(self, solids, position: np.ndarray, rotation: np.ndarray):
        """Rotations (b, 4) from principal axes to those of shapes, places (b, 3) [m] of bodies in these and half
        lengths (k,) [m] of pieces with bodies at a position (b, 3) and rotation (b, 4); None where none has moved
        against its body, or is longer or shorter, by more than a little. solids: the pieces as they were made."""
        principal, centre, half = solids.principal.copy(), solids.centre.copy(), solids.half_lengths(self.body)
        out = np.empty_like(half)
        pose = (position, rotation, solids.parameter[self.body, 0])
        given = (self.body, self.far, self.share, self.place, LITTLE, *pose, solids.principal, half, self.work)
        changed = solids.kernels.pieces.place_pieces(*given, principal, centre, out)
        return (principal, centre, out) if changed else None

    def corners(self, solids, state) -> np.ndarray:
        """How far (k,) [m] points lie off their pieces at a state."""
        placed, out = solids.placed(state), np.empty(len(self.body))
        solids.kernels.pieces.corners_off(self.body, state.body_position, placed.frame, placed.origin, out)
        return out
