"""Mass, stiffness and joints of a model as sparse matrices over its velocity triples, 3 (n + 2 b) unknowns."""

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix

from pliant.elements.potential import ElementPotential
from pliant.kernels.lanes import LANES
from pliant.linalg.connectivity import block_pairs
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows


def stiffness_matrix(model, state) -> csc_matrix:
    """Second derivative of the elastic energy [N/m] at the state's positions, its negative parts left out (at rest
    there are none)."""
    row, column, place = block_pairs(model.elements.connectivity())
    blocks = element_blocks(model, state)[place].reshape(-1, 3, 3)
    beside = row != column
    parts = [(row, column, blocks), (column[beside], row[beside], blocks[beside].transpose(0, 2, 1))]
    return _assemble(parts, model.triple_count, model.triple_count)


def element_blocks(model, state) -> np.ndarray:
    """Stiffness blocks (k, 9) [N/m] of all elements, in the places that model.elements.connectivity() tells."""
    potential = ElementPotential.of(model.elements, state)
    potential.take_laws(None)
    potential.evaluate(state.x)
    blocks = np.zeros((model.elements.block_count, 9))
    potential.blocks(potential.terms(1.0), blocks)
    return blocks


def mass_matrix(model, state, consistent: bool = False) -> csc_matrix:
    """Masses [kg] of nodes, lumped or consistent, and of bodies with their inertia [kg m2] in world axes; static bodies
    have unit masses."""
    n, moving = model.node_count, ~model.static
    bodies = np.tile(np.eye(3), (2 * model.body_count, 1, 1))
    bodies[0::2][moving] *= model.body_mass[moving, None, None]
    for i in np.flatnonzero(moving):
        turn = rotation_matrix(state.body_rotation[i])
        bodies[2 * i + 1] = (turn * model.body_inertia[i]) @ turn.T
    nodes, last = np.arange(n), n + np.arange(len(bodies))
    parts = [] if consistent else [(nodes, nodes, model.node_mass[:, None, None] * np.eye(3))]
    for own in [own for own in model.elements.sets if consistent and not own.kind.on_bodies]:
        mass, connect = own.consistent_mass(model.rest), own.connectivity
        for i, j in np.ndindex(mass.shape[1:]):
            parts.append((connect[:, i], connect[:, j], mass[:, i, j, None, None] * np.eye(3)))
    return _assemble([*parts, (last, last, bodies)], model.triple_count, model.triple_count)


def joint_matrix(model, state) -> tuple[csc_matrix, np.ndarray]:
    """Rows J (r, 3 triples) of all joints at the state's positions, and their compliances (r,) [m/N or rad/(N m)], 0
    where they are rigid; rows that touch nothing are zero."""
    joints, rows = model.joints, Rows.empty(model.joints.start)
    joint_rows.fill(joints, rows, state.pose, 1.0)
    rows = rows.between(0, joints.equality_slices)
    parts, lanes = [], np.arange(LANES)
    for s in range(rows.slices):
        for entry in range(rows.start[s], rows.start[s + 1]):
            parts.append((s * LANES + lanes, rows.triples[entry], rows.jacobian[entry].T.reshape(-1, 3, 3)))
    compliance = np.zeros((rows.slices, LANES))
    equality = joints.slice < rows.slices
    compliance[joints.slice[equality], joints.lane[equality]] = joints.compliance[equality]
    return _assemble(parts, rows.slices * LANES, model.triple_count), np.repeat(compliance.ravel(), 3)


def _assemble(parts: list, rows: int, columns: int) -> csc_matrix:
    """The sum of 3x3 blocks (k, 3, 3) at places (k,), (k,), as a sparse matrix (3 rows, 3 columns)."""
    axis = np.arange(3)
    first, second, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for i, j, block in parts:
        row = 3 * np.asarray(i, np.int64)[:, None, None] + axis[:, None]
        column = 3 * np.asarray(j, np.int64)[:, None, None] + axis
        first.append(np.broadcast_to(row, block.shape).ravel())
        second.append(np.broadcast_to(column, block.shape).ravel())
        values.append(block.ravel())
    entries = (np.concatenate(values), (np.concatenate(first), np.concatenate(second)))
    return coo_matrix(entries, shape=(3 * rows, 3 * columns)).tocsc()
