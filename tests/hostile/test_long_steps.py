"""Steps that nobody would ask for: they end, by a number of iterations that is known before, and say what to do."""

import numpy as np
import pytest

import bases
import pliant as pl
from pliant import scene_file
from pliant.solve import mixed
from pliant.stepping.parts import MOST_HALVINGS


def scene_of(name: str, folder) -> pl.Scene:
    bases.put_files(folder)
    (folder / "case.toml").write_bytes(bases.BASES[name])
    return scene_file.read(folder / "case.toml").scene


def test_a_mixed_step_that_cannot_be_met_ends(tmp_path, monkeypatch):
    """Global steps that do not meet joints are counted: six in each part of a step, which is halved four times. Without
    elements there are none, and steps are Newton's."""
    scene, ended = scene_of("jointed", tmp_path), []
    scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), pl.Material.corotated(1e5, 0.3, 1000), position=(50, 0, 0))
    sim = scene.simulate(dt=4e9, solver=pl.Mixed())
    real = mixed.minimise

    def counted(*arguments):
        u, info = real(*arguments)
        ended.append(info.converged)
        return u, info

    monkeypatch.setattr(mixed, "minimise", counted)
    with pytest.raises(pl.SolverError, match="Try a smaller time step"):
        sim.step()
    assert 0 < ended.count(False) <= (mixed.MOST_UNMET + 1) * (MOST_HALVINGS + 1)
    assert sim.state.step == 0


@pytest.mark.hostile
def test_a_step_beyond_all_numbers_is_refused(tmp_path):
    sim = scene_of("small", tmp_path).simulate(dt=9223372036854775807)
    with pytest.raises(pl.SolverError, match="Try a smaller time step"):
        sim.step()


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("SVD did not converge"), OverflowError("too large")])
def test_numbers_that_cannot_be_computed_with_are_an_error_of_the_step(error):
    """Whatever solves the step; the state before it is kept."""
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(1), mass=1)
    sim = scene.simulate(0.01).step()
    before, solve = sim.state, sim.working_solver.solve

    def fails(problem):
        raise error

    sim.working_solver.solve = fails
    with pytest.raises(pl.SolverError, match=r"step 2 .*cannot be computed with .*Try a smaller time step"):
        sim.step()
    assert sim.state is before
    sim.working_solver.solve = solve
    assert sim.step().state.step == 2
