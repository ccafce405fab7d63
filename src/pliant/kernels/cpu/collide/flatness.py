"""Proofs that patches of a sheet which lie nearly flat do not touch themselves.

In a flat sheet of convex shape the straight line between two points at rest, q apart, lies in it. If the deformation
gradients F of all triangles along that line have, seen from one frame A of two orthonormal directions, a symmetric part
of A^T F that is at least s, the two points are at least s |q| apart: A^T (x - y) . q >= s |q|^2. (Of straight ways, A^T
F is linear in time: what holds at the start and at the end holds between them.) Features that have no node in common
are at rest no nearer than the least height of a triangle.
"""

import math

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel

# Rounding of what is asked of the symmetric part.
ROUNDING = 1e-9


@kernel
def _write_gradient(x, nodes, inverse, end, t, out):
    """Deformation gradient of triangle t as columns, into out[end, t] (6,)."""
    a, b, c = nodes[t, 0], nodes[t, 1], nodes[t, 2]
    for k in range(3):
        p, q = x[b, k] - x[a, k], x[c, k] - x[a, k]
        out[end, t, k] = p * inverse[t, 0] + q * inverse[t, 2]
        out[end, t, 3 + k] = p * inverse[t, 1] + q * inverse[t, 3]


@kernel
def _write_mean(gradient, end, first, last, patch, out):
    """The mean of gradients first..last into out[end, patch] (6,); how far one of them is from it at most, in the
    Frobenius norm."""
    for k in range(6):
        total = 0.0
        for t in range(first, last):
            total += gradient[end, t, k]
        out[end, patch, k] = total / (last - first)
    furthest = 0.0
    for t in range(first, last):
        square = 0.0
        for k in range(6):
            apart = gradient[end, t, k] - out[end, patch, k]
            square += apart * apart
        furthest = max(furthest, square)
    return math.sqrt(furthest)


@kernel
def _frame(mean, patch):
    """Two orthonormal directions nearest to the mean of the two gradients of a patch; zeros where there are none."""
    a0, a1, a2 = mean[0, patch, 0] + mean[1, patch, 0], mean[0, patch, 1] + mean[1, patch, 1], 0.0
    b0, b1, b2 = mean[0, patch, 3] + mean[1, patch, 3], mean[0, patch, 4] + mean[1, patch, 4], 0.0
    a2, b2 = mean[0, patch, 2] + mean[1, patch, 2], mean[0, patch, 5] + mean[1, patch, 5]
    # the polar factor of a mean M is M (M^T M)^-1/2
    aa, bb, ab = a0 * a0 + a1 * a1 + a2 * a2, b0 * b0 + b1 * b1 + b2 * b2, a0 * b0 + a1 * b1 + a2 * b2
    determinant = aa * bb - ab * ab
    if not determinant > 0.0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    root = math.sqrt(determinant)
    size = root * math.sqrt(aa + bb + 2.0 * root)
    p, q, r = (bb + root) / size, (aa + root) / size, -ab / size
    one = (p * a0 + r * b0, p * a1 + r * b1, p * a2 + r * b2)
    return (*one, r * a0 + q * b0, r * a1 + q * b1, r * a2 + q * b2)


@kernel
def _at_least(gradient, end, t, frame, least):
    """Whether the symmetric part of A^T F of gradient[end, t] (6,) is at least so much."""
    f0, f1, f2 = gradient[end, t, 0], gradient[end, t, 1], gradient[end, t, 2]
    g0, g1, g2 = gradient[end, t, 3], gradient[end, t, 4], gradient[end, t, 5]
    aa = f0 * frame[0] + f1 * frame[1] + f2 * frame[2] - least
    bb = g0 * frame[3] + g1 * frame[4] + g2 * frame[5] - least
    both = g0 * frame[0] + g1 * frame[1] + g2 * frame[2] + f0 * frame[3] + f1 * frame[4] + f2 * frame[5]
    return aa + bb >= 0.0 and 4.0 * aa * bb >= both * both


@kernel
def _flat_around(first, region, region_end, around_start, around, patch, least, frame, gradient, mean, spread):
    """Whether the symmetric parts of all triangles around a patch are at least so much, at the start and at the end;
    where means of patches do not tell, triangle by triangle (region, from `first` on)."""
    for k in range(around_start[patch], around_start[patch + 1]):
        other, last = around[k], region_end[k]
        for end in range(2):
            if _at_least(mean, end, other, frame, least + spread[end, other]):
                continue
            for p in range(first, last):
                if not _at_least(gradient, end, region[p], frame, least):
                    return False
        first = last
    return True


@kernel
def _widest(around_start, around, patch, widest):
    """The largest of `widest` (patches,) around a patch."""
    found = 0.0
    for k in range(around_start[patch], around_start[patch + 1]):
        found = max(found, widest[around[k]])
    return found


@parallel_kernel
def prove_flat(patches, start, end, margin, work, flat_out):
    """Which patches (p,) are so flat, together with what surrounds them, on straight ways from start to end (n, 3) that
    no features without a common node come nearer there than their margins (n,) [m]. work: PatchWork."""
    gradient, mean, spread, widest = work.gradient, work.mean, work.spread, work.widest
    nodes, inverse = patches.nodes, patches.inverse
    for index in prange(flat_out.shape[0]):
        own, most = np.int64(index), 0.0
        for t in range(patches.triangle_start[own], patches.triangle_start[own + 1]):
            _write_gradient(start, nodes, inverse, 0, t, gradient)
            _write_gradient(end, nodes, inverse, 1, t, gradient)
            for k in range(3):
                most = max(most, margin[nodes[t, k]])
        widest[own] = most
        for side in range(2):
            numbers = (patches.triangle_start[own], patches.triangle_start[own + 1], own, mean)
            spread[side, own] = _write_mean(gradient, side, *numbers)
    for place in prange(flat_out.shape[0]):
        patch = np.int64(place)
        wide = _widest(patches.around_start, patches.around, patch, widest)
        least = (2.0 * wide / patches.height[patch]) * (1.0 + ROUNDING) + ROUNDING
        lists = (patches.region_start[patch], patches.region, patches.region_end, patches.around_start, patches.around)
        numbers = (least, _frame(mean, patch), gradient, mean, spread)
        flat_out[patch] = least < 1.0 and _flat_around(*lists, patch, *numbers)
