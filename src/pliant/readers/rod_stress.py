"""Stresses on the surface of rods, by the theory of beams, from what their segments carry."""

import math
from dataclasses import dataclass

import numpy as np

from pliant.readers.rods import RodState

# Of a rectangle with half sides a >= b under a torque T: the largest stress is 3 T / (8 a b^2) times this polynomial of
# b / a (Roark's Formulas for Stress and Strain, table of torsion).
RECTANGLE_TORSION = (1.0, 0.6095, 0.8865, -1.8023, 0.9100)


@dataclass(frozen=True)
class SurfaceStress:
    """Stresses [Pa] at k points around both ends of m segments: along the rod (m, 2, k), positive where it is pulled,
    and across it (m, 2, 1)."""

    along: np.ndarray
    across: np.ndarray

    @property
    def von_mises(self) -> np.ndarray:
        """Von Mises stress (m, 2, k) [Pa]."""
        return np.hypot(self.along, math.sqrt(3) * self.across)

    def strain(self, young: float, poisson: float) -> np.ndarray:
        """Size of the strain (m, 2, k) of a rod that is free to thin; shear strains are doubled."""
        shear_modulus = young / (2 * (1 + poisson))
        return np.hypot(math.sqrt(1 + 2 * poisson**2) / young * self.along, self.across / shear_modulus)


def surface_stress(rod, state: RodState, outline: np.ndarray) -> SurfaceStress:
    """Stresses of a rod at the points (k, 2) [m] of an outline of its section: tension over area and moments over those
    of the section along the rod; across it the mean of the shear force, and the torque's largest stress in the section,
    wherever that is."""
    section, (x, y), moments = rod.section, outline.T, end_moments(rod, state)[..., None]
    first, second = section.moments
    along = state.tension[:, None, None] / section.area + moments[:, :, 0] * y / first - moments[:, :, 1] * x / second
    sheared = np.linalg.norm(state.shear_force, axis=1)[:, None, None] / section.area
    return SurfaceStress(along, sheared + np.abs(moments[:, :, 2]) / torsion_modulus(section))


def end_moments(rod, state: RodState) -> np.ndarray:
    """Moments about the first and second axis, and torque (m, 2, 3) [N m] that act on the two ends of every segment:
    those in its middle and what its force makes of half of its length."""
    middle, force = (
        np.column_stack(parts) for parts in ((state.moment, state.torque), (state.shear_force, state.tension))
    )
    ends = state.points[rod.edges]
    arm = np.einsum("mki,mk->mi", state.frames, 0.5 * (ends[:, 1] - ends[:, 0]))
    more = np.cross(arm, force)
    return np.stack([middle + more, middle - more], axis=1)


def torsion_modulus(section) -> float:
    """What of a section [m3] makes of a torque the largest stress that it causes there: T / tau."""
    long, short = sorted(section.extents, reverse=True)
    if section.kind == "rectangle":
        return 8 / 3 * long * short**2 / sum(c * (short / long) ** k for k, c in enumerate(RECTANGLE_TORSION))
    if section.kind == "tube":
        return section.torsion / long
    return math.pi / 2 * long * short**2
