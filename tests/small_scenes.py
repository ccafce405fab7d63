"""Small scenes for the tests of files and of the command line."""

import pliant as pl

RUBBER = """
[materials.rubber]
law = "corotated"
young = 1e5
poisson = 0.3
density = 1000
"""
BALL = """
[[rigid]]
name = "ball"
shape = { sphere = 0.05 }
mass = 1
position = [0.5, 0, 0.2]
"""
"""Tables of scene files."""

TOML = (
    """format = 1

[run]
dt = 0.02
seconds = 0.1
threads = 1
frames_per_second = 25
output = [".pvd", "drop.webp", ".png"]
color = "stress"
"""
    + RUBBER
    + """
[[soft]]
name = "block"
mesh = { box = [0.2, 0.2, 0.2], cells = 2 }
material = "rubber"
position = [0, 0, 0.05]
"""
    + BALL
    + """
[[rigid]]
name = "floor"
shape = { plane = [0, 0, 1] }
static = true

[[joint]]
type = "ball"
a = "ball"
b = "world"
at = [0.5, 0, 0.5]
"""
)


def busy_scene() -> pl.Scene:
    """Soft and rigid bodies with contacts, plasticity, joints and a load that changes in time."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4, name="floor")
    clay = pl.Material.corotated(
        young=5e4, poisson=0.3, density=800, damping=0.01, plasticity=pl.Plasticity(0.02, 40, 0.4)
    )
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), clay, position=(0, 0, 0.05), name="clay")
    block.force(block.nodes.z > 0.24, pl.Keyframes((0.0, 0.2), ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0))))
    level = {"position": (0.45, 0.1, 0.5), "rotation": (1, 0, 1, 0)}
    upper = scene.add_rigid(pl.Capsule(0.03, 0.1), density=900, collide=False, name="rod", **level)
    ball = scene.add_rigid(pl.Sphere(0.06), density=900, position=(0.2, 0.1, 0.5), name="ball", friction=0.3)
    scene.join(pl.Ball(upper, pl.world, at=(0.53, 0.1, 0.5)))
    scene.join(pl.Ball(ball, upper, at=(0.37, 0.1, 0.5)))
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(-0.3, 0, 0.051), velocity=(0.2, 0, 0), name="box")
    return scene
