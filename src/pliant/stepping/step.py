"""One step: the table of contents of the engine."""

import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from pliant.collide import detect
from pliant.errors import SolverError
from pliant.model.model import Model
from pliant.model.overlaps import crossing_pairs
from pliant.model.state import State
from pliant.model.wrenches import broken_blocks
from pliant.rotations import largest_parts, lengths
from pliant.solve.dual.drift import close_gaps, straying
from pliant.solve.info import Info
from pliant.solve.newton.landing import as_it_lands
from pliant.solve.problem import Problem, Solution, fill_rows
from pliant.solve.residual import UNBALANCED, residual
from pliant.stepping.apart import kept_apart
from pliant.stepping.attempts import MOST, Attempts
from pliant.stepping.bouncing import gaining
from pliant.stepping.dynamics import integrate, predict
from pliant.stepping.gains import without_gains
from pliant.stepping.held import held_back
from pliant.stepping.parts import ASTRAY, in_halves, in_parts, in_time
from pliant.stepping.spins import paid_spins

# A step that did not converge and moves something by so many times the size of the scene has run away.
RUN_AWAY = 10.0


def step(model: Model, state: State, solver, h: float) -> tuple[State, Info]:
    """The state after h [s], and the solver's report. Nothing is written into the old state."""
    parts = getattr(solver, "substeps", None)
    attempts = Attempts(advance, MOST * (parts or 1))
    if getattr(solver, "bounded", False):
        new, info = in_time(attempts.take, model, state, solver, h)
    elif parts:
        new, info = in_parts(attempts.take, model, state, solver, h, parts)
    else:
        new, info = in_halves(attempts, model, state, solver, h)
    if solver.linear_rows and info.parts > 1:  # in a short part nothing gets far
        check_motion(model, state, h, new.velocity_triples(), state.velocity_triples(), info)
    return new, attempts.told(info)


def advance(model: Model, state: State, solver, h: float) -> tuple[State, Info]:
    """The stages of a step."""
    if hasattr(solver, "advance"):
        return _advance_there(model, state, solver, h)
    clock, whole, model = Clock(), model, model.during(state, state.time + h)
    problem = pose(model, state, h, solver.linear_rows, clock)
    solution = solver.solve(problem)
    if solution.rows is not None and solution.rows is not problem.rows:
        problem = problem.with_rows(solution.rows)
    if not solver.linear_rows:
        solution = (kept_apart if getattr(solver, "bounded", False) else held_back)(problem, solution)
    check_motion(model, state, h, solution.u, _expected(problem, solution), solution.info)
    clock.lap("solve")
    new = integrate(problem, solution).remembering(solver.name, **solution.memory)
    clock.lap("integrate")
    if solver.linear_rows:
        new, _ = paid_spins(problem, solution, close_gaps(problem, solution, new, solver))
        _check_joints(problem, solution, new)
    else:
        new = (as_it_lands if getattr(solver, "bounded", False) else without_gains)(problem, solution, new)
    solution.info.straying = max(solution.info.straying, _strayed(problem, solution, solver, new))
    clock.lap("drift")
    if model.fragile:
        new = replace(new, broken=broken_blocks(model, new, h))
    return _crossed(whole, state, new, solver, solution), _measured(problem, solution, solver, clock)


def _expected(problem: Problem, solution: Solution) -> np.ndarray:
    """Velocities (triples, 3) of which a step that did not converge may miss by little: the predicted ones; of what is
    kept apart, and so may have been stopped, rest where that is nearer."""
    predicted, u = problem.prediction.u, solution.u
    if solution.look is not None:  # which has no more energy than there was, whatever it bounced from
        return u
    if not solution.apart or _near(problem.model, problem.state, problem.h * np.abs(u - predicted)):
        return predicted
    stopped = largest_parts(u) < largest_parts(u - predicted)
    return np.where(stopped[:, None], 0.0, predicted)


def _check_joints(problem: Problem, solution: Solution, new: State) -> None:
    """Joints that are open where a step with linear rows ends are not met, whatever their rows say."""
    info = solution.info
    if info.straying > ASTRAY and straying(problem.model, new) > ASTRAY:
        info.converged = False
        check_motion(problem.model, problem.state, problem.h, solution.u, problem.prediction.u, info)


def _crossed(model: Model, state: State, new: State, solver, solution: Solution) -> State:
    """The new state with what crosses there: Newton's steps are checked on their way, and what starts apart and
    converges, or is kept apart, ends apart. A body that has crossed itself does not touch itself until it is upright
    again, for that is its way back."""
    if not (len(state.crossing) or solver.linear_rows or not (solution.info.converged or solution.apart)):
        return new
    own = state.crossing[state.crossing[:, 0] == state.crossing[:, 1]]
    turned = own[own[:, 0] < len(new.tangled)]
    turned = turned[new.tangled[turned[:, 0]] > 0]
    return replace(new, crossing=np.unique(np.concatenate([crossing_pairs(model, new), turned]), axis=0))


def _advance_there(model: Model, state: State, solver, h: float) -> tuple[State, Info]:
    """One step of what lies on a device: its solver takes it as a whole, or leaves it to its stand-in."""
    found = solver.advance(model, state, h)
    if found is None:
        return advance(model, replace(state, crossing=crossing_pairs(model, state)), solver.stand_in, h)
    new, info = found
    if not info.converged:
        predicted = new.v - new.memory[solver.name]["change"]
        check_motion(model, state, h, new.v, predicted, info)
    info.converged = info.converged and info.imbalance <= UNBALANCED
    return new, info


def _strayed(problem: Problem, solution: Solution, solver, new: State) -> float:
    """How far a step is too long: by joints that did not converge, and by how many half turns it changes what a body
    turns by in it: beyond one, joints may be met by whole turns that nothing asks for."""
    model, far = problem.model, 0.0
    if not (solver.linear_rows or solution.info.converged):
        late = len(model.joints.family) and not (model.elements.sets or model.may_touch)
        far = np.inf if late else straying(model, new)
    if not problem.rows.table.slices:
        return far
    change = (solution.u - problem.before)[model.node_count + 1 :: 2]
    return max(far, float(problem.h * lengths(change).max(initial=0.0) / np.pi))


def _measured(problem: Problem, solution: Solution, solver, clock: "Clock") -> Info:
    """The solver's report, completed by what the step measures itself: no step has converged that is out of balance."""
    imbalance = solution.info.imbalance  # as a solver that is done has just measured it
    if np.isnan(imbalance):
        imbalance = residual(problem, solution, solver.equations)
    clock.lap("measure")
    info = solution.info
    info.converged, info.imbalance = info.converged and imbalance <= UNBALANCED, imbalance
    info.gaining = gaining(problem, solution)
    info.contacts, info.timings = len(problem.rows.contacts), clock.laps
    return info


def pose(model: Model, state: State, h: float, linear_rows: bool, clock: "Clock | None" = None) -> Problem:
    """What a step of length h from a state asks: predict, collide, fill the rows."""
    clock = clock or Clock()
    prediction = predict(model, state, h, linear_rows)
    clock.lap("predict")
    contacts = detect(model, state, h)
    clock.lap("collide")
    rows = fill_rows(model, state, contacts, h)
    clock.lap("rows")
    return Problem(model, state, prediction, rows, h)


def check_motion(model: Model, state: State, h: float, u: np.ndarray, predicted: np.ndarray, info: Info) -> None:
    """A velocity that is not finite stops the simulation, and so does a step that failed and ran away; the message
    names step, body and node or element."""
    if not math.isfinite(float(u.sum())) and len(bad := np.flatnonzero(~np.isfinite(u).all(axis=1))):
        raise SolverError(
            f"step {state.step + 1} (t = {state.time:g} s): the velocity of {model.place_of(int(bad[0]))} is not "
            f"finite ({len(bad)} velocities in all); the state before the step is kept. Try a smaller time step or "
            f"softer material"
        )
    if info.converged or _near(model, state, h * np.abs(u - predicted)):
        return
    points = np.concatenate([state.x, state.body_position])
    radius = np.where(np.isfinite(model.body_radius), model.body_radius, 0.0)
    size = float(np.ptp(points, axis=0).max(initial=0.0) + 2 * radius.max(initial=0.0))
    moved = h * np.abs(u - predicted).max(axis=1)
    moved[model.node_count + 1 :: 2] *= radius
    worst = int(np.argmax(moved)) if len(moved) else 0
    if len(moved) and moved[worst] > RUN_AWAY * size:
        error = SolverError(
            f"step {state.step + 1} (t = {state.time:g} s): the step did not converge (residual "
            f"{info.residual:.1e}) and {model.place_of(worst)} ran away by {moved[worst]:.3g} m in a scene of "
            f"{size:.3g} m; the state before the step is kept. Try a smaller time step"
        )
        error.info = info
        raise error


def _near(model: Model, state: State, ways: np.ndarray) -> bool:
    """Whether ways (triples, 3) [m] of nodes, where nothing else moves freely, are too short to have run away, at a
    quick look: what they are nodes of is at least as large as two of them are apart."""
    if not model.static.all() or not len(state.x):
        return False
    return float(ways[: len(state.x)].max()) <= RUN_AWAY * float(np.abs(state.x[-1] - state.x[0]).max())


def check_state(model: Model, state: State) -> None:
    """A state that is not finite is none: it stops the simulation, whatever the velocities were."""
    if state.known_finite:
        return
    bodies = (state.body_position, state.body_rotation, state.body_velocity, state.body_angular_velocity)
    flow = (state.plastic_strain,) if model.elements.plastic else ()
    parts = (state.x, state.v, *bodies, *flow)
    if math.isfinite(sum(float(np.add.reduce(part, axis=None)) for part in parts if part.size)):
        return  # at a quick look
    moved = [np.isfinite(np.concatenate([state.x, state.v], axis=1)).all(axis=1)]
    moved.append(np.repeat(np.isfinite(np.concatenate(bodies, axis=1)).all(axis=1), 2))
    bad = np.flatnonzero(~np.concatenate(moved))
    if len(bad) or not np.isfinite(state.plastic_strain).all():
        what = model.place_of(int(bad[0])) if len(bad) else "a plastic strain"
        raise SolverError(
            f"step {state.step} (t = {state.time:g} s): {what} is not finite any more; the state before the step is "
            f"kept. Try a smaller time step"
        )


class Clock:
    """Seconds per stage."""

    def __init__(self):
        self.laps: dict[str, float] = {}
        self.last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name], self.last = now - self.last, now
