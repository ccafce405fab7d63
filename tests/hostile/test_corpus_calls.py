"""Past failures of calls, one by one: each is a PliantError now, or does what it says."""

import itertools
import warnings

import numpy as np
import pytest

import pliant as pl
from limits import limited


def scene_of_all() -> tuple:
    """A scene, its soft and its rigid body."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), 1), pl.Material.corotated(1e5, 0.3, 1000), name="soft")
    return scene, soft, scene.add_rigid(pl.Sphere(0.1), mass=1.0, position=(3, 0, 0), name="ball")


CALLS = {
    "a text for static": lambda s, b, r: s.add_rigid(pl.Sphere(1), mass=1, static="false"),
    "a text for collide": lambda s, b, r: s.add_rigid(pl.Sphere(1), mass=1, collide="no"),
    "a text for a tolerance": lambda s, b, r: pl.Newton(tolerance="1e-3"),
    "a text for iterations": lambda s, b, r: pl.Dual(max_iterations="7"),
    "half an iteration": lambda s, b, r: pl.Newton(max_iterations=1.5),
    "a text for a flag": lambda s, b, r: pl.Dual(eliminate="yes"),
    "a text for a mass": lambda s, b, r: s.add_rigid(pl.Sphere(1), mass="1"),
    "a text for a vector": lambda s, b, r: pl.Scene(gravity=("0", "0", "-9.81")),
    "a flag for a radius": lambda s, b, r: pl.Sphere(True),
    "nothing for a body": lambda s, b, r: s.join(pl.Ball(None, pl.world, (0, 0, 0))),
    "a text for a body": lambda s, b, r: pl.Ball("ball", r, (0, 0, 0)),
    "every 0": lambda s, b, r: s.simulate(0.01).run(1, every=0),
    "minus a second": lambda s, b, r: s.simulate(0.01).run(-1),
    "a reaction of a text": lambda s, b, r: s.simulate(0.01).reaction("x"),
    "positions of a text": lambda s, b, r: s.simulate(0.01).set_positions(b, "abc"),
    "positions of texts": lambda s, b, r: s.simulate(0.01).set_positions(b, [["a"] * 3] * 8),
    "positions without end": lambda s, b, r: s.simulate(0.01).set_positions(b, np.full((8, 3), 1e90)),
    "one position without end": lambda s, b, r: s.simulate(0.01).set_positions(b, np.eye(8)[:, :3] * 1e20),
    "a pose without end": lambda s, b, r: s.simulate(0.01).set_pose(r, (1e30, 0, 0)),
    "a figure without width": lambda s, b, r: pl.meshes.figure((1e90, 1e-90, 1), [], 2),
    "the only joint of none": lambda s, b, r: pl.simulate_many(s, 0.01, count=2, workers=1).set_motor(velocity=1),
    "a camera of a text": lambda s, b, r: s.simulate(0.01).save("a.png", camera="front"),
    "a camera of other keys": lambda s, b, r: s.simulate(0.01).save("a.png", camera={"from": (1, 2, 3)}),
    "a size of one": lambda s, b, r: s.simulate(0.01).save("a.png", size=100),
    "a force that fails": lambda s, b, r: r.force(lambda time: 1 / 0),
    "a force that grows": lambda s, b, r: (r.force(lambda t: [0] * (3 + (t > 0))), s.simulate(0.01).step()),
    "a force that ends": lambda s, b, r: (
        r.force(lambda t: (0, 0, 0 if t < 0.005 else None)),
        s.simulate(0.01).step(2),
    ),
    "a pressure that is a vector": lambda s, b, r: (
        b.pressure("all", lambda t: 1.0 if t == 0 else (1, 2)),
        s.simulate(0.01).step(),
    ),
    "limits of a text": lambda s, b, r: pl.Hinge(r, pl.world, (3, 0, 0), (0, 0, 1), limits="ab"),
    "an array to break at": lambda s, b, r: pl.Ball(r, pl.world, (3, 0, 0), break_force=np.zeros(2)),
    "a scene that is none": lambda s, b, r: pl.Simulation("scene", 0.01),
    "many threads": lambda s, b, r: s.simulate(0.01, threads=True),
    "a recorder of one file twice": lambda s, b, r: pl.Recorder(s.simulate(0.01), "out", ["a.webp", "a.webp"]),
    "many without end": lambda s, b, r: pl.simulate_many(itertools.repeat(s), 0.01),
    "a thousand million": lambda s, b, r: pl.simulate_many(s, 0.01, count=10**9),
    "a name that does not exist": lambda s, b, r: setattr(r, "fricton", 0.3),
    "a name of a scene that does not exist": lambda s, b, r: setattr(s, "gravty", (0, 0, 0)),
    "a mass that is taken away": lambda s, b, r: delattr(r, "mass"),
    "a time step that is changed": lambda s, b, r: setattr(s.simulate(0.01), "dt", 0.1),
    "gravity of a simulation": lambda s, b, r: setattr(s.simulate(0.01), "gravity", (0, 0, 0)),
    "a body that is none": lambda s, b, r: (s.bodies.append(3), s.simulate(0.01)),
    "a source that is none": lambda s, b, r: b.mesh.with_source(frozenset({1})),
    "many of nothing": lambda s, b, r: pl.Simulations("sims", [0], [None], 1),
    "a path of nothing": lambda s, b, r: pl.resume(None),
    "a path with a hole": lambda s, b, r: pl.load("a\0b"),
    "a recorder of a text": lambda s, b, r: pl.Recorder(s.simulate(0.01), "out", "film.webp"),
    "a film without frames": lambda s, b, r: pl.Recorder(s.simulate(0.01), "out", ["a.webp"], frames_per_second="30"),
    "the quality of a surface": lambda s, b, r: pl.meshes.quality(b.mesh.surface()),
    "parameters that are none": lambda s, b, r: pl.Material.custom(lambda J, k: k * (J - 1) ** 2, 1000, 1),
    "a recorder of nothing": lambda s, b, r: pl.Recorder(int, "out", ["a.vtu"]),
    "a huge box": lambda s, b, r: pl.meshes.box((1, 1, 10**400), 1),
    "cells without end": lambda s, b, r: pl.meshes.sphere(1, 10**9),
    "half a character in a path": lambda s, b, r: s.simulate(0.01).save("a\ud800.vtu"),
    "half a character in a name": lambda s, b, r: pl.meshes.TetMesh(b.mesh.points, b.mesh.tets, {"\ud800": [0]}),
    "a number for a set": lambda s, b, r: pl.meshes.TetMesh(b.mesh.points, b.mesh.tets, {3: [0]}),
    "fields that are no dict": lambda s, b, r: pl.meshes.write("a.vtu", b.mesh, point_data=np.zeros(8)),
    "ragged fields": lambda s, b, r: pl.meshes.write("a.msh", b.mesh, point_data={"a": [1, [2]]}),
    "equilibrium at no time": lambda s, b, r: s.equilibrium(time=np.inf),
    "two motions of one node": lambda s, b, r: (
        b.pin("x < 0.1", velocity=(1, 0, 0)),
        b.pin("y < 0.1", axes="x"),
        s.simulate(0.01),
    ),
    "a section of a text": lambda s, b, r: pl.Section.tube(0.02, 0.01).shear_factors("0.3"),
    "an outline of no sides": lambda s, b, r: pl.Section.circle(0.02).outline(np.nan),
    "a motor of a number": lambda s, b, r: pl.Motor(velocity=1).changed(3),
    "modes on a list": lambda s, b, r: s.modes(1, device=["cpu"]),
    "an energy of a named law": lambda s, b, r: pl.Material("linear", 1e5, 0.3, 1000, energy=len),
    "keyframes of one value": lambda s, b, r: pl.Keyframes((0, 1), np.array("a")),
    "ragged keyframes": lambda s, b, r: pl.Keyframes((0, 1), [[1, 2, 3], [1]]),
    "modes of a text": lambda s, b, r: s.modes("3"),
    "loads in a text": lambda s, b, r: s.equilibrium(load_steps="3"),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with limited(seconds=20), pytest.raises(pl.PliantError):
        CALLS[case](*scene_of_all())
    assert not list(tmp_path.iterdir())


def test_a_recording_that_has_ended_takes_no_frames(tmp_path):
    """They would be in no file."""
    sim = scene_of_all()[0].simulate(0.01)
    with pl.Recorder(sim, tmp_path, ["a.vtu"]) as recorder:
        recorder.frame()
    with pytest.raises(pl.SceneError, match="has ended"):
        recorder.frame()


CHANGES = {
    "a force": lambda s, b, r: r.force((0, 0, 1)),
    "a pin": lambda s, b, r: b.pin("all"),
    "a pressure": lambda s, b, r: b.pressure("all", 1.0),
    "gravity": lambda s, b, r: setattr(s, "gravity", (0, 0, -1.6)),
    "friction": lambda s, b, r: setattr(r, "friction", 0.1),
    "a body": lambda s, b, r: s.add_rigid(pl.Sphere(1), mass=1, position=(9, 0, 0)),
    "a joint": lambda s, b, r: s.join(pl.Ball(r, pl.world, (3, 0, 0))),
    "a rule": lambda s, b, r: s.ignore_contact(b, r),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_simulation_whose_scene_has_changed_refuses_to_step(case, tmp_path):
    scene, soft, ball = scene_of_all()
    sim = scene.simulate(0.01).step()
    before = sim.positions(soft).copy()
    CHANGES[case](scene, soft, ball)
    with pytest.raises(pl.SceneError, match="the scene has changed since this simulation was made"):
        sim.step()
    with pytest.raises(pl.SceneError, match="the scene has changed"):
        sim.checkpoint(tmp_path / "a.npz")
    np.testing.assert_array_equal(sim.positions(soft), before)
    sim.save(tmp_path / "a.vtu")  # what was computed can still be told
    scene.simulate(0.01).step()


ASSIGNED = {
    "a negative friction": (lambda s, b, r: setattr(r, "friction", -1), "friction must be"),
    "a text for collide": (lambda s, b, r: setattr(b, "collide", "no"), "collide must be True or False"),
    "gravity of two": (lambda s, b, r: setattr(s, "gravity", (0, 0)), "gravity must be"),
    "other overlaps": (lambda s, b, r: setattr(s, "overlaps", "ignore"), "overlaps must be one of"),
    "bodies of its own": (lambda s, b, r: setattr(s, "bodies", []), "bodies of 'a scene' is said when it is made"),
    "a place of a soft body": (lambda s, b, r: setattr(b, "position", (0, 0, 5)), "position of 'soft' is said when"),
    "another name": (lambda s, b, r: setattr(r, "name", "soft"), "name of 'ball' is said when"),
    "density and mass": (lambda s, b, r: setattr(r, "density", 500), "either density=.* or mass="),
    "torques of a soft body": (lambda s, b, r: setattr(b, "rolling_friction", 0.1), "rolling_friction of 'soft' is"),
    "a joint held elsewhere": (
        lambda s, b, r: setattr(s.join(pl.Ball(r, b, (1, 1, 1))), "at", (0, 0, 0)),
        "at of 'joint0' is said when",
    ),
}


@pytest.mark.parametrize("case", ASSIGNED)
def test_what_is_assigned_is_checked_or_refused(case):
    scene, soft, ball = scene_of_all()
    before = {name: getattr(body, name) for body in (soft, ball) for name in ("friction", "collide", "position")}
    assign, words = ASSIGNED[case]
    with pytest.raises(pl.SceneError, match=words):
        assign(scene, soft, ball)
    assert before == {name: getattr(body, name) for body in (soft, ball) for name in before}
    scene.simulate(0.01).step()


def test_what_may_be_assigned_counts():
    scene, _, ball = scene_of_all()
    ball.position, ball.mass, scene.gravity = (3, 0, 7), 2, (0, 0, -1)
    sim = scene.simulate(0.01).step()
    assert sim.model.body_mass[0] == 2 and sim.pose(ball)[0][2] == pytest.approx(7, abs=1e-3)


def test_pins_that_agree_may_overlap():
    scene, soft, _ = scene_of_all()
    soft.pin("x < 0.1", axes="x", velocity=(1, 5, 5))
    soft.pin("all", axes="x", velocity=(1, 0, 0))
    soft.pin("y < 0.1", axes="yz")
    soft.pin([0, 1, 2, 3], axes="z", displacement=np.zeros((4, 3)))
    velocity = scene.simulate(0.01).step().velocities(soft)
    assert (velocity[:, 0] == 1).all()


@pytest.mark.parametrize("name", ['a"<b>&', "it's", "größe", "a b", "]]>"])
def test_names_of_sets_and_fields_come_back(name, tmp_path):
    mesh = pl.meshes.TetMesh(*(getattr(scene_of_all()[1].mesh, part) for part in ("points", "tets")), {name: [0, 3]})
    pl.meshes.write(tmp_path / "a.vtu", mesh, point_data={name: np.arange(8.0)})
    assert list(pl.meshes.read(tmp_path / "a.vtu").sets) == [name]


def test_a_run_that_is_not_looped_over_says_so():
    scene, _, _ = scene_of_all()
    sim = scene.simulate(0.01)
    with pytest.warns(RuntimeWarning, match="nothing was simulated"):
        sim.run(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in sim.run(0.02):
            pass
        sim.run(0.0)
    assert sim.time == pytest.approx(0.02)
