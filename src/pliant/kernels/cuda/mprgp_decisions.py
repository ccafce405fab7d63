"""What MPRGP decides from sums alone (twin of kernels.cpu.linalg.mprgp), written on an array of numbers, so that the
host can run it as well. An action is what is done next with all rows; sums come from it."""

import math

from pliant.jit import formula

# Actions: those with a product; then a move along the last one; the beginning; what contacts do; passes without bounds.
POWER, FIRST, START, STEP, RELEASE, EXPAND, SLOPE = range(7)
MOVED, BEGIN, BOUNDS, MEASURE, DISCS, GLIDE, DONE = range(7, 14)

# Numbers: set by the host,
TOLERANCE, MOST, POWERS, BOUNDED, ROUGH, CONE = range(6)
PARAMETERS = 6
# decided,
ACTION, FACTOR, ALPHA, LENGTH, BETA, EXPANSION, RELAXATION = range(6, 13)
# remembered,
TARGET, REFERENCE, GOAL, LAST, FINAL, CURVATURE, CONJUGATE, NEAR, BEGUN, POWERED, BEST, SINCE, GAMMA = range(13, 26)
# found,
PRODUCTS, RESIDUAL, REFRESHES, FALLEN = range(26, 30)
# and the sums of a gradient: squares of its free and of its chopped part, the free one times the product, reduced
# products of both.
FREE, CHOPPED, ALONG, REDUCED_FREE, REDUCED_CHOPPED = range(30, 35)
NUMBERS = 35
# How many sums there are at most; the least room along a direction comes behind them.
SUMS = ROOM = 5

# The constants of the twin; tests compare them.
STEP_FRACTION, REFRESH_FACTOR, MAX_REFRESHES, PATIENCE, LEAST_RELAXATION = 1.6, 0.1, 200, 6, 0.1
REFRESH_SHARE, LATE = 0.7, 10.0


@formula
def decide(n, sums, room):
    """Takes up the sums of an action, and says which comes next."""
    action = int(n[ACTION])
    if action == GLIDE:
        glided(n, sums[0], sums[1])
    elif action in (STEP, RELEASE):
        stepped(n, sums, room)
    elif action in (START, MOVED, EXPAND):
        seen(n, sums, action)
    elif action == BEGIN:
        began(n, sums)
    elif action == POWER:
        powered(n, sums)
    elif action == FIRST:
        n[ACTION] = BOUNDS
    elif action == SLOPE:
        n[PRODUCTS] += 1.0
        n[ACTION] = GLIDE
    elif action == BOUNDS:
        n[ACTION] = START
    elif action == MEASURE:
        measured(n, math.sqrt(sums[0]))
    else:
        n[ACTION] = DONE


@formula
def began(n, sums):
    """Sums: squares of the right side and of the direction of power iterations."""
    n[REFERENCE] = math.sqrt(sums[0]) if sums[0] > 0.0 else 1.0
    n[TARGET] = n[TOLERANCE] * n[REFERENCE]
    n[FACTOR], n[ALPHA], n[RELAXATION] = 1.0 / math.sqrt(max(sums[1], 1e-300)), 1.0, 1.0
    n[PRODUCTS] = n[REFRESHES] = n[FALLEN] = n[POWERED] = n[SINCE] = n[BETA] = n[BEGUN] = n[LAST] = n[FINAL] = 0.0
    n[LENGTH] = n[GAMMA] = 1.0
    n[BEST] = math.inf
    n[ACTION] = POWER if n[BOUNDED] != 0.0 else START


@formula
def powered(n, sums):
    """The sum: square of the product with a direction of unit length."""
    value = math.sqrt(sums[0])
    n[POWERED] += 1.0
    n[FACTOR] = 1.0 / value if value > 0.0 else 1.0
    if value == 0.0 or n[POWERED] >= n[POWERS]:
        n[ALPHA] = STEP_FRACTION / value if value > 0.0 else STEP_FRACTION
        n[ACTION] = FIRST if n[ROUGH] != 0.0 else START


@formula
def seen(n, sums, action):
    """The gradient of a new point is known."""
    for k in range(5):
        n[FREE + k] = sums[k]
    n[PRODUCTS] += 0.0 if action == MOVED else 1.0
    n[BETA] = n[ALONG] / n[CURVATURE] if action == MOVED and n[CONJUGATE] != 0.0 else 0.0
    if action == START and n[ROUGH] != 0.0:
        n[ACTION] = MEASURE
        return
    if action == START:
        n[GOAL], n[LAST], n[BEGUN] = n[TARGET], 1.0, 0.0
    if n[BOUNDED] == 0.0:
        n[ACTION] = SLOPE
        return
    check(n)


@formula
def glided(n, square, curve):
    """Conjugate gradients without bounds, whose sums come at once: squares of the gradient and of its curvature. The
    end is believed of a gradient that was made anew, or that is hardly smaller than the last one of these. GAMMA and
    CURVATURE hold one over the last square and over it times the last step, so that one division waits for no other."""
    begun, goal, products, inverse, of_step = n[BEGUN] != 0.0, n[GOAL], n[PRODUCTS], n[GAMMA], n[CURVATURE]
    beta = square * inverse if begun else 0.0
    curvature = curve - square * square * of_step if begun else curve
    step, over_square = square / curvature, 1.0 / square
    stuck = not begun and math.sqrt(square) > 0.5 * n[BEST]
    if not begun:
        n[BEST] = math.sqrt(square)
    if square <= goal * goal or stuck or products >= n[MOST] or not curvature > 0.0:
        n[RESIDUAL] = math.sqrt(square) / n[REFERENCE]
        n[ACTION] = START if begun and products < n[MOST] else DONE
        return
    n[FALLEN] += step * square if square <= LATE * LATE * goal * goal else 0.0
    n[BETA], n[LENGTH], n[GAMMA], n[CURVATURE] = beta, step, over_square, curvature * over_square * over_square
    n[BEGUN], n[PRODUCTS] = 1.0, products + 1.0


@formula
def measured(n, left):
    """With friction, whether Coulomb's law holds; else how exactly to solve for the present bounds."""
    if n[FINAL] != 0.0 or (left <= n[TARGET] and n[PRODUCTS] < REFRESH_SHARE * n[MOST]):
        n[RESIDUAL], n[ACTION] = left / n[REFERENCE], DONE if n[FINAL] != 0.0 else DISCS
        return
    n[GOAL], n[LAST] = n[TARGET], 1.0
    if n[PRODUCTS] < REFRESH_SHARE * n[MOST]:
        # normal and tangent impulses chase each other in a circle: follow with shorter steps, in the end not at all
        n[SINCE] = 0.0 if left < n[BEST] else n[SINCE] + 1.0
        n[BEST] = min(n[BEST], left)
        if n[SINCE] == PATIENCE:
            n[RELAXATION], n[SINCE] = 0.5 * n[RELAXATION], 0.0
        if n[RELAXATION] >= LEAST_RELAXATION and n[REFRESHES] < MAX_REFRESHES:
            n[GOAL], n[LAST] = max(0.1 * n[TARGET], REFRESH_FACTOR * left), 0.0
    n[FALLEN] = n[BEGUN] = n[BETA] = 0.0
    check(n)


@formula
def check(n):
    """Whether the problem with the present bounds is solved, or which step comes next."""
    square = n[FREE] + n[CHOPPED]
    length = math.sqrt(square)
    n[RESIDUAL] = length / n[REFERENCE]
    if (length <= n[GOAL] and n[BEGUN] != 0.0) or square == 0.0 or n[PRODUCTS] >= n[MOST]:
        ended(n)
        return
    n[BEGUN], n[NEAR] = 1.0, 1.0 if length <= LATE * n[GOAL] else 0.0
    proportional = n[CHOPPED] == 0.0 or n[REDUCED_CHOPPED] <= n[REDUCED_FREE]
    n[ACTION] = STEP if proportional else RELEASE


@formula
def ended(n):
    """The problem with the present bounds is solved as far as it goes."""
    n[ACTION] = DONE
    if n[ROUGH] != 0.0:
        n[FINAL] = n[LAST]
        n[REFRESHES] += 1.0 - n[LAST]
        n[ACTION] = MEASURE if n[LAST] != 0.0 else BOUNDS


@formula
def stepped(n, sums, room):
    """A direction's curvature and slope, and the room along it, are known."""
    releasing, curvature, slope = n[ACTION] == RELEASE, sums[0], sums[1]
    n[PRODUCTS] += 1.0
    if curvature <= 0.0 and not releasing:
        ended(n)
        return
    step = slope / curvature if curvature > 0.0 else math.inf
    n[CURVATURE], n[CONJUGATE] = curvature, 0.0 if releasing else 1.0
    if step < room:
        n[FALLEN] += n[NEAR] * curvature * step * step
        n[LENGTH], n[ACTION] = step, MOVED
        return
    if not releasing:
        n[FALLEN] += n[NEAR] * curvature * room * (2.0 * step - room)
    n[LENGTH], n[EXPANSION] = room if room < math.inf else 0.0, 0.0 if releasing else n[ALPHA]
    n[ACTION] = EXPAND
