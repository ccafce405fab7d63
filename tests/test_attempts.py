"""Attempts at one step: their number is bounded, whatever strays or gains energy, and their work is told."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SolverError
from pliant.solve.info import Info
from pliant.stepping import step as stepping
from pliant.stepping.attempts import Attempts
from pliant.stepping.parts import in_halves


@dataclass(frozen=True)
class Bouncing:
    """A model with two things whose restitution may be cut down."""

    soft_names: tuple = ("one", "other")
    body_count: int = 0
    bounce: np.ndarray | None = None


def halved(advance):
    """The report of a step by these attempts, in a falling scene that lends its state; and how many there were."""
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 1))
    attempts = Attempts(advance)
    _, info = in_halves(attempts, Bouncing(), scene.simulate(1 / 60).state, None, 1.0)
    return attempts.told(info), len(attempts.infos)


@pytest.mark.parametrize("bounces, most", [(False, 31), (True, 40)])
@pytest.mark.parametrize("settled_by", [0.0, 0.3, 0.9])
def test_attempts_are_bounded_and_all_are_counted(bounces, most, settled_by):
    """Every attempt strays, and all that keep more than a part of their restitution gain energy."""

    def advance(model, state, solver, h):
        kept = np.ones(2) if model.bounce is None else model.bounce
        gaining = np.flatnonzero(kept > settled_by) if bounces else np.zeros(0, np.int64)
        work = {"iterations": 3, "newton_iterations": 2, "timings": {"solve": 0.5, "rows": 0.25}}
        return state, Info(straying=2.0, gaining=gaining, **work)

    info, made = halved(advance)
    assert made <= most
    assert (info.iterations, info.newton_iterations) == (3 * made, 2 * made)
    assert info.timings == {"solve": 0.5 * made, "rows": 0.25 * made}
    assert bounces or (made, info.parts) == (31, 16)


def test_work_of_attempts_that_break_down_counts():
    def advance(model, state, solver, h):
        info = Info(iterations=5, newton_iterations=4, timings={"solve": 0.0})
        if h == 1.0:
            error = SolverError("ran away")
            error.info = replace(info)
            raise error
        return state, info

    info, made = halved(advance)
    assert made == 3 and info.parts == 2
    assert (info.iterations, info.newton_iterations) == (15, 12)
    assert info.timings["solve"] > 0.0


def test_what_runs_away_in_short_parts_is_an_error_of_the_step(monkeypatch):
    """A ball that leaves with 1 km/s goes no further than the scene is large in a sixteenth of a step, and beyond it in
    the whole; one with a few m/s does not."""
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 1))
    sim = scene.simulate(1 / 60, solver=pl.Dual())

    def leaving(speed):
        def advance(model, state, solver, h):
            new = replace(state, body_velocity=np.full((1, 3), speed))
            return new, Info(converged=False, straying=2.0)

        return advance

    monkeypatch.setattr(stepping, "advance", leaving(3.0))
    assert sim.step().info.parts == 16
    before = sim.state
    monkeypatch.setattr(stepping, "advance", leaving(1000.0))
    with pytest.raises(SolverError, match="ran away"):
        sim.step()
    assert sim.state is before


@pytest.mark.parametrize("solver", [pl.Dual(), pl.Linear(), pl.Explicit(), pl.Xpbd()])
def test_no_step_has_converged_that_is_out_of_balance(solver, monkeypatch):
    """A falling cube, of which every solver says that it has converged; more than a half out of balance it has not."""
    for found, good in ((0.5, True), (0.51, False)):
        scene = pl.Scene()
        scene.add_soft(pl.meshes.box((1, 1, 1), 1), pl.Material.linear(1e5, 0.3, 1000))
        sim = scene.simulate(1e-3, solver=solver, threads=1)
        monkeypatch.setattr(stepping, "residual", lambda *_, found=found: found)
        assert sim.step().info.converged == good and sim.info.imbalance == found
