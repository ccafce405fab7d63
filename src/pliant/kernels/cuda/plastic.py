"""Loops over plastic tets of four nodes: their flow in a step, and rest gradients as seen from the plastic shape (twins
of kernels.cpu.elements.flow_plastic and of kernels.cpu.plastic)."""

from numba import cuda

from pliant.formulas.elements import corotated_strain, plastic_update
from pliant.formulas.matrix3 import symmetric_inverse, symmetric_multiply_vector
from pliant.kernels.cuda.codes import STEP
from pliant.kernels.cuda.damping import frame
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import get, load3, store3
from pliant.kernels.laws import IDENTITY


@kernel
def flow(material, rotates, first, count, x, tets, rest_gradients, volume, numbers, plastic, before, gradients):
    """The plastic strain (groups, 6, WARP) after the flow of a step that starts at positions x, the one before it into
    `before`, and the gradients that elements then have; material: yield strain, creep [1/s], largest strain (groups,
    WARP)."""
    t = cuda.grid(1)
    if t >= count * 32:
        return
    own, lane = t >> 5, t & 31
    group = first + own
    if get(volume, group * 32 + lane) <= 0.0:
        return
    r, g, f = frame(x, tets, rest_gradients, group, lane, rotates)
    at = group * 192 + lane
    a, b = load3(plastic, at), load3(plastic, at + 96)
    store3(before, at, a)
    store3(before, at + 96, b)
    fraction = min(numbers[STEP] * material[1][own, lane], 1.0)
    strain = corotated_strain(f, r, IDENTITY)
    most = (material[0][own, lane], material[2][own, lane])
    p = plastic_update(strain, (a[0], a[1], a[2], b[0], b[1], b[2]), most[0], fraction, most[1])
    store3(plastic, at, (p[0], p[1], p[2]))
    store3(plastic, at + 96, (p[3], p[4], p[5]))
    i = symmetric_inverse((1.0 + p[0], 1.0 + p[1], 1.0 + p[2], 0.5 * p[3], 0.5 * p[4], 0.5 * p[5]))
    at = group * 288 + lane
    store3(gradients, at, symmetric_multiply_vector(i, (g[0], g[1], g[2])))
    store3(gradients, at + 96, symmetric_multiply_vector(i, (g[3], g[4], g[5])))
    store3(gradients, at + 192, symmetric_multiply_vector(i, (g[6], g[7], g[8])))
