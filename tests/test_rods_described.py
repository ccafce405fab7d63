"""Rods in scene files, checkpoints, pictures and files for ParaView."""

import meshio
import numpy as np
import pytest

import pliant as pl
from pliant import meshes
from pliant.output.scene_view import picture
from pliant.scene_file.write import same, save
from scene_texts import errors, put

STEEL = """
format = 1
[materials.steel]
law = "linear"
young = 2e11
poisson = 0.3
density = 7800.0
"""


def full_scene() -> pl.Scene:
    """Rods of every kind, with everything they can have."""
    scene = pl.Scene()
    material = pl.Material.linear(1e7, 0.3, 1000, damping=1e-3)
    line = np.linspace(0, 1, 6)[:, None] * [1.0, 0, 0]
    ribbon = scene.add_rod(
        line,
        material,
        section=pl.Section.rectangle(0.05, 0.01),
        normal=(0, 0, 1),
        curvature=(0.5, 0, 1.0),
        position=(0, 0, 1),
        rotation=(0.8, 0, 0.6, 0),
        velocity=(0.1, 0, 0),
        friction=0.3,
        name="ribbon",
    )
    ribbon.clamp(0, angular_velocity=pl.Keyframes((0, 1), ((0, 0, 0), (1, 0, 0))))
    ribbon[5].force((0, 0, -1.0))
    ribbon[5].torque(pl.Keyframes((0.0, 1.0), ((0, 0, 0), (0.1, 0, 0))))
    angle = 2 * np.pi * np.arange(12) / 12
    ring = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), 2 + 0 * angle], axis=1)
    scene.add_rod(ring, material, 0.02, closed=True, straight=True, normal=(0, 0, 1), self_contact=False, name="ring")
    corners = [[0, 0, 3], [0.2, 0, 3], [0, 0.2, 3], [0, 0, 3.2]]
    net = scene.add_rod(corners, pl.Material.linear(1e8, 0.2, 500), section=pl.Section.tube(0.01, 0.008),
                        edges=[[0, 1], [0, 2], [0, 3]], segments=2, name="net")  # fmt: skip
    ball = scene.add_rigid(pl.Sphere(0.05), density=500, position=(0.3, 0, 3), name="ball")
    scene.join(pl.Fixed(net[1], ball, at=(0.2, 0, 3)))
    scene.contact(net, ball, friction=0.1)
    scene.ignore_contact(ribbon, ball)
    return scene


def test_scene_files_say_all_of_a_rod(tmp_path):
    scene = full_scene()
    save(scene, tmp_path / "rods.toml")
    again = pl.load(tmp_path / "rods.toml")
    assert same(scene, again)
    assert again.rods[0].curvature == pytest.approx(scene.rods[0].curvature)
    first, second = (one.simulate(1 / 100).step(3).state for one in (scene, again))
    assert np.array_equal(first.body_position, second.body_position)


def test_what_is_wrong_with_a_rod_in_a_file_is_named(tmp_path):
    text = (
        STEEL
        + """[[rod]]
points = [[0, 0, 0], [1, 0, 0]]
material = "steel"
radius = 0.01
[[rod.clamp]]
point = 7
[[rod]]
points = [[0, 0, 0], [0, 0, 0]]
material = "steel"
section = { rectangle = [0.1, 0.2] }
[[rod]]
points = [[0, 0, 0], [0, 0, 1]]
material = "stele"
section = { circle = 0.1 }
"""
    )
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(pl.SceneError) as caught:
        pl.load(path)
    for part in ("points 0 to 1", "has no length", "steel"):
        assert part in str(caught.value)


def test_a_rod_may_be_the_edges_of_a_mesh_file(tmp_path):
    ball = pl.meshes.sphere(0.3, 2).surface()
    meshes.write(tmp_path / "ball.obj", ball)
    network = STEEL + '[[rod]]\nmesh = { file = "ball.obj" }\nmaterial = "steel"\nradius = 0.004\nsegments = 2\n'
    path = tmp_path / "net.toml"
    path.write_text(network)
    scene, given = pl.load(path), meshes.read(tmp_path / "ball.obj")
    again = pl.Scene()
    again.add_rod(given, scene.rods[0].material, radius=0.004, segments=2)
    assert len(scene.rods[0].edges) == 2 * len(given.edges)
    assert np.array_equal(scene.rods[0].points, again.rods[0].points)
    assert np.array_equal(scene.rods[0].edges, again.rods[0].edges)
    assert scene.simulate(1 / 100).step(2).info.converged
    points = "points = [[0, 0, 0], [1, 0, 0]]\n"
    for text, words in (
        (network.replace("mesh = {", points + "mesh = {"), "rod.0.: .*points and a mesh"),
        (network.replace('mesh = { file = "ball.obj" }\n', ""), "rod.0.: .*neither points nor a mesh"),
        (network + "closed = true\n", "rod.0..closed: true -> .*a mesh has its own edges"),
        (network.replace("ball.obj", "none.obj"), "rod.0..mesh: .*none.obj"),
        (network.replace("segments = 2", "segments = 9999"), "rod.0..segments: .*at most 50000"),
    ):
        path.write_text(text)
        with pytest.raises(pl.SceneError, match=words):
            pl.load(path)


def test_keys_that_rods_do_not_have_are_not_offered(tmp_path):
    """What is allowed is what a rod takes, and nothing is said of what names a point of a rod that is wrong."""
    bad = hung_by("wire.4").replace("segments = 4", "segments = 4\nthickness = 0.1")
    told = errors(put(tmp_path, bad))
    assert len(told) == 1 and told[0].startswith("rod[0].thickness: 0.1 -> unknown key; allowed: name, position")
    allowed = told[0].split("allowed: ")[1].split(", ")
    assert not {"thickness", "rolling_friction", "torsional_friction"} & set(allowed)
    assert {"friction", "restitution", "group", "mask", "collide", "radius", "clamp"} <= set(allowed)
    short = errors(put(tmp_path, hung_by("wire.4").replace("radius = 0.01", "radius = -1")))
    assert len(short) == 1 and short[0].startswith("rod[0].radius: -1")


def test_the_reaction_of_a_clamp_says_what_to_read():
    """A joint in place of the clamp tells the weight of a rod that has come to rest: rho A L g."""
    scene, steel = pl.Scene(), pl.Material.linear(1e8, 0.3, 1000, damping=0.05)
    rod = scene.add_rod([(0, 0, 0), (1, 0, 0)], steel, radius=0.02, segments=5)
    held = scene.add_rod([(0, 1, 0), (1, 1, 0)], steel, radius=0.02, segments=5)
    clamp, joint = rod.clamp(0), scene.join(pl.Fixed(pl.world, held[0], at=(0, 1, 0)))
    sim = scene.simulate(1 / 60, threads=1).step(120)
    with pytest.raises(pl.SceneError, match=r"'rod0.0', has no reaction to read: sim.rod\(rod\) .*join\(pliant.Fixed"):
        sim.reaction(clamp)
    assert sim.reaction(joint)[2] == pytest.approx(1000 * np.pi * 0.02**2 * 9.81, rel=1e-3)


def hung_by(b: str) -> str:
    """A scene file of a ball and a rod of 5 points, and a joint that names b."""
    return f"""{STEEL}[[rod]]
name = "wire"
points = [[0, 0, 0], [1, 0, 0]]
segments = 4
material = "steel"
radius = 0.01
[[rigid]]
name = "ball"
shape = {{ sphere = 0.1 }}
mass = 1
position = [0, 0, 1]
[[joint]]
type = "ball"
a = "ball"
b = "{b}"
at = [1, 0, 0]
"""


def test_joints_hold_points_of_rods(tmp_path):
    scene = pl.Scene()
    wire = scene.add_rod([(0, 0, 0), (1, 0, 0)], pl.Material.linear(1e7, 0.3, 1000), 0.01, segments=4, name="wire")
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 0, 1))
    with pytest.raises(pl.SceneError, match=r"a rope joint holds a point of a rod, not all of .*name it: rod\[0\]"):
        scene.join(pl.Rope(ball, wire, at=((0, 0, 1), (0, 0, 0))))
    for name, words in (("wire", "a point of a rod, not all of it"), ("wire.7", "the rod has no such point")):
        path = tmp_path / "hung.toml"
        path.write_text(hung_by(name))
        with pytest.raises(pl.SceneError, match=rf'joint\[0\]\.b: "{name}" -> .*{words}; allowed: wire\.0 to wire\.4'):
            pl.load(path)
    path.write_text(hung_by("wire.4"))
    pl.load(path).simulate(dt=0.01)


def test_the_force_on_a_rod_is_that_on_its_points():
    scene = pl.Scene()
    material = pl.Material.linear(1e7, 0.3, 1000, damping=0.01)
    wire = scene.add_rod([(0, 0, 0.02), (0.5, 0, 0.02)], material, 0.02, segments=5)
    floor = scene.add_rigid(pl.Plane(), static=True)
    sim = scene.simulate(dt=0.01).step(50)
    force = sim.contact_force(wire, floor)
    assert force == pytest.approx(sum(sim.contact_force(point, floor) for point in wire))
    assert force[2] == pytest.approx(9.81 * 1000 * np.pi * 0.02**2 * 0.5, rel=0.01)
    assert sim.contact_force(floor, wire) == pytest.approx(-force)


def test_checkpoints_go_on_exactly(tmp_path):
    sim = full_scene().simulate(1 / 100).step(4)
    sim.checkpoint(tmp_path / "here.npz")
    again = pl.resume(tmp_path / "here.npz")
    sim.step(3), again.step(3)
    for name in ("body_position", "body_rotation", "body_angular_velocity"):
        assert np.array_equal(getattr(sim.state, name), getattr(again.state, name))


def test_pictures_show_tubes_and_files_have_lines(tmp_path):
    scene = full_scene()
    sim = scene.simulate(1 / 100).step(2)
    image = picture(sim, (640, 360), color="none").astype(int)
    ribbon = (image[..., 0] > image[..., 1] + 40) & (image[..., 0] > image[..., 2] + 40)
    ring = image[..., 2] > image[..., 0] + 40
    assert ribbon.sum() > 200 and ring.sum() > 100
    sim.save(tmp_path / "rods.vtu")
    mesh = meshio.read(tmp_path / "rods.vtu")
    lines = sum(len(block.data) for block in mesh.cells if block.type == "line")
    assert lines == sum(len(rod.edges) for rod in scene.rods)
    tension = np.concatenate([sim.rod(rod).tension for rod in scene.rods])
    saved = np.concatenate(
        [values for block, values in zip(mesh.cells, mesh.cell_data["tension"]) if block.type == "line"]
    )
    assert np.sort(saved) == pytest.approx(np.sort(tension))


BAD_RODS = {
    "section = { tube = [0.01, 0.02] }": "section: { tube = [0.01, 0.02] } -> the inner radius of a tube must be below",
    "section = { tube = [0.01, 0] }": "section.tube: [0.01, 0] -> is out of range; allowed: 2 numbers from 1e-20 to",
    "radius = 1e30": "radius: 1e+30 -> is out of range; allowed: a finite number at least 1e-20 and at most 1e+20",
    "radius = 0.1\nstretched = 9": "stretched: 9 -> is out of range; allowed: a finite number at least 0.2 and",
    "radius = 0.1\nedges = [[0, -1]]": "edges: [[0, -1]] -> is out of range; allowed: an array of pairs of",
    "radius = 0.1\nclamp = [{ point = 0, velocity = { times = [1], values = [[0, 0, 0]] } }]": "clamp[0].velocity: { ",
}


@pytest.mark.parametrize("said", BAD_RODS)
def test_bad_rods_are_named_once_with_their_key(tmp_path, said):
    rod = '[[rod]]\npoints = [[0, 0, 0], [1, 0, 0]]\nmaterial = "steel"\n'
    [line] = errors(put(tmp_path, f"{STEEL}{rod}{said}\n"))
    assert line.startswith(f"rod[0].{BAD_RODS[said]}")


ENDS = [(0, 0, 0), (1, 0, 0)]


@pytest.mark.parametrize("rod_first", [False, True])
def test_names_of_points_belong_to_their_rod(rod_first):
    scene = pl.Scene()
    adding = [
        lambda: scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 5, 0), name="r.1"),
        lambda: scene.add_rod(ENDS, pl.Material.linear(1e7, 0.3, 1000), 0.01, name="r"),
    ]
    first, second = adding[::-1] if rod_first else adding
    kept = first()
    with pytest.raises(pl.SceneError, match=r"body name 'r\.1' is taken"):
        second()
    assert scene.bodies == [kept] and scene.named("r.1") is (kept[1] if rod_first else kept)
    # a name that is not a point's is free: r has the points 0 and 1
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 9, 0), name="r.2")


def test_rods_without_a_name_take_one_whose_points_are_free():
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0, 5, 0), name="rod1.1")
    assert scene.add_rod(ENDS, pl.Material.linear(1e7, 0.3, 1000), 0.01).name == "rod2"


def test_a_file_refuses_names_of_points_that_are_taken(tmp_path):
    ball = '[[rigid]]\nname = "r.1"\nshape = { sphere = 1 }\nmass = 1\n'
    rod = '[[rod]]\nname = "r"\npoints = [[0, 0, 0], [1, 0, 0]]\nmaterial = "steel"\nradius = 0.01\n'
    [line] = errors(put(tmp_path, STEEL + rod + ball))
    assert line.startswith("rod[0]: ") and "body name 'r.1' is taken" in line and "r.0 to r.1" in line
