"""VTK's unstructured grids (.vtu) in XML, as ParaView and `vtu_read` read them: meshes, and the bodies of simulations.

Arrays are stored inline, little-endian, zlib-compressed in blocks and base64-coded
(VTK file formats, "XML file formats": `vtkZLibDataCompressor`, `header_type="UInt64"`).
"""

import base64
import os
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import MeshError
from ..files import write_atomically
from .raw_mesh import cell_block
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh
from .vtu_read import SET_PREFIX

# name -> (VTK cell type, nodes per cell)
CELL_TYPES = {
    "vertex": (1, 1),
    "line": (3, 2),
    "triangle": (5, 3),
    "tetra": (10, 4),
    "triangle6": (22, 6),
    "tetra10": (24, 10),
}
VTK_NUMBERS = {
    "f4": "Float32",
    "f8": "Float64",
    "i1": "Int8",
    "i2": "Int16",
    "i4": "Int32",
    "i8": "Int64",
    "u1": "UInt8",
    "u2": "UInt16",
    "u4": "UInt32",
    "u8": "UInt64",
}
VECTOR_NAMES = ("X", "Y", "Z")
SYMMETRIC_NAMES = ("XX", "YY", "ZZ", "XY", "YZ", "XZ")
TENSOR_NAMES = ("XX", "XY", "XZ", "YX", "YY", "YZ", "ZX", "ZY", "ZZ")
COMPONENT_NAMES = {3: VECTOR_NAMES, 6: SYMMETRIC_NAMES, 9: TENSOR_NAMES}
# Bytes per compressed block, and zlib's effort (1 fast .. 9 small).
BLOCK_BYTES = 1 << 18
COMPRESSION_LEVEL = 4

Cells = Sequence[tuple[str, np.ndarray]]
Fields = Mapping[str, np.ndarray]


def write_mesh(path: str | os.PathLike, mesh: TetMesh | TriMesh, point_data: Fields, cell_data: Fields) -> None:
    """Write a mesh with fields at its points and cells; its sets become flags at points."""
    flags = {SET_PREFIX + name: _flags(members, len(mesh.points)) for name, members in mesh.sets.items()}
    write_vtu(path, mesh.points, [cell_block(mesh)], {**point_data, **flags}, cell_data)


def _flags(members: np.ndarray, count: int) -> np.ndarray:
    """1 for the members of a set, 0 for others, (count,)."""
    flags = np.zeros(count, np.int8)
    flags[members] = 1
    return flags


def write_vtu(
    path: str | os.PathLike,
    points: np.ndarray,
    cells: Cells,
    point_data: Fields | None = None,
    cell_data: Fields | None = None,
) -> None:
    """Write an unstructured grid.

    `points` (n, 3) [m]; `cells` blocks `(kind, nodes (k, nodes per cell))` with kind "tetra",
    "tetra10", "triangle", "triangle6", "line" or "vertex", nodes in the order of VTK. `point_data` holds arrays
    of length n, `cell_data` arrays with one entry per cell, all blocks one after the other. An entry is a scalar,
    a vector (3), a symmetric tensor (6: XX YY ZZ XY YZ XZ), a full tensor (9, or 3 x 3 row by row) or any row of
    numbers. Number types are kept; booleans become UInt8. Raises MeshError when these do not fit together.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"points: expected shape (n, 3), got {points.shape}")
    if points.dtype.str[1:] not in ("f4", "f8"):
        points = points.astype(np.float64)
    connectivity, offsets, types = _flatten_cells(cells, len(points))
    body = [
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(types)}">\n',
        "<Points>\n",
        _data_array("Points", points, ()),
        "</Points>\n<Cells>\n",
        _data_array("connectivity", connectivity, ()),
        _data_array("offsets", offsets, ()),
        _data_array("types", types, ()),
        "</Cells>\n",
        _data_section("PointData", "point_data", point_data or {}, len(points)),
        _data_section("CellData", "cell_data", cell_data or {}, len(types)),
        "</Piece>\n",
    ]
    header = (
        '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        'header_type="UInt64" compressor="vtkZLibDataCompressor">\n<UnstructuredGrid>\n'
    )
    text = header + "".join(body) + "</UnstructuredGrid>\n</VTKFile>\n"
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _flatten_cells(cells: Cells, point_count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell blocks as VTK's connectivity (int64), end offsets (int64) and types (uint8)."""
    connectivity, sizes, types = [], [], []
    for number, (kind, nodes) in enumerate(cells):
        if kind not in CELL_TYPES:
            raise MeshError(f"cells[{number}]: unknown kind {kind!r}; allowed are {', '.join(CELL_TYPES)}")
        vtk_type, size = CELL_TYPES[kind]
        nodes = np.asarray(nodes)
        if nodes.ndim != 2 or nodes.shape[1] != size:
            raise MeshError(f"cells[{number}] ({kind}): expected shape (k, {size}), got {nodes.shape}")
        if nodes.size and (nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= point_count):
            raise MeshError(f"cells[{number}] ({kind}): nodes must be integers from 0 to {point_count - 1}")
        connectivity.append(nodes.astype(np.int64).ravel())
        sizes.append(np.full(len(nodes), size, dtype=np.int64))
        types.append(np.full(len(nodes), vtk_type, dtype=np.uint8))
    if not connectivity:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8)
    return np.concatenate(connectivity), np.cumsum(np.concatenate(sizes)), np.concatenate(types)


def _data_section(tag: str, argument: str, fields: Fields, count: int) -> str:
    """The `<PointData>` or `<CellData>` element; `argument` names the caller's argument in errors."""
    arrays = []
    for name, values in fields.items():
        values = np.asarray(values)
        if values.ndim == 0 or len(values) != count:
            raise MeshError(f"{argument}[{name!r}]: expected {count} entries, got an array of shape {values.shape}")
        values = values.reshape(count, int(np.prod(values.shape[1:], dtype=int)))
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        if values.dtype.str[1:] not in VTK_NUMBERS:
            raise MeshError(f"{argument}[{name!r}]: VTK has no number type for {values.dtype}")
        arrays.append(_data_array(name, values, COMPONENT_NAMES.get(values.shape[1], ())))
    return f"<{tag}>\n{''.join(arrays)}</{tag}>\n"


def _data_array(name: str, values: np.ndarray, component_names: Sequence[str]) -> str:
    """One `<DataArray>` element with its compressed content."""
    kind = VTK_NUMBERS[values.dtype.str[1:]]
    attributes = f'type="{kind}" Name={quoteattr(name)} format="binary"'
    if values.ndim == 2 and values.shape[1] != 1:
        attributes += f' NumberOfComponents="{values.shape[1]}"'
    for index, component in enumerate(component_names):
        attributes += f' ComponentName{index}="{component}"'
    little_endian = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return f"<DataArray {attributes}>\n{_compress(little_endian.tobytes())}\n</DataArray>\n"


def _compress(raw: bytes) -> str:
    """base64 of [block count, block size, last partial size, compressed sizes...], then base64 of the blocks."""
    blocks = [zlib.compress(raw[i : i + BLOCK_BYTES], COMPRESSION_LEVEL) for i in range(0, len(raw), BLOCK_BYTES)]
    sizes = [len(blocks), BLOCK_BYTES, len(raw) % BLOCK_BYTES, *map(len, blocks)]
    header = np.array(sizes, dtype="<u8").tobytes()
    return (base64.b64encode(header) + base64.b64encode(b"".join(blocks))).decode("ascii")
