"""Joints where a step leads, and all rows as a potential there: what Newton's method evaluates again and again."""

import numpy as np

from pliant.formulas.rotation import quaternion_multiply, quaternion_unit, rotation_increment
from pliant.jit import kernel
from pliant.kernels.cpu.anchors import quaternion_at
from pliant.kernels.cpu.joints import (
    add_turning_stiffness,
    distance_curvatures,
    follow_turns,
    foresee_coordinates,
)
from pliant.kernels.cpu.rows import add_scaled_impulses, row_response
from pliant.kernels.cpu.table import row_mobilities
from pliant.kernels.lanes import LANES

# Compliance of joints' rows relative to their mobility up to which they are met like rigid ones, by multipliers: what
# is so stiff turns the rounding of positions into impulses.
NEARLY_RIGID = 1e-13


@kernel
def move_bodies(position, rotation, h, u, node_count, turn_out, position_out, rotation_out):
    """Bodies after h [s] with velocities u (triples, 3): what they turn by (b, 3) [rad], positions, orientations."""
    for b in range(position.shape[0]):
        linear, angular = node_count + 2 * b, node_count + 2 * b + 1
        turn = (h * u[angular, 0], h * u[angular, 1], h * u[angular, 2])
        new = quaternion_unit(quaternion_multiply(rotation_increment(1.0, turn), quaternion_at(rotation, b)))
        for c in range(3):
            turn_out[b, c] = turn[c]
            position_out[b, c] = position[b, c] + h * u[linear, c]
        for c in range(4):
            rotation_out[b, c] = new[c]


@kernel
def lead_bodies(pose, h, u, turn_out, pose_out):
    """The pose (angles, which stay, nodes, positions and rotations of bodies) to which velocities u (triples, 3) lead
    in h [s], and what bodies turn by (b, 3) [rad]."""
    _, x, position, rotation = pose
    _, x_out, position_out, rotation_out = pose_out
    for i in range(x.shape[0]):
        for c in range(3):
            x_out[i, c] = x[i, c] + h * u[i, c]
    move_bodies(position, rotation, h, u, x.shape[0], turn_out, position_out, rotation_out)


@kernel
def lead_joints(free, watched, pose, h, u, turn_out, pose_out):
    """The pose to which velocities u (triples, 3) lead in h [s]: angles, nodes, positions and rotations of bodies, and
    what bodies turn by (b, 3) [rad].

    free: all coordinates, of which rows act on those `watched` (k,); pose: at the start.
    """
    near, x, position, rotation = pose
    lead_bodies(pose, h, u, turn_out, pose_out)
    foresee_coordinates(free, watched, near, x, position, rotation, u, h, pose_out[0])


@kernel
def follow_joints(start, before, h, node_count, turn, triples, jacobian_inout, error, rate_out):
    """Rates of joints, from errors before and at the end of a step (slices, 3, LANES), and their Jacobians there for
    turns from the start on."""
    for s in range(error.shape[0]):
        for row in range(error.shape[1]):
            for lane in range(error.shape[2]):
                rate_out[s, row, lane] = (error[s, row, lane] - before[s, row, lane]) / h
    follow_turns(start, triples, node_count, turn, jacobian_inout)


@kernel
def evaluate_rows(
    rows, velocity, blocks, estimate, error, h, joint_rate, slip_out, impulse_out, curvature_out, gradient_inout
):
    """Potentials [J] of the joints' rows and of the others at velocities (triples, 3), as `row_response` has them, with
    the curvature across distances under tension by the estimated impulses; gradient_inout (triples, 3) -= J^T impulse,
    unless it has no rows.

    rows: start, triples, jacobian, target, low, high, friction, compliance.
    """
    start, triples, jacobian = rows[0], rows[1], rows[2]
    answers = (slip_out, impulse_out, curvature_out)
    of_joints, energy = row_response(*rows, velocity, joint_rate.shape[0], joint_rate, *answers)
    distance_curvatures(blocks, estimate, error, h, curvature_out)
    if gradient_inout.shape[0]:
        add_scaled_impulses(start, triples, jacobian, impulse_out, -1.0, gradient_inout)
    return of_joints, energy


@kernel
def largest_gap(error, hard, per_reach, per_range):
    """The largest error of a hard row of joints (slices, 3, LANES) over its reach, or negative one over its range:
    per_reach, per_range (slices, LANES) are 1 over these, 0 where they do not count."""
    most = 0.0
    for s in range(error.shape[0]):
        for row in range(error.shape[1]):
            for lane in range(error.shape[2]):
                gap = abs(error[s, row, lane]) * per_reach[s, lane]
                gap = max(gap, -error[s, row, lane] * per_range[s, lane])
                if hard[s, row, lane]:
                    if gap != gap:  # no number
                        return gap
                    most = max(most, gap)
    return most


@kernel
def _on_bodies(start, triples, jacobian, s, lane, node_count):
    """Whether a block touches no node."""
    for entry in range(start[s], start[s + 1]):
        if triples[entry, lane] < node_count:  # lanes that are not used name the first, with nothing
            for c in range(3):
                if jacobian[entry, c, lane] != 0.0:
                    return False
    return True


@kernel
def soften_rows(
    start,
    triples,
    jacobian,
    compliance,
    low,
    friction,
    inverse_mass,
    loose_mass,
    contact_mass,
    joint_softness,
    normal_softness,
    tangent_softness,
    lightest,
    firmness,
    node_count,
    first_torque,
    no_mobility,
    no_impulse,
    mobility_out,
    hard_out,
    compliance_out,
):
    """Mobilities of rows, which of them are rigid or nearly so, and the compliances that they get (slices, 3, LANES),
    beyond their own; others keep theirs. A row that can move nothing gets no impulse to speak of.

    inverse_mass, loose_mass (triples, 6): with, and as if without, what is prescribed; the latter has no rows where no
    node is. contact_mass (triples, 6): the first for contacts. joint_softness (joint slices, 3,
    LANES), normal_softness, tangent_softness: compliances relative to mobilities; of contacts, whose slices end at
    first_torque, they are at most `lightest` times what they are by the least mobility of a normal row, and those of
    contacts that touch no node are `firmness` times as large.
    """
    joint_slices, slices = joint_softness.shape[0], start.shape[0] - 1
    without_pins, pinned = np.empty(mobility_out.shape), loose_mass.shape[0] > 0
    joints = (start[: joint_slices + 1], triples, jacobian, inverse_mass)
    row_mobilities(*joints, mobility_out[:joint_slices])
    row_mobilities(start[joint_slices:], triples, jacobian, contact_mass, mobility_out[joint_slices:])
    if pinned:
        row_mobilities(start, triples, jacobian, loose_mass, without_pins)
    least = np.inf
    for s in range(slices):
        for row in range(3):
            for lane in range(LANES):
                loose = without_pins[s, row, lane] if pinned else mobility_out[s, row, lane]
                dead = mobility_out[s, row, lane] <= no_mobility * loose
                if dead:
                    mobility_out[s, row, lane] = loose if loose > 0.0 else 1.0
                rigid = compliance[s, row, lane] == 0.0
                stiff = s < joint_slices and compliance[s, row, lane] <= NEARLY_RIGID * mobility_out[s, row, lane]
                hard_out[s, row, lane] = (rigid or stiff) and not dead
                compliance_out[s, row, lane] = compliance[s, row, lane]
                if dead and rigid:
                    compliance_out[s, row, lane] = -no_impulse
                if joint_slices <= s < first_torque and row == 0 and low[s, 0, lane] == 0.0:
                    least = min(least, mobility_out[s, 0, lane])
    for s in range(slices):
        for lane in range(LANES):
            for row in range(3):
                felt, given = mobility_out[s, row, lane], compliance_out[s, row, lane]
                if joint_slices <= s < first_torque:
                    felt = min(felt, lightest * least)
                if given < 0.0:
                    compliance_out[s, row, lane] = no_impulse * felt
                elif hard_out[s, row, lane]:
                    soft = normal_softness if row == 0 else tangent_softness
                    if firmness != 1.0 and joint_slices <= s < first_torque:
                        soft *= firmness if _on_bodies(start, triples, jacobian, s, lane, node_count) else 1.0
                    if s < joint_slices:
                        soft = joint_softness[s, row, lane]
                    compliance_out[s, row, lane] = given + soft * felt
            if friction[s, lane] > 0.0:  # the cone is round, also where one of its directions is prescribed
                one, other = compliance_out[s, 1, lane], compliance_out[s, 2, lane]
                alike = hard_out[s, 1, lane] == hard_out[s, 2, lane]
                chosen = max(one, other) if alike else min(one, other)
                compliance_out[s, 1, lane] = compliance_out[s, 2, lane] = chosen


@kernel
def add_turning_blocks(blocks, impulse, jacobian, body_rotation, h, node_count, blocks_inout):
    """Adds h^2 times the stiffness of bodies against turning under impulses (slices, 3, LANES) of joints to the angular
    ones of blocks (triples, 3, 3)."""
    turning = np.zeros((body_rotation.shape[0], 6))
    add_turning_stiffness(blocks, impulse, jacobian, body_rotation, h, turning)
    for b in range(turning.shape[0]):
        t, own = turning[b], blocks_inout[node_count + 2 * b + 1]
        own[0, 0] += t[0]
        own[1, 1] += t[1]
        own[2, 2] += t[2]
        own[1, 2] += t[3]
        own[2, 1] += t[3]
        own[0, 2] += t[4]
        own[2, 0] += t[4]
        own[0, 1] += t[5]
        own[1, 0] += t[5]


@kernel
def row_mismatch(
    hard, compliance, impulse, shift, mobility, friction, slip, new_slip, per_reach, met, stiff_part, little
):
    """Twice the errors of rigid rows in velocity as kinetic energies [J], and of the slips that lag.

    The first slices are joints, whose errors count by their compliances as far as these are below stiff_part times
    mobilities; met: whether those with a reach count for nothing. little (slices, 3, LANES): errors [m/s] that count
    for nothing, or none.
    """
    total, joint_slices = 0.0, per_reach.shape[0]
    for s in range(impulse.shape[0]):
        for lane in range(LANES):
            for row in range(3):
                error = compliance[s, row, lane] * (impulse[s, row, lane] - shift[s, row, lane])
                if not hard[s, row, lane] or (little.shape[0] and abs(error) <= little[s, row, lane]):
                    continue
                measure = mobility[s, row, lane]
                if s < joint_slices:
                    if met and per_reach[s, lane] != 0.0:
                        continue
                    measure = min(measure, compliance[s, row, lane] / stiff_part)
                total += error * error / measure
            if impulse[s, 0, lane] > 0.0 and hard[s, 0, lane]:
                opening = friction[s, lane] * (new_slip[s, lane] - slip[s, lane])
                total += opening * opening / mobility[s, 0, lane]
    return total
