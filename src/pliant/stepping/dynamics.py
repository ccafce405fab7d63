"""Prediction and integration: what happens before and after the solve (theory section 1)."""

import numpy as np

from pliant.checks import at_time
from pliant.model.loads import body_loads, node_forces, prescribe, wind_forces
from pliant.model.state import State
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.problem import Prediction, Problem, Solution, kept_impulses

# How much more energy than its turning and its spin before the spin of a body in joints may have after a step.
EXCESS = 1.01
# Bodies from which on threads share them.
MANY = 4096


def predict(model, state, h: float, stiffen: bool = False) -> Prediction:
    """Velocities after external forces alone, u* = u_old + h M^-1 f, with prescribed velocities in place.

    stiffen: let bodies resist turning against the last forces of their joints, as rows that are linear need it.
    """
    n, b = model.node_count, model.body_count
    end, known = state.time + h, model.inertia(h)
    u = np.zeros((n + 2 * b, 3))
    if known is not None:
        inverse_mass, drag = known.inverse_mass, known.drag
        _accelerate(model, state, h, end, drag[:, None], _acceleration(model, state.x, end), u[:n])
    else:
        inverse_mass = np.zeros((n + 2 * b, 6))
        drag = _predict_nodes(model, state, h, end, u[:n], inverse_mass[:n])
    if not b:
        return Prediction(u, inverse_mass, u[n:], u[n:], drag, known)
    linear, angular = u[n::2], u[n + 1 :: 2]
    extrapolated = state.memory.get("before")
    rotation = state.body_rotation if extrapolated is None else extrapolated["rotation"]
    weights, kicks = model.inverse_body_mass[:, None], np.zeros((b, 3))
    linear[:] = state.body_velocity + h * model.body_fall
    if model.body_forces or model.body_torques:
        force, torque = body_loads(model, rotation, end)
        linear[:] = state.body_velocity + h * (model.body_fall + force * weights)
        kicks = h * torque
    spin = state.body_angular_velocity.copy()
    for i, velocity, angular_velocity in model.driven:
        linear[i], spin[i] = at_time(velocity, end), at_time(angular_velocity, end)
    momentum, mid, inverse_inertia = np.zeros((b, 3)), np.zeros((b, 3)), np.zeros((b, 6))
    predict_bodies = model.device.many_bodies.predict_many if b >= MANY else model.device.rigid.predict_bodies
    predict_bodies(
        model.body_mass,
        model.body_inertia,
        model.static,
        state.body_rotation,
        spin,
        kicks,
        _tensions(model, state, h) if stiffen else np.zeros((b, 6)),
        h,
        extrapolated is not None,
        momentum,
        mid,
        inverse_inertia,
    )
    angular[:] = mid
    if known is None:
        inverse_mass[n::2, :3], inverse_mass[n + 1 :: 2] = weights, inverse_inertia
    return Prediction(u, inverse_mass, momentum, mid, drag, known)


def _tensions(model, state, h: float) -> np.ndarray:
    """h^2 times the stiffness (b, 6) of bodies against turning under the joints' last impulses."""
    blocks, rows = model.joints, Rows.empty(model.joints.start)
    joint_rows.fill(blocks, rows, state.pose, h)
    return joint_rows.turning_stiffness(blocks, state.impulses.joints, rows.jacobian, state.body_rotation, h)


def _predict_nodes(model, state, h, end, u, inverse_mass) -> np.ndarray:
    """Fills velocities and inverse masses; the factors (n,) by which nodes resist change more for what drags them."""
    damping, wind = model.node_mass_damping, 0.0
    if model.winds:  # their force at the velocities so far; against change, what would make a node overshoot
        wind, growth = wind_forces(model, state.x, state.v, end)
        resistance = np.maximum(growth - model.node_mass / h, 0.0)
        wind += resistance[:, None] * state.v
        damping = damping + resistance / model.node_mass
    drag = (1 + h * damping)[:, None]
    inverse_mass[:, :3] = model.free / (model.node_mass[:, None] * drag)
    _accelerate(model, state, h, end, drag, _acceleration(model, state.x, end, wind), u)
    return drag[:, 0]


def _acceleration(model, x: np.ndarray, time: float, wind: np.ndarray | float = 0.0) -> np.ndarray:
    """Of nodes at x (n, 3) by gravity, loads, pressures, and wind (n, 3) [N]: (n, 3) or, of gravity alone, (3,)
    [m/s2]."""
    if not (model.node_loads or model.pressures or model.winds):
        return model.gravity
    return model.gravity + (node_forces(model, x, time) + wind) / model.node_mass[:, None]


def _accelerate(model, state, h, end, drag: np.ndarray, acceleration: np.ndarray, u: np.ndarray) -> None:
    """Fills velocities u (n, 3) of nodes with drag (n, 1)."""
    u[:] = (state.v + h * acceleration) / drag
    prescribe(model, state.x, end, h, u)


def integrate(problem: Problem, solution: Solution) -> State:
    """The state after a step: x += h u, orientations by the exponential map of h w."""
    model, state, u, h = problem.model, problem.state, solution.u, problem.h
    v, bodies = u[: model.node_count].copy(), model.body_count or len(model.joints.free.kind)
    x = state.x + h * (v if solution.travel is None else solution.travel)
    return state.changed(
        time=state.time + h,
        step=state.step + 1,
        x=x,
        v=v,
        **(_integrate_bodies(problem, solution, x) if bodies else {}),
        plastic_strain=problem.rows.elements.plastic,
        impulses=kept_impulses(problem.rows, solution.impulses),
        tangled=state.tangled if solution.tangled is None else solution.tangled,
        previous_velocity=state.v,
        row_impulse=_node_impulses(problem, solution),
        span=h,
    )


def _integrate_bodies(problem: Problem, solution: Solution, x: np.ndarray) -> dict[str, np.ndarray]:
    """Rigid bodies and coordinates of joints after a step that ends with nodes at x (n, 3), by their names in a
    state."""
    model, state, u, h = problem.model, problem.state, solution.u, problem.h
    n = model.node_count
    velocity, turn = u[n::2].copy(), np.ascontiguousarray(u[n + 1 :: 2])
    rotation, spin = state.body_rotation.copy(), turn.copy()
    prediction = problem.prediction
    momenta = (prediction.angular_momentum, prediction.mid_angular_velocity)
    late = np.zeros_like(turn) if solution.late_torque is None else solution.late_torque
    kernels = model.device.rigid
    integrate_bodies = model.device.many_bodies.integrate_many if len(turn) >= MANY else kernels.integrate_bodies
    integrate_bodies(model.body_inertia, model.static, *momenta, turn, late, h, rotation, spin)
    way = velocity
    if solution.push is not None:
        way, rotation = velocity + solution.push[n::2], state.body_rotation.copy()
        pushed = turn + solution.push[n + 1 :: 2]
        integrate_bodies(model.body_inertia, model.static, *momenta, pushed, late, h, rotation, pushed.copy())
    if solution.late_torque is not None:
        earlier = (state.body_rotation, state.body_angular_velocity)
        kernels.calm_spins(model.body_inertia, model.static, *earlier, rotation, turn, EXCESS, spin)
    position = state.body_position + h * way
    angles = model.joints.free.after(state.pose, u, h, (x, position, rotation))
    return {
        "body_position": position,
        "body_rotation": rotation,
        "body_velocity": velocity,
        "body_angular_velocity": model.spins.fitted(model, (angles, x, position, rotation), spin),
        "angles": angles,
    }


def _node_impulses(problem: Problem, solution: Solution) -> np.ndarray:
    """Impulses (n, 3) [N s] of the joints and contacts just solved on the nodes; zero in a model without pins, which
    has no use for them."""
    model, table = problem.model, problem.rows.table
    if not (model.pins and table.slices):
        return np.zeros((model.node_count, 3))
    impulse = np.zeros((model.triple_count, 3))
    model.device.rows.add_row_impulses(table.start, table.triples, table.jacobian, solution.impulses, impulse)
    return impulse[: model.node_count].copy()
