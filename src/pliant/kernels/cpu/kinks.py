"""Rows that are linear around a velocity: their impulses at other rates, and the lowest point along a line."""

import numpy as np

from pliant.formulas.contact import bounded_impulse, cone_impulse
from pliant.jit import kernel
from pliant.kernels.cpu.rows import add_scaled_impulses
from pliant.kernels.cpu.search import sort
from pliant.kernels.lanes import LANES

# Evaluations of a search between two kinks, where cones bend the slope, and how flat it ends, relative to its start.
MOST_TRIALS, FLAT = 30, 1e-3


@kernel
def _bounded(rows, s, row, lane, rate, base):
    """Impulse and curvature of a row that is no cone at a rate; base: the rate at the velocity."""
    if rows.tangents[s, row, lane]:
        own = rows.curvature[s, row, lane]
        return rows.impulse[s, row, lane] - own * (rate - base), own
    rest, weight = rows.target[s, row, lane] - rate, 1.0 / rows.compliance[s, row, lane]
    l, g, _ = bounded_impulse(rest, weight, rows.low[s, row, lane], rows.high[s, row, lane])
    return l, g


@kernel
def _cone(rows, s, lane, r0, r1, r2):
    """Impulse and curvatures of a rough contact at rates."""
    normal, tangent = rows.compliance[s, 0, lane], rows.compliance[s, 1, lane]
    y = (
        (rows.target[s, 0, lane] - r0) / normal,
        (rows.target[s, 1, lane] - r1) / tangent,
        (rows.target[s, 2, lane] - r2) / tangent,
    )
    l, g, _ = cone_impulse(y, rows.friction[s, lane], normal, tangent)
    return l, g


@kernel
def respond(rows, rate, base, impulse_out, curvature_out):
    """Impulses (slices, 3, LANES) and curvatures (slices, 6, LANES) at rates; base: those at the velocity."""
    for s in range(rate.shape[0]):
        for lane in range(LANES):
            if rows.friction[s, lane] > 0.0:
                l, g = _cone(rows, s, lane, rate[s, 0, lane], rate[s, 1, lane], rate[s, 2, lane])
                for c in range(3):
                    impulse_out[s, c, lane] = l[c]
                for c in range(6):
                    curvature_out[s, c, lane] = g[c]
                continue
            for row in range(3):
                l, g = _bounded(rows, s, row, lane, rate[s, row, lane], base[s, row, lane])
                impulse_out[s, row, lane], curvature_out[s, row, lane] = l, g
                curvature_out[s, 3 + row, lane] = 0.0


@kernel
def model_gradient(start, triples, jacobian, rows, gradient, pull, free, rate, base, impulse_out, curvature_out, out):
    """out (triples, 3): g + A d - J^T (lambda(d) - lambda) over the free components at a direction d, with impulses and
    curvatures there. pull (triples, 3): A d; rate: of rows there; base: of rows at the velocity."""
    respond(rows, rate, base, impulse_out, curvature_out)
    more = np.empty(impulse_out.shape)
    for s in range(more.shape[0]):
        for row in range(3):
            for lane in range(LANES):
                more[s, row, lane] = impulse_out[s, row, lane] - rows.impulse[s, row, lane]
    for i in range(out.shape[0]):
        for r in range(3):
            out[i, r] = gradient[i, r] + pull[i, r]
    add_scaled_impulses(start, triples, jacobian, more, -1.0, out)
    for i in range(out.shape[0]):
        for r in range(3):
            out[i, r] *= free[i, r]


@kernel
def _slope(rows, rate, step, base, share, constant, growth):
    """Slope of the model along a step at a share of it: constant + growth share - sum over rows of lambda step."""
    total = constant + growth * share
    for s in range(rate.shape[0]):
        for lane in range(LANES):
            d0, d1, d2 = step[s, 0, lane], step[s, 1, lane], step[s, 2, lane]
            if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
                continue
            r0 = rate[s, 0, lane] + share * d0
            r1 = rate[s, 1, lane] + share * d1
            r2 = rate[s, 2, lane] + share * d2
            if rows.friction[s, lane] > 0.0:
                l, _ = _cone(rows, s, lane, r0, r1, r2)
                total -= l[0] * d0 + l[1] * d1 + l[2] * d2
            else:
                total -= _bounded(rows, s, 0, lane, r0, base[s, 0, lane])[0] * d0
                total -= _bounded(rows, s, 1, lane, r1, base[s, 1, lane])[0] * d1
                total -= _bounded(rows, s, 2, lane, r2, base[s, 2, lane])[0] * d2
    return total


@kernel
def _kinks(rows, rate, step):
    """Shares of a step, sorted, from 0 to 1, at which rows that are no cones begin or end to push."""
    out, count = np.empty(2 + 2 * rate.size), 2
    out[0], out[1] = 0.0, 1.0
    for s in range(rate.shape[0]):
        for row in range(3):
            for lane in range(LANES):
                d = step[s, row, lane]
                if d == 0.0 or rows.friction[s, lane] > 0.0 or rows.tangents[s, row, lane]:
                    continue
                for bound in (rows.low[s, row, lane], rows.high[s, row, lane]):
                    if abs(bound) == np.inf:
                        continue
                    at = (rows.target[s, row, lane] - rows.compliance[s, row, lane] * bound - rate[s, row, lane]) / d
                    if 0.0 < at < 1.0:
                        out[count], count = at, count + 1
    sort(out[:count])
    return out[:count]


@kernel
def lowest_along(rows, rate, step, base, constant, growth):
    """The share, 0 to 1, of a step at which the model is lowest. Rates of rows are rate + share step; the rest of its
    slope is constant + growth share. The slope grows along the step: a search by halves among the kinks, then secants
    between two of them, between which it is straight but for cones."""
    shares = _kinks(rows, rate, step)
    low, high = 0, shares.shape[0] - 1
    begin = _slope(rows, rate, step, base, 0.0, constant, growth)
    at_low, at_high = begin, _slope(rows, rate, step, base, 1.0, constant, growth)
    if at_high <= 0.0 or begin >= 0.0:
        return 1.0 if begin < 0.0 else 0.0
    while high - low > 1:
        middle = (low + high) // 2
        here = _slope(rows, rate, step, base, shares[middle], constant, growth)
        if here > 0.0:
            high, at_high = middle, here
        else:
            low, at_low = middle, here
    first, last, side, share = shares[low], shares[high], 0, shares[low]
    for _ in range(MOST_TRIALS):
        share = (first * at_high - last * at_low) / (at_high - at_low)
        here = _slope(rows, rate, step, base, share, constant, growth)
        if abs(here) <= FLAT * abs(begin):
            break
        if here > 0.0:  # of an end that stays, half (the Illinois rule)
            last, at_high, at_low, side = share, here, at_low * (0.5 if side > 0 else 1.0), 1
        else:
            first, at_low, at_high, side = share, here, at_high * (0.5 if side < 0 else 1.0), -1
    return share
