"""Rods for tests: straight ones, and the stiffness of a scene that may have lost its stability."""

import numpy as np
import scipy.linalg

import pliant as pl
from pliant.elements.potential import ElementPotential
from pliant.linalg.connectivity import block_pairs
from pliant.solve.matrices import mass_matrix


def line_rod(
    count: int,
    length: float,
    section: pl.Section,
    *,
    young=1e9,
    poisson=0.3,
    density=1000.0,
    damping=0.0,
    direction=(1, 0, 0),
    gravity=(0, 0, 0),
    **options,
):
    """A scene with a straight rod from the origin, clamped there, that touches nothing; and the rod."""
    scene = pl.Scene(gravity=gravity)
    points = np.linspace(0, length, count + 1)[:, None] * np.array(direction, float)
    material = pl.Material.linear(young, poisson, density, damping=damping)
    rod = scene.add_rod(points, material, section=section, **{"collide": False} | options)
    rod.clamp(0)
    return scene, rod


def stiffness(model, potential, project: bool) -> np.ndarray:
    """The second derivative (3 triples, 3 triples) of the elastic energy at what was last evaluated."""
    blocks = np.zeros((model.elements.block_count, 9))
    potential.blocks(potential.terms(1.0, project=project), blocks)
    matrix = np.zeros((model.triple_count, 3, model.triple_count, 3))
    for i, j, place in zip(*block_pairs(model.elements.connectivity())):
        block = blocks[place].reshape(3, 3)
        matrix[i, :, j] += block
        if i != j:
            matrix[j, :, i] += block.T
    return matrix.reshape(3 * model.triple_count, -1)


def lowest_frequencies_squared(sim, count: int) -> np.ndarray:
    """The lowest w^2 [1/s2] of small motions about a state, negative where it is not stable."""
    potential = ElementPotential.of(sim.model.elements, sim.state)
    potential.evaluate(sim.state.x)
    free = np.repeat(~sim.model.static, 6)
    own = np.ix_(free, free)
    matrix, mass = stiffness(sim.model, potential, False)[own], mass_matrix(sim.model, sim.state).toarray()[own]
    return scipy.linalg.eigh(matrix, mass, eigvals_only=True, subset_by_index=[0, count - 1])
