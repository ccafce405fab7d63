"""Corner cases across the house: states that are set, resumed, unloaded, pinned, plastic, or without soft bodies."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.solve.newton.solver import NewtonSolver

BDF2 = pl.Newton(tolerance=1e-6, integrator="bdf2")


def block(law: str = "corotated", young: float = 1e5, gravity=(0, 0, -9.81), **options):
    """A block of 0.4 x 0.2 x 0.2 m, held at one end."""
    scene = pl.Scene(gravity=gravity)
    body = scene.add_soft(
        pl.meshes.box((0.4, 0.2, 0.2), cells=(4, 2, 2)), getattr(pl.Material, law)(young, 0.3, 1000, **options)
    )
    body.pin(body.nodes.x < 1e-9)
    return scene, body


# Newton


@pytest.mark.filterwarnings("ignore:.*turned inside out")
@pytest.mark.parametrize("linear", ["cholesky", "pcg", "matrix-free"])
def test_pin_that_outruns_its_elements_is_no_convergence_on_infinity(linear):
    """At 12 m/s a pin passes an element of 0.1 m in a step: the block is tangled, follows, and is whole again."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((0.4, 0.2, 0.2), cells=(4, 2, 2)), pl.Material.neohookean(1e6, 0.3, 1000))
    body.pin(body.nodes.x < 1e-9, velocity=lambda t: (12.0 if t < 0.035 else 0.0, 0, 0))
    sim = scene.simulate(dt=0.01, solver=pl.Newton(linear=linear), threads=1)
    named = []
    for _ in range(300):
        sim.step()
        named += sim.info.tangled
        assert np.isfinite(sim.energy().total)
    assert named and not sim.info.tangled
    assert np.ptp(sim.positions(body)[:, 0]) == pytest.approx(0.4, rel=0.02)


def test_step_that_fails_leaves_the_state_as_it_was():
    scene, body = block()
    broken = [0.0]
    body.force(body.nodes.x > 0.399, lambda t: (0, 0, broken[0]))
    sim = scene.simulate(dt=0.01, threads=1)
    sim.step(3)
    before = sim.state
    broken[0] = np.nan
    with pytest.raises(pl.PliantError):
        sim.step()
    for name, value in before.arrays().items():
        assert np.array_equal(value, sim.state.arrays()[name]), name
    broken[0] = 0.0
    sim.step(3)
    assert sim.info.converged


def test_pinned_base_inside_a_plane_gets_no_impulse():
    """A node that may not move and a plane that may not either: the pin carries the weight, step for step."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    body = scene.add_soft(
        pl.meshes.box((0.2, 0.2, 0.2), cells=2), pl.Material.corotated(1e6, 0.3, 1000), position=(0, 0, -1e-6)
    )
    pin = body.pin(body.nodes.z < 1e-5)
    sim = scene.simulate(dt=1 / 30, threads=1)
    for _ in range(200):
        sim.step()
        assert sim.info.converged
    assert sim.reaction(pin)[2] == pytest.approx(8 * 9.81, rel=1e-3)
    assert scene.equilibrium().reaction(pin)[2] == pytest.approx(8 * 9.81, rel=1e-6)


# BDF2


@pytest.mark.parametrize("rigid", [False, True], ids=["soft", "joint"])
def test_checkpoint_of_bdf2_goes_on_bit_for_bit(tmp_path, rigid):
    scene, body = block()
    if rigid:
        ball = scene.add_rigid(pl.Sphere(0.05), density=500, position=(0.5, 0.1, 0.1), collide=False)
        scene.join(pl.Ball(body, ball, at=(0.4, 0.1, 0.1)))
    sim = scene.simulate(dt=0.01, solver=BDF2, threads=1)
    sim.step(4)
    sim.checkpoint(tmp_path / "four.npz")
    other = pl.resume(tmp_path / "four.npz")
    sim.step(4), other.step(4)
    assert np.array_equal(sim.state.x, other.state.x) and np.array_equal(sim.state.v, other.state.v)
    assert sim.info.integrator == other.info.integrator == "bdf2"


def test_state_that_is_set_is_not_extrapolated():
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=1), pl.Material.corotated(1e5, 0.3, 1000))
    ball = scene.add_rigid(pl.Sphere(0.1), density=1000, position=(0, 0, 3), velocity=(3, 0, 0))
    sim = scene.simulate(dt=0.01, solver=BDF2, threads=1)
    sim.step(3)
    sim.set_positions(body, sim.positions(body) + np.array([1.0, 0, 0]))
    sim.set_twist(ball, (0, 0, 0))
    sim.step(2)
    assert sim.positions(body)[:, 0].min() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(sim.twist(ball)[0]).max() < 1e-12


def test_loaded_springs_settle_or_are_stepped_by_euler():
    """A net pulled by twice its weight with steps in which it falls by half its length: what BDF2 bounds is a norm of
    two states, so that its energy may exceed the work on the way, by a third here, but not grow; Euler's never does.
    Info says what a step was."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10, 1, 1))
    net = scene.add_soft(mesh, pl.Material.springs(1e5, 1000), self_contact=False)  # it folds through itself
    net.pin(net.nodes.x < 1e-9)
    net.force(net.nodes.x > 1 - 1e-9, (0, 0, -200.0))
    sim = scene.simulate(dt=0.05, solver=pl.Newton(integrator="bdf2"), threads=1)
    kinds = set()
    for _ in range(60):
        sim.step()
        kinds.add(sim.info.integrator)
        work = 200.0 * (net.nodes.z - sim.positions(net)[:, 2])[net.nodes.x > 1 - 1e-9].max()
        assert sim.info.converged and sim.energy().total <= 1.33 * work
    assert "bdf2" in kinds and sim.energy().total < 0.5 * work


@pytest.mark.parametrize("dt, load", [(0.05, 200.0), (0.02, 1000.0)])
def test_loaded_springs_gain_no_energy_with_euler(dt, load):
    """Springs that turn far within a step are met where they end: the energy never exceeds the work of the load."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10, 1, 1))
    net = scene.add_soft(mesh, pl.Material.springs(1e5, 1000), self_contact=False)  # it folds through itself
    net.pin(net.nodes.x < 1e-9)
    end = net.nodes.x > 1 - 1e-9
    net.force(end, (0, 0, -load))
    sim = scene.simulate(dt=dt, threads=1)
    for _ in range(60):
        sim.step()
        work = load * (net.nodes.z - sim.positions(net)[:, 2])[end].mean()
        assert sim.info.converged and sim.energy().total <= work


def test_reaction_of_a_damped_body_with_bdf2():
    """M (3 v1 - 4 v0 + v-1) / (2 h) = weight + reaction, viscous forces in the frames in which they acted."""
    scene, body = block(damping=0.02)
    sim, velocities = scene.simulate(dt=0.01, solver=BDF2, threads=1), []
    for _ in range(12):
        sim.step()
        velocities.append(sim.velocities(body).copy())
    mass = sim.model.node_mass[:, None]
    rate = np.sum(mass * (3 * velocities[-1] - 4 * velocities[-2] + velocities[-3]), axis=0) / 0.02
    weight = np.array([0, 0, -9.81 * mass.sum()])
    assert sim.reaction(body.pins[0]) == pytest.approx(rate - weight, abs=1e-4 * 9.81 * mass.sum())


# Statics


def test_equilibrium_without_soft_bodies():
    """A pendulum hangs straight down."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), density=1000, position=(0.6, 0, -0.8), collide=False)
    scene.join(pl.Ball(ball, pl.world, at=(0, 0, 0)))
    assert scene.equilibrium().pose(ball)[0] == pytest.approx((0, 0, -1), abs=1e-6)


@pytest.mark.parametrize("law", ["linear", "corotated", "neohookean", "arap"])
def test_equilibrium_without_loads_is_rest(law):
    scene = pl.Scene(gravity=(0, 0, 0))
    ball = scene.add_soft(pl.meshes.sphere(0.5, cells=3), getattr(pl.Material, law)(1e5, 0.3, 1000))
    ball.pin(ball.nodes.z < 0)
    sim = scene.equilibrium()
    assert sim.info.converged and np.abs(sim.positions(ball) - ball.nodes.positions).max() < 1e-10


def test_damping_has_no_part_in_equilibrium():
    plain, damped = block(), block(damping=1.0)
    answers = [scene.equilibrium().positions(body) for scene, body in (plain, damped)]
    assert np.abs(answers[0] - answers[1]).max() < 1e-9


def test_equilibrium_at_a_time_stays_there():
    """Loads that change are taken at the time asked for; readers and further steps go on from it."""
    scene, body = block(gravity=(0, 0, 0), young=1e6)
    body.force(body.nodes.x > 0.399, pl.Keyframes([0, 1], [(0, 0, 0), (30, 0, 0)]))
    sim = scene.equilibrium(time=1.0)
    assert sim.time == 1.0 and sim.reaction(body.pins[0])[0] == pytest.approx(-30, rel=1e-6)
    there = sim.positions(body).copy()
    sim.step(3)
    assert np.abs(sim.positions(body) - there).max() < 1e-6


def test_simulation_from_an_equilibrium_resumes_bit_for_bit(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(20, 4, 4)), pl.Material.corotated(1e6, 0.4, 1000))
    beam.pin(beam.nodes.x < 1e-9)
    sim = scene.equilibrium(threads=1)
    sim.checkpoint(tmp_path / "rest.npz")
    other = pl.resume(tmp_path / "rest.npz")
    sim.set_velocities(beam, 0 * sim.positions(beam) + [0, 0, 0.1])
    other.set_velocities(other.scene.soft_bodies[0], 0 * sim.positions(beam) + [0, 0, 0.1])
    sim.step(3), other.step(3)
    assert sim.info.linear == other.info.linear and np.array_equal(sim.state.x, other.state.x)


def test_plastic_equilibrium_is_where_the_motion_ends():
    """Creep goes on until it stands still, however many load steps there are."""
    clay = {"plasticity": pl.Plasticity(0.02, 5.0, 0.2)}
    tips = []
    for load_steps in (1, 4):
        scene, body = block(young=3e4, **clay)
        tips.append(scene.equilibrium(load_steps=load_steps).positions(body)[:, 2].min())
    scene, body = block(young=3e4, mass_damping=5.0, **clay)
    sim = scene.simulate(dt=0.05, threads=1)
    sim.step(400)
    assert tips == pytest.approx([sim.positions(body)[:, 2].min()] * 2, rel=0.02)


def test_springs_at_rest_are_where_their_motion_ends():
    """A mass-spring beam: equilibrium, and what long damped steps come to."""
    scene = pl.Scene()
    net = scene.add_soft(pl.meshes.box((0.5, 0.1, 0.1), cells=(5, 1, 1)), pl.Material.springs(1e6, 1000, damping=0.05))
    net.pin(net.nodes.x < 1e-9)
    rest, sim = scene.equilibrium(), scene.simulate(dt=0.05, threads=1)
    sim.step(200)
    assert rest.info.converged and rest.positions(net)[:, 2].min() < -0.01
    assert np.abs(rest.positions(net) - sim.positions(net)).max() < 1e-5


def test_simulation_from_an_equilibrium_goes_on_with_its_solver():
    scene, _ = block()
    sim = scene.equilibrium(solver=pl.Newton(tolerance=1e-6, integrator="bdf2"))
    sim.step(2)
    assert sim.info.integrator == "bdf2"


def test_a_step_that_fails_and_runs_away_is_an_error_and_the_state_before_it_is_kept(monkeypatch):
    """A solver that throws one node a kilometre away and says that it did not converge; then one that does not."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((0.3, 0.1, 0.1), cells=(3, 1, 1)), pl.Material.corotated(1e5, 0.3, 1000))
    beam.pin(beam.nodes.x < 1e-9)
    sim = scene.simulate(dt=1 / 60)
    sim.step(2)
    positions, time, solve = sim.positions(beam).copy(), sim.time, NewtonSolver.solve

    def thrown(self, problem):
        solution = solve(self, problem)
        u = solution.u.copy()
        u[7] += 1e3 / problem.h
        solution.info.converged = False
        return replace(solution, u=u)

    monkeypatch.setattr(NewtonSolver, "solve", thrown)
    with pytest.raises(
        pl.SolverError, match=r"step 3 .*did not converge.* node 7, element 0 ran away.* state before .* is kept"
    ):
        sim.step()
    np.testing.assert_array_equal(sim.positions(beam), positions)
    assert sim.time == time
    monkeypatch.undo()
    assert sim.step().info.converged
