"""Preconditioned conjugate gradients on a quadratic with contacts, the whole solve in one compiled call.

What is minimised is s.x + x.A x / 2 + Psi(r + J x): contacts, with a convex potential Psi of their rates, open, close,
stick and slide as they do on the way. Every direction is followed to its lowest point, which costs no product: rates
are linear along it. Directions are those of Polak and Ribiere, restarted where they lead back (Nocedal and Wright 2006,
eq. 5.45).
"""

import numpy as np

from pliant.formulas.contact import cone_impulse
from pliant.jit import kernel
from pliant.kernels.cpu.linalg.pcg import dot_slices, multiply, precondition
from pliant.kernels.lanes import LANES

# Slope, in parts of the first one, at which a direction has been followed far enough, and most looks at it on the way.
LEVEL, MOST_LOOKS = 0.1, 5
# Rounding of slopes relative to their parts: vectors are of float32.
ROUNDING = 1e-6


@kernel
def _write_rates(rows, x, scale, out):
    """out (slices, 3, LANES) = scale J x, for a flat vector x."""
    there, total = np.empty((3, LANES)), np.empty((3, LANES))
    for s in range(rows.start.shape[0] - 1):
        for r in range(3):
            for lane in range(LANES):
                total[r, lane] = 0.0
        for e in range(rows.start[s], rows.start[s + 1]):
            for lane in range(LANES):
                at = rows.offset[e, lane]
                there[0, lane], there[1, lane], there[2, lane] = x[at], x[at + LANES], x[at + 2 * LANES]
            for r in range(3):
                for lane in range(LANES):
                    total[r, lane] += (
                        rows.jacobian[e, 3 * r, lane] * there[0, lane]
                        + rows.jacobian[e, 3 * r + 1, lane] * there[1, lane]
                        + rows.jacobian[e, 3 * r + 2, lane] * there[2, lane]
                    )
        for r in range(3):
            for lane in range(LANES):
                out[s, r, lane] = scale * total[r, lane]


@kernel
def _add_impulses(rows, impulse, scale, free, out):
    """out += scale J^T impulse, for a flat vector, where components are free."""
    for s in range(rows.start.shape[0] - 1):
        for e in range(rows.start[s], rows.start[s + 1]):
            for lane in range(LANES):
                a, b, c = impulse[s, 0, lane], impulse[s, 1, lane], impulse[s, 2, lane]
                if a == 0.0 and b == 0.0 and c == 0.0:
                    continue
                for k in range(3):
                    at = rows.offset[e, lane] + k * LANES
                    own = rows.jacobian[e, k, lane] * a + rows.jacobian[e, 3 + k, lane] * b
                    out[at] += free[at] * (scale * (own + rows.jacobian[e, 6 + k, lane] * c))


@kernel
def _respond(contacts, rate, way, t, impulse_out):
    """Impulses of contacts (slices, 3, LANES) [N s] at rates rate + t way [m/s]; the slope and the curvature of their
    potential along the way."""
    slope, curvature = 0.0, 0.0
    out = np.empty((5, LANES))  # of its own, so that the loop over lanes vectorises
    for s in range(rate.shape[0]):
        for lane in range(LANES):
            n, a = contacts.compliance[s, 0, lane], contacts.compliance[s, 1, lane]
            w0, w1, w2 = way[s, 0, lane], way[s, 1, lane], way[s, 2, lane]
            y0 = (contacts.target[s, 0, lane] - (rate[s, 0, lane] + t * w0)) / n
            y1 = (contacts.target[s, 1, lane] - (rate[s, 1, lane] + t * w1)) / a
            y2 = (contacts.target[s, 2, lane] - (rate[s, 2, lane] + t * w2)) / a
            l, g, _ = cone_impulse((y0, y1, y2), contacts.friction[s, lane], n, a)
            out[0, lane], out[1, lane], out[2, lane] = l[0], l[1], l[2]
            out[3, lane] = -(l[0] * w0 + l[1] * w1 + l[2] * w2)
            out[4, lane] = (
                g[0] * w0 * w0 + g[1] * w1 * w1 + g[2] * w2 * w2
                + 2.0 * (g[3] * w1 * w2 + g[4] * w0 * w2 + g[5] * w0 * w1)
            )  # fmt: skip
        for lane in range(LANES):
            impulse_out[s, 0, lane], impulse_out[s, 1, lane] = out[0, lane], out[1, lane]
            impulse_out[s, 2, lane] = out[2, lane]
            slope += out[3, lane]
            curvature += out[4, lane]
    return slope, curvature


@kernel
def _lowest(contacts, rate, way, linear, quadratic, impulse_out):
    """How far (>= 0) to go along a way to the lowest point, nearly, of linear t + quadratic t^2 / 2 + Psi; impulses
    there."""
    slope, curvature = _respond(contacts, rate, way, 0.0, impulse_out)
    rounding = ROUNDING * (abs(slope) + abs(linear))
    slope, curvature = slope + linear, curvature + quadratic
    if not (slope < -rounding and curvature > 0.0):
        return 0.0
    first, low, high, t = slope, 0.0, np.inf, -slope / curvature
    for _ in range(MOST_LOOKS):
        slope, curvature = _respond(contacts, rate, way, t, impulse_out)
        slope, curvature = slope + linear + quadratic * t, curvature + quadratic
        if abs(slope) <= max(LEVEL * abs(first), rounding):
            return t
        if slope < 0.0:
            low = t
        else:
            high = t
        t -= slope / curvature
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else low
    t = low if low > 0.0 else t  # up to there it goes down
    _respond(contacts, rate, way, t, impulse_out)
    return t


@kernel
def _step(matrix, rows, free, contacts, p, size, parallel, x, r, q, rate, way, impulse):
    """Goes from x to the lowest point along p; with x change the rates, and r, the downward slope but for contacts'
    impulses. How far."""
    multiply(matrix, rows.none, free, p, q, parallel)
    _write_rates(rows.all, p.reshape(-1), size, way)
    t = _lowest(contacts, rate, way, -size * size * dot_slices(r, p), size * size * dot_slices(p, q), impulse)
    for s in range(p.shape[0]):
        for c in range(3):
            for lane in range(p.shape[2]):
                x[s, c, lane] += x.dtype.type(t) * p[s, c, lane]
                r[s, c, lane] -= r.dtype.type(t) * q[s, c, lane]
    for s in range(rate.shape[0]):
        for c in range(3):
            for lane in range(LANES):
                rate[s, c, lane] += t * way[s, c, lane]
    return t


@kernel
def descend(
    matrix, rows, free, preconditioner, contacts, right, size, tolerance, most, parallel, x_out, work, impulse_out
):
    """The lowest x, nearly, of -right.x + x.A x / 2 + Psi(rate + size J x) / size^2, for vectors (slices, 3, LANES),
    from zero.

    rows: `all` of them, RowTerms, and `none`. contacts: their tables, with rates at zero. size: the unit of x [m/s].
    work (5, slices, 3, LANES). It ends when the preconditioned slope has fallen to `tolerance` of the first, or after
    `most` products. Returns these, and impulses (slices, 3, LANES) [N s] where it ends.
    """
    r, last, z, p, q = work[0], work[1], work[2], work[3], work[4]
    rate, way = contacts.rate.copy(), np.zeros(contacts.rate.shape)
    flat = free.reshape(-1)
    for s in range(right.shape[0]):
        for c in range(3):
            for lane in range(LANES):
                x_out[s, c, lane], r[s, c, lane], p[s, c, lane] = 0, right[s, c, lane], 0
    _respond(contacts, rate, way, 0.0, impulse_out)
    products, first, before, again = 0, -1.0, 0.0, True
    while products < most:
        # the whole downward slope: r, and what contacts push with
        for s in range(r.shape[0]):
            for c in range(3):
                for lane in range(LANES):
                    q[s, c, lane] = r[s, c, lane]
        _add_impulses(rows.all, impulse_out, 1.0 / size, flat, q.reshape(-1))
        precondition(preconditioner, q, z)
        now = dot_slices(q, z)
        first = now if first < 0.0 else first
        if not now > tolerance * tolerance * first:
            break
        beta = 0.0 if again else max((now - dot_slices(last, z)) / before, 0.0)
        for s in range(r.shape[0]):
            for c in range(3):
                for lane in range(LANES):
                    p[s, c, lane] = z[s, c, lane] + p.dtype.type(beta) * p[s, c, lane]
                    last[s, c, lane] = q[s, c, lane]
        before = now
        products += 1
        t = _step(matrix, rows, free, contacts, p, size, parallel, x_out, r, q, rate, way, impulse_out)
        if t == 0.0 and again:
            break
        again = t == 0.0
    return products
