"""Strain rates of elements at given velocities."""

import numpy as np

from pliant.formulas.elements import element_gradient, strain_rate
from pliant.jit import kernel
from pliant.kernels.cpu.elements import IDENTITY, gather_differences
from pliant.kernels.lanes import LANES, load9


@kernel
def subtract_rates(velocity, nodes, gradients, rotation, target_inout):
    """target (groups, 6, LANES) -= J u of every element for velocities (n, 3), identity basis.

    Through differences of velocities, so that a body that moves as a whole has no rate at all, not a rounded one.
    """
    d = np.empty((9, LANES))
    for group in range(nodes.shape[0]):
        gather_differences(velocity, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            d2 = (d[6, lane], d[7, lane], d[8, lane])
            gradient = element_gradient(d0, d1, d2, load9(gradients, group, lane))
            rate = strain_rate(gradient, load9(rotation, group, lane), IDENTITY)
            for c in range(6):
                target_inout[group, c, lane] -= rate[c]
