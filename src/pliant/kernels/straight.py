"""What a step of rigid bodies in joints that is done after one iteration is computed from, as compiled loops see it."""

from typing import NamedTuple

import numpy as np

from pliant.kernels.joints import CoordinateArrays, JointArrays
from pliant.kernels.matrices import BlockFactor


class TreeArrays(NamedTuple):
    """What is fixed about bodies in joints, and about their linear system.

    blocks, coordinates: of joints; watched (k,): coordinates that blocks act on; points (k,): blocks whose forces act
    at their anchors; reach (n,) [m]; per_reach, per_range (slices, LANES), tangents (slices, 3, LANES), as
    rows.joints.JointBlocks has them; softness (slices, 3, LANES): of rows.softness. mass (b,), static (b,), free
    (triples, 3): of bodies. order, column_start, row, parent, start, diagonal, pairs: of the pattern of the matrix
    (linalg.block_ldl, solve.newton.factor_pattern).
    """

    blocks: JointArrays
    coordinates: CoordinateArrays
    watched: np.ndarray
    points: np.ndarray
    reach: np.ndarray
    per_reach: np.ndarray
    per_range: np.ndarray
    tangents: np.ndarray
    softness: np.ndarray
    mass: np.ndarray
    static: np.ndarray
    free: np.ndarray
    order: np.ndarray
    column_start: np.ndarray
    row: np.ndarray
    parent: np.ndarray
    start: np.ndarray
    diagonal: np.ndarray
    pairs: np.ndarray


class TreeRoom(NamedTuple):
    """Memory to compute in: mass, assembled (triples, 3, 3); push, gradient, direction, right, left (triples, 3);
    weight (triples, 3), stiffness (triples,); mobility, compliance, shift, target, impulse, error, rate, change, ahead
    (slices, 3, LANES), hard (slices, 3, LANES) bool, curvature, foreseen (slices, 6, LANES), slip (slices, LANES); turn
    (b, 3), pose; values (k, 3, 3), inverse (triples, 6), factors: of the matrix."""

    mass: np.ndarray
    assembled: np.ndarray
    push: np.ndarray
    gradient: np.ndarray
    direction: np.ndarray
    right: np.ndarray
    left: np.ndarray
    weight: np.ndarray
    stiffness: np.ndarray
    mobility: np.ndarray
    compliance: np.ndarray
    shift: np.ndarray
    target: np.ndarray
    impulse: np.ndarray
    error: np.ndarray
    rate: np.ndarray
    change: np.ndarray
    ahead: np.ndarray
    hard: np.ndarray
    curvature: np.ndarray
    foreseen: np.ndarray
    slip: np.ndarray
    turn: np.ndarray
    pose: tuple
    values: np.ndarray
    inverse: np.ndarray
    factors: BlockFactor


class TreeStep(NamedTuple):
    """What is given in a step: pose at its start (State.pose); rows: start, triples, jacobian, target, low, high,
    friction, compliance of the table; error (slices, 3, LANES): from where rates of joints count; first, predicted,
    before (triples, 3): velocities to start from, those of outer forces alone, those before the step; kick (triples,
    3): what outer forces change them by; inverse_mass (triples, 6)."""

    pose: tuple
    rows: tuple
    error: np.ndarray
    first: np.ndarray
    predicted: np.ndarray
    before: np.ndarray
    kick: np.ndarray
    inverse_mass: np.ndarray


class Thresholds(NamedTuple):
    """When a step goes straight and is done; every number is the one of that name in solve.newton and rows.potential.

    tolerance: of the step; fitted, closed: gaps with which it may begin and end; little: what kinks may leave;
    sufficient, overshoot: of the line search; promising: of the estimate; imbalance: at its end; rounding: of energies;
    size [m]: of the scene, of which errors of joints are rounded by the part `blur`; steady: of velocities;
    no_mobility, no_impulse, no_row: of rows that move nothing; stiff_part: of row_mismatch; unique [rad]: the most that
    bodies may turn.
    """

    tolerance: float
    fitted: float
    closed: float
    little: float
    sufficient: float
    overshoot: float
    promising: float
    imbalance: float
    rounding: float
    size: float
    blur: float
    steady: float
    no_mobility: float
    no_impulse: float
    no_row: float
    stiff_part: float
    unique: float
