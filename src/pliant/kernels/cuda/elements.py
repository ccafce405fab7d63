"""Loops over tets of four nodes of one law: energy and forces, stiffness blocks (twins of kernels.cpu.hyperelastic and
kernels.cpu.stiffness)."""

import math

from numba import cuda, float32, float64

from pliant.formulas.elements import element_gradient
from pliant.formulas.hyperelastic import nodal_gradients, positive_moduli, principal_block, world_block
from pliant.formulas.matrix3 import determinant, transpose_multiply_vector
from pliant.kernels.cuda.codes import PROJECT, STEP
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import awaited, device, get, load3, load9, own_lane, put, store3, store9, warp_sum
from pliant.kernels.laws import deform, stiffness_moduli

# Threads of a block.
THREADS = 128


@device
def deformation(x, tets, gradients, group, lane):
    """F of an element at positions x, and its rest gradients."""
    at = group * 128 + lane
    x3 = load3(x, get(tets, at + 96))
    x0, x1, x2 = load3(x, get(tets, at)), load3(x, get(tets, at + 32)), load3(x, get(tets, at + 64))
    d0 = (x0[0] - x3[0], x0[1] - x3[1], x0[2] - x3[2])
    d1 = (x1[0] - x3[0], x1[1] - x3[1], x1[2] - x3[2])
    d2 = (x2[0] - x3[0], x2[1] - x3[1], x2[2] - x3[2])
    g = load9(gradients, group * 288 + lane)
    return element_gradient(d0, d1, d2, g), g


@device
def scaled9(w, p):
    """w times nine numbers."""
    return (w * p[0], w * p[1], w * p[2], w * p[3], w * p[4], w * p[5], w * p[6], w * p[7], w * p[8])


@device
def store_forces(slots, group, lane, i):
    """The slots (groups, 12, WARP) of an element from the gradients of its first three nodes."""
    at = group * 384 + lane
    store9(slots, at, i)
    store3(slots, at + 288, (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8])))


@device
def store_sums(partials, first_block, blocks, e, n):
    """Two sums of a block of threads, into partials [0:2][blocks]."""
    shared = cuda.shared.array(8, float64)
    e, n = warp_sum(e), warp_sum(n)
    if cuda.threadIdx.x & 31 == 0:
        put(shared, cuda.threadIdx.x >> 5, e)
        put(shared, 4 + (cuda.threadIdx.x >> 5), n)
    cuda.syncthreads()
    if cuda.threadIdx.x < 2:
        j = 4 * cuda.threadIdx.x
        total = shared[j] + shared[j + 1] + shared[j + 2] + shared[j + 3]
        put(partials, cuda.threadIdx.x * blocks + first_block + cuda.blockIdx.x, total)


@device
def volume_energy(w, psi):
    """Energy of an element; what is no number (a user's ln J) is a barrier, and an empty lane has no volume, whatever
    its energy density."""
    psi = psi if psi == psi else math.inf
    return w * psi if w > 0.0 else 0.0


@device
def is_inverted(w, f):
    """1 for an element turned inside out."""
    return 1.0 if w > 0.0 and determinant(f) <= 0.0 else 0.0


@device
def push_nodes(law, own, group, lane, geometry, slots):
    """Writes the slots of an element; its singular value decomposition, rest gradients, volume, energy, and 1 if it is
    inverted. own: its group within its set; geometry: positions, nodes, gradients, volumes."""
    x, tets, gradients, volume = geometry
    f, g = deformation(x, tets, gradients, group, lane)
    w = get(volume, group * 32 + lane)
    u, s, v, p, psi = deform(law, f, own, lane)
    store_forces(slots, group, lane, nodal_gradients(scaled9(w, p), g))
    return (u, s, v), g, w, volume_energy(w, psi), is_inverted(w, f)


@kernel
def evaluate(law, first, count, x, tets, gradients, volume, status, when, slots, first_block, blocks, partials):
    """Elements of `count` groups from group `first` on at positions x: slots of the energy's gradient [N]; energies [J]
    and numbers of inverted elements, by block of threads, into partials [0:2][blocks]."""
    if not awaited(status, when):
        return
    t = cuda.grid(1)
    e = n = float64(0.0)
    if t < count * 32:
        geometry = (x, tets, gradients, volume)
        _, _, _, e, n = push_nodes(law, t >> 5, first + (t >> 5), t & 31, geometry, slots)
    store_sums(partials, first_block, blocks, e, n)


@device
def narrow9(v):
    """Nine numbers as float32."""
    a, b = (float32(v[0]), float32(v[1]), float32(v[2])), (float32(v[3]), float32(v[4]), float32(v[5]))
    return (a[0], a[1], a[2], b[0], b[1], b[2], float32(v[6]), float32(v[7]), float32(v[8]))


@device
def scaled_moduli(c, a, symmetric, skew):
    """The twelve moduli times c."""
    return (
        (c * a[0], c * a[1], c * a[2], c * a[3], c * a[4], c * a[5]),
        (c * symmetric[0], c * symmetric[1], c * symmetric[2]),
        (c * skew[0], c * skew[1], c * skew[2]),
    )


@device
def store_blocks(law, own, group, lane, u, s, v, g, weight, project, out):
    """Six stiffness blocks of an element times weight, into out (groups, 54, WARP) float32: of the pairs 10 20 21 30 31
    32 of its nodes; those of a node with itself are minus the sums of the others."""
    a, symmetric, skew = stiffness_moduli(law, s, own, lane)
    if project:
        a, symmetric, skew = positive_moduli(a, symmetric, skew)
    a, symmetric, skew = scaled_moduli(weight, a, symmetric, skew)
    g0 = transpose_multiply_vector(v, (g[0], g[1], g[2]))
    g1 = transpose_multiply_vector(v, (g[3], g[4], g[5]))
    g2 = transpose_multiply_vector(v, (g[6], g[7], g[8]))
    g3 = (-(g0[0] + g1[0] + g2[0]), -(g0[1] + g1[1] + g2[1]), -(g0[2] + g1[2] + g2[2]))
    at = group * 1728 + lane
    store9(out, at, narrow9(world_block(u, principal_block(g1, g0, a, symmetric, skew))))
    store9(out, at + 288, narrow9(world_block(u, principal_block(g2, g0, a, symmetric, skew))))
    store9(out, at + 576, narrow9(world_block(u, principal_block(g2, g1, a, symmetric, skew))))
    store9(out, at + 864, narrow9(world_block(u, principal_block(g3, g0, a, symmetric, skew))))
    store9(out, at + 1152, narrow9(world_block(u, principal_block(g3, g1, a, symmetric, skew))))
    store9(out, at + 1440, narrow9(world_block(u, principal_block(g3, g2, a, symmetric, skew))))


@kernel
def stiffness(law, first, count, x, tets, gradients, volume, numbers, status, when, out):
    """h^2 times the stiffness blocks of every element, projected if the step says so."""
    own, lane = own_lane(status, when, count)
    if own < 0:
        return
    group = first + own
    f, g = deformation(x, tets, gradients, group, lane)
    u, s, v, _, _ = deform(law, f, own, lane)
    weight = numbers[STEP] * numbers[STEP] * get(volume, group * 32 + lane)
    store_blocks(law, own, group, lane, u, s, v, g, weight, numbers[PROJECT] != 0.0, out)


@kernel(max_registers=128)
def begin(
    law, first, count, x, tets, gradients, volume, numbers, status, when, slots, first_block, blocks, partials, out
):
    """`evaluate` and `stiffness`, projected, at once: at the start of the iterations both are wanted."""
    if not awaited(status, when):
        return
    t = cuda.grid(1)
    e = n = float64(0.0)
    if t < count * 32:
        own, lane = t >> 5, t & 31
        group, geometry = first + own, (x, tets, gradients, volume)
        (u, s, v), g, w, e, n = push_nodes(law, own, group, lane, geometry, slots)
        store_blocks(law, own, group, lane, u, s, v, g, numbers[STEP] * numbers[STEP] * w, True, out)
    store_sums(partials, first_block, blocks, e, n)
