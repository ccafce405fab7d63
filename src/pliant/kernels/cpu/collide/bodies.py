"""Where rigid bodies are for collision: frames of their shapes, boxes around them; which contacts may close soon."""

import math

from pliant.formulas.matrix3 import add, cross, dot, multiply_vector, norm, scale, subtract
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply
from pliant.jit import kernel
from pliant.kernels.cpu.collide.solids import core_of, reach_along, rounding
from pliant.kernels.shapes import MESH, PLANE

# A little more than one, so that rounding loses no contact.
ROUNDED = 1.0 + 1e-9
# By how much the cosine of a normal with the way between two bodies may be off, as iterations find it.
SKEW = 1e-6


@kernel
def _triple(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def shape_frames(position, rotation, principal, centre, origin_out, frame_out):
    """Origins (b, 3) and rotation matrices (b, 9) of the shapes of bodies: the state turns principal axes about centres
    of mass, which lie at `centre` (b, 3) in the shapes' frames."""
    for i in range(len(position)):
        q = (rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3])
        p = (principal[i, 0], -principal[i, 1], -principal[i, 2], -principal[i, 3])
        frame = quaternion_matrix(quaternion_multiply(q, p))
        origin = subtract(_triple(position, i), multiply_vector(frame, _triple(centre, i)))
        for c in range(9):
            frame_out[i, c] = frame[c]
        for c in range(3):
            origin_out[i, c] = origin[c]


@kernel
def body_boxes(code, parameter, index, hulls, origin, frame, margin, low_out, high_out):
    """Boxes (b, 3) around convex bodies, wider by a margin (b,) [m]; infinite around planes, empty around meshes."""
    for i in range(len(code)):
        empty, infinite = code[i] == MESH, code[i] == PLANE
        p = (parameter[i, 0], parameter[i, 1], parameter[i, 2], parameter[i, 3])
        solid = (code[i], p, index[i], hulls.points)
        core = core_of(solid, hulls, 0.0)
        for c in range(3):
            if empty or infinite:
                low_out[i, c], high_out[i, c] = (-math.inf, math.inf) if infinite else (math.inf, -math.inf)
                continue
            d = (frame[i, 3 * c], frame[i, 3 * c + 1], frame[i, 3 * c + 2])
            wide = rounding(solid) + margin[i]
            high_out[i, c] = origin[i, c] + reach_along(core, hulls.points, d) + wide
            low_out[i, c] = origin[i, c] - reach_along(core, hulls.points, (-d[0], -d[1], -d[2])) - wide


@kernel
def plane_equations(planes, parameter, origin, frame, normal_out, height_out):
    """Normals (p, 3) of planes, and their heights (p,) [m] along these."""
    for k in range(len(planes)):
        i = planes[k]
        height = 0.0
        for c in range(3):
            along = 0.0
            for j in range(3):
                along += frame[i, 3 * c + j] * parameter[i, j]
            normal_out[k, c] = along
            height += along * origin[i, c]
        height_out[k] = height


@kernel
def closing(
    node, weight, body, point, normal, gap, slack, velocity, body_position, node_count, h, acceleration, stopped, out
):
    """Whether contacts may close soon, out (k,): within two steps of h [s] at the present velocities (triples, 3), or
    their gap is below the slack (k,) [m] already; stopped: or within one step, also if either body were stopped now."""
    for k in range(len(gap)):
        n, approach, alone = _triple(normal, k), 0.0, 0.0
        for j in range(4):
            if node[k, j] >= 0:
                approach += weight[k, j] * dot(n, _triple(velocity, node[k, j]))
        for side in range(2):
            b = body[k, side]
            if b >= 0:
                first = node_count + 2 * b
                arm = subtract(_triple(point, k), _triple(body_position, b))
                speed = add(_triple(velocity, first), cross(_triple(velocity, first + 1), arm))
                own = (1.0 - 2.0 * side) * dot(n, speed)
                approach += own
                alone += min(own, 0.0)
        soon = 0.5 * min(approach, alone) if stopped else min(approach, 0.0)
        out[k] = gap[k] + 2.0 * h * (soon - h * acceleration) <= slack[k]


@kernel
def _fastest_closing(way, distance, velocity, least):
    """The largest speed [m/s] with which a gap may close along a normal that has at least the part `least` of the way,
    `distance` [m] long, from the second of two bodies to the first, which moves so against it."""
    speed, along = norm(velocity), dot(way, velocity) / distance
    cosine = min(max(least, -1.0), 1.0)
    if -along >= cosine * speed:
        return speed
    across = math.sqrt(max(speed * speed - along * along, 0.0))
    return max(across * math.sqrt(1.0 - cosine * cosine) - along * cosine, 0.0)


@kernel
def closing_pairs(
    pairs, position, velocity, spin, radius, inner, lever, slack, reach, h, acceleration, stopped, pairs_out, reach_out
):
    """The pairs (k, 2) of bodies, within their reaches (b,) [m] of each other, whose contacts `closing` may keep by how
    they move against each other, and up to what gap (k,) [m]; how many. radius, inner (b,) [m]: of balls around them,
    infinite for planes, and in them; lever (b,) [m]: how far normals pass their centres by, at most; slack (b,) [m]: 0
    for none; stopped: as there.

    A normal has as much of the way between two centres as there is of both bodies and of the gap along it; where they
    overlap, no direction has a smaller overlap than it, neither has the way.
    """
    count = 0
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        within, gap = reach[a] + reach[b], -math.inf
        if math.isfinite(radius[a]) and math.isfinite(radius[b]):
            way = subtract(_triple(position, a), _triple(position, b))
            against = subtract(_triple(velocity, a), _triple(velocity, b))
            distance = max(norm(way), 1e-300)
            gap = distance - radius[a] - radius[b]
            least = (gap + inner[a] + inner[b]) / distance - SKEW
            speed = _fastest_closing(way, distance, against, least)
            if stopped:
                alone = _fastest_closing(way, distance, _triple(velocity, a), least)
                alone += _fastest_closing(way, distance, scale(-1.0, _triple(velocity, b)), least)
                speed = 0.5 * max(speed, alone)
            for body in (a, b):
                if lever[body] > 0.0:
                    turning = norm(_triple(spin, body)) * (lever[body] + within)
                    speed += 0.5 * turning if stopped else turning
            near = min(slack[a], slack[b]) if slack[a] > 0.0 and slack[b] > 0.0 else max(slack[a], slack[b])
            within = min(within, ROUNDED * (near + 2.0 * h * (speed + h * acceleration)))
        if gap <= within:
            pairs_out[count, 0], pairs_out[count, 1], reach_out[count] = a, b, within
            count += 1
    return count


@kernel
def places_of_points(points, body, position, rotation, out):
    """Where points (m, 3) fixed in the principal frames of bodies (m,) are."""
    for k in range(len(points)):
        b = body[k]
        frame = quaternion_matrix((rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3]))
        p = add(_triple(position, b), multiply_vector(frame, _triple(points, k)))
        out[k, 0], out[k, 1], out[k, 2] = p[0], p[1], p[2]
