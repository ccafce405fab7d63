"""Saving states, recording runs, and what pictures of a simulation show."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.fields import node_colors
from pliant.output.grids import grids
from pliant.output.run_log import run_recorded
from pliant.output.save import save
from pliant.output.scene_view import SceneView, picture
from pliant.readers.strain import node_average, von_mises
from small_scenes import busy_scene

SMALL = (64, 36)
meshio = pytest.importorskip("meshio")


@pytest.fixture(scope="module")
def sim():
    return busy_scene().simulate(dt=0.01, threads=1).step(12)


def test_vtu_holds_points_fields_and_outward_tets(sim, tmp_path):
    save(sim, tmp_path / "state.vtu")
    mesh = meshio.read(tmp_path / "state.vtu")
    block = sim.scene.find("clay")
    tets = mesh.cells_dict["tetra"]
    assert tets.shape == block.mesh.tets.shape
    corners = mesh.points[tets]  # VTK: node 3 lies on the side to which the turn 0, 1, 2 points
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert volume.min() > 0
    assert {"displacement", "velocity"} <= mesh.point_data.keys()
    assert {"strain", "stress", "plastic_strain", "von_mises", "body"} <= mesh.cell_data_dict.keys()
    # tensors are written as XX YY ZZ XY YZ XZ with tensor shear; ours are xx, yy, zz, yz, xz, xy with doubled shear
    ours = sim.strain(block)
    expected = np.column_stack([ours[:, :3], 0.5 * ours[:, 5], 0.5 * ours[:, 3], 0.5 * ours[:, 4]])
    np.testing.assert_array_equal(mesh.cell_data_dict["strain"]["tetra"], expected)
    stress = sim.stress(block)
    np.testing.assert_array_equal(mesh.cell_data_dict["stress"]["tetra"], stress[:, [0, 1, 2, 5, 3, 4]])


def test_rigid_grids_move_as_their_bodies(sim):
    found = {grid.name: grid for grid in grids(sim)}
    assert "floor" not in found
    ball = found["ball"]
    velocity, spin = sim.twist(sim.scene.find("ball"))
    centre = sim.pose(sim.scene.find("ball"))[0]
    np.testing.assert_allclose(np.linalg.norm(ball.points - centre, axis=1), 0.06, rtol=1e-12)
    np.testing.assert_allclose(ball.point_data["velocity"], velocity + np.cross(spin, ball.points - centre))


def test_pvd_lists_a_part_per_body(sim, tmp_path):
    save(sim, tmp_path / "state.pvd")
    entries = xml.parse(tmp_path / "state.pvd").getroot().findall("Collection/DataSet")
    assert [entry.get("name") for entry in entries] == ["clay", "rod", "ball", "box"]
    assert all((tmp_path / entry.get("file")).is_file() for entry in entries)


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_surfaces_of_all_bodies_in_files_of_triangles(sim, tmp_path, suffix):
    sim.save(tmp_path / f"state{suffix}")
    mesh = meshio.read(tmp_path / f"state{suffix}")
    corners = mesh.points[mesh.get_cells_type("triangle")]
    rigid = [grid.points[grid.cells] for grid in grids(sim) if grid.kind == "triangle"]
    soft = [surface.points[surface.triangles] for surface in map(sim.surface, sim.scene.soft_bodies)]
    expected = np.concatenate(rigid + soft)
    np.testing.assert_array_equal(corners, expected.astype(np.float32) if suffix == ".stl" else expected)


def test_png_and_options(sim, tmp_path):
    sim.save(tmp_path / "state.png", size=SMALL, color="plastic_strain", camera=Camera((1, -1, 1), (0, 0, 0)))
    assert Image.open(tmp_path / "state.png").size == SMALL
    with pytest.raises(pl.SceneError, match=r"only \.png takes options, got size"):
        sim.save(tmp_path / "state.vtu", size=SMALL)


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_a_sheet_is_written_once_and_can_be_made_a_sheet_again(tmp_path, suffix):
    """With the numbering of its mesh; .stl has none, but as many points and triangles, in float32."""
    scene, material = pl.Scene(gravity=(0, 0, 0)), pl.Material.stvk(1e6, 0.3, 500)
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), 2), material, thickness=1e-3, position=(0.1, 0.2, 0.3))
    sim = scene.simulate(dt=0.01, threads=1)
    sim.set_positions(cloth, sim.positions(cloth) * [1.1, 1, 1])
    sim.save(tmp_path / f"sheet{suffix}")
    found = pl.meshes.read(tmp_path / f"sheet{suffix}")
    assert (len(found.points), len(found.triangles)) == (9, 8)
    if suffix == ".stl":
        assert np.sum(found.areas) == pytest.approx(1.1, rel=1e-6)
    else:
        np.testing.assert_allclose(found.points, sim.surface(cloth).points, rtol=1e-12)
        np.testing.assert_allclose(found.points, sim.positions(cloth), rtol=1e-12)
        np.testing.assert_array_equal(found.triangles, cloth.mesh.triangles)
    again = pl.Scene()
    again.add_cloth(found, material, thickness=1e-3)
    assert again.simulate(dt=0.01, threads=1).step().info.converged


def test_surfaces_of_all_kinds_are_written_once(tmp_path):
    """A block of 2 x 2 x 2 cells has 48 faces between 26 nodes, a sheet of one cell 2 between 4; a rod is a line, and
    alone it leaves nothing to write."""
    scene, material = pl.Scene(gravity=(0, 0, 0)), pl.Material.stvk(1e6, 0.3, 500)
    scene.add_rod([(0, 0, 3), (1, 0, 3)], pl.Material.linear(1e6, 0.3, 500), radius=0.01)
    with pytest.raises(pl.SceneError, match=r"no surfaces; rods are lines, in \.vtu and \.pvd"):
        scene.simulate(dt=0.01).save(tmp_path / "rod.obj")
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -1))
    scene.add_cloth(pl.meshes.grid((1, 1), 1), material, thickness=1e-3, position=(0, 0, 1))
    scene.add_soft(pl.meshes.box((1, 1, 1), 2), material, position=(2, 0, 0))
    scene.add_rigid(pl.Box((1, 1, 1)), density=500, position=(-2, 0, 0), name="box")
    sim = scene.simulate(dt=0.01, threads=1)
    sim.save(tmp_path / "all.obj")
    found = pl.meshes.read(tmp_path / "all.obj")
    box = next(grid for grid in grids(sim) if grid.name == "box")
    assert len(found.triangles) == 48 + 2 + len(box.cells)
    assert len(found.points) == 26 + 4 + len(box.points)


def test_unknown_suffixes_list_the_allowed_ones(sim, tmp_path):
    with pytest.raises(pl.SceneError, match=r"'\.xyz'; allowed are \.vtu, \.pvd, \.png, \.npz, \.obj, \.stl"):
        sim.save(tmp_path / "state.xyz")
    with pytest.raises(pl.SceneError, match="without a suffix"):
        sim.save(tmp_path / "state")


def test_folders_that_cannot_be_made_are_named(sim, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(pl.FileError, match=r"state\.vtu: cannot be written"):
        sim.save(tmp_path / "file" / "state.vtu")


def test_fields(sim):
    # uniaxial stress s has von Mises stress s, pure shear t has sqrt(3) t
    np.testing.assert_allclose(von_mises(np.array([[5.0, 0, 0, 0, 0, 0], [0, 0, 0, 2.0, 0, 0]])), [5, 2 * np.sqrt(3)])
    mesh = sim.scene.find("clay").mesh
    np.testing.assert_allclose(node_average(mesh, np.full(len(mesh.tets), 3.0)), 3.0)
    for name in ("displacement", "strain", "stress", "plastic_strain"):
        (values,) = node_colors(sim, name)
        assert values.shape == (len(mesh.points),) and values.min() >= 0 and values.max() > 0


def test_pictures_show_the_bodies(sim):
    """A picture with bodies differs from one without, also in plain colours; an unknown field is named."""
    plain = picture(sim, SMALL, color="none")
    colored = picture(sim, SMALL, color="strain")
    assert plain.shape == (36, 64, 3) and plain.std() > 5 and (plain != colored).any()
    with pytest.raises(pl.SceneError, match="color must be one of 'displacement', 'strain'"):
        picture(sim, SMALL, color="temperature")


def test_one_camera_sees_all_shots_and_one_range_holds(sim):
    view = SceneView(busy_scene().simulate(dt=0.01, threads=1), "displacement")
    shots = []
    for _ in range(3):
        shots.append(view.shot())
        view.sim.step(5)
    camera = view.camera(shots)
    for shot in shots:
        low, high = view.bounds(shot)
        corners = np.array(np.meshgrid(*np.stack([low, high], axis=1))).reshape(3, -1).T
        across, upward, depth = camera.axes @ (corners - np.array(camera.eye)).T
        assert depth.min() > 0
        assert np.abs(upward / depth).max() < np.tan(np.radians(15)) * (1 + 1e-9)
        assert np.abs(across / depth).max() < np.tan(np.radians(15)) * 16 / 9 * (1 + 1e-9)
    assert view.limits(shots)[1] == max(np.concatenate(shot.values).max() for shot in shots)


def test_planes_are_ground_and_walls():
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.5))
    scene.add_rigid(pl.Plane((0, -1, 0)), static=True, position=(0, 1, 0))
    scene.add_rigid(pl.Plane((0, 1, 0)), static=True, position=(0, -1, 0))  # turned away from the camera
    scene.add_rigid(pl.Sphere(0.2), mass=1)
    view = SceneView(scene.simulate(dt=0.01), "none")
    shot = view.shot()
    ground, walls = view._planes(shot, view.camera([shot]), 1.0)
    assert ground.height == -0.5 and len(walls) == 1
    np.testing.assert_allclose(walls[0].points[:, 1], 1.0)
    assert view.draw(shot, view.camera([shot]), None, SMALL).shape == (36, 64, 3)


def test_recorder_writes_film_series_and_last_state(tmp_path):
    sim = busy_scene().simulate(dt=0.01, threads=1)
    with pl.Recorder(sim, tmp_path, ["a.webp", "a.gif", "a.pvd", "a.png", "a.vtu"], 25, size=SMALL) as recorder:
        for _ in sim.run(0.2):
            recorder.frame()
    assert recorder.every == 4 and recorder.frames_per_second == pytest.approx(25)
    for name in ("a.webp", "a.gif"):
        assert Image.open(tmp_path / name).n_frames == 6
    entries = xml.parse(tmp_path / "a.pvd").getroot().findall("Collection/DataSet")
    assert sorted({float(entry.get("timestep")) for entry in entries}) == pytest.approx(np.arange(6) * 0.04)
    assert {path.name for path in recorder.written} == {"a.webp", "a.gif", "a.pvd", "a.png", "a.vtu"}


def test_a_film_runs_in_real_time_and_gifs_not_too_fast(tmp_path):
    sim = busy_scene().simulate(dt=0.015, threads=1)
    assert pl.Recorder(sim, tmp_path, ["a.webp"], 1000).frames_per_second == pytest.approx(1 / 0.015)
    assert pl.Recorder(sim, tmp_path, ["a.gif"], 1000).frames_per_second == pytest.approx(1 / 0.03)


@pytest.mark.parametrize("name", ["../a.webp", "a.mp4", ".webp", "a"])
def test_recorder_takes_plain_names(sim, tmp_path, name):
    with pytest.raises(pl.SceneError, match=r"a plain one with one of \.pvd, \.vtu, \.png, \.webp, \.gif"):
        pl.Recorder(sim, tmp_path, [name])


def test_what_was_computed_is_saved_when_the_solver_gives_up(tmp_path):
    sim = busy_scene().simulate(dt=0.01, threads=1)
    whole_step = sim.step

    def step(n=1):
        if sim.time > 0.095:
            raise pl.SolverError("step 11: broken on purpose")
        return whole_step(n)

    sim.__dict__["step"] = step
    recorder = pl.Recorder(sim, tmp_path, ["a.webp", "a.pvd", "a.png"], 50, size=SMALL)
    log = run_recorded(sim, 1.0, recorder, progress=False)
    assert log.error == "step 11: broken on purpose" and "broken on purpose" in log.text()
    assert Image.open(tmp_path / "a.webp").n_frames == 6 and (tmp_path / "a.png").is_file()
    summary = log.summary()
    assert summary["steps"] == 10 and len(summary["files"]) == 3 and summary["real_time_factor"] > 0
