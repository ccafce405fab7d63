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
    end = state.time + h
    u, inverse_mass = np.zeros((n + 2 * b, 3)), np.zeros((n + 2 * b, 6))
    drag = _predict_nodes(model, state, h, end, u[:n], inverse_mass[:n])
    if not b:
        return Prediction(u, inverse_mass, u[n:], u[n:], drag)
    linear, angular = u[n::2], u[n + 1 :: 2]
    extrapolated = state.memory.get("before")
    rotation = state.body_rotation if extrapolated is None else extrapolated["rotation"]
    force, torque = body_loads(model, rotation, end)
    weights = model.inverse_body_mass[:, None]
    linear[:] = state.body_velocity + h * (model.body_fall + force * weights)
    inverse_mass[n::2, :3] = weights
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
        h * torque,
        _tensions(model, state, h) if stiffen else np.zeros((b, 6)),
        h,
        extrapolated is not None,
        momentum,
        mid,
        inverse_inertia,
    )
    angular[:] = mid
    inverse_mass[n + 1 :: 2] = inverse_inertia
    return Prediction(u, inverse_mass, momentum, mid, drag)


def _tensions(model, state, h: float) -> np.ndarray:
    """h^2 times the stiffness (b, 6) of bodies against turning under the joints' last impulses."""
    blocks, rows = model.joints, Rows.empty(model.joints.start)
    joint_rows.fill(blocks, rows, state.pose, h)
    return joint_rows.turning_stiffness(blocks, state.impulses.joints, rows.jacobian, state.body_rotation, h)


def _predict_nodes(model, state, h, end, u, inverse_mass) -> np.ndarray:
    """Fills velocities and inverse masses; the factors (n,) by which nodes resist change more for what drags them."""
    force = node_forces(model, state.x, end)
    damping = model.node_mass_damping
    if model.winds:  # their force at the velocities so far; against change, what would make a node overshoot
        wind, growth = wind_forces(model, state.x, state.v, end)
        resistance = np.maximum(growth - model.node_mass / h, 0.0)
        force += wind + resistance[:, None] * state.v
        damping = damping + resistance / model.node_mass
    drag = (1 + h * damping)[:, None]
    u[:] = (state.v + h * (model.gravity + force / model.node_mass[:, None])) / drag
    inverse_mass[:, :3] = model.free / (model.node_mass[:, None] * drag)
    prescribe(model, state.x, end, h, u)
    return drag[:, 0]


def integrate(problem: Problem, solution: Solution) -> State:
    """The state after a step: x += h u, orientations by the exponential map of h w."""
    model, state, u, h = problem.model, problem.state, solution.u, problem.h
    n = model.node_count
    v, body_velocity = u[:n].copy(), u[n::2].copy()
    turn = np.ascontiguousarray(u[n + 1 :: 2])
    rotation, spin = state.body_rotation.copy(), turn.copy()
    prediction = problem.prediction
    momenta = (prediction.angular_momentum, prediction.mid_angular_velocity)
    late = np.zeros_like(turn) if solution.late_torque is None else solution.late_torque
    kernels = model.device.rigid
    integrate_bodies = model.device.many_bodies.integrate_many if len(turn) >= MANY else kernels.integrate_bodies
    integrate_bodies(model.body_inertia, model.static, *momenta, turn, late, h, rotation, spin)
    if solution.late_torque is not None:
        earlier = (state.body_rotation, state.body_angular_velocity)
        kernels.calm_spins(model.body_inertia, model.static, *earlier, rotation, turn, EXCESS, spin)
    x = state.x + h * (v if solution.travel is None else solution.travel)
    body_position = state.body_position + h * body_velocity
    angles = model.joints.free.after(state.pose, u, h, (x, body_position, rotation))
    pose = (angles, x, body_position, rotation)
    return state.changed(
        time=state.time + h,
        step=state.step + 1,
        x=x,
        v=v,
        body_position=body_position,
        body_rotation=rotation,
        body_velocity=body_velocity,
        body_angular_velocity=model.spins.fitted(model, pose, spin),
        angles=angles,
        plastic_strain=problem.rows.elements.plastic,
        impulses=kept_impulses(problem.rows, solution.impulses),
        tangled=state.tangled if solution.tangled is None else solution.tangled,
        previous_velocity=state.v,
        row_impulse=_node_impulses(problem, solution),
        span=h,
    )


def _node_impulses(problem: Problem, solution: Solution) -> np.ndarray:
    """Impulses (n, 3) [N s] of the joints and contacts just solved on the nodes; zero in a model without pins, which
    has no use for them."""
    model, table = problem.model, problem.rows.table
    if not (model.pins and table.slices):
        return np.zeros((model.node_count, 3))
    impulse = np.zeros((model.triple_count, 3))
    model.device.rows.add_row_impulses(table.start, table.triples, table.jacobian, solution.impulses, impulse)
    return impulse[: model.node_count].copy()
