"""Springs of mass-spring bodies: which joint blocks they are, their energy, and their forces for explicit steps."""

from dataclasses import replace

import numpy as np

from pliant.rows.joints import JointBlocks
from pliant.rows.table import Rows

# The number that stands for a joint's in JointBlocks.joint.
SPRING = -1


def spring_blocks(blocks: JointBlocks) -> np.ndarray:
    """Indices (k,) of the blocks that are springs of soft bodies."""
    return np.flatnonzero(blocks.joint == SPRING)


def _stretch(blocks: JointBlocks, springs: np.ndarray, x: np.ndarray):
    """Nodes a, b (k,), unit axes from a to b (k, 3), and lengthening (k,) [m] of springs."""
    a, b = blocks.a.index[springs, 0], blocks.b.index[springs, 0]
    axis = x[b] - x[a]
    length = np.linalg.norm(axis, axis=1)
    return a, b, axis / np.maximum(length, 1e-12)[:, None], length - blocks.rest[springs, 0]


def spring_energy(model, x: np.ndarray) -> float:
    """Elastic energy [J] of all springs at node positions x (n, 3): 1/2 k (L - L0)^2."""
    springs = spring_blocks(model.joints)
    if not len(springs):
        return 0.0
    *_, stretch = _stretch(model.joints, springs, x)
    return float(0.5 * np.sum(stretch**2 / model.joints.compliance[springs]))


def spring_forces(model, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Forces (n, 3) [N] of all springs (C eq. 1.1-1.4): k (L - L0) and, of the relative velocity, the part along the
    axis times the damping (theory section 7)."""
    springs, out = spring_blocks(model.joints), np.zeros_like(x)
    if not len(springs):
        return out
    a, b, axis, stretch = _stretch(model.joints, springs, x)
    rate = np.einsum("ij,ij->i", axis, v[b] - v[a])
    pull = (stretch / model.joints.compliance[springs] + model.joints.damping[springs] * rate)[:, None] * axis
    for c in range(3):
        out[:, c] += np.bincount(a, weights=pull[:, c], minlength=len(x))
        out[:, c] -= np.bincount(b, weights=pull[:, c], minlength=len(x))
    return out


def without_springs(blocks: JointBlocks, table: Rows) -> Rows:
    """The row table with the springs' rows left empty, for solvers that take them as forces."""
    springs = spring_blocks(blocks)
    if not len(springs):
        return table
    jacobian, target = table.jacobian.copy(), table.target.copy()
    slice_, lane = blocks.slice[springs], blocks.lane[springs]
    target[slice_, :, lane] = 0.0
    width = table.start[slice_ + 1] - table.start[slice_]
    for k in range(int(width.max())):
        there = k < width
        jacobian[table.start[slice_[there]] + k, :, lane[there]] = 0.0
    return replace(table, jacobian=jacobian, target=target)
