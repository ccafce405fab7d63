"""Steps of bounded cost: they lead where converged ones do, cross nothing, hold by friction, and never take more."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks import cloth
from pliant.collide.intersections import intersections

DT = 1 / 60


def crossings(sim) -> int:
    """Pairs of edges and triangles with points in common, of what may touch."""
    meshed = sim.model.colliders.meshed
    return len(intersections(meshed.surfaces, meshed.places(sim.state))[0])


def energy(sim) -> float:
    return sim.energy().total


def test_many_iterations_lead_where_newtons_method_converges():
    """A sheet that swings down by its corners, and a block that is bent by its weight."""
    block = pl.Scene()
    soft = block.add_soft(pl.meshes.box((0.4, 0.1, 0.1), (8, 2, 2)), pl.Material.corotated(1e5, 0.3, 1000))
    soft.pin("x < 0.001")
    for scene in (cloth.hanging(10), block):
        near, exact = scene.simulate(DT, solver=pl.Bounded(30, 6000)), scene.simulate(DT, solver=pl.Newton(1e-4))
        start = exact.state.x.copy()
        for _ in range(8):
            near.step()
            exact.step()
            assert near.info.converged
        moved = np.abs(exact.state.x - start).max()
        assert moved > 0.01
        assert np.abs(near.state.x - exact.state.x).max() < 2e-3 * moved


@pytest.mark.parametrize("cells", [12, 20])
def test_a_drape_crosses_nothing_and_keeps_its_bounds(cells):
    sim = cloth.draped(cells).simulate(DT, solver=pl.Bounded())
    first, deepest = energy(sim), 0.0
    for _ in range(60):
        sim.step()
        info = sim.info
        assert info.newton_iterations == 1 and info.iterations <= 12 and info.parts == 1
        assert not crossings(sim) and not len(sim.state.crossing)
        assert not info.converged or not info.contacts  # contacts were looked for at the start alone
        assert info.imbalance == info.imbalance  # measured
        deepest = max(deepest, 0.3 - np.linalg.norm(sim.state.x, axis=1).min())
    assert energy(sim) < first
    assert deepest < 0.005  # 1.7 % of the ball's radius, while it falls on it


def test_friction_holds_what_has_come_to_rest():
    sim = cloth.draped(16).simulate(DT, solver=pl.Bounded())
    sim.step(70)
    pole = np.linalg.norm(sim.state.x[:, :2], axis=1) < 0.1
    before = sim.state.x[pole].copy()
    sim.step(20)
    assert pole.sum() > 5
    assert np.linalg.norm(sim.state.x[pole] - before, axis=1).max() < 2e-4
    assert np.linalg.norm(sim.state.x, axis=1).min() > 0.2995


def test_sheets_that_meet_head_on_do_not_pass_through_each_other():
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh, fabric = pl.meshes.grid((0.3, 0.3), 6), pl.Material.stvk(1e4, 0.3, 300)
    sheets = [
        scene.add_cloth(mesh, fabric, 2e-3, position=(0.01 * height, 0.02 * height, height), velocity=(0, 0, speed))
        for height, speed in ((0.0, 3.0), (0.1, -3.0))
    ]
    sim = scene.simulate(DT, solver=pl.Bounded())
    for _ in range(20):
        sim.step()
        assert not crossings(sim)
    low, high = (sim.positions(sheet)[:, 2] for sheet in sheets)
    assert low.mean() < high.mean()


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 24))])
def test_random_sheets(seed):
    """Of any size, stiffness, thickness and step, one or two of them, on a ball that moves or not: nothing crosses,
    and nothing becomes much faster than it falls."""
    rng = np.random.default_rng(seed)
    size, young, cells = 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(3, 8), int(rng.integers(6, 12))
    law = (pl.Material.stvk, pl.Material.corotated, pl.Material.neohookean)[seed % 3]
    scene, thickness = pl.Scene(), size * 10 ** rng.uniform(-3.5, -2)
    for height in (0.4, 0.6)[: 1 + seed % 2]:
        place = (-size / 2, -size / 2.1, height * size)
        material = law(young, 0.3, 300, damping=rng.choice([0, 0.005]))
        mesh, friction = pl.meshes.grid((size, size), cells), rng.uniform(0, 1)
        sheet = scene.add_cloth(mesh, material, thickness, position=place, friction=friction)
    if seed % 4 == 1:
        sheet.pin(f"x < {-size / 2 + 1e-6 * size}")
    moving = (lambda t: (0.3 * size * np.sin(5 * t), 0, 0)) if seed % 3 == 0 else (0, 0, 0)
    scene.add_rigid(pl.Sphere(size / 3), static=True, friction=rng.uniform(0, 1), velocity=moving)
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -size / 2))
    sim = scene.simulate(10 ** rng.uniform(-2.6, -1.5) * min(np.sqrt(size), 1.5), solver=pl.Bounded(), threads=1)
    for _ in range(30):
        sim.step()
        assert not crossings(sim)
        assert np.abs(sim.state.v).max() < 2 * np.sqrt(2 * 9.81 * 1.5 * size)


def test_threads_do_not_change_a_bit(tmp_path):
    """Nor does going on from a checkpoint."""
    runs = []
    for threads in (1, 2):
        sim = cloth.draped(24).simulate(DT, solver=pl.Bounded(), threads=threads)
        sim.step(14)
        sim.checkpoint(tmp_path / f"{threads}.npz")
        sim.step(4)
        runs.append(sim.state.x)
    again = pl.resume(tmp_path / "1.npz")
    again.step(4)
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], again.state.x)


def test_what_it_does_not_take_is_refused_by_name():
    scene = cloth.hanging(3)
    scene.add_rigid(pl.Sphere(0.1), name="ball", mass=1, position=(0, 0, 3))
    with pytest.raises(pl.SceneError, match="rigid bodies that move freely, such as 'ball', together with"):
        scene.simulate(DT, solver=pl.Bounded())
    with pytest.raises(pl.SceneError, match="iterations"):
        pl.Bounded(iterations=0)


def test_products_are_enough_for_all_iterations():
    with pytest.raises(pl.SceneError, match=r"products must be at least its iterations, 5, .*got 2"):
        pl.Bounded(iterations=5, products=2)


def test_products_unless_told():
    """Sheets alone take 12 products a step, all else 24, and every iteration one at least."""
    block = pl.Scene()
    rubber = pl.Material.corotated(1e6, 0.4, 1000)
    block.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=6), rubber, position=(0, 0, 1e-3), velocity=(1, 0, -1))
    block.add_rigid(pl.Plane(), static=True, friction=0.5)
    for scene, most in ((cloth.draped(16), 12), (block, 24)):
        sim, counts = scene.simulate(DT, solver=pl.Bounded(), threads=1), []
        for _ in range(12):
            counts.append(sim.step().info.iterations)
        assert max(counts) == most
    sim = cloth.draped(8).simulate(DT, solver=pl.Bounded(iterations=20), threads=1).step(3)
    assert 1 <= sim.info.iterations <= 20


@pytest.mark.parametrize("young", [1e3, 1e11])
def test_what_a_floor_stops_has_not_run_away(young):
    """A sheet of 1 mm in steps of 1/15 s, in which it would fall by 44 mm: it ends on the floor, and is not lifted."""
    scene, size = pl.Scene(), 1e-3
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = pl.Material.corotated(young, 0.3, 500)
    cloth = scene.add_cloth(
        pl.meshes.grid((size, size), cells=(6, 6)), material, thickness=2e-3 * size, position=(0, 0, 0.2 * size)
    )
    height = scene.simulate(dt=1 / 15, solver=pl.Bounded()).step(20).positions(cloth)[:, 2]
    assert -0.02 * size < height.min() and height.max() < 0.2 * size


SOFT = pl.Material.neohookean(1e5, 0.4, 300, damping=5e-3)


def stiff_cubes() -> pl.Scene:
    """Two cubes of rubber, one above the other, that fall on a plane."""
    scene, rubber = pl.Scene(), pl.Material.corotated(1e6, 0.3, 1000, damping=0.003)
    scene.add_rigid(pl.Plane(), static=True)
    for height in (0.1, 0.4):
        scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=3), rubber, position=(0, 0, height))
    return scene


def pinned_sheet() -> pl.Scene:
    """A thin sheet that is bent at rest, held at one side, and flies past it in long steps."""
    scene, mesh = pl.Scene(gravity=(0, 0, 0)), pl.meshes.grid((0.6, 0.5), (8, 8))
    turn = 8 * mesh.points[:, 0]
    bent = np.stack([np.cos(turn) / 8, mesh.points[:, 1], np.sin(turn) / 8], axis=1)
    sheet = pl.meshes.TriMesh(bent, mesh.triangles)
    body = scene.add_cloth(sheet, pl.Material.corotated(1e4, 0.3, 300), 1e-5, velocity=(0, 0, -10))
    body.pin(np.arange(3))
    return scene


def stiff_sheet_by_a_cube() -> pl.Scene:
    """A stiff sheet that is held at a corner and touches nothing, while a cube beside it meets the ground: one system
    of few products stretches it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Plane(), static=True)
    cube = {"position": (-0.15, -0.15, 0.05), "velocity": (2.7, 4, -7.3)}
    scene.add_soft(pl.meshes.box((0.3, 0.3, 0.3), 2), pl.Material.stvk(1.1e5, 0.3, 92, damping=1e-3), **cube)
    steel = pl.Material.corotated(2e10, 0.3, 75, damping=0.01)
    options = {"position": (-0.5, -0.5, 0.381), "velocity": (4, -2.4, -10.3)}
    sheet = scene.add_cloth(pl.meshes.grid((1, 1), 4), steel, 9.4e-4, **options)
    sheet.pin([0])
    return scene


def stiff_sheet_alone() -> pl.Scene:
    """The same, larger and with nothing beside it, that does not touch itself."""
    scene = pl.Scene(gravity=(0, 0, 0))
    steel, options = pl.Material.stvk(1.4e10, 0.3, 300), {"velocity": (4, -2.4, -10.3), "self_contact": False}
    scene.add_cloth(pl.meshes.grid((10, 10), 3), steel, 5e-3, **options).pin([0])
    return scene


def ball_on_hills() -> pl.Scene:
    """A ball that meets steep ground of which nothing was foreseen: its lowest nodes stop, and the others do not."""
    scene, hills = pl.Scene(), 0.1 * np.random.default_rng(5).normal(size=(9, 9))
    scene.add_rigid(pl.Heightfield(hills, (2, 2)), static=True)
    material = pl.Material.corotated(1e6, 0.3, 500, damping=0.01)
    ball = {"position": (0.05, 0.02, 0.8), "velocity": (0, 0, -3), "friction": 1.0}
    scene.add_soft(pl.meshes.sphere(0.1, cells=2), material, **ball)
    return scene


@pytest.mark.parametrize(
    "make, dt, steps",
    [
        (stiff_cubes, 1 / 60, 40),
        (pinned_sheet, 0.05, 20),
        (ball_on_hills, 1 / 60, 30),
        (stiff_sheet_by_a_cube, 1 / 240, 20),
        (stiff_sheet_alone, 1 / 60, 30),
    ],
)
@pytest.mark.parametrize("products", [8, 24, 100])
def test_no_step_leaves_more_energy_than_there_was(make, dt, steps, products):
    """Impacts of stiff bodies, and parts that are kept from passing through each other, however little converges. What
    has sunk into something is lifted by a fifth of the depth in a step: its weight times that height, and as much again
    to press it together, is all that a step may give."""
    scene = make()
    sim = scene.simulate(dt, solver=pl.Bounded(products=products), threads=1)
    weight = 9.81 * sim.model.node_mass.sum() * (np.linalg.norm(scene.gravity) > 0)
    energies, depths, touched = [sim.energy().total], [_deepest(sim)], 0
    for _ in range(steps):
        energies.append(sim.step().energy().total)
        depths.append(_deepest(sim))
        touched += sim.info.contacts
    assert touched > 0 or make is stiff_sheet_alone
    assert np.all(np.diff(energies) <= 1e-5 * energies[0] + 2 * weight * 0.2 * np.array(depths[:-1]))


def _deepest(sim) -> float:
    """How deep anything lies in something else [m]."""
    return max(0.0, -sim.contacts.gaps.min(initial=0.0))


@pytest.mark.parametrize("young", [1e5, 1e7])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_what_begins_in_the_ground_comes_out_of_it_gently(young, gravity):
    """A cube 2 mm in the ground: with nothing to pay for it, it would stay there; but it is not thrown out."""
    scene, size, depth = pl.Scene(gravity=(0, 0, -gravity)), 0.12, 2e-3
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    rubber = pl.Material.corotated(young, 0.4, 300, damping=5e-3)
    cube = scene.add_soft(pl.meshes.box((size, size, size), cells=6), rubber, position=(0, 0, -depth))
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1)
    lowest = [sim.step().positions(cube)[:, 2].min() for _ in range(60)]
    assert lowest[-1] > -0.02 * depth
    assert np.diff(lowest).max() < 0.3 * depth  # a fifth of it in a step
    mass = 300 * size**3
    assert sim.energy().kinetic < 0.5 * mass * (0.2 * depth / DT) ** 2


def test_what_has_sunk_in_an_impact_comes_out():
    """A soft cube of 0.5 kg that hits the ground at 3.6 m/s: it rests on the ground, which carries it."""
    scene = pl.Scene()
    cube = {"position": (0, 0, 0.1), "velocity": (0, 0.5, -3.5)}
    block = scene.add_soft(pl.meshes.box((0.12, 0.12, 0.12), cells=6), SOFT, **cube)
    ground = scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    sim = scene.simulate(DT, solver=pl.Bounded(), threads=1).step(60)
    assert sim.positions(block)[:, 2].min() > -2e-5
    assert sim.contact_force(block, ground)[2] == pytest.approx(0.12**3 * 300 * 9.81, rel=0.1)
