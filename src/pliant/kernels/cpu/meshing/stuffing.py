"""Isosurface stuffing: lattice nodes near the surface are moved onto it, tets that still cross it are cut by stencils
(Labelle and Shewchuk 2007, sections 2 and 3).

A node is inside (1), on the surface (0) or outside (-1). Edges of lattice tets are long (between two centres, or two
corners, of cells) or short (from a centre to a corner). A tet's edges 01 and 23 are long, the others short.
"""

import numpy as np

from pliant.jit import kernel

# Cuts nearer to a node than these parts of a long or short edge make the node move there: Labelle and Shewchuk's
# table 1, "uniform, safe": all dihedral angles lie between 10.78 and 164.74 degrees.
NEAR_LONG, NEAR_SHORT = 0.24999, 0.41189
LONG_LENGTH, SHORT_LENGTH = 1.0, 0.8660254037844386


@kernel
def snap_nodes(edges, long, share, starts, incident, sign, points):
    """Move nodes with a cut too near to the nearest one, one after the other: they are on the surface from then on and
    have no cuts any more.

    edges (k, 2): from inside to outside, with the cut at share (k,) of the way; edges incident[starts[v] : ...] at node
    v. sign (n,) and points (n, 3) are changed.
    """
    for v in range(len(starts) - 1):
        best, nearest = -1, 1e300
        for c in range(starts[v], starts[v + 1]):
            e = incident[c]
            if sign[edges[e, 0]] == 0 or sign[edges[e, 1]] == 0:
                continue
            part = share[e] if edges[e, 0] == v else 1.0 - share[e]
            if part < (NEAR_LONG if long[e] else NEAR_SHORT):
                distance = part * (LONG_LENGTH if long[e] else SHORT_LENGTH)
                if distance < nearest:
                    best, nearest = e, distance
        if best >= 0:
            a, b, t = edges[best, 0], edges[best, 1], share[best]
            own, other = (a, b) if a == v else (b, a)
            part = t if a == v else 1.0 - t
            for d in range(3):
                points[own, d] += part * (points[other, d] - points[own, d])
            sign[v] = 0


@kernel
def _is_long(i, j):
    return i + j == 1 or i + j == 5


@kernel
def _from_first(tet, where, i, j, m):
    """Whether the diagonal of the quadrilateral that is left of the face i, j, m with only m outside starts at i (and
    ends at the cut of j and m), rather than at j."""
    long_i, long_j = _is_long(i, m), _is_long(j, m)
    if long_i != long_j:
        return long_j
    # both cuts are on short edges: by how many coordinates of i exceed those of m (the parity rule)
    a, b = tet[i], tet[m]
    above = 0
    for d in range(3):
        above += where[a, d] > where[b, d]
    return above % 2 == 0


@kernel
def _put(out, count, a, b, c, d):
    if count < len(out):
        out[count, 0], out[count, 1], out[count, 2], out[count, 3] = a, b, c, d
    return count + 1


@kernel
def _put_prism(out, count, top, low, first):
    """Three tets of a prism with the triangles top and low (3); first: for the sides 01, 12, 20 whether the diagonal
    starts at the first of the two at the top."""
    for k in range(3):
        if first[k] and not first[(k + 2) % 3]:
            a, b, c = k, (k + 1) % 3, (k + 2) % 3
            count = _put(out, count, top[a], low[a], low[b], low[c])
            if first[b]:
                count = _put(out, count, top[a], top[b], top[c], low[c])
                return _put(out, count, top[a], top[b], low[c], low[b])
            count = _put(out, count, top[a], top[b], top[c], low[b])
            return _put(out, count, top[a], top[c], low[c], low[b])
    return count


@kernel
def stencils(tets, sign, where, cut_keys, first_cut, tets_out):
    """Tets that fill the inside of lattice tets (m, 4), as far as there is room; how many there are.

    where (n, 3): nodes in halves of cells. cut_keys: low * n + high of the edges that are cut, ascending; the cut of
    the e-th is point first_cut + e.
    """
    n, count = len(sign), 0
    inside, outside = np.empty(4, np.int64), np.empty(4, np.int64)
    for t in range(len(tets)):
        tet = tets[t]
        plus, minus, zero = 0, 0, -1
        for i in range(4):
            if sign[tet[i]] > 0:
                inside[plus] = i
                plus += 1
            elif sign[tet[i]] < 0:
                outside[minus] = i
                minus += 1
            else:
                zero = i
        if plus == 0:
            continue
        if minus == 0:
            count = _put(tets_out, count, tet[0], tet[1], tet[2], tet[3])
            continue
        cut = np.zeros((4, 4), np.int64)
        for p in range(plus):
            for m in range(minus):
                a, b = tet[inside[p]], tet[outside[m]]
                key = min(a, b) * n + max(a, b)
                cut[inside[p], outside[m]] = first_cut + np.searchsorted(cut_keys, key)
        if plus == 1:
            p = inside[0]
            new = np.empty(4, np.int64)
            for i in range(4):
                new[i] = cut[p, i] if sign[tet[i]] < 0 else tet[i]
            count = _put(tets_out, count, new[0], new[1], new[2], new[3])
        elif plus == 2 and minus == 1:
            i, j, m = inside[0], inside[1], outside[0]
            if not _from_first(tet, where, i, j, m):
                i, j = j, i
            count = _put(tets_out, count, tet[i], tet[j], cut[j, m], tet[zero])
            count = _put(tets_out, count, tet[i], cut[j, m], cut[i, m], tet[zero])
        elif plus == 3:
            i, j, k, m = inside[0], inside[1], inside[2], outside[0]
            top = (tet[i], tet[j], tet[k])
            low = (cut[i, m], cut[j, m], cut[k, m])
            first = (
                _from_first(tet, where, i, j, m),
                _from_first(tet, where, j, k, m),
                _from_first(tet, where, k, i, m),
            )
            count = _put_prism(tets_out, count, top, low, first)
        else:
            a, b, c, d = inside[0], inside[1], outside[0], outside[1]
            top, low = (tet[a], cut[a, c], cut[a, d]), (tet[b], cut[b, c], cut[b, d])
            one, two = _from_first(tet, where, a, b, c), _from_first(tet, where, a, b, d)
            # the free diagonal, on the surface: any that makes a prism of tets
            count = _put_prism(tets_out, count, top, low, (one, not one, not two))
    return count
