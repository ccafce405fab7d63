"""Contacts of all candidate pairs of convex bodies in one call."""

from pliant.formulas.contact import box_distance
from pliant.formulas.matrix3 import add, dot, multiply_vector, norm, scale, subtract, transpose_multiply_vector
from pliant.jit import kernel
from pliant.kernels.cpu.collide.convex import against_plane, convex_pair
from pliant.kernels.cpu.collide.manifold import NAMES
from pliant.kernels.shapes import BOX, PLANE, SPHERE


@kernel
def _triple(array, i):
    return (array[i, 0], array[i, 1], array[i, 2])


@kernel
def _frame(frames, i):
    f = frames[i]
    return (f[0, 0], f[0, 1], f[0, 2], f[1, 0], f[1, 1], f[1, 2], f[2, 0], f[2, 1], f[2, 2])


@kernel
def _parameter(parameters, i):
    return (parameters[i, 0], parameters[i, 1], parameters[i, 2], parameters[i, 3])


@kernel
def _solid(codes, parameters, index, hulls, i):
    """Solid i as `convex_pair` takes it."""
    return (codes[i], _parameter(parameters, i), index[i], hulls.points)


@kernel
def _noted(k, found, count, pair_out):
    """Write that the contacts found after `count` are of pair k; how many there are now."""
    for row in range(count, min(count + found, pair_out.shape[0])):
        pair_out[row] = k
    return count + found


@kernel
def _write(normal, other, gap, name, out, row):
    """A contact into a row, if there is one; other: the point of the second solid."""
    if row < out.gap.shape[0]:
        out.gap[row], out.feature[row] = gap, name
        for c in range(3):
            out.normal[row, c], out.point_b[row, c] = normal[c], other[c]
            out.point_a[row, c] = other[c] + gap * normal[c]


@kernel
def _two_spheres(parameters, positions, a, b):
    """Normal from sphere b to sphere a, the point of b, the gap."""
    way = subtract(_triple(positions, a), _triple(positions, b))
    apart = norm(way)
    normal = scale(1.0 / apart, way) if apart > 0.0 else (0.0, 0.0, 1.0)
    other = add(_triple(positions, b), scale(parameters[b, 0], normal))
    return normal, other, apart - parameters[a, 0] - parameters[b, 0]


@kernel
def _sphere_and_box(parameters, positions, frames, a, b):
    """Normal from box b to sphere a, the point of the box, the gap."""
    frame, centre = _frame(frames, b), _triple(positions, a)
    place = transpose_multiply_vector(frame, subtract(centre, _triple(positions, b)))
    distance, normal = box_distance(place, _triple(parameters, b))
    normal = multiply_vector(frame, normal)
    return normal, subtract(centre, scale(distance, normal)), distance - parameters[a, 0]


@kernel
def _simple_pair(codes, parameters, positions, frames, a, b, reach, out, row):
    """Contacts, 0 or 1, of a sphere with a sphere or a box; -1 of other solids."""
    if codes[a] == SPHERE and codes[b] == SPHERE:
        normal, other, gap = _two_spheres(parameters, positions, a, b)
    elif codes[a] == SPHERE and codes[b] == BOX:
        normal, other, gap = _sphere_and_box(parameters, positions, frames, a, b)
    elif codes[a] == BOX and codes[b] == SPHERE:
        normal, other, gap = _sphere_and_box(parameters, positions, frames, b, a)
        normal, other = scale(-1.0, normal), add(other, scale(gap, normal))
    else:
        return -1
    if not gap <= reach:
        return 0
    _write(normal, other, gap, 2 * NAMES - 1, out, row)
    return 1


@kernel
def collide_pairs(pairs, codes, parameters, index, hulls, positions, frames, reach, most, scratch, pair_out, out):
    """Contacts of pairs (k, 2) of solids but planes, sorted as the pairs are: how many, or how many with more room.

    Of each solid: codes (n,), parameters (n, 4) with the margin, index (n,) of its hull (or of a triangle's first
    corner in hulls.points), positions (n, 3), frames (n, 3, 3). reach (k,) [m]. pair_out (c,): which pair; out:
    `ContactPoints` of c rows. Where more are needed, call again with as many rows as were counted.
    """
    count = 0
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        quick = _simple_pair(codes, parameters, positions, frames, a, b, reach[k], out, count)
        if quick >= 0:
            count = _noted(k, quick, count, pair_out)
            continue
        first, second = _solid(codes, parameters, index, hulls, a), _solid(codes, parameters, index, hulls, b)
        poses = (_triple(positions, a), _frame(frames, a), _triple(positions, b), _frame(frames, b))
        room = (hulls, reach[k], most, scratch, out, count)
        count = _noted(k, convex_pair(first, poses[0], poses[1], second, poses[2], poses[3], *room), count, pair_out)
    return count


@kernel
def collide_planes(pairs, codes, parameters, index, hulls, positions, frames, reach, most, scratch, pair_out, out):
    """As `collide_pairs`, of pairs whose second solid is a plane."""
    count = 0
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        solid, plane = _solid(codes, parameters, index, hulls, a), _solid(codes, parameters, index, hulls, b)
        place, frame = _triple(positions, a), _frame(frames, a)
        ground = (plane, _triple(positions, b), _frame(frames, b))
        found = against_plane(solid, place, frame, *ground, hulls, reach[k], most, scratch, out, count)
        count = _noted(k, found, count, pair_out)
    return count


@kernel
def collide_spheres(pairs, codes, parameters, positions, frames, reach, pair_out, out):
    """As `collide_pairs`, of spheres with spheres and planes, which is little to compile."""
    count = 0
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        if codes[b] == PLANE:
            way = subtract(_triple(positions, a), _triple(positions, b))
            normal = multiply_vector(_frame(frames, b), _triple(parameters, b))
            other = subtract(_triple(positions, a), scale(dot(normal, way), normal))
            gap = dot(normal, way) - parameters[a, 0]
        else:
            normal, other, gap = _two_spheres(parameters, positions, a, b)
        if not gap <= reach[k]:
            continue
        _write(normal, other, gap, 0, out, count)
        count = _noted(k, 1, count, pair_out)
    return count
