"""The last filter of a step of bounded cost: nodes that would pass through something go only a part of their way.

What starts apart and goes straight to its end without meeting anything ends apart. Nodes that meet something on their
way stop short of it, which may bring them into the way of others: these stop as well, at first where they meet, in the
end where they are.
"""

from dataclasses import replace

import numpy as np

from pliant.solve.newton.touching import shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.coupled import things_of_nodes

# How often nodes stop where they meet something, before they stay where they are.
STOPS = 4
# How often it is looked at whether anything still meets, at most: nodes that stay are ever more.
MOST_LOOKS = 64


def kept_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with the velocities of nodes cut down so that nothing passes through anything; `Info.held` names their
    bodies. What is prescribed goes its way: where it still meets something, the solution is not said to be apart."""
    model, u = problem.model, solution.u
    if not model.may_touch or not np.all(np.isfinite(u)):
        return replace(solution, apart=not model.may_touch)
    share, fixed = np.ones(len(u)), model.free_triples == 0
    for look in range(MOST_LOOKS):
        short = np.where(fixed, u, share[:, None] * u)
        found = shares_before_meeting(problem, short)
        meets = (found < 1.0) & (share > 0.0) & ~fixed.all(axis=1)
        if not meets.any():
            break
        share[meets] *= found[meets] if look < STOPS else 0.0
    apart = bool(np.all(found == 1.0))
    if np.all(share == 1.0):
        return replace(solution, apart=apart)
    own = things_of_nodes(model)[share[: model.node_count] < 1.0]
    solution.info.held = sorted({model.soft_names[thing] for thing in own})
    return replace(solution, u=short, apart=apart, internal=None)
