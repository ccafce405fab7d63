"""A spring between two nodes (C eq. 1.1-1.4): psi = k/2 (L - L0)^2."""

import math

from pliant.jit import formula

# Length [m] below which a spring has no direction.
SHORTEST = 1e-12


@formula
def spring_axis(d):
    """Unit vector along d (3) and its length."""
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    scale = 1.0 / max(length, SHORTEST)
    return (d[0] * scale, d[1] * scale, d[2] * scale), length


@formula
def spring_moduli(length, rest, stiffness):
    """Stiffness [N/m] along the axis, k, and across it, k (1 - L0/L): negative where the spring is pressed."""
    return stiffness, stiffness * (1.0 - rest / max(length, SHORTEST))


@formula
def spring_block(n, along, across):
    """along n n^T + across (I - n n^T), as xx, yy, zz, yz, xz, xy."""
    more = along - across
    return (
        across + more * n[0] * n[0],
        across + more * n[1] * n[1],
        across + more * n[2] * n[2],
        more * n[1] * n[2],
        more * n[0] * n[2],
        more * n[0] * n[1],
    )
