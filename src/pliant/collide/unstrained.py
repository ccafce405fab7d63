"""Proofs that soft bodies cannot touch themselves, by how far their cells are from one rotation.

Let a body be convex at rest, and its deformation gradients F all within e < 1 of one rotation R. The straight way from
one of its points X to another one Y lies inside, so x(Y) - x(X), the integral of F along it, is within e |Y - X| of
R (Y - X): no distance is less than 1 - e of what it was at rest. And two parts of its boundary that have no vertex in
common are at rest no nearer than the narrowest cell is wide: the barycentric coordinates of the vertices of one part
sum up to 1 there and to 0 on the other, and in no cell does that sum fall faster than from one side to the other.
"""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from pliant.kernels.device import Device
from pliant.rotations import nearest_rotation

# Distances from the hull and parts of its volume, relative to the size, within which a body is convex.
FLAT, FULL = 1e-9, 1e-9
# Most products of triangles with planes of the hull that are looked at to find out.
MOST_PRODUCTS = 20_000_000
# Most cells: of more, looking at the boundary alone costs less.
MOST_CELLS = 4000
# How often a proof that has failed is not tried again.
PATIENCE = 8


class Unstrained:
    """Proofs for one body of tets with four nodes: cells (m, 4) over points, its own among them (k,), which lie at
    rest (p, 3) [m]; triangles (t, 3) of its boundary."""

    def __init__(self, device: Device, cells: np.ndarray, own: np.ndarray, triangles: np.ndarray, rest: np.ndarray):
        self.kernels, self.cells = device.collide.strain, np.ascontiguousarray(cells)
        self.gradients = np.zeros((len(cells), 4, 3))
        self.known = []  # places (p, 3) [m] where the strain was found last, and what it was
        self.width, self.wait, self.rotation = 0.0, 0, np.eye(3)  # nothing is proved of bodies without a width
        edges = rest[cells[:, 1:]] - rest[cells[:, :1]] if len(cells) <= MOST_CELLS else np.zeros((0, 3, 3))
        volume = np.linalg.det(edges) / 6
        volume *= np.sign(volume.sum())
        if not len(volume) or not volume.min() > 0.0 or not _convex(rest, own, triangles, volume):
            return
        gradients = np.empty((len(cells), 4, 3))
        gradients[:, 1:] = np.swapaxes(np.linalg.inv(edges), 1, 2)  # of the last three barycentric coordinates
        gradients[:, 0] = -gradients[:, 1:].sum(axis=1)
        self.gradients = gradients
        self.nodes, place = np.unique(cells, return_inverse=True)
        self.shares = np.zeros((len(self.nodes), 3))  # of places in the sum of all F, by volume
        np.add.at(self.shares, place.ravel(), (volume[:, None, None] * gradients).reshape(-1, 3))
        two = gradients[:, 1:] + gradients[:, :1]
        self.width = 1.0 / max(np.linalg.norm(part, axis=2).max() for part in (gradients, two))

    def proves(self, least: float, *places: np.ndarray) -> bool:
        """Whether no two parts of the body that have no vertex in common are closer than `least` [m] on straight ways
        between places (p, 3) [m] of all points."""
        if not self.width > least:
            return False
        if self.wait:
            self.wait -= 1
            return False
        if self._near_rotation(least, places):  # any rotation will do, and the last one mostly does
            return True
        turned = sum(np.einsum("pi,pj->ij", x[self.nodes], self.shares) for x in places)
        self.rotation[:] = nearest_rotation(turned)
        self.known = []
        proved = self._near_rotation(least, places)
        self.wait = 0 if proved else PATIENCE
        return proved

    def _near_rotation(self, least: float, places: tuple[np.ndarray, ...]) -> bool:
        """Whether the rotation at hand proves it; not if anything is not finite."""
        return all((1.0 - self._strain(x)) * self.width > least for x in places)

    def _strain(self, x: np.ndarray) -> float:
        """The largest strain at places x (p, 3), seen in the rotation at hand; where a step ends, the next one begins,
        and both are asked for again."""
        strain = next((known for places, known in self.known if places is x or np.array_equal(places, x)), None)
        if strain is None:
            strain = self.kernels.largest_strain(x, self.cells, self.gradients, self.rotation)
        self.known = [(x, strain), *(each for each in self.known if each[0] is not x)][:2]
        return strain


class Together:
    """Proofs for several bodies in one loop, by the rotations at hand, which are shared with those of each alone."""

    def __init__(self, bodies: list[Unstrained]):
        self.bodies, self.kernels = bodies, bodies[0].kernels
        self.width = np.array([body.width for body in bodies])
        self.cells = np.concatenate([body.cells for body in bodies])
        self.gradients = np.concatenate([body.gradients for body in bodies])
        self.first = np.cumsum([0, *(len(body.cells) for body in bodies)])
        self.rotation = np.stack([body.rotation for body in bodies])
        for body, own in zip(bodies, self.rotation):
            body.rotation = own
        self.known = []  # places (p, 3) [m], rotations and strains there, which are no numbers where not asked for

    def proved(self, least: np.ndarray, *places: np.ndarray) -> np.ndarray:
        """Of which bodies (k,) `Unstrained.proves` would say so at once, with distances `least` (k,) [m]."""
        asked = (self.width > least) & np.array([not body.wait for body in self.bodies])
        for x in places:
            asked &= (1.0 - self._strains(x, asked)) * self.width > least
        return asked

    def _strains(self, x: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Largest strains (k,) at places x (p, 3), of those asked for (k,)."""
        same = (known for known in self.known if known[0] is x or np.array_equal(known[0], x))
        known = next((one for one in same if np.array_equal(one[1], self.rotation)), None)
        rotation, strains = known[1:] if known else (self.rotation.copy(), np.full(len(asked), np.nan))
        missing = asked & np.isnan(strains)
        self.kernels.largest_strains(x, self.cells, self.gradients, self.first, self.rotation, missing, strains)
        self.known = [(x, rotation, strains), *(each for each in self.known if each[2] is not strains)][:2]
        return strains


def _convex(rest: np.ndarray, own: np.ndarray, triangles: np.ndarray, volume: np.ndarray) -> bool:
    """Whether upright cells of these volumes (m,) [m3] fill the convex hull of their points once: their boundary is
    that of the hull, and their volume too."""
    try:
        hull = ConvexHull(rest[own])
    except (QhullError, ValueError):
        return False
    if len(hull.equations) * len(triangles) > MOST_PRODUCTS:
        return False
    corners = rest[triangles]
    points = np.concatenate([corners.mean(axis=1), *np.swapaxes(corners, 0, 1)])
    inside = -(points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    flat = inside.max() <= FLAT * np.ptp(rest[own], axis=0).max()
    return bool(flat and abs(volume.sum() - hull.volume) <= FULL * hull.volume)
