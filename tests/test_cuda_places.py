"""What of the device "cuda" is found on the host: who owns what of a dual operator, and small dense systems."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from cuda_support import WHY_NOT
from pliant.errors import DeviceError
from pliant.kernels.cuda.impulse_places import LEAST_UNITS, arrange, element_order
from pliant.kernels.device import HOST
from pliant.kernels.lanes import LANES
from pliant.solve.dual.solver import DualSolver


class Posing(DualSolver):
    """A solver that keeps the last operator it posed."""

    operator = None

    def _minimise(self, operator, *problem):
        self.operator = operator
        return super()._minimise(operator, *problem)


def posed() -> tuple:
    """The dual operator of a soft beam with a chain of rigid bodies on it, over a floor."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    soft = pl.Material.corotated(1e5, 0.3, 1000.0)
    beam = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2)), soft)
    above = beam
    for k in range(4):
        ball = scene.add_rigid(pl.Sphere(0.05), mass=1.0, position=(0.7 + 0.1 * k, 0.1, 0.1))
        scene.join(pl.Ball(above, ball, at=(0.6 + 0.1 * k, 0.1, 0.1)))
        above = ball
    options = pl.Dual()
    sim = scene.simulate(0.01, solver=options)
    solver = sim.working_solver = Posing(options, sim.model, "float64")
    sim.step()
    return solver.operator


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_blocks_of_threads_push_triples_as_the_host_does(blocks):
    """Pushes summed by lists and exchanged between blocks make the velocities of the host, in every block."""
    operator = posed()
    places = arrange(operator, element_order(operator.nodes), blocks)
    sizes, elements = places.sizes, len(operator.nodes) * LANES
    assert sorted(places.order) == list(range(sizes.units)) and places.blocks <= blocks
    assert -(-sizes.units // LEAST_UNITS) < blocks or places.blocks == blocks
    x = np.random.default_rng(3).normal(size=len(operator.scale))
    push = _pushes(operator, places, x, elements)
    force = np.array([_listed(push, places, k) for k in range(len(places.triple))])
    whole = force.copy()
    for k in range(len(places.triple)):
        mates = places.mates[places.mate_start[k] : places.mate_start[k + 1]]
        if len(mates):
            assert k in mates and np.all(places.triple[mates] == places.triple[k])
            whole[k] = force[mates].sum(axis=0)
    m = operator.inverse_mass[places.triple]
    matrix = m[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
    expected = np.empty((len(operator.inverse_mass), 3))
    HOST.system.transposed_product(operator, x, expected)
    found = np.einsum("kij,kj->ki", matrix, whole)
    assert np.abs(found - expected[places.triple]).max() < 1e-12 * np.abs(expected).max()
    held = places.first[np.arange(places.blocks)] + places.common
    assert all(np.diff(places.mate_start)[a:b].min(initial=2) > 1 for a, b in zip(places.first, held))


def _pushes(operator, places, x, elements) -> np.ndarray:
    """What every unit pushes, (blocks, 3 entries, own)."""
    HOST.system.transposed_product(operator, x, np.empty((len(operator.inverse_mass), 3)))
    own, out = places.sizes.own, np.zeros((places.blocks, 3 * places.sizes.entries, places.sizes.own))
    slots = operator.slots[: elements * 12].reshape(-1, 12, LANES)
    owner = np.repeat(np.arange(len(operator.compliance_rows)), np.diff(operator.start))
    scaled = (operator.scale * x)[6 * elements :].reshape(-1, 3, LANES)
    rows = np.einsum("kril,krl->kil", operator.jacobian.reshape(-1, 3, 3, LANES), scaled[owner])
    for at, unit in enumerate(places.order):
        block, u = at // own, at % own
        if unit < elements:
            out[block, :12, u] = slots[unit // LANES, :, unit % LANES]
            continue
        slice_, lane = divmod(unit - elements, LANES)
        mine = rows[operator.start[slice_] : operator.start[slice_ + 1], :, lane].ravel()
        out[block, : len(mine), u] = mine
    return out


def _listed(push, places, k) -> np.ndarray:
    """The sum of the pushes that the list of a place names."""
    own, block = places.sizes.own, int(np.searchsorted(places.first, k, "right")) - 1
    mine = push[block].ravel()
    at = places.pushes[places.push_start[k] : places.push_start[k + 1]]
    return np.array([mine[at + c * own].sum() for c in range(3)])


def test_small_dense_systems_are_those_of_a_library():
    random = np.random.default_rng(5)
    square = random.normal(size=(40, 40))
    products, weight = square @ square.T, 1e6 * (square.T @ square)
    weight[::7], weight[:, ::7] = 0.0, 0.0  # rows that hold nothing
    found = HOST.linalg.elimination.met_exactly(weight, products)
    expected = np.linalg.solve(np.eye(40) + weight @ products, weight)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    factors, right = products + np.eye(40), random.normal(size=(40, 6))
    answer = np.linalg.solve(factors, right)
    assert HOST.linalg.dense.factorise_lower(factors)
    HOST.linalg.elimination.solve_columns(factors, right)
    assert np.abs(right - answer).max() < 1e-9 * np.abs(answer).max()


def test_the_coarse_inverse_in_the_simulator():
    """By one block of threads, whose pivots come in several blocks; motions that are none are left out."""
    settings = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, str(Path(__file__).parent / "cuda_inverse_simulated.py")]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "simulated" in done.stdout, done.stderr


@pytest.mark.skipif(not WHY_NOT, reason="there is a GPU here")
def test_a_checkpoint_that_needs_a_gpu_says_how_to_go_on_without(tmp_path):
    scene = pl.Scene()
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), pl.Material.corotated(1e5, 0.3, 1000.0))
    sim = scene.simulate(0.01).step()
    sim.checkpoint(tmp_path / "here.npz")
    with pytest.raises(DeviceError, match=r"here\.npz: .*; pliant\.resume\(path, device='cpu'\) goes on without one"):
        pl.resume(tmp_path / "here.npz", device="cuda")
    again = pl.resume(tmp_path / "here.npz", device="cpu")
    assert np.array_equal(again.state.x, sim.state.x)
