"""Contacts of rigid bodies as sweeps over them take them: the numbers of each, and groups of lanes that move no body
twice."""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.lanes import LANES

# Determinant of a contact's block, relative to the product of its diagonal, below which it is singular.
SINGULAR = 1e-12
# Places of a contact's numbers: directions (3, 3), moments about the first body and about the second, what impulses
# turn these by (each 3, 3), inverse masses (2), J M^-1 J^T + R (6: 00, 11, 22, 12, 02, 01), its inverse (6), steps of
# normal and of tangent impulses for a rate of 1 m/s (2), compliances (3), friction, targets (3), one over what is slow.
FIRST, SECOND, TURN_FIRST, TURN_SECOND, MASSES, BLOCK, INVERSE, STEPS, SOFT, ROUGH, AIM, SLOW = (
    9,
    18,
    27,
    36,
    45,
    47,
    53,
    59,
    61,
    64,
    65,
    68,
)
NUMBERS = 69


@kernel
def symmetric_times(m, a, b, c):
    """A symmetric matrix (6: xx, yy, zz, yz, xz, xy) times a vector."""
    return m[0] * a + m[5] * b + m[4] * c, m[5] * a + m[1] * b + m[3] * c, m[4] * a + m[3] * b + m[2] * c


@kernel
def gather_contact(start, triples, jacobian, inverse_mass, compliance, friction, s, lane, out):
    """The numbers of a contact, without targets and what is slow."""
    out[:] = 0.0
    block = np.zeros((3, 3))
    for side in range((start[s + 1] - start[s]) // 2):
        entry = start[s] + 2 * side
        triple = triples[entry, lane]
        if triple == triples[entry + 1, lane]:  # nothing in this lane
            continue
        out[MASSES + side] = inverse_mass[triple, 0]
        for row in range(3):
            moment, turn = FIRST + 9 * side + 3 * row, TURN_FIRST + 9 * side + 3 * row
            for c in range(3):
                if side == 0:
                    out[3 * row + c] = jacobian[entry, 3 * row + c, lane]
                out[moment + c] = jacobian[entry + 1, 3 * row + c, lane]
            a, b, c = symmetric_times(inverse_mass[triple + 1], out[moment], out[moment + 1], out[moment + 2])
            out[turn], out[turn + 1], out[turn + 2] = a, b, c
    for row in range(3):
        for column in range(3):
            total = 0.0
            for c in range(3):
                total += (out[MASSES] + out[MASSES + 1]) * out[3 * row + c] * out[3 * column + c]
                total += out[FIRST + 3 * row + c] * out[TURN_FIRST + 3 * column + c]
                total += out[SECOND + 3 * row + c] * out[TURN_SECOND + 3 * column + c]
            block[row, column] = total
        out[SOFT + row] = compliance[s, row, lane]
        block[row, row] += out[SOFT + row]
    out[ROUGH] = friction[s, lane]
    _invert(block, out)


@kernel
def _invert(block, out):
    """Write a block (3, 3), its inverse, or zeros where it is singular, and steps of impulses."""
    b00, b11, b22, b12, b02, b01 = block[0, 0], block[1, 1], block[2, 2], block[1, 2], block[0, 2], block[0, 1]
    out[BLOCK], out[BLOCK + 1], out[BLOCK + 2] = b00, b11, b22
    out[BLOCK + 3], out[BLOCK + 4], out[BLOCK + 5] = b12, b02, b01
    if b00 > 0.0:
        out[STEPS], out[STEPS + 1] = 1.0 / b00, 1.0 / (max(b11, b22) + abs(b12))
    c0, c1, c2 = b11 * b22 - b12 * b12, b02 * b12 - b01 * b22, b01 * b12 - b02 * b11
    determinant = b00 * c0 + b01 * c1 + b02 * c2
    if determinant > SINGULAR * b00 * b11 * b22:
        out[INVERSE], out[INVERSE + 5], out[INVERSE + 4] = c0 / determinant, c1 / determinant, c2 / determinant
        out[INVERSE + 1] = (b00 * b22 - b02 * b02) / determinant
        out[INVERSE + 2] = (b00 * b11 - b01 * b01) / determinant
        out[INVERSE + 3] = (b01 * b02 - b00 * b12) / determinant


@kernel
def _ends(start, triples, s, lane, free, ends_out):
    """The linear triples (2,) of the bodies of a contact; that of a body that does not move is one beyond all others,
    `free`. Whether there is one that moves."""
    ends_out[0], ends_out[1] = free, free
    for side in range((start[s + 1] - start[s]) // 2):
        triple = triples[start[s] + 2 * side, lane]
        if triple != triples[start[s] + 2 * side + 1, lane]:
            ends_out[side] = triple
    return min(ends_out[0], ends_out[1]) < free


@kernel
def _placed(first, second, free, first_open, last, filled):
    """The group into which a contact of two bodies goes, those that do not move from `free` on: the first that has room
    after all groups that move either. last (bodies,), filled (groups,): the last group that moves a body, how many
    contacts a group has; both change. No group before first_open has room."""
    group = first_open
    if first < free:
        group = max(group, last[first] + 1)
    if second < free:
        group = max(group, last[second] + 1)
    while filled[group] == LANES:
        group += 1
    filled[group] += 1
    if first < free:
        last[first] = group
    if second < free:
        last[second] = group
    return group


@kernel
def group_contacts(start, triples, impulse, free, group_out, lane_out, ends_out):
    """The group and the lane (slices, LANES) in it of every contact, -1 where there is none, and its `_ends` (slices,
    LANES, 2). Contacts that carry load, by impulses (slices, 3, LANES), come first: how many groups of these, and how
    many there are."""
    last, filled = np.full(free + 1, -1), np.zeros(group_out.size + 2, np.int64)
    loaded, count, first_open = 0, 0, 0
    for turn in range(2):
        for s in range(start.shape[0] - 1):
            for lane in range(LANES):
                if (impulse[s, 0, lane] > 0.0) != (turn == 0):
                    continue
                ends = ends_out[s, lane]
                if not _ends(start, triples, s, lane, free, ends):
                    group_out[s, lane] = -1
                    continue
                group = _placed(ends[0], ends[1], free, first_open, last, filled)
                group_out[s, lane], lane_out[s, lane] = group, filled[group] - 1
                count = max(count, group + 1)
                while filled[first_open] == LANES:
                    first_open += 1
        if turn == 0:
            loaded, first_open = count, count
    return loaded, count
