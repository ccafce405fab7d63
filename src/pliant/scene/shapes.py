"""Shapes of rigid bodies, with exact volume, centre and inertia. Lengths in metres; centred on the body's origin."""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.checks import number, unit_vector, vector
from pliant.errors import SceneError
from pliant.meshes import TriMesh
from pliant.meshes import read as read_mesh


@dataclass(frozen=True)
class MassProperties:
    """Per unit density: volume [m3], centre (3,) [m], inertia about the centre (3, 3) [m5]."""

    volume: float
    centre: np.ndarray
    inertia: np.ndarray


def _centred(volume: float, inertia_diagonal) -> MassProperties:
    return MassProperties(volume, np.zeros(3), np.diag(inertia_diagonal))


@dataclass(frozen=True)
class Sphere:
    """A ball of `radius`."""

    radius: float

    def __post_init__(self):
        object.__setattr__(self, "radius", number(self.radius, "sphere radius", low=0, open_low=True))

    def mass_properties(self) -> MassProperties:
        volume = 4 / 3 * math.pi * self.radius**3
        return _centred(volume, [0.4 * volume * self.radius**2] * 3)


@dataclass(frozen=True)
class Box:
    """A box with edge lengths `size`."""

    size: tuple[float, float, float]

    def __post_init__(self):
        size = vector(self.size, "box size")
        if min(size) <= 0:
            raise SceneError(f"box size must be three positive lengths, got {self.size!r}")
        object.__setattr__(self, "size", size)

    def mass_properties(self) -> MassProperties:
        x, y, z = self.size
        volume = x * y * z
        return _centred(volume, [volume / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y)])


@dataclass(frozen=True)
class Capsule:
    """A cylinder of `length` along z with half-balls of `radius` on both ends (total length: length + 2 radius)."""

    radius: float
    length: float

    def __post_init__(self):
        object.__setattr__(self, "radius", number(self.radius, "capsule radius", low=0, open_low=True))
        object.__setattr__(self, "length", number(self.length, "capsule length", low=0))

    def mass_properties(self) -> MassProperties:
        r, length = self.radius, self.length
        barrel, ball = math.pi * r * r * length, 4 / 3 * math.pi * r**3
        axial = barrel * r * r / 2 + ball * 0.4 * r * r
        # each half-ball: its own inertia about its centroid (3/8 r from the flat), moved to the capsule's centre
        offset = length / 2 + 0.375 * r
        half_ball = ball / 2 * ((0.4 - 0.375**2) * r * r + offset**2)
        across = barrel * (r * r / 4 + length**2 / 12) + 2 * half_ball
        return _centred(barrel + ball, [across, across, axial])


@dataclass(frozen=True)
class Cylinder:
    """A solid cylinder of `length` along z."""

    radius: float
    length: float

    def __post_init__(self):
        object.__setattr__(self, "radius", number(self.radius, "cylinder radius", low=0, open_low=True))
        object.__setattr__(self, "length", number(self.length, "cylinder length", low=0, open_low=True))

    def mass_properties(self) -> MassProperties:
        r, length = self.radius, self.length
        volume = math.pi * r * r * length
        across = volume * (r * r / 4 + length**2 / 12)
        return _centred(volume, [across, across, volume * r * r / 2])


@dataclass(frozen=True)
class Plane:
    """The half-space below a plane through the body's origin with outward `normal`; only for static bodies."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self):
        object.__setattr__(self, "normal", unit_vector(self.normal, "plane normal"))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A closed triangle mesh, from a file or from arrays; mass properties by exact volume integrals.

    The body's origin is the mesh's centre of mass: the surface is shifted there when the body is built.
    """

    path: str | Path | None = None
    points: np.ndarray | None = None
    triangles: np.ndarray | None = None
    repair: bool = False
    surface: TriMesh = field(init=False, repr=False)

    def __post_init__(self):
        if (self.path is None) == (self.points is None):
            raise SceneError("a mesh shape takes either a path or points and triangles")
        if self.path is None:
            surface = TriMesh(self.points, self.triangles, repair=self.repair)
        else:
            mesh = read_mesh(self.path, repair=self.repair)
            surface = mesh if isinstance(mesh, TriMesh) else mesh.surface()
        surface.check_closed()
        object.__setattr__(self, "surface", surface)

    def mass_properties(self) -> MassProperties:
        return MassProperties(*self.surface.mass_properties())


Shape = Sphere | Box | Capsule | Cylinder | Plane | Mesh
SHAPES = (Sphere, Box, Capsule, Cylinder, Plane, Mesh)
