"""What of the device "cuda" needs no GPU: how meshes are laid out, what is decided, refused and reported."""

import gc
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from cuda_scenes import ROW_SCENES
from cuda_support import WHY_NOT, block
from pliant.errors import DeviceError, SceneError
from pliant.kernels.cpu.linalg import mprgp
from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda import decisions, mprgp_decisions, views
from pliant.kernels.cuda.layout import PAIR, WARP, Layout, bisect, choose_shape, grouped, ungrouped
from pliant.kernels.cuda.views import DeviceArray
from pliant.model.build import build
from pliant.model.resident import ResidentState
from pliant.solve.newton import closing, criteria, minimise, trend
from pliant.solve.newton import solver as newton
from pliant.solve.resident.refusals import needs_host, refuse_beyond_cuda

MESH = pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2))


@pytest.fixture(scope="module")
def layout() -> Layout:
    """Two bodies, of two sets."""
    points = np.concatenate([MESH.points, MESH.points + 3])
    tets = [MESH.tets.astype(np.int64), MESH.tets.astype(np.int64) + len(MESH.points)]
    start = np.array([0, len(MESH.points), 2 * len(MESH.points)])
    return Layout(points, start, tets, choose_shape(len(points), 132))


def components(flat: np.ndarray, at: np.ndarray, count: int) -> np.ndarray:
    """`count` components of things at places (k,) of a flat array (groups, c, WARP)."""
    return flat[np.asarray(at)[:, None] + WARP * np.arange(count)]


def test_values_in_groups_come_back():
    values = np.random.default_rng(0).normal(size=(70, 5))
    assert np.array_equal(ungrouped(grouped(values), 5)[:70], values)


def test_aggregates_keep_bodies_apart_and_are_of_about_one_size():
    points = np.random.default_rng(1).normal(size=(900, 3))
    start = np.array([0, 100, 500])
    index = bisect(points, start, 18)
    body = np.searchsorted(start, np.arange(900), side="right")
    assert all(len(set(body[index == k])) == 1 for k in range(18))
    sizes = np.bincount(index, minlength=18)
    assert sizes.min() >= 40 and sizes.max() <= 60


def test_every_node_has_a_row_of_its_own(layout):
    assert len(set(layout.place)) == layout.nodes and layout.place.max() < layout.rows
    x = np.random.default_rng(2).normal(size=(layout.nodes, 3))
    assert np.array_equal(layout.of_nodes(layout.vector(x)), x)


def test_the_lists_sum_every_elements_blocks_into_the_sliced_matrix(layout):
    rng, T = np.random.default_rng(3), layout.shape.T
    blocks = rng.normal(size=(layout.groups * WARP, 6, 3, 3))
    flat, values = grouped(blocks.reshape(-1, 54)), np.zeros((layout.pairs + 1) * 18 * WARP)
    for step, (first, last) in enumerate(zip(layout.list_start[:-1], layout.list_start[1:])):
        total = np.zeros((WARP, 3, 3))
        for code in layout.list_code[first:last]:
            found = components(flat, np.maximum(code, 0) >> 1, 9).reshape(-1, 3, 3)
            found = np.where((code & 1)[:, None, None], found.transpose(0, 2, 1), found)
            total += np.where((code >= 0)[:, None, None], found, 0.0)
        there = layout.edge_place[0, step] >= 0
        for half, entries in ((0, total), (1, total.transpose(0, 2, 1))):
            at = layout.edge_place[half, step][there]
            values[at[:, None] + WARP * np.arange(9)] = entries[there].reshape(-1, 9)
    u = rng.normal(size=(layout.rows, 3))
    expected, found = np.zeros_like(u), np.zeros_like(u)
    for (a, b), k in PAIR.items():
        own = blocks[layout.index, k]
        np.add.at(expected, layout.tets[:, a], np.einsum("mij,mj->mi", own, u[layout.tets[:, b]]))
        np.add.at(expected, layout.tets[:, b], np.einsum("mji,mj->mi", own, u[layout.tets[:, a]]))
    pairs = np.repeat(np.arange(len(layout.start) - 1), np.diff(layout.start))
    for k, slice_ in enumerate(pairs):
        rows = slice_ * (WARP // T) + np.arange(WARP) // T
        for half in range(2):
            own = components(values, k * 18 * WARP + half * 9 * WARP + np.arange(WARP), 9).reshape(-1, 3, 3)
            np.add.at(found, rows, np.einsum("mij,mj->mi", own, u[layout.column[2 * k + half] // 4]))
    assert np.abs(found - expected).max() < 1e-12


def test_the_lists_gather_every_elements_forces(layout):
    slots = np.random.default_rng(4).normal(size=(layout.groups * WARP, 4, 3))
    flat, expected, found = grouped(slots.reshape(-1, 12)), np.zeros((layout.rows, 3)), np.zeros((layout.rows, 3))
    for a in range(4):
        np.add.at(expected, layout.tets[:, a], slots[layout.index, a])
    slices = np.repeat(np.arange(len(layout.gather_start) - 1), np.diff(layout.gather_start))
    for code, slice_ in zip(layout.gather_code, slices):
        there = code >= 0
        rows = slice_ * 4 + np.arange(WARP)[there] // 8
        np.add.at(found, rows, components(flat, code[there], 3))
    assert np.abs(found - expected).max() < 1e-13


def test_tasks_of_the_coarse_matrix_cover_every_entry_once(layout):
    task = layout.coarse_tasks()
    covered = np.concatenate([np.arange(a, b) for a, b in zip(task["begin"], task["end"])])
    assert np.array_equal(covered, np.arange(len(task["row"])))
    assert len(task["row"]) == len(layout.entries["row"]) + layout.nodes
    pairs = np.repeat(task["pair"], np.diff(task["pair_start"]))
    owner = np.repeat(pairs, task["end"] - task["begin"])
    own = task["row"] // layout.size * layout.shape.aggregates + task["col"] // layout.size
    assert np.array_equal(owner, own)


def test_kernels_of_nodes_in_the_simulator():
    """Numba's CUDA simulator has to be chosen before Numba is imported; it knows no shuffles and no grids of blocks
    that wait for each other, so the other kernels need a GPU."""
    settings = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, str(Path(__file__).parent / "cuda_simulated.py")]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "simulated" in done.stdout, done.stderr


def numbers(**values) -> np.ndarray:
    n = np.zeros(c.NUMBERS)
    n[[c.TOLERANCE, c.MOST_ITERATIONS, c.SHARE, c.SIZE, c.PASSES]] = 1e-2, 50, 1.0, 1.0, 5
    for name, value in values.items():
        n[getattr(c, name)] = value
    return n


def sums(**values) -> np.ndarray:
    s = np.zeros(c.NODE_SUMS)
    s[[c.S_KICK, c.S_OWN]] = 1.0, 1.0
    for name, value in values.items():
        s[getattr(c, name)] = value
    return s


def elements(energy: float) -> np.ndarray:
    """Energy, inverted elements and viscous part."""
    return np.array([energy, 0.0, 0.0])


def test_the_constants_of_decisions_are_those_of_the_cpu():
    for name in ("SUFFICIENT", "MOST_TRIALS", "OVERSHOOT", "WHOLE", "PATIENCE", "NEAR", "PROMISING"):
        assert getattr(decisions, name) == getattr(minimise, name), name
    assert (decisions.CREEPING, decisions.SURPRISING) == (trend.CREEPING, trend.SURPRISING)
    assert decisions.MOST_BALANCING == closing.MOST_BALANCING
    assert (decisions.ROUNDING, decisions.LARGEST_IMBALANCE) == (criteria.ROUNDING, criteria.LARGEST_IMBALANCE)
    assert decisions.SHORTEST_START == newton.SHORTEST_START


def test_a_start_above_rest_is_shortened_and_ends_at_rest():
    n, s = numbers(MOST=1.0), sums()
    shares = []
    for _ in range(4):
        status = decisions.evaluated(n, c.START, s, elements(2.0), np.zeros(4))
        shares.append(n[c.SHARE])
    assert status == c.ITERATE and shares == [0.25, 0.0625, 0.0, 0.0]
    assert decisions.evaluated(numbers(MOST=1.0), c.START, s, elements(0.9), np.zeros(4)) == c.ITERATE


def test_a_trial_that_climbs_is_halved_and_one_that_is_infinite_quartered():
    tail = np.array([-1.0, 0.5, 0.1, 0.1])
    n = numbers(VALUE=0.0, FACTOR=1.0)
    assert decisions.evaluated(n, c.TRYING, sums(), elements(3.0), tail) == c.TRYING and n[c.FACTOR] == 0.5
    assert decisions.evaluated(n, c.TRYING, sums(), elements(np.inf), tail) == c.TRYING and n[c.FACTOR] == 0.125
    n[c.SHORTEST], n[c.LAST_ENERGY] = 1.0, np.inf
    assert decisions.evaluated(n, c.TRYING, sums(S_END=-0.5, S_LOCAL=1e9), elements(-0.1), tail) == c.ITERATE
    assert n[c.SHORTEST] == 0.125


def test_a_step_that_overshoots_goes_back_to_the_zero_of_the_slope():
    n, tail = numbers(VALUE=0.0, FACTOR=1.0), np.array([-1.0, 0.5, 0.1, 0.1])
    assert decisions.evaluated(n, c.TRYING, sums(S_END=1.0), elements(-0.2), tail) == c.TRYING
    assert n[c.FACTOR] == 0.5  # -1 / (-1 - 1)
    # no better there: back to the best
    assert decisions.evaluated(n, c.TRYING, sums(S_END=1.0), elements(-0.1), tail) == c.TRYING
    assert n[c.FINAL] == 1.0 and n[c.FACTOR] == 1.0


def test_a_small_correction_in_balance_ends_the_step_and_one_out_of_balance_does_not():
    tail = np.array([-1e-6, 0.5, 0.1, 0.1])
    n = numbers(VALUE=0.0, FACTOR=1.0, SHORTEST=1.0, LAST_ENERGY=np.inf)
    assert decisions.evaluated(n, c.TRYING, sums(S_BALANCE=1e-4), elements(-1e-6), tail) == c.DONE
    assert n[c.CONVERGED] == 1.0 and n[c.RESIDUAL] < 1e-2 and np.isclose(n[c.IMBALANCE], 1e-2)
    n = numbers(VALUE=0.0, FACTOR=1.0, SHORTEST=1.0, LAST_ENERGY=np.inf)
    assert decisions.evaluated(n, c.TRYING, sums(S_BALANCE=0.5), elements(-1e-6), tail) == c.ESTIMATE
    assert decisions.estimated(n, sums(S_BALANCE=0.5), 1e-7) == c.BALANCE
    assert decisions.evaluated(n, c.BALANCE, sums(S_BALANCE=1e-3), elements(-1.1e-6), tail) == c.DONE


def test_iterations_end_where_the_user_says():
    n, tail = numbers(VALUE=0.0, FACTOR=1.0, MOST_ITERATIONS=1), np.array([-1.0, 0.5, 0.1, 0.1])
    assert decisions.evaluated(n, c.TRYING, sums(S_LOCAL=1e9), elements(-0.9), tail) == c.DONE
    assert n[c.CONVERGED] == 0.0


FLOWING = pl.Material.corotated(1e5, 0.3, 1000, plasticity=pl.Plasticity(0.01, 1.0, 0.3))
REFUSED = {
    "rods": lambda scene: scene.add_rod([(0, 0, 2), (0.5, 0, 2), (1, 0, 2)], pl.Material.linear(1e6, 0.3, 1000), 0.01),
    "triangles of sheets": lambda scene: scene.add_cloth(
        pl.meshes.grid((0.2, 0.2), (2, 2)), pl.Material.corotated(1e6, 0.3, 1000), 1e-3, position=(0, 0, 2)
    ),
    "plasticity of tets of ten nodes": lambda scene: scene.add_soft(MESH.quadratic(), FLOWING, position=(0, 0, 2)),
    "more than 128 rigid bodies that move": lambda scene: [
        scene.add_rigid(pl.Sphere(0.1), density=1000, position=(5 + k, 5, 5)) for k in range(129)
    ],
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_there_yet_is_refused_by_name(what):
    scene, _ = block()
    REFUSED[what](scene)
    with pytest.raises(SceneError, match=f"device 'cuda' does not do {what}"):
        refuse_beyond_cuda(pl.Newton(), build(scene)[0])


def test_scenes_without_a_soft_body_are_refused():
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), density=1000)
    with pytest.raises(SceneError, match="scenes without a soft body"):
        refuse_beyond_cuda(pl.Newton(), build(scene)[0])


def test_what_has_rows_is_driven_by_the_host_and_the_rest_is_not():
    assert not needs_host(build(block()[0])[0])
    for scene in ROW_SCENES.values():
        assert needs_host(build(scene())[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (pl.Xpbd(), "pliant.Xpbd"),
        (pl.Mixed(), "pliant.Mixed"),
        (pl.Dual(method="pgs"), "pliant.Dual\\(method='pgs'\\), but 'mprgp'"),
        (pl.Dual(eliminate=True), "eliminate=True"),
        (pl.Linear(), "factor='cholesky'\\), but 'cg'"),
        (pl.Linear(factor="cg", mass="consistent"), "consistent"),
        (pl.Explicit(method="rk4"), "rk4"),
        (pl.Newton(linear="cholesky"), "cholesky"),
    ],
)
def test_other_solvers_are_refused_by_name(options, words):
    with pytest.raises(SceneError, match=rf"device 'cuda' does not do .*{words}"):
        refuse_beyond_cuda(options, build(block()[0])[0])


@pytest.mark.parametrize(
    ("name", "words"), [("arm", "joints, such as"), ("block_on_floor", "rigid bodies"), ("inflated", "pressures")]
)
def test_rows_with_explicit_steps_are_refused_by_name(name, words):
    with pytest.raises(SceneError, match=rf"does not do {words}.* with pliant.Explicit, but with pliant.Newton"):
        refuse_beyond_cuda(pl.Explicit(), build(ROW_SCENES[name]())[0])


def test_impulses_in_the_simulator():
    """MPRGP by one thread, with all that it does row by row and decides, against that of the host."""
    settings = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, str(Path(__file__).parent / "cuda_impulses_simulated.py")]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "simulated" in done.stdout, done.stderr


def test_constants_of_mprgp_are_those_of_its_twin():
    names = (
        "STEP_FRACTION",
        "REFRESH_FACTOR",
        "MAX_REFRESHES",
        "PATIENCE",
        "LEAST_RELAXATION",
        "REFRESH_SHARE",
        "LATE",
    )
    assert all(getattr(mprgp_decisions, name) == getattr(mprgp, name) for name in names)


@pytest.mark.skipif(not WHY_NOT, reason="there is a GPU here")
def test_without_a_gpu_the_error_says_what_is_missing():
    with pytest.raises(DeviceError, match=r"device 'cuda' needs (the extra `cuda`|an NVIDIA GPU)"):
        block()[0].simulate(0.01, device="cuda")


@pytest.mark.parametrize("ask", [lambda s: s.equilibrium(device="cuda"), lambda s: s.modes(3, device="cuda")])
def test_statics_and_modes_stay_on_the_cpu(ask):
    with pytest.raises(DeviceError, match="device 'cuda' does not do"):
        ask(block()[0])


def test_a_state_that_lies_elsewhere_is_read_once_and_copied_whole():
    sim, asked = block()[0].simulate(0.01).step(), []

    def fetch(state, name):
        asked.append(name)
        return getattr(sim.state, name)

    state = ResidentState.lying(sim.state, fetch, time=3.0)
    assert state.x is sim.state.x and state.x is sim.state.x and asked == ["x"] and state.time == 3.0
    changed = replace(state, time=4.0)
    assert changed.v is sim.state.v and "_fetch" not in changed.__dict__
    assert np.array_equal(pickle.loads(pickle.dumps(state)).v, sim.state.v)


def test_lists_sum_what_elements_of_all_kinds_leave_for_nodes_and_pairs():
    """Tets of four and of ten nodes and springs: forces of nodes, and blocks of the matrix, against plain sums."""
    ten = pl.meshes.box((0.2, 0.2, 0.2), cells=1).quadratic()
    four, n = pl.meshes.box((0.3, 0.2, 0.2), cells=1), len(ten.points)
    points = np.concatenate([ten.points, four.points + 1.0])
    springs = np.array([[0, 1], [n, n + 3], [2, n + 1]])
    sets = [four.tets.astype(np.int64) + n, ten.tets.astype(np.int64), springs]
    start = np.array([0, n, len(points)])
    found = Layout(points, start, sets[:1], choose_shape(len(points), 132), sets[1:])
    rng = np.random.default_rng(4)
    slots, blocks = rng.normal(size=found.slots), rng.normal(size=found.blocks)
    expected_force = np.zeros((found.rows, 3))
    expected = np.zeros((found.rows, found.rows, 3, 3))
    kinds = [(found.tets, 0, 0, found.index)]
    kinds += [(own.rows, own.slot, own.block, np.arange(len(own.rows))) for own in found.more]
    for rows, slot, first, index in kinds:
        k = rows.shape[1]
        for a in range(k):
            at = slot + index // WARP * WARP * 3 * k + index % WARP + a * 3 * WARP
            np.add.at(expected_force, rows[:, a], components(slots, at, 3))
            for b in range(a):
                width = 9 * k * (k - 1) // 2
                at = first + index // WARP * WARP * width + index % WARP + (a * (a - 1) // 2 + b) * 9 * WARP
                own = components(blocks, at, 9).reshape(-1, 3, 3)
                np.add.at(expected, (rows[:, a], rows[:, b]), own)
                np.add.at(expected, (rows[:, b], rows[:, a]), own.transpose(0, 2, 1))
    force, lanes = np.zeros_like(expected_force), 8
    for slice_, (first, last) in enumerate(zip(found.gather_start[:-1], found.gather_start[1:])):
        for code in found.gather_code[first:last]:
            rows = slice_ * (WARP // lanes) + np.arange(WARP) // lanes
            there = code >= 0
            np.add.at(force, rows[there], components(slots, code[there], 3))
    assert np.allclose(force, expected_force)
    matrix = np.zeros_like(expected)
    for step, (begin, last) in enumerate(zip(found.list_start[:-1], found.list_start[1:])):
        for lane in np.flatnonzero(found.edge_place[0, step] >= 0):
            total = np.zeros((3, 3))
            for code in found.list_code[begin:last, lane]:
                if code >= 0:
                    own = components(blocks, [code >> 1], 9).reshape(3, 3)
                    total += own.T if code & 1 else own
            place = found.edge_place[0, step, lane]
            entry = np.flatnonzero(9 * WARP * (found.entries["at"] // WARP) + found.entries["at"] % WARP == place)[0]
            row, col = found.entries["row"][entry], found.entries["col"][entry]
            matrix[row, col], matrix[col, row] = total, total.T
    assert np.allclose(matrix, expected)


def test_arrays_are_handed_on_by_dlpack_without_a_copy():
    """An array of the host stands for one of a GPU: the capsule is the same but for the number of the device."""
    numbers_of_nodes, host_memory = np.arange(12.0).reshape(4, 3), 1
    view = DeviceArray(numbers_of_nodes.ctypes.data, (4, 3), numbers_of_nodes, 0, host_memory)
    taken, part = np.from_dlpack(view), np.from_dlpack(view.rows(1, 3))
    numbers_of_nodes[1, 0] = 7.0
    assert np.array_equal(taken, numbers_of_nodes) and np.array_equal(part, numbers_of_nodes[1:3])
    assert len(views._HELD) == 2
    del taken, part
    view.__dlpack__()  # and one that nobody takes
    gc.collect()
    assert not views._HELD
