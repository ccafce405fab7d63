"""Cross-sections of rods: what bends, twists, stretches and shears. Lengths in m."""

import math
from dataclasses import dataclass

import numpy as np

from pliant.checks import choice, number, refusal, whole
from pliant.errors import SceneError

SECTIONS = {"circle": ("radius",), "tube": ("radius", "inner"), "ellipse": ("first", "second")}
SECTIONS |= {"rectangle": ("width", "height")}
"""The kinds of sections and the names of their sizes."""

THINNEST, THICKEST = 1e-20, 1e20
"""Between which sizes [m] lie: their sixth powers stay finite."""

# Terms of the series of a rectangle's torsion.
TERMS = 40


@dataclass(frozen=True)
class Section:
    """A cross-section: its kind, one of SECTIONS, and its sizes [m], the first along the first axis of the rod's frame.

    Warping of twisted sections that is held back at clamped ends is left out.
    """

    kind: str
    sizes: tuple[float, ...]

    def __post_init__(self):
        names = SECTIONS[choice(self.kind, "section kind", SECTIONS)]
        if not isinstance(self.sizes, list | tuple) or len(self.sizes) != len(names):
            raise refusal(f"sizes of a section of kind {self.kind!r}", f"({', '.join(names)})", self.sizes)
        bounds = {"low": THINNEST, "high": THICKEST}
        sizes = tuple(number(size, f"section {name}", **bounds) for size, name in zip(self.sizes, names))
        object.__setattr__(self, "sizes", sizes)
        if self.kind == "tube" and sizes[1] >= sizes[0]:
            raise SceneError(f"the inner radius of a tube must be below the outer, {sizes[0]:g} m, got {sizes[1]:g} m")

    @classmethod
    def circle(cls, radius: float) -> "Section":
        """A round rod of a radius [m]."""
        return cls("circle", (radius,))

    @classmethod
    def tube(cls, radius: float, inner: float) -> "Section":
        """A round tube of outer and inner radius [m]."""
        return cls("tube", (radius, inner))

    @classmethod
    def ellipse(cls, first: float, second: float) -> "Section":
        """An ellipse with semi-axes [m] along the first and second axis of the rod's frame."""
        return cls("ellipse", (first, second))

    @classmethod
    def rectangle(cls, width: float, height: float) -> "Section":
        """A rectangle, width [m] along the first axis of the rod's frame, height [m] along the second."""
        return cls("rectangle", (width, height))

    @property
    def area(self) -> float:
        """A [m2]."""
        a, b = self._extents
        if self.kind == "rectangle":
            return 4 * a * b
        return math.pi * (a * b - self._inner**2)

    @property
    def moments(self) -> tuple[float, float]:
        """I [m4] of bending about the first and about the second axis."""
        a, b = self._extents
        if self.kind == "rectangle":
            return 4 / 3 * a * b**3, 4 / 3 * b * a**3
        hole = self._inner**4
        return math.pi / 4 * (a * b**3 - hole), math.pi / 4 * (b * a**3 - hole)

    @property
    def torsion(self) -> float:
        """J [m4] of Saint-Venant's torsion: GJ is the torque per twist."""
        a, b = self._extents
        if self.kind == "rectangle":
            return _rectangle_torsion(2 * max(a, b), 2 * min(a, b))
        if self.kind == "tube":
            return math.pi / 2 * (a**4 - self._inner**4)
        return math.pi * a**3 * b**3 / (a * a + b * b)

    def shear_factors(self, poisson: float) -> tuple[float, float]:
        """The parts of G A that resist shear along the first and second axis (Cowper 1966, table 1)."""
        nu = number(poisson, "poisson", low=-1, high=0.5)
        if self.kind == "rectangle":
            return (10 * (1 + nu) / (12 + 11 * nu),) * 2
        if self.kind == "tube":
            m = (self.sizes[1] / self.sizes[0]) ** 2
            return (6 * (1 + nu) * (1 + m) ** 2 / ((7 + 6 * nu) * (1 + m) ** 2 + (20 + 12 * nu) * m),) * 2
        a, b = self._extents
        return tuple(_ellipse_shear(nu, along, other) for along, other in ((a, b), (b, a)))

    @property
    def _extents(self) -> tuple[float, float]:
        """Half of its width along both axes [m]."""
        if self.kind == "rectangle":
            return 0.5 * self.sizes[0], 0.5 * self.sizes[1]
        return (self.sizes[0], self.sizes[1]) if self.kind == "ellipse" else (self.sizes[0],) * 2

    @property
    def extents(self) -> tuple[float, float]:
        """Half of its width along the first and second axis [m]."""
        return self._extents

    @property
    def _inner(self) -> float:
        return self.sizes[1] if self.kind == "tube" else 0.0

    @property
    def round(self) -> bool:
        """Whether it is a circle seen from outside."""
        return self.kind in ("circle", "tube")

    def outline(self, sides: int) -> np.ndarray:
        """Points (k, 2) [m] around it, counter-clockwise; `sides` of a round one."""
        a, b, sides = *self._extents, whole(sides, "sides", 3, 10_000)
        if self.kind == "rectangle":
            return np.array([[a, -b], [a, b], [-a, b], [-a, -b]])
        angle = 2 * np.pi * np.arange(sides) / sides
        return np.stack([a * np.cos(angle), b * np.sin(angle)], axis=1)


def _rectangle_torsion(long: float, short: float) -> float:
    """J [m4] = a b^3 (1/3 - 64/pi^5 (b/a) sum tanh(n pi a / 2 b) / n^5, n odd) (Timoshenko and Goodier, ch. 109)."""
    n = np.arange(1, 2 * TERMS, 2)
    series = np.sum(np.tanh(np.minimum(n * np.pi * long / (2 * short), 40.0)) / n**5.0)
    return float(long * short**3 * (1 / 3 - 64 / np.pi**5 * short / long * series))


def _ellipse_shear(nu: float, a: float, b: float) -> float:
    """Of an ellipse with the semi-axis a along the load; of a circle 6 (1 + nu)/(7 + 6 nu)."""
    below = (40 + 37 * nu) * a**4 + (16 + 10 * nu) * a * a * b * b + nu * b**4
    return 12 * (1 + nu) * a * a * (3 * a * a + b * b) / below
