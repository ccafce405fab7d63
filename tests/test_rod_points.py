"""Which number a point of a rod has, and joints that hold a point where it is not."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.scene_file import same, save

WIRE = pl.Material.linear(1e7, 0.3, 1000)
CORNER = np.array([(0, 0, 0), (1.0, 0, 0), (1, 1, 0)])


def rod(points=CORNER, **options):
    return pl.Scene().add_rod(points, WIRE, 0.01, **({"collide": False} | options))


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_lines_are_numbered_along_themselves(segments):
    line = rod(segments=segments)
    assert np.array_equal(line.points[::segments], CORNER)
    assert np.array_equal(line.edges, np.stack([np.arange(2 * segments), np.arange(1, 2 * segments + 1)], axis=1))
    assert np.allclose(np.linalg.norm(np.diff(line.points, axis=0), axis=1), 1 / segments)
    assert line[-1] is line[2 * segments] and line[-1 - segments] is line[segments]
    with pytest.raises(pl.SceneError, match=rf"from {-len(line)} to {len(line) - 1}, got {len(line)}"):
        line[len(line)]
    with pytest.raises(pl.SceneError, match=rf"from {-len(line)} to {len(line) - 1}, got {-len(line) - 1}"):
        line.clamp(-len(line) - 1)


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_closed_lines_are_numbered_along_themselves(segments):
    ring = rod(closed=True, segments=segments)
    assert len(ring) == len(ring.edges) == 3 * segments
    assert np.array_equal(ring.points[::segments], CORNER)
    assert np.array_equal(ring.edges[:, 1], (ring.edges[:, 0] + 1) % len(ring))
    spans = np.linalg.norm(ring.points[ring.edges[:, 1]] - ring.points[ring.edges[:, 0]], axis=1)
    assert np.allclose(spans, np.repeat([1, 1, np.sqrt(2)], segments) / segments)


def test_networks_keep_the_points_that_are_given():
    net = rod(edges=[[0, 1], [2, 1]], segments=3)
    assert np.array_equal(net.points[:3], CORNER)
    assert np.allclose(net.points[3:], [(1 / 3, 0, 0), (2 / 3, 0, 0), (1, 2 / 3, 0), (1, 1 / 3, 0)])
    assert net.edges.tolist() == [[0, 3], [3, 4], [4, 1], [2, 5], [5, 6], [6, 1]]


def test_a_line_that_is_cut_is_that_of_its_points(tmp_path):
    """Cut or given point by point, a rod is the same: steps have the same bits, files say the same."""
    scenes = [pl.Scene(), pl.Scene()]
    for scene, points, segments in zip(scenes, (CORNER, rod(segments=2).points), (2, 1)):
        line = scene.add_rod(points, WIRE, 0.01, collide=False, segments=segments, name="line")
        line.clamp(0)
        line[-1].force((0, 0, 0.01))
    assert same(*scenes)
    save(scenes[0], tmp_path / "line.toml")
    assert "edges" not in (tmp_path / "line.toml").read_text()
    scenes.append(pl.load(tmp_path / "line.toml"))
    found = [scene.simulate(1 / 60, threads=1).step(2).state.body_position for scene in scenes]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


SAID = """format = 1
[[rod]]
name = "wire"
points = [[0, 0, 0], [1, 0, 0]]
segments = 10
material = { law = "linear", young = 1e7, poisson = 0.3, density = 1000 }
radius = 0.01
clamp = [{ point = POINT }]
[[rigid]]
name = "ball"
shape = { sphere = 0.1 }
mass = 1
position = [1, 0, 1]
[[joint]]
type = "rope"
a = "ball"
b = "wire.10"
at = [[1, 0, 1], [1, 0, 0]]
"""


def test_scene_files_number_the_same(tmp_path):
    path = tmp_path / "wire.toml"
    path.write_text(SAID.replace("POINT", "10"))
    scene = pl.load(path)
    assert scene.rods[0][-1].static and scene.joints[0].b is scene.rods[0][-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.simulate(dt=0.01)
    for number in (11, -1):
        path.write_text(SAID.replace("POINT", str(number)))
        with pytest.raises(pl.SceneError, match=rf"rod\[0\].clamp\[0\].point: {number}.*0"):
            pl.load(path)


def test_a_joint_away_from_its_point_is_named():
    """A ball hung 5 cm beside the end of a rod that lies elsewhere than its points say; half a segment is 5 cm too."""
    for beside, named in ((0.05, False), (0.07, True)):
        scene = pl.Scene()
        wire = scene.add_rod([(0, 0, 0), (1, 0, 0)], WIRE, 0.01, segments=10, position=(0, 0, 1))
        ball = scene.add_rigid(pl.Sphere(0.05), mass=1, position=(1, 0, 0))
        scene.join(pl.Rope(ball, wire[-1], at=((1, 0, 0.05), (1 - beside, 0, 1)), name="string"))
        scene.join(pl.Slider(pl.world, wire[-1], at=(3, 0, 1), axis=(1, 0, 0)))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            scene.simulate(0.01)
        texts = [str(one.message) for one in told]
        assert len(texts) == named
        assert not named or "rope joint 'string' holds point 10 of rod 'rod0' at a place that is 0.07 m" in texts[0]
        assert not named or "nearest is point 9, 0.03 m away" in texts[0]
