"""Cones, hulls and heightfields: exact masses, drawings, files both ways, and the words for what is wrong with them."""

import math
import os
import re

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli.group import main
from pliant.output.drawing import tessellate
from pliant.output.scene_view import picture, triangulation
from pliant.scene_file.files import load, same, save
from scene_texts import errors, put

TETRAHEDRON = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
GROUND = '[[rigid]]\nname = "ground"\nstatic = true\nshape = { heightfield = { size = [2, 3], %s } }\n'
ROCK = '[[rigid]]\nname = "rock"\nmass = 1\nshape = { hull = %s }\n'


def hills(nx=4, ny=3):
    """Heights of a heightfield, none like another."""
    return np.sin(np.arange(nx * ny, dtype=float) ** 2).reshape(nx, ny)


def turned(points, seed=1):
    """Points in a random frame."""
    rng = np.random.default_rng(seed)
    return points @ np.linalg.qr(rng.normal(size=(3, 3)))[0].T + rng.normal(size=3)


# ---- masses


def test_cone_has_the_mass_of_a_cone():
    # V = pi r^2 h / 3, centre h/4 above the base, about it I_z = 3/10 m r^2, I_x = 3/80 m (4 r^2 + h^2)
    r, h = 0.3, 0.8
    mass, centre, inertia = pl.Scene().add_rigid(pl.Cone(r, h), density=2.0).mass_properties()
    assert mass == pytest.approx(2 * math.pi * r**2 * h / 3, rel=1e-14)
    np.testing.assert_allclose(centre, [0, 0, -h / 2 + h / 4], rtol=1e-15)
    across = 3 / 80 * (4 * r**2 + h**2)
    np.testing.assert_allclose(inertia, mass * np.diag([across, across, 0.3 * r**2]), rtol=1e-13, atol=1e-16)


def test_hull_of_the_corners_and_of_points_inside_has_the_mass_of_a_box():
    size = np.array([1.0, 2.0, 3.0])
    points = turned(pl.meshes.box(size, cells=4).points)
    hull = pl.Hull(points)
    assert hull.points.shape == (8, 3) and len(hull.surface.triangles) == 12
    assert {tuple(point) for point in hull.points} <= {tuple(point) for point in points}
    unit = hull.mass_properties()
    assert unit.volume == pytest.approx(6, rel=1e-12)
    np.testing.assert_allclose(unit.centre, points.mean(axis=0), rtol=1e-12)
    moments = 6 / 12 * np.array([5.0, 10.0, 13.0])  # m (b^2 + c^2) / 12
    np.testing.assert_allclose(np.linalg.eigvalsh(unit.inertia), moments, rtol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_hull_is_closed_convex_and_faces_outward(seed):
    cloud = np.random.default_rng(seed).normal(size=(300, 3))
    surface = pl.Hull(cloud).surface
    surface.check_closed()
    heights = np.einsum("kj,nkj->nk", surface.normals, cloud[:, None] - surface.points[surface.triangles[:, 0]])
    assert heights.max() < 1e-12  # no point beyond any face


def test_hull_of_a_hull_is_the_same_to_the_last_bit():
    for points in (pl.meshes.sphere(0.3, 4).points, pl.meshes.cylinder(0.3, 1, (7, 3)).points, TETRAHEDRON):
        first = pl.Hull(turned(np.array(points)))
        second = pl.Hull(first.points)
        assert first.points.tobytes() == second.points.tobytes()
        assert first.surface.triangles.tobytes() == second.surface.triangles.tobytes()


# ---- drawings


def test_cone_is_drawn_closed_outward_and_with_a_sharp_tip():
    points, triangles = tessellate.cone(0.5, 1.0)
    a, b, c = points[triangles].transpose(1, 0, 2)
    area = np.cross(b - a, c - a) / 2
    np.testing.assert_allclose(area.sum(axis=0), 0, atol=1e-12)
    assert (np.einsum("ij,ij->i", area, a + b + c) > 0).all()
    assert np.einsum("ij,ij->", area, a) / 3 == pytest.approx(math.pi * 0.25 * 2 / 3, rel=0.0086)
    assert (points[:, 2] == 1.0).sum() == 48  # a tip for each triangle: smooth shading does not round it off
    drawn, _ = triangulation(pl.Cone(0.5, 2.0))
    assert (drawn.min(axis=0).tolist(), drawn.max(axis=0).tolist()) == ([-0.5, -0.5, -1], [0.5, 0.5, 1])


def test_hull_is_drawn_as_it_is():
    hull = pl.Hull(TETRAHEDRON)
    points, triangles = triangulation(hull)
    assert points is hull.surface.points and triangles is hull.surface.triangles


def test_heightfield_is_drawn_over_its_rectangle_facing_up():
    heights = hills(5, 4)
    points, triangles = triangulation(pl.Heightfield(heights, size=(2, 3)))
    assert points.shape == (20, 3) and triangles.shape == (2 * 4 * 3, 3)
    assert points[2 * 4 + 1].tolist() == [0, 3 * (1 / 3 - 0.5), heights[2, 1]]
    assert (points[0, :2].tolist(), points[-1, :2].tolist()) == ([-1, -1.5], [1, 1.5])
    a, b, c = points[triangles].transpose(1, 0, 2)
    area = np.cross(b - a, c - a)[:, 2] / 2
    np.testing.assert_allclose(area, 2 * 3 / 24, rtol=1e-12)  # seen from above, all alike


def test_pictures_show_them():
    scene = all_of_them()
    seen = picture(scene.simulate(dt=0.01, threads=1), size=(96, 64))
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 20


# ---- what is wrong

BAD = {
    "cone radius": (lambda: pl.Cone(0, 1), "cone radius must be a finite number in ]0, inf[, got 0"),
    "cone length": (lambda: pl.Cone(1, -1), "cone length must be a finite number in ]0, inf[, got -1"),
    "no points": (lambda: pl.Hull(), "a hull takes either points or a path"),
    "three points": (lambda: pl.Hull(TETRAHEDRON[:3]), "at least four points (n, 3) of finite numbers, got an array"),
    "2-D points": (lambda: pl.Hull(np.ones((9, 2))), "of finite numbers, got an array of shape (9, 2)"),
    "words": (lambda: pl.Hull("rock.obj"), "at least four points (n, 3) of finite numbers, got 'rock.obj'"),
    "nan": (lambda: pl.Hull([*TETRAHEDRON, [0, math.nan, 1]]), "got nan at [4, 1]"),
    "flat": (lambda: pl.Hull(turned(hills(9, 3) * [1, 1, 0])), "must not all lie in a plane, got 9 points that do"),
    "one point": (lambda: pl.Hull(np.ones((5, 3))), "must not all lie in a plane, got 5 points that do"),
    "no heights": (lambda: pl.Heightfield(size=(1, 1)), "a heightfield takes either heights or a path"),
    "no size": (lambda: pl.Heightfield(hills()), "heightfield size must be 2 finite numbers, got None"),
    "size": (lambda: pl.Heightfield(hills(), (1, 0)), "heightfield size must be 2 positive lengths, got (1, 0)"),
    "one row": (lambda: pl.Heightfield(hills(1, 5), (1, 1)), "at least 2 by 2, got an array of shape (1, 5)"),
    "ragged": (lambda: pl.Heightfield([[1, 2], [3]], (1, 1)), "at least 2 by 2, got [[1, 2], [3]]"),
    "hole": (lambda: pl.Heightfield([[1, 2], [3, math.inf]], (1, 1)), "at least 2 by 2, got inf at [1, 1]"),
    "moving": (
        lambda: pl.Scene().add_rigid(pl.Heightfield(hills(), (1, 1)), mass=1),
        "a heightfield is ground without a lower side: add it with static=True",
    ),
    "suffix": (lambda: pl.Heightfield(path="hills.png", size=(1, 1)), "hills.png: a file of numbers must be one of"),
    "missing": (lambda: pl.Heightfield(path="no.npy", size=(1, 1)), "no.npy: cannot read the file of numbers: No such"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_shapes_are_told_what_is_allowed(case):
    act, message = BAD[case]
    with pytest.raises(pl.SceneError, match=re.escape(message)):
        act()


def test_heights_belong_to_the_shape():
    heights = hills()
    ground = pl.Heightfield(heights, (1, 1))
    heights[0, 0] = 7
    assert ground.heights[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        ground.heights[0, 0] = 7
    mass, centre, _ = pl.Scene().add_rigid(ground, static=True).mass_properties()
    assert mass == math.inf and centre.tolist() == [0, 0, 0]


# ---- files


def all_of_them(count=3):
    """A scene of all three, with heightfield and hull of some size."""
    scene = pl.Scene()
    scene.add_rigid(pl.Cone(0.1, 0.25), density=500, position=(0, 0, 3), name="cone")
    cloud = 0.1 * np.random.default_rng(0).normal(size=(20 * count, 3))
    scene.add_rigid(pl.Hull(cloud), mass=2, position=(1, 0, 3), name="rock")
    scene.add_rigid(pl.Heightfield(hills(count, count + 1) / 7, (4, 1 / 3)), static=True, name="hills")
    return scene


def test_small_ones_stand_in_the_scene_file(tmp_path):
    scene = all_of_them()
    save(scene, tmp_path / "a.toml")
    assert os.listdir(tmp_path) == ["a.toml"]
    back = load(tmp_path / "a.toml")
    assert same(back, scene)
    assert back.find("cone").shape == pl.Cone(0.1, 0.25)
    assert back.find("rock").shape.surface.triangles.tobytes() == scene.find("rock").shape.surface.triangles.tobytes()
    assert back.find("hills").shape.heights.tobytes() == scene.find("hills").shape.heights.tobytes()
    save(back, tmp_path / "b.toml")
    assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()


def test_large_ones_are_files_beside_it(tmp_path):
    scene = all_of_them(40)
    sphere = pl.meshes.sphere(0.2, 4).transformed(rotation=(1, 2, 3, 4))
    scene.add_rigid(pl.Hull(sphere.points), mass=1, name="round")
    save(scene, tmp_path / "a.toml")
    assert sorted(os.listdir(tmp_path)) == ["a.toml", "a_hills.npy", "a_round.obj"]
    back = load(tmp_path / "a.toml")
    assert same(back, scene)
    first = (tmp_path / "a.toml").read_bytes()
    save(back, tmp_path / "a.toml")  # now references
    assert (tmp_path / "a.toml").read_bytes() == first
    (tmp_path / "elsewhere").mkdir()
    save(back, tmp_path / "elsewhere" / "b.toml")
    assert same(load(tmp_path / "elsewhere" / "b.toml"), scene)


def test_same_sees_other_points_and_heights():
    scene = all_of_them()
    for name, shape in (("hills", pl.Heightfield(hills(3, 4) / 6, (4, 1 / 3))), ("rock", pl.Hull(TETRAHEDRON))):
        other = all_of_them()
        other.find(name).put(shape=shape)
        assert same(scene, all_of_them()) and not same(scene, other)


def test_files_of_the_folder_are_read_and_referenced(tmp_path):
    np.save(tmp_path / "hills.npy", hills().astype(np.float32))
    np.savetxt(tmp_path / "hills.csv", hills(), delimiter=",", fmt="%.17g")
    pl.meshes.write(tmp_path / "ball.node", pl.meshes.sphere(1, 2))
    text = (
        GROUND % 'file = "hills.npy"' + GROUND.replace("ground", "more") % 'file = "hills.csv"' + ROCK % '"ball.node"'
    )
    scene = load(put(tmp_path, text))
    assert scene.find("ground").shape.heights.tobytes() == hills().astype(np.float32).astype(float).tobytes()
    assert scene.find("more").shape.heights.tobytes() == hills().tobytes()
    assert len(scene.find("rock").shape.points) == len(np.unique(pl.meshes.sphere(1, 2).boundary_faces))
    save(scene, tmp_path / "again.toml")
    saved = (tmp_path / "again.toml").read_text()
    for reference in ('file = "hills.npy"', 'file = "hills.csv"', 'hull = "ball.node"'):
        assert reference in saved
    assert same(load(tmp_path / "again.toml"), scene)
    np.save(tmp_path / "hills.npy", 2 * hills())  # no longer these heights: they are saved anew
    save(scene, tmp_path / "again.toml")
    assert 'file = "hills.npy"' not in (tmp_path / "again.toml").read_text()
    assert same(load(tmp_path / "again.toml"), scene)


def test_inline_ones_read_as_in_python(tmp_path):
    text = GROUND % "heights = [[0, 1], [2, 3.5]]" + ROCK % "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"
    scene = load(put(tmp_path, text + "[[rigid]]\nmass = 1\nshape = { cone = { radius = 1, length = 2 } }\n"))
    assert scene.find("ground").shape.heights.tolist() == [[0, 1], [2, 3.5]]
    assert scene.find("rock").shape.points.tolist() == TETRAHEDRON
    assert scene.bodies[2].shape == pl.Cone(1, 2)


BAD_FILES = {
    "cone": (
        "[[rigid]]\nmass = 1\nshape = { cone = { radius = 1, length = 0 } }\n",
        "rigid[0].shape.cone.length: 0 -> is out of range; allowed: a finite number above 0",
    ),
    "cone radius": (
        "[[rigid]]\nmass = 1\nshape = { cone = { length = 1 } }\n",
        "rigid[0].shape.cone.radius: (missing) -> is needed; allowed: a finite number above 0",
    ),
    "too large": (
        "[[rigid]]\nmass = 1\ninertia = 1\nshape = { sphere = 1e90 }\n",
        "this Sphere is too large: numbers cannot hold its inertia",
    ),
    "points": (
        ROCK % "[[0, 0]]",
        "rigid[0].shape.hull: [[0, 0]] -> is not an array of 3 numbers; allowed: an array of",
    ),
    "number": (ROCK % "3", "rigid[0].shape.hull: 3 -> is neither an array of points nor a file; allowed: an array"),
    "few points": (ROCK % "[[0, 0, 0]]", "-> hull points must be at least four points (n, 3) of finite numbers"),
    "flat": (ROCK % str([[i, i * i, 0] for i in range(5)]), "-> hull points must not all lie in a plane, got 5 points"),
    "repaired points": (
        ROCK % (str(TETRAHEDRON) + ", repair = true"),
        "-> repair is for hulls of mesh files; the hull of points needs none",
    ),
    "no file": (ROCK % '"rock.obj"', "-> there is no such file in"),
    "escape": (ROCK % '"../rock.obj"', "-> the path leads out of the folder of the scene file; allowed: a relative"),
    "escape 2": (GROUND % 'file = "/a.npy"', "-> the path leads out of the folder of the scene file; allowed: a rel"),
    "both": (GROUND % 'heights = [[1, 2], [3, 4]], file = "a.npy"', "allowed: heights or file, one of the two"),
    "neither": ((GROUND % "").replace(",  }", " }"), "allowed: heights or file, one of the two"),
    "ragged": (
        GROUND % "heights = [[1, 2], [3]]",
        "rigid[0].shape.heightfield.heights: [[1, 2], [3]] -> has rows of different lengths; allowed: an array of arr",
    ),
    "flat list": (GROUND % "heights = [1, 2]", "-> is not an array of arrays of numbers; allowed: an array of arrays"),
    "nan": (GROUND % "heights = [[1, nan], [3, 4]]", "-> is not finite; allowed: an array of arrays of finite numbers"),
    "one row": (GROUND % "heights = [[1, 2]]", "-> heightfield heights must be an array (nx, ny) of finite numbers"),
    "size": (
        "[[rigid]]\nstatic = true\nshape = { heightfield = { size = [1, 0], heights = [[1, 2], [3, 4]] } }\n",
        "rigid[0].shape.heightfield.size: [1, 0] -> is out of range; allowed: 2 positive numbers, [along x, along y]",
    ),
    "moving": (
        (GROUND % "heights = [[1, 2], [3, 4]]").replace("static = true", "mass = 1"),
        "-> a heightfield is ground without a lower side: add it with static=True",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_shapes_in_files_are_named(tmp_path, case):
    text, message = BAD_FILES[case]
    (line,) = errors(put(tmp_path, text))
    assert line.startswith("rigid[0].shape") or case in ("moving", "too large")
    assert message in line


def test_files_that_are_no_heights_are_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[{}, 1], [2, 3]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "complex.npy", np.ones((2, 2)) * 1j)
    np.savez(tmp_path / "archive.npz", np.ones((2, 2)))
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    (tmp_path / "words.csv").write_text("a, b\n1, 2\n")
    (tmp_path / "ragged.csv").write_text("1, 2\n1\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    np.save(tmp_path / "vast.npy", np.ones((2, 2)))
    head = (tmp_path / "vast.npy").read_bytes()
    (tmp_path / "vast.npy").write_bytes(head.replace(b"(2, 2), ", b"(99999999, 99999999), ")[:128])
    for name in ("objects.npy", "complex.npy", "archive.npy", "words.csv", "ragged.csv", "empty.npy", "vast.npy"):
        (line,) = errors(put(tmp_path, GROUND % f'file = "{name}"'))
        assert "this is not a file of numbers: " in line and name in line.split("->")[1], line
    (tmp_path / "empty.csv").write_text("")
    assert "at least 2 by 2, got an array of shape" in errors(put(tmp_path, GROUND % 'file = "empty.csv"'))[0]


def test_checkpoints_hold_them(tmp_path):
    for scene in (all_of_them(), all_of_them(40)):
        sim = scene.simulate(dt=0.01, threads=1).step(2)
        sim.checkpoint(tmp_path / "a.npz")
        resumed = pl.resume(tmp_path / "a.npz")
        assert same(resumed.scene, scene)
        assert sim.step(2).state.body_position.tobytes() == resumed.step(2).state.body_position.tobytes()


def test_check_tells_them(tmp_path):
    save(all_of_them(), tmp_path / "a.toml")
    result = CliRunner().invoke(main, ["check", str(tmp_path / "a.toml")])
    assert result.exit_code == 0, result.output
    for line in ("<rigid body 'cone': Cone>", "<rigid body 'rock': Hull>", "<rigid body 'hills': Heightfield>"):
        assert line in result.output
