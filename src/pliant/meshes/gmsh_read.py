"""Gmsh's .msh files, versions 2 and 4.1, text and binary.

The format: https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format. Physical groups become node sets under their
names, or as `physical_DIMENSION_TAG` when they have none. An element may belong to several groups.
"""

import re
import shlex
from pathlib import Path

import numpy as np

from ..errors import MeshError
from .raw_mesh import ALLOWED, RawMesh, grouped, parsed

ELEMENTS = {
    1: ("line", 1, 2),
    2: ("triangle", 2, 3),
    3: ("quad", 2, 4),
    4: ("tetra", 3, 4),
    5: ("hexahedron", 3, 8),
    6: ("wedge", 3, 6),
    7: ("pyramid", 3, 5),
    8: ("line3", 1, 3),
    9: ("triangle6", 2, 6),
    10: ("quad9", 2, 9),
    11: ("tetra10", 3, 10),
    12: ("hexahedron27", 3, 27),
    13: ("wedge18", 3, 18),
    14: ("pyramid14", 3, 14),
    15: ("vertex", 0, 1),
    16: ("quad8", 2, 8),
    17: ("hexahedron20", 3, 20),
    18: ("wedge15", 3, 15),
    19: ("pyramid13", 3, 13),
    21: ("triangle10", 2, 10),
    26: ("line4", 1, 4),
    29: ("tetra20", 3, 20),
}
"""Gmsh's element types: name, dimension, number of nodes."""

GMSH_TET10 = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]
"""Gmsh's nodes of a ten-node tet in the order of VTK, and the other way round: the last two change places."""

Block = tuple[int, np.ndarray, list[int]]
"""Element type, node tags (m, k), physical tags of all its elements."""


class Stream:
    """Numbers of one section, taken in order, from text or binary."""

    def __init__(self, content: bytes, binary: bool, name: str) -> None:
        self.content, self.binary, self.name = content, binary, name
        self.words = [] if binary else content.split()
        self.position = 0

    def take(self, count: int, dtype: str) -> np.ndarray:
        """The next count numbers; dtype is i4, u8 or f8."""
        count = int(count)
        step = np.dtype(dtype).itemsize * count if self.binary else count
        available = (len(self.content) if self.binary else len(self.words)) - self.position
        if step > available or count < 0:
            raise MeshError(f"the section ${self.name} ends too early")
        start = self.position
        self.position += step
        if self.binary:
            return np.frombuffer(self.content, "<" + dtype, count, start)
        kind = np.float64 if dtype == "f8" else np.int64
        return parsed(self.words[start : self.position], f"the values of section ${self.name}", kind)

    def take_line(self) -> int:
        """The integer on a line of its own, which is text even in a binary section of version 2."""
        if not self.binary:
            return int(self.take(1, "i4")[0])
        line, newline, _ = self.content[self.position :].partition(b"\n")
        if not newline or not line.strip().isdigit():
            raise MeshError(f"the section ${self.name} must start with a count")
        self.position += len(line) + 1
        return int(line)


def read_gmsh(path: Path) -> RawMesh:
    """Read nodes, elements and physical groups."""
    sections = split_sections(path.read_bytes())
    version, binary = read_format(sections)
    for needed in ("Nodes", "Elements"):
        if needed not in sections:
            raise MeshError(f"the .msh file has no section ${needed}")
    streams = {name: Stream(content, binary, name) for name, content in sections.items() if name in READ_SECTIONS}
    if version == "2":
        tags, points = read_nodes_2(streams["Nodes"])
        blocks = read_elements_2(streams["Elements"])
    else:
        physical = read_entities_4(streams["Entities"]) if "Entities" in streams else {}
        tags, points = read_nodes_4(streams["Nodes"])
        blocks = read_elements_4(streams["Elements"], physical)
    return assemble(tags, points, blocks, read_names(sections.get("PhysicalNames", b"0")))


SECTION = re.compile(rb"\$(\w{1,100})[ \t\r]{0,100}\n")
READ_SECTIONS = ("Entities", "Nodes", "Elements")


def split_sections(data: bytes) -> dict[str, bytes]:
    """Content between $Name and $EndName, by name."""
    sections: dict[str, bytes] = {}
    position = 0
    while match := SECTION.search(data, position):
        name = match[1]
        end = data.find(b"$End" + name, match.end())
        if end < 0:
            raise MeshError(f"the file ends too early: ${name.decode()} is not closed by $End{name.decode()}")
        sections.setdefault(name.decode(), data[match.end() : end])
        position = end + 4 + len(name)
    return sections


def read_format(sections: dict[str, bytes]) -> tuple[str, bool]:
    """Major version, "2" or "4", and whether the file is binary."""
    words = sections.get("MeshFormat", b"").split()
    if len(words) < 3:
        raise MeshError("not a Gmsh file: the section $MeshFormat is missing")
    version, binary = words[0].decode(errors="replace"), words[1] == b"1"
    if version not in ("2", "2.0", "2.1", "2.2", "4", "4.1"):
        raise MeshError(f"Gmsh format version {version} is not supported; save as version 2.2 or 4.1")
    one = sections["MeshFormat"].partition(b"\n")[2][:4]
    if binary and one != b"\x01\x00\x00\x00":
        raise MeshError("the binary Gmsh file has the byte order of another machine; save it as text")
    return version[0], binary


def read_names(content: bytes) -> dict[tuple[int, int], str]:
    """Names of the physical groups by dimension and tag."""
    names = {}
    for line in content.decode(errors="replace").splitlines()[1:]:
        words = shlex.split(line)
        if len(words) >= 3:
            names[int(words[0]), int(words[1])] = words[2]
    return names


def element_type(code: int) -> tuple[str, int, int]:
    """Name, dimension and number of nodes of an element type."""
    if int(code) not in ELEMENTS:
        raise MeshError(f"unknown Gmsh element type {int(code)}; save {ALLOWED}")
    return ELEMENTS[int(code)]


def read_nodes_2(stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Node tags (n,) and points (n, 3) of version 2."""
    count = stream.take_line()
    if stream.binary:
        table = stream.take(count * 28, "u1").view([("tag", "<i4"), ("point", "<f8", 3)])
        return table["tag"].astype(np.int64), table["point"].astype(np.float64)
    table = stream.take(count * 4, "f8").reshape(count, 4)
    return table[:, 0].astype(np.int64), table[:, 1:]


def read_elements_2(stream: Stream) -> list[Block]:
    """Element blocks of version 2; the first tag of an element is its physical group, zero for none."""
    count = stream.take_line()
    rows = binary_rows_2(stream, count) if stream.binary else text_rows_2(stream, count)
    blocks = []
    for code, tag_count, table in rows:
        groups = table[:, 1] if tag_count else np.zeros(len(table), dtype=np.int64)
        for group, own in grouped(groups):
            blocks.append((code, table[own, 1 + tag_count :], [int(group)] if group else []))
    return blocks


def binary_rows_2(stream: Stream, count: int) -> list[tuple[int, int, np.ndarray]]:
    """Tables of elements (tag, tags, nodes), with their type and number of tags."""
    rows = []
    while count > 0:
        code, block, tag_count = (int(value) for value in stream.take(3, "i4"))
        width = 1 + tag_count + element_type(code)[2]
        if block <= 0 or tag_count < 0:
            raise MeshError("the section $Elements holds an empty block")
        rows.append((code, tag_count, stream.take(block * width, "i4").reshape(block, width)))
        count -= block
    return rows


def text_rows_2(stream: Stream, count: int) -> list[tuple[int, int, np.ndarray]]:
    """Like binary_rows_2: walk the lines (tag, type, number of tags, tags, nodes), neighbours of a kind together."""
    values = stream.take(len(stream.words) - stream.position, "i4")
    flat = values.tolist()
    kinds: dict[tuple[int, int], list[int]] = {}
    position = 0
    for _ in range(count):
        if position + 3 > len(flat):
            raise MeshError("the section $Elements ends too early")
        kind = (flat[position + 1], flat[position + 2])
        if kind[1] < 0:
            raise MeshError("the section $Elements holds a negative number of tags")
        kinds.setdefault(kind, []).append(position)
        position += 3 + kind[1] + element_type(kind[0])[2]
    if position > len(flat):
        raise MeshError("the section $Elements ends too early")
    rows = []
    for (code, tag_count), starts in kinds.items():
        columns = [0, *range(3, 3 + tag_count + element_type(code)[2])]
        rows.append((code, tag_count, values[np.add.outer(starts, columns)]))
    return rows


def read_entities_4(stream: Stream) -> dict[tuple[int, int], list[int]]:
    """Physical tags of each entity, by dimension and tag."""
    physical = {}
    for dimension, count in enumerate(stream.take(4, "u8")):
        for _ in range(int(count)):
            tag = int(stream.take(1, "i4")[0])
            stream.take(6 if dimension else 3, "f8")
            physical[dimension, tag] = stream.take(stream.take(1, "u8")[0], "i4").tolist()
            if dimension:
                stream.take(stream.take(1, "u8")[0], "i4")
    return physical


def read_nodes_4(stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Node tags (n,) and points (n, 3) of version 4.1; parameters of nodes on curves and surfaces are skipped."""
    block_count = int(stream.take(4, "u8")[0])
    tags, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(block_count):
        dimension, _, parametric = stream.take(3, "i4")
        count = int(stream.take(1, "u8")[0])
        width = 3 + min(max(int(dimension), 0), 3) * bool(parametric)
        tags.append(stream.take(count, "u8").astype(np.int64))
        points.append(stream.take(count * width, "f8").reshape(count, width)[:, :3])
    return np.concatenate(tags), np.concatenate(points)


def read_elements_4(stream: Stream, physical: dict[tuple[int, int], list[int]]) -> list[Block]:
    """Element blocks of version 4.1."""
    blocks = []
    for _ in range(int(stream.take(4, "u8")[0])):
        dimension, entity, code = (int(value) for value in stream.take(3, "i4"))
        count = int(stream.take(1, "u8")[0])
        width = 1 + element_type(code)[2]
        table = stream.take(count * width, "u8").reshape(count, width).astype(np.int64)
        blocks.append((code, table[:, 1:], [abs(tag) for tag in physical.get((dimension, entity), []) if tag]))
    return blocks


def assemble(tags: np.ndarray, points: np.ndarray, blocks: list[Block], names: dict) -> RawMesh:
    """Replace node tags, which may have gaps, by indices, and gather the physical groups."""
    mesh = RawMesh(points)
    if not len(tags):
        raise MeshError("the section $Nodes holds no nodes")
    order = np.argsort(tags, kind="stable")
    for code, nodes, groups in blocks:
        place = np.minimum(np.searchsorted(tags, nodes, sorter=order), len(tags) - 1)
        indices = order[place]
        unknown = nodes[tags[indices] != nodes]
        if len(unknown):
            raise MeshError(f"an element names node {int(unknown[0])}, which the section $Nodes does not hold")
        name, dimension, _ = element_type(code)
        mesh.cells.append((name, indices[:, GMSH_TET10] if name == "tetra10" else indices))
        for group in groups:
            mesh.add_to_set(names.get((dimension, group), f"physical_{dimension}_{group}"), indices)
    return mesh
