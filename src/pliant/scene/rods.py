"""Elastic rods as the user describes them: points, segments between them, a section and a material."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pliant.checks import flag, instance, number, numbers, vector, vector_or_function, whole, within_reach
from pliant.errors import SceneError
from pliant.meshes import TetMesh, TriMesh
from pliant.rotations import matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Placement, Rigid
from pliant.scene.contact_options import TORQUES
from pliant.scene.materials import Material
from pliant.scene.rod_shapes import (
    around_points,
    edge_frames,
    point_shapes,
    split_edges,
    straight_ends,
    warn_of_kinks,
)
from pliant.scene.sections import THICKEST, THINNEST, Section

MOST_STRETCHED = 5.0
"""How many times as long as at rest, or as short, a rod may begin."""

NOT_OF_RODS = (*TORQUES, "thickness")
"""What other bodies say of their contacts, and rods do not know."""


@dataclass(eq=False)
class RodPoint(Rigid):
    """A point of a rod: a place and a frame, with the mass around it. It takes forces, torques and joints as a rigid
    body does; its shape is what others touch. here (3,) [m]: the point itself, in the shape's frame."""

    ASSIGNABLE: ClassVar[tuple[str, ...]] = ()
    here: np.ndarray = field(default_factory=lambda: np.zeros(3), kw_only=True)

    def mass_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass [kg], the point (3,) in the shape's frame [m], inertia about it (3, 3) [kg m2]."""
        if self.static:
            return np.inf, self.here, np.diag([np.inf] * 3)
        return self.mass, self.here, self.inertia

    def __repr__(self) -> str:
        return f"<point {self.name!r} of a rod>"

    def clamp(self, velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0)) -> None:
        """Hold place and direction, or move them with a velocity [m/s] and an angular velocity [rad/s], each a vector
        or a function of time."""
        velocity = vector_or_function(velocity, "clamp velocity")
        angular_velocity = vector_or_function(angular_velocity, "clamp angular_velocity")
        if self.static and not (self.velocity == velocity and self.angular_velocity == angular_velocity):
            raise SceneError(f"{self!r} is clamped already, and moves otherwise")
        self.put(velocity=velocity, angular_velocity=angular_velocity, static=True)


@dataclass(eq=False)
class Rod(Placement):
    """An elastic rod, or a network of them: points (n, 3) [m] joined by edges (m, 2), at rest as they are given.

    Bending, twist, stretch and shear are linear in their strains, whatever the material's law: its Young's modulus,
    Poisson's ratio, density and damping count. normal: direction of the first axis of the section, (3,) or (m, 3); None
    for any. curvature [1/m, 1/m, rad/m]: natural curvature about the first and second axis, and twist, (3,) or (m, 3),
    on top of what the given shape has. straight: the rod is straight at rest but for `curvature`, and the points only
    say where it begins. stretched: the length of the given shape over that of the rod at rest, 1.01 of one pulled by
    1 %. self_contact: False to let it pass through itself.
    """

    points: np.ndarray
    edges: np.ndarray
    material: Material
    section: Section
    normal: object = field(default=None, kw_only=True)
    curvature: object = field(default=None, kw_only=True)
    straight: bool = field(default=False, kw_only=True)
    stretched: float = field(default=1.0, kw_only=True)
    self_contact: bool = field(default=True, kw_only=True)

    def __post_init__(self):
        self.check_placement()
        self.velocity = vector(self.velocity, "velocity")
        self.self_contact, self.straight = flag(self.self_contact, "self_contact"), flag(self.straight, "straight")
        self._check_material()
        self._check_contact()
        self.frames = edge_frames(self.points, self.edges, self.normal)  # (m, 3, 3), columns are the axes
        self.normal = None if self.normal is None else np.array(self.normal, dtype=np.float64)
        low, high = 1 / MOST_STRETCHED, MOST_STRETCHED
        self.stretched = number(self.stretched, "stretched, the given length over that at rest,", low=low, high=high)
        spans = np.linalg.norm(self.points[self.edges[:, 1]] - self.points[self.edges[:, 0]], axis=1)
        self.lengths = spans / self.stretched  # (m,) at rest
        self._check_thickness()
        within_reach(float(np.abs(self.points + np.array(self.position)).max()), float(spans.min()), "a rod")
        self.curvature = _curvature(self.curvature, len(self.edges))
        # (m, 2, 3, 3): frames at both ends of a segment that are one where it is not strained
        self.ends = straight_ends(self.frames, self.edges) if self.straight else np.stack([self.frames] * 2, axis=1)
        self.bodies: tuple[RodPoint, ...] = ()

    def _check_material(self) -> None:
        if self.material.plasticity is not None:
            raise SceneError("rods are elastic: a material with plasticity is not available for them")
        if self.material.mass_damping:
            raise SceneError("mass_damping is not available for rods; use damping, or forces of your own")

    def _check_thickness(self) -> None:
        """A section wider than all segments together are long is a slip of the pen."""
        width, length = 2 * max(self.section.extents), float(self.lengths.sum())
        if width > length:
            raise SceneError(
                f"a rod must not be wider than it is long: its section is {width:g} m wide, its segments at rest are "
                f"{length:g} m long together"
            )

    def _check_contact(self) -> None:
        """What other bodies say of their contacts and rods do not know."""
        for key in NOT_OF_RODS:
            if getattr(self, key) is not None:
                raise SceneError(f"{key} is not available for rods")

    @property
    def places(self) -> np.ndarray:
        """The points (n, 3) [m] where the scene puts them."""
        return np.array(self.position) + self.points @ rotation_matrix(self.rotation).T

    @property
    def point_names(self) -> str:
        """The names of its points in words."""
        return f"{self.name}.0 to {self.name}.{len(self) - 1}"

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> RodPoint:
        return self.bodies[whole(index, "the number of a point", -len(self), len(self) - 1)]

    def __iter__(self):
        return iter(self.bodies)

    def __repr__(self) -> str:
        return f"<rod {self.name!r}: {len(self.points)} points, {len(self.edges)} segments>"

    def make_bodies(self) -> None:
        """The points as bodies, once the rod has its name."""
        turn, origin = rotation_matrix(self.rotation), np.array(self.position)
        contact = {key: getattr(self, key) for key in ("friction", "restitution", "collide", "group", "mask")}
        around = around_points(self)
        if self.collide:
            warn_of_kinks(self, around)
        bodies = []
        for i, (shape, frame, here) in enumerate(point_shapes(self, around)):
            inertia, mass = self._inertia(around.segments[i], frame)
            rotation = multiply_quaternions(self.rotation, matrix_quaternion(frame))
            place = origin + turn @ (self.points[i] - frame @ here)
            at = {"position": tuple(place), "rotation": tuple(rotation), "velocity": self.velocity}
            name = f"{self.name}.{i}"
            bodies.append(RodPoint(shape, mass=mass, inertia=inertia, here=here, name=name, **at, **contact))
        self.bodies = tuple(bodies)

    def _inertia(self, own: list[int], frame: np.ndarray) -> tuple[np.ndarray, float]:
        """Inertia (3, 3) [kg m2] in a point's frame and mass [kg] of half of its own segments: rho I L/2."""
        first, second = self.section.moments
        per_length = self.material.density * np.array([first, second, first + second])
        seen = np.einsum("ji,mjk->mik", frame, self.frames[own])
        inertia = np.einsum("m,mij,j,mkj->ik", 0.5 * self.lengths[own], seen, per_length, seen)
        return 0.5 * (inertia + inertia.T), float(0.5 * self.lengths[own].sum() * self.linear_density)

    @property
    def linear_density(self) -> float:
        """Mass per length [kg/m]."""
        return self.material.density * self.section.area

    @property
    def stiffness(self) -> dict[str, np.ndarray]:
        """Of every segment: stretch EA (m,) [N], shear (m, 2) [N], bending (m, 2) [N m2], twist GJ (m,) [N m2].

        Shear is softer by what bends within a segment, 1/G* = 1/(k G A) + L^2/(12 EI), MacNeal's (1978) residual
        bending flexibility: loads at the points are then answered exactly however few segments there are, and a thin
        rod's shear is no stiffer than it must be.
        """
        section, young, shear = self.section, self.material.young, self.material.lame[1]
        count, (first, second) = len(self.edges), section.moments
        factors = np.array(section.shear_factors(self.material.poisson))
        soft = 1 / (factors * shear * section.area) + self.lengths[:, None] ** 2 / (
            12 * young * np.array([second, first])
        )
        return {
            "stretch": np.full(count, young * section.area),
            "shear": 1 / soft,
            "bending": np.tile(young * np.array([first, second]), (count, 1)),
            "twist": np.full(count, shear * section.torsion),
        }

    def clamp(self, point: int, velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0)) -> RodPoint:
        """Hold place and direction of a point, or move both; see RodPoint.clamp."""
        self[point].clamp(velocity, angular_velocity)
        return self[point]


def make_rod(points, material, radius, section, edges, closed, segments, **options) -> Rod:
    """A rod from what a user says; see Scene.add_rod."""
    instance(material, "the material of a rod", Material, "a pliant.Material")
    if (radius is None) == (section is None):
        raise SceneError("a rod needs either radius=... [m] or section=pliant.Section...")
    section = Section.circle(number(radius, "radius", low=THINNEST, high=THICKEST)) if section is None else section
    instance(section, "section", Section, "a pliant.Section, such as Section.circle(0.01)")
    if isinstance(points, TetMesh | TriMesh):
        if edges is not None:
            raise SceneError("a rod made of the edges of a mesh takes no edges=...")
        used, edges = np.unique(points.edges, return_inverse=True)  # points inside a surface have no edge
        points, edges = points.points[used], edges.reshape(-1, 2)
    points, edges = split_edges(points, edges, flag(closed, "closed"), segments)
    return Rod(points, edges, material, section, **options)


def _curvature(value, count: int) -> np.ndarray:
    """Natural curvature and twist (count, 3) [1/m]."""
    rule = f"3 finite numbers, or an array ({count}, 3) with a row for each segment"
    array = np.zeros(3) if value is None else numbers(value, "curvature", ((3,), (count, 3)), rule)
    return np.broadcast_to(array, (count, 3)).copy()
