"""Rows as a potential of the velocity: the primal form of joints and contacts (theory section 2).

Rigid rows have no compliance, and a potential needs one. They get a small compliance R and a shift: with the target
b + R shift the impulse is clamp(shift + (b - J u) / R), and once the shift is the impulse itself the row is met exactly
(the method of multipliers). A moderate R then suffices, and Newton's method meets no stiff walls.
"""

import numpy as np

from pliant.kernels.cpu.rows import add_row_impulses, row_response
from pliant.kernels.cpu.table import row_diagonals
from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows

# Compliance of rigid rows relative to the mobility of what they touch: joints, normal and tangent rows of contacts.
JOINT_SOFTNESS, NORMAL_SOFTNESS, TANGENT_SOFTNESS = 1e-4, 5e-2, 5e-2
# Mobility of rows between prescribed nodes and bodies that stay, and a compliance with which they get no impulse.
NO_MOBILITY, NO_IMPULSE = 1e-300, 1e30


def _mobilities(rows: Rows, inverse_mass: np.ndarray) -> np.ndarray:
    """Diagonal of J W J^T (slices, 3, LANES) with mobilities W (triples, 6); NO_MOBILITY where nothing can move."""
    mobility = np.empty(rows.compliance.shape)
    least = np.full_like(mobility, NO_MOBILITY)
    row_diagonals(rows.start, rows.triples, rows.jacobian, least, inverse_mass, 0.0, mobility)
    return mobility


class RowPotential:
    """The rows of a step as a convex potential of the velocity.

    Friction is convex only together with a contact that opens by friction times the slip; `slip`, which lags behind,
    takes that back, so that the last word is Coulomb's (de Saxce's correction).
    """

    def __init__(self, rows: Rows, inverse_mass: np.ndarray, shift: np.ndarray, node_count: int):
        """inverse_mass (triples, 6): mobility of every triple, with what its elements hold it by; shift (slices, 3,
        LANES): impulses [N s] to start from. The first node_count triples are nodes."""
        self.rows = rows
        bounded = np.isfinite(rows.low[:, 0]) | np.isfinite(rows.high[:, 0])
        self.mobility = _mobilities(rows, inverse_mass)
        # a light body welded to several nodes is as mobile as these: its rows must be met among them
        of_nodes = inverse_mass.copy()
        of_nodes[node_count:] = 0
        nodes = _mobilities(rows, of_nodes)
        self.mobility = np.where(
            (nodes > NO_MOBILITY) & ~bounded[:, None], np.minimum(self.mobility, 2 * nodes), self.mobility
        )
        softness = np.full(self.mobility.shape, JOINT_SOFTNESS)
        softness[:, 0][bounded] = NORMAL_SOFTNESS
        softness[:, 1][bounded] = softness[:, 2][bounded] = TANGENT_SOFTNESS
        # between prescribed nodes and bodies that stay nothing can answer a row: no impulse, and nothing to meet
        dead = (rows.compliance == 0) & (self.mobility <= NO_MOBILITY)
        self.mobility = np.where(self.mobility <= NO_MOBILITY, 1.0, self.mobility)
        self.hard = (rows.compliance == 0) & ~dead
        self.compliance = np.where(self.hard, softness * self.mobility, np.where(dead, NO_IMPULSE, rows.compliance))
        rough = rows.friction > 0
        self.compliance[:, 1][rough] = np.maximum(self.compliance[:, 1], self.compliance[:, 2])[rough]
        self.impulse, self.new_slip = shift.copy(), np.zeros(rows.friction.shape)
        self.curvature = np.zeros((rows.slices, 6, LANES))
        self.renew()

    def evaluate(self, velocity: np.ndarray) -> float:
        """The potential [J]; impulses, slips and curvatures are kept."""
        rows = self.rows
        geometry = (rows.start, rows.triples, rows.jacobian, self.target, rows.low, rows.high, rows.friction)
        return row_response(*geometry, self.compliance, velocity, self.new_slip, self.impulse, self.curvature)

    def renew(self) -> None:
        """Shifts and slips follow what was last evaluated."""
        self.shift, self.slip = np.where(self.hard, self.impulse, 0.0), self.new_slip.copy()
        self.target = self.rows.target + self.compliance * self.shift
        self.target[:, 0] -= self.rows.friction * self.slip

    def follow_slip(self, velocity: np.ndarray) -> None:
        """Let the slips, but not the shifts, follow a velocity: the start of the iterations."""
        self.evaluate(velocity)
        self.target[:, 0] += self.rows.friction * (self.slip - self.new_slip)
        self.slip = self.new_slip.copy()

    def mismatch(self) -> float:
        """How far the rows are from being met: their errors in velocity as kinetic energies, twice [J]."""
        error = np.where(self.hard, self.compliance * (self.impulse - self.shift), 0.0)
        active = self.impulse[:, 0] > 0
        opening = active * self.hard[:, 0] * self.rows.friction * (self.new_slip - self.slip)
        return float(np.sum(error**2 / self.mobility) + np.sum(opening**2 / self.mobility[:, 0]))

    def add_impulses(self, out: np.ndarray, scale: float = 1.0) -> None:
        """out (triples, 3) += scale J^T lambda."""
        rows = self.rows
        add_row_impulses(rows.start, rows.triples, rows.jacobian, scale * self.impulse, out)
