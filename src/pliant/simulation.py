"""A running simulation: stepping, reading, setting, saving."""

from dataclasses import replace
from functools import cached_property, partial
from threading import Lock

import numpy as np

from pliant.checks import choice, number, numbers, shown, unit_quaternion, vector, whole
from pliant.collecting import collect_beforehand
from pliant.errors import DeviceError, SceneError, about
from pliant.jit import check_threads
from pliant.meshes import TriMesh
from pliant.model.build import build
from pliant.model.overlaps import crossing_pairs, warn_of_crossings, warn_of_overlaps, warn_of_step
from pliant.model.wrenches import joint_wrench
from pliant.readers import contacts as touching
from pliant.readers import joints, reactions
from pliant.readers.fields import FieldReaders
from pliant.readers.rods import RodState, rod_state
from pliant.rotations import conjugate, multiply_quaternions, rotation_matrix
from pliant.running import Run
from pliant.scene.bodies import Pin, Rigid, Soft
from pliant.scene.changes import Described
from pliant.scene.coordinates import Motor
from pliant.scene.rods import Rod, RodPoint
from pliant.scene.scene import Scene
from pliant.solve import Dual, Newton
from pliant.solve.make import make_solver
from pliant.stepping.integrators import bdf2_step
from pliant.stepping.step import check_state
from pliant.stepping.step import step as euler_step
from pliant.threads import Threads, Untouched

PRECISIONS = ("float32", "float64")
CHANGING = ("state", "info", "model", "motors", "working_solver", "thread_choice")
"""What of a simulation is assigned after it was made."""


class _Alone:
    """Take one step at a time."""

    def __init__(self, lock: Lock):
        self.lock = lock

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            raise SceneError(
                "this simulation is in the midst of a step, taken by another thread or by what called this function; "
                "its steps come one after the other"
            )

    def __exit__(self, *error) -> None:
        self.lock.release()


class Simulation(FieldReaders):
    """A scene in motion, with time step `dt` [s].

    solver: pliant.Newton() unless another is given. device: where it computes, "cpu" or "cuda" (an NVIDIA GPU, on which
    positions and velocities stay until they are read; see docs/gpu.md). precision: "float32" or "float64"
    of the dual solver (positions and velocities are always float64); others refuse "float32". threads: how many, None
    for what measuring shows to be quicker; results do not depend on it.

    It is of the scene as it was then: once that has changed it refuses to step, while its readers go on telling.
    """

    def __init__(self, scene: Scene, dt: float, *, solver=None, device="cpu", precision="float64", threads=None):
        if not isinstance(scene, Scene):
            raise SceneError(f"a simulation needs a pliant.Scene, got {shown(scene)}")
        with about("threads"):
            check_threads()
        self.given, self.dt = Described(scene), number(dt, "dt", low=0, open_low=True)
        self.scene = self.given.kept
        self.solver = Newton() if solver is None else solver
        self.precision, self.threads, self.device = choice(precision, "precision", PRECISIONS), threads, device
        self.motors: dict[tuple[int, str], Motor] = {}
        """Motors that `set_motor` has changed, by the number of their joint and the name of their coordinate."""
        self.model, self.state = build(self.scene, getattr(self.solver, "elements_as_rows", False), device)
        with about("threads"):
            self.thread_choice = Threads(threads, self.model.elements.groups + len(self.model.joints.start))
        with about("solver"):
            self.working_solver = make_solver(self.solver, self.model, self.state, precision)
        if not getattr(self.working_solver, "threaded", True):
            self.thread_choice = Untouched()
        collect_beforehand()
        self._open_rods: set[str] = set()  # rods of which it was said that their pieces do not meet
        self.info, self._stepping = None, Lock()

    def __setattr__(self, name: str, value) -> None:
        """Nothing is assigned that steps would not follow."""
        if "_stepping" in self.__dict__ and name not in CHANGING:
            raise SceneError(
                f"{name} of a simulation cannot be assigned; what may change on the way are motors, poses, positions "
                f"and velocities (set_...), all else is said when it is made"
            )
        object.__setattr__(self, name, value)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    def step(self, n: int = 1) -> "Simulation":
        """Advance by n steps."""
        advance = bdf2_step if getattr(self.solver, "integrator", "euler") == "bdf2" else euler_step
        for _ in range(whole(n, "the number of steps", 0)):
            with _Alone(self._stepping):
                self.check_unchanged()
                warn_of_overlaps(self.scene.overlaps, self.model, self.state, self.dt)
                before, now = self.state.crossing, (self.model, self.state, self.working_solver)
                state, info = self.thread_choice.run(partial(advance, *now, self.dt))
                check_state(self.model, state)
                self.state, self.info = state, info
            warn_of_step(self.model, before, self.state, self._open_rods)
        return self

    def __reduce__(self):
        raise SceneError(
            "a simulation is not copied or pickled: write sim.checkpoint(path), and pliant.resume(path) as often as "
            "you want one more"
        )

    def run(self, seconds: float, every: int = 1, progress: bool | None = None) -> Run:
        """Advance by `seconds` as the result is looped over, giving this simulation after every `every` steps; a
        progress bar in a terminal."""
        return Run(self, seconds, every, progress)

    def check_unchanged(self) -> None:
        """Refuse to go on when the scene has changed since."""
        if difference := self.given.difference():
            raise SceneError(
                f"the scene has changed since this simulation was made: {difference}. Make a new one with "
                f"scene.simulate(...); what may change on the way are motors, poses, positions and velocities (set_...)"
            )

    def _soft(self, body: Soft) -> int:
        return _number(self.scene.soft_bodies, body, "soft body")

    def _rigid(self, body: Rigid) -> int:
        return _number(self.scene.every_rigid, body, "rigid body")

    def _rod(self, rod: Rod) -> int:
        return _number(self.scene.rods, rod, "rod")

    def rod(self, rod: Rod) -> RodState:
        """A rod as it is now: points and frames, stretch, shear, curvature and twist, tension, moments and torque."""
        return rod_state(self.model, self.state, self._rod(rod))

    def _nodes(self, body: Soft) -> slice:
        i = self._soft(body)
        return slice(self.model.node_start[i], self.model.node_start[i + 1])

    def positions(self, body: Soft) -> np.ndarray:
        """Node positions (n, 3) [m] of a soft body; a read-only view."""
        return _read_only(self.state.x[self._nodes(body)])

    def surface(self, body: Soft) -> TriMesh:
        """The surface of a soft body as it is now [m]: its drawing where it has one, else the boundary of its mesh."""
        from pliant.output.skins import skin_surface

        return skin_surface(body, self.positions(body))

    def velocities(self, body: Soft) -> np.ndarray:
        """Node velocities (n, 3) [m/s] of a soft body; a read-only view."""
        return _read_only(self.state.v[self._nodes(body)])

    def pose(self, body: Rigid) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and rotation (w, x, y, z) of a rigid body's shape."""
        i, model = self._rigid(body), self.model
        rotation = multiply_quaternions(self.state.body_rotation[i], conjugate(model.principal_rotation[i]))
        return self.state.body_position[i] - rotation_matrix(rotation) @ model.centre[i], rotation

    def twist(self, body: Rigid) -> tuple[np.ndarray, np.ndarray]:
        """Velocity of the centre of mass (3,) [m/s] and angular velocity (3,) [rad/s] of a rigid body, world axes."""
        i = self._rigid(body)
        return self.state.body_velocity[i].copy(), self.state.body_angular_velocity[i].copy()

    def _set(self, place, **values) -> None:
        """Replace parts of the state's arrays; what is set has no step before it from which BDF2 could go on."""
        changed = {}
        for name, value in values.items():
            changed[name] = getattr(self.state, name).copy()
            changed[name][place] = value
        before, state = self.state.crossing, replace(self.state.remembering("bdf2"), **changed)
        if "x" in values or "body_position" in values:
            state = replace(state, crossing=crossing_pairs(self.model, state))
        self.state = state
        warn_of_crossings(self.model, before, state)

    def set_positions(self, body: Soft, x) -> None:
        """Put the nodes of a soft body at x (n, 3) [m]."""
        x = _matrix(x, self.positions(body).shape, "positions")
        body.check_reach(x)
        self._set(self._nodes(body), x=x)

    def set_velocities(self, body: Soft, v) -> None:
        """Give the nodes of a soft body the velocities v (n, 3) [m/s]; prescribed components stay as the pins say."""
        self._set(self._nodes(body), v=_matrix(v, self.velocities(body).shape, "velocities"))

    def set_pose(self, body: Rigid, position, rotation=None) -> None:
        """Put a rigid body's shape at a position [m], with a rotation (w, x, y, z) or the one it has."""
        i = self._rigid(body)
        rotation = self.pose(body)[1] if rotation is None else np.array(unit_quaternion(rotation, "rotation"))
        position = vector(position, "position")
        body.check_reach(position)
        centre = position + rotation_matrix(rotation) @ self.model.centre[i]
        turned = multiply_quaternions(rotation, self.model.principal_rotation[i])
        self._set(i, body_position=centre, body_rotation=turned)

    def set_twist(self, body: Rigid, velocity, angular_velocity=(0, 0, 0)) -> None:
        """Give a rigid body a velocity of its centre of mass [m/s] and an angular velocity [rad/s]."""
        spin = vector(angular_velocity, "angular_velocity")
        self._set(self._rigid(body), body_velocity=vector(velocity, "velocity"), body_angular_velocity=spin)

    @property
    def contacts(self) -> touching.ContactReport:
        """Contacts that carried load in the last step: bodies, points, normals, gaps, forces, whether they stick."""
        return touching.contacts(self.model, self.state, self._things, self.dt)

    def contact_force(self, first, second) -> np.ndarray:
        """Force (3,) [N], world axes, of the contacts of the last step on the first body, or rod, by the second."""
        things = [self._numbers(body) for body in (first, second)]
        return touching.contact_force(self.model, self.state, *things, self.dt)

    @cached_property
    def _things(self) -> list:
        """Bodies, and points of rods, as contacts count them: a scene that changes needs another simulation."""
        return [*self.scene.soft_bodies, *self.scene.every_rigid]

    def _numbers(self, body) -> list[int]:
        """The numbers of a body, or of all points of a rod, among those."""
        rod = isinstance(body, Rod) and any(own is body for own in self.scene.rods)
        wanted = {id(part) for part in (body if rod else (body,))}
        if found := [index for index, own in enumerate(self._things) if id(own) in wanted]:
            return found
        raise SceneError(f"{shown(body)} is no body of this simulation")

    def reaction(self, holder) -> np.ndarray:
        """Force (3,) [N], world axes, of what holds something in the last step.

        A joint: on its side b (summed over the nodes of a weld). A pin, as `body.pin` returned it: of the support on
        the pinned nodes along the pinned axes, zero along others; nodes in two pins count in both. It is what the
        balance of these nodes lacks, M dv/dt = elastic, viscous and applied forces + joints + contacts + reaction, at
        the end of the step; before the first step, what would hold them at rest.
        """
        if isinstance(holder, Pin):
            (nodes, axes), warped = self._pinned(holder), isinstance(self.solver, Dual)
            return axes * reactions.support_forces(self.model, self.state, self.dt, warped)[nodes].sum(axis=0)
        if isinstance(holder, RodPoint):
            raise reactions.of_clamp(holder.name)
        return joint_wrench(self.model, self.state, self._joint(holder), self.dt)[0]

    def reaction_torque(self, joint) -> np.ndarray:
        """Torque (3,) [N m], world axes, of a joint on its side b, about its point there, in the last step."""
        return joint_wrench(self.model, self.state, self._joint(joint), self.dt)[1]

    def joint_position(self, joint, coordinate: str | None = None) -> float:
        """A free coordinate of a joint: the angle [rad] of a hinge, the travel [m] of a slider; 0 at the start, full
        turns counted. coordinate: which, of a joint that has several ("travel", "angle", "first", "second")."""
        return joints.joint_position(self.model, self.state, self._joint(joint), coordinate)

    def joint_velocity(self, joint, coordinate: str | None = None) -> float:
        """How fast a free coordinate of a joint changes [rad/s or m/s]."""
        return joints.joint_rate(self.model, self.state, self._joint(joint), coordinate)

    def motor_effort(self, joint, coordinate: str | None = None) -> float:
        """Torque [N m] or force [N] that the motor of a joint gave in the last step, on side b."""
        return joints.motor_effort(self.model, self.state, self._joint(joint), coordinate, self.dt)

    def set_motor(self, joint, coordinate: str | None = None, **changes) -> None:
        """Change what the motor of a joint does from now on in this simulation, and in its checkpoints: velocity, or
        position, stiffness, damping; max_torque or max_force. The scene stays as it is."""
        place = self._joint(joint)
        number = joints.coordinate_number(self.model, place, coordinate)
        drive, name = joints.drive_number(self.model, place, number), self.model.joints.free.name[number]
        motor = (self.motors.get((place, name)) or joint.coordinates[name].motor).changed(changes)
        self.model = self.model.with_drives(self.model.joints.drives.with_motor(drive, motor))
        self.motors[place, name] = motor

    def scene_now(self) -> Scene:
        """The scene as this simulation has it: with the motors that were set."""
        scene = self.scene.as_it_is()
        for (place, name), motor in self.motors.items():
            scene.joints[place] = scene.joints[place].with_motor(name, motor)
        return scene

    def limit_state(self, joint, coordinate: str | None = None) -> str:
        """Which limit of a joint carried load in the last step: "low", "high" or "free"."""
        return joints.limit_state(self.model, self.state, self._joint(joint), coordinate)

    def is_broken(self, joint) -> bool:
        """Whether a joint has broken (break_force, break_torque); an attached body: whether all of it has come off."""
        return bool(self.state.broken[self.model.joints.joint == self._joint(joint)].all())

    def _joint(self, joint) -> int:
        return _number(self.scene.joints, joint, "joint")

    def _pinned(self, pin: Pin) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (k,) of a pin, and 1 for each pinned axis (3,)."""
        for body in self.scene.soft_bodies:
            if any(pin is candidate for candidate in body.pins):
                axes = np.array([float(axis in pin.axes) for axis in "xyz"])
                nodes = body.select(pin.nodes, "pin") + self._nodes(body).start
                if np.any(self.model.free[nodes] * axes):
                    raise SceneError(f"a pin of {body.name!r} was added after the simulation was made")
                return nodes, axes
        raise SceneError("this pin is not of a soft body of this simulation's scene")

    def save(self, path, **options) -> None:
        """Write the present state: .pvd or .vtu (ParaView), .png (picture), .obj, .stl or .ply (surfaces), .npz
        (checkpoint).

        Options of pictures: size (width, height) in pixels; color: "displacement", "speed", "strain", "stress",
        "plastic_strain", "contact_pressure" or "none", from 0 to about the largest value; camera, a dict with eye and
        target [m]; caption; joints=True, contacts=True to draw these. A dot marks where a joint holds on to the world.
        """
        from pliant.output.save import save  # writers load when they are asked for

        save(self, path, **options)

    def on_device(self):
        """Positions [m] and velocities [m/s] of all nodes (n, 3) on the device, one soft body after the other, for
        PyTorch, CuPy and renderers: `.positions` and `.velocities` have `__cuda_array_interface__` and `__dlpack__`.
        The next call overwrites them."""
        if not hasattr(self.working_solver, "view"):
            raise DeviceError(f"{self.model.device!r} has its arrays in NumPy: see positions() and velocities()")
        return self.working_solver.view(self.state)

    def checkpoint(self, path) -> None:
        """Write everything needed to go on exactly from here with `pliant.resume(path)`."""
        from pliant.output.checkpoint import write_checkpoint

        write_checkpoint(self, path)


def resume(path, device: str | None = None) -> Simulation:
    """A simulation that goes on from a checkpoint: bit for bit on the device that it was on, within its tolerance on
    another ("cpu" or "cuda")."""
    from pliant.output.checkpoint import read_checkpoint

    return read_checkpoint(path, device)


def _number(things: list, wanted, kind: str) -> int:
    """The number of a thing among those of a scene."""
    for i, candidate in enumerate(things):
        if candidate is wanted:
            return i
    raise SceneError(f"{shown(wanted)} is not a {kind} of this simulation's scene")


def _read_only(view: np.ndarray) -> np.ndarray:
    view = view.view()
    view.flags.writeable = False
    return view


def _matrix(value, shape, name: str) -> np.ndarray:
    return numbers(value, name, (shape,), f"finite numbers of shape {shape}")
