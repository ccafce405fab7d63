"""Closing the gaps of joints by moving positions; see solve.dual.drift for when."""

import numpy as np

from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.kernels.operators import no_friction
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.rows.table import Rows, entry_pairs
from pliant.solve.dual.row_factors import Meetings, RowFactors
from pliant.solve.problem import Problem

# Gaps of joints are closed to this part of themselves; redundant joints make more neither possible nor useful.
GAP_REDUCTION, GAP_REGULARIZATION, GAP_PRODUCTS = 0.1, 1e-3, 60
# The same where gaps are closed by factors, which are exact also where a light link carries what is far heavier, from
# what part of the joint's arms on, which is that of iterations, and to what part, always.
FACTOR_REGULARIZATION, FACTOR_GAPS = 1e-7, (1e-3, 2e-4, 0.0)
# The same where springs or elements resist: a small part of a stiff row is much energy.
ELASTIC_REDUCTION, ELASTIC_REGULARIZATION, ELASTIC_PRODUCTS = 1e-4, 1e-5, 1000
# Elements resist where their stiffness is so many times the inertia that a step has to overcome; softer ones give way.
STIFF = 1e4
# What springs get, so that even the stiffest have an answer.
LEAST_SOFTNESS = 1e-9
# Meetings of joints at bodies, over pairs of what a joint holds together, from which on gaps are closed by velocities
# without looking at impulses: the joints of one body all have to do with each other.
MOST_MEETINGS = 3.0


def close_joint_gaps(device: Device, operator, rows: Rows, elastic: bool) -> tuple[np.ndarray, int]:
    """Scaled impulses with which the last rows of an operator, the joints', meet their targets, and products it took.

    elastic: whether there are elements in the operator.
    """
    b = np.zeros_like(operator.scale)
    first, elastic = len(b) - rows.target.size, elastic or bool(np.any(rows.compliance > 0))
    b[first:] = operator.scale[first:] * rows.target.ravel()
    x, unbounded, dtype = np.zeros_like(b), np.full_like(b, np.inf), b.dtype
    limits = (ELASTIC_REDUCTION, ELASTIC_PRODUCTS) if elastic else (GAP_REDUCTION, GAP_PRODUCTS)
    arguments = (no_friction(dtype), x, np.empty((4, len(b)), dtype), *limits, b.copy(), 1)
    products, *_ = device.linalg.mprgp.solve_mprgp(operator, b, -unbounded, unbounded, *arguments)
    return x, products


def stiff_elements(problem: Problem) -> bool:
    """Whether joints hold on to nodes, and elements are so stiff that moving single ones would store much energy."""
    model, h = problem.model, problem.h
    if not model.joints.on_nodes.any():
        return False
    return bool(np.any(h * h * model.node_stiffness > STIFF * model.node_mass))


def softened(
    device: Device, rows: Rows, inverse_mass, softness: float = GAP_REGULARIZATION
) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal of J M^-1 J^T + R, and the compliance R > 0 (slices, 3, LANES) with which gaps are closed: rigid joints
    get some, for they may be redundant."""
    diagonal = np.empty(rows.target.shape)
    geometry = (rows.start, rows.triples, rows.jacobian)
    device.table.row_diagonals(*geometry, rows.compliance, inverse_mass, softness, diagonal)
    soft = np.where(rows.compliance > 0, LEAST_SOFTNESS, softness)
    return diagonal, rows.compliance + soft * diagonal


def gap_factors(device: Device, joints: Rows, moves: np.ndarray) -> "VelocityGaps | ImpulseGaps":
    """What closes the gaps of joints at least cost: by velocities or by impulses; moves (n,): triples that do."""
    by_velocities, meetings = VelocityGaps(device, joints, len(moves)), Meetings(joints, moves)
    if len(meetings.first) > MOST_MEETINGS * len(by_velocities.first):
        return by_velocities
    by_impulses = ImpulseGaps(device, meetings, joints.slices * LANES)
    return min(by_impulses, by_velocities, key=lambda gaps: gaps.pattern.work())


class ImpulseGaps(RowFactors):
    """Closes gaps in one solve: dx = M^-1 J^T (J M^-1 J^T + R)^-1 b."""

    def close_gaps_by_factor(self, rows: Rows, inverse_mass, softness: float) -> tuple[np.ndarray, int]:
        """Displacement of the triples (n + 2 b, 3) that closes the gaps -target of joints, and solves (one)."""
        compliance = softened(self.device, rows, inverse_mass, softness)[1]
        return self.moved(rows, self.impulses(rows, compliance, inverse_mass, rows.target), inverse_mass), 1


class VelocityGaps:
    """The same as dx = (M + J^T W J)^-1 J^T W b, W = 1 / R.

    The factors are of joints where they are now and of masses alone, so their pattern is that of the joints. (Those of
    the step will not do: its joints were where the bodies have turned from, and its R is too small for what redundant
    joints ask for. Both are amplified by 1 / R.)
    """

    def __init__(self, device: Device, joints: Rows, triple_count: int):
        self.device = device
        self.first, self.second, triple_i, triple_j, self.place = entry_pairs(joints)
        self.pattern = pattern = BlockPattern.of_pairs(device, triple_count, triple_i, triple_j).in_runs()
        index, transposed = pattern.find(triple_i, triple_j)
        self.index = np.where(transposed, -2 - index, index)
        every = np.arange(triple_count)
        self.diagonal_blocks = pattern.find(every, every)[0]
        self.values, self.factor = np.empty((len(pattern.row), 3, 3)), None

    def close_gaps_by_factor(self, rows: Rows, inverse_mass, softness: float) -> tuple[np.ndarray, int]:
        """Displacement of the triples (n + 2 b, 3) that closes the gaps -target of joints, and solves (one)."""
        weight = 1 / softened(self.device, rows, inverse_mass, softness)[1]
        kernels, pattern, values = self.device, self.pattern, self.values
        values[:] = 0.0
        values[self.diagonal_blocks] = kernels.linalg.triples.inverse_blocks(inverse_mass)
        pairs = (self.first, self.second, self.place)
        kernels.rows.add_row_blocks(*pairs, rows.jacobian, weight, self.index, values)
        free = (inverse_mass[:, :3] > 0).astype(np.float64)
        kernels.linalg.block_ldl.restrict(pattern.order, pattern.column_start, pattern.row, free, values)
        move = np.zeros_like(free)
        kernels.rows.add_row_impulses(rows.start, rows.triples, rows.jacobian, weight * rows.target, move)
        move *= free
        self.factor = factor(pattern, values, self.factor)
        kernels.linalg.block_ldl.solve_factored(self.factor, move)
        return move, 1
