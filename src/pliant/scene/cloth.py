"""Sheets as the user describes them: cloth, paper, membranes and thin shells, with clamps and wind."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant.checks import flag, instance, number, optional_number, refusal, unit_vector, vector_or_function
from pliant.errors import SceneError
from pliant.meshes import TriMesh
from pliant.meshes.checks import name_rows, name_some
from pliant.meshes.topology import edge_balance, pinched_points, unused_nodes
from pliant.scene.bodies import Soft
from pliant.scene.held import Pin
from pliant.scene.sealed import Noted
from pliant.scene.shapes import HEAVIEST, LIGHTEST

AIR = 1.204
"""Density [kg/m3] of dry air at 20 degrees Celsius and 101325 Pa."""

NOT_OF_SHEETS = {
    "linear": "a sheet turns, and the law linear knows no rotation; use Material.corotated",
    "springs": "springs are the edges of tets; use Material.corotated or another law of volumes",
}


@dataclass(frozen=True, eq=False)
class Clamp(Pin):
    """A pin that also holds directions: the sheet cannot turn about edges with both ends clamped."""


@dataclass(frozen=True, eq=False)
class Wind:
    """Air that moves with a velocity (3,) [m/s], or a function of time, past a sheet; drag, lift: coefficients along
    the air's velocity relative to the sheet and across it; density [kg/m3] of the air."""

    velocity: object
    drag: float = 1.0
    lift: float = 1.0
    density: float = AIR


@dataclass(frozen=True)
class Fibres:
    """Yarns within a sheet: direction (3,) in the axes of its mesh, and the modulus [Pa] by which they stiffen it along
    that direction. A triangle has the direction's projection on its plane at rest."""

    direction: tuple[float, float, float]
    young: float

    def __post_init__(self):
        object.__setattr__(self, "direction", unit_vector(self.direction, "fibres direction"))
        object.__setattr__(self, "young", number(self.young, "fibres young", low=0, open_low=True))


@dataclass(eq=False)
class Cloth(Soft):
    """A sheet: a triangle mesh of one material with a thickness [m].

    thins: whether the sheet gets thinner where it is stretched, so that no stress acts across it (plane stress); False
    keeps its thickness. bend_stiffness [N m]: in place of E h^3 / (12 (1 - nu^2)); 0 for a membrane that does not
    resist bending. flat: whether it is flat without load, whatever the angles of its mesh. fibres: yarns that stiffen
    it. contact_distance [m]: contacts act at this distance from the middle of the sheet; half of its thickness if None.
    """

    KIND: ClassVar[str] = "sheet"
    MESH: ClassVar[type] = TriMesh
    mesh: TriMesh
    thins: bool = field(default=True, kw_only=True)
    bend_stiffness: float | None = field(default=None, kw_only=True)
    flat: bool = field(default=False, kw_only=True)
    fibres: tuple[Fibres, ...] = field(default=(), kw_only=True)
    contact_distance: float | None = field(default=None, kw_only=True)
    winds: list[Wind] = field(default_factory=Noted, init=False)

    def __post_init__(self):
        if self.drawing is not None:
            raise SceneError("cloth: a sheet is drawn as it is; leave out drawing, which follows tets")
        super().__post_init__()
        self.thickness = number(self.thickness, "thickness", low=0, open_low=True)
        self.thins, self.flat = flag(self.thins, "thins"), flag(self.flat, "flat")
        self.bend_stiffness = optional_number(self.bend_stiffness, "bend_stiffness", low=0)
        self.contact_distance = optional_number(self.contact_distance, "contact_distance", low=0, open_low=True)
        self._check_layers(self.thickness)
        self.fibres = _fibres(self.fibres)
        if self.material.law in NOT_OF_SHEETS:
            raise SceneError(f"cloth: {NOT_OF_SHEETS[self.material.law]}")
        check_sheet(self.mesh)
        for one in self.fibres:
            check_fibres(self.mesh, one)

    def _check_mass(self) -> None:
        """Areas follow from lengths squared: they must not leave what numbers hold."""
        thickness = number(self.thickness, "thickness", low=0, open_low=True)
        with np.errstate(all="ignore"):
            mass = float(self.material.density * self.mesh.areas.sum() * thickness)
        if not LIGHTEST <= mass <= HEAVIEST:
            raise SceneError(
                f"cloth must have a mass between {LIGHTEST:g} and {HEAVIEST:g} kg; this one has {mass:.3g} kg"
            )

    def _check_layers(self, thickness: float) -> None:
        """Refuse a thickness [m], and contacts at a distance, that are larger than the sheet: it would be none."""
        extent = float(np.ptp(self.mesh.points, axis=0).max())
        limits = (
            ("thickness", thickness, extent, ""),
            ("contact_distance", self.contact_distance, extent / 2, "half of "),
        )
        for key, value, allowed, part in limits:
            if value is not None and value > allowed:
                raise SceneError(
                    f"{key} of a cloth must be at most {allowed:g} m, {part}the largest extent of its mesh, got "
                    f"{value:g}"
                )

    def __repr__(self) -> str:
        return f"<cloth {self.name!r}: {len(self.mesh.points)} nodes, {len(self.mesh.triangles)} triangles>"

    @property
    def layer(self) -> float:
        """Distance [m] from the middle of the sheet at which contacts act."""
        return self.thickness / 2 if self.contact_distance is None else self.contact_distance

    def set_thickness(self, thickness: float | None) -> None:
        """Say the thickness [m] of the sheet."""
        thickness = number(thickness, "thickness", low=0, open_low=True)
        self._check_layers(thickness)
        self.put(thickness=thickness)

    @property
    def plate_stiffness(self) -> float:
        """Resistance against bending D [N m] per curvature and width."""
        if self.bend_stiffness is not None:
            return self.bend_stiffness
        young, poisson = self.material.young, self.material.poisson
        return young * self.thickness**3 / (12 * (1 - poisson**2))

    @cached_property
    def mass(self) -> float:
        """Density times area times thickness [kg]."""
        return float(self.material.density * self.mesh.areas.sum() * self.thickness)

    def clamp(self, nodes, velocity=None, displacement=None) -> Clamp:
        """Hold nodes, or move them without turning, as `pin` does along all axes; and hold the direction of the sheet
        at edges of its boundary with both ends among them, and around triangles with all three nodes among them."""
        pin = self.pin(self.select(nodes, "clamp"), "xyz", velocity, displacement)
        self.pins[-1] = Clamp(pin.nodes, pin.axes, pin.velocity, pin.displacement)
        return self.pins[-1]

    def wind(self, velocity, drag: float = 1.0, lift: float = 1.0, density: float = AIR) -> Wind:
        """Let air of a density [kg/m3] blow with a velocity (3,) [m/s], or a function of time, on both sides of the
        sheet. With w the air's velocity relative to a triangle of area A and its normal n on the lee side, its force is
        rho/2 A |w| (n.w) (drag w/|w| + lift (n - (n.w) w/|w|^2))."""
        coefficients = (number(drag, "wind drag", low=0), number(lift, "wind lift", low=0))
        if max(coefficients) == 0.0:
            raise SceneError(f"wind of {self.name!r} needs a drag or a lift above 0")
        air = number(density, "wind density", low=0, open_low=True)
        self.winds.append(Wind(vector_or_function(velocity, "wind velocity"), *coefficients, air))
        return self.winds[-1]


# Fibres of which no more than this part lies within a triangle stand across it.
ACROSS = 1e-6
REPAIR = "make or read the mesh with repair=True"


def check_sheet(mesh: TriMesh) -> None:
    """Raise SceneError that says where a mesh is no sheet: edges of three triangles, neighbours whose sides disagree,
    parts that meet in a point alone, points without a triangle."""
    edges, counts, balance = edge_balance(mesh.triangles, len(mesh.points))
    faults = [
        (counts > 2, "these edges belong to more than two triangles", "separate the sheets"),
        ((counts == 2) & (balance != 0), "the triangles at these edges disagree about their sides", REPAIR),
    ]
    for mask, fault, remedy in faults:
        if mask.any():
            raise SceneError(f"cloth: {fault}: {name_rows(edges[mask])}; {remedy}")
    pinched = pinched_points(mesh.triangles, len(mesh.points))
    if len(pinched):
        raise SceneError(
            f"cloth: parts of the sheet meet in these points alone, without a common edge: {name_some(pinched)}; give "
            f"each part a point of its own, and join sheets that are to hang together by pliant.Ball"
        )
    loose = unused_nodes(mesh.triangles, len(mesh.points))
    if len(loose):
        raise SceneError(
            f"cloth: no triangle uses these points, they would have no mass: {name_some(loose)}; "
            f"pliant.meshes.TriMesh(points, triangles, repair=True) leaves them out"
        )


def check_fibres(mesh: TriMesh, fibres: Fibres) -> None:
    """Raise SceneError that names the first triangle of a mesh that fibres stand across."""
    corners = mesh.points[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    direction = np.array(fibres.direction)
    within = np.linalg.norm(direction - (normal @ direction)[:, None] * normal, axis=1)
    across = np.flatnonzero(within < ACROSS * np.linalg.norm(direction))
    if len(across):
        raise SceneError(
            f"fibres along {list(fibres.direction)} stand across triangle {int(across[0])} of the cloth; a direction "
            f"within the sheet is needed, in the axes of its mesh"
        )


def _fibres(value) -> tuple[Fibres, ...]:
    if isinstance(value, Fibres):
        return (value,)
    if not isinstance(value, list | tuple):
        raise refusal("fibres", "pliant.Fibres or a list of them", value)
    return tuple(instance(one, "one of fibres", Fibres, "pliant.Fibres") for one in value)
