"""Points inside tets: which tet, and its barycentric weights."""

import numpy as np

from pliant.formulas.matrix3 import cross, dot, subtract
from pliant.jit import kernel


@kernel
def _triple(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@kernel
def _weights(p, a, b, c, d):
    """Barycentric weights of p in the tet a, b, c, d."""
    u, v, w, q = subtract(a, d), subtract(b, d), subtract(c, d), subtract(p, d)
    volume = dot(u, cross(v, w))
    wa, wb, wc = dot(q, cross(v, w)) / volume, dot(u, cross(q, w)) / volume, dot(u, cross(v, q)) / volume
    return (wa, wb, wc, 1.0 - wa - wb - wc)


@kernel
def _of_tet(p, x, tets, e):
    a, b = _triple(x, tets[e, 0]), _triple(x, tets[e, 1])
    return _weights(p, a, b, _triple(x, tets[e, 2]), _triple(x, tets[e, 3]))


@kernel
def find_tets(points, x, tets, order, box, node, tet_out):
    """For points (k, 3) the tet of x (n, 3), tets (m, 4) that holds each best: the one whose smallest weight of the
    point is largest, of those with the point in their boxes (n, 6 in the order of a tree of `collide.bvh`); -1 if it
    lies outside all tets."""
    leaves, count = len(node) // 2, len(order)
    stack = np.empty(128, np.int64)
    for i in range(len(points)):
        p = _triple(points, i)
        stack[0], size = 1, 1
        best, found = -1e-9, -1
        while size > 0:
            size -= 1
            k = stack[size]
            inside = True
            for c in range(3):
                inside = inside and node[k, c] <= p[c] <= node[k, c + 3]
            if not inside:
                continue
            if k < leaves:
                stack[size], stack[size + 1] = 2 * k, 2 * k + 1
                size += 2
                continue
            for j in range(count * (k - leaves) // leaves, count * (k - leaves + 1) // leaves):
                w = _of_tet(p, x, tets, order[j])
                least = min(w[0], w[1], w[2], w[3])
                if least > best or (least == best and order[j] < found):
                    best, found = least, order[j]
        tet_out[i] = found


@kernel
def tet_weights(points, x, tets, chosen, weight_out):
    """Barycentric weights (k, 4) of points (k, 3) in their tets chosen (k,), also outside them."""
    for i in range(len(points)):
        w = _of_tet(_triple(points, i), x, tets, chosen[i])
        for c in range(4):
            weight_out[i, c] = w[c]
