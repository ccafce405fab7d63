"""Surfaces against convex solids: nodes by signed distances, triangles and their sides by closest points."""

import numpy as np

from pliant.collide.contacts import (
    FEATURE_BITS,
    KIND_PLACE,
    NODE_KIND,
    TRIANGLE_KIND,
    Contacts,
    against_body,
    between_bodies,
    joined,
    no_contacts,
)
from pliant.collide.meshed import Meshed
from pliant.collide.solids import Placed, Solids, contact_points
from pliant.kernels.collide import MOST_OF_TRIANGLE as MOST
from pliant.kernels.shapes import CONE, HULL


class Mixed:
    """The surfaces and the solids of a scene, and which of them may touch."""

    def __init__(self, meshed: Meshed, solids: Solids, loose: np.ndarray):
        """loose (p,) bool: points of surfaces that something can move."""
        self.meshed, self.solids, self.loose = meshed, solids, loose
        self.index = meshed.surfaces.index
        thickness = solids.things.thickness[meshed.thing]
        # signed distances need no thickness
        self.radius = np.where(np.isnan(thickness), 0.0, thickness)
        self.single, self.found = contact_points(8), contact_points(MOST)
        things, vertices = solids.things, self.index.vertices
        order = np.argsort(meshed.thing[vertices], kind="stable")
        self.order = vertices[order]
        own, self.starts = np.unique(meshed.thing[self.order], return_index=True)
        pairs = np.meshgrid(own, things.soft_count + solids.convex, indexing="ij")
        self.both = things.may_touch(*(side.ravel() for side in pairs)).reshape(pairs[0].shape)

    def with_surfaces(self, meshed: Meshed) -> "Mixed":
        """The same with other surfaces."""
        return Mixed(meshed, self.solids, self.loose)

    def contacts(self, placed: Placed, x: np.ndarray, reach: np.ndarray, body_reach: np.ndarray) -> Contacts:
        """Contacts of points at x (p, 3) with solids that are no further apart than their reaches (p,), (b,) [m]."""
        meshed, solids = self.meshed, self.solids
        low, high = solids.boxes(placed, body_reach)
        parts = [self._nodes(placed, x, reach, body_reach, self._plane_pairs(placed, x, reach))]
        if self._boxes_meet(x, x, self.radius + reach, low, high):
            meshed.surfaces.fit(x, x, self.radius + reach)
            tree = solids.fit(low, high)
            points = self._points(meshed.surfaces.tree("vertices").pairs(tree), solids.convex)
            parts.append(self._nodes(placed, x, reach, body_reach, points))
            parts.append(self._triangles(placed, x, reach, body_reach, self._triangle_pairs(tree)))
        return joined(parts)

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

    def _triangle_pairs(self, tree) -> np.ndarray:
        """Pairs (k, 2) of triangles and bodies whose boxes overlap, and that may touch; sorted."""
        pairs = self.meshed.surfaces.tree("triangles").pairs(tree)
        return self._allowed(pairs, self.index.triangles, self.solids.convex)

    def _plane_pairs(self, placed: Placed, x: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of points and planes that are within reach."""
        solids, planes, vertices = self.solids, self.solids.planes, self.index.vertices
        if not len(planes):
            return np.zeros((0, 2), np.int64)
        normals, heights = solids.plane_equations(placed)
        pairs = np.empty((len(vertices) * len(planes), 2), np.int64)
        count = solids.kernels.broad.points_at_planes(x, vertices, reach + self.radius, normals, heights, pairs)
        return self._points(pairs[:count], planes)

    def _points(self, pairs: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of points and bodies that may touch, from pairs of their numbers."""
        found = self._allowed(pairs, self.meshed.surfaces.members["vertices"], bodies)
        found[:, 0] = self.index.vertices[found[:, 0]]
        return found

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
        if np.isin(solids.code, (CONE, HULL)).any():
            work = (solids.scratch, self.single)
            count = kernels.nodes_against_solids(*points, *solids.shapes, *pose, *work, *answers)
        else:
            count = kernels.nodes_against_shapes(*points, solids.code, solids.parameter, *pose, *answers)
        node, body = pairs[which[:count]].T
        key = (np.int64(NODE_KIND) << KIND_PLACE) | (node << 24) | body
        return self._sided(node[:, None], np.ones((count, 1)), body, x[node], normal[:count], gap[:count], key)

    def _triangles(self, placed: Placed, x, reach, body_reach, pairs: np.ndarray) -> Contacts:
        """Contacts inside triangles and on their sides."""
        solids, index, room = self.solids, self.index, MOST * len(pairs)
        if not len(pairs):
            return no_contacts()
        together = reach[index.triangles[pairs[:, 0]]].max(axis=1) + body_reach[pairs[:, 1]]
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
        triangle, body = pairs[which[:count]].T
        nodes, share = index.triangles[triangle], weight[:count]
        key = (np.int64(TRIANGLE_KIND) << KIND_PLACE) | (triangle << 34) | (body << FEATURE_BITS) | feature[:count]
        point = (share[:, :, None] * x[nodes]).sum(axis=1)
        return self._sided(nodes, share, body, point, normal[:count], gap[:count], key)

    def _sided(self, nodes, share, body, point, normal, gap, key) -> Contacts:
        """Contacts whose first side are nodes of soft bodies, or a rigid mesh."""
        softs = self.solids.things.soft_count
        thing = self.meshed.thing[nodes[:, 0]]
        soft = thing < softs
        of_soft = against_body(
            nodes[soft], share[soft], thing[soft], body[soft], softs, (point[soft], normal[soft], gap[soft]), key[soft]
        )
        of_mesh = between_bodies(
            thing[~soft] - softs, body[~soft], softs, (point[~soft], normal[~soft], gap[~soft]), key[~soft]
        )
        return joined([of_soft, of_mesh])

    def times(self, start, ends: np.ndarray, x: np.ndarray, motion, turn, low, high) -> tuple[np.ndarray, np.ndarray]:
        """The parts of their ways from x to ends (p, 3), and of their motions and turns (b, 3), that points and bodies
        may go before the core of a solid is met; low, high (b, 3): boxes of the bodies' whole ways."""
        solids, meshed = self.solids, self.meshed
        of_points, of_bodies = np.ones(len(x)), np.ones(len(solids.code))
        if not self._boxes_meet(x, ends, np.zeros(len(x)), low, high):
            return of_points, of_bodies
        meshed.surfaces.fit(x, ends, np.zeros(len(x)))
        pairs = self._triangle_pairs(solids.fit(low, high))
        gone = np.linalg.norm(ends - x, axis=1)[self.index.triangles[pairs[:, 0]]].max(axis=1, initial=0.0)
        turned = np.linalg.norm(motion, axis=1) + np.linalg.norm(turn, axis=1) * np.minimum(solids.radius, 1e30)
        fast = gone + turned[pairs[:, 1]] > 0.25 * solids.depth[pairs[:, 1]]
        pairs = np.ascontiguousarray(pairs[fast])
        found = np.empty(len(pairs))
        bodies = (start.body_position, start.body_rotation, solids.principal, solids.centre)
        shapes = (*solids.cores, bodies, motion, turn, solids.radius, solids.scratch)
        solids.kernels.advance.triangle_times(pairs, self.index.triangles, x, ends, *shapes, found)
        np.minimum.at(of_points, self.index.triangles[pairs[:, 0]], found[:, None])
        np.minimum.at(of_bodies, pairs[:, 1], found)
        return of_points, of_bodies
