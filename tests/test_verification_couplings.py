"""Joints from first principles: order in time, energy, gaps, limits, motors; and joints with soft bodies (CPL-..)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from mechanisms import BDF2, ELIMINATED, EULER, G, Y, Z, advance, bar, case, end_of, joint_gap
from studies import EDGE, at, displacements, soft_limit

EXACT = {
    "euler": (pl.Newton(tolerance=1e-6), 1),
    "bdf2": (pl.Newton(tolerance=1e-6, integrator="bdf2"), 2),
    "dual": (pl.Dual(tolerance=1e-8), 1),
}


def orders(errors) -> np.ndarray:
    """Observed orders from errors with steps that are halved each time."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def solved(right_side, start, seconds: float) -> np.ndarray:
    """The answer of y' = right_side(t, y) after some time, by Runge and Kutta of eighth order, 1e-12."""
    return solve_ivp(right_side, (0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


# Order in time


def double_pendulum_answer(seconds: float) -> np.ndarray:
    """The tip of two bars of 1 m and 1 kg, let go from the horizontal, by Lagrange's equations in their angles a, b:
    [[4/3, cos(a - b)/2], [cos(a - b)/2, 1/3]] (a'', b'') = (3/2 g cos a - sin(a - b)/2 b'^2, g/2 cos b + .. a'^2)."""

    def right_side(_, y):
        a, b, va, vb = y
        c, s = np.cos(a - b) / 2, np.sin(a - b) / 2
        force = (1.5 * G * np.cos(a) - s * vb**2, 0.5 * G * np.cos(b) + s * va**2)
        return (va, vb, *np.linalg.solve([[4 / 3, c], [c, 1 / 3]], force))

    a, b, *_ = solved(right_side, (0, 0, 0, 0), seconds)
    return np.array([np.cos(a) + np.cos(b), 0, -np.sin(a) - np.sin(b)])


@pytest.mark.parametrize("name", EXACT)
def test_order_on_a_double_pendulum(name):
    """Euler and the dual solver of first order, BDF2 of second; what it misses is below 0.05 and 0.001 of a link."""
    solver, order = EXACT[name]
    errors = []
    for dt in (1 / 100, 1 / 200, 1 / 400):
        scene = pl.Scene()
        upper, lower = bar(scene, (0, 0, 0), (1, 0, 0)), bar(scene, (1, 0, 0), (2, 0, 0))
        scene.join(pl.Hinge(pl.world, upper, at=(0, 0, 0), axis=Y))
        scene.join(pl.Hinge(upper, lower, at=(1, 0, 0), axis=Y))
        sim = advance(scene.simulate(dt, solver=solver), 0.5)
        errors.append(np.linalg.norm(end_of(sim, lower) - double_pendulum_answer(0.5)))
    assert orders(errors) == pytest.approx(order, abs=0.15)
    assert errors[0] < (0.001 if name == "bdf2" else 0.05)


CRANK, ROD, TORQUE = 0.2, 0.5, 1.0


def crank_answer(seconds: float) -> float:
    """The angle of a slider-crank of a crank and a rod of 1 kg and a block of 2 kg, from rest at its dead centre.

    M q'' + M' q'^2 / 2 = T, with M(q) = m r^2 / 3 + m (centre of the rod)'^2 + m l^2 / 12 p'^2 + 2 x'^2, where
    l sin p = r sin q and x = r cos q + l cos p.
    """

    def inertia(q):
        slope = CRANK / ROD * np.cos(q) / np.sqrt(1 - (CRANK / ROD * np.sin(q)) ** 2)
        drawn = CRANK * np.sin(q) * slope
        rod = (CRANK * np.sin(q) + drawn / 2) ** 2 + (CRANK * np.cos(q) / 2) ** 2 + ROD**2 / 12 * slope**2
        return CRANK**2 / 3 + rod + 2 * (CRANK * np.sin(q) + drawn) ** 2

    def right_side(_, y):
        change = (inertia(y[0] + 1e-6) - inertia(y[0] - 1e-6)) / 2e-6
        return y[1], (TORQUE - change * y[1] ** 2 / 2) / inertia(y[0])

    return float(solved(right_side, (0, 0), seconds)[0])


@pytest.mark.parametrize("name", EXACT)
def test_order_on_a_slider_crank_with_a_motor(name):
    """A motor that never reaches its velocity gives its greatest torque, in every step."""
    solver, order = EXACT[name]
    errors = []
    for dt in (1 / 200, 1 / 400, 1 / 800):
        scene, end = pl.Scene(gravity=(0, 0, 0)), (CRANK + ROD, 0, 0)
        crank, rod = bar(scene, (0, 0, 0), (CRANK, 0, 0)), bar(scene, (CRANK, 0, 0), end)
        block = scene.add_rigid(pl.Box((0.05, 0.05, 0.05)), mass=2, position=end, collide=False)
        motor = pl.Motor(velocity=1e3, max_torque=TORQUE)
        hinge = scene.join(pl.Hinge(pl.world, crank, at=(0, 0, 0), axis=Y, motor=motor))
        scene.join(pl.Hinge(crank, rod, at=(CRANK, 0, 0), axis=Y))
        scene.join(pl.Hinge(rod, block, at=end, axis=Y))
        scene.join(pl.Slider(pl.world, block, at=end, axis=(1, 0, 0)))
        sim = scene.simulate(dt, solver=solver)
        for _ in range(round(0.4 / dt)):
            sim.step()
            assert sim.info.converged and sim.motor_effort(hinge) == pytest.approx(TORQUE, rel=1e-12)
        errors.append(abs(sim.joint_position(hinge) - crank_answer(0.4)))
    assert orders(errors) == pytest.approx(order, abs=0.2)


@pytest.mark.slow
def test_energy_of_a_pendulum_over_a_hundred_swings():
    """BDF2 takes the part (h w)^4 / 2 of a swing's energy in a step: with h w = 0.029, 0.8 % in a hundred swings."""
    scene, angle = pl.Scene(), 0.2
    body = bar(scene, (0, 0, 0), (np.sin(angle), 0, -np.cos(angle)))
    scene.join(pl.Hinge(pl.world, body, at=(0, 0, 0), axis=Y))
    sim = scene.simulate(0.0075, solver=BDF2)
    lowest = -G / 2
    start = sim.energy().total - lowest
    sim.step(round(100 * 2 * np.pi / np.sqrt(1.5 * G) / 0.0075))
    assert sim.energy().total - lowest == pytest.approx(start, rel=0.01)


# Gaps, limits and motors


@pytest.mark.parametrize("solver", [EULER, BDF2], ids=["euler", "bdf2"])
def test_hinges_of_a_four_bar_loop_stay_closed(solver):
    """A loop with bars of 0.3, 0.8 and 0.6 m over a base of 0.9 m, its crank driven: gaps up to 1e-6 of a link."""
    scene, knee = pl.Scene(), np.array([0, 0, 0.3])
    # the last joint: 0.8 m from the knee and 0.6 m from the end of the base
    base = np.array([0.9, 0, 0]) - knee
    span = np.linalg.norm(base)
    along = (0.8**2 - 0.6**2 + span**2) / (2 * span)
    across = np.array([-base[2], 0, base[0]]) / span
    joint = knee + along * base / span + np.sqrt(0.8**2 - along**2) * across
    bars = [bar(scene, (0, 0, 0), knee), bar(scene, knee, joint), bar(scene, joint, (0.9, 0, 0))]
    crank = scene.join(pl.Hinge(pl.world, bars[0], at=(0, 0, 0), axis=Y, motor=pl.Motor(velocity=6.0)))
    scene.join(pl.Hinge(bars[0], bars[1], at=knee, axis=Y))
    scene.join(pl.Hinge(bars[1], bars[2], at=joint, axis=Y))
    scene.join(pl.Hinge(bars[2], pl.world, at=(0.9, 0, 0), axis=Y))
    sim = scene.simulate(1 / 200, solver=solver)
    for _ in range(250):
        sim.step()
        assert sim.info.converged and joint_gap(sim) <= 1e-6 * 0.3
    assert sim.joint_position(crank) == pytest.approx(7.5, rel=1e-2)


@pytest.mark.parametrize("solver", [EULER, BDF2], ids=["euler", "bdf2"])
def test_hinges_of_a_chain_stay_closed(solver):
    """Ten links of 0.2 m, let go from the horizontal: gaps up to 1e-6 of a link."""
    scene = pl.Scene()
    links = [bar(scene, (0.2 * k, 0, 0), (0.2 * k + 0.2, 0, 0)) for k in range(10)]
    for k, (one, two) in enumerate(zip([pl.world, *links], links)):
        scene.join(pl.Hinge(one, two, at=(0.2 * k, 0, 0), axis=Y))
    sim = scene.simulate(1 / 200, solver=solver)
    for _ in range(200):
        sim.step()
        assert joint_gap(sim) <= 1e-6 * 0.2


@pytest.mark.parametrize("name", ["euler", "bdf2"])
def test_limits_are_overrun_by_a_millionth(name):
    """Three links whose hinges turn by -0.5 to 0.3 rad, thrown about for 2 s: by up to 1e-6 of their range."""
    scene, low, high = pl.Scene(), -0.5, 0.3
    links = [bar(scene, (0.5 * k, 0, 0), (0.5 * k + 0.5, 0, 0)) for k in range(3)]
    hinges = []
    for k, (one, two) in enumerate(zip([pl.world, *links], links)):
        hinges.append(scene.join(pl.Hinge(one, two, at=(0.5 * k, 0, 0), axis=Y, limits=(low, high))))
    sim = scene.simulate(1 / 200, solver=EXACT[name][0])
    highest = 0.0
    for _ in range(400):
        sim.step()
        assert sim.info.converged
        for hinge in hinges:
            angle = sim.joint_position(hinge)
            assert low - 1e-6 * (high - low) <= angle <= high + 1e-6 * (high - low)
            highest = max(highest, angle)
    assert highest == pytest.approx(high, abs=1e-5) and sim.limit_state(hinges[0]) == "high"


@pytest.mark.parametrize("solver", [EULER, ELIMINATED], ids=["newton", "eliminated"])
def test_articulated_body_hit_by_a_ball_keeps_momentum(solver):
    """RIG-23: a free trunk with four legs on hinges with motors and limits, hit by 50 kg m/s; 1e-6 of it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    trunk = scene.add_rigid(pl.Box((0.6, 0.3, 0.2)), mass=20)
    for x in (-0.25, 0.25):
        for y in (-0.2, 0.2):
            leg = scene.add_rigid(pl.Capsule(0.04, 0.3), mass=2, position=(x, y, -0.2), collide=False)
            motor = pl.Motor(position=0.4, stiffness=40.0, damping=2.0, max_torque=15.0)
            scene.join(pl.Hinge(trunk, leg, at=(x, y, 0), axis=Y, motor=motor, limits=(-1, 1)))
    scene.add_rigid(pl.Sphere(0.1), mass=5, position=(-0.6, 0.05, 0.03), velocity=(10, 0, 0))
    sim = scene.simulate(1 / 500, solver=solver)
    before = sim.momentum()
    assert before.linear == pytest.approx((case("RIG-23")["momentum_kg_m_s"], 0, 0))
    sim.step(150)
    assert sim.twist(trunk)[0][0] > 0.5
    assert sim.momentum().linear == pytest.approx(before.linear, abs=50e-6)
    if solver is ELIMINATED:  # implicit Euler, whose impulses act where the step ends, keeps it to first order only
        assert sim.momentum().angular == pytest.approx(before.angular, abs=1e-3)


# Soft bodies


def rolled(cells: int, solver, dt: float) -> float:
    """The turn [rad] of the plate on a strip of 1 m, 0.05 m high, driven by the motor of a planar joint with E I / L,
    which is all that holds the plate; the strip must be a circular arc."""
    height, young = 0.05, 1e6
    width = height / cells
    couple = young * width * height**3 / 12
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((1, height, width), cells=(round(cells / height), cells, 1))
    material = pl.Material.corotated(young, 0.0, 1000, mass_damping=3.0)
    strip = scene.add_soft(mesh, material, position=(0, -height / 2, -width / 2), collide=False)
    strip.pin(strip.nodes.x < EDGE)
    strip.pin(strip.nodes.x < 1 - EDGE, axes="z")
    plate = scene.add_rigid(
        pl.Box((0.01, height, height)), mass=0.1, inertia=couple / 9, position=(1.005, 0, 0), collide=False
    )
    scene.join(pl.Attach(plate, strip))
    driven = pl.Coordinate(motor=pl.Motor(velocity=1e3, max_torque=couple))
    joint = scene.join(pl.Planar(pl.world, plate, at=(1, 0, 0), axis=Z, angle=driven))
    sim = advance(scene.simulate(dt, solver=solver), 8.0)
    angle = sim.joint_position(joint, "angle")
    tip = sim.positions(strip)[at(strip, (1, 0, None))].mean(axis=0)[:2]
    assert sim.motor_effort(joint, "angle") == pytest.approx(couple, rel=1e-9)
    np.testing.assert_allclose(tip, arc(angle), atol=0.002)
    return angle


def arc(angle: float) -> tuple[float, float]:
    """The end of a circular arc of length 1 that turns by an angle."""
    return np.sin(angle) / angle, (1 - np.cos(angle)) / angle


@pytest.mark.parametrize("solver, dt", [(EULER, 0.1), (ELIMINATED, 0.05)], ids=["newton", "eliminated"])
def test_strip_bent_by_the_motor_of_a_planar_joint(solver, dt):
    """CPL-04: M = E I / L bends a strip with a rigid plate at its end to an arc of 1 rad; 1 % on both coordinates."""
    cells, expected = (2, 4), case("CPL-04")
    end = arc(soft_limit([rolled(n, solver, dt) for n in cells], cells))
    np.testing.assert_allclose(end, (expected["x"], expected["y"]), rtol=0.01)


def hung(law: str, young: float, gravity: float, cells: int = 10, damping: float = 0.0):
    """A bar of 1 m, 0.1 m x 0.1 m, nu = 0, that hangs from z = 1 with a plate of 5 kg that slides along z at its end;
    scene, bar and slider."""
    scene = pl.Scene(gravity=(0, 0, -gravity))
    mesh = pl.meshes.box((0.1, 0.1, 1), cells=(1, 1, cells))
    material = getattr(pl.Material, law)(young, 0.0, 1000, mass_damping=damping)
    soft = scene.add_soft(mesh, material, position=(-0.05, -0.05, 0), collide=False)
    soft.pin(soft.nodes.z > 1 - EDGE)
    plate = scene.add_rigid(pl.Box((0.1, 0.1, 0.02)), mass=5, position=(0, 0, -0.01), collide=False)
    scene.join(pl.Attach(plate, soft))
    return scene, soft, scene.join(pl.Slider(pl.world, plate, at=(0, 0, 0), axis=Z)), plate


@pytest.mark.parametrize(
    "law, name, solver",
    [
        ("linear", "lin", EULER),
        ("corotated", "corot", EULER),
        ("neohookean", "nh", EULER),
        ("stvk", "stvk", EULER),
        ("linear", "lin", ELIMINATED),
        ("corotated", "corot", ELIMINATED),
    ],
    ids=["linear", "corotated", "neohookean", "stvk", "linear-eliminated", "corotated-eliminated"],
)
def test_plate_on_a_slider_stretches_a_bar(law, name, solver):
    """CPL-02: P(X) = (m + rho A (L - X)) g / A; extension at rest within 0.5 %."""
    scene, soft, slider, _ = hung(law, 1e5, G, damping=8.0)
    sim = advance(scene.simulate(0.05, solver=solver), 4.0)
    assert -sim.joint_position(slider) == pytest.approx(case("CPL-02")["m5"][name], rel=0.005)
    assert displacements(sim, soft)[soft.nodes.z < EDGE, 2] == pytest.approx(sim.joint_position(slider), abs=1e-5)


@pytest.mark.parametrize("solver", [BDF2, ELIMINATED], ids=["bdf2", "eliminated"])
def test_frequency_of_a_plate_on_a_slider(solver):
    """CPL-02: w tan(w L / c) = rho A c / m, 5.419822 Hz for E = 1e6; 0.5 %. Started in its mode, sin(w X / c)."""
    expected = case("CPL-02")["freq_E1e6_m5"]
    scene, soft, slider, plate = hung("linear", 1e6, 0.0, cells=20)
    sim = scene.simulate(1e-3, solver=solver)
    shape = 0.01 * np.sin(expected["z"] * (1 - soft.nodes.z)) / np.sin(expected["z"])
    sim.set_positions(soft, soft.nodes.positions - shape[:, None] * Z)
    sim.set_pose(plate, (0, 0, -0.02))
    travel = np.array([sim.step().joint_position(slider) for _ in range(300)])
    before = np.flatnonzero(travel[:-1] * travel[1:] < 0)
    times = 1e-3 * (before + travel[before] / (travel[before] - travel[before + 1]))
    assert 0.5 / np.diff(times).mean() == pytest.approx(expected["f1_Hz"], rel=0.005)


def test_modes_of_a_cantilever_with_an_attached_mass():
    """CPL-03: cos z cosh z + 1 = z / 2 (sin z cosh z - cos z sinh z), z = 1.419964, 0.2929439 Hz; 2 %."""
    stiffness, cells = [], (2, 4)
    for count in cells:
        scene = pl.Scene()
        mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10 * count, count, count), pattern="five")
        beam = scene.add_soft(mesh, pl.Material.linear(1e6, 0.3, 1000), position=(0, -0.05, -0.05), collide=False)
        beam.pin(beam.nodes.x < EDGE)
        plate = pl.Box((1e-3, 0.1, 0.1))
        tip = scene.add_rigid(plate, mass=5, inertia=1e-6, position=(1 + 5e-4, 0, 0), collide=False)
        scene.join(pl.Attach(tip, beam))
        stiffness.append(scene.modes(1).frequencies[0] ** -2)
    found = np.sqrt(soft_limit(stiffness, cells)) ** -1
    assert found == pytest.approx(case("CPL-03")["f_EB_Hz"], rel=0.02)
