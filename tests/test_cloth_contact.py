"""Contact of sheets: with solids, soft bodies, rigid meshes, other sheets and themselves; nothing crosses."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks import cloth
from pliant.collide import certificates
from pliant.collide.intersections import intersections

FABRIC = {"poisson": 0.3, "density": 300, "damping": 0.005}


def fabric(young: float = 5e4) -> pl.Material:
    return pl.Material.corotated(young, **FABRIC)


def crossings(sim) -> int:
    """Pairs of edges and triangles with points in common, of what may touch."""
    meshed = sim.model.colliders.meshed
    return len(intersections(meshed.surfaces, meshed.places(sim.state))[0])


def run(scene, steps, dt=1 / 60, solver=None):
    """Steps in which nothing crosses and no energy comes from nothing."""
    sim = scene.simulate(dt, threads=1, solver=solver)
    first = sim.energy()
    for _ in range(steps):
        sim.step()
        assert not crossings(sim)
    assert np.all(np.isfinite(sim.state.x))
    assert sim.energy().total <= first.total + 1e-6 * abs(first.gravitational)
    return sim


def test_a_sheet_lies_on_a_plane_at_half_its_thickness():
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.meshes.grid((0.4, 0.4), 4), fabric(), 0.01, position=(0, 0, 0.006))
    floor = scene.add_rigid(pl.Plane(), static=True)
    sim = run(scene, 12, solver=pl.Newton(tolerance=1e-5))
    assert np.allclose(sim.positions(sheet)[:, 2], 0.005, atol=1e-5)
    assert sim.contact_force(sheet, floor)[2] == pytest.approx(9.81 * sheet.mass, rel=1e-3)


def test_proofs_that_a_sheet_is_clear_of_itself_change_nothing(monkeypatch):
    """They are given up where they cost more than they save; what is found is the same without and with all of them."""
    mesh, found = pl.meshes.grid((1, 1), 8), []
    bent = mesh.points + np.array([0, 0, 0.1]) * (mesh.points[:, :1] - 0.5) ** 2  # else there are patches
    for price in (0.0, 2.0, 100.0):
        monkeypatch.setattr(certificates, "PRICE", price)
        scene = pl.Scene()
        sheet = pl.meshes.TriMesh(bent, mesh.triangles)
        scene.add_cloth(sheet, fabric(), 1e-3, position=(-0.5, -0.5, 0.31), friction=0.4)
        scene.add_rigid(pl.Sphere(0.3), static=True, friction=0.4)
        sim = scene.simulate(1 / 60, threads=1).step(15)
        credit = sim.model.colliders.certificates.credit
        assert (credit.min() < 0.0) == (price == 100.0)
        found.append(sim.state.x)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_a_sheet_that_is_cut_into_patches_is_not_looked_at_as_a_whole(monkeypatch):
    sim = cloth.draped(8).simulate(1 / 60, threads=1)
    proofs = sim.model.colliders.certificates
    monkeypatch.setattr(proofs, "_look", None)
    sim.step(15)
    assert proofs.meshed.surfaces.sheets and not proofs.known and sim.info.contacts > 0


def test_two_sheets_lie_on_each_other_a_thickness_apart():
    scene = pl.Scene()
    for name, height in (("low", 0.0055), ("high", 0.016)):
        scene.add_cloth(pl.meshes.grid((0.4, 0.4), 3), fabric(), 0.01, position=(0, 0, height), name=name)
    scene.add_rigid(pl.Plane(), static=True)
    sim = run(scene, 15)
    apart = sim.positions(scene.find("high"))[:, 2].mean() - sim.positions(scene.find("low"))[:, 2].mean()
    assert apart == pytest.approx(0.01, rel=0.02)


def test_a_sheet_falls_on_a_soft_body():
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.meshes.grid((0.5, 0.5), 8), fabric(), 0.004, position=(-0.25, -0.25, 0.24))
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 2), pl.Material.corotated(1e5, 0.3, 500), position=(-0.1, -0.1, 0.03))
    scene.add_rigid(pl.Plane(), static=True)
    sim = run(scene, 25)
    assert 0.1 < sim.positions(sheet)[:, 2].max() < 0.25


def test_friction_holds_a_sheet_on_a_slope():
    """tan 20 degrees = 0.36: it stays with friction 0.6 and slides by g (sin a - mu cos a) t^2 / 2 with 0.1."""
    angle = np.radians(20)
    turn = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    moved = []
    for friction in (0.6, 0.1):
        scene = pl.Scene()
        normal = np.array([np.sin(angle), 0, np.cos(angle)])
        mesh = pl.meshes.grid((0.3, 0.2), (3, 2))
        start = tuple(0.0021 * normal)
        sheet = scene.add_cloth(mesh, fabric(), 0.004, position=start, rotation=turn, friction=friction)
        scene.add_rigid(pl.Plane(tuple(normal)), static=True, friction=friction)
        sim = scene.simulate(0.005, threads=1)
        sim.step(60)
        down = np.array([np.cos(angle), 0, -np.sin(angle)])
        moved.append(((sim.positions(sheet) - sheet.nodes.positions) @ down).mean())
    assert abs(moved[0]) < 2e-3
    assert moved[1] == pytest.approx(9.81 * (np.sin(angle) - 0.1 * np.cos(angle)) * 0.3**2 / 2, rel=0.05)


def test_thickness_larger_than_the_edges_does_not_push_neighbours_apart():
    """What is nearer than its thickness at rest is no contact: a thick sheet of small triangles stays at rest."""
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(pl.meshes.grid((0.2, 0.2), 8), fabric(), 0.06)
    sim = run(scene, 3)
    assert np.abs(sim.positions(sheet) - sheet.nodes.positions).max() < 1e-9


@pytest.mark.slow
def test_a_strip_folds_on_itself():
    scene = pl.Scene()
    turn = (np.cos(0.7), 0, -np.sin(0.7), 0)
    scene.add_cloth(pl.meshes.grid((0.5, 0.2), (20, 8)), fabric(), 0.002, position=(0, 0, 0.3), rotation=turn)
    scene.add_rigid(pl.Plane(), static=True)
    run(scene, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_random_sheets(seed):
    """Sheets of any size, stiffness, thickness and step: no NaN, nothing crosses, no energy from nothing."""
    rng = np.random.default_rng(seed)
    size, cells = 10 ** rng.uniform(-2, 1), int(rng.integers(3, 8))
    thickness, young = size * 10 ** rng.uniform(-3.5, -1.5), 10 ** rng.uniform(3, 9)
    law = rng.choice(["corotated", "stvk", "neohookean", "arap", "stable_neohookean", "fixed_corotated"])
    material = pl.Material(
        str(law), young, rng.uniform(0, 0.45), 10 ** rng.uniform(2, 3.5), damping=rng.choice([0, 1e-3])
    )
    turn = rng.standard_normal(4)
    scene = pl.Scene()
    mesh = pl.meshes.grid((size, size * rng.uniform(0.3, 1)), cells, str(rng.choice(["same", "mirrored", "four"])))
    options = {"position": (0, 0, 1.2 * size), "rotation": tuple(turn / np.linalg.norm(turn))}
    scene.add_cloth(mesh, material, thickness, **options)
    scene.add_rigid(pl.Sphere(size / 3), static=True, position=(0, 0, 0), friction=rng.uniform(0, 1))
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -size / 3))
    run(scene, 30, dt=10 ** rng.uniform(-3, -1.5) * np.sqrt(size))


def test_the_benchmark_of_cloth_gives_every_field():
    result = cloth.run(quick=True)
    labels = ["hanging, 128 triangles", "draped, 128 triangles"]
    labels += [f"draped, 128 triangles, Bounded, {products} products" for products in cloth.PRODUCTS]
    assert [case["label"] for case in result["cases"]] == labels
    for case in result["cases"][1:]:
        assert case["contacts"] > 0 and case["crossings"] == 0
