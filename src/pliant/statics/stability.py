"""Whether an equilibrium is one in which something stays: the signs of the pivots of its stiffness."""

import warnings

import numpy as np

from pliant.collide import detect
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.options import Newton
from pliant.solve.problem import Problem, fill_rows
from pliant.stepping.dynamics import predict

# Length of a step, against the time in which a node answers the stiffness around it: its inertia, which is added, is
# more than the rounding of the stiffness, and less than a part in a thousand of that of slender things in bending.
LONG = 1e6


def warn_if_unstable(model, state, dt: float, direct_work: float) -> None:
    """Say so if forces balance where any disturbance would grow, as in a straight column above Euler's load."""
    if not _tells(model) or len(contacts := detect(model, state, dt)):
        return
    h = LONG * _answer_time(model)
    rows, prediction = fill_rows(model, state, contacts, h), predict(model, state, h, False)
    if _falls(Problem(model, state, prediction, rows, h), direct_work):
        warnings.warn(
            "equilibrium: forces balance, but not stably: what disturbs this state leads away from it, as from a "
            "straight column above Euler's load; a small load across finds the way that it goes",
            stacklevel=4,
        )


def _tells(model) -> bool:
    """Whether the stiffness of the elements is all of the stiffness, and has a sign: joints, loads that turn and what
    flows have more to say, and so have contacts."""
    turned = model.pressures or model.body_torques or any(point is not None for _, _, point in model.body_forces)
    return bool(model.elements.sets) and not (turned or len(model.joints.family) or model.elements.plastic)


def _answer_time(model) -> float:
    """The longest time sqrt(m / k) of a node or a point of a rod [s]."""
    stiffness = np.concatenate([model.node_stiffness, model.body_stiffness[::2]])
    mass = np.concatenate([model.node_mass, model.body_mass])
    there = (stiffness > 0.0) & np.isfinite(mass)
    return float(np.sqrt(np.max(mass[there] / stiffness[there], initial=1e-12)))


def _falls(problem: Problem, direct_work: float) -> bool:
    """Whether the exact stiffness where such a step begins, factorised, has a negative pivot: as many as there are
    directions in which it is negative (Sylvester)."""
    solver = NewtonSolver(Newton(), problem.model, problem.state, direct_work)
    return solver.pivots_below_zero(problem) > 0
