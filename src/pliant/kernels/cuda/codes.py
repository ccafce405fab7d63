"""Places in the small arrays through which kernels and host speak: what to do next, numbers of the step, sums.

Kernels that are not to run in a status leave at once; so a step is one graph of launches, and the host looks at the
status when it is through.
"""

# What the step is at. A kernel runs if its bit is in the mask it is launched with.
REST = 0  # evaluating the start without motion
START = 1  # evaluating the start of the iterations
ITERATE = 2  # the matrix of the present point is wanted
TRYING = 3  # a trial of the line search is to be evaluated
ESTIMATE = 4  # the next correction is to be estimated with the present matrix
BALANCE = 5  # the estimated correction is to be taken, for forces are not in balance yet
DONE = 6  # converged, or out of iterations
STATUSES = 7


def mask(*statuses: int) -> int:
    """The bits of statuses."""
    return sum(1 << status for status in statuses)


# Numbers of a step, float64. Set by the host:
STEP, TOLERANCE, MOST_ITERATIONS, GRAVITY = 0, 1, 2, 3  # h [s]; gravity: three numbers [m/s2]
FRESH = 6  # whether the last change of velocity is that of the step before, or as it was uploaded
KNOWN = 7  # whether the energy of the start is that of the end of the step before
EXTRAPOLATED = 8  # whether v is the velocity before the step as uploaded, not the one that the step starts from
PARAMETERS = 9
# kept and written by kernels:
SHARE, MOST, VALUE, SLOPE, SIZE, LAST_SIZE, FACTOR, BEST_FACTOR, BEST_VALUE, ATTEMPT = range(9, 19)
ITERATIONS, PRODUCTS, PASSES, RESIDUAL, IMBALANCE, CONVERGED, SHORTEST, PROJECT = range(19, 27)
LAST_ENERGY, WHOLE_BEFORE, SLOW, CONDITION, LEAST, SCALE, ENERGY, INVERTED = range(27, 35)
MOTION, CROSS, HEAVY, SQUARE, INDEFINITE, FINAL, TRIALS, FIRST_PASSES, FAILED = range(35, 44)
# whether a correction is at hand; how many were taken; 1 to take it, 0 to go back
CORRECTED, BALANCINGS, TAKING = range(44, 47)
NUMBERS = 48

# Sums over nodes that come with a gradient g = M (u - u*) + h f.
S_INERTIA, S_KICK, S_CHANGE, S_ALL, S_LOCAL, S_END, S_SQUARE = range(7)
S_BALANCE, S_OWN, S_APPLIED, S_ELASTIC, S_ROUNDING, S_FLOOR = range(7, 13)
NODE_SUMS = 13
# Sums at the end of conjugate gradients: slope g.d, u^T K u, d^T K u, d^T M d.
T_SLOPE, T_MOTION, T_CROSS, T_HEAVY = range(4)
TAIL_SUMS = 4

# Components of a node's record (chunks, RECORD, WARP) float32: direction; inverse and present diagonal block (xx, yy,
# zz, yz, xz, xy; a prescribed component has nothing in its inverse); arm from the centre of its aggregate; 1 where it
# is free; right side.
X, DINV, ARM, FREE, B, DIAG, RECORD = 0, 3, 9, 12, 15, 18, 24
RECORD_WIDTH = RECORD * 32
