"""What scenes say about contact: options of bodies, rules of pairs, overlaps; in Python and in files, both ways."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from closed_surfaces import unit_cube
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
        scene.add_rigid(unit_cube(), mass=1, thickness=7, name="cube")


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
