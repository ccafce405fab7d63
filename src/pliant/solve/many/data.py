"""From models and states to the arrays of many scenes, and back."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from pliant.formulas.joints import soft_row
from pliant.kernels.joints import FACE, MOTOR_ROW, NODE, ON_COORDINATES
from pliant.model.loads import node_forces
from pliant.model.state import RowImpulses, State
from pliant.rows import joints as joint_rows
from pliant.rows.softness import joint_softness
from pliant.rows.table import Rows
from pliant.solve.many.layout import Layout, entry_counts
from pliant.solve.newton.increment import BLUR
from pliant.solve.resident.data import set_data

Program = SimpleNamespace(SetData=lambda *values: values)


def scene_arrays(a, layout: Layout, models: list, h: float):
    """What each scene has, as kernels.cuda.many_arrays (`a`) describes it; and whether tets are damped, and turn."""
    kept = {}  # scenes that share a model share its numbers
    for model in models:
        if id(model) not in kept:
            kept[id(model)] = _of_model(a, layout, model, h)
    each = [kept[id(model)] for model in models]
    columns = {name: np.stack([one[name] for one in each]) for name in each[0] if name != "law"}
    kind = type(each[0]["law"])
    law = kind(*(np.stack([one["law"][k] for one in each]) for k in range(len(kind._fields))))
    damped, rotates = bool(columns["viscous"][..., 0].any()), bool(models[0].elements.sets[0].facts.rotates)
    return a.Scenes(law=law, **columns), damped, rotates


def _of_model(a, layout: Layout, model, h: float) -> dict:
    own = model.elements.sets[0]
    _, law, gradients, volume, damping, _, _ = set_data(Program, own)
    count = len(volume)
    law = type(law)(*(np.broadcast_to(np.asarray(value, float), count) for value in law))
    viscous = np.zeros((count, 3)) if damping is None else np.stack(damping, axis=1)
    numbers = (model.node_mass, model.node_mass_damping, model.node_stiffness, model.node_damping)
    blur = BLUR * float(np.vdot(own.mu, own.volume))
    return {
        "law": law,
        "gradients": gradients.reshape(count, 9),
        "volume": volume,
        "viscous": viscous,
        "nodes": np.stack(numbers, axis=1)[layout.order],
        "force": node_forces(model, model.rest, 0.0)[layout.order],
        "scene": np.array([*model.gravity, blur]),
        "rows": given_rows(a, model, h),
    }


def program_of(kernels, layout: Layout, models: list, states: dict[str, np.ndarray], h: float):
    """The program of many scenes on a device, and what its rows are given (c, GIVEN, blocks, 3)."""
    a, l = kernels.many_arrays, layout
    scenes, damped, rotates = scene_arrays(a, layout, models, h)
    blocks = block_arrays(a, kernels.many_program.anchors, layout, models)
    sums = (l.slot_start, l.slots, l.block_start, l.block_place, l.block_row, l.block_column, l.block_codes, l.pairs)
    structure = a.Structure(l.tets, *sums, models[0].free[l.order].astype(float))
    options = {"width": layout.width, "damped": damped, "rotates": rotates}
    program = kernels.many_program.ManyProgram(structure, scenes, blocks, a.States(**states), **options)
    return program, scenes.rows


# ---- joints


def followers(blocks) -> tuple[np.ndarray, np.ndarray]:
    """For every free coordinate (m,) the first block that it can be read from, -1 for none, and the row there."""
    block, row = np.full(len(blocks.free.kind), -1), np.zeros(len(blocks.free.kind), np.int64)
    for k in np.flatnonzero(np.isin(blocks.family, ON_COORDINATES)):
        if block[blocks.which[k, 0]] < 0:
            block[blocks.which[k, 0]], row[blocks.which[k, 0]] = k, np.flatnonzero(blocks.factor[k])[0]
    return block, row


def block_arrays(a, anchor_arrays, layout: Layout, models: list):
    """Blocks of joints of all scenes; behind those of a scene, one that does nothing for every free coordinate which no
    other follows."""
    kept = {}
    for model in models:
        if id(model) not in kept:
            kept[id(model)] = _blocks_of(layout, model.joints)
    each = [kept[id(model)] for model in models]
    columns = {name: np.concatenate([one[name] for one in each]) for name in each[0] if name not in ("a", "b", "start")}
    sides = {
        side: anchor_arrays(*(np.concatenate([one[side][k] for one in each]) for k in range(5))) for side in ("a", "b")
    }
    return a.Blocks(start=each[0]["start"], **sides, **columns)


def _blocks_of(layout: Layout, blocks) -> dict:
    block, row = followers(blocks)
    idle, free = np.flatnonzero(block < 0), blocks.free
    count, more = len(blocks.family), len(idle)
    which = np.concatenate([blocks.which, np.stack([idle, np.ones(more, np.int64)], axis=1)])
    which[:count, 1] = 0
    which[block[block >= 0], 1] = 1 + row[block >= 0]
    coordinate = np.concatenate([blocks.coordinate, np.stack([free.kind[idle], 0 * idle], axis=1)])
    found = {
        "family": np.concatenate([blocks.family, np.full(more, ON_COORDINATES[0])]),
        "coordinate": coordinate.astype(np.int64),
        "which": which,
        "factor": np.concatenate([blocks.factor, np.tile([1.0, 0.0, 0.0], (more, 1))]),
        "rest": np.concatenate([blocks.rest, np.zeros((more, 3))]),
        "slice": np.arange(count + more),
        "lane": np.zeros(count + more, np.int64),
    }
    for side in ("a", "b"):
        own, other = getattr(blocks, side), getattr(free, side)
        found[side] = _anchors(layout, own, other, idle)
    whole = SimpleNamespace(family=found["family"], coordinate=coordinate)
    whole.a, whole.b = SimpleNamespace(kind=found["a"][0]), SimpleNamespace(kind=found["b"][0])
    found["start"] = np.concatenate([[0], np.cumsum(entry_counts(whole))]).astype(np.int64)
    return found


def _anchors(layout: Layout, own, other, idle: np.ndarray) -> list[np.ndarray]:
    """Columns of anchors, and of others at the numbers `idle` behind them; nodes by their places."""
    names = ("kind", "index", "local", "offset", "frame")
    columns = [np.concatenate([getattr(own, name), getattr(other, name)[idle]]) for name in names]
    kind, index = columns[0], columns[1].copy()
    for nodes, width in ((kind == FACE, 3), (kind == NODE, 1)):
        index[nodes, :width] = layout.place[index[nodes, :width]]
    columns[1] = index
    return columns


def given_rows(a, model, h: float) -> np.ndarray:
    """What the rows of a model are given (GIVEN, blocks, 3) for steps of length h [s]."""
    blocks = model.joints
    block, _ = followers(blocks)
    count, idle = len(blocks.family), int(np.sum(block < 0))
    out = np.zeros((a.GIVEN, count + idle, 3))
    if not count + idle:
        return out
    at_zero, at_one = (_targets(blocks, h, error) for error in (0.0, 1.0))
    place = (blocks.slice, slice(None), blocks.lane)
    out[a.BASE, :count], out[a.GAIN, :count] = at_zero.target[place], (at_one.target - at_zero.target)[place]
    out[a.COMPLIANCE, :count] = at_zero.compliance[place]
    out[a.LOW, :count], out[a.HIGH, :count] = at_zero.low[place], at_zero.high[place]
    out[a.SOFTNESS] = 1.0
    out[a.SOFTNESS, :count] = joint_softness(model, np.float64)[place]
    out[a.PER_REACH, :count] = np.where(blocks.rigid, 1 / np.where(blocks.rigid, blocks.reach, 1.0), 0.0)[:, None]
    return out


def _targets(blocks, h: float, error: float) -> Rows:
    """Rows with the same error all over; targets are linear in it."""
    rows = Rows.empty(blocks.start)
    joint_rows.fill_targets(blocks, rows, np.full(rows.target.shape, error), h, 0.0)
    return rows


def set_motor_rows(a, rows: np.ndarray, block: int, motor: dict[str, np.ndarray], h: float) -> None:
    """Let the motor at a block of many scenes have these numbers (k,): in rows (k, GIVEN, blocks, 3). position: no
    number where it keeps a velocity."""
    to_position = np.isfinite(motor["position"])
    stiffness = np.where(to_position, motor["stiffness"], 1.0)
    compliance, factor = soft_row.py_func(1 / stiffness, motor["damping"], h)
    at = (slice(None), block, MOTOR_ROW)
    goal = factor * np.where(to_position, motor["position"], 0.0)
    rows[:, a.BASE][at] = np.where(to_position, goal, motor["velocity"])
    rows[:, a.GAIN][at] = np.where(to_position, -factor, 0.0)
    rows[:, a.COMPLIANCE][at] = np.where(to_position, compliance, 0.0)
    rows[:, a.LOW][at], rows[:, a.HIGH][at] = -h * motor["max_torque"], h * motor["max_torque"]


# ---- states


def state_arrays(a, layout: Layout, model, state: State) -> dict[str, np.ndarray]:
    """What a device keeps of a state."""
    blocks = model.joints
    idle = int(np.sum(followers(blocks)[0] < 0))
    impulse = np.zeros((len(blocks.family) + idle, 3))
    impulse[: len(blocks.family)] = state.impulses.joints[blocks.slice, :, blocks.lane]
    change = state.memory.get("newton", {}).get("change")
    report = np.zeros(a.REPORT)
    report[a.ENERGY] = np.nan
    return {
        "x": state.x[layout.order],
        "v": state.v[layout.order],
        "before": state.previous_velocity[layout.order],
        "change": np.zeros_like(state.x) if change is None else change[layout.order],
        "impulse": impulse,
        "angle": state.angles,
        "report": report,
    }


def stacked_states(a, layout: Layout, models: list, states: list[State]) -> dict[str, np.ndarray]:
    """The same of many states, one after the other; those that are shared are looked at once."""
    kept = {}
    for model, state in zip(models, states):
        if id(state) not in kept:
            kept[id(state)] = state_arrays(a, layout, model, state)
    each = [kept[id(state)] for state in states]
    return {name: np.stack([one[name] for one in each]) for name in each[0]}


def state_from(layout: Layout, model, last: State, arrays: dict[str, np.ndarray], time: float, step: int, h: float):
    """The state that these arrays are, with what else the last one had."""
    blocks = model.joints
    joints = np.zeros_like(last.impulses.joints)
    joints[blocks.slice, :, blocks.lane] = arrays["impulse"][: len(blocks.family)]
    x, v, before, change = (arrays[name][layout.place] for name in ("x", "v", "before", "change"))
    new = replace(last, time=time, step=step, span=h, x=x, v=v, previous_velocity=before, angles=arrays["angle"])
    new = replace(new, impulses=RowImpulses(joints), memory={"newton": {"change": change}})
    return replace(new, row_impulse=_row_impulse(model, new))


def _row_impulse(model, state: State) -> np.ndarray:
    """Impulses (n, 3) [N s] of joints on nodes, zero in a model without pins (stepping.dynamics)."""
    out = np.zeros((model.triple_count, 3))
    if model.pins and len(model.joints.family):
        rows = Rows.empty(model.joints.start)
        joint_rows.errors_at(model.joints, rows, state.pose)
        model.device.rows.add_row_impulses(rows.start, rows.triples, rows.jacobian, state.impulses.joints, out)
    return out
