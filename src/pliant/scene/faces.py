"""The nodes and the faces of a soft body, the triangles of its boundary, where the scene puts them."""

import numpy as np

from pliant.checks import numbers
from pliant.meshes.checks import freeze
from pliant.meshes.face_rules import area_loads, node_shares, six_node_shapes


class Nodes:
    """The nodes of a soft body where the scene puts them: `.x`, `.y`, `.z` (n,) and `.positions` (n, 3) [m]."""

    def __init__(self, positions: np.ndarray):
        self.positions = freeze(numbers(positions, "positions", ((None, 3),), "an array (n, 3)"))
        self.x, self.y, self.z = self.positions.T

    def __len__(self) -> int:
        return len(self.positions)


class Faces:
    """The k boundary faces of a soft body where the scene puts them.

    triangles: (k, 3) their corners, counter-clockwise seen from outside; elements: (k, 3), or (k, 6) with the midpoints
    of ab, bc, ca for tets of ten nodes; centres: (k, 3) [m]; x, y, z: (k,), those of the centres [m]; normals: (k, 3)
    outward, of length 1, the mean of a curved face; areas: (k,) [m2]; shares (k, 3 or 6) [m2]: the area that belongs to
    each node, a third to each of three, and to the midpoints alone of six on a straight face.
    """

    def __init__(self, positions: np.ndarray, elements: np.ndarray):
        nodes = positions[elements]
        self.elements, self.triangles = elements, elements[:, :3]
        middle = np.full((1, 3), 1 / 3)
        weights = middle[0] if elements.shape[1] == 3 else six_node_shapes(middle)[0][0]
        # rounding must not move the centre of a face out of the plane x = 0.1 in which all its nodes lie
        self.centres = np.clip(np.einsum("kai,a->ki", nodes, weights), nodes.min(axis=1), nodes.max(axis=1))
        self.x, self.y, self.z = self.centres.T
        self.shares = node_shares(positions, elements)
        self.areas = self.shares.sum(axis=1)
        vectors = area_loads(positions, elements).sum(axis=1)
        self.normals = vectors / np.linalg.norm(vectors, axis=1)[:, None]
        for array in vars(self).values():
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.elements)

    def node_areas(self, nodes: np.ndarray) -> np.ndarray:
        """The area (j,) [m2] that belongs to each of some nodes (j,), of the faces with all their nodes among them."""
        inside = np.isin(self.elements, nodes).all(axis=1)
        return self.spread(np.flatnonzero(inside), int(nodes.max()) + 1)[nodes]

    def spread(self, faces: np.ndarray, count: int) -> np.ndarray:
        """The area (count,) [m2] of some faces (j,) that belongs to each node."""
        return np.bincount(self.elements[faces].ravel(), weights=self.shares[faces].ravel(), minlength=count)
