"""Farthest points of convex shapes along a direction, and shapes shrunk by a margin; each in its own frame.

Spheres, capsules, cylinders and cones are one family: the hull of two discs across z, (radius and height of the lower,
radius and height of the upper), rounded by a radius where they are round.
"""

import math

from pliant.jit import formula


@formula
def box_support(half, d):
    """Corner of a box with half sizes `half` that is farthest along d."""
    return (
        half[0] if d[0] >= 0.0 else -half[0],
        half[1] if d[1] >= 0.0 else -half[1],
        half[2] if d[2] >= 0.0 else -half[2],
    )


@formula
def discs_support(discs, d):
    """Point of the hull of two discs (r0, z0, r1, z1) that is farthest along d; along z, a disc's centre."""
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    upper = discs[2] * across + discs[3] * d[2] > discs[0] * across + discs[1] * d[2]
    radius, height = (discs[2] if upper else discs[0]), (discs[3] if upper else discs[1])
    share = radius / across if across > 0.0 else 0.0
    return (share * d[0], share * d[1], height)


@formula
def side_normal(discs):
    """Outward normal (across, along z) of the side of two discs; across only where they are one."""
    rise, taper = discs[3] - discs[1], discs[0] - discs[2]
    length = math.sqrt(rise * rise + taper * taper)
    return (rise / length if length > 0.0 else 1.0), (taper / length if length > 0.0 else 0.0)


@formula
def shrunk_discs(discs, margin):
    """The hull of two discs with its planes and its side moved inwards; the upper disc is at most as wide as the lower.

    A cone stays a cone: its side ends where it meets the axis.
    """
    across, along = side_normal(discs)
    low, high = discs[1] + margin, discs[3] - margin
    slope = along / across
    r0 = discs[0] - margin * slope - margin / across
    r1 = discs[0] + (discs[1] - high) * slope - margin / across
    pointed = r1 <= 0.0
    apex = low + r0 / slope if pointed else high
    return (r0, low, 0.0 if pointed else r1, apex)
