"""What scenes say about contact: options of bodies, rules of pairs, overlaps; in Python and in files, both ways."""

import dataclasses
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.scene.contact_options import ALL_GROUPS, CONTACT_KEYS, TORQUES
from pliant.scene_file.files import load, same, save
from scene_texts import BALL, SOFT, errors, put

RUBBER = pl.Material.corotated(young=1e6, poisson=0.4, density=1000)
OPTIONS = {
    "friction": 0.3,
    "restitution": 0.25,
    "rolling_friction": 1e-3,
    "torsional_friction": 2e-3,
    "collide": False,
    "group": 0b101,
    "mask": ALL_GROUPS - 4,
    "thickness": 1e-3,
}
SOFT_OPTIONS = OPTIONS | dict.fromkeys(TORQUES)
"""Soft bodies refuse the torques."""
SOLID_OPTIONS = OPTIONS | {"thickness": None}
"""Solids refuse a thickness."""


def add_beam(scene, **options):
    """A soft beam of 1 x 0.2 x 0.4 m."""
    return scene.add_soft(pl.meshes.box((1, 0.2, 0.4), cells=1), RUBBER, **({"name": "beam"} | options))


def three():
    """A scene of a soft beam, a ball and a floor."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, name="ball")
    return scene, add_beam(scene), ball, scene.add_rigid(pl.Plane(), static=True, name="floor")


def test_the_options_are_these_and_their_defaults_say_nothing():
    assert tuple(OPTIONS) == CONTACT_KEYS
    scene, beam, ball, _ = three()
    for body in (beam, ball):
        assert [getattr(body, key) for key in CONTACT_KEYS] == [None, None, None, None, True, 1, 2**63 - 1, None]
    assert beam.self_contact is None
    assert scene.overlaps == "resolve" and scene.contact_rules == []


def test_groups_must_accept_each_other():
    scene = pl.Scene()

    def body(**options):
        return scene.add_rigid(pl.Sphere(1), mass=1, **options)

    plain, second, picky = body(), body(group=2), body(group=4, mask=1)
    assert plain.may_touch(second) and plain.may_touch(plain)
    assert picky.may_touch(plain) and plain.may_touch(picky)
    assert not picky.may_touch(second) and not second.may_touch(picky)  # one of two is not enough
    assert not picky.may_touch(picky)
    assert not plain.may_touch(body(collide=False)) and not body(group=0).may_touch(plain)
    assert body(group=np.int32(8)).group == 8


def test_thickness_of_a_soft_body_is_bounded_by_its_mesh():
    scene = pl.Scene()
    assert add_beam(scene, thickness=0.1, rotation=(1, 2, 3, 4)).thickness == 0.1
    with pytest.raises(pl.SceneError) as caught:
        add_beam(scene, name="other", thickness=0.11)
    assert str(caught.value) == (
        "thickness of soft body 'other' must be at most 0.1 m, half of the smallest extent of its mesh, got 0.11"
    )
    assert [body.name for body in scene.bodies] == ["beam"]
    with pytest.raises(pl.SceneError, match=r"thickness of rigid body 'cube' must be at most 0\.5 m"):
        scene.add_rigid(cube(), mass=1, thickness=7, name="cube")


BAD = {
    "thickness": ({"thickness": 0}, "thickness must be a finite number in ]0, inf[, got 0"),
    "friction": ({"friction": -1}, "friction must be a finite number in [0, inf[, got -1"),
    "restitution": ({"restitution": 2}, "restitution must be a finite number in [0, 1], got 2"),
    "rolling": ({"rolling_friction": -1}, "rolling_friction must be a finite number in [0, inf[, got -1"),
    "torsional": ({"torsional_friction": "no"}, "torsional_friction must be a number, got 'no'"),
    "group": (
        {"group": -1},
        "group must be a whole number from 0 to 9223372036854775807 (63 bits, one for each group)",
    ),
    "group float": ({"group": 1.0}, "group must be a whole number"),
    "group flag": ({"group": True}, "group must be a whole number"),
    "mask": ({"mask": 2**63}, "one for each group), got 9223372036854775808"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_told_what_is_allowed(case):
    options, message = BAD[case]
    for add in (add_beam, lambda scene, **own: scene.add_rigid(pl.Sphere(1), mass=1, **own)):
        with pytest.raises(pl.SceneError, match=re.escape(message)):
            add(pl.Scene(), **options)


def test_overlaps_are_resolved_or_refused():
    assert pl.Scene(overlaps="refuse").overlaps == "refuse"
    with pytest.raises(pl.SceneError, match="overlaps must be one of 'resolve', 'refuse', got 'ignore'"):
        pl.Scene(overlaps="ignore")


def cube() -> pl.Mesh:
    """A cube of 1 m as a mesh."""
    surface = pl.meshes.box((1, 1, 1), cells=1).surface()
    return pl.Mesh(points=surface.points, triangles=surface.triangles)


def test_overlaps_at_the_start_are_told_with_names_and_places():
    """Meshes that cross, always; solids that overlap, to whoever refuses that."""
    scene = pl.Scene()
    scene.add_rigid(cube(), mass=1, name="one")
    scene.add_rigid(cube(), mass=1, position=(10.5, 0.2, 0.1), name="far")
    scene.add_rigid(cube(), mass=1, position=(10, 0, 0), name="two")
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
    scene.add_rigid(cube(), mass=1, name="one")
    two = scene.add_rigid(cube(), mass=1, position=(5, 0, 0), name="two")
    sim = scene.simulate(dt=0.01)
    with pytest.warns(UserWarning, match=r"through each other: 'one' with 'two' near \("):
        sim.set_pose(two, (0.5, 0.2, 0.1))


# ---- pairs


def test_rules_of_pairs():
    scene, beam, ball, floor = three()
    scene.ignore_contact(beam, ball)
    scene.ignore_contact(ball, beam)  # the same again
    scene.contact(ball, floor, friction=0.2)
    scene.contact(floor, ball, friction=0.2)
    scene.contact(beam, floor, restitution=1)
    first, second, third = scene.contact_rules
    assert (first.a, first.b, first.collide) == (beam, ball, False)
    assert (second.a, second.b, second.collide, second.friction, second.restitution) == (ball, floor, True, 0.2, None)
    assert (third.friction, third.restitution) == (None, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.collide = True


def test_rules_that_make_no_sense():
    scene, beam, ball, floor = three()
    stranger = pl.Scene().add_rigid(pl.Sphere(1), mass=1, name="ball")
    bad = [
        (lambda: scene.ignore_contact(beam, beam), "two different bodies, got <soft body 'beam'"),
        (lambda: scene.ignore_contact(beam, beam), "made with self_contact=False passes through itself"),
        (
            lambda: scene.ignore_contact(beam, stranger),
            "ignore_contact names <rigid body 'ball': Sphere>, which is not",
        ),
        (
            lambda: scene.ignore_contact(pl.world, beam),
            "ignore_contact names pliant.world, which is not a body of this",
        ),
        (lambda: scene.ignore_contact("ball", beam), "ignore_contact names 'ball', which is not a body of this scene"),
        (lambda: scene.ignore_contact(None, None), "ignore_contact names None, which is not a body of this scene"),
        (lambda: scene.contact(ball, ball, friction=1), "a body touches itself with its own friction"),
        (lambda: scene.contact(ball, stranger, friction=1), "contact names <rigid body 'ball': Sphere>, which is not"),
        (lambda: scene.contact(ball, floor), "contact needs friction=... or restitution=...; ignore_contact(a, b)"),
        (
            lambda: scene.contact(ball, floor, friction=-1),
            "contact friction must be a finite number in [0, inf[, got -1",
        ),
        (
            lambda: scene.contact(ball, floor, restitution=2),
            "contact restitution must be a finite number in [0, 1], go",
        ),
    ]
    for act, message in bad:
        with pytest.raises(pl.SceneError, match=re.escape(message)):
            act()
    assert not scene.contact_rules


def test_a_pair_has_one_rule():
    scene, beam, ball, floor = three()
    scene.contact(ball, floor, friction=0.2)
    scene.ignore_contact(ball, beam)
    message = "contact says of 'floor' and 'ball': friction 0.3; but the scene says of them already: friction 0.2"
    with pytest.raises(pl.SceneError, match=message):
        scene.contact(floor, ball, friction=0.3)
    with pytest.raises(pl.SceneError, match="they do not collide; but the scene says of them already: friction"):
        scene.ignore_contact(floor, ball)
    with pytest.raises(pl.SceneError, match="restitution 1; but the scene says of them already: they do not collide"):
        scene.contact(beam, ball, restitution=1)
    assert [rule.friction for rule in scene.contact_rules] == [0.2, None]


# ---- files and documentation


def test_the_samples_of_the_documentation_run():
    page = (Path(__file__).parent.parent / "docs" / "contact.md").read_text(encoding="utf-8")
    names = {}
    for sample in page.split("```python\n")[1:]:
        exec(sample.split("```")[0], names)
    assert [rule.collide for rule in names["scene"].contact_rules] == [False, True]
    assert not names["scene"].bodies[-2].may_touch(names["ball"])


def test_the_tables_of_the_documentation_read(tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "scene-file.md").read_text(encoding="utf-8")
    sample = page.split("## `[[contact]]`")[1].split("```toml\n")[1].split("```")[0]
    floor = '[[rigid]]\nname = "floor"\nstatic = true\nshape = { plane = [0, 0, 1] }\n'
    rules = load(put(tmp_path, SOFT + BALL + floor + sample)).contact_rules
    assert [(rule.collide, rule.friction) for rule in rules] == [(True, 0.2), (False, None)]


def said():
    """A scene that says everything there is to say about contact."""
    scene = pl.Scene(overlaps="refuse")
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, name="ball", **SOLID_OPTIONS)
    beam = add_beam(scene, self_contact=False, **SOFT_OPTIONS)
    floor = scene.add_rigid(pl.Plane(), static=True, name="floor", group=0, mask=0)
    scene.contact(ball, floor, friction=1 / 3, restitution=0)
    scene.ignore_contact(floor, beam)
    scene.contact(beam, ball, restitution=1 / 7)
    return scene


def test_all_of_it_round_trips(tmp_path):
    scene = said()
    save(scene, tmp_path / "a.toml")
    back = load(tmp_path / "a.toml")
    assert same(back, scene)
    assert back.overlaps == "refuse"
    for name, options in (("ball", SOLID_OPTIONS), ("beam", SOFT_OPTIONS)):
        assert {key: getattr(back.find(name), key) for key in CONTACT_KEYS} == options
    assert back.find("beam").self_contact is False and back.find("floor").mask == 0
    rules = [(rule.a.name, rule.b.name, rule.collide, rule.friction, rule.restitution) for rule in back.contact_rules]
    assert rules == [
        ("ball", "floor", True, 1 / 3, 0.0),
        ("floor", "beam", False, None, None),
        ("beam", "ball", True, None, 1 / 7),
    ]
    save(back, tmp_path / "b.toml")
    assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()
    text = (tmp_path / "a.toml").read_text()
    assert '[[contact]]\nbetween = ["floor", "beam"]\ncollide = false\n' in text
    assert "thickness = 0.001 # m" in text


def test_what_is_not_said_is_not_written(tmp_path):
    scene, *_ = three()
    save(scene, tmp_path / "a.toml")
    text = (tmp_path / "a.toml").read_text()
    assert not [key for key in (*CONTACT_KEYS, "self_contact", "overlaps", "contact") if key in text]


def test_same_sees_every_difference():
    changes = [
        lambda scene: setattr(scene, "overlaps", "resolve"),
        lambda scene: setattr(scene.find("beam"), "self_contact", True),
        lambda scene: scene._rules.popitem(),
        *(lambda scene, key=key: scene.find("ball").put(**{key: None}) for key in OPTIONS if key != "thickness"),
    ]
    assert same(said(), said())
    for change in changes:
        other = said()
        change(other)
        assert not same(said(), other)


def contact(text, first="beam", second="ball"):
    """Two bodies and a table [[contact]]."""
    return SOFT + BALL + f'[[contact]]\nbetween = ["{first}", "{second}"]\n{text}\n'


BAD_FILES = {
    "overlaps": (
        'overlaps = "ignore"\n',
        "overlaps: \"ignore\" -> is not one of the choices; allowed: 'resolve', 'refuse'",
    ),
    "thickness": (
        SOFT + "thickness = 0.6\n",
        "soft[0].thickness: 0.6 -> thickness of soft body 'beam' must be at most 0.5 m, half of the smallest extent",
    ),
    "thin": (SOFT + "thickness = 0\n", "soft[0].thickness: 0 -> is out of range; allowed: a finite number above 0"),
    "group": (
        BALL + "group = -1\n",
        "rigid[0].group: -1 -> is out of range; allowed: a whole number from 0 to 92233720",
    ),
    "mask": (BALL + "mask = 0.5\n", "rigid[0].mask: 0.5 -> is not a whole number; allowed: a whole number from 0 to"),
    "rigid self": (
        BALL + "self_contact = true\n",
        "rigid[0].self_contact: true -> unknown key; allowed: name, position",
    ),
    "rolling": (
        BALL + "rolling_friction = -1\n",
        "rigid[0].rolling_friction: -1 -> is out of range; allowed: a finite",
    ),
    "one body": (
        '[[contact]]\nbetween = ["ball"]\ncollide = false\n',
        'contact[0].between: ["ball"] -> is not an array of two names; allowed: the names of two bodies, [name, name]',
    ),
    "no bodies": (
        "[[contact]]\ncollide = false\n",
        "contact[0].between: (missing) -> is needed; allowed: the names of",
    ),
    "unknown body": (
        contact("collide = false", "beem"),
        "contact[0].between[0]: \"beem\" -> no body has this name (did you mean 'beam'?); allowed: beam, ball",
    ),
    "world": (contact("collide = false", second="world"), 'contact[0].between[1]: "world" -> no body has this name; '),
    "itself": (contact("collide = false", "beam", "beam"), "a soft body made with self_contact=False passes through"),
    "nothing": (
        contact(""),
        'contact[0]: { between = ["beam", "ball"] } -> says nothing; allowed: collide = false, or',
    ),
    "nothing new": (
        contact("collide = true"),
        "-> says nothing; allowed: collide = false, or friction, restitution or",
    ),
    "too much": (contact("collide = false\nfriction = 1"), "-> friction of bodies that do not collide; allowed: coll"),
    "friction": (contact("friction = -1"), "contact[0].friction: -1 -> is out of range; allowed: a finite number at"),
    "restitution": (contact("restitution = 2"), "contact[0].restitution: 2 -> is out of range; allowed: a finite numb"),
    "key": (
        contact("frction = 2"),
        "contact[0].frction: 2 -> unknown key (did you mean 'friction'?); allowed: between",
    ),
    "twice": (
        contact("friction = 1") + '[[contact]]\nbetween = ["ball", "beam"]\nfriction = 2\n',
        "of 'ball' and 'beam': friction 2; but the scene says of them already: friction 1",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_name_key_and_value(tmp_path, case):
    text, message = BAD_FILES[case]
    (line,) = errors(put(tmp_path, text))
    assert message in line


def test_contacts_of_bodies_that_failed_are_no_further_problem(tmp_path):
    text = contact("collide = false").replace("sphere = 1", "sphere = -1")
    assert [line.split(":")[0] for line in errors(put(tmp_path, text))] == ["rigid[0].shape.sphere"]


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
