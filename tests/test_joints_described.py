"""Joints as they are described: bad input, refusals, pictures, scene files."""

import numpy as np
import pytest

import pliant as pl
from pliant.output.joint_view import joint_strokes
from pliant.output.scene_view import picture
from pliant.scene_file.files import load, save
from pliant.scene_file.write import joint_table

FREE = pl.Coordinate


def block(scene, position=(0, 0, 0), mass: float = 1.0, **options):
    return scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), mass=mass, position=position, collide=False, **options)


@pytest.mark.parametrize(
    "options, what",
    [
        ({"motor": pl.Motor(velocity=1.0)}, "a motor, friction or a spring"),
        ({"free": FREE(limits=(-1, 1), restitution=0.5)}, "restitution of limits"),
        ({"break_force": 3.0}, "joints that break"),
    ],
)
def test_xpbd_refuses_what_it_has_no_place_for(options, what):
    scene = pl.Scene()
    scene.join(pl.Hinge(pl.world, block(scene), at=(0, 0, 0), axis=(0, 0, 1), name="elbow", **options))
    with pytest.raises(pl.SceneError, match=f"Xpbd has no place for {what}.*elbow"):
        scene.simulate(dt=0.01, solver=pl.Xpbd())


BAD = {
    "zero axis": (
        lambda b: pl.Slider(pl.world, b, at=(0, 0, 0), axis=(0, 0, 0)),
        "slider joint axis must be a direction",
    ),
    "limits": (lambda b: pl.Slider(pl.world, b, at=(0, 0, 0), axis=(1, 0, 0), limits=(1, -1)), "must be in order"),
    "itself": (lambda b: pl.Ball(b, b, at=(0, 0, 0)), "two different things"),
    "axes": (
        lambda b: pl.Universal(pl.world, b, at=(0, 0, 0), axis=(1, 0, 0), second_axis=(1, 1, 0)),
        "must be perpendicular",
    ),
    "along": (lambda b: pl.Planar(pl.world, b, at=(0, 0, 0), axis=(0, 0, 1), along=(0, 1, 1)), "must lie in the plane"),
    "coordinate": (lambda b: pl.Cylindrical(pl.world, b, (0, 0, 0), (1, 0, 0), angle=3), "must be a pliant.Coordinate"),
    "two ways": (
        lambda b: pl.Hinge(pl.world, b, (0, 0, 0), (1, 0, 0), limits=(-1, 1), free=FREE(friction=1)),
        "stand in free, or beside it",
    ),
    "spring": (lambda b: pl.Spring(pl.world, b, ((0, 0, 0), (1, 0, 0)), stiffness=0), "needs a stiffness above 0"),
    "tendon": (lambda b: pl.Tendon([(b, (0, 0, 0))]), "two or more pairs"),
    "attach": (lambda b: pl.Attach(pl.world, b), "attach joint b must be a soft body"),
    "break": (lambda b: pl.Ball(pl.world, b, at=(0, 0, 0), break_force=0), "ball joint break_force must be"),
    "free": (lambda b: FREE(restitution=0.5), "go with limits"),
    "rest": (lambda b: FREE(rest=0.5), "goes with a stiffness"),
    "damping": (lambda b: pl.Ball(pl.world, b, at=(0, 0, 0), damping=3), "this one is rigid"),
    "rope torque": (lambda b: pl.Rope(pl.world, b, ((0, 0, 0), (1, 0, 0)), break_torque=3), "carries no torque"),
    "torsion force": (
        lambda b: pl.Torsion(pl.world, b, at=(0, 0, 0), axis=(0, 0, 1), stiffness=1, break_force=3),
        "has a break_torque",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_joints_say_what_is_wrong(case):
    make, message = BAD[case]
    with pytest.raises(pl.SceneError, match=message):
        make(block(pl.Scene()))


def test_joints_must_hold_something_that_moves_and_not_from_afar():
    scene = pl.Scene()
    wall = scene.add_rigid(pl.Box((1, 1, 1)), static=True, name="wall")
    scene.join(pl.Hinge(pl.world, wall, at=(0, 0, 0), axis=(0, 0, 1), name="dead"))
    with pytest.raises(pl.SceneError, match="hinge joint 'dead' holds only things that do not move: 'world', 'wall'"):
        scene.simulate(dt=0.01)
    scene = pl.Scene()
    scene.join(pl.Ball(pl.world, block(scene), at=(1e7, 0, 0), name="far"))
    with pytest.raises(pl.SceneError, match=r"'far': its point \(10000000.0, 0.0, 0.0\) is 1e\+07 m away"):
        scene.simulate(dt=0.01)
    for length in (1e3, 1e8):  # ropes may be long, up to a million times what hangs on them
        scene = pl.Scene()
        scene.join(pl.Rope(pl.world, block(scene), at=((0, 0, length), (0, 0, 0)), name="long"))
        if length > 1e6:
            with pytest.raises(pl.SceneError, match=r"rope joint 'long': its point .* is 1e\+08 m away from what it"):
                scene.simulate(dt=0.01)
        else:
            assert scene.simulate(dt=0.01).step().info.converged


def test_gear_needs_a_ratio_and_joints_of_the_scene():
    scene = pl.Scene()
    one = pl.Hinge(pl.world, block(scene), at=(0, 0, 0), axis=(0, 0, 1))
    two = scene.join(pl.Hinge(pl.world, block(scene, (1, 0, 0)), at=(1, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(pl.SceneError, match="gear joint ratio must not be 0"):
        pl.Gear(one, two, 0)
    with pytest.raises(pl.SceneError, match="is not a joint of this scene"):
        scene.join(pl.Gear(one, two, 2))
    with pytest.raises(pl.SceneError, match="must be a joint with a free travel"):
        pl.Rack(one, two, 0.1)
    gear = scene.join(pl.Gear(scene.join(one), two, 2))
    with pytest.raises(pl.SceneError, match="is a coupling, whose forces act in the joints it ties"):
        scene.simulate(dt=0.01).step().reaction_torque(gear)


def test_joints_are_drawn_when_asked(tmp_path):
    scene = pl.Scene()
    one, two = block(scene), block(scene, (1, 0, 0))
    scene.join(pl.Hinge(pl.world, one, at=(0, 0, -0.2), axis=(0, 1, 0), limits=(-1, 1)))
    scene.join(pl.Slider(pl.world, two, at=(1, 0, 0), axis=(1, 0, 0)))
    scene.join(pl.Tendon([(one, (0, 0, 0.1)), (pl.world, (0.5, 0, 1)), (two, (1, 0, 0.1))], name="rope"))
    sim = scene.simulate(dt=0.01)
    lines = joint_strokes(sim, False, 1.0)
    assert [len(line.points) for line in lines] == [3]
    assert lines[0].points[1] == pytest.approx([0.5, 0, 1])
    # two axes, two anchors, two limits
    assert len(joint_strokes(sim, True, 1.0)) == 1 + 2 + 2 + 2
    plain, marked = (picture(sim, (160, 90), color="none", joints=joints) for joints in (False, True))
    assert plain.shape == marked.shape and np.any(plain != marked)
    sim.save(tmp_path / "joints.png", joints=True)


def test_every_joint_survives_a_scene_file(tmp_path):
    scene = pl.Scene()
    one, two = block(scene), block(scene, (0.5, 0, 0))
    soft = scene.add_soft(
        pl.meshes.box((0.2, 0.2, 0.2), cells=1),
        pl.Material.corotated(1e5, 0.3, 1000),
        position=(1, 0, 0),
        collide=False,
    )
    free = FREE(limits=(-1, 1), friction=0.5, stiffness=2, damping=1, rest=0.1, restitution=0.5)
    place = {"at": (0.25, 0, 0), "axis": (0, 0, 1)}
    hinge = scene.join(pl.Hinge(one, two, **place, free=free, break_force=7.0))
    slider = scene.join(pl.Slider(pl.world, one, **place, motor=pl.Motor(position=0.1, stiffness=5, max_force=3)))
    thread = scene.join(pl.Cylindrical(one, two, **place, travel=free, angle=free))
    scene.join(pl.Universal(one, two, **place, second_axis=(1, 0, 0), first=free))
    scene.join(pl.Planar(one, two, **place, along=(1, 0, 0), angle=free))
    scene.join(pl.OnLine(one, two, **place, travel=free))
    scene.join(pl.OnPlane(one, two, **place))
    scene.join(pl.Torsion(one, two, **place, stiffness=3, damping=1, rest=0.2))
    scene.join(pl.Ball(one, two, at=(0.25, 0, 0), axis=(1, 0, 0), swing=1.0, twist=(-1, 1)))
    scene.join(pl.Rope(one, two, at=((0, 0, 0), (0.5, 0, 0)), length=1.0))
    scene.join(pl.Spring(one, two, at=((0, 0, 0), (0.5, 0, 0)), stiffness=10, damping=1))
    scene.join(pl.Gear(hinge, thread, -2.0))
    scene.join(pl.Rack(hinge, slider, 0.1))
    scene.join(pl.Screw(thread, lead=0.02))
    scene.join(pl.Tendon([(one, (0, 0, 0)), (pl.world, (0, 0, 1)), (two, (0.5, 0, 0))], 2.5, stiffness=100))
    scene.join(pl.Attach(two, soft, within=1.0, compliance=1e-4))
    path = tmp_path / "joints.toml"
    save(scene, path)
    again = load(path)
    assert [type(joint) for joint in again.joints] == [type(joint) for joint in scene.joints]
    assert [joint_table(joint) for joint in again.joints] == [joint_table(joint) for joint in scene.joints]
