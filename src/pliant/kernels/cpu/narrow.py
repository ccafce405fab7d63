"""Narrow phase: nodes and sample points against the distance functions of rigid shapes; capsule against capsule."""

import numpy as np

from pliant.formulas.contact import closest_on_segments
from pliant.formulas.matrix3 import add, cross, dot, multiply_vector, norm, scale, subtract, transpose_multiply_vector
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply
from pliant.jit import kernel
from pliant.kernels.cpu.shapes import shape_distance

# Tilt (sine) below which a cylinder stands on fixed points of its rim.
UPRIGHT = 0.01


@kernel
def _triple(a):
    return (a[0], a[1], a[2])


@kernel
def _shape_frame(rotation, principal):
    """Rotation matrix from the shape's frame to the world: the state turns principal axes."""
    q = (rotation[0], rotation[1], rotation[2], rotation[3])
    p = (principal[0], -principal[1], -principal[2], -principal[3])
    return quaternion_matrix(quaternion_multiply(q, p))


@kernel
def _point_velocity(velocity, angular, arm):
    return add(_triple(velocity), cross(_triple(angular), arm))


@kernel
def _closes(gap, approach, h, slack, acceleration):
    """Whether a gap may close soon: within two steps at the present speed, or it is below the slack already."""
    return gap + 2.0 * h * (min(approach, 0.0) - h * acceleration) <= slack


@kernel
def nodes_against_body(
    nodes, x, v, code, parameter, position, rotation, principal, velocity, angular, h, slack, acceleration
):
    """Contacts of soft nodes with one rigid body: node, point, normal, gap."""
    frame, centre = _shape_frame(rotation, principal), _triple(position)
    count = 0
    node_out = np.empty(len(nodes), np.int64)
    point_out, normal_out, gap_out = np.empty((len(nodes), 3)), np.empty((len(nodes), 3)), np.empty(len(nodes))
    for k in range(len(nodes)):
        p = _triple(x[nodes[k]])
        arm = subtract(p, centre)
        gap, local_normal = shape_distance(code, parameter, transpose_multiply_vector(frame, arm))
        n = multiply_vector(frame, local_normal)
        approach = dot(n, subtract(_triple(v[nodes[k]]), _point_velocity(velocity, angular, arm)))
        if _closes(gap, approach, h, slack, acceleration):
            node_out[count], gap_out[count] = nodes[k], gap
            for c in range(3):
                point_out[count, c], normal_out[count, c] = p[c], n[c]
            count += 1
    return node_out[:count], point_out[:count], normal_out[:count], gap_out[:count]


@kernel
def cylinder_points(rim, parameter, normal, rotation_a, principal_a, rotation_b, principal_b):
    """Points (k, 3) of cylinder a, in its principal frame, that may meet plane b.

    Standing upright: the fixed points of both rims. Tilted or lying: of each rim the deepest point and those a quarter
    and half a turn from it, wherever they are on the body, so that the cylinder rolls as a circle and not as a polygon.
    """
    frame_a, frame_b = _shape_frame(rotation_a, principal_a), _shape_frame(rotation_b, principal_b)
    n = transpose_multiply_vector(frame_a, multiply_vector(frame_b, _triple(normal)))
    tilt = (n[0] * n[0] + n[1] * n[1]) ** 0.5
    if tilt < UPRIGHT:
        return rim
    x, y = -parameter[0] * n[0] / tilt, -parameter[0] * n[1] / tilt
    to_principal = quaternion_matrix((principal_a[0], -principal_a[1], -principal_a[2], -principal_a[3]))
    out = np.empty((8, 3))
    for k in range(8):
        p = multiply_vector(to_principal, (x, y, parameter[1] if k < 4 else -parameter[1]))
        out[k, 0], out[k, 1], out[k, 2] = p[0], p[1], p[2]
        x, y = -y, x
    return out


@kernel
def points_against_body(
    points,
    radius,
    position_a,
    rotation_a,
    code,
    parameter,
    position_b,
    rotation_b,
    principal_b,
    velocity_a,
    angular_a,
    velocity_b,
    angular_b,
    h,
    slack,
    acceleration,
):
    """Contacts of sample points (in a's principal frame) with body b: feature, point, normal, gap."""
    q = (rotation_a[0], rotation_a[1], rotation_a[2], rotation_a[3])
    frame_a, frame_b = quaternion_matrix(q), _shape_frame(rotation_b, principal_b)
    a, b = _triple(position_a), _triple(position_b)
    count = 0
    feature_out = np.empty(len(points), np.int64)
    point_out, normal_out, gap_out = np.empty((len(points), 3)), np.empty((len(points), 3)), np.empty(len(points))
    for k in range(len(points)):
        p = add(a, multiply_vector(frame_a, _triple(points[k])))
        distance, local_normal = shape_distance(code, parameter, transpose_multiply_vector(frame_b, subtract(p, b)))
        gap, n = distance - radius, multiply_vector(frame_b, local_normal)
        p = subtract(p, scale(radius, n))
        speed_a = _point_velocity(velocity_a, angular_a, subtract(p, a))
        approach = dot(n, subtract(speed_a, _point_velocity(velocity_b, angular_b, subtract(p, b))))
        if _closes(gap, approach, h, slack, acceleration):
            feature_out[count], gap_out[count] = k, gap
            for c in range(3):
                point_out[count, c], normal_out[count, c] = p[c], n[c]
            count += 1
    return feature_out[:count], point_out[:count], normal_out[:count], gap_out[:count]


@kernel
def capsule_pair(
    parameter_a,
    parameter_b,
    position_a,
    rotation_a,
    position_b,
    rotation_b,
    principal_a,
    principal_b,
    velocity_a,
    angular_a,
    velocity_b,
    angular_b,
    h,
    slack,
    acceleration,
):
    """Contact of two capsules: feature, point, normal, gap. Nearly parallel ones touch at both ends of the overlap."""
    frame_a, frame_b = _shape_frame(rotation_a, principal_a), _shape_frame(rotation_b, principal_b)
    a, b = _triple(position_a), _triple(position_b)
    u = scale(parameter_a[1], (frame_a[2], frame_a[5], frame_a[8]))
    v = scale(parameter_b[1], (frame_b[2], frame_b[5], frame_b[8]))
    s, t = closest_on_segments(a, u, b, v)
    candidates = np.empty((3, 2))
    candidates[0, 0], candidates[0, 1] = s, t
    size = 1
    if dot(u, u) > 0.0 and dot(v, v) > 0.0 and norm(cross(u, v)) < 0.02 * norm(u) * norm(v):
        size = 3
        for end in range(2):
            s = -1.0 + 2.0 * end
            t = min(max(dot(v, subtract(add(a, scale(s, u)), b)) / dot(v, v), -1.0), 1.0)
            s = min(max(dot(u, subtract(add(b, scale(t, v)), a)) / dot(u, u), -1.0), 1.0)
            candidates[1 + end, 0], candidates[1 + end, 1] = s, t
    count = 0
    feature_out = np.empty(3, np.int64)
    point_out, normal_out, gap_out = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for k in range(1 if size == 3 else 0, size):
        pa, pb = add(a, scale(candidates[k, 0], u)), add(b, scale(candidates[k, 1], v))
        d = subtract(pa, pb)
        length = norm(d)
        n = scale(1.0 / length, d) if length > 1e-12 else (0.0, 0.0, 1.0)
        gap = length - parameter_a[0] - parameter_b[0]
        p = subtract(pa, scale(parameter_a[0], n))
        speed_a = _point_velocity(velocity_a, angular_a, subtract(p, a))
        approach = dot(n, subtract(speed_a, _point_velocity(velocity_b, angular_b, subtract(p, b))))
        if _closes(gap, approach, h, slack, acceleration):
            feature_out[count], gap_out[count] = k, gap
            for c in range(3):
                point_out[count, c], normal_out[count, c] = p[c], n[c]
            count += 1
    return feature_out[:count], point_out[:count], normal_out[:count], gap_out[:count]
