"""Hinges: what they let turn, limits that hold, motors that give no more than they may; Newton and the dual solvers."""

import numpy as np
import pytest

import pliant as pl
from pliant.scene_file import load, save

GRAVITY = 9.81
LENGTH, MASS = 1.0, 2.0
# a bar about its end: I = m L^2 / 3
INERTIA = MASS * LENGTH**2 / 3
SOLVERS = {
    "euler": pl.Newton(tolerance=1e-6),
    "bdf2": pl.Newton(tolerance=1e-6, integrator="bdf2"),
    "dual": pl.Dual(tolerance=1e-8),
    "eliminated": pl.Dual(tolerance=1e-8, eliminate=True),
}


def bar(gravity=(0, 0, -GRAVITY), **options):
    """A horizontal bar along x, hinged to the world at its left end about y; turning down is positive."""
    scene = pl.Scene(gravity=gravity)
    inertia = (MASS * LENGTH**2 / 1200, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12)
    rod = scene.add_rigid(
        pl.Box((LENGTH, 0.05, 0.05)), mass=MASS, inertia=inertia, position=(LENGTH / 2, 0, 0), collide=False
    )
    hinge = scene.join(pl.Hinge(pl.world, rod, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return scene, rod, hinge


@pytest.mark.parametrize("name", SOLVERS)
def test_a_bar_swings_about_its_hinge_alone(name):
    """Energy: w^2 = 3 g / L sin(angle) as the bar falls, up to the error of a method of first or second order (3 h and
    30 h^2, with the rate of the hinge near 5 rad/s); the end stays in the plane y = 0 and at its place."""
    scene, rod, hinge = bar()
    sim = scene.simulate(dt=1e-3, solver=SOLVERS[name])
    sim.step(300)
    angle, rate = sim.joint_position(hinge), sim.joint_velocity(hinge)
    assert angle > 0.5
    assert rate == pytest.approx(
        np.sqrt(3 * GRAVITY / LENGTH * np.sin(angle)), rel=30 * 1e-6 if name == "bdf2" else 3e-3
    )
    centre, _ = sim.pose(rod)
    assert centre == pytest.approx((LENGTH / 2 * np.cos(angle), 0, -LENGTH / 2 * np.sin(angle)), abs=2e-5)


@pytest.mark.parametrize("name", SOLVERS)
def test_limits_hold_a_falling_bar(name):
    scene, _, hinge = bar(limits=(-0.2, 0.4))
    sim = scene.simulate(dt=1 / 120, solver=SOLVERS[name])
    highest = 0.0
    for _ in range(240):
        sim.step()
        highest = max(highest, sim.joint_position(hinge))
    assert highest <= 0.4 + 1e-5
    assert sim.joint_position(hinge) == pytest.approx(0.4, abs=1e-5)
    assert abs(sim.joint_velocity(hinge)) < 1e-5


@pytest.mark.parametrize("name", SOLVERS)
def test_a_motor_reaches_its_velocity_with_its_greatest_torque(name):
    """Without gravity a torque T speeds the bar up by T / I; at 2 rad/s it has nothing more to do."""
    torque = 0.5
    scene, _, hinge = bar(gravity=(0, 0, 0), motor=pl.Motor(velocity=2.0, max_torque=torque))
    sim = scene.simulate(dt=0.01, solver=SOLVERS[name])
    sim.step(50)
    assert sim.motor_effort(hinge) == pytest.approx(torque, rel=1e-6)
    assert sim.joint_velocity(hinge) == pytest.approx(torque / INERTIA * 0.5, rel=1e-3)
    sim.step(450)
    assert sim.joint_velocity(hinge) == pytest.approx(2.0, rel=1e-4)
    # what a method of first order takes from a turning bar, h w^3 I
    assert abs(sim.motor_effort(hinge)) < (1e-3 * torque if name == "bdf2" else 0.01 * 2.0**3 * INERTIA)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("stiffness", [50.0, 1e8])
def test_a_position_motor_is_a_spring_at_any_gain(name, stiffness):
    """At rest k (goal - angle) = - m g L/2 cos(angle): the bar hangs down by what its weight takes."""
    scene, _, hinge = bar(motor=pl.Motor(position=-0.3, stiffness=stiffness, damping=stiffness / 10))
    sim = scene.simulate(dt=1 / 60, solver=SOLVERS[name])
    sim.step(600)
    angle = sim.joint_position(hinge)
    assert stiffness * (-0.3 - angle) + MASS * GRAVITY * LENGTH / 2 * np.cos(angle) == pytest.approx(
        0, abs=max(1e-3, 1e-6 * stiffness)
    )
    assert sim.motor_effort(hinge) == pytest.approx(-MASS * GRAVITY * LENGTH / 2 * np.cos(angle), rel=2e-3)


def test_a_motor_that_is_too_weak_lets_go():
    """The weight's torque at the start, m g L/2 = 9.81 N m, beats 5 N m."""
    scene, _, hinge = bar(motor=pl.Motor(velocity=0.0, max_torque=5.0), limits=(-0.1, 1.5))
    sim = scene.simulate(dt=1 / 120)
    sim.step(10)
    assert sim.motor_effort(hinge) == pytest.approx(-5.0, rel=1e-9)
    assert sim.joint_position(hinge) > 1e-3


def test_motors_follow_functions_of_time_beyond_a_full_turn():
    scene, _, hinge = bar(motor=pl.Motor(velocity=lambda time: 20 * time))
    sim = scene.simulate(dt=0.01)
    sim.step(200)
    assert sim.joint_velocity(hinge) == pytest.approx(40.0, rel=1e-4)
    assert sim.info.converged and np.abs(sim.twist(scene.rigid_bodies[0])[1][[0, 2]]).max() < 1e-9


def test_bodies_and_world_may_be_either_side():
    """A hinge between two free bodies keeps their momenta, whichever is a."""
    ends = []
    for turned in (False, True):
        scene = pl.Scene(gravity=(0, 0, 0))
        one = scene.add_rigid(pl.Box((1, 0.1, 0.1)), mass=1, position=(0.5, 0, 0), angular_velocity=(0, 2, 0))
        two = scene.add_rigid(pl.Box((1, 0.1, 0.1)), mass=3, position=(-0.5, 0, 0), collide=False)
        pair = (two, one) if turned else (one, two)
        hinge = scene.join(pl.Hinge(*pair, at=(0, 0, 0), axis=(0, 1, 0)))
        sim = scene.simulate(dt=1e-3, solver=pl.Newton(tolerance=1e-8, integrator="bdf2"))
        before = sim.momentum()
        sim.step(500)
        assert sim.momentum().linear == pytest.approx(before.linear, abs=1e-9)
        assert sim.momentum().angular == pytest.approx(before.angular, abs=1e-4)
        ends.append((sim.pose(one)[0], sim.joint_position(hinge)))
    assert ends[0][0] == pytest.approx(ends[1][0], abs=1e-8)
    assert ends[0][1] == pytest.approx(-ends[1][1], abs=1e-8)


def test_scene_files_say_hinges(tmp_path):
    motor = pl.Motor(position=pl.Keyframes((0, 1), (0, 0.5)), stiffness=3.0, damping=0.1, max_torque=2.0)
    scene, *_ = bar(limits=(-1, 2), motor=motor)
    save(scene, tmp_path / "hinge.toml")
    again = load(tmp_path / "hinge.toml")
    joint = again.joints[0]
    assert (joint.limits, joint.axis) == ((-1.0, 2.0), (0.0, 1.0, 0.0))
    assert (joint.motor.stiffness, joint.motor.max_torque) == (3.0, 2.0)
    assert np.array_equal(
        scene.simulate(dt=0.01).step(20).state.body_rotation, again.simulate(dt=0.01).step(20).state.body_rotation
    )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"limits": (0.5, 0.1)}, "limits must be in order"),
        ({"limits": (0.5, 1.0)}, "must hold the value 0"),
        ({"limits": 3}, "two values"),
        ({"motor": 3}, "must be a pliant.Motor"),
    ],
)
def test_bad_hinges_are_refused(options, message):
    with pytest.raises(pl.SceneError, match=message):
        bar(**options)


def test_bad_motors_and_sides_are_refused():
    with pytest.raises(pl.SceneError, match="either a velocity or a position"):
        pl.Motor()
    with pytest.raises(pl.SceneError, match="needs a stiffness"):
        pl.Motor(position=1.0)
    with pytest.raises(pl.SceneError, match="go with a position"):
        pl.Motor(velocity=1.0, damping=2.0)
    with pytest.raises(pl.SceneError, match="axis must be a direction"):
        pl.Hinge(pl.world, object(), at=(0, 0, 0), axis=(0, 0, 0))


def test_a_soft_block_swings_on_a_hinge():
    """The frame of a hinge is fitted to the face of a soft body: a stiff block swings about it as a rigid one does."""
    scene = pl.Scene()
    mesh = pl.meshes.box((0.4, 0.2, 0.2), cells=(4, 2, 2))
    soft = scene.add_soft(mesh, pl.Material.corotated(1e8, 0.3, 1000), position=(0, -0.1, -0.1))
    hinge = scene.join(pl.Hinge(pl.world, soft, at=(0, 0, 0), axis=(0, 1, 0)))
    sim = scene.simulate(dt=1 / 400, solver=pl.Newton(integrator="bdf2"))
    sim.step(80)
    assert sim.info.converged and sim.joint_position(hinge) > 0.4
    # I q'' = m g l cos q about the hinge: w^2 = 2 m g l sin q / I, with the masses of the nodes
    mass, place = sim.model.node_mass, soft.nodes.positions
    inertia = mass @ (place[:, 0] ** 2 + place[:, 2] ** 2)
    expected = np.sqrt(2 * 9.81 * mass.sum() * 0.2 * np.sin(sim.joint_position(hinge)) / inertia)
    assert sim.joint_velocity(hinge) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Dual()], ids=["newton", "dual"])
@pytest.mark.parametrize("speed", [20.0, 180.0, 300.0])
def test_fast_motors_turn_as_told_and_every_turn_counts(speed, solver):
    """Up to five radians in a step; at a steady speed nothing is left to balance."""
    scene = pl.Scene(gravity=(0, 0, 0))
    wheel = scene.add_rigid(pl.Cylinder(0.1, 0.05), mass=1, collide=False)
    hinge = scene.join(pl.Hinge(pl.world, wheel, at=(0, 0, 0), axis=(0, 0, 1), motor=pl.Motor(velocity=speed)))
    sim = scene.simulate(dt=1 / 60, solver=solver)
    for _ in range(60):
        sim.step()
        assert sim.info.converged
    assert sim.joint_position(hinge) == pytest.approx(speed, rel=1e-6)
    assert sim.joint_velocity(hinge) == pytest.approx(speed, rel=1e-6)


@pytest.mark.parametrize("dt", [0.3, 0.5, 1.0])
def test_long_steps_of_a_pendulum_make_no_turns_of_their_own(dt):
    scene = pl.Scene()
    bar = scene.add_rigid(pl.Box((0.4, 0.1, 0.1)), mass=1, position=(0.2, 0, 1), collide=False)
    scene.join(pl.Hinge(pl.world, bar, at=(0, 0, 1), axis=(0, 1, 0)))
    sim = scene.simulate(dt=dt)
    first = sim.energy().total
    for _ in range(6):
        sim.step()
        assert sim.info.converged and sim.energy().total <= first * (1 + 1e-9)


@pytest.mark.parametrize("inertia", [1e-4, 1e-7, 1e-9])
@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_links_with_hardly_any_inertia(integrator, inertia):
    """Point masses of 1 kg on hinges whose axes are not parallel, 1 m apart: every step converges, in two iterations on
    average; across its arm such a mass gives way a million times more easily than along it."""
    scene, before, iterations = pl.Scene(), pl.world, 0
    for k, axis in enumerate([(0, 1, 0), (0, 1, 1)]):
        ball = scene.add_rigid(pl.Sphere(0.05), mass=1, inertia=inertia, position=(k + 1, 0, 0), collide=False)
        scene.join(pl.Hinge(before, ball, at=(k, 0, 0), axis=axis))
        before = ball
    sim = scene.simulate(0.01, solver=pl.Newton(integrator=integrator), threads=1)
    for _ in range(100):
        sim.step()
        assert sim.info.converged and sim.info.parts == 1
        iterations += sim.info.newton_iterations
    assert iterations <= 200


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_motor_without_bound_stops_at_the_limit(name, restitution):
    """A velocity whatever it takes against a rigid limit: the limit wins, in few iterations, and the motor holds the
    bar there against its weight, m g L/2 cos(0.5), which may turn back at once."""
    free = pl.Coordinate(motor=pl.Motor(velocity=2), limits=(-0.5, 0.5), restitution=restitution)
    scene, _, hinge = bar(free=free)
    sim = scene.simulate(dt=0.01, solver=SOLVERS[name])
    for step in range(40):
        sim.step()
        assert sim.info.converged and sim.info.newton_iterations <= 5
        assert sim.joint_position(hinge) == pytest.approx(min(0.02 * (step + 1), 0.5), abs=1e-4)
    assert sim.motor_effort(hinge) == pytest.approx(-MASS * GRAVITY * LENGTH / 2 * np.cos(0.5), rel=0.01)
    sim.set_motor(hinge, velocity=-2)
    assert sim.step(10).joint_position(hinge) == pytest.approx(0.3, abs=1e-2)
