"""The laws of a model, ready for compiled kernels: built-in ones, and users' energies compiled on the spot."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

from pliant.jit import cache_folder, kernel_in
from pliant.kernels import laws
from pliant.kernels.cpu import hyperelastic
from pliant.symbolic import load


@dataclass
class CompiledLaw:
    """Groups first..last with their law and the kernels compiled for it."""

    law: Any
    first: int
    last: int
    evaluate: Any
    moduli: Any
    stresses: Any


KERNELS = (hyperelastic.evaluate_elements, hyperelastic.element_moduli, hyperelastic.element_stresses)


def compile_laws(model) -> list[CompiledLaw]:
    """Every range of groups with its law."""
    return [_compile(model, law_range) for law_range in model.laws]


def arap_law(model, first: int, last: int) -> CompiledLaw:
    """Groups first..last with the energy mu |F - R|^2, whatever their own."""
    return CompiledLaw(laws.Arap(model.lam, model.mu), first, last, *KERNELS)


def _compile(model, law_range) -> CompiledLaw:
    kernels = KERNELS
    if law_range.energy is not None:
        law, kernels = _user_law(law_range.energy, kernels)
    else:
        kind = laws.LAWS[law_range.name][0]
        law = kind(model.lam, model.mu)
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
