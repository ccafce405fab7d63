"""What the host does in steps that it drives on the device "cuda", with a double of the device: the same steps as the
host's own, whatever rows there are."""

import numpy as np
import pytest

import pliant as pl
from cuda_double import DoubledNewton
from cuda_scenes import ROW_SCENES, exactness, moved


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
