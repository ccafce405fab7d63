"""From the solver's options to the solver that works."""

import numpy as np

from pliant.errors import SceneError
from pliant.solve.dual import DualSolver
from pliant.solve.eliminated import EliminatedSolver
from pliant.solve.newton import NewtonSolver
from pliant.solve.options import Dual, Newton

# Laws that are linear in the strain of a rotated frame, and so can be written as rows.
ROW_LAWS = ("linear", "corotated")


def make_solver(options, model, state, dtype: str):
    """The solver for these options; a feature of the scene it cannot honour is refused here."""
    if isinstance(options, Newton):
        _refuse_flow(model)
        return NewtonSolver(options, model, state)
    if isinstance(options, Dual):
        _refuse_laws(model, "Dual", ROW_LAWS)
        return EliminatedSolver(options, model, state) if options.eliminate else DualSolver(options, model, dtype)
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
