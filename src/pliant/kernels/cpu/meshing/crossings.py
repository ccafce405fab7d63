"""Where the lines of a body-centred lattice cross a closed surface.

Positions are whole numbers: Q to half a cell. Seen along one of the lattice's seven directions (three axes, four
diagonals), a point has two whole coordinates (u, v) across and one, w, along. Whether a line meets a triangle is
decided by the signs of three determinants of whole numbers below 2^62, without rounding; a line that meets an edge or a
corner is taken to be shifted by (e, e^2) with an e as small as one likes (Edelsbrunner and Muecke 1990). So every line
leaves a closed surface as often as it enters it, and the winding number of a point is what a line through it counts.
"""

import numpy as np

from pliant.jit import kernel

AXES, DIRECTIONS = 3, 7


@kernel
def _seen(points, i, direction):
    """(u, v, w) of a point; diagonals run along (sx, sy, 1)."""
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    if direction == 0:
        return y, z, x
    if direction == 1:
        return z, x, y
    if direction == 2:
        return x, y, z
    sx = 1 - 2 * ((direction - 3) & 1)
    sy = 1 - 2 * ((direction - 3) >> 1)
    return x - sx * z, y - sy * z, z


@kernel
def _turn(au, av, bu, bv, u, v):
    """1 if (u, v) lies to the left of the way from a to b, -1 to the right; never 0, except for a = b."""
    turn = (bu - au) * (v - av) - (bv - av) * (u - au)
    if turn == 0:
        turn = av - bv  # how it changes with u
    if turn == 0:
        turn = bu - au  # and with v
    return 1 if turn > 0 else (-1 if turn < 0 else 0)


@kernel
def _floor(a, b):
    return a // b  # Numba's // rounds down as Python's does


@kernel
def _line(direction, i, j, width):
    return (direction * width + i + width // 2) * width + j + width // 2


@kernel
def find_crossings(points, triangles, half, width, direction, line_out, place_out, side_out):
    """Crossings of the lines of one direction with triangles (m, 3) over whole points (n, 3), as far as there is room;
    how many there are.

    Lines lie at whole multiples of `half`: of axes both even or both odd, of diagonals both even. line: the number of
    the line (`_line`; width: more than twice the largest multiple); place: w as a float; side: 1 where it leaves.
    """
    count = 0
    step = 1 if direction < AXES else 2
    for t in range(len(triangles)):
        au, av, aw = _seen(points, triangles[t, 0], direction)
        bu, bv, bw = _seen(points, triangles[t, 1], direction)
        cu, cv, cw = _seen(points, triangles[t, 2], direction)
        u0, u1 = -_floor(-min(au, bu, cu), half), _floor(max(au, bu, cu), half)
        v0, v1 = -_floor(-min(av, bv, cv), half), _floor(max(av, bv, cv), half)
        # the shift by (e, e^2) puts lines at the lower ends inside, at the upper ends outside: both are tried
        for i in range(u0, u1 + 1):
            if step == 2 and i % 2 != 0:
                continue
            for j in range(v0, v1 + 1):
                if (i - j) % 2 != 0:
                    continue
                u, v = i * half, j * half
                side = _turn(au, av, bu, bv, u, v)
                if side == 0 or _turn(bu, bv, cu, cv, u, v) != side or _turn(cu, cv, au, av, u, v) != side:
                    continue
                if count < len(line_out):
                    wa = float((bu - u) * (cv - v) - (bv - v) * (cu - u))
                    wb = float((cu - u) * (av - v) - (cv - v) * (au - u))
                    wc = float((au - u) * (bv - v) - (av - v) * (bu - u))
                    total = wa + wb + wc
                    base = float(aw)
                    offset = (wb * float(bw - aw) + wc * float(cw - aw)) / total if total != 0.0 else 0.0
                    line_out[count] = _line(direction, i, j, width)
                    place_out[count] = base + offset
                    side_out[count] = side
                count += 1
    return count


@kernel
def mark_inside(lines, place, side, half, width, parity, inside_out):
    """inside (a, b, c) of the corners (parity 0) or centres (parity 1) of cells, from crossings along x.

    Crossings are sorted by line, then by place. Inside is where a line onwards leaves more often than it enters.
    """
    nx, ny, nz = inside_out.shape
    for j in range(ny):
        for k in range(nz):
            line = _line(0, 2 * j + parity, 2 * k + parity, width)
            first, last = np.searchsorted(lines, line), np.searchsorted(lines, line + 1)
            winding = 0
            for c in range(first, last):
                winding += side[c]
            c = first
            for i in range(nx):
                x = float((2 * i + parity) * half)
                while c < last and place[c] <= x:
                    winding -= side[c]
                    c += 1
                inside_out[i, j, k] = winding > 0


@kernel
def _direction_of(p, a, b):
    dx, dy, dz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    if dy == 0 and dz == 0:
        return 0
    if dx == 0 and dz == 0:
        return 1
    if dx == 0 and dy == 0:
        return 2
    return 3 + (1 if (dx > 0) != (dz > 0) else 0) + (2 if (dy > 0) != (dz > 0) else 0)


@kernel
def cut_edges(edges, p, lines, place, side, half, width, share_out):
    """Where edges (k, 2) of the lattice, from a node inside to one outside, leave the surface: parts of their lengths.

    p (n, 3): nodes in halves of cells; crossings sorted by line, then by place. The crossing nearest to the node inside
    is taken; where rounding has put it beyond an end, the nearest on the line.
    Returns how many edges have no crossing within a thousandth of their length.
    """
    lost = 0
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        direction = _direction_of(p, a, b)
        i, j, wa = _seen(p, a, direction)
        _, _, wb = _seen(p, b, direction)
        start, length = float(wa * half), float((wb - wa) * half)
        line = _line(direction, i, j, width)
        best, miss = 0.5, 1e-3
        found = False
        for c in range(np.searchsorted(lines, line), np.searchsorted(lines, line + 1)):
            share = (place[c] - start) / length
            beyond = max(-share, share - 1.0, 0.0)
            # leaving, seen from a
            if side[c] * length < 0.0:
                continue
            if beyond < miss or (beyond == miss and share < best):
                best, miss, found = share, beyond, True
        if not found:
            lost += 1
        share_out[e] = min(max(best, 0.0), 1.0)
    return lost
