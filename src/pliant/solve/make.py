"""From the solver's options to the solver that works."""

from pliant.solve.dual import DualSolver
from pliant.solve.eliminated import EliminatedSolver
from pliant.solve.options import Dual


def make_solver(options: Dual, model, state, dtype: str):
    """The solver for these options."""
    if options.eliminate:
        return EliminatedSolver(options, model, state)
    return DualSolver(options, model, dtype)
