"""Reading and writing: round trips in every format, sets, and the files of other programs."""

import sys

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, TriMesh, box, read, sphere, write
from pliant.meshes.stl import RECORD

meshio = pytest.importorskip("meshio")

TET_SUFFIXES = [".vtu", ".msh", ".mesh", ".node", ".ele"]
SURFACE_SUFFIXES = [".vtu", ".msh", ".mesh", ".obj", ".ply", ".stl"]


def awkward(mesh):
    """The mesh moved to coordinates that need all their digits."""
    return mesh.transformed(scale=1 / 3, rotation=(0.9, 0.1, 0.3, 0.2), translation=(1e-7, np.pi, -1e3))


@pytest.fixture(name="solid")
def make_solid():
    mesh = awkward(box((1, 2, 1), (2, 2, 1), "twelve"))
    sets = {"low end": np.arange(6), "second": np.arange(4, 9)}
    return TetMesh(mesh.points, mesh.tets, sets)


@pytest.fixture(name="shell")
def make_shell():
    surface = awkward(sphere(1.0, 2)).surface()
    return TriMesh(surface.points, surface.triangles, repair=True)


def same_sets(first, second):
    return first.sets.keys() == second.sets.keys() and all(
        np.array_equal(first.sets[name], second.sets[name]) for name in first.sets
    )


@pytest.mark.parametrize("suffix", TET_SUFFIXES)
@pytest.mark.parametrize("version", ["2", "4"])
def test_tets_survive_bit_by_bit(tmp_path, solid, suffix, version):
    mesh = solid if suffix != ".mesh" else TetMesh(solid.points, solid.tets, {"low end": [0, 1], "second": [7]})
    write(tmp_path / f"a{suffix}", mesh, version=version)
    back = read(tmp_path / f"a{suffix}")
    assert isinstance(back, TetMesh)
    assert np.array_equal(back.points, mesh.points)
    assert np.array_equal(back.tets, mesh.tets)
    assert same_sets(back, mesh)
    expected = {"a.node", "a.ele"} if suffix in (".node", ".ele") else {f"a{suffix}"}
    assert {path.name for path in tmp_path.iterdir()} == expected


@pytest.mark.parametrize("suffix", SURFACE_SUFFIXES)
def test_triangles_survive(tmp_path, shell, suffix):
    path = tmp_path / f"a{suffix}"
    write(path, shell)
    back = read(path)
    assert isinstance(back, TriMesh)
    assert back.is_closed
    # STL has no shared points, which come back in another order, and single precision
    written = shell.points.astype(np.float32 if suffix == ".stl" else np.float64)
    assert np.array_equal(back.points[back.triangles], written[shell.triangles])
    if suffix != ".stl":
        assert np.array_equal(back.points, shell.points)
        assert np.array_equal(back.triangles, shell.triangles)


@pytest.mark.parametrize("suffix", [".vtu", ".msh", ".mesh"])
def test_other_programs_read_what_we_write(tmp_path, solid, suffix):
    mesh = TetMesh(solid.points, solid.tets) if suffix == ".mesh" else solid
    for version in ("2", "4"):
        write(tmp_path / f"a{suffix}", mesh, version=version)
        found = meshio.read(tmp_path / f"a{suffix}")
        assert np.array_equal(found.points, mesh.points)
        tets = found.get_cells_type("tetra")
        corners = found.points[tets]
        # VTK's orientation: (X1-X0) x (X2-X0) . (X3-X0) > 0
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("ij,ij->i", normal, corners[:, 3] - corners[:, 0]) > 0).all()
        if suffix == ".msh":
            assert set(found.field_data) == {"low end", "second"}
            assert sum(len(block.data) for block in found.cells if block.type == "vertex") == 11


@pytest.mark.parametrize("suffix", SURFACE_SUFFIXES)
def test_other_programs_read_our_surfaces(tmp_path, shell, suffix):
    write(tmp_path / f"a{suffix}", shell)
    found = meshio.read(tmp_path / f"a{suffix}")
    triangles = found.get_cells_type("triangle")
    written = shell.points.astype(np.float32 if suffix == ".stl" else np.float64)
    assert np.array_equal(found.points[triangles], written[shell.triangles])
    if suffix != ".stl":
        assert np.array_equal(found.points, shell.points) and np.array_equal(triangles, shell.triangles)


def test_binary_stl_holds_normals_and_does_not_look_like_text(tmp_path, shell):
    write(tmp_path / "a.stl", shell)
    content = (tmp_path / "a.stl").read_bytes()
    assert len(content) == 84 + 50 * len(shell.triangles) and not content.startswith(b"solid")
    normals = np.frombuffer(content, RECORD, offset=84)["normal"]
    # rounding to single precision
    assert normals == pytest.approx(shell.normals, abs=1e-7)
    flat = TriMesh.trusted(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]), np.array([[0, 1, 2]]))
    write(tmp_path / "a.stl", flat)
    assert not np.frombuffer((tmp_path / "a.stl").read_bytes(), RECORD, offset=84)["normal"].any()


def test_sets_and_names_in_grids(tmp_path, solid):
    """Sets are flags of one byte at points, under names that XML has to quote."""
    name = 'a <b> & "c" é'
    mesh = TetMesh(solid.points, solid.tets, {name: [0, 5], "none": []})
    heat = np.arange(len(mesh.points), dtype=np.int16)
    plane = np.arange(2.0 * len(mesh.tets)).reshape(-1, 2)
    write(tmp_path / "a.vtu", mesh, {name: heat}, {name: plane})
    found = meshio.read(tmp_path / "a.vtu")
    assert found.point_data.keys() == {name, f"set:{name}", "set:none"}
    assert np.array_equal(found.point_data[name], heat) and found.point_data[name].dtype == np.int16
    assert np.flatnonzero(found.point_data[f"set:{name}"]).tolist() == [0, 5]
    assert found.point_data[f"set:{name}"].dtype == np.int8
    assert np.array_equal(found.cell_data[name][0], plane)
    assert same_sets(read(tmp_path / "a.vtu"), mesh)


@pytest.mark.parametrize("suffix", sorted({*TET_SUFFIXES, *SURFACE_SUFFIXES}))
def test_no_format_needs_another_package(tmp_path, solid, shell, suffix, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshio", None)
    mesh = TetMesh(solid.points, solid.tets) if suffix in TET_SUFFIXES else shell
    write(tmp_path / f"a{suffix}", mesh)
    assert read(tmp_path / f"a{suffix}").bounds == pytest.approx(mesh.bounds, rel=1e-6)


@pytest.mark.parametrize("suffix", [".vtu", ".msh"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_fields_are_written(tmp_path, solid, suffix, version):
    mesh = TetMesh(solid.points, solid.tets)
    heat, force = np.linspace(0, 1, len(mesh.points)), np.arange(3.0 * len(mesh.tets)).reshape(-1, 3) / 7
    write(tmp_path / f"a{suffix}", mesh, {"heat": heat}, {"force": force}, version=version)
    found = meshio.read(tmp_path / f"a{suffix}")
    assert np.array_equal(found.point_data["heat"], heat)
    assert np.array_equal(found.cell_data["force"][0], force)
    assert read(tmp_path / f"a{suffix}").sets == {}


@pytest.mark.parametrize("version", ["2.2", "4.1"])
@pytest.mark.parametrize("binary", [False, True])
def test_gmsh_files_of_others(tmp_path, solid, version, binary):
    tets = solid.tets[:, [1, 0, 2, 3]]
    half = len(tets) // 2
    points = {"gmsh:dim_tags": np.column_stack([np.full(len(solid.points), 3), np.full(len(solid.points), 1)])}
    points["gmsh:dim_tags"][0, 1] = 2
    points["gmsh:dim_tags"][1] = [2, 1]
    # three blocks: two volumes with names, one surface without
    cells = [("tetra", tets[:half]), ("tetra", tets[half:]), ("triangle", solid.boundary_faces[:5])]
    tags = [np.full(len(block), tag) for (_, block), tag in zip(cells, (7, 8, 9))]
    geometry = [np.full(len(block), tag) for (_, block), tag in zip(cells, (1, 2, 1))]
    data = {"gmsh:physical": tags, "gmsh:geometrical": geometry}
    names = {"left half": np.array([7, 3]), "right": np.array([8, 3])}
    mesh = meshio.Mesh(solid.points, cells, point_data=points, cell_data=data, field_data=names)
    meshio.gmsh.write(tmp_path / "a.msh", mesh, version, binary=binary)
    back = read(tmp_path / "a.msh")
    order = np.lexsort(back.points.T)
    assert np.array_equal(back.points[order], solid.points[np.lexsort(solid.points.T)])
    assert np.array_equal(back.points[back.tets], solid.points[solid.tets])
    assert set(back.sets) == {"left half", "right", "physical_2_9"}
    for name, block in (("left half", tets[:half]), ("right", tets[half:]), ("physical_2_9", cells[2][1])):
        ours, theirs = back.points[back.sets[name]], solid.points[np.unique(block)]
        assert np.array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])


GMSH_4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 5 "floor"
2 6 "floor and more"
$EndPhysicalNames
$Entities
0 0 1 1
3 0 0 0 1 1 0 2 5 6 0
1 0 0 0 1 1 1 0 0
$EndEntities
$Nodes
2 4 2 40
2 3 1 3
2
40
7
0 0 0 0.1 0.2
1 0 0 0.1 0.2
0 1 0 0.1 0.2
3 1 0 1
9
0 0 1
$EndNodes
$Elements
2 2 1 2
2 3 2 1
1 2 7 40
3 1 4 1
2 2 40 7 9
$EndElements
"""


def test_gmsh_4_with_gaps_parameters_and_several_groups(tmp_path):
    (tmp_path / "a.msh").write_text(GMSH_4)
    mesh = read(tmp_path / "a.msh")
    assert mesh.volume == pytest.approx(1 / 6)
    assert np.array_equal(mesh.points[3], [0, 0, 1])
    assert {name: list(nodes) for name, nodes in mesh.sets.items()} == {"floor": [0, 1, 2], "floor and more": [0, 1, 2]}


@pytest.mark.parametrize("base", [0, 1])
def test_tetgen_files_of_others(tmp_path, base):
    nodes = f"""# a comment
4 3 1 1  # header
  {base}  0 0 0  0.5  3
  {base + 1}  1 0 0  0.5  3

  {base + 2}  0 1 0  0.5  0
  {base + 3}  0 0 1  0.5  -2  # last
"""
    (tmp_path / "a.1.node").write_text(nodes)
    (tmp_path / "a.1.ele").write_text(f"1 4 1\n{base} {base} {base + 1} {base + 2} {base + 3} 6\n# made by hand\n")
    (tmp_path / "a.1.face").write_text(f"1 1\n{base} {base} {base + 1} {base + 2} 8\n")
    for suffix in ("node", "ele"):
        mesh = read(tmp_path / f"a.1.{suffix}")
        assert mesh.volume == pytest.approx(1 / 6)
        assert {name: list(members) for name, members in mesh.sets.items()} == {
            "marker_3": [0, 1],
            "marker_-2": [3],
            "region_6": [0, 1, 2, 3],
            "face_marker_8": [0, 1, 2],
        }


def test_tetgen_short_header(tmp_path):
    (tmp_path / "a.node").write_text("4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    (tmp_path / "a.ele").write_text("1\n1 1 2 3 4\n")
    assert read(tmp_path / "a.ele").volume == pytest.approx(1 / 6)


def test_medit_references_and_unknown_keywords(tmp_path):
    (tmp_path / "a.mesh").write_text(
        "MeshVersionFormatted\n2\nDimension\n3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 0\n0 0 1 4\n"
        "RequiredVertices 2\n1\n2\nTriangles 1\n1 2 3 9\nTetrahedra\n1\n1 2 3 4 5\nEnd\n"
    )
    mesh = read(tmp_path / "a.mesh")
    assert {name: list(members) for name, members in mesh.sets.items()} == {
        "vertex_ref_1": [0, 1],
        "vertex_ref_4": [3],
        "triangle_ref_9": [0, 1, 2],
        "tet_ref_5": [0, 1, 2, 3],
    }


def test_wavefront_polygons_groups_and_backward_indices(tmp_path):
    (tmp_path / "a.obj").write_text(
        "# square\no plate\nv 0 0 0\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\n"
        "g flap\nv 0.5 0.5 1\nf -1 1 2\n"
    )
    surface = read(tmp_path / "a.obj")
    assert surface.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 0, 1]]
    assert surface.sets["flap"].tolist() == [0, 1, 4]


def test_binary_stl_and_repair(tmp_path, shell):
    soup = shell.triangles.copy()
    soup[::2] = soup[::2, ::-1]
    meshio.stl.write(tmp_path / "a.stl", meshio.Mesh(shell.points, [("triangle", soup)]), binary=True)
    assert not read(tmp_path / "a.stl").is_closed
    mended = read(tmp_path / "a.stl", repair=True)
    # single precision at coordinates of size 1000
    assert mended.mass_properties()[0] == pytest.approx(shell.mass_properties()[0], rel=1e-3)


def test_inverted_tets_in_a_file_are_named_or_repaired(tmp_path, solid):
    tets = solid.tets[:, [1, 0, 2, 3]].copy()
    tets[3] = solid.tets[3]
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(solid.points, [("tetra", tets)]))
    with pytest.raises(MeshError, match=r"a\.vtu: these tets are inverted.*: 3,"):
        read(tmp_path / "a.vtu")
    assert read(tmp_path / "a.vtu", repair=True).volume == pytest.approx(solid.volume)


def test_reading_and_writing_are_quiet(tmp_path, solid, capfd):
    for suffix in TET_SUFFIXES[:2]:
        write(tmp_path / f"a{suffix}", solid)
        read(tmp_path / f"a{suffix}")
    (tmp_path / "bad.vtu").write_text("<VTKFile>")
    with pytest.raises(MeshError):
        read(tmp_path / "bad.vtu")
    assert capfd.readouterr() == ("", "")
