"""From the solver's options to the solver that works."""

import numpy as np

from pliant.errors import SceneError, about
from pliant.kernels.laws import LAWS
from pliant.solve.dual.eliminated import EliminatedSolver
from pliant.solve.dual.solver import DualSolver
from pliant.solve.explicit import ExplicitSolver
from pliant.solve.linear import LinearSolver
from pliant.solve.mixed import MixedSolver
from pliant.solve.mixed_kkt import refuse_beyond_kkt
from pliant.solve.newton.bounded import BoundedSolver, refuse_beyond_bounded
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.newton.swept import SweptSolver
from pliant.solve.options import SOLVERS, Bounded, Dual, Explicit, Linear, Mixed, Newton
from pliant.solve.resident.make import make_resident
from pliant.solve.resident.refusals import refuse_beyond_cuda
from pliant.solve.xpbd import XpbdSolver

# Laws that can be written as rows, and those without a rotation, whose stiffness is constant.
ROW_LAWS = tuple(name for name, law in LAWS.items() if law.row_form)
CONSTANT_LAWS = tuple(name for name, law in LAWS.items() if not law.rotates)


def make_solver(options, model, state, dtype: str):
    """The solver for these options; a feature of the scene it cannot honour is refused here."""
    check_solver(options, model)
    check_precision(options, dtype)
    if model.device.resident:
        return make_resident(options, model, state, dtype)
    if isinstance(options, Newton):
        return NewtonSolver(options, model, state)
    if isinstance(options, Bounded):
        return SweptSolver(options, model) if SweptSolver.fits(model) else BoundedSolver(options, model, state)
    if isinstance(options, Mixed):
        return MixedSolver(options, model, state)
    if isinstance(options, Dual):
        return EliminatedSolver(options, model, state) if options.eliminate else DualSolver(options, model, dtype)
    if isinstance(options, Linear):
        return LinearSolver(options, model)
    return ExplicitSolver(options, model) if isinstance(options, Explicit) else XpbdSolver(options, model)


def check_solver(options, model) -> None:
    """Refuse what the solver of these options, or the device of the model, cannot honour."""
    if not isinstance(options, tuple(SOLVERS.values())):
        raise SceneError(f"solver must be one of pliant's, such as pliant.Newton(), got {options!r}")
    if model.device.resident:
        refuse_beyond_cuda(options, model)
    if not isinstance(options, Newton | Mixed):
        _refuse_torques(options, model)
    _refuse_rods(options, model)
    if isinstance(options, Newton | Bounded | Explicit):
        _refuse_flow(options, model)
    if isinstance(options, Newton):
        return
    if isinstance(options, Bounded):
        refuse_beyond_bounded(model)
    elif isinstance(options, Mixed):
        _refuse_beyond_mixed(options, model)
    elif isinstance(options, Dual):
        _refuse_what_is_no_rows(model, "Dual")
    elif isinstance(options, Linear):
        _refuse_beyond_linear(options, model)
    elif isinstance(options, Explicit):
        _refuse_beyond_explicit(options, model)
    else:
        _refuse_what_is_no_rows(model, "Xpbd")
        _refuse_beyond_xpbd(model)


def check_precision(options, dtype: str) -> None:
    """Refuse a precision that the solver of these options would not follow: Dual alone lets it be chosen."""
    if dtype == "float64" or (isinstance(options, Dual) and not options.eliminate):
        return
    name = "Dual(eliminate=True)" if isinstance(options, Dual) else type(options).__name__
    with about("precision"):
        raise SceneError(
            f"precision {dtype!r} is of pliant.Dual() alone; pliant.{name} computes in float64, and where single "
            f"precision is enough for a linear system it chooses that itself; leave precision out"
        )


def _refuse_torques(options, model) -> None:
    """Torques of contacts are rows whose bounds follow normal impulses, which Newton's method alone has."""
    things = model.colliders.things
    for name in ("rolling", "torsional"):
        those = np.flatnonzero(np.nan_to_num(getattr(things, name)) > 0)
        if len(those):
            body = [*model.soft_names, *model.rigid_names][those[0]]
            raise SceneError(
                f"pliant.{type(options).__name__} has no {name}_friction, which body {body!r} has; use pliant.Newton()"
            )


def _refuse_rods(options, model) -> None:
    """Rods are elements of Newton's method, of mixed and of symplectic steps."""
    if not model.rods.names or isinstance(options, Newton | Mixed):
        return
    if isinstance(options, Explicit) and options.method == "symplectic":
        return
    raise SceneError(
        f"rod {model.rods.names[0]!r}: rods are solved by pliant.Newton(), pliant.Mixed() and "
        f"pliant.Explicit(method='symplectic'), not by {options!r}"
    )


def _refuse_laws(model, solver: str, allowed: tuple[str, ...]) -> None:
    for own in model.elements.sets:
        if own.law not in allowed:
            raise SceneError(
                f"pliant.{solver} knows the laws {', '.join(allowed)}, but body {_first_body(model, own)!r} is "
                f"{own.law}; use pliant.Newton(), which takes them all"
            )


def _refuse_what_is_no_rows(model, solver: str) -> None:
    for own in model.elements.sets:
        if not own.kind.row_form:
            raise SceneError(
                f"pliant.{solver} has no rows for {own.kind.name}, which body {_first_body(model, own)!r} has; "
                f"use pliant.Newton(){', or a mesh of order 1' if own.kind.points > 1 else ''}"
            )
    _refuse_laws(model, solver, ROW_LAWS)


def _refuse_beyond_xpbd(model) -> None:
    """Sweeps over rows that follow positions know what is to be held, and nothing of velocities and of change."""
    blocks = model.joints
    found = {
        "a motor, friction or a spring within a joint": blocks.joint[blocks.drives.block],
        "restitution of limits": blocks.joint[blocks.restitution > 0],
        "lengths that move": blocks.joint[[block for block, _, _ in blocks.moving]],
        "joints that break": np.array(list(model.fragile), dtype=int),
    }
    for what, joints in found.items():
        if len(joints):
            raise SceneError(
                f"pliant.Xpbd has no place for {what}, which {model.joint_names[joints[0]]!r} has; use pliant.Newton()"
            )


def _first_body(model, own) -> str:
    """The name of the first body of an element set."""
    return model.soft_names[own.parts[0].body]


def _refuse_flow(options, model) -> None:
    """A plastic strain of 1 would flatten an element whose energy is that of its shape without it."""
    for own in model.elements.volumes:
        finite = own.max_strain[np.isfinite(own.yield_strain) & (own.volume > 0)]
        if np.any(finite >= 1):
            name = type(options).__name__
            raise SceneError(f"pliant.{name} needs a plasticity max_strain below 1, got {finite.max():g}")


def _refuse_beyond_mixed(options: Mixed, model) -> None:
    """Laws that see rotations, and nothing that flows."""
    if model.elements.plastic:
        raise SceneError("pliant.Mixed has no plasticity; use pliant.Newton()")
    for own in model.elements.sets:
        if not own.facts.rotates:
            raise SceneError(
                f"pliant.Mixed is of laws that see rotations, but body {_first_body(model, own)!r} is {own.law}; "
                f"use pliant.Linear() or pliant.Newton()"
            )
    if options.system == "kkt":
        refuse_beyond_kkt(model)


def _refuse_beyond_linear(options: Linear, model) -> None:
    """Linear elasticity only; joints and contacts only on block factors."""
    if not model.node_count:
        raise SceneError("pliant.Linear needs a soft body of the law linear; this scene has none. Use pliant.Newton()")
    _refuse_laws(model, "Linear", CONSTANT_LAWS)
    if options.factor != "cholesky":
        rows = _what_needs_rows(model)
        if rows:
            raise SceneError(f"pliant.Linear(factor={options.factor!r}) has no place for {rows}; use factor='cholesky'")


def _refuse_beyond_explicit(options: Explicit, model) -> None:
    """Runge-Kutta's stages know forces alone."""
    if options.method == "symplectic":
        return
    trouble = "plasticity" if model.elements.plastic else _what_needs_rows(model)
    if trouble:
        raise SceneError(
            f"pliant.Explicit(method={options.method!r}) has no place for {trouble}; use method='symplectic'"
        )


def _what_needs_rows(model) -> str:
    """The joints or possible contacts of a scene in words; empty when it has neither."""
    if model.joint_names:
        return f"joints, such as {model.joint_names[0]!r}"
    names = [*model.soft_names, *model.rigid_names]
    things = model.colliders.things
    if not things.may_touch_others().any():
        return ""
    pairs = np.argwhere(things.all_pairs(things.insists))
    for a, b in pairs:
        if a != b:
            return f"contacts, and {names[a]!r} may touch {names[b]!r} (see collide=False)"
    if len(pairs):
        return f"contacts, and {names[pairs[0, 0]]!r} may touch itself (see self_contact=False)"
    return ""
