"""Equilibrium: closed forms, loads, joints, contacts, and what is refused."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.statics import loading

YOUNG, POISSON = 1e6, 0.3


def stretched_cube(law: str, displacement: float, load_steps: int = 1):
    """A unit cube pulled to a length of 1 + displacement between frictionless plates."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cube = scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), getattr(pl.Material, law)(YOUNG, POISSON, 1000))
    for axis, values in zip("xyz", cube.nodes.positions.T):
        cube.pin(values < 1e-9, axis)
    cube.pin(cube.nodes.x > 1 - 1e-9, "x", displacement=(displacement, 0, 0))
    return scene.equilibrium(load_steps=load_steps), cube


@pytest.mark.parametrize("law, lateral", [("corotated", 0.85), ("stvk", np.sqrt(1 - 0.3 * (1.5**2 - 1)))])
def test_a_stretched_cube_thins_as_its_law_says(law, lateral):
    """Corotated: lateral stretch 1 - nu e; St. Venant-Kirchhoff: s_t^2 = 1 - nu (s^2 - 1)."""
    sim, cube = stretched_cube(law, 0.5)
    assert sim.positions(cube)[:, 1].max() == pytest.approx(lateral, rel=1e-6)
    assert sim.info.converged and sim.info.residual <= 1e-6


def test_a_bar_under_its_own_weight():
    """u = rho g L^2 / (2 E) for nu = 0; linear, exact up to the lumping of the load at the ends."""
    scene = pl.Scene()
    bar = scene.add_soft(pl.meshes.box((0.1, 0.1, 1), cells=(2, 2, 20)), pl.Material.linear(1e5, 0, 1000))
    bar.pin(bar.nodes.z > 1 - 1e-9)
    sim = scene.equilibrium()
    drop = (bar.nodes.z - sim.positions(bar)[:, 2])[bar.nodes.z < 1e-9].mean()
    assert drop == pytest.approx(1000 * 9.81 / (2 * 1e5), rel=1e-3)


def test_a_cube_under_pressure_on_all_sides_shrinks_evenly():
    """sigma = -p I everywhere, whatever the law: the pressure follows the faces as they move."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cube = scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), pl.Material.neohookean(YOUNG, POISSON, 1000))
    for axis, values in zip("xyz", cube.nodes.positions.T):
        cube.pin(values < 1e-9, axis)
    cube.pressure("all", 1e5)
    sim = scene.equilibrium()
    stress = sim.stress(cube)
    assert np.allclose(stress[:, :3], -1e5, rtol=1e-5)
    assert np.abs(stress[:, 3:]).max() < 1


def test_a_dead_load_beyond_the_strength_of_stvk_is_no_equilibrium():
    """MAT-05: confined St. Venant-Kirchhoff carries at most (lam + 2 mu)/(3 sqrt 3) = 259 067 Pa."""

    def squeezed(load):
        scene = pl.Scene(gravity=(0, 0, 0))
        cube = scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), pl.Material.stvk(YOUNG, POISSON, 1000))
        cube.pin(cube.nodes.x < 1e-9)
        cube.pin("all", "yz")
        cube.traction(cube.faces.x > 1 - 1e-9, (-load, 0, 0))
        sim = scene.equilibrium()
        return sim.positions(cube)[:, 0].max()

    stretch = squeezed(2.4e5)
    modulus = 2 * 384615.3846 + 576923.0769
    assert 0.5 * modulus * (stretch**3 - stretch) == pytest.approx(-2.4e5, rel=1e-5)
    with pytest.raises(pl.SolverError, match=r"inverted|no equilibrium") as found:
        squeezed(2.7e5)
    assert "time step" not in str(found.value) and "ran away" not in str(found.value)


def test_a_block_rests_on_the_floor_which_carries_its_weight():
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    block = scene.add_soft(pl.meshes.box((1, 1, 1), cells=3), pl.Material.corotated(1e5, POISSON, 1000))
    sim = scene.equilibrium()
    assert sim.contacts.impulses[:, 0].sum() / sim.dt == pytest.approx(1000 * 9.81, rel=1e-4)
    before = sim.positions(block).copy()
    sim.step(10)
    assert np.abs(sim.positions(block) - before).max() < 1e-4


def test_a_ball_hangs_below_its_joint():
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(8, 2, 2)), pl.Material.corotated(YOUNG, POISSON, 1000))
    beam.pin(beam.nodes.x < 1e-9)
    ball = scene.add_rigid(pl.Sphere(0.1), density=2000, position=(1.3, 0.1, 0.1), collide=False)
    joint = scene.join(pl.Ball(ball, beam, at=(1, 0.1, 0.1)))
    sim = scene.equilibrium()
    weight = 2000 * 4 / 3 * np.pi * 0.1**3 * 9.81
    assert sim.reaction(joint) == pytest.approx(np.array([0, 0, -weight]), abs=1e-4 * weight)
    tip = sim.positions(beam)[beam.nodes.x > 1 - 1e-9].mean(axis=0)
    assert sim.pose(ball)[0][:2] == pytest.approx(tip[:2], abs=1e-3)


def twist_of_a_bar(cells: int, density: float) -> float:
    """Angle [rad] by which a torque of 0.2 N m on a plate welded to its end twists a bar, over St. Venant's T L / (G J)
    with J = 0.1406 a^4."""
    side, length, torque = 0.1, 0.4, 0.2
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((length, side, side), cells=(2 * cells, cells, cells))
    bar = scene.add_soft(mesh, pl.Material.corotated(1e5, 0.3, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    end = (length + 0.005, side / 2, side / 2)
    plate = scene.add_rigid(pl.Box((0.01, side, side)), density=density, position=end, collide=False)
    scene.join(pl.Fixed(bar, plate, at=end, nodes=bar.nodes.x > length - 1e-9))
    plate.torque((torque, 0, 0))
    sim = scene.equilibrium()
    assert sim.info.converged
    return 2 * np.arcsin(sim.pose(plate)[1][1]) / (torque * length / (1e5 / 2.6 * 0.1406 * side**4))


def test_a_plate_twists_the_bar_it_is_welded_to():
    """Linear elements are too stiff in torsion, by an error of second order; what is left after extrapolation are the
    clamped ends. A plate however light takes the torque to the bar, and its weight has no part in it."""
    coarse, fine = twist_of_a_bar(4, 1000), twist_of_a_bar(8, 1000)
    assert 0.9 < fine + (fine - coarse) / 3 < 1
    assert twist_of_a_bar(4, 0.1) == pytest.approx(coarse, rel=1e-6)


@pytest.mark.parametrize("force", [(20, 0, 0), (20, 0, 1)], ids=["along", "across too"])
def test_a_plate_welded_to_nodes_that_pins_hold_as_well(force):
    """Pins and weld say the same twice; a force across would turn the plate, which both hold to second order only."""
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 2, 2)), pl.Material.corotated(1e5, 0.0, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    bar.pin(bar.nodes.x > 0.4 - 1e-9, axes="yz")
    plate = scene.add_rigid(pl.Box((0.05, 0.1, 0.1)), density=500, position=(0.425, 0.05, 0.05), collide=False)
    scene.join(pl.Fixed(plate, bar, at=(0.4, 0.05, 0.05), nodes=bar.nodes.x > 0.4 - 1e-9))
    plate.force(force)
    stretched = np.array([0.425 + 0.4 * 20 / (1e5 * 0.1**2), 0.05, 0.05])
    still = scene.equilibrium()
    assert still.info.converged and still.pose(plate)[0] == pytest.approx(stretched, abs=2e-5)
    moving = scene.simulate(dt=1 / 60, solver=pl.Newton(tolerance=1e-6))
    for _ in range(60):
        moving.step()
        assert moving.info.converged
    assert moving.pose(plate)[0][1:] == pytest.approx(stretched[1:], abs=2e-5)


def test_load_steps_lead_to_the_same_answer():
    one, cube = stretched_cube("neohookean", -0.4)
    many, other = stretched_cube("neohookean", -0.4, load_steps=4)
    assert one.positions(cube) == pytest.approx(many.positions(other), abs=1e-6)


def test_a_loose_body_is_named():
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), pl.Material.corotated(YOUNG, POISSON, 1000), name="jelly")
    body.pin(body.nodes.x < 1e-9, "x")
    with pytest.raises(pl.SceneError, match="'jelly' can move or turn as a whole"):
        scene.equilibrium()
    with pytest.raises(pl.SolverError, match="load_steps must be a whole number"):
        scene.equilibrium(load_steps=0)
    with pytest.raises(pl.SolverError, match=r"equilibrium needs pliant.Newton"):
        scene.equilibrium(solver=pl.Dual())


@pytest.mark.parametrize("solver", [pl.Newton(max_iterations=1), pl.Mixed(outer=1, inner=10)])
def test_solvers_of_one_iteration_are_refused_by_name(solver):
    """What one leaves only the next one tells: none of their steps, however short, would ever count as converged."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (4, 1, 1)), pl.Material.neohookean(1e6, 0.3, 1000))
    body.pin("x < 0.01")
    most = "outer" if isinstance(solver, pl.Mixed) else "max_iterations"
    with pytest.raises(pl.SolverError, match=rf"pliant.{type(solver).__name__} with {most} from 2 on, .*{most}=1"):
        scene.equilibrium(solver=solver)
    again = scene.equilibrium(solver=replace(solver, **{most: 2}))
    assert again.positions(body) == pytest.approx(scene.equilibrium().positions(body), abs=1e-5)


def test_bodies_that_fall_without_end_are_named():
    """They may touch each other, and so are let go; what touches in between changes from step to step."""
    scene = pl.Scene()
    material = pl.Material.corotated(1e5, 0.3, 1000)
    scene.add_soft(pl.meshes.box((1, 1, 1), 1), material, name="cube")
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(1.2, 0.5, 0.5), name="ball")
    with pytest.raises(pl.SceneError, match=r"'(cube|ball)' moves away without end"):
        scene.equilibrium()


@pytest.mark.parametrize("load_steps", [1, 10])
@pytest.mark.parametrize("solver", [pl.Newton(), pl.Mixed(), pl.Newton(max_iterations=5)])
def test_a_sheet_that_bends_far_is_found_by_solvers_of_loose_tolerance(solver, load_steps):
    """As closely as by that of statics: what did not converge at once is in balance where it ends, and the rest leaves
    the square of a tolerance of 1e-2."""
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.meshes.grid((1, 0.2), (10, 2)), pl.Material.stvk(1e8, 0.3, 500), 2e-3)
    sheet.clamp("x < 0.001")
    close = scene.equilibrium().positions(sheet)
    assert close[:, 2].min() < -0.9
    loose = scene.equilibrium(solver=solver, load_steps=load_steps)
    assert loose.positions(sheet) == pytest.approx(close, abs=1e-4)


def test_the_integrator_of_a_solver_is_that_of_the_steps_after():
    """Statics have none: the same place, which the steps after do not leave, by BDF2 or Euler as the solver says."""
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.meshes.grid((1, 0.2), (10, 2)), pl.Material.stvk(1e10, 0.3, 500), 2e-3)
    sheet.clamp("x < 0.001")
    close = {"tolerance": 1e-6, "max_iterations": 200}
    euler, bdf2 = (scene.equilibrium(solver=pl.Newton(integrator=i, **close)) for i in ("euler", "bdf2"))
    assert np.array_equal(euler.positions(sheet), bdf2.positions(sheet))
    rest = bdf2.positions(sheet).copy()
    bdf2.step(3), euler.step(3)
    assert "bdf2" in bdf2.state.memory and "bdf2" not in euler.state.memory
    assert bdf2.positions(sheet) == pytest.approx(rest, abs=1e-6)


def test_an_equilibrium_says_how_far_it_is(monkeypatch):
    told, wanted = [], []

    @contextmanager
    def line(words, shown):
        wanted.append(shown)
        yield told.append

    monkeypatch.setattr(loading, "with_line", line)
    scene = pl.Scene()
    scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (4, 1, 1)), pl.Material.linear(1e6, 0.3, 1000)).pin("x < 0.01")
    scene.equilibrium(load_steps=2, progress=None)
    assert wanted == [None] and len(told) >= 2
    assert told[0].startswith("50% of the load, step 1, ") and told[-1].startswith("100% of the load, step ")
    scene.equilibrium()
    assert wanted == [None, False]
    with pytest.raises(pl.SceneError, match="progress must be True or False, got 'yes'"):
        scene.equilibrium(progress="yes")
