"""From the tables [[joint]] of a scene file to joints of a scene."""

from itertools import islice
from typing import Any

import numpy as np

from pliant.checks import listed
from pliant.scene import selections as select
from pliant.scene.catalogue import JOINTS
from pliant.scene.coordinates import Coordinate, Motor
from pliant.scene_file.joints import COORDINATES, joint_table
from pliant.scene_file.problems import MOST_WORDS
from pliant.scene_file.problems import Path as KeyPath
from pliant.scene_file.values import Table


def make_selection(picks: Any) -> select.Selection:
    """The selection that a `nodes` or `faces` value describes."""
    if isinstance(picks, str):
        return select.from_text(picks)
    if hasattr(picks, "box"):
        return select.InBox(*picks.box)
    if hasattr(picks, "sphere"):
        return select.InSphere(picks.sphere.centre, picks.sphere.radius)
    if hasattr(picks, "halfspace"):
        return select.InHalfSpace(picks.halfspace.point, picks.halfspace.normal)
    if hasattr(picks, "set"):
        return select.InSet(picks.set)
    return select.Indices(np.array(picks.indices))


def given(table: Table, *keys: str) -> dict[str, Any]:
    """Those of some keys that the file gives."""
    return {key: getattr(table, key) for key in keys if key in table.model_fields_set}


NOTHING = Coordinate()
"""A coordinate that nothing is said of."""

# What `first` and `second` of a joint are where they are coordinates of its own.
UNTIED = object()


class JointBuilder:
    """The part of the builder that makes joints."""

    def add_joint(self, entry: Any, path: KeyPath) -> None:
        """One of [[joint]]"""
        table = self.problems.validate(joint_table(entry), entry, path)
        if table is None:
            return
        keys = type(table).model_fields
        held = [self._held(table, entry, path, key) for key in ("a", "b", "path", "first", "second") if key in keys]
        if None in held:
            return
        special = ("type", "a", "b", "path", "nodes", "motor", "first", "second", *COORDINATES)
        options = given(table, *(key for key in keys if key not in special))
        if "path" in keys and "length" in options:
            options["length"] = self._moving(options["length"], entry["length"], (*path, "length"))
        if getattr(table, "nodes", None) is not None:
            with self.problems.collect((*path, "nodes"), entry["nodes"]):
                options["nodes"] = make_selection(table.nodes)
        if getattr(table, "motor", None) is not None:
            options["motor"] = self._motor(table.motor, entry["motor"], (*path, "motor"))
        for key in COORDINATES:
            if isinstance(getattr(table, key, None), Table):
                options[key] = self._coordinate(getattr(table, key), entry[key], (*path, key))
        with self.problems.collect(path, entry):
            joint = JOINTS[table.type](*(each for each in held if each is not UNTIED), **options)
            self.joints[self.scene.join(joint).name] = joint
            self.keys[id(joint)] = path

    def _held(self, table: Table, entry: dict, path: KeyPath, key: str):
        """What a joint holds on to by a key: a body, a path through bodies, or another joint; None where that is
        wrong, which is noted."""
        value = getattr(table, key)
        if key == "path":
            sides = [self._side(point.body, (*path, key, k, "body")) for k, point in enumerate(value)]
            return None if None in sides else [(side, point.at) for side, point in zip(sides, value)]
        if key in ("a", "b"):
            return self._side(value, (*path, key))
        if not isinstance(value, str):  # a coordinate of that name
            return UNTIED
        if value not in self.joints:
            known = listed(islice(self.joints, MOST_WORDS)) or "none"
            self.problems.add((*path, key), value, f"no joint above has this name; allowed: {known}")
        return self.joints.get(value)

    def _coordinate(self, table: Table, entry: dict, path: KeyPath) -> Coordinate:
        """What a free coordinate of a joint has; nothing where that is wrong, which is noted."""
        options = given(table, *(key for key in type(table).model_fields if key != "motor"))
        if table.motor is not None:
            options["motor"] = self._motor(table.motor, entry["motor"], (*path, "motor"))
        with self.problems.collect(path, entry):
            return Coordinate(**options)
        return NOTHING

    def _motor(self, table: Table, entry: dict, path: KeyPath) -> Motor | None:
        options = given(table, "velocity", "position", "stiffness", "damping", "max_torque", "max_force")
        for key in {"velocity", "position"} & set(options):
            value = self._moving(options[key], entry[key], (*path, key))
            options[key] = 0.0 if value is None else value  # whatever else is wrong with the motor is found too
        with self.problems.collect(path, entry):
            return Motor(**options)
        return None
