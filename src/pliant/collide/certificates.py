"""Cheap proofs that surfaces do not touch: boxes of bodies that are apart, shapes that have hardly changed.

They only save work: where a proof fails, surfaces are looked at in full, and where it holds nothing would be found.
"""

import numpy as np

from pliant.collide.meshed import CORE, Meshed

# Distances within a body up to which they are looked for, in parts of its edges.
CLEARANCE = 0.5
# What is proved: that nothing is near enough for contacts, of which parts that were near at rest are none; or that
# nothing has met on the way from a shape, contacts or not.
TOUCH, MEET = "touch", "meet"
# Deformation, in parts of its edges, up to which a body that was too close to itself is not looked at again.
HARDLY = 0.2


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
        # shapes of bodies, and how far [m] parts of them were apart
        self.known: dict[tuple[str, int], tuple[np.ndarray, float]] = {}
        self.size = meshed.size[self.vertices[self.starts]]
        self.radius = self._most(meshed.radius)

    def may_touch(self, x: np.ndarray, reach: np.ndarray, within: np.ndarray | float) -> tuple[bool, bool]:
        """Whether any surfaces at x (p, 3) may be closer than their radii and reaches: to others, these (p,) [m], to
        themselves, those of whole things (t,) [m]."""
        others = self._boxes_meet(x, x, self.meshed.radius + reach)
        return others, self._may_touch_itself(TOUCH, x, self.radius + within)

    def straying(self, x: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """The largest speeds (t,) [m/s] of the points of things beside their rigid motions, where it matters."""
        out = np.zeros(len(self.things))
        for k in self.itself:
            out[k] = self.kernels.broad.largest_straying(x, velocities, self.vertices[self.starts[k] : self.ends[k]])
        return out

    def clear(self, x: np.ndarray, renew: bool = True) -> bool:
        """Whether no body at x (p, 3) may touch itself; renew: or is looked at anew."""
        return not self._may_touch_itself(TOUCH, x, self.radius, renew)

    def may_meet(self, x: np.ndarray, y: np.ndarray) -> tuple[bool, bool]:
        """Whether any surfaces may meet others, or themselves, whose points go from x to y (p, 3)."""
        others = self._boxes_meet(x, y, self.meshed.radius)
        # what has passed through itself on the way may be clear at its end: that must follow from the start
        wide = CORE * self.radius
        return others, self._may_touch_itself(MEET, x, wide) or self._may_touch_itself(MEET, y, wide, renew=False)

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

    def _may_touch_itself(self, what: str, x: np.ndarray, wide: np.ndarray, renew: bool = True) -> bool:
        return any(not self._clear(what, int(k), x, wide[k], renew) for k in self.itself)

    def _clear(self, what: str, k: int, x: np.ndarray, wide: float, renew: bool) -> bool:
        """Whether no two parts of a body are closer than twice `wide` [m], but for neighbours; renew: or may be looked
        at anew."""
        own = self.vertices[self.starts[k] : self.ends[k]]
        known, distance = self.known.get((what, k), (None, 0.0))
        if known is not None:
            # whatever rigid motion is taken away, no distance has changed by more than twice the largest displacement
            change = 2 * self.kernels.misfit.largest_misfit(known, x, own)
            if distance - change > 2 * wide:
                return True
            if distance <= 2 * wide and change < HARDLY * self.size[k]:
                return False
        if not renew:
            return False
        self.known[what, k] = x[own].copy(), self._distance(what, k, x)
        return self.known[what, k][1] > 2 * wide

    def _distance(self, what: str, k: int, x: np.ndarray) -> float:
        """The least distance [m] of two parts of a body that are not neighbours, as far as it is below its
        clearance."""
        thing, clearance = self.things[k], CLEARANCE * self.size[k]
        if what == MEET:  # all parts, for what is no contact may meet nevertheless
            return self.meshed.surfaces.least_distance(x, thing, clearance)
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
