"""Mass, stiffness and joints of a model as sparse matrices over its velocity triples, 3 (n + 2 b) unknowns."""

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix

from pliant.elements.laws import compile_laws
from pliant.elements.rows import deform, elastic_gradients
from pliant.kernels.cpu.stiffness import element_stiffness
from pliant.kernels.lanes import LANES
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.newton.increment import Workspace

ELEMENT_PAIRS = [(i, j) for i in range(4) for j in range(i + 1)]
CORNERS = [(i, j) for i in range(4) for j in range(4)]


def stiffness_matrix(model, state) -> csc_matrix:
    """Second derivative of the elastic energy [N/m] at the state's positions, its negative parts left out (at rest
    there are none)."""
    blocks = element_blocks(model, state).reshape(-1, len(ELEMENT_PAIRS), 3, 3)
    parts, tets = [], model.tets
    for (i, j), block in zip(ELEMENT_PAIRS, np.moveaxis(blocks, 1, 0)):
        parts.append((tets[:, i], tets[:, j], block))
        if i != j:
            parts.append((tets[:, j], tets[:, i], block.transpose(0, 2, 1)))
    return _assemble(parts, model.triple_count, model.triple_count)


def element_blocks(model, state) -> np.ndarray:
    """The ten blocks (m, 10, 9) [N/m] of the stiffness of every element, pairs in the order of ELEMENT_PAIRS."""
    space, gradients = Workspace.of(len(model.volume)), elastic_gradients(model, state.plastic_strain)
    slots = space.slots[:-1].reshape(-1, 12, LANES)
    geometry = (state.x, model.element_nodes, gradients, model.volume)
    for law in compile_laws(model):
        law.evaluate(law.law, law.first, law.last, *geometry, space.frames, space.energy, slots)
        law.moduli(law.law, law.first, law.last, space.frames, model.volume, True, space.moduli)
    blocks, nothing = np.zeros((model.volume.size, len(ELEMENT_PAIRS), 9)), np.zeros_like(model.volume)
    undamped = (False, model.gradients, deform(model, state.x)[0], model.lam, model.mu, nothing)
    element_stiffness(space.frames, gradients, space.moduli, *undamped, blocks)
    return blocks[_there(model)]


def mass_matrix(model, state, density: np.ndarray | None = None) -> csc_matrix:
    """Masses [kg] of nodes, and of bodies with their inertia [kg m2] in world axes; static bodies have unit masses.

    density (m,) [kg/m3] of the elements: the nodes' mass is consistent, rho V/20 (1 + delta_ij); None: it is lumped.
    """
    n, moving = model.node_count, ~model.static
    bodies = np.tile(np.eye(3), (2 * model.body_count, 1, 1))
    bodies[0::2][moving] *= model.body_mass[moving, None, None]
    for i in np.flatnonzero(moving):
        turn = rotation_matrix(state.body_rotation[i])
        bodies[2 * i + 1] = (turn * model.body_inertia[i]) @ turn.T
    nodes, last = np.arange(n), n + np.arange(len(bodies))
    if density is None:
        parts = [(nodes, nodes, model.node_mass[:, None, None] * np.eye(3))]
    else:
        share = (density * model.volume.ravel()[_there(model)] / 20)[:, None, None] * np.eye(3)
        parts = [(model.tets[:, i], model.tets[:, j], share * (2 if i == j else 1)) for i, j in CORNERS]
    return _assemble([*parts, (last, last, bodies)], model.triple_count, model.triple_count)


def joint_matrix(model, state) -> tuple[csc_matrix, np.ndarray]:
    """Rows J (r, 3 triples) of all joints at the state's positions, and their compliances (r,) [m/N or rad/(N m)], 0
    where they are rigid; rows that touch nothing are zero."""
    joints, rows = model.joints, Rows.empty(model.joints.start)
    joint_rows.fill(joints, rows, state.x, state.body_position, state.body_rotation, 1.0)
    rows = rows.between(0, joints.equality_slices)
    parts, lanes = [], np.arange(LANES)
    for s in range(rows.slices):
        for entry in range(rows.start[s], rows.start[s + 1]):
            parts.append((s * LANES + lanes, rows.triples[entry], rows.jacobian[entry].T.reshape(-1, 3, 3)))
    compliance = np.zeros((rows.slices, LANES))
    equality = joints.slice < rows.slices
    compliance[joints.slice[equality], joints.lane[equality]] = joints.compliance[equality]
    return _assemble(parts, rows.slices * LANES, model.triple_count), np.repeat(compliance.ravel(), 3)


def _there(model) -> np.ndarray:
    """Where the elements (m,) lie among the lanes."""
    return np.flatnonzero(model.volume.ravel() > 0)


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
