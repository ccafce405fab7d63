"""Scenes with rows that tests of the device "cuda" share: contacts, rigid bodies, joints, pressures."""

import numpy as np

import pliant as pl

SOFT = pl.Material.corotated(1e5, 0.3, 1000.0)


def block_on_floor(cells=(3, 3, 2)) -> pl.Scene:
    """A soft block that falls on a floor."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=cells), SOFT, position=(0, 0, 0.02), name="block")
    return scene


def beam_on_shape(shape=None) -> pl.Scene:
    """A clamped beam that comes down on a small shape, which its triangles meet."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.6, 0.1, 0.1), cells=(6, 1, 1)), SOFT, position=(0, 0, 0.02))
    scene.add_rigid(shape or pl.Sphere(0.04), position=(0.37, 0.04, -0.04), static=True)
    body.pin(body.nodes.x < 1e-9)
    return scene


def pushed_by_shape() -> pl.Scene:
    """A block on a floor, rubbed by a box that moves as prescribed."""
    scene = block_on_floor()
    pusher = pl.Box((0.1, 0.3, 0.06))
    scene.add_rigid(pusher, position=(-0.052, 0.1, 0.06), static=True, velocity=(0.1, 0, 0))
    return scene


def ball_on_block() -> pl.Scene:
    """A free ball that falls on a soft block."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.3, 0.3, 0.1), cells=(3, 3, 1)), SOFT)
    body.pin(body.nodes.z < 1e-9)
    scene.add_rigid(pl.Sphere(0.05), density=2000, position=(0.16, 0.14, 0.16))
    return scene


def arm() -> pl.Scene:
    """Rigid links on a soft one: a weld, a hinge with limits, a hinge with a motor."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), SOFT)
    body.pin(body.nodes.x < 1e-9)
    first, second, third = (
        scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(x, 0.05, 0.05)) for x in (0.45, 0.55, 0.65)
    )
    scene.join(pl.Fixed(body, first, at=(0.4, 0.05, 0.05)))
    scene.join(pl.Hinge(first, second, at=(0.5, 0.05, 0.05), axis=(0, 1, 0), limits=(-0.3, 0.1)))
    scene.join(pl.Hinge(second, third, at=(0.6, 0.05, 0.05), axis=(0, 0, 1), motor=pl.Motor(velocity=2.0)))
    return scene


def swing() -> pl.Scene:
    """A soft beam on a ball joint with the world, a ball at a distance from its end."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), SOFT)
    scene.join(pl.Ball(pl.world, body, at=(0.0, 0.05, 0.05)))
    ball = scene.add_rigid(pl.Sphere(0.05), density=500, position=(0.5, 0.05, 0.05))
    scene.join(pl.Distance(body, ball, at=((0.4, 0.05, 0.05), (0.5, 0.05, 0.05))))
    return scene


def carriage() -> pl.Scene:
    """A soft beam on a carriage that a motor drives along a slider, above a floor."""
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), SOFT)
    block = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(-0.05, 0.05, 0.05))
    scene.join(pl.Fixed(body, block, at=(0.0, 0.05, 0.05)))
    drive = pl.Motor(position=0.1, stiffness=500.0, damping=10.0)
    scene.join(pl.Slider(pl.world, block, at=(0.0, 0.05, 0.05), axis=(1, 0, 0), motor=drive))
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.1))
    return scene


def inflated() -> pl.Scene:
    """A block with a following pressure on its top, damped."""
    scene = pl.Scene()
    material = pl.Material.stable_neohookean(1e5, 0.4, 1000.0, damping=0.01)
    body = scene.add_soft(pl.meshes.box((0.4, 0.2, 0.1), cells=(4, 2, 1)), material)
    body.pin(body.nodes.x < 1e-9)
    body.pressure(body.faces.centres[:, 2] > 0.099, 2e3)
    return scene


def folded() -> pl.Scene:
    """Two soft bodies, one falls on the other."""
    scene = pl.Scene()
    lower = scene.add_soft(pl.meshes.box((0.3, 0.2, 0.1), cells=(3, 2, 1)), SOFT)
    lower.pin(lower.nodes.z < 1e-9)
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), SOFT, position=(0.11, 0.07, 0.12))
    return scene


def many_kinds() -> pl.Scene:
    """A tet body of ten nodes and a net of springs, both damped, that fall on one of four nodes."""
    scene = pl.Scene()
    lower = scene.add_soft(pl.meshes.box((0.3, 0.2, 0.1), cells=(3, 2, 1)), SOFT)
    lower.pin(lower.nodes.z < 1e-9)
    ten = pl.meshes.box((0.1, 0.1, 0.1), cells=(1, 1, 1)).quadratic()
    scene.add_soft(ten, pl.Material.neohookean(1e5, 0.3, 1000.0, damping=0.01), position=(0.05, 0.05, 0.105))
    net = pl.Material.springs(2e5, 1000.0, damping=0.005)
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), net, position=(0.17, 0.05, 0.105))
    return scene


def three_blocks(floor: bool, ten: bool = False) -> tuple[pl.Scene, list]:
    """Blocks of two laws held at one end, the first two of one set; they touch nothing unless there is a floor. ten:
    another of tets of ten nodes."""
    scene, bodies = pl.Scene(), []
    laws = ["corotated", "corotated", "neohookean"] + ten * ["stable_neohookean"]
    for k, law in enumerate(laws):
        mesh = pl.meshes.box((0.2, 0.1, 0.1), cells=(2, 1, 1) if k == 3 else (3, 2, 2))
        material = getattr(pl.Material, law)(1e5, 0.3, 1000.0, mass_damping=5.0)
        own = mesh.quadratic() if k == 3 else mesh
        body = scene.add_soft(own, material, position=(0, 0.2 * k, 0.3), name=f"{law} {k}", collide=floor)
        body.pin(body.nodes.x < 1e-9)
        bodies.append(body)
    if floor:
        scene.add_rigid(pl.Plane(), static=True)
    return scene, bodies


def press_through(sim, body) -> None:
    """Press the free end of a block into it, so that elements there are inside out."""
    x = sim.positions(body).copy()
    x[x[:, 0] > 0.199, 0] = 0.08
    x[np.isclose(x[:, 0], 0.15), 0] = 0.09  # nodes between those of tets of ten nodes
    sim.set_positions(body, x)


def upright(body, x: np.ndarray) -> bool:
    """Whether no element of a body with nodes at x (n, 3) is inside out."""
    sides = [points[body.mesh.tets[:, :3]] - points[body.mesh.tets[:, 3:4]] for points in (x, body.nodes.positions)]
    return bool(np.all(np.linalg.det(sides[0]) * np.linalg.det(sides[1]) > 0))


ROW_SCENES = {
    scene.__name__: scene
    for scene in (
        block_on_floor,
        beam_on_shape,
        pushed_by_shape,
        ball_on_block,
        arm,
        swing,
        carriage,
        inflated,
        folded,
        many_kinds,
    )
}


# How exactly scenes are solved, and how far apart two runs may be then after some steps, relative to all motion: less
# where flat faces of two soft bodies meet in many contacts, for which iterations are many.
USUAL, ROUGH = (1e-4, 1e-3), (1e-3, 1e-2)


def exactness(name: str) -> tuple[float, float]:
    """Those of a scene."""
    return ROUGH if name == "folded" else USUAL


def moved(sim) -> float:
    """How far anything has come from where it started [m]."""
    return float(np.abs(sim.state.x - sim.model.rest).max())
