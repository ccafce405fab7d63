"""Files with tets of ten nodes: round trips bit by bit, node orders against meshio, and what is refused."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, box, read, sphere, write
from pliant.meshes.raw_mesh import cell_block
from pliant.meshes.vtu_write import write_vtu

meshio = pytest.importorskip("meshio")

# VTK's quadratic tetrahedron, type 24
VTK_EDGES = np.array([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]])


@pytest.fixture(name="solid")
def make_solid():
    """Curved: midpoints lie off the middles of their edges, every one elsewhere."""
    base = box((1, 2, 1), (2, 2, 1)).quadratic()
    points = base.points + 0.02 * np.random.default_rng(2).uniform(-1, 1, base.points.shape)
    mesh = TetMesh(points, base.tets).transformed(scale=1 / 3, rotation=(0.9, 0.1, 0.3, 0.2), translation=(1e-7, 3, -9))
    return TetMesh(mesh.points, mesh.tets, {"low end": np.arange(6), "second": np.arange(4, 30)})


def same(first, second):
    return (
        np.array_equal(first.points, second.points)
        and np.array_equal(first.tets, second.tets)
        and first.sets.keys() == second.sets.keys()
        and all(np.array_equal(first.sets[name], second.sets[name]) for name in first.sets)
    )


@pytest.mark.parametrize("suffix", [".vtu", ".msh", ".node", ".ele"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_quadratic_meshes_survive_bit_by_bit(tmp_path, solid, suffix, version):
    path = tmp_path / f"a{suffix}"
    write(path, solid, version=version)
    back = read(path)
    assert back.order == 2
    assert same(back, solid)
    assert back.source == {"file": str(path), "repair": False}


@pytest.mark.parametrize("suffix", [".vtu", ".msh"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_meshio_finds_every_midpoint_on_its_edge(tmp_path, suffix, version):
    mesh = sphere(0.5, 2).quadratic()
    write(tmp_path / f"a{suffix}", mesh, version=version)
    found = meshio.read(tmp_path / f"a{suffix}")
    tets = found.get_cells_type("tetra10")
    nodes = found.points[tets]
    assert np.array_equal(nodes[:, 4:], nodes[:, VTK_EDGES].mean(axis=2))
    assert np.array_equal(np.sort(tets, axis=1), np.sort(mesh.tets, axis=1))
    # VTK's orientation: (X1-X0) x (X2-X0) . (X3-X0) > 0
    normal = np.cross(nodes[:, 1] - nodes[:, 0], nodes[:, 2] - nodes[:, 0])
    assert (np.einsum("ij,ij->i", normal, nodes[:, 3] - nodes[:, 0]) > 0).all()


def vtk_mesh(solid):
    """The mesh as meshio holds it, its set "low" as triangles of six nodes with a physical group."""
    kind, cells = cell_block(solid)
    assert kind == "tetra10"
    return [(kind, cells), ("triangle6", solid.boundary_elements[:5])]


def test_grids_of_others_are_read(tmp_path, solid):
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(solid.points, vtk_mesh(solid)))
    back = read(tmp_path / "a.vtu")
    assert np.array_equal(back.points, solid.points) and np.array_equal(back.tets, solid.tets)


@pytest.mark.parametrize("version", ["2.2", "4.1"])
@pytest.mark.parametrize("binary", [False, True])
def test_gmsh_files_of_others_are_read(tmp_path, solid, version, binary):
    cells = vtk_mesh(solid)
    tags = [np.full(len(block), tag) for (_, block), tag in zip(cells, (7, 9))]
    data = {"gmsh:physical": tags, "gmsh:geometrical": [np.ones(len(block), int) for _, block in cells]}
    where = {"gmsh:dim_tags": np.tile([3, 1], (len(solid.points), 1))}
    where["gmsh:dim_tags"][0] = [2, 1]
    mesh = meshio.Mesh(solid.points, cells, where, data, {"body": np.array([7, 3]), "floor": np.array([9, 2])})
    meshio.gmsh.write(tmp_path / "a.msh", mesh, version, binary=binary)
    back = read(tmp_path / "a.msh")
    assert np.array_equal(back.points[back.tets], solid.points[solid.tets])
    floor, expected = back.points[back.sets["floor"]], solid.points[np.unique(cells[1][1])]
    assert np.array_equal(floor[np.lexsort(floor.T)], expected[np.lexsort(expected.T)])
    assert len(back.sets["body"]) == len(solid.points)


@pytest.mark.parametrize("suffix", [".vtu", ".msh"])
def test_fields_on_all_nodes_are_written(tmp_path, solid, suffix):
    heat, force = np.linspace(0, 1, len(solid.points)), np.arange(3.0 * len(solid.tets)).reshape(-1, 3) / 7
    write(tmp_path / f"a{suffix}", TetMesh(solid.points, solid.tets), {"heat": heat}, {"force": force})
    found = meshio.read(tmp_path / f"a{suffix}")
    assert np.array_equal(found.point_data["heat"], heat)
    assert np.array_equal(found.cell_data["force"][0], force)


def test_own_writer_of_grids_knows_quadratic_cells(tmp_path, solid):
    cells = vtk_mesh(solid)
    write_vtu(tmp_path / "a.vtu", solid.points, cells, {"u": solid.points}, {"n": np.arange(len(solid.tets) + 5)})
    found = meshio.read(tmp_path / "a.vtu")
    assert [block.type for block in found.cells] == ["tetra10", "triangle6"]
    for block, (_, nodes) in zip(found.cells, cells):
        assert np.array_equal(block.data, nodes)
    back = read(tmp_path / "a.vtu")
    assert np.array_equal(back.points, solid.points) and np.array_equal(back.tets, solid.tets)


def test_grids_of_a_linear_and_a_quadratic_mesh_have_their_own_cells():
    straight = box((1, 1, 1), 1)
    assert [cell_block(mesh)[0] for mesh in (straight, straight.quadratic())] == ["tetra", "tetra10"]


def test_tetgen_files_with_midpoints(tmp_path):
    # corners 1 to 4, then the midpoints in TetGen's order: of 34, 14, 12, 23, 24, 13
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    edges = [(2, 3), (0, 3), (0, 1), (1, 2), (1, 3), (0, 2)]
    points = np.concatenate([corners, [(corners[a] + corners[b]) / 2 for a, b in edges]])
    lines = [f"{number} {x} {y} {z}" for number, (x, y, z) in enumerate(points, start=1)]
    (tmp_path / "a.node").write_text("\n".join(["10 3 0 0", *lines]))
    (tmp_path / "a.ele").write_text("1 10 1\n1 1 2 3 4 5 6 7 8 9 10 6\n")
    (tmp_path / "a.face").write_text("1 1\n1 1 2 3 8 10 7 5\n")
    mesh = read(tmp_path / "a.node")
    assert mesh.volume == pytest.approx(1 / 6, rel=1e-14)
    nodes = mesh.points[mesh.tets]
    assert np.array_equal(nodes[:, 4:], nodes[:, VTK_EDGES].mean(axis=2))
    assert mesh.sets["face_marker_5"].tolist() == [0, 1, 2, 6, 7, 9]
    assert len(mesh.sets["region_6"]) == 10
    (tmp_path / "a.face").write_text("1 1\n1 1 2 3 5\n")
    assert read(tmp_path / "a.node").sets["face_marker_5"].tolist() == [0, 1, 2]


def test_inverted_quadratic_tets_are_named_or_repaired(tmp_path, solid):
    tets = cell_block(solid)[1].copy()
    tets[3] = solid.tets[3]
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(solid.points, [("tetra10", tets)]))
    with pytest.raises(MeshError, match=r"a\.vtu: these tets are inverted.*: 3,"):
        read(tmp_path / "a.vtu")
    repaired = read(tmp_path / "a.vtu", repair=True)
    assert np.array_equal(repaired.tets, solid.tets)


def test_mixed_orders_are_refused(tmp_path, solid):
    cells = cell_block(solid)[1]
    mixed = meshio.Mesh(solid.points, [("tetra10", cells[1:]), ("tetra", cells[:1, :4])])
    for suffix, file_format in ((".vtu", "vtu"), (".msh", "gmsh22")):
        path = tmp_path / f"a{suffix}"
        meshio.write(path, mixed, file_format=file_format)
        with pytest.raises(MeshError, match=rf"a\{suffix}: tets of 4 nodes \(tetra\) and of 10 nodes \(tetra10\)"):
            read(path)


def test_wrong_node_order_in_a_file_is_named(tmp_path, solid):
    swapped = cell_block(solid)[1][:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(solid.points, [("tetra10", swapped)]))
    with pytest.raises(MeshError, match=r"a\.vtu: .*edges 01, 12, 02, 03, 13, 23, in this order"):
        read(tmp_path / "a.vtu")


def test_medit_files_hold_four_nodes_only(tmp_path, solid):
    with pytest.raises(MeshError, match=r"a\.mesh: tets of 10 nodes cannot be written.*use \.vtu, \.msh or \.node"):
        write(tmp_path / "a.mesh", solid)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.mesh").write_text("MeshVersionFormatted 2\nVertices\n1\n0 0 0 0\nTetrahedraP2\n0\nEnd\n")
    with pytest.raises(MeshError, match=r"a\.mesh: TetrahedraP2 cannot be read from Medit files"):
        read(tmp_path / "a.mesh")


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl"])
def test_the_surface_goes_into_files_of_triangles(tmp_path, solid, suffix):
    with pytest.raises(MeshError, match=r"hold triangles only; write mesh\.surface\(\)"):
        write(tmp_path / f"a{suffix}", solid)
    surface = solid.surface()
    write(tmp_path / f"a{suffix}", surface)
    back = read(tmp_path / f"a{suffix}")
    precision = np.float32 if suffix == ".stl" else np.float64
    assert np.array_equal(back.points[back.triangles], surface.points.astype(precision)[surface.triangles])
