"""The scene: what the user says. Bodies, joints and loads in SI units, z up; no solver arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import ClassVar

import numpy as np

from pliant.checks import choice, label, listed, number, refusal, shown, vector
from pliant.errors import SceneError
from pliant.meshes import TetMesh, TriMesh
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.catalogue import JOINTS
from pliant.scene.cloth import Cloth
from pliant.scene.contact_options import OVERLAPS, ContactRule
from pliant.scene.joint_options import JointOptions, world
from pliant.scene.materials import Material
from pliant.scene.rods import Rod, make_rod
from pliant.scene.sealed import Sealed
from pliant.scene.sections import Section
from pliant.scene.shapes import Shape


@dataclass(eq=False)
class Scene(Sealed):
    """A collection of bodies and joints under gravity [m/s2].

    overlaps: what becomes of bodies that overlap at the start: "resolve" pushes them apart, "refuse" is an error.
    """

    ASSIGNABLE: ClassVar[tuple[str, ...]] = ("gravity", "overlaps")
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    overlaps: str = "resolve"
    bodies: list[Soft | Rigid | Rod] = field(default_factory=list, init=False)
    joints: list = field(default_factory=list, init=False)
    _body_names: dict = field(default_factory=dict, init=False, repr=False)
    _joint_names: set = field(default_factory=set, init=False, repr=False)
    _rules: dict[frozenset[str], ContactRule] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        self.gravity = vector(self.gravity, "gravity")
        self.overlaps = choice(self.overlaps, "overlaps", OVERLAPS)
        self.seal()

    check_again = __post_init__

    def as_it_is(self) -> "Scene":
        """This scene with lists of its own: what is added to the one later is not in the other."""
        scene = self.open_copy()
        scene.bodies, scene.joints = list(self.bodies), list(self.joints)
        scene._body_names, scene._joint_names, scene._rules = (
            dict(self._body_names),
            set(self._joint_names),
            dict(self._rules),
        )
        scene.seal()
        return scene

    @property
    def contact_rules(self) -> list[ContactRule]:
        """What the scene says of the contacts of pairs of bodies, at most one rule for a pair."""
        return list(self._rules.values())

    @property
    def soft_bodies(self) -> list[Soft]:
        """The deformable bodies, in the order they were added."""
        return [body for body in self.bodies if isinstance(body, Soft)]

    @property
    def rigid_bodies(self) -> list[Rigid]:
        """The rigid bodies, in the order they were added."""
        return [body for body in self.bodies if isinstance(body, Rigid)]

    @property
    def rods(self) -> list[Rod]:
        """The elastic rods, in the order they were added."""
        return [body for body in self.bodies if isinstance(body, Rod)]

    @property
    def every_rigid(self) -> list[Rigid]:
        """The rigid bodies, and after them the points of rods: all that has a place and a frame."""
        return [*self.rigid_bodies, *(point for rod in self.rods for point in rod)]

    def add_soft(self, mesh: TetMesh, material: Material, **options) -> Soft:
        """Add a deformable solid; options: position, rotation, velocity, name, self_contact, drawing, and those of all
        contacts: friction, restitution, collide, group, mask, thickness."""
        return self._add(Soft(mesh, material, **options), "soft")

    def add_cloth(self, mesh: TriMesh, material: Material, thickness: float, **options) -> Cloth:
        """Add a sheet of a thickness [m]: cloth, paper, a membrane or a thin shell; options: thins, bend_stiffness,
        flat, fibres, contact_distance, and those of `add_soft` but drawing."""
        return self._add(Cloth(mesh, material, thickness=thickness, **options), "cloth")

    def add_rigid(self, shape: Shape, **options) -> Rigid:
        """Add a rigid body; options: density or mass, inertia, position, rotation, velocity, angular_velocity, static,
        name, and those of all contacts: friction, restitution, rolling_friction, torsional_friction, collide, group,
        mask, thickness. velocity and angular_velocity of a static body may be functions of time: it moves so."""
        return self._add(Rigid(shape, **options), "rigid")

    def add_rod(
        self,
        points,
        material: Material,
        radius: float | None = None,
        section: Section | None = None,
        *,
        edges=None,
        closed: bool = False,
        segments: int = 1,
        **options,
    ) -> Rod:
        """Add an elastic rod, at rest in the shape that is given.

        points: a line (n, 3) [m], with closed=True from the last back to the first; or with edges (m, 2), or a mesh
        with points and edges, a network whose segments meet rigidly. radius [m] of a round rod, or
        section=pliant.Section...; segments: into how many every edge is cut. Options: normal (direction of the
        section's first axis), curvature (natural curvature and twist on top of the given shape), straight (the rod is
        straight at rest but for curvature), stretched (the length of the shape over that at rest), position,
        rotation, velocity, name, self_contact, friction, restitution, collide, group, mask.

        rod[i] is a point, which takes forces, torques and joints as a rigid body does; rod.clamp(i) holds one. Points
        of a line are numbered along it: cut into 10 segments, [(0, 0, 0), (1, 0, 0)] ends at rod[10], which is rod[-1].
        A network keeps the numbers of its points, and those within its edges follow, edge by edge: with edges
        [(0, 1), (1, 2)] cut into 2, rod[3] lies within the first and rod[4] within the second.
        """
        return self._add(make_rod(points, material, radius, section, edges, closed, segments, **options), "rod")

    def _add(self, body, kind: str):
        if body.name is None:
            body.name = _free_name(kind, len(self.bodies), lambda name: self._is_taken(body, name))
        elif body.name in self._body_names or body.name == world.name:
            raise SceneError(f"body name {body.name!r} is taken; names must be unique and not 'world'")
        if isinstance(body, Soft):
            body.set_thickness(body.thickness)
        if isinstance(body, Rod):
            self._refuse_points(body)
            body.make_bodies()  # or refused, before it is there
        self._body_names[body.name] = body
        self.bodies.append(body)
        if isinstance(body, Rod):
            self._body_names.update({point.name: point for point in body})
        for part in (body, *(body if isinstance(body, Rod) else ())):
            part.seal()
        return body

    def _is_taken(self, body, name: str) -> bool:
        """Whether a body cannot have this name."""
        return name in self._body_names or (isinstance(body, Rod) and self._taken_point(body, name) is not None)

    def _refuse_points(self, rod: Rod) -> None:
        """Points of a rod are bodies with names of their own, which must not be those of others."""
        if (taken := self._taken_point(rod, rod.name)) is not None:
            raise SceneError(
                f"body name {taken!r} is taken, and a point of a rod of the name {rod.name!r} has it; names must be "
                f"unique, those of its points are {rod.point_names}"
            )

    def _taken_point(self, rod: Rod, name: str) -> str | None:
        """The first point of a rod, if that had a name, whose own name is taken."""
        names = (f"{name}.{number}" for number in range(len(rod)))
        return next((point for point in names if point in self._body_names), None)

    def join(self, joint):
        """Add a joint (pliant.Ball, Hinge, Slider, Rope, ...) between its bodies, or one and pliant.world."""
        if not isinstance(joint, tuple(JOINTS.values())):
            raise SceneError(f"join needs one of the joints {', '.join(JOINTS)}, got {type(joint).__name__}")
        for tied in (getattr(joint, "first", None), getattr(joint, "second", None)):
            if isinstance(tied, JointOptions) and not any(tied is own for own in self.joints):
                raise SceneError(f"a {joint.kind} couples {tied!r}, which is not a joint of this scene")
        for side in joint.things:
            if side is not world and not self._has(side):
                raise SceneError(f"a joint names {shown(side)}, which is not in this scene (nor pliant.world)")
            if isinstance(side, Rod):
                raise SceneError(f"a {joint.kind} joint holds a point of a rod, not all of {side!r}; name it: rod[0]")
        self._check_nodes(joint)
        if joint.name is None:
            joint.name = _free_name("joint", len(self.joints), self._joint_names.__contains__)
        elif joint.name in self._joint_names:
            raise SceneError(f"joint name {joint.name!r} is taken; names must be unique")
        self._joint_names.add(joint.name)
        self.joints.append(joint)
        joint.seal()
        return joint

    def _check_nodes(self, joint) -> None:
        """The selected nodes of a joint must be nodes of its soft body."""
        if getattr(joint, "nodes", None) is None:
            return
        soft = [side for side in (joint.a, joint.b) if isinstance(side, Soft)]
        if len(soft) != 1:
            raise SceneError("the nodes of a joint select nodes of its soft body: one of a and b must be a soft body")
        soft[0].select(joint.nodes, "joint nodes")

    def _has(self, thing) -> bool:
        """Whether something is a body of this scene."""
        return isinstance(thing, Soft | Rigid | Rod) and self._body_names.get(thing.name) is thing

    def ignore_contact(self, a: Soft | Rigid, b: Soft | Rigid) -> None:
        """Let two bodies of this scene pass through each other."""
        if a is b and self._has(a):
            raise SceneError(
                f"ignore_contact needs two different bodies, got {a!r} twice; "
                f"a soft body made with self_contact=False passes through itself"
            )
        self._rule(ContactRule(a, b, collide=False), "ignore_contact")

    def contact(
        self, a: Soft | Rigid, b: Soft | Rigid, friction: float | None = None, restitution: float | None = None
    ) -> None:
        """Say friction and restitution of the contacts of two bodies, in place of what the bodies themselves say."""
        if a is b and self._has(a):
            raise SceneError(
                f"contact needs two different bodies, got {a!r} twice; a body touches itself with its own friction"
            )
        if friction is None and restitution is None:
            raise SceneError("contact needs friction=... or restitution=...; ignore_contact(a, b) is for no contact")
        self._rule(ContactRule(a, b, friction=friction, restitution=restitution), "contact")

    def _rule(self, rule: ContactRule, call: str) -> None:
        """Keep a rule; a pair may have one, which may be said again."""
        for body in (rule.a, rule.b):
            if not self._has(body):
                raise SceneError(f"{call} names {shown(body)}, which is not a body of this scene")
        before = self._rules.setdefault(rule.names, rule)
        if not rule.says_the_same(before):
            names = f"{rule.a.name!r} and {rule.b.name!r}"
            raise SceneError(f"{call} says of {names}: {rule}; but the scene says of them already: {before}")

    def named(self, name: str) -> Soft | Rigid | None:
        """The body of that name, None where there is none."""
        return self._body_names.get(name) if isinstance(name, str) else None

    def find(self, name: str) -> Soft | Rigid:
        """The body of that name."""
        if label(name, "the name of a body") in self._body_names:
            return self._body_names[name]
        raise SceneError(f"no body is named {name!r}; there are: {listed(b.name for b in self.bodies) or 'none'}")

    def simulate(self, dt: float, solver=None, device: str = "cpu", precision: str = "float64", threads=None):
        """A running simulation of this scene with time step `dt` [s]; see pliant.Simulation."""
        from pliant.simulation import Simulation  # a scene only describes; compiled code loads when it is asked for

        return Simulation(self, dt, solver=solver, device=device, precision=precision, threads=threads)

    def equilibrium(
        self,
        solver=None,
        load_steps: int = 1,
        time: float = 0.0,
        dt: float = 1 / 60,
        threads=None,
        device: str = "cpu",
        progress: bool | None = False,
    ):
        """The scene at rest under its loads: a Simulation with the same readers, which can also go on with `dt` [s].

        load_steps: gravity, forces, tractions, pressures and prescribed displacements grow in so many steps (one that
        fails is halved). time [s]: at which loads that are functions of time are taken; prescribed velocities count as
        held. A scene that can move as a whole is refused; no equilibrium within reach is a SolverError. What hangs by
        pins or joints comes to rest where its loads lead it.

        solver: Newton or Mixed; None is Newton(tolerance=1e-6, max_iterations=200), closer than Newton() is, whose
        tolerance, 1e-2 of what a load step moves, is meant for steps in time. Iterations that do not converge begin
        anew from where they were, in short steps as of something with inertia that loses its speed; with fewer than it
        takes that is slower, and no less true, but with very few of them, as of slender things, may not get there. One
        alone (max_iterations=1, outer=1) is refused: what it leaves is not known. The simulation goes on with this
        solver; an integrator, of which statics have none, is that of the steps it takes then. progress: show how far it
        is; None: in a terminal.
        """
        from pliant.statics.loading import equilibrium  # as above

        options = {"dt": dt, "threads": threads, "device": device, "progress": progress}
        return equilibrium(self, solver=solver, load_steps=load_steps, time=time, **options)

    def modes(self, n: int, *, mass: str = "lumped", device: str = "cpu"):
        """The n lowest natural modes about the initial state, as pliant.Modes: frequencies [Hz] and shapes.

        Elements have their stiffness at rest, whatever their law; pinned components and static bodies are held, joints
        are linear with the compliance they have (rigid ones keep together what they hold), contacts and gravity are
        left out. Free bodies have modes of frequency 0, up to six each. mass: "lumped" as in simulations, or
        "consistent", whose frequencies are never below those of the continuous body.
        """
        from pliant.readers.modes import natural_modes

        return natural_modes(self, n, mass=mass, device=device)


def _free_name(kind: str, first: int, taken: Callable[[str], bool]) -> str:
    """The first of kind + number, from `first` on, that is not taken."""
    while taken(f"{kind}{first}"):
        first += 1
    return f"{kind}{first}"


@dataclass(frozen=True)
class Keyframes:
    """A value that changes in time, linear between `times` [s] and constant outside; usable wherever a value is.

    The values are vectors; numbers for a pressure.
    """

    times: tuple[float, ...]
    values: tuple[tuple[float, float, float], ...] | tuple[float, ...]
    keeps_shape: ClassVar[bool] = True

    def __post_init__(self):
        for name in ("times", "values"):
            said = getattr(self, name)
            if not isinstance(said, Sequence | np.ndarray) or isinstance(said, str) or getattr(said, "ndim", 1) == 0:
                raise refusal(f"keyframe {name}", "a list", said)
        times = tuple(number(t, "keyframe time") for t in self.times)
        if len(times) < 2 or len(times) != len(self.values) or any(b <= a for a, b in pairwise(times)):
            raise SceneError("keyframes need at least two times, in ascending order, and a value for each")
        object.__setattr__(self, "times", times)
        check = number if isinstance(self.values[0], Real) else vector
        object.__setattr__(self, "values", tuple(check(v, "keyframe value") for v in self.values))

    def __call__(self, time: float) -> np.ndarray | float:
        values = np.array(self.values)
        if values.ndim == 1:
            return float(np.interp(time, self.times, values))
        return np.array([np.interp(time, self.times, values[:, axis]) for axis in range(3)])
