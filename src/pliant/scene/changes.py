"""What has changed in a scene since a simulation of it was made.

A simulation is of the scene as it was. The scene may be changed and simulated anew, but a simulation that was made
before does not follow: it refuses to go on rather than go on with what is said no more.
"""

from dataclasses import fields
from functools import cache
from operator import attrgetter, is_

from pliant.checks import shown
from pliant.errors import SceneError
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.scene import Scene
from pliant.scene.sealed import Noted, Sealed

LISTS = ("pins", "forces", "tractions", "pressures", "torques", "winds")
"""What bodies collect by calls after they were made."""


class Described:
    """A scene as it was at a time: its bodies, joints, rules, and all that is said of each; `kept` is that scene with
    lists of its own, which is not to change either."""

    def __init__(self, scene: Scene):
        for thing in (*scene.bodies, *scene.joints):
            if not isinstance(thing, Sealed):
                raise SceneError(
                    f"a scene has bodies, added with add_..., and joints, added with join, not {shown(thing)}"
                )
        self.scene, self.kept = scene, scene.as_it_is()
        self.whole, self.parts = _whole(scene), _parts(scene)
        points = (point for rod in scene.rods for point in rod)
        self.things = [(thing, _values(thing)) for thing in (*scene.bodies, *points, *scene.joints)]
        self._note()

    def _note(self) -> None:
        """Keep how often anything was assigned, for a quick look; and the lists that may grow."""
        self.writes = Sealed.writes
        lists = (getattr(thing, name, ()) for thing, _ in self.things for name in LISTS)
        lists = [own for own in lists if isinstance(own, list) and not isinstance(own, Noted)]
        self.empty = [own for own in lists if not own]
        self.filled = [(own, tuple(own)) for own in lists if own]

    def _looks_the_same(self) -> bool:
        """Whether nothing has changed at a quick look; if it looks otherwise, it may have been another scene."""
        if self.writes != Sealed.writes or any(self.empty):
            return False
        return all(len(own) == len(before) and all(map(is_, own, before)) for own, before in self.filled)

    def difference(self) -> str:
        """What has changed, in words; empty where nothing has."""
        for scene in (self.scene, self.kept):
            parts = _parts(scene)
            if len(parts) == len(self.parts) and parts == self.parts:  # of what is in a scene, equal means the same
                continue
            for (what, before), after in zip(self.whole.items(), _whole(scene).values()):
                if len(before) != len(after):
                    return f"it has {len(after)} {what}, and had {len(before)}"
                if not all(map(is_, before, after)):
                    return f"its {what} changed"
        if self._looks_the_same():
            return ""
        for thing, before in self.things:
            after = _values(thing)
            if len(before) != len(after) or not all(map(is_, before, after)):
                return _difference(thing, before)
        self._note()
        return ""


def _parts(scene: Scene) -> tuple:
    """All that a scene holds itself, for a quick look."""
    return (scene.gravity, scene.overlaps, *scene.bodies, *scene.joints, *scene._rules.values())


def _whole(scene: Scene) -> dict[str, tuple]:
    return {
        "gravity": (scene.gravity,),
        "overlaps": (scene.overlaps,),
        "bodies": tuple(scene.bodies),
        "joints": tuple(scene.joints),
        "contact rules": tuple(scene.contact_rules),
    }


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _reader(kind: type) -> attrgetter:
    return attrgetter(*_names(kind))


def _values(thing) -> tuple:
    """The values of all fields, and the members of those that are lists of loads."""
    values = _reader(type(thing))(thing)
    for name in LISTS if isinstance(thing, Soft | Rigid) else ():
        values += tuple(getattr(thing, name, ()))
    return values


def _difference(thing, before: tuple) -> str:
    """What has changed about a body or a joint."""
    for name, old in zip(_names(type(thing)), before):
        if getattr(thing, name) is not old:
            return f"{name} of {thing.name!r} changed"
    return f"pins, forces, tractions, pressures, torques or winds of {thing.name!r} were added or taken away"
