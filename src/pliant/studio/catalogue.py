"""What a person can choose from in the studio: laws, solvers, joints, fields; read from where each is defined."""

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from pliant.checks import DEVICES
from pliant.output.drawing.colors import colormap
from pliant.output.drawing.picture import Legend
from pliant.output.fields import COLOR_FIELDS
from pliant.scene_file.materials import FILE_LAWS
from pliant.scene_file.run import RunSettings, option_kinds
from pliant.solve.options import SOLVERS
from pliant.studio.body_keys import body_keys
from pliant.studio.joint_keys import joint_keys
from pliant.studio.things import RUBBER, THINGS

PRESETS = {
    "rubber": {"law": "stable_neohookean", "young": 1.0e6, "poisson": 0.47, "density": 1100.0, "damping": 0.01},
    "silicone": {"law": "stable_neohookean", "young": 1.2e5, "poisson": 0.48, "density": 1070.0, "damping": 0.01},
    "liver": {"law": "stable_neohookean", "young": 6.0e3, "poisson": 0.48, "density": 1060.0, "damping": 0.02},
    "foam": {"law": "corotated", "young": 5.0e4, "poisson": 0.1, "density": 60.0, "damping": 0.02},
    "clay": {
        "law": "corotated",
        "young": 4.0e5,
        "poisson": 0.35,
        "density": 1500.0,
        "damping": 0.02,
        "plasticity": {"yield_strain": 0.02, "creep": 20.0, "max_strain": 0.6},
    },
    "steel": {"law": "corotated", "young": 2.1e11, "poisson": 0.3, "density": 7850.0},
    "fabric": {"law": "stvk", "young": 2.0e5, "poisson": 0.3, "density": 300.0, "damping": 0.01},
}
"""Materials by name, with numbers of the usual size; a real piece of stuff has to be measured."""

OWN_LAW = {"energy": "mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2"}
"""With which a law of one's own begins: neo-Hookean, with parameters mu and k, the shear and the bulk modulus."""


def catalogue() -> dict[str, Any]:
    """All choices as plain tables."""
    return {
        "laws": list(FILE_LAWS),
        "presets": PRESETS,
        "solvers": {name: _options(solver) for name, solver in SOLVERS.items()},
        "joints": joint_keys(),
        "keys": body_keys(),
        "things": [{"title": title, "kind": kind, "table": table} for title, kind, table in THINGS],
        "stuff": RUBBER,
        "fields": {"none": "no field", **{name: field.title for name, field in COLOR_FIELDS.items()}},
        "colors": np.round(255 * colormap(Legend.colormap)).astype(int).tolist(),
        "devices": list(DEVICES),
        "energy": OWN_LAW,
        "run": {"dt": RunSettings.dt, "seconds": RunSettings.seconds},
    }


def _options(solver: type) -> dict[str, Any]:
    """The options of a solver: their kinds and defaults."""
    kinds = option_kinds(solver)
    defaults = {field.name: None if field.default is MISSING else field.default for field in fields(solver)}
    return {name: {"kind": kind.__name__, "default": defaults[name]} for name, kind in kinds.items()}
