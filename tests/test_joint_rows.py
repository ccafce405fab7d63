"""Joint rows: Jacobians against finite differences, drift, compliance, reactions, soft attachments (BV appendix A)."""

import numpy as np
import pytest

import pliant as pl
from pliant.kernels import joints as families
from pliant.model.build import build
from pliant.rotations import multiply_quaternions
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows

BLOCK = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)


def everything_joined():
    """A scene with every kind of joint between rigid bodies, soft bodies and the world."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), BLOCK, name="soft")
    other = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), BLOCK, position=(1.1, 0, 0), name="other")
    a = scene.add_rigid(pl.Box((0.3, 0.2, 0.1)), density=700, position=(0.5, 0.4, 1.2), collide=False, name="a")
    b = scene.add_rigid(pl.Capsule(0.1, 0.5), density=900, position=(0.9, 0.4, 1.5), collide=False, name="b")
    sides = [(a, b), (a, pl.world), (a, soft), (pl.world, soft), (soft, other), (b, soft)]
    for one, two in sides:
        scene.join(pl.Ball(one, two, at=(0.9, 0.45, 1.25)))
        scene.join(pl.Distance(one, two, at=((0.6, 0.4, 1.1), (0.9, 0.9, 1.3))))
        scene.join(pl.Fixed(one, two, at=(0.9, 0.45, 1.1)))
        place, axis = (0.9, 0.45, 1.1), (0.2, 0.3, 1)
        free = pl.Coordinate(limits=(-0.2, 0.3), friction=1.0, stiffness=2.0, motor=pl.Motor(velocity=0.0))
        scene.join(pl.Ball(one, two, at=place, axis=axis, swing=0.2, twist=(-0.1, 0.2)))
        scene.join(pl.Rope(one, two, at=((0.6, 0.4, 1.1), (0.9, 0.9, 1.3))))
        scene.join(pl.Spring(one, two, at=((0.6, 0.4, 1.1), (0.9, 0.9, 1.3)), stiffness=0, damping=3))
        scene.join(pl.Hinge(one, two, at=place, axis=axis, free=free))
        scene.join(pl.Slider(one, two, at=place, axis=axis, free=free))
        scene.join(pl.Cylindrical(one, two, at=place, axis=axis, travel=free, angle=free))
        scene.join(pl.Universal(one, two, at=place, axis=(0, 0, 1), second_axis=(1, 1, 0), first=free, second=free))
        scene.join(pl.Planar(one, two, at=place, axis=axis, first=free, second=free, angle=free))
        scene.join(pl.OnLine(one, two, at=place, axis=axis, travel=free))
        scene.join(pl.OnPlane(one, two, at=place, axis=axis))
        scene.join(pl.Torsion(one, two, at=place, axis=axis, stiffness=2.0, damping=1.0))
    return scene


def errors_and_rows(model, x, position, rotation, h=1.0):
    rows, near = Rows.empty(model.joints.start), np.zeros(max(len(model.joints.free.kind), 1))
    return joint_rows.fill(model.joints, rows, (near, x, position, rotation), h), rows


def turn(rotation, w):
    """Rotations (b, 4) turned by the rotation vectors w (b, 3)."""
    angle = np.linalg.norm(w, axis=1, keepdims=True)
    step = np.hstack([np.cos(angle / 2), np.sin(angle / 2) * w / angle])
    return np.array([multiply_quaternions(s, q) for s, q in zip(step, rotation)])


def row_velocities(rows, u):
    """J u of every row (slices, 3, LANES), by plain loops."""
    result = np.zeros(rows.target.shape)
    for s in range(rows.slices):
        for entry in range(rows.start[s], rows.start[s + 1]):
            for lane in range(result.shape[2]):
                result[s, :, lane] += rows.jacobian[entry, :, lane].reshape(3, 3) @ u[rows.triples[entry, lane]]
    return result


def test_jacobians_of_all_joints_match_finite_differences():
    """J u = dC/dt for every joint between every two kinds of things, in a deformed and displaced state."""
    rng = np.random.default_rng(0)
    model, state = build(everything_joined())
    x = state.x + 0.1 * rng.normal(size=state.x.shape)
    position = state.body_position + 0.1 * rng.normal(size=state.body_position.shape)
    rotation = turn(state.body_rotation, 0.3 * rng.normal(size=(model.body_count, 3)))
    u = rng.normal(size=(model.triple_count, 3))
    n, step = model.node_count, 1e-6
    _, rows = errors_and_rows(model, x, position, rotation)
    found = row_velocities(rows, u)

    def moved(s):
        return errors_and_rows(model, x + s * u[:n], position + s * u[n::2], turn(rotation, s * u[n + 1 :: 2]))[0]

    expected = (moved(step) - moved(-step)) / (2 * step)
    assert np.abs(found - expected).max() < 1e-7
    assert set(families.ROLE) - set(model.joints.family) == {families.COUPLING}


def test_weld_rotation_rows_match_finite_differences_at_rest():
    """At the rest orientation the rotation vector of a weld changes with the relative angular velocity."""
    rng = np.random.default_rng(1)
    scene = pl.Scene()
    a = scene.add_rigid(pl.Box((1, 2, 3)), mass=1, rotation=(0.9, 0.1, 0.2, -0.4), collide=False)
    b = scene.add_rigid(pl.Box((3, 1, 2)), mass=2, rotation=(0.2, -0.5, 0.2, 0.4), position=(2, 0, 0), collide=False)
    scene.join(pl.Fixed(a, b, at=(1, 0, 0)))
    model, state = build(scene)
    u = rng.normal(size=(4, 3))
    error, rows = errors_and_rows(model, state.x, state.body_position, state.body_rotation)
    assert np.abs(error).max() < 1e-12
    step = 1e-6
    plus = errors_and_rows(
        model, state.x, state.body_position + step * u[::2], turn(state.body_rotation, step * u[1::2])
    )[0]
    minus = errors_and_rows(
        model, state.x, state.body_position - step * u[::2], turn(state.body_rotation, -step * u[1::2])
    )[0]
    assert np.allclose(row_velocities(rows, u), (plus - minus) / (2 * step), atol=1e-8)


def test_joints_start_satisfied_with_any_offset_from_the_surface():
    """BV eq. 54: barycentric coordinates plus an offset along the face normal reproduce the anchor exactly."""
    model, state = build(everything_joined())
    error, _ = errors_and_rows(model, state.x, state.body_position, state.body_rotation)
    assert np.abs(error[: model.joints.equality_slices]).max() < 1e-12
    faces = model.joints.a.kind == families.FACE
    assert np.abs(model.joints.a.offset[faces]).max() > 0.01


def test_a_joint_keeps_momentum_of_soft_and_rigid_together():
    """Internal forces of a rigid-soft ball joint with an offset anchor sum to zero, and so do their torques."""
    scene = pl.Scene(gravity=(0, 0, 0))
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), BLOCK)
    ball = scene.add_rigid(pl.Sphere(0.2), density=1000, position=(0.5, 0.5, 1.6), velocity=(1, 0, 0), collide=False)
    scene.join(pl.Ball(ball, soft, at=(0.5, 0.5, 1.3)))
    sim = scene.simulate(dt=1e-3, solver=pl.Dual(tolerance=1e-12))
    before = sim.momentum()
    sim.step(100)
    after = sim.momentum()
    assert np.allclose(after.linear, before.linear, atol=1e-9 * np.abs(before.linear).max())
    # implicit Euler loses angular momentum at O(h) only; 100 steps of 1 ms stay within a percent
    assert np.allclose(after.angular, before.angular, atol=1e-2 * np.abs(before.angular).max())
    gap = sim.pose(ball)[0]
    assert np.all(np.isfinite(gap))


def test_compliant_ball_joint_sags_by_compliance_times_weight():
    """Static balance: sag = compliance * m g."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=2.0)
    scene.join(pl.Ball(pl.world, ball, at=(0, 0, 0), compliance=1e-3, damping=100.0))
    sim = scene.simulate(dt=1 / 60, solver=pl.Dual(tolerance=1e-10))
    sim.step(300)
    assert sim.pose(ball)[0][2] == pytest.approx(-1e-3 * 2.0 * 9.81, rel=1e-6)


def test_reaction_of_a_hanging_weight():
    """A ball joint, a distance joint and a weld each carry m g upwards at rest; side b is the hanging body."""
    for joint in ("ball", "distance", "fixed"):
        scene = pl.Scene()
        ball = scene.add_rigid(pl.Sphere(0.1), mass=3.0)
        if joint == "ball":
            made = scene.join(pl.Ball(pl.world, ball, at=(0, 0, 0.5)))
        elif joint == "distance":
            made = scene.join(pl.Distance(pl.world, ball, at=((0, 0, 1), (0, 0, 0))))
        else:
            made = scene.join(pl.Fixed(pl.world, ball, at=(0, 0, 0.3)))
        sim = scene.simulate(dt=1 / 60, solver=pl.Dual(tolerance=1e-12))
        sim.step(10)
        assert np.allclose(sim.reaction(made), [0, 0, 3 * 9.81], atol=1e-6), joint


def test_distance_joint_keeps_its_length_while_swinging():
    """A pendulum on a distance joint: the length stays within 0.1% at 1 kHz."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1.0, position=(1, 0, 0))
    scene.join(pl.Distance(pl.world, ball, at=((0, 0, 0), (1, 0, 0))))
    sim = scene.simulate(dt=1e-3, solver=pl.Dual(tolerance=1e-10))
    for _ in range(10):
        sim.step(100)
        assert np.linalg.norm(sim.pose(ball)[0]) == pytest.approx(1.0, abs=1e-3)


def test_welded_bodies_keep_their_relative_pose():
    """Two welded boxes tumble as one: relative orientation and distance hold."""
    scene = pl.Scene(gravity=(0, 0, 0))
    a = scene.add_rigid(pl.Box((1, 0.2, 0.2)), density=500, angular_velocity=(1, 2, 3))
    b = scene.add_rigid(pl.Box((0.2, 0.2, 0.5)), density=800, position=(0.5, 0, 0.3), rotation=(0.9, 0.1, 0.3, 0))
    scene.join(pl.Fixed(a, b, at=(0.5, 0, 0.1)))
    sim = scene.simulate(dt=1e-3, solver=pl.Dual(tolerance=1e-10))

    def relative():
        (pa, qa), (pb, qb) = sim.pose(a), sim.pose(b)
        return np.linalg.norm(pb - pa), multiply_quaternions(qa * [1, -1, -1, -1], qb)

    distance, rotation = relative()
    sim.step(1000)
    assert relative()[0] == pytest.approx(distance, abs=1e-3)
    assert abs(relative()[1] @ rotation) == pytest.approx(1.0, abs=1e-5)


def test_glued_nodes_follow_the_rigid_body():
    """Fixed(rigid, soft, nodes=...): the glued face moves with the rigid body."""
    scene = pl.Scene(gravity=(0, 0, 0))
    soft = scene.add_soft(pl.meshes.box((1, 0.3, 0.3), cells=(3, 1, 1)), BLOCK)
    plate = scene.add_rigid(pl.Box((0.1, 0.3, 0.3)), static=True, position=(1.05, 0.15, 0.15), velocity=(0.5, 0, 0))
    soft.pin(soft.nodes.x < 1e-9)
    scene.join(pl.Fixed(plate, soft, at=(1, 0, 0), nodes="x > 0.99"))
    sim = scene.simulate(dt=0.01, solver=pl.Dual(tolerance=1e-8))
    sim.step(50)
    end = soft.nodes.x > 0.99
    assert np.allclose(sim.positions(soft)[end][:, 0], 1.25, atol=1e-4)
    assert sim.stress(soft)[:, 0].min() > 0


def test_bad_joints_are_named():
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1)
    with pytest.raises(pl.SceneError, match="length zero"):
        scene.join(pl.Distance(pl.world, ball, at=((0, 0, 0), (0, 0, 0))))
        scene.simulate(dt=0.01)
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1)
    with pytest.raises(pl.SceneError, match="one of a and b must be a soft body"):
        scene.join(pl.Fixed(pl.world, ball, at=(0, 0, 0), nodes="x > 0"))
