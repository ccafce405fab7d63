"""Angular velocities that fit joints which hold directions.

A step meets joints by positions; the angular velocity that follows from a body's angular momentum need not fit a hinge
or a weld at the new orientation, and a slender body multiplies what does not fit by the ratio of its inertias. So the
velocities are projected, w = argmin |w - w_free|^2 in the norm of the inertias, J w = 0 (as RATTLE does): torques equal
and opposite on both sides, which keep the momentum of the whole.
"""

import numpy as np

from pliant.kernels.joints import ALIGN, ANGULAR, BODY, BROKEN, FACE, PERPENDICULAR
from pliant.kernels.lanes import LANES
from pliant.linalg.block_ldl import BlockPattern, factor

# Stiffness of the rows relative to the inertias they touch.
STIFF = 1e8


def _on_faces(blocks) -> np.ndarray:
    """Which blocks (n,) hold on to a face of a soft body, whose frame has no angular velocity of its own."""
    return (blocks.a.kind == FACE) | (blocks.b.kind == FACE)


class Spins:
    """The blocks of a model that hold directions, and the pattern of the bodies they couple."""

    def __init__(self, model):
        blocks, self.family = model.joints, model.joints.family
        self.which = np.flatnonzero(
            blocks.rigid & np.isin(blocks.family, (ANGULAR, ALIGN, PERPENDICULAR)) & ~_on_faces(blocks)
        )
        if not len(self.which):
            return
        ends = [np.where(side.kind == BODY, side.index[:, 0], -1)[self.which] for side in (blocks.a, blocks.b)]
        self.a, self.b = (np.where(end < 0, model.body_count, end) for end in ends)  # the world: one more, fixed
        self.pattern = BlockPattern.of_pairs(model.device, model.body_count + 1, self.a, self.b)
        every = np.arange(model.body_count + 1)
        self.diagonal = self.pattern.find(every, every)[0]
        self.index, self.transposed = self.pattern.find(self.a, self.b)
        self.values, self.factor = np.zeros((len(self.pattern.row), 3, 3)), None
        first = blocks.start[blocks.slice[self.which]]
        held = [side.kind[self.which] == BODY for side in (blocks.a, blocks.b)]
        self.place_a, self.place_b = np.where(held[0], first, -1), np.where(held[1], first + held[0], -1)

    def fitted(self, model, pose: tuple, spin: np.ndarray) -> np.ndarray:
        """Angular velocities (b, 3) nearest to `spin` that the joints at a pose (State.pose) allow."""
        if not len(self.which):
            return spin
        blocks, kernels, entries = model.joints, model.device, int(model.joints.start[-1])
        which = self.which if blocks.family is self.family else self.which[blocks.family[self.which] != BROKEN]
        jacobian = np.zeros((entries, 9, LANES))
        kernels.joints.fill_directions(
            blocks.arrays, which, pose[1], pose[3], np.empty((entries, LANES), np.int32), jacobian
        )
        self.values[:] = 0.0
        right, size = np.empty((model.body_count + 1, 3)), np.empty(model.body_count + 1)
        masses = (model.body_inertia, pose[-1], model.static, spin)
        kernels.spins.inertia_blocks(*masses, self.diagonal, self.values, right, size)
        ends = (self.a, self.b, self.place_a, self.place_b, blocks.lane[self.which])
        pattern = (self.diagonal, self.index, self.transposed)
        kernels.spins.add_spin_rows(*ends, jacobian, size, STIFF, right.copy(), *pattern, self.values, right)
        self.factor = factor(self.pattern, self.values, self.factor)
        kernels.linalg.block_ldl.solve_factored(self.factor, right)
        return right[:-1]
