"""Steps of bounded cost of rigid bodies that touch: so many sweeps over the contacts foreseen at the start of a step.

Sweeps begin with the impulses of the last step, so what rests comes to rest by them over several steps, however few
there are in one. Each contact is met exactly in its turn, by Coulomb's law (kernels.cpu.sweeps). Where a step leads is
looked at once: mostly that is where the next one begins, which need not look again. Bodies that meet something on their
way there, or end too deep in each other, as what turns fast may, get the contacts that they have there, and as many
sweeps go on with these. stepping.bodies_apart holds back what even then would pass through something.
"""

from dataclasses import dataclass

import numpy as np

from pliant.collide.contacts import Contacts, among, joined
from pliant.collide.detect import detect
from pliant.records import changed
from pliant.rows import contacts as contact_rows
from pliant.rows.table import concatenate
from pliant.solve.info import Info
from pliant.solve.newton.landing import landing
from pliant.solve.newton.touching import allowed_ahead, moved, pair_keys, shares_before_meeting, too_deep
from pliant.solve.options import Bounded
from pliant.solve.problem import Problem, Solution, kept_impulses, warm_impulses

# Change by a sweep, relative to the motion of the step, in the energy norm, below which more sweeps are of no use.
SETTLED = 1e-4
# The depth, in parts of the size of what touches, up to which contacts where a step leads do not matter.
DEEP = 0.03


class SweptSolver:
    """So many sweeps, and mostly no more."""

    name, equations = "bounded", "implicit"
    linear_rows = False
    bounded, substeps = True, 1  # what passes through something is held back; steps are not halved

    def __init__(self, options: Bounded, model):
        self.most, self.square = options.sweeps, model.device.linalg.triples.quadratic_diagonal
        model.colliders.solids.stopped = True

    @staticmethod
    def fits(model) -> bool:
        """Whether a model is of rigid bodies alone."""
        return not (model.elements.sets or len(model.joints.family) or model.node_count)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took."""
        device, info = problem.model.device, Info(self.name, linear="sweeps", converged=False)
        impulse = warm_impulses(device, problem.state.impulses, problem.rows, turned=True)
        u = self._swept(problem, impulse, info)
        ahead = Ahead.of(problem, u)
        if not ahead.apart:
            kept, problem = kept_impulses(problem.rows, impulse), ahead.with_contacts(problem)
            impulse = warm_impulses(device, kept, problem.rows, turned=True)
            u = self._swept(problem, impulse, info)
            problem = ahead.followed(problem, u)
        info.converged = ahead.apart and not len(problem.rows.contacts)
        memory = {"change": u - problem.prediction.u}
        found = (u, impulse, info, memory)
        return Solution(*found, internal=np.zeros((0, 3)), rows=problem.rows, apart=ahead.apart)

    def _swept(self, problem: Problem, impulse_inout: np.ndarray, info: Info) -> np.ndarray:
        """The velocities (triples, 3) after sweeps from these impulses (slices, 3, LANES) [N s], which change."""
        table, u = problem.rows.table, problem.prediction.u.copy()
        if not table.slices:
            return u
        geometry = (table.start, table.triples, table.jacobian, table.target, table.compliance, table.friction)
        any_speed, mobility = np.full(table.friction.shape, np.inf), np.empty(table.friction.shape)
        enough = SETTLED**2 * self._motion(problem, problem.before)
        numbers = (any_speed, problem.prediction.inverse_mass, impulse_inout, u, mobility, 1, self.most, enough)
        sweeps, left, _ = problem.model.device.sweeps.sweep_contacts(*geometry, *numbers)
        info.iterations += sweeps
        info.newton_iterations += 1
        info.residual = float(np.sqrt(left / max(self._motion(problem, u), 1e-300)))
        info.rows = int(problem.model.device.table.count_rows(table.start, table.jacobian))
        return u

    def _motion(self, problem: Problem, u: np.ndarray) -> float:
        """Twice the energy [J] of the change that outer forces make, and of that to velocities u (triples, 3)."""
        free = problem.model.free_triples
        kick = free * (problem.prediction.u - problem.state.velocity_triples())
        return self.square(problem.mass, kick) + self.square(problem.mass, free * (u - problem.before))


@dataclass
class Ahead:
    """Where velocities u (triples, 3) lead, or as far as things go before they meet: the contacts found there; bodies
    (b,) that meet something, contacts (k,) that are too deep; first: the first one of these among those of a step that
    goes on with them."""

    u: np.ndarray
    found: Contacts
    met: np.ndarray
    deep: np.ndarray
    first: int = 0

    @staticmethod
    def of(problem: Problem, u: np.ndarray) -> "Ahead":
        """A look."""
        model, share = problem.model, shares_before_meeting(problem, u)
        met = share[::2] < 1.0
        way = share[:, None] * u if met.any() else u
        found = detect(model, landing(problem, way), problem.h)
        return Ahead(
            way, found, met, too_deep(found, problem.started, problem.h, DEEP * model.colliders.size_of(found))
        )

    @property
    def apart(self) -> bool:
        """Whether nothing meets or is too deep."""
        return not (self.met.any() or self.deep.any())

    def with_contacts(self, problem: Problem) -> Problem:
        """The problem with the contacts found ahead in place of others of the same two bodies, if these meet something
        or are too deep in each other."""
        model, found, rows, h = problem.model, self.found, problem.rows, problem.h
        count, met = len(model.colliders.things), np.append(self.met, False)
        chosen = self.deep | met[found.body].any(axis=1)
        pairs = pair_keys(found.thing, count)
        chosen = among(pairs, pairs[chosen])
        new, old = found.these(chosen), rows.contacts
        old = old.these(~among(pair_keys(old.thing, count), pairs[chosen]))
        parts, there = [], moved(problem, self.u)
        for contacts, u, state in ((old, np.zeros_like(self.u), problem.state), (new, self.u, there)):
            pose = state.pose[2:]
            allowed = allowed_ahead(contacts, problem.started, h)
            parts.append(contact_rows.fill(model, contacts, allowed, pose, problem.before, u, h))
        (first, before, _), (second, behind, rolling) = parts
        both, index = concatenate([first, second]), np.concatenate([before, behind + 3 * first.friction.size])
        self.first = len(old)
        return problem.with_rows(rows.with_contacts(joined([old, new]), both, index, rolling))

    def followed(self, problem: Problem, u: np.ndarray) -> Problem:
        """That problem with the gaps, to first order, of the contacts found ahead where velocities u (triples, 3)
        lead."""
        rows, table = problem.rows, problem.rows.table
        gap, rate = rows.contacts.gap.copy(), np.empty(table.target.shape)
        change = np.ascontiguousarray(u - self.u)
        problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, change, rate)
        gap[self.first :] += problem.h * rate.ravel()[rows.contact_index[self.first :]]
        return problem.with_rows(changed(rows, contacts=changed(rows.contacts, gap=gap)))
