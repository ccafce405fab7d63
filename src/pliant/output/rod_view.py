"""Rods in pictures: tubes of their section along the points, balls where several segments meet."""

import numpy as np

from pliant.output.drawing import tessellate
from pliant.output.drawing.picture import Surface

ROD_COLORS = ("#b2563e", "#3f7fa3", "#8f9a3e", "#7b5ea7", "#c9943a", "#4d8f6f")
# Sides of a round section; rods of very many segments have fewer.
SIDES, FEW_SIDES, MANY = 20, 8, 3000
# Cosine of the angle by which two segments are twisted against each other above which a tube runs without a seam.
SMOOTH = 0.5
# Half turns of a corner up to which a tube keeps its width [degrees]: sections there are as much as twice as long.
MITRE = 60.0
# Turns at rest up to which a tube looks rounded, not cornered [degrees].
ROUNDED = 40.0


class Tube:
    """The surface of a rod: its triangles once, its points at every moment."""

    def __init__(self, rod, number: int):
        self.rod, self.color = rod, ROD_COLORS[number % len(ROD_COLORS)]
        self.outline = rod.section.outline(SIDES if len(rod.edges) <= MANY else FEW_SIDES)
        degree = np.bincount(rod.edges.ravel(), minlength=len(rod))
        self.partner = _partners(rod.edges, degree)
        self.partner[_twist_cosines(rod.frames, self.partner) <= SMOOTH] = -1
        self.ring = self._rings()
        self.balls = np.flatnonzero(degree > 2)
        self.triangles = self._triangles(degree)

    def _rings(self) -> np.ndarray:
        """The ring (m, 2) at both ends of every segment; one that goes on has the same as the next. At corners both
        have their own at one place, so that shading keeps the edge."""
        ring, axis = np.arange(self.partner.size).reshape(self.partner.shape), self.rod.frames[:, :, 2]
        before = self.partner[:, 0]
        straight = np.sum(axis * axis[before], axis=1) > np.cos(np.radians(ROUNDED))
        begins = np.flatnonzero((before >= 0) & straight)
        ring[begins, 0] = ring[self.partner[begins, 0], 1]
        return ring

    def _triangles(self, degree: np.ndarray) -> np.ndarray:
        """Of all segments, with lids where the rod ends or has a seam."""
        sides = len(self.outline)
        k, after = np.arange(sides), (np.arange(sides) + 1) % sides
        lid = np.stack([np.zeros(sides - 2, int), k[1:-1], k[2:]], axis=1)
        found = []
        open_ends = (degree[self.rod.edges] <= 2) & (self.partner < 0)
        for (low, high), (begins, ends) in zip(sides * self.ring, open_ends):
            found.append(np.stack([low + k, low + after, high + after], axis=1))
            found.append(np.stack([low + k, high + after, high + k], axis=1))
            found += [lid[:, ::-1] + low] if begins else []
            found += [lid + high] if ends else []
        return np.concatenate(found)

    def points(self, sim) -> np.ndarray:
        """Rings (2 segments sides, 3) [m] around both ends of every segment, as the simulation is now; then the places
        of balls."""
        state, edges = sim.rod(self.rod), self.rod.edges
        rings = np.empty((len(edges), 2, len(self.outline), 3))
        for end in range(2):
            other = np.where(self.partner[:, end] < 0, np.arange(len(edges)), self.partner[:, end])
            place = state.points[edges[:, end], None]
            rings[:, end] = place + np.einsum("pk,mik->mpi", self.outline, _sections(state.frames, state.frames[other]))
        return np.concatenate([rings.reshape(-1, 3), state.points[self.balls]]).astype(np.float32)

    def surfaces(self, points: np.ndarray, values: np.ndarray | None = None) -> list[Surface]:
        """What is drawn, at such points; values: those of a field at the points, or None."""
        count = len(points) - len(self.balls)
        smooth = self.rod.section.kind != "rectangle"
        rings, balls = (None, None) if values is None else np.split(values, [count])
        drawn = [Surface(points[:count], self.triangles, self.color, rings, smooth=smooth)]
        if len(self.balls):
            ball, faces = tessellate.sphere(1.02 * max(self.rod.section.extents), 10)
            centres = points[count:]
            spread = (centres[:, None] + ball).reshape(-1, 3)
            which = (faces + len(ball) * np.arange(len(centres))[:, None, None]).reshape(-1, 3)
            values = None if balls is None else np.repeat(balls, len(ball))
            drawn.append(Surface(spread, which, self.color, values, smooth=True))
        return drawn


def _sections(frames: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Axes (m, 3, 2) of the sections in which segments with such frames (m, 3, 3) meet others: in the plane that halves
    their angle, halfway between theirs, and longer across the corner, so that both keep their width up to it."""
    one, two = frames[:, :, 2], others[:, :, 2]
    half = _unit(one + two, one)
    first = _unit(_turned(frames[:, :, 0], one, half) + _turned(others[:, :, 0], two, half), frames[:, :, 0])
    axes = np.stack([first, np.cross(half, first)], axis=2)
    across = _unit(one - two, np.zeros_like(one))
    longer = 1 / np.maximum(np.sum(one * half, axis=1), np.cos(np.radians(MITRE))) - 1
    return axes + (longer[:, None] * across)[:, :, None] * np.einsum("mi,mik->mk", across, axes)[:, None]


def _twist_cosines(frames: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """Cosines (m, 2) of the angles about their axis by which segments with frames (m, 3, 3) differ from those that go
    on at both ends."""
    first, axis = frames[:, None, :, 0], frames[:, None, :, 2]
    return np.sum(_turned(first, axis, frames[partner, :, 2]) * frames[partner, :, 0], axis=2)


def _turned(first: np.ndarray, axis: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """Unit vectors (..., 3) across an axis, turned with it the shortest way to another axis."""
    lift = np.sum(first * toward, axis=-1) / np.maximum(1 + np.sum(axis * toward, axis=-1), 1e-9)
    return first - lift[..., None] * (axis + toward)


def _unit(vectors: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Vectors (m, 3) of length one; others in place of those without a length."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > 1e-9, vectors / np.maximum(length, 1e-9), otherwise)


def _partners(edges: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """For both ends of every segment (m, 2) the one that goes on there in the same sense, where there is just one; else
    -1."""
    out, begins, ends = np.full(edges.shape, -1), {}, {}
    for m, (i, j) in enumerate(edges.tolist()):
        begins[i], ends[j] = m, m
    for m, (i, j) in enumerate(edges.tolist()):
        out[m, 0] = ends.get(i, -1) if degree[i] == 2 else -1
        out[m, 1] = begins.get(j, -1) if degree[j] == 2 else -1
    return out
