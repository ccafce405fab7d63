"""The signed distance to any rigid shape."""

from pliant.formulas.contact import box_distance, capsule_distance, cylinder_distance, sphere_distance
from pliant.jit import kernel
from pliant.kernels.shapes import BOX, CAPSULE, CYLINDER, SPHERE


@kernel
def shape_distance(code, parameter, p):
    """Signed distance [m] and outward normal of a point in the shape's frame."""
    if code == SPHERE:
        return sphere_distance(p, parameter[0])
    if code == BOX:
        return box_distance(p, (parameter[0], parameter[1], parameter[2]))
    if code == CAPSULE:
        return capsule_distance(p, parameter[0], parameter[1])
    if code == CYLINDER:
        return cylinder_distance(p, parameter[0], parameter[1])
    n = (parameter[0], parameter[1], parameter[2])
    return p[0] * n[0] + p[1] * n[1] + p[2] * n[2], n
