"""The scene as a user says it in Python: what bad input is told, and exact mass properties."""

import math
import re

import numpy as np
import pytest

import pliant as pl
from pliant.checks import at_time, unit_quaternion, unit_vector
from pliant.scene import selections
from pliant.scene.bodies import inertia_matrix
from pliant.scene.materials import LAWS

RUBBER = pl.Material.corotated(young=1e6, poisson=0.4, density=1000)


def small_box():
    return pl.meshes.box((1, 1, 1), cells=(2, 2, 2))


def tetrahedron(edge=1.0):
    points = edge * np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return pl.Mesh(points=points, triangles=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def soft_body(**options):
    return pl.Scene().add_soft(small_box(), RUBBER, name="cube", **options)


def ball(**options):
    return pl.Scene().add_rigid(pl.Sphere(1), name="ball", **({"mass": 1} | options))


BAD_INPUT = {
    "gravity size": (lambda: pl.Scene(gravity=(0, 1)), "gravity must be 3 finite numbers, got (0, 1)"),
    "gravity text": (lambda: pl.Scene(gravity="down"), "gravity must be 3 finite numbers, got 'down'"),
    "gravity nan": (lambda: pl.Scene(gravity=(0, 0, math.nan)), "gravity must be 3 finite numbers"),
    "no mesh": (lambda: pl.Scene().add_soft("box", RUBBER), "the mesh of a soft body must be a pliant.meshes.TetMesh"),
    "no material": (
        lambda: pl.Scene().add_soft(small_box(), "rubber"),
        "the material of a soft body must be a pliant.Material",
    ),
    "no shape": (
        lambda: pl.Scene().add_rigid(1.0),
        "one of the shapes Sphere, Box, Capsule, Cylinder, Cone, Plane, Mesh, Hull",
    ),
    "rotation": (lambda: ball(rotation=(0, 0, 0, 0)), "rotation must be a quaternion (w, x, y, z) of non-zero length"),
    "rotation size": (lambda: ball(rotation=(0, 0, 1)), "rotation must be 4 finite numbers, got (0, 0, 1)"),
    "position": (lambda: ball(position=(0, 0, math.inf)), "position must be 3 finite numbers"),
    "huge integer": (lambda: ball(mass=10**400), "mass must be a finite number"),
    "friction": (lambda: ball(friction=-0.1), "friction must be a finite number in [0, inf[, got -0.1"),
    "restitution": (lambda: ball(restitution=1.5), "restitution must be a finite number in [0, 1], got 1.5"),
    "name": (lambda: pl.Scene().add_rigid(pl.Sphere(1), mass=1, name="../a"), "name must be up to 100 letters"),
    "name type": (lambda: pl.Scene().add_rigid(pl.Sphere(1), mass=1, name=7), "got 7"),
    "name world": (lambda: pl.Scene().add_rigid(pl.Sphere(1), mass=1, name="world"), "name 'world' is taken"),
    "no mass": (lambda: pl.Scene().add_rigid(pl.Sphere(1)), "needs either density=... [kg/m3] or mass=... [kg]"),
    "two masses": (lambda: ball(density=3), "needs either density=... [kg/m3] or mass=... [kg] (or static=True)"),
    "mass": (lambda: ball(mass=0), "mass must be a finite number in ]0, inf[, got 0"),
    "density": (lambda: ball(mass=None, density=-1), "density must be a finite number in ]0, inf[, got -1"),
    "moving plane": (lambda: pl.Scene().add_rigid(pl.Plane(), mass=1), "a plane is infinite: add it with static=True"),
    "function velocity": (lambda: ball(velocity=lambda t: (t, 0, 0)), "velocity must be 3 finite numbers"),
    "inertia shape": (lambda: ball(inertia=[1, 2]), "inertia must be one number, three moments or a symmetric 3x3"),
    "inertia of no body": (
        lambda: ball(inertia=[1, 1, 3]),
        "larger than the other two together; they are [1.0, 1.0, 3.0]",
    ),
    "inertia sign": (lambda: ball(inertia=[1, 2, -3]), "positive definite, its principal moments are [-3.0, 1.0, 2.0]"),
    "force function": (lambda: ball().force(lambda t: (t, 0)), "force at time 0 must be 3 finite numbers"),
    "force at": (lambda: ball().force((0, 0, 1), at=(1, 2)), "force at must be 3 finite numbers"),
    "torque": (lambda: ball().torque(3), "torque must be 3 finite numbers, got 3"),
    "pin axes": (lambda: soft_body().pin([0], axes="xw"), "pin axes must be letters of 'xyz', got 'xw'"),
    "pin velocity": (lambda: soft_body().pin([0], velocity=(1, 2)), "pin velocity must be 3 finite numbers"),
    "empty pin": (lambda: soft_body().pin("x > 5"), "pin of 'cube' selects no node; its nodes lie between [0.0"),
    "mask size": (lambda: soft_body().pin(np.ones(5, bool)), "the mask has 5 entries for 27 nodes"),
    "node range": (lambda: soft_body().pin([30]), "node indices must be in 0..26, got [30]"),
    "pin floats": (lambda: soft_body().pin([0.5]), "pin must be a mask, node indices, a selection or a comparison"),
    "force nodes": (lambda: soft_body().force("x > 5", (0, 0, 1)), "force of 'cube' selects no node"),
    "no set": (lambda: soft_body().pin(selections.InSet("left")), "the mesh has no node set 'left'; it has: none"),
    "where": (lambda: selections.Where("x < y"), "'x < y' is not understood; allowed: comparisons of x, y, z"),
    "where code": (lambda: selections.Where("__import__('os')"), "is not understood; allowed"),
    "select box": (lambda: selections.InBox((0, 0), (1, 1, 1)), "selection box low must be 3 finite numbers"),
    "select ball": (
        lambda: selections.InSphere((0, 0, 0), -1),
        "selection sphere radius must be a finite number",
    ),
    "half-space": (lambda: selections.InHalfSpace((0, 0, 0), (0, 0, 0)), "half-space normal must be a direction"),
    "sphere": (lambda: pl.Sphere(0), "sphere radius must be a finite number in ]0, inf[, got 0"),
    "box": (lambda: pl.Box((1, 2, 0)), "box size must be 3 positive lengths, got (1, 2, 0)"),
    "capsule": (lambda: pl.Capsule(-1, 1), "capsule radius must be a finite number in ]0"),
    "cylinder": (lambda: pl.Cylinder(1, 0), "cylinder length must be a finite number in ]0"),
    "plane": (lambda: pl.Plane((0, 0, 0)), "plane normal must be a direction of non-zero length"),
    "mesh": (lambda: pl.Mesh(), "a mesh shape takes either a path or points and triangles"),
    "law": (lambda: pl.Material("jelly", 1, 0.3, 1), f"material law must be one of {', '.join(LAWS)}, got 'jelly'"),
    "young": (lambda: pl.Material.linear(0, 0.3, 1), "young must be a finite number in ]0, inf[, got 0"),
    "young text": (lambda: pl.Material.linear("stiff", 0.3, 1), "young must be a number, got 'stiff'"),
    "poisson": (lambda: pl.Material.linear(1, 0.6, 1), "poisson must be a finite number in ]-1, 0.5], got 0.6"),
    "incompressible": (lambda: pl.Material.linear(1, 0.5, 1), "poisson must be below 0.5 (incompressible"),
    "damping": (lambda: pl.Material.linear(1, 0.3, 1, damping=-1), "damping must be a finite number in [0, inf["),
    "plasticity": (lambda: pl.Material.linear(1, 0.3, 1, plasticity=0.1), "plasticity must be a pliant.Plasticity"),
    "yield": (lambda: pl.Plasticity(-1, 0, 0), "plasticity yield_strain must be a finite number in [0, inf["),
    "keyframes order": (lambda: pl.Keyframes((1, 0), ((0, 0, 0),) * 2), "at least two times, in ascending order"),
    "keyframes count": (lambda: pl.Keyframes((0, 1), ((0, 0, 0),)), "and a value for each"),
    "keyframes nan": (lambda: pl.Keyframes((0, math.nan), ((0, 0, 0),) * 2), "keyframe time must be a finite number"),
    "keyframes value": (lambda: pl.Keyframes((0, 1), ((0, 0, 0), (1, 2))), "keyframe value must be 3 finite numbers"),
    "joint at": (lambda: pl.Ball(ball(), pl.world, (1, 2)), "ball joint at must be 3 finite numbers, got (1, 2)"),
    "joint itself": (lambda: pl.Ball(pl.world, pl.world, (0, 0, 0)), "needs two different things, got pliant.world"),
    "joint compliance": (lambda: pl.Ball(ball(), pl.world, (0, 0, 0), compliance=-1), "ball joint compliance must be"),
    "joint name": (lambda: pl.Ball(ball(), pl.world, (0, 0, 0), name="a/b"), "ball joint name must be up to 100"),
    "distance at": (lambda: pl.Distance(ball(), pl.world, 3), "distance joint at must be two points, got 3"),
    "distance length": (lambda: pl.Distance(ball(), pl.world, ((0, 0, 0),) * 2, 0), "distance joint length must be"),
    "no joint": (
        lambda: pl.Scene().join("glue"),
        "join needs one of the joints ball, fixed, distance, rope",
    ),
    "find": (lambda: pl.Scene().find("ball"), "no body is named 'ball'; there are: none"),
    "solver": (lambda: pl.Dual(method="magic"), "Dual method must be one of 'mprgp', 'pgs', got 'magic'"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_told_what_is_allowed(case):
    act, message = BAD_INPUT[case]
    with pytest.raises(pl.SceneError, match=re.escape(message)):
        act()


def test_open_mesh_shape_is_refused():
    with pytest.raises(pl.MeshError, match="open"):
        pl.Mesh(points=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 2]])


def test_names_are_unique_and_made_when_missing():
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(1), mass=1, name="rigid0")
    assert scene.add_rigid(pl.Sphere(1), mass=1).name == "rigid1"
    with pytest.raises(pl.SceneError, match="body name 'rigid0' is taken"):
        scene.add_rigid(pl.Sphere(1), mass=1, name="rigid0")
    first = scene.join(pl.Ball(scene.bodies[0], pl.world, (0, 0, 0)))
    assert first.name == "joint0"
    with pytest.raises(pl.SceneError, match="joint name 'joint0' is taken"):
        scene.join(pl.Ball(scene.bodies[1], pl.world, (0, 0, 0), name="joint0"))


def test_joint_with_a_body_of_another_scene_is_refused():
    with pytest.raises(pl.SceneError, match="which is not in this scene"):
        pl.Scene().join(pl.Ball(ball(), pl.world, (0, 0, 0)))


def test_joint_nodes_need_one_soft_body_that_has_them():
    scene = pl.Scene()
    cube = scene.add_soft(small_box(), RUBBER, name="cube")
    weight = scene.add_rigid(pl.Sphere(1), mass=1)
    with pytest.raises(pl.SceneError, match="joint nodes of 'cube' selects no node"):
        scene.join(pl.Fixed(cube, weight, (0, 0, 0), nodes="x > 5"))
    with pytest.raises(pl.SceneError, match="one of a and b must be a soft body"):
        scene.join(pl.Fixed(weight, pl.world, (0, 0, 0), nodes="x > 5"))
    assert scene.join(pl.Fixed(cube, weight, (0, 0, 0), nodes="x < 0.1")).name == "joint0"


def test_selections_pick_the_nodes_they_say():
    cube = soft_body(position=(10, 0, 0))
    x, y, z = cube.nodes.x, cube.nodes.y, cube.nodes.z
    kinds = {
        "x <= 10 and z > 0.4": (x <= 10) & (z > 0.4),
        selections.InBox((10, 0, 0), (10.5, 0.5, 0)): (x <= 10.5) & (y <= 0.5) & (z <= 0),
        selections.InSphere((10, 0, 0), 0.5): (x - 10) ** 2 + y**2 + z**2 <= 0.25,
        selections.InHalfSpace((10.5, 0, 0), (2, 0, 0)): x >= 10.5,
    }
    for selection, mask in kinds.items():
        picked = cube.select(selections.as_selection(selection, "test"), "test")
        assert picked.tolist() == np.flatnonzero(mask).tolist()
    assert cube.select(selections.as_selection([3, 1, 3], "test"), "test").tolist() == [1, 3]


def test_keyframes_are_linear_between_and_constant_outside():
    keyframes = pl.Keyframes((1, 3), ((0, 0, 0), (4, -2, 1)))
    for time, value in ((0, (0, 0, 0)), (2, (2, -1, 0.5)), (9, (4, -2, 1))):
        assert at_time(keyframes, time).tolist() == list(value)


def test_lame_parameters():
    # E = mu (3 lam + 2 mu) / (lam + mu), nu = lam / (2 (lam + mu))
    lam, mu = RUBBER.lame
    assert mu * (3 * lam + 2 * mu) / (lam + mu) == pytest.approx(1e6, rel=1e-14)
    assert lam / (2 * (lam + mu)) == pytest.approx(0.4, rel=1e-14)


def test_normalising_twice_changes_nothing():
    rng = np.random.default_rng(1)
    for components in rng.normal(size=(2000, 4)) * 10.0 ** rng.uniform(-5, 5, size=(2000, 1)):
        quaternion, direction = unit_quaternion(components, "test"), unit_vector(components[:3], "test")
        assert unit_quaternion(quaternion, "test") == quaternion
        assert unit_vector(direction, "test") == direction
        assert math.hypot(*quaternion) == pytest.approx(1, abs=1e-15)


CLOSED_FORMS = {
    # solid sphere: V = 4/3 pi r^3, I = 2/5 m r^2
    "sphere": (pl.Sphere(0.3), 4 / 3 * math.pi * 0.3**3, [0.4 * 0.09] * 3),
    # box: I = m/12 (b^2 + c^2)
    "box": (pl.Box((1, 2, 3)), 6.0, [13 / 12, 10 / 12, 5 / 12]),
    # cylinder along z: I_z = m r^2/2, I_x = m (3 r^2 + h^2)/12
    "cylinder": (pl.Cylinder(0.5, 2), math.pi * 0.5, [4.75 / 12, 4.75 / 12, 0.125]),
    # capsule of length 0 is a sphere
    "round capsule": (pl.Capsule(0.3, 0), 4 / 3 * math.pi * 0.3**3, [0.4 * 0.09] * 3),
}


@pytest.mark.parametrize("case", CLOSED_FORMS)
def test_mass_properties_of_shapes(case):
    shape, volume, inertia = CLOSED_FORMS[case]
    body = pl.Scene().add_rigid(shape, density=2.0)
    mass, centre, tensor = body.mass_properties()
    assert mass == pytest.approx(2 * volume, rel=1e-14)
    assert centre.tolist() == [0, 0, 0]
    np.testing.assert_allclose(tensor, np.diag(inertia) * mass, rtol=1e-13, atol=1e-14)


def test_mass_properties_of_a_capsule():
    # sum of the barrel and two half-balls, each half-ball moved by Steiner's theorem from its centroid 3r/8 off the
    # flat: I_x = m_b (r^2/4 + h^2/12) + m_s (2 r^2/5 + h^2/4 + 3 h r/8), m_s both half-balls together
    r, h = 0.2, 0.7
    barrel, ends = math.pi * r**2 * h, 4 / 3 * math.pi * r**3
    across = barrel * (r**2 / 4 + h**2 / 12) + ends * (0.4 * r**2 + h**2 / 4 + 3 * h * r / 8)
    properties = pl.Capsule(r, h).mass_properties()
    assert properties.volume == pytest.approx(barrel + ends, rel=1e-14)
    expected = np.diag([across, across, barrel * r**2 / 2 + ends * 0.4 * r**2])
    np.testing.assert_allclose(properties.inertia, expected, rtol=1e-13)


def test_mass_properties_of_a_mesh():
    # tetrahedron with corner at the origin and edges a along the axes: V = a^3/6, centre a/4, and with the moments
    # int x^2 = a^5/60, int xy = a^5/120: I_xx = a^5/30 - 2 V a^2/16 = a^5/80, I_xy = -a^5/120 + V a^2/16 = a^5/480
    a = 2.0
    properties = tetrahedron(a).mass_properties()
    assert properties.volume == pytest.approx(a**3 / 6, rel=1e-14)
    np.testing.assert_allclose(properties.centre, [a / 4] * 3, rtol=1e-14)
    expected = np.full((3, 3), a**5 / 480) + np.eye(3) * (a**5 / 80 - a**5 / 480)
    np.testing.assert_allclose(properties.inertia, expected, rtol=1e-13)


def test_mass_and_inertia_given_by_the_user():
    body = pl.Scene().add_rigid(pl.Box((1, 1, 1)), mass=3, inertia=[1, 2, 3])
    mass, _, inertia = body.mass_properties()
    assert mass == 3
    assert inertia.tolist() == np.diag([1.0, 2, 3]).tolist()
    # with mass alone, the inertia is that of a homogeneous body: m a^2/6
    inertia = pl.Scene().add_rigid(pl.Box((2, 2, 2)), mass=3).mass_properties()[2]
    np.testing.assert_allclose(inertia, np.eye(3) * 2, rtol=1e-14)
    assert inertia_matrix(2.0).tolist() == (2 * np.eye(3)).tolist()


def test_static_bodies_and_planes_have_infinite_mass():
    for shape in (pl.Plane(), pl.Box((1, 1, 1))):
        mass, _, inertia = pl.Scene().add_rigid(shape, static=True).mass_properties()
        assert mass == math.inf
        assert np.isinf(np.diag(inertia)).all()


CHANGES = {
    "a load of a body": lambda ball, rod: ball.force((0, 0, 1)),
    "a load put into its list": lambda ball, rod: ball.forces.append(ball.forces[0]),
    "one taken out": lambda ball, rod: ball.forces.pop(),
    "one in place of another": lambda ball, rod: ball.forces.__setitem__(0, ball.forces[1]),
    "no loads any more": lambda ball, rod: ball.forces.clear(),
    "a torque on a point of a rod": lambda ball, rod: rod[3].torque((0, 0, 1)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_simulation_refuses_to_go_on_without_loads_that_came_later(change):
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1.0, position=(0, 0, 5))
    rod = scene.add_rod(np.linspace((0, 0, 0), (1, 0, 0), 5), pl.Material.linear(1e7, 0.3, 1000), radius=0.01)
    ball.force((1, 0, 0))
    ball.force((0, 1, 0))
    sim = scene.simulate(dt=0.01).step()
    assert np.allclose(sim.twist(ball)[0][:2], 0.01)  # a newton on a kilogram in a hundredth of a second
    change(ball, rod)
    with pytest.raises(pl.SceneError, match="the scene has changed"):
        sim.step()


def test_both_mass_and_density_are_one_too_many():
    with pytest.raises(pl.SceneError, match=r"either density=.* or mass=.*, got both"):
        pl.Scene().add_rigid(pl.Sphere(1), mass=1, density=1)
    with pytest.raises(pl.SceneError, match=r"either density=.* or mass=.*, got neither"):
        pl.Scene().add_rigid(pl.Sphere(1))


def test_what_is_no_solver_is_named_whatever_the_scene():
    scene = pl.Scene()
    scene.add_rod([(0, 0, 0), (1, 0, 0)], pl.Material.corotated(1e7, 0.3, 1000), radius=0.01)
    for wrong in ("newton", pl.Newton):
        with pytest.raises(pl.SceneError, match="solver must be one of pliant's"):
            scene.simulate(1 / 60, solver=wrong)
