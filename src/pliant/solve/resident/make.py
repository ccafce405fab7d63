"""From the solver's options to the solver that works on a device."""

from pliant.solve.options import Dual, Explicit, Linear
from pliant.solve.resident.driven import DrivenNewton
from pliant.solve.resident.dual import DrivenDual
from pliant.solve.resident.explicit import ResidentExplicit
from pliant.solve.resident.newton import ResidentLinear, ResidentNewton
from pliant.solve.resident.refusals import needs_host


def make_resident(options, model, state, dtype: str):
    """The solver for options and a model that the device does not refuse."""
    if isinstance(options, Linear):
        return ResidentLinear(options, model, state)
    if isinstance(options, Dual):
        return DrivenDual(options, model, dtype)
    if isinstance(options, Explicit):
        return ResidentExplicit(options, model, state)
    return (DrivenNewton if needs_host(model) else ResidentNewton)(options, model, state)
