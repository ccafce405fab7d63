"""Tets of ten nodes: shape functions, Jacobians, volumes, the making of midpoints and the checks of them.

The order of the nodes inside a tet is that of `topology.TET10_EDGES`. Places inside a tet are barycentric coordinates
(l0, l1, l2, l3), one per corner; the free ones are l0, l1, l2, with l3 = 1 - l0 - l1 - l2. So the Jacobian
dX / d(l0, l1, l2) of a straight tet is [X0-X3, X1-X3, X2-X3] everywhere, and its determinant is six times the volume.
"""

import numpy as np

from ..errors import MeshError
from . import topology
from .checks import name_some
from .wording import option

NEAR, FAR = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
GAUSS_POINTS = np.full((4, 4), FAR) + (NEAR - FAR) * np.eye(4)
"""Barycentric coordinates (4, 4) of the rule of four points with equal weights, exact for degree 2."""

CUBIC_POINTS = np.concatenate([np.eye(4), (1 - np.eye(4)) / 3])
CUBIC_WEIGHTS = np.repeat([1 / 40, 9 / 40], 4)
"""Corners and middles of faces (8, 4) with weights (8,) of sum 1, exact for degree 3: that of det(Jacobian)."""

EDGE_NAMES = ", ".join(f"{a}{b}" for a, b in topology.TET10_EDGES)


def shape_functions(barycentric: np.ndarray) -> np.ndarray:
    """Values (q, 10) at places (q, 4): l (2 l - 1) of the corners, 4 l l' of the midpoints."""
    first, second = topology.TET10_EDGES.T
    corners = barycentric * (2 * barycentric - 1)
    return np.concatenate([corners, 4 * barycentric[:, first] * barycentric[:, second]], axis=1)


def shape_gradients(barycentric: np.ndarray) -> np.ndarray:
    """Derivatives (q, 10, 3) of the shape functions along l0, l1, l2 at places (q, 4)."""
    slopes = np.zeros((len(barycentric), 10, 4))
    for corner in range(4):
        slopes[:, corner, corner] = 4 * barycentric[:, corner] - 1
    for node, (a, b) in enumerate(topology.TET10_EDGES, start=4):
        slopes[:, node, a] = 4 * barycentric[:, b]
        slopes[:, node, b] = 4 * barycentric[:, a]
    return slopes[:, :, :3] - slopes[:, :, 3:]


def jacobians(points: np.ndarray, tets: np.ndarray, barycentric: np.ndarray) -> np.ndarray:
    """dX / d(l0, l1, l2), (m, q, 3, 3) [m], of tets (m, 10) at places (q, 4); the columns belong to l0, l1, l2."""
    nodes = points[tets] - points[tets[:, 3]][:, None]
    return np.einsum("mai,qak->mqik", nodes, shape_gradients(barycentric))


def determinants(points: np.ndarray, tets: np.ndarray, barycentric: np.ndarray) -> np.ndarray:
    """det(Jacobian), (m, q) [m^3], six times the volume where the tet is straight."""
    columns = np.moveaxis(jacobians(points, tets, barycentric), 3, 0)
    return np.einsum("mqi,mqi->mq", columns[0], np.cross(columns[1], columns[2]))


def smallest_determinants(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """The smallest det(Jacobian) (m,) [m^3] of tets (m, 4), or at the Gauss points of tets (m, 10)."""
    if tets.shape[1] == 10:
        return determinants(points, tets, GAUSS_POINTS).min(axis=1)
    a, b, c = (points[tets[:, i]] - points[tets[:, 3]] for i in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c))


def curved_volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Volumes (m,) [m^3] of tets (m, 10), exact for curved edges too."""
    return determinants(points, tets, CUBIC_POINTS) @ CUBIC_WEIGHTS / 6


def overlaps(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Integrals (m, 10, 10) [m^3] of products of two shape functions over tets (m, 10), exact for curved edges too."""
    places, weights = collapsed_rule(4)
    values = shape_functions(places)
    products = (values[:, :, None] * values[:, None, :]).reshape(len(places), -1)
    return (determinants(points, tets, places) * weights @ products).reshape(-1, 10, 10)


def collapsed_rule(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Barycentric coordinates (order^3, 4) and weights (order^3,) of sum 1/6, exact for degree 2 order - 1: Gauss and
    Jacobi's rules along the axes of a cube that is collapsed to a tet (Stroud 1971)."""
    from scipy.special import roots_jacobi  # only here: it loads slowly

    lines = [roots_jacobi(order, power, 0) for power in (2, 1, 0)]
    (a, b, c) = np.meshgrid(*((1 + line[0]) / 2 for line in lines), indexing="ij")
    weights = np.einsum("i,j,k->ijk", *(line[1] / 2 ** (power + 1) for line, power in zip(lines, (2, 1, 0)))).ravel()
    first, second, third = a, b * (1 - a), c * (1 - b) * (1 - a)
    places = np.stack([first, second, third, 1 - first - second - third], axis=3).reshape(-1, 4)
    return places, weights


def add_midpoints(point_count: int, tets: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Tets (m, 10) from tets (m, 4), the midpoint of edge e (of the ascending edges) numbered point_count + e."""
    pairs = np.sort(tets[:, topology.TET10_EDGES].reshape(-1, 2), axis=1)
    place = np.searchsorted(topology.row_keys(edges, point_count), topology.row_keys(pairs, point_count))
    return np.concatenate([tets, (point_count + place).reshape(-1, 6)], axis=1).astype(np.int32)


def edge_midpoints(tets: np.ndarray, point_count: int) -> np.ndarray:
    """The midpoint (e,) of every unique edge, in ascending order of the edges."""
    pairs = tets[:, topology.TET10_EDGES].reshape(-1, 2)
    _, first = np.unique(topology.set_keys(pairs, point_count), return_index=True)
    return tets[:, 4:].ravel()[first]


def extend_sets(sets: dict[str, np.ndarray], edges: np.ndarray, point_count: int) -> dict[str, np.ndarray]:
    """Sets with the midpoint of every edge whose two ends they hold."""
    extended = {}
    for name, members in sets.items():
        inside = np.zeros(point_count, dtype=bool)
        inside[members] = True
        midpoints = point_count + np.flatnonzero(inside[edges].all(axis=1))
        extended[name] = np.concatenate([members, midpoints]).astype(np.int32)
    return extended


def check_midpoints(tets: np.ndarray, point_count: int) -> None:
    """Raise MeshError unless every edge has one midpoint, and every midpoint belongs to that edge alone."""
    is_corner = np.zeros(point_count, dtype=bool)
    is_corner[tets[:, :4]] = True
    both = np.unique(tets[:, 4:][is_corner[tets[:, 4:]]])
    if len(both):
        raise MeshError(f"these points are corners of some tets and midpoints of others: {name_some(both)}; {ORDER}")
    pairs = np.sort(tets[:, topology.TET10_EDGES].reshape(-1, 2), axis=1)
    edges, midpoints = topology.row_keys(pairs, point_count), tets[:, 4:].ravel()
    for row in differing(edges, midpoints)[:1]:
        found = np.unique(midpoints[edges == edges[row]])
        raise MeshError(
            f"an edge has one midpoint, the same in all tets around it, but the edge {named_edge(pairs[row])} has "
            f"{len(found)}: {name_some(found)}; pass {option('repair', True)} to merge them where they coincide; "
            f"{ORDER}"
        )
    for row in differing(midpoints, edges)[:1]:
        others = np.unique(pairs[midpoints == midpoints[row]], axis=0)
        raise MeshError(
            f"a midpoint belongs to one edge, but point {int(midpoints[row])} is that of the edges "
            f"{', '.join(named_edge(edge) for edge in others[:3])}; {ORDER}"
        )


def named_edge(edge: np.ndarray) -> str:
    """An edge in words: (3, 7)."""
    return f"({int(edge[0])}, {int(edge[1])})"


ORDER = f"nodes 4 to 9 of a tet are the midpoints of its edges {EDGE_NAMES}, in this order"


def differing(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rows whose value is not that of the first row with the same key."""
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return np.flatnonzero(values != values[first[group.reshape(-1)]])


def check_jacobians(points: np.ndarray, tets: np.ndarray) -> None:
    """Raise MeshError for tets that are turned inside out at a Gauss point."""
    lowest = determinants(points, tets, GAUSS_POINTS).min(axis=1)
    bent = np.flatnonzero(~(lowest > 0))
    if len(bent):
        raise MeshError(
            f"these tets are bent too far: {name_some(bent)}, the first with det(Jacobian) {lowest[bent[0]]:.3g} m^3 "
            f"at a Gauss point, which must be positive; move their midpoints towards the middles of the edges, or make "
            f"the tets straight with TetMesh(points, tets[:, :4], repair=True).quadratic(); {ORDER}"
        )
