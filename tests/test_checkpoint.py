"""Checkpoints: a run that is stopped and resumed has the same bits as one that is not; other files are refused."""

import io
import zipfile

import numpy as np
import pytest

import pliant as pl
from pliant.output.checkpoint import read_checkpoint, write_checkpoint
from pliant.scene_file.files import same
from small_scenes import busy_scene


def simulate(scene, **options):
    return scene.simulate(dt=0.01, threads=1, **options)


def assert_same_bits(first, second):
    """Every array of two states, bit for bit."""
    one, two = first.state.arrays(), second.state.arrays()
    assert one.keys() == two.keys()
    for name in one:
        assert np.asarray(one[name]).tobytes() == np.asarray(two[name]).tobytes(), name


@pytest.mark.parametrize(
    "options",
    [{}, {"precision": "float32", "solver": pl.Dual(tolerance=1e-5)}, {"solver": pl.Dual(eliminate=True)}],
    ids=["rows", "float32", "eliminated"],
)
def test_resumed_run_has_the_same_bits(tmp_path, options):
    through = simulate(busy_scene(), **options).step(40)
    assert through.contacts.count > 4 and np.abs(through.state.plastic_strain).max() > 0.01
    half = simulate(busy_scene(), **options).step(20)
    half.checkpoint(tmp_path / "half.npz")
    resumed = pl.resume(tmp_path / "half.npz")
    assert_same_bits(half, resumed)
    assert (resumed.dt, resumed.solver, resumed.precision) == (through.dt, through.solver, through.precision)
    assert same(resumed.scene, half.scene)
    assert_same_bits(through, resumed.step(20))


def test_meshes_without_a_recipe_are_kept_as_arrays(tmp_path):
    scene = pl.Scene()
    box = pl.meshes.box((0.1, 0.1, 0.1), cells=1)
    tets = pl.meshes.TetMesh(box.points * 1.1, box.tets, {"left": box.points[:, 0] < 1e-9})
    body = scene.add_soft(tets, pl.Material.corotated(young=1e5, poisson=0.3, density=1000))
    body.pin(pl.selections.InSet("left"))
    surface = pl.meshes.box((0.2, 0.1, 0.1), cells=1).surface()
    scene.add_rigid(
        pl.Mesh(points=surface.points, triangles=surface.triangles), mass=1, position=(1, 0, 0), collide=False
    )
    sim = simulate(scene).step(2)
    sim.save(tmp_path / "arrays.npz")
    resumed = pl.resume(tmp_path / "arrays.npz")
    assert same(resumed.scene, scene)
    assert_same_bits(sim.step(2), resumed.step(2))
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as stored:
        assert sum(name.endswith("_points") for name in stored.files) == 2


def test_no_temporary_files_stay(tmp_path):
    write_checkpoint(simulate(busy_scene()), tmp_path / "a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_python_functions_cannot_be_kept(tmp_path):
    scene = busy_scene()
    scene.find("box").force(lambda time: (np.sin(time), 0, 0))
    with pytest.raises(pl.SceneError, match=r"cannot be kept in a checkpoint:\n.*'box'.*Python function of time"):
        simulate(scene).checkpoint(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


def test_a_changed_scene_cannot_be_kept(tmp_path):
    sim = simulate(busy_scene())
    sim.scene.add_rigid(pl.Sphere(0.1), mass=1)
    with pytest.raises(pl.SceneError, match="the scene has changed"):
        sim.checkpoint(tmp_path / "a.npz")


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(pl.SceneError, match=r"a checkpoint is a \.npz file"):
        simulate(busy_scene()).checkpoint(tmp_path / "a.pkl")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "good.npz"
    simulate(busy_scene()).step(2).checkpoint(path)
    return path


def rewritten(stored, path, **changes):
    """A copy of a checkpoint with other arrays; None leaves one out."""
    with np.load(stored, allow_pickle=False) as arrays:
        content = {name: arrays[name] for name in arrays.files} | changes
    np.savez(path, **{name: values for name, values in content.items() if values is not None})
    return path


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"magic": np.array("other")}, "is not a pliant checkpoint"),
        ({"magic": None}, "is not a pliant checkpoint"),
        ({"format": np.array(99)}, "has format 99"),
        ({"scene": np.array("format = 1\nsoft = 3\n")}, "its scene cannot be read: scene.toml: soft"),
        ({"scene": None}, "its scene cannot be read"),
        ({"state_x": None}, "x of the state is missing"),
        ({"state_x": np.zeros((3, 3))}, "x of the state does not fit"),
        ({"state_x": np.full((27, 3), np.nan)}, "x of the state does not fit"),
        ({"state_v": np.zeros((27, 3), np.float32)}, "v of the state does not fit"),
        ({"state_impulses_contacts": np.zeros((2, 2))}, "impulses_contacts of the state does not fit"),
        ({"mesh_../evil.node_points": np.zeros((4, 3))}, "leads elsewhere"),
    ],
)
def test_damaged_content_is_named(stored, tmp_path, changes, message):
    with pytest.raises(pl.SceneError, match=message):
        read_checkpoint(rewritten(stored, tmp_path / "bad.npz", **changes))


def test_pickles_are_refused(stored, tmp_path):
    path = rewritten(stored, tmp_path / "bad.npz", state_x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(pl.SceneError, match=r"cannot be read as a pliant checkpoint: .*holds object"):
        read_checkpoint(path)


def test_files_that_are_no_checkpoints(stored, tmp_path):
    missing, text, cut, flipped, other = (tmp_path / f"{name}.npz" for name in ("none", "text", "cut", "flip", "zip"))
    whole = stored.read_bytes()
    text.write_text("hello")
    cut.write_bytes(whole[: len(whole) // 2])
    broken = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entry = archive.getinfo("state_x.npy")
    broken[entry.header_offset + 300] ^= 0xFF
    flipped.write_bytes(bytes(broken))
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(pl.SceneError, match="there is no such checkpoint file"):
        read_checkpoint(missing)
    for path in (text, cut, flipped, other):
        with pytest.raises(pl.SceneError, match=f"{path.name}.*checkpoint"):
            read_checkpoint(path)


def test_an_unknown_device_is_no_damage_of_the_file(tmp_path):
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), density=1000)
    scene.simulate(1 / 60).save(tmp_path / "ball.npz")
    with pytest.raises(pl.SceneError, match=r"^device 'gpu' is not available; there are 'cpu' and 'cuda'$"):
        pl.resume(tmp_path / "ball.npz", device="gpu")
