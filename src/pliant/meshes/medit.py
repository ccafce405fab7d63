"""Medit's text format (.mesh): keywords, each followed by a count and a table whose last column is a reference.

References other than zero become sets `vertex_ref_N`, `edge_ref_N`, `triangle_ref_N`, `tet_ref_N`. Own sets are written
as vertex references, their names in comments that other programs skip; a vertex has one reference only, so sets
that overlap cannot be written.
"""

import json
import re
from pathlib import Path

import numpy as np

from ..errors import MeshError
from .raw_mesh import RawMesh, cell_block, numbers
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh

CELLS = {
    "Edges": ("line", 2, "edge_ref"),
    "Triangles": ("triangle", 3, "triangle_ref"),
    "Quadrilaterals": ("quad", 4, "quad_ref"),
    "Tetrahedra": ("tetra", 4, "tet_ref"),
    "Hexahedra": ("hexahedron", 8, "hexahedron_ref"),
    "Hexaedra": ("hexahedron", 8, "hexahedron_ref"),
    "Prisms": ("wedge", 6, "prism_ref"),
    "Pyramids": ("pyramid", 5, "pyramid_ref"),
}
NO_MIDPOINTS = "they hold tets of 4 nodes here; for 10 use .vtu, .msh or .node"
HIGHER_ORDER = re.compile(r"[A-Z][A-Za-z]*P[2-9]")
NAME_COMMENT = re.compile(r"^# vertex_ref (\d+): (.*)$", re.MULTILINE)


def read_medit(path: Path) -> RawMesh:
    """Read points, cells and references; keywords not needed here are skipped."""
    text = path.read_text()
    words = re.sub(r"#.*", "", text).split()
    if not words or words[0] != "MeshVersionFormatted":
        raise MeshError("not a Medit text file: it must start with MeshVersionFormatted")
    higher = sorted({word for word in words if HIGHER_ORDER.fullmatch(word)})
    if higher:
        raise MeshError(f"{', '.join(higher)} cannot be read from Medit files; {NO_MIDPOINTS}")
    starts = [i for i, word in enumerate(words) if word.isalpha() and word.lower() not in ("nan", "inf")]
    tables = {words[start]: words[start + 1 : end] for start, end in zip(starts, [*starts[1:], len(words)])}
    if "Vertices" not in tables:
        raise MeshError("the Medit file has no Vertices")
    dimension = int(numbers(tables.get("Dimension", ["3"]), 1, "Dimension")[0])
    vertices = read_table(tables["Vertices"], dimension + 1, "Vertices", np.float64)
    mesh = RawMesh(points=vertices[:, :dimension])
    mesh.add_references("vertex_ref", vertices[:, -1], np.arange(len(vertices)))
    for keyword, (cell_type, width, prefix) in CELLS.items():
        if keyword in tables:
            table = read_table(tables[keyword], width + 1, keyword, np.int64)
            mesh.cells.append((cell_type, table[:, :-1] - 1))
            mesh.add_references(prefix, table[:, -1], table[:, :-1] - 1)
    rename_sets(mesh, text)
    return mesh


def read_table(words: list[str], width: int, keyword: str, dtype: type) -> np.ndarray:
    """Table (count, width) after a keyword and its count."""
    count = int(numbers(words, 1, keyword, np.int64)[0])
    return numbers(words[1:], count * width, keyword, dtype).reshape(count, width)


def rename_sets(mesh: RawMesh, text: str) -> None:
    """Give the sets that medit_text wrote their names back."""
    for reference, name in NAME_COMMENT.findall(text):
        members = mesh.sets.pop(f"vertex_ref_{reference}", None)
        if members is not None:
            mesh.sets[json.loads(name)] = members


def medit_text(mesh: TetMesh | TriMesh) -> str:
    """Text of a .mesh file; raises MeshError when sets overlap or tets have ten nodes."""
    cell_type, cells = cell_block(mesh)
    if cell_type == "tetra10":
        raise MeshError(f"tets of 10 nodes cannot be written to Medit files; {NO_MIDPOINTS}")
    references = np.zeros(len(mesh.points), dtype=int)
    comments = []
    for number, (name, members) in enumerate(mesh.sets.items(), start=1):
        if references[members].any():
            other = list(mesh.sets)[references[members].max() - 1]
            raise MeshError(
                f"Medit keeps one reference per point, but the sets {other!r} and {name!r} overlap; "
                "write .vtu, .msh or .node, or a mesh without these sets"
            )
        references[members] = number
        comments.append(f"# vertex_ref {number}: {json.dumps(name)}")
    keyword = "Tetrahedra" if cell_type == "tetra" else "Triangles"
    points = (
        " ".join([*map(repr, point), str(reference)])
        for point, reference in zip(mesh.points.tolist(), references.tolist())
    )
    rows = (" ".join([*map(str, row), "0"]) for row in (cells + 1).tolist())
    lines = ["MeshVersionFormatted 2", "Dimension 3", *comments, "Vertices", str(len(mesh.points)), *points]
    return "\n".join([*lines, keyword, str(len(cells)), *rows, "End"]) + "\n"
