"""What the rows of joints ask for: compliances, targets and bounds, from their errors at the start of a step."""

from pliant.formulas.joints import soft_row
from pliant.jit import kernel
from pliant.kernels.joints import FRICTION_ROW, MOTOR_ROW, NO_MOTOR, ONE_SIDED, SPRING_ROW, TO_POSITION


@kernel
def fill_targets(blocks, compliance, damping, h, error, compliance_out, target_out, low_out):
    """Rows of all blocks as springs with damping (n,), rigid where these are zero; limits push one way alone. error and
    what is written: (slices, 3, LANES)."""
    for k in range(blocks.family.shape[0]):
        s, lane, family = blocks.slice[k], blocks.lane[k], blocks.family[k]
        softness, factor = soft_row(compliance[k], damping[k], h)
        for row in range(3):
            compliance_out[s, row, lane] = softness
            target_out[s, row, lane] = -factor * error[s, row, lane]
            if row < 2 and family in ONE_SIDED:
                low_out[s, row, lane] = 0.0


@kernel
def fill_drives(drives, goals, stops, blocks, h, error, compliance_out, target_out, low_out, high_out):
    """Rows of driven coordinates (m of them), whose errors are the coordinates: a motor towards its goal (m,) [m or
    rad, or per s] with bounded impulse, dry friction, and a spring. stops (m, 2): where rigid limits are, at which
    motors that nothing else stops end."""
    for k in range(drives.block.shape[0]):
        block = drives.block[k]
        s, lane = blocks.slice[block], blocks.lane[block]
        q, goal, kind = error[s, drives.row[k], lane], goals[k], drives.kind[k]
        compliance, target = 0.0, 0.0 if kind == NO_MOTOR else goal
        if kind == TO_POSITION:
            gain = h * drives.stiffness[k] + drives.damping[k]
            compliance, target = 1.0 / (h * gain), -drives.stiffness[k] / gain * (q - goal)
        if drives.relentless[k]:
            target = min(max(target, (stops[k, 0] - q) / h), (stops[k, 1] - q) / h)
        compliance_out[s, MOTOR_ROW, lane], target_out[s, MOTOR_ROW, lane] = compliance, target
        low_out[s, MOTOR_ROW, lane], high_out[s, MOTOR_ROW, lane] = -h * drives.bound[k], h * drives.bound[k]
        compliance_out[s, FRICTION_ROW, lane], target_out[s, FRICTION_ROW, lane] = 0.0, 0.0
        low_out[s, FRICTION_ROW, lane] = -h * drives.friction[k]
        high_out[s, FRICTION_ROW, lane] = h * drives.friction[k]
        gain = h * drives.spring[k] + drives.spring_damping[k]
        compliance, target = 0.0, 0.0
        if gain > 0.0:
            compliance, target = 1.0 / (h * gain), -drives.spring[k] / gain * (q - drives.spring_rest[k])
        compliance_out[s, SPRING_ROW, lane], target_out[s, SPRING_ROW, lane] = compliance, target
