"""Random drops from a seed: a soft or rigid thing thrown at a plate, a mesh, ground, a sheet, a pile, another thing.

Nothing intersects at the start. Speeds up to 30 m/s with spin, time steps 1/240 to 1/30 s, Young's moduli 1e3 to 1e8
Pa, every shape and a few laws; a part of the scenes is aligned on purpose (vertex on vertex, edge along edge, face on
face). `drop_checks` judges what becomes of them.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import pliant as pl
from solid_samples import surface_points
from surface_shapes import CORNERS, CUBE

SECONDS = 0.3
TARGETS = ("plate", "held plate", "mesh", "thin mesh", "field", "sheet", "pile", "thrown", "aligned", "aligned")
RIGIDS = ("Sphere", "Box", "Capsule", "Cylinder", "Cone", "Hull", "Mesh")
LAWS = ("corotated", "stable_neohookean", "neohookean")
ALIGNED = ("vertex on vertex", "edge along edge", "face on face", "spike", "ball", "rod")
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
# Rotation of a cube that stands on a corner, and on an edge.
ON_CORNER = Rotation.align_vectors([[0, 0, 1]], [[1, 1, 1]])[0]
ON_EDGE = Rotation.from_euler("x", 45, degrees=True)


def quaternion(rotation: Rotation) -> tuple:
    """(w, x, y, z) of a rotation."""
    return tuple(np.roll(rotation.as_quat(), 1))


def cube_mesh(size) -> pl.Mesh:
    """The surface of a box as a rigid mesh, centred."""
    return pl.Mesh(points=(CORNERS - 0.5) * np.array(size), triangles=CUBE)


class Drop:
    """A scene in the making. thrown: bodies that are thrown, with their spin [rad/s]. barrier: what they must not get
    behind. target: its category, kind: in words."""

    def __init__(self, seed: int):
        self.random = draw = np.random.default_rng(seed)
        self.dt = float(1 / draw.choice([240, 120, 60, 30]))
        self.size = float(10 ** draw.uniform(-1.7, -0.3))
        self.friction = float(draw.choice([0.0, 0.3, 0.8]))
        self.restitution = float(draw.choice([0.0, 0.0, 0.0, 0.5]))
        self.scene = pl.Scene(gravity=(0, 0, -9.81))
        self.thrown, self.barrier, self.half_width = [], None, np.inf
        self.target = TARGETS[draw.integers(len(TARGETS))]
        getattr(self, "make_" + self.target.replace(" ", "_"))()

    @property
    def steps(self) -> int:
        return round(SECONDS / self.dt)

    def simulate(self):
        """The scene, thrown."""
        sim = self.scene.simulate(dt=self.dt, threads=1)
        for body, spin in self.thrown:
            if isinstance(body, pl.bodies.Soft):
                x = sim.positions(body)
                sim.set_velocities(body, sim.velocities(body) + np.cross(spin, x - x.mean(axis=0)))
        return sim

    # ---- things

    def options(self) -> dict:
        return {"friction": self.friction, "restitution": self.restitution}

    def speed(self) -> float:
        """Up to 30 m/s, slow ones as often as fast ones."""
        return float(10 ** self.random.uniform(-0.5, np.log10(30)))

    def rotation(self) -> Rotation:
        """Any, or none in one of four cases."""
        if self.random.random() < 0.25:
            return Rotation.identity()
        return Rotation.from_quat(self.random.normal(size=4))

    def shape(self, kind: str, size: float):
        """A rigid shape of about that size [m]."""
        a, b, c = size * self.random.uniform(0.3, 1.0, 3)
        if kind == "Sphere":
            return pl.Sphere(a / 2)
        if kind == "Box":
            return pl.Box((a, b, c))
        if kind == "Capsule":
            return pl.Capsule(a / 6, b)
        if kind == "Cylinder":
            return pl.Cylinder(a / 2, b)
        if kind == "Cone":
            return pl.Cone(a / 4, size)
        if kind == "Hull":
            return pl.Hull(points=size * self.random.uniform(-0.5, 0.5, (self.random.integers(5, 14), 3)))
        return cube_mesh((a, b, c)) if self.random.random() < 0.5 else self.ball_mesh(a / 2)

    def ball_mesh(self, radius: float) -> pl.Mesh:
        surface = pl.meshes.sphere(radius, int(self.random.integers(1, 4))).surface()
        used, triangles = np.unique(surface.triangles, return_inverse=True)
        return pl.Mesh(points=surface.points[used], triangles=triangles.reshape(-1, 3))

    def material(self) -> pl.Material:
        law = LAWS[self.random.integers(len(LAWS))]
        young = float(10 ** self.random.uniform(3, 8))
        return getattr(pl.Material, law)(young=young, poisson=float(self.random.choice([0.3, 0.45])), density=1000)

    def tets(self, size: float) -> pl.meshes.TetMesh:
        """A centred mesh of 1 to 200 tets, of order 1 or 2."""
        draw = self.random.random()
        if draw < 0.1:
            points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * size
            mesh = pl.meshes.TetMesh(points, [[1, 0, 2, 3]])
        elif draw < 0.35:
            mesh = pl.meshes.sphere(size / 2, 1)
        else:
            sides = size * self.random.uniform(0.3, 1.0, 3)
            mesh = pl.meshes.box(sides, tuple(int(n) for n in self.random.integers(1, 4, 3)))
        mesh = mesh.transformed(translation=-mesh.points.mean(axis=0))
        return mesh.quadratic() if self.random.random() < 0.25 and len(mesh.tets) < 60 else mesh

    def soft(self, mesh: pl.meshes.TetMesh, **placed):
        return self.scene.add_soft(mesh, self.material(), **placed, **self.options())

    def rigid(self, shape, **placed):
        density = float(10 ** self.random.uniform(2, 4))
        return self.scene.add_rigid(shape, **({"density": density} | placed), **self.options())

    def throw(self, thing, height: float, rotation: Rotation, velocity, spin=(0, 0, 0), beside=(0.0, 0.0)):
        """Add a mesh of tets or a shape so that its lowest point is at a height [m], moving."""
        is_soft = isinstance(thing, pl.meshes.TetMesh)
        points = (thing.points if is_soft else surface_points(thing)) @ rotation.as_matrix().T
        place = {"position": (*beside, height - points[:, 2].min()), "rotation": quaternion(rotation)}
        place["velocity"] = tuple(velocity)
        body = self.soft(thing, **place) if is_soft else self.rigid(thing, angular_velocity=tuple(spin), **place)
        self.thrown.append((body, np.array(spin, float)))
        return height + float(np.ptp(points[:, 2]))

    def anything(self, size: float):
        """A soft or rigid thing."""
        kind = RIGIDS[self.random.integers(len(RIGIDS))]
        return self.tets(size) if self.random.random() < 0.5 else self.shape(kind, size)

    def gap(self) -> float:
        return self.size * float(self.random.choice([0.03, 0.1, 1.0]))

    def drop(self, height: float) -> None:
        """Throw anything down from above a height [m], slanting and spinning in most cases."""
        velocity = np.array([0.0, 0.0, -self.speed()])
        spin = np.zeros(3)
        if self.random.random() < 0.75:
            velocity[:2] = 0.3 * velocity[2] * self.random.normal(size=2)
            spin = self.random.normal(size=3) * min(10.0, 0.5 * self.speed() / self.size)
        self.throw(self.anything(self.size), height + self.gap(), self.rotation(), velocity, spin)

    # ---- what it falls on

    def width(self) -> float:
        self.half_width = self.size * float(self.random.uniform(2, 6))
        return 2 * self.half_width

    def thickness(self) -> float:
        return float(self.random.choice([0.01, 0.003, 0.001]))

    def make_plate(self) -> None:
        width, thick = self.width(), self.thickness()
        self.barrier = self.rigid(
            pl.Box((width, width, thick)), static=True, density=None, position=(0, 0, -thick / 2), name="plate"
        )
        self.drop(0.0)

    def make_held_plate(self) -> None:
        width, thick = self.width(), self.thickness()
        self.barrier = self.rigid(pl.Box((width, width, thick)), position=(0, 0, -thick / 2), name="plate")
        self.scene.join(pl.Fixed(pl.world, self.barrier, (0, 0, 0)))
        self.drop(0.0)

    def make_mesh(self) -> None:
        """A closed mesh, static, free to move over the ground or resting there."""
        size = self.size * float(self.random.uniform(0.5, 2))
        shape = self.ball_mesh(size / 2) if self.random.random() < 0.5 else cube_mesh((size, size, size))
        rotation = Rotation.identity() if self.random.random() < 0.5 else self.rotation()
        heights = shape.surface.points @ rotation.as_matrix()[2]
        fixed = {"static": True, "density": None} if self.random.random() < 0.5 else {}
        if not fixed:
            ground = (0, 0, heights.min() - 0.05 * size)
            self.scene.add_rigid(pl.Plane(), static=True, position=ground, **self.options())
        self.rigid(shape, rotation=quaternion(rotation), name="mesh", **fixed)
        self.drop(float(heights.max()))

    def make_thin_mesh(self) -> None:
        width, thick = self.width(), self.thickness()
        shape = cube_mesh((width, width, thick))
        self.barrier = self.rigid(shape, static=True, density=None, position=(0, 0, -thick / 2), name="plate")
        self.drop(0.0)

    def make_field(self) -> None:
        width = self.width()
        count = self.random.integers(2, 9, 2)
        heights = self.size * float(self.random.choice([0.0, 0.1, 0.5])) * self.random.uniform(-1, 0, count)
        shape = pl.Heightfield(heights=heights, size=(width, width))
        self.barrier = self.rigid(shape, static=True, density=None, name="field")
        self.drop(0.0)

    def make_sheet(self) -> None:
        width = self.width()
        cells, thick = int(self.random.integers(2, 7)), width * float(self.random.choice([0.02, 0.005]))
        mesh = pl.meshes.box((width, width, thick), (cells, cells, 1)).transformed(
            translation=(-width / 2, -width / 2, -thick)
        )
        self.barrier = self.soft(mesh, name="sheet")
        nodes = self.barrier.nodes
        self.barrier.pin(np.maximum(np.abs(nodes.x), np.abs(nodes.y)) > 0.499 * width)
        self.drop(0.0)

    def make_pile(self) -> None:
        self.scene.add_rigid(pl.Plane(), static=True, **self.options())
        height = 0.05 * self.size
        for _ in range(self.random.integers(2, 4)):
            velocity = (0.0, 0.0, -self.speed())
            beside = 0.1 * self.size * self.random.normal(size=2)
            height = self.throw(self.anything(self.size), height, self.rotation(), velocity, (0, 0, 0), beside)
            height += 0.05 * self.size

    def make_thrown(self) -> None:
        """Two things that fly at each other."""
        self.scene.gravity = (0.0, 0.0, 0.0)
        speed, other = self.speed(), self.speed()
        spins = self.random.normal(size=(2, 3)) * min(10.0, 0.5 * speed / self.size)
        top = self.throw(self.anything(self.size), 0.0, self.rotation(), (0, 0, speed), spins[0])
        beside = 0.2 * self.size * self.random.normal(size=2)
        self.throw(self.anything(self.size), top + self.gap(), self.rotation(), (0, 0, -other), spins[1], beside)

    # ---- aligned

    def make_aligned(self) -> None:
        kind = ALIGNED[self.random.integers(len(ALIGNED))]
        self.target = kind
        size, speed = self.size, self.speed()
        if kind in ("spike", "ball", "rod"):
            self.sharp(kind, size, speed)
            return
        rotation = {"vertex on vertex": ON_CORNER, "edge along edge": ON_EDGE}.get(kind, Rotation.identity())
        top = self.base(size, rotation)
        self.throw(self.block(size), top + self.gap(), rotation, (0, 0, -speed))

    def block(self, size: float):
        """A cube, soft, a rigid mesh or a box."""
        draw = self.random.random()
        if draw < 0.6:
            cells = int(self.random.integers(1, 4))
            mesh = pl.meshes.box((size, size, size), cells).transformed(translation=(-size / 2,) * 3)
            return mesh.quadratic() if cells < 2 and self.random.random() < 0.3 else mesh
        return cube_mesh((size, size, size)) if draw < 0.8 else pl.Box((size, size, size))

    def base(self, size: float, rotation: Rotation) -> float:
        """A cube below: its top [m]. Soft ones are pinned at their lowest nodes, rigid ones static."""
        block, height = self.block(size), 0.0
        place = {"rotation": quaternion(rotation), "name": "base"}
        if isinstance(block, pl.meshes.TetMesh):
            body = self.soft(block, **place)
            body.pin(body.nodes.z < body.nodes.z.min() + 1e-6 * size)
            return float(body.nodes.z.max())
        self.rigid(block, static=True, density=None, **place)
        height = rotation.apply((CORNERS - 0.5) * size)[:, 2].max()
        return float(height)

    def sharp(self, kind: str, size: float, speed: float) -> None:
        """A cone or sharp hull tip down, a small ball, or a thin rod, over a corner, an edge's middle or a face."""
        rotation = (ON_CORNER, ON_EDGE, Rotation.identity())[self.random.integers(3)]
        top = self.base(size, rotation)
        beside = tuple(size * self.random.choice([0.0, 0.0, 0.25, 0.5], 2)) if rotation.magnitude() == 0 else (0.0, 0.0)
        turn = Rotation.identity()
        if kind == "ball":
            thing = pl.Sphere(size * float(self.random.choice([0.02, 0.1])))
        elif kind == "rod":
            thing, turn = pl.Capsule(0.01 * size, 2 * size), Rotation.from_euler("y", 90, degrees=True)
            beside = (0.0, 0.0)
        elif self.random.random() < 0.5:
            thing, turn = pl.Cone(0.05 * size, 0.5 * size), Rotation.from_euler("x", 180, degrees=True)
        else:
            square = 0.05 * size * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, -10]])
            thing = pl.Hull(points=square)
        self.throw(thing, top + self.gap(), turn, (0, 0, -speed), beside=beside)
