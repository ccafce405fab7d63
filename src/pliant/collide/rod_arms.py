"""Points of rods, whose pieces reach into the segments beside them and grow and shrink as these do."""

from dataclasses import dataclass

import numpy as np

from pliant.rotations import lengths

# Part by which an arm is longer or shorter than at first that is not worth another shape: rounded ends cover it.
LITTLE = 5e-3
# The least cosine of the angle between a segment and the piece that reaches into it: a sharper turn leaves a gap.
SHARPEST = 0.5


@dataclass(frozen=True)
class RodArms:
    """body (k,): rigid bodies, the points. far (k, 2): the bodies at the other ends of the segments behind and before
    each along its third axis, or itself; rest (k, 2) [m]: lengths of these for which arms reach `arm` (k, 2) [m] into
    them, 1 where there is none.

    A piece is straight and leads along the frame of its point, so where a rod is bent it is a tangent: arms from both
    ends of a segment meet where these do, further away than its middle, and where one of them turns by more than 60
    degrees from the segment they do not meet.
    """

    body: np.ndarray
    far: np.ndarray
    rest: np.ndarray
    arm: np.ndarray

    def at(self, position: np.ndarray, third: np.ndarray) -> np.ndarray | None:
        """Arms (k, 2) [m] with bodies at a position (b, 3) and third axes (b, 3); None where none is longer or shorter
        than at first by more than a little."""
        length, along = self._segments(position, third)
        ratio = length / (self.rest * np.maximum(along, SHARPEST))
        changed = (np.abs(ratio - 1.0) > LITTLE) & (self.arm > 0.0)
        return self.arm * np.where(changed, ratio, 1.0) if changed.any() else None

    def open_at(self, position: np.ndarray, third: np.ndarray) -> np.ndarray:
        """Bodies at which a rod turns so sharply that its pieces leave a gap."""
        along = self._segments(position, third)[1]
        return self.body[((along < SHARPEST) & (self.arm > 0.0)).any(axis=1)]

    def _segments(self, position: np.ndarray, third: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lengths (k, 2) [m] of the segments behind and before, and how far along the pieces they lead, up to 1."""
        here, axis = position[self.body], third[self.body]
        length, along = np.empty_like(self.arm), np.empty_like(self.arm)
        for side, sign in enumerate((-1.0, 1.0)):
            segment = position[self.far[:, side]] - here
            length[:, side] = np.maximum(lengths(segment), 1e-300)
            along[:, side] = sign * np.einsum("ki,ki->k", segment, axis) / length[:, side]
        return length, along
