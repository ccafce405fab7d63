"""The last filter of a step of bounded cost: nodes that would pass through something go only a part of their way.

What starts apart and goes straight to its end without meeting anything ends apart. Parts of surfaces that meet on their
way go on together, with their mean velocity (the rigid zones of Provot 1997, "Collision and self-collision handling in
cloth model dedicated to design garments") or as the prescribed nodes among them go, at first as far as they may beside
each other, in the end not at all. Nodes that meet something else stop short of it. Either may bring them into the way
of others, which then join them; what still meets goes as what is prescribed carries it, and else stays where it is.
"""

from dataclasses import replace

import numpy as np

from pliant.collide.contacts import among
from pliant.rotations import largest_parts
from pliant.solve.coupled import things_of_nodes
from pliant.solve.newton.touching import of_solids_ahead, pushed_out, shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.accounts import Accounts
from pliant.stepping.bodies_apart import bodies_apart
from pliant.stepping.thrift import within_means
from pliant.stepping.zones import Zones

# How often nodes that meet something go on as far as they may, and then as often together, before they stay where they
# are.
STOPS = 4
# How often it is looked at whether anything still meets, at most: nodes that stay are ever more.
MOST_LOOKS = 64
# What may be more where nothing is to be more, relative to it; and the least part of what is held that is tried.
LEEWAY, LEAST_PART = 1e-6, 0.1


def kept_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with velocities cut down so that nothing passes through anything, or has more energy than there was;
    `Info.held` names the bodies. What is prescribed goes its way: where it still meets something, the solution is not
    said to be apart."""
    if not problem.model.node_count:
        return bodies_apart(problem, solution)
    if not np.all(np.isfinite(solution.u)):
        return replace(solution, apart=not problem.model.may_touch)
    alone = not problem.model.may_touch
    return within_means(problem, replace(solution, apart=True) if alone else _nodes_apart(problem, solution))


def _nodes_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with velocities of nodes with which nothing passes through anything."""
    model, u = problem.model, _landed(problem, solution.u)
    if u is not solution.u:
        solution.info.energy = np.nan
        solution = replace(solution, u=u, internal=None, stored=None)
    share, short, zones = np.ones(len(u)), u, None
    fixed, free = model.free_triples == 0, model.moving_triples
    for look in range(MOST_LOOKS):
        found = shares_before_meeting(problem, short)
        meets = (found < 1.0) & free
        if not meets.any():
            break
        zones = zones or Zones(problem, u)
        if look < 2 * STOPS:
            zones.join(short)
        elif not zones.hold(short, meets, share):
            break
        share[meets] *= found[meets] if look < STOPS else 0.0
        short = np.where(fixed | (share == 1.0)[:, None], u, zones.mean + share[:, None] * (u - zones.mean))
        short = _out_of_solids(problem, u, short, zones.moves)
    apart = bool(np.all(found == 1.0))
    solution.info.unsettled = not apart
    if np.all(share == 1.0):
        return replace(solution, apart=apart)
    if apart and zones.carried.any():
        short = _no_dearer(problem, solution, short, zones.carried)
    own = things_of_nodes(model)[share[: model.node_count] < 1.0]
    solution.info.held = sorted({model.soft_names[thing] for thing in own})
    solution.info.energy = np.nan
    return replace(solution, u=short, apart=apart, internal=None, stored=None)


def _landed(problem: Problem, u: np.ndarray) -> np.ndarray:
    """Velocities u (triples, 3) with which nodes that prescribed motion sends further than contacts were looked for
    end in no solid."""
    model, contacts = problem.model, problem.rows.contacts
    told = (1.0 - model.free_triples) * u
    if not told[: model.node_count].any() or not model.colliders.goes_beyond(
        problem.state, problem.h, u[: model.node_count]
    ):
        return u
    found, out = of_solids_ahead(problem, u), np.zeros_like(u)
    new = np.flatnonzero((found.gap < 0.0) & (found.node[:, 0] >= 0) & ~among(found.key, contacts.key))
    if not len(new):
        return u
    lack, place = -found.gap / problem.h, np.arange(len(found))
    sides = (found.node, found.weight, found.normal, place)
    model.device.contacts.push_out(new, *sides, lack, np.zeros_like(lack), out)
    return u + model.free_triples * out


def _out_of_solids(problem: Problem, u: np.ndarray, short: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Velocities `short` (triples, 3) of which those that move (triples,) bool lead no deeper into solids than u."""
    lack, before = pushed_out(problem, short), pushed_out(problem, u)
    deeper = moves & (largest_parts(lack) > (1.0 + LEEWAY) * largest_parts(before))
    return short + problem.model.free_triples * np.where(deeper[:, None], lack, 0.0)


def _no_dearer(problem: Problem, solution: Solution, short: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Velocities `short` (triples, 3), or the part of them beside those with which everything goes as it is carried,
    `along`, with which nothing stores more than with these, or than where nothing is kept apart: what is held beside
    what goes on is torn."""
    model, n = problem.model, problem.model.node_count
    accounts = Accounts(problem, solution.tangled)
    most = np.maximum(accounts.stored(solution.u), accounts.stored(along))
    led = np.bincount(things_of_nodes(model), along[:n].any(axis=1), len(most)) > 0
    nodes = np.concatenate([led[things_of_nodes(model)], np.zeros(len(short) - n, bool)])
    part, found = 1.0, short
    while np.any((accounts.stored(found) > (1.0 + LEEWAY) * most)[led]) and part > 0.0:
        part = 0.5 * part if part > LEAST_PART else 0.0
        found = np.where(nodes[:, None], along + part * (short - along), short)
        found = _out_of_solids(problem, solution.u, found, nodes)
    return found if found is short or np.all(shares_before_meeting(problem, found) == 1.0) else short
