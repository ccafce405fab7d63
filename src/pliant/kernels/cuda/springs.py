"""Loops over springs between two nodes: energy, forces, damping along the axis, stiffness (twins of
kernels.cpu.springs)."""

from numba import cuda, float64

from pliant.formulas.springs import spring_axis, spring_block, spring_moduli
from pliant.kernels.cuda.codes import PROJECT, STEP
from pliant.kernels.cuda.damping import store_power
from pliant.kernels.cuda.elements import narrow9, store_sums
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import awaited, device, get, load3, own_lane, put, store9


@device
def ends(x, nodes, group, lane):
    """The difference of a field (chunks, 3, WARP) between both ends."""
    at = group * 64 + lane
    p, q = load3(x, get(nodes, at)), load3(x, get(nodes, at + 32))
    return (q[0] - p[0], q[1] - p[1], q[2] - p[2])


@device
def pull_ends(slots, at, f, add):
    """Minus f and f into the slots (groups, 6, WARP) of both ends, or added to what they hold."""
    for k in range(3):
        old, other = (get(slots, at + 32 * k), get(slots, at + 32 * (k + 3))) if add else (0.0, 0.0)
        put(slots, at + 32 * k, old - f[k])
        put(slots, at + 32 * (k + 3), other + f[k])


@kernel
def evaluate(count, x, nodes, stiffness, rest, status, when, first, slots, first_block, blocks, partials):
    """Springs of `count` groups at positions x: slots of the gradient of k/2 (L - L0)^2, which begin at `first`, and
    energies into partials; stiffness [N/m] and rest length [m] (groups, WARP)."""
    if not awaited(status, when):
        return
    t, e = cuda.grid(1), float64(0.0)
    if t < count * 32:
        group, lane = t >> 5, t & 31
        n, length = spring_axis(ends(x, nodes, group, lane))
        stretch = length - get(rest, t)
        pull = get(stiffness, t) * stretch
        e = 0.5 * pull * stretch
        pull_ends(slots, first + group * 192 + lane, (pull * n[0], pull * n[1], pull * n[2]), False)
    store_sums(partials, first_block, blocks, e, float64(0.0))


@kernel
def damp(count, x, u, nodes, damping, numbers, status, when, first, slots, first_block, blocks, partials):
    """Adds viscous forces along the axes at positions x; h times half their power into partials [2]; damping
    [N s/m] (groups, WARP)."""
    if not awaited(status, when):
        return
    t, half = cuda.grid(1), float64(0.0)
    if t < count * 32:
        group, lane = t >> 5, t & 31
        n, _ = spring_axis(ends(x, nodes, group, lane))
        v = ends(u, nodes, group, lane)
        rate = n[0] * v[0] + n[1] * v[1] + n[2] * v[2]
        pull = get(damping, t) * rate
        half = 0.5 * numbers[STEP] * pull * rate
        pull_ends(slots, first + group * 192 + lane, (pull * n[0], pull * n[1], pull * n[2]), True)
    store_power(partials, first_block, blocks, half)


@kernel
def pair_blocks(count, x, start, nodes, stiffness, rest, damping, numbers, status, when, first, out):
    """h^2 times the block between both ends of every spring at positions x, and h times that of its damping along the
    axes at positions `start`; they begin at `first`."""
    group, lane = own_lane(status, when, count)
    if group < 0:
        return
    t, h = cuda.grid(1), numbers[STEP]
    n, length = spring_axis(ends(x, nodes, group, lane))
    along, across = spring_moduli(length, get(rest, t), get(stiffness, t))
    across = max(across, 0.0) if numbers[PROJECT] != 0.0 else across
    b = spring_block(n, h * h * along, h * h * across)
    n, _ = spring_axis(ends(start, nodes, group, lane))
    d = spring_block(n, h * get(damping, t), 0.0)
    s = (b[0] + d[0], b[1] + d[1], b[2] + d[2], b[3] + d[3], b[4] + d[4], b[5] + d[5])
    block = narrow9((-s[0], -s[5], -s[4], -s[5], -s[1], -s[3], -s[4], -s[3], -s[2]))
    store9(out, first + group * 288 + lane, block)
