"""Coulomb friction as bounds on tangent impulses that follow the normal impulse (theory section 2).

For a frozen normal impulse n the tangent rows are bounded. "box": |t1|, |t2| <= mu n (BV). "cone": |(t1, t2)| <= mu n;
when sliding, each bound is mu n times the component of the sliding direction, so that the box solution is Coulomb's.
"""

import math

from pliant.jit import kernel

# Growth of a bound, relative, with which an impulse on it moves along.
SMALL_MOVE = 1e-3


@kernel
def refresh_friction_bounds(friction, scale, x_inout, g, low, high, limit_inout, relaxation):
    """Set the bounds of the tangent rows from the current impulses x (scaled) and gradients g (scaled).

    limit_inout (contacts,): the discs' radii, which go the part `relaxation` of the way to mu n.
    An impulse that lies on its bound moves with it: a bound that changes in its last digit must not set it free.
    """
    for k in range(friction.coefficient.shape[0]):
        n, a, b = friction.normal[k], friction.first[k], friction.second[k]
        goal = friction.coefficient[k] * max(scale[n] * x_inout[n], x_inout.dtype.type(0))
        limit_inout[k] += relaxation * (goal - limit_inout[k])
        limit = limit_inout[k]
        first, second = limit, limit
        if friction.cone:
            w1 = scale[a] * x_inout[a] - g[a] / scale[a] / friction.diagonal[k]
            w2 = scale[b] * x_inout[b] - g[b] / scale[b] / friction.diagonal[k]
            length = math.sqrt(w1 * w1 + w2 * w2)
            if length > limit:
                first, second = limit * abs(w1) / length, limit * abs(w2) / length
        move_bounds(x_inout, low, high, a, first / scale[a])
        move_bounds(x_inout, low, high, b, second / scale[b])


@kernel
def move_bounds(x_inout, low, high, i, bound):
    """Bounds -bound, bound for row i; an impulse on a bound that hardly moves stays on it, any other stays inside."""
    old = high[i]
    on_low, on_high = x_inout[i] <= low[i], x_inout[i] >= old
    low[i], high[i] = -bound, bound
    if (on_low or on_high) and bound < (1.0 + SMALL_MOVE) * old:
        x_inout[i] = low[i] if on_low else high[i]
    else:
        x_inout[i] = min(max(x_inout[i], low[i]), high[i])


@kernel
def friction_disc(friction, k, scale, x):
    """Coulomb's bounds on the tangent impulses of contact k, from its present normal impulse."""
    n, a, b = friction.normal[k], friction.first[k], friction.second[k]
    limit = friction.coefficient[k] * max(scale[n] * x[n], x.dtype.type(0))
    t1, t2 = scale[a] * x[a], scale[b] * x[b]
    if friction.cone:
        length = math.sqrt(t1 * t1 + t2 * t2)
        shrink = limit / length if length > limit else 1.0
        return t1 * shrink, t2 * shrink
    return min(max(t1, -limit), limit), min(max(t2, -limit), limit)


@kernel
def tangent_gap(friction, scale, x, g):
    """Squared natural residual of the friction rows in scaled variables; their entries in g are set to zero."""
    total = 0.0
    for k in range(friction.coefficient.shape[0]):
        a, b = friction.first[k], friction.second[k]
        old1, old2 = x[a], x[b]
        x[a] -= g[a] / (scale[a] * scale[a]) / friction.diagonal[k]
        x[b] -= g[b] / (scale[b] * scale[b]) / friction.diagonal[k]
        t1, t2 = friction_disc(friction, k, scale, x)
        x[a], x[b] = old1, old2
        total += (old1 - t1 / scale[a]) ** 2 + (old2 - t2 / scale[b]) ** 2
        g[a], g[b] = 0, 0
    return total


@kernel
def enter_discs(friction, scale, x_inout):
    """Put the tangent impulses exactly inside Coulomb's bounds."""
    for k in range(friction.coefficient.shape[0]):
        t1, t2 = friction_disc(friction, k, scale, x_inout)
        x_inout[friction.first[k]], x_inout[friction.second[k]] = (
            t1 / scale[friction.first[k]],
            t2 / scale[friction.second[k]],
        )
