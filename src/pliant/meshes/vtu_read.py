"""VTK's unstructured grids (.vtu) in XML: arrays as text, in base64, or appended, packed with zlib or not.

The format: VTK file formats, "XML file formats" (https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html).
What is packed is unpacked only as far as the file says, and a file may not unpack to more than `UNPACKED` its size.
"""

import base64
import binascii
import re
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ..errors import MeshError
from .raw_mesh import RawMesh, parsed

CELLS = {
    1: ("vertex", 1),
    3: ("line", 2),
    5: ("triangle", 3),
    9: ("quad", 4),
    10: ("tetra", 4),
    12: ("hexahedron", 8),
    13: ("wedge", 6),
    14: ("pyramid", 5),
    21: ("line3", 3),
    22: ("triangle6", 6),
    23: ("quad8", 8),
    24: ("tetra10", 10),
    25: ("hexahedron20", 20),
    26: ("wedge15", 15),
    27: ("pyramid13", 13),
    28: ("quad9", 9),
    29: ("hexahedron27", 27),
}
NUMBERS = {f"{sign}Int{8 * size}": f"{kind}{size}" for sign, kind in (("", "i"), ("U", "u")) for size in (1, 2, 4, 8)}
NUMBERS |= {"Float32": "f4", "Float64": "f8"}
SET_PREFIX = "set:"
"""Sets are stored as 0/1 point data under this prefix."""
UNPACKED, SPARE = 100, 2**24
"""Bytes that a file may unpack to: so many times its own, and so many more."""
ZLIB = "vtkZLibDataCompressor"


def read_vtu(path: Path) -> RawMesh:
    """Points, cells and sets of all pieces."""
    file = VtuFile(path.read_bytes())
    mesh = RawMesh(np.zeros((0, 3)))
    for piece in file.pieces():
        first = len(mesh.points)
        points = file.array(piece.find("Points/DataArray"), "Points")
        mesh.points = np.concatenate([mesh.points, np.reshape(points, (-1, 3))])
        named = {array.get("Name"): array for array in piece.findall("Cells/DataArray")}
        connectivity, offsets, types = (
            file.array(named.get(name), name).ravel() for name in ("connectivity", "offsets", "types")
        )
        mesh.cells += split_cells(connectivity.astype(np.int64) + first, offsets.astype(np.int64), types)
        for array in piece.findall("PointData/DataArray"):
            if (name := array.get("Name", "")).startswith(SET_PREFIX):
                mesh.add_to_set(name[len(SET_PREFIX) :], np.flatnonzero(file.array(array, name)) + first)
    return mesh


class VtuFile:
    """The tree of a file and what its arrays are stored as."""

    def __init__(self, data: bytes):
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise MeshError("a .vtu file declares no document types and entities")
        self.left = UNPACKED * len(data) + SPARE
        text, self.appended, self.appended_raw = split_appended(data)
        try:
            self.root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise MeshError(f"not a .vtu file: {error}") from None
        if self.root.tag != "VTKFile" or self.root.get("type") != "UnstructuredGrid":
            raise MeshError("not a .vtu file: it must be a VTKFile of type UnstructuredGrid")
        self.order = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self.header = self.order + NUMBERS.get(self.root.get("header_type", "UInt32"), "u4")
        self.compressor = self.root.get("compressor", "")
        if self.compressor not in ("", ZLIB):
            raise MeshError(f"the .vtu file is packed with {self.compressor[:60]!r}; save it with zlib or unpacked")

    def pieces(self) -> list[ElementTree.Element]:
        """Its pieces; one at least."""
        found = self.root.findall("UnstructuredGrid/Piece")
        if not found:
            raise MeshError("the .vtu file has no Piece in an UnstructuredGrid")
        return found

    def array(self, element: ElementTree.Element | None, name: str) -> np.ndarray:
        """The numbers of a DataArray, (n,) or (n, components)."""
        if element is None:
            raise MeshError(f"the .vtu file has no array {name!r}")
        kind, form = NUMBERS.get(element.get("type", "")), element.get("format", "ascii")
        if kind is None:
            raise MeshError(f"array {name!r} of the .vtu file has no known type: {element.get('type')!r}")
        if form == "ascii":
            values = text_numbers(element.text or "", kind, name)
        else:
            raw = self.unpacked(self.stored(element, form, name), name)
            values = np.frombuffer(raw, self.order + kind, len(raw) // int(kind[1]))
        width = element.get("NumberOfComponents", "1")
        width = int(width) if width.isdigit() and len(width) < 10 else 0
        if width < 1 or len(values) % width:
            raise MeshError(f"array {name!r} of the .vtu file does not hold whole rows")
        return values.reshape(-1, width) if width > 1 else values

    def stored(self, element: ElementTree.Element, form: str, name: str) -> bytes:
        """The bytes of an array as they are stored, with its header."""
        if form == "binary":
            return decoded(element.text or "", name)
        offset = element.get("offset", "")
        if form != "appended" or not offset.isdigit() or len(offset) > 18:
            raise MeshError(f"array {name!r} of the .vtu file is neither ascii nor binary nor appended")
        part = self.appended[int(offset) :]
        return part if self.appended_raw else decoded(part.decode("ascii", errors="replace").split("<")[0], name)

    def unpacked(self, raw: bytes, name: str) -> bytes:
        """The bytes of an array without its header, unpacked where they are packed."""
        short = MeshError(f"array {name!r} of the .vtu file ends too early")
        size = int(self.header[2])
        if not self.compressor:
            count = int(np.frombuffer(raw[:size].ljust(size, b"\0"), self.header)[0])
            if len(raw) < size + count:
                raise short
            return raw[size : size + count]
        if len(raw) < size:
            raise short
        blocks = int(np.frombuffer(raw, self.header, 1)[0])
        if len(raw) < size * (3 + blocks):
            if blocks == 0:
                return b""
            raise short
        length, last, *packed = (int(value) for value in np.frombuffer(raw, self.header, 2 + blocks, size))
        parts, position = [], size * (3 + blocks)
        for number, count in enumerate(packed):
            most = last if last and number == blocks - 1 else length
            parts.append(self._block(raw[position : position + count], most, name))
            position += count
        return b"".join(parts)

    def _block(self, packed: bytes, most: int, name: str) -> bytes:
        """One block, which may have so many bytes at most."""
        self.left -= most
        if self.left < 0:
            raise MeshError(f"the .vtu file would unpack to more than {UNPACKED} times its size")
        unpacker = zlib.decompressobj()
        try:
            block = unpacker.decompress(packed, most + 1)
        except zlib.error as error:
            raise MeshError(f"array {name!r} of the .vtu file is damaged: {error}") from None
        if len(block) != most:
            raise MeshError(f"a block of array {name!r} of the .vtu file is not as long as it says")
        return block


def split_appended(data: bytes) -> tuple[bytes, bytes, bool]:
    """The text without what is appended, what is appended, and whether that is raw rather than in base64."""
    match = re.search(rb"<AppendedData([^>]*)>\s*_", data)
    if not match:
        return data, b"", False
    return data[: match.start()] + b"</VTKFile>", data[match.end() :], b"base64" not in match[1]


def decoded(text: str, name: str) -> bytes:
    """Bytes of a text in base64, which may be several such texts one after the other."""
    try:
        return b"".join(base64.b64decode(part, validate=True) for part in re.findall(r"[^=]+=*", "".join(text.split())))
    except (binascii.Error, ValueError) as error:
        raise MeshError(f"array {name!r} of the .vtu file is not in base64: {error}") from None


def text_numbers(text: str, kind: str, name: str) -> np.ndarray:
    """Numbers written out."""
    words = text.encode("ascii", errors="replace").split()
    return parsed(words, f"the values of array {name!r} of the .vtu file", np.float64 if kind[0] == "f" else np.int64)


def split_cells(connectivity: np.ndarray, ends: np.ndarray, types: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Cells by their type, each (m, k)."""
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    if len(ends) != len(types) or np.any(ends < starts) or (len(ends) and ends[-1] != len(connectivity)):
        raise MeshError("the cells of the .vtu file do not fit together: connectivity, offsets, types")
    blocks = []
    for code in np.unique(types).tolist():
        name, width = CELLS.get(code, (f"cells of VTK's type {code:g}", 0))
        own = np.flatnonzero(types == code)
        if width and np.any(ends[own] - starts[own] != width):
            raise MeshError(f"the .vtu file has cells of type {name} that have not {width} nodes")
        blocks.append((name, connectivity[np.add.outer(starts[own], np.arange(width))]))
    return blocks
