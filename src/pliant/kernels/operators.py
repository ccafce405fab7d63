"""Operators on impulses and contacts with friction as named tuples; a device compiles its loops for each kind."""

from typing import NamedTuple

import numpy as np

from pliant.kernels.matrices import BlockFactor


class DenseOperator(NamedTuple):
    """A dense symmetric matrix (n, n)."""

    matrix: np.ndarray
    scale: np.ndarray


class SystemOperator(NamedTuple):
    """J M^-1 J^T + R of elements and row slices, matrix-free; see kernels.cpu.system for the layout.

    nodes (groups, 4, LANES), gradients, rotation (groups, 9, LANES), compliance (groups, 2, LANES), basis (9,),
    ones (3,): elements. start (slices + 1), triples (entries, LANES), jacobian (entries, 9, LANES),
    compliance_rows (slices, 3, LANES): rows. adjacency*: slots of each triple. inverse_mass (triples, 6).
    velocity (triples, 3), slots: work space.
    """

    nodes: np.ndarray
    gradients: np.ndarray
    rotation: np.ndarray
    compliance: np.ndarray
    basis: np.ndarray
    ones: np.ndarray
    start: np.ndarray
    triples: np.ndarray
    jacobian: np.ndarray
    compliance_rows: np.ndarray
    adjacency_start: np.ndarray
    adjacency: np.ndarray
    row_adjacency_start: np.ndarray
    row_adjacency: np.ndarray
    inverse_mass: np.ndarray
    scale: np.ndarray
    velocity: np.ndarray
    slots: np.ndarray


class EliminatedOperator(NamedTuple):
    """J A^-1 J^T + R over row slices, A the factorised matrix of the nodes; `rows` has no elements and gathers
    forces."""

    rows: SystemOperator
    factor: BlockFactor
    scale: np.ndarray


class Friction(NamedTuple):
    """Contacts with friction: indices of the normal and the two tangent rows in the impulse vector, mu, and the law.

    diagonal (contacts,): the larger diagonal entry of A in the two tangent rows, unscaled.
    """

    normal: np.ndarray
    first: np.ndarray
    second: np.ndarray
    coefficient: np.ndarray
    diagonal: np.ndarray
    cone: bool


def no_friction(dtype=np.float64) -> Friction:
    """No frictional contact at all."""
    index = np.zeros(0, np.int64)
    return Friction(index, index, index, np.zeros(0, dtype), np.zeros(0, dtype), True)
