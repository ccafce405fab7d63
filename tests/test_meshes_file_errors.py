"""Mesh files that cannot be read or written: every one is refused with a message that names file and reason."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, box, read, sphere, write

meshio = pytest.importorskip("meshio")

TET_SUFFIXES = [".vtu", ".msh", ".mesh", ".node", ".ele"]

# one tet with the node tags 2, 40, 7, 9
GMSH_4 = (
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n"
    "$Nodes\n1 4 2 40\n3 1 0 4\n2\n40\n7\n9\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
    "$Elements\n1 1 1 1\n3 1 4 1\n2 2 40 7 9\n$EndElements\n"
)


@pytest.fixture(name="solid")
def make_solid():
    mesh = box((1, 2, 1), (2, 2, 1), "twelve").transformed(scale=1 / 3)
    return TetMesh(mesh.points, mesh.tets, {"low end": np.arange(6), "second": np.arange(4, 9)})


@pytest.fixture(name="shell")
def make_shell():
    return sphere(1 / 3, 2).surface()


@pytest.mark.parametrize("suffix", [*TET_SUFFIXES, ".obj", ".stl", ".ply"])
@pytest.mark.parametrize(
    "content", [b"", b"garbage in\n1 2 x\n", bytes(range(256)) * 8], ids=["empty", "text", "binary"]
)
def test_garbage_is_refused(tmp_path, suffix, content):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    if suffix in (".node", ".ele"):
        path.with_suffix(".node").write_bytes(content)
        path.with_suffix(".ele").write_bytes(content)
    with pytest.raises(MeshError, match=rf"a\{suffix}: "):
        read(path)


@pytest.mark.parametrize("suffix", [*TET_SUFFIXES, ".stl", ".ply"])
@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_truncated_files_are_refused(tmp_path, solid, shell, suffix, keep):
    path = tmp_path / f"a{suffix}"
    write(path, TetMesh(solid.points, solid.tets) if suffix in TET_SUFFIXES else shell)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(MeshError, match=rf"a\{suffix}: "):
        read(path)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_truncated_binary_gmsh_is_refused(tmp_path, solid, version, keep):
    path = tmp_path / "a.msh"
    meshio.gmsh.write(path, meshio.Mesh(solid.points, [("tetra", solid.tets)]), version, binary=True)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(MeshError, match="ends too early"):
        read(path)


POINTS = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.node", POINTS, r"a\.ele is missing; TetGen meshes need both"),
        ("a.node", "4 2 0 0\n", None),
        ("a.mesh", "MeshVersionFormatted 2\nDimension 3\n", "has no Vertices"),
        ("a.mesh", "MeshVersionFormatted 2\nVertices\n2\n0 0 0 0\n", "Vertices need 8 numbers, but only 4 follow"),
        ("a.mesh", "MeshVersionFormatted 2\nVertices\n1\n0 0 0 0\n", "no tets or triangles inside; .*found: none"),
        ("a.mesh", "MeshVersionFormatted 2\nVertices\n1\n0 ? 0 0\n", "Vertices must be numbers"),
        ("a.msh", "$MeshFormat\n1.0 0 8\n$EndMeshFormat\n", "version 1.0 is not supported; save as version 2.2 or 4.1"),
        ("a.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", r"no section \$Nodes"),
        ("a.msh", "$MeshFormat\n4.1 0 8\n", "not closed by"),
        ("a.msh", GMSH_4.replace("2 2 40 7 9", "2 2 40 7 99"), "names node 99"),
        ("a.msh", GMSH_4.replace("3 1 4 1", "3 1 77 1"), "unknown Gmsh element type 77"),
        ("a.msh", GMSH_4.replace("0 0 1\n$EndNodes", "0 0 zero\n$EndNodes"), r"section \$Nodes must be numbers"),
        ("a.obj", "v 0 0 0\nf 1 2\n", r"line 2 of the \.obj file makes no sense: 'f 1 2'"),
        ("a.obj", "v 0 0\nf 1 1 1\n", "needs three coordinates"),
        ("a.obj", "v 0 0 0\nf 1 2 3\n", "triangles must index points 0 to 0"),
    ],
)
def test_bad_files_are_explained(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    if message is None:
        (tmp_path / "a.ele").write_text("0 4 0\n")
        message = "points in 3 dimensions, not 2"
    with pytest.raises(MeshError, match=message) as caught:
        read(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([("hexahedron", np.arange(8)[None])], "no tets or triangles inside; cell types found: hexahedron"),
        ([("hexahedron20", np.arange(20)[None])], "found: hexahedron20. Save tets of 4 or 10 nodes, or triangles of 3"),
        ([("triangle6", np.arange(6)[None])], "no tets or triangles inside; cell types found: triangle6"),
        ([("tetra", [[0, 1, 2, 3]]), ("triangle6", np.arange(6)[None])], "cells other than tets inside: triangle6"),
        (
            [("tetra10", np.arange(10)[None]), ("wedge", np.arange(6)[None])],
            "than tets of 10 nodes inside: wedge",
        ),
        ([("tetra10", np.arange(10)[None]), ("tetra", [[0, 1, 2, 3]])], "a.vtu: tets of 4 nodes .* cannot be mixed"),
        ([("tetra", [[0, 1, 2, 3]]), ("hexahedron", np.arange(8)[None])], "cells other than tets inside: hexahedron"),
        ([("triangle", [[0, 1, 2]]), ("quad", [[0, 1, 2, 3]])], "cells other than triangles inside: quad"),
    ],
)
def test_other_cells_are_named(tmp_path, cells, message):
    points = np.random.default_rng(1).random((20, 3))
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(points, cells))
    with pytest.raises(MeshError, match=message):
        read(tmp_path / "a.vtu")


def test_tetgen_errors(tmp_path):
    (tmp_path / "a.node").write_text(POINTS)
    for elements, message in [
        ("1 5 0\n0 0 1 2 3 4\n", "must hold tets of 4 or 10 nodes, not 5"),
        ("2 4 0\n0 0 1 2 3\n", "the 2 tets of a.ele need 10 numbers, but only 5 follow"),
        ("many\n", "a.ele must start with a line of counts"),
        ("1 4 0\n0 0 1 2 7\n", "tets must index points 0 to 3"),
    ]:
        (tmp_path / "a.ele").write_text(elements)
        with pytest.raises(MeshError, match=message):
            read(tmp_path / "a.node")
    (tmp_path / "a.node").write_text(POINTS.replace("2 0 1 0", "5 0 1 0"))
    with pytest.raises(MeshError, match="must be numbered one after the other, but are not after 1, 5"):
        read(tmp_path / "a.node")


def test_missing_files_and_unknown_suffixes(tmp_path, solid):
    with pytest.raises(MeshError, match=r"nowhere\.msh: there is no such mesh file"):
        read(tmp_path / "nowhere.msh")
    for action in (lambda: read(tmp_path / "a.step"), lambda: write(tmp_path / "a.step", solid)):
        with pytest.raises(MeshError, match=r"unknown mesh suffix '\.step'; allowed are \.vtu, \.msh, \.node"):
            action()
    (tmp_path / "file").write_text("")
    with pytest.raises(MeshError, match=r"a\.msh: cannot be written: File exists"):
        write(tmp_path / "file" / "a.msh", solid)


@pytest.mark.parametrize(
    ("suffix", "surface", "options", "message"),
    [
        (".stl", False, {}, r"hold triangles only; write mesh\.surface\(\)"),
        (".node", True, {}, "hold tets only; for triangles use"),
        (".mesh", False, {"point_data": {"a": [1]}}, r"hold no point_data or cell_data; use \.vtu or \.msh"),
        (".vtu", False, {"point_data": {"a": [1, 2]}}, r"point_data 'a' must be numbers of shape"),
        (".vtu", False, {"point_data": {"a": np.zeros((22, 0))}}, r"not float64 of shape \(22, 0\)"),
        (".vtu", False, {"cell_data": {"a": "text"}}, r"cell_data 'a' must be numbers of shape"),
        (".msh", False, {"version": "3"}, "unknown Gmsh version '3'; allowed are '2' and '4'"),
        (".mesh", False, {}, "the sets 'low end' and 'second' overlap"),
    ],
)
def test_bad_writes_are_explained_and_leave_nothing(tmp_path, solid, suffix, surface, options, message):
    mesh = solid.surface() if surface else solid
    with pytest.raises(MeshError, match=message):
        write(tmp_path / f"a{suffix}", mesh, **options)
    assert list(tmp_path.iterdir()) == []


def test_gmsh_limits(tmp_path, solid):
    with pytest.raises(MeshError, match="1, 3 or 9 components, but 'a' has 2"):
        write(tmp_path / "a.msh", solid, {"a": np.zeros((len(solid.points), 2))})
    with pytest.raises(MeshError, match="may not hold quotes"):
        write(tmp_path / "a.msh", TetMesh(solid.points, solid.tets, {'a"b': [0]}))
    with pytest.raises(MeshError, match="only a TetMesh or a TriMesh can be written, not int"):
        write(tmp_path / "a.msh", 3)


def test_numbers_that_do_not_fit_are_named(tmp_path, solid, shell):
    half = np.zeros(len(solid.points), np.float16)
    with pytest.raises(MeshError, match=r"a\.vtu: point_data\['heat'\]: VTK has no number type for float16"):
        write(tmp_path / "a.vtu", solid, {"heat": half})
    with pytest.raises(MeshError, match=r"a\.stl: \.stl files hold numbers of single precision, .* use \.ply or \.obj"):
        write(tmp_path / "a.stl", shell.transformed(scale=2e39))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(tmp_path, solid):
    write(tmp_path / "a.msh", solid)
    before = (tmp_path / "a.msh").read_bytes()
    with pytest.raises(MeshError):
        write(tmp_path / "a.msh", solid, version="9")
    assert (tmp_path / "a.msh").read_bytes() == before
