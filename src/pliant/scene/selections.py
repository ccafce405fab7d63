"""Selections of nodes and faces: in Python a boolean mask or indices; in files boxes, spheres, half-spaces, sets,
comparisons, or all of them."""

import contextlib
import re
from dataclasses import dataclass

import numpy as np

from pliant.checks import listed, number, refusal, shown, unit_vector, vector
from pliant.errors import SceneError
from pliant.meshes.checks import freeze
from pliant.scene.faces import Faces


class Selection:
    """Something that picks nodes of a mesh, or faces of its boundary."""

    def select(self, points: np.ndarray, sets: dict[str, np.ndarray]) -> np.ndarray:
        """Sorted indices of the nodes picked; points: (n, 3) [m], sets: the named sets of nodes of the mesh."""
        raise NotImplementedError  # abstract: each kind of selection below says how

    def select_faces(self, faces: Faces, sets: dict[str, np.ndarray]) -> np.ndarray:
        """Sorted indices of the faces picked: those whose centre would be picked if it were a node."""
        return self.select(faces.centres, sets)


@dataclass(frozen=True)
class Everything(Selection):
    """All nodes, all faces."""

    def select(self, points, sets):
        return np.arange(len(points))


@dataclass(frozen=True, eq=False)
class Indices(Selection):
    """Nodes or faces by number."""

    indices: np.ndarray

    def __post_init__(self):
        array = None
        with contextlib.suppress(Exception):
            array = np.asarray(self.indices)
        if array is None or array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise refusal("selection indices", "a list of whole numbers", self.indices)
        object.__setattr__(self, "indices", freeze(array.astype(np.int64)))

    def select(self, points, sets):
        return self._within(len(points), "node")

    def select_faces(self, faces, sets):
        return self._within(len(faces), "face")

    def _within(self, count: int, kind: str) -> np.ndarray:
        if self.indices.size and (self.indices.min() < 0 or self.indices.max() >= count):
            raise SceneError(f"{kind} indices must be in 0..{count - 1}, got {self.indices.tolist()[:8]}")
        return np.unique(self.indices)


@dataclass(frozen=True)
class InBox(Selection):
    """Nodes inside the axis-aligned box from `low` to `high` (bounds included)."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    def __post_init__(self):
        object.__setattr__(self, "low", vector(self.low, "selection box low"))
        object.__setattr__(self, "high", vector(self.high, "selection box high"))

    def select(self, points, sets):
        return np.flatnonzero(np.all((points >= self.low) & (points <= self.high), axis=1))


@dataclass(frozen=True)
class InSphere(Selection):
    """Nodes no further than `radius` from `centre`."""

    centre: tuple[float, float, float]
    radius: float

    def __post_init__(self):
        object.__setattr__(self, "centre", vector(self.centre, "selection sphere centre"))
        object.__setattr__(self, "radius", number(self.radius, "selection sphere radius", low=0))

    def select(self, points, sets):
        return np.flatnonzero(np.linalg.norm(points - np.array(self.centre), axis=1) <= self.radius)


@dataclass(frozen=True)
class InHalfSpace(Selection):
    """Nodes on the side of the plane through `point` to which `normal` points (the plane included)."""

    point: tuple[float, float, float]
    normal: tuple[float, float, float]

    def __post_init__(self):
        object.__setattr__(self, "point", vector(self.point, "selection half-space point"))
        object.__setattr__(self, "normal", unit_vector(self.normal, "selection half-space normal"))

    def select(self, points, sets):
        return np.flatnonzero((points - np.array(self.point)) @ np.array(self.normal) >= 0)


@dataclass(frozen=True)
class InSet(Selection):
    """Nodes of a named set of the mesh file; faces with all three nodes in it."""

    name: str

    def select(self, points, sets):
        if not isinstance(self.name, str) or self.name not in sets:
            known = listed(sorted(sets)) or "none"
            raise SceneError(f"the mesh has no node set {shown(self.name)}; it has: {known}")
        return np.unique(sets[self.name])

    def select_faces(self, faces, sets):
        return np.flatnonzero(np.isin(faces.triangles, self.select(faces.centres, sets)).all(axis=1))


# none of its parts can match what the next one does: a text is read in one pass
_COMPARISON = re.compile(r"([xyz])\s*(<=|>=|<|>)\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)")
_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True)
class Where(Selection):
    """Nodes that satisfy comparisons of x, y, z with a number, such as "x < 0.01 and z >= 0.5" or "x < 0 or x > 1";
    "and" binds more closely than "or"."""

    text: str

    def __post_init__(self):
        self._alternatives()

    def _alternatives(self) -> list[list[tuple]]:
        """The comparisons, each an axis, a function and a number: one list, all of which hold, for every "or"."""
        if not isinstance(self.text, str):
            raise refusal("selection", "a text", self.text)
        return [[self._comparison(part) for part in term.split(" and ")] for term in self.text.split(" or ")]

    def _comparison(self, part: str) -> tuple:
        found = _COMPARISON.fullmatch(part.strip())
        if not found:
            raise SceneError(
                f"selection {shown(self.text)} is not understood; allowed: comparisons of x, y, z with a number "
                f"(<, <=, >, >=) joined by 'and' and 'or', as in \"x < 0.01 and z >= 0.5\"; or 'all'"
            )
        return "xyz".index(found[1]), _COMPARE[found[2]], float(found[3])

    def select(self, points, sets):
        mask = np.zeros(len(points), dtype=bool)
        for comparisons in self._alternatives():
            both = np.ones(len(points), dtype=bool)
            for axis, compare, value in comparisons:
                both &= compare(points[:, axis], value)
            mask |= both
        return np.flatnonzero(mask)


def from_text(text: str) -> Selection:
    """The selection that a text says: "all", or comparisons."""
    return Everything() if isinstance(text, str) and text.strip() == "all" else Where(text)


def as_selection(value, name: str, kind: str = "node") -> Selection:
    """A selection of nodes or faces (the `kind`) from a Selection, a boolean mask, indices, or a text."""
    if isinstance(value, Selection):
        return value
    if isinstance(value, str):
        return from_text(value)
    array = np.empty(0, dtype=object)
    with contextlib.suppress(Exception):  # rows of different lengths, and whatever else is no array
        array = np.asarray(value)
    if array.dtype == bool and array.ndim == 1:
        return Indices(np.flatnonzero(array))
    if np.issubdtype(array.dtype, np.integer) and array.ndim <= 1:
        return Indices(np.atleast_1d(array))
    raise refusal(name, f"a mask, {kind} indices, a selection or a comparison text", value)
