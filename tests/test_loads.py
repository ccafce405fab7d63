"""Faces, pins and loads of soft bodies: their geometry, what picks them, and what bad input is told."""

import math
import re

import numpy as np
import pytest

import pliant as pl
from pliant.checks import at_time
from pliant.scene import selections
from pliant.scene.bodies import FacePressure, FaceTraction, NodeForce, Pin

RUBBER = pl.Material.corotated(young=1e6, poisson=0.4, density=1000)
TURN = (0.5, -0.1, 0.7, 0.3)


def soft_body(mesh=None, **options):
    return pl.Scene().add_soft(mesh or pl.meshes.box((1, 1, 1), cells=2), RUBBER, name="cube", **options)


def with_sets():
    """A box of 2 x 3 x 4 m whose mesh has the sets `left` (x = 0) and `corner` (one node)."""
    box = pl.meshes.box((2, 3, 4), cells=(2, 3, 4))
    left = np.flatnonzero(box.points[:, 0] == 0)
    return pl.meshes.TetMesh(box.points, box.tets, {"left": left, "corner": [0]})


MESHES = {
    "box": lambda: pl.meshes.box((2, 3, 4), cells=(2, 3, 4)),
    "twelve": lambda: pl.meshes.box((1, 1, 1), cells=2, pattern="twelve"),
    "sphere": lambda: pl.meshes.sphere(0.7, 4),
    "cylinder": lambda: pl.meshes.cylinder(0.5, 2, (2, 3)),
}


@pytest.mark.parametrize("name", MESHES)
def test_faces_enclose_the_body(name):
    body = soft_body(MESHES[name](), position=(5, -3, 2), rotation=TURN)
    faces = body.faces
    assert faces.triangles.shape == faces.centres.shape == faces.normals.shape == (len(faces), 3)
    assert len(faces) == len(body.mesh.boundary_faces)
    np.testing.assert_allclose(np.linalg.norm(faces.normals, axis=1), 1, rtol=1e-14)
    # closed: the integral of the normal vanishes; outward: that of x . n / 3 is the volume (divergence theorem)
    np.testing.assert_allclose(faces.areas @ faces.normals, 0, atol=1e-13 * faces.areas.sum())
    flux = np.einsum("ij,ij->i", faces.centres - body.nodes.positions.mean(axis=0), faces.normals)
    assert faces.areas @ flux / 3 == pytest.approx(body.mesh.volume, rel=1e-12)
    np.testing.assert_allclose(
        faces.centres, body.nodes.positions[faces.triangles].mean(axis=1), rtol=1e-14, atol=1e-14
    )
    assert np.array_equal(np.stack([faces.x, faces.y, faces.z], axis=1), faces.centres)
    assert body.faces is faces  # made once


def test_faces_of_a_box():
    faces = soft_body(MESHES["box"]()).faces
    assert faces.areas.sum() == pytest.approx(2 * (2 * 3 + 3 * 4 + 4 * 2), rel=1e-14)
    assert faces.areas[faces.x == 2].sum() == pytest.approx(12, rel=1e-14)
    assert np.array_equal(faces.normals[faces.x == 2], np.tile([1.0, 0, 0], ((faces.x == 2).sum(), 1)))
    assert np.array_equal(faces.normals[faces.z == 0], np.tile([0.0, 0, -1], ((faces.z == 0).sum(), 1)))


def test_centres_of_faces_in_a_plane_lie_exactly_in_it():
    # (0.1 + 0.1 + 0.1) / 3 is not 0.1 in floating point, but "x >= 0.1" must take the faces as it takes their nodes
    body = soft_body(pl.meshes.box((0.1, 0.8, 1.6), cells=2))
    for text in ("x >= 0.1", "y >= 0.8", "z >= 1.6"):
        assert len(body.select_faces(selections.Where(text), "test")) == 8


def test_comparisons_are_joined_by_and_and_or():
    body = soft_body(pl.meshes.box((4, 1, 1), (4, 1, 1)))
    x, y = body.nodes.x, body.nodes.y
    for text, mask in {
        "x < 0.5 or x > 3.5": (x < 0.5) | (x > 3.5),
        "x < 0.5 or x > 3.5 and y > 0.5": (x < 0.5) | ((x > 3.5) & (y > 0.5)),  # and binds more closely
        "y > 0.5 and x < 0.5 or x > 3.5": ((y > 0.5) & (x < 0.5)) | (x > 3.5),
        "x < 0.5 or x < 1.5 or x > 3.5": (x < 1.5) | (x > 3.5),
        "x > 9 or y > 9 or x < 0.5": x < 0.5,
    }.items():
        assert mask.any() and np.array_equal(body.select(text, "test"), np.flatnonzero(mask)), text
    faces = body.faces
    ends = np.flatnonzero((faces.x < 1e-9) | (faces.x > 4 - 1e-9))
    assert np.array_equal(body.select_faces("x < 1e-9 or x > 3.999999999", "test"), ends)


@pytest.mark.parametrize("text", ["x < 1 or", "or x < 1", "x < 1 or or y < 1", "x < 1 and or y < 1", "x < 1 OR y < 1"])
def test_comparisons_that_are_not_whole_are_refused(text):
    with pytest.raises(pl.SceneError, match=r"is not understood; allowed: comparisons of x, y, z .* 'and' and 'or'"):
        selections.Where(text)


def test_faces_of_a_sphere():
    errors = []
    for cells in (4, 8):
        faces = soft_body(pl.meshes.sphere(0.7, cells)).faces
        assert np.all(np.einsum("ij,ij->i", faces.normals, faces.centres) > 0.9 * np.linalg.norm(faces.centres, axis=1))
        errors.append(1 - faces.areas.sum() / (4 * math.pi * 0.7**2))
    # the nodes lie on the sphere, so the area is too small by O(h^2): halving h divides the error by about 4
    assert 0 < errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_every_way_to_pick_faces():
    body = soft_body(with_sets(), position=(10, 0, 0))
    x, y, z = body.faces.x, body.faces.y, body.faces.z
    kinds = [
        (x < 10.01, x == 10),
        (np.flatnonzero(z > 3.99)[::-1], z == 4),
        ([5, 3, 5], np.isin(np.arange(len(body.faces)), [3, 5])),
        (7, np.arange(len(body.faces)) == 7),
        ("x <= 10 and z > 1", (x <= 10) & (z > 1)),
        ("all", x > 0),
        (selections.Everything(), x > 0),
        (selections.InBox((10, 0, 0), (10, 3, 2)), (x == 10) & (z <= 2)),
        (selections.InSphere((10, 0, 0), 1.5), (x - 10) ** 2 + y**2 + z**2 <= 1.5**2),
        (selections.InHalfSpace((0, 3, 0), (0, 1, 0)), y == 3),
        (selections.InSet("left"), x == 10),
    ]
    for picks, mask in kinds:
        assert mask.any()
        load = body.traction(picks, (0, 0, 1))
        assert body.select_faces(load.faces, "traction").tolist() == np.flatnonzero(mask).tolist()
        load = body.pressure(picks, 2)
        assert body.select_faces(load.faces, "pressure").tolist() == np.flatnonzero(mask).tolist()


def test_all_picks_all_nodes_too():
    body = soft_body()
    assert body.select(body.pin("all").nodes, "pin").tolist() == list(range(27))


def test_loads_are_returned_and_kept():
    body = soft_body()
    pin, force = body.pin([0], axes="zx", displacement=(1, 2, 3)), body.force("z >= 1", (0, 0, 4), spread="area")
    traction, pressure = body.traction("z >= 1", (0, 1, 2)), body.pressure("all", 5)
    assert isinstance(pin, Pin) and (pin.axes, pin.velocity, pin.displacement) == ("xz", None, (1.0, 2.0, 3.0))
    assert isinstance(force, NodeForce) and (force.vector, force.spread) == ((0.0, 0.0, 4.0), "area")
    assert isinstance(traction, FaceTraction) and traction.vector == (0.0, 1.0, 2.0)
    assert isinstance(pressure, FacePressure) and pressure.pressure == 5.0
    assert (body.pins, body.forces, body.tractions, body.pressures) == ([pin], [force], [traction], [pressure])
    assert body.force([0], (0, 0, 1)).spread == "even"


def test_values_may_change_in_time():
    body = soft_body()
    ramp = pl.Keyframes((0, 2), (0, 10))
    assert at_time(body.pressure("all", ramp).pressure, 1.5) == 7.5
    assert at_time(body.pressure("all", lambda time: 3 * time).pressure, 2.0) == 6.0
    assert at_time(body.traction("all", lambda time: (0, 0, time)).vector, 2.0).tolist() == [0, 0, 2]
    rows = np.arange(6.0).reshape(2, 3)
    assert at_time(body.pin([3, 1], displacement=lambda time: time * rows).displacement, 2.0).tolist() == [
        [0, 2, 4],
        [6, 8, 10],
    ]
    assert at_time(body.pin([3, 1], displacement=lambda time: (0, 0, time)).displacement, 2.0).tolist() == [0, 0, 2]


def test_displacements_node_by_node_are_copied():
    body = soft_body()
    rows = np.arange(6.0).reshape(2, 3)
    pin = body.pin([3, 1], displacement=rows)
    rows[:] = 9
    assert pin.displacement.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        pin.displacement[0, 0] = 1


def test_force_spread_evenly():
    body = soft_body()
    nodes, shares = body.force_shares(body.force("z >= 1", (0, 0, 1)))
    assert nodes.tolist() == np.flatnonzero(body.nodes.z == 1).tolist()
    assert shares.tolist() == [1 / 9] * 9


def test_force_spread_by_area():
    # the top of the unit cube, z = 1, in 2 x 2 cells with all diagonals alike: of the 8 triangles of area 1/8, the
    # middle node has 6, a node in the middle of an edge 3, and the corners 2, 2, 1 and 1; each takes a third of them
    body = soft_body(pl.meshes.box((1, 1, 1), cells=2, pattern="six"))
    nodes, shares = body.force_shares(body.force("z >= 1", (0, 0, 1), spread="area"))
    counts = np.round(shares * 24).astype(int)
    np.testing.assert_allclose(shares, counts / 24, rtol=1e-14)
    assert sorted(counts.tolist()) == [1, 1, 2, 2, 3, 3, 3, 3, 6]
    assert counts[np.all(body.nodes.positions[nodes][:, :2] == 0.5, axis=1)].tolist() == [6]
    # a uniform traction has no moment about the middle
    np.testing.assert_allclose(shares @ body.nodes.positions[nodes], [0.5, 0.5, 1], rtol=1e-14)


def test_nodes_of_no_selected_face_take_no_share():
    body = soft_body()
    picked = (body.nodes.z == 1) | ((body.nodes.x == 0) & (body.nodes.y == 0) & (body.nodes.z == 0))
    nodes, shares = body.force_shares(body.force(picked, (0, 0, 1), spread="area"))
    assert shares[body.nodes.z[nodes] == 0].tolist() == [0]
    assert shares.sum() == pytest.approx(1, rel=1e-14)


BAD_INPUT = {
    "empty faces": (
        lambda: soft_body().traction("x > 5", (0, 0, 1)),
        "traction of 'cube' selects no face; the centres of its faces lie between [0.0, 0.0, 0.0] and [1.0, 1.0, 1.0]",
    ),
    "empty pressure": (lambda: soft_body().pressure("x > 5", 1), "pressure of 'cube' selects no face; the centres of"),
    "empty mask": (lambda: soft_body().pressure(np.zeros(48, bool), 1), "pressure of 'cube' selects no face"),
    "set without faces": (
        lambda: soft_body(with_sets()).pressure(selections.InSet("corner"), 1),
        "pressure of 'cube' selects no face",
    ),
    "no set": (
        lambda: soft_body(with_sets()).pressure(selections.InSet("right"), 1),
        "the mesh has no node set 'right'; it has: corner, left",
    ),
    "face mask": (
        lambda: soft_body().traction(np.ones(27, bool), (0, 0, 1)),
        "traction of 'cube': the mask has 27 entries for 48 faces",
    ),
    "face range": (lambda: soft_body().pressure([48], 1), "face indices must be in 0..47, got [48]"),
    "face floats": (
        lambda: soft_body().pressure([0.5], 1),
        "pressure must be a mask, face indices, a selection or a comparison text, got [0.5]",
    ),
    "ragged": (lambda: soft_body().pressure([[1], [2, 3]], 1), "pressure must be a mask, face indices, a selection"),
    "face text": (lambda: soft_body().pressure("everything", 1), "is not understood; allowed: comparisons of x, y, z"),
    "all": (lambda: selections.Where("everything"), "as in \"x < 0.01 and z >= 0.5\"; or 'all'"),
    "traction": (lambda: soft_body().traction("all", 3), "traction must be 3 finite numbers, got 3"),
    "traction function": (
        lambda: soft_body().traction("all", lambda time: 3),
        "traction at time 0 must be 3 finite numbers",
    ),
    "pressure": (lambda: soft_body().pressure("all", (0, 0, 1)), "pressure must be a number, got (0, 0, 1)"),
    "pressure nan": (lambda: soft_body().pressure("all", math.nan), "pressure must be a finite number"),
    "pressure function": (
        lambda: soft_body().pressure("all", lambda time: math.inf),
        "pressure at time 0 must be a finite number",
    ),
    "pressure keyframes": (
        lambda: soft_body().pressure("all", pl.Keyframes((0, 1), ((0, 0, 0), (1, 1, 1)))),
        "pressure at time 0 must be a number",
    ),
    "force keyframes": (
        lambda: soft_body().force("all", pl.Keyframes((0, 1), (0, 1))),
        "force at time 0 must be 3 finite numbers, got 0.0",
    ),
    "keyframes mixed": (lambda: pl.Keyframes((0, 1), (0, (1, 1, 1))), "keyframe value must be a number, got (1, 1, 1)"),
    "keyframes nan": (lambda: pl.Keyframes((0, 1), (0, math.nan)), "keyframe value must be a finite number"),
    "both": (
        lambda: soft_body().pin([0], velocity=(0, 0, 1), displacement=(0, 0, 1)),
        "pin of 'cube' has a velocity and a displacement; allowed: one of the two",
    ),
    "displacement": (
        lambda: soft_body().pin([0, 1], displacement=(1, 2)),
        "pin displacement must be 3 finite numbers, or an array (2, 3) with a row for each selected node in order, "
        "got an array of shape (2,)",
    ),
    "displacement rows": (
        lambda: soft_body().pin([0, 1], displacement=np.zeros((3, 3))),
        "or an array (2, 3) with a row for each selected node in order, got an array of shape (3, 3)",
    ),
    "displacement text": (lambda: soft_body().pin([0], displacement="up"), "in order, got 'up'"),
    "displacement nan": (
        lambda: soft_body().pin([0], displacement=(0, 0, math.nan)),
        "in order, got nan at [2]",
    ),
    "displacement function": (
        lambda: soft_body().pin([0, 1], displacement=lambda time: np.zeros((5, 3))),
        "pin displacement at time 0 must be 3 finite numbers, or an array (2, 3)",
    ),
    "axes type": (lambda: soft_body().pin([0], axes=3), "pin axes must be letters of 'xyz', got 3"),
    "spread": (
        lambda: soft_body().force([0], (0, 0, 1), spread="volume"),
        "force spread must be one of 'even', 'area', got 'volume'",
    ),
    "no area": (
        lambda: soft_body().force([0, 1], (0, 0, 1), spread="area"),
        "force of 'cube' with spread='area' needs boundary faces with all three nodes selected, but there is none; "
        "select all nodes of a piece of the boundary, or use spread='even'",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_loads_are_told_what_is_allowed(case):
    act, message = BAD_INPUT[case]
    with pytest.raises(pl.SceneError, match=re.escape(message)):
        act()


def test_a_bad_load_is_not_kept():
    body = soft_body()
    for act in (
        lambda: body.force([0], (0, 0, 1), spread="area"),
        lambda: body.traction("x > 5", (0, 0, 1)),
        lambda: body.pressure("all", "high"),
        lambda: body.pin([0], displacement=3),
    ):
        with pytest.raises(pl.SceneError):
            act()
    assert not (body.pins or body.forces or body.tractions or body.pressures)
