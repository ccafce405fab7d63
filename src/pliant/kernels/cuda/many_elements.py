"""Tets of one scene of many, by one block of threads: energies, forces, stiffness blocks (as kernels.cuda.elements)."""

import math

from numba import cuda

from pliant.formulas.elements import element_gradient, element_impulses, element_stress, stiffness_block, strain_rate
from pliant.formulas.hyperelastic import nodal_gradients, positive_moduli, principal_block, world_block
from pliant.formulas.matrix3 import add_matrices, determinant, multiply_vector, scale, transpose_multiply_vector
from pliant.formulas.svd import nearest_rotation
from pliant.kernels.cuda.warp import device
from pliant.kernels.laws import IDENTITY, deform, stiffness_moduli


@device
def row3(a, i):
    """Row i of (n, 3)."""
    return (a[i, 0], a[i, 1], a[i, 2])


@device
def row9(a, i):
    """Row i of (n, 9)."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


@device
def weighted(w, g):
    """w times the rest gradients (9) of a tet."""
    a, b, c = scale(w, (g[0], g[1], g[2])), scale(w, (g[3], g[4], g[5])), scale(w, (g[6], g[7], g[8]))
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@device
def field_gradient(field, tets, g, e):
    """Gradient (9) of a field (n, 3) in a tet, g: rest gradients (m, 9)."""
    last = row3(field, tets[e, 3])
    p, q, r = row3(field, tets[e, 0]), row3(field, tets[e, 1]), row3(field, tets[e, 2])
    d0 = (p[0] - last[0], p[1] - last[1], p[2] - last[2])
    d1 = (q[0] - last[0], q[1] - last[1], q[2] - last[2])
    d2 = (r[0] - last[0], r[1] - last[1], r[2] - last[2])
    return element_gradient(d0, d1, d2, row9(g, e))


@cuda.jit(device=True)
def take_frames(scenes, i, tets, x, rotates, frames):
    """Frames (m, 9) in which damping acts, at positions x."""
    for e in range(cuda.threadIdx.x, tets.shape[0], cuda.blockDim.x):
        r = nearest_rotation(field_gradient(x, tets, scenes.gradients[i], e)) if rotates else IDENTITY
        for c in range(9):
            frames[e, c] = r[c]


@cuda.jit(device=True)
def evaluate_tets(scenes, i, tets, ahead, u, h, damped, frames, forces):
    """Forces (m, 12) [N], with the sign of a gradient, at positions `ahead` and velocities u; the sums of a thread:
    elastic energy and that of damping [J], inverted tets."""
    energy, loss, inverted = 0.0, 0.0, 0.0
    for e in range(cuda.threadIdx.x, tets.shape[0], cuda.blockDim.x):
        g, w = row9(scenes.gradients[i], e), scenes.volume[i, e]
        f = field_gradient(ahead, tets, scenes.gradients[i], e)
        _, _, _, p, psi = deform(scenes.law, f, i, e)
        psi = psi if psi == psi else math.inf  # what is no number (a user's ln J) is a barrier
        force = nodal_gradients(p, weighted(w, g))
        energy += w * psi
        inverted += 1.0 if determinant(f) <= 0.0 else 0.0
        if damped:
            r = row9(frames, e)
            rate = strain_rate(field_gradient(u, tets, scenes.gradients[i], e), r, IDENTITY)
            beta = w * scenes.viscous[i, e, 0]
            s = element_stress(rate, beta * scenes.viscous[i, e, 1], beta * scenes.viscous[i, e, 2])
            force = add_matrices(force, element_impulses(s, r, g, IDENTITY))
            power = s[0] * rate[0] + s[1] * rate[1] + s[2] * rate[2] + s[3] * rate[3] + s[4] * rate[4] + s[5] * rate[5]
            loss += 0.5 * h * power
        for c in range(9):
            forces[e, c] = force[c]
        for c in range(3):
            forces[e, 9 + c] = -(force[c] + force[3 + c] + force[6 + c])
    return energy, loss, inverted


@device
def pair_block(u, r, a, b, material, viscous, damped, g, k):
    """The stiffness block (9) of two nodes: a, b: their gradients in principal axes; g, k: at rest."""
    block = world_block(u, principal_block(a, b, material[0], material[1], material[2]))
    if damped:
        own = stiffness_block(multiply_vector(r, g), multiply_vector(r, k), viscous[0], viscous[1])
        block = add_matrices(block, own)
    return block


@device
def last_of(a, b, c):
    """Minus the sum of three gradients."""
    return (-(a[0] + b[0] + c[0]), -(a[1] + b[1] + c[1]), -(a[2] + b[2] + c[2]))


@cuda.jit(device=True)
def stiffness_of_tets(scenes, i, tets, ahead, h, project, damped, frames, out):
    """Six blocks (m, 54) of every tet, of the pairs PAIRS of its nodes: h^2 times its stiffness at positions `ahead`,
    h times its damping."""
    for e in range(cuda.threadIdx.x, tets.shape[0], cuda.blockDim.x):
        g, w = row9(scenes.gradients[i], e), scenes.volume[i, e]
        u, s, v, _, _ = deform(scenes.law, field_gradient(ahead, tets, scenes.gradients[i], e), i, e)
        a, symmetric, skew = stiffness_moduli(scenes.law, s, i, e)
        if project:
            a, symmetric, skew = positive_moduli(a, symmetric, skew)
        weight = h * h * w
        first, second = scale(weight, (a[0], a[1], a[2])), scale(weight, (a[3], a[4], a[5]))
        a = (first[0], first[1], first[2], second[0], second[1], second[2])
        m = (a, scale(weight, symmetric), scale(weight, skew))
        r = row9(frames, e) if damped else IDENTITY
        beta = h * w * scenes.viscous[i, e, 0]
        d = (beta * scenes.viscous[i, e, 1], beta * scenes.viscous[i, e, 2])
        k0, k1, k2 = (g[0], g[1], g[2]), (g[3], g[4], g[5]), (g[6], g[7], g[8])
        k3 = last_of(k0, k1, k2)
        g0, g1 = transpose_multiply_vector(v, k0), transpose_multiply_vector(v, k1)
        g2 = transpose_multiply_vector(v, k2)
        g3 = last_of(g0, g1, g2)
        for pair in range(6):
            high = 1 if pair == 0 else (2 if pair < 3 else 3)
            low = 0 if pair == 0 else (pair - 1 if pair < 3 else pair - 3)
            ga, ka = (g1, k1) if high == 1 else ((g2, k2) if high == 2 else (g3, k3))
            gb, kb = (g0, k0) if low == 0 else ((g1, k1) if low == 1 else (g2, k2))
            block = pair_block(u, r, ga, gb, m, d, damped, ka, kb)
            for c in range(9):
                out[e, 9 * pair + c] = block[c]


@cuda.jit(device=True)
def energy_of_motion(tets, u, stiffness):
    """A thread's part of u^T K u with the blocks (m, 54): K of a node with itself is minus the sum of the others, so it
    is -sum (u_a - u_b)^T K_ab (u_a - u_b)."""
    total = 0.0
    for e in range(cuda.threadIdx.x, tets.shape[0], cuda.blockDim.x):
        for pair in range(6):
            high = 1 if pair == 0 else (2 if pair < 3 else 3)
            low = 0 if pair == 0 else (pair - 1 if pair < 3 else pair - 3)
            p, q = row3(u, tets[e, high]), row3(u, tets[e, low])
            d = (p[0] - q[0], p[1] - q[1], p[2] - q[2])
            for r in range(3):
                at = 9 * pair + 3 * r
                product = stiffness[e, at] * d[0] + stiffness[e, at + 1] * d[1] + stiffness[e, at + 2] * d[2]
                total -= d[r] * product
    return total
