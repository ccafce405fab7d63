"""Checks shared by the meshes: array shapes, index ranges, named sets, and the words of the errors."""

from collections.abc import Mapping

import numpy as np

from ..checks import numbers, shown
from ..errors import MeshError, SceneError
from .wording import option

NAMED_LIMIT = 5
"""How many offending indices an error names."""

LARGEST = 1e100
"""Coordinates must be below this [m], so that volumes do not overflow."""


def name_some(indices: np.ndarray) -> str:
    """Name the first few of some indices: ``3, 7, 9 (and 4 more)``."""
    indices = np.asarray(indices).ravel()
    text = ", ".join(str(int(index)) for index in indices[:NAMED_LIMIT])
    rest = len(indices) - NAMED_LIMIT
    return f"{text} (and {rest} more)" if rest > 0 else text


def name_rows(rows: np.ndarray) -> str:
    """Name the first few rows of an index array: ``(0, 4), (2, 5) (and 4 more)``."""
    text = ", ".join("(" + ", ".join(str(int(node)) for node in row) + ")" for row in rows[:NAMED_LIMIT])
    rest = len(rows) - NAMED_LIMIT
    return f"{text} (and {rest} more)" if rest > 0 else text


def check_points(points: object) -> np.ndarray:
    """Return a (n, 3) float64 copy of the points [m], all finite and below LARGEST, or raise MeshError."""
    try:
        if np.iscomplexobj(points := np.asarray(points)):
            raise TypeError("they are complex")
        array = np.array(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MeshError(f"points must be an (n, 3) array of numbers: {error}") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise MeshError(f"points must have shape (n, 3), not {array.shape}")
    if len(array) == 0:
        raise MeshError("the mesh has no points; points must have shape (n, 3) with n > 0")
    broken = np.flatnonzero(~(np.abs(array) < LARGEST).all(axis=1))
    if len(broken):
        raise MeshError(f"points must be finite and below {LARGEST:.0e} m, but these are not: {name_some(broken)}")
    return array


def check_elements(elements: object, widths: tuple[int, ...], point_count: int, name: str) -> np.ndarray:
    """Return an (m, one of widths) int32 copy of element indices, all below point_count, or raise MeshError."""
    shapes = " or ".join(f"(m, {width})" for width in widths)
    try:
        array = np.asarray(elements)
    except (TypeError, ValueError) as error:
        raise MeshError(f"{name} must be an array of integers of shape {shapes}: {error}") from None
    if array.ndim != 2 or array.shape[1] not in widths:
        raise MeshError(f"{name} must have shape {shapes}, not {array.shape}")
    if len(array) == 0:
        raise MeshError(f"the mesh has no {name}; {name} must have shape {shapes} with m > 0")
    if array.dtype.kind not in "iu":
        raise MeshError(f"{name} must be integers (indices of points), not {array.dtype}")
    outside = np.flatnonzero(((array < 0) | (array >= point_count)).any(axis=1))
    if len(outside):
        raise MeshError(
            f"{name} must index points 0 to {point_count - 1}, "
            f"but these point elsewhere: {name_some(outside)}, the first with nodes {name_rows(array[outside[:1]])}"
        )
    return array.astype(np.int32)


def check_name(name: object, what: str) -> None:
    """A name must be a text that files can hold."""
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise MeshError(f"{what} must be a text without control characters, got {shown(name)}")


def check_sets(sets: Mapping[str, object] | None, point_count: int) -> dict[str, np.ndarray]:
    """Return named node sets as sorted unique int32 indices; a boolean mask (n,) is accepted too."""
    checked = {}
    if sets is not None and not isinstance(sets, Mapping):
        raise MeshError(f"sets must be a dict of names and node indices, got {shown(sets)}")
    for name, members in (sets or {}).items():
        check_name(name, "the name of a set")
        try:
            array = np.asarray(members)
        except ValueError:
            raise MeshError(f"set {shown(name)} must be a list of node indices, got {shown(members)}") from None
        if array.dtype == bool:
            if array.shape != (point_count,):
                raise MeshError(f"set {name!r} as a mask must have shape ({point_count},), not {array.shape}")
            array = np.flatnonzero(array)
        if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
            raise MeshError(f"set {name!r} must be a list of node indices, not {array.dtype} of shape {array.shape}")
        outside = array[(array < 0) | (array >= point_count)]
        if len(outside):
            raise MeshError(f"set {name!r} must index points 0 to {point_count - 1}, but holds {name_some(outside)}")
        checked[name] = np.unique(array).astype(np.int32)
    return checked


def check_distinct_nodes(elements: np.ndarray, name: str) -> None:
    """Raise MeshError when an element names the same node twice."""
    repeated = np.flatnonzero(repeats_node(elements))
    if len(repeated):
        raise MeshError(
            f"{name} must have distinct nodes, but these repeat one: {name_some(repeated)}; "
            f"pass {option('repair', True)} to drop them"
        )


def repeats_node(elements: np.ndarray) -> np.ndarray:
    """Mask (m,) of the elements that name the same node twice."""
    ordered = np.sort(elements, axis=1)
    return (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)


def freeze(array: np.ndarray) -> np.ndarray:
    """Return the array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def rigid_transform(points: np.ndarray, scale: object, rotation: object, translation: object) -> np.ndarray:
    """Scale, then rotate by the quaternion (w, x, y, z), then translate points (n, 3) [m]."""
    factor = finite(scale, "scale", ((), (3,)), "one positive number or three")
    quaternion = finite(rotation, "rotation", ((4,),), "a quaternion (w, x, y, z) that is not zero")
    offset = finite(translation, "translation", ((3,),), "three finite numbers")
    if not np.all(factor > 0):
        raise MeshError(f"scale must be one positive number or three, got {shown(scale)}")
    if not np.linalg.norm(quaternion) > 1e-12:
        raise MeshError(f"rotation must be a quaternion (w, x, y, z) that is not zero, got {shown(rotation)}")
    return (points * factor) @ rotation_matrix(quaternion).T + offset


def finite(value: object, name: str, shapes: tuple, rule: str) -> np.ndarray:
    """A new array of finite numbers of one of some shapes, or MeshError."""
    try:
        return numbers(value, name, shapes, rule)
    except SceneError as error:
        raise MeshError(str(error)) from None


def rotation_matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of a quaternion (w, x, y, z) of any length but zero."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
