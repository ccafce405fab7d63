"""Every joint between rigid bodies, moving as theory says, with Newton, BDF2 and Dual."""

import numpy as np
import pytest

import pliant as pl
from pliant.rotations import axis_quaternion

G = 9.81
SOLVERS = {"newton": pl.Newton(), "bdf2": pl.Newton(integrator="bdf2"), "dual": pl.Dual()}
FREE = pl.Coordinate


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


def rod(scene, start, end, mass: float = 1.0):
    start, end = np.array(start, float), np.array(end, float)
    shape = pl.Capsule(0.02, float(np.linalg.norm(end - start)))
    turn = axis_quaternion(end - start)
    return scene.add_rigid(shape, mass=mass, position=(start + end) / 2, rotation=turn, collide=False)


def block(scene, position=(0, 0, 0), mass: float = 1.0, **options):
    return scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), mass=mass, position=position, collide=False, **options)


def test_slider_falls_along_its_axis_and_stops_at_its_limit(solver):
    scene = pl.Scene()
    body = block(scene, mass=2.0)
    slider = scene.join(pl.Slider(pl.world, body, at=(0, 0, 0), axis=(1, 0, 1), limits=(-0.5, 1)))
    sim = scene.simulate(dt=1 / 200, solver=solver)
    sim.step(20)
    assert sim.joint_velocity(slider) == pytest.approx(-G / np.sqrt(2) * 0.1, rel=1e-9)
    assert sim.reaction(slider) == pytest.approx([-G, 0, G], abs=1e-3)
    assert sim.limit_state(slider) == "free"
    sim.step(180)
    assert sim.joint_position(slider) == pytest.approx(-0.5, abs=1.5e-6) and sim.limit_state(slider) == "low"
    assert sim.pose(body)[0] == pytest.approx([-0.5 / np.sqrt(2), 0, -0.5 / np.sqrt(2)], abs=2e-6)


def test_cylindrical_joint_travels_and_turns(solver):
    scene = pl.Scene()
    body = block(scene, angular_velocity=(0, 0, 3))
    joint = scene.join(pl.Cylindrical(pl.world, body, at=(0, 0, 0), axis=(0, 0, 1)))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(300)
    assert sim.joint_position(joint, "angle") == pytest.approx(9.0, rel=1e-6)  # more than a full turn
    assert sim.joint_velocity(joint, "travel") == pytest.approx(-3 * G, rel=1e-6)
    with pytest.raises(pl.SceneError, match="has several coordinates, name one of travel, angle"):
        sim.joint_position(joint)


def test_universal_joint_hangs_as_two_pendulums(solver):
    """Small swings about both axes have the period of a rod; a twist goes into the joint."""
    scene = pl.Scene()
    body = rod(scene, (0, 0, 0), (0, 0, -1))
    body.torque((0, 0, 0.2))
    joint = scene.join(pl.Universal(pl.world, body, at=(0, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0)))
    sim = scene.simulate(dt=1 / 1000, solver=solver)
    sim.set_twist(body, (0, 0.05, 0), (0.1, 0, 0))
    sim.step(200)
    inertia = sim.model.body_inertia[0].max() + 0.25
    w = np.sqrt(G * 0.5 / inertia)
    expected = 0.1 / w * np.sin(w * 0.2)
    assert sim.joint_position(joint, "first") == pytest.approx(expected, rel=0.02)
    assert abs(sim.joint_position(joint, "second")) < 1e-3
    assert sim.reaction_torque(joint)[2] == pytest.approx(-0.2, abs=2e-3)


def test_universal_angles_are_those_of_its_axes():
    scene = pl.Scene(gravity=(0, 0, 0))
    body = block(scene)
    joint = scene.join(pl.Universal(pl.world, body, at=(0, 0, 0), axis=(0, 0, 1), second_axis=(1, 0, 0)))
    sim = scene.simulate(dt=1 / 100)
    first, second = 0.7, -0.4
    about_z = np.array([np.cos(first / 2), 0, 0, np.sin(first / 2)])
    about_x = np.array([np.cos(second / 2), np.sin(second / 2), 0, 0])
    w, v = about_z[0], about_z[1:]
    turn = np.array([w * about_x[0] - v @ about_x[1:], *(w * about_x[1:] + about_x[0] * v + np.cross(v, about_x[1:]))])
    sim.set_pose(body, (0, 0, 0), turn)
    assert sim.joint_position(joint, "first") == pytest.approx(first)
    assert sim.joint_position(joint, "second") == pytest.approx(second)


def test_planar_joint_glides(solver):
    scene = pl.Scene()
    body = block(scene, velocity=(1, 0.5, 0), angular_velocity=(0, 0, 2))
    joint = scene.join(pl.Planar(pl.world, body, at=(0, 0, 0), axis=(0, 0, 1), along=(1, 0, 0)))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(100)
    found = [sim.joint_position(joint, name) for name in ("first", "second", "angle")]
    assert found == pytest.approx([1, 0.5, 2], abs=1e-6)
    assert sim.reaction(joint) == pytest.approx([0, 0, G], abs=1e-6)


def test_points_on_lines_and_in_planes(solver):
    scene = pl.Scene()
    bead, puck = block(scene), block(scene, position=(0, 5, 0))
    scene.join(pl.OnLine(pl.world, bead, at=(0, 0, 0), axis=(1, 0, -1)))
    scene.join(pl.OnPlane(pl.world, puck, at=(0, 5, 0), axis=(1, 0, 1)))
    sim = scene.simulate(dt=1 / 200, solver=solver)
    sim.step(40)
    speed = G * 0.2 / 2  # g sin cos of 45 degrees, along x and down
    assert sim.twist(bead)[0] == pytest.approx([speed, 0, -speed], abs=1e-6)
    assert sim.twist(puck)[0] == pytest.approx([speed, 0, -speed], abs=1e-6)


def test_rope_holds_and_hangs_loose(solver):
    scene = pl.Scene()
    body = block(scene)
    rope = scene.join(pl.Rope(pl.world, body, at=((0, 0, 1), (0, 0, 0)), length=1.5))
    sim = scene.simulate(dt=1 / 200, solver=solver)
    sim.step(20)
    assert sim.twist(body)[0][2] == pytest.approx(-G * 0.1) and not sim.reaction(rope).any()
    sim.step(380)
    assert sim.pose(body)[0][2] == pytest.approx(-0.5, abs=1e-6)
    assert sim.reaction(rope) == pytest.approx([0, 0, G], rel=1e-3)


def test_spring_and_damper_oscillate_as_theory_says(solver):
    """x = e^(-c t / 2 m) (cos w t + ...) about the rest length plus m g / k."""
    k, c, t = 100.0, 2.0, 0.3
    scene = pl.Scene(gravity=(0, 0, 0))
    body = block(scene, position=(1.1, 0, 0))
    spring = pl.Spring(pl.world, body, at=((0, 0, 0), (1.1, 0, 0)), length=1.0, stiffness=k, damping=c)
    scene.join(spring)
    sim = scene.simulate(dt=1e-3, solver=solver)
    sim.step(300)
    decay, w = c / 2, np.sqrt(k - (c / 2) ** 2)
    expected = 1 + 0.1 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    assert sim.pose(body)[0][0] == pytest.approx(expected, abs=2e-3)


def test_damper_alone_slows_down(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    body = block(scene, position=(1, 0, 0), velocity=(1, 0, 0))
    scene.join(pl.Spring(pl.world, body, at=((0, 0, 0), (1, 0, 0)), stiffness=0, damping=5.0))
    sim = scene.simulate(dt=1e-3, solver=solver)
    sim.step(200)
    assert sim.twist(body)[0][0] == pytest.approx(np.exp(-1), rel=5e-3)


def test_torsion_spring_swings(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    body = block(scene, angular_velocity=(0, 0, 1))
    joint = scene.join(pl.Torsion(pl.world, body, at=(0, 0, 0), axis=(0, 0, 1), stiffness=0.5))
    sim = scene.simulate(dt=1e-3, solver=solver)
    sim.step(100)
    w = np.sqrt(0.5 / (1 / 6 * 0.2**2))
    assert sim.joint_position(joint) == pytest.approx(np.sin(w * 0.1) / w, rel=0.01)
    assert sim.energy().joints == pytest.approx(0.25 * sim.joint_position(joint) ** 2, rel=1e-6)


def test_gears_turn_in_their_ratio_and_balance_torques(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    one, two = block(scene), block(scene, position=(1, 0, 0))
    motor = pl.Motor(velocity=3.0)
    first = scene.join(pl.Hinge(pl.world, one, at=(0, 0, 0), axis=(0, 0, 1), motor=motor))
    second = scene.join(pl.Hinge(pl.world, two, at=(1, 0, 0), axis=(0, 0, 1)))
    scene.join(pl.Gear(first, second, -2.0))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(300)
    assert sim.joint_position(second) == pytest.approx(-2 * sim.joint_position(first), rel=1e-3)
    assert sim.joint_position(first) == pytest.approx(9.0, rel=2e-3)


def test_rack_and_screw_travel_as_they_turn(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    pinion, bar, nut = block(scene), block(scene, position=(0, 1, 0)), block(scene, position=(3, 0, 0))
    hinge = scene.join(pl.Hinge(pl.world, pinion, at=(0, 0, 0), axis=(0, 0, 1), motor=pl.Motor(velocity=2.0)))
    slider = scene.join(pl.Slider(pl.world, bar, at=(0, 1, 0), axis=(1, 0, 0)))
    scene.join(pl.Rack(hinge, slider, 0.1))
    motor = FREE(motor=pl.Motor(velocity=5.0))
    thread = scene.join(pl.Cylindrical(pl.world, nut, at=(3, 0, 0), axis=(0, 0, 1), angle=motor))
    scene.join(pl.Screw(thread, lead=0.02))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(200)
    assert sim.joint_position(slider) == pytest.approx(0.1 * sim.joint_position(hinge), rel=1e-3)
    turns = sim.joint_position(thread, "angle") / (2 * np.pi)
    assert sim.joint_position(thread, "travel") == pytest.approx(0.02 * turns, rel=1e-3) and turns > 1.5


def test_atwoods_machine(solver):
    """Two weights on a tendon over two pulleys: a = g (m2 - m1) / (m1 + m2), tension 2 m1 m2 g / (m1 + m2)."""
    scene = pl.Scene()
    one, two = block(scene, position=(-1, 0, 0), mass=1.0), block(scene, position=(1, 0, 0), mass=2.0)
    path = [(one, (-1, 0, 0)), (pl.world, (-1, 0, 2)), (pl.world, (1, 0, 2)), (two, (1, 0, 0))]
    tendon = scene.join(pl.Tendon(path))
    sim = scene.simulate(dt=1 / 200, solver=solver)
    sim.step(100)
    assert sim.twist(one)[0][2] == pytest.approx(G / 3 * 0.5, rel=1e-6)
    assert sim.reaction(tendon) == pytest.approx([0, 0, 4 / 3 * G], rel=1e-6)


def test_tendon_that_is_pulled_lifts_a_weight(solver):
    scene = pl.Scene()
    weight = block(scene, position=(1, 0, 0))
    path = [(pl.world, (0, 0, 1)), (pl.world, (1, 0, 1)), (weight, (1, 0, 0.1))]
    tendon = scene.join(pl.Tendon(path, length=lambda t: 1.9 - 0.2 * t))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(100)
    assert sim.pose(weight)[0][2] == pytest.approx(0.2, abs=1e-5)
    assert sim.reaction(tendon) == pytest.approx([0, 0, G], abs=1e-2)


def test_friction_holds_and_slides(solver):
    """A block on a slider at 45 degrees: friction above m g sin stays, below it slides with what is left."""
    for friction, acceleration in ((8.0, 0.0), (3.0, G / np.sqrt(2) - 3.0)):
        scene = pl.Scene()
        free = FREE(friction=friction)
        slider = scene.join(pl.Slider(pl.world, block(scene), at=(0, 0, 0), axis=(1, 0, 1), free=free))
        sim = scene.simulate(dt=1 / 200, solver=solver)
        sim.step(40)
        assert sim.joint_velocity(slider) == pytest.approx(-0.2 * acceleration, abs=2e-4)


def test_motor_of_a_slider_gives_what_it_may(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    motor = pl.Motor(velocity=10.0, max_force=2.0)
    slider = scene.join(pl.Slider(pl.world, block(scene), at=(0, 0, 0), axis=(1, 0, 0), motor=motor))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(100)
    assert sim.motor_effort(slider) == pytest.approx(2.0, rel=1e-9)
    assert sim.joint_velocity(slider) == pytest.approx(2.0, rel=1e-6)


def test_motors_are_set_while_running(solver, tmp_path):
    scene = pl.Scene(gravity=(0, 0, 0))
    body = block(scene)
    hinge = scene.join(pl.Hinge(pl.world, body, at=(0, 0, 0), axis=(0, 0, 1), motor=pl.Motor(velocity=1.0)))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(10)
    sim.set_motor(hinge, velocity=-2.0)
    sim.step(10)
    assert sim.joint_velocity(hinge) == pytest.approx(-2.0, rel=1e-3)
    sim.set_motor(hinge, position=0.5, stiffness=1e3, damping=1e2)
    sim.step(200)
    assert sim.joint_position(hinge) == pytest.approx(0.5, abs=1e-3)
    sim.checkpoint(tmp_path / "motor.npz")
    again = pl.resume(tmp_path / "motor.npz")
    assert again.scene.joints[0].motor.position == 0.5
    with pytest.raises(pl.SceneError, match="either a velocity or a position"):
        sim.set_motor(hinge, position=None)


def test_limits_bounce_and_give_way(solver):
    scene = pl.Scene(gravity=(0, 0, 0))
    bouncy = FREE(limits=(-1, 0.5), restitution=0.8)
    body = block(scene, velocity=(2, 0, 0))
    slider = scene.join(pl.Slider(pl.world, body, at=(0, 0, 0), axis=(1, 0, 0), free=bouncy))
    soft = FREE(limits=(-1, 0.0), limit_stiffness=100.0)
    other = block(scene, position=(0, 3, 0))
    other.force((5, 0, 0))
    yielding = scene.join(pl.Slider(pl.world, other, at=(0, 3, 0), axis=(1, 0, 0), free=soft))
    sim = scene.simulate(dt=1 / 200, solver=solver)
    sim.step(80)
    assert sim.joint_velocity(slider) == pytest.approx(-1.6, rel=1e-3)
    sim.step(1500)
    assert sim.joint_position(yielding) == pytest.approx(0.05, rel=0.2)


def test_swing_and_twist_of_a_ball_are_limited(solver):
    scene = pl.Scene()
    arm = rod(scene, (0, 0, 0), (0, 0, -1))
    arm.force((30, 0, 0))
    arm.torque((0, 0, 0.01))
    ball = scene.join(pl.Ball(pl.world, arm, at=(0, 0, 0), axis=(0, 0, 1), swing=0.5, twist=(-0.3, 0.3)))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    for _ in range(200):
        sim.step()
    direction = sim.pose(arm)[0]
    angle = np.arctan2(np.hypot(*direction[:2]), -direction[2])
    assert angle == pytest.approx(0.5, abs=2e-3)
    assert sim.joint_position(ball, "swing") == pytest.approx(angle, abs=1e-5)  # Dual: gaps
    assert sim.limit_state(ball, "swing") == "high" and sim.joint_position(ball, "twist") < 0.3 + 1e-3


def test_joints_break_and_stay_broken(solver, tmp_path):
    scene = pl.Scene()
    body = block(scene)
    joint = scene.join(pl.Ball(pl.world, body, at=(0, 0, 0.5), break_force=9.0))
    strong = scene.join(pl.Ball(pl.world, block(scene, (2, 0, 0)), at=(2, 0, 0.5), break_force=11.0))
    sim = scene.simulate(dt=1 / 100, solver=solver)
    sim.step(50)
    assert sim.is_broken(joint) and not sim.is_broken(strong)
    assert sim.twist(body)[0][2] == pytest.approx(-G * 0.49, rel=0.03)
    sim.checkpoint(tmp_path / "broken.npz")
    again = pl.resume(tmp_path / "broken.npz")
    sim.step(10)
    again.step(10)
    assert again.is_broken(again.scene.joints[0]) and np.array_equal(again.state.body_position, sim.state.body_position)


def test_explicit_and_eliminated_solvers_honour_what_joints_have():
    for solver in (pl.Explicit(), pl.Dual(eliminate=True)):
        test_atwoods_machine(solver)
        test_friction_holds_and_slides(solver)
        test_limits_bounce_and_give_way(solver)
        test_rack_and_screw_travel_as_they_turn(solver)


def test_attached_finger_bends_with_its_link_and_tears_off(tmp_path):
    """A soft block in a rigid cup follows it; a pull beyond what its nodes stand tears it off."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cup = scene.add_rigid(pl.Box((0.1, 0.2, 0.2)), mass=1.0, collide=False, velocity=(0, 0, 0.1))
    mesh = pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1))
    finger = scene.add_soft(mesh, pl.Material.corotated(1e5, 0.3, 1000), position=(-0.04, -0.05, -0.05), collide=False)
    joint = scene.join(pl.Attach(cup, finger, break_force=2.0))
    sim = scene.simulate(dt=1 / 100)
    assert len(np.flatnonzero(sim.model.joints.joint == 0)) == 4
    sim.step(50)
    root = finger.nodes.x < 0
    local = sim.positions(finger)[root] - sim.pose(cup)[0]
    distances = np.linalg.norm(local, axis=1)
    assert distances == pytest.approx(np.linalg.norm(finger.nodes.positions[root], axis=1), rel=1e-5)
    assert not sim.is_broken(joint)
    sim.set_twist(cup, (-5, 0, 0))
    sim.step(20)
    assert sim.is_broken(joint)


def test_soft_bodies_attached_along_their_faces_hold_together():
    scene = pl.Scene()
    rubber = pl.Material.corotated(1e5, 0.3, 1000)
    left = scene.add_soft(pl.meshes.box((0.2, 0.1, 0.1), cells=(4, 2, 2)), rubber, collide=False)
    mesh = pl.meshes.box((0.2, 0.1, 0.1), cells=(4, 4, 4))
    right = scene.add_soft(mesh, rubber, position=(0.2, 0, 0), collide=False)
    left.pin(left.nodes.x < 1e-9)
    scene.join(pl.Attach(left, right))
    sim = scene.simulate(dt=1 / 100)
    sim.step(100)
    corner = np.array([0.2, 0.1, 0.0])
    ends = [sim.positions(body)[np.linalg.norm(body.nodes.positions - corner, axis=1) < 1e-9] for body in (left, right)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
    assert sim.info.converged and ends[0][0, 2] < -0.01
