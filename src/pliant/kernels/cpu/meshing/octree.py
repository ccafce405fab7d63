"""Tets of a body-centred lattice over the leaves of an octree (Labelle and Shewchuk 2007, section 3).

Nodes are the corners and centres of leaves, in halves of the finest cells: corners of cells are even, centres of the
finest odd. Leaves that touch differ by one level at most.
"""

import numpy as np

from pliant.jit import kernel


@kernel
def mark_cells(lines, place, half, width, near_out):
    """Mark the cells (a, b, c) within one cell of any crossing of the surface with a line of the lattice."""
    nx, ny, nz = near_out.shape
    size = 2.0 * half
    for c in range(len(lines)):
        direction, rest = lines[c] // (width * width), lines[c] % (width * width)
        u = float((rest // width - width // 2) * half)
        v = float((rest % width - width // 2) * half)
        w = place[c]
        if direction == 0:
            x, y, z = w, u, v
        elif direction == 1:
            x, y, z = v, w, u
        elif direction == 2:
            x, y, z = u, v, w
        else:
            sx = 1.0 - 2.0 * ((direction - 3) & 1)
            sy = 1.0 - 2.0 * ((direction - 3) >> 1)
            x, y, z = u + sx * w, v + sy * w, w
        # a crossing on a side of a cell belongs to all cells there
        i0, i1 = int(np.floor(x / size - 1e-6)), int(np.floor(x / size + 1e-6))
        j0, j1 = int(np.floor(y / size - 1e-6)), int(np.floor(y / size + 1e-6))
        k0, k1 = int(np.floor(z / size - 1e-6)), int(np.floor(z / size + 1e-6))
        for i in range(max(i0 - 1, 0), min(i1 + 2, nx)):
            for j in range(max(j0 - 1, 0), min(j1 + 2, ny)):
                for k in range(max(k0 - 1, 0), min(k1 + 2, nz)):
                    near_out[i, j, k] = True


@kernel
def fill_levels(may, level, value):
    """Raise the level of the finest cells in the blocks of 2^value cells that may be leaves."""
    size = 1 << value
    nx, ny, nz = level.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if may[i // size, j // size, k // size]:
                    level[i, j, k] = value


@kernel
def _is_inside(p, corner, centre):
    if p[0] & 1:
        return centre[p[0] >> 1, p[1] >> 1, p[2] >> 1]
    return corner[p[0] >> 1, p[1] >> 1, p[2] >> 1]


@kernel
def _moved(p, axis, by):
    return (
        p[0] + (by if axis == 0 else 0),
        p[1] + (by if axis == 1 else 0),
        p[2] + (by if axis == 2 else 0),
    )


@kernel
def _key(p, shape):
    return (p[0] * (2 * shape[1] + 1) + p[1]) * (2 * shape[2] + 1) + p[2]


@kernel
def _emit(a, b, c, d, corner, centre, shape, tets, count):
    """Write a tet unless all its nodes are outside; the count of tets."""
    some = _is_inside(a, corner, centre) or _is_inside(b, corner, centre)
    if not (some or _is_inside(c, corner, centre) or _is_inside(d, corner, centre)):
        return count
    if count < len(tets):
        tets[count, 0], tets[count, 1] = _key(a, shape), _key(b, shape)
        tets[count, 2], tets[count, 3] = _key(c, shape), _key(d, shape)
    return count + 1


@kernel
def _is_split(level, own, middle):
    """Whether a leaf around the middle of an edge, in halves of cells, is finer than `own`."""
    nx, ny, nz = level.shape
    for i in range(middle[0] // 2 - 1, middle[0] // 2 + 1):
        for j in range(middle[1] // 2 - 1, middle[1] // 2 + 1):
            for k in range(middle[2] // 2 - 1, middle[2] // 2 + 1):
                if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz and level[i, j, k] < own:
                    return True
    return False


@kernel
def _between_equals(low, axis, own, level, corner, centre, tets, count):
    """Tets between the centres of two equal leaves and the sides of the face between them; low: the corner of the
    second leaf in halves of cells."""
    shape, size = level.shape, 2 << own
    half = size // 2
    second = (low[0] + half, low[1] + half, low[2] + half)
    first = _moved(second, axis, -size)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    ring = (low, _moved(low, u, size), _moved(_moved(low, u, size), v, size), _moved(low, v, size))
    for k in range(4):
        start, end = ring[k], ring[(k + 1) % 4]
        middle = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2, (start[2] + end[2]) // 2)
        if own > 0 and _is_split(level, own, middle):
            count = _emit(first, second, start, middle, corner, centre, shape, tets, count)
            count = _emit(first, second, middle, end, corner, centre, shape, tets, count)
        else:
            count = _emit(first, second, start, end, corner, centre, shape, tets, count)
    return count


@kernel
def _between_sizes(cell, axis, up, own, level, corner, centre, tets, count):
    """Tets on both sides of a face between a leaf and one twice its size: the face is halved by the diagonal through
    the centre of the large face."""
    shape, size = level.shape, 2 << own
    half = size // 2
    low = (2 * cell[0], 2 * cell[1], 2 * cell[2])
    small = (low[0] + half, low[1] + half, low[2] + half)
    face = _moved(low, axis, size if up else 0)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    large_u = low[u] // (2 * size) * 2 * size + size
    large_v = low[v] // (2 * size) * 2 * size + size
    # the corner of the small face that is the middle of the large one, and the other three in turn
    du = size if low[u] < large_u else 0
    dv = size if low[v] < large_v else 0
    middle = _moved(_moved(face, u, du), v, dv)
    opposite = _moved(_moved(face, u, size - du), v, size - dv)
    one, two = _moved(_moved(face, u, size - du), v, dv), _moved(_moved(face, u, du), v, size - dv)
    large = _moved(middle, axis, size if up else -size)
    for apex in (small, large):
        count = _emit(apex, middle, opposite, one, corner, centre, shape, tets, count)
        count = _emit(apex, middle, opposite, two, corner, centre, shape, tets, count)
    return count


@kernel
def lattice_tets(level, corner, centre, tets_out, plain_out):
    """Tets (m, 4), as keys of their nodes, that have a node inside, as far as there is room; how many there are.

    level (a, b, c): of the leaf over each finest cell. corner, centre: which of the finest nodes are inside. plain:
    tets between two equal leaves: the first two nodes are centres, edges 01 and 23 are the long ones.
    """
    nx, ny, nz = level.shape
    count = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                own = level[i, j, k]
                size = 1 << own
                if i % size or j % size or k % size:
                    continue
                for axis in range(3):
                    for up in range(2):
                        beside = _moved((i, j, k), axis, size if up else -1)
                        if not (0 <= beside[axis] < level.shape[axis]):
                            continue
                        other = level[beside[0], beside[1], beside[2]]
                        before = count
                        if other == own and not up:
                            low = (2 * i, 2 * j, 2 * k)
                            count = _between_equals(low, axis, own, level, corner, centre, tets_out, count)
                        elif other > own:
                            cell = (i, j, k)
                            count = _between_sizes(cell, axis, up, own, level, corner, centre, tets_out, count)
                        for t in range(before, min(count, len(plain_out))):
                            plain_out[t] = other == own and own == 0
    return count
