"""Newton's method on a potential: projected Hessian, line search (S 4.4); for time steps and static balances."""

from functools import partial

import numpy as np

from pliant.solve.info import Info
from pliant.solve.newton.assembling import MOST_KEPT, assemble, fresh, renew_rows
from pliant.solve.newton.closing import PATIENCE, balanced, bent_back, closed, fitted, followed, lag_of
from pliant.solve.newton.criteria import CLOSED, GAP, ROUNDING, SHUT, StepCriterion
from pliant.solve.newton.following import solve_following
from pliant.solve.newton.foresight import foresee_contacts, foreseeable
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.kinks import past_kinks
from pliant.solve.newton.lengths import OVERSHOOT, SUFFICIENT, back_to_length
from pliant.solve.newton.point import Direction, Point
from pliant.solve.newton.sweeping import may_sweep, sweep
from pliant.solve.newton.touching import PENETRATION, rests
from pliant.solve.newton.trend import Trend

# Trials of a line search.
MOST_TRIALS = 30
# How many times further than its slope says a potential may fall with following pressures, which have none: far from
# the last iterate what their work is taken for falls without bounds.
BELIEVED = 10.0
# Least length of a step after which iterations may end, unless there is hardly anything left to correct.
WHOLE = 0.25
# How often contacts are looked for where a step leads; one that has not found its own by then is too long, and so is
# one that has looked for them so many times when its iterations end.
MOST_TOUCHES, MANY_TOUCHES = 16, 4
# How often they are looked for with soft bodies before that, and residuals, relative to the tolerance, with which.
LOOSE_TOUCHES, LOOSELY_MET = 8, 5.0
# Part of the tolerance that a converged step may penetrate by, relative to the size of what touches, where it is more
# than PENETRATION.
OF_TOLERANCE = 0.07
# Change by a sweep over contacts, relative to the tolerance of a step, with which sweeps end, the part of it each time
# that all is well but for what penetrates; and relative to what is left to correct, while that is large.
SWEPT, STRICTER, LOOSELY = 0.1, 0.3, 0.1
# Residual below which the Hessian is taken as it is.
NEAR = 0.1
# Part of the square of the tolerance to which contacts that lag behind are brought by foresight; and with rods, whose
# light ends are out of balance by far more than the energy of what lags says.
AIM, AIM_OF_RODS = 0.1, 1e-2
# What lags behind is renewed once the square of the correction is below this part of the lag.
RENEW = 1.0
# Lag, as a residual relative to the tolerance, down to which it is followed with one matrix.
FOLLOWED = 0.1
# How far above the tolerance the expected next correction may lie for it to be worth estimating, and how exactly.
PROMISING, ESTIMATE = 3.0, 0.2
# Energy of a correction relative to what the fall of the gradient's local norm makes of that of the last one.
DOUBT = 4.0
# Iterations in a row that lead nowhere, after which all others would do so too: their matrices are renewed by then.
STUCK = MOST_KEPT + 2
# Part of the residual to which the first linear system of a step is solved, and the bounds of later ones.
FIRST_FORCING, LARGEST_FORCING, SMALLEST_FORCING = 0.05, 0.1, 1e-5


def minimise(
    potential: Increment,
    system,
    start: Point,
    criterion: StepCriterion,
    tolerance: float,
    max_iterations: int,
    nearly: bool = False,
) -> tuple[np.ndarray, Info]:
    """Newton iterations from a point, at which the potential was evaluated last: the velocities at the end, and what it
    took. nearly: the system has the elements' stiffness but for little, which is good enough for the first of them."""
    info = Info("newton", linear=system.linear, converged=False)
    point, last = Point(start.u, start.value - potential.go_on_from(start.u), start.gradient), None
    trend, touches, deep, loosely, kept, whole, scale, stuck = Trend(), 0, 0, 0, 0, True, None, 0
    exact = constant = False
    for iteration in range(max_iterations):
        keeps = constant or (whole and fresh(system, info.residual, tolerance, kept)) if iteration else nearly
        kept = kept + 1 if keeps else 0
        if kept:
            renew_rows(potential, system)
        else:
            exact = iteration > 0 and info.residual < NEAR
            constant = assemble(potential, system, exact, first=iteration == 0)
            constant = constant and system.iterates and potential.elements.quadratic
        if iteration == 0 and potential.row_potential.joints.slices:
            point = fitted(potential, system, point, lambda: renew_rows(potential, system))
        point.gradient = point.gradient * system.free
        enough = _enough(potential, criterion, point, tolerance, scale) if whole else np.inf
        found = _direction(potential, system, point, last, exact, enough)
        new, factor = line_search(potential, system, point, found)
        if factor == 0.0 and potential.following:  # where pressures lead nowhere, downhill without their stiffness
            direction, more = system.solve(-point.gradient, FIRST_FORCING)
            slope = float(system.dot(point.gradient, direction))
            found = Direction(direction, slope, found.size, found.products + more, found.impulse)
            new, factor = line_search(potential, system, point, found)
        point = new
        rows = potential.row_potential
        if system.iterates and rows.joints.slices and rows.largest_gap() > CLOSED:  # they have turned on the way
            system.renew_rows(rows.rows, rows.curvature, joints=True)
        info.iterations += found.products
        info.newton_iterations = iteration + 1
        info.shortest_step = min(info.shortest_step, factor)
        scale = criterion.scale(point.u)
        point.value -= potential.go_on_from(point.u)
        lag = lag_of(potential, system, criterion, info)
        failed = not np.isfinite(point.value) or (found.products == 0 and found.size != 0)
        left = trend.follow(found, factor)
        least = trend.least(system, point.gradient)
        info.residual = 1.0 if failed else criterion.residual(point.gradient, max(left, least) + lag, scale)
        next_one = None
        if criterion.estimates and not failed:
            hopeless = criterion.residual(point.gradient, lag, scale) > tolerance
            given = (info.residual, tolerance, left, hopeless)
            left, products, next_one = _estimated(potential, system, point, found, *given)
            info.iterations += products
            info.residual = criterion.residual(point.gradient, max(left, least) + lag, scale)
        still = found.size == 0.0  # a gradient of nothing, to the last bit, has no direction
        lags = (factor > 0.0 or still) and lag > 0.0 and left <= RENEW * (lag + tolerance**2 * scale)
        if lags and tolerance < info.residual < NEAR and system.direct and potential.elements.elements.on_bodies:
            little = (FOLLOWED * tolerance) ** 2 * scale
            point, found_lag = followed(potential, system, point, info, lag, little)
            next_one = None
            if found_lag <= little:
                lag, (left, products, next_one) = found_lag, _left_to_correct(system, point.gradient)
                info.iterations, trend.renewed = info.iterations + products, True
                info.residual = criterion.residual(point.gradient, left + lag, scale)
        whole = factor >= WHOLE or info.residual <= WHOLE * tolerance
        if info.residual <= tolerance and whole:
            shut = closed(potential, system, point, info, min(CLOSED, max(GAP * tolerance, SHUT)))
            point, next_one = shut, next_one if shut is point else None
            lagging = lag if lag > left else 0.0
            point, fits = balanced(potential, system, criterion, point, info, tolerance, next_one, lagging)
            if fits:
                point, info.converged = _met(potential, system, criterion, point, info, tolerance, scale, deep)
                touches, deep = touches + 1, deep + (info.residual <= tolerance)
                if info.converged or touches == MOST_TOUCHES:
                    break
                last, trend = None, Trend()
                continue
        elif loosely < LOOSE_TOUCHES and whole and info.residual <= LOOSELY_MET * tolerance and potential.wandering:
            loosely += 1
            point = Point(point.u, *potential.touch(point.u, point.value, point.gradient))
            last, trend = None, Trend()
            continue
        last = found.size
        swept = _swept(potential, system, point, info, tolerance, scale, deep)
        if swept is not None:
            point, last, trend.renewed = swept, None, True
        elif factor == 0.0 and not (still and lags):
            stuck += 1
            if stuck == STUCK:
                break
            continue
        elif lags:
            point, last = Point(point.u, *potential.renew(point.u, point.value, point.gradient)), None
            trend.renewed = True
        stuck = 0
    info.unsettled = touches >= MANY_TOUCHES and not info.converged
    return point.u, info


def _enough(
    potential: Increment, criterion: StepCriterion, point: Point, tolerance: float, scale: float | None
) -> float:
    """What may lag behind of contacts [J] where a direction from a point leads; anything where small things in long
    steps are held by them, which are far from what a direction foresees. scale: that of the motion, where known."""
    if criterion.held or not foreseeable(potential):
        return np.inf
    aim = AIM_OF_RODS if potential.elements.elements.on_bodies else AIM
    return aim * tolerance**2 * (criterion.scale(point.u) if scale is None else scale)


def _met(
    potential: Increment,
    system,
    criterion: StepCriterion,
    point: Point,
    info: Info,
    tolerance: float,
    scale: float,
    deep: int,
) -> tuple[Point, bool]:
    """The point with the contacts that there are where it leads, and whether these are met as well: there is little
    left to correct, nothing meets on its way there, nothing penetrates by much."""
    if not criterion.touches:
        return point, True
    most = max(PENETRATION, OF_TOLERANCE * tolerance)
    still = rests(potential.problem, point.u, potential.found_at)
    if (still or (potential.short and foreseeable(potential))) and potential.falls_short(point.u, most):
        # what was too deep is so still: renewed once more, with the same contacts, it becomes harder
        return Point(point.u, *potential.renew(point.u, point.value, point.gradient)), False
    renewed = potential.renew if still else potential.touch
    potential.row_potential.last_error = None  # contacts become no harder by what only looks at them
    point = Point(point.u, *renewed(point.u, point.value, point.gradient))
    if potential.clear and not len(potential.problem.rows.contacts):
        return point, True
    swept, gone = _swept(potential, system, point, info, tolerance, scale, deep), 0.0
    if swept is not None:
        point, gone = swept, criterion.square(potential.mass, swept.u - point.u)
    left, products, correction = _left_to_correct(system, point.gradient)
    info.iterations, info.imbalance = info.iterations + products, np.nan  # which has to be measured again
    lag = lag_of(potential, system, criterion, info)
    info.residual = criterion.residual(point.gradient, max(left, gone) + lag, scale)
    # a contact that moved on along a rod carries no load at first, which is little beside the motion of a long rod
    early = potential.elements.elements.on_bodies and info.newton_iterations <= PATIENCE
    if info.residual > tolerance or (
        (early or _rigid(potential)) and not criterion.fits(point.u, info, tolerance, False)
    ):
        return point, False
    if potential.row_potential.joints.slices:  # impulses of contacts that carry heavy things feel little motions
        point, fits = balanced(potential, system, criterion, point, info, tolerance, correction)
        if not fits:
            return point, False
    if potential.clear and (still or not potential.penetrates(point.u, most)) and criterion.balances(point.u, info):
        return point, True
    info.imbalance = np.nan
    return Point(point.u, *potential.renew(point.u, point.value, point.gradient)), False


def _rigid(potential: Increment) -> bool:
    """Whether there is nothing but rigid bodies that touch: their firm contacts are out of balance by far more than
    the correction that is left, which they resist, says."""
    return not (potential.elements.elements.sets or potential.row_potential.joints.slices)


def _swept(
    potential: Increment, system, point: Point, info: Info, tolerance: float, scale: float, deep: int
) -> Point | None:
    """Where sweeps over contacts lead, in steps for which Newton's method takes long; None where there are none."""
    if info.newton_iterations < system.patience or not may_sweep(potential):
        return None
    u, sweeps = sweep(potential, (SWEPT * STRICTER**deep * max(tolerance, LOOSELY * info.residual)) ** 2 * scale)
    info.iterations += sweeps
    return Point(u, *potential.evaluate(u))


def _direction(potential: Increment, system, point: Point, last: float | None, exact: bool, enough: float) -> Direction:
    """Newton's direction with the Hessian just assembled; should an exact one turn out not to be positive, as in
    compression, it is projected after all."""
    rows, gradient = potential.row_potential, point.gradient
    size, now = system.local_norm(gradient), rows.impulse[: rows.joints.slices].copy()
    wanted = 0.9 * (size / last) ** 2 if last else FIRST_FORCING
    forcing = min(max(wanted, SMALLEST_FORCING), LARGEST_FORCING)
    if potential.following:
        direction, products = solve_following(system, potential.following, -gradient, forcing)
    else:
        direction, products = system.solve(-gradient, forcing)
    slope = float(system.dot(gradient, direction))
    if exact and (system.indefinite or not (slope < 0.0 or potential.following)):
        assemble(potential, system, False)
        again = _direction(potential, system, point, last, False, enough)
        again.products += products
        return again
    more, kinked = 0, system.direct and rows.joints.slices and not potential.following
    if kinked:
        direction, more = past_kinks(potential, system, gradient, direction)
    elif foreseeable(potential) and slope < 0.0 and not potential.following:
        direction, more = foresee_contacts(potential, system, point, direction, size, enough)
        if point.gradient is not gradient:
            gradient = point.gradient
            size = system.local_norm(gradient)
    slope, products = float(system.dot(gradient, direction)), products + more
    if not kinked:
        rows.foresee(direction)
    potential.elements.foresee(potential.h * direction)
    return Direction(direction, slope, size, products, now, exact and system.bare)


def _estimated(
    potential: Increment,
    system,
    point: Point,
    found: Direction,
    residual: float,
    tolerance: float,
    left: float,
    hopeless,
) -> tuple[float, int, np.ndarray | None]:
    """Twice the energy [J] of the next correction, where the gradient has fallen so far that it may well be within the
    tolerance when the last, `left`, was not; the products it took, and the correction if it was solved for. hopeless:
    what lags behind is too large anyhow, and the fall of the gradient says enough."""
    if residual <= tolerance or potential.following:
        return left, 0, None
    fallen = system.local_norm(system.free * point.gradient) / max(found.size, 1e-300)
    if residual * fallen > PROMISING * tolerance:
        return left, 0, None
    if hopeless:
        return min(DOUBT * fallen * fallen, 1.0) * left, 0, None
    return _left_to_correct(system, point.gradient)


def _left_to_correct(system, gradient: np.ndarray) -> tuple[float, int, np.ndarray]:
    """Twice the energy [J] that a simplified Newton correction, with the matrix of the last one, would gain at a point,
    the products it took, and the correction: the error of an iterate, for much less than another iteration (Deuflhard
    2011, 2.1)."""
    free = system.free * gradient
    direction, products = system.solve(-free, ESTIMATE)
    left = -float(system.dot(free, direction))
    return (np.inf if system.indefinite else left), products, direction


def line_search(potential: Increment, system, point: Point, found: Direction) -> tuple[Point, float]:
    """A step that lowers the potential enough (Armijo) and does not overshoot by much, and its length.

    Halving finds the first; where the potential rises steeply at the end of a step, the zero of the slope between is
    taken instead, which is near the lowest point (the potential of contacts has kinks). Following pressures have no
    potential: with them it also counts when the gradient's size is halved, and a fall that is too deep does not.
    """
    slope, best, factor = found.slope, None, potential.longest(found.direction)
    allowance = 100 * ROUNDING * (abs(point.value) + abs(slope)) + potential.blur
    floor = point.value - BELIEVED * abs(slope) - allowance if potential.following else -np.inf
    trial = potential.along(point.u, factor * found.direction)
    new = Point(trial, *potential.evaluate(trial))
    if potential.elements.elements.on_bodies and slope < 0.0:
        bent, short = back_to_length(potential, system, point, new, found, factor, allowance)
        if bent is not None and bent[1] >= floor:
            return Point(*bent), short
        new = Point(trial, *potential.evaluate(trial))
    elif potential.row_potential.joints.slices and slope < 0.0:
        again = partial(assemble, potential, system, False)
        bent, short = bent_back(potential, system, point, new, found, allowance, again)
        if bent is not None and bent.value >= floor:
            return bent, short
        new = Point(trial, *potential.evaluate(trial))
    for attempt in range(MOST_TRIALS):
        if attempt:
            trial = potential.along(point.u, factor * found.direction)
            new = Point(trial, *potential.evaluate(trial))
        finite = np.isfinite(new.value)
        if potential.following and finite and system.local_norm(system.free * new.gradient) <= 0.5 * found.size:
            return new, factor
        falls = finite and slope < 0.0 and new.value >= floor
        if falls and new.value <= point.value + SUFFICIENT * factor * slope + allowance:
            end = float(system.dot(system.free * new.gradient, found.direction))
            if best is not None and new.value > best[0].value:
                break
            best = new, factor
            if end <= OVERSHOOT * abs(slope):
                return best
            factor *= min(max(slope / (slope - end), 0.1), 0.9)
        else:
            factor *= 0.5 if finite else 0.25
    u, factor = (point.u, 0.0) if best is None else (best[0].u, best[1])
    return Point(u, *potential.evaluate(u)), factor
