"""Where Newton's method starts: as velocities changed in the last steps, where these tell of the next."""

import numpy as np
import pytest

import pliant as pl

STEP, STEPS = 0.01, 60


def swinging(linear: str, tolerance: float, law: str = "corotated"):
    """A beam, clamped at one end, that is let go under its weight."""
    scene = pl.Scene()
    material = getattr(pl.Material, law)(young=1e6, poisson=0.4, density=1000)
    beam = scene.add_soft(pl.meshes.box((1.0, 0.2, 0.2), cells=(10, 2, 2)), material)
    beam.pin(beam.nodes.x < 1e-9)
    return scene.simulate(dt=STEP, solver=pl.Newton(linear=linear, tolerance=tolerance)), beam


def tips(sim, beam, steps: int) -> np.ndarray:
    """Heights (steps,) [m] of the free end."""
    end, found = beam.nodes.x > 1 - 1e-9, []
    for _ in range(steps):
        sim.step()
        found.append(sim.positions(beam)[end, 2].mean())
    return np.array(found)


@pytest.mark.parametrize(("linear", "most"), [("cholesky", 5e-5), ("pcg", 3e-4)])
def test_a_swing_follows_the_exact_one_closely(linear, most):
    """M (u - u*) + h f(x + h u) = 0 is met to the tolerance, a part of a step's motion; what steps leave of it adds up
    over a swing, in which the tip goes down by 0.4 m. From a start that goes on as the last two steps did, one
    iteration a step leaves a fifth, or where systems are solved loosely half, of what it leaves from one that repeats
    the last (9e-5 and 5e-4 of the swing)."""
    sim, beam = swinging(linear, 1e-2)
    exact = tips(*swinging("cholesky", 1e-10), STEPS)
    found = tips(sim, beam, STEPS)
    assert np.ptp(exact) > 0.25
    assert np.abs(found - exact).max() < most * np.ptp(exact)


def test_what_is_steady_is_foreseen_exactly():
    """A block at rest under its weight changes its velocity by the same in every step: the start is the answer, and no
    iteration moves anything."""
    scene = pl.Scene()
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), pl.Material.corotated(1e5, 0.3, 1000))
    block.pin(block.nodes.z < 1e-9)
    sim = scene.equilibrium(solver=pl.Newton(tolerance=1e-8))
    other = scene.simulate(dt=STEP)
    other.set_positions(block, sim.positions(block))
    other.step(20)
    assert np.abs(other.velocities(block)).max() < 1e-6
    assert other.info.residual <= 1e-2 and other.info.converged


def test_a_start_after_a_blow_is_not_extrapolated():
    """A beam whose free end is struck in mid-swing: the next steps are those of a run whose every step is solved to
    rounding, whatever the steps before foretold."""
    struck = []
    for tolerance in (1e-2, 1e-10):
        sim, beam = swinging("cholesky", tolerance)
        sim.step(10)
        end = beam.nodes.x > 1 - 1e-9
        velocities = sim.velocities(beam).copy()
        velocities[end] += (0.0, 0.0, 5.0)
        sim.set_velocities(beam, velocities)
        struck.append(tips(sim, beam, 10))
        assert sim.info.converged
    assert np.ptp(struck[1]) > 0.05
    assert np.abs(struck[0] - struck[1]).max() < 1e-2 * np.ptp(struck[1])


def test_a_resumed_swing_has_the_same_bits(tmp_path):
    sim, _ = swinging("pcg", 1e-2)
    sim.step(5)
    sim.checkpoint(tmp_path / "swing.npz")
    other = pl.resume(tmp_path / "swing.npz")
    sim.step(5), other.step(5)
    assert "before" in sim.state.memory["newton"]
    assert np.array_equal(sim.state.x, other.state.x)
