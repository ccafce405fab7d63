"""Tets of ten nodes: derivatives, patch tests, orders of convergence, beams and bars, every solver and reader."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.potential import ElementPotential
from pliant.kernels.laws import LAWS
from pliant.linalg.connectivity import block_pairs
from pliant.meshes.quadratic import GAUSS_POINTS, collapsed_rule, jacobians, shape_functions, shape_gradients
from pliant.model.build import build
from pliant.readers.strain import _deformations
from pliant.solve.matrices import mass_matrix, stiffness_matrix

VOLUME_LAWS = [name for name, law in LAWS.items() if law.volume and law.parameters]
CUSTOM = pl.Material.custom(
    lambda I1, J, mu, k: mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2, 1000, {"mu": 4e4, "k": 1e5}
)


def box(size=(1.0, 1.0, 1.0), cells=1, **options):
    return pl.meshes.box(size, cells=cells, **options).quadratic()


def ball():
    """A ball with curved faces: midpoints lie on the sphere too."""
    mesh = pl.meshes.sphere(0.5, 2)
    return mesh.quadratic(lambda p: 0.5 * p / np.linalg.norm(p, axis=1)[:, None])


def bent(mesh, amount, seed=0):
    """The mesh with its midpoints moved at random: curved tets."""
    random = np.random.default_rng(seed)
    points = mesh.points.copy()
    points[mesh.midpoints] += amount * random.uniform(-1, 1, (len(mesh.midpoints), 3))
    return pl.meshes.TetMesh(points, mesh.tets)


def model_of(mesh, material, **options):
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(mesh, material, **options)
    return build(scene)


def dense(model, blocks):
    """The matrix (3n, 3n) of element blocks (k, 9)."""
    row, column, place = block_pairs(model.elements.connectivity())
    matrix = np.zeros((model.node_count, 3, model.node_count, 3))
    values = blocks[place].reshape(-1, 3, 3)
    np.add.at(matrix.transpose(0, 2, 1, 3), (row, column), values)
    beside = row != column
    np.add.at(matrix.transpose(0, 2, 1, 3), (column[beside], row[beside]), values[beside].transpose(0, 2, 1))
    return matrix.reshape(3 * model.node_count, -1)


@pytest.mark.parametrize("law", [*VOLUME_LAWS, "custom"])
def test_forces_and_stiffness_are_derivatives(law):
    """Central differences on curved, turned and strained tets: forces and stiffness to 1e-6."""
    material = CUSTOM if law == "custom" else pl.Material(law, 1e5, 0.3, 1000)
    mesh = bent(box(cells=1, pattern="five"), 0.04)
    model, _ = model_of(mesh, material)
    random, potential = np.random.default_rng(1), ElementPotential(model.elements, model.node_count)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    x = (mesh.points + 0.03 * random.normal(size=mesh.points.shape)) @ turn.T
    direction, step = random.normal(size=x.shape), 1e-5
    energies = [potential.evaluate(x + s * step * direction)[0] for s in (1, -1)]
    forces = [potential.evaluate(x + s * step * direction)[2] for s in (1, -1)]
    _, _, force = potential.evaluate(x)
    assert np.sum(force * direction) == pytest.approx((energies[0] - energies[1]) / (2 * step), rel=1e-6)
    blocks = np.zeros((model.elements.block_count, 9))
    potential.blocks(potential.terms(1.0, project=False), blocks)
    expected = (forces[0] - forces[1]) / (2 * step)
    product = (dense(model, blocks) @ direction.ravel()).reshape(-1, 3)
    assert np.abs(product - expected).max() <= 1e-6 * np.abs(expected).max()


def test_damping_is_the_derivative_of_its_power_and_feels_no_rotation():
    """Forces are linear in the velocity; the power is twice the potential; a rigid motion costs nothing."""
    model, state = model_of(bent(box(), 0.03), pl.Material.corotated(1e5, 0.3, 1000, damping=0.1))
    potential = ElementPotential(model.elements, model.node_count)
    random = np.random.default_rng(2)
    x = state.x + 0.05 * random.normal(size=state.x.shape)
    potential.take_frames(x, model.elements.deform(x)[0])
    v = random.normal(size=x.shape)
    _, power, force = potential.evaluate(x, v)
    viscous = force - potential.evaluate(x)[2]
    assert np.sum(viscous * v) == pytest.approx(2 * power, rel=1e-12)
    # the frames are the polar factors of F at x: with F = I a rotation's velocity has no symmetric part
    potential.take_frames(state.x, model.elements.deform(state.x)[0])
    assert potential.evaluate(state.x, np.cross((1, 2, 3), state.x))[1] < 1e-20
    blocks = np.zeros((model.elements.block_count, 9))
    potential.take_frames(x, model.elements.deform(x)[0])
    potential.evaluate(x)
    potential.blocks(potential.terms(0.0, 1.0), blocks)
    assert np.allclose(dense(model, blocks) @ v.ravel(), viscous.ravel(), atol=1e-9 * np.abs(viscous).max())


def bending(points, curvature, poisson):
    """Pure bending about y: u (n, 3) with sigma_xx = E curvature z and no other stress."""
    x, y, z = points.T
    return curvature * np.stack([x * z, -poisson * y * z, -(x**2 + poisson * (z**2 - y**2)) / 2], axis=1)


@pytest.mark.parametrize("field", ["linear", "bending"])
def test_patch(field):
    """Boundary nodes prescribed by a linear or a quadratic displacement without body force: the interior follows, and
    stresses at the points are those of the field; relative 1e-10."""
    mesh, young, poisson = box((1.0, 0.8, 0.6), cells=2), 1e5, 0.3
    model, state = model_of(mesh, pl.Material.linear(young, poisson, 1000))
    gradient = 1e-3 * np.array([[1.0, 2, -1], [0.5, -1, 3], [2, 1, 0.5]])
    u = mesh.points @ gradient.T if field == "linear" else bending(mesh.points, 1e-3, poisson)
    outer = np.unique(mesh.boundary_elements)
    free = np.setdiff1d(np.arange(3 * len(u)), (3 * outer[:, None] + np.arange(3)).ravel())
    assert len(free) >= 3 * 20
    stiffness = stiffness_matrix(model, state).toarray()
    found = u.ravel().copy()
    found[free] = 0.0
    found[free] = np.linalg.solve(stiffness[np.ix_(free, free)], -(stiffness @ found)[free])
    assert np.abs(found - u.ravel()).max() <= 1e-10 * np.abs(u).max()
    (own,) = model.elements.sets
    potential = ElementPotential(model.elements, model.node_count)
    ((_, stress),) = potential.stresses(state.x + u)
    stress = own.point_values(stress).reshape(len(mesh.tets), 4, 3, 3)
    mu, lam = own.mu[0, 0], own.lam[0, 0]
    places = np.einsum("qa,mai->mqi", shape_functions(GAUSS_POINTS), mesh.points[mesh.tets])
    expected = np.zeros_like(stress)
    if field == "linear":
        strain = (gradient + gradient.T) / 2
        expected[:] = 2 * mu * strain + lam * np.trace(strain) * np.eye(3)
    else:
        expected[..., 0, 0] = young * 1e-3 * places[..., 2]
    assert np.abs(stress - expected).max() <= 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("curved", [False, True])
def test_mass_and_volume(curved):
    """All mass is there, lumped or consistent, and every node has some; volumes add up, and those of the Gauss points
    of straight tets are exact. Straight tets: 1/36 at corners, 4/27 at midpoints."""
    mesh = ball() if curved else box((2.0, 1.0, 0.5), cells=2)
    model, state = model_of(mesh, pl.Material.corotated(1e5, 0.3, 800))
    (own,) = model.elements.sets
    assert model.node_mass.min() > 0
    assert model.node_mass.sum() == pytest.approx(800 * mesh.volume, rel=1e-12)
    consistent = mass_matrix(model, state, consistent=True)
    assert consistent.sum() / 3 == pytest.approx(800 * mesh.volume, rel=1e-12)
    assert own.element_volumes.sum() == pytest.approx(mesh.volume, rel=1e-3 if curved else 1e-12)
    if not curved:
        assert np.allclose(
            own.lumped_mass(model.rest)[0] / own.lumped_mass(model.rest)[0].sum(), [1 / 36] * 4 + [4 / 27] * 6
        )


YOUNG, POISSON = 1.0, 0.3
MU, LAM = YOUNG / (2 * (1 + POISSON)), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
WAVES = np.array([[1.0, 0.7, -0.4], [0.5, 1.2, 0.8], [-0.6, 0.4, 1.1]]) * 1.5
SIZES = np.array([[0.3, 1.0, 0.5], [0.8, -0.2, 0.6], [0.4, 0.7, -0.9]])


def smooth(points):
    """A sum of waves: displacement (n, 3), its gradient (n, 3, 3), and the body force (n, 3) that holds it."""
    phase = points @ WAVES.T
    u = np.sin(phase) @ SIZES
    gradient = np.einsum("nw,wi,wj->nij", np.cos(phase), SIZES, WAVES)
    # -div sigma = mu |k|^2 a + (lam + mu) (k.a) k for a wave a sin(k.x)
    square, along = np.sum(WAVES**2, axis=1), np.sum(WAVES * SIZES, axis=1)
    force = np.sin(phase) @ (MU * square[:, None] * SIZES + (LAM + MU) * along[:, None] * WAVES)
    return u, gradient, force


def stress_of(gradient):
    strain = (gradient + np.swapaxes(gradient, -1, -2)) / 2
    return 2 * MU * strain + LAM * np.trace(strain, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)


def errors(cells):
    """L2 errors of displacement and stress of the smooth problem, boundary nodes prescribed."""
    from scipy.sparse.linalg import spsolve

    mesh = box(cells=cells)
    model, state = model_of(mesh, pl.Material.linear(YOUNG, POISSON, 1.0))
    places, weights = collapsed_rule(4)
    values, slopes = shape_functions(places), shape_gradients(places)
    jacobian = jacobians(mesh.points, mesh.tets, places)
    weight = np.linalg.det(jacobian) * weights
    points = np.einsum("qa,mai->mqi", values, mesh.points[mesh.tets])
    exact, gradient, force = (
        part.reshape(*points.shape[:2], *part.shape[1:]) for part in smooth(points.reshape(-1, 3))
    )
    load = np.zeros(mesh.points.shape)
    np.add.at(load, mesh.tets, np.einsum("mq,qa,mqi->mai", weight, values, force))
    u = smooth(mesh.points)[0].ravel()
    outer = np.unique(mesh.boundary_elements)
    free = np.setdiff1d(np.arange(len(u)), (3 * outer[:, None] + np.arange(3)).ravel())
    stiffness = stiffness_matrix(model, state).tocsr()
    u[free] = 0.0
    right = (load.ravel() - stiffness @ u)[free]
    u[free] = spsolve(stiffness[free][:, free].tocsc(), right)
    nodal = u.reshape(-1, 3)[mesh.tets]
    found = np.einsum("qa,mai->mqi", values, nodal)
    slope = np.einsum("mai,qak,mqkj->mqij", nodal, slopes, np.linalg.inv(jacobian))
    away = np.sum((found - exact) ** 2, axis=2)
    stress = np.sum((stress_of(slope) - stress_of(gradient)) ** 2, axis=(2, 3))
    return np.sqrt([np.sum(weight * away), np.sum(weight * stress)])


def test_orders_of_convergence():
    """A smooth manufactured solution: displacement of order 3 and stress of order 2 in L2, within 0.2."""
    coarse, fine = errors(3), errors(6)
    orders = np.log2(coarse / fine)
    assert orders == pytest.approx([3, 2], abs=0.2)


def test_a_slender_cantilever_two_cells_high():
    """P L^3 / (3 E I) + P L / (5/6 G A) at the end (Timoshenko, nu = 0), within 1 %: linear tets of this mesh lock."""
    length, side, young, load = 1.0, 0.05, 1e7, 0.01
    deflections = {}
    for order in (1, 2):
        mesh = pl.meshes.box((length, side, side), cells=(20, 2, 2))
        mesh = mesh.quadratic() if order == 2 else mesh
        scene = pl.Scene(gravity=(0, 0, 0))
        beam = scene.add_soft(mesh, pl.Material.linear(young, 0.0, 1000))
        beam.pin(beam.nodes.x < 1e-9)
        beam.traction(beam.faces.x > length - 1e-9, (0, 0, -load / side**2))
        sim = scene.equilibrium()
        end = beam.nodes.x > length - 1e-9
        deflections[order] = -(sim.positions(beam) - beam.nodes.positions)[end, 2].mean()
    expected = load * length**3 / (3 * young * side**4 / 12) + load * length / (5 / 6 * young / 2 * side**2)
    assert deflections[2] == pytest.approx(expected, rel=0.01)
    assert deflections[1] < 0.95 * expected


@pytest.mark.parametrize("mass, tolerance", [("lumped", 1e-2), ("consistent", 1e-4)])
def test_frequency_of_a_bar(mass, tolerance):
    """Clamped and free bar, nu = 0: axial modes (2k - 1) c / (4 L), c = sqrt(E / rho); sides held across."""
    scene = pl.Scene()
    bar = scene.add_soft(box((1.0, 0.1, 0.1), cells=(8, 1, 1)), pl.Material.linear(1e6, 0.0, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    bar.pin(bar.nodes.x > -1, axes="yz")
    frequencies = scene.modes(2, mass=mass).frequencies
    assert frequencies == pytest.approx(np.sqrt(1e6 / 1000) / 4 * np.array([1, 3]), rel=tolerance)


def falling_beam(solver, threads=None, damping=0.01, dt=0.01, steps=10, law="corotated", cells=(4, 2, 2)):
    scene = pl.Scene()
    beam = scene.add_soft(box((1.0, 0.2, 0.2), cells=cells), pl.Material(law, 1e6, 0.3, 1000, damping=damping))
    beam.pin(beam.nodes.x < 1e-9)
    sim = scene.simulate(dt=dt, solver=solver, threads=threads)
    return sim.step(steps), beam


def test_linear_solvers_agree():
    """Ten steps of a damped beam, to the tolerance of Newton's method beside the motion."""
    ends = {}
    for linear in ("cholesky", "pcg", "jacobi", "matrix-free", "superlu"):
        sim, beam = falling_beam(pl.Newton(linear=linear, tolerance=1e-5))
        assert sim.info.converged and sim.info.linear == linear
        ends[linear] = sim.positions(beam) - beam.nodes.positions
    for linear, end in ends.items():
        assert np.abs(end - ends["cholesky"]).max() <= 1e-4 * np.abs(end).max(), linear


@pytest.mark.parametrize("linear", ["pcg", "matrix-free"])
def test_threads_do_not_change_bits(linear):
    ends = [falling_beam(pl.Newton(linear=linear), threads, steps=3, cells=(6, 3, 3))[0].state.x for threads in (1, 2)]
    assert np.array_equal(*ends)


def test_linear_and_explicit_steps():
    """The constant matrix is Newton's answer for the linear law; short explicit steps are near implicit ones."""
    newton, beam = falling_beam(pl.Newton(tolerance=1e-7), law="linear")
    move = np.abs(newton.positions(beam) - beam.nodes.positions).max()
    for factor in ("cholesky", "lu", "cg"):
        linear, other = falling_beam(pl.Linear(factor), law="linear")
        assert np.abs(linear.positions(other) - newton.positions(beam)).max() <= 1e-6 * move
    consistent, other = falling_beam(pl.Linear(mass="consistent"), law="linear")
    assert np.abs(consistent.positions(other) - newton.positions(beam)).max() <= 0.05 * move
    short = {"damping": 0.0, "dt": 2e-4, "steps": 100, "cells": (3, 1, 1)}
    implicit, beam = falling_beam(pl.Newton(tolerance=1e-6), **short)
    explicit, other = falling_beam(pl.Explicit("rk4"), **short)
    move = np.abs(implicit.positions(beam) - beam.nodes.positions).max()
    assert np.abs(explicit.positions(other) - implicit.positions(beam)).max() <= 0.05 * move


@pytest.mark.parametrize("solver", [pl.Dual(), pl.Dual(eliminate=True), pl.Xpbd()])
def test_solvers_of_rows_refuse_them(solver):
    scene = pl.Scene()
    scene.add_soft(box(), pl.Material.corotated(1e5, 0.3, 1000), name="cube")
    with pytest.raises(pl.SceneError, match=r"has no rows for tets of ten nodes, which body 'cube' has"):
        scene.simulate(0.01, solver=solver)


def test_springs_need_tets_of_four_nodes():
    scene = pl.Scene()
    scene.add_soft(box(), pl.Material.springs(1e5, 1000), name="net")
    with pytest.raises(pl.SceneError, match="'net' is a net of springs, which needs a mesh of tets of four nodes"):
        scene.simulate(0.01)


@pytest.mark.parametrize("load", ["traction", "pressure", "force"])
def test_uniform_loads_make_uniform_stress(load):
    """Consistent loads on faces of six nodes: a block pulled at its end is stressed uniformly; relative 1e-6."""
    scene = pl.Scene(gravity=(0, 0, 0))
    block = scene.add_soft(box((1.0, 0.5, 0.5), cells=2), pl.Material.linear(1e5, 0.3, 1000))
    block.pin(block.nodes.x < 1e-9, axes="x")
    block.pin(block.nodes.y < 1e-9, axes="y")
    block.pin(block.nodes.z < 1e-9, axes="z")
    end = block.faces.x > 1 - 1e-9
    if load == "traction":
        block.traction(end, (10.0, 0, 0))
    elif load == "pressure":
        block.pressure(end, -10.0)
    else:
        block.force(block.nodes.x > 1 - 1e-9, (2.5, 0, 0), spread="area")
    sim = scene.equilibrium(solver=pl.Newton(tolerance=1e-9, max_iterations=200))
    assert np.allclose(sim.stress(block), [10, 0, 0, 0, 0, 0], atol=1e-2 if load == "pressure" else 1e-6)
    reaction = sim.reaction(block.pins[0])
    assert reaction[0] == pytest.approx(-2.5, rel=1e-3)


def test_following_pressure_is_the_derivative_of_the_volume():
    """f = -p dV/dx over a closed surface, curved faces included (exact quadrature); the stiffness by differences."""
    from pliant.meshes.face_rules import area_load_changes, area_loads

    mesh = ball()
    random = np.random.default_rng(3)
    x, move, step = (
        mesh.points + 0.01 * random.normal(size=mesh.points.shape),
        random.normal(size=mesh.points.shape),
        1e-6,
    )

    def loads(points):
        total = np.zeros_like(points)
        np.add.at(total, mesh.boundary_elements, area_loads(points, mesh.boundary_elements))
        return total

    volumes = [pl.meshes.TetMesh.trusted(x + s * step * move, mesh.tets).volume for s in (1, -1)]
    assert np.sum(loads(x) * move) == pytest.approx((volumes[0] - volumes[1]) / (2 * step), rel=1e-7)
    change = np.zeros_like(x)
    np.add.at(change, mesh.boundary_elements, area_load_changes(x, move, mesh.boundary_elements))
    assert np.allclose(change, (loads(x + step * move) - loads(x - step * move)) / (2 * step), atol=1e-8)


def test_creep_at_every_point():
    """All nodes held at 20 % stretch: the elastic strain decays by (1 - c dt) a step (Mueller and Gross 2004)."""
    plasticity = pl.Plasticity(yield_strain=0.02, creep=2.0, max_strain=0.9)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(box(), pl.Material.corotated(1e4, 0.0, 1000, plasticity=plasticity))
    body.pin(body.nodes.x > -1)
    sim = scene.simulate(dt=0.01)
    sim.set_positions(body, body.nodes.positions * [1.2, 1, 1])
    sim.step(50)
    assert sim.state.plastic_strain.shape[0] == 4 * sim.model.elements.sets[0].groups
    elastic = sim.strain(body) - sim.plastic_strain(body)
    assert np.allclose(elastic[:, 0], 0.2 * 0.98**50, rtol=1e-9)


def test_readers():
    """Uniform stretch of a turned body: F, strains and stress at elements and nodes are those of the stretch."""
    mesh = bent(box(), 0.03)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(mesh, pl.Material.neohookean(1e5, 0.3, 1000), rotation=(0.8, 0.6, 0, 0))
    sim = scene.simulate(0.01)
    stretch = np.diag([1.1, 1.0, 0.95])
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    sim.set_positions(body, mesh.points @ (turn @ stretch).T)
    assert np.allclose(sim.deformation_gradient(body), turn @ stretch)
    assert np.allclose(sim.strain(body), [0.1, 0, -0.05, 0, 0, 0])
    assert np.allclose(sim.strain(body, at="nodes"), [0.1, 0, -0.05, 0, 0, 0])
    assert np.allclose(sim.strain(body, measure="green"), [0.105, 0, -0.04875, 0, 0, 0])
    stress = sim.stress(body)
    assert np.allclose(stress, stress[0]) and sim.von_mises(body, at="nodes").shape == (len(mesh.points),)
    assert sim.energy().elastic == pytest.approx(neohookean(stretch) * sim.model.elements.sets[0].element_volumes.sum())
    assert _deformations(mesh.points, sim.positions(body), mesh.tets).shape == (len(mesh.tets), 4, 3, 3)


def neohookean(stretch):
    """mu/2 (I1 - 3) - mu ln J + lam/2 ln^2 J for E = 1e5, nu = 0.3."""
    mu, lam, jacobian = 1e5 * MU, 1e5 * LAM, np.linalg.det(stretch)
    return mu / 2 * (np.trace(stretch**2) - 3) - mu * np.log(jacobian) + lam / 2 * np.log(jacobian) ** 2


def test_joints_contacts_and_files(tmp_path):
    """A cube with a ball hung from it rests on a plane: contacts carry all weight; it is saved, drawn, resumed."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    material = pl.Material.corotated(1e5, 0.3, 1000, damping=0.02)
    mesh = box((0.2, 0.2, 0.2), cells=2)
    cube = scene.add_soft(mesh, material, position=(0, 0, 0.001), name="cube")
    ball = scene.add_rigid(pl.Sphere(0.02), mass=0.5, position=(0.1, 0.1, 0.25), name="ball", collide=False)
    scene.join(pl.Fixed(ball, cube, at=(0.1, 0.1, 0.2), nodes=cube.nodes.z > 0.2))
    sim = scene.simulate(0.01).step(150)
    assert sim.contacts.count == np.count_nonzero(mesh.points[:, 2] < 1e-9)
    assert sim.contacts.impulses[:, 0].sum() / 0.01 == pytest.approx(8.5 * 9.81, rel=1e-2)
    sim.save(tmp_path / "cube.png", size=(200, 150), color="stress")
    sim.save(tmp_path / "cube.vtu")
    sim.checkpoint(tmp_path / "cube.npz")
    again = pl.resume(tmp_path / "cube.npz")
    assert np.array_equal(again.step(2).state.x, sim.step(2).state.x)


def test_a_ball_joint_hangs_on_a_face():
    """A rod from a point of a quadratic face: its reaction is the weight that hangs."""
    scene = pl.Scene()
    cube = scene.add_soft(box((0.2, 0.2, 0.2), cells=1), pl.Material.corotated(1e6, 0.3, 1000, damping=0.02))
    cube.pin(cube.nodes.z > 0.2 - 1e-9)
    ball = scene.add_rigid(pl.Sphere(0.02), mass=0.5, position=(0.08, 0.07, -0.1), collide=False)
    joint = scene.join(pl.Ball(ball, cube, at=(0.08, 0.07, -0.02)))
    sim = scene.simulate(0.01).step(300)
    assert abs(sim.reaction(joint)[2]) == pytest.approx(0.5 * 9.81, rel=0.02)


@pytest.mark.parametrize("law", ["neohookean", "corotated"])
def test_a_scrambled_cube_recovers(law):
    """Nodes moved at random by 0.4 of the size, most tets inside out: pulled back to shape, to 1e-4."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(box(cells=1), pl.Material(law, 1e5, 0.3, 1000, damping=0.05, mass_damping=2.0))
    sim = scene.simulate(0.02)
    move = 0.4 * np.random.default_rng(5).uniform(-1, 1, body.nodes.positions.shape)
    sim.set_positions(body, body.nodes.positions + move)
    with pytest.warns(UserWarning, match="turned inside out"):
        sim.step(150)
    edges = [
        np.linalg.norm(p[body.mesh.edges[:, 0]] - p[body.mesh.edges[:, 1]], axis=1)
        for p in (sim.positions(body), body.mesh.points)
    ]
    assert np.abs(edges[0] - edges[1]).max() <= 1e-4
