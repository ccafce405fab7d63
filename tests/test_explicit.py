"""Explicit steps: orders of convergence, bounded energy, largest safe step, free fall, joints and contacts."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

import pliant as pl
from pliant.solve.stability import largest_safe_step

CUBE = pl.meshes.box((0.2, 0.2, 0.2), cells=1)
LAWS = ("linear", "corotated", "stvk", "neohookean", "arap", "fixed_corotated", "stable_neohookean")


def swinging_cube(law="neohookean", **options):
    """A free cube, to be stretched and set spinning."""
    scene = pl.Scene(gravity=(0, 0, -1.0))
    body = scene.add_soft(CUBE, getattr(pl.Material, law)(young=1e4, poisson=0.3, density=1000, **options))
    return scene, body


def run(method, h, seconds, **options):
    scene, body = swinging_cube(**options)
    sim = scene.simulate(h, solver=pl.Explicit(method))
    x = body.nodes.positions
    sim.set_positions(body, x * [1.1, 1.0, 0.95])
    sim.set_velocities(body, np.cross((2, 1, 3), x - x.mean(axis=0)))
    sim.step(round(seconds / h))
    return sim, body


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method, order", [("symplectic", 1), ("rk2", 2), ("rk4", 4)])
@pytest.mark.parametrize("damping", [0.0, 0.002])
def test_order_of_convergence(method, order, damping):
    """The error at a fixed time falls as h^order: from steps h, h/2, h/4 the fitted order is within 0.25 of it."""
    ends = [run(method, h, 0.16, damping=damping)[0].state.x for h in (0.004, 0.002, 0.001)]
    errors = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_symplectic_energy_stays_bounded():
    """Symplectic Euler keeps a nearby energy: over 1000 steps it swings by O(h), without drift."""
    scene, body = swinging_cube()
    scene.gravity = (0, 0, 0)
    sim = scene.simulate(0.002, solver=pl.Explicit())
    sim.set_positions(body, body.nodes.positions * [1.1, 1.0, 0.95])
    energies = []
    for _ in range(1000):
        energies.append(sim.step().energy().total)
    energies = np.array(energies)
    first, last = energies[:250].mean(), energies[-250:].mean()
    assert np.ptp(energies) <= 0.1 * energies[0]
    assert abs(last - first) <= 0.05 * np.ptp(energies)


@pytest.mark.parametrize("law", LAWS)
def test_agrees_with_newton_for_small_steps(law):
    """Both are of first order: the difference halves with the step (ratio within 0.2 of 2)."""
    differences = []
    for h in (0.0004, 0.0002):
        ends = []
        for solver in (pl.Explicit(), pl.Newton(tolerance=1e-6)):
            scene, body = swinging_cube(law, damping=0.001, mass_damping=0.5)
            sim = scene.simulate(h, solver=solver)
            sim.set_positions(body, body.nodes.positions * [1.05, 1.0, 0.98])
            ends.append(sim.step(round(0.02 / h)).positions(body).copy())
        differences.append(np.abs(ends[0] - ends[1]).max())
    assert differences[0] / differences[1] == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("method, fall", [("symplectic", 4.95405), ("rk2", 4.905), ("rk4", 4.905)])
@pytest.mark.filterwarnings("ignore:pliant.Explicit")
def test_free_fall(method, fall):
    """DYN-05: symplectic Euler drops g h^2 n (n + 1) / 2, Runge-Kutta the exact g t^2 / 2."""
    scene = pl.Scene()
    body = scene.add_soft(CUBE, pl.Material.corotated(1e3, 0.3, 1000))
    sim = scene.simulate(0.01, solver=pl.Explicit(method)).step(100)
    assert np.abs(sim.positions(body) - body.nodes.positions + [0, 0, fall]).max() <= 1e-10


def test_prescribed_motion_and_rigid_bodies():
    """Pinned nodes move as they are told, free rigid bodies fall as in any solver."""
    scene, body = swinging_cube(damping=0.002)
    body.pin(body.nodes.z < 1e-9, velocity=(0.1, 0, 0))
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 3), collide=False)
    sim = scene.simulate(0.002, solver=pl.Explicit("rk4")).step(50)
    low = body.nodes.z < 1e-9
    assert np.abs(sim.positions(body)[low] - body.nodes.positions[low] - [0.01, 0, 0]).max() <= 1e-12
    assert sim.pose(ball)[0][2] == pytest.approx(3 - 0.002**2 * 50 * 51 / 2, abs=1e-12)


def test_a_block_comes_to_rest_on_a_plane_and_a_joint_holds():
    """Contacts and joints by impulses: the surface stays above the plane, the weight is carried, the gap stays shut."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = pl.Material.corotated(2e4, 0.3, 1000, damping=0.004, mass_damping=5)
    block = scene.add_soft(CUBE, material, position=(0, 0, 0.01))
    ball = scene.add_rigid(pl.Sphere(0.05), mass=0.5, position=(0.1, 0.1, 0.22), collide=False)
    joint = scene.join(pl.Ball(ball, block, at=(0.1, 0.1, 0.22)))
    sim = scene.simulate(0.001, solver=pl.Explicit()).step(2500)
    assert sim.positions(block)[:, 2].min() > -1e-4
    assert np.abs(sim.velocities(block)).max() < 1e-3
    weight = (8.0 + 0.5) * 9.81
    assert sim.contacts.impulses[:, 0].sum() / 0.001 == pytest.approx(weight, rel=1e-3)
    assert sim.reaction(joint)[2] == pytest.approx(-0.5 * 9.81, rel=0.01)


def test_too_long_a_step_is_warned_of_with_the_largest_safe_one():
    """2/w is sharp: just below it a body stays bounded without a warning, well above it grows and is warned of."""
    scene, body = swinging_cube("linear")
    with pytest.warns(UserWarning, match=r"largest safe time step for this scene is [\d.e-]+ s") as caught:
        scene.simulate(0.1, solver=pl.Explicit()).step()
    safe = float(str(caught[0].message).split("scene is ")[1].split(" s")[0])
    for h, steps, grows in ((0.97 * safe, 2000, False), (1.03 * safe, 80, True)):
        sim = scene.simulate(h, solver=pl.Explicit())
        sim.set_positions(body, body.nodes.positions * (1 + 1e-6 * np.random.default_rng(0).normal(size=(8, 3))))
        with warnings.catch_warnings():
            warnings.simplefilter("error" if not grows else "ignore")
            sim.step(steps)
        assert (sim.energy().elastic > 1.0) == grows


@pytest.mark.parametrize("method", ["symplectic", "rk2", "rk4"])
@pytest.mark.parametrize("damping", [1e-3, 0.1])
def test_the_step_that_the_warning_names_is_safe_with_damping(method, damping):
    def simulated(h):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.linear(1e5, 0.3, 1000, damping=damping)
        body = scene.add_soft(pl.meshes.box((0.6, 0.3, 0.3), (2, 1, 1)), material, self_contact=False)
        sim = scene.simulate(h, solver=pl.Explicit(method))
        sim.set_velocities(body, 1e-4 * np.random.default_rng(0).normal(size=sim.positions(body).shape))
        return sim

    with pytest.warns(UserWarning, match="largest safe time step") as caught, suppress(pl.SolverError):
        simulated(0.1).step()  # which may run away at once
    safe = float(str(caught[0].message).split("scene is ")[1].split(" s")[0])
    good, bad = simulated(0.97 * safe), simulated(1.1 * safe)
    before = good.energy().total
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good.step(400)
    assert good.energy().total < before
    with pytest.warns(UserWarning, match="too long"):
        bad.step(400)
    assert bad.energy().total > 1e3 * before


def test_safe_steps_of_the_methods():
    """Undamped: 2/w and 2 sqrt(2)/w, none for rk2; damped symplectic: sqrt(beta^2 + 4/w^2) - beta (characteristic
    polynomial z^2 - (2 - h^2 w^2 - h beta w^2) z + 1 - h beta w^2)."""
    assert largest_safe_step("symplectic", 10.0) == pytest.approx(0.2, rel=0.01)
    assert largest_safe_step("rk4", 10.0) == pytest.approx(np.sqrt(8) / 10, rel=0.01)
    assert largest_safe_step("rk2", 10.0) == 0.0
    assert largest_safe_step("symplectic", 10.0, 0.1) == pytest.approx(np.sqrt(0.01 + 0.04) - 0.1, rel=0.02)
    assert largest_safe_step("rk2", 10.0, 0.1) > 0


def test_rk2_says_that_it_has_no_stable_step():
    scene, _ = swinging_cube()
    with pytest.warns(UserWarning, match="no stable time step here"):
        scene.simulate(0.001, solver=pl.Explicit("rk2")).step()


def test_a_step_far_too_long_ends_in_an_error_that_says_so():
    scene, body = swinging_cube("stvk")
    sim = scene.simulate(0.2, solver=pl.Explicit())
    sim.set_positions(body, body.nodes.positions * [1.3, 1, 1])
    with pytest.warns(UserWarning, match="too long"), pytest.raises(pl.SolverError, match="forces threw"):
        sim.step(200)


@pytest.mark.parametrize("method", ["rk2", "rk4"])
def test_what_runge_kutta_cannot_do_is_refused(method):
    scene = pl.Scene()
    body = scene.add_soft(CUBE, pl.Material.corotated(1e4, 0.3, 1000, plasticity=pl.Plasticity(0.1, 1, 0.5)))
    with pytest.raises(pl.SceneError, match="no place for plasticity; use method='symplectic'"):
        scene.simulate(0.001, solver=pl.Explicit(method))
    scene, body = swinging_cube()
    scene.add_rigid(pl.Plane(), static=True, name="floor")
    with pytest.raises(pl.SceneError, match="may touch 'floor'"):
        scene.simulate(0.001, solver=pl.Explicit(method))
    scene, body = swinging_cube()
    scene.join(pl.Ball(body, pl.world, at=(0, 0, 0), name="hook"))
    with pytest.raises(pl.SceneError, match="joints, such as 'hook'"):
        scene.simulate(0.001, solver=pl.Explicit(method))
    with pytest.raises(pl.SceneError, match="Explicit method must be one of"):
        pl.Explicit("euler")


def falling_cantilever(segments: int, dt: float) -> pl.Simulation:
    """A rod of 1 m, held at one end, in explicit steps of dt [s]."""
    scene = pl.Scene()
    rod = scene.add_rod([(0, 0, 0), (1, 0, 0)], pl.Material.linear(1e8, 0.3, 1200), radius=0.01, segments=segments)
    rod.clamp(0)
    return scene.simulate(dt, solver=pl.Explicit(), threads=1)


def test_steps_that_are_too_long_are_told_once_and_what_runs_away_is_an_error():
    """A rod with steps 33 times as long as its longest stable one (0.5 ms): one warning however many parts steps are
    taken in, and an error before it is farther away than ten times its length."""
    sim = falling_cantilever(4, 1 / 60)
    thrown = pytest.raises(pl.SolverError, match=r"too long for pliant.Explicit, whose forces threw .*'rod0\.\d'")
    with pytest.warns(UserWarning, match="too long for pliant.Explicit") as told, thrown:
        sim.step(20)
    assert len([one for one in told if "too long" in str(one.message)]) == 1
    assert np.all(np.isfinite(sim.state.x)) and np.abs(sim.rod(sim.scene.rods[0]).points).max() < 10


@pytest.mark.filterwarnings("ignore:dt = ", "ignore:surfaces pass")
@pytest.mark.parametrize("method", ["symplectic", "rk4"])
def test_soft_bodies_that_run_away_are_an_error(method):
    """The same for tets, by forces of every method: a cube of 1 m, steps five times as long as its longest stable."""
    scene = pl.Scene()
    scene.add_soft(CUBE, pl.Material.corotated(1e6, 0.3, 1000), velocity=(0, 0, 1)).pin("z < 0.001")
    sim = scene.simulate(0.05, solver=pl.Explicit(method), threads=1)
    with pytest.raises(pl.SolverError, match=r"(forces threw|and) soft body 'soft0', node .* away"):
        sim.step(60)


def test_short_steps_do_not_run_away():
    """Half the longest stable step: no warning, no error, and the tip falls."""
    sim = falling_cantilever(4, 1 / 4000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(400)
    assert -0.06 < sim.rod(sim.scene.rods[0]).points[-1, 2] < -0.02
