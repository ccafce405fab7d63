"""Small scenes for the tests of many simulations at once."""

import pliant as pl

DT = 0.01


def finger(
    young: float = 2e5, target: float = 0.5, cells=(5, 2, 2), law: str = "stable_neohookean", **hinge
) -> pl.Scene:
    """A soft finger on a hinge of the world, whose motor turns it to an angle [rad]; hinge: further options of it."""
    scene = pl.Scene()
    rubber = getattr(pl.Material, law)(young=young, poisson=0.4, density=1000, damping=0.01)
    body = scene.add_soft(pl.meshes.box((0.1, 0.02, 0.02), cells=cells), rubber, name="finger")
    motor = pl.Motor(position=target, stiffness=0.05, damping=0.002, max_torque=0.2)
    scene.join(pl.Hinge(pl.world, body, at=(0, 0.01, 0.01), axis=(0, 1, 0), motor=motor, name="base", **hinge))
    return scene


def pull(t: float) -> tuple[float, float, float]:
    """A force [N] that grows in time."""
    return 0.0, 0.2 * t, 0.0


def breaks(t: float) -> tuple[float, float, float]:
    """A force that there is no more after a while."""
    if t > 2.5 * DT:
        raise ValueError("the rope has come off")
    return 0.0, 0.0, 0.1


def loaded(force) -> pl.Scene:
    """A finger with a force on its end."""
    scene = finger()
    body = scene.soft_bodies[0]
    body.force(body.nodes.x > 0.099, force)
    return scene


def falling(speed: float = 0.0) -> pl.Scene:
    """A ball that falls, with a soft block beside it."""
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.05), mass=1, position=(0.5, 0, 0.2), velocity=(speed, 0, 0), name="ball")
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=1), pl.Material.corotated(1e5, 0.3, 900), name="block")
    return scene
