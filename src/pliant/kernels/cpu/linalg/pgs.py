"""Projected Gauss-Seidel on the same operators and with the same stopping rule as MPRGP.

One sweep visits every row once, in order, and keeps v = M^-1 J^T lambda up to date, so that a row sees all changes
before it.
"""

import math

import numpy as np
from numba import types
from numba.extending import overload

from pliant.formulas.elements import element_impulses
from pliant.jit import kernel
from pliant.kernels.cpu.linalg.friction import friction_disc
from pliant.kernels.cpu.linalg.mprgp import dot, gradient, remaining
from pliant.kernels.cpu.system import transposed_product
from pliant.kernels.lanes import LANES, load9, tuple9
from pliant.kernels.operators import DenseOperator, SystemOperator

# Sweeps between two looks at the projected gradient.
CHECK_EVERY = 5
# The largest ratio of two changes of the energy from which what is left is foreseen.
SLOWEST = 0.99


def sweep(operator, b, low, high, friction, x, velocity):
    """One Gauss-Seidel pass over all rows. (Compiled code only: the overloads below say how for each operator.)"""
    raise TypeError(f"no compiled sweep for {type(operator).__name__}")


@kernel
def sweep_dense(operator, b, low, high, friction, x, velocity):
    """Gauss-Seidel on a dense matrix; contacts with friction are visited after all other rows, as blocks of three."""
    n = x.shape[0]
    tangent = np.zeros(n, np.bool_)
    for k in range(friction.coefficient.shape[0]):
        tangent[friction.first[k]] = True
        tangent[friction.second[k]] = True
    for i in range(n):
        if not tangent[i]:
            x[i] = min(max(x[i] + dense_residual(operator, b, x, i), low[i]), high[i])
    for k in range(friction.coefficient.shape[0]):
        a, c = friction.first[k], friction.second[k]
        r1, r2 = dense_residual(operator, b, x, a), dense_residual(operator, b, x, c)
        # the same step length in both tangents, so that the projection on the disc is a natural map
        x[a] += r1 / (operator.scale[a] * operator.scale[a]) / friction.diagonal[k]
        x[c] += r2 / (operator.scale[c] * operator.scale[c]) / friction.diagonal[k]
        t1, t2 = friction_disc(friction, k, operator.scale, x)
        x[a], x[c] = t1 / operator.scale[a], t2 / operator.scale[c]


@kernel
def dense_residual(operator, b, x, i):
    """Scaled residual b - A x of one row (the scaled diagonal is one)."""
    total = 0.0
    for j in range(x.shape[0]):
        total += operator.matrix[i, j] * (operator.scale[j] * x[j])
    return b[i] - operator.scale[i] * total


@kernel
def kick(op, triple, i0, i1, i2, velocity):
    """velocity += M^-1 impulse for one triple."""
    m = op.inverse_mass
    velocity[triple, 0] += m[triple, 0] * i0 + m[triple, 5] * i1 + m[triple, 4] * i2
    velocity[triple, 1] += m[triple, 5] * i0 + m[triple, 1] * i1 + m[triple, 3] * i2
    velocity[triple, 2] += m[triple, 4] * i0 + m[triple, 3] * i1 + m[triple, 2] * i2


@kernel
def sweep_element(op, group, lane, b, x, velocity):
    """The six rows of one element."""
    rotation, g = load9(op.rotation, group, lane), load9(op.gradients, group, lane)
    basis = tuple9(op.basis)
    zero = x.dtype.type(0)
    one = x.dtype.type(1)
    base = group * 6 * LANES + lane
    for row in range(6):
        index = base + row * LANES
        unit = (
            one if row == 0 else zero,
            one if row == 1 else zero,
            one if row == 2 else zero,
            one if row == 3 else zero,
            one if row == 4 else zero,
            one if row == 5 else zero,
        )
        j = element_impulses(unit, rotation, g, basis)
        last = op.nodes[group, 3, lane]
        rate = zero
        for i in range(3):
            node = op.nodes[group, i, lane]
            for c in range(3):
                rate += j[3 * i + c] * (velocity[node, c] - velocity[last, c])
        single, coupled = op.compliance[group, 0, lane], op.compliance[group, 1, lane]
        scale = op.scale[index]
        if row < 3:
            own = single * scale * x[index]
            for k in range(3):
                other = base + k * LANES
                own += coupled * op.ones[row] * op.ones[k] * op.scale[other] * x[other]
        else:
            own = (single + single) * scale * x[index]
        change = b[index] - scale * (rate + own)
        x[index] += change
        change *= scale
        for i in range(3):
            kick(
                op, op.nodes[group, i, lane], change * j[3 * i], change * j[3 * i + 1], change * j[3 * i + 2], velocity
            )
        kick(
            op,
            last,
            -change * (j[0] + j[3] + j[6]),
            -change * (j[1] + j[4] + j[7]),
            -change * (j[2] + j[5] + j[8]),
            velocity,
        )


@kernel
def row_residual(op, slice_, lane, row, b, x, velocity, base):
    """Scaled residual of one row of a block."""
    rate = x.dtype.type(0)
    index = base + row * LANES
    for entry in range(op.start[slice_], op.start[slice_ + 1]):
        triple = op.triples[entry, lane]
        for c in range(3):
            rate += op.jacobian[entry, 3 * row + c, lane] * velocity[triple, c]
    scale = op.scale[index]
    return b[index] - scale * (rate + op.compliance_rows[slice_, row, lane] * scale * x[index])


@kernel
def row_change(op, slice_, lane, row, change, velocity):
    """Carry a change of one row's impulse (unscaled) to the velocities."""
    if change != 0:
        for entry in range(op.start[slice_], op.start[slice_ + 1]):
            j = op.jacobian
            i0, i1, i2 = j[entry, 3 * row, lane], j[entry, 3 * row + 1, lane], j[entry, 3 * row + 2, lane]
            kick(op, op.triples[entry, lane], change * i0, change * i1, change * i2, velocity)


@kernel
def sweep_system(op, b, low, high, friction, x, velocity):
    """Gauss-Seidel over all elements, then all row blocks; a contact's tangents follow its normal at once."""
    groups, slices = op.nodes.shape[0], op.compliance_rows.shape[0]
    for group in range(groups):
        for lane in range(LANES):
            sweep_element(op, group, lane, b, x, velocity)
    first = groups * 6 * LANES
    contact = np.full(slices * LANES, -1)
    for k in range(friction.normal.shape[0]):
        place = friction.normal[k] - first
        contact[place // (3 * LANES) * LANES + place % LANES] = k
    for s in range(slices):
        for lane in range(LANES):
            base = first + s * 3 * LANES + lane
            k = contact[s * LANES + lane]
            for row in range(1 if k >= 0 else 3):
                index = base + row * LANES
                before = x[index]
                after = before + row_residual(op, s, lane, row, b, x, velocity, base)
                x[index] = min(max(after, low[index]), high[index])
                row_change(op, s, lane, row, op.scale[index] * (x[index] - before), velocity)
            if k >= 0:
                n1, n2 = base + LANES, base + 2 * LANES
                old1, old2 = x[n1], x[n2]
                step1 = op.scale[n1] * op.scale[n1] * friction.diagonal[k]
                step2 = op.scale[n2] * op.scale[n2] * friction.diagonal[k]
                change1 = row_residual(op, s, lane, 1, b, x, velocity, base) / step1
                change2 = row_residual(op, s, lane, 2, b, x, velocity, base) / step2
                x[n1] += change1
                x[n2] += change2
                t1, t2 = friction_disc(friction, k, op.scale, x)
                x[n1], x[n2] = t1 / op.scale[n1], t2 / op.scale[n2]
                row_change(op, s, lane, 1, op.scale[n1] * (x[n1] - old1), velocity)
                row_change(op, s, lane, 2, op.scale[n2] * (x[n2] - old2), velocity)


COMPILED_SWEEPS = {DenseOperator: sweep_dense, SystemOperator: sweep_system}


@overload(sweep)
def _sweep(operator, b, low, high, friction, x, velocity):
    compiled = isinstance(operator, types.NamedTuple) and COMPILED_SWEEPS.get(operator.instance_class)
    if not compiled:
        return None

    def implementation(operator, b, low, high, friction, x, velocity):
        compiled(operator, b, low, high, friction, x, velocity)

    return implementation


def start_velocity(operator, x):
    """v = M^-1 J^T lambda to start the sweeps from. (Compiled code only.)"""
    raise TypeError(f"no starting velocity for {type(operator).__name__}")


@overload(start_velocity)
def _start_velocity(operator, x):
    if operator.instance_class is SystemOperator:

        def implementation(operator, x):
            transposed_product(operator, x, operator.velocity)
            return operator.velocity.copy()

        return implementation

    def nothing(operator, x):
        return np.zeros((0, 3), x.dtype)

    return nothing


@kernel
def solve_pgs(operator, b, low, high, friction, x, work, tolerance, max_sweeps):
    """Sweep until the projected gradient is small; returns (sweeps, relative projected gradient, an estimate of the
    square of what is left, in the norm of A, from what the last sweeps lowered x A x / 2 - b x by). work (4, n)."""
    g, phi = work[0], work[1]
    reference = math.sqrt(dot(b, b))
    if reference == 0.0:
        reference = 1.0
    for i in range(x.shape[0]):
        x[i] = min(max(x[i], low[i]), high[i])
    velocity = start_velocity(operator, x)
    gradient(operator, x, b, g)
    sweeps, residual, energy, fell, left = 0, np.inf, dot(x, g) - dot(x, b), np.inf, np.inf
    while sweeps < max_sweeps:
        for _ in range(min(CHECK_EVERY, max_sweeps - sweeps)):
            sweep(operator, b, low, high, friction, x, velocity)
            sweeps += 1
        gradient(operator, x, b, g)
        before, energy = energy, dot(x, g) - dot(x, b)
        fell_before, fell = fell, abs(before - energy)
        ratio = min(fell / fell_before, SLOWEST) if fell_before > 0.0 else 0.0
        left = fell * (ratio / (1.0 - ratio) if fell_before < np.inf else 1.0)
        if friction.coefficient.shape[0] > 0:  # with bounds that follow there is no energy that falls
            left = 0.0
        residual = remaining(friction, operator.scale, x, g, low, high, phi) / reference
        if residual <= tolerance:
            break
    return sweeps, residual, left
