"""Sheets: derivatives, constant strains and curvatures, loads, plastic folds, readers, files, and what is refused."""

import numpy as np
import pytest

import pliant as pl
from pliant import scene_file
from pliant.elements.potential import ElementPotential
from pliant.linalg.connectivity import block_pairs
from pliant.meshes.topology import pinched_points
from pliant.model.build import build
from pliant.model.loads import wind_forces
from pliant.solve.matrices import _assemble

LAWS = ("corotated", "arap", "stvk", "neohookean", "fixed_corotated", "stable_neohookean")


def crumpled(seed: int = 1) -> pl.meshes.TriMesh:
    """A sheet that is not flat, of irregular triangles."""
    mesh = pl.meshes.grid((1, 0.7), (4, 3), "mirrored")
    return pl.meshes.TriMesh(
        mesh.points + 0.03 * np.random.default_rng(seed).standard_normal(mesh.points.shape), mesh.triangles
    )


def stiffness(model, potential, x, project):
    """The second derivative of the energy (3n, 3n)."""
    blocks = np.zeros((model.elements.block_count, 9))
    potential.evaluate(x)
    potential.blocks(potential.terms(1.0, project=project), blocks)
    row, column, place = block_pairs(model.elements.connectivity())
    block, beside = blocks[place].reshape(-1, 3, 3), row != column
    parts = [(row, column, block), (column[beside], row[beside], block[beside].transpose(0, 2, 1))]
    return _assemble(parts, model.triple_count, model.triple_count).toarray()


def check_derivatives(body_options, law="corotated", mesh=None, plastic=0.0):
    """Forces and stiffness against central differences, 1e-6 of the size, in double precision."""
    scene, rng = pl.Scene(), np.random.default_rng(0)
    material = law if isinstance(law, pl.Material) else pl.Material(law, 1e4, 0.3, 1000)
    cloth = scene.add_cloth(mesh or crumpled(), material, 0.05, **body_options)
    cloth.clamp(cloth.nodes.x < 0.1)
    model, state = build(scene)
    potential = ElementPotential.of(model.elements, state)
    if plastic:
        # in the plane of the triangles, and at their surface by bending
        _, strain = model.elements.deform(state.x + 0.05 * rng.standard_normal(state.x.shape))
        potential.gradients = [own.elastic_gradients(plastic * strain) for own in model.elements.sets]
    x = state.x + 0.04 * rng.standard_normal(state.x.shape)
    move, h = rng.standard_normal(x.shape), 1e-6
    force = potential.evaluate(x)[2].copy()
    ahead, behind = potential.evaluate(x + h * move), potential.evaluate(x - h * move)
    slope, energy = np.sum(force * move), (ahead[0] - behind[0]) / (2 * h)
    assert energy == pytest.approx(slope, rel=1e-6)
    ahead, behind = (potential.evaluate(x + sign * h * move)[2].copy() for sign in (1, -1))
    exact = stiffness(model, potential, x, project=False)
    change = (exact @ move.ravel()).reshape(-1, 3)
    assert np.abs((ahead - behind) / (2 * h) - change).max() < 1e-5 * np.abs(change).max()
    projected = np.linalg.eigvalsh(stiffness(model, potential, x, project=True))
    assert projected.min() > -1e-10 * projected.max()


@pytest.mark.parametrize("law", LAWS)
def test_derivatives(law):
    check_derivatives({}, law)
    check_derivatives({"thins": False}, law)


def test_derivatives_of_fibres_flat_rest_and_plastic_folds():
    check_derivatives({"fibres": (pl.Fibres((1, 1, 0), 5e3), pl.Fibres((0, 1, 0), 1e3)), "flat": True})
    check_derivatives({}, plastic=0.3)


def test_derivatives_where_neighbours_share_their_far_node():
    """At a corner of three triangles two neighbours of a triangle have the same far node."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0.2]]
    closed = pl.meshes.TriMesh(np.array(points), [[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1]])
    check_derivatives({}, mesh=closed)


def test_a_users_energy():
    law = pl.Material.custom(
        lambda I1, J, mu, k: mu / 2 * (I1 - 3) - mu * np.log(J) + k / 2 * np.log(J) ** 2, 1000, {"mu": 4e3, "k": 6e3}
    )
    check_derivatives({}, law)


@pytest.mark.parametrize("law", LAWS)
def test_a_uniform_stretch_has_plane_stress(law):
    """A small stretch e along x, held across: N_xx = E h e / (1 - nu^2), N_yy = nu N_xx; where the thickness stays,
    lam + 2 mu and lam instead. ARAP has no lam."""
    young, poisson, thickness, strain = 1e5, 0.3, 0.01, 1e-5
    for thins in (True, False):
        scene = pl.Scene()
        material = pl.Material(law, young, poisson, 1000)
        cloth = scene.add_cloth(pl.meshes.grid((1, 1), (3, 2)), material, thickness, thins=thins)
        sim = scene.simulate(1e-3)
        sim.set_positions(cloth, cloth.nodes.positions * [1 + strain, 1, 1])
        lam, mu = material.lame
        lam = 0.0 if law == "arap" else 2 * lam * mu / (lam + 2 * mu) if thins else lam
        forces, moments = sim.resultants(cloth)
        stress = sim.stress(cloth)
        assert np.allclose(stress[:, 0], (lam + 2 * mu) * strain, rtol=1e-3)
        assert np.allclose(stress[:, 1], lam * strain, rtol=1e-3, atol=1e-3 * mu * strain)
        if thins:
            assert np.abs(stress[:, 2]).max() < 1e-6 * young * strain
        # triangles have axes of their own: the trace is the same in all
        assert np.allclose(forces[:, 0] + forces[:, 1], thickness * 2 * (lam + mu) * strain, rtol=1e-3)
        assert np.abs(moments).max() < 1e-12


def test_curvature_of_a_cylinder_and_energy_of_bending():
    """A strip bent to a radius R: curvature 1/R, moment D / R along it, energy D / (2 R^2) per area; D is that of
    plates. The surface strain h / (2 R) is part of the stress."""
    radius, young, poisson, thickness = 2.0, 1e6, 0.3, 0.01
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(pl.meshes.grid((1, 0.5), (40, 20)), pl.Material.corotated(young, poisson, 1000), thickness)
    sim, x = scene.simulate(1e-3), cloth.nodes.positions
    angle = x[:, 0] / radius
    sim.set_positions(cloth, np.column_stack([radius * np.sin(angle), x[:, 1], radius * np.cos(angle)]))
    inner = np.all((cloth.faces.centres[:, :2] > 0.1) & (cloth.faces.centres[:, :2] < [0.9, 0.4]), axis=1)
    curvature, (_, moments) = sim.curvature(cloth)[inner], sim.resultants(cloth)
    assert np.allclose(curvature[:, 0] + curvature[:, 1], 1 / radius, rtol=1e-3)
    plate = young * thickness**3 / (12 * (1 - poisson**2))
    assert np.allclose(moments[inner, 0] + moments[inner, 1], plate * (1 + poisson) / radius, rtol=2e-3)
    bending = next(own for own in sim.model.elements.sets if own.kind.nodes == 6)
    energies = ElementPotential.of(sim.model.elements, sim.state)
    energies.evaluate(sim.state.x)
    found = energies.spaces[sim.model.elements.sets.index(bending)].energy.sum()
    assert found == pytest.approx(plate / (2 * radius**2) * 0.5, rel=0.06)  # free ends, a cell wide, are bent less


def test_a_curved_mesh_is_at_rest_unless_it_is_said_to_be_flat():
    mesh = pl.meshes.grid((1.5, 0.5), (12, 4))
    bent = np.column_stack([np.sin(mesh.points[:, 0]), mesh.points[:, 1], np.cos(mesh.points[:, 0])])
    energies = []
    for flat in (False, True):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_cloth(pl.meshes.TriMesh(bent, mesh.triangles), pl.Material.corotated(1e5, 0.3, 500), 0.01, flat=flat)
        energies.append(scene.simulate(0.01).energy().elastic)
    assert abs(energies[0]) < 1e-16 and energies[1] > 1e-5


def test_fibres_stiffen_one_direction():
    """Stretched along and across the yarns with nu = 0: E + Y and E."""
    young, more, strain = 1e5, 3e5, 1e-6
    for axis, modulus in ((0, young + more), (1, young)):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.corotated(young, 0.0, 1000)
        cloth = scene.add_cloth(pl.meshes.grid((1, 1), 3), material, 0.01, fibres=pl.Fibres((2, 0, 0), more))
        sim = scene.simulate(0.01)
        scale = np.ones(3)
        scale[axis] += strain
        sim.set_positions(cloth, cloth.nodes.positions * scale)
        assert sim.energy().elastic == pytest.approx(0.5 * modulus * strain**2 * 0.01, rel=1e-4)


def test_mass_momentum_and_free_fall():
    scene = pl.Scene(gravity=(0, 0, -10))
    cloth = scene.add_cloth(
        pl.meshes.disk(0.5, 4), pl.Material.stvk(1e5, 0.3, 700, damping=0.01), 0.002, velocity=(1, 0, 0)
    )
    sim = scene.simulate(0.01)
    assert cloth.mass == pytest.approx(700 * 0.002 * cloth.mesh.areas.sum())
    sim.step(20)
    # implicit Euler: v = g t, x = g h^2 n (n + 1) / 2
    assert np.allclose(sim.momentum().linear, [cloth.mass, 0, -2 * cloth.mass], rtol=1e-9)
    assert np.allclose(sim.positions(cloth)[:, 2], -10 * 0.01**2 * 210, atol=1e-9)


def test_damping_spends_what_motion_loses():
    """Without other forces energy never grows, and falls faster with damping; momentum stays."""
    lost = []
    for damping in (0.0, 0.02):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.corotated(1e4, 0.3, 500, damping=damping)
        cloth = scene.add_cloth(crumpled(), material, 0.02, flat=True, collide=False)
        sim = scene.simulate(0.002)
        sim.set_velocities(cloth, np.random.default_rng(2).standard_normal(cloth.nodes.positions.shape))
        before, first = sim.momentum(), sim.energy().total
        energies = [first]
        for _ in range(20):
            sim.step()
            energies.append(sim.energy().total)
        assert np.all(np.diff(energies) < 1e-9 * first)
        assert np.allclose(sim.momentum().linear, before.linear, atol=1e-9)
        assert np.allclose(sim.momentum().angular, before.angular, atol=2e-2 * np.linalg.norm(before.angular) + 1e-3)
        lost.append(first - energies[-1])
    assert lost[1] > 1.2 * lost[0]


def test_wind_pushes_along_and_lifts_across():
    """At rest, broadside: rho/2 A v^2 drag. At 45 degrees: drag along the wind, lift across it, each times cos 45."""
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.meshes.grid((2, 1), 4), pl.Material.corotated(1e5, 0.3, 500), 0.001)
    cloth.wind((0, 0, 3.0), drag=1.5, lift=0.5, density=1.2)
    model, state = build(scene)
    force, _ = wind_forces(model, state.x, state.v, 0.0)
    assert np.allclose(force.sum(axis=0), [0, 0, 0.5 * 1.2 * 2 * 9 * 1.5])
    # with the wind, nothing
    assert np.abs(wind_forces(model, state.x, np.broadcast_to([0, 0, 3.0], state.x.shape), 0.0)[0]).max() < 1e-12
    cloth.winds[0] = type(cloth.winds[0])((3.0, 0, 3.0), 1.5, 0.5, 1.2)
    model, state = build(scene)
    total = wind_forces(model, state.x, state.v, 0.0)[0].sum(axis=0)
    size, along, lee = 0.5 * 1.2 * 2 * 18 * np.sqrt(0.5), np.array([1, 0, 1]) * np.sqrt(0.5), np.array([-1, 0, 1])
    assert np.allclose(total, size * (1.5 * along + 0.5 * 0.5 * lee))


def test_a_light_sheet_in_a_storm_takes_the_speed_of_the_air():
    """Whatever the step: drag is met at the end of the step, and nothing overshoots."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), 3), pl.Material.corotated(1e4, 0.3, 100), 1e-5, collide=False)
    cloth.wind((0, 0, 50.0), lift=0)
    sim = scene.simulate(0.05)
    speeds = []
    for _ in range(60):
        sim.step()
        speeds.append(sim.velocities(cloth)[:, 2].mean())
    assert max(speeds) < 50.0 and speeds[-1] > 45 and np.all(np.diff(speeds) > -1e-9)


def test_folds_stay_where_the_surface_strain_was_beyond_yield():
    """Bent to a quarter circle by its clamped end and a moved edge, then released: what flowed stays bent."""
    left = {}
    for plasticity in (None, pl.Plasticity(0.005, 50, 0.5)):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.corotated(1e6, 0.3, 500, damping=0.01, plasticity=plasticity)
        cloth = scene.add_cloth(pl.meshes.grid((0.4, 0.1), (16, 4)), material, 0.01, collide=False)
        cloth.clamp(cloth.nodes.x < 1e-9)
        sim, x = scene.simulate(0.01), cloth.nodes.positions
        angle = np.maximum(x[:, 0] - 0.05, 0) / 0.2
        rolled = np.column_stack([np.minimum(x[:, 0], 0.05) + 0.2 * np.sin(angle), x[:, 1], 0.2 * (1 - np.cos(angle))])
        sim.set_positions(cloth, rolled)
        sim.step(100)
        left[plasticity is None] = sim.positions(cloth)[:, 2].max()
        fold = np.linalg.norm(sim.plastic_fold(cloth), axis=1).max()
        assert fold == 0 if plasticity is None else 0.001 < fold < 0.5
    assert left[True] < 0.01 and left[False] > 0.05


def test_newton_and_explicit_steps_agree():
    """The same motion with small steps: both are of first order, so half the step halves what they differ by."""

    def run(solver, h):
        scene = pl.Scene()
        cloth = scene.add_cloth(pl.meshes.grid((0.3, 0.2), (4, 3)), pl.Material.stvk(2e4, 0.3, 500), 0.01)
        cloth.clamp(cloth.nodes.x < 1e-9)
        sim = scene.simulate(h, solver=solver)
        sim.step(round(0.05 / h))
        return np.array(sim.positions(cloth))

    differences = [np.abs(run(pl.Newton(tolerance=1e-8), h) - run(pl.Explicit(), h)).max() for h in (4e-4, 2e-4)]
    assert differences[0] < 1e-3 and differences[1] == pytest.approx(differences[0] / 2, rel=0.1)


def test_a_matrix_free_step_is_the_same_step():
    found = []
    for linear in ("pcg", "matrix-free", "cholesky"):
        scene = pl.Scene()
        material = pl.Material.corotated(1e5, 0.3, 500, damping=0.01)
        cloth = scene.add_cloth(pl.meshes.grid((1, 1), 6), material, 0.01, fibres=pl.Fibres((1, 0, 0), 1e5))
        cloth.pin((cloth.nodes.x < 1e-9) & (cloth.nodes.y < 1e-9))
        sim = scene.simulate(0.02, solver=pl.Newton(tolerance=1e-7, linear=linear))
        sim.step(8)
        found.append(np.array(sim.positions(cloth)))
    assert np.abs(found[1] - found[0]).max() < 1e-5 and np.abs(found[2] - found[0]).max() < 1e-5


def rich_scene() -> pl.Scene:
    """A scene that says everything of cloth that files know."""
    scene = pl.Scene()
    material = pl.Material.corotated(1e5, 0.3, 400, damping=0.002)
    flag = scene.add_cloth(
        pl.meshes.grid((1, 1), 4, "mirrored"),
        material,
        0.001,
        name="flag",
        bend_stiffness=1e-5,
        fibres=pl.Fibres((1, 0, 0), 1e4),
        contact_distance=0.002,
        thins=False,
    )
    flag.clamp("x < 0.01", velocity=(0.1, 0, 0))
    flag.wind((5, 1, 0), drag=1.2)
    flag.pressure("all", pl.Keyframes((0, 1), (0.0, 3.0)))
    mesh = pl.meshes.grid((1, 0.5), 3)
    named = pl.meshes.TriMesh(mesh.points, mesh.triangles, {"edge": [0, 1, 2]})
    other = scene.add_cloth(named, material, 0.001, position=(0, 0, 3), name="other", flat=True)
    other.pin(pl.selections.InSet("edge"))
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 1), material, position=(4, 0, 0))
    return scene


def test_scene_file_and_checkpoint(tmp_path):
    scene = rich_scene()
    scene_file.save(scene, tmp_path / "cloth.toml")
    assert scene_file.same(scene, scene_file.read(tmp_path / "cloth.toml").scene)
    sim = scene.simulate(1 / 60)
    sim.step(2).checkpoint(tmp_path / "cloth.npz")
    resumed = pl.resume(tmp_path / "cloth.npz")
    assert np.array_equal(resumed.step(2).state.x, sim.step(2).state.x)
    sim.save(tmp_path / "cloth.vtu")
    sim.save(tmp_path / "cloth.png")
    mesh = (tmp_path / "cloth.vtu").read_bytes()
    assert b"stress" in mesh and (tmp_path / "cloth.png").stat().st_size > 1000


def test_threads_do_not_change_bits():
    runs = []
    for threads in (1, 2):
        sim = rich_scene().simulate(1 / 60, threads=threads)
        runs.append(sim.step(4).state.x.copy())
    assert np.array_equal(*runs)


def test_joints_hold_cloth():
    """A ball hangs from the middle of a sheet that is pinned at its rim; the joint carries its weight."""
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), 4), pl.Material.corotated(1e6, 0.3, 500, damping=0.05), 0.01)
    n = cloth.nodes
    cloth.pin((n.x < 1e-9) | (n.x > 1 - 1e-9) | (n.y < 1e-9) | (n.y > 1 - 1e-9))
    ball = scene.add_rigid(pl.Sphere(0.05), mass=1.0, position=(0.5, 0.5, -0.06))
    joint = scene.join(pl.Ball(ball, cloth, at=(0.5, 0.5, 0)))
    sim = scene.equilibrium()
    assert np.abs(sim.reaction(joint)[2]) == pytest.approx(9.81, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s, m, mat: s.add_cloth(pl.meshes.box((1, 1, 1), 1), mat, 0.01), "TriMesh"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.0), "thickness"),
        (lambda s, m, mat: s.add_cloth(m, mat, -1), "thickness"),
        (lambda s, m, mat: s.add_cloth(m, mat, float("nan")), "thickness"),
        (lambda s, m, mat: s.add_cloth(m, pl.Material.linear(1e5, 0.3, 100), 0.01), "knows no rotation"),
        (lambda s, m, mat: s.add_cloth(m, pl.Material.springs(1e5, 100), 0.01), "edges of tets"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01, bend_stiffness=-1), "bend_stiffness"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01, contact_distance=0), "contact_distance"),
        (lambda s, m, mat: s.add_cloth(m, mat, 1.1), "thickness of a cloth must be at most 1 m, .*got 1.1"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.1).set_thickness(1.1), "thickness of a cloth must be at most 1 m"),
        (
            lambda s, m, mat: s.add_cloth(m, mat, 0.01, contact_distance=0.6),
            "contact_distance of a cloth must be at most 0.5 m, half of the largest extent",
        ),
        (
            lambda s, m, mat: s.add_cloth(pl.meshes.sphere(0.2, 2).surface(), mat, 0.01),
            r"no triangle uses these points.*TriMesh\(points, triangles, repair=True\) leaves them out",
        ),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01, drawing=m), "drawing"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01, fibres=[1]), "Fibres"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01, fibres=pl.Fibres((0, 0, 1), 1)), "stand across triangle 0"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01).wind((1, 0, 0), drag=0, lift=0), "drag or a lift"),
        (lambda s, m, mat: s.add_cloth(m, mat, 0.01).wind((1, 0)), "wind velocity"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(pl.SceneError, match=words):
        make(pl.Scene(), pl.meshes.grid((1, 1), 2), pl.Material.corotated(1e5, 0.3, 100))


def test_sheets_as_thick_as_they_may_be():
    """What the messages above allow is allowed, and the boundary of tets is a sheet as they say."""
    scene, material = pl.Scene(), pl.Material.corotated(1e5, 0.3, 100)
    mesh, ball = pl.meshes.grid((1, 0.5), 2), pl.meshes.sphere(0.2, 2).surface()
    thick = scene.add_cloth(mesh, material, 1.0, contact_distance=0.5)
    assert thick.thickness == 1.0 and thick.layer == 0.5
    shell = pl.meshes.TriMesh(ball.points, ball.triangles, repair=True)
    assert len(scene.add_cloth(shell, material, 0.01).mesh.triangles) == len(ball.triangles)


def test_bad_sheets_are_refused_with_their_place():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [9, 9, 9.0]])
    material = pl.Material.corotated(1e5, 0.3, 100)
    for triangles, words in (
        ([[0, 1, 2], [1, 0, 3], [0, 1, 4]], r"more than two triangles: .*0.*1"),
        ([[0, 1, 2], [0, 1, 3]], r"disagree about their sides: .*0.*1"),
        ([[0, 1, 2], [1, 0, 3]], r"no mass: .*4"),
        ([[0, 1, 2], [0, 4, 3]], r"meet in these points alone.*: 0"),
    ):
        with pytest.raises(pl.SceneError, match=words):
            pl.Scene().add_cloth(pl.meshes.TriMesh(points, triangles), material, 0.01)


@pytest.mark.parametrize("solver", [pl.Dual(), pl.Xpbd(), pl.Linear()])
def test_solvers_without_rows_for_sheets_say_so(solver):
    scene = pl.Scene()
    scene.add_cloth(pl.meshes.grid((1, 1), 2), pl.Material.corotated(1e5, 0.3, 100), 0.01)
    with pytest.raises(pl.SceneError, match="Newton"):
        scene.simulate(0.01, solver=solver)


def test_statics_refuse_wind():
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), 2), pl.Material.corotated(1e5, 0.3, 100), 0.01)
    cloth.clamp(cloth.nodes.x < 1e-9)
    cloth.wind((1, 0, 0))
    with pytest.raises(pl.SceneError, match="wind"):
        scene.equilibrium()


def test_grids_and_disks():
    grid = pl.meshes.grid((2, 1), (4, 3))
    assert len(grid.triangles) == 24 and np.allclose(grid.areas.sum(), 2) and np.allclose(grid.normals, [0, 0, 1])
    assert len(pl.meshes.grid((2, 1), 3, "four").triangles) == 36
    disk = pl.meshes.disk(2.0, 12)
    assert len(disk.triangles) == 8 * 144 and disk.areas.sum() == pytest.approx(4 * np.pi, rel=0.01)
    with pytest.raises(pl.MeshError, match="pattern"):
        pl.meshes.grid((1, 1), 2, "five")
    with pytest.raises(pl.MeshError, match="size"):
        pl.meshes.grid((1, -1), 2)


def test_fans_of_triangles_are_counted_at_every_point():
    """Two cones apex to apex are pinched there, at no point of theirs else; a sheet with a hole is pinched nowhere."""
    around, following = np.arange(1, 7), np.roll(np.arange(1, 7), -1)
    cone = np.stack([np.zeros(6, int), around, following], axis=1)
    both = np.concatenate([cone, np.where(cone == 0, 0, cone + 6)])
    assert pinched_points(cone, 7).tolist() == []
    assert pinched_points(both, 13).tolist() == [0]
    grid = pl.meshes.grid((1, 1), 6)
    inside = np.all(np.abs(grid.points[grid.triangles].mean(axis=1)[:, :2] - 0.5) < 0.2, axis=1)
    assert inside.any() and pinched_points(grid.triangles[~inside], len(grid.points)).tolist() == []
