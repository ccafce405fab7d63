"""Angular velocities that fit joints which hold directions.

A step meets joints by positions; the angular velocity that follows from a body's angular momentum need not fit a hinge
or a weld at the new orientation, and a slender body multiplies what does not fit by the ratio of its inertias. So the
velocities are projected, w = argmin |w - w_free|^2 in the norm of the inertias, J w = 0 (as RATTLE does): torques equal
and opposite on both sides, which keep the momentum of the whole.
"""

import numpy as np

from pliant.kernels.cpu.linalg.block_ldl import restrict, solve_factored
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.joints import ALIGN, ANGULAR, BODY, FACE, PERPENDICULAR
from pliant.rows.table import Rows

# Stiffness of the rows relative to the inertias they touch.
STIFF = 1e8


def _on_faces(blocks) -> np.ndarray:
    """Which blocks (n,) hold on to a face of a soft body, whose frame has no angular velocity of its own."""
    return (blocks.a.kind == FACE) | (blocks.b.kind == FACE)


class Spins:
    """The blocks of a model that hold directions, and the pattern of the bodies they couple."""

    def __init__(self, model):
        blocks = model.joints
        self.which = np.flatnonzero(
            blocks.rigid & np.isin(blocks.family, (ANGULAR, ALIGN, PERPENDICULAR)) & ~_on_faces(blocks)
        )
        if not len(self.which):
            return
        ends = [np.where(side.kind == BODY, side.index[:, 0], -1)[self.which] for side in (blocks.a, blocks.b)]
        self.a, self.b = (np.where(end < 0, model.body_count, end) for end in ends)  # the world: one more, fixed
        self.pattern = BlockPattern.of_pairs(model.body_count + 1, self.a, self.b)
        every = np.arange(model.body_count + 1)
        self.diagonal = self.pattern.find(every, every)[0]
        self.index, self.transposed = self.pattern.find(self.a, self.b)
        self.free = np.repeat(np.append(~model.static, False)[:, None], 3, axis=1).astype(float)

    def fitted(self, model, pose: tuple, spin: np.ndarray) -> np.ndarray:
        """Angular velocities (b, 3) nearest to `spin` that the joints at a pose (State.pose) allow."""
        if not len(self.which):
            return spin
        ja, jb = self._jacobians(model, pose)
        body_rotation = pose[-1]
        inertia = np.tile(np.eye(3), (model.body_count + 1, 1, 1))
        for i in np.flatnonzero(~model.static):
            turn = rotation_matrix(body_rotation[i])
            inertia[i] = (turn * model.body_inertia[i]) @ turn.T
        size = np.trace(inertia, axis1=1, axis2=2) * self.free[:, 0]
        weight = (STIFF * np.maximum(size[self.a], size[self.b]))[:, None, None]
        fixed = np.vstack([np.where(model.static[:, None], spin, 0.0), np.zeros(3)])
        right = np.einsum("bij,bj->bi", inertia, np.vstack([spin, np.zeros(3)])) * self.free
        rate = np.einsum("kij,kj->ki", ja, fixed[self.a]) + np.einsum("kij,kj->ki", jb, fixed[self.b])
        values = np.zeros((len(self.pattern.row), 3, 3))
        values[self.diagonal] += inertia
        for index, j in ((self.a, ja), (self.b, jb)):
            np.add.at(values, self.diagonal[index], weight * (j.transpose(0, 2, 1) @ j))
            np.add.at(right, index, -(weight * j.transpose(0, 2, 1) @ rate[:, :, None])[:, :, 0])
        both = weight * (ja.transpose(0, 2, 1) @ jb)
        both[self.transposed] = both[self.transposed].transpose(0, 2, 1)
        np.add.at(values, self.index, both)
        right = np.where(self.free == 0, fixed, right)
        restrict(self.pattern.order, self.pattern.column_start, self.pattern.row, self.free, values)
        solve_factored(factor(self.pattern, values), right)
        return right[:-1]

    def _jacobians(self, model, pose: tuple) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians (k, 3, 3) of both sides; zero for the world."""
        blocks, rows = model.joints, Rows.empty(model.joints.start)
        joint_rows.fill(blocks, rows, pose, 1.0)
        first, lane = rows.start[blocks.slice[self.which]], blocks.lane[self.which]
        held = [side.kind[self.which] == BODY for side in (blocks.a, blocks.b)]
        places = first, first + held[0]
        most = len(rows.jacobian) - 1
        return tuple(
            np.where(on[:, None], rows.jacobian[place.clip(max=most), :, lane], 0.0).reshape(-1, 3, 3)
            for place, on in zip(places, held)
        )
