"""Loops over tetrahedra in groups of lanes: rotations, strains, plasticity, targets, diagonals, stiffness."""

import numpy as np
from numba import prange

from pliant.formulas.elements import (
    corotated_strain,
    element_gradient,
    element_impulses,
    element_stress,
    plastic_update,
    stiffness_block,
)
from pliant.formulas.matrix3 import multiply_vector
from pliant.formulas.svd import nearest_rotation
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES, load3, load6, load9

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def gather_differences(values, nodes, group, out):
    """out (9, LANES) = a_i - a_3, i = 0, 1, 2, for the nodes of one group."""
    for lane in range(LANES):
        last = nodes[group, 3, lane]
        for i in range(3):
            node = nodes[group, i, lane]
            for c in range(3):
                out[3 * i + c, lane] = values[node, c] - values[last, c]


@parallel_kernel
def deform_elements(x, nodes, gradients, rotates, rotation_out, strain_out):
    """Rotation (groups, 9, LANES), the unit matrix unless `rotates`, and total strain (groups, 6, LANES) of every
    element at positions x (n, 3)."""
    # a blend, not a branch: the lanes must vectorise
    turn = 1.0 if rotates else 0.0
    stay = 1.0 - turn
    for group in prange(nodes.shape[0]):
        d = np.empty((9, LANES))
        gather_differences(x, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            d2 = (d[6, lane], d[7, lane], d[8, lane])
            f = element_gradient(d0, d1, d2, load9(gradients, group, lane))
            q = nearest_rotation(f)
            r = (
                turn * q[0] + stay,
                turn * q[1],
                turn * q[2],
                turn * q[3],
                turn * q[4] + stay,
                turn * q[5],
                turn * q[6],
                turn * q[7],
                turn * q[8] + stay,
            )
            e = corotated_strain(f, r, IDENTITY)
            for c in range(9):
                rotation_out[group, c, lane] = r[c]
            for c in range(6):
                strain_out[group, c, lane] = e[c]


@kernel
def flow_plastic(strain, yield_strain, creep, max_strain, h, plastic_inout):
    """Plastic strain (groups, 6, LANES) of every element after a step of length h (BV algorithm 1)."""
    for group in range(strain.shape[0]):
        for lane in range(LANES):
            e = load6(strain, group, lane)
            p = load6(plastic_inout, group, lane)
            fraction = min(h * creep[group, lane], 1.0)
            p = plastic_update(e, p, yield_strain[group, lane], fraction, max_strain[group, lane])
            for c in range(6):
                plastic_inout[group, c, lane] = p[c]


@kernel
def element_targets(strain, plastic, damping, h, basis, target_out):
    """b = -(e - e_plastic) / (h + beta), normal components rotated by `basis` (theory section 3)."""
    for group in range(strain.shape[0]):
        for lane in range(LANES):
            factor = -1.0 / (h + damping[group, lane])
            n = multiply_vector(
                basis,
                (
                    strain[group, 0, lane] - plastic[group, 0, lane],
                    strain[group, 1, lane] - plastic[group, 1, lane],
                    strain[group, 2, lane] - plastic[group, 2, lane],
                ),
            )
            for c in range(3):
                target_out[group, c, lane] = factor * n[c]
                target_out[group, 3 + c, lane] = factor * (strain[group, 3 + c, lane] - plastic[group, 3 + c, lane])


@kernel
def element_diagonals(nodes, gradients, rotation, inverse_mass, single, coupled, basis, ones, regularization, out):
    """Diagonal of J M^-1 J^T + R_c for the six rows of every element; inverse_mass (triples, 6), its diagonal is
    used."""
    for group in range(nodes.shape[0]):
        for lane in range(LANES):
            g = load9(gradients, group, lane)
            r = load9(rotation, group, lane)
            n0, n1, n2, n3 = nodes[group, 0, lane], nodes[group, 1, lane], nodes[group, 2, lane], nodes[group, 3, lane]
            for row in range(6):
                unit = (
                    1.0 if row == 0 else 0.0,
                    1.0 if row == 1 else 0.0,
                    1.0 if row == 2 else 0.0,
                    1.0 if row == 3 else 0.0,
                    1.0 if row == 4 else 0.0,
                    1.0 if row == 5 else 0.0,
                )
                i = element_impulses(unit, r, g, basis)
                total = 0.0
                for c in range(3):
                    last = i[c] + i[3 + c] + i[6 + c]
                    total += inverse_mass[n0, c] * i[c] * i[c] + inverse_mass[n1, c] * i[3 + c] * i[3 + c]
                    total += inverse_mass[n2, c] * i[6 + c] * i[6 + c] + inverse_mass[n3, c] * last * last
                own = 2.0 * single[group, lane]
                if row < 3:
                    own = single[group, lane] + coupled[group, lane] * ones[row] * ones[row]
                out[group, row, lane] = total * (1.0 + regularization) + own


@kernel
def element_elastic_impulses(target, rotation, gradients, lam, mu, weight, out):
    """J^T R_c^-1 b per node slot (groups, 12, LANES): the elastic impulses of the eliminated form, identity basis.

    weight = h (h + beta) V per element, R_c^-1 = weight D.
    """
    for group in range(target.shape[0]):
        for lane in range(LANES):
            e = load6(target, group, lane)
            s = element_stress(e, lam[group, lane], mu[group, lane])
            w = weight[group, lane]
            r = load9(rotation, group, lane)
            g = load9(gradients, group, lane)
            i = element_impulses((w * s[0], w * s[1], w * s[2], w * s[3], w * s[4], w * s[5]), r, g, IDENTITY)
            for c in range(9):
                out[group, c, lane] = i[c]
            for c in range(3):
                out[group, 9 + c, lane] = -(i[c] + i[3 + c] + i[6 + c])


@kernel
def assemble_stiffness(gradients, rotation, lam, mu, weight, block_index, values_inout):
    """Adds weight K_R / V of every element to the blocks (k, 3, 3) named by block_index (groups, 10, LANES), -1: none.

    The ten blocks are the pairs (i, j), j <= i, in the order (0,0), (1,0), (1,1), (2,0) ... (3,3); a block whose index
    is encoded as -2 - k is stored transposed in block k.
    """
    for group in range(gradients.shape[0]):
        for lane in range(LANES):
            w = weight[group, lane]
            if w == 0.0:
                continue
            r = load9(rotation, group, lane)
            a = np.empty((4, 3))
            for i in range(3):
                v = multiply_vector(r, load3(gradients, group, 3 * i, lane))
                a[i, 0], a[i, 1], a[i, 2] = v[0], v[1], v[2]
            for c in range(3):
                a[3, c] = -(a[0, c] + a[1, c] + a[2, c])
            pair = 0
            for i in range(4):
                for j in range(i + 1):
                    index = block_index[group, pair, lane]
                    pair += 1
                    k = stiffness_block(
                        (a[i, 0], a[i, 1], a[i, 2]),
                        (a[j, 0], a[j, 1], a[j, 2]),
                        w * lam[group, lane],
                        w * mu[group, lane],
                    )
                    for row in range(3):
                        for column in range(3):
                            if index >= 0:
                                values_inout[index, row, column] += k[3 * row + column]
                            elif index < -1:
                                values_inout[-2 - index, column, row] += k[3 * row + column]
