"""Loops over triangles of sheets: energy, forces, moduli, stresses, damping, stiffness (formulas.cloth).

Differences are to node 2, gradients (groups, 6, LANES) those of nodes 0 and 1, in the axes of the rest shape; basis
(groups, 6, LANES): two orthonormal directions E1, E2 of the rest triangle. Data for products, (20, LANES) for a group:
u1, u2, n as columns (9), gradients of nodes 0, 1 seen in v (4), seven moduli, all times what they weigh.
"""

import numpy as np
from numba import prange

from pliant.formulas.cloth import positive_sheet_moduli, sheet_block, sheet_frame, sheet_moduli, sheet_world_block
from pliant.formulas.matrix3 import add, cross, dot, multiply_vector, scale
from pliant.jit import formula, kernel, kernel_in, parallel_kernel
from pliant.kernels.lanes import LANES, chunks, first_of, last_of, load3, load9, load9_from, store3, store9
from pliant.kernels.sheets import TRIANGLE_DATA, sheet_curvature, sheet_stress


@kernel
def gather_pairs(values, nodes, group, out):
    """out (1, 6, LANES) = a_i - a_2, i = 0, 1, for the nodes of one group."""
    for lane in range(LANES):
        last = nodes[group, 2, lane]
        for i in range(2):
            node = nodes[group, i, lane]
            for c in range(3):
                out[0, 3 * i + c, lane] = values[node, c] - values[last, c]


@formula
def _images(d, gradients, basis, group, lane):
    """Where E1 and E2 go: sums of d_i (g_i . E)."""
    d0, d1 = load3(d, 0, 0, lane), load3(d, 0, 3, lane)
    g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
    first, second = load3(basis, group, 0, lane), load3(basis, group, 3, lane)
    a = add(scale(dot(g0, first), d0), scale(dot(g1, first), d1))
    return a, add(scale(dot(g0, second), d0), scale(dot(g1, second), d1))


@formula
def _columns(a, b, c):
    """The matrix (9) with these columns."""
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@formula
def _frames(d, gradients, basis, group, lane):
    """s1, s2, U (9) and V (9)."""
    a, b = _images(d, gradients, basis, group, lane)
    s1, s2, u1, u2, n, c, s = sheet_frame(a, b)
    first, second = load3(basis, group, 0, lane), load3(basis, group, 3, lane)
    v1, v2 = add(scale(c, first), scale(s, second)), add(scale(-s, first), scale(c, second))
    return s1, s2, _columns(u1, u2, n), _columns(v1, v2, cross(first, second))


@formula
def _plane_gradients(v, gradients, group, lane):
    """Gradients of nodes 0 and 1 along the first two columns of v (9): four numbers."""
    g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
    first, second = (v[0], v[3], v[6]), (v[1], v[4], v[7])
    return dot(g0, first), dot(g0, second), dot(g1, first), dot(g1, second)


@formula
def _evaluate_lanes(law, group, d, gradients, basis, volume, free, out):
    """Of one group: U, s, V, slots and energy (31, LANES)."""
    for lane in range(LANES):
        s1, s2, u, v = _frames(d, gradients, basis, group, lane)
        t, p, e = sheet_stress(law, s1, s2, free[group, lane] > 0.0, group, lane)
        w, g = volume[group, lane], _plane_gradients(v, gradients, group, lane)
        i0 = multiply_vector(u, (w * p[0] * g[0], w * p[1] * g[1], 0.0))
        i1 = multiply_vector(u, (w * p[0] * g[2], w * p[1] * g[3], 0.0))
        store9(out, 0, 0, lane, u)
        store3(out, 0, 9, lane, (s1, s2, t))
        store9(out, 0, 12, lane, v)
        store3(out, 0, 21, lane, i0)
        store3(out, 0, 24, lane, i1)
        store3(out, 0, 27, lane, (-(i0[0] + i1[0]), -(i0[1] + i1[1]), -(i0[2] + i1[2])))
        # what is no number (a user's ln J) is a barrier; an empty lane has no volume, whatever its energy density
        e = e if e == e else np.inf
        out[0, 30, lane] = w * e if w > 0.0 else 0.0


@parallel_kernel
def evaluate_triangles(law, first, last, x, nodes, gradients, basis, volume, free, frames_out, energy_out, slots_out):
    """At positions x (n, 3), for groups first..last: frames (groups, 21, LANES: U, s, V), energies of the groups [J],
    and the slots (groups, 9, LANES) of the energy's gradient [N]; free (groups, LANES): 1 where the thickness
    follows."""
    for group in prange(first, last):
        d, out = np.empty((1, 6, LANES)), np.empty((1, 31, LANES))
        gather_pairs(x, nodes, group, d)
        _evaluate_lanes(law, group, d, gradients, basis, volume, free, out)
        energy = 0.0
        for lane in range(LANES):
            energy += out[0, 30, lane]
        energy_out[group] = energy
        for k in range(21):
            for lane in range(LANES):
                frames_out[group, k, lane] = out[0, k, lane]
        for k in range(9):
            for lane in range(LANES):
                slots_out[group, k, lane] = out[0, 21 + k, lane]


@formula
def _store_data(out, lane, u, g, m):
    store9(out, 0, 0, lane, u)
    out[0, 9, lane], out[0, 10, lane], out[0, 11, lane], out[0, 12, lane] = g[0], g[1], g[2], g[3]
    out[0, 13, lane], out[0, 14, lane], out[0, 15, lane], out[0, 16, lane] = m[0], m[1], m[2], m[3]
    store3(out, 0, 17, lane, (m[4], m[5], m[6]))


@parallel_kernel
def triangle_moduli(law, first, last, frames, gradients, weight, free, project, data_out):
    """Data for products (groups, 20, LANES) of groups first..last in their frames, times weight (groups, LANES);
    project: make every element's stiffness positive semi-definite."""
    for group in prange(first, last):
        out = np.empty((1, TRIANGLE_DATA, LANES))
        for lane in range(LANES):
            s, w = load3(frames, group, 9, lane), weight[group, lane]
            p, c = sheet_curvature(law, s, group, lane)
            m = sheet_moduli(s, p, c, free[group, lane] > 0.0)
            if project:
                m = positive_sheet_moduli(m)
            g = _plane_gradients(load9_from(frames, group, 12, lane), gradients, group, lane)
            m = (w * m[0], w * m[1], w * m[2], w * m[3], w * m[4], w * m[5], w * m[6])
            _store_data(out, lane, load9(frames, group, lane), g, m)
        for k in range(TRIANGLE_DATA):
            for lane in range(LANES):
                data_out[group, k, lane] = out[0, k, lane]


@parallel_kernel
def triangle_stresses(law, first, last, frames, deformation_out, stress_out):
    """F and first Piola stress P (groups, 9, LANES) [Pa] of groups first..last in frames (groups, 21, LANES)."""
    for group in prange(first, last):
        for lane in range(LANES):
            p = sheet_curvature(law, load3(frames, group, 9, lane), group, lane)[0]
            for r in range(3):
                for c in range(3):
                    f, q = 0.0, 0.0
                    for k in range(3):
                        both = frames[group, 3 * r + k, lane] * frames[group, 12 + 3 * c + k, lane]
                        f += both * frames[group, 9 + k, lane]
                        q += both * p[k]
                    deformation_out[group, 3 * r + c, lane] = f
                    stress_out[group, 3 * r + c, lane] = q


@formula
def _deform_lanes(d, gradients, basis, group, out):
    """Of one group: rotation and strain (15, LANES)."""
    for lane in range(LANES):
        s1, s2, u, v = _frames(d, gradients, basis, group, lane)
        for r in range(3):
            store3(out, 0, 3 * r, lane, multiply_vector(v, (u[3 * r], u[3 * r + 1], u[3 * r + 2])))
        e1, e2 = s1 - 1.0, s2 - 1.0
        normal = (e1 * v[0] * v[0] + e2 * v[1] * v[1], e1 * v[3] * v[3] + e2 * v[4] * v[4])
        store3(out, 0, 9, lane, (normal[0], normal[1], e1 * v[6] * v[6] + e2 * v[7] * v[7]))
        yz, xz = e1 * v[3] * v[6] + e2 * v[4] * v[7], e1 * v[0] * v[6] + e2 * v[1] * v[7]
        store3(out, 0, 12, lane, (2 * yz, 2 * xz, 2 * (e1 * v[0] * v[3] + e2 * v[1] * v[4])))


@parallel_kernel
def deform_triangles(x, nodes, gradients, basis, rotation_out, strain_out):
    """Rotation (groups, 9, LANES) and strain in the plane, in the axes of the rest shape (groups, 6, LANES)."""
    for chunk in prange(chunks(nodes.shape[0])):
        d, out = np.empty((1, 6, LANES)), np.empty((1, 15, LANES))  # of its own: loops over lanes vectorise
        for group in range(first_of(chunk), last_of(chunk, nodes.shape[0])):
            gather_pairs(x, nodes, group, d)
            _deform_lanes(d, gradients, basis, group, out)
            for k in range(9):
                for lane in range(LANES):
                    rotation_out[group, k, lane] = out[0, k, lane]
            for k in range(6):
                for lane in range(LANES):
                    strain_out[group, k, lane] = out[0, 9 + k, lane]


@formula
def _turned_basis(rotation, basis, group, lane):
    """R E1 and R E2."""
    r = load9(rotation, group, lane)
    return multiply_vector(r, load3(basis, group, 0, lane)), multiply_vector(r, load3(basis, group, 3, lane))


@parallel_kernel
def damp_triangles(v, nodes, gradients, basis, rotation, lam, mu, weight, energy_out, slots_inout):
    """Adds the viscous forces of the plane stiffness lam, mu in the frames `rotation` (groups, 9, LANES), times weight
    (groups, LANES), at velocities v (n, 3); energies (groups,): half of the power."""
    for group in prange(nodes.shape[0]):
        d, out = np.empty((1, 6, LANES)), np.empty((1, 7, LANES))
        gather_pairs(v, nodes, group, d)
        for lane in range(LANES):
            a, b = _images(d, gradients, basis, group, lane)
            u1, u2 = _turned_basis(rotation, basis, group, lane)
            w, l, m = weight[group, lane], lam[group, lane], mu[group, lane]
            e1, e2, shear = dot(u1, a), dot(u2, b), dot(u1, b) + dot(u2, a)
            trace = w * l * (e1 + e2)
            p1, p2, q = trace + 2.0 * w * m * e1, trace + 2.0 * w * m * e2, w * m * shear
            first, second = add(scale(p1, u1), scale(q, u2)), add(scale(q, u1), scale(p2, u2))
            for i in range(2):
                g = load3(gradients, group, 3 * i, lane)
                along, across = dot(g, load3(basis, group, 0, lane)), dot(g, load3(basis, group, 3, lane))
                store3(out, 0, 3 * i, lane, add(scale(along, first), scale(across, second)))
            out[0, 6, lane] = 0.5 * (p1 * e1 + p2 * e2 + q * shear)
        energy_out[group] = out[0, 6].sum()
        for k in range(6):
            for lane in range(LANES):
                slots_inout[group, k, lane] += out[0, k, lane]
        for k in range(3):
            for lane in range(LANES):
                slots_inout[group, 6 + k, lane] -= out[0, k, lane] + out[0, 3 + k, lane]


@parallel_kernel
def pack_triangle_damping(rotation, gradients, basis, lam, mu, weight, data_out):
    """Data for products (groups, 20, LANES) of the viscous stiffness, as `damp_triangles`."""
    for group in prange(data_out.shape[0]):
        out = np.empty((1, TRIANGLE_DATA, LANES))
        for lane in range(LANES):
            u1, u2 = _turned_basis(rotation, basis, group, lane)
            first, second = load3(basis, group, 0, lane), load3(basis, group, 3, lane)
            g = _plane_gradients(_columns(first, second, first), gradients, group, lane)
            w, l, m = weight[group, lane], lam[group, lane], mu[group, lane]
            both = w * (l + 2.0 * m)
            _store_data(out, lane, _columns(u1, u2, cross(u1, u2)), g, (both, both, w * l, 2.0 * w * m, 0.0, 0.0, 0.0))
        for k in range(TRIANGLE_DATA):
            for lane in range(LANES):
                data_out[group, k, lane] = out[0, k, lane]


@formula
def _gradient(data, group, i, lane):
    """The gradient (2) of node i from the data."""
    g0 = (data[group, 9, lane], data[group, 10, lane])
    g1 = (data[group, 11, lane], data[group, 12, lane])
    if i == 2:
        return -(g0[0] + g1[0]), -(g0[1] + g1[1])
    return g0 if i == 0 else g1


@formula
def _moduli(data, group, lane):
    m = load3(data, group, 13, lane)
    return (
        m[0],
        m[1],
        m[2],
        data[group, 16, lane],
        data[group, 17, lane],
        data[group, 18, lane],
        data[group, 19, lane],
    )


@formula
def _block(data, group, i, j, lane):
    """Block (9) of nodes i, j."""
    block = sheet_block(_gradient(data, group, i, lane), _gradient(data, group, j, lane), _moduli(data, group, lane))
    return sheet_world_block(load9(data, group, lane), block)


@parallel_kernel
def triangle_stiffness(data, blocks_out):
    """The six stiffness blocks (groups LANES, 6, 9) of every triangle, pairs (i, j), j <= i, of its nodes, from data
    (terms, groups, 20, LANES)."""
    for group in prange(data.shape[1]):
        block = np.empty((1, 9, LANES))
        pair = 0
        for i in range(3):
            for j in range(i + 1):
                for k in range(9):
                    for lane in range(LANES):
                        block[0, k, lane] = 0.0
                for term in range(data.shape[0]):
                    numbers = data[term]
                    for lane in range(LANES):
                        one = _block(numbers, group, i, j, lane)
                        old = load9(block, 0, lane)
                        store3(block, 0, 0, lane, (old[0] + one[0], old[1] + one[1], old[2] + one[2]))
                        store3(block, 0, 3, lane, (old[3] + one[3], old[4] + one[4], old[5] + one[5]))
                        store3(block, 0, 6, lane, (old[6] + one[6], old[7] + one[7], old[8] + one[8]))
                for lane in range(LANES):
                    for k in range(9):
                        blocks_out[group * LANES + lane, pair, k] = block[0, k, lane]
                pair += 1


@formula
def _add_product(numbers, group, lane, d, out):
    """Adds the forces of nodes 0, 1 that move by d (1, 6, LANES) beside node 2 to out (1, 6, LANES)."""
    u, m = load9(numbers, group, lane), _moduli(numbers, group, lane)
    g, k = _gradient(numbers, group, 0, lane), _gradient(numbers, group, 1, lane)
    d0, d1 = load3(d, 0, 0, lane), load3(d, 0, 3, lane)
    a, b = add(scale(g[0], d0), scale(k[0], d1)), add(scale(g[1], d0), scale(k[1], d1))
    u1, u2, n = (u[0], u[3], u[6]), (u[1], u[4], u[7]), (u[2], u[5], u[8])
    f00, f11, f01, f10 = dot(u1, a), dot(u2, b), dot(u1, b), dot(u2, a)
    even, odd = 0.5 * m[3] * (f01 + f10), 0.5 * m[4] * (f01 - f10)
    p00, p11 = m[0] * f00 + m[2] * f11, m[2] * f00 + m[1] * f11
    first = add(add(scale(p00, u1), scale(even - odd, u2)), scale(m[5] * dot(n, a), n))
    second = add(add(scale(even + odd, u1), scale(p11, u2)), scale(m[6] * dot(n, b), n))
    i0, i1 = add(scale(g[0], first), scale(g[1], second)), add(scale(k[0], first), scale(k[1], second))
    for c in range(3):
        out[0, c, lane] += i0[c]
        out[0, 3 + c, lane] += i1[c]


@parallel_kernel
def triangle_products(data, places, x, slots_out):
    """Slots (groups, 9, LANES) of the stiffness times x, flat; data and places as in TriangleProducts."""
    for group in prange(places.shape[0]):
        d, out = np.empty((1, 6, LANES), x.dtype), np.zeros((1, 6, LANES), x.dtype)
        for lane in range(LANES):
            last = places[group, 2, lane]
            for i in range(2):
                at = places[group, i, lane]
                for c in range(3):
                    d[0, 3 * i + c, lane] = x[at + c * LANES] - x[last + c * LANES]
        for term in range(data.shape[0]):
            numbers = data[term]
            for lane in range(LANES):
                _add_product(numbers, group, lane, d, out)
        for c in range(3):
            for lane in range(LANES):
                slots_out[group, c, lane], slots_out[group, 3 + c, lane] = out[0, c, lane], out[0, 3 + c, lane]
                slots_out[group, 6 + c, lane] = -out[0, c, lane] - out[0, 3 + c, lane]


@kernel
def add_triangle_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the triangles' diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first
    slot of these triangles."""
    one, last = np.empty((1, 9, 1)), first + data.shape[1] * 9 * LANES
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, slot = (adjacency[k] - first) % LANES, (adjacency[k] - first) // LANES
            group, i = slot // 9, slot % 9 // 3
            for term in range(data.shape[0]):
                store9(one, 0, 0, 0, _block(data[term], group, i, i, lane))
                for r in range(3):
                    for c in range(3):
                        both = free[at + r * LANES] * free[at + c * LANES]
                        out[at // (3 * LANES), 3 * r + c, at % LANES] += both * one[0, 3 * r + c, 0]


# What is compiled for every law in use: energy and forces, nothing at points, moduli, stresses.
LAW_KERNELS = (evaluate_triangles, None, triangle_moduli, triangle_stresses)


def law_kernels_in(folder) -> tuple:
    """The same for a user's law, whose compiled code lies in a folder of its own."""
    return tuple(own and kernel_in(folder, own.py_func) for own in LAW_KERNELS)
