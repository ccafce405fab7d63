"""Soft bodies in motion: momentum, stability for any step and stiffness, recovery, damping, plasticity, agreement."""

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.solve import SOLVERS

CUBE = pl.meshes.box((0.2, 0.2, 0.2), cells=2)
RUBBER = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)


def simulate(scene, dt, tolerance=1e-8, threads=1, precision="float64", **solver):
    return scene.simulate(dt=dt, solver=pl.Dual(tolerance=tolerance, **solver), threads=threads, precision=precision)


def distances(x):
    """All distances between nodes: the shape without its place."""
    return np.linalg.norm(x[:, None] - x[None], axis=2)


# Momentum


def test_free_body_keeps_its_linear_momentum():
    """DYN-06: internal forces sum to zero whatever the solver's tolerance: 1e-10 relative over 1000 steps."""
    rng = np.random.default_rng(0)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(CUBE, RUBBER)
    sim = simulate(scene, 1 / 240, tolerance=1e-4)
    x = sim.positions(body)
    spin = np.cross((5, 3, 1), x - x.mean(axis=0))
    sim.set_velocities(body, np.array([1, 2, 3]) + spin + 0.5 * rng.normal(size=x.shape))
    before = sim.momentum().linear
    sim.step(1000)
    assert np.abs(sim.momentum().linear - before).max() <= 1e-10 * np.linalg.norm(before)


@pytest.mark.parametrize("rate", [2.0, 10.0, 30.0])
def test_spinning_body_keeps_its_angular_momentum_to_second_order(rate):
    """DYN-06: implicit Euler loses dL = h m v1 x v0 per step: less than the fraction (h w)^2, so O(h) over a time."""
    losses = []
    for h in (1 / 120, 1 / 240):
        scene = pl.Scene(gravity=(0, 0, 0))
        body = scene.add_soft(CUBE, pl.Material.corotated(young=1e7, poisson=0.3, density=1000))
        sim = simulate(scene, h)
        x = sim.positions(body)
        sim.set_velocities(body, np.cross((0, 0, rate), x - x.mean(axis=0)))
        history = [sim.momentum().angular[2]]
        for _ in range(round(20 / 120 / h)):
            sim.step()
            history.append(sim.momentum().angular[2])
        lost = -np.diff(history) / history[0]
        assert lost.max() <= (h * rate) ** 2 and lost.min() >= -1e-3 * (h * rate) ** 2
        losses.append(1 - history[-1] / history[0])
    assert losses[1] <= 0.6 * losses[0]  # over the same time, half the step loses at most about half


# Stability


def height_of_surface(sim, body):
    """The lowest surface node (interior nodes do not collide)."""
    return sim.positions(body)[np.unique(body.mesh.boundary_faces), 2].min()


@pytest.mark.parametrize("friction", ["cone", "box"])
@pytest.mark.parametrize("young", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("h", [1 / 240, 1 / 60, 1 / 15])
def test_a_dropped_block_never_gains_energy(h, young, friction):
    """E from 1e3 (a block that its own weight flattens) to 1e9 Pa, steps from 4 to 67 ms: finite, dissipative, at rest.

    A step minimises a convex function that bounds the energy (theory section 2), so the energy falls up to what the
    solver's tolerance leaves: 1e-6 of the energy that the fall brings in, 16 J.
    """
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    material = pl.Material.corotated(young=young, poisson=0.3, density=1000)
    # the softest is squashed flat, and the thickness of its surface would push it apart
    body = scene.add_soft(CUBE, material, position=(0, 0, 0.1), self_contact=False)
    sim = simulate(scene, h, tolerance=1e-6, friction=friction)
    energy = [sim.energy().total]
    for _ in range(40 if h > 0.05 else 100):
        sim.step()
        energy.append(sim.energy().total)
    assert np.all(np.isfinite(sim.positions(body)))
    assert np.diff(energy).max() <= 1e-6 * energy[0]
    if young > 1e3:  # at rest on the plane; the flattened one still creeps
        assert np.abs(sim.velocities(body)).max() < (0.02 if h < 0.01 else 1e-4)
        assert height_of_surface(sim, body) > -1e-5
        assert sim.positions(body)[:, 2].max() == pytest.approx(0.2, abs=2 * 1000 * 9.81 * 0.2**2 / young + 1e-5)


@pytest.mark.parametrize("young", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("h", [1 / 240, 1 / 60, 1 / 15])
def test_a_clamped_beam_never_gains_energy(h, young):
    """The same for a beam released level; at 1e3 Pa it hangs stretched to several times its length.

    Rotations are those of the start of the step: the stiffness that tension gives against turning is explicit, so at
    strains above one the energy only stays below the initial one; for stiffer beams it falls in every step.
    """
    scene = pl.Scene()
    mesh = pl.meshes.box((1, 0.2, 0.2), cells=(5, 1, 1))
    beam = scene.add_soft(mesh, pl.Material.corotated(young=young, poisson=0.3, density=1000))
    beam.pin(beam.nodes.x < 1e-9)
    sim = simulate(scene, h)
    energy = [sim.energy().total]
    for _ in range(60):
        sim.step()
        energy.append(sim.energy().total)
    energy = np.array(energy)
    assert np.all(np.isfinite(sim.positions(beam)))
    if young < 1e4:
        assert energy.max() <= energy[0]
        drop = -sim.positions(beam)[:, 2].min() + 0.2
        assert np.abs(sim.velocities(beam)).max() <= np.sqrt(2 * 9.81 * drop) + 9.81 * h  # no faster than free fall
    else:
        assert np.diff(energy).max() <= 1e-8 * energy[0]
    if young == 1e9:  # stiff: implicit Euler damps every mode within the run, the sag is that of a beam
        assert np.abs(sim.velocities(beam)).max() < 1e-4
        # rho g A L^4 / (8 E I) = 3.7e-4 m; one linear element across locks, so less, but more than a twentieth
        sag = -sim.positions(beam)[:, 2].min()
        assert 3.7e-4 / 20 < sag < 3.7e-4


@pytest.mark.parametrize("poisson", [0.0, 0.3])
@pytest.mark.parametrize("h", [1 / 60, 1 / 15])
@pytest.mark.parametrize("start", ["random", "inverted", "flat", "point"])
def test_tangled_bodies_recover(start, h, poisson):
    """From random, mirrored, flat or collapsed positions the rest shape comes back (proper rotations)."""
    rng = np.random.default_rng(1)
    material = pl.Material.corotated(young=1e5, poisson=poisson, density=1000, damping=0.02, mass_damping=3)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(CUBE, material)
    sim = simulate(scene, h)
    rest = sim.positions(body).copy()
    tangled = {
        "random": rest.mean(axis=0) + 0.1 * rng.normal(size=rest.shape),
        "inverted": rest * [1, 1, -1],
        "flat": rest * [1, 1, 0],
        "point": 1e-9 * rng.normal(size=rest.shape),
    }
    sim.set_positions(body, tangled[start])
    sim.step(round(5 / h) if h < 0.05 else 150)
    assert np.abs(distances(sim.positions(body)) - distances(rest)).max() < 1e-6
    assert sim.energy().elastic < 1e-6


# Damping


def stiffness(mesh, material):
    """K (3n, 3n) of linear elasticity, assembled from V B^T D B with plain loops."""
    lam, mu = material.lame
    d = np.diag([2 * mu] * 3 + [mu] * 3) + lam * np.pad(np.ones((3, 3)), (0, 3))
    k = np.zeros((3 * len(mesh.points),) * 2)
    for tet in mesh.tets:
        edges = (mesh.points[tet[:3]] - mesh.points[tet[3]]).T
        g = np.linalg.inv(edges)
        b = np.zeros((6, 12))
        for i, (x, y, z) in enumerate(np.vstack([g, -g.sum(axis=0)])):
            b[:, 3 * i : 3 * i + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [0, z, y], [z, 0, x], [y, x, 0]]
        dofs = (3 * tet[:, None] + np.arange(3)).ravel()
        k[np.ix_(dofs, dofs)] += np.linalg.det(edges) / 6 * b.T @ d @ b
    return k


@pytest.mark.parametrize("alpha, beta", [(0.0, 0.0), (0.5, 0.002), (0.0, 0.05)])
def test_a_mode_decays_as_implicit_euler_says(alpha, beta):
    """DYN-04: v' = (v - h w^2 x) / (1 + h alpha + h beta w^2 + h^2 w^2), x' = x + h v', for one mode of a linear body.

    Without damping the energy falls by 1 / (1 + w^2 h^2) per step. Relative 1e-8: the solver's tolerance is 1e-13.
    """
    h, steps = 0.01, 50
    material = pl.Material.linear(young=1e4, poisson=0.3, density=1000, damping=beta, mass_damping=alpha)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(3, 1, 1)), material)
    body.pin(body.nodes.x < 1e-9)
    sim = simulate(scene, h, tolerance=1e-13)
    free = np.repeat(body.nodes.x >= 1e-9, 3)
    mass = np.repeat(sim.model.node_mass, 3)[free]
    squares, shapes = eigh(stiffness(body.mesh, material)[np.ix_(free, free)], np.diag(mass))
    for mode in (0, 3):
        square, shape = squares[mode], np.zeros(len(free))
        shape[free] = shapes[:, mode]
        sim.set_positions(body, body.nodes.positions + 1e-2 * shape.reshape(-1, 3))
        sim.set_velocities(body, np.zeros_like(body.nodes.positions))
        x, v = 1e-2, 0.0
        for _ in range(steps):
            v = (v - h * square * x) / (1 + h * alpha + h * beta * square + h * h * square)
            x += h * v
            sim.step()
        moved = (sim.positions(body) - body.nodes.positions).ravel()
        assert np.abs(moved - x * shape).max() <= 1e-8 * np.abs(1e-2 * shape).max()
        assert np.abs(sim.velocities(body).ravel() - v * shape).max() <= 1e-8 * np.abs(shape).max()


# Plasticity


def pressed_block(material):
    """Height of a block pressed for half a second and then let go, and its simulation."""
    scene = pl.Scene(gravity=(0, 0, 0))
    block = scene.add_soft(CUBE, material)
    block.pin(block.nodes.z < 1e-9, axes="z")
    block.pin(np.linalg.norm(block.nodes.positions - [0.1, 0.1, 0], axis=1) < 1e-9)
    block.force(block.nodes.z > 0.2 - 1e-9, lambda t: (0, 0, -400) if t < 0.5 else (0, 0, 0))
    sim = simulate(scene, 1 / 60)
    sim.step(120)
    return sim, block


def test_plastic_block_keeps_its_dent_and_elastic_one_does_not():
    """BV algorithm 1: what crept stays; after unloading the mean strain is the plastic one."""
    elastic = pl.Material.corotated(young=1e5, poisson=0.0, density=1000, damping=0.05)
    sim, block = pressed_block(elastic)
    assert sim.positions(block)[:, 2].max() == pytest.approx(0.2, abs=1e-5)
    flow = pl.Plasticity(yield_strain=0.02, creep=5.0, max_strain=0.5)
    plastic = pl.Material.corotated(young=1e5, poisson=0.0, density=1000, damping=0.05, plasticity=flow)
    sim, block = pressed_block(plastic)
    mean = sim.plastic_strain(block)[:, 2].mean()
    assert mean < -0.02
    # no load is left: the mean stress is zero and the shortening plastic; by Gauss, mean F_zz is the mean height of
    # the top face / H (elements rotate by up to 0.1, which hides 1 - cos of that)
    faces = block.mesh.boundary_faces
    top = faces[np.all(block.nodes.z[faces] > 0.2 - 1e-9, axis=1)]  # triangles of equal area
    assert (sim.positions(block)[top, 2].mean() - 0.2) / 0.2 == pytest.approx(mean, abs=5e-3)
    elastic_strain = sim.strain(block) - sim.plastic_strain(block)
    assert np.abs(elastic_strain.mean(axis=0)).max() <= 1e-3
    assert np.linalg.norm(elastic_strain, axis=1).max() <= flow.yield_strain


def test_plastic_strain_stops_at_its_maximum():
    """However long it is pressed, |plastic strain| <= max_strain."""
    flow = pl.Plasticity(yield_strain=0.001, creep=100.0, max_strain=0.03)
    sim, block = pressed_block(pl.Material.corotated(1e5, 0.0, 1000, damping=0.05, plasticity=flow))
    size = np.linalg.norm(sim.plastic_strain(block), axis=1)
    assert 0.02 < size.max() <= 0.03 * (1 + 1e-12)


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Bounded(), pl.Explicit()])
def test_plastic_strains_that_would_flatten_elements_are_refused(solver):
    """By all that take the energy of an element for that of its shape without them, (1 + plastic strain)^-1 of it."""
    scene = pl.Scene()
    flow = pl.Plasticity(yield_strain=0.01, creep=10.0, max_strain=1.0)
    scene.add_soft(CUBE, pl.Material.corotated(1e5, 0.0, 1000, plasticity=flow))
    with pytest.raises(pl.SceneError, match=f"pliant.{type(solver).__name__} needs a plasticity max_strain below 1"):
        scene.simulate(dt=0.001, solver=solver)


# Repeatability and agreement


def busy_scene():
    """A soft block that falls on a plane beside a ball that rolls into it, and a hanging beam with a weight."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4)
    block = scene.add_soft(CUBE, pl.Material.corotated(young=2e4, poisson=0.3, density=1000), position=(0, 0, 0.02))
    scene.add_rigid(pl.Sphere(0.1), density=500, position=(-0.3, 0.1, 0.1), velocity=(2, 0, 0))
    beam = scene.add_soft(
        pl.meshes.box((0.6, 0.1, 0.1), cells=(4, 1, 1)),
        pl.Material.corotated(young=1e5, poisson=0.3, density=1000),
        position=(0, 0.5, 0.6),
    )
    beam.pin(beam.nodes.x < 1e-9)
    weight = scene.add_rigid(pl.Sphere(0.05), mass=0.5, position=(0.6, 0.55, 0.5))
    scene.join(pl.Ball(beam, weight, at=(0.6, 0.55, 0.6)))
    return scene, block, beam


def final_positions(steps, **options):
    scene, block, beam = busy_scene()
    sim = simulate(scene, 1 / 120, **options)
    sim.step(steps)
    return np.concatenate([sim.positions(block), sim.positions(beam), sim.state.body_position[1:]])


def test_results_do_not_depend_on_the_number_of_threads():
    """Slots are summed in a fixed order: the same bits with one thread and with two."""
    assert np.array_equal(final_positions(60, threads=1), final_positions(60, threads=2))
    assert np.array_equal(final_positions(60, threads=1), final_positions(60, threads=1))


@pytest.mark.parametrize("name", [*SOLVERS, "eliminated"])
def test_a_precision_that_would_not_be_followed_is_refused(name):
    """Only rows of the dual solver are computed in the precision asked for; others say so before the first step."""
    scene = pl.Scene()
    law = pl.Material.linear if name == "linear" else pl.Material.corotated
    scene.add_soft(CUBE, law(young=1e5, poisson=0.3, density=1000), collide=False)
    solver = pl.Dual(eliminate=True) if name == "eliminated" else SOLVERS[name]()
    if name == "dual":
        assert scene.simulate(dt=0.01, solver=solver, precision="float32").working_solver.dtype == "float32"
        return
    with pytest.raises(pl.SceneError, match=r"precision 'float32' is of pliant.Dual\(\) alone"):
        scene.simulate(dt=0.01, solver=solver, precision="float32")


def test_float32_agrees_with_float64():
    """The solve in single precision: 1e-4 of the velocities per step (|v| < 3 m/s, h = 1/120), 30 steps: below 1 mm."""
    single = final_positions(30, precision="float32", tolerance=1e-5)
    assert np.abs(single - final_positions(30)).max() < 1e-3 * 0.5


def test_mprgp_and_pgs_agree_with_contact_and_friction():
    """Both solve the same problem: with tolerance 1e-9 the positions after 20 steps agree to 1e-6 m."""
    mprgp = final_positions(20, tolerance=1e-9, method="mprgp", max_iterations=20_000)
    pgs = final_positions(20, tolerance=1e-9, method="pgs", max_iterations=20_000)
    assert np.abs(mprgp - pgs).max() < 1e-6
