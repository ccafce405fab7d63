"""The state: everything about a scene that changes. A step makes a new one and writes nothing into the old."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.records import changed


@dataclass(frozen=True)
class RowImpulses:
    """Impulses of the last step [N s]: joints (slices, 3, LANES); contacts (k, 3) along normal and tangents, by key;
    and what these contacts were: things (k, 2), points, normals (k, 3), gaps (k,) [m], as collide.Contacts has them;
    their torques (k, 3) [N m s] against turning and rolling."""

    joints: np.ndarray
    contact_key: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    contacts: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    contact_thing: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    contact_point: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    contact_normal: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    contact_gap: np.ndarray = field(default_factory=lambda: np.zeros(0))
    contact_torque: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    def scaled(self, factor: float) -> "RowImpulses":
        """Those of a step `factor` times as long with the same forces."""
        torque = factor * self.contact_torque
        return changed(self, joints=factor * self.joints, contacts=factor * self.contacts, contact_torque=torque)


@dataclass(frozen=True)
class State:
    """Everything that changes. Body frames are principal frames about centres of mass."""

    known_finite: ClassVar[bool] = False  # whether all numbers were seen to be finite where it was computed

    time: float  # [s]
    step: int
    x: np.ndarray  # (n, 3) node positions [m]
    v: np.ndarray  # (n, 3) node velocities [m/s]
    body_position: np.ndarray  # (b, 3) centres of mass [m]
    body_rotation: np.ndarray  # (b, 4) unit quaternions of the principal frames
    body_velocity: np.ndarray  # (b, 3) [m/s]
    body_angular_velocity: np.ndarray  # (b, 3) world axes [rad/s]
    angles: np.ndarray  # (m,) free coordinates of joints [m or rad], full turns counted
    broken: np.ndarray  # (blocks,) bool: of joints that broke
    crossing: np.ndarray  # (k, 2) pairs of things whose surfaces cross, and do not touch until they have come apart
    plastic_strain: np.ndarray  # (g, 6, LANES) at the groups of points of the elements
    impulses: RowImpulses
    tangled: np.ndarray  # (soft,) time [s] for which a body turned inside out goes on being pulled back, else 0
    # of the last step, for the reactions of pins
    previous_velocity: np.ndarray  # (n, 3) node velocities before it [m/s]
    row_impulse: np.ndarray  # (n, 3) impulses of joints and contacts on nodes [N s], zero where nothing is pinned
    span: float  # length [s] of the implicit step at its end; less than the time step in BDF2 and in parts
    # what a solver or integrator keeps from step to step, under its own name: {name: {array name: array}}
    memory: dict = field(default_factory=dict)

    @property
    def pose(self) -> tuple[np.ndarray, ...]:
        """What joints are evaluated at: angles near which theirs are, nodes, positions and rotations of bodies."""
        return self.angles, self.x, self.body_position, self.body_rotation

    def velocity_triples(self) -> np.ndarray:
        """Velocities as triples (n + 2 b, 3), which nobody writes into."""
        return self._triples

    @cached_property
    def _triples(self) -> np.ndarray:
        n, out = len(self.v), np.empty((len(self.v) + 2 * len(self.body_velocity), 3))
        out[:n], out[n::2], out[n + 1 :: 2] = self.v, self.body_velocity, self.body_angular_velocity
        return out

    @cached_property
    def body_sizes(self) -> np.ndarray:
        """The numbers (2 b, 3) whose rounding is that of the triples of bodies: positions [m], and ones for turns."""
        out = np.ones((2 * len(self.body_position), 3))
        out[::2] = self.body_position
        return out

    def remembering(self, name: str, **arrays: np.ndarray) -> "State":
        """This state with the memory of one solver or integrator renewed; without arrays it is forgotten."""
        memory = {key: value for key, value in self.memory.items() if key != name}
        return self.changed(memory=memory | ({name: arrays} if arrays else {}))

    def changed(self, **values) -> "State":
        """This state with other values of some of its fields."""
        return changed(self, **values)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, for checkpoints."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("impulses", "memory")}
        impulses = {f"impulses_{f.name}": getattr(self.impulses, f.name) for f in fields(self.impulses)}
        memory = {f"memory_{n}.{k}": array for n, arrays in self.memory.items() for k, array in arrays.items()}
        return own | impulses | memory

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "State":
        """The state that `arrays()` described."""
        impulses = RowImpulses(**{f.name: arrays[f"impulses_{f.name}"] for f in fields(RowImpulses)})
        memory: dict[str, dict] = {}
        for key in (key for key in arrays if key.startswith("memory_")):
            name, array = key.removeprefix("memory_").split(".", 1)
            memory.setdefault(name, {})[array] = arrays[key]
        plain = [f.name for f in fields(cls) if f.name not in ("impulses", "memory", "time", "step", "span")]
        numbers = {"time": float(arrays["time"]), "step": int(arrays["step"]), "span": float(arrays["span"])}
        return cls(impulses=impulses, memory=memory, **numbers, **{name: arrays[name] for name in plain})


def first_state(x, v, position, rotation, velocity, spin, *, groups: int, joints, softs: int):
    """The state at time 0: nodes (n, 3) and rigid bodies as given, nothing deformed for good, no impulses;
    joints: their blocks."""
    plastic, impulses = np.zeros((groups, 6, LANES)), RowImpulses(np.zeros((len(joints.start) - 1, 3, LANES)))
    motion = (x, v, position, rotation, velocity, spin)
    of_joints = (np.zeros(max(len(joints.free.kind), 1)), np.zeros(len(joints.family), bool))
    crossing = np.zeros((0, 2), np.int64)
    return State(
        0.0, 0, *motion, *of_joints, crossing, plastic, impulses, np.zeros(softs), v.copy(), np.zeros_like(v), 0.0
    )
