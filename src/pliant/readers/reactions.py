"""Forces of joints and of supports in the last step."""

import numpy as np

from pliant.elements.laws import compile_laws
from pliant.elements.rows import deform, elastic_gradients
from pliant.elements.tangles import laws_of_tangled
from pliant.kernels.cpu.elements import element_elastic_impulses
from pliant.kernels.cpu.hyperelastic import damp_elements, gather_nodes
from pliant.kernels.lanes import LANES
from pliant.model.loads import node_forces
from pliant.rows import joints as joint_rows
from pliant.rows.joints import DISTANCE, POINTS
from pliant.rows.table import Rows
from pliant.solve.newton.increment import Workspace


def joint_reaction(model, state, joint: int, h: float) -> np.ndarray:
    """Force [N] of a joint on its side b, from the impulses of the last step."""
    blocks, force = model.joints, np.zeros(3)
    rows = Rows.empty(blocks.start)
    joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, h)
    for k in np.flatnonzero((blocks.joint == joint) & np.isin(blocks.family, POINTS)):
        impulse = state.impulses.joints[blocks.slice[k], :, blocks.lane[k]]
        if blocks.family[k] == DISTANCE:
            last = rows.start[blocks.slice[k]]
            side = rows.jacobian[last, :3, blocks.lane[k]]
            length = np.linalg.norm(side)
            force += -impulse[0] * side / length if blocks.a.kind[k] else impulse[0] * side / length
        else:
            force += impulse
    return force / h


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
    return (1 - model.free) * (inertia + internal_forces(model, state, warped) - applied)


def internal_forces(model, state, warped: bool) -> np.ndarray:
    """Gradient (n, 3) [N] of the elastic energy, plus viscous forces in the elements' frames at the step's start."""
    rotation, strain = deform(model, state.x - state.span * state.v)
    space = Workspace.of(len(model.volume))
    slots = space.slots[:-1].reshape(-1, 12, LANES)
    if warped:
        elastic = strain + state.span * strain_rates(model, rotation, state.v) - state.plastic_strain
        element_elastic_impulses(elastic, rotation, model.gradients, model.lam, model.mu, model.volume, slots)
    else:
        geometry = (state.x, model.element_nodes, elastic_gradients(model, state.plastic_strain), model.volume)
        for law in laws_of_tangled(model, compile_laws(model), state.tangled):
            law.evaluate(law.law, law.first, law.last, *geometry, space.frames, space.energy, slots)
    if np.any(model.damping > 0):
        material = (model.lam, model.mu, model.damping * model.volume)
        damp_elements(state.v, model.element_nodes, model.gradients, rotation, *material, space.viscous, slots)
    force = np.empty((model.node_count, 3))
    gather_nodes(space.slots, model.adjacency_start, model.adjacency, force)
    return force


def strain_rates(model, rotation: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rates of strain (g, 6, LANES) [1/s], shear doubled, in frames (g, 9, LANES) at node velocities v (n, 3)."""
    corner = v[model.element_nodes]
    gradient = np.einsum("gkla,gkbl->gabl", corner[:, :3] - corner[:, 3:], model.gradients.reshape(-1, 3, 3, LANES))
    turned = np.einsum("gkal,gkbl->gabl", rotation.reshape(-1, 3, 3, LANES), gradient)
    doubled = (turned + turned.transpose(0, 2, 1, 3)).reshape(-1, 9, LANES)
    return doubled[:, [0, 4, 8, 5, 2, 1]] * np.array([0.5, 0.5, 0.5, 1, 1, 1])[:, None]
