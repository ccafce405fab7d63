"""Several simulations at once: the bits of single ones, whoever takes the steps; failures stay alone; bad input."""

import os
import pickle
import signal
import warnings

import numpy as np
import pytest

import pliant as pl
from many_scenes import DT, breaks, falling, finger, loaded, pull

YOUNG = (1e5, 2e5, 4e5)


def single(scene: pl.Scene, steps: int) -> pl.Simulation:
    return scene.simulate(DT, threads=1).step(steps)


def same_bits(one: pl.Simulation, other: pl.Simulation) -> bool:
    first, second = one.state.arrays(), other.state.arrays()
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def pair():
    """Fingers and what follows from their parameters, stepped by two processes."""
    many = pl.simulate_many(finger, DT, [{"young": young} for young in YOUNG], workers=2)
    with many:
        yield many


@pytest.mark.parametrize("workers", [1, 2])
def test_all_bits_are_those_of_single_simulations(workers, pair):
    many = pair if workers == 2 else pl.simulate_many([finger(young) for young in YOUNG], DT, workers=1)
    many.reset()
    many.step(2)
    many.set_motor("base", position=[0.1, 0.2, 0.3])
    many.step(3)
    for young, target, sim in zip(YOUNG, (0.1, 0.2, 0.3), many):
        own = single(finger(young), 2)
        own.set_motor(own.scene.joints[0], position=target)
        own.step(3)
        assert same_bits(own, sim)
        assert sim.info.converged and sim.info.newton_iterations == own.info.newton_iterations
    assert many.converged.all() and many.running.all() and np.allclose(many.time, 5 * DT)


def test_simulations_of_one_scene_share_its_model_and_have_states_of_their_own(pair):
    many = pl.simulate_many(finger(), DT, count=3, workers=1)
    assert many[0].model is many[2].model
    many.set_motor(position=[0.2, 0.4], only=[0, 2])
    many.step(3)
    for sim, target in zip(many, (0.2, 0.5, 0.4)):
        assert same_bits(single(finger(target=target), 3), sim)
    assert many.joint_position()[0] != many.joint_position()[2]
    many.reset(only=2)
    assert np.array_equal(many.time, [3 * DT, 3 * DT, 0.0])
    many.step(3)
    assert same_bits(single(finger(), 3), many[2])


@pytest.mark.parametrize("workers", [1, 2])
def test_one_that_fails_does_not_stop_the_others(workers):
    """Nor does it matter that a scene holds what cannot be sent to another process."""
    scenes = [loaded(pull), loaded(breaks), loaded(lambda t: pull(t))]
    with pl.simulate_many(scenes, DT, workers=workers) as many:
        with pytest.warns(RuntimeWarning) as told:
            many.step(4)
        texts = [str(warning.message) for warning in told]
        assert any("1 of 3 simulations stopped: 1." in text and "rope has come off" in text for text in texts)
        unsent = "1 of 3 simulations, such as number 2, take their steps in this process"
        assert any(unsent in text for text in texts) == (workers == 2)
        failure = many.failures[1]
        assert list(many.failures) == [1] and (failure.number, failure.step) == (1, 3)
        assert same_bits(single(loaded(pull), 4), many[0]) and same_bits(many[0], many[2])
        assert same_bits(single(loaded(breaks), 2), many[1])
        assert many.running.tolist() == [True, False, True] == many.converged.tolist()
        many.step()
        assert many.time.tolist() == pytest.approx([5 * DT, 2 * DT, 5 * DT])
        many.reset(many.failures)
        assert not many.failures and many.step().running.all()


def test_a_process_that_ends_takes_one_simulation_with_it(pair):
    pair.reset()
    pair.step()
    os.kill(pair._stepper.pool.workers[0].process.pid, signal.SIGKILL)
    with pytest.warns(RuntimeWarning, match="has ended"):
        pair.step(2)
    assert len(pair.failures) == 1
    pair.reset(pair.failures)
    assert pair.step(2).running.all()
    for young, sim in zip(YOUNG, pair):
        assert same_bits(single(finger(young), sim.state.step), sim)


def test_readers_have_a_row_for_each(pair):
    pair.reset()
    pair.step(2)
    sims = list(pair)
    finger_of = [sim.scene.soft_bodies[0] for sim in sims]
    assert pair.positions().shape == (3, 54, 3)
    for batch, reader in ((pair.positions, "positions"), (pair.velocities, "velocities")):
        for body in (None, "finger", finger_of[1]):
            assert np.array_equal(batch(body), [getattr(sim, reader)(own) for sim, own in zip(sims, finger_of)])
    joints = [sim.scene.joints[0] for sim in sims]
    for name in ("joint_position", "joint_velocity", "motor_effort"):
        expected = [getattr(sim, name)(joint) for sim, joint in zip(sims, joints)]
        assert np.array_equal(getattr(pair, name)("base"), expected)
    energy = pair.energy()
    assert energy.total.shape == (3,) and energy.elastic[1] == sims[1].energy().elastic
    assert [info.newton_iterations for info in pair.infos] == [sim.info.newton_iterations for sim in sims]
    assert [own["young"] for own in pair.parameters] == list(YOUNG)


def test_states_and_rigid_bodies_are_set_by_rows():
    many = pl.simulate_many(falling, DT, [0.0, 1.0], workers=1)
    assert np.array_equal(many.twist("ball")[0], [[0, 0, 0], [1, 0, 0]])
    many.set_pose("ball", [[0.5, 0, 1], [0.5, 0, 2]])
    many.set_twist("ball", (0, 0, 1), only=1)
    many.set_velocities("block", np.stack([np.full((8, 3), 0.1), np.full((8, 3), 0.2)]))
    start = many.states
    many.step(2)
    position, rotation = many.pose("ball")
    assert position.shape == (2, 3) and rotation.shape == (2, 4)
    # implicit Euler: z + n h v - g h^2 n (n + 1) / 2
    assert position[:, 2] == pytest.approx(np.array([1, 2 + 2 * DT]) - 9.81 * DT**2 * 3, abs=1e-12)
    assert many.velocities("block")[:, :, 0] == pytest.approx(np.repeat([[0.1], [0.2]], 8, axis=1))
    many.set_states(start[::-1])
    assert many.pose()[0][0, 2] == 2 and many.time.tolist() == [0, 0]
    many.set_positions("block", many[0].positions(many[0].scene.find("block")) + 1, only=[True, False])
    assert many.positions()[0].min() == 1 and many.positions()[1].min() == 0


def test_a_run_gives_all_after_every_few_steps():
    many = pl.simulate_many(falling(), DT, count=2, workers=1)
    times = [own.time.tolist() for own in many.run(5 * DT, every=2, progress=False)]
    assert np.allclose(times, np.array([[2, 2], [4, 4], [5, 5]]) * DT)


def test_processes_take_over_once_steps_take_long(pair):
    pair.reset()
    pair._stepper.patience = 1e-3  # seconds, less than a step takes
    pair.step(3)
    assert pair._stepper.patience == 0.0
    for sim, young in zip(pair, YOUNG):
        assert same_bits(single(finger(young), 3), sim)
    quick = pl.simulate_many(finger, DT, [1e5, 2e5])
    quick._stepper.patience = 1e9
    assert quick.step().running.all() and quick._stepper.pool is None


def test_warnings_say_which_simulation_they_are_about():
    many = pl.simulate_many(falling, DT, [0.0, 0.0], workers=1)
    block = many[1].scene.find("block")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        many.set_positions("block", many[1].positions(block) * (-1, 1, 1), only=1)  # inside out
        many.step()
    assert any(str(warning.message).startswith("simulation 1: ") for warning in told)
    assert many.infos[1].tangled == ["block"] and not many.infos[0].tangled


def test_a_scene_that_changed_is_refused():
    many = pl.simulate_many([falling(), falling()], DT, workers=1)
    many[1].given.scene.gravity = (0, 0, -1)
    with pytest.raises(pl.SceneError, match="simulation 1: the scene has changed"):
        many.step()


def test_a_scene_that_was_pickled_is_the_same_scene():
    scene = pickle.loads(pickle.dumps(loaded(pull)))
    assert scene.joints[0].a is pl.world
    assert same_bits(single(scene, 2), single(loaded(pull), 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "scenes must not be empty"),
        (([finger(), 3],), "scene 1 must be a pliant.Scene, got 3"),
        ((finger(),), "one scene needs a count"),
        ((3,), "scenes must be a list of scenes, a function that makes them, or one scene, got 3"),
        ((finger,), "needs parameters"),
        ((finger, DT, []), "parameters must not be empty"),
        ((finger, DT, [1e5, -1.0]), "scene 1, of parameters -1.0: .*young"),
        ((finger, DT, {"young": 1e5}), "parameters must be one for each simulation, in a list"),
        ((finger, DT, [{"age": 3}]), "scene 0, of parameters .*: the function raised TypeError: .*age"),
        ((lambda young: 7, DT, [1e5]), "scene 0, of parameters 100000.0: the function returned 7, no scene"),
        (([finger()], DT, [1e5]), "parameters go with a function"),
        (([finger()], 0.0), "scene 0: dt must be"),
        (([pl.Scene(), pl.Scene()],), "scene 0: .*"),
    ],
)
def test_bad_scenes_and_parameters_are_refused(arguments, message):
    with pytest.raises(pl.PliantError, match=message):
        pl.simulate_many(*(arguments if len(arguments) > 1 else (*arguments, DT)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda many: many.positions("thumb"), "simulation 0: no soft body is named 'thumb'; there are: finger"),
        (lambda many: many.pose(), "simulation 0: there is no rigid body in the scene"),
        (lambda many: many.positions(3), "3 is no soft body, nor the name of one"),
        (lambda many: many.set_motor(position=[1.0, 2.0, 3.0]), "motor position has 3 rows for 2 simulations"),
        (lambda many: many.set_motor(speed=1.0), "simulation 0: a motor has .* but no speed"),
        (lambda many: many.set_positions(None, np.zeros((3, 54, 3))), "positions has 3 rows for 2"),
        (lambda many: many.set_positions(None, np.zeros((5, 3))), "simulation 0: positions must be"),
        (lambda many: many.reset(only=2), "only must be different numbers of simulations from 0 to 1"),
        (lambda many: many.reset(only=[0.5]), "only must be"),
        (lambda many: many.reset(only=[0, 0]), "only must be"),
        (lambda many: many.reset(only=[[0], [0, 1]]), "only must be"),
        (lambda many: many.reset(only="first"), "only must be"),
        (lambda many: many.set_positions(None, [[0], [0, 1]]), "positions must be an array"),
        (lambda many: many.set_states(3), "states must be a list"),
        (lambda many: many[0:1], "there are 2 simulations, and none has the number slice"),
        (lambda many: many.step(-1), "the number of steps"),
        (lambda many: many[7], "there are 2 simulations, and none has the number 7"),
        (lambda many: many.set_states([None, None]), "the state for simulation 0 is of another scene"),
        (lambda many: many.set_states([]), "0 states are given for 2 simulations"),
        (lambda many: pl.simulate_many(finger(), DT, count=0), "count must be"),
        (lambda many: pl.simulate_many([finger()], DT, count=2), "count goes with one scene"),
        (lambda many: pl.simulate_many([finger()], DT, workers=0), "workers must be"),
        (lambda many: pl.simulate_many([finger()], DT, device="tpu"), "device 'tpu' is not available"),
    ],
)
def test_bad_calls_are_refused(call, message):
    many = pl.simulate_many([finger()] * 2, DT, workers=1)
    before = many.states
    with pytest.raises(pl.SceneError, match=message):
        call(many)
    assert many.states == before


def test_rows_of_different_shapes_are_refused_by_name():
    many = pl.simulate_many([finger(), finger(cells=(3, 1, 1))], DT, workers=1)
    with pytest.raises(pl.SceneError, match=r"positions of simulation 1 have the shape \(16, 3\), those of sim"):
        many.positions("finger")
    assert many.joint_position().shape == (2,) and repr(many) == "<2 simulations with dt = 0.01 s>"
