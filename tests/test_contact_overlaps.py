"""What begins inside, below or exactly on something else: told, parted or refused, by names and places."""

import warnings

import numpy as np
import pytest

import pliant as pl
from closed_surfaces import unit_cube

RUBBER = pl.Material.corotated(young=1e6, poisson=0.4, density=1000)


def test_overlaps_are_resolved_or_refused():
    assert pl.Scene(overlaps="refuse").overlaps == "refuse"
    with pytest.raises(pl.SceneError, match="overlaps must be one of 'resolve', 'refuse', got 'ignore'"):
        pl.Scene(overlaps="ignore")


def test_overlaps_at_the_start_are_told_with_names_and_places():
    """Meshes that cross, always; solids that overlap, to whoever refuses that."""
    scene = pl.Scene()
    scene.add_rigid(unit_cube(), mass=1, name="one")
    scene.add_rigid(unit_cube(), mass=1, position=(10.5, 0.2, 0.1), name="far")
    scene.add_rigid(unit_cube(), mass=1, position=(10, 0, 0), name="two")
    with pytest.raises(pl.SceneError, match=r"at the start: 'far' with 'two' near \(1[01]"):
        scene.simulate(dt=0.01)
    solids = pl.Scene(overlaps="refuse")
    solids.add_rigid(pl.Box((1, 1, 1)), mass=1, name="box")
    solids.add_rigid(pl.Sphere(0.5), mass=1, position=(0, 0, 0.8), name="ball")
    told = r"overlap at the start: 'box' with 'ball' near \(0, 0, 0\.[345]\d*\), 0.2 m deep. Move"
    with pytest.raises(pl.SceneError, match=told):
        solids.simulate(dt=0.01)


def ball_on_box(depth: float) -> pl.Scene:
    """A ball of 1 m that reaches into a box of 1 m by a depth [m], and two pairs of balls far from them."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Box((1, 1, 1)), mass=1, name="box")
    scene.add_rigid(pl.Sphere(0.5), mass=1, position=(0, 0, 1 - depth), name="ball")
    for k in range(2):
        scene.add_rigid(pl.Sphere(0.5), mass=1, position=(10 * k + 10, 0, 0), name=f"left{k}")
        scene.add_rigid(pl.Sphere(0.5), mass=1, position=(10 * k + 10, 1 - 0.5 * depth, 0), name=f"right{k}")
    return scene


def test_overlaps_that_are_resolved_are_told_once():
    """The deepest first, with depths [m] and the remedy; only before the first step."""
    sim = ball_on_box(0.1).simulate(dt=0.01, threads=1)
    with pytest.warns(UserWarning, match="overlap at the start") as told:
        sim.step()
    words = str(told[0].message)
    assert len(told) == 1 and "'box' with 'ball' near (0, 0, 0.4" in words and ", 0.1 m deep; 'left0' with" in words
    assert words.count("0.05 m deep") == 2 and "move them apart" in words and "ignore_contact" in words
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(3)


@pytest.mark.parametrize("depth", [0.0, 0.002, 0.005])
def test_what_just_touches_is_not_told(depth):
    """A ball of 0.5 m that is placed deeper than it should be by up to a percent of its size."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ball_on_box(depth).simulate(dt=0.01, threads=1).step(2)


def test_many_overlaps_are_counted():
    """Eight pairs are named, and how many more there are."""
    scene = pl.Scene(gravity=(0, 0, 0))
    for k in range(11):
        scene.add_rigid(pl.Sphere(0.5), mass=1, position=(0.8 * k, 0, 0))
    with pytest.warns(UserWarning, match="overlap at the start") as told:
        scene.simulate(dt=0.01, threads=1).step()
    words = str(told[0].message)
    assert words.count("0.2 m deep") == 8 and " and 2 more. " in words


def inside_a_block(what: str, overlaps: str) -> pl.Scene:
    """A block of 1 m, and something small in its middle."""
    scene = pl.Scene(gravity=(0, 0, 0), overlaps=overlaps)
    material = pl.Material.corotated(1e5, 0.3, 1000)
    block = scene.add_soft(pl.meshes.box((1, 1, 1), cells=3), material, name="block")
    small, middle = pl.meshes.box((0.05, 0.05, 0.05), cells=1), (0.5, 0.52, 0.49)
    match what:
        case "soft":
            scene.add_soft(small, material, position=middle, name="core")
        case "mesh":
            surface = small.surface()
            shape = pl.Mesh(points=surface.points, triangles=surface.triangles)
            scene.add_rigid(shape, mass=1, position=middle, name="core")
        case _:
            core = scene.add_rigid(pl.Sphere(0.05), mass=1, position=middle, name="core", collide=what != "ghost")
            if what == "ignored":
                scene.ignore_contact(block, core)
    return scene


@pytest.mark.parametrize("what", ["soft", "mesh", "solid"])
def test_bodies_inside_soft_ones_are_told_or_refused(what):
    words = r"inside soft ones at the start: 'core' with 'block' near \(0\.5, 0\.52, 0\.49\)"
    with pytest.raises(pl.SceneError, match=words):
        inside_a_block(what, "refuse").simulate(dt=0.01)
    with pytest.warns(UserWarning, match=words):
        inside_a_block(what, "resolve").simulate(dt=0.01)


def below_ground(what: str, overlaps: str, height: float) -> pl.Scene:
    """Ground that rises along x and is turned about z, and something above its middle by a height [m]."""
    scene = pl.Scene(overlaps=overlaps)
    slope = np.linspace(-1, 1, 5)[:, None] + np.zeros(4)
    half = np.sqrt(0.5)
    scene.add_rigid(pl.Heightfield(slope, size=(2, 2)), static=True, rotation=(half, 0, 0, half), name="hill")
    place = (0.1, 0.3, 0.3 + height)
    if what == "soft":
        mesh = pl.meshes.box((0.05, 0.05, 0.05), cells=1)
        scene.add_soft(mesh, pl.Material.corotated(1e5, 0.3, 1000), position=place, name="low")
    else:
        scene.add_rigid(pl.Sphere(0.05), mass=1, position=place, name="low")
    return scene


@pytest.mark.parametrize("what", ["soft", "solid"])
def test_bodies_below_ground_are_told_or_refused(what):
    words = r"lie below heightfields at the start: 'low' with 'hill' near \(0\.1, 0\.3, 0\.1\)"
    with pytest.raises(pl.SceneError, match=words):
        below_ground(what, "refuse", -0.2).simulate(dt=0.01)
    with pytest.warns(UserWarning, match=words):
        below_ground(what, "resolve", -0.2).simulate(dt=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        below_ground(what, "refuse", 0.1).simulate(dt=0.01)


def test_heights_above_ground_are_those_of_its_triangles():
    heights = np.random.default_rng(0).normal(size=(4, 3))
    ground = pl.Heightfield(heights, size=(3, 5))
    corners = ground.surface.points[ground.surface.triangles]
    assert ground.above(corners.mean(axis=1)) == pytest.approx(0, abs=1e-12)
    assert ground.above(ground.surface.points - (0, 0, 1)) == pytest.approx(-1)
    assert np.isinf(ground.above(np.array([[1.6, 0, -9.0]]))).all()


def test_thickness_is_of_surfaces():
    with pytest.raises(pl.SceneError, match=r"thickness is of soft bodies, .*; a Sphere touches at its surface"):
        pl.Scene().add_rigid(pl.Sphere(0.1), mass=1, thickness=0.02)


@pytest.mark.parametrize("what", ["ghost", "ignored"])
def test_what_does_not_touch_may_lie_inside(what):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside_a_block(what, "refuse").simulate(dt=0.01)


def test_errors_of_contacts_name_their_bodies():
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, name="ball")
    floor = scene.add_rigid(pl.Plane(), static=True, name="floor")
    with pytest.raises(pl.SceneError, match=r"friction must be .*, got -1 \(of 'other'\)"):
        scene.add_rigid(pl.Sphere(0.1), mass=1, name="other", friction=-1)
    with pytest.raises(pl.SceneError, match=r"friction must be .*, got -1 \(of 'ball'\)"):
        ball.friction = -1
    with pytest.raises(pl.SceneError, match=r"friction must be .*, got -1 \(of 'ball' with 'floor'\)"):
        scene.contact(ball, floor, friction=-1)


def test_crossings_that_a_user_makes_are_told_with_names_and_places():
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(unit_cube(), mass=1, name="one")
    two = scene.add_rigid(unit_cube(), mass=1, position=(5, 0, 0), name="two")
    sim = scene.simulate(dt=0.01)
    with pytest.warns(UserWarning, match=r"through each other: 'one' with 'two' near \("):
        sim.set_pose(two, (0.5, 0.2, 0.1))


def coincident(kind: str, distance: float = 0.0, **options) -> pl.Scene:
    """Two copies of a sheet, as one mesh or two, or two that share a side."""
    scene, mesh = pl.Scene(**options), pl.meshes.grid((1, 1), 4)
    material = pl.Material.stvk(1e6, 0.3, 400)
    if kind == "one mesh":
        points = np.concatenate([mesh.points, mesh.points + np.array([0, 0, distance])])
        mesh = pl.meshes.TriMesh(points, np.concatenate([mesh.triangles, mesh.triangles + len(mesh.points)]))
    scene.add_cloth(mesh, material, 1e-3, name="sheet", position=(0.3, 0, 0.7))
    if kind != "one mesh":
        place = (1.3 if kind == "beside" else 0.3, 0, 0.7 + distance)
        scene.add_cloth(mesh, material, 1e-3, name="other", position=place)
    return scene


@pytest.mark.parametrize("overlaps", ["resolve", "refuse"])
@pytest.mark.parametrize("kind, pair", [("one mesh", "itself"), ("two", "'other'"), ("beside", "'other'")])
def test_sheets_without_a_distance_are_refused_by_name_and_place(kind, pair, overlaps):
    """Rounding is no distance; a thousandth of the thickness is one: sheets come apart, fall, and none crosses."""
    words = rf"without a distance at the start: 'sheet' with {pair} near \(.*, 0.7\)"
    for rounding in (0.0, 1e-16):
        with pytest.raises(pl.SceneError, match=words):
            coincident(kind, rounding, overlaps=overlaps).simulate(1 / 60)
    apart = coincident(kind, 1e-6).simulate(1 / 60).step(3)
    assert not len(apart.state.crossing)
    assert apart.state.x[:, 2].mean() < 0.7 - 0.9 * 0.5 * 9.81 * (3 / 60) ** 2  # it falls


def test_solids_that_touch_exactly_are_not_refused():
    """Their boundaries say what is inside: cubes on each other, and a sheet on one."""
    scene, rubber = pl.Scene(), pl.Material.corotated(1e5, 0.3, 1000)
    for height in (0.0, 1.0):
        scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), rubber, position=(0, 0, height))
    scene.add_cloth(pl.meshes.grid((1, 1), 4), pl.Material.stvk(1e6, 0.3, 400), 1e-3, position=(0, 0, 2))
    sim = scene.simulate(1 / 60)
    found = sim.model.colliders.contacts(sim.state, 1 / 60)
    assert {(0, 1), (1, 2)} <= {tuple(sorted(pair)) for pair in found.thing.tolist()}


def pierced() -> pl.meshes.TetMesh:
    """A tet of about 1 m, and a needle through the middle of one of its faces, far from all edges of it."""
    tet = np.array([[-0.5, -0.3, 0], [0.5, -0.3, 0], [0, 0.6, 0], [0, 0, 1]])
    needle = np.array([[0, 0, 0.25], [0.01, 0, -0.75], [-0.01, 0.01, -0.75], [-0.01, -0.01, -0.75]])
    tets = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    volumes = [np.linalg.det(corners[:3] - corners[3]) for corners in (tet, needle)]
    tets = np.array([row if volume > 0 else row[[1, 0, 2, 3]] for row, volume in zip(tets, volumes)])
    return pl.meshes.TetMesh(np.concatenate([tet, needle]), tets)


def test_a_body_that_passes_through_itself_in_the_middle_of_a_face_is_refused():
    """No vertex and no edge is near another one there: distances of these are no proof."""
    scene = pl.Scene()
    body = scene.add_soft(pierced(), RUBBER, name="pierced")
    with pytest.raises(pl.SceneError, match=r"through each other at the start: 'pierced' with itself near \("):
        scene.simulate(dt=0.01)
    body.self_contact = False
    scene.simulate(dt=0.01)


def test_a_body_that_touches_itself_is_told():
    """A bar cut across its upper half, with two nodes wherever there was one, and no distance between them."""
    bar = pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 2))
    middle, tets = np.median(np.unique(bar.points[:, 0])), bar.tets.copy()
    cut = np.flatnonzero((bar.points[:, 0] == middle) & (bar.points[:, 2] > np.ptp(bar.points[:, 2]) / 2))
    right = bar.points[tets].mean(axis=1)[:, 0] > middle
    copies = np.arange(len(bar.points))
    copies[cut] = len(bar.points) + np.arange(len(cut))
    tets[right] = copies[tets[right]]
    mesh = pl.meshes.TetMesh(np.concatenate([bar.points, bar.points[cut]]), tets)
    scene = pl.Scene()
    body = scene.add_soft(mesh, RUBBER, name="cut")
    with pytest.warns(UserWarning, match=r"touch themselves at the start: 'cut' with itself near \("):
        scene.simulate(dt=0.01)
    body.self_contact = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.simulate(dt=0.01)
