"""Scene files: scene to file to scene, the words for everything that can be wrong, and nothing beyond the folder."""

import os
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.scene import selections, shapes
from pliant.scene.catalogue import JOINTS
from pliant.scene_file.files import RunSettings, View, describe, load, read, same, save
from pliant.scene_file.joints import JOINT_TABLES
from pliant.scene_file.keeper import same_mesh
from pliant.scene_file.schema import RigidTable
from scene_texts import BALL, SOFT, errors, put

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "scenes").glob("*.toml"))
CLAY = pl.Material.corotated(5e4, 0.35, 1500, damping=0.02, plasticity=pl.Plasticity(0.02, 20, 0.6))
RISE = pl.Keyframes((0, 0.1, 1 / 3), ((0, 0, 0), (0, 0, 0.1), (1e-17, -0.0, 1)))


def rich_scene():
    """A scene that uses every kind of body, shape, selection, load and joint, in mixed order."""
    scene = pl.Scene(gravity=(0.1, 0, -9.8))
    scene.add_rigid(pl.Plane((0, 1, 2)), static=True, friction=0.5, restitution=0.25, name="floor")
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.3), cells=(4, 2, 3)), CLAY, name="beam", rotation=(1, 2, 3, 4))
    for nodes in (
        [0, 3, 1],
        beam.nodes.x < 0.1,
        "z >= -10 and x < 1e1",
        "x < 0.1 or z > 9 and x > -1e1 or x > 0.2",
        selections.InBox((-9, -9, -9), (9, 9, 9)),
        selections.InSphere((0, 0, 0), 9.5),
        selections.InHalfSpace((0, 0, -9), (0.1, 0, 1)),
    ):
        beam.pin(nodes, axes="zx", velocity=RISE)
    beam.pin([5])
    beam.force("x > -10", (0, 0, 1 / 3))
    beam.force([1], RISE)
    ball = scene.add_soft(pl.meshes.sphere(0.1, 2), CLAY, collide=False, velocity=(1, 0, 0), position=(0, 0, 3))
    rod = scene.add_soft(pl.meshes.cylinder(0.1, 1, (1, 2)), pl.Material.linear(1e9, -0.3, 1e-3, mass_damping=2))
    names = ("box", "capsule", "cylinder", "sphere")
    for name, shape in zip(names, (pl.Box((1, 2, 3)), pl.Capsule(0.1, 0), pl.Cylinder(0.1, 2), pl.Sphere(7))):
        scene.add_rigid(shape, density=700, position=(1, 2, 3), name=name, angular_velocity=(0, 0, 1e-300))
    lift = scene.add_rigid(pl.Box((1, 1, 1)), static=True, velocity=RISE, angular_velocity=RISE, name="lift 1.5 +-")
    heavy = scene.add_rigid(pl.Sphere(1), mass=3, inertia=[[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]], name="ö")
    heavy.force((1, 2, 3))
    heavy.force(RISE, at=(0.1, 0.2, 0.3))
    heavy.torque(RISE)
    heavy.torque((0, 0, 5))
    scene.join(pl.Ball(ball, lift, (0, 0, 3), compliance=1e-9, damping=4, collide=True, name="socket"))
    scene.join(pl.Fixed(heavy, pl.world, (0, 0, 0)))
    scene.join(pl.Fixed(heavy, rod, (0, 0, 0), nodes="z < 0.6"))
    scene.join(pl.Distance(rod, heavy, ((0, 0, 1), (1, 1, 1))))
    scene.join(pl.Distance(rod, beam, ((0, 0, 1), (1, 1, 1)), 0.7))
    return scene


def random_scene(rng):
    """A scene of random bodies, loads and joints with numbers of every size."""

    def vector(size=3):
        return rng.normal(size=size) * 10.0 ** rng.integers(-9, 9)

    scene = pl.Scene(gravity=vector())
    materials = [
        pl.Material.corotated(*rng.uniform(1e-3, 1e9, 1), rng.uniform(-1, 0.5), rng.uniform(1, 1e4)) for _ in range(2)
    ]
    for _ in range(rng.integers(1, 6)):
        options = {"position": vector(), "rotation": rng.normal(size=4), "velocity": vector()}
        if rng.random() < 0.5:
            options["friction"] = rng.random()
        if rng.random() < 0.5:
            mesh = pl.meshes.box(rng.uniform(0.1, 1, 3), cells=rng.integers(1, 4, 3))
            mesh = mesh if rng.random() < 0.5 else mesh.transformed(scale=rng.uniform(0.5, 2))
            body = scene.add_soft(mesh, materials[rng.integers(2)], **options)
            body.pin(
                rng.integers(0, len(body.nodes), 5),
                velocity=pl.Keyframes((0, rng.random() + 1e-9), rng.normal(size=(2, 3))),
            )
            body.force(selections.InSphere(body.nodes.positions[0], rng.random()), vector())
        else:
            shape = [pl.Sphere(rng.random() + 1e-9), pl.Box(rng.random(3) + 1e-9), pl.Capsule(*rng.random(2) + 1e-9)]
            body = scene.add_rigid(shape[rng.integers(3)], mass=rng.uniform(1e-9, 1e9), **options)
            body.force(vector(), at=vector())
        scene.join(pl.Ball(body, pl.world, vector(), compliance=rng.random()))
    return scene


def test_every_kind_of_thing_round_trips(tmp_path):
    scene = rich_scene()
    run = RunSettings(
        dt=1 / 240,
        seconds=1 / 3,
        solver=pl.Dual(method="pgs", tolerance=1e-7, max_iterations=50, diagonal=True),
        device="cpu",
        precision="float32",
        threads=2,
        frames_per_second=24,
        output=(".pvd", "my film.webp"),
        color="stress",
        camera=View(eye=(1, 2, 3), target=(0, 0, 1 / 3)),
    )
    save(scene, tmp_path / "a.toml", run)
    back = read(tmp_path / "a.toml")
    assert describe(back.scene) == describe(scene)
    assert [body.name for body in back.scene.bodies] == [body.name for body in scene.bodies]
    assert back.run == run
    assert load(tmp_path / "a.toml").find("beam").material == CLAY
    save(back.scene, tmp_path / "b.toml", back.run)
    assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.toml", "b.toml"]  # generated meshes are saved as their recipes


@pytest.mark.parametrize("seed", range(12))
def test_random_scenes_round_trip(tmp_path, seed):
    scene = random_scene(np.random.default_rng(seed))
    save(scene, tmp_path / "a.toml")
    first = (tmp_path / "a.toml").read_bytes()
    back = load(tmp_path / "a.toml")
    assert describe(back) == describe(scene)
    save(back, tmp_path / "a.toml")
    assert (tmp_path / "a.toml").read_bytes() == first
    assert same(load(tmp_path / "a.toml"), scene)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_load_and_round_trip(path, tmp_path):
    example = read(path)
    assert example.scene.bodies
    assert example.run.output
    save(example.scene, tmp_path / "copy.toml", example.run)
    copy = read(tmp_path / "copy.toml")
    assert same(copy.scene, example.scene)
    assert copy.run == example.run


def test_same_sees_every_difference():
    scene = rich_scene()
    assert same(scene, rich_scene())
    changes = [
        lambda s: setattr(s, "gravity", (0.1, 0.0, np.nextafter(-9.8, 0))),
        lambda s: s.bodies.reverse(),
        lambda s: s.find("beam").pin([0]),
        lambda s: setattr(s.find("box"), "collide", False),
        lambda s: s.joints.pop(),
        lambda s: s.find("beam").put(mesh=pl.meshes.box((1, 0.2, 0.3), cells=(4, 3, 2))),
    ]
    for change in changes:
        other = rich_scene()
        change(other)
        assert not same(scene, other)


def test_saved_files_read_well(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(20, 4, 4)), CLAY, name="beam")
    beam.pin("x < 1e-6")
    scene.add_soft(pl.meshes.sphere(0.1, 2), CLAY, name="ball")
    save(scene, tmp_path / "a.toml")
    text = (tmp_path / "a.toml").read_text()
    assert text.startswith("# A pliant scene: SI units")
    assert "mesh = {box = [1.0, 0.2, 0.2], cells = [20, 4, 4]}" in text
    assert text.count('material = "beam"') == 2
    assert "young = 50000.0 # Pa" in text
    assert '[[soft.pin]]\nnodes = "x < 1e-6"\n' in text


def test_long_lists_round_trip(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 1, 1), cells=20), CLAY)
    times = np.arange(100) / 7
    beam.pin(np.arange(9000), velocity=pl.Keyframes(times, np.random.default_rng(0).normal(size=(100, 3))))
    save(scene, tmp_path / "a.toml")
    assert same(load(tmp_path / "a.toml"), scene)
    assert max(map(len, (tmp_path / "a.toml").read_text().split("\n"))) < 500


def test_mesh_without_recipe_is_saved_beside_the_scene(tmp_path):
    box = pl.meshes.box((1, 1, 1), cells=1)
    left = np.flatnonzero(box.points[:, 0] == 0)
    mesh = pl.meshes.TetMesh(box.points / 3, box.tets, {"left side": left, "one": [1], "none": np.zeros(0, int)})
    scene = pl.Scene()
    scene.add_soft(mesh, CLAY, name="my/body".replace("/", " ")).pin(selections.InSet("left side"))
    scene.add_rigid(pl.Mesh(points=mesh.points, triangles=mesh.boundary_faces), density=1, name="my body 2")
    save(scene, tmp_path / "a.toml")
    assert sorted(os.listdir(tmp_path)) == ["a.toml", "a_my_body.ele", "a_my_body.node", "a_my_body_2.obj"]
    back = load(tmp_path / "a.toml")
    assert same(back, scene)
    first = (tmp_path / "a.toml").read_bytes()
    save(back, tmp_path / "a.toml")
    assert (tmp_path / "a.toml").read_bytes() == first
    # elsewhere, the meshes move along
    (tmp_path / "other").mkdir()
    save(back, tmp_path / "other" / "b.toml")
    assert same(load(tmp_path / "other" / "b.toml"), scene)
    assert "b_my_body.node" in os.listdir(tmp_path / "other")


def test_mesh_files_of_the_folder_are_referenced(tmp_path):
    (tmp_path / "parts").mkdir()
    pl.meshes.write(tmp_path / "parts" / "cube.node", pl.meshes.box((1, 1, 1), cells=1))
    text = SOFT.replace("{ box = [1, 1, 1], cells = 1 }", '{ file = "parts/cube.node", repair = true }')
    text += '[[rigid]]\nmass = 1\nshape = { mesh = "parts/cube.node" }\n'
    scene = load(put(tmp_path, text))
    save(scene, tmp_path / "again.toml")
    saved = (tmp_path / "again.toml").read_text()
    assert 'mesh = {file = "parts/cube.node", repair = true}' in saved
    assert 'shape = {mesh = "parts/cube.node"}' in saved
    assert same(load(tmp_path / "again.toml"), scene)
    # a file that has changed since no longer holds this mesh, which is then saved as a new file
    pl.meshes.write(tmp_path / "parts" / "cube.node", pl.meshes.box((2, 1, 1), cells=1))
    save(scene, tmp_path / "again.toml")
    assert "again_beam.node" in (tmp_path / "again.toml").read_text()
    assert same(load(tmp_path / "again.toml"), scene)


def test_new_mesh_files_do_not_overwrite_those_of_other_bodies(tmp_path):
    cubes = [pl.meshes.box((size, 1, 1), cells=1).transformed() for size in (1, 2)]
    pl.meshes.write(tmp_path / "a_one.node", cubes[0])
    scene = pl.Scene()
    scene.add_soft(cubes[1], CLAY, name="one")
    scene.add_soft(pl.meshes.read(tmp_path / "a_one.node"), CLAY, name="two")
    save(scene, tmp_path / "a.toml")
    assert same_mesh(pl.meshes.read(tmp_path / "a_one.node"), cubes[0])
    assert same(load(tmp_path / "a.toml"), scene)


def test_functions_of_time_cannot_be_saved(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), CLAY, name="beam")
    beam.pin([0])
    beam.pin([1], velocity=lambda t: (t, 0, 0))
    lift = scene.add_rigid(pl.Sphere(1), static=True, velocity=lambda t: (0, 0, t), name="lift")
    lift.torque(lambda t: (0, 0, 1))
    with pytest.raises(pl.SceneError) as caught:
        save(scene, tmp_path / "a.toml")
    lines = str(caught.value).split("\n")
    assert [line.split(": a Python")[0] for line in lines] == [
        "soft body 'beam': pin[1].velocity",
        "rigid body 'lift': velocity",
        "rigid body 'lift': torque[0].vector",
    ]
    assert all("use pliant.Keyframes(times, values) instead" in line for line in lines)
    assert not os.listdir(tmp_path)


def test_saving_into_a_missing_folder(tmp_path):
    with pytest.raises(pl.SceneError, match="there is no folder"):
        save(pl.Scene(), tmp_path / "missing" / "a.toml")


def test_schema_knows_every_joint_and_shape():
    assert set(JOINT_TABLES) == set(JOINTS)
    description = RigidTable.model_fields["shape"].description
    assert all(shape.__name__.lower() in description for shape in shapes.SHAPES)


def test_defaults_are_those_of_python(tmp_path):
    back = read(put(tmp_path, SOFT + BALL))
    scene = pl.Scene()
    scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), pl.Material.corotated(1e6, 0.4, 1000), name="beam")
    scene.add_rigid(pl.Sphere(1), mass=1, name="ball")
    assert same(back.scene, scene)
    assert back.run == RunSettings()


ESCAPES = ["../cube.node", "/etc/passwd", "a/../../cube.node", "..", "~/cube.node", "C:/cube.node", "..\\cube.node", ""]


@pytest.mark.parametrize("reference", [*ESCAPES, "a\\u0000b.node", "file:///etc/passwd"])
def test_mesh_references_stay_in_the_folder(tmp_path, reference):
    pl.meshes.write(tmp_path / "cube.node", pl.meshes.box((1, 1, 1), cells=1))
    inner = tmp_path / "inner"
    inner.mkdir()
    reference = reference.replace("..\\c", "..\\\\c")
    text = SOFT.replace("{ box = [1, 1, 1], cells = 1 }", f'{{ file = "{reference}" }}')
    text += f'[[rigid]]\nmass = 1\nshape = {{ mesh = "{reference}" }}\n'
    found = errors(put(inner, text))
    assert [line.split(": ")[0] for line in found] == ["soft[0].mesh", "rigid[0].shape"]
    assert all("the path leads out of the folder of the scene file; allowed: a relative path" in line for line in found)


def test_symbolic_links_out_of_the_folder_are_refused(tmp_path):
    pl.meshes.write(tmp_path / "cube.node", pl.meshes.box((1, 1, 1), cells=1))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link").symlink_to(tmp_path)
    (inner / "cube.node").symlink_to(tmp_path / "cube.node")
    (inner / "half.node").write_text((tmp_path / "cube.node").read_text())
    (inner / "half.ele").symlink_to(tmp_path / "cube.ele")
    for reference in ("link/cube.node", "cube.node", "half.node", "half.ele"):
        text = SOFT.replace("{ box = [1, 1, 1], cells = 1 }", f'{{ file = "{reference}" }}')
        assert "leads out of the folder of the scene file through a symbolic link" in errors(put(inner, text))[0]


def test_mesh_files_that_cannot_be_used(tmp_path):
    pl.meshes.write(tmp_path / "surface.obj", pl.meshes.box((1, 1, 1), cells=1).surface())
    (tmp_path / "broken.node").write_text("not a mesh")
    (tmp_path / "broken.ele").write_text("")
    (tmp_path / "folder.node").mkdir()
    os.mkfifo(tmp_path / "pipe.msh")
    cases = {
        "missing.node": "there is no such file in",
        "broken.node": "must start with a line of counts",
        "surface.obj": "the file holds a surface, but a soft body needs tets",
        "scene.toml": "unknown mesh suffix '.toml'; allowed are",
        "folder.node": "this is not a file; allowed",
        "pipe.msh": "this is not a file; allowed",
    }
    for reference, message in cases.items():
        text = SOFT.replace("{ box = [1, 1, 1], cells = 1 }", f'{{ file = "{reference}" }}')
        found = errors(put(tmp_path, text))
        assert found[0].startswith(f'soft[0].mesh: {{ file = "{reference}" }} -> ')
        assert message in found[0]


@pytest.mark.parametrize(
    "name",
    [
        "../a.png",
        "/tmp/a.png",
        "a/b.png",
        "a\\\\b.png",
        "..png",
        "a..png",
        "~/a.png",
        "",
        "a",
        "-a.png",
        "a\\n.png",
        "C:a.png",
    ],
)
def test_output_names_stay_in_the_output_folder(tmp_path, name):
    found = errors(put(tmp_path, f'[run]\noutput = ["ok.png", "{name}"]'))
    assert len(found) == 1
    assert found[0].startswith("run.output[1]: ")
    assert "allowed: names or suffixes with .pvd" in found[0]


def test_run_settings_are_checked_in_python_too():
    with pytest.raises(pl.SceneError) as caught:
        RunSettings(dt=-1, precision="half", output=("../a.png",), solver="dual", camera=3)
    keys = [line.split(": ")[1] for line in str(caught.value).split("\n")]
    assert sorted(keys) == ["camera", "dt", "output[0]", "precision", "solver"]
    with pytest.raises(pl.SceneError, match="camera eye must be 3 finite numbers"):
        View(eye=(1, 2))


def test_the_example_in_the_documentation(tmp_path):
    text = (Path(__file__).parent.parent / "docs" / "scene-file.md").read_text()
    found = read(put(tmp_path, text.split("```toml\n")[1].split("```")[0]))
    assert [body.name for body in found.scene.bodies] == ["beam", "ball"]
    assert found.run.output == (".pvd", ".webp")
