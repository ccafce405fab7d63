"""Elastic rods: derivatives, rigid motions, dynamics, loads, what is refused."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.elements.potential import ElementPotential
from pliant.model.build import build
from pliant.rotations import multiply_quaternions, rotation_matrix
from rod_scenes import line_rod, stiffness

ROUND = pl.Section.circle(0.01)


def bent_model(seed: int = 1):
    """A crooked rod of a rectangular section with natural curvature, strained at random: model, state, motion (2 b, 3)
    from there."""
    random = np.random.default_rng(seed)
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.cumsum(0.1 * random.normal(size=(6, 3)) + [0, 0, 0.2], axis=0)
    material = pl.Material.linear(1e6, 0.3, 1000, damping=0.01)
    section = pl.Section.rectangle(0.05, 0.03)
    scene.add_rod(points, material, section=section, curvature=(1, 0.5, 0.7))
    model, state = build(scene)
    motion = random.normal(size=(2 * model.body_count, 3))
    motion[0::2] *= 0.05
    motion[1::2] *= 0.6
    return model, state, motion


def differences(function, at: np.ndarray, size: float) -> np.ndarray:
    """Central differences of a function of an array, along a last axis."""
    columns = []
    for index in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[index] += size
        behind[index] -= size
        columns.append((np.asarray(function(ahead)) - np.asarray(function(behind))) / (2 * size))
    return np.stack(columns, axis=-1)


def test_forces_and_stiffness_are_derivatives_of_the_energy():
    model, state, motion = bent_model()
    potential = ElementPotential.of(model.elements, state)
    gradient = potential.evaluate(state.x, None, motion)[2]
    found = differences(lambda m: potential.evaluate(state.x, None, m)[0], motion, 1e-6)
    assert found == pytest.approx(gradient.ravel(), abs=1e-9 * np.abs(gradient).max())
    hessian = differences(lambda m: potential.evaluate(state.x, None, m)[2].ravel(), motion, 1e-5)
    potential.evaluate(state.x, None, motion)
    exact, projected = stiffness(model, potential, False), stiffness(model, potential, True)
    assert hessian == pytest.approx(exact, abs=1e-8 * np.abs(exact).max())
    assert np.linalg.eigvalsh(exact)[0] < 0  # this state is far from stable
    assert np.linalg.eigvalsh(projected)[0] > -1e-12 * np.abs(projected).max()


def test_damping_is_the_derivative_of_its_power():
    model, state, velocity = bent_model()
    potential = ElementPotential.of(model.elements, state)
    potential.take_frames(state.x, None)
    elastic = potential.evaluate(state.x)[2]
    force = potential.evaluate(state.x, velocity)[2] - elastic
    found = differences(lambda v: potential.evaluate(state.x, v)[1], velocity, 1e-4)
    assert found == pytest.approx(force.ravel(), abs=1e-8 * np.abs(force).max())
    # a rigid motion costs nothing
    rigid = np.zeros_like(velocity)
    spin = np.array([0.3, -0.2, 0.5])
    rigid[0::2], rigid[1::2] = np.cross(spin, state.body_position) + np.ones(3), spin
    assert potential.evaluate(state.x, rigid)[1] == pytest.approx(0, abs=1e-20)


def test_rigid_motions_do_not_strain_and_constant_strains_are_met_exactly():
    # patch test: an uneven line, stretched, bent and twisted evenly, has just these strains in every segment
    arc = np.cumsum([0, 0.1, 0.25, 0.05, 0.2])
    scene = pl.Scene(gravity=(0, 0, 0))
    points = arc[:, None] * np.array([[0, 0, 1.0]])
    rod = scene.add_rod(points, pl.Material.linear(1e6, 0.3, 1000), section=ROUND, normal=(1, 0, 0), collide=False)
    sim = scene.simulate(0.01)
    turn = np.array([np.cos(0.7), 0.4 * np.sin(0.7), 0.2 * np.sin(0.7), np.sqrt(0.8) * np.sin(0.7)])
    for point in rod:
        sim.set_pose(
            point,
            rotation_matrix(turn) @ (np.array(point.position)) + [1, 2, 3],
            multiply_quaternions(turn, point.rotation),
        )
    assert sim.energy().elastic == pytest.approx(0, abs=1e-18)
    # about its own line: stretch 1.1, twist 2 rad/m
    for point, s in zip(rod, arc):
        angle = 2.0 * s
        frame = multiply_quaternions([np.cos(angle / 2), 0, 0, np.sin(angle / 2)], point.rotation)
        sim.set_pose(point, 1.1 * s * np.array([0, 0, 1.0]) - rotation_matrix(frame) @ point.here, frame)
    state = sim.rod(rod)
    assert state.stretch == pytest.approx(1.1)
    assert state.twist == pytest.approx(2.0)
    assert state.tension == pytest.approx(0.1 * rod.stiffness["stretch"])
    assert state.torque == pytest.approx(2.0 * rod.stiffness["twist"])
    assert np.abs(state.curvature).max() < 1e-12 and np.abs(state.shear).max() < 1e-12


def test_thin_rods_do_not_lock():
    # one segment carries an end load with P L^3 / (3 EI), however stiff it is in shear
    for radius in (1e-2, 1e-4, 1e-6):
        for count in (1, 5):
            scene, rod = line_rod(count, 1.0, pl.Section.circle(radius))
            stiff = rod.stiffness["bending"][0, 0]
            rod[-1].force((0, 0, 1e-4 * stiff))
            shear = 1 / (rod.section.shear_factors(0.3)[0] * 1e9 / 2.6 * rod.section.area)
            expected = 1e-4 * (1 / 3 + stiff * shear)
            assert scene.equilibrium().rod(rod).points[-1, 2] == pytest.approx(expected, rel=1e-5)


def test_sections():
    # Roark: J of a square is 0.1406 a^4, of a strip b t^3 / 3 (1 - 0.63 t / b)
    assert pl.Section.rectangle(2.0, 2.0).torsion == pytest.approx(0.1406 * 16, rel=1e-3)
    assert pl.Section.rectangle(10.0, 1.0).torsion == pytest.approx(10 / 3 * (1 - 0.063), rel=1e-3)
    circle, ellipse = pl.Section.circle(0.3), pl.Section.ellipse(0.3, 0.3)
    for name in ("area", "moments", "torsion"):
        assert getattr(circle, name) == pytest.approx(getattr(ellipse, name))
    assert circle.shear_factors(0.3) == pytest.approx((7.8 / 8.8,) * 2)
    assert pl.Section.rectangle(0.2, 0.1).moments == pytest.approx((0.2 * 0.1**3 / 12, 0.1 * 0.2**3 / 12))
    assert pl.Section.tube(0.3, 0.29999).area == pytest.approx(2 * np.pi * 0.3 * 1e-5, rel=1e-3)


def test_newton_and_explicit_steps_agree_and_both_orders_converge():
    def end(solver, dt):
        scene, rod = line_rod(6, 0.5, ROUND, young=1e6, gravity=(0, 0, -9.81))
        sim = scene.simulate(dt, solver=solver)
        sim.step(round(0.12 / dt))
        return sim.rod(rod).points[-1]

    reference = end(pl.Explicit(), 5e-5)
    second = [np.abs(end(pl.Newton(integrator="bdf2", tolerance=1e-8), dt) - reference).max() for dt in (4e-3, 2e-3)]
    first = [np.abs(end(pl.Newton(tolerance=1e-8), dt) - reference).max() for dt in (4e-3, 2e-3)]
    assert second[1] < 5e-4 and second[0] / second[1] > 3
    assert 1.7 < first[0] / first[1] < 2.4


def test_a_free_rod_keeps_its_momenta():
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.linspace(0, 1, 21)[:, None] * [1.0, 0.0, 0.0]
    rod = scene.add_rod(points, pl.Material.linear(1e6, 0.3, 1000), 0.02, collide=False)
    # forces and torques are in balance at one state: symplectic steps keep both momenta, implicit ones lose an angular
    # momentum h dv x m v of every point
    for solver, dt, kept in ((pl.Explicit(), 1e-4, 1e-10), (pl.Newton(tolerance=1e-9), 1e-3, 5e-3)):
        sim, random = scene.simulate(dt, solver=solver), np.random.default_rng(3)
        for point in rod:
            sim.set_twist(point, random.normal(size=3), random.normal(size=3))
        before, energy = sim.momentum(), sim.energy().total
        sim.step(50)
        after = sim.momentum()
        assert after.linear == pytest.approx(before.linear, abs=1e-7)
        assert after.angular == pytest.approx(before.angular, abs=kept * np.abs(before.angular).max())
    assert sim.energy().total < energy


def test_modes_of_a_cantilever():
    # Euler and Bernoulli: w = (1.8751, 4.6941, 7.8548)^2 sqrt(EI / (rho A L^4)); each twice, for two directions
    scene, rod = line_rod(40, 1.0, pl.Section.circle(0.002), young=1e10)
    speed = np.sqrt(rod.stiffness["bending"][0, 0] / rod.linear_density)
    expected = np.repeat(np.square([1.8751, 4.6941, 7.8548]), 2) * speed / (2 * np.pi)
    modes = scene.modes(6)
    assert modes.frequencies == pytest.approx(expected, rel=0.005)
    assert modes.shape(rod, 0).shape == (41, 3)


def test_clamps_move_and_twist_runs_along_the_rod():
    scene, rod = line_rod(10, 1.0, ROUND, damping=0.05, young=1e6)
    rod.clamp(10, angular_velocity=(1.0, 0, 0))
    sim = scene.simulate(1 / 60)
    sim.step(60)
    # 1 rad over 1 m, with the ends held in place
    state = sim.rod(rod)
    assert state.twist == pytest.approx(np.ones(10), rel=0.02)
    assert state.torque == pytest.approx(np.full(10, rod.stiffness["twist"][0]), rel=0.02)
    assert sim.info.converged


def test_joints_hold_rods_to_bodies_and_carry_moments():
    # a weight at the end of an arm of rod: the moment at the clamp is its weight times the length
    scene, rod = line_rod(8, 0.5, ROUND, young=1e9, gravity=(0, 0, -9.81), density=1e-3)
    ball = scene.add_rigid(pl.Sphere(0.02), mass=0.1, position=(0.52, 0, 0), collide=False)
    scene.join(pl.Fixed(rod[-1], ball, at=(0.5, 0, 0)))
    state = scene.equilibrium().rod(rod)
    assert state.moment[0] @ state.moment[0] == pytest.approx((0.1 * 9.81 * (0.52 - 0.5 / 16)) ** 2, rel=0.01)
    assert abs(state.shear_force[0]).max() == pytest.approx(0.1 * 9.81, rel=0.01)


def test_a_network_bends_as_one_where_its_segments_meet():
    # a T: its arms turn as much as the end of its stem does
    points = np.array([[0, 0, 0], [0, 0, 1.0], [-0.3, 0, 1.0], [0.3, 0, 1.0]])
    scene = pl.Scene(gravity=(0, 0, 0))
    rod = scene.add_rod(
        points, pl.Material.linear(1e9, 0.3, 1000), 0.01, edges=[[0, 1], [2, 1], [1, 3]], segments=4, collide=False
    )
    rod.clamp(0)
    stiff = rod.stiffness["bending"][0, 0]
    rod[1].torque((0, 0.01 * stiff, 0))
    state = scene.equilibrium().rod(rod)
    # the end of the stem turns by M L / EI = 0.01 rad and moves by M L^2 / 2 EI
    assert state.points[1] == pytest.approx([0.005, 0, 1], abs=2e-5)
    assert state.points[3] - state.points[2] == pytest.approx([0.6, 0, -0.006], abs=5e-5)


def test_rods_rest_on_what_they_touch():
    scene = pl.Scene()
    scene.add_rigid(pl.Plane((0, 0, 1)), static=True)
    points = np.linspace(-0.3, 0.3, 13)[:, None]
    material = pl.Material.linear(2e7, 0.3, 1000, damping=5e-3)
    first = scene.add_rod(points * [1.0, 0, 0], material, 0.01, position=(0, 0, 0.02))
    second = scene.add_rod(points * [0, 1.0, 0], material, 0.01, position=(0, 0, 0.05))
    sim = scene.simulate(1 / 120, solver=pl.Newton(tolerance=1e-5))
    before = sim.energy().total
    for _ in range(90):
        sim.step()
        assert sim.energy().total <= before + 1e-5 * before  # as exactly as steps are solved for
        before = sim.energy().total
    assert sim.rod(first).points[:, 2] == pytest.approx(0.01, abs=1e-3)
    middle = sim.rod(second).points[6, 2]
    assert middle == pytest.approx(0.03, abs=2e-3)  # one radius above the other
    assert sim.rod(second).points[:, 2].min() > 0.0095


def test_rods_that_slide_on_the_ground_take_few_iterations():
    """A leaning rod swings until its tip lies on the ground and slides there with friction: converged, a few iterations
    a step of either solver, and both come to the same place."""
    ends = []
    for solver, most in ((pl.Newton(), 3), (pl.Mixed(), 6)):
        scene, down = pl.Scene(), np.array([0.3, 0, -np.sqrt(1 - 0.3**2)])
        law = pl.Material.linear(young=1e7, poisson=0.3, density=1000, damping=1e-2)
        rod = scene.add_rod([0, 0, 1] + np.linspace(0, 1, 41)[:, None] * down, law, radius=2e-3, self_contact=False)
        rod.clamp(0)
        scene.add_rigid(pl.Plane(), static=True, position=(0, 0, 0.03), friction=0.3)
        sim, iterations = scene.simulate(dt=1 / 60, solver=solver), []
        for _ in range(30):
            sim.step()
            iterations.append(sim.info.newton_iterations)
            assert sim.info.converged
        assert len(sim.contacts) and max(iterations[-8:]) <= most
        ends.append(sim.rod(rod).points)
    assert np.abs(ends[0] - ends[1]).max() < 2e-4


def test_a_rod_touches_itself_unless_told_otherwise():
    # the arms of a hairpin are pressed together
    arc = np.linspace(np.pi / 2, -np.pi / 2, 7)[1:-1]
    arm = np.linspace(0, 0.4, 13)
    upper, lower = (np.stack([arm, 0 * arm, np.full(13, z)], axis=1) for z in (0.04, -0.04))
    bow = np.stack([0.4 + 0.04 * np.cos(arc), 0 * arc, 0.04 * np.sin(arc)], axis=1)
    nearest = {}
    for touches in (True, False):
        scene = pl.Scene(gravity=(0, 0, 0))
        points = np.concatenate([upper, bow, lower[::-1]])
        rod = scene.add_rod(points, pl.Material.linear(1e6, 0.3, 1000, damping=0.05), 0.01, self_contact=touches)
        rod.clamp(0), rod.clamp(len(rod) - 1)
        rod[6].force((0, 0, -1.0)), rod[len(rod) - 7].force((0, 0, 1.0))
        sim = scene.simulate(1 / 60)
        sim.step(40)
        x = sim.rod(rod).points
        nearest[touches] = x[6, 2] - x[-7, 2]
    assert nearest[True] == pytest.approx(0.02, abs=1e-3)
    assert nearest[False] < 0.01


def test_the_same_bits_with_any_number_of_threads():
    def run(threads):
        scene = pl.Scene()
        for k in range(20):
            points = np.linspace(0, 1, 101)[:, None] * [1.0, 0, 0] + [0, 0.1 * k, 0]
            scene.add_rod(points, pl.Material.linear(1e7, 0.3, 1000, damping=1e-3), 0.005, collide=False).clamp(0)
        return scene.simulate(1 / 60, threads=threads).step(3).state

    one, two = run(1), run(2)
    assert np.array_equal(one.body_position, two.body_position)
    assert np.array_equal(one.body_rotation, two.body_rotation)


def test_too_long_explicit_steps_are_named():
    scene, _ = line_rod(10, 1.0, ROUND)
    with pytest.warns(UserWarning, match="the largest safe time step"):
        scene.simulate(1e-3, solver=pl.Explicit()).step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.simulate(1e-6, solver=pl.Explicit()).step()


@pytest.mark.parametrize("solver", [pl.Dual(), pl.Linear(), pl.Xpbd(), pl.Explicit(method="rk4")], ids=repr)
def test_solvers_without_rods_say_so(solver):
    scene, _ = line_rod(3, 1.0, ROUND)
    with pytest.raises(pl.SceneError, match=r"rod 'rod0'.*pliant\.Newton"):
        scene.simulate(0.01, solver=solver)


MATERIAL = pl.Material.linear(1e6, 0.3, 1000)
LINE = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("segment 1 of a rod has no length: points 1 and 2", {"points": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]}),
        ("at least two points", {"points": [[0, 0, 0]]}),
        ("radius must be", {"radius": 0.0}),
        ("either radius=... .* or section", {"radius": None}),
        ("wider than it is long: its section is 2.2 m wide, .* at rest are 2 m", {"radius": 1.1}),
        ("section must be a pliant.Section", {"radius": None, "section": 3}),
        ("edges must name points 0 to 2", {"edges": [[0, 3]]}),
        ("is there twice", {"edges": [[0, 1], [1, 0], [1, 2]]}),
        ("point 2 of a rod has no edge", {"edges": [[0, 1]]}),
        ("normal of segment 0 of a rod lies along it", {"normal": (1, 0, 0)}),
        ("curvature must be 3 finite numbers", {"curvature": (1, 2)}),
        ("not for networks", {"edges": [[0, 1], [0, 2]], "straight": True}),
        ("segments must be a whole number", {"segments": 0}),
        ("plasticity", {"material": pl.Material.corotated(1e6, 0.3, 1, plasticity=pl.Plasticity(0.1, 1, 0.5))}),
        ("mass_damping", {"material": pl.Material.linear(1e6, 0.3, 1000, mass_damping=1.0)}),
    ],
)
def test_bad_input_is_named(message, options):
    arguments = {"points": LINE, "material": MATERIAL, "radius": 0.1} | options
    with pytest.raises(pl.SceneError, match=message):
        pl.Scene().add_rod(**arguments)


def test_tubes_need_a_hole():
    with pytest.raises(pl.SceneError, match="inner radius"):
        pl.Section.tube(0.1, 0.2)
