"""Loops for the projection of angular velocities on those which joints allow (model.spins)."""

from pliant.formulas.matrix3 import dot
from pliant.formulas.rotation import quaternion_matrix
from pliant.jit import formula, kernel
from pliant.kernels.cpu.anchors import quaternion_at, vector_at


@kernel
def inertia_blocks(inertia, rotation, static, spin, diagonal, values_out, right_out, size_out):
    """World inertias (3, 3) of bodies into their diagonal blocks, angular momenta into right_out (b + 1, 3), and traces
    into size_out (b + 1,), zero for static ones; these and the world, which is the last, get unit blocks and their
    angular velocity."""
    for i in range(inertia.shape[0]):
        block = values_out[diagonal[i]]
        turn = quaternion_matrix(quaternion_at(rotation, i))
        for r in range(3):
            for c in range(3):
                block[r, c] = 0.0
                if static[i]:
                    block[r, c] = 1.0 if r == c else 0.0
                else:
                    for k in range(3):
                        block[r, c] += turn[3 * r + k] * inertia[i, k] * turn[3 * c + k]
        w = vector_at(spin, i)
        for r in range(3):
            right_out[i, r] = w[r] if static[i] else dot((block[r, 0], block[r, 1], block[r, 2]), w)
        size_out[i] = 0.0 if static[i] else inertia[i, 0] + inertia[i, 1] + inertia[i, 2]
    last = inertia.shape[0]
    for r in range(3):
        right_out[last, r] = 0.0
        for c in range(3):
            values_out[diagonal[last], r, c] = 1.0 if r == c else 0.0
    size_out[last] = 0.0


@formula
def _side(jacobian, place, lane, row):
    if place < 0:
        return (0.0, 0.0, 0.0)
    return (jacobian[place, 3 * row, lane], jacobian[place, 3 * row + 1, lane], jacobian[place, 3 * row + 2, lane])


@kernel
def add_spin_rows(
    a, b, place_a, place_b, lanes, jacobian, size, stiff, fixed, diagonal, index, transposed, values_inout, right_inout
):
    """Adds stiff rows J_a w_a + J_b w_b = 0 between bodies a and b (k,); place (k,): entries of their Jacobians, -1 for
    none. Bodies with size zero move as right_inout says already, and `fixed` (b + 1, 3) is that."""
    for k in range(a.shape[0]):
        i, j, lane = a[k], b[k], lanes[k]
        weight = stiff * max(size[i], size[j])
        for row in range(3):
            first, second = _side(jacobian, place_a[k], lane, row), _side(jacobian, place_b[k], lane, row)
            if dot(first, first) + dot(second, second) == 0.0:
                continue
            rate = 0.0
            if size[i] == 0.0:
                rate += dot(first, vector_at(fixed, i))
            if size[j] == 0.0:
                rate += dot(second, vector_at(fixed, j))
            for r in range(3):
                if size[i] > 0.0:
                    right_inout[i, r] -= weight * rate * first[r]
                if size[j] > 0.0:
                    right_inout[j, r] -= weight * rate * second[r]
                for c in range(3):
                    if size[i] > 0.0:
                        values_inout[diagonal[i], r, c] += weight * first[r] * first[c]
                    if size[j] > 0.0:
                        values_inout[diagonal[j], r, c] += weight * second[r] * second[c]
                    if size[i] > 0.0 and size[j] > 0.0:
                        if transposed[k]:
                            values_inout[index[k], c, r] += weight * first[r] * second[c]
                        else:
                            values_inout[index[k], r, c] += weight * first[r] * second[c]
