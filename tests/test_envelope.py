"""Coarse levels of preconditioners: matrices in envelopes, and what pieces of bodies make of a matrix."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.cloth import draped
from pliant.kernels.cpu.linalg import envelope
from pliant.kernels.cpu.linalg.two_level import apply_two_level
from pliant.kernels.lanes import LANES
from pliant.linalg.two_level import SAFETY

SIX = envelope.SIX


def packed(matrix: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix in an envelope: where its rows begin, and its numbers."""
    start = np.empty(len(first) + 1, np.int64)
    envelope.place_rows(first, start)
    blocks = [matrix[SIX * k : SIX * k + SIX, SIX * own : SIX * k + SIX].ravel() for k, own in enumerate(first)]
    return start, np.concatenate(blocks)


def banded(first: np.ndarray, rng) -> np.ndarray:
    """A random positive matrix with nothing outside an envelope."""
    lower = np.zeros((SIX * len(first), SIX * len(first)))
    for k, own in enumerate(first):
        lower[SIX * k : SIX * k + SIX, SIX * own : SIX * k + SIX] = rng.normal(size=(SIX, SIX * (k + 1 - own)))
    lower = np.tril(lower)
    return lower @ lower.T + np.eye(len(lower))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [0, 1, 4, 40])
def test_factors_in_an_envelope_solve(far, dtype):
    """As NumPy, however far rows reach before their own block; factors reach no further than the matrix."""
    rng = np.random.default_rng(far)
    first = np.maximum(np.arange(23) - rng.integers(0, far + 1, 23), 0)
    matrix, right = banded(first, rng), rng.normal(size=SIX * 23)
    start, numbers = packed(matrix, first)
    envelope.factorise_envelope(start, first, 1.0, numbers)
    x = right.astype(dtype)
    envelope.solve_envelope(start, first, numbers.astype(dtype), x)
    exact = np.linalg.solve(matrix, right)
    assert np.abs(x - exact).max() <= (1e-9 if dtype == np.float64 else 1e-3) * np.abs(exact).max()


def test_what_cannot_move_stays():
    """A block with nothing on its diagonal gets no motion; diagonal numbers count a little more."""
    rng, count = np.random.default_rng(5), 30
    first = np.maximum(np.arange(count) - rng.integers(0, 6, count), 0)
    matrix = np.zeros((SIX * count, SIX * count))
    for k, own in enumerate(first):
        matrix[SIX * k : SIX * k + SIX, SIX * own : SIX * k + SIX] = rng.normal(size=(SIX, SIX * (k + 1 - own)))
    matrix = np.tril(matrix, -1) + np.tril(matrix, -1).T + 100 * np.eye(SIX * count)
    matrix[60:66], matrix[:, 60:66] = 0.0, 0.0  # what cannot move
    start, numbers = packed(matrix, first)
    envelope.factorise_envelope(start, first, 1 + SAFETY, numbers)
    right = rng.normal(size=SIX * count)
    x = right.copy()
    envelope.solve_envelope(start, first, numbers, x)
    held = np.arange(60, 66)
    moving = np.setdiff1d(np.arange(SIX * count), held)
    exact = np.linalg.solve((matrix + SAFETY * np.diag(np.diag(matrix)))[np.ix_(moving, moving)], right[moving])
    assert np.abs(x[moving] - exact).max() <= 1e-12 * np.abs(exact).max()
    assert np.all(x[held] == 0.0)


def test_motions_without_stiffness_stay():
    """A motion that lowers the energy beside those before it, or has no stiffness of its own, is left out, and all
    others are solved for as without it: no pivot of rounding makes the factors after it grow."""
    rng, count = np.random.default_rng(7), 8
    first = np.zeros(count, np.int64)
    matrix = banded(first, rng)
    left = [9, 20, 21, 40]
    for row in left[:3]:
        matrix[row, row] -= 1.1 * (1 / np.linalg.inv(matrix[: row + 1, : row + 1])[row, row])  # its pivot is negative
    matrix[40], matrix[:, 40] = matrix[3], matrix[:, 3]  # the same motion as one before
    matrix[40, 40] = matrix[3, 3]
    start, numbers = packed(matrix, first)
    envelope.factorise_envelope(start, first, 1.0, numbers)
    largest = np.sqrt(np.diag(matrix).max()) / np.sqrt(1e-9)
    assert np.abs(numbers).max() < largest
    right = rng.normal(size=SIX * count)
    x = right.copy()
    envelope.solve_envelope(start, first, numbers, x)
    moving = np.setdiff1d(np.arange(SIX * count), left)
    exact = np.linalg.solve(matrix[np.ix_(moving, moving)], right[moving])
    assert np.all(x[left] == 0.0)
    assert np.abs(x[moving] - exact).max() <= 1e-9 * np.abs(exact).max()


def test_a_sheet_that_is_pressed_hard_has_a_finite_coarse_level():
    """A sheet that falls on an edge at 30 m/s, whose matrix is negative in some motions: every factor is finite, and no
    number is too large for its kind (warnings are errors here)."""
    scene = pl.Scene()
    scene.add_rigid(pl.Box((0.02, 3, 0.4)), static=True, position=(0.013, 0, 0), friction=0.4)
    material = pl.Material.stvk(1e6, 0.3, 400, damping=2e-3)
    upright = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    mesh, place = pl.meshes.grid((1, 1), 12), (-0.487, 0.013, 0.3)
    scene.add_cloth(mesh, material, 2e-3, position=place, velocity=(0, 0, -30), rotation=upright)
    sim = scene.simulate(1 / 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        sim.step(3)
    system = sim.working_solver.system
    assert np.all(np.isfinite(system._two_level(system.acting, system.inverse).coarse))


def dense(apply, system, n: int) -> np.ndarray:
    """The matrix of what is applied to packed vectors."""
    columns = [np.empty_like(system.x) for _ in range(3 * n)]
    for column, unit in zip(columns, np.eye(3 * n)):
        apply(system.pattern.pack(unit.reshape(n, 3), system.dtype), column)
    return np.stack([system.pattern.unpack(column).ravel() for column in columns], axis=1)


@pytest.mark.parametrize("solver", [pl.Bounded(), pl.Newton(linear="pcg")])
def test_the_coarse_level_is_that_of_the_rigid_motions_of_pieces(solver):
    """z = D^-1 r + P (P^T A P)^-1 P^T r, with the contacts in A, and no bending of sheets that make numbers of it."""
    sim = draped(12).simulate(1 / 60, solver=solver, threads=1).step(14)
    system, n = sim.working_solver.system, sim.model.triple_count
    own, sliced = system._two_level(system.acting, system.inverse), system.matrix
    assert sim.info.contacts > 0 and len(own.first) > 1
    found = dense(lambda x, out: apply_two_level(own, x, out), system, n)
    blocks = dense(lambda x, out: system.device.linalg.sliced.multiply_blocks(own.inverse, x, out), system, n)
    flat = len(sliced.start) - 1
    stiff = dense(
        lambda x, out: system.device.linalg.sliced.multiply_slices(0, flat, *sliced[:3], x.ravel(), out), system, n
    )
    rows = np.zeros_like(stiff)
    places = {int(place): i for i, place in enumerate(system.offsets)}
    for s in range(len(system.rows.start) - 1):
        for lane in range(LANES):
            g = system.rows.weight[s, :, lane].astype(float)
            jacobian = np.zeros((3, 3 * n))
            for e in range(system.rows.start[s], system.rows.start[s + 1]):
                i = places[int(system.rows.offset[e, lane])]
                jacobian[:, 3 * i : 3 * i + 3] += system.rows.jacobian[e, :, lane].reshape(3, 3)
            weight = np.array([[g[0], g[5], g[4]], [g[5], g[1], g[3]], [g[4], g[3], g[2]]])
            rows += jacobian.T @ weight @ jacobian
    free = system.free.ravel()
    motions = np.zeros((3 * n, 6 * len(own.first)))
    arms = [system.pattern.unpack(own.arm)]
    for i in range(sim.model.node_count):
        piece, (a, b, c) = system.pieces.index[i], arms[0][i]
        motions[3 * i : 3 * i + 3, 6 * piece : 6 * piece + 3] = np.eye(3)
        motions[3 * i : 3 * i + 3, 6 * piece + 3 : 6 * piece + 6] = [[0, c, -b], [-c, 0, a], [b, -a, 0]]
    motions *= free[:, None]
    coarse = motions.T @ (stiff + free[:, None] * rows * free) @ motions
    coarse += SAFETY * np.diag(np.diag(coarse))
    exact = blocks + motions @ np.linalg.pinv(coarse, hermitian=True) @ motions.T
    assert np.abs(found - exact).max() <= 1e-3 * np.abs(exact).max()
