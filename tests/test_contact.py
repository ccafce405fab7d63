"""Contacts: resting heights, collisions, Coulomb friction, soft bodies against every shape, moving static bodies."""

import numpy as np
import pytest

import pliant as pl
from pliant.collide.things import combined_friction, combined_restitution
from pliant.rotations import rotation_matrix

G = 9.81
EXACT = pl.Dual(tolerance=1e-10)
HALF = np.sqrt(0.5)
UPRIGHT, LYING = (1, 0, 0, 0), (HALF, HALF, 0, 0)
SOFT = pl.Material.corotated(young=2e5, poisson=0.3, density=1000, damping=0.01)

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
CUBE = pl.Mesh(points=0.2 * CORNERS, triangles=np.array([t for a, b, c, d in SIDES for t in ([a, b, c], [a, c, d])]))


def run(scene, dt=1 / 240, steps=0, **options):
    sim = scene.simulate(dt=dt, solver=options.pop("solver", EXACT), threads=1, **options)
    return sim.step(steps)


# Rest

RESTING = {
    "sphere": (pl.Sphere(0.1), UPRIGHT, 0.1),
    "box": (pl.Box((0.2, 0.3, 0.2)), UPRIGHT, 0.1),
    "capsule": (pl.Capsule(0.1, 0.3), LYING, 0.1),
    "cylinder": (pl.Cylinder(0.1, 0.2), UPRIGHT, 0.1),
    "lying cylinder": (pl.Cylinder(0.1, 0.3), LYING, 0.1),
    "mesh": (CUBE, UPRIGHT, 0.0),
}


@pytest.mark.parametrize("name", RESTING)
def test_shapes_settle_on_a_plane_and_stay(name):
    """Dropped from 5 cm without restitution: rest at the height of the shape, and no drift (1 um in 200 steps)."""
    shape, rotation, height = RESTING[name]
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    body = scene.add_rigid(shape, density=1000, position=(0, 0, height + 0.05), rotation=rotation)
    sim = run(scene, 1 / 60, 60, solver=pl.Dual(tolerance=1e-8))
    settled, _ = sim.pose(body)
    assert settled[2] == pytest.approx(height, abs=1e-6)
    sim.step(200)
    assert np.abs(sim.pose(body)[0] - settled).max() < 1e-6
    # the impulses carry the weight: sum of normal impulses = m g h
    mass = body.mass_properties()[0]
    assert sim.contacts.impulses[:, 0].sum() == pytest.approx(mass * G / 60, rel=1e-6)


def test_column_of_spheres_stands():
    """Three spheres exactly above each other: radii add up, and contacts carry 3, 2 and 1 weights."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    balls = [scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 0.1 + 0.2 * k)) for k in range(3)]
    sim = run(scene, 1 / 60, 200)
    heights = [sim.pose(ball)[0][2] for ball in balls]
    assert np.allclose(heights, [0.1, 0.3, 0.5], atol=1e-6)
    assert np.allclose(np.sort(sim.contacts.impulses[:, 0]), np.array([1, 2, 3]) * G / 60, rtol=1e-6)


def test_a_deep_start_is_pushed_out_without_a_jump():
    """A sphere that starts 3 cm deep comes out at no more than the recovery speed of 1 m/s, and rests on the plane."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 0.07))
    sim = run(scene, 1 / 60)
    fastest = 0.0
    for _ in range(150):
        sim.step()
        fastest = max(fastest, np.abs(sim.twist(ball)[0]).max())
    assert fastest <= 1.0 + 1e-9
    assert sim.pose(ball)[0][2] == pytest.approx(0.1, abs=1e-6)


# Collisions

PAIRS = {
    "sphere-sphere": (pl.Sphere(0.1), pl.Sphere(0.2), UPRIGHT),
    "sphere-box": (pl.Sphere(0.1), pl.Box((0.4, 0.5, 0.6)), UPRIGHT),
    "sphere-capsule": (pl.Sphere(0.1), pl.Capsule(0.2, 0.5), UPRIGHT),
    "sphere-cylinder": (pl.Sphere(0.1), pl.Cylinder(0.2, 0.5), UPRIGHT),
    "capsule-capsule": (pl.Capsule(0.1, 0.5), pl.Capsule(0.2, 0.5), UPRIGHT),
    "crossed capsules": (pl.Capsule(0.1, 0.5), pl.Capsule(0.2, 0.5), LYING),
}


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", PAIRS)
def test_head_on_collisions(name, e):
    """m1 v1 + m2 v2 is kept and v2' - v1' = e (v1 - v2), exactly, for different masses (L 2.2.2)."""
    first, second, rotation = PAIRS[name]
    (m1, v1), (m2, v2) = (1.0, 2.0), (3.0, -0.5)
    scene = pl.Scene(gravity=(0, 0, 0))
    options = {"restitution": e, "friction": 0.3}
    a = scene.add_rigid(first, mass=m1, position=(-0.5, 0, 0), velocity=(v1, 0, 0), **options)
    b = scene.add_rigid(second, mass=m2, rotation=rotation, velocity=(v2, 0, 0), **options)
    sim = run(scene, 1 / 240, 80)
    common = (m1 * v1 + m2 * v2) / (m1 + m2)
    approach = v1 - v2
    assert np.allclose(sim.twist(a)[0], [common - e * m2 / (m1 + m2) * approach, 0, 0], atol=1e-9)
    assert np.allclose(sim.twist(b)[0], [common + e * m1 / (m1 + m2) * approach, 0, 0], atol=1e-9)
    assert np.allclose(sim.twist(a)[1], 0, atol=1e-9) and np.allclose(sim.twist(b)[1], 0, atol=1e-9)
    # they met at the surfaces: 0.3 between the axes, never closer by more than rounding
    distance = sim.pose(b)[0][0] - sim.pose(a)[0][0]
    assert distance >= 0.3 - 1e-9


@pytest.mark.parametrize("name", PAIRS)
def test_oblique_collisions_keep_all_momentum(name):
    """Off-centre with friction: linear and angular momentum about the origin are kept, and energy is not gained.

    Both sides use one contact point, so linear momentum holds to rounding; angular momentum moves with positions
    h v off the point of impact: zero because equal impulses act at one point.
    """
    first, second, rotation = PAIRS[name]
    scene = pl.Scene(gravity=(0, 0, 0))
    options = {"restitution": 0.7, "friction": 0.5}
    scene.add_rigid(first, mass=1, position=(-0.5, 0.07, 0.05), velocity=(2, 0.1, 0), **options)
    scene.add_rigid(second, mass=3, rotation=rotation, velocity=(-0.5, 0, 0), angular_velocity=(0, 0.5, 1), **options)
    sim = run(scene, 1 / 240)
    before, energy = sim.momentum(), sim.energy().kinetic
    sim.step(100)
    after = sim.momentum()
    assert len(sim.contacts.impulses) or sim.energy().kinetic < energy * (1 - 1e-6)  # they did touch
    assert np.allclose(after.linear, before.linear, atol=1e-12)
    assert np.allclose(after.angular, before.angular, atol=1e-9)
    assert sim.energy().kinetic <= energy * (1 + 1e-9)


def test_cradle_with_gaps():
    """RIG-24 (i): five equal balls with gaps and e = 1: only the last one leaves, with the first one's speed."""
    scene = pl.Scene(gravity=(0, 0, 0))
    balls = [
        scene.add_rigid(pl.Sphere(0.05), mass=1, position=(0.11 * k, 0, 0), restitution=1, friction=0) for k in range(5)
    ]
    balls[0].velocity = (1.0, 0.0, 0.0)
    sim = run(scene, 1e-3, 100)
    assert np.allclose([sim.twist(ball)[0][0] for ball in balls], [0, 0, 0, 0, 1], atol=1e-9)


# Friction


def sliding_box(degrees, friction="cone", velocity=(0, 0, 0), mu=0.3, **solver):
    """A box on a slope that falls in +x, in the axes of the slope."""
    angle = np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_rigid(pl.Plane(), static=True, friction=mu)
    box = scene.add_rigid(pl.Box((0.4, 0.4, 0.1)), density=500, position=(0, 0, 0.05), friction=mu, velocity=velocity)
    return scene.simulate(dt=1 / 240, solver=pl.Dual(tolerance=1e-9, friction=friction, **solver), threads=1), box


@pytest.mark.parametrize("method", ["mprgp", "pgs"])
def test_box_sticks_below_and_slides_above_the_friction_angle(method):
    """RIG-14: atan(0.3) = 16.69924 degrees; above it a = g (sin - mu cos), exact for a constant force."""
    for degrees in (16.5, 16.69):
        sim, box = sliding_box(degrees, method=method)
        sim.step(240)
        assert np.abs(sim.twist(box)[0]).max() < 1e-7 and np.abs(sim.pose(box)[0][:2]).max() < 1e-7
    for degrees in (16.71, 16.9, 25.0):
        sim, box = sliding_box(degrees, method=method)
        sim.step(240)
        angle = np.radians(degrees)
        assert sim.twist(box)[0][0] == pytest.approx(G * (np.sin(angle) - 0.3 * np.cos(angle)), rel=1e-5)
    assert sim.twist(box)[0][0] == pytest.approx(1.478621, rel=1e-5)


def test_box_stops_on_the_slope():
    """RIG-14: 3 m/s down 10 degrees with mu = 0.3 stops after 2.510879 s and 3.766319 m (1%), and stays."""
    sim, box = sliding_box(10, velocity=(3, 0, 0))
    stopped = None
    while stopped is None and sim.time < 3:
        sim.step()
        stopped = sim.time if sim.twist(box)[0][0] < 1e-6 else None
    assert stopped == pytest.approx(2.510879, abs=2 / 240)
    assert sim.pose(box)[0][0] == pytest.approx(3.766319, rel=0.01)
    where = sim.pose(box)[0][0]
    sim.step(60)
    assert sim.pose(box)[0][0] == pytest.approx(where, abs=1e-7)


@pytest.mark.parametrize("degrees", [0, 30, 45])
def test_cone_friction_has_no_preferred_direction(degrees):
    """RIG-14, note: on a level plane the speed falls by mu g t in every direction, and the direction stays."""
    a = np.radians(degrees)
    sim, box = sliding_box(0, velocity=(3 * np.cos(a), 3 * np.sin(a), 0))
    sim.step(120)
    velocity = sim.twist(box)[0]
    assert np.hypot(*velocity[:2]) == pytest.approx(3 - 0.3 * G * 0.5, rel=1e-6)
    assert np.degrees(np.arctan2(velocity[1], velocity[0])) == pytest.approx(degrees, abs=1e-4)


def test_box_friction_brakes_more_along_the_diagonal():
    """The box law bounds each tangent on its own: sqrt(2) mu g along the diagonal (41% more), mu g along an axis."""
    sim, box = sliding_box(0, "box", velocity=(3, 0, 0))
    sim.step(120)
    along = np.linalg.norm(sim.twist(box)[0])
    sim, box = sliding_box(0, "box", velocity=(3 * HALF, 3 * HALF, 0))
    sim.step(120)
    diagonal = np.linalg.norm(sim.twist(box)[0])
    assert along == pytest.approx(3 - 0.3 * G * 0.5, rel=1e-6)
    assert diagonal == pytest.approx(3 - np.sqrt(2) * 0.3 * G * 0.5, rel=1e-6)


@pytest.mark.parametrize(
    "shape, rotation, factor", [(pl.Sphere(0.1), UPRIGHT, 5 / 7), (pl.Cylinder(0.1, 0.3), LYING, 2 / 3)]
)
def test_slipping_turns_into_rolling(shape, rotation, factor):
    """RIG-15: v0 = 5, mu = 0.2: a ball rolls at 5/7 v0, a cylinder at 2/3 v0; v = v0 - mu g t until then."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.2)
    body = scene.add_rigid(
        shape, density=800, position=(0, 0, 0.1), rotation=rotation, velocity=(5, 0, 0), friction=0.2
    )
    sim = run(scene, 1 / 240, 96)
    assert sim.twist(body)[0][0] == pytest.approx(5 - 0.2 * G * 0.4, rel=1e-6)
    sim.step(144)
    velocity, spin = sim.twist(body)
    assert velocity[0] == pytest.approx(factor * 5, rel=1e-6)
    assert spin[1] == pytest.approx(factor * 50, rel=1e-6)  # v = w r
    assert sim.pose(body)[0][2] == pytest.approx(0.1, abs=1e-6)


def test_coefficients_combine():
    """Friction: geometric mean; restitution: the larger; None takes the other's, 0.5 and 0 when neither says."""
    nan = np.nan
    friction = combined_friction(np.array([0.4, 0.4, nan, nan, 0.0]), np.array([0.9, nan, 0.9, nan, 0.9]))
    assert np.allclose(friction, [0.6, 0.4, 0.9, 0.5, 0.0])
    restitution = combined_restitution(np.array([0.4, 0.4, nan, nan]), np.array([0.9, nan, 0.9, nan]))
    assert np.allclose(restitution, [0.9, 0.4, 0.9, 0.0])
    # and they reach the contact: a box on a plane brakes with sqrt(0.4 0.1) g = 0.2 g
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.1)
    box = scene.add_rigid(pl.Box((0.4, 0.4, 0.1)), mass=1, position=(0, 0, 0.05), velocity=(3, 0, 0), friction=0.4)
    assert run(scene, 1 / 240, 120).twist(box)[0][0] == pytest.approx(3 - 0.2 * G * 0.5, rel=1e-6)


# Soft bodies


def soft_cube_on_slope(degrees, steps, method="mprgp"):
    angle = np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_rigid(pl.Plane(), static=True, friction=0.3)
    cube = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), SOFT, position=(0, 0, 0), friction=0.3)
    sim = run(scene, 1 / 120, steps, solver=pl.Dual(method=method, tolerance=1e-8))
    return sim, cube


def centre_velocity(sim):
    return sim.momentum().linear / sim.model.node_mass.sum()


def test_soft_cube_sticks_or_slides():
    """CPL-09: mu = 0.3: at 25 degrees the centre accelerates with 1.478621 (2%), at 16 degrees it creeps < 1e-4 m/s."""
    sim, _ = soft_cube_on_slope(25, 60)
    start, time = centre_velocity(sim)[0], sim.time
    sim.step(60)
    assert (centre_velocity(sim)[0] - start) / (sim.time - time) == pytest.approx(1.478621, rel=0.02)
    sim, cube = soft_cube_on_slope(16, 240)
    assert abs(centre_velocity(sim)[0]) < 1e-4
    assert sim.positions(cube)[:, 2].min() > -1e-6


def test_soft_block_settles_on_a_plane_and_stays():
    """A dropped soft block comes to rest on the plane: no node below it, no drift, contact forces carry the weight."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=(2, 2, 1)), SOFT, position=(0, 0, 0.05))
    sim = run(scene, 1 / 60, 150, solver=pl.Dual(tolerance=1e-9))
    settled = sim.positions(block).copy()
    assert settled[:, 2].min() == pytest.approx(0, abs=1e-6)
    weight = 0.2 * 0.2 * 0.1 * 1000 * G
    assert sim.contacts.impulses[:, 0].sum() * 60 == pytest.approx(weight, rel=1e-4)
    # squeezed by its own weight: about rho g H^2 / (2 E) at the top, and not more than twice that
    sag = 0.1 - settled[:, 2].max()
    assert 0 < sag < 2 * 1000 * G * 0.1**2 / (2 * 2e5)
    sim.step(100)
    assert np.abs(sim.positions(block) - settled).max() < 1e-6


SUPPORTS = {
    # shape, its rotation and the height of its top
    "sphere": (pl.Sphere(0.5), UPRIGHT, 0.5),
    "box": (pl.Box((1, 1, 0.4)), UPRIGHT, 0.2),
    "capsule": (pl.Capsule(0.4, 1.0), LYING, 0.4),
    "cylinder": (pl.Cylinder(0.4, 1.0), UPRIGHT, 0.5),
}


@pytest.mark.parametrize("name", SUPPORTS)
def test_soft_nodes_meet_every_shape(name):
    """A soft block falls on a static shape: no node inside it, and the pushing impulses carry the weight."""
    shape, rotation, top = SUPPORTS[name]
    scene = pl.Scene()
    scene.add_rigid(shape, static=True, rotation=rotation, friction=1.0)
    mesh = pl.meshes.box((0.2, 0.2, 0.1), cells=(2, 2, 1))
    block = scene.add_soft(mesh, SOFT, position=(-0.1, -0.1, top + 0.02), friction=1.0)
    sim = run(scene, 1 / 120, 150, solver=pl.Dual(tolerance=1e-8))
    p = sim.positions(block)
    if name == "sphere":
        distance = np.linalg.norm(p, axis=1) - 0.5
    elif name == "box":
        distance = p[:, 2] - 0.2
    elif name == "capsule":
        distance = np.hypot(p[:, 0], p[:, 2]) - 0.4
    else:
        distance = p[:, 2] - 0.5
    # a node may close its gap along the tangent plane of the step before: (h v)^2 / (2 r) at the creeping speeds here
    assert distance.min() > -1e-5 and distance.min() < 1e-4
    assert np.abs(sim.velocities(block)).max() < 0.02  # at rest
    lifted = 0.2 * 0.2 * 0.1 * 1000 * G / 120
    assert sim.contacts.forces[:, 2].sum() / 120 == pytest.approx(lifted, rel=1e-3)


def test_soft_and_rigid_collide_with_equal_impulses():
    """A ball hits a free soft block in empty space: total linear momentum is kept to rounding."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), SOFT)
    ball = scene.add_rigid(pl.Sphere(0.1), mass=3, position=(0.4, 0.1, 0.1), velocity=(-2, 0, 0))
    sim = run(scene, 1 / 240)
    before = sim.momentum().linear
    sim.step(60)
    assert sim.twist(ball)[0][0] > -1.9  # it did hit
    assert np.allclose(sim.momentum().linear, before, atol=1e-9)


# Moving static bodies


def test_a_moving_box_pushes_and_a_belt_carries():
    """Static bodies with a velocity: a wall pushes a ball at its own speed; friction takes a box to the belt's."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, velocity=(0, 0.6, 0), friction=0.3)
    box = scene.add_rigid(pl.Box((0.3, 0.3, 0.1)), mass=1, position=(0, 0, 0.05), friction=0.3)
    sim = run(scene, 1 / 240, 24)
    assert sim.twist(box)[0][1] == pytest.approx(0.3 * G * 0.1, rel=1e-6)  # mu g t, until it moves with the belt
    sim.step(60)
    assert np.allclose(sim.twist(box)[0], [0, 0.6, 0], atol=1e-6)

    scene = pl.Scene(gravity=(0, 0, 0))
    wall = scene.add_rigid(pl.Box((0.1, 1, 1)), static=True, velocity=(0.5, 0, 0))
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.3, 0, 0))
    sim = run(scene, 1 / 60, 60)
    assert np.allclose(sim.twist(ball)[0], [0.5, 0, 0], atol=1e-9)
    assert sim.pose(wall)[0][0] == pytest.approx(0.5, abs=1e-12)
    assert sim.pose(ball)[0][0] - sim.pose(wall)[0][0] == pytest.approx(0.15, abs=1e-6)


def test_a_lift_carries_a_soft_block():
    """A plane that rises with a function of time lifts a soft block with it: v = 0.2 sin^2 reaches 0.2 m/s smoothly."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, velocity=lambda t: (0, 0, 0.2 * np.sin(min(t, 0.5) * np.pi) ** 2))
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=(2, 2, 1)), SOFT)
    sim = run(scene, 1 / 120, 120, solver=pl.Dual(tolerance=1e-8))
    assert centre_velocity(sim)[2] == pytest.approx(0.2, abs=2e-3)
    # the plane rose by the sum of h v(t_k), taken at the ends of the steps
    rise = sum(0.2 * np.sin(min(k / 120, 0.5) * np.pi) ** 2 for k in range(1, 121)) / 120
    assert sim.positions(block)[:, 2].min() == pytest.approx(rise, abs=1e-4)


def test_a_turning_plate_throws_by_its_surface_speed():
    """A static box that turns about z carries a block standing on it by friction: v = w x r for a small rate."""
    scene, rate = pl.Scene(), 0.5
    scene.add_rigid(
        pl.Box((4, 4, 0.2)), static=True, position=(0, 0, -0.1), angular_velocity=(0, 0, rate), friction=1.0
    )
    ball = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=1), SOFT, position=(0.9, -0.1, 0), friction=1.0)
    sim = run(scene, 1 / 120, 120, solver=pl.Dual(tolerance=1e-8))
    middle = sim.positions(ball).mean(axis=0)
    assert np.allclose(centre_velocity(sim), rate * np.array([-middle[1], middle[0], 0]), atol=0.02 * rate)
    assert np.hypot(middle[0], middle[1]) == pytest.approx(1.0, rel=0.01)  # it does not slide off


# What is not available


SHAPES = {
    "sphere": pl.Sphere(0.1),
    "box": pl.Box((0.2, 0.2, 0.2)),
    "capsule": pl.Capsule(0.08, 0.1),
    "cylinder": pl.Cylinder(0.1, 0.2),
    "cone": pl.Cone(0.1, 0.2),
    "hull": pl.Hull(points=0.1 * np.array([[1, 0, 0], [-1, 1, 0], [-1, -1, 0], [0, 0, 1.5], [0, 0, -0.8]])),
    "mesh": CUBE,
}


@pytest.mark.parametrize("upper", SHAPES)
@pytest.mark.parametrize("lower", SHAPES)
def test_every_shape_stops_on_every_other(upper, lower):
    """Dropped on one that is held still, a shape does not fall through it, and nothing is gained."""
    scene = pl.Scene()
    scene.add_rigid(SHAPES[lower], static=True, friction=0.9)
    falling = scene.add_rigid(SHAPES[upper], density=1000, position=(0.004, 0.003, 0.6), velocity=(0, 0, -3))
    sim = scene.simulate(dt=1 / 60)
    start = sim.energy().total
    touched = False
    for _ in range(30):
        sim.step()
        touched |= sim.contacts.count > 0 or sim.energy().total < 0.99 * start
        assert sim.energy().total <= start + 1e-6 * abs(start)
        assert sim.contacts.gaps.min(initial=0.0) > -2e-4  # a thousandth of its size
        if abs(sim.pose(falling)[0][0]) > 0.1 or abs(sim.pose(falling)[0][1]) > 0.1:
            break  # rolled off
        assert sim.pose(falling)[0][2] > 0.02
    assert touched


def test_joined_bodies_do_not_collide_unless_asked():
    """Two overlapping balls on one joint hang together; with collide=True they push apart."""
    for collide in (False, True):
        scene = pl.Scene(gravity=(0, 0, 0))
        a = scene.add_rigid(pl.Sphere(0.1), mass=1)
        b = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.15, 0, 0))
        scene.join(pl.Ball(a, b, at=(0.15, 0, 0), compliance=1e-3, collide=collide))
        sim = run(scene, 1 / 60, 30)
        apart = np.linalg.norm(sim.pose(b)[0] - sim.pose(a)[0])
        assert (apart > 0.16) == collide


def test_contact_frame_follows_a_turned_plane():
    """The plane's normal turns with the body: a ball rests on a slope given by rotation as on one given by normal."""
    angle = np.radians(20)
    rotation = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    normal = rotation_matrix(rotation) @ [0, 0, 1]
    results = []
    for plane, turn in ((pl.Plane(), rotation), (pl.Plane(normal), UPRIGHT)):
        scene = pl.Scene()
        scene.add_rigid(plane, static=True, rotation=turn, friction=1)
        ball = scene.add_rigid(pl.Sphere(0.1), density=1000, position=0.1 * normal, friction=1)
        sim = run(scene, 1 / 240, 120)
        results.append(np.concatenate([sim.pose(ball)[0], *sim.twist(ball)]))
    assert np.allclose(results[0], results[1], atol=1e-9)
    # rolls with 5/7 g sin(angle)
    assert np.linalg.norm(results[0][3:6]) == pytest.approx(5 / 7 * G * np.sin(angle) * 0.5, rel=1e-6)


def test_a_moving_wall_that_reaches_into_the_ground_is_no_contact():
    """Nothing moves what goes as it is told: steps converge, and only the ball that is pushed along touches."""
    scene = pl.Scene(overlaps="refuse")
    wall = scene.add_rigid(pl.Box((0.2, 2, 2)), static=True, velocity=(1, 0, 0), friction=0)
    ground = scene.add_rigid(pl.Plane(), static=True, friction=0)
    block = pl.meshes.box((0.3, 0.3, 0.3), cells=1).surface()
    mesh = pl.Mesh(points=block.points, triangles=block.triangles)
    scene.add_rigid(mesh, static=True, position=(-0.5, -0.5, -0.1), angular_velocity=(0, 0, 1))
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.5, 0, 0.1), friction=0)
    sim = scene.simulate(1 / 60)
    pairs = set()
    for _ in range(60):
        assert sim.step().info.converged
        pairs |= {frozenset(both) for both in sim.contacts.bodies}
    assert pairs == {frozenset((wall, ball)), frozenset((ground, ball))}
    assert sim.pose(ball)[0][0] >= 1.0 + 0.1 + 0.1 - 1e-3
