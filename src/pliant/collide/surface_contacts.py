"""Contact between triangulated surfaces, of each with itself and with others: proximity and continuous detection."""

from copy import copy
from dataclasses import dataclass

import numpy as np

from pliant.collide.patches import Found, Patches
from pliant.collide.surface_index import SurfaceIndex, index_surface
from pliant.collide.trees import Tree
from pliant.kernels.collide import EDGE_EDGE, INDEX_BITS, MOST_TASKS, VERTEX_FACE, SurfaceTables
from pliant.kernels.device import Device

# Part of its first distance that a pair keeps if it is closer than the least distance asked for.
KEEP = 0.5
# Part of the first gap that may be left at the time of an impact.
SLACK = 0.1
# Distance, in parts of their edges, that points may move before pairs that may be near are looked for again.
SKIN = 0.03
# Part of all points up to which, where others have stayed near, pairs are looked for of those that have not.
MOST_NEW = 0.7
# Pairs that there is room for at first in each task of a search.
LEAST_ROOM = 64


@dataclass
class _Near:
    """Pairs that may be near while points stay close to straight ways from start to end (n, 3), within distances
    margin (n,) [m]: of vertices with triangles and of edges, with their nodes (k, 4)."""

    start: np.ndarray
    end: np.ndarray
    margin: np.ndarray
    pairs: list[np.ndarray]
    nodes: list[np.ndarray]


@dataclass
class SurfaceContacts:
    """Contacts between surfaces, sorted by key; each pair of features is there once.

    key (k,): kind << 60 | first << 30 | second, the same from step to step. kind: VERTEX_FACE (point, triangle),
    VERTEX_EDGE (point, edge), VERTEX_VERTEX (points, the lower first), EDGE_EDGE (edges, the lower first). nodes (k, 4)
    and weights (k, 4): the weighted sum of the nodes' positions is the vector from the second side's point to the
    first's; the first side has two nodes for EDGE_EDGE, else one; its weights add up to 1, the others to -1, and nodes
    that have no part have no weight. first, second (k, 3) [m]: the closest points. normal (k, 3): unit vector from the
    second to the first. distance (k,) [m].
    """

    key: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    first: np.ndarray
    second: np.ndarray
    normal: np.ndarray
    distance: np.ndarray

    def __len__(self) -> int:
        return len(self.key)

    @property
    def kind(self) -> np.ndarray:
        return self.key >> (2 * INDEX_BITS)


@dataclass
class Impacts:
    """Pairs that come too close: kind (k,) VERTEX_FACE (a vertex with a triangle) or EDGE_EDGE, first, second (k,)
    (point and triangle, or edges), time (k,) in [0, 1); sorted. earliest: of all, or 1; by_body (bodies,)."""

    kind: np.ndarray
    first: np.ndarray
    second: np.ndarray
    time: np.ndarray
    earliest: float
    by_body: np.ndarray


class Surfaces:
    """Triangles over one array of points, with trees that follow their motion.

    triangles (m, 3), outward where a surface is closed; a segment of a rod is (i, j, j). body (n,): of every point.
    rest (n, 3) [m]: positions at which a body does not touch itself. allowed (bodies, bodies): which may touch,
    symmetric; on the diagonal, whether a body touches itself.
    """

    def __init__(self, device: Device, triangles: np.ndarray, body: np.ndarray, rest: np.ndarray, allowed: np.ndarray):
        self.device, self.kernels = device, device.collide
        self.index: SurfaceIndex = index_surface(triangles, len(body))
        self.body, self.rest = np.array(body, np.int64), np.array(rest, np.float64)
        self.allowed = np.array(allowed, bool)
        if max(len(self.body), len(self.index.edges), len(self.index.triangles)) >= 1 << INDEX_BITS:
            raise ValueError(f"keys of contacts have room for {1 << INDEX_BITS} points, edges and triangles")
        points = np.ascontiguousarray(self.index.vertices[:, None])
        self.members = {"vertices": points, "edges": self.index.edges, "triangles": self.index.triangles}
        self._trees: dict[str, Tree] = {}
        self._known: dict[str, _Near] = {}
        self._rows: dict[str, np.ndarray] = {}  # room for pairs
        self._widest: np.ndarray | None = None  # margins (n,) [m] with which places were looked at last
        self.skin = SKIN * self._mean_edges()
        self.sheets = self._cut_sheets()
        self._columns = _columns(64)
        self._others: tuple[np.ndarray, Surfaces | None] | None = None

    def without(self, pairs: np.ndarray) -> "Surfaces":
        """The same, but that pairs (k, 2) of bodies do not touch."""
        other = copy(self)
        other.allowed, other._known = self.allowed.copy(), {}
        other.allowed[pairs[:, 0], pairs[:, 1]] = other.allowed[pairs[:, 1], pairs[:, 0]] = False
        return other

    def without_themselves(self) -> "Surfaces":
        """The same, but that no body touches itself; with trees of its own, which know that."""
        other = copy(self)
        other.allowed, other._trees, other._known = self.allowed.copy(), {}, {}
        np.fill_diagonal(other.allowed, False)
        return other

    def _cut_sheets(self) -> dict[int, Patches]:
        """Patches of bodies that touch themselves and are flat and convex at rest."""
        index, found = self.index, {}
        own = self.body[index.triangles[:, 0]] if len(index.triangles) else np.zeros(0, np.int64)
        for body in np.flatnonzero(np.diagonal(self.allowed)).tolist():
            patches = Patches.of(self.device, index, np.flatnonzero(own == body), self.rest)
            if patches is not None:
                found[body] = patches
        return found

    # ---- proximity

    def contacts(self, x: np.ndarray, radius: np.ndarray, reach: np.ndarray, name: str = "touch") -> SurfaceContacts:
        """Contacts at positions x (n, 3) [m] whose distance is below the radii and reaches (n,) [m] of both sides
        together: radii and weights as at the closest points, of reaches the largest. name: of what pairs are kept
        for."""
        pairs = self._near(name, x, x, radius + reach).pairs
        most = len(pairs[0]) + len(pairs[1])
        if most > len(self._columns[0]):
            self._columns = _columns(most + most // 4)
        count = self.kernels.surfaces.surface_contacts(*pairs, self.tables, x, radius, reach, *self._columns)
        return self._measured(x, *(column[:count] for column in self._columns))

    @property
    def tables(self) -> SurfaceTables:
        """As compiled loops see them."""
        index = self.index
        parts = (index.triangles, index.edges, index.vertices, index.triangle_edges)
        around = (index.vertex_start, index.vertex_triangles, index.edge_start, index.edge_triangles)
        return SurfaceTables(*parts, *around, self.body, self.rest, self.allowed)

    def pairs_within(self, x: np.ndarray, body: int, reach: float) -> list[np.ndarray]:
        """Pairs of vertices and triangles, and of edges, of a body that have no point in common and may be no further
        apart than a reach [m] at positions x (n, 3), near at rest or not."""
        return [pairs for pairs, _ in self._chosen(x, x, np.where(self.body == body, 0.5 * reach, -np.inf))]

    def least_distance(self, x: np.ndarray, pairs: list[np.ndarray], most: float) -> float:
        """The least distance [m] at positions x (n, 3) among pairs as of `pairs_within`, or `most` if none is less."""
        index = self.index
        return self.kernels.surfaces.least_distance(*pairs, x, index.vertices, index.triangles, index.edges, most)

    def _measured(self, x, key, nodes, weights) -> SurfaceContacts:
        """Contacts once each, with their geometry."""
        key, chosen = np.unique(key, return_index=True)
        count, index = len(key), self.index
        found = SurfaceContacts(
            key, nodes[chosen], weights[chosen], *(np.empty((count, 3)) for _ in range(3)), np.empty(count)
        )
        self.kernels.surfaces.contact_geometry(
            key,
            found.nodes,
            found.weights,
            x,
            index.triangles,
            index.vertex_start,
            index.vertex_triangles,
            index.edge_start,
            index.edge_triangles,
            found.first,
            found.second,
            found.normal,
            found.distance,
        )
        return found

    # ---- continuous detection

    def impacts(
        self, start: np.ndarray, end: np.ndarray, radius: np.ndarray, keep: float = KEEP, slack: float = SLACK
    ) -> Impacts:
        """Pairs that do not keep the distance of their radii (n,) [m] when all points move straight from start to end
        (n, 3) [m]; pairs that are closer at the start keep the part `keep` of that. See `impact_times`."""
        near = self._near("meet", start, end, radius)
        index, by_body, found = self.index, np.ones(len(self.allowed)), []
        for kind, own, pairs, nodes in zip((VERTEX_FACE, EDGE_EDGE), (1, 2), near.pairs, near.nodes):
            time = np.empty(len(nodes))
            self.kernels.continuous.impact_times(nodes, own, start, end, radius, keep, slack, time)
            hit = time < 1
            self.kernels.continuous.earliest_times(
                time[hit], self.body[nodes[hit, 0]], self.body[nodes[hit, own]], by_body
            )
            first = index.vertices[pairs[hit, 0]] if own == 1 else pairs[hit, 0]
            order = np.lexsort((pairs[hit, 1], first))
            found.append((np.full(len(first), kind), first[order], pairs[hit, 1][order], time[hit][order]))
        columns = [np.concatenate(column) for column in zip(*found)]
        return Impacts(*columns, float(columns[-1].min(initial=1.0)), by_body)

    # ---- pairs that may be near

    def _mean_edges(self) -> np.ndarray:
        """The mean length (n,) [m] of the edges of every point's body."""
        ends, count = self.index.edges, len(self.allowed)
        length, own = np.linalg.norm(self.rest[ends[:, 0]] - self.rest[ends[:, 1]], axis=1), self.body[ends[:, 0]]
        number = np.bincount(own, minlength=count)
        return (np.bincount(own, length, count) / np.maximum(number, 1))[self.body]

    def _near(self, name: str, start: np.ndarray, end: np.ndarray, margin: np.ndarray) -> _Near:
        """Pairs that may touch and may be nearer than their margins (n,) [m] on straight ways from start to end (n, 3):
        those of last time, as long as nothing has moved far. Which pairs there are beyond these changes nothing."""
        known, new, count = self._known.get(name), np.ones(len(start), bool), len(start)
        if start is not end and self._widest is not None:
            # places are mostly looked at where ways have just led, along which pairs are therefore looked for as widely
            margin = np.maximum(margin, self._widest)
        if known is not None:
            count = self._leaving(known, known.start, start, end, margin, new)
            if not count:
                return known
        if start is end:
            self._widest, known = margin, self._known.get("meet")
            count = len(start) if known is None else self._leaving(known, known.end, start, end, margin, new)
            if not count:
                return known
        margin = margin + self.skin
        if count <= MOST_NEW * len(start):
            first = known.end if start is end else known.start
            start, end = np.where(new[:, None], start, first), np.where(new[:, None], end, known.end)
            margin = np.where(new, margin, known.margin)
            chosen = self._chosen(start, end, margin, new)
            chosen = [self._with_kept(*one, new, *old) for one, *old in zip(chosen, known.pairs, known.nodes)]
        else:
            chosen = self._chosen(start, end, margin)
        pairs, nodes = zip(*chosen)
        self._known[name] = _Near(start.copy(), end.copy(), margin, list(pairs), list(nodes))
        return self._known[name]

    def _leaving(self, known: _Near, first: np.ndarray, start, end, margin: np.ndarray, out: np.ndarray) -> int:
        """Which points (n,) leave the ways from `first` (n, 3) along which pairs are known; how many."""
        return self.kernels.broad.leave_near(first, known.end, known.margin, start, end, margin, out)

    def _with_kept(self, pairs, nodes, new: np.ndarray, old_pairs, old_nodes) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (k, 2) and their nodes (k, 4), and those known before of which no point is new."""
        most = len(pairs) + len(old_pairs)
        all_pairs, all_nodes = np.empty((most, 2), np.int64), np.empty((most, 4), np.int64)
        count = self.kernels.nearness.keep_pairs(old_pairs, old_nodes, new, all_pairs, all_nodes)
        all_pairs[count : count + len(pairs)], all_nodes[count : count + len(pairs)] = pairs, nodes
        return all_pairs[: count + len(pairs)], all_nodes[: count + len(pairs)]

    def _chosen(
        self, start: np.ndarray, end: np.ndarray, margin: np.ndarray, new: np.ndarray | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of vertices with triangles, and of edges: pairs (k, 2) that may touch and may come nearer than their margins
        (n,) [m] on straight ways from start to end (n, 3), and their nodes (k, 4). What goes the same way comes no
        nearer: boxes at the start are compared, wider by the boxes of how their points move beside each other. new
        (n,): points of which one at least is in every pair."""
        new = np.ones(len(start), bool) if new is None else new
        sheets = [patches for body, patches in self.sheets.items() if self.allowed[body, body]]
        if not sheets:
            return self._of_trees(start, end, margin, new)
        parts = [self._collected(patches.near(start, end, margin, new)) for patches in sheets]
        others = self._without_sheets()
        if others is not None:
            parts.append(others._of_trees(start, end, margin, new))
        if len(parts) == 1:
            return parts[0]
        return [tuple(np.concatenate(column) for column in zip(*each)) for each in zip(*parts)]

    def _without_sheets(self) -> "Surfaces | None":
        """The same, but that no sheet with patches touches itself, with trees of its own; None if nothing else may
        touch. (Solids, which may, have no surfaces.)"""
        if self._others is None or self._others[0] is not self.allowed:
            other, own = copy(self), np.unique(self.body[self.index.vertices])
            other.allowed, other._trees, other._known, other._others = self.allowed.copy(), {}, {}, None
            for body in self.sheets:
                other.allowed[body, body] = False
            self._others = self.allowed, other if other.allowed[np.ix_(own, own)].any() else None
        return self._others[1]

    def _collected(self, found: list[Found]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of vertices with triangles, and of edges, and their nodes, from what tasks have written."""
        sides = (("vertices", "triangles"), ("edges", "edges"))
        return [
            self._in_rows(*each, self.members[one], self.members[other]) for each, (one, other) in zip(found, sides)
        ]

    def _in_rows(self, rows, room: int, counts: np.ndarray, first, second) -> tuple[np.ndarray, np.ndarray]:
        count = int(counts.sum())
        pairs, nodes = np.empty((count, 2), np.int64), np.empty((count, 4), np.int64)
        self.kernels.nearness.collect_pairs(rows, room, counts, first, second, pairs, nodes)
        return pairs, nodes

    def _of_trees(self, start, end, margin, new: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """As `_chosen`, by walks through the trees."""
        self.fit(start, start, margin)
        boxes, ways, none = {}, end - start, np.zeros(len(start))
        for name, members in self.members.items():
            low, high = np.empty((len(members), 3)), np.empty((len(members), 3))
            self.kernels.bvh.swept_boxes(ways, ways, members, none, low, high)
            boxes[name] = self._trees[name].moving(low, high, new, members)
        return [self._walked(boxes, "vertices", "triangles"), self._walked(boxes, "edges", "edges")]

    def _walked(self, boxes: dict, one: str, other: str) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of primitives of two kinds, and their nodes."""
        first, second = self.members[one], self.members[other]
        given = (boxes[one], boxes[other], one == other, first, second, self.body, self.allowed)
        kernels = self.kernels.nearness
        rows, counts = (
            self._rows.get(one, np.empty((MOST_TASKS * LEAST_ROOM, 2), np.int64)),
            np.empty(MOST_TASKS, np.int64),
        )
        room = len(rows) // MOST_TASKS
        most = kernels.near_pairs(*given, room, rows, counts)
        if most > room:
            room = most + most // 4
            rows = np.empty((MOST_TASKS * room, 2), np.int64)
            kernels.near_pairs(*given, room, rows, counts)
        self._rows[one] = rows
        return self._in_rows(rows, room, counts, first, second)

    # ---- trees

    def fit(self, start: np.ndarray, end: np.ndarray, margin: np.ndarray) -> None:
        """Let the trees hold all points on their straight ways from start to end (n, 3), wider by margin (n,) [m]."""
        alone = np.where(np.diagonal(self.allowed), -1, np.arange(len(self.allowed)))
        for name, members in self.members.items():
            low, high = np.empty((len(members), 3)), np.empty((len(members), 3))
            self.kernels.bvh.swept_boxes(start, end, members, margin, low, high)
            if name in self._trees:
                self._trees[name].follow(low, high)
            else:
                self._trees[name] = Tree(self.device, low, high, alone[self.body[members[:, 0]]])

    def tree(self, name: str) -> Tree:
        """The tree of the vertices, edges or triangles, as last fitted."""
        return self._trees[name]

    def pairs(self, first: str, second: str | None = None) -> np.ndarray:
        """Pairs (k, 2) of primitives whose boxes, as last fitted, overlap."""
        return self._trees[first].pairs(None if second is None else self._trees[second])


def _columns(room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for keys (k,), nodes (k, 4) and weights (k, 4) of contacts."""
    return np.empty(room, np.int64), np.empty((room, 4), np.int64), np.empty((room, 4))
