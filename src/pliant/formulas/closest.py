"""Points of segments and triangles that are closest to the origin, with their weights.

Weights are never negative, so that every answer is a point of the simplex, however flat it is. A point inside a
triangle is computed along its normal, not from the weights: its direction is then right to the last digits.
"""

from pliant.formulas.matrix3 import add, cross, dot, scale, subtract
from pliant.jit import formula

# Sine (squared) of an angle below which a triangle counts as a segment.
FLAT = 1e-24


@formula
def closest_on_segment(a, b):
    """Point of the segment ab closest to the origin, and the weight of b."""
    edge = subtract(b, a)
    square = dot(edge, edge)
    weight = -dot(a, edge) / square if square > 0.0 else 0.0
    weight = min(max(weight, 0.0), 1.0)
    inside = add(a, scale(weight, edge))
    late = weight == 1.0
    return ((b[0] if late else inside[0]), (b[1] if late else inside[1]), (b[2] if late else inside[2])), weight


@formula
def triangle_weights(a, b, c):
    """Weights (3) of the origin's projection on the plane of abc, its normal b-a x c-a, and that square (0 if flat)."""
    one, two = subtract(b, a), subtract(c, a)
    normal = cross(one, two)
    square = dot(normal, normal)
    square = square if square > FLAT * dot(one, one) * dot(two, two) else 0.0
    inverse = 1.0 / square if square > 0.0 else 0.0
    second = dot(cross(two, a), normal) * inverse
    third = dot(cross(a, one), normal) * inverse
    return (1.0 - second - third, second, third), normal, square
