"""Forces of supports in the last step."""

import numpy as np

from pliant.elements.elements import Elements
from pliant.elements.potential import ElementPotential
from pliant.elements.rows import ElementRows
from pliant.elements.springs import NO_JOINT
from pliant.errors import SceneError
from pliant.model.loads import node_forces, wind_forces


def support_forces(model, state, h: float, warped: bool) -> np.ndarray:
    """What the supports do to the nodes (n, 3) [N] so that they moved as they did in the last step of length h:
    M dv/h less elastic, viscous and applied forces and the impulses of joints and contacts; zero along free axes.

    Forces are those of implicit Euler, at the end of the step. Before the first step: what holds the nodes at rest.
    warped: elastic forces as the dual solver has them, linear in the frames of the step's start.
    """
    mass = model.node_mass[:, None]
    moved = (state.v - state.previous_velocity) / h if state.step else np.zeros_like(state.v)
    inertia = mass * (moved + model.node_mass_damping[:, None] * state.v)
    applied = mass * model.gravity + node_forces(model, state.x, state.time) + state.row_impulse / h
    applied += wind_forces(model, state.x, state.v, state.time)[0]
    # elements that are rows have their impulses among those of the joints
    rows = np.any(model.joints.joint == NO_JOINT)
    elements = (model.elements.without_springs if rows else model.elements).of_nodes
    return (1 - model.free) * (inertia + internal_forces(state, elements, warped) - applied)


def of_clamp(name: str) -> SceneError:
    """What there is to read in place of the reaction of a clamp of a rod, at the point of that name."""
    return SceneError(
        f"a clamp of a rod, such as {name!r}, has no reaction to read: sim.rod(rod) tells tension, shear force, moment "
        f"and torque of its segments; or hold the point by a joint in place of the clamp, "
        f"scene.join(pliant.Fixed(pliant.world, rod[i], at=...)), and read its reaction"
    )


def internal_forces(state, elements: Elements, warped: bool) -> np.ndarray:
    """Gradient (n, 3) [N] of the elements' elastic energy, plus viscous forces in the frames in which they acted: those
    of the step's start, of BDF2 those foreseen for its end."""
    potential, start = ElementPotential.of(elements, state), state.x - state.span * state.v
    rows = ElementRows(elements, start, state.plastic_strain)
    if elements.damped and "bdf2" in state.memory:
        # from (4 now - before)/3, where the step started, and now: 2 now - before; of a step of Euler's simply now
        ahead = 3 * start - 2 * state.memory["bdf2"]["x"]
        potential.take_frames(ahead, ElementRows(elements, ahead, state.plastic_strain).rotation)
    elif elements.damped:
        potential.take_frames(start, rows.rotation)
    if not warped:
        return potential.evaluate(state.x, state.v)[2]
    strain = rows.elastic
    for own in elements.volumes:
        own.subtract_rates(-state.span * state.v, rows.rotation[own.points], strain[own.points])
    force = potential.warped(strain, rows.rotation)
    return force + potential.viscous(state.v) if elements.damped else force
