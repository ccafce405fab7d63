"""Steps of rigid bodies that touch, by sweeps over their contacts alone.

Where sweeps are what a step needs in the end (solve.newton.sweeping), iterations of Newton's method before and between
them cost more than they are worth. So such steps are tried without: sweeps from the impulses of the last step, then a
look at where they lead. What touches there as was foreseen, neither deeper nor carrying load across a gap, is met; else
the contacts found there take the place of the others, as in Newton's method. What does not settle is left to that.
"""

from dataclasses import replace

import numpy as np

from pliant.collide.contacts import FEATURE_BITS, Contacts
from pliant.collide.detect import detect
from pliant.kernels.lanes import LANES
from pliant.solve.info import Info
from pliant.solve.newton.minimise import OF_TOLERANCE
from pliant.solve.newton.sweeping import FEWEST, LARGEST_RATIO
from pliant.solve.newton.touching import (
    PENETRATION,
    contacts_ahead,
    followed_share,
    may_lack,
    moved,
    shares_before_meeting,
    too_deep,
)
from pliant.solve.problem import Problem, Solution, StepRows, kept_impulses, warm_impulses
from pliant.solve.residual import residual

# Change by a sweep, relative to the tolerance of a step, with which sweeps end; Newton's method, asked what it would
# correct then, says a third of the tolerance. And that which they aim at where few bodies move more slowly than outer
# forces would make them in the step: what each step leaves adds up to a creep, in which stacks lean ever further.
SETTLED, CALMLY = 0.2, 0.06
# Fewest sweeps of a step: what rests comes to rest by them, over many steps.
LEAST_SWEEPS = 40
# Most sweeps before contacts are first looked for, which mostly are others where these lead; each time twice as many,
# up to a most, and how often so many again where they have not settled.
FIRST_SWEEPS, MOST_SWEEPS, MOST_ROUNDS = 80, 400, 5
# How often contacts are looked for where sweeps lead.
MOST_LOOKS = 24
# Imbalance (solve.residual) that a settled step may leave.
IMBALANCE = 0.1
# Part of what a contact may lack before it is too deep that it may lack where sweeps end.
NEARLY = 0.7
# Part of the way to where an iterate leads from which on contacts follow it all the way: those there are known.
NEAR = 0.7


class Settling:
    """Steps of a model with a tolerance; few: its bodies are so few that sweeps cost little beside the rest of a
    step."""

    def __init__(self, model, tolerance: float, few: bool):
        self.few, self.tolerance, self.square = few, tolerance, model.device.linalg.triples.quadratic_diagonal
        self.most = max(PENETRATION, OF_TOLERANCE * tolerance)

    @staticmethod
    def fits(model) -> bool:
        """Whether steps of a model may be tried in this way: rigid bodies that touch and are held by nothing else."""
        return model.may_touch and not (model.elements.sets or len(model.joints.family) or model.node_count)

    def solve(self, problem: Problem, start: np.ndarray) -> Solution | None:
        """The step, if it settles; start (triples, 3): velocities to begin with."""
        if not self.takes(problem):
            return None
        info, last = Info("newton", linear="sweeps", newton_iterations=1), np.zeros_like(start)
        device, u, before, share = problem.model.device, start, None, 1.0
        impulse = warm_impulses(device, problem.state.impulses, problem.rows, turned=True)
        for look in range(MOST_LOOKS):
            found = self._swept(problem, impulse, u, info, min(FIRST_SWEEPS << look, MOST_SWEEPS))
            if found is None:
                return None
            u, impulse, settled = found
            if settled and self._met(problem, u, last, impulse):
                return self._solution(problem, last, u, impulse, info)
            kept, change = kept_impulses(problem.rows, impulse), u - last
            if before is not None:
                share = followed_share(device, problem.mass, change, before, share)
                share = share if share < NEAR else 1.0
            before = change
            none = np.zeros(len(problem.rows.contacts), bool)
            problem, last, _, _ = contacts_ahead(problem, problem.started, u, last, share, none)
            if len(problem.rows.contacts) < FEWEST:
                return None
            impulse = warm_impulses(device, kept, problem.rows, turned=True)
        return None

    def takes(self, problem: Problem) -> bool:
        """Whether a step may be tried: contacts that resist no rolling, and outer forces that move nothing far."""
        return len(problem.rows.contacts) >= FEWEST and not len(problem.rows.rolling) and self._moderate(problem)

    def rests(self, problem: Problem) -> bool:
        """Whether bodies move no faster than by the tolerance of what outer forces would give them in the step."""
        return self._motion(problem) <= self.tolerance**2 * self._kick(problem)

    def _motion(self, problem: Problem) -> float:
        """Twice the energy [J] of bodies before the step."""
        return self.square(problem.mass, problem.model.free_triples * problem.before)

    def _kick(self, problem: Problem) -> float:
        """Twice the energy [J] that outer forces alone give in the step."""
        change = problem.model.free_triples * (problem.prediction.u - problem.state.velocity_triples())
        return self.square(problem.mass, change)

    def _moderate(self, problem: Problem) -> bool:
        """Whether outer forces move nothing by more than its size."""
        change = problem.prediction.u - problem.state.velocity_triples()
        return bool(np.all(problem.h * np.sqrt((change * change).sum(axis=1)) <= problem.model.longest_ways[:, 0]))

    def _scale(self, problem: Problem, u: np.ndarray) -> float:
        """Twice the energy [J] of the motion in a step that ends with velocities u (triples, 3)."""
        free = problem.model.free_triples
        return self._kick(problem) + self.square(problem.mass, free * (u - problem.before))

    def _swept(self, problem: Problem, impulse: np.ndarray, u: np.ndarray, info: Info, at_most: int) -> tuple | None:
        """Velocities and impulses after sweeps, and whether these settled; None where as many as there may be do not,
        or what touches is too different."""
        table, index, most = problem.rows.table, problem.rows.contact_index, (SETTLED * self.tolerance) ** 2
        calm = self.few and self._motion(problem) <= self._kick(problem)
        aim = (CALMLY * self.tolerance) ** 2 if calm else most
        most = most if at_most == MOST_SWEEPS else aim
        geometry = (table.start, table.triples, table.jacobian, table.target, table.compliance, table.friction)
        inverse_mass, kernel = problem.prediction.inverse_mass, problem.model.device.sweeps.sweep_contacts
        self.mobility, slow = np.zeros(table.friction.shape), np.full(table.friction.shape, np.inf)
        contacts, h = problem.rows.contacts, problem.h
        lack = may_lack(contacts, problem.started, h, self.most * problem.model.colliders.size_of(contacts))
        slow.reshape(-1)[_places(index)] = NEARLY * lack / h
        for _ in range(MOST_ROUNDS if at_most == MOST_SWEEPS else 1):
            enough, u = aim * self._scale(problem, u), problem.prediction.u.copy()
            counts = (LEAST_SWEEPS - info.iterations, at_most)
            numbers = (slow, inverse_mass, impulse, u, self.mobility, *counts, enough)
            sweeps, left, _ = kernel(*geometry, *numbers)
            info.iterations += sweeps
            felt, scale = self.mobility.ravel()[_places(index)], self._scale(problem, u)
            if felt.max() > LARGEST_RATIO * felt.min():
                return None
            settled = left <= most * scale
            if settled or at_most < MOST_SWEEPS:
                info.residual = float(np.sqrt(left / scale)) / SETTLED if left > 0.0 else 0.0
                return u, impulse, settled
        return None

    def _met(self, problem: Problem, u: np.ndarray, last: np.ndarray, impulse: np.ndarray) -> bool:
        """Whether what touches where velocities u lead is what was foreseen, and nothing meets on its way there."""
        ahead = detect(problem.model, moved(problem, u), problem.h)
        if self._deep(problem, ahead) or self._loose(problem, ahead, u, last, impulse):
            return False
        return bool(np.all(shares_before_meeting(problem, u) >= 1.0))

    def _deep(self, problem: Problem, ahead: Contacts) -> bool:
        """Whether contacts, where a step leads, are deeper than it may leave them."""
        size = problem.model.colliders.size_of(ahead)
        return bool(too_deep(ahead, problem.started, problem.h, self.most * size).any())

    def _loose(self, problem: Problem, ahead: Contacts, u: np.ndarray, last: np.ndarray, impulse: np.ndarray) -> bool:
        """Whether contacts carry load between things that are further apart, where velocities u (triples, 3) lead, than
        foreseen: what they would have to change by, as an energy beside that of the motion. What was looked for where
        the step led, and touches no more, is kept. last: as in `_solution`."""
        rows, index = problem.rows, problem.rows.contact_index
        carried = impulse.ravel()[index]
        loaded = np.flatnonzero(carried > 0.0)
        foreseen = _rows_at(problem, u - last).contacts.gap[loaded]
        gone = np.inf if problem.started is rows.contacts else -np.inf
        beyond = np.maximum(_gaps_of(rows.contacts.key[loaded], ahead, gone) - foreseen, 0.0)
        own = self.mobility.ravel()[_places(index[loaded])]
        change = np.minimum(carried[loaded], beyond / (problem.h * own))
        return float((change * change * own).sum()) > self.tolerance**2 * self._scale(problem, u)

    def _solution(self, problem: Problem, last: np.ndarray, u, impulse: np.ndarray, info: Info) -> Solution | None:
        """What was found, if it is in balance; last (triples, 3): velocities at whose end its contacts were found."""
        rows = _rows_at(problem, u - last)
        memory = {"change": u - problem.prediction.u}
        solution = Solution(u, impulse, info, memory, internal=np.zeros((0, 3)), rows=rows)
        info.rows = int(problem.model.device.table.count_rows(rows.table.start, rows.table.jacobian))
        info.imbalance = residual(problem, solution, "implicit")
        return solution if info.imbalance <= IMBALANCE else None


def _rows_at(problem: Problem, change: np.ndarray) -> StepRows:
    """The rows with the gaps that contacts have, to first order, with velocities that differ by `change` (triples, 3)
    from those at whose end they were found."""
    rows, table = problem.rows, problem.rows.table
    rate = np.empty(table.target.shape)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, change, rate)
    gap = rows.contacts.gap + problem.h * rate.ravel()[rows.contact_index]
    return replace(rows, contacts=replace(rows.contacts, gap=gap))


def _gaps_of(keys: np.ndarray, contacts: Contacts, gone: float) -> np.ndarray:
    """The gaps (k,) [m] of the contacts with these keys (k,), or the least between the same bodies, `gone` where there
    is none."""
    out = np.full(len(keys), gone)
    if not len(contacts):
        return out
    order = np.argsort(contacts.key)
    sorted_keys, gap = contacts.key[order], contacts.gap[order]
    place = np.searchsorted(sorted_keys, keys).clip(max=len(order) - 1)
    same = sorted_keys[place] == keys
    pairs, first = np.unique(sorted_keys >> FEATURE_BITS, return_index=True)
    least, pair = np.minimum.reduceat(gap, first), np.searchsorted(pairs, keys >> FEATURE_BITS).clip(max=len(pairs) - 1)
    return np.where(same, gap[place], np.where(pairs[pair] == keys >> FEATURE_BITS, least[pair], out))


def _places(index: np.ndarray) -> np.ndarray:
    """Flat places (k,) in an array (slices, LANES) of contacts whose normal rows are at these in (slices, 3, LANES)."""
    return index // (3 * LANES) * LANES + index % LANES
