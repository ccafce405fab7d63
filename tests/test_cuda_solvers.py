"""Linear, explicit and dual steps on the GPU against those of the CPU."""

import warnings

import numpy as np
import pytest

import pliant as pl
from cuda_scenes import ROW_SCENES, SOFT, moved
from cuda_support import block, distance, need_gpu
from pliant.benchmarks.grid import grid_scene

need_gpu()


def pair(scene, steps: int, dt: float, gpu, cpu=None, **options) -> tuple:
    """The scene after so many steps with solvers of both devices."""
    solvers = {"cuda": gpu, "cpu": gpu if cpu is None else cpu}
    return tuple(
        scene.simulate(dt, solver=solver, device=name, **options).step(steps) for name, solver in solvers.items()
    )


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_linear_steps_are_those_of_factors(damping):
    scene, body = block("linear", damping=damping, mass_damping=2.0)
    body.force(body.nodes.x > 0.59, lambda t: (0, 0, 5.0 * np.sin(20 * t)))
    gpu, cpu = pair(scene, 20, 0.01, pl.Linear(factor="cg"), pl.Linear())
    assert gpu.info.converged and gpu.info.imbalance < 1e-6
    assert distance(gpu, cpu, body) < 1e-6


def test_linear_steps_of_other_lengths_have_other_matrices():
    scene, body = block("linear")
    options = pl.Linear(factor="cg")
    gpu = scene.simulate(0.01, solver=options, device="cuda").step(5)
    kept = gpu.state
    for dt in (0.02, 0.005):
        sims = [scene.simulate(dt, solver=options if name == "cuda" else pl.Linear(), device=name) for name in DEVICES]
        for sim in sims:
            sim.state = kept
            sim.step(5)
        assert distance(*sims, body) < 1e-6


DEVICES = ("cuda", "cpu")


def test_linear_steps_have_the_same_bits_in_every_run():
    scene, body = block("linear", cells=(12, 4, 4))
    first, second = (scene.simulate(0.01, solver=pl.Linear(factor="cg"), device="cuda").step(10) for _ in range(2))
    assert np.array_equal(first.positions(body), second.positions(body))


@pytest.mark.parametrize("law", ["corotated", "stable_neohookean", "linear"])
def test_explicit_steps_are_those_of_the_cpu(law):
    scene, body = block(law, damping=1e-4, mass_damping=1.0)
    gpu, cpu = pair(scene, 50, 2e-4, pl.Explicit())
    assert gpu.info.converged and gpu.info.solver == cpu.info.solver
    assert distance(gpu, cpu, body) < 1e-10
    assert np.abs(gpu.velocities(body) - cpu.velocities(body)).max() < 1e-10 * np.abs(cpu.velocities(body)).max()


def test_explicit_steps_of_plastic_bodies_springs_and_ten_nodes():
    scene = pl.Scene()
    clay = pl.Plasticity(yield_strain=1e-4, creep=20.0, max_strain=0.3)
    soft = pl.Material.corotated(1e5, 0.3, 1000.0, plasticity=clay)
    ten = pl.Material.neohookean(1e5, 0.3, 1000.0, damping=1e-4)
    mesh = pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1))
    kinds = ((mesh, soft), (mesh.quadratic(), ten), (mesh, pl.Material.springs(2e5, 1000.0, damping=1e-4)))
    bodies = []
    for k, (own, material) in enumerate(kinds):
        bodies.append(scene.add_soft(own, material, position=(0, k, 0), collide=False))
        bodies[-1].pin(bodies[-1].nodes.x < 1e-9)
    gpu, cpu = pair(scene, 60, 1e-4, pl.Explicit())
    assert max(distance(gpu, cpu, body) for body in bodies) < 1e-9
    strain = cpu.plastic_strain(bodies[0])
    assert np.abs(strain).max() > 1e-6
    assert np.abs(gpu.plastic_strain(bodies[0]) - strain).max() < 1e-8 * np.abs(strain).max()


def test_explicit_steps_that_are_too_long_warn_and_stop():
    scene, _ = block(young=1e7)
    sim = scene.simulate(0.01, solver=pl.Explicit(), device="cuda")
    with pytest.warns(UserWarning, match="largest safe time step"):
        sim.step()
    with warnings.catch_warnings(), pytest.raises(pl.SolverError, match=r"not finite|ran away"):
        warnings.simplefilter("ignore")
        sim.step(200)
    assert np.isfinite(sim.state.x).all()


def sliding() -> pl.Scene:
    """A soft block and a rigid one that slide on a floor, and a pendulum."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    scene.add_soft(pl.meshes.box((0.2, 0.1, 0.1), cells=(2, 1, 1)), SOFT, position=(0, 0, 1e-4), velocity=(1.0, 0.3, 0))
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(0.6, 0, 0.05), velocity=(0, 0.5, 0))
    bob = scene.add_rigid(pl.Sphere(0.05), density=500, position=(1.2, 0, 0.5))
    scene.join(pl.Ball(pl.world, bob, at=(1.1, 0, 0.6)))
    return scene


@pytest.mark.parametrize("friction", ["cone", "box"])
def test_dual_steps_slide_as_on_the_cpu(friction):
    gpu, cpu = pair(sliding(), 10, 0.01, pl.Dual(tolerance=1e-7, friction=friction))
    assert gpu.info.converged and gpu.info.contacts == cpu.info.contacts > 0
    assert np.abs(gpu.state.x - cpu.state.x).max() < 1e-4 * moved(cpu)
    assert np.abs(gpu.state.body_position - cpu.state.body_position).max() < 1e-4 * moved(cpu)


@pytest.mark.parametrize("name", ["ball_on_block", "arm", "carriage"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_dual_steps_of_scenes_with_rows(name, precision):
    tolerance, close = (1e-7, 1e-4) if precision == "float64" else (1e-5, 1e-2)
    gpu, cpu = pair(ROW_SCENES[name](), 8, 0.01, pl.Dual(tolerance=tolerance), precision=precision)
    assert np.abs(gpu.state.x - cpu.state.x).max() < close * moved(cpu)


def test_nets_of_joints_by_the_dual_solver():
    scene, options = grid_scene(True, net=4, chain=3), pl.Dual(tolerance=1e-8, regularization=1e-3)
    gpu, cpu = pair(scene, 5, 1 / 60, options)
    assert np.abs(gpu.state.body_position - cpu.state.body_position).max() < 1e-7
    assert abs(gpu.info.iterations - cpu.info.iterations) <= 3 + 0.2 * cpu.info.iterations
    again = scene.simulate(1 / 60, solver=options, device="cuda").step(5)
    assert np.array_equal(gpu.state.body_position, again.state.body_position)


def test_box_problems_that_shared_memory_is_too_small_for():
    """What blocks of threads keep at hand lies in global memory then, and all bits are the same."""
    for scene in (grid_scene(True, net=4, chain=3), sliding()):
        sims = [scene.simulate(1 / 60, solver=pl.Dual(tolerance=1e-8), device="cuda") for _ in range(2)]
        sims[1].working_solver.program.shared = 0
        for sim in sims:
            sim.step(3)
        assert np.array_equal(sims[0].state.body_position, sims[1].state.body_position)
        assert np.array_equal(sims[0].state.x, sims[1].state.x)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_damped_bodies_with_joints_move_as_on_the_cpu(integrator):
    scene = pl.Scene()
    soft = pl.Material.corotated(1e5, 0.3, 1000.0, damping=0.02)
    body = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), soft)
    body.pin(body.nodes.x < 1e-9)
    load = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=2000, position=(0.45, 0.05, 0.05), collide=False)
    scene.join(pl.Fixed(body, load, at=(0.4, 0.05, 0.05)))
    options = pl.Newton(tolerance=1e-6, linear="pcg", integrator=integrator)
    gpu, cpu = pair(scene, 10, 0.01, options)
    assert gpu.info.integrator == cpu.info.integrator
    assert distance(gpu, cpu, body) < 1e-5


def test_damping_of_bdf2_acts_in_the_frames_at_the_end_of_the_step():
    scene, body = block("corotated", damping=0.05)
    body.pin(body.nodes.x > 0.59, velocity=lambda t: (0.0, 0.0, 1.0))
    gpu, cpu = pair(scene, 12, 0.01, pl.Newton(tolerance=1e-7, linear="pcg", integrator="bdf2"))
    assert gpu.info.integrator == cpu.info.integrator == "bdf2"
    assert distance(gpu, cpu, body) < 1e-5
