"""From a model to what a program on a device keeps of it, and the vectors of loads and pins at a time."""

import numpy as np

from pliant.checks import at_time
from pliant.kernels.lanes import LANES


def tet_sets(model) -> list:
    """The sets of tets of four nodes, which have one point."""
    return [own for own in model.elements.sets if own.kind.points == 1]


def other_sets(model) -> list:
    """The sets of other kinds."""
    return [own for own in model.elements.sets if own.kind.points != 1]


def make_program(kernels, kind, model, **options):
    """A program of a kind with all that it keeps of a model; options: of its layout."""
    sets = [set_data(kernels.arrays, own) for own in tet_sets(model)]
    more = [other_data(kernels.kinds, own) for own in other_sets(model)]
    nodes = [own.tets for own in sets], [own.nodes for own in more]
    layout = kernels.prepare.lay_out(model.rest, model.node_start, *nodes, **options)
    return kind(layout, sets, node_data(kernels.arrays, model), more)


def other_data(kinds, own):
    """A set of springs, or of tets of ten nodes, as the device takes it."""
    nodes = own.connectivity.astype(np.int64)
    if own.kind.points == 0:
        stiffness = own.of_springs(own.stiffness)
        return kinds.SpringData(nodes, stiffness, own.of_springs(own.rest), own.element_damping * stiffness)
    law = own.own_law.law
    parts = [_of_points(own, value) if isinstance(value, np.ndarray) else float(value) for value in law]
    gradients = own.element_gradients.reshape(own.count, own.kind.points, -1)
    damping = tuple(_of_points(own, value) for value in (own.damping, own.lam, own.mu)) if own.damped else None
    return kinds.TenData(nodes, type(law)(*parts), gradients, own.element_volumes, damping, own.facts.rotates)


def set_data(program, own):
    """A set of tets of four nodes as the device's program takes it."""
    volume, gradients = own.element_volumes[:, 0], own.element_gradients[:, 0, :3].reshape(-1, 9)
    law = own.own_law.law
    parts = [_of_elements(own, value) if isinstance(value, np.ndarray) else float(value) for value in law]
    damping = tuple(_of_elements(own, value) for value in (own.damping, own.lam, own.mu)) if own.damped else None
    flow = (own.yield_strain, own.creep, own.max_strain)
    plastic = tuple(_of_elements(own, value) for value in flow) if is_plastic(own) else None
    nodes = own.connectivity.astype(np.int64)
    return program.SetData(nodes, type(law)(*parts), gradients, volume, damping, plastic, own.facts.rotates)


def pulled_data(model, tangled: np.ndarray) -> tuple[list, list]:
    """What is pulled back to shape when bodies have times left in tangled (soft,): for every set of tets of four nodes,
    and of other kinds, None or 1 where it is, and mu [Pa], of elements (count,), or of their points (count, points)."""
    of_tets = [_pulled(own, tangled, _of_elements) for own in tet_sets(model)]
    return of_tets, [_pulled(own, tangled, _of_points) for own in other_sets(model)]


def _pulled(own, tangled: np.ndarray, by) -> tuple | None:
    """The same of a set; by: from numbers in lanes to those of elements or points."""
    if not (own.facts.may_tangle and any(tangled[part.body] > 0 for part in own.parts)):
        return None
    pulled, share = np.zeros_like(own.mu), own.kind.points
    for part in own.parts:
        pulled[part.first * share : part.last * share] = tangled[part.body] > 0
    return by(own, pulled), by(own, own.mu)


def is_plastic(own) -> bool:
    """Whether elements of a set flow."""
    return bool(np.any(np.isfinite(own.yield_strain[own.volume > 0])))


def plastic_data(model, plastic: np.ndarray) -> tuple[list, list]:
    """Plastic strains (count, 6) by set of those of a state, and the gradients (count, 9) seen from there."""
    strain, gradients = [], []
    for own in tet_sets(model):
        strain.append(own.point_values(plastic[own.points])[:, 0])
        seen = own.elastic_gradients(plastic)
        gradients.append(own.point_values(seen)[:, 0, :9])
    return strain, gradients


def plastic_strain(model, by_set: list[np.ndarray]) -> np.ndarray:
    """Plastic strains (count, 6) by set as a state has them, (point groups, 6, LANES)."""
    out = np.zeros((model.elements.point_groups, 6, LANES))
    for own, values in zip(tet_sets(model), by_set):
        out[own.points][own.lanes // LANES, :, own.lanes % LANES] = values
    return out


def _of_points(own, value: np.ndarray) -> np.ndarray:
    """Numbers (point groups, LANES) of a set as those (count, points) of its elements' points."""
    return own.point_values(value[:, None])[:, :, 0]


def _of_elements(own, value: np.ndarray) -> np.ndarray:
    """Numbers (point groups, LANES) of a set as those (count,) of its elements."""
    return own.point_values(value[:, None])[:, 0, 0]


def node_data(program, model):
    """Nodes with their loads and pins as the device's program takes them."""
    pin, start = np.zeros((model.node_count, 3), np.int64), np.zeros((model.node_count, 3))
    number = len(model.node_loads) + 1
    for own, motion in moving_pins(model):
        vectors = np.atleast_2d(at_time(motion, 0.0))  # one for all of its nodes, or one for each
        numbers = number + np.arange(len(vectors))[:, None]
        pin[np.ix_(own.nodes, own.axes)] = -numbers if own.velocity is None else numbers
        start[own.nodes] = own.start
        number += len(vectors)
    loads = [(nodes, weights) for nodes, weights, _ in model.node_loads]
    masses = (model.node_mass, model.node_mass_damping, model.node_stiffness, model.node_damping, model.free)
    return program.NodeData(*masses, loads, pin, start, number - 1)


def moving_pins(model) -> list:
    """The pins that prescribe a motion, with its velocity [m/s] or displacement [m]."""
    motions = [(own, own.displacement if own.velocity is None else own.velocity) for own in model.pins]
    return [(own, motion) for own, motion in motions if motion is not None]


def vectors_at(model, time: float, out: np.ndarray) -> None:
    """Vectors of loads [N] and of pins [m/s or m] at a time [s], one after the other, into out."""
    at = 0
    for source in _sources(model):
        vectors = at_time(source, time).ravel()
        out[at : at + len(vectors)] = vectors
        at += len(vectors)


def is_constant(model) -> bool:
    """Whether these vectors never change."""
    return not any(callable(source) for source in _sources(model))


def _sources(model) -> list:
    return [vector for _, _, vector in model.node_loads] + [motion for _, motion in moving_pins(model)]
