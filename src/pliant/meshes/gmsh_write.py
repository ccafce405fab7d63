"""Gmsh's .msh files as text, versions 2.2 and 4.1; sets become physical groups of points."""

from collections.abc import Iterator

import numpy as np

from ..errors import MeshError
from .gmsh_read import GMSH_TET10
from .raw_mesh import cell_block
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh

CODES = {"triangle": (2, 2), "tetra": (4, 3), "tetra10": (11, 3)}
"""Gmsh's element type and dimension."""
POINT_CODE = 15
VERSIONS = {"2": "2.2", "2.2": "2.2", "4": "4.1", "4.1": "4.1"}

Data = dict[str, np.ndarray]


def gmsh_text(mesh: TetMesh | TriMesh, point_data: Data, cell_data: Data, version: str = "4") -> str:
    """Text of a .msh file; numbers are written with all their digits."""
    if str(version) not in VERSIONS:
        raise MeshError(f"unknown Gmsh version {version!r}; allowed are '2' and '4'")
    body = lines_2 if VERSIONS[str(version)] == "2.2" else lines_4
    groups = [(name, members + 1) for name, members in mesh.sets.items() if len(members)]
    lines = ["$MeshFormat", f"{VERSIONS[str(version)]} 0 8", "$EndMeshFormat", *name_lines(groups)]
    lines += body(mesh, groups)
    first_cell = 1 + sum(len(members) for _, members in groups)
    for name, values in point_data.items():
        lines += data_lines("NodeData", name, values, 1)
    for name, values in cell_data.items():
        lines += data_lines("ElementData", name, values, first_cell)
    return "\n".join(lines) + "\n"


def gmsh_block(mesh: TetMesh | TriMesh) -> tuple[str, np.ndarray]:
    """Type and cells (m, k) of a mesh, nodes in the order of Gmsh."""
    cell_type, cells = cell_block(mesh)
    return cell_type, cells[:, GMSH_TET10] if cell_type == "tetra10" else cells


def name_lines(groups: list[tuple[str, np.ndarray]]) -> list[str]:
    """The section of names; groups are numbered from 1."""
    if not groups:
        return []
    for name, _ in groups:
        if '"' in name or "\n" in name:
            raise MeshError(f"Gmsh cannot store the set name {name!r}; names may not hold quotes or line breaks")
    names = [f'0 {number} "{name}"' for number, (name, _) in enumerate(groups, start=1)]
    return ["$PhysicalNames", str(len(groups)), *names, "$EndPhysicalNames"]


def joined(rows: np.ndarray) -> Iterator[str]:
    """Rows (m, k) of numbers as text, exact."""
    return (" ".join(map(repr, row)) for row in rows.tolist())


def lines_2(mesh: TetMesh | TriMesh, groups: list[tuple[str, np.ndarray]]) -> Iterator[str]:
    """Sections of version 2.2: first the points of every group, then the cells."""
    cell_type, cells = gmsh_block(mesh)
    count = len(mesh.points)
    yield from ("$Nodes", str(count))
    yield from (f"{tag} {line}" for tag, line in enumerate(joined(mesh.points), start=1))
    yield from ("$EndNodes", "$Elements", str(len(cells) + sum(len(members) for _, members in groups)))
    tag = 0
    for number, (_, members) in enumerate(groups, start=1):
        for node in members.tolist():
            tag += 1
            yield f"{tag} {POINT_CODE} 2 {number} {number} {node}"
    for line in joined(cells + 1):
        tag += 1
        yield f"{tag} {CODES[cell_type][0]} 2 0 1 {line}"
    yield "$EndElements"


def lines_4(mesh: TetMesh | TriMesh, groups: list[tuple[str, np.ndarray]]) -> Iterator[str]:
    """Sections of version 4.1: one point entity per group, one surface or volume for the cells.

    The latter gets the physical tag 0, none, since some readers want one for every entity or for no entity.
    """
    cell_type, cells = gmsh_block(mesh)
    code, dimension = CODES[cell_type]
    count, total = len(mesh.points), len(cells) + sum(len(members) for _, members in groups)
    low, high = (" ".join(map(repr, corner)) for corner in mesh.bounds.tolist())
    surfaces, volumes = int(dimension == 2), int(dimension == 3)
    yield from ("$Entities", f"{len(groups)} 0 {surfaces} {volumes}")
    for number, (_, members) in enumerate(groups, start=1):
        yield f"{number} {' '.join(map(repr, mesh.points[members[0] - 1].tolist()))} 1 {number}"
    yield from (f"1 {low} {high} 1 0 0", "$EndEntities", "$Nodes", f"1 {count} 1 {count}", f"{dimension} 1 0 {count}")
    yield from map(str, range(1, count + 1))
    yield from joined(mesh.points)
    yield from ("$EndNodes", "$Elements", f"{len(groups) + 1} {total} 1 {total}")
    tag = 1
    for number, (_, members) in enumerate(groups, start=1):
        yield f"0 {number} {POINT_CODE} {len(members)}"
        yield from (f"{tag + index} {node}" for index, node in enumerate(members.tolist()))
        tag += len(members)
    yield f"{dimension} 1 {code} {len(cells)}"
    yield from (f"{tag + index} {line}" for index, line in enumerate(joined(cells + 1)))
    yield "$EndElements"


def data_lines(section: str, name: str, values: np.ndarray, first: int) -> Iterator[str]:
    """A field (m,), (m, 3) or (m, 9) on nodes or elements numbered from first."""
    rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    if rows.shape[1] not in (1, 3, 9):
        raise MeshError(f"Gmsh stores fields of 1, 3 or 9 components, but {name!r} has {rows.shape[1]}; write .vtu")
    yield from (f"${section}", "1", f'"{name}"', "1", "0.0", "3", "0", str(rows.shape[1]), str(len(rows)))
    yield from (f"{tag} {line}" for tag, line in enumerate(joined(rows), start=first))
    yield f"$End{section}"
