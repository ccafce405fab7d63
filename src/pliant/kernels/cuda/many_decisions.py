"""What Newton's method decides for one scene of many (twin of solve.newton.minimise): after every evaluation, solve or
assembly, what comes next. All threads of a block decide alike, by the numbers m of `many_arrays`.

Each of the heavy operations stands in one place of the program (`many_newton`), for compilers copy what is called.
"""

import math

from numba import cuda

from pliant.kernels.cuda.many_arrays import (
    AGAIN,
    ALLOWED,
    ALONG,
    ANSWER,
    AT_BEST,
    AT_END,
    AT_REST,
    AT_START,
    BALANCE,
    BALANCE_SOLVED,
    BALANCING,
    BENT,
    BENT_SOLVED,
    BEST,
    BEST_VALUE,
    BLUR,
    CLOSE,
    CLOSE_SOLVED,
    CLOSING,
    CONVERGED,
    COUNT,
    DIRECTED,
    DIRECTION,
    DO,
    END,
    ENERGY,
    ESTIMATED,
    FIT_SOLVED,
    FITTING,
    ITERATE,
    ITERATE_ANEW,
    JUDGE,
    KICK,
    KIND,
    LAG,
    LEFT,
    LEFT_OVER,
    LENGTH,
    LOOK,
    MATRIX,
    MOST,
    NEW,
    NEW_ELASTIC,
    NEW_GAPS,
    NEW_UPSIDE,
    OFF,
    ON_LINE,
    OPEN,
    OPEN_BEFORE,
    PHASE,
    POSITIVE,
    ROUNDING,
    SHARE,
    SHORTEST_LENGTH,
    SOLVE,
    TRIAL,
    TRIES,
    UNCLOSED,
    UNFITTED,
    VALUE,
)
from pliant.kernels.cuda.many_potential import SLACK, imbalance, motion_scale, row_rounding
from pliant.kernels.cuda.many_rows import begin_rows
from pliant.kernels.cuda.many_search import (
    accept,
    evaluate_next,
    expect,
    finite,
    lag_of_rows,
    largest_gap,
    matrix_next,
    move,
    product,
    renew,
    solve_next,
)
from pliant.kernels.cuda.warp import device

# As solve.newton.minimise, lengths, criteria and solver have them.
SUFFICIENT, OVERSHOOT, MOST_CORRECTIONS, MOST_TRIALS, SHORTEST_START = 1e-4, 0.3, 4, 30, 0.1
SLOW, MOST_BALANCING, FITTED, WHOLE, PATIENCE, NEAR, RENEW = 0.5, 2, 1e-4, 0.25, 12, 0.1, 1.0
GAP, CLOSED, SHUT, BALANCED, LOOSELY_BALANCED = 1e-4, 5e-7, 1e-10, 0.01, 0.1
# Part of the tets that may be inverted at the start of a step (elements.tangles): beyond that the host takes it.
MOST_INVERTED = 0.05


@cuda.jit(device=True)
def after_start(many, own, m):
    """At rest rows begin, unless much is inverted there; a start above rest's potential is shortened."""
    if m[PHASE] == AT_REST:
        if many.work.rows.shape[2] > 0:
            begin_rows(many, own)
            m[ROUNDING] += row_rounding(own.shared, many.states, own.scene, own.h, many.work.rows[own.slot])
        known = many.states.report[own.scene, ENERGY]
        m[MOST], m[SHARE] = (known if finite(known) else m[NEW_ELASTIC]), 1.0
        evaluate_next(m, AT_START, ITERATE)
        if m[NEW_UPSIDE] > MOST_INVERTED * many.structure.tets.shape[0]:
            m[DO] = END
        return
    value = m[NEW] - m[NEW_GAPS]
    if m[SHARE] > 0.0 and not (value <= m[MOST] + SLACK * abs(m[MOST])):
        less = 0.25 if m[SHARE] > SHORTEST_START else 0.0
        m[SHARE] *= less
        move(many, own, ITERATE, less - 1.0, ITERATE, ITERATE)
        return  # and evaluate it again
    accept(m)
    m[DO] = ITERATE_ANEW


@device
def iterate_next(m, iterations):
    """Another iteration, if there may be one and there is a potential to lower."""
    if m[COUNT] < iterations and finite(m[VALUE]):
        matrix_next(m, m[COUNT] > 0.0 and m[LEFT_OVER] < NEAR)
    else:
        m[DO] = END


@cuda.jit(device=True)
def after_matrix(many, own, m):
    """A matrix that is not positive is projected; before the first direction joints are made to fit."""
    if m[POSITIVE] == 0.0:
        if m[KIND] == 1.0:
            matrix_next(m, False)
        else:
            m[DO] = END
        return
    m[TRIES] = 0.0
    m[OPEN] = largest_gap(many, own) if m[COUNT] == 0.0 else 0.0
    fit_or_go(m)


@device
def fit_or_go(m):
    """Joints are pulled together while gaps are large; then a direction is wanted."""
    if m[OPEN] > FITTED and m[TRIES] < MOST_CORRECTIONS:
        m[TRIES] += 1.0
        solve_next(m, FIT_SOLVED, True)
    else:
        solve_next(m, DIRECTED, False)


@cuda.jit(device=True)
def after_fitting(many, own, m):
    """Joints that fit better than before are taken; else the start is."""
    if m[PHASE] == UNFITTED:
        accept(m)
        solve_next(m, DIRECTED, False)
        return
    left = largest_gap(many, own)
    if finite(m[NEW]) and left < m[OPEN]:
        move(many, own, TRIAL, 0.0, TRIAL, ITERATE)
        accept(m)
        m[OPEN] = left
        fit_or_go(m)
    else:
        evaluate_next(m, UNFITTED, ITERATE)


@cuda.jit(device=True)
def after_solve(many, own, m):
    """What an answer is for."""
    phase = m[PHASE]
    if phase == DIRECTED:
        move(many, own, ANSWER, 0.0, ANSWER, DIRECTION)
        expect(many, own, DIRECTION)
        m[ALONG] = product(many, own, DIRECTION)
        m[TRIES], m[LENGTH], m[BEST], m[BEST_VALUE] = 0.0, 1.0, 0.0, math.inf
        move(many, own, ITERATE, 1.0, DIRECTION, TRIAL)
        evaluate_next(m, AT_END, TRIAL)
    elif phase == ESTIMATED:
        m[LEFT] = -product(many, own, ANSWER)
        m[DO] = JUDGE
    elif phase == BENT_SOLVED:
        move(many, own, TRIAL, 1.0, ANSWER, TRIAL)
        evaluate_next(m, BENT, TRIAL)
    elif phase == BALANCE_SOLVED:
        expect(many, own, ANSWER)
        move(many, own, ITERATE, 1.0, ANSWER, ITERATE)
        evaluate_next(m, BALANCING, ITERATE)
    else:
        move(many, own, ITERATE, 1.0, ANSWER, TRIAL)
        evaluate_next(m, FITTING if phase == FIT_SOLVED else CLOSING, TRIAL)


@cuda.jit(device=True)
def after_trial(many, own, m):
    """The end of Newton's step is bent back to where joints fit; where that does not lead low enough, the line is
    searched; what was found is looked at."""
    slope, allowance = m[ALONG], 100.0 * SLACK * (abs(m[VALUE]) + abs(m[ALONG])) + many.scenes.scene[own.scene, BLUR]
    end = product(many, own, DIRECTION)
    if m[PHASE] == AT_BEST:
        m[DO] = LOOK
        return
    if m[PHASE] != ON_LINE:
        if many.work.rows.shape[2] > 0 and slope < 0.0:
            most = m[VALUE] + SUFFICIENT * slope + allowance
            if m[NEW] <= most and (abs(end) <= OVERSHOOT * abs(slope) or m[TRIES] == MOST_CORRECTIONS):
                m[DO] = LOOK
                return
            if m[NEW] - m[NEW_GAPS] <= most and m[TRIES] < MOST_CORRECTIONS:
                m[TRIES] += 1.0
                solve_next(m, BENT_SOLVED, True)
                return
        bent, m[TRIES] = m[TRIES] > 0.0, 0.0
        if bent:
            move(many, own, ITERATE, 1.0, DIRECTION, TRIAL)
            evaluate_next(m, ON_LINE, TRIAL)
            return
    search(many, own, m, slope, end, allowance)


@cuda.jit(device=True)
def search(many, own, m, slope, end, allowance):
    """A step that lowers the potential enough and does not overshoot by much is taken, else another length."""
    m[TRIES] += 1.0
    good, worse = finite(m[NEW]), False
    if good and slope < 0.0 and m[NEW] <= m[VALUE] + SUFFICIENT * m[LENGTH] * slope + allowance:
        worse = m[BEST] > 0.0 and m[NEW] > m[BEST_VALUE]
        if not worse:
            m[BEST], m[BEST_VALUE] = m[LENGTH], m[NEW]
            if end <= OVERSHOOT * abs(slope):
                m[DO] = LOOK
                return
            m[LENGTH] *= min(max(slope / (slope - end), 0.1), 0.9)
    else:
        m[LENGTH] *= 0.5 if good else 0.25
    if worse or m[TRIES] == MOST_TRIALS:
        m[LENGTH] = m[BEST]
    move(many, own, ITERATE, m[LENGTH], DIRECTION, TRIAL)
    evaluate_next(m, AT_BEST if worse or m[TRIES] == MOST_TRIALS else ON_LINE, TRIAL)


@cuda.jit(device=True)
def look(many, own, m, tolerance):
    """The trial is the iterate: how large the motion is, and what lags behind. Where the correction just made was not
    small, the next one is estimated."""
    move(many, own, TRIAL, 0.0, TRIAL, ITERATE)
    accept(m)
    m[COUNT] += 1.0
    m[SHORTEST_LENGTH] = min(m[SHORTEST_LENGTH], m[LENGTH])
    closed = m[COUNT] > PATIENCE and largest_gap(many, own) <= CLOSED
    m[LAG], m[LEFT] = lag_of_rows(many, own, closed), abs(m[ALONG])
    scale = motion_scale(many, own, m[KICK])
    m[ALLOWED] = tolerance * tolerance * scale
    if m[LEFT] + m[LAG] > max(m[ROUNDING], m[ALLOWED]):
        solve_next(m, ESTIMATED, False)
    else:
        m[DO] = JUDGE


@cuda.jit(device=True)
def judge(many, own, m, tolerance):
    """Whether iterations end here: then gaps are closed and impulses balanced. Else shifts may be renewed."""
    left = m[LEFT] + m[LAG]
    relative = tolerance * math.sqrt(max(left, 0.0) / m[ALLOWED]) if m[ALLOWED] > 0.0 else 1.0
    m[LEFT_OVER] = 0.0 if left <= m[ROUNDING] else relative
    if m[LEFT_OVER] <= tolerance and (m[LENGTH] >= WHOLE or m[LEFT_OVER] <= WHOLE * tolerance):
        m[TRIES], m[OPEN_BEFORE], m[OPEN] = 0.0, math.inf, largest_gap(many, own)
        m[DO] = CLOSE
    else:
        renew_or_go(many, own, m)


@cuda.jit(device=True)
def close_or_go(many, own, m, tolerance):
    """Shifts are renewed, and what that moves is solved for, while gaps are open and close quickly."""
    most = min(CLOSED, max(GAP * tolerance, SHUT))
    if m[OPEN] > most and m[OPEN] <= SLOW * m[OPEN_BEFORE] and m[TRIES] < MOST_CORRECTIONS:
        m[TRIES] += 1.0
        renew(many, own)
        solve_next(m, CLOSE_SOLVED, False)
    else:
        m[TRIES], m[DO] = 0.0, BALANCE


@cuda.jit(device=True)
def after_closing(many, own, m):
    """Gaps that are smaller than before are taken; else the iterate is."""
    if m[PHASE] == UNCLOSED:
        accept(m)
        m[OPEN], m[DO] = 0.0, CLOSE
        return
    left = largest_gap(many, own)
    if finite(m[NEW]) and left < m[OPEN]:
        move(many, own, TRIAL, 0.0, TRIAL, ITERATE)
        accept(m)
        m[OPEN_BEFORE], m[OPEN], m[DO] = m[OPEN], left, CLOSE
    else:
        evaluate_next(m, UNCLOSED, ITERATE)


@cuda.jit(device=True)
def balance(many, own, m, tolerance):
    """A step that fits and is in balance has converged; one that is not is corrected, or goes on."""
    joined = many.work.rows.shape[2] > 0
    most = LOOSELY_BALANCED if m[COUNT] > PATIENCE or not joined else BALANCED
    fits = finite(m[VALUE]) and largest_gap(many, own) <= max(GAP * tolerance, CLOSED)
    m[OFF] = imbalance(many, own) if fits else math.inf
    if m[OFF] <= most:
        m[DO], m[CONVERGED] = END, 1.0
    elif fits and m[TRIES] < MOST_BALANCING:
        m[TRIES] += 1.0
        solve_next(m, BALANCE_SOLVED, False)
    else:
        evaluate_next(m, AGAIN, ITERATE)  # positions ahead were overwritten where the step was measured


@cuda.jit(device=True)
def renew_or_go(many, own, m):
    """Shifts follow impulses where what lags behind is more than what is left to correct."""
    if m[LAG] > 0.0 and m[LEFT] <= RENEW * (m[LAG] + m[ALLOWED]):
        m[VALUE] += renew(many, own)
    m[DO] = ITERATE_ANEW


@cuda.jit(device=True)
def decide(many, own, m, tolerance, iterations):
    """What comes next."""
    do, phase = m[DO], m[PHASE]
    if do == LOOK:
        look(many, own, m, tolerance)
    elif do == JUDGE:
        judge(many, own, m, tolerance)
    elif do == CLOSE:
        close_or_go(many, own, m, tolerance)
    elif do == BALANCE:
        balance(many, own, m, tolerance)
    elif do == ITERATE_ANEW:
        iterate_next(m, iterations)
    elif do == MATRIX:
        after_matrix(many, own, m)
    elif do == SOLVE:
        after_solve(many, own, m)
    elif phase in (AT_REST, AT_START):
        after_start(many, own, m)
    elif phase in (FITTING, UNFITTED):
        after_fitting(many, own, m)
    elif phase in (CLOSING, UNCLOSED):
        after_closing(many, own, m)
    elif phase in (BALANCING, AGAIN):
        accept(m)
        m[DO] = BALANCE if phase == BALANCING else ITERATE_ANEW
    else:
        after_trial(many, own, m)
