"""Soft and rigid bodies as the user describes them: handles that take pins, forces and torques."""

from dataclasses import dataclass, field

import numpy as np

from pliant.checks import label, number, unit_quaternion, vector, vector_or_function
from pliant.errors import SceneError
from pliant.materials import Material
from pliant.meshes import TetMesh
from pliant.selections import Selection, as_selection
from pliant.shapes import Plane, Shape


def rotation_matrix(quaternion) -> np.ndarray:
    """Rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@dataclass(eq=False, kw_only=True)
class Placement:
    """What every body has.

    position [m], rotation (w, x, y, z), velocity [m/s]; friction: Coulomb's coefficient, restitution: 0..1, both None
    to take what the other body in a contact says (0.5 and 0 if neither does); collide: False to pass through
    everything.
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    friction: float | None = None
    restitution: float | None = None
    collide: bool = True
    name: str | None = None

    def check_placement(self) -> None:
        self.position = vector(self.position, "position")
        self.rotation = unit_quaternion(self.rotation, "rotation")
        self.friction = None if self.friction is None else number(self.friction, "friction", low=0)
        self.restitution = None if self.restitution is None else number(self.restitution, "restitution", low=0, high=1)
        self.collide = bool(self.collide)
        self.name = None if self.name is None else label(self.name, "name")


@dataclass(frozen=True, eq=False)
class Pin:
    """Nodes whose velocity along some axes is prescribed ([m/s], zero when None; or a function of time)."""

    nodes: Selection
    axes: str
    velocity: object


@dataclass(frozen=True, eq=False)
class NodeForce:
    """A total force [N], or a function of time, spread evenly over nodes."""

    nodes: Selection
    vector: object


@dataclass(frozen=True, eq=False)
class BodyForce:
    """A force [N] on a rigid body at a point fixed in the body (None: the centre of mass), or a function of time."""

    vector: object
    at: tuple[float, float, float] | None


class Nodes:
    """The nodes of a soft body where the scene puts them: `.x`, `.y`, `.z` (n,) and `.positions` (n, 3) [m]."""

    def __init__(self, positions: np.ndarray):
        self.positions = positions
        self.x, self.y, self.z = positions.T

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(eq=False)
class Soft(Placement):
    """A deformable solid: a tetrahedral mesh of one material."""

    mesh: TetMesh
    material: Material
    pins: list[Pin] = field(default_factory=list, init=False)
    forces: list[NodeForce] = field(default_factory=list, init=False)

    def __post_init__(self):
        self.check_placement()
        self.velocity = vector(self.velocity, "velocity")
        positions = self.mesh.points @ rotation_matrix(self.rotation).T + np.array(self.position)
        self.nodes = Nodes(positions)

    def __repr__(self) -> str:
        return f"<soft body {self.name!r}: {len(self.mesh.points)} nodes, {len(self.mesh.tets)} tets>"

    def select(self, selection: Selection, what: str) -> np.ndarray:
        """Sorted indices of the selected nodes; an empty selection is an error that names `what`."""
        indices = selection.select(self.nodes.positions, self.mesh.sets)
        if not len(indices):
            low, high = self.nodes.positions.min(axis=0), self.nodes.positions.max(axis=0)
            raise SceneError(
                f"{what} of {self.name!r} selects no node; its nodes lie between {low.tolist()} and {high.tolist()}"
            )
        return indices

    def _selection(self, nodes, what: str) -> Selection:
        selection = as_selection(nodes, what)
        mask = np.asarray(nodes) if not isinstance(nodes, Selection | str) else None
        if mask is not None and mask.dtype == bool and len(mask) != len(self.nodes):
            raise SceneError(f"{what} of {self.name!r}: the mask has {len(mask)} entries for {len(self.nodes)} nodes")
        self.select(selection, what)
        return selection

    def pin(self, nodes, axes: str = "xyz", velocity=None) -> None:
        """Prescribe the velocity [m/s] of nodes along some axes: held still, a vector, or a function of time."""
        if not axes or set(axes) - set("xyz"):
            raise SceneError(f"pin axes must be letters of 'xyz', got {axes!r}")
        velocity = None if velocity is None else vector_or_function(velocity, "pin velocity")
        self.pins.append(Pin(self._selection(nodes, "pin"), "".join(sorted(set(axes))), velocity))

    def force(self, nodes, vector) -> None:
        """Apply a total force [N] (or a function of time), spread evenly over the selected nodes."""
        self.forces.append(NodeForce(self._selection(nodes, "force"), vector_or_function(vector, "force")))


@dataclass(eq=False)
class Rigid(Placement):
    """A rigid body. `position` is that of its shape's origin (for a mesh: of the mesh's coordinate origin)."""

    shape: Shape
    density: float | None = field(default=None, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    inertia: np.ndarray | None = field(default=None, kw_only=True)
    angular_velocity: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    static: bool = field(default=False, kw_only=True)
    forces: list[BodyForce] = field(default_factory=list, init=False)
    torques: list = field(default_factory=list, init=False)

    def __post_init__(self):
        self.check_placement()
        self.static = bool(self.static)
        check = vector_or_function if self.static else vector
        self.velocity = check(self.velocity, "velocity")
        self.angular_velocity = check(self.angular_velocity, "angular_velocity")
        if isinstance(self.shape, Plane) and not self.static:
            raise SceneError("a plane is infinite: add it with static=True")
        if not self.static and (self.density is None) == (self.mass is None):
            raise SceneError("a rigid body needs either density=... [kg/m3] or mass=... [kg] (or static=True)")
        if self.density is not None:
            self.density = number(self.density, "density", low=0, open_low=True)
        if self.mass is not None:
            self.mass = number(self.mass, "mass", low=0, open_low=True)
        self.inertia = None if self.inertia is None else inertia_matrix(self.inertia)

    def __repr__(self) -> str:
        return f"<rigid body {self.name!r}: {type(self.shape).__name__}>"

    def mass_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass [kg], centre (3,) in the shape's frame [m], inertia about it (3, 3) in the shape's frame [kg m2]."""
        if isinstance(self.shape, Plane):
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


def inertia_matrix(value) -> np.ndarray:
    """A symmetric positive inertia (3, 3) [kg m2] from a matrix, three principal moments, or one number."""
    array = np.asarray(value, dtype=float)
    array = np.eye(3) * array if array.ndim == 0 else np.diag(array) if array.shape == (3,) else array
    if array.shape != (3, 3) or not np.allclose(array, array.T) or not np.all(np.isfinite(array)):
        raise SceneError(f"inertia must be one number, three moments or a symmetric 3x3 matrix, got {value!r}")
    moments = np.linalg.eigvalsh(array)
    if moments[0] <= 0:
        raise SceneError(f"inertia must be positive definite, its principal moments are {moments.tolist()}")
    return array
