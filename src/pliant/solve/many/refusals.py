"""What a device does not do for many scenes at once is refused here, by name, before the first step."""

import numpy as np

from pliant.errors import SceneError
from pliant.kernels.joints import LENGTH, ON_COORDINATES, PLAIN
from pliant.solve.options import Newton

# Linear solvers that mean a factorisation; nodes of the elements that there are kernels for.
LINEAR, NODES = ("auto", "cholesky"), 4
# How alike scenes must be: what of their models has to be the same, in words.
SAME = {
    "nodes": lambda model: model.node_start,
    "elements": lambda model: model.elements.sets[0].connectivity,
    "laws": lambda model: np.array([type(model.elements.sets[0].own_law.law).__name__]),
    "pinned components": lambda model: model.free,
    "joints": lambda model: np.stack([model.joints.family, model.joints.joint]),
    "coordinates of joints": lambda model: np.stack([model.joints.coordinate, model.joints.which]),
    "sides a of joints": lambda model: np.column_stack([model.joints.a.kind, model.joints.a.index]),
    "sides b of joints": lambda model: np.column_stack([model.joints.b.kind, model.joints.b.index]),
    "driven coordinates": lambda model: model.joints.drives.block,
}


def refuse_beyond_many(options, models: list, numbers: list[int] | None = None) -> None:
    """Raise a SceneError for the first thing in options or models that many scenes on device "cuda" do not do; numbers:
    of the scenes, if not all are given."""
    if found := _of_options(options):
        raise SceneError(f"many scenes on device 'cuda' do not do {found} yet; use device='cpu'")
    first = models[0]
    for k, (i, model) in enumerate(zip(numbers or range(len(models)), models)):
        if k and model is models[k - 1]:
            continue  # of the same scene
        if found := _of_bodies(model) or _of_elements(model) or _of_joints(model):
            raise SceneError(f"scene {i}: many scenes on device 'cuda' do not do {found} yet; use device='cpu'")
        for what, read in SAME.items():
            if not np.array_equal(read(model), read(first)):
                raise SceneError(
                    f"scene {i}: many scenes on device 'cuda' must be of one structure, and its {what} are not those "
                    f"of scene 0; use device='cpu'"
                )


def _of_options(options) -> str:
    if not isinstance(options, Newton):
        return f"pliant.{type(options).__name__}, but pliant.Newton"
    if options.linear not in LINEAR:
        return f"pliant.Newton(linear={options.linear!r}), but {' and '.join(map(repr, LINEAR))}"
    return "" if options.integrator == "euler" else "BDF2, but implicit Euler"


def _of_bodies(model) -> str:
    if model.rigid_names:
        return f"rigid bodies, such as {model.rigid_names[0]!r}"
    things, names = model.colliders.things, model.soft_names
    for first, second in np.argwhere(things.all_pairs(things.insists)):
        return f"contacts, and {names[first]!r} may touch {names[second]!r} (see collide=False, self_contact=False)"
    if not model.node_count:
        return "scenes without a soft body"
    if model.pressures:
        return "pressures"
    if model.winds:
        return "winds"
    if any(callable(vector) for _, _, vector in model.node_loads):
        return "loads that are functions of time"
    if any(pin.velocity is not None or pin.displacement is not None for pin in model.pins):
        return "pins that move"
    return ""


def _of_elements(model) -> str:
    sets = model.elements.sets
    for own in sets:
        if own.kind.nodes != NODES:
            return f"{own.kind.name}, which {model.soft_names[own.parts[0].body]!r} has"
    if len(sets) > 1:
        return "several material laws in a scene"
    return "plasticity" if model.elements.plastic else ""


def _of_joints(model) -> str:
    blocks, names = model.joints, model.joint_names
    for k, family in enumerate(blocks.family):
        name = names[blocks.joint[k]] if blocks.joint[k] >= 0 else ""
        on_length = family in ON_COORDINATES and blocks.coordinate[k, 0] == LENGTH
        if family not in PLAIN or on_length:
            return f"distances, ropes, tendons, gears and the like, as joint {name!r}"
        if blocks.restitution[k] > 0:
            return f"limits that bounce, as those of joint {name!r}"
    if blocks.moving:
        return "joints whose lengths move"
    if model.fragile:
        return f"joints that break, as {names[next(iter(model.fragile))]!r}"
    drives = blocks.drives
    for k, (velocity, position) in enumerate(zip(drives.velocity, drives.position)):
        name = names[blocks.joint[drives.block[k]]]
        if callable(velocity) or callable(position):
            return f"motors whose goal is a function of time, as that of joint {name!r} (set_motor changes it)"
        if drives.relentless[k] and np.isfinite(blocks.stops[k]).any():
            return f"motors of unlimited force against limits, as that of joint {name!r}"
    return ""
