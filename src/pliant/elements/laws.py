"""Laws ready for compiled kernels: built-in ones, and users' energies compiled on the spot."""

from collections import namedtuple
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.jit import cache_folder
from pliant.kernels import laws
from pliant.kernels.device import Device
from pliant.symbolic import load


@dataclass(frozen=True)
class CompiledLaw:
    """A law with its parameters and the kernels compiled for it, for the groups first..last of a set."""

    law: Any
    first: int
    last: int
    evaluate: Any
    evaluate_points: Any
    moduli: Any
    stresses: Any

    def of(self, first: int, last: int) -> "CompiledLaw":
        """The same law for other groups."""
        return replace(self, first=first, last=last)


def compile_law(
    device: Device, name: str, energy, lam: np.ndarray, mu: np.ndarray, groups: int, subject="hyperelastic"
):
    """The law of a set of so many groups; lam, mu: parameters at its points, energy: the user's, for a custom law;
    subject: where the kernels that depend on a law are."""
    if energy is not None:
        law, kernels = _user_law(device, energy, subject)
    else:
        law, kernels = laws.LAWS[name].parameters(lam, mu), getattr(device, subject).LAW_KERNELS
    return CompiledLaw(law, 0, groups, *kernels)


def arap_law(device: Device, lam: np.ndarray, mu: np.ndarray, first: int, last: int) -> CompiledLaw:
    """Groups first..last with the energy mu |F - R|^2, whatever their own."""
    return CompiledLaw(laws.Arap(lam, mu), first, last, *device.hyperelastic.LAW_KERNELS)


def _user_law(device: Device, energy, subject: str):
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
    kernels = vars(module).setdefault("kernels", {})
    if (device, subject) not in kernels:
        kernels[device, subject] = getattr(device, subject).law_kernels_in(folder)
    return getattr(module, name)(*values), kernels[device, subject]
