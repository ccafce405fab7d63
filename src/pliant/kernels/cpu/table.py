"""Loops over a row table: diagonals of J M^-1 J^T + R, and counts."""

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def row_mobilities(start, triples, jacobian, inverse_mass, out):
    """Diagonal of J M^-1 J^T (slices, 3, LANES); 0 for rows that can move nothing."""
    for s in range(start.shape[0] - 1):
        out[s] = 0.0
        for entry in range(start[s], start[s + 1]):
            for lane in range(LANES):
                m = inverse_mass[triples[entry, lane]]
                for row in range(3):
                    a, b = jacobian[entry, 3 * row, lane], jacobian[entry, 3 * row + 1, lane]
                    c = jacobian[entry, 3 * row + 2, lane]
                    own = m[0] * a * a + m[1] * b * b + m[2] * c * c
                    out[s, row, lane] += own + 2.0 * (m[3] * b * c + m[4] * a * c + m[5] * a * b)
        for row in range(3):
            for lane in range(LANES):
                out[s, row, lane] = max(out[s, row, lane], 0.0)


@kernel
def row_diagonals(start, triples, jacobian, compliance, inverse_mass, regularization, out):
    """Diagonal of J M^-1 J^T + R (slices, 3, LANES); 1 for rows that are not there."""
    row_mobilities(start, triples, jacobian, inverse_mass, out)
    for s in range(start.shape[0] - 1):
        for row in range(3):
            for lane in range(LANES):
                total = out[s, row, lane] * (1.0 + regularization) + compliance[s, row, lane]
                out[s, row, lane] = total if total > 0.0 else 1.0


@kernel
def count_rows(start, jacobian):
    """How many rows have a Jacobian."""
    count = 0
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            for row in range(3):
                touched = False
                for entry in range(start[s], start[s + 1]):
                    for c in range(3):
                        touched |= jacobian[entry, 3 * row + c, lane] != 0
                count += touched
    return count
