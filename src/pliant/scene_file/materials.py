"""The tables of a scene file that say materials: a law by name, or an energy density as a formula."""

from typing import Any

from pliant.scene.materials import LAWS
from pliant.scene_file.values import (
    NonNegative,
    Positive,
    Table,
    Text,
    choice,
    leaf,
    named_numbers,
    one_of,
    poisson_ratio,
)

CUSTOM = "custom"
"""The law of a material made from Python functions, which no file can say."""

FILE_LAWS = tuple(law for law in LAWS if law != CUSTOM)


class PlasticityTable(Table):
    """Creep plasticity."""

    yield_strain: NonNegative
    creep: NonNegative
    max_strain: NonNegative


class MaterialTable(Table):
    """[materials.NAME], or inline in a soft body."""

    law: choice(*FILE_LAWS)
    young: Positive
    poisson: leaf(poisson_ratio, "a number above -1 and below 0.5")
    density: Positive
    damping: NonNegative = None
    mass_damping: NonNegative = None
    plasticity: PlasticityTable = None


class EnergyTable(Table):
    """A law of one's own: its energy density [J/m3] as a formula, and the parameters that it names."""

    law: choice(CUSTOM) = None
    energy: Text
    parameters: leaf(named_numbers, "a table of names and finite numbers") = None
    density: Positive
    damping: NonNegative = None
    mass_damping: NonNegative = None
    plasticity: PlasticityTable = None


def material_kind(entry: Any) -> type[Table]:
    """The table that says a material: by a formula, or by the name of a law."""
    return EnergyTable if isinstance(entry, dict) and "energy" in entry else MaterialTable


MaterialOrName = one_of(
    other=Text,
    what="the name of one of [materials]",
    energy=EnergyTable,
    **dict.fromkeys(MaterialTable.model_fields, MaterialTable),
)
