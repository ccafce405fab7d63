"""Curvatures of triangles from the angles at their edges.

Two ways to see them agree on regular meshes. The mean over a triangle of the gradient of the slope, the slope at an
edge being the mean of both sides, is sum_a w_a l_a / A f_a n_a n_a^T with weights w_a = 1/2 (Onate and Zarate 2000;
Gingold et al. 2004): forces of constant moments then cancel at nodes, but on irregular meshes a surface of constant
curvature is seen with too much of it, and a sheet is too stiff. The curvature of the quadric through the nodes of a
triangle and its neighbours is exact for such surfaces, but on irregular meshes their moments leave forces, and a sheet
is too soft. Here is the mean of both; docs/cloth.md has what was measured.
"""

import numpy as np

# The edge opposite to node a of a triangle, in its direction.
OPPOSITE = np.array([[1, 2], [2, 0], [0, 1]])
# How much larger than the mean the quadric may be: nodes near a conic leave it undetermined.
MOST = 3.0
HALF = 0.5


def rest_axes(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two orthonormal directions (m, 3) of triangles, the first along the edge from node 0 to 1, and areas (m,)."""
    first, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(first, other)
    size = np.linalg.norm(normal, axis=1)
    first = first / np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(normal / size[:, None], first), size / 2


class Patch:
    """Triangles (m, 3, 3) and far nodes (m, 3, 3) across their edges, laid into their planes.

    own, far (m, 3, 2): nodes. start, end (m, 3, 2), length (m, 3), along, across (m, 3, 2): of the edges opposite to
    each node, across outward.
    """

    def __init__(self, corners: np.ndarray, far: np.ndarray):
        first, second, self.area = rest_axes(corners)
        self.own = np.einsum("maj,mij->mai", corners - corners[:, :1], np.stack([first, second], axis=1))
        self.start, self.end = self.own[:, OPPOSITE[:, 0]], self.own[:, OPPOSITE[:, 1]]
        edge, begin = self.end - self.start, corners[:, OPPOSITE[:, 0]]
        self.length = np.linalg.norm(edge, axis=2)
        self.along = edge / self.length[:, :, None]
        self.across = np.stack([self.along[:, :, 1], -self.along[:, :, 0]], axis=2)
        line = (corners[:, OPPOSITE[:, 1]] - begin) / self.length[:, :, None]
        reach = np.einsum("mai,mai->ma", far - begin, line)[:, :, None]
        height = np.linalg.norm(far - begin - reach * line, axis=2)[:, :, None]
        self.far = self.start + reach * self.along + height * self.across

    def slope(self, apex: np.ndarray, height: np.ndarray, below: np.ndarray) -> np.ndarray:
        """Slope (m, 3) across each edge of a triangle on it whose apex (m, 3, 2) has a height (m, 3); below: heights
        (m, 3) of the three nodes of the triangles."""
        arm = apex - self.start
        share = np.einsum("mai,mai->ma", arm, self.along) / self.length
        foot = (1 - share) * below[:, OPPOSITE[:, 0]] + share * below[:, OPPOSITE[:, 1]]
        return (height - foot) / np.einsum("mai,mai->ma", arm, self.across)

    def angles(self, present: np.ndarray) -> np.ndarray:
        """Angles (m, 3) by curvatures 11, 22, 12 (doubled), (m, 3, 3): those with the far triangles where these are
        present (m, 3), else with the slope of the quadric itself at the middle of the edge."""
        out, middle = np.empty((len(self.own), 3, 3)), 0.5 * (self.start + self.end)
        for k, matrix in enumerate(np.array([[[1, 0], [0, 0]], [[0, 0], [0, 1]], [[0, HALF], [HALF, 0]]])):
            heights = [-0.5 * np.einsum("mai,ij,maj->ma", p, matrix, p) for p in (self.own, self.far)]
            tangent = -np.einsum("mai,ij,maj->ma", middle, matrix, self.across)
            beyond = np.where(present, self.slope(self.far, heights[1], heights[0]), tangent)
            out[:, :, k] = self.slope(self.own, heights[0], heights[0]) - beyond
        return out


def curvatures(corners: np.ndarray, far: np.ndarray, weights: np.ndarray, poisson: float) -> np.ndarray:
    """Curvatures 11, 22, 12 (doubled) per angle (m, 3, 3) of triangles (m, 3, 3) with far nodes (m, 3, 3) across their
    edges; weights (m, 3): 1/2 where there is a neighbour, 1 at clamped edges, 0 at free ones, whose angle is not known.

    What the known angles leave open of the quadric is what takes the least energy: no moment acts at a free edge.
    """
    patch = Patch(corners, far)
    x, y = patch.across[:, :, 0], patch.across[:, :, 1]
    share = weights * patch.length / patch.area[:, None]
    mean = share[:, None] * np.stack([x * x, y * y, 2 * x * y], axis=1)
    angles = np.where((weights > 0)[:, :, None], patch.angles(weights == HALF), 0.0)
    soft = np.linalg.inv(np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]]))
    back = soft @ angles.transpose(0, 2, 1)
    quadric = back @ np.linalg.pinv(angles @ back, rcond=1e-8, hermitian=True)
    size = [np.linalg.norm(way, axis=(1, 2))[:, None, None] for way in (quadric, mean)]
    return np.where(size[0] <= MOST * size[1], 0.5 * (quadric + mean), mean)
