"""From the solver's options to the solver that works."""

import numpy as np

from pliant.errors import SceneError
from pliant.solve.dual.eliminated import EliminatedSolver
from pliant.solve.dual.solver import DualSolver
from pliant.solve.explicit import ExplicitSolver
from pliant.solve.linear import LinearSolver
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.options import Dual, Explicit, Linear, Newton, Xpbd
from pliant.solve.xpbd import XpbdSolver

# Laws that are linear in the strain of a rotated frame, and so can be written as rows.
ROW_LAWS = ("linear", "corotated", "springs")


def make_solver(options, model, state, dtype: str):
    """The solver for these options; a feature of the scene it cannot honour is refused here."""
    if isinstance(options, Newton):
        _refuse_flow(model)
        return NewtonSolver(options, model, state)
    if isinstance(options, Dual):
        _refuse_laws(model, "Dual", ROW_LAWS)
        return EliminatedSolver(options, model, state) if options.eliminate else DualSolver(options, model, dtype)
    if isinstance(options, Linear):
        _refuse_beyond_linear(options, model)
        return LinearSolver(options, model)
    if isinstance(options, Explicit):
        _refuse_beyond_explicit(options, model)
        return ExplicitSolver(options, model)
    if isinstance(options, Xpbd):
        _refuse_laws(model, "Xpbd", ROW_LAWS)
        return XpbdSolver(options, model)
    raise SceneError(f"solver must be one of pliant's, such as pliant.Newton(), got {options!r}")


def _refuse_laws(model, solver: str, allowed: tuple[str, ...]) -> None:
    for law in model.laws:
        if law.name not in allowed:
            body = model.soft_names[int((model.group_start <= law.first).sum()) - 1]
            raise SceneError(
                f"pliant.{solver} knows the laws {', '.join(allowed)}, but soft body {body!r} is {law.name}; "
                f"use pliant.Newton(), which takes them all"
            )


def _refuse_flow(model) -> None:
    """A plastic strain of 1 would flatten an element."""
    finite = model.max_strain[np.isfinite(model.yield_strain) & (model.volume > 0)]
    if np.any(finite >= 1):
        raise SceneError(f"pliant.Newton needs a plasticity max_strain below 1, got {finite.max():g}")


def _refuse_beyond_linear(options: Linear, model) -> None:
    """Linear elasticity only; joints and contacts only on block factors."""
    if not model.node_count:
        raise SceneError("pliant.Linear needs a soft body of the law linear; this scene has none. Use pliant.Newton()")
    _refuse_laws(model, "Linear", ("linear",))
    if options.factor != "cholesky":
        rows = _what_needs_rows(model)
        if rows:
            raise SceneError(f"pliant.Linear(factor={options.factor!r}) has no place for {rows}; use factor='cholesky'")


def _refuse_beyond_explicit(options: Explicit, model) -> None:
    """Runge-Kutta's stages know forces alone."""
    if options.method == "symplectic":
        return
    trouble = "plasticity" if model.plastic else _what_needs_rows(model)
    if trouble:
        raise SceneError(
            f"pliant.Explicit(method={options.method!r}) has no place for {trouble}; use method='symplectic'"
        )


def _what_needs_rows(model) -> str:
    """The joints or possible contacts of a scene in words; empty when it has neither."""
    if model.joint_names:
        return f"joints, such as {model.joint_names[0]!r}"
    for surface in model.soft_surfaces:
        if len(surface.against):
            body = model.soft_names[int(np.searchsorted(model.node_start, surface.nodes[0], side="right")) - 1]
            return f"contacts, and {body!r} may touch {model.rigid_names[surface.against[0]]!r} (see collide=False)"
    count = model.body_count
    for place, i in enumerate(model.collidable):
        for j in model.collidable[place + 1 :]:
            excluded = min(i, j) * count + max(i, j) in model.excluded_pairs
            if not excluded and not (model.static[i] and model.static[j]):
                names = model.rigid_names[i], model.rigid_names[j]
                return f"contacts, and {names[0]!r} may touch {names[1]!r} (see collide=False)"
    return ""
