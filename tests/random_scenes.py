"""Random small scenes from a seed: soft and rigid bodies, joints, loads and contacts of every kind, and a solver.

A scene is lines of Python, so that one that fails prints as a script and shrinks by leaving lines out. Sizes 1 mm to
10 m, Young's moduli 1e2 to 1e11 Pa, densities 1 to 2e4 kg/m3, time steps 1/1000 to 1/10 s. All joints fit at the start
and standing still honours every joint and contact, so whatever happens afterwards, a solver has an answer to find.
"""

from dataclasses import dataclass, field, replace

import numpy as np

import pliant as pl
from pliant.solve.stability import largest_frequency, largest_safe_step

GRAVITY = 9.81
LAWS = ("corotated", "fixed_corotated", "linear", "stvk", "neohookean", "arap", "stable_neohookean", "springs")
ROW_LAWS = ("linear", "corotated", "springs")
SOLVERS = {"newton": 0.42, "bdf2": 0.16, "dual": 0.16, "linear": 0.08, "explicit": 0.09, "xpbd": 0.09}
# Part of the longest stable step that explicit solvers take: forces stiffen as bodies deform.
SAFE = 0.3
# The longest step of solvers whose joints are linear in a step, relative to the time of a fall over the size: those of
# which bodies turn by more than a fraction of a radian are Newton's.
LINEAR_STEP = 0.3
CUSTOM = "lambda I1, J, mu, k: mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2"


@dataclass(frozen=True)
class Case:
    """A scene as lines of code, the solver as an expression, the time step [s] and the number of steps."""

    seed: int
    lines: tuple[str, ...]
    solver: str
    dt: float
    steps: int
    precision: str = "float64"

    def scene(self) -> pl.Scene:
        """The scene that the lines make."""
        names = {"pl": pl, "np": np}
        exec("\n".join(self.lines), names)
        return names["scene"]

    def simulate(self, **changes) -> pl.Simulation:
        """A simulation of a new scene; changes: options of the solver."""
        solver = replace(eval(self.solver, {"pl": pl}), **changes)
        return self.scene().simulate(dt=self.dt, solver=solver, precision=self.precision, threads=1)

    @property
    def script(self) -> str:
        """The scene and its steps as a program."""
        options = "" if self.precision == "float64" else f', precision="{self.precision}"'
        run = f"sim = scene.simulate(dt={self.dt:.4g}, solver={self.solver}{options}, threads=1)"
        return "\n".join(["import pliant as pl", *self.lines, run, f"sim.step({self.steps})"])


@dataclass
class Body:
    """A body of a scene in the making: its variable, its kind, where it lies along x [m], how heavy and stiff it is."""

    name: str
    soft: bool
    left: float
    right: float
    mass: float
    strength: float = 0.0  # Young's modulus times the square of the size [N]
    pinned: bool = False

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2


class Draw:
    """Random numbers as text."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)

    def chance(self, part: float) -> bool:
        return bool(self.random.random() < part)

    def pick(self, things, weights=None):
        things = list(things)
        return things[int(self.random.choice(len(things), p=weights))]

    def log(self, low: float, high: float) -> float:
        """Evenly spread in the logarithm, three digits."""
        return float(f"{np.exp(self.random.uniform(np.log(low), np.log(high))):.3g}")

    def between(self, low: float, high: float) -> float:
        return float(f"{self.random.uniform(low, high):.3g}")

    def vector(self, most: float) -> str:
        """A vector whose length is at most `most`, now and then along an axis."""
        direction = self.random.normal(size=3)
        if self.chance(0.3):
            direction = np.eye(3)[self.random.integers(3)]
        return text(most * self.random.uniform(0.1, 1) * direction / np.linalg.norm(direction))


def text(values) -> str:
    """Numbers as a tuple of three digits each."""
    return "(" + ", ".join(f"{value:.3g}" for value in np.asarray(values) + 0.0) + ")"


@dataclass
class Maker:
    """A scene in the making."""

    draw: Draw
    solver: str
    size: float = 1.0
    dt: float = 0.01
    gravity: bool = True
    bodies: list[Body] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    plane: bool = False

    @property
    def speed(self) -> float:
        """The speed [m/s] of a fall over a few times the size, or less where a step would be more than three sizes."""
        return min(2 * np.sqrt(GRAVITY * self.size), 3 * self.size / self.dt)

    def placed(self, size: float) -> tuple[str, float]:
        """A name for the next body, and the x of its left end: bodies stand in a row."""
        gap = self.draw.between(0.05, 0.4) * self.size
        return f"b{len(self.bodies)}", (self.bodies[-1].right + gap if self.bodies else 0.0)

    def motion(self, rigid: bool) -> str:
        """Options for a motion at the start and for contacts."""
        draw, out = self.draw, ""
        if draw.chance(0.4):
            out += f", velocity={draw.vector(self.speed)}"
        if rigid and draw.chance(0.4):
            out += f", angular_velocity={draw.vector(min(self.speed / self.size, 1 / self.dt))}"
        if draw.chance(0.3):
            out += f", friction={draw.between(0, 1)}"
        if draw.chance(0.1):
            out += f", restitution={draw.between(0, 1)}"
        return out

    def rigid(self) -> None:
        draw, size = self.draw, self.size * self.draw.between(0.6, 1)
        name, left = self.placed(size)
        half, width = size / 2, draw.between(0.2, 1)
        kind = draw.pick(("Sphere", "Box", "Capsule", "Cylinder", "Mesh"), (0.3, 0.3, 0.18, 0.18, 0.04))
        shape = {
            "Sphere": f"pl.Sphere({half:.3g})",
            "Box": f"pl.Box({text((size, size * width, size * width * draw.between(0.3, 1)))})",
            "Capsule": f"pl.Capsule({0.2 * size:.3g}, {0.6 * size:.3g})",
            "Cylinder": f"pl.Cylinder({half * width:.3g}, {size:.3g})",
            "Mesh": "pl.Mesh(points=m.points, triangles=m.triangles)",
        }[kind]
        if kind == "Mesh":
            self.lines.append(f"m = pl.meshes.box({text([size] * 3)}, cells=1).surface()")
        density = draw.log(1, 2e4)
        options = f"density={density}, position={text((left + half, 0, 0))}" + self.motion(True)
        if kind in ("Capsule", "Cylinder") and draw.chance(0.5):
            options += ", rotation=(1, 0, 1, 0)"
        if kind == "Mesh" or draw.chance(0.4 if kind == "Sphere" else 0.7):
            options += ", collide=False"
        self.lines.append(f"{name} = scene.add_rigid({shape}, {options})")
        self.bodies.append(Body(name, False, left, left + size, density * size**3))

    def material(self, density: float, young: float) -> str:
        draw = self.draw
        if self.solver in ("dual", "xpbd"):
            law = draw.pick(ROW_LAWS)
        else:
            law = "linear" if self.solver == "linear" else draw.pick(LAWS)
        options = f", damping={draw.log(1e-4, 1e-1)}" if draw.chance(0.25) else ""
        options += f", mass_damping={draw.log(1e-2, 1e2)}" if draw.chance(0.1) else ""
        if law not in ("springs",) and self.solver != "bdf2" and draw.chance(0.15):
            options += f", plasticity=pl.Plasticity({draw.log(1e-3, 0.1)}, {draw.log(0.1, 100)}, 0.3)"
        if self.solver in ("newton", "bdf2", "explicit") and draw.chance(0.04):
            return f"pl.Material.custom({CUSTOM}, {density}, {{'mu': {young / 3:.3g}, 'k': {young:.3g}}})"
        poisson = "" if law == "springs" else f"{draw.pick((0, 0.3, 0.4, 0.49, -0.3), (0.1, 0.5, 0.2, 0.15, 0.05))}, "
        return f"pl.Material.{law}({young}, {poisson}{density}{options})"

    def soft(self) -> None:
        draw, size = self.draw, self.size * self.draw.between(0.6, 1)
        name, left = self.placed(size)
        density, young = draw.log(1, 2e4), draw.log(1e2, 1e11)
        cells = draw.pick(("1", "(2, 1, 1)", "(3, 1, 1)", "(2, 2, 1)"))
        deep = draw.between(0.3, 1) * size
        mesh = f"pl.meshes.box({text((size, deep, deep))}, cells={cells})"
        if draw.chance(0.1):
            corners = f"[(0, 0, 0), (0, {deep:.3g}, 0), ({size:.3g}, 0, 0), (0, 0, {deep:.3g})]"
            mesh = f"pl.meshes.TetMesh({corners}, [(0, 1, 2, 3)])"
        material = self.material(density, young)
        small = cells in ("1", "(2, 1, 1)") and "springs" not in material
        if self.solver not in ("dual", "xpbd") and small and draw.chance(0.3):
            mesh += ".quadratic()"
        options = f"position={text((left, -deep / 2, -deep / 2))}" + self.motion(False)
        self.lines.append(f"{name} = scene.add_soft({mesh}, {material}, {options})")
        self.bodies.append(Body(name, True, left, left + size, density * size * deep**2, young * deep**2))

    def joint(self, one: Body | None, two: Body, at: float) -> None:
        """A joint between two bodies, or the world and a body, about x = at; now and then twice."""
        draw, a = self.draw, one.name if one else "pl.world"
        kinds = ["Ball", "Fixed", "Distance"] + ["Hinge", "Hinge"] * (not two.soft and not (one and one.soft))
        kind, options = draw.pick(kinds), ""
        point = (at, 0.0, draw.between(-0.2, 0.2) * self.size if draw.chance(0.5) else 0.0)
        if draw.chance(0.25):
            options += f", compliance={draw.log(1e-9, 1e-1)}"
            options += f", damping={draw.log(1e-3, 1e2)}" if draw.chance(0.5) else ""
        if kind == "Distance":
            start = (one.centre if one else at, 0, self.size * draw.between(0, 1))
            place = f"({text(start)}, {text((two.centre, 0, 0))})"
        else:
            place = text(point)
        if kind == "Hinge":
            options += f", axis={draw.pick(('(0, 1, 0)', '(0, 0, 1)', '(1, 0, 0)', draw.vector(1)))}" + self.drive(two)
        line = f"scene.join(pl.{kind}({a}, {two.name}, at={place}{options}))"
        self.lines += [line] * (2 if draw.chance(0.12) else 1)

    def drive(self, body: Body) -> str:
        """Limits and a motor of a hinge; a motor's torque is bounded, for a limit, loop or floor may stop it."""
        draw, out = self.draw, ""
        if draw.chance(0.35):
            out += f", limits=({-draw.between(0, 1)}, {draw.between(0.01, 1)})"
        if draw.chance(0.25):
            torque = body.mass * GRAVITY * self.size * draw.log(1e-2, 1e2)
            if draw.chance(0.5):
                out += f", motor=pl.Motor(velocity={draw.between(-1, 1) * min(10, 1 / self.dt):.3g}"
            else:
                gain = torque * draw.log(1e-2, 1e3)
                out += f", motor=pl.Motor(position={draw.between(-1, 1)}, stiffness={gain:.3g}, damping={gain / 10:.3g}"
            out += f", max_torque={torque:.3g})"
        return out

    def joints(self) -> None:
        """A chain or tree of joints, and now and then one more that closes a loop."""
        draw, bodies = self.draw, self.bodies
        if draw.chance(0.5):
            self.joint(None, bodies[0], bodies[0].left - 0.1 * self.size * draw.pick((0, 1)))
        for k in range(1, len(bodies)):
            if draw.chance(0.75):
                one = bodies[k - 1] if draw.chance(0.8) else draw.pick(bodies[:k])
                self.joint(one, bodies[k], (one.right + bodies[k].left) / 2)
        if draw.chance(0.2):
            two = bodies[-1]
            one = draw.pick([None, *bodies[:-1]])
            self.joint(one, two, two.right if one is None else (one.right + two.left) / 2)

    def pin(self, body: Body) -> None:
        """The left end of a soft body held, or moved by less than a third of its size in all."""
        draw, name = self.draw, body.name
        where = f"{name}.nodes.x < {body.left + 0.1 * (body.right - body.left):.4g}"
        axes = draw.pick(("", ', axes="z"', ', axes="xy"'), (0.8, 0.1, 0.1))
        how = ""
        loose = not self.plane and not any("join" in line and name in line for line in self.lines)
        if loose and draw.chance(0.3):  # nothing that the motion could contradict
            how = f", velocity={draw.vector(0.3 * self.size / (40 * self.dt))}"
            if draw.chance(0.5):
                way = draw.vector(0.3 * self.size)
                how = f", displacement=pl.Keyframes((0, {20 * self.dt:.3g}), ((0, 0, 0), {way}))"
        self.lines.append(f"{name}.pin({where}{axes}{how})")
        body.pinned = not axes

    def load(self, body: Body) -> None:
        """A force, traction or pressure on a soft body, a force or torque on a rigid one; at most thirty times its
        weight where nothing holds it."""
        draw, name = self.draw, body.name
        force = 30 * body.mass * GRAVITY * draw.log(1e-3, 1)
        if not body.soft:
            line = f"force({draw.vector(force)})" if draw.chance(0.6) else f"torque({draw.vector(force * self.size)})"
            self.lines.append(f"{name}.{line}")
            return
        force = 0.2 * draw.log(1e-3, 1) * body.strength if body.pinned else min(force, 0.2 * body.strength)
        area, end = self.size**2, body.right - 0.1 * (body.right - body.left)
        kind = draw.pick(("force", "traction", "pressure"))
        where = f"{name}.nodes.x > {end:.4g}" if kind == "force" else '"all"'
        amount = {
            "force": draw.vector(force),
            "traction": draw.vector(force / area),
            "pressure": f"{draw.between(-1, 1) * force / area:.3g}",
        }[kind]
        self.lines.append(f"{name}.{kind}({where}, {amount})")

    def floor(self) -> None:
        """A plane below everything, or a shape that stays."""
        draw, gap = self.draw, self.size * (0.5 + self.draw.log(1e-4, 0.5))
        friction = f", friction={draw.between(0, 1)}" if draw.chance(0.5) else ""
        self.plane = True
        if draw.chance(0.75):
            tilt, drop = "", 0.0
            if draw.chance(0.3):
                tilt, drop = "(0.3, 0, 1)", 0.3 * self.size
            self.lines.append(
                f"scene.add_rigid(pl.Plane({tilt}), static=True, position={text((0, 0, -gap - drop))}{friction})"
            )
            return
        radius = draw.between(0.3, 2) * self.size
        shape = draw.pick((f"pl.Sphere({radius})", f"pl.Box({text([2 * radius] * 3)})"))
        place = text((draw.pick(self.bodies).centre, 0, -gap - radius))
        self.lines.append(f"scene.add_rigid({shape}, static=True, position={place}{friction})")


def solver_text(draw: Draw, name: str) -> str:
    """A solver of a family with random options, as an expression."""
    if name in ("newton", "bdf2"):
        linear = draw.pick(("auto", "cholesky", "pcg", "jacobi", "matrix-free", "superlu"), (0.5, *[0.1] * 5))
        integrator = "bdf2" if name == "bdf2" else "euler"
        return f'pl.Newton(tolerance={draw.pick((1e-2, 1e-4))}, linear="{linear}", integrator="{integrator}")'
    if name == "dual":
        return draw.pick(('pl.Dual(method="mprgp")', 'pl.Dual(method="pgs")', "pl.Dual(eliminate=True)"))
    if name == "explicit":
        return f'pl.Explicit(method="{draw.pick(("symplectic", "rk2", "rk4"), (0.7, 0.1, 0.2))}")'
    if name == "linear":
        factor = draw.pick(("cholesky", "lu", "cg"), (0.8, 0.1, 0.1))
        return f'pl.Linear(factor="{factor}", mass="{draw.pick(("lumped", "consistent"))}")'
    return f"pl.Xpbd(iterations={draw.pick((5, 10, 40))}, substeps={draw.pick((1, 4))})"


def safe_step(case: Case) -> float:
    """A time step [s] with which an explicit solver keeps the stiffest oscillation at the start bounded."""
    sim = case.simulate()
    if not sim.model.node_count:
        return case.dt
    frequency = largest_frequency(sim.model, sim.working_solver.forces, sim.state)
    method, damping = sim.solver.method, sim.model.elements.largest_damping
    # the midpoint rule has no bounded step; at w h = 0.1 it gains 1e-5 in each
    safe = 0.1 / SAFE / frequency if method == "rk2" else largest_safe_step(method, frequency, damping)
    safe = safe or 1 / (damping * frequency**2)
    return float(f"{min(case.dt, SAFE * safe):.3g}")


def generate(seed: int) -> Case:
    """The scene of a seed; a SceneError where its solver does not take it."""
    draw = Draw(seed)
    solver = draw.pick(SOLVERS, list(SOLVERS.values()))
    maker = Maker(draw, solver, draw.log(1e-3, 10), draw.log(1e-3, 1e-1), draw.chance(0.75))
    if solver not in ("newton", "bdf2"):
        maker.dt = min(maker.dt, float(f"{LINEAR_STEP * np.sqrt(maker.size / GRAVITY):.3g}"))
    maker.lines.append(f"scene = pl.Scene({'' if maker.gravity else 'gravity=(0, 0, 0)'})")
    kind = draw.pick(("soft", "rigid", "mixed"), (0.35, 0.3, 0.35))
    kinds = {"soft": ["soft"] * draw.pick((1, 1, 2)), "rigid": ["rigid"] * draw.pick((1, 2, 3, 4, 5))}
    kinds["mixed"] = ["soft"] + ["rigid"] * draw.pick((1, 2, 3))
    if solver == "linear" and kind == "rigid":
        kind = "mixed"
    for each in draw.random.permutation(kinds[kind]):
        getattr(maker, each)()
    if draw.chance(0.45):
        maker.floor()
    maker.joints()
    for body in maker.bodies:
        if body.soft and draw.chance(0.5):
            maker.pin(body)
        if draw.chance(0.2):
            maker.load(body)
    precision = "float32" if solver == "dual" and draw.chance(0.2) else "float64"
    options = solver_text(draw, solver)
    precision = "float64" if "eliminate" in options else precision
    case = Case(seed, tuple(maker.lines), options, maker.dt, draw.pick((10, 20, 40)), precision)
    return replace(case, dt=safe_step(case)) if solver == "explicit" else case
