"""The stiffness of element sets as named tuples, as compiled loops of any device take it.

`loop` of products names what writes their slots: module and function among the kernels of a device.
"""

from typing import NamedTuple

import numpy as np

# Numbers of the data for products: per tet of four nodes; per point of one of ten nodes U, ten gradients seen in V, and
# from FIRST_MODULUS on twelve moduli.
TET_DATA = 30
QUADRATIC_DATA = 51
FIRST_MODULUS = 39


class ElementTerms(NamedTuple):
    """The stiffness of a set of tets: frames (groups, 21, LANES), elastic gradients (groups, 9, LANES) and moduli
    (groups, 12, LANES) times their weights; if `damped`, the warped stiffness of lam, mu (groups, LANES) with the rest
    gradients (groups, 9, LANES) in the frames `rotation` (groups, 9, LANES) times damping_weight (groups, LANES)."""

    frames: np.ndarray
    gradients: np.ndarray
    moduli: np.ndarray
    damped: bool
    rest_gradients: np.ndarray
    rotation: np.ndarray
    lam: np.ndarray
    mu: np.ndarray
    damping_weight: np.ndarray


class TetProducts(NamedTuple):
    """Tets of four nodes as part of an operator: data (terms, groups, 30, LANES); places (groups, 4, LANES): flat
    offset of their nodes; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "stiffness.element_products"


class QuadraticProducts(NamedTuple):
    """Ten-node tets as part of an operator: data (terms, groups POINTS, 51, LANES); places (groups, 10, LANES): flat
    offset of their nodes; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "quadratic.point_products"


class TriangleProducts(NamedTuple):
    """Triangles of sheets as part of an operator: data (terms, groups, 20, LANES); places (groups, 3, LANES): flat
    offset of their nodes; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "cloth.triangle_products"


class BendingProducts(NamedTuple):
    """Triangles that fold with their neighbours as part of an operator: data (terms, groups, 42, LANES); places
    (groups, 6, LANES): flat offset of their nodes; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "bending.bending_products"


class FibreProducts(NamedTuple):
    """Fibres of sheets as part of an operator: data (groups, 9, LANES); places (groups, 3, LANES): flat offset of the
    nodes of their triangles; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "fibres.fibre_products"


class SpringProducts(NamedTuple):
    """Springs as part of an operator: data (groups, 6, LANES): the block of both ends; places (groups, 2, LANES): flat
    offset of their nodes; first: their first slot."""

    data: np.ndarray
    places: np.ndarray
    first: int
    loop = "springs.spring_products"
