"""Equilibrium of a scene: Newton's method on the total potential, in load steps (S 4.4 with h -> infinity).

A static solve is an implicit step from rest with a very long time step: inertia then vanishes beside stiffness, and the
step's potential is the total potential energy. Scenes with rigid bodies or contacts, whose rows are linear only for
small motions, begin with short steps that grow (pseudo-transient continuation); an implicit step from rest with
velocity u leaves the forces M u / h out of balance, which says how far equilibrium is.
"""

from dataclasses import replace

import numpy as np

from pliant.checks import at_time, number
from pliant.errors import SceneError, SolverError
from pliant.jit import use_threads
from pliant.kernels.device import refuse_residents
from pliant.simulation import Simulation
from pliant.solve.make import make_solver
from pliant.solve.mixed import MixedSolver
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.options import Mixed, Newton
from pliant.solve.problem import mass_blocks
from pliant.statics.checks import refuse_free_motions, refuse_inverted
from pliant.stepping.attempts import NO_NUMBERS
from pliant.stepping.dynamics import integrate, predict
from pliant.stepping.parts import scaled as scaled_impulses
from pliant.stepping.step import check_motion, pose

# Work up to which a static system is factorised: without inertia slender bodies are too much for float32 iterations.
STATIC_DIRECT_WORK = 1e7
# Length of a static step against the time in which a node answers the stiffness around it.
LONG = 1e6
# First step [s] of a scene with rigid bodies or contacts, its growth, and the largest turn [rad] of a body in a step.
FIRST_STEP, GROWTH, LARGEST_TURN = 0.05, 2.0, 0.3
# The same where only rods turn, which have no rows.
LARGEST_ROD_TURN = 1.5
# Most steps for one load, and how often a load step that fails is halved.
MOST_STEPS, MOST_HALVINGS = 400, 6
# Forces out of balance, relative to those applied, that count as equilibrium; and the last motion, relative to the size
# of the scene, of a long step and of one that still pushes contacts apart.
BALANCE, STILL, SETTLED = 1e-6, 1e-9, 1e-7
# Motion, relative to the size of the scene and of its joints, beyond which a body comes to rest nowhere.
FARTHEST = 1e3


def equilibrium(
    scene, *, solver=None, load_steps: int = 1, time: float = 0.0, dt: float = 1 / 60, threads=None, device: str = "cpu"
):
    """A simulation at rest in equilibrium; see Scene.equilibrium."""
    refuse_residents(device, "static equilibrium")
    solver = Newton(tolerance=1e-6, max_iterations=200) if solver is None else solver
    if not isinstance(solver, Newton | Mixed):
        raise SolverError(f"equilibrium needs pliant.Newton(...) or pliant.Mixed(...), got {solver!r}")
    time = number(time, "time")
    if not isinstance(load_steps, int) or isinstance(load_steps, bool) or load_steps < 1:
        raise SolverError(f"load_steps must be a whole number from 1 on, got {load_steps!r}")
    sim = Simulation(scene, dt, solver=solver, threads=threads, device=device)
    mixed = isinstance(solver, Mixed)
    options, working = (solver, MixedSolver) if mixed else (replace(solver, integrator="euler"), NewtonSolver)
    sim.working_solver = working(options, sim.model, sim.state, STATIC_DIRECT_WORK)
    swinging = refuse_free_motions(sim.model, sim.state)
    with use_threads(sim.thread_choice.most):
        Loading(sim, time, long=not swinging).run(load_steps)
    refuse_inverted(sim.model, sim.state)
    return sim


class Loading:
    """A scene on its way to equilibrium under loads that grow from none to all."""

    def __init__(self, sim: Simulation, time: float, long: bool):
        self.sim, self.time, self.solver = sim, time, sim.working_solver
        self.long = long and not self._may_touch()
        only_rods = bool(sim.model.rods.names) and not len(sim.model.joints.family)
        self.largest_turn = LARGEST_ROD_TURN if only_rods else LARGEST_TURN
        self.length = sim.dt  # [s] of the step whose impulses the state holds
        points = _points(sim.state)
        self.first, self.size = points, max(float((points.max(axis=0) - points.min(axis=0)).max()), 1e-6)

    def _may_touch(self) -> bool:
        return bool(self.sim.model.colliders.things.may_touch_others().any())

    def run(self, load_steps: int) -> None:
        """All load steps; one that fails is taken in halves."""
        done, share, halvings = 0.0, 1.0 / load_steps, 0
        while done < 1.0 - 1e-12:
            target = min(done + share, 1.0)
            before, length = self.sim.state, self.length
            try:
                self._balance(scaled(self.sim.model, target, self.time))
            except (SolverError, *NO_NUMBERS) as error:
                halvings += 1
                if halvings > MOST_HALVINGS:
                    raise SolverError(
                        f"no equilibrium found beyond {done:.3g} of the load: {error}. Try more load_steps; a "
                        f"structure that snaps or collapses has none nearby"
                    ) from None
                self.sim.state, self.length, share = before, length, 0.5 * share
                continue
            done = target
        self._rest()

    def _balance(self, model) -> None:
        """Steps under one load until forces balance."""
        sim = self.sim
        model = model.during(sim.state, self.time)
        h = LONG * _answer_time(model) if self.long else FIRST_STEP
        motion = 0.0
        for _ in range(MOST_STEPS):
            before = scaled_impulses(_held(sim.state), h / self.length)
            self.length = h
            problem = pose(model, before, h, linear_rows=False)
            # where contacts are pushed apart, small motions count as well
            solution, motion = self.solver.balance(problem, motion if self.long else 0.0)
            if solution.rows is not None:  # with contacts where the step leads
                problem = problem.with_rows(solution.rows)
            state, sim.info = integrate(problem, solution), solution.info
            self._refuse_far(state)
            check_motion(model, problem.state, problem.h, solution.u, problem.prediction.u, solution.info)
            moved = float(np.abs(_points(state) - _points(before)).max())
            turn = h * float(np.abs(state.body_angular_velocity).max(initial=0.0))
            if turn > self.largest_turn or (not sim.info.converged and not self.long):
                h *= 0.25
                if h < 1e-6:
                    raise SolverError("the step length fell to nothing")
                sim.state = before
                continue
            sim.state = state
            balance = _imbalance(model, state, h)
            still = moved <= (STILL if self.long else SETTLED) * self.size
            settled = still and (self.long or balance <= BALANCE)
            settled = (settled or (self.long and self._smooth())) and not sim.info.tangled
            if sim.info.converged and settled:
                sim.info.residual = max(sim.info.residual, balance if not self.long else 0.0)
                return
            if self.long and not sim.info.converged:
                raise SolverError(f"Newton stopped at residual {sim.info.residual:.1e}")
            if not self.long:
                h *= GROWTH
        raise SolverError(f"forces are still out of balance by {balance:.1e} of the loads after {MOST_STEPS} steps")

    def _refuse_far(self, state) -> None:
        """A body that may touch others is let go; one that falls past all of them has no balance, under any load."""
        moved, model = np.abs(_points(state) - self.first).max(axis=1), self.sim.model
        radius = np.where(np.isfinite(model.body_radius), model.body_radius, 0.0).max(initial=0.0)
        size = self.size + radius + model.joints.reach.max(initial=0.0)
        if self.long or not moved.max() > FARTHEST * size:
            return
        place = int(moved.argmax())
        body = np.searchsorted(model.node_start, place, side="right") - 1
        names = [*model.soft_names, *model.rigid_names]
        name = names[body if place < model.node_count else len(model.soft_names) + place - model.node_count]
        raise SceneError(
            f"equilibrium: {name!r} moves away without end and touches nothing that stops it; pin it, join it to "
            f"something that is held, or put something below it"
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
    largest = max(np.abs(applied).max(initial=0.0), model.rods.largest_load(state))
    return float(np.abs(force).max(initial=0.0) / max(largest, 1e-300))
