"""Materials: what a soft body is made of. Moduli in Pa, density in kg/m3, times in s."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pliant.checks import instance, number, refusal
from pliant.errors import SceneError
from pliant.symbolic import TracedEnergy, trace

# The laws that can be named; every solver says which of them it honours. "custom" is a user's own energy.
LAWS = ("linear", "corotated", "stvk", "neohookean", "arap", "fixed_corotated", "stable_neohookean", "springs")
CUSTOM = "custom"
# Poisson's ratio of a net of springs (Cauchy's relations).
SPRINGS_POISSON = 0.25


@dataclass(frozen=True)
class Plasticity:
    """Creep plasticity (BV algorithm 1).

    Beyond `yield_strain` the strain creeps at `creep` per second up to `max_strain`.
    Strains are norms of the six strain components with engineering shear; `creep` is in 1/s. Newton, Bounded and
    Explicit need a `max_strain` below 1.
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

    Young's modulus [Pa], Poisson's ratio, density [kg/m3], damping beta [s], mass damping [1/s]. The named makers below
    take young, poisson, density and the options damping, mass_damping, plasticity.
    """

    law: str
    young: float
    poisson: float
    density: float
    damping: float = 0.0
    mass_damping: float = 0.0
    plasticity: Plasticity | None = None
    energy: TracedEnergy | None = None

    def __post_init__(self):
        traced = isinstance(self.energy, TracedEnergy)
        if not isinstance(self.law, str) or not (self.law in LAWS or (self.law == CUSTOM and traced)):
            raise refusal("material law", f"one of {', '.join(LAWS)}", self.law)
        if self.energy is not None and self.law != CUSTOM:
            raise refusal(
                "material energy", "left out: pliant.Material.custom(...) makes a law of a function", self.energy
            )
        object.__setattr__(self, "young", number(self.young, "young", low=0, open_low=True))
        object.__setattr__(self, "density", number(self.density, "density", low=0, open_low=True))
        object.__setattr__(self, "damping", number(self.damping, "damping", low=0))
        object.__setattr__(self, "mass_damping", number(self.mass_damping, "mass_damping", low=0))
        poisson = number(self.poisson, "poisson", low=-1, high=0.5, open_low=True)
        if poisson == 0.5:
            raise SceneError("poisson must be below 0.5 (incompressible, the bulk modulus is infinite); try 0.49")
        object.__setattr__(self, "poisson", poisson)
        if self.plasticity is not None:
            instance(self.plasticity, "plasticity", Plasticity, "a pliant.Plasticity")
        if self.law == "springs":
            self._check_springs()

    def _check_springs(self) -> None:
        if self.poisson != SPRINGS_POISSON:
            raise SceneError(
                f"a net of springs has the Poisson's ratio {SPRINGS_POISSON}, got poisson {self.poisson:g}"
            )
        if self.plasticity is not None:
            raise SceneError("springs are elastic; for plasticity use another law, such as Material.corotated")

    @property
    def lame(self) -> tuple[float, float]:
        """Lame parameters (lam, mu) [Pa]."""
        mu = self.young / (2 * (1 + self.poisson))
        lam = self.young * self.poisson / ((1 + self.poisson) * (1 - 2 * self.poisson))
        return lam, mu

    @classmethod
    def linear(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Linear elasticity: exact for small rotations."""
        return cls("linear", young, poisson, density, **options)

    @classmethod
    def corotated(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Linear elasticity in the rotated frame of every element: mu |F - R|^2 + lam/2 tr^2(R^T F - I)."""
        return cls("corotated", young, poisson, density, **options)

    @classmethod
    def fixed_corotated(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Corotated with a volume term in J: mu |F - R|^2 + lam/2 (J - 1)^2."""
        return cls("fixed_corotated", young, poisson, density, **options)

    @classmethod
    def stvk(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """St. Venant-Kirchhoff: linear in Green's strain; weak in strong compression."""
        return cls("stvk", young, poisson, density, **options)

    @classmethod
    def neohookean(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Neo-Hookean: mu/2 (I1 - 3) - mu ln J + lam/2 ln^2 J; resists inversion without limit."""
        return cls("neohookean", young, poisson, density, **options)

    @classmethod
    def stable_neohookean(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """Neo-Hookean of Smith, de Goes and Kim 2018: finite for inverted elements."""
        return cls("stable_neohookean", young, poisson, density, **options)

    @classmethod
    def arap(cls, young: float, poisson: float, density: float, **options) -> "Material":
        """As rigid as possible: mu |F - R|^2; Poisson's ratio only sets mu."""
        return cls("arap", young, poisson, density, **options)

    @classmethod
    def springs(cls, young: float, density: float, **options) -> "Material":
        """Mass and springs: every edge of the tet mesh is a spring of stiffness E sum(V) / L^2 over the tets around it
        (Van Gelder 1998). Its Poisson's ratio is about 1/4 and cannot be chosen, and nothing keeps its elements from
        turning inside out. Options: damping (along the springs' axes), mass_damping."""
        return cls("springs", young, SPRINGS_POISSON, density, **options)

    @classmethod
    def custom(
        cls, energy: Callable | str, density: float, parameters: Mapping[str, float] | None = None, **options
    ) -> "Material":
        """A law of your own: a function for the energy density [J/m3], differentiated and compiled for you.

        energy: a function of the principal stretches s1, s2, s3 or of the invariants I1, I2, J (any of them), and of
        named parameters, written with NumPy functions, or that formula as a text, which scene files can say as well:
        "mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2". It must be symmetric in the stretches, stress-free
        and stable at rest. Young's modulus and Poisson's ratio at rest follow from it. Example:
        Material.custom(lambda I1, J, mu, k: mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2, 1000,
        {"mu": 1e5, "k": 1e6}).
        """
        traced = trace(energy, {} if parameters is None else parameters)
        lam, mu = traced.lame
        young, poisson = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
        return cls(CUSTOM, young, poisson, density, energy=traced, **options)
