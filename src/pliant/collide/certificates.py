"""Cheap proofs that surfaces do not touch: boxes of bodies that are apart, shapes that have hardly changed, cells that
are hardly strained.

They only save work: where a proof fails, surfaces are looked at in full, and where it holds nothing would be found.
"""

from dataclasses import dataclass, field

import numpy as np

from pliant.collide.meshed import CORE, Meshed
from pliant.collide.unstrained import Together, Unstrained

# Distances within a body up to which contacts are looked for, in parts of its edges; the same of parts that may be near
# each other whatever they were at rest, and what must be left of it by deformation since then.
CLEARANCE, LISTED, STILL_LISTED = 0.5, 0.7, 0.35
# What is looked at: where bodies may touch, or from where they may meet on their way.
TOUCH, MEET = "touch", "meet"
OTHER = {TOUCH: MEET, MEET: TOUCH}
# Deformation, in parts of its edges, up to which a body that was too close to itself is not looked at again.
HARDLY = 0.2
# What a body has in credit at most, what a proof that needs no look earns, what looking at it costs, and what it gets
# back each time that it is not looked at for want of credit. Proofs of one that never keeps its shape, as a sheet that
# falls in folds, cost more than they save.
CREDIT, EARNED, PRICE, REST = 8.0, 1.0, 2.0, 1 / 16


@dataclass
class _Shape:
    """A shape (k, 3) [m] of a body, and how far [m] parts of it are apart that have no point in common; or pairs of
    such parts, of which all others are that far apart."""

    points: np.ndarray
    distance: float
    pairs: list[np.ndarray] = field(default_factory=list)


class Certificates:
    """Proofs for the surfaces of a scene."""

    def __init__(self, meshed: Meshed):
        self.meshed, self.kernels = meshed, meshed.surfaces.device.collide
        vertices = meshed.surfaces.index.vertices
        things = meshed.thing[vertices]
        order = np.argsort(things, kind="stable")
        self.vertices = vertices[order]
        self.things, self.starts = np.unique(things[order], return_index=True)
        self.ends = np.append(self.starts[1:], len(self.vertices))
        allowed = meshed.surfaces.allowed[np.ix_(self.things, self.things)]
        self.mutual = np.triu(allowed, 1)
        self.any_mutual = bool(self.mutual.any())
        self.itself = np.flatnonzero(np.diagonal(allowed))
        # shapes of bodies with what is near in them, with how far parts are apart, and how far those that may touch;
        # where steps start and where they lead there are different ones, but either may do for both
        self.listed: dict[tuple[str, int], _Shape] = {}
        self.known: dict[tuple[str, int], _Shape] = {}
        self.apart: dict[int, _Shape] = {}
        self.size = meshed.size[self.vertices[self.starts]]
        self.radius = self._most(meshed.radius)
        self.credit = np.full(len(self.things), CREDIT)
        self.unstrained: dict[int, Unstrained] = {}
        self.together: Together | None = None

    def may_touch(self, x: np.ndarray, reach: np.ndarray, within: np.ndarray | float) -> tuple[bool, bool]:
        """Whether any surfaces at x (p, 3) may be closer than their radii and reaches: to others, these (p,) [m], to
        themselves, those of whole things (t,) [m]."""
        others = self._boxes_meet(x, x, self.meshed.radius + reach)
        return others, not self.clear(x, self.radius + within)

    def may_cross(self, x: np.ndarray) -> tuple[bool, bool]:
        """Whether surfaces at x (p, 3), of which nothing is known yet, may pass through others, and through themselves:
        distances of vertices and edges are no proof, for edges may go through the middle of triangles."""
        itself = any(not self._hardly_strained(k, 0.0, x) for k in self.itself)
        return self._boxes_meet(x, x, np.zeros(len(x))), itself

    def straying(self, x: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """The largest speeds (t,) [m/s] of the points of things beside their rigid motions, where it matters."""
        out = np.zeros(len(self.things))
        for k in self.itself:
            out[k] = self.kernels.broad.largest_straying(x, velocities, self.vertices[self.starts[k] : self.ends[k]])
        return out

    def clear(self, x: np.ndarray, wide: np.ndarray | None = None, renew: bool = True) -> bool:
        """Whether no body at x (p, 3) may touch itself, parts of which are within twice `wide` (t,) [m], or its radius;
        renew: or is looked at anew."""
        wide = self.radius if wide is None else wide
        return all(self._alone(k, x, wide[k], renew) for k in self._not_proved(wide, x))

    def unstrained_between(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether no body comes near itself between x and y (p, 3) because cells are hardly strained there."""
        return all(self._hardly_strained(k, self.radius[k], x, y) for k in self._not_proved(self.radius, x, y))

    def _not_proved(self, wide: np.ndarray, *places: np.ndarray) -> np.ndarray:
        """Those of several bodies that may touch themselves of which one loop over all does not prove that they are
        hardly strained; wide (t,) [m]: as below."""
        itself = self.itself
        if len(itself) < 2 or any(int(self.things[k]) not in self.meshed.cells for k in itself):
            return itself
        if self.together is None:
            self.together = Together([self._proofs(k) for k in itself])
        return itself[~self.together.proved(2 * wide[itself], *places)]

    def _alone(self, k: int, x: np.ndarray, wide: float, renew: bool) -> bool:
        if self._hardly_strained(k, wide, x):
            return True
        return self._worth_it(k, renew) and (self._clear(k, x, wide, renew) or self._parts_apart(k, x, wide, renew))

    def _hardly_strained(self, k: int, wide: float, *places: np.ndarray) -> bool:
        """Whether cells of a body between places (p, 3) are so near to one rotation that no two parts of it, neighbours
        apart, are closer than twice `wide` [m]."""
        return int(self.things[k]) in self.meshed.cells and self._proofs(k).proves(2 * wide, *places)

    def _proofs(self, k: int) -> Unstrained:
        """Proofs for a body of straight tets."""
        if k not in self.unstrained:
            thing, surfaces = int(self.things[k]), self.meshed.surfaces
            triangles = surfaces.index.triangles
            boundary = triangles[self.meshed.thing[triangles[:, 0]] == thing]
            given = (self.meshed.cells[thing], self._own(k), boundary, surfaces.rest)
            self.unstrained[k] = Unstrained(surfaces.device, *given)
        return self.unstrained[k]

    def _worth_it(self, k: int, renew: bool = True) -> bool:
        """Whether proofs for a body have lately saved more than they cost; renew: it may have to be looked at. Of a
        sheet that is cut into patches these are proved one by one where pairs are looked for, which costs less."""
        if int(self.things[k]) in self.meshed.surfaces.sheets:
            return False
        if renew and self.credit[k] < 0.0:
            self.credit[k] += REST
            return False
        return True

    def may_meet(self, x: np.ndarray, y: np.ndarray) -> tuple[bool, bool]:
        """Whether any surfaces may meet others, or themselves, whose points go from x to y (p, 3)."""
        left = self._not_proved(CORE * self.radius, x, y)
        return self._boxes_meet(x, y, self.meshed.radius), any(self._may_meet_itself(k, x, y) for k in left)

    def _may_meet_itself(self, k: int, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether parts of a body may meet on its way from x to y (p, 3). What has passed through itself on the way may
        be clear at its end: start and end must be near one and the same shape, or rotation."""
        wide = CORE * self.radius[k]
        if self._hardly_strained(k, wide, x, y):
            return False
        if not self._worth_it(k):
            return True
        shapes = [self.known.get((name, k)) for name in (MEET, TOUCH)]
        if any(self._proved(one, k, x, wide) and self._proved(one, k, y, wide) for one in shapes):
            return False
        if shapes[0] is None or not np.array_equal(shapes[0].points, x[self._own(k)]):
            self._look(MEET, k, x)
        known = self.known[MEET, k]
        return not (known.distance > 2 * wide and self._proved(known, k, y, wide))

    def _most(self, values: np.ndarray) -> np.ndarray:
        return np.maximum.reduceat(values[self.vertices], self.starts)

    def _boxes_meet(self, x: np.ndarray, y: np.ndarray, wide: np.ndarray) -> bool:
        """Whether boxes of the ways from x to y (p, 3), wider by so much (p,) [m], of different things that may touch
        overlap."""
        if not self.any_mutual:
            return False
        count, broad = len(self.things), self.kernels.broad
        low, high, none = np.empty((count, 3)), np.empty((count, 3)), np.zeros(count)
        broad.boxes_of_things(x, y, wide, self.vertices, self.starts, low, high)
        return broad.boxes_meet(low, high, none, low, high, none, self.mutual)

    def _clear(self, k: int, x: np.ndarray, wide: float, renew: bool) -> bool:
        """Whether no two parts of a body are closer than twice `wide` [m], but for neighbours, near at rest or not;
        renew: or may be looked at anew."""
        proved = self._proved(self.known.get((TOUCH, k)), k, x, wide)
        if proved is None:
            proved = self._proved(self.known.get((MEET, k)), k, x, wide)
        if proved is None and renew:
            proved = self._look(TOUCH, k, x) > 2 * wide
        return bool(proved)

    def _parts_apart(self, k: int, x: np.ndarray, wide: float, renew: bool) -> bool:
        """The same of parts that were not near at rest."""
        proved = self._proved(self.apart.get(k), k, x, wide)
        if proved is None and renew:
            self.apart[k] = _Shape(x[self._own(k)].copy(), self._distance(k, x))
            proved = self.apart[k].distance > 2 * wide
        return bool(proved)

    def _own(self, k: int) -> np.ndarray:
        """The points of a thing."""
        return self.vertices[self.starts[k] : self.ends[k]]

    def _proved(self, known: _Shape | None, k: int, x: np.ndarray, wide: float) -> bool | None:
        """Whether a known shape proves that a body at x is clear, or is about as close to itself; None for neither."""
        if known is None:
            return None
        # whatever rigid motion is taken away, no distance has changed by more than twice the largest displacement
        change = 2 * self.kernels.misfit.largest_misfit(known.points, x, self._own(k))
        if known.distance - change > 2 * wide:
            self.credit[k] = min(self.credit[k] + EARNED, CREDIT)
            return True
        return False if known.distance <= 2 * wide and change < HARDLY * self.size[k] else None

    def _look(self, what: str, k: int, x: np.ndarray) -> float:
        """The least distance [m] of two parts of a body at x (p, 3) that have no point in common, or what it is at
        least; known from now on."""
        surfaces, own, size = self.meshed.surfaces, self._own(k), self.size[k]
        self.credit[k] -= PRICE
        for name in (what, OTHER[what]):
            near, left = self.listed.get((name, k)), 0.0
            if near is not None:
                left = near.distance - 2 * self.kernels.misfit.largest_misfit(near.points, x, own)
            if left >= STILL_LISTED * size:
                break
        else:
            left, thing = LISTED * size, self.things[k]
            near = self.listed[what, k] = _Shape(x[own].copy(), left, surfaces.pairs_within(x, thing, left))
        known = self.known[what, k] = _Shape(x[own].copy(), surfaces.least_distance(x, near.pairs, left))
        return known.distance

    def _distance(self, k: int, x: np.ndarray) -> float:
        """The least distance [m] of two parts of a body that are not neighbours and were not near at rest, as far as it
        is below its clearance."""
        thing, clearance = self.things[k], CLEARANCE * self.size[k]
        reach = np.where(self.meshed.thing == thing, 0.5 * clearance, -np.inf)
        found = self.meshed.surfaces.contacts(x, self.meshed.radius, reach, f"clear {k}")
        own = found.distance[self.meshed.thing[found.nodes[:, 0]] == thing]
        return min(clearance, float(own.min(initial=np.inf)), self._least_height(thing, x))

    def _least_height(self, thing: int, x: np.ndarray) -> float:
        """The least height [m] of a triangle of a body: parts that only a triangle separates are no contacts, and not
        nearer than that."""
        triangles = self.meshed.surfaces.index.triangles
        corners = x[triangles[self.meshed.thing[triangles[:, 0]] == thing]]
        sides = corners - np.roll(corners, 1, axis=1)
        area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        longest = np.sqrt((sides**2).sum(axis=2).max(axis=1))
        return float((area / np.maximum(longest, 1e-300)).min(initial=np.inf))
