"""Every joint, between rigid and soft bodies, with every solver that claims to honour it; kept in checkpoints."""

import numpy as np
import pytest

import pliant as pl
from mechanisms import BDF2, DUAL, ELIMINATED, EULER, X, Y, Z

PLACE, FREE = (0.2, 0, 1), pl.Coordinate
TWO_POINTS = ((0.1, 0, 1.05), (0.3, 0, 1.05))
SOLVERS = {"euler": EULER, "bdf2": BDF2, "dual": DUAL, "eliminated": ELIMINATED}


def over(a, b, **options) -> pl.Tendon:
    """A tendon from above, twice over a and to b."""
    path = [(pl.world, (0, 0, 1.5)), (a, (0.05, 0, 1.05)), (a, (0.15, 0, 1.05)), (b, (0.4, 0, 1.05))]
    return pl.Tendon(path, **options)


def geared(a, b, coupling) -> list:
    """Two joints of the body a, one of them with b, that a coupling ties."""
    root = pl.Hinge(pl.world, a, (0, 0, 1), Y)
    other = pl.Hinge(a, b, PLACE, Y) if coupling is pl.Gear else pl.Slider(a, b, PLACE, X)
    return [root, other, coupling(root, other, -2.0 if coupling is pl.Gear else 0.1)]


def screwed(a, b) -> list:
    thread = pl.Cylindrical(a, b, PLACE, X)
    return [thread, pl.Screw(thread, lead=0.05)]


# Joints of two things a and b whose faces touch at PLACE, and of the world.
JOINTS = {
    "ball": lambda a, b: [pl.Ball(a, b, PLACE)],
    "swing and twist": lambda a, b: [pl.Ball(a, b, PLACE, axis=X, swing=0.3, twist=(-0.2, 0.2))],
    "bouncing limits": lambda a, b: [pl.Hinge(a, b, PLACE, Y, free=FREE(limits=(-0.1, 0.1), restitution=0.5))],
    "yielding limits": lambda a, b: [pl.Hinge(a, b, PLACE, Y, free=FREE(limits=(-0.1, 0.1), limit_stiffness=20))],
    "friction and spring": lambda a, b: [pl.Hinge(a, b, PLACE, Y, free=FREE(friction=0.1, stiffness=1, damping=0.1))],
    "motor": lambda a, b: [pl.Hinge(a, b, PLACE, Y, motor=pl.Motor(velocity=1, max_torque=1))],
    "slider": lambda a, b: [pl.Slider(a, b, PLACE, X, limits=(-0.1, 0.1))],
    "screw": screwed,
    "universal": lambda a, b: [pl.Universal(a, b, PLACE, Y, Z)],
    "planar": lambda a, b: [pl.Planar(a, b, PLACE, Y)],
    "fixed, breaking": lambda a, b: [pl.Fixed(a, b, PLACE, break_force=5)],
    "distance": lambda a, b: [pl.Distance(a, b, TWO_POINTS)],
    "rope": lambda a, b: [pl.Rope(a, b, TWO_POINTS, length=0.25)],
    "spring": lambda a, b: [pl.Spring(a, b, TWO_POINTS, stiffness=500, damping=5)],
    "torsion": lambda a, b: [pl.Ball(a, b, PLACE), pl.Torsion(a, b, PLACE, Y, stiffness=5, damping=0.1)],
    "on line": lambda a, b: [pl.OnLine(a, b, PLACE, Z)],
    "on plane": lambda a, b: [pl.OnPlane(a, b, PLACE, X)],
    "compliant": lambda a, b: [pl.Ball(a, b, PLACE, compliance=1e-3, damping=1)],
    "gear": lambda a, b: geared(a, b, pl.Gear),
    "rack": lambda a, b: geared(a, b, pl.Rack),
    "pulled tendon": lambda a, b: [pl.Ball(a, b, PLACE), over(a, b, length=pl.Keyframes((0, 1), (0.9, 0.6)))],
    "breaking tendon": lambda a, b: [pl.Ball(a, b, PLACE), over(a, b, stiffness=300, break_force=8)],
    "attached, tearing": lambda a, b: [pl.Attach(a, b, break_force=1.0)],
}
ON_ONE_BODY = ("gear", "rack", "pulled tendon")
# What they are joints of; some hold the world anyway, and only what is soft is attached.
SIDES = ("rigid", "soft", "of the world", "from soft")
ONLY = dict.fromkeys((*ON_ONE_BODY, "breaking tendon"), SIDES[:2]) | {"attached, tearing": ("soft",)}


def joined(kind: str, sides: str) -> pl.Scene:
    """An arm on the world, and something soft or rigid beside it, with joints between both or of the world."""
    scene = pl.Scene()
    arm = scene.add_rigid(pl.Box((0.2, 0.1, 0.1)), mass=1, position=(0.1, 0, 1), collide=False)
    if sides == "rigid":
        other = scene.add_rigid(pl.Box((0.3, 0.1, 0.1)), mass=1, position=(0.35, 0, 1), collide=False)
    else:
        rubber = pl.Material.corotated(young=2e5, poisson=0.3, density=1000, damping=0.01)
        mesh = pl.meshes.box((0.3, 0.1, 0.1), cells=(3, 1, 1))
        other = scene.add_soft(mesh, rubber, position=(0.2, -0.05, 0.95), collide=False)
    pair = {"rigid": (arm, other), "soft": (arm, other), "of the world": (pl.world, other), "from soft": (other, arm)}
    joints = JOINTS[kind](*pair[sides])
    if kind not in ("gear", "rack"):
        scene.join(pl.Hinge(pl.world, arm, (0, 0, 1), Y, free=FREE(damping=0.2)))
    for joint in joints:
        scene.join(joint)
    return scene


@pytest.mark.parametrize("kind", ON_ONE_BODY)
def test_solvers_agree_on_what_holds_one_body_twice(kind):
    """A gear between the joints of one arm, a tendon that touches it twice: the dual solver, with rows eliminated or
    not, moves as Newton's method does; both are of first order, and meet joints in different ways to second order."""
    found = {}
    for name in ("euler", "dual", "eliminated"):
        sim = joined(kind, "rigid").simulate(dt=1e-3, solver=SOLVERS[name])
        for _ in range(50):
            sim.step()
            assert sim.info.converged
        found[name] = sim.state.body_velocity
    size = np.abs(found["euler"]).max()
    assert size > 0.02
    assert np.abs(found["dual"] - found["euler"]).max() < 0.01 * size
    assert np.abs(found["eliminated"] - found["dual"]).max() < 1e-3 * size


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_two_sliders_in_a_gear_are_a_gripper(solver):
    """What pushes one jaw moves both: a = F / (m1 + m2), in opposite ways."""
    scene = pl.Scene(gravity=(0, 0, 0))
    jaws = [scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), mass=1, position=(x, 0, 0), collide=False) for x in (-1, 1)]
    jaws[0].force((4, 0, 0))
    left, right = (scene.join(pl.Slider(pl.world, jaw, at=jaw.position, axis=X)) for jaw in jaws)
    scene.join(pl.Gear(left, right, ratio=-1))
    sim = scene.simulate(dt=0.01, solver=solver).step(50)
    assert sim.joint_velocity(left) == pytest.approx(1.0, rel=1e-4)
    assert sim.joint_velocity(right) == pytest.approx(-1.0, rel=1e-4)
    hinge = pl.Hinge(pl.world, jaws[0], at=(0, 0, 0), axis=Y, name="turn")
    with pytest.raises(
        pl.SceneError, match="gear joint second must be a joint with a free travel, got the hinge joint"
    ):
        pl.Gear(left, hinge, ratio=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind, sides", [(kind, sides) for kind in JOINTS for sides in ONLY.get(kind, SIDES)])
def test_every_joint_with_every_solver(kind, sides, tmp_path):
    """Every step converges, and a run goes on from a checkpoint to the same bits."""
    for name, solver in SOLVERS.items():
        sim = joined(kind, sides).simulate(dt=1 / 200, solver=solver)
        for _ in range(25):
            sim.step()
            assert sim.info.converged, name
        path = tmp_path / f"{name}.npz"
        sim.checkpoint(path)
        again = pl.resume(path).step(3)
        sim.step(3)
        assert np.array_equal(again.state.x, sim.state.x), name
        assert np.array_equal(again.state.body_position, sim.state.body_position), name
