"""Equilibrium of a scene: Newton's method on the total potential, in load steps (S 4.4 with h -> infinity).

A static solve is an implicit step from rest with a very long time step: inertia then vanishes beside stiffness, and the
step's potential is the total potential energy. Scenes with rigid bodies or contacts, whose rows are linear only for
small motions, begin with short steps that grow (pseudo-transient continuation), and so do others where one long step
does not converge, as near buckling; an implicit step from rest with velocity u leaves the forces M u / h out of
balance, which says how far equilibrium is.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.checks import at_time, flag, number
from pliant.errors import SceneError, SolverError
from pliant.jit import use_threads
from pliant.kernels.device import refuse_residents
from pliant.model.overlaps import crossing_pairs
from pliant.running import with_line
from pliant.simulation import Simulation
from pliant.solve.make import make_solver
from pliant.solve.mixed import MixedSolver
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.newton.touching import shares_before_meeting
from pliant.solve.options import Mixed, Newton
from pliant.solve.problem import mass_blocks
from pliant.statics.checks import refuse_free_motions, refuse_inverted
from pliant.statics.stability import warn_if_unstable
from pliant.stepping.attempts import NO_NUMBERS
from pliant.stepping.dynamics import integrate, predict
from pliant.stepping.parts import scaled as scaled_impulses
from pliant.stepping.step import pose

# The solver of an equilibrium for which none is named.
STATIC_SOLVER = Newton(tolerance=1e-6, max_iterations=200)
# The least number of its iterations, by the second of which it is known what the first has left.
LEAST_ITERATIONS = 2
# Work up to which a static system is factorised: without inertia slender bodies are too much for float32 iterations.
STATIC_DIRECT_WORK = 1e7
# Length of a static step against the time in which a node answers the stiffness around it.
LONG = 1e8
# First step [s] of a scene with rigid bodies or contacts, its growth, and the largest turn [rad] of a body in a step.
FIRST_STEP, GROWTH, LARGEST_TURN = 0.05, 2.0, 0.3
# The same where only rods turn, which have no rows.
LARGEST_ROD_TURN = 1.5
# The shortest step [s]; most steps for one load; how often a load step that fails is halved, and after how many that
# do not it is doubled again.
SHORTEST_STEP, MOST_STEPS, MOST_HALVINGS, SUCCESSES = 1e-6, 400, 6, 3
# Forces out of balance, relative to those applied, that count as equilibrium; and the last motion, relative to the size
# of the scene, of a long step and of one that still pushes contacts apart.
BALANCE, STILL, SETTLED = 1e-6, 1e-9, 1e-7
# Motion, relative to the size of the scene and of its joints, beyond which a body comes to rest nowhere.
FARTHEST = 1e3
# All ways of what cannot get away, relative to the size that it has then, after which it goes round and round.
ROUND = 20.0
# Part of the stiffness times the size that counts as load, so that where there is none at all rounding is none.
NO_LOAD = 1e-12


def equilibrium(
    scene,
    *,
    solver=None,
    load_steps: int = 1,
    time: float = 0.0,
    dt: float = 1 / 60,
    threads=None,
    device: str = "cpu",
    progress: bool | None = False,
):
    """A simulation at rest in equilibrium; see Scene.equilibrium."""
    refuse_residents(device, "static equilibrium")
    solver = STATIC_SOLVER if solver is None else solver
    if not isinstance(solver, Newton | Mixed):
        raise SolverError(f"equilibrium needs pliant.Newton(...) or pliant.Mixed(...), got {solver!r}")
    most = "outer" if isinstance(solver, Mixed) else "max_iterations"
    if getattr(solver, most) < LEAST_ITERATIONS:
        raise SolverError(
            f"equilibrium needs pliant.{type(solver).__name__} with {most} from {LEAST_ITERATIONS} on, for what one "
            f"iteration leaves is not known, got {most}={getattr(solver, most)}"
        )
    time = number(time, "time")
    if not isinstance(load_steps, int) or isinstance(load_steps, bool) or load_steps < 1:
        raise SolverError(f"load_steps must be a whole number from 1 on, got {load_steps!r}")
    sim = Simulation(scene, dt, solver=solver, threads=threads, device=device)
    mixed = isinstance(solver, Mixed)
    # an integrator is that of the steps that the simulation goes on with, from rest
    options, working = (solver, MixedSolver) if mixed else (replace(solver, integrator="euler"), NewtonSolver)
    sim.working_solver = working(options, sim.model, sim.state, STATIC_DIRECT_WORK)
    swinging = refuse_free_motions(sim.model, sim.state)
    progress = None if progress is None else flag(progress, "progress")
    with use_threads(sim.thread_choice.most), with_line("balancing", progress) as tell:
        Loading(sim, time, not swinging, tell).run(load_steps)
    refuse_inverted(sim.model, sim.state)
    warn_if_unstable(sim.model, sim.state, sim.dt, STATIC_DIRECT_WORK)
    return sim


class Loading:
    """A scene on its way to equilibrium under loads that grow from none to all."""

    share, steps, iterations = 0.0, 0, 0
    """The part of the load that acts; steps tried and iterations taken so far."""
    loaded = False
    """Whether a part of the load is in balance."""
    clear = True
    """Whether nothing passes through anything on the way of the last step."""

    def __init__(self, sim: Simulation, time: float, long: bool, tell: Callable[[str], None]):
        self.sim, self.time, self.solver, self.tell = sim, time, sim.working_solver, tell
        self.long = long and not self._may_touch()
        only_rods = bool(sim.model.rods.names) and not len(sim.model.joints.family)
        self.largest_turn = LARGEST_ROD_TURN if only_rods else LARGEST_TURN
        self.length = sim.dt  # [s] of the step whose impulses the state holds
        self.first, self.size = _points(sim.state), _size(sim.state)

    def _may_touch(self) -> bool:
        return bool(self.sim.model.colliders.things.may_touch_others().any())

    def run(self, load_steps: int) -> None:
        """All load steps; one that fails is taken in halves, and those after it are as long as before once some of its
        parts went well."""
        done, share, halvings, successes = 0.0, 1.0 / load_steps, 0, 0
        while done < 1.0 - 1e-12:
            target = min(done + share, 1.0)
            before, length, self.share = self.sim.state, self.length, target
            try:
                self._balance(scaled(self.sim.model, target, self.time))
            except (SolverError, *NO_NUMBERS) as error:
                halvings, successes = halvings + 1, 0
                if halvings > MOST_HALVINGS:
                    raise SolverError(
                        f"no equilibrium found beyond {done:.3g} of the load: {error}. Try more load_steps; a "
                        f"structure that snaps or collapses has none nearby"
                    ) from None
                self.sim.state, self.length, share = before, length, 0.5 * share
                continue
            done, self.loaded, successes = target, True, successes + 1
            if halvings and successes == SUCCESSES:
                share, halvings, successes = 2.0 * share, halvings - 1, 0
        self._rest()

    def _balance(self, model) -> None:
        """Steps under one load until forces balance."""
        sim = self.sim
        model = model.during(sim.state, self.time)
        if self.long:
            before, length = sim.state, self.length
            try:
                return self._leap(model)
            except (SolverError, *NO_NUMBERS):
                if model.pressures and self.loaded:  # what is slack at first resists pressures once it bulges
                    raise
                sim.state, self.length = before, length
        return self._creep(model)

    def _leap(self, model) -> None:
        """Long steps until nothing moves any more; one is enough where the scene is smooth."""
        h, motion = LONG * _answer_time(model), 0.0
        for _ in range(MOST_STEPS):
            before = self.sim.state
            state, motion = self._step(model, h, motion)
            if not self.sim.info.converged:
                raise SolverError(f"iterations stopped at residual {self.sim.info.residual:.1e}")
            self.sim.state, self.length = state, h
            still = _way(before, state) <= STILL * self.size
            if (still or self._smooth()) and not self.sim.info.tangled:
                return self._refuse_crossing(model, state)
        raise SolverError(f"parts still move after {MOST_STEPS} steps")

    def _refuse_crossing(self, model, state) -> None:
        """Nothing has gone through itself on the way of long steps, which is not looked at: then short ones may not."""
        known = {tuple(pair) for pair in state.crossing.tolist()}
        if model.may_touch and any(tuple(pair) not in known for pair in crossing_pairs(model, state).tolist()):
            raise SolverError("a body passes through itself on the way")

    def _creep(self, model) -> None:
        """Short steps that grow until forces balance."""
        sim, h, motion, balance, gone = self.sim, FIRST_STEP, 0.0, np.inf, 0.0
        for _ in range(MOST_STEPS):
            before = sim.state
            # where contacts are pushed apart, small motions count as well; else they may be but rounding
            state, motion = self._step(model, h, 0.0 if self._may_touch() else motion)
            if self.long and sim.info.tangled:
                raise SolverError("elements are turned inside out on the way, which leads past all balances nearby")
            self._refuse_far(state)
            turn = h * float(np.abs(state.body_angular_velocity).max(initial=0.0))
            if turn > self.largest_turn or not (sim.info.converged and self.clear):
                h *= 0.25
                if self.long and model.pressures and gone > 0.0:
                    # beyond its limit point a balloon grows without end, however short the steps
                    raise SolverError("iterations do not converge on the way")
                if h < SHORTEST_STEP:
                    ends = "iterations do not converge" if self.clear else "surfaces pass through each other"
                    raise SolverError(f"{ends}, however short their way")
                continue
            sim.state, self.length = state, h
            balance, way = _imbalance(model, state, h), _way(before, state)
            if way <= SETTLED * self.size and balance <= BALANCE and not sim.info.tangled:
                sim.info.residual = max(sim.info.residual, balance)
                return
            gone += way / max(self._extent(), _size(state))
            self._refuse_round(before, state, gone)
            h *= GROWTH
        raise SolverError(f"forces are still out of balance by {balance:.1e} of the loads after {MOST_STEPS} steps")

    def _step(self, model, h: float, motion: float):
        """The state after a step of length h [s] from rest, and twice the energy [J] of the largest motion so far."""
        sim = self.sim
        before = scaled_impulses(_held(sim.state), h / self.length)
        problem = pose(model, before, h, linear_rows=False)
        solution, motion = self.solver.balance(problem, motion)
        if not np.isfinite(solution.u).all():
            raise SolverError("its numbers grow beyond all bounds")
        if solution.rows is not None:  # with contacts where the step leads
            problem = problem.with_rows(solution.rows)
        sim.info = solution.info
        self.clear = not model.may_touch or shares_before_meeting(problem, solution.u).min(initial=1.0) >= 1.0
        self._tell_step()
        return integrate(problem, solution), motion

    def _tell_step(self) -> None:
        self.steps, self.iterations = self.steps + 1, self.iterations + self.sim.info.iterations
        self.tell(f"{self.share:.0%} of the load, step {self.steps}, {self.iterations} iterations")

    def _refuse_far(self, state) -> None:
        """A body that may touch others is let go; one that falls past all of them has no balance, under any load."""
        moved, model = np.abs(_points(state) - self.first).max(axis=1), self.sim.model
        if self.long or not moved.max() > FARTHEST * self._extent():
            return
        raise SceneError(
            f"equilibrium: {_name(model, int(moved.argmax()))!r} moves away without end and touches nothing that stops "
            f"it; pin it, join it to something that is held, or put something below it"
        )

    def _extent(self) -> float:
        """The size [m] of the scene, with that of bodies and what joints reach over."""
        model = self.sim.model
        radius = np.where(np.isfinite(model.body_radius), model.body_radius, 0.0).max(initial=0.0)
        return float(self.size + radius + model.joints.reach.max(initial=0.0))

    def _refuse_round(self, before, state, gone: float) -> None:
        """What swings comes to rest on a short way, for it never has speed; a torque, or a pressure that follows its
        face, may turn it for ever."""
        if gone <= ROUND or self._may_touch():
            return
        place = int(np.abs(_points(state) - _points(before)).max(axis=1).argmax())
        raise SceneError(
            f"equilibrium: {_name(self.sim.model, place)!r} goes round and round, for nothing resists its load; pin or "
            f"clamp more of it, or join it to the world or to something that is held"
        )

    def _smooth(self) -> bool:
        """Whether one long step is the answer: nothing in the scene is linear for small motions only, or creeps."""
        return not len(self.sim.model.joints.family) and not self.sim.model.elements.plastic

    def _rest(self) -> None:
        """Velocities of an equilibrium, and impulses for the time step of the simulation."""
        sim = self.sim
        state = scaled_impulses(_held(sim.state), sim.dt / self.length).remembering(self.solver.name)
        sim.state = state = replace(state, time=self.time, step=0)
        sim.working_solver = make_solver(sim.solver, sim.model, state, sim.precision)


def scaled(model, share: float, time: float):
    """The model without damping, with a share of all loads and prescribed displacements, frozen at a time [s]."""

    def part(value):
        return share * at_time(value, time)

    return replace(
        model,
        gravity=share * model.gravity,
        node_mass_damping=np.zeros_like(model.node_mass_damping),
        elements=model.elements.undamped,
        node_damping=np.zeros_like(model.node_damping),
        joints=model.joints.frozen(time),
        node_loads=[(nodes, weights, part(vector)) for nodes, weights, vector in model.node_loads],
        pressures=[(triangles, part(pressure)) for triangles, pressure in model.pressures],
        pins=[
            replace(pin, velocity=None, displacement=None if pin.displacement is None else part(pin.displacement))
            for pin in model.pins
        ],
        driven=[],
        body_forces=[(body, part(vector), point) for body, vector, point in model.body_forces],
        body_torques=[(body, part(vector)) for body, vector in model.body_torques],
    )


def _points(state) -> np.ndarray:
    """Nodes and centres of rigid bodies (k, 3)."""
    return np.concatenate([state.x, state.body_position])


def _size(state) -> float:
    """The largest extent [m] of all nodes and centres of rigid bodies along an axis."""
    return max(float(np.ptp(_points(state), axis=0).max()), 1e-6)


def _name(model, place: int) -> str:
    """The body of a node or of a centre of a rigid body."""
    if place >= model.node_count:
        return model.rigid_names[place - model.node_count]
    return model.soft_names[int(np.searchsorted(model.node_start, place, side="right") - 1)]


def _way(before, after) -> float:
    """The longest way [m] of a node or the centre of a rigid body between two states."""
    return float(np.abs(_points(after) - _points(before)).max())


def _answer_time(model) -> float:
    """The longest time sqrt(m / k) of a node [s]."""
    return float(np.sqrt(np.max(model.node_mass / np.maximum(model.node_stiffness, 1e-300))))


def _held(state):
    """The state with all velocity taken away."""
    still = ("v", "previous_velocity", "body_velocity", "body_angular_velocity")
    return replace(state, **{name: np.zeros_like(getattr(state, name)) for name in still})


def _imbalance(model, state, h: float) -> float:
    """Forces out of balance after a step from rest, M u / h, relative to the applied ones, in the norm of largest."""
    after = state.velocity_triples()
    prediction = predict(model, _held(state), h)
    mass = mass_blocks(model, prediction, h)
    free = np.ones(after.shape)
    free[: model.node_count] = model.free
    free[model.node_count :] = np.repeat(~model.static, 2)[:, None]
    multiply_diagonal = model.device.linalg.triples.multiply_diagonal
    force = multiply_diagonal(mass, free * after) / h
    applied = multiply_diagonal(mass, free * prediction.u) / h
    least = NO_LOAD * _size(state) * np.max(model.node_stiffness, initial=0.0)
    largest = max(np.abs(applied).max(initial=0.0), model.rods.largest_load(state), least)
    return float(np.abs(force).max(initial=0.0) / max(largest, 1e-300))
