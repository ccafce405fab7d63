"""What must hold in a scene with contacts after every step: no crossing, no wrong side, no energy from nowhere.

The judges are plain NumPy (`solid_samples`, `convex_reference`), but for crossings of surfaces, which
`pliant.collide.intersections` decides exactly.
"""

import copy
import warnings
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

import pliant as pl
from convex_reference import Solid, _candidates, solid_separation
from pliant.collide.intersections import CROSSING, intersections
from pliant.collide.shapes import code_of, hull_points, parameters
from pliant.kernels.shapes import CONE, CYLINDER, HULL
from pliant.rotations import rotation_matrix
from random_drops import Drop
from solid_samples import (
    crossings_above,
    depth_inside,
    distances,
    half_spaces,
    height_over,
    segments_inside,
    surface_points,
    triangle_samples,
)

# Depth relative to the size of the smaller of two things, and gain relative to the energy at play, that count.
DEPTH, GAIN = 1e-3, 1e-2
# Energy [J] that is rounding.
ROUNDING = 1e-15
SURFACES = (pl.Mesh, pl.Heightfield)


@dataclass
class Outcome:
    """What became of a scene: "ok" or what is wrong, in which step, in words; how its steps went."""

    target: str
    status: str = "ok"
    step: int = 0
    words: str = ""
    steps: int = 0
    unconverged: int = 0
    divided: int = 0
    seconds: list[float] = field(default_factory=list)


class Watch:
    """A simulation and what is checked after every step."""

    def __init__(self, drop: Drop):
        self.drop, self.sim = drop, drop.simulate()
        meshed = self.sim.model.colliders.meshed
        self.meshed = meshed
        # trees of its own, so that the judge changes nothing of what it judges
        self.judge = copy.copy(meshed.surfaces) if meshed else None
        if meshed:
            self.judge._trees = {}
        self.softs, self.rigids = self.sim.scene.soft_bodies, self.sim.scene.rigid_bodies
        self.convex = [b for b in self.rigids if not isinstance(b.shape, SURFACES)]
        self.surfaced = [*self.softs, *(b for b in self.rigids if isinstance(b.shape, SURFACES))]
        self.samples = {b.name: surface_points(b.shape) for b in self.rigids}
        self.round = False
        self.energy = self.first = self.sim.energy()
        self.most = self.first.kinetic

    def wrong(self) -> tuple[str, str]:
        """The first check that fails and words about it, both empty if all is well."""
        if not all(np.all(np.isfinite(a)) for a in self.sim.state.arrays().values() if np.size(a)):
            return "not finite", ""
        self.poses = {b.name: self.sim.pose(b) for b in self.rigids}
        for status, checks in (
            ("intersects", (self.crossing, self.in_solids, self.swallowed, self.solids)),
            ("wrong side", (self.behind,)),
            ("gains energy", (self.gained,)),
        ):
            for check in checks:
                if words := check():
                    return status, words
        return "", ""

    # ---- geometry

    def corners(self, body) -> np.ndarray:
        """Corners (m, 3, 3) [m] of a body's surface."""
        if isinstance(body, pl.bodies.Soft):
            return self.sim.positions(body)[body.mesh.boundary_triangles]
        surface = body.shape.surface
        return self.placed(body, surface.points)[surface.triangles]

    def placed(self, body, points: np.ndarray) -> np.ndarray:
        position, rotation = self.poses[body.name]
        return points @ rotation_matrix(rotation).T + position

    def extent(self, body) -> float:
        """The largest length [m] of a body, infinite for a plane."""
        if isinstance(body, pl.bodies.Soft):
            return float(np.ptp(body.mesh.points, axis=0).max())
        if isinstance(body.shape, pl.Heightfield):
            return max(body.shape.size)
        points = self.samples[body.name]
        return float(np.ptp(points, axis=0).max()) if len(points) else np.inf

    def allowed(self, one, other) -> float:
        return DEPTH * min(self.extent(one), self.extent(other))

    def points(self, body) -> np.ndarray:
        """Points all over a body."""
        if isinstance(body, pl.bodies.Soft):
            return triangle_samples(self.sim.positions(body), body.mesh.boundary_triangles)
        if isinstance(body.shape, pl.Heightfield):
            return triangle_samples(self.placed(body, body.shape.surface.points), body.shape.surface.triangles)
        return self.placed(body, self.samples[body.name])

    # ---- checks

    def crossing(self) -> str:
        """Surfaces of soft bodies and meshes do not pass through each other nor themselves."""
        if not self.meshed:
            return ""
        x = np.ascontiguousarray(self.meshed.places(self.sim.state))
        pairs, how = intersections(self.judge, x)
        pairs, index = pairs[how == CROSSING], self.judge.index
        if not len(pairs):
            return ""
        names, thing = [b.name for b in self.sim._things], self.meshed.thing
        edge, triangle = thing[index.edges[pairs[0, 0], 0]], thing[index.triangles[pairs[0, 1], 0]]
        return f"{len(pairs)} crossings of surfaces, of {names[edge]} with {names[triangle]}"

    def in_solids(self) -> str:
        """No point of a surface is deep in a solid."""
        for solid in self.convex:
            position, rotation = self.poses[solid.name]
            for body in self.surfaced:
                if getattr(body, "static", False) and solid.static:
                    continue
                local = (self.points(body) - position) @ rotation_matrix(rotation)
                depth = -float(distances(solid.shape, local).min())
                if depth > self.allowed(solid, body):
                    return f"{body.name} is {depth / self.allowed(solid, body) * DEPTH:.2g} of the size in {solid.name}"
                sides, corners = half_spaces(solid.shape), self.corners(body)
                if sides:
                    ends = (corners.reshape(-1, 3) - position) @ rotation_matrix(rotation)
                    others = (np.roll(corners, 1, axis=1).reshape(-1, 3) - position) @ rotation_matrix(rotation)
                    if segments_inside(sides, ends, others, self.allowed(solid, body)).any():
                        return f"an edge of {body.name} goes through {solid.name}"
        return ""

    def swallowed(self) -> str:
        """No body is inside a closed surface, nor below the ground."""
        for body in self.surfaced:
            ground = isinstance(getattr(body, "shape", None), pl.Heightfield)
            corners = self.corners(body)
            for other in (*self.softs, *self.rigids):
                if other is body or (getattr(other, "static", False) and getattr(body, "static", False)):
                    continue
                points, allowed = self.points(other), self.allowed(body, other)
                if not len(points) or (ground and self.round):
                    continue
                depth = -float(height_over(points, corners).min()) if ground else depth_inside(points, corners)
                if depth > allowed:
                    return f"{other.name} is {depth / allowed * DEPTH:.2g} of the size inside {body.name}"
        return ""

    def solids(self) -> str:
        """Convex solids are not deep in each other."""
        for i, one in enumerate(self.convex):
            for other in self.convex[:i]:
                if one.static and other.static:
                    continue
                depth = self.overlap(one, other)
                if depth > self.allowed(one, other):
                    return f"{one.name} is {depth / self.allowed(one, other) * DEPTH:.2g} of the size in {other.name}"
        return ""

    def overlap(self, one, other) -> float:
        """How deep [m] two convex solids are in each other: of polytopes, balls and capsules by their best separating
        normal, of others by samples, which may miss some."""
        found = 0.0
        for a, b in ((one, other), (other, one)):
            if len(self.samples[a.name]):
                position, rotation = self.poses[b.name]
                local = (self.points(a) - position) @ rotation_matrix(rotation)
                found = max(found, -float(distances(b.shape, local).min()))
        plane = isinstance(one.shape, pl.Plane) or isinstance(other.shape, pl.Plane)
        if plane or {code_of(one.shape), code_of(other.shape)} & {CYLINDER, CONE}:
            return found
        a, b = self.solid(one), self.solid(other)
        if np.linalg.norm(a.position - b.position) > self.extent(one) + self.extent(other):
            return found
        return max(found, -float(solid_separation(a, b, _candidates(a, b, 0.0, 0.0)).max()))

    def solid(self, body) -> Solid:
        """A convex body as the reference knows it."""
        position, rotation = self.poses[body.name]
        code, points = code_of(body.shape), None
        if code == HULL:
            points = hull_points(body.shape)
        parameter = (*parameters(body.shape), 0.0)
        return Solid(code, parameter, position, rotation_matrix(rotation), points)

    def behind(self) -> str:
        """What was thrown is above what it was thrown at, unless it went around the rim."""
        barrier, half = self.drop.barrier, self.drop.half_width
        if barrier is None:
            return ""
        corners = self.corners_above(barrier)
        for body, _ in self.drop.thrown:
            middle = self.points(body).mean(axis=0)  # of its surface: nothing keeps inner nodes from turning out
            self.round = self.round or bool(np.abs(middle[:2]).max() > 0.95 * half)
            if not self.round and crossings_above(middle, corners) % 2:
                return f"{body.name} is at {middle.round(4).tolist()}"
        return ""

    def corners_above(self, barrier) -> np.ndarray:
        """Triangles (m, 3, 3) of the upper side of a barrier."""
        if isinstance(barrier, pl.bodies.Soft):
            top = np.abs(barrier.nodes.z) < 1e-9
            triangles = barrier.mesh.boundary_triangles
            return self.sim.positions(barrier)[triangles[top[triangles].all(axis=1)]]
        if isinstance(barrier.shape, pl.Heightfield):
            return self.corners(barrier)
        half, top = self.drop.half_width, self.drop.barrier.position[2]
        square = np.array([[-half, -half, -top], [half, -half, -top], [half, half, -top], [-half, half, -top]])
        return self.placed(barrier, square)[[[0, 1, 2], [0, 2, 3]]]

    def gained(self) -> str:
        """Nothing ever has more energy than at the start; without restitution, no step gains any."""
        before, self.energy = self.energy, self.sim.energy()
        now = self.energy
        self.most = max(self.most, now.kinetic, self.first.gravitational - now.gravitational)
        gain = now.total - (self.first.total if self.drop.restitution else min(before.total, self.first.total))
        if gain > GAIN * self.most + ROUNDING:
            return f"{gain / self.most:.3g} of the energy at play, {now.kinetic:.3g} J kinetic"
        return ""


def run(seed: int, seconds: float | None = None) -> Outcome:
    """A scene from start to end, or to the first check that it fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        drop = Drop(seed)
        found = Outcome(drop.target)
        try:
            watch = Watch(drop)
        except pl.SceneError as error:
            found.status, found.words = "refused", str(error)
            return found
        if words := watch.wrong()[1]:
            found.status, found.words = "bad start", words
            return found
        for step in range(1, (drop.steps if seconds is None else round(seconds / drop.dt)) + 1):
            start = perf_counter()
            try:
                watch.sim.step()
            except pl.SolverError as error:
                found.status, found.step, found.words = "stopped", step, str(error)
                return found
            found.seconds.append(perf_counter() - start)
            found.steps = step
            found.unconverged += not watch.sim.info.converged
            found.divided += watch.sim.info.parts > 1
            status, words = watch.wrong()
            if status:
                said = "converged" if watch.sim.info.converged else "not converged"
                found.status, found.step, found.words = status, step, f"{words} ({said})"
                return found
    return found


COLUMNS = ("ok", "intersects", "wrong side", "gains energy", "not finite", "stopped", "other")


def table(outcomes: dict[int, Outcome]) -> str:
    """How scenes went, a line for each category and one for all."""
    lines = [
        f"{'':17} {'all':>4}" + "".join(f"{name:>13}" for name in COLUMNS) + "  unconverged  in parts  median ms  worst"
    ]
    for target in [*sorted({found.target for found in outcomes.values()}), "all"]:
        own = [found for found in outcomes.values() if target in (found.target, "all")]
        counts = Counter(found.status if found.status in COLUMNS else "other" for found in own)
        steps = max(1, sum(found.steps for found in own))
        times = 1e3 * np.array([second for found in own for second in found.seconds[1:]] or [0.0])
        shares = [100 * sum(getattr(found, name) for found in own) / steps for name in ("unconverged", "divided")]
        lines.append(
            f"{target:17} {len(own):4}"
            + "".join(f"{counts[name]:13}" for name in COLUMNS)
            + f"{shares[0]:12.1f}%{shares[1]:9.1f}%{np.median(times):11.2f}{times.max():7.0f}"
        )
    return "\n".join(lines)
