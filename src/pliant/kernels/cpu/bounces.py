"""Impacts that bodies in contact pass on to each other, before a step that is to end with them.

Newton's law of a contact looks at what approached when the step began; of balls that touch, it lets only the first one
bounce. Here velocities are reflected at contacts that approach, then at those which approach after that, until none
does (the generalized reflections of Smith, Kaufman, Vouga, Tamstorf, Grinspun, Reflections on Simultaneous Impact,
2012, section 4). All contacts of an impact that hang together take the smallest coefficient among them: with one
coefficient a reflection gains no energy, whatever it is.
"""

import numpy as np

from pliant.jit import kernel

# Rounds of reflections, sweeps of each over the contacts that approach, and the part of the largest speed to which
# these bring approaches.
MOST_ROUNDS, MOST_SWEEPS, ENOUGH = 1000, 200, 1e-12
# Approaches below this part of the largest at first end the rounds: they would go on for ever where balls clack.
LEAST = 1e-4


@kernel
def _rate(jacobian, body, velocity, k):
    total = 0.0
    for side in range(2):
        for c in range(6):
            total += jacobian[k, side, c] * velocity[body[k, side], c]
    return total


@kernel
def _push(answer, body, k, impulse, velocity):
    for side in range(2):
        for c in range(6):
            velocity[body[k, side], c] += impulse * answer[k, side, c]


@kernel
def _project(jacobian, answer, body, approaching, velocity, impulse):
    """Impulses (k,) after which no contact that is approaching approaches, and none of which pulls; velocity (b, 6) is
    then what they leave."""
    for _ in range(MOST_SWEEPS):
        worst, largest = 0.0, 0.0
        for k in range(len(body)):
            if approaching[k]:
                weight = 0.0
                for side in range(2):
                    for c in range(6):
                        weight += jacobian[k, side, c] * answer[k, side, c]
                change = max(-_rate(jacobian, body, velocity, k) / weight, -impulse[k]) if weight > 0.0 else 0.0
                impulse[k] += change
                _push(answer, body, k, change, velocity)
                worst, largest = max(worst, abs(change)), max(largest, impulse[k])
        if worst <= ENOUGH * largest:
            break


@kernel
def _least_coefficients(body, moves, impulse, restitution, group, out):
    """The smallest coefficients out (k,) among contacts that push and hang together by bodies that move; group (b,):
    work space."""
    for b in range(len(group)):
        group[b] = b
    changed = True
    while changed:
        changed = False
        for k in range(len(body)):
            i, j = body[k, 0], body[k, 1]
            if impulse[k] > 0.0 and moves[i] and moves[j] and group[i] != group[j]:
                group[i] = group[j] = min(group[i], group[j])
                changed = True
    least = np.ones(len(group))
    for k in range(len(body)):
        if impulse[k] > 0.0:
            b = group[body[k, 0] if moves[body[k, 0]] else body[k, 1]]
            least[b] = min(least[b], restitution[k])
    for k in range(len(body)):
        out[k] = least[group[body[k, 0] if moves[body[k, 0]] else body[k, 1]]]


@kernel
def pass_on(jacobian, answer, body, moves, gap, restitution, threshold, h, velocity, speed_out):
    """Normal speeds (k,) [m/s] with which contacts that take part in an impact end it, minus infinity for others.

    jacobian (k, 2, 6): of the normal speeds; answer: what a unit impulse changes velocities by; body (k, 2), of which
    moves (b,) do. gap (k,) [m] at the start of a step of h [s]: only what gets there in time takes part. Approaches
    slower than the threshold [m/s] are none. velocity (b, 6) [m/s, rad/s]: at the start, then after all.
    """
    count = len(body)
    pushed, impulse, least = np.zeros(count), np.empty(count), np.empty(count)
    approaching, group, slow = np.empty(count, np.bool_), np.empty(len(moves), np.int64), threshold
    for turn in range(MOST_ROUNDS):
        fastest = 0.0
        for k in range(count):
            rate, impulse[k] = _rate(jacobian, body, velocity, k), 0.0
            approaching[k] = rate < -slow and gap[k] + h * rate <= 0.0
            if approaching[k]:
                fastest = max(fastest, -rate)
        if fastest == 0.0:
            break
        slow = max(threshold, LEAST * fastest) if turn == 0 else slow
        before = velocity.copy()
        _project(jacobian, answer, body, approaching, velocity, impulse)
        velocity[:] = before
        _least_coefficients(body, moves, impulse, restitution, group, least)
        for k in range(count):
            if impulse[k] > 0.0:
                _push(answer, body, k, (1.0 + least[k]) * impulse[k], velocity)
                pushed[k] += impulse[k]
    for k in range(count):
        speed_out[k] = _rate(jacobian, body, velocity, k) if pushed[k] > 0.0 else -np.inf
