"""Stanford's .ply surfaces, text and binary: points and polygons, which are cut into fans of triangles.

The format: http://paulbourke.net/dataformats/ply. Elements other than vertex and face, and properties other than
coordinates and corners, are read over. Nothing is read that the file does not hold: counts are compared with its size.
Files are written in binary, with coordinates in double precision.
"""

from pathlib import Path

import numpy as np

from ..errors import MeshError
from .raw_mesh import RawMesh, fan_triangles, parsed
from .tri_mesh import TriMesh

TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
CORNERS = ("vertex_indices", "vertex_index")
HEADER_BYTES = 100_000
WRITTEN = """\
ply
format binary_little_endian 1.0
comment written by pliant
element vertex {points}
property double x
property double y
property double z
element face {triangles}
property list uchar int vertex_indices
end_header
"""
FACE = np.dtype([("count", "u1"), ("corners", "<i4", 3)])

Property = tuple[str, str, str]
"""Name, type of its number, type of the count of a list (empty: it is no list)."""


class Numbers:
    """The numbers behind the header, taken in order."""

    def __init__(self, data: bytes, order: str):
        self.order, self.data, self.position = order, data, 0
        self.words = [] if order else data.split()

    def take(self, count: int, kind: str) -> np.ndarray:
        """The next `count` numbers of a kind such as "f4"."""
        step = count if not self.order else count * int(kind[1])
        left = (len(self.data) if self.order else len(self.words)) - self.position
        if count < 0 or step > left:
            raise MeshError("the .ply file ends too early")
        start, self.position = self.position, self.position + step
        if self.order:
            return np.frombuffer(self.data, self.order + kind, count, start)
        return parsed(self.words[start : self.position], "the values of the .ply file", np.float64)

    def table(self, count: int, properties: list[Property]) -> np.ndarray:
        """Rows (count, properties) of elements without lists."""
        if not self.order:
            return self.take(count * len(properties), "f8").reshape(count, len(properties))
        row = np.dtype([(f"p{k}", self.order + kind) for k, (_, kind, _) in enumerate(properties)])
        raw = self.take(count * row.itemsize, "u1").view(row)
        return np.stack([raw[name].astype(np.float64) for name in row.names], axis=1)


def read_ply(path: Path) -> RawMesh:
    """Points and triangles."""
    data = path.read_bytes()
    order, elements, start = read_header(data)
    numbers = Numbers(data[start:], order)
    points, triangles = None, np.zeros((0, 3), np.int64)
    for name, count, properties in elements:
        if not properties:
            continue
        if not any(listed for _, _, listed in properties):
            table = numbers.table(count, properties)
            if name == "vertex":
                points = coordinates(table, [own for own, _, _ in properties])
        else:
            corners = read_lists(numbers, count, properties)
            if name == "face":
                triangles = fan_triangles(*corners)
    if points is None:
        raise MeshError("the .ply file has no element 'vertex' with x, y and z")
    return RawMesh(points, [("triangle", triangles)] if len(triangles) else [])


def read_header(data: bytes) -> tuple[str, list[tuple[str, int, list[Property]]], int]:
    """Byte order (empty: text), elements with their counts and properties, and where the header ends."""
    end = data.find(b"end_header", 0, HEADER_BYTES)
    start = data.find(b"\n", end) + 1
    if not data.startswith(b"ply") or end < 0 or not start:
        raise MeshError("not a .ply file: its header is missing or does not end")
    order, elements = None, []
    for line in data[:end].decode("ascii", errors="replace").splitlines()[1:]:
        words = line.split()
        if words[:1] == ["format"] and len(words) == 3 and words[1] in FORMATS:
            order = FORMATS[words[1]]
        elif words[:1] == ["element"] and len(words) == 3 and words[2].isdigit() and len(words[2]) < 19:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"] and elements:
            elements[-1][2].append(read_property(words))
        elif words and words[0] not in ("comment", "obj_info"):
            raise MeshError(f"the header of the .ply file has a line that makes no sense: {line[:60]!r}")
    if order is None:
        raise MeshError(f"the header of the .ply file names none of the formats {', '.join(FORMATS)}")
    return order, elements, start


def read_property(words: list[str]) -> Property:
    """A property: `property TYPE NAME`, or `property list COUNT_TYPE TYPE NAME`."""
    if len(words) == 3 and words[1] in TYPES:
        return words[2], TYPES[words[1]], ""
    if len(words) == 5 and words[1] == "list" and words[2] in TYPES and words[3] in TYPES:
        return words[4], TYPES[words[3]], TYPES[words[2]]
    raise MeshError(f"the .ply file has a property of no known type: {' '.join(words)[:60]!r}")


def coordinates(table: np.ndarray, names: list[str]) -> np.ndarray | None:
    """Columns x, y, z of a table; None where they are not all there."""
    return table[:, [names.index(axis) for axis in "xyz"]] if {"x", "y", "z"} <= set(names) else None


def read_lists(numbers: Numbers, count: int, properties: list[Property]) -> tuple[np.ndarray, np.ndarray]:
    """The corners of faces one after the other, and how many each has."""
    if len(properties) == 1 and (same := read_equal_lists(numbers, count, properties[0])) is not None:
        return same
    corners, sizes = [np.zeros(0, np.int64)], []
    for _ in range(count):
        for name, kind, listed in properties:
            size = int(numbers.take(1, listed)[0]) if listed else 1
            values = numbers.take(size, kind)
            if name in CORNERS:
                corners.append(values.astype(np.int64))
                sizes.append(size)
    return np.concatenate(corners), np.array(sizes, np.int64)


def read_equal_lists(numbers: Numbers, count: int, own: Property) -> tuple[np.ndarray, np.ndarray] | None:
    """Lists that are all as long as the first, read at once; None where they are not."""
    name, _, listed = own
    if not count or name not in CORNERS:
        return None
    start = numbers.position
    size = int(numbers.take(1, listed)[0])
    numbers.position = start
    try:
        table = numbers.table(count, [("n", listed, ""), *[own] * max(size, 0)])
    except MeshError:
        table = np.zeros((1, 1)) - 1
    if size < 0 or not (table[:, 0] == size).all():
        numbers.position = start
        return None
    return table[:, 1:].astype(np.int64).ravel(), np.full(count, size)


def ply_bytes(mesh: TriMesh) -> bytes:
    """The file of a surface."""
    faces = np.empty(len(mesh.triangles), FACE)
    faces["count"], faces["corners"] = 3, mesh.triangles
    header = WRITTEN.format(points=len(mesh.points), triangles=len(mesh.triangles))
    return header.encode("ascii") + mesh.points.astype("<f8").tobytes() + faces.tobytes()
