"""Numbers of L D L^T by supernodes (linalg/supernodes.py), and solves with them.

Rows of L^T are contiguous, so that the innermost loops run along them: three rows of a target take three rows of a
pivot with nine factors at once. Subtrees of the elimination tree are tasks of threads; every number is computed by one
of them, in one order.
"""

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.block_ldl import inverse_pivot
from pliant.kernels.matrices import ELIMINATE, TAKE, TOGETHER


@kernel
def _weights(panel, at, width, pivot, k):
    """The block at a place of a panel, rows times their pivots, as nine numbers."""
    d0, d1, d2, down, last = pivot[3 * k], pivot[3 * k + 1], pivot[3 * k + 2], at + width, at + 2 * width
    return (
        (d0 * panel[at], d1 * panel[down], d2 * panel[last]),
        (d0 * panel[at + 1], d1 * panel[down + 1], d2 * panel[last + 1]),
        (d0 * panel[at + 2], d1 * panel[down + 2], d2 * panel[last + 2]),
    )


@kernel
def _add_pivots(panel, start, width, count, i, length, pivot, total):
    """total (3, length) = rows 3 i.. of L D L^T from the i-th node of a panel's rows on, by its first columns. What is
    behind them, up to whole runs of TOGETHER, has no meaning: single numbers at the end would cost as much as these."""
    t0, t1, t2, odd, at = total[0], total[1], total[2], count % 2, start + 3 * i
    whole = (length + TOGETHER - 1) // TOGETHER * TOGETHER
    if odd:
        (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = _weights(panel, at, width, pivot, 0)
        p0, p1, p2 = panel[at:], panel[at + width :], panel[at + 2 * width :]
        for j in range(whole):
            x, y, z = p0[j], p1[j], p2[j]
            t0[j] = a0 * x + a1 * y + a2 * z
            t1[j] = b0 * x + b1 * y + b2 * z
            t2[j] = c0 * x + c1 * y + c2 * z
    else:
        for j in range(whole):
            t0[j], t1[j], t2[j] = 0.0, 0.0, 0.0
    for k in range(odd, count, 2):  # two at a time: half as much of the total is read and written
        at = start + 3 * k * width + 3 * i
        (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = _weights(panel, at, width, pivot, k)
        p0, p1, p2 = panel[at:], panel[at + width :], panel[at + 2 * width :]
        at += 3 * width
        (a3, a4, a5), (b3, b4, b5), (c3, c4, c5) = _weights(panel, at, width, pivot, k + 1)
        p3, p4, p5 = panel[at:], panel[at + width :], panel[at + 2 * width :]
        for j in range(whole):
            u, v, w, x, y, z = p0[j], p1[j], p2[j], p3[j], p4[j], p5[j]
            t0[j] += a0 * u + a1 * v + a2 * w + a3 * x + a4 * y + a5 * z
            t1[j] += b0 * u + b1 * v + b2 * w + b3 * x + b4 * y + b5 * z
            t2[j] += c0 * u + c1 * v + c2 * w + c3 * x + c4 * y + c5 * z


@kernel
def _start_rows(plan, own, part, parts, values, panel):
    """Every parts-th row of a panel, from `part` on, with the numbers of the matrix; of diagonal blocks the lower
    triangle counts."""
    first, width = plan.first[own], 3 * (plan.row_start[own + 1] - plan.row_start[own])
    for i in range(part, plan.first[own + 1] - first, parts):
        row = plan.panel_start[own] + 3 * i * width
        empty = panel[row:]  # loops from zero: others are not vectorised
        for j in range(3 * width):
            empty[j] = 0.0
        for e in range(plan.entry_start[first + i], plan.entry_start[first + i + 1]):
            at, block = row + plan.entry[e, 0], values[plan.entry[e, 1]]
            for r in range(3):
                for c in range(3):
                    panel[at + r * width + c] = block[r, c]
        block, at = values[plan.diagonal[first + i]], row + 3 * i
        for r in range(3):
            for c in range(r):
                panel[at + c * width + r] = block[r, c]


@kernel
def _take_updates(plan, own, part, parts, panel, pivot, total):
    """Subtract from such rows what supernodes before this one do to them."""
    first, width = plan.first[own], 3 * (plan.row_start[own + 1] - plan.row_start[own])
    for u in range(plan.update_start[own], plan.update_start[own + 1]):
        source, begin, end, beside = plan.update[u, 0], plan.update[u, 1], plan.update[u, 2], plan.update[u, 3]
        above, rows = plan.row_start[source], plan.row_start[source + 1] - plan.row_start[source]
        columns = plan.first[source]
        for i in range(begin, end):
            place = plan.rows[above + i] - first
            if place % parts != part:
                continue
            count, length = plan.first[source + 1] - columns, 3 * (rows - i)
            _add_pivots(panel, plan.panel_start[source], 3 * rows, count, i, length, pivot[0, 3 * columns :], total)
            row = plan.panel_start[own] + 3 * place * width
            for t in range(rows - i):
                at = row + 3 * plan.relative[beside + i - begin + t]
                for c in range(3):
                    panel[at + c] -= total[0, 3 * t + c]
                    panel[at + width + c] -= total[1, 3 * t + c]
                    panel[at + 2 * width + c] -= total[2, 3 * t + c]


@kernel
def _take_pivots(plan, own, i, begin, end, panel, pivot, total):
    """Subtract from the i-th row of a panel what its own columns from begin to end do to it."""
    rows = plan.row_start[own + 1] - plan.row_start[own]
    width, length = 3 * rows, 3 * (rows - i)
    start, columns = plan.panel_start[own] + 3 * begin * width, plan.first[own] + begin
    _add_pivots(panel, start, width, end - begin, i, length, pivot[0, 3 * columns :], total)
    at = plan.panel_start[own] + 3 * i * width + 3 * i
    for r in range(3):
        row, more = panel[at + r * width :], total[r]
        for j in range(length):
            row[j] -= more[j]


@kernel
def _eliminate(plan, own, i, values, panel, pivot):
    """Turn the i-th row of a panel into one of L^T and its pivots."""
    place, width = plan.first[own] + i, 3 * (plan.row_start[own + 1] - plan.row_start[own])
    at, whole = plan.panel_start[own] + 3 * i * width + 3 * i, values[plan.diagonal[place]]
    r0, r1, r2 = panel[at:], panel[at + width :], panel[at + 2 * width :]
    i0 = inverse_pivot(r0[0], whole[0, 0])
    l01, l02 = r0[1] * i0, r0[2] * i0
    i1 = inverse_pivot(r1[1] - l01 * r0[1], whole[1, 1])
    rest = r1[2] - l01 * r0[2]
    l12 = rest * i1
    i2 = inverse_pivot(r2[2] - l02 * r0[2] - l12 * rest, whole[2, 2])
    for j in range(width - 3 * i):
        x = r0[j]
        y = r1[j] - l01 * x
        z = r2[j] - l02 * x - l12 * y
        r0[j], r1[j], r2[j] = x * i0, y * i1, z * i2
    r0[1], r0[2], r1[2] = l01, l02, l12
    for r, inverse in enumerate((i0, i1, i2)):
        pivot[0, 3 * place + r] = 1.0 / inverse if inverse != 0.0 else 0.0
        pivot[1, 3 * place + r] = inverse


@kernel
def _run(plan, job, values, panel, pivot, total):
    """One job: a part of what a panel takes from others, some of its own columns, or what these do to its rows."""
    kind, own, part, parts, begin, end = job[0], job[1], job[2], job[3], job[4], job[5]
    if kind == TAKE:
        _start_rows(plan, own, part, parts, values, panel)
        _take_updates(plan, own, part, parts, panel, pivot, total)
    elif kind == ELIMINATE:
        for i in range(begin, end):
            _take_pivots(plan, own, i, begin, i, panel, pivot, total)
            _eliminate(plan, own, i, values, panel, pivot)
    else:
        for i in range(end + part, plan.first[own + 1] - plan.first[own], parts):
            _take_pivots(plan, own, i, begin, end, panel, pivot, total)


@parallel_kernel
def factorise_supernodes(plan, values, panel, pivot):
    """Panels and pivots (2, 3 n) from the upper blocks `values` (k, 3, 3)."""
    for stage in range(plan.stage_start.shape[0] - 1):
        for task in prange(plan.stage_start[stage], plan.stage_start[stage + 1]):
            total = np.empty((3, 3 * plan.widest[0] + TOGETHER))
            for j in range(plan.job_start[task], plan.job_start[task + 1]):
                _run(plan, plan.job[j], values, panel, pivot, total)


@kernel
def _forward(plan, panel, pivot, passed, own, x, total):
    """Solve L y = x for the columns of a supernode; what is left for rows below is passed on, y is over D then."""
    first, columns, start = plan.first[own], plan.first[own + 1] - plan.first[own], plan.row_start[own]
    width = 3 * (plan.row_start[own + 1] - start)
    for j in range(width):
        total[j] = x[3 * first + j] if j < 3 * columns else 0.0
    for e in range(plan.child_start[own], plan.child_start[own + 1]):
        child, beside = plan.child[e, 0], plan.child[e, 1]
        above = plan.row_start[child] + plan.first[child + 1] - plan.first[child]
        for t in range(plan.row_start[child + 1] - above):
            to = 3 * plan.relative[beside + t]
            for c in range(3):
                total[to + c] += passed[3 * (above + t) + c]
    for k in range(columns):
        at = plan.panel_start[own] + 3 * k * width
        r0, r1, r2 = panel[at:], panel[at + width :], panel[at + 2 * width :]
        a = total[3 * k]
        b = total[3 * k + 1] - r0[3 * k + 1] * a
        c = total[3 * k + 2] - r0[3 * k + 2] * a - r1[3 * k + 2] * b
        right, r0, r1, r2 = total[3 * k + 3 :], r0[3 * k + 3 :], r1[3 * k + 3 :], r2[3 * k + 3 :]
        for j in range(width - 3 * k - 3):
            right[j] -= r0[j] * a + r1[j] * b + r2[j] * c
        for r, value in enumerate((a, b, c)):
            x[3 * (first + k) + r] = value * pivot[1, 3 * (first + k) + r]
    for j in range(3 * columns, width):
        passed[3 * start + j] = total[j]


@kernel
def _backward(plan, panel, own, x, total):
    """Solve L^T x = y for the columns of a supernode, once those of its rows below are solved for."""
    first, columns, start = plan.first[own], plan.first[own + 1] - plan.first[own], plan.row_start[own]
    width = 3 * (plan.row_start[own + 1] - start)
    for t in range(plan.row_start[own + 1] - start):
        for c in range(3):
            total[3 * t + c] = x[3 * plan.rows[start + t] + c]
    for k in range(columns - 1, -1, -1):
        at = plan.panel_start[own] + 3 * k * width
        r0, r1, r2 = panel[at:], panel[at + width :], panel[at + 2 * width :]
        a, b, c = total[3 * k], total[3 * k + 1], total[3 * k + 2]
        right, l0, l1, l2 = total[3 * k + 3 :], r0[3 * k + 3 :], r1[3 * k + 3 :], r2[3 * k + 3 :]
        for j in range(width - 3 * k - 3):
            a -= l0[j] * right[j]
            b -= l1[j] * right[j]
            c -= l2[j] * right[j]
        b -= r1[3 * k + 2] * c
        a -= r0[3 * k + 1] * b + r0[3 * k + 2] * c
        for r, value in enumerate((a, b, c)):
            total[3 * k + r], x[3 * (first + k) + r] = value, value


@parallel_kernel
def _solve_tasks(plan, panel, pivot, passed, first, last, backward, x):
    for task in prange(first, last):
        total = np.empty(3 * plan.widest[0])
        if backward:
            for t in range(plan.task_start[task + 1] - 1, plan.task_start[task] - 1, -1):
                _backward(plan, panel, plan.task[t], x, total)
        else:
            for t in range(plan.task_start[task], plan.task_start[task + 1]):
                _forward(plan, panel, pivot, passed, plan.task[t], x, total)


@kernel
def solve_supernodes(factor, x_inout):
    """x = A^-1 x for x (n, 3), nodes in their own order."""
    plan, order, tasks = factor.plan, factor.order, factor.plan.task_start.shape[0] - 1
    panel, pivot, passed = factor.panel, factor.pivot, factor.passed
    x = np.empty(3 * order.shape[0])
    for k in range(order.shape[0]):
        for c in range(3):
            x[3 * k + c] = x_inout[order[k], c]
    _solve_tasks(plan, panel, pivot, passed, 0, tasks - 1, False, x)  # the last one has what others pass on
    _solve_tasks(plan, panel, pivot, passed, tasks - 1, tasks, False, x)
    _solve_tasks(plan, panel, pivot, passed, tasks - 1, tasks, True, x)
    _solve_tasks(plan, panel, pivot, passed, 0, tasks - 1, True, x)
    for k in range(order.shape[0]):
        for c in range(3):
            x_inout[order[k], c] = x[3 * k + c]
