"""All triangulated surfaces of a scene: boundaries of soft bodies, and rigid meshes."""

from dataclasses import dataclass, field, replace

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.collide import EDGE_EDGE, VERTEX_FACE

# Part of its thickness that a surface keeps whatever happens: what is nearer has met.
CORE = 0.1
# Part of their first distance that may be left between surfaces that are said to meet.
LEFT = 1e-3


@dataclass
class Meshed:
    """Surfaces over one array of points: the n nodes of all soft bodies, then the vertices of rigid meshes.

    radius (p,) [m]: distance from the surface at which contacts act. size (p,) [m]: mean edge of a point's surface.
    thing (p,): what it belongs to. mesh_points (m, 3) [m] in principal frames, mesh_body (m,): of rigid meshes. cells:
    tets (m, 4) of things that are made of straight ones.
    """

    surfaces: Surfaces
    radius: np.ndarray
    size: np.ndarray
    thing: np.ndarray
    mesh_points: np.ndarray
    mesh_body: np.ndarray
    cells: dict[int, np.ndarray] = field(default_factory=dict)

    def without(self, pairs: np.ndarray) -> "Meshed":
        """The same, but that pairs (k, 2) of things do not touch."""
        return replace(self, surfaces=self.surfaces.without(pairs))

    def places(self, state) -> np.ndarray:
        """Where the points (p, 3) [m] are."""
        out = np.empty((len(self.mesh_body), 3))
        self.surfaces.device.collide.bodies.places_of_points(
            self.mesh_points, self.mesh_body, state.body_position, state.body_rotation, out
        )
        return np.concatenate([state.x, out]) if len(out) else state.x

    def velocities(self, state, x: np.ndarray) -> np.ndarray:
        """Velocities (p, 3) [m/s] of the points, which are at x."""
        body, n = self.mesh_body, len(state.x)
        if not len(body):
            return state.v
        arms = x[n:] - state.body_position[body]
        turning = np.cross(state.body_angular_velocity[body], arms)
        return np.concatenate([state.v, state.body_velocity[body] + turning])

    def __post_init__(self):
        self.apart = self.surfaces.without_themselves()

    def contacts(self, x: np.ndarray, reach: np.ndarray, soft_count: int, itself: bool) -> Contacts:
        """Contacts of points at x (p, 3) that are no further apart than their radii and reaches (p,) [m]; itself:
        whether of surfaces with themselves too."""
        found = (self.surfaces if itself else self.apart).contacts(x, self.radius, reach)
        n = len(self.thing) - len(self.mesh_body)
        own = np.abs(found.weights)
        radii = (own * self.radius[found.nodes]).sum(axis=1)
        edges = found.kind == EDGE_EDGE
        second = np.where(edges, found.nodes[:, 2], found.nodes[:, 1])
        things = np.stack([self.thing[found.nodes[:, 0]], self.thing[second]], axis=1)
        bodies = np.where(things >= soft_count, things - soft_count, -1)
        soft = (found.nodes < n) & (found.weights != 0.0)
        first, last = bodies[:, 0] < 0, bodies[:, 1] < 0
        point = 0.5 * (found.first + found.second)
        point = np.where(first[:, None], found.first, np.where(last[:, None], found.second, point))
        nodes, weights = np.where(soft, found.nodes, -1), np.where(soft, found.weights, 0.0)
        return Contacts(nodes, weights, bodies, things, point, found.normal, found.distance - radii, found.key)

    def meetings(self, start: np.ndarray, end: np.ndarray, itself: bool) -> tuple[np.ndarray, np.ndarray]:
        """Points (k, 4) of pairs of features whose surfaces meet on straight ways from start to end (p, 3), and the
        parts (k,) of these that they may go before; itself: whether surfaces may meet themselves."""
        met = (self.surfaces if itself else self.apart).impacts(start, end, CORE * self.radius, slack=LEFT)
        found, times, index = [np.zeros((0, 4), np.int64)], [np.zeros(0)], self.surfaces.index
        for kind, columns in (
            (VERTEX_FACE, (index.vertices, index.triangles)),
            (EDGE_EDGE, (index.edges, index.edges)),
        ):
            own = met.kind == kind
            first = met.first[own][:, None] if kind == VERTEX_FACE else columns[0][met.first[own]]
            found.append(np.hstack([first, columns[1][met.second[own]]]))
            times.append(met.time[own])
        return np.concatenate(found), np.concatenate(times)

    def times(self, start: np.ndarray, end: np.ndarray, itself: bool) -> np.ndarray:
        """The part (p,) of their straight way from start to end (p, 3) that points may go before their surfaces meet;
        1 for those that meet nothing. Rigid bodies go as a whole. itself: whether surfaces may meet themselves."""
        times, (nodes, found) = np.ones(len(start)), self.meetings(start, end, itself)
        np.minimum.at(times, nodes, found[:, None])
        n = len(self.thing) - len(self.mesh_body)
        for body in np.unique(self.mesh_body) if len(self.mesh_body) else ():
            times[n:][self.mesh_body == body] = times[n:][self.mesh_body == body].min()
        return times
