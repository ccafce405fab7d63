"""Loops over damped tets of four nodes: viscous forces and blocks of the warped stiffness, in the frames that elements
have at the start of a step (twins of kernels.cpu.hyperelastic.damp_elements and of kernels.cpu.stiffness)."""

from numba import cuda, float64

from pliant.formulas.elements import element_impulses, element_stress, stiffness_block, strain_rate
from pliant.formulas.matrix3 import multiply_vector
from pliant.formulas.svd import nearest_rotation
from pliant.kernels.cuda.codes import STEP
from pliant.kernels.cuda.elements import deformation, narrow9
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import awaited, device, get, load9, own_lane, plus, put, store3, store9, warp_sum
from pliant.kernels.laws import IDENTITY


@device
def frame(x, tets, gradients, group, lane, rotates):
    """The frame of an element at positions x, its rest gradients and F; not turned unless its law `rotates`."""
    f, g = deformation(x, tets, gradients, group, lane)
    q, turn = nearest_rotation(f), 1.0 if rotates else 0.0
    stay = 1.0 - turn
    r = (turn * q[0] + stay, turn * q[1], turn * q[2], turn * q[3], turn * q[4] + stay, turn * q[5])
    return (r[0], r[1], r[2], r[3], r[4], r[5], turn * q[6], turn * q[7], turn * q[8] + stay), g, f


@device
def add9(a, at, v):
    """Adds nine components to a lane's."""
    store9(a, at, plus(load9(a, at), v))


@device
def store_power(partials, first_block, blocks, half):
    """The sum of a block of threads, into partials [2][blocks]."""
    shared = cuda.shared.array(4, float64)
    half = warp_sum(half)
    if cuda.threadIdx.x & 31 == 0:
        put(shared, cuda.threadIdx.x >> 5, half)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = shared[0] + shared[1] + shared[2] + shared[3]
        put(partials, 2 * blocks + first_block + cuda.blockIdx.x, total)


@kernel
def damp(material, rotates, first, count, x, u, tets, gradients, volume, numbers, status, when, slots, first_block,
         blocks, partials):  # fmt: skip
    """Adds viscous forces at velocities u, in the frames at x, to the slots; h times half their power [J], by
    block of threads, into partials [2]; material: beta [s], lam, mu [Pa] (groups, WARP)."""
    if not awaited(status, when):
        return
    t, half = cuda.grid(1), float64(0.0)
    if t < count * 32:
        own, lane = t >> 5, t & 31
        group = first + own
        r, g, _ = frame(x, tets, gradients, group, lane, rotates)
        moving, _ = deformation(u, tets, gradients, group, lane)
        rate = strain_rate(moving, r, IDENTITY)
        w = material[0][own, lane] * get(volume, group * 32 + lane)
        s = element_stress(rate, w * material[1][own, lane], w * material[2][own, lane])
        i = element_impulses(s, r, g, IDENTITY)
        at = group * 384 + lane
        add9(slots, at, i)
        last = (i[0] + i[3] + i[6], i[1] + i[4] + i[7], i[2] + i[5] + i[8])
        old = (get(slots, at + 288), get(slots, at + 320), get(slots, at + 352))
        store3(slots, at + 288, (old[0] - last[0], old[1] - last[1], old[2] - last[2]))
        half = s[0] * rate[0] + s[1] * rate[1] + s[2] * rate[2] + s[3] * rate[3] + s[4] * rate[4] + s[5] * rate[5]
        half *= 0.5 * numbers[STEP]
    store_power(partials, first_block, blocks, half)


@device
def add_block(out, at, r, a, b, lam, mu):
    """Adds the warped stiffness of two nodes with rest gradients a, b to their block."""
    add9(out, at, narrow9(stiffness_block(multiply_vector(r, a), multiply_vector(r, b), lam, mu)))


@kernel
def damping_blocks(material, rotates, first, count, x, tets, gradients, volume, numbers, status, when, out):
    """Adds h beta times the warped stiffness in the frames at x to the blocks (groups, 54, WARP)."""
    own, lane = own_lane(status, when, count)
    if own < 0:
        return
    group = first + own
    r, g, _ = frame(x, tets, gradients, group, lane, rotates)
    w = numbers[STEP] * material[0][own, lane] * get(volume, group * 32 + lane)
    lam, mu = w * material[1][own, lane], w * material[2][own, lane]
    g0, g1, g2 = (g[0], g[1], g[2]), (g[3], g[4], g[5]), (g[6], g[7], g[8])
    g3 = (-(g0[0] + g1[0] + g2[0]), -(g0[1] + g1[1] + g2[1]), -(g0[2] + g1[2] + g2[2]))
    at = group * 1728 + lane
    add_block(out, at, r, g1, g0, lam, mu)
    add_block(out, at + 288, r, g2, g0, lam, mu)
    add_block(out, at + 576, r, g2, g1, lam, mu)
    add_block(out, at + 864, r, g3, g0, lam, mu)
    add_block(out, at + 1152, r, g3, g1, lam, mu)
    add_block(out, at + 1440, r, g3, g2, lam, mu)
