"""What a device does not do yet is refused here, by name, before the first step."""

import numpy as np

from pliant.errors import SceneError
from pliant.solve.options import Newton

# Linear solvers that mean conjugate gradients with two levels.
LINEAR = ("auto", "pcg")
# Nodes of the elements that there are kernels for.
NODES = 4


def refuse_beyond_cuda(options, model) -> None:
    """Raise a SceneError for the first thing in options or model that device "cuda" does not do yet."""
    found = _of_options(options) or _of_bodies(model) or _of_elements(model)
    if not found and options.integrator == "bdf2" and model.elements.plastic:  # creep is a step of first order
        raise SceneError("pliant.Newton(integrator='bdf2') does not take plasticity; use integrator='euler'")
    if found:
        raise SceneError(f"device 'cuda' does not do {found} yet; use device='cpu'")


def _of_options(options) -> str:
    if not isinstance(options, Newton):
        return f"pliant.{type(options).__name__}, but pliant.Newton"
    if options.linear not in LINEAR:
        return f"pliant.Newton(linear={options.linear!r}), but {' and '.join(map(repr, LINEAR))}"
    return ""


def _of_bodies(model) -> str:
    if model.joint_names:
        return f"joints, such as {model.joint_names[0]!r}"
    if model.rigid_names:
        return f"rigid bodies, such as {model.rigid_names[0]!r}"
    things, names = model.colliders.things, model.soft_names
    for first, second in np.argwhere(things.all_pairs(things.insists)):
        return f"contacts, and {names[first]!r} may touch {names[second]!r} (see collide=False, self_contact=False)"
    if not model.node_count:
        return "scenes without a soft body"
    if model.pressures:
        return f"pressures, which {_owner(model, model.pressures[0][0].flat[0])!r} has"
    return ""


def _owner(model, node: int) -> str:
    """The soft body of a node."""
    return model.soft_names[int(np.searchsorted(model.node_start, node, side="right")) - 1]


def _of_elements(model) -> str:
    for own in model.elements.sets:
        name = model.soft_names[own.parts[0].body]
        if own.kind.nodes != NODES:
            return f"{own.kind.name}, which {name!r} has"
    return ""
