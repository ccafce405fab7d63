"""Shapes of rigid bodies, with exact volume, centre and inertia. Lengths in metres; centred on the body's origin."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from pliant.checks import flag, number, numbers, positive_vector, refusal, unit_vector
from pliant.errors import SceneError, said_of
from pliant.meshes import TriMesh
from pliant.meshes import read as read_mesh
from pliant.scene.hulls import convex_hull
from pliant.scene.number_files import read_numbers


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
        object.__setattr__(self, "size", positive_vector(self.size, "box size"))

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
class Cone:
    """A solid cone along z: a disc of `radius` at z = -length/2, the tip at z = length/2.

    Its centre of mass lies a quarter of its length above the disc, not at the origin.
    """

    radius: float
    length: float

    def __post_init__(self):
        object.__setattr__(self, "radius", number(self.radius, "cone radius", low=0, open_low=True))
        object.__setattr__(self, "length", number(self.length, "cone length", low=0, open_low=True))

    def mass_properties(self) -> MassProperties:
        r, length = self.radius, self.length
        volume = math.pi * r * r * length / 3
        across = volume * (3 / 20 * r * r + 3 / 80 * length**2)
        return MassProperties(
            volume, np.array([0.0, 0.0, -length / 4]), np.diag([across, across, 0.3 * volume * r * r])
        )


@dataclass(frozen=True)
class Plane:
    """The half-space below a plane through the body's origin with outward `normal`; only for static bodies."""

    no_mass: ClassVar[str] = "a plane is infinite"
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self):
        object.__setattr__(self, "normal", unit_vector(self.normal, "plane normal"))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A closed triangle mesh, from a file or from arrays; mass properties by exact volume integrals.

    The body's `position` is that of the origin of the mesh's own coordinates; it turns about its centre of mass.
    """

    path: str | Path | None = None
    points: np.ndarray | None = None
    triangles: np.ndarray | None = None
    repair: bool = False
    surface: TriMesh = field(init=False, repr=False)

    def __post_init__(self):
        if (self.path is None) == (self.points is None):
            raise SceneError("a mesh shape takes either a path or points and triangles")
        object.__setattr__(self, "repair", flag(self.repair, "repair"))
        if self.path is None:
            surface = TriMesh(self.points, self.triangles, repair=self.repair)
        else:
            mesh = read_mesh(self.path, repair=self.repair)
            surface = mesh if isinstance(mesh, TriMesh) else mesh.surface()
        with said_of("" if self.path is None else str(self.path)):
            surface.check_closed()
        object.__setattr__(self, "surface", surface)
        if self.path is None:  # what it is made of, not what others may write to
            object.__setattr__(self, "points", surface.points)
            object.__setattr__(self, "triangles", surface.triangles)

    def mass_properties(self) -> MassProperties:
        return MassProperties(*self.surface.mass_properties())


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points (n, 3) [m], or of the points of a mesh file; mass properties are exact.

    points: the corners alone, in the order in which they were given. surface: its triangles, outward. The body's
    origin is that of the points; the centre of mass is where it is among them.
    """

    points: np.ndarray | None = None
    path: str | Path | None = None
    repair: bool = False
    surface: TriMesh = field(init=False, repr=False)

    def __post_init__(self):
        if (self.path is None) == (self.points is None):
            raise SceneError("a hull takes either points or a path")
        object.__setattr__(self, "repair", flag(self.repair, "repair"))
        points = self.points if self.path is None else read_mesh(self.path, repair=self.repair).points
        surface = convex_hull(points)
        object.__setattr__(self, "surface", surface)
        object.__setattr__(self, "points", surface.points)

    def mass_properties(self) -> MassProperties:
        return MassProperties(*self.surface.mass_properties())


@dataclass(frozen=True, eq=False)
class Heightfield:
    """Ground over a rectangle of `size` (along x, along y) [m] centred on the origin; only for static bodies.

    heights: (nx, ny) [m], evenly spaced from corner to corner: heights[i, j] is z at x = size[0] (i / (nx - 1) - 1/2)
    and y = size[1] (j / (ny - 1) - 1/2). Or path: a file of such numbers, .npy, or .csv with a line for each i.
    The ground is made of triangles, two to a cell; all below it, within the rectangle, is inside.
    """

    no_mass: ClassVar[str] = "a heightfield is ground without a lower side"
    heights: np.ndarray | None = None
    size: tuple[float, float] | None = None
    path: str | Path | None = None

    def __post_init__(self):
        if (self.path is None) == (self.heights is None):
            raise SceneError("a heightfield takes either heights or a path")
        given = read_numbers(self.path) if self.path is not None else self.heights
        object.__setattr__(self, "size", positive_vector(self.size, "heightfield size", 2))
        object.__setattr__(self, "heights", _checked_heights(given))

    def __repr__(self) -> str:
        return f"Heightfield({self.heights.shape[0]} x {self.heights.shape[1]} heights, size={self.size})"

    @cached_property
    def surface(self) -> TriMesh:
        """The ground, open and facing up: point i * ny + j is heights[i, j]; each cell is cut from its corner (i, j) to
        (i + 1, j + 1)."""
        nx, ny = self.heights.shape
        across = (length * (np.arange(n) / (n - 1) - 0.5) for length, n in zip(self.size, (nx, ny)))
        x, y = np.meshgrid(*across, indexing="ij")
        corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
        lower = np.column_stack([corner, corner + ny, corner + ny + 1])
        upper = np.column_stack([corner, corner + ny + 1, corner + 1])
        points = np.column_stack([x.ravel(), y.ravel(), self.heights.ravel()])
        return TriMesh.trusted(points, np.stack([lower, upper], axis=1).reshape(-1, 3))

    def above(self, points: np.ndarray) -> np.ndarray:
        """Heights (k,) [m] of points (k, 3) above the ground, negative below it; infinite outside its rectangle."""
        last = np.array(self.heights.shape) - 1
        place = (points[:, :2] / self.size + 0.5) * last
        cell = np.clip(place.astype(np.int64), 0, last - 1)
        (u, v), (i, j), z = (place - cell).T, cell.T, self.heights
        along = np.where(u >= v, z[i + 1, j] - z[i, j], z[i + 1, j + 1] - z[i, j + 1])
        across = np.where(u >= v, z[i + 1, j + 1] - z[i + 1, j], z[i, j + 1] - z[i, j])
        outside = ((place < 0) | (place > last)).any(axis=1)
        return np.where(outside, np.inf, points[:, 2] - (z[i, j] + u * along + v * across))


def _checked_heights(value) -> np.ndarray:
    """Heights as an array of their own that nobody writes to."""
    rule = "an array (nx, ny) of finite numbers, at least 2 by 2"
    heights = numbers(value, "heightfield heights", ((None, None),), rule)
    if min(heights.shape) < 2:
        raise SceneError(f"heightfield heights must be {rule}, got an array of shape {heights.shape}")
    heights.flags.writeable = False
    return heights


Shape = Sphere | Box | Capsule | Cylinder | Cone | Plane | Mesh | Hull | Heightfield
SHAPES = (Sphere, Box, Capsule, Cylinder, Cone, Plane, Mesh, Hull, Heightfield)
WITHOUT_MASS = (Plane, Heightfield)
"""Shapes that only static bodies have."""
ONE_OF_SHAPES = "one of the shapes " + ", ".join(shape.__name__ for shape in SHAPES)

LIGHTEST, HEAVIEST = 1e-60, 1e60
"""Masses of bodies [kg]: moments of inertia may reach their squares."""


ROUNDED = 1e-6
"""Rounding of moments of inertia."""


def inertia_matrix(value) -> np.ndarray:
    """A symmetric positive inertia (3, 3) [kg m2] from a matrix, three principal moments, or one number."""
    rule = "one number, three moments or a symmetric 3x3 matrix"
    array = numbers(value, "inertia", ((), (3,), (3, 3)), rule)
    array = np.eye(3) * array if array.ndim == 0 else np.diag(array) if array.shape == (3,) else array
    if not np.allclose(array, array.T):
        raise refusal("inertia", rule, value)
    moments = np.linalg.eigvalsh(array)
    if moments[0] <= 0:
        raise SceneError(f"inertia must be positive definite, its principal moments are {moments.tolist()}")
    if moments[2] > (moments[0] + moments[1]) * (1 + ROUNDED):
        raise SceneError(
            f"inertia: no body has a principal moment larger than the other two together; they are {moments.tolist()}"
        )
    return array
