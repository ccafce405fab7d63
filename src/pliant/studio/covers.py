"""What the page draws of a soft body: triangles whose points are nodes of the body, or follow some of them."""

import numpy as np

from pliant.meshes.topology import TET_FACES
from pliant.output.skins import Skin

NO_FACE = 0xFFFFFFFF
"""In place of the number of a face: a triangle inside a body that is cut open."""


class Cover:
    """Triangles (m, 3) between p points; nodes (k,) of the body that they need; faces (m,), of which boundary face each
    triangle is a part, or NO_FACE.

    Points are the nodes themselves, or, of a drawing, mean values of some of them: held (p, q), their places in
    `nodes`, and weights (p, q).
    """

    def __init__(self, body, skin: Skin, cut: tuple[np.ndarray, float] | None):
        self.held = self.weights = None
        if cut is not None:
            triangles, self.faces = _cut_open(body, *cut)
            self.nodes, triangles = np.unique(triangles, return_inverse=True)
            self.triangles = triangles.reshape(-1, 3)
        elif skin.embedded is None:
            self.nodes, self.triangles = skin.nodes, skin.triangles
            parts = max(1, len(skin.triangles) // max(1, len(body.faces)))  # a face of six nodes has four triangles
            self.faces = np.repeat(np.arange(len(body.faces)), parts)
        else:
            held = skin.embedded.nodes[skin.nodes]
            self.nodes, places = np.unique(held, return_inverse=True)
            self.held, self.weights = places.reshape(held.shape), skin.embedded.weights[skin.nodes]
            self.triangles, self.faces = skin.triangles, np.full(len(skin.triangles), NO_FACE)

    @property
    def drawn(self) -> bool:
        """Whether points follow the nodes and are none themselves."""
        return self.held is not None

    def sizes(self) -> dict[str, int]:
        """How long its arrays are."""
        points = len(self.held) if self.drawn else len(self.nodes)
        width = self.held.shape[1] if self.drawn else 0
        return {"points": points, "triangles": len(self.triangles), "moved": len(self.nodes), "held": width}

    def arrays(self) -> list[np.ndarray]:
        """What the page needs once: triangles, faces, node numbers; of a drawing also held and weights."""
        arrays = [np.ascontiguousarray(each, np.uint32) for each in (self.triangles, self.faces, self.nodes)]
        if self.drawn:
            arrays += [np.ascontiguousarray(self.held, np.uint32), np.ascontiguousarray(self.weights, np.float32)]
        return arrays

    def nearest(self, positions: np.ndarray, point: np.ndarray) -> int:
        """The place in `nodes` of the node nearest to a point [m]; positions (n, 3) of all nodes."""
        return int(np.argmin(((positions[self.nodes] - point) ** 2).sum(axis=1)))


def _cut_open(body, normal: np.ndarray, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """The surface of what lies below the plane normal . x = offset at the start, in whole elements: triangles (m, 3) of
    nodes, and the boundary face that each is, or NO_FACE."""
    positions, mesh = body.nodes.positions, body.mesh
    elements = mesh.tets[:, :4] if hasattr(mesh, "tets") else mesh.triangles
    below = elements[positions[elements].mean(axis=1) @ normal <= offset]
    triangles = below[:, TET_FACES].reshape(-1, 3) if elements.shape[1] == 4 else below
    key = _keys(triangles, len(positions))
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    alone = np.sort(first[counts == 1])
    boundary = _keys(body.faces.triangles, len(positions))
    order = np.argsort(boundary)
    place = np.minimum(np.searchsorted(boundary[order], key[alone]), len(boundary) - 1)
    faces = np.where(boundary[order][place] == key[alone], order[place], NO_FACE)
    return triangles[alone], faces


def _keys(triangles: np.ndarray, count: int) -> np.ndarray:
    """A number for each triangle (m, 3) that does not depend on the order of its corners."""
    a, b, c = np.sort(triangles.astype(np.int64), axis=1).T
    return (a * count + b) * count + c
