"""Steps of rigid bodies in joints that are done after one iteration: most are, and then one compiled call is a step.

What Newton's method does in its first iteration (solve.newton.minimise), loop for loop. Small mechanisms spend most of
a step between compiled loops, so that they are asked at once whether that was all; large ones do not.
"""

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import BlockFactor
from pliant.kernels.straight import Thresholds, TreeArrays, TreeRoom, TreeStep
from pliant.rows import joints as joint_rows
from pliant.rows.ahead import UNIQUE
from pliant.rows.potential import EPSILON, NO_IMPULSE, NO_MOBILITY, STIFF_PART
from pliant.rows.softness import joint_softness
from pliant.solve.info import Info
from pliant.solve.newton.closing import FITTED
from pliant.solve.newton.criteria import CLOSED, GAP, IMBALANCE, ROUNDING, SHUT
from pliant.solve.newton.factored_system import FactoredSystem
from pliant.solve.newton.kinks import LITTLE
from pliant.solve.newton.lengths import OVERSHOOT, SUFFICIENT
from pliant.solve.newton.minimise import PROMISING
from pliant.solve.problem import Problem, Solution
from pliant.solve.residual import NO_MOBILITY as NO_ROW
from pliant.solve.residual import STEADY

# Bodies from which on and up to which a step is tried in one call: with fewer it saves less than its long compilation
# is worth.
SEVERAL_BODIES, FEW_BODIES = 12, 200


class Straight:
    """Memory and constant arrays for such steps of one model."""

    def __init__(self, model, state, system, tolerance: float):
        """system: with which Newton's method iterates; where that is another, this has sparse factors of its own."""
        own = isinstance(system, FactoredSystem)
        self.system = system if own else FactoredSystem(model, joint_rows.structure(model.joints, state))
        self.softness, self.tolerance = joint_softness(model, self.system.dtype), tolerance
        self.blocks = self.tree = self.room = None
        self.springs = False

    @staticmethod
    def fits(model) -> bool:
        """Whether steps of a model are tried in this way."""
        several = SEVERAL_BODIES <= model.body_count <= FEW_BODIES
        return several and FactoredSystem.fits(model) and not model.node_count

    def solve(self, problem: Problem, start: np.ndarray) -> Solution | None:
        """The step from velocities `start` (triples, 3), if it is done after one iteration."""
        model, state, rows, h = problem.model, problem.state, problem.rows.table, problem.h
        predicted = problem.prediction.u
        if model.joints is not self.blocks:
            self._take(model)
        table = (rows.start, rows.triples, rows.jacobian, rows.target, rows.low, rows.high, rows.friction)
        table = (*table, rows.compliance)
        velocities = (start, predicted, problem.before, predicted - state.velocity_triples())
        given = TreeStep(state.pose, table, problem.rows.error, *velocities, problem.prediction.inverse_mass)
        u, impulse, late = np.empty_like(start), np.empty_like(rows.target), np.empty((model.body_count, 3))
        numbers = (self.tree, given, h, self._thresholds(state), state.impulses.joints)
        done, residual, imbalance, count = model.device.straight.straight_step(*numbers, self.room, u, impulse, late)
        if not done or (self.springs and np.any(self.room.hard & (rows.compliance > 0.0))):
            return None  # springs that are met like rigid joints are judged by what they store (RowPotential)
        info = Info("newton", linear=self.system.linear, iterations=1, residual=residual, imbalance=imbalance)
        info.newton_iterations, info.rows = 1, count
        return Solution(u, impulse, info, {"change": u - predicted}, late_torque=late)

    def _thresholds(self, state) -> Thresholds:
        size = max(float(np.abs(state.body_position).max(initial=0.0)), 1.0)
        tolerance = self.tolerance
        closed = min(CLOSED, max(GAP * tolerance, SHUT))
        path = (tolerance, FITTED, closed, LITTLE, SUFFICIENT, OVERSHOOT, PROMISING, IMBALANCE, ROUNDING)
        return Thresholds(*path, size, EPSILON, STEADY, NO_MOBILITY, NO_IMPULSE, NO_ROW, STIFF_PART, UNIQUE)

    def _take(self, model) -> None:
        """Constant arrays of a model's joints, and memory for its steps."""
        blocks, system, pattern = model.joints, self.system, self.system.places.pattern
        joints = (blocks.arrays, blocks.free.arrays, blocks.watched, blocks.points, blocks.reach)
        measures = (blocks.per_reach, blocks.per_range, blocks.tangents, self.softness)
        matrix = (pattern.order, pattern.column_start, pattern.row, pattern.parent, pattern.start)
        bodies = (model.body_mass, model.static, system.free)
        places = (system.places.diagonal_blocks, system.pairs)
        self.tree = TreeArrays(*joints, *measures, *bodies, *matrix, *places)
        if self.room is None:
            self.room = _room(model, pattern, len(blocks.start) - 1)
        self.blocks, self.springs = blocks, bool(np.any(blocks.compliance > 0.0))


def _room(model, pattern, slices: int) -> TreeRoom:
    """Memory for steps of a model with so many slices of rows."""
    n, rows = model.triple_count, (slices, 3, LANES)
    size, curvature = int(pattern.start[-1]), (slices, 6, LANES)
    pose = (np.zeros(len(model.joints.free.kind)), *(np.zeros((k, w)) for k, w in _pose_shapes(model)))
    factors = BlockFactor(
        pattern.order, pattern.start, np.empty(size, np.int64), np.empty((size, 3, 3)), np.empty((n, 6))
    )
    return TreeRoom(
        *(np.zeros((n, 3, 3)) for _ in range(2)),
        *(np.zeros((n, 3)) for _ in range(6)),
        np.zeros(n),
        *(np.zeros(rows) for _ in range(9)),
        np.zeros(rows, bool),
        np.zeros(curvature),
        np.zeros(curvature),
        np.zeros((slices, LANES)),
        np.zeros((model.body_count, 3)),
        pose,
        np.zeros((len(pattern.row), 3, 3)),
        np.zeros((n, 6)),
        factors,
    )


def _pose_shapes(model) -> tuple:
    """Of nodes, positions and rotations of bodies."""
    return (model.node_count, 3), (model.body_count, 3), (model.body_count, 4)
