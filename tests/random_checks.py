"""What must hold in any scene after every step: the checks of the study of random scenes.

Each returns words when something is wrong. Lengths are measured by the size of the scene, gaps by the reach of joints,
energies by the energy at play in the run; a converged step by its own motion.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np

import pliant as pl
from pliant.elements.potential import ElementPotential
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.stepping.dynamics import predict
from random_scenes import Case, generate

# Gaps of rigid joints relative to their reach: of any step, and of one of Newton's that claims convergence.
OPEN, CONVERGED_OPEN = 1e-2, 1e-4
# How far [rad] a limit may be overrun: of any step, and of a converged one of Newton's.
OVERRUN, CONVERGED_OVERRUN = 1e-2, 1e-4
# How deep nodes and bodies may be in a plane, relative to their size; turning bodies by half the square of the turn
# more, for contacts are linear in a step.
DEPTH = 1e-2
# Energy that a step of implicit Euler may gain relative to the energy at play, per tolerance of Newton; and for how
# many times the energy at play the others have blown up: their rows are linear, or their sweeps few.
GAIN, BLOWN_UP = 1.0, 3.0
# How far a converged answer may be from one with a tolerance a thousand times smaller, in tolerances: Newton's are of
# the motion in the energy norm; those of dual solvers are of errors of rows, of which stiff materials make more.
SHARPER, MOVED, DUAL_MOVED = 1e-3, 10.0, 100.0
# Rounding of positions and energies relative to the largest.
ROUNDING = 1e-12
# What does work on a scene from outside.
INPUTS = (".force(", ".torque(", ".traction(", ".pressure(", "motor=")


@dataclass(frozen=True)
class Outcome:
    """What became of a scene: "ok", "refused", "stopped" or "failed"; why, in words, with what check and step."""

    status: str
    check: str = ""
    words: str = ""
    step: int = 0
    unconverged: int = 0


class Watch:
    """A simulation, one like it with a smaller tolerance, and what is checked after every step."""

    def __init__(self, case: Case):
        self.case, self.sim = case, case.simulate()
        self.newton = isinstance(self.sim.solver, pl.Newton)
        self.size = scene_size(self.sim)
        self.driven = any(does_work(line) for line in case.lines)
        self.sharp = None
        if self.newton or isinstance(self.sim.solver, pl.Dual):
            tolerance = SHARPER * self.sim.solver.tolerance
            self.sharp = case.simulate(tolerance=tolerance, max_iterations=4 * self.sim.solver.max_iterations)
        self.first, self.most = self.sim.energy(), 0.0

    def step(self) -> tuple[str, str]:
        """One step: the check that it fails and words about it, both empty when all is well."""
        sim, before, energy = self.sim, self.sim.state, self.sim.energy()
        sim.step()
        if words := self.finite(before):
            return "finite", words
        if self.newton and not sim.info.converged:
            words = self.gaps(before)
            return ("lost", f"not converged, and {words}") if words else ("", "")
        if isinstance(sim.solver, pl.Xpbd):  # so few sweeps promise nothing but a motion
            return "", ""
        for check in (self.gaps, self.limits, self.planes):
            if words := check(before):
                return check.__name__, words
        if words := self.energy(before, energy):
            return "energy", words
        if self.sharp is not None and sim.info.converged and (words := self.claim(before)):
            return "claim", words
        return "", ""

    def finite(self, before) -> str:
        """No position, velocity or energy is lost."""
        arrays = self.sim.state.arrays()
        bad = [name for name, array in arrays.items() if np.size(array) and not np.all(np.isfinite(array))]
        bad += [] if np.isfinite(self.sim.energy().total) else ["energy"]
        return f"not finite: {', '.join(bad)}" if bad else ""

    def gaps(self, before) -> str:
        """Rigid joints are shut."""
        blocks, state = self.sim.model.joints, self.sim.state
        if not blocks.rigid.any():
            return ""
        gap = np.abs(joint_errors(blocks, state)[blocks.slice[blocks.rigid], :, blocks.lane[blocks.rigid]]).max(axis=1)
        open_by = float((gap / blocks.reach[blocks.rigid]).max())
        allowed = CONVERGED_OPEN if self.newton and self.sim.info.converged else OPEN
        return f"a rigid joint is open by {open_by:.2g} of its reach" if open_by > allowed else ""

    def limits(self, before) -> str:
        """Hinges stay within their limits."""
        allowed = CONVERGED_OVERRUN if self.newton and self.sim.info.converged else OVERRUN
        for joint in self.sim.scene.joints:
            if isinstance(joint, pl.Hinge) and joint.limits and not joint.compliance:
                angle = self.sim.joint_position(joint)
                over = max(joint.limits[0] - angle, angle - joint.limits[1])
                if over > allowed:
                    return f"a limit is overrun by {over:.2g} rad"
        return ""

    def planes(self, before) -> str:
        """Nothing that collides is deep in a plane."""
        sim, worst = self.sim, 0.0
        for plane in sim.scene.rigid_bodies:
            if isinstance(plane.shape, pl.Plane):
                normal = np.array(plane.shape.normal)
                for body in sim.scene.bodies:
                    if body.collide and not isinstance(getattr(body, "shape", None), pl.Plane | pl.Mesh):
                        worst = max(worst, self.depth(body, np.array(plane.position), normal))
        return f"in a plane by {worst:.2g} times what is allowed" if worst > 1 else ""

    def depth(self, body, origin, normal) -> float:
        """How deep a body is in a plane, relative to what is allowed."""
        sim = self.sim
        travel = sim.dt * max(np.abs(sim.state.v).max(initial=0.0), np.abs(sim.state.body_velocity).max(initial=0.0))
        kick = sim.dt**2 * np.linalg.norm(sim.model.gravity)
        rounding = ROUNDING * np.abs(origin).max() + getattr(sim.solver, "tolerance", 0.0) * (travel + kick)
        if isinstance(body, pl.bodies.Soft):
            points = sim.positions(body)[sim.model.free[sim._nodes(body)].all(axis=1)]
            lowest = ((points - origin) @ normal).min(initial=np.inf)
            return float(-lowest / (DEPTH * np.ptp(body.nodes.positions, axis=0).max() + rounding))
        position, rotation = sim.pose(body)
        shape, turn = body.shape, np.linalg.norm(sim.twist(body)[1]) * sim.dt
        lowest = (position - origin) @ normal - support(shape, rotation_matrix(rotation).T @ normal)
        return float(-lowest / ((DEPTH + turn**2 / 2) * extent(shape) + rounding))

    def energy(self, before, energy) -> str:
        """Nothing makes energy: in a step of implicit Euler, or over all of the run for the others."""
        sim, now = self.sim, self.sim.energy()
        if self.driven or sim.info.tangled or before.tangled.any():
            self.driven = True  # pulling a body back to shape is not by its law
            return ""
        scale = energy.kinetic + abs(energy.elastic) + energy.joints + abs(now.gravitational - energy.gravitational)
        gained, allowed = now.total - energy.total, sim.solver.tolerance * GAIN if self.newton else 0.0
        if not self.newton or sim.info.integrator == "bdf2":
            fallen = self.first.gravitational - now.gravitational
            self.most = max(self.most, self.first.kinetic, energy.kinetic, fallen)
            gained, scale, allowed = now.total - self.first.total, self.most, BLOWN_UP
        rounding = ROUNDING * self.rounding_energy()
        return f"gained {gained:.3g} J of {scale:.3g} J at play" if gained > allowed * scale + rounding else ""

    def rounding_energy(self) -> float:
        """The energies [J] of whose rounding a sum is made: weight times distance, stiffness times size squared."""
        model, state = self.sim.model, self.sim.state
        far = max(np.abs(state.x).max(initial=0.0), np.abs(state.body_position).max(initial=0.0))
        mass = model.node_mass.sum() + model.body_mass[~model.static].sum()
        moving = mass * (1e-6 * self.size / self.sim.dt) ** 2
        return float(moving + mass * np.linalg.norm(model.gravity) * far + model.node_stiffness.sum() * far * self.size)

    def claim(self, before) -> str:
        """A step that claims convergence is where a smaller tolerance leads."""
        sim, sharp = self.sim, self.sharp
        sharp.state = before
        try:
            sharp.step()
        except pl.SolverError:
            return ""
        # a step in halves answers other equations than a whole one, which a smaller tolerance with more iterations is
        if not sharp.info.converged or sharp.info.parts != sim.info.parts:
            return ""
        far = np.sqrt(self.norm(sim.state, sharp.state))
        motion = np.sqrt(self.norm(before, sharp.state) + self.kick(before) + self.rounding_norm())
        allowed = (MOVED if self.newton else DUAL_MOVED) * sim.solver.tolerance
        return f"off by {far / motion:.2g} of the motion" if far > allowed * motion else ""

    def norm(self, one, two) -> float:
        """Twice the energy [J] of the difference of two states' velocities, shapes and compliant joints."""
        model = self.sim.model
        total = self.kinetic(two, one.velocity_triples() - two.velocity_triples())
        if model.node_count:
            forces = [ElementPotential.of(model.elements, replace(two, x=s.x)).evaluate(s.x)[2] for s in (one, two)]
            total += abs(np.sum((forces[0] - forces[1]) * (one.x - two.x)))
        blocks = model.joints
        soft = blocks.compliance > 0
        gap = (joint_errors(blocks, one) - joint_errors(blocks, two))[blocks.slice[soft], :, blocks.lane[soft]]
        return float(total + np.sum(np.sum(gap**2, axis=1) / blocks.compliance[soft]))

    def kinetic(self, state, u) -> float:
        """Twice the kinetic energy [J] of velocity triples u (triples, 3)."""
        model = self.sim.model
        n = model.node_count
        total = np.sum(model.node_mass[:, None] * model.free * u[:n] ** 2)
        for i in np.flatnonzero(~model.static):
            linear, spin = u[n + 2 * i], rotation_matrix(state.body_rotation[i]).T @ u[n + 2 * i + 1]
            total += model.body_mass[i] * linear @ linear + model.body_inertia[i] @ spin**2
        return float(total)

    def kick(self, before) -> float:
        """Twice the energy [J] that loads alone give in a step."""
        change = predict(self.sim.model, before, self.sim.dt).u - before.velocity_triples()
        return self.kinetic(before, change)

    def rounding_norm(self) -> float:
        """Twice the energy [J] of a motion that is rounding."""
        return ROUNDING * (2 * self.sim.energy().kinetic + 1e-4 * self.rounding_energy())


def does_work(line: str) -> bool:
    """Whether a line of a scene lets something do work on it from outside."""
    moved = ".pin(" in line and ("velocity" in line or "displacement" in line)
    return moved or any(mark in line for mark in INPUTS)


def joint_errors(blocks, state) -> np.ndarray:
    """Errors (slices, 3, LANES) [m or rad] of all joints of a state."""
    rows = Rows.empty(blocks.start)
    return joint_rows.fill(blocks, rows, state.pose, 1.0)


def scene_size(sim) -> float:
    """The extent [m] of a scene."""
    radius = sim.model.body_radius
    points = np.concatenate([sim.state.x, sim.state.body_position[np.isfinite(radius)]])
    return float(np.ptp(points, axis=0).max() + 2 * radius[np.isfinite(radius)].max(initial=0.0))


def extent(shape) -> float:
    """The largest length [m] of a shape."""
    sizes = {"Sphere": lambda s: 2 * s.radius, "Box": lambda s: max(s.size)}
    return sizes.get(type(shape).__name__, lambda s: s.length + 2 * s.radius)(shape)


def support(shape, normal) -> float:
    """How far [m] a shape reaches from its centre against a direction in its own axes."""
    along, across = abs(normal[2]), float(np.hypot(normal[0], normal[1]))
    if isinstance(shape, pl.Sphere):
        return shape.radius
    if isinstance(shape, pl.Box):
        return float(np.abs(normal) @ np.array(shape.size)) / 2
    if isinstance(shape, pl.Capsule):
        return along * shape.length / 2 + shape.radius
    return along * shape.length / 2 + across * shape.radius


def run(case: Case) -> Outcome:
    """A scene from start to end, or to the first check that it fails."""
    try:
        watch = Watch(case)
    except pl.SceneError as error:
        return Outcome("refused", "refused", str(error))
    unconverged = 0
    for step in range(1, case.steps + 1):
        try:
            check, words = watch.step()
        except pl.PliantError as error:
            return Outcome("stopped", type(error).__name__, str(error), step, unconverged)
        except Exception as error:
            return Outcome("failed", type(error).__name__, str(error), step, unconverged)
        unconverged += not watch.sim.info.converged
        if check:
            return Outcome("failed", check, words, step, unconverged)
    return Outcome("ok", unconverged=unconverged)


def run_seed(seed: int) -> Outcome:
    """The outcome of a seed; warnings of steps that are too long or bodies inside out are part of the study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        try:
            case = generate(seed)
        except pl.PliantError as error:
            return Outcome("refused", "refused", str(error))
        return run(case)
