"""Meshed surfaces and drawings in scenes: scene files both ways, checkpoints, pictures, exported surfaces."""

import numpy as np
import pytest

import pliant as pl
from closed_surfaces import ball, organic
from pliant import scene_file
from pliant.meshes.embedding import embed

MATERIAL = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)


@pytest.fixture
def scene(tmp_path):
    """A drawn organic body over a plane; its surface is organic.obj."""
    pl.meshes.write(tmp_path / "organic.obj", pl.meshes.TriMesh(*organic(1, 6)))
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    mesh = pl.meshes.tetrahedralize(tmp_path / "organic.obj", size=np.float64(0.4), grading=2, max_volume_error=0.1)
    drawing = pl.meshes.read(tmp_path / "organic.obj")
    scene.add_soft(mesh, MATERIAL, position=(0, 0, 2), rotation=(0.9, 0.2, 0.1, 0), drawing=drawing, name="blob")
    return scene


def test_scene_files_say_how_the_mesh_was_made(scene, tmp_path):
    scene_file.save(scene, tmp_path / "scene.toml")
    text = (tmp_path / "scene.toml").read_text()
    said = "tetrahedralize = {size = 0.4, grading = 2, max_volume_error = 0.1}"
    assert f'mesh = {{file = "organic.obj", {said}}}' in text and 'drawing = {file = "organic.obj"}' in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["organic.obj", "scene.toml"]
    back = scene_file.load(tmp_path / "scene.toml")
    assert scene_file.same(scene, back)
    # in another folder nothing can be referred to: mesh and drawing become files
    (tmp_path / "else").mkdir()
    scene_file.save(scene, tmp_path / "else" / "scene.toml")
    assert scene_file.same(scene, scene_file.load(tmp_path / "else" / "scene.toml"))
    assert (tmp_path / "else" / "scene_blob_drawing.obj").is_file()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"size = 0.4": "size = -1"}, r"soft\[0\].mesh.tetrahedralize.size"),
        ({"grading = 2": "grading = 3"}, r"soft\[0\].mesh.tetrahedralize.grading.*one of 1, 2, 4, 8, 16"),
        ({"size = 0.4": "sice = 0.4"}, "did you mean 'size'"),
        ({"max_volume_error = 0.1": "max_volume_error = 1e-9"}, "volume of the mesh differs"),
        ({", tetrahedralize = {size = 0.4, grading = 2, max_volume_error = 0.1}": ""}, r"tetrahedralize = \{\} makes"),
        ({'drawing = {file = "organic.obj"}': 'drawing = {file = "other.obj"}'}, "no such file"),
    ],
)
def test_what_is_wrong_in_scene_files_is_named(scene, tmp_path, change, match):
    path = tmp_path / "scene.toml"
    scene_file.save(scene, path)
    text = path.read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    with pytest.raises(pl.SceneError, match=match):
        scene_file.load(path)


def test_checkpoints_keep_mesh_and_drawing(scene, tmp_path):
    sim = scene.simulate(dt=0.01, threads=1)
    sim.step(2)
    sim.checkpoint(tmp_path / "end.npz")
    back = pl.resume(tmp_path / "end.npz")
    (body,), (other,) = scene.soft_bodies, back.scene.soft_bodies
    sim.step(), back.step()
    assert np.array_equal(sim.positions(body), back.positions(other))
    assert np.array_equal(sim.surface(body).points, back.surface(other).points)


@pytest.mark.parametrize("order", [1, 2])
def test_drawings_follow_affine_motions_exactly(order):
    mesh = pl.meshes.tetrahedralize(ball(), size=0.4, max_volume_error=0.1)
    mesh = mesh.quadratic() if order == 2 else mesh
    drawing = pl.meshes.TriMesh(*ball(1.01, 6))  # partly outside the coarse tets
    found = embed(mesh, drawing)
    assert found.weights.sum(axis=1) == pytest.approx(np.ones(len(drawing.points)))
    matrix = np.array([[1.1, 0.2, 0.0], [-0.1, 0.9, 0.3], [0.05, 0.0, 1.2]])
    moved = found.follow(mesh.points @ matrix.T + [1, 2, 3])
    assert moved == pytest.approx(drawing.points @ matrix.T + [1, 2, 3], abs=1e-12)


def test_drawings_far_from_the_mesh_are_refused():
    mesh = pl.meshes.tetrahedralize(ball(), size=0.4, max_volume_error=0.1)
    with pytest.raises(pl.MeshError, match="points of the drawn surface lie far from the mesh"):
        pl.Scene().add_soft(mesh, MATERIAL, drawing=pl.meshes.TriMesh(*ball(100.0)))
    with pytest.raises(pl.SceneError, match="drawing must be"):
        pl.Scene().add_soft(mesh, MATERIAL, drawing=mesh)


def test_pictures_and_files_show_the_drawing(scene, tmp_path):
    (body,) = scene.soft_bodies
    sim = scene.simulate(dt=0.01, threads=1)
    sim.step(1)
    surface = sim.surface(body)
    assert surface.triangles is body.drawing.triangles or np.array_equal(surface.triangles, body.drawing.triangles)
    for name in ("end.obj", "end.stl", "end.vtu", "end.png"):
        sim.save(tmp_path / name)
    assert pl.meshes.read(tmp_path / "end.obj").points == pytest.approx(surface.points)
    assert len(pl.meshes.read(tmp_path / "end.stl").triangles) == len(surface.triangles)
    import meshio

    cells = {block.type: len(block.data) for block in meshio.read(tmp_path / "end.vtu").cells}
    assert cells == {"tetra": len(body.mesh.tets), "triangle": len(surface.triangles)}
