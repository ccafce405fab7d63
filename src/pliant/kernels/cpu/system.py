"""The dual operator J M^-1 J^T + R, matrix-free: elements and row slices write slots, triples gather them in fixed
order.

Impulse vectors are flat: first the elements (groups, 6, LANES), then the row slices (slices, 3, LANES). A slot is the
impulse that one element or row gives to one of its triples; its three components lie LANES apart. No atomics: results
do not depend on the number of threads.

Lane loops take their length from an array's shape: with a constant one LLVM unrolls short bodies instead of
vectorising them.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_compliance, element_gradient, element_impulses, strain_rate
from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES, load6, load9, tuple9

# Groups or slices that one thread takes at a time.
CHUNK = 8


@kernel
def element_slots(first, last, impulse, scale, gradients, rotation, basis_array, slots_out):
    """Slots (groups, 12, LANES: 4 nodes x 3) of groups first..last; impulse, scale are (groups, 6, LANES)."""
    basis = tuple9(basis_array)
    lanes = impulse.shape[2]
    for group in range(first, last):
        for lane in range(lanes):
            l = load6(impulse, group, lane)
            s = load6(scale, group, lane)
            l = (l[0] * s[0], l[1] * s[1], l[2] * s[2], l[3] * s[3], l[4] * s[4], l[5] * s[5])
            i = element_impulses(l, load9(rotation, group, lane), load9(gradients, group, lane), basis)
            for c in range(9):
                slots_out[group, c, lane] = i[c]
            for c in range(3):
                slots_out[group, 9 + c, lane] = -(i[c] + i[3 + c] + i[6 + c])


@kernel
def row_slots(first, last, impulse, scale, start, jacobian, slots_out):
    """Slots (entries, 3, LANES) of slices first..last."""
    lanes = impulse.shape[2]
    l = np.empty((3, LANES), impulse.dtype)
    for s in range(first, last):
        for c in range(3):
            for lane in range(lanes):
                l[c, lane] = impulse[s, c, lane] * scale[s, c, lane]
        for e in range(start[s], start[s + 1]):
            for c in range(3):
                for lane in range(lanes):
                    slots_out[e, c, lane] = (
                        jacobian[e, c, lane] * l[0, lane]
                        + jacobian[e, 3 + c, lane] * l[1, lane]
                        + jacobian[e, 6 + c, lane] * l[2, lane]
                    )


@kernel
def element_rows(
    first, last, velocity, impulse, scale, nodes, gradients, rotation, compliance, basis_array, ones_array, out
):
    """scale (J velocity + R scale impulse) of groups first..last; compliance (groups, 2, LANES)."""
    basis, ones = tuple9(basis_array), (ones_array[0], ones_array[1], ones_array[2])
    lanes = impulse.shape[2]
    d = np.empty((9, LANES), velocity.dtype)
    for group in range(first, last):
        for lane in range(lanes):
            n0, n1, n2, n3 = nodes[group, 0, lane], nodes[group, 1, lane], nodes[group, 2, lane], nodes[group, 3, lane]
            for c in range(3):
                v = velocity[n3, c]
                d[c, lane] = velocity[n0, c] - v
                d[3 + c, lane] = velocity[n1, c] - v
                d[6 + c, lane] = velocity[n2, c] - v
        for lane in range(lanes):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            gradient = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), load9(gradients, group, lane))
            e = strain_rate(gradient, load9(rotation, group, lane), basis)
            l = load6(impulse, group, lane)
            s = load6(scale, group, lane)
            l = (l[0] * s[0], l[1] * s[1], l[2] * s[2], l[3] * s[3], l[4] * s[4], l[5] * s[5])
            r = element_compliance(l, compliance[group, 0, lane], compliance[group, 1, lane], ones)
            for c in range(6):
                out[group, c, lane] = s[c] * (e[c] + r[c])


@kernel
def block_rows(first, last, velocity, impulse, scale, start, triples, jacobian, compliance, out):
    """scale (J velocity + R scale impulse) of slices first..last; compliance (slices, 3, LANES), diagonal."""
    lanes = impulse.shape[2]
    v, total = np.empty((3, LANES), velocity.dtype), np.empty((3, LANES), velocity.dtype)
    for s in range(first, last):
        for c in range(3):
            for lane in range(lanes):
                total[c, lane] = compliance[s, c, lane] * scale[s, c, lane] * impulse[s, c, lane]
        for e in range(start[s], start[s + 1]):
            for lane in range(lanes):
                triple = triples[e, lane]
                v[0, lane], v[1, lane], v[2, lane] = velocity[triple, 0], velocity[triple, 1], velocity[triple, 2]
            for c in range(3):
                for lane in range(lanes):
                    total[c, lane] += (
                        jacobian[e, 3 * c, lane] * v[0, lane]
                        + jacobian[e, 3 * c + 1, lane] * v[1, lane]
                        + jacobian[e, 3 * c + 2, lane] * v[2, lane]
                    )
        for c in range(3):
            for lane in range(lanes):
                out[s, c, lane] = scale[s, c, lane] * total[c, lane]


@parallel_kernel
def scatter_slots(op, impulse):
    """Every element and row writes J^T (scale impulse) into its own slots."""
    groups, slices = op.nodes.shape[0], op.compliance_rows.shape[0]
    element_size, row_size = groups * 6 * LANES, slices * 3 * LANES
    e_impulse = impulse[:element_size].reshape(groups, 6, LANES)
    e_scale = op.scale[:element_size].reshape(groups, 6, LANES)
    r_impulse = impulse[element_size : element_size + row_size].reshape(slices, 3, LANES)
    r_scale = op.scale[element_size : element_size + row_size].reshape(slices, 3, LANES)
    entries = op.triples.shape[0]
    e_slots = op.slots[: groups * 12 * LANES].reshape(groups, 12, LANES)
    r_slots = op.slots[groups * 12 * LANES : (groups * 12 + entries * 3) * LANES].reshape(entries, 3, LANES)
    element_chunks, row_chunks = (groups + CHUNK - 1) // CHUNK, (slices + CHUNK - 1) // CHUNK
    for chunk in prange(element_chunks + row_chunks):
        if chunk < element_chunks:
            first, last = chunk * CHUNK, min(chunk * CHUNK + CHUNK, groups)
            element_slots(first, last, e_impulse, e_scale, op.gradients, op.rotation, op.basis, e_slots)
        else:
            first = (chunk - element_chunks) * CHUNK
            row_slots(first, min(first + CHUNK, slices), r_impulse, r_scale, op.start, op.jacobian, r_slots)


@parallel_kernel
def gather_slots(slots, adjacency_start, adjacency, row_adjacency_start, row_adjacency, inverse_mass, velocity_out):
    """velocity_out (triples, 3) = M^-1 times the sum of each triple's slots, in the fixed order of the adjacencies."""
    for triple in prange(velocity_out.shape[0]):
        s0 = slots[0] - slots[0]
        s1, s2 = s0, s0
        for k in range(adjacency_start[triple], adjacency_start[triple + 1]):
            offset = adjacency[k]
            s0 += slots[offset]
            s1 += slots[offset + LANES]
            s2 += slots[offset + 2 * LANES]
        for k in range(row_adjacency_start[triple], row_adjacency_start[triple + 1]):
            offset = row_adjacency[k]
            s0 += slots[offset]
            s1 += slots[offset + LANES]
            s2 += slots[offset + 2 * LANES]
        m = inverse_mass
        mass = (m[triple, 0], m[triple, 1], m[triple, 2], m[triple, 3], m[triple, 4], m[triple, 5])
        v = symmetric_multiply_vector(mass, (s0, s1, s2))
        velocity_out[triple, 0] = v[0]
        velocity_out[triple, 1] = v[1]
        velocity_out[triple, 2] = v[2]


@kernel
def transposed_product(op, impulse, velocity_out):
    """velocity_out (triples, 3) = M^-1 J^T (scale impulse)."""
    scatter_slots(op, impulse)
    gather_slots(
        op.slots,
        op.adjacency_start,
        op.adjacency,
        op.row_adjacency_start,
        op.row_adjacency,
        op.inverse_mass,
        velocity_out,
    )


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
    element_chunks, row_chunks = (groups + CHUNK - 1) // CHUNK, (slices + CHUNK - 1) // CHUNK
    for chunk in prange(element_chunks + row_chunks):
        if chunk < element_chunks:
            first, last = chunk * CHUNK, min(chunk * CHUNK + CHUNK, groups)
            element_rows(
                first,
                last,
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
            first = (chunk - element_chunks) * CHUNK
            last = min(first + CHUNK, slices)
            block_rows(
                first, last, velocity, r_impulse, r_scale, op.start, op.triples, op.jacobian, op.compliance_rows, r_out
            )
