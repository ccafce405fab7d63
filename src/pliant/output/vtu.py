"""VTK XML unstructured grids (.vtu) and their time series (.pvd), as ParaView and meshio read them.

Arrays are stored inline, little-endian, zlib-compressed in blocks and base64-coded
(VTK file formats, "XML file formats": `vtkZLibDataCompressor`, `header_type="UInt64"`).
"""

import base64
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.files import write_atomically

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


def write_vtu(
    path: str | os.PathLike,
    points: np.ndarray,
    cells: Cells,
    point_data: Fields | None = None,
    cell_data: Fields | None = None,
) -> None:
    """Write an unstructured grid.

    `points` (n, 3) [m] (or (n, 2), then z = 0); `cells` blocks `(kind, nodes (k, nodes per cell))` with kind "tetra",
    "tetra10", "triangle", "triangle6", "line" or "vertex", nodes in the order of VTK. `point_data` holds arrays
    of length n, `cell_data` arrays with one entry per cell, all blocks one after the other. An entry is a scalar,
    a vector (2 components get a zero z), a symmetric tensor (6: XX YY ZZ XY YZ XZ) or a full tensor (9, or 3 x 3 row by
    row). Number types are kept; booleans become UInt8.
    """
    points = _with_three_columns(np.asarray(points))
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points: expected shape (n, 3), got {points.shape}")
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
            raise ValueError(f"cells[{number}]: unknown kind {kind!r}; allowed are {', '.join(CELL_TYPES)}")
        vtk_type, size = CELL_TYPES[kind]
        nodes = np.asarray(nodes)
        if nodes.ndim != 2 or nodes.shape[1] != size:
            raise ValueError(f"cells[{number}] ({kind}): expected shape (k, {size}), got {nodes.shape}")
        if nodes.size and (nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= point_count):
            raise ValueError(f"cells[{number}] ({kind}): nodes must be integers from 0 to {point_count - 1}")
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
            raise ValueError(f"{argument}[{name!r}]: expected {count} entries, got an array of shape {values.shape}")
        values = _with_three_columns(values.reshape(count, int(np.prod(values.shape[1:], dtype=int))))
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        if values.dtype.str[1:] not in VTK_NUMBERS:
            raise ValueError(f"{argument}[{name!r}]: VTK has no number type for {values.dtype}")
        arrays.append(_data_array(name, values, COMPONENT_NAMES.get(values.shape[1], ())))
    return f"<{tag}>\n{''.join(arrays)}</{tag}>\n"


def _with_three_columns(values: np.ndarray) -> np.ndarray:
    """Planar vectors (n, 2) get a zero third component; everything else passes."""
    if values.ndim == 2 and values.shape[1] == 2:
        return np.column_stack([values, np.zeros(len(values), values.dtype)])
    return values


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


class PvdSeries:
    """A time series of grids: `NAME.pvd` lists the files in the sibling folder `NAME_frames/`.

    The list is rewritten after every grid, so whatever stops the program, what was written can be opened.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        if self.path.suffix != ".pvd":
            raise ValueError(f"{self.path}: a time series is a .pvd file")
        self.folder = self.path.with_name(self.path.stem + "_frames")
        self.times: list[float] = []
        self._parts: list[str] = []
        self._written_now: set[str] = set()
        self._entries: list[str] = []

    def append(
        self,
        time: float,
        points: np.ndarray,
        cells: Cells,
        point_data: Fields | None = None,
        cell_data: Fields | None = None,
        *,
        part: str = "",
    ) -> Path:
        """Write one part at `time` [s] (arguments as `write_vtu`) and list it; returns the .vtu path.

        Times may not decrease; parts with the same time belong to one step and need different names.
        """
        self._begin(float(time), part)
        file = self.folder / f"{self.path.stem}_{len(self.times) - 1:06d}{_file_label(part, self._parts)}.vtu"
        write_vtu(file, points, cells, point_data, cell_data)
        self._written_now.add(part)
        self._entries.append(
            f'<DataSet timestep="{self.times[-1]!r}" group="" part="{self._parts.index(part)}" '
            f"name={quoteattr(part)} file={quoteattr(f'{self.folder.name}/{file.name}')}/>\n"
        )
        self._write_list()
        return file

    def _begin(self, time: float, part: str) -> None:
        if not np.isfinite(time):
            raise ValueError(f"{self.path}: time {time} is not a finite number")
        if self.times and time < self.times[-1]:
            raise ValueError(f"{self.path}: time {time} s comes after {self.times[-1]} s; times may not decrease")
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self._written_now.clear()
        elif part in self._written_now:
            raise ValueError(f"{self.path}: part {part!r} is already written at time {time} s")
        if part not in self._parts:
            self._parts.append(part)

    def _write_list(self) -> None:
        head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n'
        text = f"{head}<Collection>\n{''.join(self._entries)}</Collection>\n</VTKFile>\n"
        with write_atomically(self.path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _file_label(part: str, parts: Sequence[str]) -> str:
    """What a part adds to its file name: nothing when unnamed, else its safe characters (and number, if changed)."""
    if not part:
        return ""
    safe = re.sub(r"[^A-Za-z0-9-]", "_", part)
    return f"_{safe}" if safe == part else f"_{safe}_{parts.index(part)}"
