"""From the solver's options to the solver that works."""

from pliant.solve.dual import DualSolver
from pliant.solve.eliminated import EliminatedSolver
from pliant.solve.options import Dual


def make_solver(options: Dual, model, dtype: str):
    """The solver for these options; a scene without soft bodies has no elements to eliminate."""
    if options.elements == "eliminated" and model.element_count:
        return EliminatedSolver(options, model, dtype)
    return DualSolver(options, model, dtype)
