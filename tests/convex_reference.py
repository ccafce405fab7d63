"""Convex solids in plain NumPy, as references for the compiled narrow phase: supports, extents, separations.

The separation of two solids along a unit normal n from b to a is min a.n - max b.n. Its largest value over all normals
is their distance where they are apart, and minus the depth of their overlap where not. Of polytopes the best normal is
among finitely many: of faces, across two edges, between two vertices, across an edge through a vertex.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from pliant.collide.hull import build_hulls, sharp_margin
from pliant.kernels.collide import ContactPoints, make_scratch
from pliant.kernels.cpu.collide.pairs import collide_pairs, collide_planes, collide_spheres
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, PLANE, SPHERE, TRIANGLE

SIGNS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
SCRATCH = make_scratch()
KINDS = (SPHERE, BOX, CAPSULE, CYLINDER, CONE, HULL, TRIANGLE)
SHARP = (BOX, CYLINDER, CONE, HULL)


@dataclass
class Solid:
    """A shape with its pose. points: of a hull or a triangle."""

    code: int
    parameter: tuple
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    frame: np.ndarray = field(default_factory=lambda: np.eye(3))
    points: np.ndarray | None = None

    def __post_init__(self):
        self.hull = None
        margin = sharp_margin(self.code, self.parameter)
        if self.code == HULL:
            self.hull, margins = build_hulls([self.points])
            margin = margins[0]
        if self.code in SHARP:
            self.parameter = (*self.parameter[:3], margin)

    def at(self, position, frame=None):
        other = Solid.__new__(Solid)
        other.__dict__ = {**self.__dict__, "position": np.asarray(position, float)}
        other.frame = self.frame if frame is None else np.asarray(frame, float)
        return other

    def turned(self, rotation, shift):
        return self.at(rotation @ self.position + shift, rotation @ self.frame)

    @property
    def rounding(self):
        return {SPHERE: self.parameter[0], CAPSULE: self.parameter[0], TRIANGLE: self.parameter[3]}.get(self.code, 0.0)

    def margin_beside(self, other):
        return 0.0 if self.code not in SHARP or other.rounding >= self.parameter[3] else self.parameter[3]

    def vertices(self, margin):
        """Vertices (k, 3) of the core in the shape's frame, or None for discs."""
        if self.code == BOX:
            return SIGNS * (np.array(self.parameter[:3]) - margin)
        if self.code == HULL:
            first, last = (self.hull.core_range if margin else self.hull.vertex_range)[0]
            return self.hull.points[first:last]
        if self.code == TRIANGLE:
            return self.points
        if self.code == SPHERE:
            return np.zeros((1, 3))
        if self.code == CAPSULE:
            return np.array([[0, 0, -self.parameter[1]], [0, 0, self.parameter[1]]])
        return None

    def discs(self, margin):
        r, h = self.parameter[:2]
        if self.code == CYLINDER:
            return [(r - margin, -h + margin), (r - margin, h - margin)]
        sine = r / np.hypot(r, 2 * h)
        apex = h - margin / sine
        return [((apex + h - margin) * r / (2 * h), -h + margin), (0.0, apex)]

    def extent(self, d, margin=0.0):
        """Largest x.d over the core for directions (..., 3) in the world."""
        local = d @ self.frame
        vertices = self.vertices(margin)
        if vertices is None:
            across = np.hypot(local[..., 0], local[..., 1])
            along = np.max([r * across + z * local[..., 2] for r, z in self.discs(margin)], axis=0)
        else:
            along = (local @ vertices.T).max(axis=-1)
        return along + d @ self.position

    @property
    def size(self):
        vertices = self.vertices(0.0)
        far = np.hypot(*self.parameter[:2]) if vertices is None else np.linalg.norm(vertices, axis=1).max()
        return far + self.rounding


def margins(a, b):
    return a.margin_beside(b), b.margin_beside(a)


def separation(a, b, n, margin_a=0.0, margin_b=0.0):
    """Separation [m] of the cores along normals (..., 3) from b to a."""
    return -a.extent(-n, margin_a) - b.extent(n, margin_b)


def solid_separation(a, b, n):
    """Separation of the solids themselves."""
    return separation(a, b, n) - a.rounding - b.rounding


def _edges(solid, margin):
    """Vertices and edges (pairs of vertices; more than the true ones do no harm) of a polytope in the world."""
    v = solid.vertices(margin) @ solid.frame.T + solid.position
    first, second = np.triu_indices(len(v), 1)
    if solid.code == BOX:
        keep = (np.abs(SIGNS[first] - SIGNS[second]) > 0).sum(axis=1) == 1
        first, second = first[keep], second[keep]
    return v, v[first], v[second]


def _candidates(a, b, margin_a, margin_b):
    """Normals (k, 3) among which the best one of two polytopes is."""
    va, pa, qa = _edges(a, margin_a)
    vb, pb, qb = _edges(b, margin_b)
    ea, eb = qa - pa, qb - pb
    between = (va[:, None] - vb).reshape(-1, 3)
    crossed = np.cross(ea[:, None], eb).reshape(-1, 3)
    flat = [np.cross(e[:, None], e).reshape(-1, 3) for e in (ea, eb)]

    def foot(vertices, starts, edges):
        arm = vertices[:, None] - starts
        share = (arm * edges).sum(-1, keepdims=True) / np.maximum((edges * edges).sum(-1, keepdims=True), 1e-300)
        return (arm - share * edges).reshape(-1, 3)

    every = np.concatenate([between, crossed, *flat, foot(va, pb, eb), foot(vb, pa, ea)])
    length = np.linalg.norm(every, axis=1)
    every = every[length > 1e-9 * length.max()] if length.max() > 0 else every[:0]
    every = np.concatenate([every / np.linalg.norm(every, axis=1)[:, None], np.eye(3)])
    return np.concatenate([every, -every])


def best_separation(a, b):
    """Largest separation of the cores [m] and its normal; by all candidates, or of round solids by a search."""
    margin_a, margin_b = margins(a, b)
    if a.vertices(margin_a) is not None and b.vertices(margin_b) is not None:
        n = _candidates(a, b, margin_a, margin_b)
    else:
        k = np.arange(3000) + 0.5
        z, turn = 1 - 2 * k / 3000, np.pi * (1 + 5**0.5) * k
        n = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
        n = np.concatenate([n, a.frame.T, -a.frame.T, b.frame.T, -b.frame.T])
    values = separation(a, b, n, margin_a, margin_b)
    best = int(np.argmax(values))
    if a.vertices(margin_a) is not None and b.vertices(margin_b) is not None:
        return values[best], n[best]
    found = values[best], n[best]
    for start in np.argsort(-values)[:4]:
        for _ in range(3):
            frame = np.linalg.svd(n[start][None])[2]

            def toward(x, frame=frame, centre=n[start]):
                d = centre + x[0] * frame[1] + x[1] * frame[2]
                return d / np.linalg.norm(d)

            answer = minimize(
                lambda x, toward=toward: -separation(a, b, toward(x), margin_a, margin_b), [0, 0], method="Nelder-Mead",
                options={"xatol": 1e-12, "fatol": 1e-15, "maxiter": 400,
                         "initial_simplex": np.array([[0, 0], [0.03, 0], [0, 0.03]])},
            )  # fmt: skip
            n[start] = toward(answer.x)
        if -answer.fun > found[0]:
            found = -answer.fun, n[start]
    return found


def collide(a, b, reach=1e9, most=8):
    """Contacts of two solids as the kernel finds them: point_a, point_b, normal, gap, feature."""
    return collide_all([a, b], np.array([[0, 1]]), reach, most)[1]


def collide_all(solids, pairs, reach=1e9, most=8, capacity=None, spheres=False):
    """Contacts of pairs of solids: which pair, and the contacts. spheres: by the loop that knows nothing else."""
    tables = [s.hull for s in solids if s.hull is not None]
    clouds, index = [], np.zeros(len(solids), np.int64)
    for k, s in enumerate(solids):
        if s.code == HULL:
            index[k] = len(clouds)
            clouds.append(s.points)
    hulls, _ = build_hulls(clouds)
    corners, row = [], len(hulls.points)
    for k, s in enumerate(solids):
        if s.code == TRIANGLE:
            index[k] = row
            corners.append(s.points)
            row += 3
    assert len(tables) == len(clouds)
    hulls = hulls._replace(points=np.concatenate([hulls.points, *corners]))
    parameters = np.array([(*s.parameter, 0.0, 0.0, 0.0)[:4] for s in solids])
    capacity = 8 * len(pairs) if capacity is None else capacity
    out = ContactPoints(*np.full((3, capacity, 3), np.nan), np.full(capacity, np.nan), np.full(capacity, -1))
    pair = np.full(capacity, -1)
    arguments = (np.array([s.position for s in solids]), np.array([s.frame for s in solids]))
    codes = np.array([s.code for s in solids])
    reaches = np.full(len(pairs), float(reach))
    if spheres:
        count = collide_spheres(pairs, codes, parameters, *arguments, reaches, pair, out)
    else:
        kernel = collide_planes if codes[pairs[0, 1]] == PLANE else collide_pairs
        count = kernel(pairs, codes, parameters, index, hulls, *arguments, reaches, most, SCRATCH, pair, out)
    return pair[:count], ContactPoints(*(column[:count] for column in out))


def make(code, random, scale=1.0):
    """A random solid of a kind, of about that size [m]."""
    x, y, z = scale * random.uniform(0.3, 1.0, 3)
    points = None
    if code == HULL:
        points = scale * random.normal(size=(random.integers(6, 14), 3)) / 2
    if code == TRIANGLE:
        points = scale * random.normal(size=(3, 3)) / 2
    parameter = {SPHERE: (x, 0, 0, 0), BOX: (x, y, z, 0), HULL: (0, 0, 0, 0), TRIANGLE: (0, 0, 0, 0.02 * scale)}
    frame = Rotation.random(random_state=random.integers(2**31)).as_matrix()
    return Solid(code, parameter.get(code, (x, y, 0, 0)), scale * random.normal(size=3) / 5, frame, points)


def floor(normal=(0.0, 0.0, 1.0)):
    return Solid(PLANE, (*normal, 0.0))
