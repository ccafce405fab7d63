"""The dual operator J M^-1 J^T + R, matrix-free: elements and row slices write slots, triples gather them in fixed order.

Impulse vectors are flat: first the elements (groups, 6, LANES), then the row slices (slices, 3, LANES). A slot is the
impulse that one element or row gives to one of its triples; its three components lie LANES apart. No atomics: results
do not depend on the number of threads.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_compliance, element_gradient, element_impulses, strain_rate
from pliant.formulas.matrix3 import multiply_vector, symmetric_multiply_vector, transpose_multiply_vector
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.elements import gather_differences
from pliant.kernels.lanes import LANES, load3, load6, load9, tuple9


@kernel
def element_slots(group, impulse, scale, gradients, rotation, basis_array, slots_out):
    """Slots (4 nodes x 3) of one group of elements; impulse, scale are (groups, 6, LANES), slots (groups, 12, LANES)."""
    basis = tuple9(basis_array)
    for lane in range(LANES):
        l = load6(impulse, group, lane)
        s = load6(scale, group, lane)
        l = (l[0] * s[0], l[1] * s[1], l[2] * s[2], l[3] * s[3], l[4] * s[4], l[5] * s[5])
        i = element_impulses(l, load9(rotation, group, lane), load9(gradients, group, lane), basis)
        for c in range(9):
            slots_out[group, c, lane] = i[c]
        for c in range(3):
            slots_out[group, 9 + c, lane] = -(i[c] + i[3 + c] + i[6 + c])


@kernel
def row_slots(slice_, impulse, scale, start, jacobian, slots_out):
    """Slots (entries, 3, LANES) of one slice of rows."""
    for entry in range(start[slice_], start[slice_ + 1]):
        for lane in range(LANES):
            l = load3(impulse, slice_, 0, lane)
            s = load3(scale, slice_, 0, lane)
            i = transpose_multiply_vector(load9(jacobian, entry, lane), (l[0] * s[0], l[1] * s[1], l[2] * s[2]))
            slots_out[entry, 0, lane] = i[0]
            slots_out[entry, 1, lane] = i[1]
            slots_out[entry, 2, lane] = i[2]


@kernel
def element_rows(group, velocity, impulse, scale, nodes, gradients, rotation, compliance, basis_array, ones_array, out):
    """scale (J velocity + R scale impulse) of one group of elements; compliance (groups, 2, LANES)."""
    basis, ones = tuple9(basis_array), (ones_array[0], ones_array[1], ones_array[2])
    d = np.empty((9, LANES), velocity.dtype)
    gather_differences(velocity, nodes, group, d)
    for lane in range(LANES):
        d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
        d2 = (d[6, lane], d[7, lane], d[8, lane])
        e = strain_rate(
            element_gradient(d0, d1, d2, load9(gradients, group, lane)), load9(rotation, group, lane), basis
        )
        l = load6(impulse, group, lane)
        s = load6(scale, group, lane)
        l = (l[0] * s[0], l[1] * s[1], l[2] * s[2], l[3] * s[3], l[4] * s[4], l[5] * s[5])
        r = element_compliance(l, compliance[group, 0, lane], compliance[group, 1, lane], ones)
        for c in range(6):
            out[group, c, lane] = s[c] * (e[c] + r[c])


@kernel
def block_rows(slice_, velocity, impulse, scale, start, triples, jacobian, compliance, out):
    """scale (J velocity + R scale impulse) of one slice of rows; compliance (slices, 3, LANES), diagonal."""
    for c in range(3):
        for lane in range(LANES):
            out[slice_, c, lane] = compliance[slice_, c, lane] * scale[slice_, c, lane] * impulse[slice_, c, lane]
    v = np.empty((3, LANES), velocity.dtype)
    for entry in range(start[slice_], start[slice_ + 1]):
        for lane in range(LANES):
            triple = triples[entry, lane]
            v[0, lane], v[1, lane], v[2, lane] = velocity[triple, 0], velocity[triple, 1], velocity[triple, 2]
        for lane in range(LANES):
            r = multiply_vector(load9(jacobian, entry, lane), (v[0, lane], v[1, lane], v[2, lane]))
            out[slice_, 0, lane] += r[0]
            out[slice_, 1, lane] += r[1]
            out[slice_, 2, lane] += r[2]
    for c in range(3):
        for lane in range(LANES):
            out[slice_, c, lane] *= scale[slice_, c, lane]


@kernel
def gather_slots(triple, slots, adjacency_start, adjacency):
    """Sum of the slots of one triple, in the fixed order of the adjacency (offsets of first components)."""
    s0 = slots[0] - slots[0]
    s1, s2 = s0, s0
    for k in range(adjacency_start[triple], adjacency_start[triple + 1]):
        offset = adjacency[k]
        s0 += slots[offset]
        s1 += slots[offset + LANES]
        s2 += slots[offset + 2 * LANES]
    return (s0, s1, s2)


@parallel_kernel
def transposed_product(op, impulse, velocity_out):
    """velocity_out (triples, 3) = M^-1 J^T (scale impulse)."""
    groups, slices = op.nodes.shape[0], op.compliance_rows.shape[0]
    element_size, row_size = groups * 6 * LANES, slices * 3 * LANES
    e_impulse = impulse[:element_size].reshape(groups, 6, LANES)
    e_scale = op.scale[:element_size].reshape(groups, 6, LANES)
    r_impulse = impulse[element_size : element_size + row_size].reshape(slices, 3, LANES)
    r_scale = op.scale[element_size : element_size + row_size].reshape(slices, 3, LANES)
    entries = op.triples.shape[0]
    e_slots = op.slots[: groups * 12 * LANES].reshape(groups, 12, LANES)
    r_slots = op.slots[groups * 12 * LANES : (groups * 12 + entries * 3) * LANES].reshape(entries, 3, LANES)
    for task in prange(groups + slices):
        if task < groups:
            element_slots(task, e_impulse, e_scale, op.gradients, op.rotation, op.basis, e_slots)
        else:
            row_slots(task - groups, r_impulse, r_scale, op.start, op.jacobian, r_slots)
    for triple in prange(velocity_out.shape[0]):
        a = gather_slots(triple, op.slots, op.adjacency_start, op.adjacency)
        b = gather_slots(triple, op.slots, op.row_adjacency_start, op.row_adjacency)
        m = op.inverse_mass
        mass = (m[triple, 0], m[triple, 1], m[triple, 2], m[triple, 3], m[triple, 4], m[triple, 5])
        v = symmetric_multiply_vector(mass, (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
        velocity_out[triple, 0], velocity_out[triple, 1], velocity_out[triple, 2] = v[0], v[1], v[2]


@parallel_kernel
def row_product(op, velocity, impulse, out):
    """out = scale (J velocity + R scale impulse)."""
    groups, slices = op.nodes.shape[0], op.compliance_rows.shape[0]
    element_size, row_size = groups * 6 * LANES, slices * 3 * LANES
    e_impulse = impulse[:element_size].reshape(groups, 6, LANES)
    e_scale = op.scale[:element_size].reshape(groups, 6, LANES)
    e_out = out[:element_size].reshape(groups, 6, LANES)
    r_impulse = impulse[element_size : element_size + row_size].reshape(slices, 3, LANES)
    r_scale = op.scale[element_size : element_size + row_size].reshape(slices, 3, LANES)
    r_out = out[element_size : element_size + row_size].reshape(slices, 3, LANES)
    for task in prange(groups + slices):
        if task < groups:
            element_rows(
                task,
                velocity,
                e_impulse,
                e_scale,
                op.nodes,
                op.gradients,
                op.rotation,
                op.compliance,
                op.basis,
                op.ones,
                e_out,
            )
        else:
            block_rows(
                task - groups,
                velocity,
                r_impulse,
                r_scale,
                op.start,
                op.triples,
                op.jacobian,
                op.compliance_rows,
                r_out,
            )
