"""Which things of a scene hang together: by joints and rods, and by contacts."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pliant.collide.contacts import Contacts
from pliant.kernels.joints import BODY, FACE, NODE
from pliant.model.model import Model
from pliant.solve.problem import Problem


def things_of_nodes(model: Model) -> np.ndarray:
    """The soft body (n,) of every node."""
    return np.repeat(np.arange(len(model.soft_names)), np.diff(model.node_start))


def held_together(model: Model) -> np.ndarray:
    """The group (t,) of every thing, by numbers from 0 on: what joints or rods hold together; what is prescribed holds
    nothing together."""
    softs, joints = len(model.soft_names), things_in_joints(model)
    loose = np.concatenate([np.ones(softs, bool), ~model.static])
    pairs = [joints[loose[joints[:, 0]]]]
    for number, points in enumerate(model.rods.points):
        own = softs + np.arange(points.start, points.stop)
        pairs.append(np.stack([own, np.full(len(own), len(model.joints.family) + number)], axis=1))
    pairs = np.concatenate(pairs) + np.array([0, len(loose)])  # what holds them together comes behind the things
    return components(pairs, len(loose) + len(model.joints.family) + len(model.rods.points))[: len(loose)]


def touching(model: Model, contacts: Contacts, groups: np.ndarray) -> np.ndarray:
    """The group (t,) of every thing: groups so far, those that contacts hold together taken as one."""
    loose = np.concatenate([np.ones(len(model.soft_names), bool), ~model.static])
    both = contacts.thing[loose[contacts.thing].all(axis=1)]
    return components(groups[both], groups.max(initial=0) + 1)[groups]


def given_by_contacts(problem: Problem, contacts: Contacts, groups: np.ndarray) -> np.ndarray:
    """Whether things (t,), with all of their group, touch something and get energy from contacts and loads alone."""
    touched = np.bincount(groups[contacts.thing.ravel()], minlength=groups.max(initial=0) + 1) > 0
    return touched[groups] & left_alone(problem, contacts, groups)


def left_alone(problem: Problem, contacts: Contacts, groups: np.ndarray) -> np.ndarray:
    """Whether things (t,), with all of their group, get energy from contacts and loads at most: from no joints with
    motors, limits, springs or lengths that move, no pins that move, and no bodies that they touch which move as they
    are told."""
    model, joints = problem.model, problem.model.joints
    softs, n = len(model.soft_names), model.node_count
    out = np.zeros(softs + model.body_count, bool)
    works = (joints.slice >= joints.equality_slices) | (joints.compliance > 0.0)
    works[[block for block, *_ in joints.moving]] = True
    thing, block = things_in_joints(model).T
    out[thing[works[block]]] = True
    driven = (1.0 - model.free_triples) * problem.prediction.u
    out[things_of_nodes(model)[driven[:n].any(axis=1)]] = True
    told = np.concatenate([np.zeros(softs, bool), driven[n::2].any(axis=1) | driven[n + 1 :: 2].any(axis=1)])
    out[contacts.thing[told[contacts.thing].any(axis=1)]] = True
    return (np.bincount(groups, out, groups.max(initial=0) + 1) == 0.0)[groups]


def things_in_joints(model: Model) -> np.ndarray:
    """Pairs (k, 2) of a thing and a block of joints that holds it."""
    joints, softs, of_nodes = model.joints, len(model.soft_names), things_of_nodes(model)
    blocks = np.arange(len(joints.family))
    further, pairs = np.repeat(blocks, np.diff(joints.more_start)), []
    for side, own in ((joints.a, blocks), (joints.b, blocks), (joints.more, further)):
        for chosen in (side.kind == BODY, (side.kind == FACE) | (side.kind == NODE)):
            first = side.index[chosen, 0]
            things = softs + first if np.all(side.kind[chosen] == BODY) else of_nodes[first]
            pairs.append(np.stack([things, own[chosen]], axis=1))
    return np.concatenate(pairs)


def components(pairs: np.ndarray, count: int) -> np.ndarray:
    """The number (count,) of the connected component of every node of a graph with edges (k, 2)."""
    edges = coo_array((np.ones(len(pairs)), tuple(pairs.T)), (count, count))
    return connected_components(edges, directed=False)[1]
