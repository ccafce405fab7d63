"""The laws of a model, ready for compiled kernels: built-in ones, and users' energies compiled on the spot."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.jit import cache_folder, kernel_in
from pliant.kernels import laws
from pliant.kernels.cpu import hyperelastic
from pliant.symbolic import load

# J below which energies with a barrier are continued in a step that starts with an inverted element.
RECOVERY_FLOOR = 0.5


@dataclass
class CompiledLaw:
    """Groups first..last with their law and the kernels compiled for it."""

    law: Any
    first: int
    last: int
    evaluate: Any
    stiffness: Any
    stresses: Any

    @property
    def has_barrier(self) -> bool:
        """Whether the energy is infinite for inverted elements, but can be continued."""
        return hasattr(self.law, "floor")


def compile_laws(model) -> list[CompiledLaw]:
    """Every range of groups with its law."""
    return [_compile(model, law_range) for law_range in model.laws]


def _compile(model, law_range) -> CompiledLaw:
    kernels = (hyperelastic.evaluate_elements, hyperelastic.element_stiffness, hyperelastic.element_stresses)
    if law_range.energy is not None:
        law, kernels = _user_law(law_range.energy, kernels)
    else:
        kind = laws.LAWS[law_range.name][0]
        arrays = {"lam": model.lam, "mu": model.mu, "floor": np.zeros_like(model.lam)}
        law = kind(*(arrays[name] for name in kind._fields))
    return CompiledLaw(law, law_range.first, law_range.last, *kernels)


def _user_law(energy, kernels):
    """A user's law as a named tuple of its parameters, and kernels whose compiled code lies in a folder of its own."""
    folder = cache_folder() / f"law_{energy.key}"
    module = load(energy.source, energy.key, folder)
    # a tuple of plain numbers (Numba's threads take no tuples in tuples), and never an empty one
    values = tuple(float(value) for value in energy.values) or (0.0,)
    name = f"{laws.USER_LAW}{len(values)}"
    if not hasattr(module, name):
        kind = namedtuple(name, [f"p{i}" for i in range(len(values))], module=module.__name__)
        setattr(module, name, kind)
        laws.FORMULAS[kind] = (module.psi, module.stress, module.dstress)
    if not hasattr(module, "kernels"):
        module.kernels = tuple(kernel_in(folder, python_function.py_func) for python_function in kernels)
    return getattr(module, name)(*values), module.kernels
