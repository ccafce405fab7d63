"""TetGen's pair of files: NAME.node with the points and NAME.ele with the tets, and NAME.face where there is one.

The format: https://wias-berlin.de/software/tetgen/fformats.html. Point markers become sets `marker_N`, tet attributes
`region_N`, face markers `face_marker_N` (zero means none). Own sets are written as 0/1 point attributes, their names
in a comment that other programs skip.
"""

import json
from pathlib import Path

import numpy as np

from ..errors import MeshError
from .raw_mesh import RawMesh, cell_block, check_consecutive, numbers
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh

SETS_COMMENT = "# sets: "
TO_VTK = [0, 1, 2, 3, 6, 7, 9, 5, 8, 4]
FROM_VTK = [0, 1, 2, 3, 9, 7, 4, 5, 8, 6]
"""TetGen's ten nodes (option -o2) are the corners, then the midpoints of the edges 23, 03, 01, 12, 13, 02."""


def read_tetgen(path: Path) -> RawMesh:
    """Read both files, given either."""
    node_path, element_path = path.with_suffix(".node"), path.with_suffix(".ele")
    for needed in (node_path, element_path):
        if not needed.exists():
            raise MeshError(f"{needed.name} is missing; TetGen meshes need both the .node and the .ele file")
    text = node_path.read_text()
    header, tokens = split_table(text, node_path.name)
    count, dimension, attribute_count, has_marker = filled(header, (0, 3, 0, 0))
    if dimension != 3:
        raise MeshError(f"{node_path.name} must hold points in 3 dimensions, not {dimension}")
    width = 4 + attribute_count + has_marker
    table = numbers(tokens, count * width, f"the {count} points of {node_path.name}").reshape(count, width)
    first = check_consecutive(table[:, 0], f"points of {node_path.name}")
    mesh = RawMesh(points=table[:, 1:4])
    add_named_sets(mesh, text, table[:, 4 : 4 + attribute_count])
    if has_marker:
        mesh.add_references("marker", table[:, -1], np.arange(count))
    read_elements(mesh, element_path, first)
    if path.with_suffix(".face").exists():
        read_faces(mesh, path.with_suffix(".face"), first)
    return mesh


def split_table(text: str, name: str) -> tuple[list[int], list[str]]:
    """The integers of the first line that is no comment, and all words after it."""
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    try:
        header = [int(word) for word in lines[0].split()]
    except (IndexError, ValueError):
        raise MeshError(f"{name} must start with a line of counts") from None
    if min(header) < 0:
        raise MeshError(f"{name} starts with a negative count")
    return header, " ".join(lines[1:]).split()


def filled(header: list[int], defaults: tuple[int, ...]) -> tuple[int, ...]:
    """The counts of a header line, with defaults for those it leaves out."""
    return (*header[: len(defaults)], *defaults[len(header) :])


def add_named_sets(mesh: RawMesh, text: str, attributes: np.ndarray) -> None:
    """Read back the sets that write_tetgen stored as point attributes."""
    for line in text.splitlines():
        if line.startswith(SETS_COMMENT):
            for name, column in zip(json.loads(line[len(SETS_COMMENT) :]), attributes.T):
                mesh.add_to_set(name, np.flatnonzero(column))


def read_elements(mesh: RawMesh, path: Path, first: int) -> None:
    """Add the tets of an .ele file, and the sets region_N of its attributes."""
    header, tokens = split_table(path.read_text(), path.name)
    count, nodes, attribute_count = filled(header, (0, 4, 0))
    if nodes not in (4, 10):
        raise MeshError(f"{path.name} must hold tets of 4 or 10 nodes, not {nodes}")
    width = 1 + nodes + attribute_count
    table = numbers(tokens, count * width, f"the {count} tets of {path.name}").reshape(count, width)
    tets = table[:, 1 : 1 + nodes].astype(np.int64) - first
    mesh.cells.append(("tetra", tets) if nodes == 4 else ("tetra10", tets[:, TO_VTK]))
    if attribute_count:
        mesh.add_references("region", table[:, 1 + nodes], tets)


def read_faces(mesh: RawMesh, path: Path, first: int) -> None:
    """Add the sets face_marker_N of a .face file; the faces themselves follow from the tets."""
    header, tokens = split_table(path.read_text(), path.name)
    count, has_marker = filled(header, (0, 0))
    if has_marker and count:
        width = len(tokens) // count
        if width < 5:
            raise MeshError(f"the file ends too early: {count} faces of {path.name} need 5 numbers each")
        table = numbers(tokens, count * width, f"the {count} faces of {path.name}").reshape(count, width)
        nodes = 6 if mesh.cells[0][0] == "tetra10" and width >= 8 else 3
        mesh.add_references("face_marker", table[:, 1 + nodes], table[:, 1 : 1 + nodes].astype(np.int64) - first)


def node_text(mesh: TetMesh | TriMesh) -> str:
    """Text of the .node file: points numbered from 0, one 0/1 attribute per set, no markers."""
    names = list(mesh.sets)
    member = np.zeros((len(mesh.points), len(names)), dtype=int)
    for column, name in enumerate(names):
        member[mesh.sets[name], column] = 1
    lines = [SETS_COMMENT + json.dumps(names)] if names else []
    lines.append(f"{len(mesh.points)} 3 {len(names)} 0")
    for index, (point, flags) in enumerate(zip(mesh.points.tolist(), member.tolist())):
        lines.append(" ".join([str(index), *map(repr, point), *map(str, flags)]))
    return "\n".join(lines) + "\n"


def element_text(mesh: TetMesh | TriMesh) -> str:
    """Text of the .ele file: tets numbered from 0."""
    kind, tets = cell_block(mesh)
    tets = tets[:, FROM_VTK] if kind == "tetra10" else tets
    rows = np.column_stack([np.arange(len(tets)), tets]).tolist()
    return "\n".join([f"{len(tets)} {tets.shape[1]} 0", *(" ".join(map(str, row)) for row in rows)]) + "\n"
