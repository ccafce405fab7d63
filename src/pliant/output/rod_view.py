"""Rods in pictures: tubes of their section along the points, balls where several segments meet."""

import numpy as np

from pliant.output.drawing import tessellate
from pliant.output.drawing.picture import Surface

ROD_COLORS = ("#b2563e", "#3f7fa3", "#8f9a3e", "#7b5ea7", "#c9943a", "#4d8f6f")
# Sides of a round section; rods of very many segments have fewer.
SIDES, FEW_SIDES, MANY = 20, 8, 3000
# Cosine between the first axes of two segments above which a tube runs from one to the other without a seam.
SMOOTH = 0.5


class Tube:
    """The surface of a rod: its triangles once, its points at every moment."""

    def __init__(self, rod, number: int):
        self.rod, self.color = rod, ROD_COLORS[number % len(ROD_COLORS)]
        self.outline = rod.section.outline(SIDES if len(rod.edges) <= MANY else FEW_SIDES)
        degree = np.bincount(rod.edges.ravel(), minlength=len(rod))
        self.partner = _partners(rod.edges, degree)
        first = rod.frames[:, :, 0]
        seam = np.sum(first[:, None] * first[self.partner], axis=2) <= SMOOTH
        self.partner[seam] = -1
        self.ring = self._rings()
        self.balls = np.flatnonzero(degree > 2)
        self.triangles = self._triangles(degree)

    def _rings(self) -> np.ndarray:
        """The ring (m, 2) at both ends of every segment; one that goes on has the same as the next."""
        ring = np.arange(self.partner.size).reshape(self.partner.shape)
        begins = np.flatnonzero(self.partner[:, 0] >= 0)
        ring[begins, 0] = ring[self.partner[begins, 0], 1]
        return ring

    def _triangles(self, degree: np.ndarray) -> np.ndarray:
        """Of all segments, with lids where the rod ends."""
        sides = len(self.outline)
        k, after = np.arange(sides), (np.arange(sides) + 1) % sides
        lid = np.stack([np.zeros(sides - 2, int), k[1:-1], k[2:]], axis=1)
        found = []
        for (low, high), (i, j) in zip(sides * self.ring, self.rod.edges):
            found.append(np.stack([low + k, low + after, high + after], axis=1))
            found.append(np.stack([low + k, high + after, high + k], axis=1))
            found += [lid[:, ::-1] + low] if degree[i] == 1 else []
            found += [lid + high] if degree[j] == 1 else []
        return np.concatenate(found)

    def points(self, sim) -> np.ndarray:
        """Rings (2 segments sides, 3) [m] around both ends of every segment, as the simulation is now; then the places
        of balls."""
        state, edges = sim.rod(self.rod), self.rod.edges
        rings = np.empty((len(edges), 2, len(self.outline), 3))
        for end in range(2):
            frames, other = state.frames, self.partner[:, end]
            mean = np.where((other >= 0)[:, None, None], frames + frames[other], frames)
            mean = mean / np.linalg.norm(mean, axis=1, keepdims=True)
            place = state.points[edges[:, end], None]
            rings[:, end] = place + np.einsum("pk,mik->mpi", self.outline, mean[:, :, :2])
        return np.concatenate([rings.reshape(-1, 3), state.points[self.balls]]).astype(np.float32)

    def surfaces(self, points: np.ndarray) -> list[Surface]:
        """What is drawn, at such points."""
        count = len(points) - len(self.balls)
        smooth = self.rod.section.kind != "rectangle"
        drawn = [Surface(points[:count], self.triangles, self.color, smooth=smooth)]
        if len(self.balls):
            ball, faces = tessellate.sphere(1.02 * max(self.rod.section.extents), 10)
            centres = points[count:]
            spread = (centres[:, None] + ball).reshape(-1, 3)
            which = (faces + len(ball) * np.arange(len(centres))[:, None, None]).reshape(-1, 3)
            drawn.append(Surface(spread, which, self.color, smooth=True))
        return drawn


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
