"""The last filter of a step: bodies whose motion did not converge are held back where it would end inside others.

Where Newton's method converges, its contacts keep things apart. Where it does not, bodies that would end deeper in
others than they began, or pass through them, go only a share of their way, and what joints hold to them as well; so do
those that would gain energy. A share of a turn opens joints: where it would, they go no way at all. Velocities follow
the shortened motion.
"""

from dataclasses import replace

import numpy as np

from pliant.model.model import Model
from pliant.rows import contacts as contact_rows
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.coupled import given_by_contacts, held_together, things_in_joints, things_of_nodes, touching
from pliant.solve.newton.touching import PENETRATION, approach, moved, of_solids_ahead, shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.gains import affordable

# Penetration, relative to the size of what touches, and residual, for which a step is taken again in halves.
DEEP, FAR = 0.02, 0.1
# How often shares are estimated, and how often in all, the last ones are none; the largest one that is a cut.
ESTIMATES, MOST_CUTS, LARGEST_PART = 6, 12, 0.9
# Gaps of rigid joints, relative to their reach, that a motion that did not converge may open.
OPENED = 5e-3


def held_back(problem: Problem, solution: Solution) -> Solution:
    """A solution that did not converge, with the velocities of bodies that would end inside others, or pass through
    them, or gain energy, cut down. `Info.straying` says whether shorter steps are to be tried first, `Info.held` who
    was held back."""
    model, info = problem.model, solution.info
    if info.converged or not model.may_touch or not np.all(np.isfinite(solution.u)):
        return solution
    if len(problem.rows.contacts):
        info.straying = max(info.straying, info.residual / FAR)
    share, nodes = _shares(problem, solution)
    if np.all(share == 1.0) and np.all(nodes == 1.0):
        return solution
    still, names = model.colliders.things.still, [*model.soft_names, *model.rigid_names]
    least = share.copy()
    np.minimum.at(least, things_of_nodes(model), nodes)
    info.held = [name for name, own, stays in zip(names, least, still) if own < 1.0 and not stays]
    short, late = _shortened(model, solution.u, share, nodes), solution.late_torque
    if late is not None:
        late = share[len(model.soft_names) :, None] * late
    memory = solution.memory | {"change": short - problem.prediction.u}
    info.energy = np.nan
    return replace(solution, u=short, late_torque=late, memory=memory, internal=None, stored=None)


def _shares(problem: Problem, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """The shares (t,) of their ways that things go, and those (n,) of these that nodes go: soft bodies give way."""
    model, info, contacts = problem.model, solution.info, problem.rows.contacts
    groups = held_together(model)
    together, share, nodes = touching(model, contacts, groups), np.ones(len(groups)), np.ones(model.node_count)
    bound = given_by_contacts(problem, contacts, together)
    for attempt in range(MOST_CUTS):
        short, estimated = _shortened(model, solution.u, share, nodes), attempt < ESTIMATES
        apart, depth = _apart(problem, short)
        allowed = np.where(bound, affordable(problem, solution.tangled, short, together), 1.0)
        if attempt == 0:
            info.straying = max(info.straying, depth / DEEP)
        allowed[_opening(problem, short) & (share > 0.0)] = 0.0
        if np.all(allowed == 1.0) and np.all(apart == 1.0):
            break
        allowed = np.minimum(allowed, _of_things(model, apart, soft=not estimated))
        nodes *= apart[: model.node_count] if estimated else 1.0
        share = _least(share * (allowed if estimated else allowed == 1.0), groups)
    return share, nodes


def _opening(problem: Problem, u: np.ndarray) -> np.ndarray:
    """Whether things (t,) are in rigid joints that velocities u (triples, 3) open."""
    model, blocks = problem.model, problem.model.joints
    out = np.zeros(len(model.soft_names) + model.body_count, bool)
    if not blocks.rigid.any():
        return out
    pose = moved(problem, u).pose
    errors = joint_rows.errors_at(blocks, Rows.empty(blocks.start), pose), problem.rows.error
    gap, before = (np.linalg.norm(error[blocks.slice, :, blocks.lane], axis=1) for error in errors)
    opened = blocks.rigid & (gap > np.maximum(OPENED * blocks.reach, before))
    thing, block = things_in_joints(model).T
    out[thing[opened[block]]] = True
    return out


def _least(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The least of the values (t,) in the group of every thing."""
    least = np.full(groups.max(initial=0) + 1, np.inf)
    np.minimum.at(least, groups, values)
    return least[groups]


def _shortened(model: Model, u: np.ndarray, share: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Velocities (triples, 3), of things (t,) and nodes (n,) cut to their shares; what is prescribed goes its way."""
    parts = np.concatenate([nodes * share[things_of_nodes(model)], np.repeat(share[len(model.soft_names) :], 2)])
    return np.where(model.free_triples == 0, u, parts[:, None] * u)


def _apart(problem: Problem, u: np.ndarray) -> tuple[np.ndarray, float]:
    """The shares (triples,) of velocities u (triples, 3) with which nothing passes through anything, and ends, about,
    in no solid; and the largest depth there, relative to the size of what touches, infinite for what passes."""
    model, n, share = problem.model, problem.model.node_count, shares_before_meeting(problem, u)
    found, passes = of_solids_ahead(problem, u), bool(np.any(share < 1.0))
    size = model.colliders.size_of(found)
    deep = -found.gap > np.maximum(PENETRATION * size, -contact_rows.deepest_between(problem.started, found))
    found, size = found.these(deep), size[deep]
    way = approach(problem, found, u)
    left = found.gap + way + 0.5 * PENETRATION * size
    part = np.where(way > 0.0, left / np.maximum(way, 1e-300), 0.0).clip(0.0, LARGEST_PART)
    for triple in (found.node, n + 2 * found.body, n + 2 * found.body + 1):
        own = (found.node if triple is found.node else found.body) >= 0
        np.minimum.at(share, triple[own], np.broadcast_to(part[:, None], own.shape)[own])
    return share, np.inf if passes else float((-found.gap / size).max(initial=0.0))


def _of_things(model: Model, share: np.ndarray, soft: bool) -> np.ndarray:
    """The least share (t,) of the triples (triples,) of every rigid body and, where asked for, soft one."""
    n, softs = model.node_count, len(model.soft_names)
    out = np.ones(softs + model.body_count)
    if soft:
        np.minimum.at(out, things_of_nodes(model), share[:n])
    out[softs:] = share[n::2]
    return out
