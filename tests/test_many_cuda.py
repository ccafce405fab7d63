"""Many scenes on a GPU beside the CPU: the same positions, the same bits in every run; states that are set."""

import numpy as np
import pytest

import pliant as pl
from cuda_support import need_gpu
from many_scenes import DT, finger

need_gpu()
CLOSE = pl.Newton(tolerance=1e-8)
COUNT = 40
GOALS = np.linspace(-0.7, 0.7, COUNT)


def both(make, steps: int, count: int = COUNT, **motor) -> tuple:
    """The same on both devices."""
    found = []
    for options in ({"device": "cuda"}, {"workers": 1}):
        many = pl.simulate_many(make(), DT, count=count, solver=CLOSE, **options)
        if motor:
            many.set_motor(**motor)
        found.append(many.step(steps))
    return tuple(found)


def off(gpu, cpu, body=None) -> float:
    """The largest distance between them, relative to how far the CPU's nodes have moved."""
    start = cpu._first[0][0].x[cpu[0]._nodes(cpu[0].scene.soft_bodies[0])]
    return np.abs(gpu.positions(body) - cpu.positions(body)).max() / np.abs(cpu.positions(body) - start).max()


def test_fingers_with_motors_move_as_on_the_cpu_and_have_the_same_bits_in_every_run():
    gpu, cpu = both(finger, 20, position=GOALS)
    assert gpu.converged.all() and not gpu.taken_on_cpu.any()
    assert off(gpu, cpu) < 1e-6
    assert np.allclose(gpu.joint_position(), cpu.joint_position(), rtol=0, atol=1e-7)
    assert np.allclose(gpu.motor_effort(), cpu.motor_effort(), rtol=1e-5, atol=1e-9)
    assert np.allclose(gpu.joint_velocity(), cpu.joint_velocity(), rtol=1e-5, atol=1e-6)
    assert np.allclose(gpu.energy().total, cpu.energy().total, rtol=1e-6)
    again = pl.simulate_many(finger(), DT, count=COUNT, device="cuda", solver=CLOSE)
    again.set_motor(position=GOALS)
    for _ in range(20):
        again.step()
    assert np.array_equal(again.positions(), gpu.positions()) and np.array_equal(again.time, gpu.time)


def test_scenes_of_different_numbers_lie_side_by_side():
    scenes = [finger(young, target) for young, target in ((1e5, 0.3), (3e5, -0.4), (5e4, 0.1))]
    gpu, cpu = (pl.simulate_many(scenes, DT, solver=CLOSE, device=name).step(10) for name in ("cuda", "cpu"))
    assert off(gpu, cpu) < 1e-6


def beam(law: str, **options) -> pl.Scene:
    """A beam that is pinned at one end, loaded at the other, and has no joint."""
    scene = pl.Scene()
    body = scene.add_soft(
        pl.meshes.box((0.3, 0.1, 0.1), cells=(3, 1, 1)), getattr(pl.Material, law)(1e5, 0.3, 900, **options)
    )
    body.pin(body.nodes.x < 1e-9)
    body.force(body.nodes.x > 0.29, (0.0, 0.4, 0.0))
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("law", ["linear", "corotated", "neohookean", "stvk"])
def test_laws_pins_and_loads_without_joints(law):
    gpu, cpu = both(lambda: beam(law, mass_damping=2.0), 15, count=3)
    assert not gpu.taken_on_cpu.any() and off(gpu, cpu) < 1e-6


def test_limits_hold_as_on_the_cpu():
    gpu, cpu = both(lambda: finger(target=1.2, limits=(-0.2, 0.25)), 40, count=3)
    assert off(gpu, cpu) < 1e-5 and gpu.joint_position().max() < 0.26


def test_states_that_are_set_and_resets_reach_the_gpu():
    gpu, cpu = both(finger, 5, count=4, position=[0.1, 0.2, 0.3, 0.4])
    for many in (gpu, cpu):
        body = many[2].scene.soft_bodies[0]
        many[2].set_velocities(body, many[2].velocities(body) + np.array([0.0, 0.1, 0.0]))
        many[1].set_motor(many[1].scene.joints[0], velocity=0.5)
        many.reset(0)
        many.step(5)
    assert np.array_equal(gpu.time, cpu.time) and off(gpu, cpu) < 1e-6
    gpu.set_states(cpu.states)
    assert np.array_equal(gpu.positions(), cpu.positions())


def test_a_step_that_is_too_hard_for_the_gpu_is_taken_by_the_cpu():
    gpu, cpu = both(finger, 2, count=3)
    for many in (gpu, cpu):
        body = many[1].scene.soft_bodies[0]
        with pytest.warns(Warning):
            many.set_positions(None, many[1].positions(body) * (-1.0, 1.0, 1.0), only=1)  # inside out
            many.step(3)
    assert gpu.taken_on_cpu[1] >= 1 and gpu.running.all()
    assert not gpu.taken_on_cpu[[0, 2]].any()
