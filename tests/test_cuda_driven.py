"""What the host does in steps that it drives on the device "cuda", with a double of the device: the same steps as the
host's own, whatever rows there are."""

import numpy as np
import pytest

import pliant as pl
from cuda_double import DoubledNewton
from cuda_scenes import ROW_SCENES, exactness, moved, press_through, three_blocks, upright


def doubled(scene: pl.Scene, dt: float, options: pl.Newton):
    """A simulation with the double in place of the device."""
    sim = scene.simulate(dt, solver=options)
    sim.working_solver = DoubledNewton(options, sim.model, sim.state)
    return sim


# Dense doubles take their time.
QUICK = ("block_on_floor", "ball_on_block", "arm", "swing")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ROW_SCENES]
)
def test_steps_are_those_of_the_host(name):
    tolerance, close = exactness(name)
    options, scene = pl.Newton(tolerance=tolerance, linear="pcg"), ROW_SCENES[name]()
    found, expected = doubled(scene, 0.01, options), scene.simulate(0.01, solver=options)
    for _ in range(12):
        found.step()
        expected.step()
        assert found.info.converged or not expected.info.converged
    size = moved(expected)
    assert np.abs(found.state.x - expected.state.x).max() <= close * size
    if len(found.state.body_position):
        assert np.abs(found.state.body_position - expected.state.body_position).max() <= close * size
    assert np.mean(found.working_solver.program.solves) < 20  # the preconditioner meets what is stiff


def test_a_step_that_a_device_does_not_take_is_its_stand_ins():
    class Device:
        name, linear_rows = "newton", False

        def __init__(self, stand_in):
            self.stand_in = stand_in

        def advance(self, model, state, h):
            return None

    scene = three_blocks(floor=False)[0]
    found, expected = scene.simulate(0.01), scene.simulate(0.01).step(2)
    found.working_solver = Device(found.working_solver)
    assert np.array_equal(found.step(2).state.x, expected.state.x)


@pytest.mark.filterwarnings("ignore:.*turned inside out")
def test_bodies_inside_out_are_pulled_back_as_on_the_host():
    options, (scene, bodies) = pl.Newton(tolerance=1e-5, linear="pcg"), three_blocks(floor=True)
    sims, named = (doubled(scene, 1 / 120, options), scene.simulate(1 / 120, solver=options)), []
    for sim in sims:
        for body in bodies[1:]:
            press_through(sim, body)
    for _ in range(16):
        found, expected = (sim.step() for sim in sims)
        assert found.info.tangled == expected.info.tangled
        named.append(found.info.tangled)
    assert named[0] == ["corotated 1", "neohookean 2"] and named[-1] == []
    assert all(upright(body, found.positions(body)) for body in bodies)
    assert np.abs(found.state.x - expected.state.x).max() <= 1e-4 * moved(expected)
