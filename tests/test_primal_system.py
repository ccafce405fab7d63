"""The matrix of Newton's method against a dense sum of the elements' blocks."""

import numpy as np
import pytest

import pliant as pl
from law_states import rotation
from pliant import demo
from pliant.kernels.cpu.linalg.augmented import apply_augmented
from pliant.kernels.cpu.linalg.pcg import multiply
from pliant.kernels.cpu.linalg.two_level import apply_two_level
from pliant.kernels.elements import ElementTerms
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import Augmented
from pliant.linalg.connectivity import lower_pairs
from pliant.rows.table import Rows
from pliant.solve.newton.matrix_free import MatrixFreeSystem
from pliant.solve.newton.primal_system import PrimalSystem

# numbers of nodes 27, 32, 48, 64: some fill whole lanes of 16, so that the last place of the last slice is a node
CELLS = ((2, 2, 2), (1, 3, 3), (2, 3, 3), (3, 3, 3))


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("linear", ["cholesky", "pcg"])
def test_assembled_matrix_is_the_sum_of_its_parts(cells, linear):
    """A = M + sum of element blocks with prescribed rows and columns of the unit matrix: rounding of the matrix's
    precision, float64 with factors, else float32."""
    random = np.random.default_rng(1)
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1.0, 1.0, 1.0), cells=cells), pl.Material.corotated(1e5, 0.3, 1000))
    body.pin(body.nodes.x < 0.01, axes="xz")
    model = scene.simulate(dt=0.01, threads=1).model
    system = PrimalSystem(model, Rows.empty(model.joints.start), linear)
    n, (elements,) = model.triple_count, model.elements.connectivity()
    mass = random.uniform(1, 2, (n, 1, 1)) * np.eye(3)
    dense = np.zeros((n, 3, n, 3))
    dense[np.arange(n), :, np.arange(n)] += mass
    for first, tet in zip(elements.first, elements.nodes):
        half = random.normal(size=(12, 12))
        whole = half @ half.T
        for k, (i, j) in enumerate(lower_pairs(4)):
            system.blocks[first + k] = whole[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].ravel()
        for i, a in enumerate(tet):
            for j, b in enumerate(tet):
                dense[a, :, b] += whole[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
    dense = dense.reshape(3 * n, 3 * n) * np.outer(system.free, system.free) + np.diag(1 - system.free.ravel())
    rows = Rows.empty(model.joints.start)
    system.assemble(mass, rows, np.zeros((rows.slices, 6, 16)), model.rest)
    x = random.normal(size=(n, 3))
    packed = system.pattern.pack(x, system.dtype)
    out = np.empty_like(packed)
    multiply(system.matrix, system.rows, system.packed_free, packed, out, False)
    rounding = 100 * np.finfo(system.dtype).eps
    assert np.abs(system.pattern.unpack(out).ravel() - dense @ x.ravel()).max() <= rounding * np.abs(dense).max()
    right = system.free * random.normal(size=(n, 3))
    answer, _ = system.solve(right, 1e-5)
    assert np.linalg.norm(dense @ answer.ravel() - right.ravel()) <= 1e-3 * np.linalg.norm(right)


def element_terms(sim, random) -> list[ElementTerms]:
    """The stiffness of a model's elements at random frames, with random moduli and damping."""
    (own,) = sim.model.elements.sets
    groups = own.groups
    frames = np.empty((groups, 21, LANES))
    for group in range(groups):
        for lane in range(LANES):
            frames[group, :9, lane] = rotation(random).ravel()
            frames[group, 12:, lane] = rotation(random).ravel()
    moduli = random.uniform(1, 2, (groups, 12, LANES)) * own.volume[:, None]
    turns, _ = sim.model.elements.deform(sim.state.x + 0.2 * random.normal(size=sim.state.x.shape))
    weight = 1e-5 * own.volume
    return [ElementTerms(frames, own.gradients, moduli, True, own.gradients, turns, own.lam, own.mu, weight)]


def test_matrix_free_products_are_those_of_the_matrix():
    """Both in float32: rounding, for a pinned body with damping; and the diagonal blocks of the preconditioner."""
    random = np.random.default_rng(2)
    scene = pl.Scene()
    material = pl.Material.corotated(1e5, 0.3, 1000, damping=0.01)
    body = scene.add_soft(pl.meshes.box((1.0, 0.6, 0.5), cells=(3, 2, 2)), material)
    body.pin(body.nodes.x < 0.01, axes="yz")
    scene.add_rigid(pl.Sphere(0.1), density=100, position=(2, 0, 0))
    sim = scene.simulate(dt=0.01, threads=1)
    rows, terms = Rows.empty(sim.model.joints.start), element_terms(sim, random)
    mass = random.uniform(1, 2, (sim.model.triple_count, 1, 1)) * np.eye(3)
    x, products, inverses = random.normal(size=(sim.model.triple_count, 3)), [], []
    for system in (PrimalSystem(sim.model, rows, "jacobi"), MatrixFreeSystem(sim.model)):
        system.take(terms)
        system.assemble(mass, rows, np.zeros((rows.slices, 6, LANES)), None)
        packed = system.pattern.pack(x * system.free, system.dtype)
        out = np.empty_like(packed)
        multiply(system.matrix, system.rows, system.packed_free, packed, out, False)
        products.append(system.pattern.unpack(out))
        blocks = system.inverse.transpose(0, 2, 1).reshape(-1, 9)[system.pattern.place]
        inverses.append(blocks)
    assert np.abs(products[0] - products[1]).max() <= 1e-5 * np.abs(products[0]).max()
    assert np.abs(inverses[0] - inverses[1]).max() <= 1e-4 * np.abs(inverses[0]).max()


def test_joints_that_turn_are_closed_by_the_systems_of_the_first_iterations():
    """A chain that swings beside soft bodies: rows and preconditioner follow its joints, so that gaps which their
    curvature leaves close at once, and not by more iterations."""
    scene = pl.Scene()
    demo.add_beam_with_ball(scene)
    demo.add_wrecking_ball(scene, tilt=-0.12)
    clay = pl.Material.corotated(young=8e4, poisson=0.35, density=500, damping=0.005)
    scene.add_soft(pl.meshes.box((0.42, 0.42, 0.42), cells=6), clay, position=(5, 5, 5))
    sim, newton, products = scene.simulate(dt=1 / 60), 0, 0
    for _ in range(20):
        sim.step()
        assert sim.info.converged and sim.info.linear == "pcg"
        newton, products = newton + sim.info.newton_iterations, products + sim.info.iterations
    assert newton <= 46 and products <= 950


def touching_bodies_in_joints() -> pl.Simulation:
    """A soft block on the floor, from which a rigid ball hangs that holds another, after a few steps."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    soft = pl.Material.corotated(young=1e5, poisson=0.3, density=500)
    block = scene.add_soft(pl.meshes.box((0.4, 0.4, 0.4), cells=4), soft, position=(0, 0, 0))
    ball = scene.add_rigid(pl.Sphere(0.05), density=800, position=(0.55, 0.2, 0.3))
    last = scene.add_rigid(pl.Sphere(0.05), density=800, position=(0.7, 0.2, 0.3))
    scene.join(pl.Ball(block, ball, at=(0.4, 0.2, 0.3)))
    scene.join(pl.Ball(ball, last, at=(0.62, 0.2, 0.3)))
    return scene.simulate(dt=1 / 60, solver=pl.Newton(linear="pcg"), threads=1).step(3)


def test_joints_are_met_by_the_preconditioner_and_rows_are_in_its_blocks():
    """P^-1 of the preconditioner is the inverse of P0 + J^T G J with all rows of joints (Woodbury), whatever slices
    their answers reach; the inverse blocks of the diagonal are those of the whole matrix, also after contacts have
    opened and closed."""
    sim = touching_bodies_in_joints()
    system, n = sim.working_solver.system, sim.model.triple_count
    own = system.preconditioner
    assert isinstance(own, Augmented) and len(own.which) == 6
    assert np.ptp(own.extent, axis=1).min() < system.pattern.slices  # joints of rigid bodies alone move few

    def matrix(apply) -> np.ndarray:
        columns = [np.empty_like(system.x) for _ in range(3 * n)]
        for column, unit in zip(columns, np.eye(3 * n)):
            apply(system.pattern.pack(unit.reshape(n, 3), system.dtype), column)
        return np.stack([system.pattern.unpack(column).ravel() for column in columns], axis=1)

    base = matrix(lambda x, out: apply_two_level(own.base, x, out))
    whole = matrix(lambda x, out: apply_augmented(own, x, out))
    jacobian, stiffness = np.zeros((len(own.which), n, 3)), np.zeros(len(own.which))
    places = {int(place): i for i, place in enumerate(system.offsets)}
    for k, (slice_, row, lane) in enumerate(own.which):
        stiffness[k] = system.rows.weight[slice_, row, lane]
        for e in range(own.start[slice_], own.start[slice_ + 1]):
            i = places[int(own.offset[e, lane])]
            jacobian[k, i] += own.jacobian[e, 3 * row : 3 * row + 3, lane]
    jacobian = (jacobian * system.free).reshape(len(own.which), -1)
    middle = np.linalg.inv(np.diag(1 / stiffness) + jacobian @ base @ jacobian.T)
    exact = base - base @ jacobian.T @ middle @ jacobian @ base
    assert np.abs(whole - exact).max() <= 1e-4 * np.abs(exact).max()

    contacts = np.arange(system.rows.weight.shape[0]) >= system.joint_slices
    for share in (1.0, 0.0, 0.5):  # contacts as they are, open, and softer
        system.renew_contacts(np.where(contacts[:, None, None], share, 1.0) * system.rows.weight)
        dense = np.stack([system.product(each.reshape(n, 3)).ravel() for each in np.eye(3 * n)], axis=1)
        rows = [system.pattern.unpack(np.ascontiguousarray(system.inverse[:, 3 * r : 3 * r + 3])) for r in range(3)]
        moving = np.flatnonzero(system.free.all(axis=1))
        for i in moving:
            block = dense.reshape(n, 3, n, 3)[i, :, i]
            found = np.stack([row[i] for row in rows])
            assert np.abs(found @ block - np.eye(3)).max() <= 1e-3


@pytest.mark.parametrize("linear", ["pcg", "jacobi", "matrix-free"])
def test_few_bodies_in_joints_are_solved_to_a_part_of_the_energy(linear):
    """What iterations leave of a solution is at most their tolerance of it in the energy norm, also where light bodies
    hold heavy ones: their preconditioned residual falls long before."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1.0, 0.5, 0.5), cells=(3, 1, 1)), pl.Material.corotated(1e9, 0.3, 8000))
    light = scene.add_rigid(pl.Sphere(0.4), density=1, position=(1.6, 0.25, 0.25), collide=False)
    heavy = scene.add_rigid(pl.Box((0.4, 0.4, 0.4)), density=9000, position=(2.4, 0.25, 0.25), collide=False)
    scene.join(pl.Fixed(body, light, at=(1.1, 0.25, 0.25)))
    scene.join(pl.Ball(light, heavy, at=(2.0, 0.25, 0.3)))
    sim = scene.simulate(dt=0.02, solver=pl.Newton(linear=linear), threads=1).step()
    system, random, n = sim.working_solver.system, np.random.default_rng(0), sim.model.triple_count
    dense = np.stack([system.product(each.reshape(n, 3)).ravel() for each in np.eye(3 * n)], axis=1)
    for right in random.normal(size=(5, n, 3)) * system.local_norm(np.ones((n, 3))):
        exact = np.linalg.solve(dense, right.ravel())
        error = system.solve(right, 0.1)[0].ravel() - exact
        assert np.sqrt(error @ dense @ error) <= 0.1 * np.sqrt(exact @ dense @ exact)
