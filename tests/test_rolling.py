"""Torques of contacts against rolling and turning on the spot, beside closed forms."""

import numpy as np
import pytest

import pliant as pl
from scene_texts import MATERIAL, SOFT, errors, put

G = 9.81
SHEET = MATERIAL + '[[cloth]]\nmesh = { grid = [1, 1], cells = 1 }\nmaterial = "rubber"\nthickness = 1e-3\n'


def ball_on_plane(angle=0.0, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), shape=None, **options):
    scene = pl.Scene(gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    shape = shape or pl.Sphere(0.1)
    ball = scene.add_rigid(
        shape, density=1000, position=(0, 0, 0.1), velocity=velocity, angular_velocity=spin, friction=0.8, **options
    )
    return scene, ball


def test_a_ball_rolls_to_a_stop():
    """(I + m r^2) a / r = -c m g: 5/7 of c g / r, and then it stays."""
    reach = 2e-3
    scene, ball = ball_on_plane(velocity=(0.3, 0.4, 0), spin=(-4.0, 3.0, 0), rolling_friction=reach)
    sim = scene.simulate(dt=1 / 240).step(240)
    expected = 0.5 - 5 / 7 * reach * G / 0.1
    velocity = sim.twist(ball)[0]
    assert np.linalg.norm(velocity) == pytest.approx(expected, rel=5e-3)
    np.testing.assert_allclose(velocity[:2] / np.linalg.norm(velocity), (0.6, 0.8), atol=1e-3)
    sim.step(round(240 * 0.5 / (5 / 7 * reach * G / 0.1)))
    place = sim.pose(ball)[0].copy()
    assert np.abs(sim.step(240).pose(ball)[0] - place).max() < 1e-6


@pytest.mark.parametrize("part", [0.95, 1.1])
def test_a_ball_stays_on_a_slope_that_is_not_steep(part):
    """It rolls where tan(angle) > c / r, then with 5/7 (g sin - c g cos / r)."""
    reach = 5e-3
    angle = np.arctan(part * reach / 0.1)
    scene, ball = ball_on_plane(angle, rolling_friction=reach)
    # a step's tolerance is what a ball creeps by that is held by less than it weighs
    sim = scene.simulate(dt=1 / 120, solver=pl.Newton(tolerance=1e-3)).step(240)
    moved = sim.pose(ball)[0][0]
    if part < 1:
        assert abs(moved) < 1e-6
    else:
        speed = 5 / 7 * G * (np.sin(angle) - reach / 0.1 * np.cos(angle)) * 2.0
        assert sim.twist(ball)[0][0] == pytest.approx(speed, rel=2e-2)


def test_a_ball_that_spins_on_the_spot_stops():
    """I dw/dt = -c m g: dw/dt = 5/2 c g / r^2."""
    reach = 1e-3
    scene, ball = ball_on_plane(spin=(0, 0, 5.0), torsional_friction=reach)
    sim = scene.simulate(dt=1 / 240).step(120)
    slower = 2.5 * reach * G / 0.01 * 0.5
    assert sim.twist(ball)[1][2] == pytest.approx(5.0 - slower, rel=1e-3)
    sim.step(480)
    assert np.abs(sim.twist(ball)[1]).max() < 1e-6


def test_without_it_a_ball_rolls_on():
    scene, ball = ball_on_plane(velocity=(0.5, 0, 0), spin=(0, 5.0, 0))
    assert scene.simulate(dt=1 / 120).step(240).twist(ball)[0][0] == pytest.approx(0.5, rel=1e-6)


def test_energy_falls_and_steps_converge_in_a_heap():
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    rng = np.random.default_rng(0)
    for i in range(8):
        place = (*rng.uniform(-0.15, 0.15, 2), 0.15 + 0.22 * i)
        scene.add_rigid(pl.Sphere(0.1), density=1000, position=place, friction=0.8, rolling_friction=5e-3)
    sim = scene.simulate(dt=1 / 120)
    last = sim.energy().total
    bad = 0
    for _ in range(240):
        sim.step()
        bad += not sim.info.converged
        assert sim.energy().total <= last + 1e-3 * abs(last)
        last = sim.energy().total
    assert bad <= 6


def test_resuming_and_other_solvers(tmp_path):
    scene, _ = ball_on_plane(velocity=(0.3, 0, 0), spin=(0, 3.0, 0), rolling_friction=2e-3)
    sim = scene.simulate(dt=1 / 120).step(10)
    sim.checkpoint(tmp_path / "a.npz")
    again = pl.resume(tmp_path / "a.npz")
    np.testing.assert_array_equal(sim.step(10).state.body_position, again.step(10).state.body_position)
    for solver in (pl.Dual(), pl.Explicit(), pl.Xpbd()):
        with pytest.raises(pl.SceneError, match="rolling_friction, which body 'rigid1'"):
            scene.simulate(dt=1 / 120, solver=solver)


def test_soft_bodies_and_sheets_refuse_torques(tmp_path):
    """A torque on one side must act on the other, and nodes cannot take one."""
    material, scene = pl.Material.corotated(1e6, 0.3, 1000), pl.Scene()
    for key in ("rolling_friction", "torsional_friction"):
        with pytest.raises(pl.SceneError, match=f"{key} is not available for a soft body: a torque"):
            scene.add_soft(pl.meshes.box((1, 1, 1), 1), material, **{key: 1e-3})
        with pytest.raises(pl.SceneError, match=f"{key} is not available for a sheet: a torque"):
            scene.add_cloth(pl.meshes.grid((1, 1), 1), material, 1e-3, **{key: 1e-3})
        with pytest.raises(TypeError, match=key):
            scene.contact(pl.world, pl.world, **{key: 1e-3})
        for where, body in (("soft[0]", SOFT), ("cloth[0]", SHEET)):
            (line,) = errors(put(tmp_path, body + f"{key} = 1e-3\n"))
            assert line.startswith(where) and f"{key} is not available" in line


def test_contacts_with_soft_bodies_have_no_torque_and_say_so():
    """A ball that turns on the spot on a soft block: nothing would take the torque, so none acts."""
    spins = []
    for reach in (None, 5e-2):
        scene = pl.Scene()
        scene.add_soft(pl.meshes.box((1, 1, 0.2), (2, 2, 1)), pl.Material.corotated(1e6, 0.3, 1000)).pin("z < 0.01")
        ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.5, 0.5, 0.301), torsional_friction=reach)
        sim = scene.simulate(1 / 120, solver=pl.Newton(tolerance=1e-6)) if reach is None else said(scene)
        sim.set_twist(ball, (0, 0, 0), angular_velocity=(0, 0, 5.0))
        spins.append(sim.step(20).twist(ball)[1])
        assert len(sim.contacts.points)
    np.testing.assert_array_equal(*spins)


def said(scene) -> pl.Simulation:
    with pytest.warns(UserWarning, match="act between rigid bodies: where 'rigid1' touches the soft body 'soft0'"):
        return scene.simulate(1 / 120, solver=pl.Newton(tolerance=1e-6))
