"""Position-based dynamics on the rows of every other solver (C 1.2; XPBD of Macklin, Mueller and Chentanez 2016).

In every iteration the rows of elements and joints are filled anew where the bodies have come to, and one Gauss-Seidel
sweep changes the accumulated impulses. A row at the moved positions, with u_k the velocity that led there, asks

    J u + R lambda = -f C(x + h u_k) + f h J u_k,   f = 1 / (h + beta)   (theory section 2),

and before the sweep the impulses so far are applied along the rows as they lie now, u = u* + M^-1 J^T lambda. (XPBD
leaves them along the rows they were found with; its limit then differs from implicit Euler by O(h^2) in every step.)
Contacts keep their planes of the start of the step.
"""

from dataclasses import replace

import numpy as np

from pliant.elements.rows import ElementRows
from pliant.kernels.lanes import LANES
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows, concatenate
from pliant.solve.dual.solver import DualSolver, row_count
from pliant.solve.info import Info
from pliant.solve.options import Dual, Xpbd
from pliant.solve.problem import Problem, Solution, StepRows

# Young's modulus of "no compliance" relative to the material's.
RIGID_FACTOR = 1e9
# What the last sweep may change, relative to what all of them did, in a step that has converged.
SETTLED = 1e-2


class XpbdSolver(DualSolver):
    """A fixed number of sweeps over rows that follow the positions."""

    name, equations = "xpbd", "implicit"
    linear_rows = True

    def __init__(self, options: Xpbd, model):
        super().__init__(Dual(method="pgs"), model, np.float64)
        self.xpbd, self.substeps = options, int(options.substeps)
        self.model = model
        if options.compliance == "none":  # plain position-based dynamics: how soft it looks depends on the sweeps
            nothing = np.zeros_like(model.joints.compliance)
            self.model = replace(model, joints=replace(model.joints, compliance=nothing, damping=nothing))
            self.elements = self.elements.rigid(RIGID_FACTOR)

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        state, prediction, rows, h = problem.state, problem.prediction, problem.rows, problem.h
        model, element_size = self.model, self.elements.volume.size * 6
        u, share = prediction.u.copy(), self._share(rows, h)
        impulse = np.zeros(element_size + rows.table.target.size)
        for _ in range(int(self.xpbd.iterations)):
            here = self._rows_at(state, rows, u, h)
            operator, diagonal = self._operator(model, prediction, here, h)
            b = self._goal(here, operator, share, u, h)
            low, high = self._bounds(here, operator.scale, element_size)
            friction, x = self._friction(here, diagonal, element_size), impulse / operator.scale
            before = u.copy()
            self.device.system.transposed_product(operator, x, u)
            u += prediction.u
            self.device.linalg.pgs.sweep_system(operator, b, low, high, friction, x, u)
            impulse = x * operator.scale
        change, whole = np.linalg.norm(u - before), np.linalg.norm(u - prediction.u)
        left = float(change / whole) if whole > 0 else 0.0
        info = Info("xpbd", int(self.xpbd.iterations), left, converged=left <= SETTLED)
        info.rows = self.elements.count * 6 + row_count(self.device, rows.table)
        end = self._rows_at(state, rows, u, h)
        found = {"table": end.table, "joint_rate": (end.error - rows.error) / h}
        return Solution(u, impulse[element_size:].reshape(rows.table.target.shape), info, **found)

    def _rows_at(self, state, rows: StepRows, u: np.ndarray, h: float) -> StepRows:
        """Elements and joints at the positions that the velocity u leads to; contacts as they were."""
        model, n = self.model, self.model.node_count
        x, position = state.x + h * u[:n], state.body_position + h * u[n::2]
        rotation = state.body_rotation.copy()
        self.device.rigid.turn_bodies(h * u[n + 1 :: 2], rotation)
        joints = Rows.empty(model.joints.start)
        error = joint_rows.fill(model.joints, joints, (state.angles, x, position, rotation), h, state.time + h)
        elements = ElementRows(model.elements, x, rows.elements.plastic)
        touching = rows.table.between(rows.joint_slices, rows.table.slices)
        return replace(rows, elements=elements, table=concatenate([joints, touching]), error=error)

    def _share(self, rows: StepRows, h: float) -> np.ndarray:
        """h f of every row: 1 for rigid ones, h / (h + beta) with damping, 0 for contacts."""
        blocks = self.model.joints
        elements = np.repeat((h / (h + self.elements.damping))[:, None], 6, axis=1)
        table = np.zeros(rows.table.target.shape)
        table[blocks.slice, :, blocks.lane] = (h / (h + blocks.compliance * blocks.damping))[:, None]
        return np.concatenate([elements.ravel(), table.ravel()])

    def _goal(self, here: StepRows, operator, share: np.ndarray, u: np.ndarray, h: float) -> np.ndarray:
        """scale (b + h f J u_k)."""
        target = np.empty((len(self.elements.volume), 6, LANES))
        strains = (here.elements.strain, here.elements.plastic)
        self.device.elements.element_targets(*strains, self.elements.damping, h, self.basis64, target)
        goal = np.concatenate([target.ravel(), here.table.target.ravel()])
        rate = np.empty_like(goal)
        self.device.system.row_product(operator, u, np.zeros_like(goal), rate)
        return operator.scale * goal + share * rate
