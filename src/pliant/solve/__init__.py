"""Solvers: each takes the model, the state and the rows, and returns the new velocity and an `info`."""

from pliant.solve.options import SOLVERS, Bounded, Dual, Explicit, Linear, Mixed, Newton, Xpbd

__all__ = ["SOLVERS", "Bounded", "Dual", "Explicit", "Linear", "Mixed", "Newton", "Xpbd"]
