"""MPRGP with box constraints: conjugate gradients with projections for min 1/2 x A x - b x, low <= x <= high.

BV algorithm 4 (after Dostal), definitions as corrected in the theory page. Friction bounds follow the normal impulses
inside the solve: whenever the projected gradient has fallen tenfold they are refreshed from the current impulses, and
the solve ends when Coulomb's law itself holds, whatever the bounds of the moment.
"""

import math

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.friction import enter_discs, refresh_friction_bounds, tangent_gap
from pliant.kernels.cpu.linalg.operators import apply

# BV 3.7: fixed step 1.6 / |A| after power iterations, proportioning constant 1.
STEP_FRACTION = 1.6
REFRESH_FACTOR = 0.1
MAX_REFRESHES = 200
# Refreshes without progress before the bounds follow at half the pace, and the pace at which they are left alone.
PATIENCE = 6
LEAST_RELAXATION = 0.1
# Part of the products that may be spent while the bounds still move.
REFRESH_SHARE = 0.7
# From where on, relative to the target, what the energy falls by says how far the end is from the answer.
LATE = 10.0


@kernel
def _assign(out, values):
    for i in range(out.shape[0]):
        out[i] = values[i]


@kernel
def norm_estimate(operator, direction_inout, work, iterations):
    """Largest eigenvalue of the scaled operator by power iteration, started from and returned with its direction."""
    value = 0.0
    for _ in range(iterations):
        length = 0.0
        for i in range(direction_inout.shape[0]):
            length += direction_inout[i] * direction_inout[i]
        factor = direction_inout.dtype.type(1.0 / math.sqrt(length))
        for i in range(direction_inout.shape[0]):
            direction_inout[i] *= factor
        apply(operator, direction_inout, work)
        value = 0.0
        for i in range(direction_inout.shape[0]):
            value += work[i] * work[i]
            direction_inout[i] = work[i]
        value = math.sqrt(value)
        if value == 0.0:
            direction_inout[0] = 1
            return 1.0
    return value


@kernel
def split_gradient(x, g, low, high, free_out):
    """Free gradient phi; returns |phi|^2 + |beta|^2 and |beta|^2, squares of the projected and chopped gradients."""
    zero = x.dtype.type(0)
    free_square, chopped_square = 0.0, 0.0
    for i in range(x.shape[0]):
        at_low, at_high = x[i] <= low[i], x[i] >= high[i]
        gradient = g[i]
        free = zero if at_low or at_high else gradient
        # beta is what would move an active variable off its bound
        chopped = gradient - free
        chopped = min(chopped, zero) if at_low else chopped
        chopped = max(chopped, zero) if at_high else chopped
        free_out[i] = free
        free_square += free * free
        chopped_square += chopped * chopped
    return free_square + chopped_square, chopped_square


@kernel
def reduced_products(x, g, low, high, step):
    """phi~.phi and beta~.beta: the gradients shortened so that a step of length `step` stays inside the box."""
    zero = x.dtype.type(0)
    inverse = x.dtype.type(1.0 / step)
    free_product, chopped_product = 0.0, 0.0
    for i in range(x.shape[0]):
        gradient = g[i]
        # with gradient > 0 the variable moves down, else up
        if gradient > zero:
            reduced = min((x[i] - low[i]) * inverse, gradient)
            blocked = x[i] <= low[i]
        else:
            reduced = max((x[i] - high[i]) * inverse, gradient)
            blocked = x[i] >= high[i]
        active = x[i] <= low[i] or x[i] >= high[i]
        product = zero if blocked else reduced * gradient
        if active:
            chopped_product += product
        else:
            free_product += product
    return free_product, chopped_product


@kernel
def feasible_step(x, p, low, high):
    """Largest step along -p that stays inside the box."""
    step = np.inf
    for i in range(x.shape[0]):
        if p[i] > 0.0:
            step = min(step, (x[i] - low[i]) / p[i])
        elif p[i] < 0.0:
            step = min(step, (x[i] - high[i]) / p[i])
    return step


@kernel
def move(x_inout, g_inout, p, product, step, low, high):
    """x -= step p, g -= step A p; x is kept inside the box against rounding."""
    length = x_inout.dtype.type(step)
    for i in range(x_inout.shape[0]):
        x_inout[i] = min(max(x_inout[i] - length * p[i], low[i]), high[i])
        g_inout[i] -= length * product[i]


@kernel
def project_along(x_inout, direction, step, low, high):
    """x = projection of x - step direction on the box."""
    length = x_inout.dtype.type(step)
    for i in range(x_inout.shape[0]):
        x_inout[i] = min(max(x_inout[i] - length * direction[i], low[i]), high[i])


@kernel
def gradient(operator, x, b, g_out):
    """g = A x - b."""
    apply(operator, x, g_out)
    for i in range(x.shape[0]):
        g_out[i] -= b[i]


@kernel
def remaining(friction, scale, x, g_inout, low, high, work):
    """What is left: projected gradient, and for friction rows Coulomb's natural residual; their g becomes 0."""
    sliding = tangent_gap(friction, scale, x, g_inout)
    square, _ = split_gradient(x, g_inout, low, high, work)
    return math.sqrt(square + sliding)


@kernel
def dot(a, b):
    """Dot product, summed in float64."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def minimise_in_box(operator, b, low, high, x, g, p, phi, product, target, max_products, alpha, products, restart):
    """MPRGP until |projected gradient| <= target, at least once; returns the projected gradient, the products used so
    far, and twice what x A x / 2 - b x fell by once the gradient was near the target.

    p keeps its direction between calls unless `restart`; arrays x, g, p, phi, product are updated in place.
    """
    square, chopped = split_gradient(x, g, low, high, phi)
    if restart:
        _assign(p, phi)
    fallen, begun = 0.0, False
    while (math.sqrt(square) > target or not begun) and square > 0.0 and products < max_products:
        begun, near = True, 1.0 if math.sqrt(square) <= LATE * target else 0.0
        proportional = True
        if chopped > 0.0:
            free_product, chopped_product = reduced_products(x, g, low, high, alpha)
            proportional = chopped_product <= free_product
        if proportional:
            apply(operator, p, product)
            products += 1
            curvature = dot(p, product)
            if curvature <= 0.0:
                break
            step = dot(g, p) / curvature
            limit = feasible_step(x, p, low, high)
            fallen += near * curvature * min(step, limit) * (2.0 * step - min(step, limit))
            if step < limit:
                move(x, g, p, product, step, low, high)
                square, chopped = split_gradient(x, g, low, high, phi)
                beta = p.dtype.type(dot(phi, product) / curvature)
                for i in range(p.shape[0]):
                    p[i] = phi[i] - beta * p[i]
                continue
            move(x, g, p, product, limit, low, high)
            split_gradient(x, g, low, high, phi)
            project_along(x, phi, alpha, low, high)
        else:
            # release the bounds whose gradient points inside
            for i in range(p.shape[0]):
                p[i] = g[i] - phi[i]
                if x[i] <= low[i]:
                    p[i] = min(p[i], p.dtype.type(0))
                if x[i] >= high[i]:
                    p[i] = max(p[i], p.dtype.type(0))
            apply(operator, p, product)
            products += 1
            curvature = dot(p, product)
            step = dot(g, p) / curvature if curvature > 0.0 else np.inf
            limit = feasible_step(x, p, low, high)
            if step < limit:
                fallen += near * curvature * step * step
                move(x, g, p, product, step, low, high)
                square, chopped = split_gradient(x, g, low, high, phi)
                _assign(p, phi)
                continue
            if limit < np.inf:
                move(x, g, p, product, limit, low, high)
        gradient(operator, x, b, g)
        products += 1
        square, chopped = split_gradient(x, g, low, high, phi)
        _assign(p, phi)
    return math.sqrt(square), products, fallen


@kernel
def minimise_freely(operator, b, x, g, p, product, target, max_products, products):
    """Plain conjugate gradients, for a problem without any bound; returns as `minimise_in_box`."""
    square, fallen, begun = 0.0, 0.0, False
    for i in range(g.shape[0]):
        p[i] = g[i]
        square += g[i] * g[i]
    while (math.sqrt(square) > target or not begun) and square > 0.0 and products < max_products:
        apply(operator, p, product)
        products += 1
        curvature = dot(p, product)
        if curvature <= 0.0:
            break
        begun = True
        fallen += square * square / curvature if math.sqrt(square) <= LATE * target else 0.0
        step = x.dtype.type(square / curvature)
        before, square = square, 0.0
        for i in range(x.shape[0]):
            x[i] -= step * p[i]
            g[i] -= step * product[i]
            square += g[i] * g[i]
        beta = x.dtype.type(square / before)
        for i in range(x.shape[0]):
            p[i] = g[i] + beta * p[i]
    return math.sqrt(square), products, fallen


@kernel
def solve_mprgp(operator, b, low, high, friction, x, work, tolerance, max_products, power_direction, power_iterations):
    """Solve the box problem in place in x; returns (products, relative projected gradient, refreshes, and twice the
    energy by which the last products lowered x A x / 2 - b x: about the square of what is left, in the norm of A).

    b, low, high, x: (n,) in scaled variables; friction: see linalg.friction; work (4, n).
    """
    g, p, phi, product = work[0], work[1], work[2], work[3]
    bounded = friction.coefficient.shape[0] > 0
    for i in range(x.shape[0]):
        bounded = bounded or low[i] > -np.inf or high[i] < np.inf
    alpha = 1.0
    if bounded:
        alpha = STEP_FRACTION / norm_estimate(operator, power_direction, product, power_iterations)
    reference = math.sqrt(dot(b, b))
    if reference == 0.0:
        reference = 1.0
    target = tolerance * reference
    refreshes = 0
    limit, relaxation = np.zeros(friction.coefficient.shape[0], x.dtype), x.dtype.type(1)
    if friction.coefficient.shape[0] > 0:
        gradient(operator, x, b, g)
        refresh_friction_bounds(friction, operator.scale, x, g, low, high, limit, relaxation)
    project_along(x, x, 0.0, low, high)
    gradient(operator, x, b, g)
    products = 1
    if not bounded:
        residual, products, fallen = minimise_freely(operator, b, x, g, p, product, target, max_products, products)
        return products, residual / reference, 0, fallen
    if friction.coefficient.shape[0] == 0:
        residual, products, fallen = minimise_in_box(
            operator, b, low, high, x, g, p, phi, product, target, max_products, alpha, products, True
        )
        return products, residual / reference, 0, fallen
    residual, best, since, fallen = np.inf, np.inf, 0, 0.0
    while products < REFRESH_SHARE * max_products:
        _assign(product, g)
        residual = remaining(friction, operator.scale, x, product, low, high, phi)
        if residual <= target:
            enter_discs(friction, operator.scale, x)
            return products, residual / reference, refreshes, fallen
        # normal and tangent impulses chase each other in a circle: follow with shorter steps, in the end not at all
        since = 0 if residual < best else since + 1
        best = min(best, residual)
        if since == PATIENCE:
            relaxation, since = relaxation * x.dtype.type(0.5), 0
        if relaxation < LEAST_RELAXATION or refreshes == MAX_REFRESHES:
            break
        inner = max(0.1 * target, REFRESH_FACTOR * residual)
        _, products, fallen = minimise_in_box(
            operator, b, low, high, x, g, p, phi, product, inner, max_products, alpha, products, True
        )
        refresh_friction_bounds(friction, operator.scale, x, g, low, high, limit, relaxation)
        gradient(operator, x, b, g)
        products += 1
        refreshes += 1
    # no fixed point found: solve for the last bounds to the end, a convex problem that cannot gain energy
    _, products, fallen = minimise_in_box(
        operator, b, low, high, x, g, p, phi, product, target, max_products, alpha, products, True
    )
    _assign(product, g)
    residual = remaining(friction, operator.scale, x, product, low, high, phi)
    return products, residual / reference, refreshes, fallen
