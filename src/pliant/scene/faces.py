"""The faces of a soft body: the triangles of its boundary, where the scene puts them."""

import numpy as np

from pliant.meshes.tri_mesh import area_vectors


class Faces:
    """The k boundary triangles of a soft body where the scene puts them.

    triangles: (k, 3) node indices, counter-clockwise seen from outside; centres: (k, 3) [m]; x, y, z: (k,), those of
    the centres [m]; normals: (k, 3) outward, of length 1; areas: (k,) [m2].
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray):
        corners = positions[triangles]
        vectors = area_vectors(positions, triangles)
        self.triangles = triangles
        # rounding must not move the centre of a face out of the plane x = 0.1 in which all its nodes lie
        self.centres = np.clip(corners.mean(axis=1), corners.min(axis=1), corners.max(axis=1))
        self.x, self.y, self.z = self.centres.T
        self.areas = np.linalg.norm(vectors, axis=1)
        self.normals = vectors / self.areas[:, None]

    def __len__(self) -> int:
        return len(self.triangles)

    def node_areas(self, nodes: np.ndarray) -> np.ndarray:
        """The area (j,) [m2] that belongs to each of some nodes (j,): a third of every face with all three of its
        nodes among them."""
        inside = np.isin(self.triangles, nodes).all(axis=1)
        thirds = np.repeat(self.areas[inside] / 3, 3)
        return np.bincount(self.triangles[inside].ravel(), weights=thirds, minlength=int(nodes.max()) + 1)[nodes]
