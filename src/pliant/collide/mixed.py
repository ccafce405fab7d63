"""Surfaces against convex solids: nodes by signed distances, triangles and their sides by closest points."""

from copy import copy

import numpy as np

from pliant.collide.contacts import (
    FEATURE_BITS,
    KIND_PLACE,
    NODE_KIND,
    TRIANGLE_KIND,
    Contacts,
    joined,
    no_contacts,
)
from pliant.collide.meshed import Meshed
from pliant.collide.solids import Placed, Solids, contact_points
from pliant.kernels.collide import MOST_OF_TRIANGLE as MOST
from pliant.kernels.shapes import CONE, HULL
from pliant.rotations import lengths

# Primitives times bodies up to which all boxes are compared: quicker than fitting trees.
MOST_TESTS = 500_000


def _largest(values: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The largest (k,) of the values of three corners (k, 3); quicker than `max`."""
    return np.maximum(np.maximum(values[corners[:, 0]], values[corners[:, 1]]), values[corners[:, 2]])


class Mixed:
    """The surfaces and the solids of a scene, and which of them may touch."""

    def __init__(self, meshed: Meshed, solids: Solids, loose: np.ndarray):
        """loose (p,) bool: points of surfaces that something can move."""
        self.meshed, self.solids, self.loose = meshed, solids, loose
        self.index = meshed.surfaces.index
        thickness = solids.things.thickness[meshed.thing]
        # signed distances need no thickness
        self.radius = np.where(np.isnan(thickness), 0.0, thickness)
        self.single, self.found = contact_points(8), contact_points(MOST + 8)
        # signed distances of these are not known
        self.cornered = bool(np.isin(solids.code, (CONE, HULL)).any())
        vertices = self.index.vertices
        order = np.argsort(meshed.thing[vertices], kind="stable")
        self.order = vertices[order]
        own, self.starts = np.unique(meshed.thing[self.order], return_index=True)
        pairs = np.meshgrid(own, solids.things.soft_count + solids.convex, indexing="ij")
        self.both = solids.things.may_touch(*(side.ravel() for side in pairs)).reshape(pairs[0].shape)
        self.every, self.room = np.arange(len(meshed.thing))[:, None], np.empty((256, 2), np.int64)

    def with_surfaces(self, meshed: Meshed) -> "Mixed":
        """The same with other surfaces."""
        return Mixed(meshed, self.solids, self.loose)

    def with_solids(self, solids: Solids) -> "Mixed":
        """The same with solids that are others in their sizes alone."""
        other = copy(self)
        other.solids = solids
        return other

    def contacts(
        self, placed: Placed, x: np.ndarray, reach: np.ndarray, body_reach: np.ndarray, spare: float
    ) -> Contacts:
        """Contacts of points at x (p, 3) with solids that are no further apart than their reaches (p,), (b,) [m].
        spare: those of triangles that are deeper than a corner by no more than this part of the radius there are left
        to the corners, if all three touch."""
        solids = self.solids
        low, high = solids.boxes(placed, body_reach)
        points, triangles, wide = self._plane_pairs(placed, x, reach), None, self.radius + reach
        if self._boxes_meet(x, x, wide, low, high):
            near = self._near(("vertices", "triangles"), x, x, wide, low, high)
            points, triangles = np.concatenate([points, near[0]]), near[1]
        found = self._nodes(placed, x, reach, body_reach, points)
        if triangles is None:
            return found
        inside = self._triangles(placed, x, reach, body_reach, triangles)
        return joined([found, inside.these(~self._spared(inside, found, spare)) if spare > 0.0 else inside])

    def _spared(self, inside: Contacts, corners: Contacts, spare: float) -> np.ndarray:
        """Which contacts (k,) of triangles of soft bodies those of their corners will do for."""
        names, out = corners.key & ((1 << KIND_PLACE) - 1), np.empty(len(inside), bool)
        order = np.argsort(names)
        sides = (inside.node, inside.body, inside.gap, names[order], corners.gap[order])
        self.solids.kernels.mixed.mark_spared(*sides, self.radius, spare, out)
        return out

    def _boxes_meet(self, x: np.ndarray, y: np.ndarray, wide: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether the box of a surface, whose points go from x to y (p, 3), wider by so much (p,) [m], and one of those
        around convex bodies, low, high (b, 3), overlap where both may touch."""
        convex, broad, count = self.solids.convex, self.solids.kernels.broad, len(self.starts)
        if not len(convex):
            return False
        lowest, highest = np.empty((count, 3)), np.empty((count, 3))
        broad.boxes_of_things(x, y, wide, self.order, self.starts, lowest, highest)
        none = (np.zeros(count), np.zeros(len(convex)))
        return broad.boxes_meet(lowest, highest, none[0], low[convex], high[convex], none[1], self.both)

    def _near(self, names: tuple, x: np.ndarray, y: np.ndarray, wide: np.ndarray, low, high) -> list[np.ndarray]:
        """Of each kind of primitives pairs (k, 2) of these, points by their own numbers, and bodies that may touch, of
        which the boxes of ways from x to y (p, 3), wider by so much (p,) [m], and low, high (b, 3) overlap; sorted."""
        surfaces, convex, tree = self.meshed.surfaces, self.solids.convex, None
        found = []
        for name in names:
            members = surfaces.members[name]
            if len(members) * len(convex) <= MOST_TESTS:
                found.append(self._tested(members, x, y, wide, low, high))
                continue
            if tree is None:
                surfaces.fit(x, y, wide)
                tree = self.solids.fit(low, high)
            pairs = self._allowed(surfaces.tree(name).pairs(tree), members, convex)
            if members.shape[1] == 1:
                pairs[:, 0] = members[pairs[:, 0], 0]
            found.append(pairs)
        return found

    def _tested(self, members: np.ndarray, x, y, wide: np.ndarray, low, high) -> np.ndarray:
        """As `_near`, each primitive with each body."""
        kernel, convex = self.solids.kernels.broad.members_near, self.solids.convex
        numbers = (self.meshed.thing, self.loose, self.solids.things.soft_count, low, high, convex)
        arguments = (self.solids.things.manners, x, y, wide, members, *numbers)
        count = kernel(*arguments, self.room)
        if count > len(self.room):
            self.room = np.empty((count + count // 4, 2), np.int64)
            kernel(*arguments, self.room)
        return self.room[:count].copy()

    def _plane_pairs(self, placed: Placed, x: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of points and planes that are within reach and may touch."""
        solids, points = self.solids, self.meshed.surfaces.members["vertices"]
        if not len(solids.planes):
            return np.zeros((0, 2), np.int64)
        pairs = np.empty((len(points) * len(solids.planes), 2), np.int64)
        numbers = (self.meshed.thing, self.loose, solids.things.soft_count, solids.planes)
        arguments = (solids.things.manners, x, points, reach + self.radius, *numbers)
        return pairs[: solids.kernels.broad.points_at_planes(*arguments, *solids.plane_equations(placed), pairs)]

    def _allowed(self, pairs: np.ndarray, members: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of primitives, with nodes members (m, 1 or 3), and bodies that may touch, sorted, from pairs of
        primitives and entries of `bodies`; nothing can part what is held still from a body that stays."""
        solids, keys, things = self.solids, np.empty(len(pairs), np.int64), self.solids.things
        numbers = (bodies, self.meshed.thing, self.loose, things.soft_count, len(solids.code))
        count = solids.kernels.broad.keys_of_pairs(things.manners, pairs, members, *numbers, keys)
        keys = np.sort(keys[:count])
        return np.stack([keys // len(solids.code), keys % len(solids.code)], axis=1)

    def _nodes(self, placed: Placed, x, reach, body_reach, pairs: np.ndarray) -> Contacts:
        """Contacts of points."""
        solids, count = self.solids, len(pairs)
        if not count:
            return no_contacts()
        together = reach[pairs[:, 0]] + body_reach[pairs[:, 1]]
        which, normal, gap = answers = np.empty(count, np.int64), np.empty((count, 3)), np.empty(count)
        points, kernels, pose = (pairs, x, self.radius, together), solids.kernels.mixed, (placed.origin, placed.frame)
        if self.cornered:
            work = (solids.scratch, self.single)
            count = kernels.nodes_against_solids(*points, *solids.shapes, *pose, *work, *answers)
        else:
            count = kernels.nodes_against_shapes(*points, solids.code, solids.parameter, *pose, *answers)
        names = (NODE_KIND << KIND_PLACE, 24, 0)
        alone, nothing = np.ones((count, 1)), np.zeros(count, np.int64)
        return self._sided(pairs, which[:count], self.every, alone, nothing, x, names, normal[:count], gap[:count])

    def _triangles(self, placed: Placed, x, reach, body_reach, pairs: np.ndarray) -> Contacts:
        """Contacts inside triangles and on their sides."""
        solids, index, room = self.solids, self.index, MOST * len(pairs)
        if not len(pairs):
            return no_contacts()
        together = _largest(reach, index.triangles[pairs[:, 0]]) + body_reach[pairs[:, 1]]
        which, feature = np.empty(room, np.int64), np.empty(room, np.int64)
        weight, normal, gap = np.empty((room, 3)), np.empty((room, 3)), np.empty(room)
        surface = (index.triangles, index.triangle_edges, index.edge_start, index.edge_triangles)
        answers, kernels = (which, weight, normal, gap, feature), solids.kernels.mixed
        arguments = (pairs, x, *surface, self.radius, together)
        if solids.only_spheres:
            count = kernels.triangles_against_spheres(*arguments, solids.parameter, placed.origin, *answers)
        else:
            shapes = (*solids.shapes, placed.origin, placed.frame, solids.scratch, self.found)
            count = kernels.triangles_against_solids(*arguments, *shapes, *answers)
        names = (TRIANGLE_KIND << KIND_PLACE, 34, FEATURE_BITS)
        given = (index.triangles, weight[:count], feature[:count], x, names)
        return self._sided(pairs, which[:count], *given, normal[:count], gap[:count])

    def _sided(self, pairs, which, members, share, feature, x, names: tuple, normal, gap) -> Contacts:
        """Contacts whose first side are nodes of soft bodies, or a rigid mesh; see `write_sides`."""
        count, softs = len(which), self.solids.things.soft_count
        out = Contacts(
            np.empty((count, 4), np.int64),
            np.empty((count, 4)),
            np.empty((count, 2), np.int64),
            np.empty((count, 2), np.int64),
            np.empty((count, 3)),
            normal,
            gap,
            np.empty(count, np.int64),
        )
        columns = (out.node, out.weight, out.body, out.thing, out.point, out.key)
        given = (pairs, which, members, share, feature, x, self.meshed.thing, softs, names)
        self.solids.kernels.sides.write_sides(*given, *columns)
        return out

    def times(self, start, ends: np.ndarray, x: np.ndarray, motion, turn, low, high) -> tuple[np.ndarray, np.ndarray]:
        """The parts of their ways from x to ends (p, 3), and of their motions and turns (b, 3), that points and bodies
        may go before the core of a solid is met; low, high (b, 3): boxes of the bodies' whole ways."""
        solids = self.solids
        of_points, of_bodies = np.ones(len(x)), np.ones(len(solids.code))
        ways, thin = lengths(ends - x), 0.25 * solids.depth
        turned = np.linalg.norm(motion, axis=1) + np.linalg.norm(turn, axis=1) * np.minimum(solids.radius, 1e30)
        if not np.any((ways.max(initial=0.0) + turned > thin)[solids.convex]):
            return of_points, of_bodies
        none = np.zeros(len(x))
        if not self._boxes_meet(x, ends, none, low, high):
            return of_points, of_bodies
        pairs = self._near(("triangles",), x, ends, none, low, high)[0]
        gone = _largest(ways, self.index.triangles[pairs[:, 0]])
        fast = gone + turned[pairs[:, 1]] > thin[pairs[:, 1]]
        pairs = np.ascontiguousarray(pairs[fast])
        found = np.empty(len(pairs))
        bodies = (start.body_position, start.body_rotation, solids.principal, solids.centre)
        shapes = (*solids.cores, bodies, motion, turn, solids.radius, solids.scratch)
        solids.kernels.advance.triangle_times(pairs, self.index.triangles, x, ends, *shapes, found)
        np.minimum.at(of_points, self.index.triangles[pairs[:, 0]], found[:, None])
        np.minimum.at(of_bodies, pairs[:, 1], found)
        return of_points, of_bodies
