"""Loops over row blocks for the primal form: J^T G J into blocks, J^T into impulses, impulses from velocities."""

import math

import numpy as np

from pliant.formulas.contact import bounded_impulse, cone_impulse
from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def add_row_blocks(first, second, place, jacobian, weight, block_index, values_inout):
    """Adds J_i^T W J_j for pairs of entries (first, second) of row blocks at place (slice, lane) to the blocks named.

    weight (slices, 3, LANES) is W, diagonal; a block index k < 0 stands for block -2 - k, stored transposed.
    """
    for k in range(first.shape[0]):
        i, j, s, lane, index = first[k], second[k], place[k, 0], place[k, 1], block_index[k]
        if index < 0:
            i, j, index = j, i, -2 - index
        t00 = t01 = t02 = t10 = t11 = t12 = t20 = t21 = t22 = 0.0  # as numbers of their own they stay in registers
        for row in range(3):
            w, q = weight[s, row, lane], 3 * row
            a0, a1, a2 = w * jacobian[i, q, lane], w * jacobian[i, q + 1, lane], w * jacobian[i, q + 2, lane]
            b0, b1, b2 = jacobian[j, q, lane], jacobian[j, q + 1, lane], jacobian[j, q + 2, lane]
            t00, t01, t02 = t00 + a0 * b0, t01 + a0 * b1, t02 + a0 * b2
            t10, t11, t12 = t10 + a1 * b0, t11 + a1 * b1, t12 + a1 * b2
            t20, t21, t22 = t20 + a2 * b0, t21 + a2 * b1, t22 + a2 * b2
        block = values_inout[index]
        block[0, 0], block[0, 1], block[0, 2] = block[0, 0] + t00, block[0, 1] + t01, block[0, 2] + t02
        block[1, 0], block[1, 1], block[1, 2] = block[1, 0] + t10, block[1, 1] + t11, block[1, 2] + t12
        block[2, 0], block[2, 1], block[2, 2] = block[2, 0] + t20, block[2, 1] + t21, block[2, 2] + t22


@kernel
def add_row_impulses(start, triples, jacobian, impulse, out):
    """out (triples, 3) += J^T impulse; impulse (slices, 3, LANES)."""
    add_scaled_impulses(start, triples, jacobian, impulse, 1.0, out)


@kernel
def add_scaled_impulses(start, triples, jacobian, impulse, scale, out):
    """out (triples, 3) += scale J^T impulse; impulse (slices, 3, LANES)."""
    for s in range(start.shape[0] - 1):
        for entry in range(start[s], start[s + 1]):
            for lane in range(LANES):
                l = (scale * impulse[s, 0, lane], scale * impulse[s, 1, lane], scale * impulse[s, 2, lane])
                if l[0] == 0.0 and l[1] == 0.0 and l[2] == 0.0:
                    continue
                triple = triples[entry, lane]
                for c in range(3):
                    own = jacobian[entry, c, lane] * l[0] + jacobian[entry, 3 + c, lane] * l[1]
                    out[triple, c] += own + jacobian[entry, 6 + c, lane] * l[2]


@kernel
def _row_rate(start, triples, jacobian, velocity, s, row, lane):
    """J u of one row."""
    rate = 0.0
    for entry in range(start[s], start[s + 1]):
        triple = triples[entry, lane]
        for c in range(3):
            rate += jacobian[entry, 3 * row + c, lane] * velocity[triple, c]
    return rate


@kernel
def _slice_rates(start, triples, jacobian, velocity, s, there, out):
    """out (3, LANES) = J u of the rows of a slice; there (3, LANES): work space."""
    for row in range(3):
        for lane in range(LANES):
            out[row, lane] = 0.0
    for entry in range(start[s], start[s + 1]):
        for lane in range(LANES):
            triple = triples[entry, lane]
            there[0, lane], there[1, lane] = velocity[triple, 0], velocity[triple, 1]
            there[2, lane] = velocity[triple, 2]
        for row in range(3):
            for lane in range(LANES):
                out[row, lane] += (
                    jacobian[entry, 3 * row, lane] * there[0, lane]
                    + jacobian[entry, 3 * row + 1, lane] * there[1, lane]
                    + jacobian[entry, 3 * row + 2, lane] * there[2, lane]
                )


@kernel
def row_rates(start, triples, jacobian, velocity, out):
    """out (slices, 3, LANES) = J u for velocities (triples, 3)."""
    there = np.empty((3, LANES))
    for s in range(start.shape[0] - 1):
        _slice_rates(start, triples, jacobian, velocity, s, there, out[s])


@kernel
def row_impulses(start, triples, jacobian, target, weight, velocity, out):
    """out (slices * 3 * LANES,) = W (b - J u): the impulses of eliminated rows."""
    for s in range(start.shape[0] - 1):
        for row in range(3):
            for lane in range(LANES):
                rate = _row_rate(start, triples, jacobian, velocity, s, row, lane)
                out[(s * 3 + row) * LANES + lane] = weight[s, row, lane] * (target[s, row, lane] - rate)


@kernel
def _rough_lane(target, friction, compliance, rate, lane, slip_out, impulse_out, curvature_out):
    """As `row_response`, of one rough contact in a slice."""
    normal, tangent = compliance[0, lane], compliance[1, lane]
    y = (
        (target[0, lane] - rate[0, lane]) / normal,
        (target[1, lane] - rate[1, lane]) / tangent,
        (target[2, lane] - rate[2, lane]) / tangent,
    )
    l, g, e = cone_impulse(y, friction[lane], normal, tangent)
    impulse_out[0, lane], impulse_out[1, lane], impulse_out[2, lane] = l[0], l[1], l[2]
    curvature_out[0, lane], curvature_out[1, lane], curvature_out[2, lane] = g[0], g[1], g[2]
    curvature_out[3, lane], curvature_out[4, lane], curvature_out[5, lane] = g[3], g[4], g[5]
    slip_out[lane] = math.sqrt(rate[1, lane] * rate[1, lane] + rate[2, lane] * rate[2, lane])
    return e


@kernel
def _rough_response(target, friction, compliance, rate, slip_out, impulse_out, curvature_out):
    """The same of a whole slice of rough contacts, which is plain arithmetic on its lanes."""
    energy = 0.0
    for lane in range(LANES):
        energy += _rough_lane(target, friction, compliance, rate, lane, slip_out, impulse_out, curvature_out)
    return energy


@kernel
def row_response(
    start,
    triples,
    jacobian,
    target,
    low,
    high,
    friction,
    compliance,
    velocity,
    joint_slices,
    joint_rate,
    slip_out,
    impulse_out,
    curvature_out,
):
    """Impulses (slices, 3, LANES) and curvatures G (slices, 6, LANES) of soft rows at a velocity (triples, 3); returns
    the potentials [J] of the joints' rows and of the others (theory section 2, primal form).

    compliance (slices, 3, LANES): R > 0. joint_rate (joint_slices, 3, LANES): rates of the first slices, which are not
    linear in the velocity. slip_out (slices, LANES): tangential speed [m/s] of rough contacts.
    """
    energy, of_joints = 0.0, 0.0
    rate, there = np.empty((3, LANES)), np.empty((3, LANES))
    for s in range(start.shape[0] - 1):
        if s == joint_slices:
            of_joints, energy = energy, 0.0
        if s < joint_slices:
            for row in range(3):
                for lane in range(LANES):
                    rate[row, lane] = joint_rate[s, row, lane]
        else:
            _slice_rates(start, triples, jacobian, velocity, s, there, rate)
        rough = True
        for lane in range(LANES):
            rough = rough and friction[s, lane] > 0.0
        if rough:
            energy += _rough_response(
                target[s], friction[s], compliance[s], rate, slip_out[s], impulse_out[s], curvature_out[s]
            )
            continue
        for lane in range(LANES):
            if friction[s, lane] > 0.0:
                energy += _rough_lane(
                    target[s], friction[s], compliance[s], rate, lane, slip_out[s], impulse_out[s], curvature_out[s]
                )
                continue
            for row in range(3):
                l, g, e = bounded_impulse(
                    target[s, row, lane] - rate[row, lane],
                    1.0 / compliance[s, row, lane],
                    low[s, row, lane],
                    high[s, row, lane],
                )
                impulse_out[s, row, lane], curvature_out[s, row, lane] = l, g
                energy += e
    if joint_slices == start.shape[0] - 1:
        of_joints, energy = energy, 0.0
    return of_joints, energy
