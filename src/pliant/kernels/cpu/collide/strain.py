"""How far cells are from one rotation."""

import math

from pliant.jit import kernel


@kernel
def largest_strain(x, cells, gradients, rotation):
    """The largest |F - R| (Frobenius) of tets, cells (m, 4) with corners at x (p, 3) [m] and gradients (m, 4, 3) [1/m]
    of their barycentric coordinates at rest, with a rotation R (3, 3); not finite where anything is not."""
    worst = 0.0
    for e in range(cells.shape[0]):
        square = 0.0
        for i in range(3):
            for j in range(3):
                part = -rotation[i, j]
                for a in range(4):
                    part += x[cells[e, a], i] * gradients[e, a, j]
                square += part * part
        if not square <= worst:
            worst = square
            if not square < math.inf:
                return math.inf
    return math.sqrt(worst)


@kernel
def largest_strains(x, cells, gradients, first, rotation, asked, out):
    """`largest_strain` of the bodies (k,) that are asked for, cells first[k] to first[k + 1] of all (m, 4), with
    rotations (k, 3, 3); others are left."""
    for k in range(len(asked)):
        if asked[k]:
            begin, end = first[k], first[k + 1]
            out[k] = largest_strain(x, cells[begin:end], gradients[begin:end], rotation[k])
