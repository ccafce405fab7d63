"""Block L D L^T and small inverses: as accurate as their numbers allow, whatever their size and condition."""

import numpy as np
import pytest
from scipy.sparse import bsr_matrix, diags
from scipy.sparse.linalg import splu

import pliant as pl
from pliant.formulas.matrix3 import symmetric_inverse
from pliant.kernels.cpu.linalg.block_ldl import inverse_diagonals, restrict, solve_factored
from pliant.kernels.cpu.linalg.scatter import scatter_rows
from pliant.kernels.cpu.linalg.sliced import fill_slices, gather_sums, invert_diagonals
from pliant.kernels.cpu.linalg.two_level import factorise_dense, solve_dense
from pliant.kernels.device import HOST
from pliant.kernels.lanes import LANES
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.linalg.constant import Cholesky, assemble
from pliant.linalg.sliced import sliced_pattern
from pliant.solve.linear import ElementMatrices, _times_identity

STEEL = {"young": 2e11, "poisson": 0.3, "density": 7800}
STEP, STEPS = 1 / 60, 60


@pytest.fixture(scope="module")
def free_body():
    """Stiffness (its six rigid motions are its null space) and lumped mass of a cube of unit material, as blocks."""
    scene = pl.Scene()
    material = pl.Material.linear(young=1.0, poisson=0.3, density=1.0)
    scene.add_soft(pl.meshes.box((1, 1, 1), cells=(3, 3, 3)), material)
    model = scene.simulate(dt=STEP, solver=pl.Linear(factor="lu")).model
    elements = ElementMatrices(model.elements.sets[0], model)
    stiffness = assemble(model.node_count, [(elements.nodes, elements.stiffness)]).tocsr()
    mass = assemble(model.node_count, [(elements.nodes, _times_identity(elements.lumped))]).tocsr()
    return (stiffness + stiffness.T) / 2, mass


def _backward_error(matrix, x: np.ndarray, b: np.ndarray) -> float:
    """|A x - b| / (|A| |x| + |b|), largest components: rounding for a stable solver (Rigal and Gaches 1967)."""
    norm = abs(matrix).sum(axis=1).max()
    return float(np.abs(matrix @ x - b).max() / (norm * np.abs(x).max() + np.abs(b).max()))


@pytest.mark.parametrize("exponent", range(0, 13, 2))
def test_factors_are_backward_stable_at_any_condition(free_body, exponent):
    """A free body held by little mass, conditions 2e2 to 2e14: residuals and answers as SuperLU's."""
    stiffness, mass = free_body
    matrix = (stiffness + 10.0**-exponent * mass).tobsr((3, 3))
    rng = np.random.default_rng(exponent)
    exact = 1 + 1e-3 * rng.normal(size=matrix.shape[0])  # mostly a rigid motion, the hardest
    b = matrix @ exact
    x = Cholesky(HOST, matrix.copy()).solve(b.reshape(-1, 3))[0].ravel()
    library = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    reference = library.solve(b)
    assert _backward_error(matrix, x, b) < 1e-15
    error, allowed = np.abs(x - exact).max(), np.abs(reference - exact).max()
    assert error < 10 * allowed + 1e-15 * np.linalg.cond(matrix.toarray())


def test_factors_of_badly_scaled_bodies(free_body):
    """Nodes whose numbers differ by 1e24 (a diagonal scaling, which elimination does not feel): as SuperLU."""
    stiffness, mass = free_body
    scale = diags(np.repeat(10.0 ** np.random.default_rng(0).uniform(-12, 12, stiffness.shape[0] // 3), 3))
    matrix = (scale @ (stiffness + mass) @ scale).tobsr((3, 3))
    exact = 1 / scale.diagonal()
    x = Cholesky(HOST, matrix.copy()).solve((matrix @ exact).reshape(-1, 3))[0].ravel()
    assert np.abs(x / exact - 1).max() < 1e-12


def test_pivots_of_rounding_do_not_change_sign(free_body):
    """Without any mass the last pivots are rounding; solves stay finite and the inverse positive."""
    stiffness, _ = free_body
    cholesky = Cholesky(HOST, bsr_matrix(stiffness, blocksize=(3, 3)))
    assert np.all(cholesky.factor.pivot[:, 3:] > 0)
    b = np.random.default_rng(0).normal(size=(stiffness.shape[0] // 3, 3))
    x, _ = cholesky.solve(b)
    assert np.all(np.isfinite(x)) and np.sum(x * b) > 0


def test_negative_matrices_keep_their_sign():
    """Newton's method finds out by it that a Hessian is not positive: r^T A^-1 r < 0."""
    pattern = BlockPattern.of_pairs(HOST, 1, np.zeros(0, int), np.zeros(0, int))
    x = np.array([[1.0, 2.0, 3.0]])
    solve_factored(factor(pattern, -np.diag([2.0, 4.0, 8.0])[None]), x)
    assert np.allclose(x, [[-0.5, -0.5, -0.375]], rtol=1e-15)


def _random_blocks(count: int) -> np.ndarray:
    """Symmetric positive blocks (count, 3, 3) of unit size and condition up to 30."""
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    return np.einsum("nik,nk,njk->nij", basis, rng.uniform(0.1, 3.0, (count, 3)), basis)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_inverse_blocks_at_any_size(dtype, tolerance):
    """Diagonal blocks from 1e-30 to 1e+30, each with its own size: relative errors against NumPy's inverse."""
    blocks = _random_blocks(LANES)
    size = 10.0 ** np.linspace(-30, 30, LANES)
    stored = (blocks * size[:, None, None]).astype(dtype)
    values = np.ascontiguousarray(stored.reshape(LANES, 9).T[None])
    out = np.empty((1, 9, LANES), dtype)
    invert_diagonals(np.array([0, 1]), values, np.zeros_like(values), out)
    found = out[0].T.reshape(LANES, 3, 3).astype(float) * size[:, None, None]
    expected = np.linalg.inv(stored.astype(float) / size[:, None, None])
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


def test_inverse_blocks_are_positive_whatever_they_are():
    """Nothing at all stays nothing, next to components of any size; a negative block gets a positive inverse."""
    blocks = np.zeros((LANES, 3, 3), np.float32)
    blocks[0] = np.diag([1e-20, 0.0, 1.0])
    blocks[1] = -np.eye(3)
    values = np.ascontiguousarray(blocks.reshape(LANES, 9).T[None])
    out = np.empty((1, 9, LANES), np.float32)
    invert_diagonals(np.array([0, 1]), values, np.zeros_like(values), out)
    inverse = out[0].T.reshape(LANES, 3, 3)
    assert np.allclose(inverse[0] * [[1e-20], [1], [1]], np.diag([1, 0, 1]), rtol=1e-6)
    assert np.allclose(inverse[1], np.eye(3)) and np.all(inverse[2:] == 0)


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1.0, 1e30, 1e100])
def test_symmetric_inverses_at_any_size(size):
    """Voigt inverses of one matrix times `size`, by the formula and by the loop over a matrix's diagonal blocks."""
    block = _random_blocks(1)[0]
    order = ([0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1])
    expected = np.linalg.inv(block)[order] / size
    found = symmetric_inverse(tuple((size * block)[order]))
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-14 / size)
    out = np.empty((1, 6))
    inverse_diagonals(np.array([0]), size * block[None], out)
    assert np.allclose(out[0], expected, rtol=1e-13, atol=1e-14 / size)


def test_dense_factors_at_any_size():
    """A dense matrix whose rows differ by 1e60, and one row with nothing: as NumPy on the scaled matrix."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(8, 8))
    plain, scale = root @ root.T + np.eye(8), 10.0 ** np.linspace(-30, 30, 8)
    matrix = np.zeros((9, 9))
    matrix[:8, :8] = plain * np.outer(scale, scale)
    factorise_dense(matrix)
    x = np.concatenate([scale, [5.0]])
    solve_dense(matrix, x)
    assert np.allclose(x[:8] * scale, np.linalg.solve(plain, np.ones(8)), rtol=1e-11)
    assert x[8] == 0.0


def test_prescribed_components_leave_small_numbers_as_they_are():
    """Unit rows beside blocks of 1e-30 (compiled sums are reassociated: 1 - 1 + 1e-30 must not be formed)."""
    block = 1e-30 * _random_blocks(1)[0]
    free = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    kept = [block, block * np.outer(free[1], free[1]) + np.diag(1 - free[1])]
    values = np.stack([block, block])
    restrict(np.arange(2), np.array([0, 1, 2]), np.arange(2), free, values)
    assert np.array_equal(values, kept)
    for dtype in (np.float32, np.float64):
        pattern = sliced_pattern(HOST, 2, [])
        out, no_blocks, sums = (np.zeros((rows, 9), dtype) for rows in (len(pattern.column) * LANES, 1, 1))
        out = out.reshape(-1, 9, LANES)
        gathering = pattern.gathering(free)
        gather_sums(gathering, no_blocks, sums)
        fill_slices(gathering, pattern.start, sums, np.stack([block, block]), out)
        found = out[0].T[pattern.place].reshape(2, 3, 3)
        assert np.array_equal(found, np.array(kept, dtype))


FALLING = {
    "linear": (pl.Linear(), pl.Material.linear),
    "dual, linear": (pl.Dual(eliminate=True), pl.Material.linear),
    "dual, corotated": (pl.Dual(eliminate=True), pl.Material.corotated),
    "newton": (pl.Newton(linear="cholesky"), pl.Material.corotated),
}


@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("size", [1e-2, 3e-3, 1e-3])
def test_small_steel_cubes_fall_freely(name, size):
    """Steel of some millimetres in a step of 1/60 s is 1e10 to 1e12 times stiffer than heavy: it falls as g t, and
    nothing stretches it."""
    solver, law = FALLING[name]
    scene = pl.Scene(gravity=(0, 0, -9.81))
    cube = scene.add_soft(pl.meshes.box((size, size, size), cells=(3, 3, 3)), law(**STEEL))
    sim = scene.simulate(dt=STEP, solver=solver)
    before = _distances(sim.positions(cube))
    for _ in range(STEPS):
        sim.step()
        assert sim.info.converged and sim.info.residual < 1e-6
    stretch = _distances(sim.positions(cube)) / before
    speed = 9.81 * STEP * STEPS
    assert np.abs(stretch - 1).max() < 1e-9  # positions 5 m away have 1e-15 m, 1e-12 of the smallest cube
    assert np.abs(sim.velocities(cube) - [0, 0, -speed]).max() < 1e-9 * speed


def test_a_stiff_cube_turns_in_free_flight():
    """A 3 mm steel cube that spins: its centre flies straight, its spin stays, to second order in the angle a step."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cube = scene.add_soft(pl.meshes.box((3e-3, 3e-3, 3e-3), cells=(2, 2, 2)), pl.Material.corotated(**STEEL))
    sim = scene.simulate(dt=1e-3, solver=pl.Dual(eliminate=True))
    arms = sim.positions(cube) - sim.positions(cube).mean(axis=0)
    sim.set_velocities(cube, np.array([1.0, 0, 0]) + np.cross([0, 0, 10.0], arms))
    before = _distances(sim.positions(cube))
    sim.step(100)
    assert np.abs(_distances(sim.positions(cube)) / before - 1).max() < 1e-3
    assert np.allclose(sim.velocities(cube).mean(axis=0), [1, 0, 0], atol=1e-5)


def _distances(x: np.ndarray) -> np.ndarray:
    """Distances [m] between all pairs of points (n, 3)."""
    first, second = np.triu_indices(len(x), 1)
    return np.linalg.norm(x[first] - x[second], axis=1)


SMALL_BODIES = {
    "box": (lambda size: pl.Box((size, size, size)), 0.5),
    "capsule": (lambda size: pl.Capsule(size, 2 * size), 1.0),
}


@pytest.mark.parametrize("linear", ["auto", "pcg"])
@pytest.mark.parametrize("shape, size, density", [("box", 2e-4, 1000.0), ("box", 1e-5, 1.0), ("capsule", 1e-3, 1.0)])
def test_small_rigid_bodies_fall_and_come_to_rest(shape, size, density, linear):
    """Bodies of 1e-15 to 1e-8 kg dropped 3 mm, tilted: no faster than the fall, and at rest on the plane after."""
    make, lowest = SMALL_BODIES[shape]
    scene = pl.Scene(gravity=(0, 0, -9.81))
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    body = scene.add_rigid(
        make(size), density=density, position=(0, 0, 3e-3 + 2 * size), rotation=(0.924, 0.205, 0.308, 0.103)
    )
    sim = scene.simulate(dt=1e-3, solver=pl.Newton(linear=linear))
    fastest, unconverged = 0.0, 0
    for _ in range(300):
        sim.step()
        fastest = max(fastest, float(np.abs(sim.state.body_velocity[-1]).max()))
        unconverged += not sim.info.converged
    assert fastest < 1.05 * np.sqrt(2 * 9.81 * (3e-3 + 2 * size)) + 9.81e-3
    assert unconverged == 0
    assert np.abs(sim.state.body_velocity[-1]).max() < 1e-4
    assert sim.pose(body)[0][2] == pytest.approx(lowest * size, rel=0.02)


def test_rows_in_a_pattern_that_lacks_some_of_their_pairs_leave_it_positive():
    """A contact of four triples, of which elements couple two and two, and one pair across."""
    count, random = 4, np.random.default_rng(3)
    pattern = BlockPattern.of_pairs(HOST, count, np.array([0, 2, 1]), np.array([1, 3, 2]))
    triples, jacobian = np.zeros((4, LANES), np.int64), np.zeros((4, 9, LANES))
    triples[:, 0], jacobian[:, :, 0] = np.arange(4), random.normal(size=(4, 9))
    weight, start = np.zeros((1, 6, LANES)), np.array([0, 4])
    weight[0, :3, 0] = 1.0
    upper, matrix = np.zeros((len(pattern.row), 3, 3)), np.zeros((3 * count, 3 * count))
    whole = scatter_rows(pattern.place, pattern.column_start, pattern.row, start, triples, jacobian, weight, upper)
    column = np.repeat(np.arange(count), np.diff(pattern.column_start))
    for block, i, j in zip(upper, pattern.row, column):
        matrix[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
        matrix[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.T
    assert not whole and np.linalg.eigvalsh(matrix)[0] > -1e-12
    own = jacobian[:, :, 0].reshape(4, 3, 3)
    for i in range(count):
        place = 3 * pattern.place[i]
        assert matrix[place : place + 3, place : place + 3] == pytest.approx(own[i].T @ own[i])
