"""Loops over tets of ten nodes: energy and forces, stiffness blocks, damping (twins of kernels.cpu.quadratic).

An element has POINTS points; point p of the elements in group g is group g POINTS + p of an array of points. Gradients
(groups POINTS, 30, WARP) are those of all ten shape functions. Blocks of pairs of nodes are made by a thread to a pair,
from what a thread to a point has left in `data`: U, the gradients seen in V, twelve moduli; for damping the gradients
in the frames at the start of a step, lam and mu.
"""

from numba import cuda, float32, float64

from pliant.formulas.elements import element_stress, stiffness_block, strain_rate
from pliant.formulas.hyperelastic import positive_moduli, principal_block, world_block
from pliant.formulas.matrix3 import multiply, multiply_vector, transpose_multiply_vector
from pliant.formulas.svd import nearest_rotation
from pliant.kernels.cuda.codes import PROJECT, STEP
from pliant.kernels.cuda.damping import add9, store_power
from pliant.kernels.cuda.elements import (
    is_inverted,
    narrow9,
    scaled9,
    scaled_moduli,
    store_sums,
    volume_energy,
)
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import awaited, device, get, load3, load9, narrow3, own_lane, plus, put, store3, store9
from pliant.kernels.laws import IDENTITY, deform, stiffness_moduli

NODES, POINTS, PAIRS = 10, 4, 45
# Numbers of a point's data: of the stiffness, and of damping.
DATA, DAMPING_DATA = 51, 32


@device
def outer(f, d, g):
    """f + d g^T"""
    p = (f[0] + d[0] * g[0], f[1] + d[0] * g[1], f[2] + d[0] * g[2])
    q = (f[3] + d[1] * g[0], f[4] + d[1] * g[1], f[5] + d[1] * g[2])
    return (p[0], p[1], p[2], q[0], q[1], q[2], f[6] + d[2] * g[0], f[7] + d[2] * g[1], f[8] + d[2] * g[2])


@device
def point_gradient(x, nodes, gradients, group, point, lane):
    """Gradient at a point of a field (chunks, 3, WARP): F at positions; differences to node 3, so that one that is the
    same everywhere has none."""
    at, g, zero = group * NODES * 32 + lane, (group * POINTS + point) * 3 * NODES * 32 + lane, float64(0.0)
    last = load3(x, get(nodes, at + 96))
    f = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    for a in range(NODES):
        p = load3(x, get(nodes, at + 32 * a))
        f = outer(f, (p[0] - last[0], p[1] - last[1], p[2] - last[2]), load3(gradients, g + 96 * a))
    return f


@device
def add_forces(force, stress, gradients, group, point, lane):
    """Adds P g_a of a point to the forces (30,) of an element."""
    g = (group * POINTS + point) * 3 * NODES * 32 + lane
    for a in range(NODES):
        f = multiply_vector(stress, load3(gradients, g + 96 * a))
        force[3 * a] += f[0]
        force[3 * a + 1] += f[1]
        force[3 * a + 2] += f[2]


@kernel
def evaluate(law, count, x, nodes, gradients, volume, status, when, first, slots, first_block, blocks, partials):
    """Elements of `count` groups at positions x, as `elements.evaluate`; their slots (groups, 30, WARP) begin at
    `first`."""
    if not awaited(status, when):
        return
    t = cuda.grid(1)
    e = n = float64(0.0)
    if t < count * 32:
        group, lane = t >> 5, t & 31
        force = cuda.local.array(30, float64)
        for k in range(30):
            force[k] = 0.0
        for point in range(POINTS):
            at = group * POINTS + point
            f = point_gradient(x, nodes, gradients, group, point, lane)
            w = get(volume, at * 32 + lane)
            _, _, _, p, psi = deform(law, f, at, lane)
            add_forces(force, scaled9(w, p), gradients, group, point, lane)
            e, n = e + volume_energy(w, psi), max(n, is_inverted(w, f))
        for k in range(30):
            put(slots, first + (group * 30 + k) * 32 + lane, force[k])
    store_sums(partials, first_block, blocks, e, n)


@kernel
def prepare(law, count, x, nodes, gradients, volume, numbers, status, when, data):
    """What the stiffness blocks are made of, into data (groups POINTS, DATA, WARP) float32, times h^2 and the volume;
    a thread to a point."""
    at, lane = own_lane(status, when, count * POINTS)
    if at < 0:
        return
    group, point = at // POINTS, at % POINTS
    u, s, v, _, _ = deform(law, point_gradient(x, nodes, gradients, group, point, lane), at, lane)
    a, symmetric, skew = stiffness_moduli(law, s, at, lane)
    if numbers[PROJECT] != 0.0:
        a, symmetric, skew = positive_moduli(a, symmetric, skew)
    weight = numbers[STEP] * numbers[STEP] * get(volume, at * 32 + lane)
    a, symmetric, skew = scaled_moduli(weight, a, symmetric, skew)
    out, g = at * DATA * 32 + lane, at * 3 * NODES * 32 + lane
    store9(data, out, narrow9(u))
    for k in range(NODES):
        seen = transpose_multiply_vector(v, load3(gradients, g + 96 * k))
        store3(data, out + 288 + 96 * k, narrow3(seen))
    store3(data, out + 39 * 32, narrow3((a[0], a[1], a[2])))
    store3(data, out + 42 * 32, narrow3((a[3], a[4], a[5])))
    store3(data, out + 45 * 32, narrow3(symmetric))
    store3(data, out + 48 * 32, narrow3(skew))


@device
def pair_of(number):
    """The nodes a > b of a pair: 10 20 21 30 31 32 ..."""
    a = 1
    while (a + 1) * a // 2 <= number:
        a += 1
    return a, number - a * (a - 1) // 2


@kernel
def pair_blocks(count, status, when, first, data, out):
    """Stiffness blocks (groups, 9 PAIRS, WARP) float32 that begin at `first`, from the data of the points; a thread to
    a pair of nodes."""
    which, lane = own_lane(status, when, count * PAIRS)
    if which < 0:
        return
    group, (a, b) = which // PAIRS, pair_of(which % PAIRS)
    zero = float32(0.0)
    total = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    for point in range(POINTS):
        at = (group * POINTS + point) * DATA * 32 + lane
        ga, gb = load3(data, at + 288 + 96 * a), load3(data, at + 288 + 96 * b)
        m, n = load3(data, at + 39 * 32), load3(data, at + 42 * 32)
        moduli = (m[0], m[1], m[2], n[0], n[1], n[2])
        block = principal_block(ga, gb, moduli, load3(data, at + 45 * 32), load3(data, at + 48 * 32))
        total = narrow9(plus(total, world_block(load9(data, at), block)))
    store9(out, first + which * 288 + lane, total)


@device
def start_frame(x, nodes, gradients, group, point, lane, rotates):
    """The frame of a point at positions x; not turned unless its law `rotates`."""
    r = nearest_rotation(point_gradient(x, nodes, gradients, group, point, lane))
    return r if rotates else (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def damp(material, rotates, count, x, u, nodes, gradients, volume, numbers, status, when, first, slots, first_block,
         blocks, partials):  # fmt: skip
    """Adds viscous forces as `damping.damp`; material: beta [s], lam, mu [Pa] (groups POINTS, WARP)."""
    if not awaited(status, when):
        return
    t, half = cuda.grid(1), float64(0.0)
    if t < count * 32:
        group, lane = t >> 5, t & 31
        force = cuda.local.array(30, float64)
        for k in range(30):
            force[k] = 0.0
        for point in range(POINTS):
            at = group * POINTS + point
            r = start_frame(x, nodes, gradients, group, point, lane, rotates)
            e = strain_rate(point_gradient(u, nodes, gradients, group, point, lane), r, IDENTITY)
            w = material[0][at, lane] * get(volume, at * 32 + lane)
            s = element_stress(e, w * material[1][at, lane], w * material[2][at, lane])
            stress = multiply(r, (s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]))
            add_forces(force, stress, gradients, group, point, lane)
            power = s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5]
            half += 0.5 * numbers[STEP] * power
        for k in range(30):
            place = first + (group * 30 + k) * 32 + lane
            put(slots, place, get(slots, place) + force[k])
    store_power(partials, first_block, blocks, half)


@kernel
def prepare_damping(material, rotates, count, x, nodes, gradients, volume, numbers, status, when, data):
    """What the blocks of damping are made of, into data (groups POINTS, DAMPING_DATA, WARP) float32."""
    at, lane = own_lane(status, when, count * POINTS)
    if at < 0:
        return
    group, point = at // POINTS, at % POINTS
    r = start_frame(x, nodes, gradients, group, point, lane, rotates)
    out, g = at * DAMPING_DATA * 32 + lane, at * 3 * NODES * 32 + lane
    for k in range(NODES):
        store3(data, out + 96 * k, narrow3(multiply_vector(r, load3(gradients, g + 96 * k))))
    w = numbers[STEP] * material[0][at, lane] * get(volume, at * 32 + lane)
    put(data, out + 30 * 32, float32(w * material[1][at, lane]))
    put(data, out + 31 * 32, float32(w * material[2][at, lane]))


@kernel
def damping_blocks(count, status, when, first, data, out):
    """Adds h beta times the warped stiffness to the blocks; a thread to a pair of nodes."""
    which, lane = own_lane(status, when, count * PAIRS)
    if which < 0:
        return
    group, (a, b) = which // PAIRS, pair_of(which % PAIRS)
    for point in range(POINTS):
        at = (group * POINTS + point) * DAMPING_DATA * 32 + lane
        lam, mu = get(data, at + 30 * 32), get(data, at + 31 * 32)
        block = stiffness_block(load3(data, at + 96 * a), load3(data, at + 96 * b), lam, mu)
        add9(out, first + which * 288 + lane, narrow9(block))
