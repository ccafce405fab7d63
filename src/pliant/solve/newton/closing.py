"""Joints along Newton's iterations: closed at their start and end, and come back to within a line search; impulses of
contacts in balance at the end."""

from collections.abc import Callable
from functools import partial

import numpy as np

from pliant.rows.softness import softer_than_asked
from pliant.solve.info import Info
from pliant.solve.newton.criteria import CLOSED, LARGEST_IMBALANCE, StepCriterion
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.lengths import MOST_CORRECTIONS, OVERSHOOT, SUFFICIENT
from pliant.solve.newton.point import Direction, Point

# How exactly corrections at the end are solved for, and the part of a gap that they leave where they are slow.
CLOSING, SLOW = 3e-2, 0.5
# Such corrections where joints fit and are not in balance, and how exactly they are solved for.
MOST_BALANCING, BALANCING = 2, 0.2
# The part of the imbalance that one leaves at most which helps.
HELPING = 0.7
# Renewals of what lags behind with one matrix; and the part of the lag that a slow one leaves.
MOST_RENEWALS, SLOW_RENEWAL = 6, 0.5
# The part of the largest imbalance that they aim at.
AIM = 0.5
# Gaps of joints, relative to their reach, with which the first iteration of a step may begin.
FITTED = 1e-4
# Iterations after which joints that are closed but for what slow convergence leaves count as met.
PATIENCE = 12
# Least part of what it lacks that a renewal of joints is taken to correct, and how exactly corrections are known by it.
LEAST_PART, ROUGHLY = 0.1, 0.2
# How exactly corrections along the way are solved for; the part of the joints' energy that a slow one leaves; and most
# of them where matrices may be renewed.
RESTORING, SLOWLY, MOST_RENEWED = 0.1, 0.03, 8
# Most corrections to impulses of contacts, how exactly they are solved for (what these leave is out of balance, too),
# and how many times more than the least the imbalance may be on the way.
MOST_BALANCED, CLOSELY, RISING = 10, 0.1, 1.5
# Parts of a step that are tried where it has to come back to joints.
PARTS = (1.0, 0.25, 0.0625)


def fitted(potential: Increment, system, point: Point, assemble: Callable[[], None]) -> Point:
    """The start, moved to where joints fit: gaps that are still open would drown all else in the first iteration.
    assemble: renews the system where the potential was last evaluated, for limits may be met on the way."""
    gap = potential.row_potential.largest_gap()
    for _ in range(MOST_CORRECTIONS):
        if gap <= FITTED:
            break
        new, _ = _restored(potential, system, point.u)
        left = potential.row_potential.largest_gap()
        if not (np.isfinite(new.value) and left < gap):
            return Point(point.u, *potential.evaluate(point.u))
        point, gap = new, left
        assemble()
    return point


def closed(potential: Increment, system, point: Point, info: Info, most: float) -> Point:
    """The end, with the joints' shifts renewed, by solves with the matrix of the last iteration, until gaps are at most
    `most` or close slowly; cheaper than another iteration.

    Where systems are solved by iterations, their rows are those of where joints are, and shifts are the impulses
    foreseen: those at a point where joints, which are curved, are open hold what pulls them together besides, and would
    pull twice as much. Factors stay those of where the iteration began, and with them the impulses as they are serve
    better."""
    rows, follows = potential.row_potential, system.iterates
    before, gap = np.inf, rows.largest_gap()
    for _ in range(MOST_CORRECTIONS):
        if gap <= most or gap > SLOW * before:
            break
        _, gradient = potential.renew(point.u, point.value, point.gradient, foreseen=follows)
        if follows:
            system.renew_contacts(rows.curvature)
        correction, products = system.solve(-system.free * gradient, CLOSING)
        info.iterations += products
        if follows:
            rows.foresee(correction)
        new = Point(u := point.u + correction, *potential.evaluate(u))
        left = rows.largest_gap()
        if not (np.isfinite(new.value) and left < gap):
            return Point(point.u, *potential.evaluate(point.u))
        point, before, gap = new, gap, left
    return point


def balanced(
    potential: Increment,
    system,
    criterion: StepCriterion,
    point: Point,
    info: Info,
    tolerance: float,
    correction: np.ndarray | None = None,
    lag: float = 0.0,
) -> tuple[Point, bool]:
    """The end, and whether it fits. Impulses of joints that are not in balance yet are corrected by solves with the
    matrix of the last iteration: cheaper than another, for what is left to correct is small. A correction that opens
    joints or helps nothing is taken back. correction (triples, 3): the first of them, where it is known. lag: energy
    [J] by which contacts lag behind, where that is most of what is left: of rods they are renewed and met instead."""
    rows, end, patient = potential.row_potential, point, info.newton_iterations > PATIENCE
    if criterion.fits(point.u, info, tolerance, patient):
        return point, True
    if lag > 0.0 and potential.elements.elements.on_bodies and not rows.joints.slices:
        # their impulses err as the root of that energy
        little = lag * (AIM * LARGEST_IMBALANCE / criterion.found) ** 2
        point, left = followed(potential, system, point, info, lag, little)
        return point, left < lag and criterion.fits(point.u, info, tolerance, patient)
    gap, estimate, found = rows.largest_gap(), rows.estimate, criterion.found
    for _ in range(0 if potential.following else MOST_BALANCING):
        if correction is None:
            correction, products = system.solve(-system.free * end.gradient, BALANCING)
            info.iterations += products
        rows.foresee(correction)
        end = Point(u := end.u + correction, *potential.evaluate(u))
        correction = None
        if not np.isfinite(end.value) or rows.largest_gap() > max(gap, CLOSED):
            break
        if criterion.fits(end.u, info, tolerance, patient):
            return end, True
        if criterion.found > HELPING * found:
            break
        found = criterion.found
    rows.estimate = estimate
    return Point(point.u, *potential.evaluate(point.u)), False


def lag_of(potential: Increment, system, criterion: StepCriterion, info: Info) -> float:
    """How far what lags behind is from where the potential was evaluated last, as an energy [J]. After many iterations
    gaps of joints that are closed but for what slow convergence leaves count for nothing, or where joints are soft
    beside stiff elements, which makes it slow, for what renewals still move."""
    if info.newton_iterations <= PATIENCE:
        return potential.lag(0.0)
    lag, passed = potential.lag(criterion.closed), potential.row_potential.passed_over(criterion.closed)
    soft = passed is not None and softer_than_asked(potential.model, system.dtype, potential.h)
    if not soft or passed[1] == 0.0:
        return lag
    pull, stored = passed
    correction, products = system.solve(system.free * pull, ROUGHLY)
    info.iterations += products
    moved = max(float(system.dot(system.free * pull, correction)), 0.0)
    # each renewal corrects this part of what the one before left
    part = min(max(moved / stored, LEAST_PART), 1.0)
    return lag + moved / part**2


def followed(potential: Increment, system, start: Point, info: Info, lag: float, little: float) -> tuple[Point, float]:
    """The point with what lags behind [J], friction above all, renewed and met by solves with the matrix of the last
    iteration, until that is little, and what it is then: cheaper than an iteration for each renewal, for little moves.
    Where it shrinks slowly, the start as it was."""
    rows, point, first = potential.row_potential, start, lag
    kept = rows.kept()
    for _ in range(0 if len(rows.rolling) else MOST_RENEWALS):
        rows.last_error = None  # no contact is made harder for what these leave
        value, gradient = potential.renew(point.u, point.value, point.gradient)
        correction, products = system.solve(-system.free * gradient, BALANCING)
        info.iterations += products
        new = Point(point.u + correction, *potential.evaluate(point.u + correction))
        left = potential.lag(0.0)
        if not (new.value <= value + potential.blur and left <= SLOW_RENEWAL**2 * lag):
            break
        point, lag = new, left
        if lag <= little:
            rows.last_error = None
            return point, lag
    rows.take_back(kept)
    return Point(start.u, *potential.evaluate(start.u)), first


def contacts_balanced(
    potential: Increment, system, criterion: StepCriterion, point: Point, info: Info, most: float
) -> Point:
    """The point with the impulses of contacts renewed and met by solves with the matrix of the last iteration, until
    the imbalance is `most` or rises; where it was least. Contacts become harder only where it falls slowly: near the
    answer, iterations with softer ones go there more surely."""
    rows, found, slow = potential.row_potential, criterion.imbalance(point.u, info), False
    best, least, kept = point, found, rows.kept()
    for _ in range(MOST_BALANCED):
        if found <= most:
            return point
        if not slow:
            rows.last_error = None
        _, gradient = potential.renew(point.u, point.value, point.gradient)
        if slow:
            system.renew_contacts(rows.curvature)
        correction, products = system.solve(-system.free * gradient, CLOSELY)
        info.iterations += products
        point = Point(u := point.u + correction, *potential.evaluate(u))
        left = criterion.imbalance(u, info)
        slow, found = not left <= SLOW_RENEWAL * found, left
        if found < least:
            best, least, kept = point, found, rows.kept()
        elif not found <= RISING * least:
            break
    rows.take_back(kept)
    return Point(best.u, *potential.evaluate(best.u))


def _restored(potential: Increment, system, u: np.ndarray, held: np.ndarray | None = None) -> tuple[Point, int]:
    """Velocities from which the joints' gaps, as last evaluated, are taken to first order; and products it took. held
    (slices, 3, LANES): rows of joints that will push."""
    pull = potential.row_potential.restoring_impulses(system.jacobian, held)
    correction, products = system.solve(system.free * pull, RESTORING)
    return Point(new := u + correction, *potential.evaluate(new)), products


def _back_to_joints(
    potential: Increment,
    system,
    new: Point,
    most: float,
    found: Direction,
    factor: float,
    assemble: Callable,
    held: np.ndarray | None,
) -> Point | None:
    """From the end of a part of Newton's step back to where joints fit, by solves with the same matrix, or where that
    is slow and matrices are factorised with renewed ones; None if they do not lead to a value of at most `most`. held
    (slices, 3, LANES): rows of joints that will push.

    Joints are curved: a straight step that is right to first order leaves them by its square, which stiff rows punish.
    A line search alone would then creep along (a second-order correction cures that; Nocedal and Wright, ch. 18.3).
    """
    before = np.inf
    for _ in range(MOST_RENEWED if system.direct else MOST_CORRECTIONS):
        # joints that fit have no energy; where even that would be too much, they are not what is wrong
        if not new.value - potential.joint_energy <= most:
            return None
        end = float(system.dot(system.free * new.gradient, found.direction))
        if new.value <= most and abs(end - (1.0 - factor) * found.slope) <= OVERSHOOT * abs(found.slope):
            return new
        # the matrix does not resist the impulses of limits that nobody foresaw to push
        if system.direct and (potential.joint_energy > SLOWLY * before or potential.row_potential.surprised(held)):
            assemble()
        before = potential.joint_energy
        new, products = _restored(potential, system, new.u, held)
        found.products += products
    return new if np.isfinite(new.value) and new.value <= most else None


def bent_back(
    potential: Increment, system, point: Point, new: Point, found: Direction, allowance: float, assemble: Callable
) -> tuple[Point | None, float]:
    """Newton's step, whose end is `new`, or a part of it, brought back to where joints fit, and that part; None where
    none lowers the potential. What is right to first order leaves joints by its square: the way back is shorter from
    the end of a shorter step. assemble: renews the system, given rows of joints that count as if they pushed."""
    rows, estimate = potential.row_potential, potential.row_potential.estimate
    now, held = found.impulse, rows.pushing(estimate) if system.direct else None
    for part in PARTS if system.direct else PARTS[:1]:
        if part < 1.0:
            trial = point.u + part * found.direction
            rows.estimate, held = now + part * (estimate - now), held & rows.pushing(now)
            new = Point(trial, *potential.evaluate(trial))
        most = point.value + SUFFICIENT * part * found.slope + allowance
        bent = _back_to_joints(potential, system, new, most, found, part, partial(assemble, held=held), held)
        rows.estimate = estimate
        if bent is not None:
            return bent, part
    return None, 0.0
