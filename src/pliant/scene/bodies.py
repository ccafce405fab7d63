"""Soft and rigid bodies as the user describes them: handles that take pins, forces, tractions, pressures, torques."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant.checks import (
    choice,
    flag,
    instance,
    label,
    number_or_function,
    numbers,
    optional_number,
    or_function,
    refusal,
    unit_quaternion,
    vector,
    vector_or_function,
    within_reach,
)
from pliant.errors import SceneError
from pliant.meshes import TetMesh, TriMesh
from pliant.meshes.checks import freeze
from pliant.meshes.embedding import Embedding, embed
from pliant.rotations import rotation_matrix
from pliant.scene.contact_options import CONTACT_KEYS, TORQUES, ContactOptions, check_thickness
from pliant.scene.faces import Faces, Nodes
from pliant.scene.held import SPREADS, BodyForce, FacePressure, FaceTraction, NodeForce, Pin
from pliant.scene.materials import Material
from pliant.scene.sealed import Noted
from pliant.scene.selections import Selection, as_selection
from pliant.scene.shapes import HEAVIEST, LIGHTEST, ONE_OF_SHAPES, SHAPES, WITHOUT_MASS, Mesh, Shape, inertia_matrix


@dataclass(eq=False, kw_only=True)
class Placement(ContactOptions):
    """What every body has: position [m], rotation (w, x, y, z), velocity [m/s], a name; and how it touches others."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: str | None = None

    def check_placement(self) -> None:
        self.check_contact()
        self.position = vector(self.position, "position")
        self.rotation = unit_quaternion(self.rotation, "rotation")
        self.name = None if self.name is None else label(self.name, "name")

    @property
    def layer(self) -> float | None:
        """Distance [m] from the surface at which contacts act; None to leave it to the engine."""
        return self.thickness


@dataclass(eq=False)
class Soft(Placement):
    """A deformable solid: a tetrahedral mesh of one material.

    self_contact: False to let it pass through itself, True to refuse solvers and statics that cannot prevent that; None
    leaves it to what can.
    drawing: a surface, in the frame of the mesh, that is drawn and exported in place of the mesh's boundary and follows
    its tets.
    """

    KIND: ClassVar[str] = "soft body"
    ASSIGNABLE: ClassVar[tuple[str, ...]] = ("friction", "restitution", "collide", "group", "mask", "self_contact")
    MESH: ClassVar[type] = TetMesh
    mesh: TetMesh
    material: Material
    self_contact: bool | None = field(default=None, kw_only=True)
    drawing: TriMesh | None = field(default=None, kw_only=True)
    pins: list[Pin] = field(default_factory=Noted, init=False)
    forces: list[NodeForce] = field(default_factory=Noted, init=False)
    tractions: list[FaceTraction] = field(default_factory=Noted, init=False)
    pressures: list[FacePressure] = field(default_factory=Noted, init=False)

    def __post_init__(self):
        instance(self.mesh, f"the mesh of a {self.KIND}", self.MESH, f"a pliant.meshes.{self.MESH.__name__}")
        instance(self.material, "the material of a soft body", Material, "a pliant.Material")
        self.check_placement()
        self.velocity = vector(self.velocity, "velocity")
        self._check_mass()
        instance(self.drawing, "drawing", TriMesh | None, "a pliant.meshes.TriMesh")
        self.embedding: Embedding | None = None if self.drawing is None else embed(self.mesh, self.drawing)
        for array in () if self.embedding is None else (self.embedding.nodes, self.embedding.weights):
            array.flags.writeable = False
        positions = self.mesh.points @ rotation_matrix(self.rotation).T + np.array(self.position)
        self.check_reach(positions)
        self.nodes = Nodes(positions)

    def check_reach(self, positions: np.ndarray) -> None:
        """Refuse positions (n, 3) [m] at which edges are lost in rounding; those near the origin are not looked at."""
        farthest = float(np.abs(positions).max())
        if farthest > 1e3 * np.ptp(self.mesh.points, axis=0).max():
            ends = self.mesh.points[self.mesh.edges]
            shortest = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).min()
            within_reach(farthest, float(shortest), f"a {self.KIND}")

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<soft body{name}: {len(self.mesh.points)} nodes, {len(self.mesh.tets)} tets>"

    def check_contact(self) -> None:
        super().check_contact()
        self.self_contact = None if self.self_contact is None else flag(self.self_contact, "self_contact")
        for key in TORQUES:
            if getattr(self, key) is not None:
                raise SceneError(
                    f"{key} is not available for a {self.KIND}: a torque of a contact acts between rigid bodies"
                )

    def _check_mass(self) -> None:
        """Volumes follow from lengths to the third power: they must not leave what numbers hold."""
        with np.errstate(all="ignore"):
            mass, least = self.mesh.volume * self.material.density, self.mesh.volumes.min()
        if not LIGHTEST <= mass <= HEAVIEST or not least > 0:
            raise SceneError(
                f"a soft body must have a mass between {LIGHTEST:g} and {HEAVIEST:g} kg and tets with a volume; this "
                f"one has {mass:.3g} kg, its smallest tet {least:.3g} m3"
            )

    def set_thickness(self, thickness: float | None) -> None:
        """Say the thickness [m] of the layer around the body; layers on opposite sides must not meet inside it."""
        thickness = optional_number(thickness, "thickness", low=0, open_low=True)
        if thickness is not None:
            check_thickness(thickness, self.mesh.points, f"soft body {self.name!r}")
        self.put(thickness=thickness)

    @cached_property
    def faces(self) -> Faces:
        """The boundary triangles where the scene puts them: centres, outward normals and areas; see pliant.faces."""
        return Faces(self.nodes.positions, self.mesh.boundary_elements)

    def select(self, selection: Selection, what: str) -> np.ndarray:
        """Sorted indices of the selected nodes; an empty selection is an error that names `what`."""
        indices = as_selection(selection, what).select(self.nodes.positions, self.mesh.sets)
        if not len(indices):
            raise SceneError(f"{what} of {self.name!r} selects no node; its nodes lie {_extent(self.nodes.positions)}")
        return indices

    def select_faces(self, selection: Selection, what: str) -> np.ndarray:
        """Sorted indices of the selected faces; an empty selection is an error that names `what`."""
        indices = as_selection(selection, what, "face").select_faces(self.faces, self.mesh.sets)
        if not len(indices):
            extent = _extent(self.faces.centres)
            raise SceneError(f"{what} of {self.name!r} selects no face; the centres of its faces lie {extent}")
        return indices

    def force_shares(self, force: NodeForce) -> tuple[np.ndarray, np.ndarray]:
        """The nodes (k,) on which a force acts, ascending, and the share (k,) of it on each; shares add up to 1."""
        instance(force, "force", NodeForce, "what body.force(...) returns")
        nodes = self.select(force.nodes, "force")
        if force.spread == "even":
            return nodes, np.full(len(nodes), 1 / len(nodes))
        areas = self.faces.node_areas(nodes)
        if not areas.any():
            raise SceneError(
                f"force of {self.name!r} with spread='area' needs boundary faces with all three nodes selected, but "
                f"there is none; select all nodes of a piece of the boundary, or use spread='even'"
            )
        return nodes, areas / areas.sum()

    def pin(self, nodes, axes: str = "xyz", velocity=None, displacement=None) -> Pin:
        """Prescribe the motion of nodes along some axes: held still, or a velocity [m/s], or a displacement [m].

        velocity: a vector. displacement: from where the scene puts the nodes, a vector, or an array (k, 3) with a row
        for each of the k selected nodes in ascending order. Each may be a function of time.
        """
        if not isinstance(axes, str) or not axes or set(axes) - set("xyz"):
            raise refusal("pin axes", "letters of 'xyz'", axes)
        if velocity is not None and displacement is not None:
            raise SceneError(f"pin of {self.name!r} has a velocity and a displacement; allowed: one of the two")
        selection = self._nodes(nodes, "pin")
        if velocity is not None:
            velocity = vector_or_function(velocity, "pin velocity")
        if displacement is not None:
            displacement = _displacement(displacement, len(self.select(selection, "pin")))
        return _kept(self.pins, Pin(selection, "".join(sorted(set(axes))), velocity, displacement))

    def force(self, nodes, vector, spread: str = "even") -> NodeForce:
        """Apply a total force [N] (or a function of time) to nodes.

        spread: "even", the same on each node; "area", by the area of the boundary faces that belongs to each node (a
        third of a face of three nodes), of the faces of which all nodes are selected.
        """
        choice(spread, "force spread", SPREADS)
        force = NodeForce(self._nodes(nodes, "force"), vector_or_function(vector, "force"), spread)
        self.force_shares(force)
        return _kept(self.forces, force)

    def traction(self, faces, vector) -> FaceTraction:
        """Apply a force per area before deformation [Pa] (or a function of time) to faces: it keeps its direction.

        faces: a mask over `body.faces`, indices, a selection (of face centres), a comparison text, or "all".
        """
        return _kept(
            self.tractions, FaceTraction(self._faces(faces, "traction"), vector_or_function(vector, "traction"))
        )

    def pressure(self, faces, pressure) -> FacePressure:
        """Apply a pressure [Pa] (or a function of time) to faces: it follows them, and pushes inward where positive.

        faces: a mask over `body.faces`, indices, a selection (of face centres), a comparison text, or "all".
        """
        return _kept(
            self.pressures, FacePressure(self._faces(faces, "pressure"), number_or_function(pressure, "pressure"))
        )

    def _nodes(self, nodes, what: str) -> Selection:
        selection = as_selection(nodes, what)
        self._check_mask(nodes, len(self.nodes), what, "nodes")
        self.select(selection, what)
        return selection

    def _faces(self, faces, what: str) -> Selection:
        selection = as_selection(faces, what, "face")
        self._check_mask(faces, len(self.faces), what, "faces")
        self.select_faces(selection, what)
        return selection

    def _check_mask(self, value, count: int, what: str, kind: str) -> None:
        mask = np.asarray(value) if not isinstance(value, Selection | str) else None
        if mask is not None and mask.dtype == bool and mask.shape != (count,):
            raise SceneError(f"{what} of {self.name!r}: the mask has {len(mask)} entries for {count} {kind}")


def _kept(loads: list, load):
    """The load, after it was added to a list."""
    loads.append(load)
    return load


def _extent(points: np.ndarray) -> str:
    return f"between {points.min(axis=0).tolist()} and {points.max(axis=0).tolist()}"


def _displacement(value, count: int):
    """A displacement [m] of `count` nodes: a vector, an array (count, 3), or a function of time (tried at t = 0)."""
    return or_function(value, "pin displacement", lambda given, name: _displacement_value(given, count, name))


def _displacement_value(value, count: int, name: str) -> tuple[float, float, float] | np.ndarray:
    rule = f"3 finite numbers, or an array ({count}, 3) with a row for each selected node in order"
    array = numbers(value, name, ((3,), (count, 3)), rule)
    if array.ndim == 1:
        return tuple(array.tolist())
    return freeze(array)


@dataclass(eq=False)
class Rigid(Placement):
    """A rigid body. `position` is that of its shape's origin (for a mesh: of the mesh's coordinate origin)."""

    ASSIGNABLE: ClassVar[tuple[str, ...]] = (
        *("position", "rotation", "velocity", "angular_velocity", "static", "density", "mass", "inertia"),
        *CONTACT_KEYS,
    )
    shape: Shape
    density: float | None = field(default=None, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    inertia: np.ndarray | None = field(default=None, kw_only=True)
    angular_velocity: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    static: bool = field(default=False, kw_only=True)
    forces: list[BodyForce] = field(default_factory=Noted, init=False)
    torques: list = field(default_factory=Noted, init=False)

    def __post_init__(self):
        instance(self.shape, "the shape of a rigid body", SHAPES, ONE_OF_SHAPES)
        self.check_placement()
        self.static = flag(self.static, "static")
        check = vector_or_function if self.static else vector
        self.velocity = check(self.velocity, "velocity")
        self.angular_velocity = check(self.angular_velocity, "angular_velocity")
        if isinstance(self.shape, WITHOUT_MASS) and not self.static:
            raise SceneError(f"{self.shape.no_mass}: add it with static=True")
        if not self.static and (self.density is None) == (self.mass is None):
            got = "neither" if self.mass is None else "both"
            raise SceneError(
                f"a rigid body needs either density=... [kg/m3] or mass=... [kg] (or static=True), got {got}"
            )
        self.density = optional_number(self.density, "density", low=0, open_low=True)
        self.mass = optional_number(self.mass, "mass", low=0, open_low=True)
        self.inertia = None if self.inertia is None else inertia_matrix(self.inertia)
        self._check_mass()
        if self.thickness is not None and not hasattr(self.shape, "surface"):
            kind = type(self.shape).__name__
            raise SceneError(f"thickness is of soft bodies, meshes and heightfields; a {kind} touches at its surface")
        if isinstance(self.shape, Mesh) and self.thickness is not None:
            check_thickness(
                self.thickness, self.shape.surface.points, f"rigid body {self.name!r}" if self.name else "a mesh"
            )

    def check_again(self) -> None:
        self.__post_init__()

    def __repr__(self) -> str:
        return f"<rigid body {self.name!r}: {type(self.shape).__name__}>"

    def _check_mass(self) -> None:
        """Mass and inertia follow from lengths to the third and fifth power: they must not leave what numbers hold."""
        if self.static:
            return
        with np.errstate(all="ignore"):
            mass, _, inertia = self.mass_properties()
            moments = np.linalg.eigvalsh(inertia) if np.isfinite(inertia).all() else np.zeros(3)
        if not (LIGHTEST <= mass <= HEAVIEST and moments[0] >= LIGHTEST**2 and moments[2] <= HEAVIEST**2):
            raise SceneError(
                f"a rigid body must have a mass between {LIGHTEST:g} and {HEAVIEST:g} kg and moments of inertia that "
                f"fit it; this {type(self.shape).__name__} has {mass:.3g} kg and {moments.tolist()} kg m2"
            )
        self.check_reach(self.position)

    def check_reach(self, position: Sequence[float]) -> None:
        """Refuse a position (3,) [m] at which the body is lost in rounding; one that is static has no size to lose."""
        if not self.static:
            with np.errstate(all="ignore"):
                unit = self.shape.mass_properties()
            if not np.isfinite(unit.inertia).all():
                raise SceneError(f"this {type(self.shape).__name__} is too large: numbers cannot hold its inertia")
            size = math.sqrt(np.linalg.eigvalsh(unit.inertia)[0] / unit.volume)  # a radius of gyration
            within_reach(max(map(abs, position)), size, f"a rigid {type(self.shape).__name__}")

    def mass_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass [kg], centre (3,) in the shape's frame [m], inertia about it (3, 3) in the shape's frame [kg m2]."""
        if isinstance(self.shape, WITHOUT_MASS):
            return np.inf, np.zeros(3), np.diag([np.inf] * 3)
        unit = self.shape.mass_properties()
        if self.static:
            return np.inf, np.array(unit.centre), np.diag([np.inf] * 3)
        mass = self.mass if self.mass is not None else self.density * unit.volume
        inertia = self.inertia if self.inertia is not None else unit.inertia * (mass / unit.volume)
        return mass, np.array(unit.centre), np.array(inertia)

    def force(self, vector, at=None) -> None:
        """Apply a force [N] (or a function of time) at a body-fixed point given where it is at the start [m]."""
        at = None if at is None else _point(at)
        self.forces.append(BodyForce(vector_or_function(vector, "force"), at))

    def torque(self, vector) -> None:
        """Apply a torque [N m] in world axes, or a function of time."""
        self.torques.append(vector_or_function(vector, "torque"))


def _point(value) -> tuple[float, float, float]:
    return vector(value, "force at")
