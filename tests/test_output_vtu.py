"""Grids on disk, read back by meshio (an independent reader), and their time series as XML."""

import xml.etree.ElementTree as ElementTree

import meshio
import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.files import write_atomically
from pliant.meshes import vtu_write
from pliant.meshes.vtu_write import write_vtu
from pliant.output.vtu import PvdSeries

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.5]], dtype=float)
TETS = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])


def random_fields(count: int) -> dict[str, np.ndarray]:
    """One field of every supported number type and shape."""
    random = np.random.default_rng(7)
    fields = {
        "scalar": random.normal(size=count),
        "single": random.normal(size=count).astype(np.float32),
        "vector": random.normal(size=(count, 3)),
        "planar": random.normal(size=(count, 2)),
        "symmetric": random.normal(size=(count, 6)).astype(np.float32),
        "tensor": random.normal(size=(count, 3, 3)),
        "flag": random.random(count) > 0.5,
        'name <&> "quoted"': np.arange(count),
        "swapped": np.arange(count, dtype=">i4"),
    }
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        fields[kind] = np.arange(count).astype(kind)
    return fields


def assert_same(values: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(values.reshape(len(expected), -1), expected.reshape(len(expected), -1))
    if expected.dtype.kind != "b":
        assert values.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_mixed_grid_comes_back_exactly(tmp_path, precision):
    cells = [
        ("tetra", TETS),
        ("triangle", np.array([[0, 1, 2]], dtype=np.int32)),
        ("line", np.array([[0, 4], [3, 4]])),
        ("vertex", np.array([[2]])),
    ]
    point_data, cell_data = random_fields(len(POINTS)), random_fields(6)
    write_vtu(tmp_path / "grid.vtu", POINTS.astype(precision), cells, point_data, cell_data)
    mesh = meshio.read(tmp_path / "grid.vtu")
    assert mesh.points.dtype == precision
    np.testing.assert_array_equal(mesh.points, POINTS.astype(precision))
    assert [block.type for block in mesh.cells] == [kind for kind, _ in cells]
    for block, (_, nodes) in zip(mesh.cells, cells):
        np.testing.assert_array_equal(block.data, nodes)
    assert set(mesh.point_data) == set(point_data)
    for name, expected in point_data.items():
        assert_same(mesh.point_data[name], expected)
    for name, expected in cell_data.items():
        assert_same(np.concatenate(mesh.cell_data[name]), expected)


def test_cells_with_midpoints_have_types_of_their_own(tmp_path):
    middles = [(POINTS[a] + POINTS[b]) / 2 for a, b in [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]]
    points = np.concatenate([POINTS[:4], middles])
    cells = [("tetra10", np.arange(10)[None]), ("triangle6", np.array([[0, 1, 2, 4, 5, 6]]))]
    write_vtu(tmp_path / "grid.vtu", points, cells)
    mesh = meshio.read(tmp_path / "grid.vtu")
    assert [block.type for block in mesh.cells] == ["tetra10", "triangle6"]
    for block, (_, nodes) in zip(mesh.cells, cells):
        np.testing.assert_array_equal(block.data, nodes)
    with pytest.raises(MeshError, match=r"cells\[0\] \(tetra10\): expected shape \(k, 10\), got \(2, 4\)"):
        write_vtu(tmp_path / "grid.vtu", POINTS, [("tetra10", TETS)])


def test_data_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(vtu_write, "BLOCK_BYTES", 1000)
    count = 125  # 125 points x 24 bytes: exactly three blocks; the field (8 bytes each): exactly one
    points = np.random.default_rng(1).normal(size=(count, 3))
    for extra in (0, 1):
        write_vtu(tmp_path / "long.vtu", points[: count - extra], [("vertex", np.arange(count - extra)[:, None])])
        np.testing.assert_array_equal(meshio.read(tmp_path / "long.vtu").points, points[: count - extra])


def test_tensor_components_are_named(tmp_path):
    stress = np.zeros((2, 6))
    write_vtu(tmp_path / "grid.vtu", POINTS, [("tetra", TETS)], {}, {"stress": stress, "F": np.zeros((2, 3, 3))})
    arrays = {a.get("Name"): a for a in ElementTree.parse(tmp_path / "grid.vtu").iter("DataArray")}
    assert [arrays["stress"].get(f"ComponentName{i}") for i in range(6)] == ["XX", "YY", "ZZ", "XY", "YZ", "XZ"]
    assert arrays["F"].get("NumberOfComponents") == "9" and arrays["F"].get("ComponentName1") == "XY"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((POINTS[:, :1], []), r"points: expected shape \(n, 3\), got \(5, 1\)"),
        ((POINTS, [("hexahedron", TETS)]), "unknown kind 'hexahedron'; allowed are vertex, line, triangle, tetra"),
        ((POINTS, [("triangle", TETS)]), r"cells\[0\] \(triangle\): expected shape \(k, 3\), got \(2, 4\)"),
        ((POINTS, [("tetra", TETS + 1)]), "nodes must be integers from 0 to 4"),
        ((POINTS, [("tetra", TETS)], {"u": np.zeros(4)}), r"point_data\['u'\]: expected 5 entries"),
        ((POINTS, [("tetra", TETS)], {}, {"s": np.zeros(3)}), r"cell_data\['s'\]: expected 2 entries"),
        ((POINTS, [("tetra", TETS)], {"u": np.zeros(5, complex)}), "no number type for complex128"),
    ],
)
def test_bad_grids_say_what_is_wrong(tmp_path, arguments, message):
    with pytest.raises(MeshError, match=message):
        write_vtu(tmp_path / "grid.vtu", *arguments)
    assert not list(tmp_path.iterdir())


def read_series(path) -> list[dict[str, str]]:
    root = ElementTree.parse(path).getroot()
    assert root.get("type") == "Collection"
    return [entry.attrib for entry in root.iter("DataSet")]


def test_series_is_complete_after_every_step(tmp_path):
    series = PvdSeries(tmp_path / "drop.pvd")
    for step in range(3):
        for part in ("beam", "left foot"):
            series.append(0.1 * step, POINTS + step, [("tetra", TETS)], {"u": POINTS}, part=part)
            entries = read_series(tmp_path / "drop.pvd")
            assert entries[-1]["name"] == part and float(entries[-1]["timestep"]) == 0.1 * step
            mesh = meshio.read(tmp_path / entries[-1]["file"])
            np.testing.assert_array_equal(mesh.points, POINTS + step)
    assert len(entries) == 6 and len({entry["file"] for entry in entries}) == 6
    assert [entry["part"] for entry in entries] == ["0", "1"] * 3
    assert all(entry["file"].startswith("drop_frames/drop_00000") for entry in entries)
    assert series.times == [0.0, 0.1, 0.2]
    assert not list(tmp_path.rglob("*tmp*"))


def test_series_rejects_wrong_times_and_names(tmp_path):
    with pytest.raises(ValueError, match=r"\.pvd file"):
        PvdSeries(tmp_path / "drop.vtk")
    series = PvdSeries(tmp_path / "drop.pvd")
    series.append(1.0, POINTS, [("tetra", TETS)])
    with pytest.raises(ValueError, match="times may not decrease"):
        series.append(0.5, POINTS, [("tetra", TETS)])
    with pytest.raises(ValueError, match="already written"):
        series.append(1.0, POINTS, [("tetra", TETS)])
    with pytest.raises(ValueError, match="not a finite number"):
        series.append(np.nan, POINTS, [("tetra", TETS)])


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "deep" / "notes.txt"
    with write_atomically(path) as temporary:
        temporary.write_text("old")
    with pytest.raises(RuntimeError), write_atomically(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and [p.name for p in path.parent.iterdir()] == ["notes.txt"]
