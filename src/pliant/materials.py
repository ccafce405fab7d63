"""Materials: what a soft body is made of. Moduli in Pa, density in kg/m3, times in s."""

from dataclasses import dataclass

from pliant.checks import number
from pliant.errors import SceneError

# The laws that can be asked for; every solver says which of them it honours.
LAWS = ("linear", "corotated")


@dataclass(frozen=True)
class Plasticity:
    """Creep plasticity (BV algorithm 1).

    Beyond `yield_strain` the strain creeps at `creep` per second up to `max_strain`.
    Strains are norms of the six strain components with engineering shear; `creep` is in 1/s.
    """

    yield_strain: float
    creep: float
    max_strain: float

    def __post_init__(self):
        object.__setattr__(self, "yield_strain", number(self.yield_strain, "plasticity yield_strain", low=0))
        object.__setattr__(self, "creep", number(self.creep, "plasticity creep", low=0))
        object.__setattr__(self, "max_strain", number(self.max_strain, "plasticity max_strain", low=0))


@dataclass(frozen=True)
class Material:
    """An isotropic material.

    Young's modulus [Pa], Poisson's ratio, density [kg/m3], damping beta [s], mass damping [1/s].
    """

    law: str
    young: float
    poisson: float
    density: float
    damping: float = 0.0
    mass_damping: float = 0.0
    plasticity: Plasticity | None = None

    def __post_init__(self):
        if self.law not in LAWS:
            raise SceneError(f"material law must be one of {', '.join(LAWS)}, got {self.law!r}")
        object.__setattr__(self, "young", number(self.young, "young", low=0, open_low=True))
        object.__setattr__(self, "density", number(self.density, "density", low=0, open_low=True))
        object.__setattr__(self, "damping", number(self.damping, "damping", low=0))
        object.__setattr__(self, "mass_damping", number(self.mass_damping, "mass_damping", low=0))
        poisson = number(self.poisson, "poisson", low=-1, high=0.5, open_low=True)
        if poisson == 0.5:
            raise SceneError("poisson must be below 0.5 (incompressible, the bulk modulus is infinite); try 0.49")
        object.__setattr__(self, "poisson", poisson)
        if self.plasticity is not None and not isinstance(self.plasticity, Plasticity):
            raise SceneError(f"plasticity must be a pliant.Plasticity, got {self.plasticity!r}")

    @property
    def lame(self) -> tuple[float, float]:
        """Lame parameters (lam, mu) [Pa]."""
        mu = self.young / (2 * (1 + self.poisson))
        lam = self.young * self.poisson / ((1 + self.poisson) * (1 - 2 * self.poisson))
        return lam, mu

    @classmethod
    def linear(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Linear elasticity: exact for small rotations; `options` are damping, mass_damping, plasticity."""
        return cls("linear", young, poisson, density, **options)

    @classmethod
    def corotated(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Linear elasticity in the rotated frame of every element; `options` are damping, mass_damping, plasticity."""
        return cls("corotated", young, poisson, density, **options)
