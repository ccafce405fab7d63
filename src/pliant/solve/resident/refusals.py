"""What a device does not do yet is refused here, by name, before the first step."""

import numpy as np

from pliant.errors import SceneError
from pliant.solve.options import Dual, Explicit, Linear, Newton

# What options may be: of Newton's and of linear steps conjugate gradients with two levels.
OPTIONS = {
    "Newton": {"linear": ("auto", "pcg")},
    "Dual": {"method": ("mprgp",), "eliminate": (False,)},
    "Linear": {"factor": ("cg",), "mass": ("lumped",)},
    "Explicit": {"method": ("symplectic",)},
}
# Nodes and points of the elements that there are kernels for: tets of four and of ten nodes, springs.
KINDS = ((4, 1), (10, 4), (2, 0))
# Rigid bodies that move, whose part of linear systems is dense.
MOST_RIGID = 128


def refuse_beyond_cuda(options, model) -> None:
    """Raise a SceneError for the first thing in options or model that device "cuda" does not do yet."""
    found = _of_options(options)
    if isinstance(options, Dual):
        return _refuse(found)
    found = found or _of_bodies(model) or _of_elements(model) or _of_rows(options, model)
    second_order = getattr(options, "integrator", "euler") == "bdf2"
    if not found and second_order and model.elements.plastic:  # creep is a step of first order
        raise SceneError("pliant.Newton(integrator='bdf2') does not take plasticity; use integrator='euler'")
    _refuse(found)


def _refuse(found: str) -> None:
    if found:
        raise SceneError(f"device 'cuda' does not do {found} yet; use device='cpu'")


def _of_options(options) -> str:
    if not isinstance(options, Newton | Dual | Linear | Explicit):
        return f"pliant.{type(options).__name__}, but pliant.{', pliant.'.join(OPTIONS)}"
    name = type(options).__name__
    for option, allowed in OPTIONS[name].items():
        value = getattr(options, option)
        if value not in allowed:
            return f"pliant.{name}({option}={value!r}), but {' and '.join(map(repr, allowed))}"
    return ""


def _of_bodies(model) -> str:
    if model.rods.names:
        return f"rods, such as {model.rods.names[0]!r}"
    if not model.node_count:
        return "scenes without a soft body"
    free = int(np.sum(~model.static)) if len(model.static) else 0
    if free > MOST_RIGID:
        return f"more than {MOST_RIGID} rigid bodies that move, and there are {free}"
    return ""


def _of_rows(options, model) -> str:
    if isinstance(options, Newton):
        return ""
    names = {"joints": model.joint_names, "rigid bodies": model.rigid_names}
    for what, own in names.items():
        if own:
            return f"{what}, such as {own[0]!r}, with pliant.{type(options).__name__}, but with pliant.Newton"
    if needs_host(model):
        return f"pressures and contacts with pliant.{type(options).__name__}, but with pliant.Newton"
    return ""


def needs_host(model) -> bool:
    """Whether steps of a model have rows or pressures, which the host evaluates. A lone body that may touch itself, but
    was not asked to, has none: it passes through itself."""
    things = model.colliders.things
    return bool(model.joint_names or model.rigid_names or model.pressures or things.all_pairs(things.insists).any())


def _of_elements(model) -> str:
    for own in model.elements.sets:
        name = model.soft_names[own.parts[0].body]
        if (own.kind.nodes, own.kind.points) not in KINDS:
            return f"{own.kind.name}, which {name!r} has"
        if own.kind.points > 1 and np.any(np.isfinite(own.yield_strain[own.volume > 0])):
            return f"plasticity of {own.kind.name}, which {name!r} has"
    return ""
