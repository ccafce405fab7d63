"""What Newton's method decides after an evaluation, on sums alone: the start, the line search, whether it has converged
(twins of solve.newton.solver, minimise and criteria, without rows).

Written on a plain array of numbers, so that the host can run it as well.
"""

import math

from pliant.jit import formula
from pliant.kernels.cuda import codes as c

# The constants of the twins; tests compare them.
SUFFICIENT, MOST_TRIALS, OVERSHOOT = 1e-4, 30, 0.3
WHOLE, PATIENCE, NEAR, PROMISING = 0.25, 12, 0.1, 3.0
CREEPING, SURPRISING = 0.5, 2.0
ROUNDING, STEADY, SHORTEST_START = 1e-13, 1e-11, 0.1
LARGEST_IMBALANCE, MOST_BALANCING = 0.1, 2


@formula
def is_finite(value):
    """Whether a value is a number (math.isfinite does not say it under these compiler flags)."""
    return abs(value) < math.inf


@formula
def evaluated(n, status, sums, elements, tail):
    """What comes next after an evaluation; sums: of nodes; elements: energy, number of inverted ones, viscous part of
    the potential; tail: of the last conjugate gradients."""
    n[c.ENERGY], n[c.INVERTED], n[c.SQUARE] = elements[0], elements[1], sums[c.S_SQUARE]
    value = elements[0] + elements[2] + sums[c.S_INERTIA]
    if status == c.REST:
        n[c.MOST], n[c.SHARE] = value, 1.0
        return c.START
    if status == c.START:
        return started(n, sums, value)
    if status == c.BALANCE:
        return balanced(n, sums, value)
    return tried(n, sums, value, tail)


@formula
def started(n, sums, value):
    """The first point, if its potential is not above that of rest; else another, nearer to rest."""
    good = is_finite(value) and value <= n[c.MOST] + ROUNDING * abs(n[c.MOST])
    if not good and n[c.SHARE] > 0.0:
        n[c.SHARE] = 0.25 * n[c.SHARE] if n[c.SHARE] > SHORTEST_START else 0.0
        return c.START
    n[c.VALUE], n[c.LAST_SIZE], n[c.PROJECT], n[c.RESIDUAL] = value, 0.0, 1.0, 1.0
    n[c.ITERATIONS] = n[c.PRODUCTS] = n[c.CONVERGED] = n[c.TRIALS] = n[c.FIRST_PASSES] = 0.0
    n[c.SHORTEST], n[c.LAST_ENERGY] = 1.0, math.inf
    n[c.WHOLE_BEFORE] = n[c.SLOW] = n[c.CONDITION] = n[c.LEAST] = 0.0
    n[c.IMBALANCE] = math.nan
    n[c.FAILED] = 0.0 if is_finite(value) else 1.0
    begin_search(n)
    return c.ITERATE if is_finite(value) else c.DONE


@formula
def begin_search(n):
    """A line search begins with its whole step."""
    n[c.FACTOR], n[c.BEST_FACTOR], n[c.BEST_VALUE], n[c.ATTEMPT], n[c.FINAL] = 1.0, 0.0, 0.0, 0.0, 0.0
    n[c.CORRECTED] = n[c.BALANCINGS] = 0.0


@formula
def tried(n, sums, value, tail):
    """A trial is taken, or another is asked for (Armijo, and a slope at the end that does not overshoot)."""
    if n[c.ATTEMPT] == 0.0:
        n[c.SLOPE], n[c.MOTION], n[c.CROSS] = tail[c.T_SLOPE], tail[c.T_MOTION], tail[c.T_CROSS]
        n[c.HEAVY] = tail[c.T_HEAVY]
    n[c.TRIALS] += 1.0
    if n[c.FINAL] != 0.0 or n[c.SIZE] == 0.0:  # or there is nothing to correct
        return taken(n, sums, value, n[c.FACTOR])
    slope, factor, finite = n[c.SLOPE], n[c.FACTOR], is_finite(value)
    allowance = 100.0 * ROUNDING * (abs(n[c.VALUE]) + abs(slope))
    if finite and slope < 0.0 and value <= n[c.VALUE] + SUFFICIENT * factor * slope + allowance:
        end = sums[c.S_END]
        if n[c.BEST_FACTOR] > 0.0 and value > n[c.BEST_VALUE]:
            n[c.FACTOR], n[c.FINAL] = n[c.BEST_FACTOR], 1.0
            return c.TRYING
        n[c.BEST_FACTOR], n[c.BEST_VALUE] = factor, value
        if end <= OVERSHOOT * abs(slope):
            return taken(n, sums, value, factor)
        factor *= min(max(slope / (slope - end), 0.1), 0.9)
    else:
        factor *= 0.5 if finite else 0.25
    n[c.ATTEMPT] += 1.0
    n[c.FACTOR] = factor
    if n[c.ATTEMPT] >= MOST_TRIALS:
        n[c.FACTOR], n[c.FINAL] = n[c.BEST_FACTOR], 1.0
    return c.TRYING


@formula
def motion_at(n, factor):
    """u^T K u where a shorter step leads; the direction d of conjugate gradients has d^T A d = -slope."""
    less = 1.0 - factor
    along = max(-n[c.SLOPE] - n[c.HEAVY], 0.0)
    return max(n[c.MOTION] - 2.0 * less * n[c.CROSS] + less * less * along, 0.0)


@formula
def relative(n, sums, correction):
    """A correction [J] relative to the motion of the step; only rounding counts as nothing."""
    if correction <= sums[c.S_FLOOR]:
        return 0.0
    return math.sqrt(correction / n[c.SCALE]) if n[c.SCALE] > 0.0 else 1.0


@formula
def followed(n, factor, size):
    """Takes up a correction into what is foreseen of those to come; its energy [J]."""
    energy = abs(n[c.SLOPE])
    ratio = math.sqrt(energy / n[c.LAST_ENERGY]) if n[c.LAST_ENERGY] > 0.0 else 0.0
    before = n[c.WHOLE_BEFORE] != 0.0
    if ratio > SURPRISING and before:
        n[c.CONDITION] = max(n[c.CONDITION], energy / max(size * size, 1e-300))
    slow = ratio > CREEPING and ratio < 1.0 and before
    n[c.SLOW] = energy * (ratio / (1.0 - ratio)) ** 2 if slow else 0.0
    n[c.LAST_ENERGY], n[c.WHOLE_BEFORE] = energy, 1.0 if factor == 1.0 else 0.0
    return energy


@formula
def taken(n, sums, value, factor):
    """An iteration ends with a step of this length."""
    n[c.FACTOR], n[c.ITERATIONS] = factor, n[c.ITERATIONS] + 1.0
    n[c.SHORTEST] = min(n[c.SHORTEST], factor)
    motion = motion_at(n, factor)
    n[c.SCALE] = sums[c.S_KICK] + motion + sums[c.S_CHANGE] + ROUNDING * sums[c.S_ALL]
    failed = not is_finite(value) or (n[c.PASSES] == 0.0 and n[c.SIZE] != 0.0)
    left = followed(n, factor, n[c.SIZE])
    n[c.LEAST], n[c.VALUE] = max(n[c.SLOW], n[c.CONDITION] * sums[c.S_LOCAL]), value
    n[c.RESIDUAL] = 1.0 if failed else relative(n, sums, max(left, n[c.LEAST]))
    n[c.IMBALANCE] = imbalance(sums)
    local = math.sqrt(max(sums[c.S_LOCAL], 0.0))
    hopeful = n[c.RESIDUAL] * local <= PROMISING * n[c.TOLERANCE] * n[c.SIZE]
    if not failed and n[c.RESIDUAL] > n[c.TOLERANCE] and hopeful:
        return c.ESTIMATE
    return ended(n, sums)


@formula
def estimated(n, sums, left):
    """What comes next once the next correction is estimated to have this energy [J]."""
    left = math.inf if n[c.INDEFINITE] != 0.0 else left
    n[c.RESIDUAL], n[c.CORRECTED] = relative(n, sums, max(left, n[c.LEAST])), 1.0
    return ended(n, sums)


@formula
def balanced(n, sums, value):
    """After a correction was taken for the sake of the balance; one that leads uphill is taken back."""
    n[c.CORRECTED], n[c.BALANCINGS] = 0.0, n[c.BALANCINGS] + 1.0
    uphill = value > n[c.VALUE] + 100.0 * ROUNDING * abs(n[c.VALUE])
    if n[c.TAKING] != 0.0 and (uphill or not is_finite(value)):
        n[c.TAKING], n[c.BALANCINGS] = 0.0, MOST_BALANCING
        return c.BALANCE
    n[c.VALUE], n[c.IMBALANCE] = value, imbalance(sums)
    return ended(n, sums)


@formula
def imbalance(sums):
    """How far the point is from its equations (solve.residual)."""
    rounding = sums[c.S_ROUNDING] + STEADY * STEADY * sums[c.S_ALL]
    largest = max(max(sums[c.S_OWN], sums[c.S_APPLIED]), sums[c.S_ELASTIC])
    total = max(sums[c.S_BALANCE] - rounding, 0.0)
    return math.sqrt(total / largest) if largest > rounding else 0.0


@formula
def ended(n, sums):
    """Whether this iteration was the last."""
    whole = n[c.FACTOR] >= WHOLE or n[c.RESIDUAL] <= WHOLE * n[c.TOLERANCE]
    if n[c.RESIDUAL] <= n[c.TOLERANCE] and whole:
        if n[c.IMBALANCE] <= LARGEST_IMBALANCE or n[c.ITERATIONS] > PATIENCE:
            n[c.CONVERGED] = 1.0
            return c.DONE
        if n[c.BALANCINGS] < MOST_BALANCING:
            n[c.TAKING] = 1.0
            return c.BALANCE if n[c.CORRECTED] != 0.0 else c.ESTIMATE
    if n[c.ITERATIONS] >= n[c.MOST_ITERATIONS]:
        return c.DONE
    n[c.LAST_SIZE] = n[c.SIZE]
    n[c.PROJECT] = 0.0 if n[c.RESIDUAL] < NEAR else 1.0
    begin_search(n)
    return c.ITERATE
