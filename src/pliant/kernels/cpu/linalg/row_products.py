"""Blocks of J M^-1 J^T of a row table: what the rows of a block gain by impulses of another."""

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def weigh_entries(triples, jacobian, inverse_mass, plain_out, weighted_out):
    """The blocks of J and of J M^-1, one after the other (entries * LANES, 9); inverse_mass (n, 6) in Voigt order."""
    for entry in range(triples.shape[0]):
        for lane in range(LANES):
            m = inverse_mass[triples[entry, lane]]
            plain, weighted = plain_out[entry * LANES + lane], weighted_out[entry * LANES + lane]
            for row in range(3):
                q = 3 * row
                a, b, c = jacobian[entry, q, lane], jacobian[entry, q + 1, lane], jacobian[entry, q + 2, lane]
                plain[q], plain[q + 1], plain[q + 2] = a, b, c
                weighted[q] = m[0] * a + m[5] * b + m[4] * c
                weighted[q + 1] = m[5] * a + m[1] * b + m[3] * c
                weighted[q + 2] = m[4] * a + m[3] * b + m[2] * c


@kernel
def mobility_blocks(start, first, second, plain, weighted, out):
    """out[k] (3, 3): the sum of J_i (J M^-1)_j^T over the terms start[k]..start[k + 1], blocks i and j of each."""
    for k in range(start.shape[0] - 1):
        t00 = t01 = t02 = t10 = t11 = t12 = t20 = t21 = t22 = 0.0  # as numbers of their own they stay in registers
        for term in range(start[k], start[k + 1]):
            a, b = plain[first[term]], weighted[second[term]]
            for c in range(3):
                a0, a1, a2, b0, b1, b2 = a[c], a[3 + c], a[6 + c], b[c], b[3 + c], b[6 + c]
                t00, t01, t02 = t00 + a0 * b0, t01 + a0 * b1, t02 + a0 * b2
                t10, t11, t12 = t10 + a1 * b0, t11 + a1 * b1, t12 + a1 * b2
                t20, t21, t22 = t20 + a2 * b0, t21 + a2 * b1, t22 + a2 * b2
        block = out[k]
        block[0, 0], block[0, 1], block[0, 2] = t00, t01, t02
        block[1, 0], block[1, 1], block[1, 2] = t10, t11, t12
        block[2, 0], block[2, 1], block[2, 2] = t20, t21, t22


@kernel
def moved(start, triples, jacobian, impulse, inverse_mass, out):
    """out (triples, 3), which is zero, becomes M^-1 J^T impulse; impulse (slices, 3, LANES)."""
    for s in range(start.shape[0] - 1):
        for entry in range(start[s], start[s + 1]):
            for lane in range(LANES):
                target = out[triples[entry, lane]]
                for row in range(3):
                    l = impulse[s, row, lane]
                    for c in range(3):
                        target[c] += l * jacobian[entry, 3 * row + c, lane]
    for k in range(out.shape[0]):
        m, a, b, c = inverse_mass[k], out[k, 0], out[k, 1], out[k, 2]
        out[k, 0] = m[0] * a + m[5] * b + m[4] * c
        out[k, 1] = m[5] * a + m[1] * b + m[3] * c
        out[k, 2] = m[4] * a + m[3] * b + m[2] * c
