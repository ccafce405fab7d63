"""Arrays of many scenes of one structure, and what their places mean. A scene is taken by one block of threads, which
has a `slot` of the work arrays.

c scenes of n nodes, m tets, k blocks of joints with e entries of Jacobians in all; s slots. All numbers are float64.
"""

from typing import NamedTuple

# Vectors (s, VECTORS, n, 3) of a scene that is being stepped: velocities of the iterate, of a trial, of the prediction;
# gradient [N s], direction, right side and answer of a linear system; positions where a trial leads.
ITERATE, TRIAL, PREDICTED, GRADIENT, DIRECTION, RIGHT, ANSWER, AHEAD, VECTORS = range(9)
# Rows (s, ROWS, k, 3) of joints: errors at the start and ahead, rates; mobility, compliance, 1 where rigid; targets,
# shifts, impulses, slopes of impulses, impulses foreseen.
START, ERROR, RATE, MOBILITY, SOFT, HARD, GOAL, SHIFT, IMPULSE, SLOPE, FORESEEN, ROWS = range(12)
# What rows are given (c, GIVEN, k, 3): target = BASE + GAIN C; compliance, bounds of impulses [N s]; softness while
# rigid rows are being met, and 1 / reach of rows whose gaps count, else 0.
BASE, GAIN, COMPLIANCE, LOW, HIGH, SOFTNESS, PER_REACH, GIVEN = range(8)
# Of nodes (c, n, NODE): mass [kg], damping in proportion to it [1/s], stiffness [N/m] and damping [N s/m] around it.
MASS, DRAG, STIFFNESS, DAMPING, NODE = range(5)
# Of scenes (c, SCENE): gravity (3), rounding of energies [J].
GRAVITY, BLUR, SCENE = 0, 3, 4
# What a scene reports (c, REPORT): of its last step Newton iterations, linear solves, residual, imbalance, shortest
# part of a correction; elastic energy [J] (no number: not known) and inverted tets at its end; steps taken, status.
ITERATIONS, SOLVES, RESIDUAL, IMBALANCE, SHORTEST, ENERGY, INVERTED, TAKEN, STATUS, REPORT = range(10)
# Status: all steps taken; a step that does not converge here.
DONE, STUCK = 0, 1
# Numbers of a launch: length of the step [s], tolerance, most iterations.
STEP, TOLERANCE, MOST_ITERATIONS, NUMBERS = range(4)
# What a block of threads does next: evaluate, solve, assemble; look at a new iterate, judge it, close gaps, balance,
# iterate once more; nothing.
EVALUATE, SOLVE, MATRIX, LOOK, JUDGE, CLOSE, BALANCE, ITERATE_ANEW, END = range(9)
# What it will be then: at rest; at a start; where joints are made to fit, or back from there; at the end of a
# correction, bent back to joints, along a line, at the best place of it; where gaps are closed, or back from there;
# where impulses are balanced; at the iterate once more. Solved: for these, a direction, the next correction.
(AT_REST, AT_START, FITTING, UNFITTED, AT_END, BENT, ON_LINE, AT_BEST, CLOSING, UNCLOSED, BALANCING, AGAIN, FIT_SOLVED,
 BENT_SOLVED, DIRECTED, ESTIMATED, CLOSE_SOLVED, BALANCE_SOLVED) = range(18)  # fmt: skip
# Numbers that it decides by, each thread its own copy: what to do, what it will be, which vector, what kind of right
# side or matrix. Of the iterate and of what was evaluated last: Phi, its part that gaps of joints make, elastic energy
# [J], inverted tets. Of the line: slope, length, the best length and its Phi. Tries, a gap and the one before it, the
# part of a start, the potential that is allowed. The residual, energies [J] of the next correction, of what lags
# behind, allowed, of outer forces, of rounding. Of the report: iterations, solves, shortest length, imbalance, the end.
(DO, PHASE, WHICH, KIND, VALUE, GAPS, ELASTIC, UPSIDE, NEW, NEW_GAPS, NEW_ELASTIC, NEW_UPSIDE, ALONG, LENGTH, BEST,
 BEST_VALUE, TRIES, OPEN, OPEN_BEFORE, SHARE, MOST, LEFT_OVER, LEFT, LAG, ALLOWED, KICK, ROUNDING, COUNT, SOLVED,
 SHORTEST_LENGTH, OFF, CONVERGED, POSITIVE, MACHINE) = range(34)  # fmt: skip
# How the six stiffness blocks of a tet are stored: pairs of its nodes.
PAIRS = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))


class Structure(NamedTuple):
    """What all scenes have in common.

    tets (m, 4). slot_start (n + 1,), slots: for each node the places 4 tet + corner of its forces. block_start,
    block_place, block_row, block_column, block_codes: for each 3x3 block of the band (its first number, its nodes) the
    places (6 tet + pair) * 4 + 2 negative + transposed of what it is the sum of. pairs (p, 2): of rows below a diagonal
    block. free (n, 3): 0 where pinned.
    """

    tets: object
    slot_start: object
    slots: object
    block_start: object
    block_place: object
    block_row: object
    block_column: object
    block_codes: object
    pairs: object
    free: object


class Scenes(NamedTuple):
    """What each has: law (arrays (c, m)), rest gradients (c, m, 9), volume (c, m), viscous (c, m, 3): beta, lam, mu;
    nodes (c, n, NODE), force (c, n, 3) [N], scene (c, SCENE); rows (c, GIVEN, k, 3)."""

    law: object
    gradients: object
    volume: object
    viscous: object
    nodes: object
    force: object
    scene: object
    rows: object


class Blocks(NamedTuple):
    """Blocks of joints of all scenes, (c k,): as kernels.joints.JointArrays, but `start` (k + 1,) and slices are of one
    scene, and lanes 0; which (c k, 2): the number of a block's coordinate, and for the one
    block that follows it 1 + the row from which it is read."""

    family: object
    a: object
    b: object
    coordinate: object
    which: object
    factor: object
    rest: object
    start: object
    slice: object
    lane: object


class States(NamedTuple):
    """States: x, v, velocities before the last step, what it changed beyond the prediction (c, n, 3); impulses (c, k,
    3); angles (c, f); report (c, REPORT)."""

    x: object
    v: object
    before: object
    change: object
    impulse: object
    angle: object
    report: object


class Work(NamedTuple):
    """Room for the scenes that are being stepped: vectors, rows; forces (s, m, 12), frames (s, m, 9), stiffness (s, m,
    54); band (s, n (w + 1) 9); jacobian (s, e, 9, 1), triples (s, e, 1); bodies (0, 4), which there are none of."""

    vectors: object
    rows: object
    forces: object
    frames: object
    stiffness: object
    band: object
    jacobian: object
    triples: object
    bodies: object


class Many(NamedTuple):
    """All of these."""

    structure: object
    scenes: object
    blocks: object
    states: object
    work: object


class Own(NamedTuple):
    """What a block of threads has at hand: the number of its scene, its slot, the length of the step [s], whether tets
    are damped; the width of the band, the band, and shared memory for sums."""

    scene: object
    slot: object
    h: object
    damped: object
    width: object
    band: object
    shared: object
