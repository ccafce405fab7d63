"""Steps of bounded cost of rigid bodies: what rests stays, what slides and bounces does so as it should, nothing passes
through anything, no step gives energy."""

import numpy as np
import pytest

import pliant as pl
from pliant import scene_file
from pliant.benchmarks.pile import rigid_pile
from pliant.solve.newton.landing import landing
from pliant.solve.newton.looking import Look
from pliant.stepping.step import pose

DT = 1 / 60


def floor(**more) -> pl.Scene:
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, **more)
    return scene


def stack(count: int, size: float = 0.1, densities=None) -> pl.Scene:
    """Boxes on each other."""
    scene = floor()
    for i in range(count):
        density = 1000.0 if densities is None else densities[i]
        scene.add_rigid(pl.Box((size,) * 3), density=density, position=(0, 0, size * (i + 0.5)))
    return scene


def pyramid(rows: int = 10, size: float = 0.1) -> pl.Scene:
    """Boxes in rows, each on two of the row below."""
    scene = floor()
    for row in range(rows):
        for place in range(rows - row):
            where = (1.05 * size * (place + 0.5 * row), 0, size * (row + 0.5))
            scene.add_rigid(pl.Box((size,) * 3), density=1000, position=where)
    return scene


def card_house(storeys: int = 3) -> pl.Scene:
    """Pairs of cards that lean against each other at 20 degrees, storeys apart by cards that lie."""
    length, thick, angle, friction = 0.1, 0.002, np.deg2rad(20), 0.8
    scene, high = floor(friction=friction), length * np.cos(angle) + thick * np.sin(angle)
    half, base = 0.5 * (length * np.sin(angle) + thick * np.cos(angle)), 0.0
    for storey in range(storeys):
        count = storeys - storey
        for place in range(count):
            x = 4 * half * (place - 0.5 * (count - 1))
            for side in (-1, 1):
                turn = (np.cos(0.5 * angle), 0, side * np.sin(0.5 * angle), 0)
                where = (x - side * half, 0, base + 0.5 * high)
                card = pl.Box((thick, 0.06, length))
                scene.add_rigid(card, density=700, friction=friction, position=where, rotation=turn)
        base += high
        for place in range(count - 1):
            where = (4 * half * (place - 0.5 * (count - 2)), 0, base + 0.5 * thick)
            scene.add_rigid(pl.Box((4 * half, 0.06, thick)), density=700, friction=friction, position=where)
        base += thick
    return scene


def stays(scene: pl.Scene, seconds: float, step: float = DT) -> float:
    """How far [m] anything is from where it was after so many seconds; energy must not have grown in any step."""
    sim = scene.simulate(step, solver=pl.Bounded(), threads=1)
    start, energy = sim.state.body_position.copy(), sim.energy().total
    scale = abs(energy)
    for _ in range(round(seconds / step)):
        sim.step()
        assert not sim.info.held and sim.info.parts == 1 and np.isfinite(sim.info.imbalance)
        assert sim.energy().total <= energy + 1e-7 * scale
        energy = sim.energy().total
    return float(np.linalg.norm(sim.state.body_position - start, axis=1).max())


def test_a_stack_of_ten_boxes_stays():
    assert stays(stack(10), 10.0) < 1e-3


def test_a_pyramid_of_55_boxes_stays():
    assert stays(pyramid(), 10.0) < 1e-3


def test_a_house_of_cards_stands():
    assert stays(card_house(), 3.0) < 1e-3


@pytest.mark.parametrize(("size", "step"), [(1e-3, 1 / 240), (1e-2, 1 / 120), (1.0, 1 / 60), (10.0, 1 / 60)])
def test_stacks_of_any_size_stay(size, step):
    assert stays(stack(5, size), 2.0, step) < 5e-3 * size


def test_heavy_on_light_stands_and_says_how_far_it_is_from_balance():
    """1:1000: sweeps settle slowly; steps are not in balance at first, and say so."""
    scene = stack(2, densities=(1.0, 1000.0))
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1)
    start, worst = sim.state.body_position.copy(), 0.0
    for _ in range(120):
        sim.step()
        worst = max(worst, sim.info.imbalance)
        assert not sim.info.converged
    assert worst > 1e-3
    assert np.abs(sim.state.body_position - start).max() < 2e-3


def slope(angle: float, friction: float) -> tuple[pl.Scene, np.ndarray]:
    """A box on a plane at an angle [rad], and the direction downhill."""
    scene, normal = pl.Scene(), np.array([np.sin(angle), 0, np.cos(angle)])
    scene.add_rigid(pl.Plane(tuple(normal)), static=True, friction=friction)
    turn = (np.cos(0.5 * angle), 0, np.sin(0.5 * angle), 0)
    scene.add_rigid(
        pl.Box((0.2, 0.2, 0.1)), density=1000, position=tuple(0.05 * normal), rotation=turn, friction=friction
    )
    return scene, np.array([np.cos(angle), 0, -np.sin(angle)])


def test_what_sticks_does_not_creep():
    """Just below the limit, tan(angle) = 0.98 friction: less than 0.01 mm in four seconds after the first tenth."""
    scene, downhill = slope(np.arctan(0.98 * 0.5), 0.5)
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1).step(6)
    before = sim.state.body_position[1] @ downhill
    sim.step(240)
    assert abs(sim.state.body_position[1] @ downhill - before) < 1e-5


def test_what_slides_has_the_right_acceleration():
    """a = g (sin - friction cos)."""
    angle, friction = 0.6, 0.4
    scene, downhill = slope(angle, friction)
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1).step(6)
    before = sim.state.body_velocity[1] @ downhill
    sim.step(60)
    expected = 9.81 * (np.sin(angle) - friction * np.cos(angle))
    assert sim.state.body_velocity[1] @ downhill - before == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_a_ball_comes_back_as_high_as_restitution_says(restitution):
    """From h to e^2 h, to what one step of 1/240 s falls."""
    scene, height = floor(), 0.5
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 0.1 + height), restitution=restitution)
    sim = scene.simulate(1 / 240, solver=pl.Bounded(), threads=1)
    tops, last = [], sim.energy().total
    while sim.time < 1.0:
        sim.step()
        energy = sim.energy().total
        assert energy <= last * (1 + 1e-12)
        last = energy
        if sim.time > 0.33:
            tops.append(sim.state.body_position[1, 2] - 0.1)
    speed = np.sqrt(2 * 9.81 * height)
    assert max(tops) == pytest.approx(restitution**2 * height, abs=2 * speed / 240)


def energies(sim, steps: int):
    """Energies [J] before and after each of so many steps."""
    last = sim.energy().total
    for _ in range(steps):
        sim.step()
        now = sim.energy().total
        yield last, now
        last = now


@pytest.mark.parametrize("seed", range(4))
def test_energy_never_grows(seed):
    """Bodies of all kinds that tumble and collide without gravity, with restitution and friction."""
    rng = np.random.default_rng(seed)
    scene = pl.Scene(gravity=(0, 0, 0))
    shapes = [pl.Sphere(0.05), pl.Box((0.1, 0.08, 0.06)), pl.Capsule(0.04, 0.08), pl.Cylinder(0.04, 0.1)]
    for place in np.ndindex(3, 3, 3):
        where = 0.16 * np.array(place) + rng.uniform(-0.01, 0.01, 3)
        speed, spin = -3 * (where - 0.16) / 0.16 + rng.normal(size=3), 5 * rng.normal(size=3)
        options = {"friction": rng.uniform(0, 1), "restitution": rng.choice([0, 0.5, 1.0])}
        shape = shapes[rng.integers(len(shapes))]
        scene.add_rigid(
            shape, density=10 ** rng.uniform(2, 4), position=where, velocity=speed, angular_velocity=spin, **options
        )
    sim = scene.simulate(1 / 120, solver=pl.Bounded(), threads=1)
    touched = 0
    for before, after in energies(sim, 60):
        assert after <= before * (1 + 1e-12)
        touched += sim.info.contacts > 0
    assert touched > 5


def wave(x, y):
    return 0.05 * np.sin(3 * x) * np.cos(2 * y)


def target(kind: str) -> tuple[pl.Scene, float]:
    """Something thin to be dropped on, 2 m across, and how high [m] what has not passed it is at least."""
    scene = pl.Scene()
    if kind == "plate":
        scene.add_rigid(pl.Box((2, 2, 0.01)), static=True, friction=0.5)
    elif kind == "heightfield":
        x, y = np.meshgrid(np.linspace(-1, 1, 25), np.linspace(-1, 1, 25), indexing="ij")
        scene.add_rigid(pl.Heightfield(wave(x, y), size=(2, 2)), static=True, friction=0.5)
    else:
        points = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-0.1, 0)], float)
        triangles = [(0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3), (0, 1, 3), (0, 3, 2)]
        triangles += [(4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6)]
        scene.add_rigid(pl.Mesh(points=points, triangles=np.array(triangles)), static=True, friction=0.5)
    return scene, -0.05 if kind == "heightfield" else 0.0


DROPS = [(kind, seed) for kind in ("plate", "mesh", "heightfield") for seed in range(3)]


@pytest.mark.parametrize(
    ("kind", "seed"),
    DROPS
    + [
        pytest.param(kind, seed, marks=pytest.mark.slow)
        for kind in ("plate", "mesh", "heightfield")
        for seed in range(3, 20)
    ],
)
def test_nothing_passes_through_anything(kind, seed):
    """Bodies at up to 30 m/s in steps of 1/240 to 1/30 s: as long as they are over it, they are above it."""
    rng = np.random.default_rng(seed)
    scene, bottom = target(kind)
    shapes = [pl.Sphere(0.05), pl.Box((0.1, 0.1, 0.1)), pl.Box((0.2, 0.15, 0.01)), pl.Capsule(0.03, 0.1)]
    for place in np.ndindex(3, 3, 2):
        where = np.array([0.3, 0.3, 0.3]) * place + [-0.3, -0.3, 0.4] + rng.uniform(-0.03, 0.03, 3)
        velocity, spin = [*rng.uniform(-2, 2, 2), -rng.uniform(5, 30)], 20 * rng.normal(size=3)
        turn = rng.normal(size=4)
        scene.add_rigid(
            shapes[rng.integers(len(shapes))],
            density=10 ** rng.uniform(2, 3.5),
            position=where,
            rotation=turn / np.linalg.norm(turn),
            velocity=velocity,
            angular_velocity=spin,
            friction=rng.uniform(0, 1),
        )
    step = 1 / rng.choice([30, 60, 120, 240])
    sim = scene.simulate(step, solver=pl.Bounded(), threads=1)
    over = np.ones(18, bool)
    for _ in range(round(0.5 / step)):
        sim.step()
        where = sim.state.body_position[1:]
        over &= np.all(np.abs(where[:, :2]) < 0.95, axis=1)
        assert np.all(where[over, 2] > bottom)
    assert over.any()


def test_many_sweeps_lead_where_newtons_method_converges():
    """A heap of six boxes and balls that has not touched yet, over a few steps of contact."""
    scene = floor()
    for i in range(6):
        shape = pl.Sphere(0.05) if i % 2 else pl.Box((0.1, 0.1, 0.1))
        scene.add_rigid(shape, density=1000, position=(0.03 * (i % 3), 0.02 * i, 0.051 + 0.104 * i))
    near = scene.simulate(1 / 240, solver=pl.Bounded(sweeps=3000), threads=1)
    exact = scene.simulate(1 / 240, solver=pl.Newton(1e-6), threads=1)
    start = exact.state.body_position.copy()
    for _ in range(24):
        near.step()
        exact.step()
    moved = np.abs(exact.state.body_position - start).max()
    assert moved > 0.01
    assert np.abs(near.state.body_position - exact.state.body_position).max() < 0.02 * moved


def test_a_pile_comes_down_and_ends_nowhere_deep():
    """No energy is given in any step, but what lifts bodies out of others; nothing ends deeper than a tenth of its
    size; and all comes to rest."""
    sim = rigid_pile(96).simulate(DT, solver=pl.Bounded(), threads=1)
    for before, after in energies(sim, 150):
        found = sim.model.colliders.contacts(sim.state, DT)
        assert after <= before + 1e-4 * abs(before)
        assert np.all(found.gap > -0.101 * sim.model.colliders.size_of(found))
    assert sim.energy().kinetic < 0.01
    before = sim.state.body_position.copy()
    sim.step(60)
    assert np.median(np.abs(sim.state.body_position - before)) < 1e-4  # some balls roll on


def test_threads_and_checkpoints_do_not_change_a_bit(tmp_path):
    runs = []
    for threads in (1, 2):
        sim = rigid_pile(80).simulate(DT, solver=pl.Bounded(), threads=threads)
        sim.step(45)
        sim.checkpoint(tmp_path / f"{threads}.npz")
        sim.step(5)
        runs.append(sim.state.body_position)
    again = pl.resume(tmp_path / "1.npz")
    again.step(5)
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], again.state.body_position)


def test_a_look_in_parts_finds_what_a_whole_one_does():
    sim = rigid_pile(120).simulate(DT, solver=pl.Bounded(), threads=1).step(30)
    model, problem = sim.model, pose(sim.model, sim.state, DT, False)
    u = problem.prediction.u.copy()
    look = Look.of(problem, u, np.zeros_like(u))
    u = u.copy()
    u[[40, 41, 60, 61, 101]] += 0.3
    look.again(u, np.zeros_like(u)).remember()
    there = landing(problem, u, np.zeros_like(u))
    kept = model.colliders.contacts(there, DT)
    model.colliders._last = None
    fresh = model.colliders.contacts(there, DT)
    assert len(fresh) > 100
    for name in ("key", "gap", "normal", "point", "body", "thing"):
        assert np.array_equal(getattr(kept, name), getattr(fresh, name)), name


def test_what_overlaps_at_the_start_comes_apart_gently():
    scene = floor()
    for i in range(3):
        scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=1000, position=(0, 0, 0.05 + 0.08 * i))
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1)
    for _ in range(120):
        sim.step()
        assert np.abs(sim.state.body_velocity).max() < 0.1
    assert np.allclose(sim.state.body_position[1:, 2], [0.05, 0.15, 0.25], atol=1e-3)


def test_what_it_does_not_take_is_refused_by_name():
    scene = floor()
    ball = scene.add_rigid(pl.Sphere(0.1), name="ball", mass=1, position=(0, 0, 1), rolling_friction=0.01)
    with pytest.raises(pl.SceneError, match="rolling_friction, which body 'ball' has"):
        scene.simulate(DT, solver=pl.Bounded())
    scene = floor()
    ball = scene.add_rigid(pl.Sphere(0.1), name="ball", mass=1, position=(0, 0, 1))
    scene.join(pl.Ball(pl.world, ball, at=(0, 0, 2)))
    with pytest.raises(pl.SceneError, match="joints, such as"):
        scene.simulate(DT, solver=pl.Bounded())
    with pytest.raises(pl.SceneError, match="sweeps"):
        pl.Bounded(sweeps=0)


def test_scene_files_say_how_many_sweeps(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(
        'format = 1\n[run]\ndt = 0.01\nseconds = 0.1\nsolver = { type = "bounded", sweeps = 30 }\n\n'
        '[[rigid]]\nname = "floor"\nshape = { plane = [0, 0, 1] }\nstatic = true\n\n'
        '[[rigid]]\nname = "ball"\nshape = { sphere = 0.1 }\nmass = 1.0\nposition = [0, 0, 0.5]\n'
    )
    file = scene_file.read(path)
    assert file.run.solver == pl.Bounded(sweeps=30)
    assert file.scene.simulate(file.run.dt, solver=file.run.solver).step(60).state.body_position[1, 2] == pytest.approx(
        0.1, abs=1e-4
    )


def test_a_bullet_and_a_thin_plate_that_moves_do_not_pass_each_other():
    """30 m/s, in steps of 1/30 s of which each goes a hundred times the plate's thickness."""
    for shape in (pl.Sphere(0.02), pl.Box((0.03, 0.03, 0.03))):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_rigid(pl.Box((0.5, 0.5, 0.01)), density=1000)
        motion = {"velocity": (0, 0, -30), "angular_velocity": (9, 5, 7)}
        scene.add_rigid(shape, density=5000, position=(0.02, 0.03, 0.8), **motion)
        sim = scene.simulate(1 / 30, solver=pl.Bounded(), threads=1)
        for _ in range(10):
            sim.step()
            plate, bullet = sim.state.body_position
            frame = matrix_of(sim.state.body_rotation[0])
            assert (bullet - plate) @ frame[:, 2] > 0 or abs((bullet - plate) @ frame[:, 0]) > 0.25


def matrix_of(q: np.ndarray) -> np.ndarray:
    """The matrix (3, 3) of a quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_meshes_that_rest_on_each_other_are_not_held_and_fall_when_the_lowest_is_taken_away(dt):
    """Surfaces have no inside that might be sunk into, but a thickness."""
    cube = pl.meshes.box((0.1, 0.1, 0.1), cells=1)
    shape = pl.Mesh(points=cube.points - 0.05, triangles=cube.boundary_triangles)
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    low, high = (scene.add_rigid(shape, density=800, position=(0, 0, height)) for height in (0.06, 0.18))
    sim = scene.simulate(dt, solver=pl.Bounded(), threads=1)
    held = []
    for _ in range(round(0.5 / dt)):
        held += sim.step().info.held
    assert not held and sim.contact_force(high, low)[2] == pytest.approx(0.8 * 9.81, rel=0.02)
    assert np.abs(sim.twist(high)[0]).max() < 1e-3
    sim.set_pose(low, (3, 0, 0.06))
    sim.step(round(0.5 / dt))
    assert sim.pose(high)[0][2] == pytest.approx(0.05, abs=2e-3)


def test_slender_bodies_that_precess_between_walls_gain_no_energy():
    """Their mean turn in a step is not along the axis in which they turn: its energy at the start says nothing."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Plane(), static=True, friction=0)
    scene.add_rigid(pl.Plane((0, 0, -1)), static=True, position=(0, 0, 2.6), friction=0)
    turned = (-0.367329, -0.62163, -0.507454, -0.470252)
    motion = {"velocity": (0, 0, -7.935), "angular_velocity": (6.7057, 1.77252, 3.274535)}
    options = {"mass": 1, "friction": 0, "restitution": 1}
    scene.add_rigid(pl.Box((0.02, 0.02, 2)), position=(0, 0, 1.3), rotation=turned, **motion, **options)
    sim = scene.simulate(1 / 60, solver=pl.Bounded(), threads=1)
    energies = [sim.energy().total] + [sim.step().energy().total for _ in range(60)]
    assert np.all(np.diff(energies) <= 1e-9 * energies[0])


def test_what_bounces_off_at_once_has_not_run_away():
    """A ball that flies thirty times the size of the scene in a step comes back with the speed with which it came."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Box((2, 2, 0.1)), static=True, restitution=1)
    fast = {"mass": 0.01, "position": (0, 0, 0.5), "velocity": (0, 0, -1000), "restitution": 1}
    ball = scene.add_rigid(pl.Sphere(0.01), **fast)
    sim = scene.simulate(0.1, solver=pl.Bounded(), threads=1).step(3)
    assert sim.pose(ball)[0][2] > 0.0
    assert sim.twist(ball)[0] == pytest.approx([0, 0, 1000], abs=1e-6)
