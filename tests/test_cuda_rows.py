"""Scenes with contacts, rigid bodies, joints and pressures on the GPU: every answer of the device against its double,
and whole scenes against the host."""

import numpy as np
import pytest

import pliant as pl
from cuda_double import Double
from cuda_scenes import ROW_SCENES, SOFT, USUAL, block_on_floor, exactness, moved
from cuda_support import need_gpu
from pliant.solve.resident.driven import DrivenNewton

need_gpu()
TOLERANCE, CLOSE = USUAL


class Paired:
    """The device with its double beside it: what one answers is compared with what the other does."""

    def __init__(self, driven, model):
        self.driven, self.double, self.layout, self.rows_type = driven, Double(model), driven.layout, driven.rows_type
        self.double.layout = driven.layout
        self.double.node_of = np.full(driven.layout.rows, -1)
        self.double.node_of[driven.layout.place] = np.arange(model.node_count)
        self.worst, self.size = {}, {}

    def __getattr__(self, name):
        return lambda *arguments: self._both(name, arguments)

    def _both(self, name, arguments):
        found, expected = (getattr(each, name)(*arguments) for each in (self.driven, self.double))
        if name == "solve":
            left = self._left(arguments[0], found[0]) / max(self._left(arguments[0], 0 * found[0]), 1e-30)
            self.worst[name] = max(self.worst.get(name, 0.0), left / arguments[1])
            return (found[0], 1, False)
        if expected is None:
            return None
        for k, (a, b) in enumerate(zip(found, expected) if isinstance(found, tuple) else ((found, expected),)):
            # relative to the largest so far: at rest there is only rounding
            size = self.size[name, k] = max(float(np.abs(b).max(initial=0.0)), self.size.get((name, k), 1e-3))
            error = float(np.abs(np.asarray(a) - b).max(initial=0.0)) / size
            self.worst[name] = max(self.worst.get(name, 0.0), error)
        return found

    def _left(self, b, x):
        """sqrt(r^T M^-1 r) of the residual r = b - A x, as the double has matrix A and preconditioner M."""
        r = self.double.free * (b.ravel() - self.double.whole @ x.ravel())
        return float(np.sqrt(r @ self.double.precondition(r)))


@pytest.mark.parametrize("name", ["ball_on_block", "arm", "swing", "carriage", "inflated", "folded", "many_kinds"])
def test_the_device_answers_as_its_double(name):
    options = pl.Newton(tolerance=1e-3, linear="pcg")
    sim = ROW_SCENES[name]().simulate(0.01, solver=options, device="cuda")
    solver = sim.working_solver
    assert isinstance(solver, DrivenNewton)
    pair = Paired(solver.program, sim.model)
    solver.program = pair
    solver._begin_with(sim.model, pair)
    sim.step(6)
    assert set(pair.worst) >= {"evaluate", "local_square", "stretch", "solve"}
    for what, worst in pair.worst.items():
        # float32 matrices; sums of squares of what nearly cancels; residuals, in parts of what was asked for
        most = {"solve": 2.0, "stretch": 1e-3, "evaluate": 1e-8, "stiff_products": 1e-4}.get(what, 1e-4)
        assert worst <= most, (what, worst)


@pytest.mark.parametrize("name", ROW_SCENES)
def test_scenes_move_as_on_the_cpu(name):
    """Rounding decides how many iterations steps with friction take, from 23 to more than 50 on one and the same, so
    there are plenty."""
    tolerance, close = exactness(name)
    options, scene = pl.Newton(tolerance=tolerance, max_iterations=200, linear="pcg"), ROW_SCENES[name]()
    gpu, cpu = (scene.simulate(0.01, solver=options, device=device) for device in ("cuda", "cpu"))
    for _ in range(12):
        gpu.step()
        cpu.step()
        assert gpu.info.converged or not cpu.info.converged
    size = moved(cpu)
    assert np.abs(gpu.state.x - cpu.state.x).max() <= close * size
    if len(gpu.state.body_position):
        assert np.abs(gpu.state.body_position - cpu.state.body_position).max() <= close * size


def test_the_same_bits_in_every_run_with_contacts():
    scene = ROW_SCENES["carriage"]()
    first, second = (scene.simulate(0.01, device="cuda").step(20) for _ in range(2))
    assert np.array_equal(first.state.x, second.state.x)
    assert np.array_equal(first.state.body_rotation, second.state.body_rotation)


def test_a_large_block_comes_to_rest_on_a_floor():
    scene = block_on_floor(cells=(12, 12, 6))
    sim = scene.simulate(0.01, device="cuda")
    for _ in range(60):
        sim.step()
        assert sim.info.converged, sim.info
        assert sim.state.x[:, 2].min() > -1e-4  # nothing below the floor but the contacts' tolerance
    weight = 0.2 * 0.2 * 0.1 * 1000.0 * 9.81
    lift = sim.state.impulses.contacts[:, 0].sum() / 0.01
    assert abs(lift - weight) < 0.05 * weight


def test_plastic_bodies_fall_as_on_the_cpu():
    clay = pl.Plasticity(yield_strain=0.005, creep=20.0, max_strain=0.3)
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    soft = pl.Material.corotated(3e4, 0.3, 1000.0, plasticity=clay, damping=0.01)
    body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=(2, 2, 2)), soft, position=(0, 0, 0.01))
    options = pl.Newton(tolerance=TOLERANCE, linear="pcg")
    gpu, cpu = (scene.simulate(0.01, solver=options, device=device).step(15) for device in ("cuda", "cpu"))
    expected = cpu.plastic_strain(body)
    assert np.abs(expected).max() > 1e-3
    assert np.abs(gpu.plastic_strain(body) - expected).max() < 1e-2 * np.abs(expected).max()


def test_bdf2_and_old_states_with_rows():
    scene = ROW_SCENES["arm"]()
    options = pl.Newton(tolerance=TOLERANCE, linear="pcg", integrator="bdf2")
    gpu, cpu = (scene.simulate(0.01, solver=options, device=device).step(10) for device in ("cuda", "cpu"))
    assert np.abs(gpu.state.x - cpu.state.x).max() <= CLOSE * moved(cpu)


def test_checkpoints_with_rows_go_on(tmp_path):
    pytest.importorskip("pydantic")
    scene = ROW_SCENES["ball_on_block"]()
    options = pl.Newton(tolerance=TOLERANCE, linear="pcg")
    gpu = scene.simulate(0.01, solver=options, device="cuda").step(8)
    gpu.checkpoint(tmp_path / "there.npz")
    gpu.step(5)
    again = pl.resume(tmp_path / "there.npz").step(5)
    assert again.model.device.name == "cuda"
    moved_over = pl.resume(tmp_path / "there.npz", device="cpu").step(5)
    assert moved_over.model.device.name == "cpu"
    for other in (again, moved_over):
        assert np.abs(other.state.x - gpu.state.x).max() <= CLOSE * moved(gpu)


def test_a_cylinder_that_turns_drags_a_block():
    scene = pl.Scene()
    turned = {"rotation": (2**-0.5, 2**-0.5, 0, 0), "angular_velocity": (0, 3, 0)}
    scene.add_rigid(pl.Cylinder(0.05, 0.5), position=(0.1, 0.1, -0.05), static=True, **turned)
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=(4, 2, 2)), SOFT, position=(0, 0, 0.005))
    options = pl.Newton(tolerance=1e-3, linear="pcg")
    gpu, cpu = (scene.simulate(0.01, solver=options, device=device).step(10) for device in ("cuda", "cpu"))
    assert np.abs(gpu.state.x - cpu.state.x).max() <= 2e-3 * moved(cpu)
