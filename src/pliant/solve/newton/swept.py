"""Steps of bounded cost of rigid bodies that touch: so many sweeps over the contacts foreseen at the start of a step.

Sweeps begin with the impulses of the last step, so what rests comes to rest by them over several steps, however few
there are in one. Each contact is met exactly in its turn, by Coulomb's law (kernels.cpu.sweeps). Where a step leads is
looked at once: mostly that is where the next one begins, which need not look again. Bodies that meet something on their
way there, or end too deep in each other, as what turns fast may, get the contacts that they have there, and sweeps go
on over these and others of the same bodies (solve.newton.mending). stepping.bodies_apart holds back what even then
would pass through something.
"""

import numpy as np

from pliant.records import changed
from pliant.rows.contacts import allowed_gaps
from pliant.solve.info import Info
from pliant.solve.newton.looking import Look
from pliant.solve.newton.mending import Mending, pushed_apart, stop_shocks, swept
from pliant.solve.options import Bounded
from pliant.solve.problem import Problem, Solution, StepRows, warm_impulses

# Change by a sweep, relative to the motion of the step, in the energy norm, below which more sweeps are of no use.
SETTLED = 1e-4
# Sweeps times contacts up to which there are more sweeps than asked for, and how many times as many at most: of few
# contacts they cost nothing, and stacks need them.
LEAST_WORK, MORE = 40_000, 10
# How often contacts are mended, at most, and the parts of the depth with which things may end up to which what is found
# where a step leads does not matter.
MENDED = (0.5, 0.8, 0.9)


class SweptSolver:
    """So many sweeps, and few more."""

    name, equations = "bounded", "implicit"
    linear_rows = False
    bounded, substeps = True, 1  # what passes through something is held back; steps are not halved
    once = True  # nor taken again where impacts would give energy, which a step has not (solve.newton.affordable)

    def __init__(self, options: Bounded, model):
        self.most, self.square = options.sweeps, model.device.linalg.triples.quadratic_diagonal
        model.colliders.solids.stopped = True

    @staticmethod
    def fits(model) -> bool:
        """Whether a model is of rigid bodies alone."""
        return not (model.elements.sets or len(model.joints.family) or model.node_count)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took."""
        info, problem = Info(self.name, linear="sweeps", newton_iterations=1), problem.with_rows(_unpushed(problem))
        impulse = warm_impulses(problem.model.device, problem.state.impulses, problem.rows, turned=True)
        u = self._swept(problem, problem.prediction.u.copy(), impulse, info)
        push = pushed_apart(problem, problem.rows, u)
        look = Look.of(problem, u, push) if np.all(np.isfinite(u)) else None
        mending = None
        for part in MENDED if look else ():
            if not (look.met.any() or len(look.deep(part)[0])):
                break
            mending = mending or Mending(problem, u, impulse)
            mending.mend(look, part, self.most)
            look = look.again(mending.u, push)
        if mending:
            u, (problem, impulse) = mending.u, mending.done(look)
            info.iterations, info.newton_iterations = info.iterations + mending.sweeps, 2
        table = problem.rows.table
        info.rows = int(problem.model.device.table.count_rows(table.start, table.jacobian))
        info.converged = not len(problem.rows.contacts)
        memory = {"change": u - problem.prediction.u}
        return Solution(u, impulse, info, memory, internal=np.zeros((0, 3)), rows=problem.rows, look=look, push=push)

    def _swept(self, problem: Problem, u: np.ndarray, impulse_inout: np.ndarray, info: Info) -> np.ndarray:
        """Velocities (triples, 3) after sweeps from those without impulses, and from these (slices, 3, LANES) [N s],
        which change."""
        if not problem.rows.table.slices:
            return u
        enough = SETTLED**2 * self._motion(problem, problem.before)
        most = min(max(self.most, LEAST_WORK // len(problem.rows.contacts)), MORE * self.most)
        info.iterations, left = swept(problem, problem.rows, u, impulse_inout, most, enough)
        stop_shocks(problem, problem.rows, impulse_inout, u, ~problem.model.static)
        info.residual = float(np.sqrt(left / max(self._motion(problem, u), 1e-300)))
        return u

    def _motion(self, problem: Problem, u: np.ndarray) -> float:
        """Twice the energy [J] of the change that outer forces make, and of that to velocities u (triples, 3)."""
        free = problem.model.free_triples
        kick = free * (problem.prediction.u - problem.state.velocity_triples())
        return self.square(problem.mass, kick) + self.square(problem.mass, free * (u - problem.before))


def _unpushed(problem: Problem) -> StepRows:
    """The rows with which what overlaps goes no deeper, and is not pushed apart."""
    rows, contacts = problem.rows, problem.rows.contacts
    deep = np.flatnonzero(contacts.gap < 0.0)
    if not len(deep):
        return rows
    target, index = rows.table.target.copy(), rows.contact_index[deep]
    speed = (allowed_gaps(contacts, problem.h)[deep] - contacts.gap[deep]) / problem.h
    flat = target.reshape(-1)
    flat[index] = np.where(flat[index] <= speed * (1.0 + 1e-9), 0.0, flat[index])  # what bounces does so
    return changed(rows, table=changed(rows.table, target=target))
