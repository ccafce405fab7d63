"""The incremental potential of a step: inertia, elasticity, damping, rows (S 4.4; theory sections 2 and 5).

Phi(u) = 1/2 u^T M u - u^T M u* + E(x + h u) + damping + rows; its minimum is the velocity of implicit Euler. (The
constant that completes the square is left out: in a static solve, with h without bounds, it would drown all else.)
"""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.rods import body_sizes
from pliant.elements.tangles import crossing_time, excess_energies, renew_tangles, slowed
from pliant.kernels.lanes import LANES
from pliant.records import changed
from pliant.rows.ahead import JointsAhead
from pliant.rows.hardness import stiffen, stiffen_as
from pliant.rows.potential import RowPotential
from pliant.rows.table import concatenate
from pliant.rows.tilting import Tilting, no_tilting
from pliant.solve.info import Info
from pliant.solve.newton.following import FollowingPressure
from pliant.solve.newton.mobility import mobilities
from pliant.solve.newton.touching import contacts_ahead, followed_share, of_solids_ahead, too_deep
from pliant.solve.newton.turning import Turning
from pliant.solve.problem import Problem, Solution, StepRows, kept_impulses, warm_impulses

# Errors of gaps and of sticking, relative to the size of what touches, that count for nothing after many iterations:
# of contacts that are nearly one, multipliers find which one carries by steps of such errors.
TOUCHING = (1e-5, 1e-4, 1e-4)
# Rounding of an element's energy, relative to its stiffness times its volume.
BLUR = 1e-15
# Rounding of a node's elastic force, relative to its stiffness times its distance from the origin.
EPSILON = 1e-14
# Rounding of quaternions.
TURN_ROUNDING = 1e-14
# The most [rad] that an iteration turns a point of a rod by.
LARGEST_TURN = 0.5


class Increment:
    """The potential of one step as a function of the velocity triples u (n + 2 b, 3)."""

    def __init__(
        self,
        problem: Problem,
        elements: ElementPotential,
        free,
        softness: np.ndarray,
        contacts: tuple,
        turning: Turning,
    ):
        """free (triples, 3): 1 where a velocity is unknown. softness (joint slices, 3, LANES): compliance of rigid
        joints relative to their mobility; contacts: of the normal and tangent rows of contacts."""
        model, state, prediction = problem.model, problem.state, problem.prediction
        rows, h = problem.rows, problem.h
        self.free, self.problem, self.started = free, problem, problem.rows.contacts
        self.found_at = np.zeros_like(prediction.u)  # velocities at whose end contacts were found
        self.searches = 0  # how often they were looked for
        self.short = False  # whether any of those found last ends too deep
        self.change, self.share = None, 1.0  # what was left to go then, and what part of it was gone
        self.clear = True  # whether nothing meets on its way to where the contacts were looked for
        self.model, self.elements, self.device = model, elements, model.device
        self.x, self.h, self.time = state.x, h, state.time + h
        self.mass = problem.mass
        self.elastic, self.energy, self.energy_at_start = np.zeros((0, 3)), 0.0, None
        self.assembled = self.mass  # the diagonal blocks of the Hessian in use
        self.softness = (softness, contacts)
        self.mobilities = None  # of all triples, once there are rows
        self.joints = JointsAhead(model.joints, rows.table, rows.error, state, h)
        self._take_rows(warm_impulses(self.device, state.impulses, rows), no_tilting())
        self.tangled, self.predicted = state.tangled, prediction.u
        if model.elements.sets:
            self._take_elements(state)
        self.push = self.device.linalg.triples.multiply_diagonal(self.mass, self.predicted)
        self.slip = 0.0 if elements.start is None else TURN_ROUNDING
        # what energies of elements, differences of numbers of the size of their stiffness, are rounded by [J]
        self.blur = BLUR * model.elements.stiffness
        self.turning = turning
        self.following = FollowingPressure(model, self.x, h, self.time) if model.pressures else None

    def _take_elements(self, state) -> None:
        """What is fixed about elements in a step from a state."""
        elements, rows = self.elements, self.problem.rows.elements
        elements.take_plastic(rows.plastic)
        elements.take_bodies(state)
        ahead = state.memory.get("before")
        if elements.elements.damped and ahead is not None:
            elements.take_frames_ahead(ahead["x"], ahead["position"], ahead["rotation"])
        elif elements.elements.damped:
            elements.take_frames(self.x, rows.rotation)
        self.tangled = renew_tangles(self.model, elements, state, self.h)
        excess = excess_energies(elements, state, self.tangled)
        if excess.any():
            self.predicted = slowed(self.model, self.predicted, excess)
        elements.take_laws(self.tangled)

    def _take_rows(self, shift: np.ndarray, tilting: Tilting) -> None:
        """Make a potential of the problem's rows, with impulses (slices, 3, LANES) [N s] to start from."""
        table, inverse_mass = self.problem.rows.table, self.problem.prediction.inverse_mass
        if len(tilting):
            count, table = table.slices, concatenate([table, tilting.rows])
            self.problem = self.problem.with_rows(changed(self.problem.rows, table=table.between(0, count)))
            shift = np.concatenate([shift, np.zeros(tilting.rows.target.shape)])
        self.joints.write_into(table)
        if table.slices and self.mobilities is None:
            self.mobilities = mobilities(self.model, self.h, inverse_mass)
        felt, rolling = self.mobilities or (inverse_mass,) * 2, self.problem.rows.rolling
        self.row_potential = RowPotential(table, self.joints, *felt, *self.softness, shift, rolling, tilting)

    def touch(self, u: np.ndarray, value: float, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        """Take the contacts that there are where velocities u lead in place of those so far; Phi and its gradient at u,
        where they were this value and gradient."""
        before = self.problem
        self._relax(u)
        last, share = self.found_at, self.share
        soft = (before.rows.contacts.node >= 0).any(axis=1) & (self.searches > 0)
        held = soft & (self.row_potential.impulse.reshape(-1)[before.rows.contact_index] > 0.0)
        ahead = contacts_ahead(self.problem, self.started, u, last, share, held)
        self.searches, self.short = self.searches + 1, False
        self.problem, self.found_at, self.clear, tilting = ahead
        if not len(before.rows.contacts) and not len(self.problem.rows.contacts):
            self.problem = before
            return value, gradient
        rows, estimate, gradient = self.row_potential, self.row_potential.estimate, gradient.copy()
        value -= rows.energy
        rows.add_impulses(gradient)
        kept = kept_impulses(before.rows, rows.impulse)
        self._take_rows(warm_impulses(self.device, kept, self.problem.rows), tilting)
        self.row_potential.estimate = estimate
        now, then = ((each.rows.contacts.key, each.rows.contact_index) for each in (self.problem, before))
        stiffen_as(self.row_potential, now, rows, then)
        self.row_potential.follow_slip(u)
        value += self.row_potential.evaluate(u, gradient)
        return value, gradient

    @property
    def wandering(self) -> bool:
        """Whether contacts between nodes of soft bodies, which move along their surfaces, carry load."""
        rows = self.problem.rows
        between = (rows.contacts.weight != 0).sum(axis=1) > 1
        return bool(np.any(self.row_potential.impulse.reshape(-1)[rows.contact_index[between]] > 0.0))

    def _relax(self, u: np.ndarray) -> None:
        """Choose what part of the way to velocities u contacts follow, so that oscillations end."""
        change = u - self.found_at
        if self.change is not None:
            self.share = followed_share(self.device, self.mass, change, self.change, self.share)
        self.change = change

    def _rows_at(self, u: np.ndarray) -> StepRows:
        """The rows with the gaps that contacts have at u, to first order from where they were found."""
        rows = self.problem.rows
        if not len(rows.contacts):
            return rows
        table, rate = rows.table, np.empty(rows.table.target.shape)
        self.device.rows.row_rates(table.start, table.triples, table.jacobian, u - self.found_at, rate)
        gap = rows.contacts.gap + self.h * rate.ravel()[rows.contact_index]
        return changed(rows, contacts=changed(rows.contacts, gap=gap))

    def falls_short(self, u: np.ndarray, most: float) -> bool:
        """Whether velocities u would leave a contact further short of where it may end than `most`, relative to the
        size of what touches; between surfaces these become harder."""
        rows = self.problem.rows
        if not len(rows.contacts):
            return False
        table, rate = rows.table, np.empty(rows.table.target.shape)
        self.device.rows.row_rates(table.start, table.triples, table.jacobian, u, rate)
        lacking = self.h * (table.target - rate).ravel()[rows.contact_index]
        there = self._rows_at(u).contacts
        allowed = most * self.model.colliders.size_of(there)
        bad = (lacking > allowed) | too_deep(there, self.started, self.h, allowed)
        self.short = bool(bad.any())
        if self.short:
            stiffen(self.row_potential, there, rows.contact_index, bad)
        return self.short

    def penetrates(self, u: np.ndarray, most: float) -> bool:
        """Whether velocities u would leave a contact short by more than that, or lead so deep into solids where
        contacts were not looked for: then they will be there, next time."""
        if self.falls_short(u, most):
            return True
        if np.array_equal(u, self.found_at):
            return False
        self.change, self.share = None, 1.0
        there = of_solids_ahead(self.problem, u)
        return bool(too_deep(there, self.started, self.h, most * self.model.colliders.size_of(there)).any())

    def evaluate(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Phi [J] and its gradient (triples, 3) [N s]; frames and row impulses are kept for the Hessian."""
        h, n, count = self.h, self.model.node_count, self.elements.count
        self.at, gradient = u, np.empty_like(u)
        value = self.device.balance.inertia_terms(self.mass, self.push, u, gradient)
        if count:
            v = np.ascontiguousarray(u[:n])
            moving = (v,) if count == n else (u, h * u[n:])
            self.energy, power, self.elastic = self.elements.evaluate(self.x + h * v, *moving)
            gradient[:count] += h * self.elastic
            value += self.energy + h * power
            if self.following:
                work, force = self.following.evaluate(v)
                gradient[:n] += force
                value += work
        if self.row_potential.rows.slices:
            value += self.row_potential.evaluate(u, gradient)
        return value, gradient

    def solution(self, u: np.ndarray, info: Info) -> Solution:
        """Velocities u, where the potential was evaluated last, as a solution."""
        found = self.balance(u, info)
        found.rows = self._rows_at(u)
        if self.energy_at_start is not None and not (self.following or self.tangled.any()):
            found.stored = self.energy - self.energy_at_start
        return found

    def balance(self, u: np.ndarray, info: Info) -> Solution:
        """The same, with all that its imbalance is measured by."""
        rows = self.row_potential
        found = {"tangled": self.tangled, "internal": self.internal_forces(u), "predicted": self.predicted}
        found["joint_rate"] = rows.joints.rate if rows.joints.slices else None
        return Solution(u, rows.best_impulses(), info, **found)

    def along(self, u: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) a direction further than u; soft bodies that this turns far are turned."""
        return self.turning.along(self.x, self.h, u, direction)

    def deforming(self, u: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) that deform soft bodies as u does, without turning them far."""
        return self.turning.deforming(self.x, self.h, u)

    def longest(self, direction: np.ndarray) -> float:
        """The part of a direction (triples, 3) that turns no point of a rod by more than its segments can tell."""
        if self.elements.count == self.model.node_count:
            return 1.0
        turn = self.h * float(np.abs(direction[self.model.node_count + 1 :: 2]).max(initial=0.0))
        return min(1.0, LARGEST_TURN / max(turn, 1e-300))

    def internal_forces(self, u: np.ndarray) -> np.ndarray:
        """Forces (n, 3) [N] of elements and of what pressures change, with the sign of a gradient, at u, where they
        were evaluated last."""
        return self.with_pressures(self.elastic, u)

    def with_pressures(self, elastic: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Forces (count, 3) [N] of elements and of what pressures change at u, with the sign of a gradient."""
        if not self.following:
            return elastic
        found, n = elastic.copy(), self.model.node_count
        found[:n] += self.following.evaluate(u[:n])[1] / self.h
        return found

    def tilt_forces(self, count: int) -> np.ndarray:
        """Forces (count, 3) [N] of tilts, which end where contacts are looked for again, on the first triples."""
        rows, out = self.row_potential, np.zeros_like(self.free)
        rows.add_impulses(out, first=rows.first_tilt)
        return out[:count] / self.h

    def rod_torque(self, gradient: np.ndarray) -> np.ndarray:
        """What the torques (b, 3) [N m s] of rods are more at the end of the step than seen from its start."""
        seen = gradient[self.model.node_count + 1 :: 2]
        return self.h * (seen - self.elements.bodies.moments(self.device, seen))

    def tangle_the_infinite(self) -> bool:
        """Take bodies whose energy, last evaluated, is not finite as tangled; whether there are any."""
        bodies = ~np.isfinite(self.elements.body_energies()) & (self.tangled == 0)
        times = [crossing_time(self.model, i) if there else 0.0 for i, there in enumerate(bodies)]
        self.tangled = np.where(bodies, times, self.tangled)
        self.elements.take_laws(self.tangled)
        return bool(bodies.any())

    def end(self, u: np.ndarray) -> tuple[tuple[np.ndarray, ...], float] | None:
        """Where nodes, and points of rods, come to lie, and their elastic energy there, as last evaluated; None if not
        of their laws."""
        if not self.elements.count or self.tangled.any():
            return None
        return self._places(self.x + self.h * u[: self.model.node_count], self.elements.bodies), self.energy

    def _places(self, x: np.ndarray, bodies) -> tuple[np.ndarray, ...]:
        """All numbers that elements are evaluated at."""
        return (x,) if bodies is None else (x, bodies.position, bodies.rotation)

    def _ended_here(self, places: tuple[np.ndarray, ...]) -> bool:
        """Whether these are where the step begins; orientations are rounded once more when a step ends."""
        for own, there in zip(self._places(self.x, self.elements.start), places):
            if own.shape != there.shape or not np.abs(own - there).max(initial=0.0) <= self.slip:
                return False
        return True

    def value_at_rest(self, rest: np.ndarray, known: tuple[tuple[np.ndarray, ...], float] | None) -> float:
        """Phi [J], but for what gaps of joints make, at velocities that are zero where they are free, before anything
        flows; known: what `end` said of the last step."""
        touching = self.row_potential.rows.slices > self.joints.slices
        if not self.elements.count and not touching:
            return self.device.balance.inertia_terms(self.mass, self.push, rest, np.empty_like(rest))
        if known is None or not self._ended_here(known[0]) or np.any(rest) or self.tangled.any():
            self.elements.take_plastic(self.problem.state.plastic_strain)
            value, _ = self.evaluate(rest)
            self.elements.take_plastic(self.problem.rows.elements.plastic)
            self.energy_at_start = None if np.any(rest) else self.energy
            return value - self.joint_energy
        self.energy_at_start = known[1]
        return known[1] + (self.row_potential.evaluate(rest) - self.joint_energy if touching else 0.0)

    @property
    def joint_energy(self) -> float:
        """The part [J] of what was last evaluated that gaps of joints make."""
        return self.row_potential.joint_energy

    def blocks(self) -> np.ndarray:
        """Diagonal blocks (triples, 3, 3) of mass, and of the stiffness with which bodies under load resist turning."""
        return self.row_potential.with_turning(self.mass)

    def renew(
        self, u: np.ndarray, value: float, gradient: np.ndarray, foreseen: bool = False
    ) -> tuple[float, np.ndarray]:
        """Bring what lags behind up to date: the rows' shifts and Coulomb's discs; Phi and its gradient at u, where
        they were this value and gradient. foreseen: those of joints follow the impulses that were foreseen."""
        rows, gradient = self.row_potential, gradient.copy()
        value -= rows.energy
        rows.add_impulses(gradient)
        if foreseen:
            rows.impulse[: rows.joints.slices] = rows.estimate
        if len(self.problem.rows.contacts) and self.elements.elements.sets:  # those of rigid bodies are hard enough
            rows.harden()
        rows.renew()
        value += rows.evaluate(u, gradient)
        return value, gradient

    def lag(self, closed: float) -> float:
        """How far what lags behind is from what was last evaluated, as an energy [J]; gaps of joints, relative to
        their reach, do not count up to `closed`, which is none at first; then neither do small ones of contacts."""
        rows = self.problem.rows
        if not closed or not len(rows.contacts):
            return self.row_potential.mismatch(closed)
        little = np.zeros(self.row_potential.target.shape)
        size = self.model.colliders.size_of(rows.contacts) / self.h
        for row, part in enumerate(TOUCHING):
            little.reshape(-1)[rows.contact_index + row * LANES] = part * size
        return self.row_potential.mismatch(closed, little)

    def go_on_from(self, u: np.ndarray) -> float:
        """Make u the iterate from which on the work of following pressures counts; what it was worth [J]."""
        return self.following.go_on_from(u[: self.model.node_count]) if self.following else 0.0

    def imbalance(self, gradient: np.ndarray) -> float:
        """The largest of the free components of a gradient, relative to the largest applied or elastic impulse."""
        largest = max(np.abs(self.push * self.free).max(initial=0.0), self.h * np.abs(self.elastic).max(initial=0.0))
        return float(np.abs(gradient * self.free).max(initial=0.0) / max(largest, 1e-300))

    def rounding(self) -> float:
        """Twice the energy [J] of the motion that the rounding of elastic forces and of joints' errors makes."""
        model = self.model
        numbers = (model.node_stiffness, model.node_mass, self.x, EPSILON, self.h)
        elastic = self.device.balance.rounding_energy(*numbers)
        if self.elements.count > model.node_count:
            numbers = (model.body_stiffness, model.least_inertia, body_sizes(self.problem.state), EPSILON, self.h)
            elastic += self.device.balance.rounding_energy(*numbers)
        return elastic + self.row_potential.rounding()

    def element_terms(self, project: bool = True) -> list:
        """The stiffness of every element set times h^2, damping included, at the frames last evaluated; project:
        without the directions in which it is negative."""
        return self.elements.terms(self.h * self.h, self.h, project)
