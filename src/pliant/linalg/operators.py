"""Linear operators as named tuples of arrays, with one compiled `apply` for each kind.

Iterative methods (mprgp, pgs) are written once and compiled for the operator they are given. Every operator carries a
diagonal `scale` (split Jacobi preconditioning, BV 3.5): what it applies is scale A scale.
"""

import numpy as np

from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.kernels.operators import SystemOperator


def rows_only(device: Device, triple_count: int, table, compliance, inverse_mass, diagonal, dtype) -> SystemOperator:
    """The operator of a row table without elements; diagonal: that of J M^-1 J^T + R, unscaled, for the scaling."""
    start, offsets = device.adjacency.slot_adjacency(table.triples, table.jacobian, 0, triple_count)
    no_elements = np.zeros((0, 9, LANES), dtype)
    return SystemOperator(
        nodes=np.zeros((0, 4, LANES), np.int32),
        gradients=no_elements,
        rotation=no_elements,
        compliance=np.zeros((0, 2, LANES), dtype),
        basis=np.zeros(9, dtype),
        ones=np.zeros(3, dtype),
        start=table.start,
        triples=table.triples,
        jacobian=table.jacobian.astype(dtype),
        compliance_rows=compliance.astype(dtype),
        adjacency_start=np.zeros(triple_count + 1, np.int64),
        adjacency=np.zeros(0, np.int64),
        row_adjacency_start=start,
        row_adjacency=offsets,
        inverse_mass=inverse_mass.astype(dtype),
        scale=(1 / np.sqrt(diagonal)).ravel().astype(dtype),
        velocity=np.empty((triple_count, 3), dtype),
        slots=np.zeros(table.triples.size * 3 + 1, dtype),
    )
