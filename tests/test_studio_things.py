"""Everything that the studio can add becomes a script that builds the same scene and gives the same bits."""

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")

from pliant import scene_file
from pliant.scene.catalogue import JOINTS
from pliant.studio.body_keys import body_keys
from pliant.studio.catalogue import OWN_LAW, PRESETS
from pliant.studio.joint_keys import joint_keys
from pliant.studio.python_text import python_text
from pliant.studio.things import THINGS

STATE = ("x", "v", "body_position", "body_rotation", "body_velocity", "body_angular_velocity")
CURVE = {"times": [0.0, 1.0], "values": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]}
LOADS = {
    "pin": [{"nodes": "z < 0.51", "axes": "xz", "displacement": CURVE}, {"nodes": {"indices": [26]}}],
    "force": [{"nodes": "all", "vector": [0.0, 0.0, 2.0]}, {"nodes": {"indices": [7]}, "vector": CURVE}],
    "traction": [{"faces": {"indices": [3, 4]}, "vector": [0.0, 10.0, 0.0]}],
    "pressure": [{"faces": {"halfspace": {"point": [0, 0, 0.89], "normal": [0, 0, 1]}}, "pressure": 50.0}],
}


def apart(tables: dict, kind: str, table: dict, number: int) -> None:
    """Put a body where no other is."""
    way = np.array([3.0 * number, 0.0, 1.0])
    if kind == "rod":
        moved = {"points": (np.array(table["points"]) + way).tolist()}
    else:
        moved = {"position": (np.array(table.get("position", [0.0, 0.0, 0.0])) + way).tolist()}
    moved = {} if table.get("static") else moved
    tables.setdefault(kind, []).append({**table, **moved, "name": f"{table['name']} {number}"})


def shifted(at: np.ndarray, x: float, y: float, z: float) -> list[float]:
    return (at + np.array([x, y, z])).tolist()


def of_all_things() -> dict:
    """Everything in the menu Add, a body of each preset, and one with all kinds of loads."""
    tables: dict = {"format": 1, "run": {"dt": 0.01}}
    for number, (_, kind, table) in enumerate(THINGS):
        apart(tables, kind, table, number)
    cube = {"name": "cube", "mesh": {"box": [0.4, 0.4, 0.4], "cells": [2, 2, 2]}}
    for number, material in enumerate(PRESETS.values(), len(THINGS)):
        apart(tables, "soft", cube | {"material": material}, number)
    tables["soft"].append(cube | {"name": "loaded", "material": PRESETS["rubber"], "position": [0.0, 5.0, 0.5]} | LOADS)
    return tables


def of_all_joints() -> dict:
    """Two boxes for every kind of joint, with all that is needed of it, and all that its free coordinates can have."""
    tables: dict = {
        "format": 1,
        "gravity": [0.0, 0.0, -9.81],
        "run": {"dt": 0.01},
        "rigid": [],
        "soft": [],
        "joint": [],
    }
    for number, (kind, keys) in enumerate(joint_keys().items()):
        at = np.array([3.0 * number, 0.0, 1.0])
        names = [f"{kind} {side}" for side in "ab"]
        box = {"shape": {"box": [0.2, 0.2, 0.2]}, "density": 500.0, "collide": False}
        tables["rigid"] += [box | {"name": n, "position": shifted(at, k * 0.4, 0, 0)} for k, n in enumerate(names)]
        table = {"type": kind, "name": kind, **{key: said["start"] for key, said in keys.items() if said["needed"]}}
        filled = {
            "a": names[0],
            "b": names[1],
            "at": shifted(at, 0.2, 0, 0),
            "axis": [0.0, 1.0, 0.0],
            "second_axis": [1.0, 0.0, 0.0],
            "path": [{"body": name, "at": shifted(at, 0.2 * k, 0, 0.1)} for k, name in enumerate(names)],
            "first": {"gear": "hinge", "rack": "hinge", "screw": "cylindrical"}.get(kind),
            "second": {"gear": "cylindrical", "rack": "slider"}.get(kind),
        }
        table |= {key: filled[key] for key in table if key in filled}
        if keys.get("at", {}).get("kind") == "points":
            table["at"] = [shifted(at, 0.1, 0, 0), shifted(at, 0.3, 0, 0)]
        for key in (key for key, said in keys.items() if said["kind"] == "coordinate"):
            motor = {"velocity": 1.0, "max_torque": 5.0} if key != "second" else {"position": 0.1, "stiffness": 10.0}
            table[key] = {"limits": [-0.5, 0.5], "motor": motor, "friction": 0.1, "stiffness": 1.0, "rest": 0.05}
        if kind == "attach":
            mesh = {"box": [0.3, 0.2, 0.2], "cells": [2, 1, 1]}
            soft = {"name": "grown on", "mesh": mesh, "position": shifted(at, -0.1, -0.1, 0.05)}
            tables["soft"].append(soft | {"material": PRESETS["rubber"], "collide": False})
            table["b"] = "grown on"
        tables["joint"].append(table)
    return tables


def of_all_keys() -> dict:
    """What sheets, rods, rigid bodies and pairs of bodies can say beside what a new one has."""
    things = {title: (kind, table) for title, kind, table in THINGS}
    tables: dict = {"format": 1, "run": {"dt": 0.01}}
    said = {
        "Sheet": {"thins": False, "bend_stiffness": 1e-4, "flat": True, "contact_distance": 2e-3, "group": 5, "mask": 1}
        | {"clamp": [{"nodes": "x < 0.001", "velocity": [0.1, 0.0, 0.0]}], "wind": [{"velocity": CURVE, "lift": 0.5}]}
        | {"fibres": [{"direction": [1, 0, 0], "young": 1e6}, {"direction": [0, 1, 0], "young": 2e5}]},
        "Rod": {"radius": None, "section": {"rectangle": [0.02, 0.01]}, "normal": [0, 0, 1], "stretched": 1.01}
        | {"force": [{"point": 2, "vector": [0, 0, 1]}], "torque": [{"point": 1, "vector": [0.01, 0, 0]}]},
        "Rigid ball": {"inertia": [0.02, 0.02, 0.03], "rolling_friction": 1e-3, "torsional_friction": 1e-3}
        | {"force": [{"vector": [0, 1, 0], "at": [6.0, 0.1, 2.5]}], "torque": [{"vector": [0, 0, 0.1]}], "group": 2},
        "Rigid box": {"static": True, "density": None, "velocity": CURVE, "angular_velocity": [0, 0, 1]},
    }
    for number, (title, more) in enumerate(said.items()):
        kind, table = things[title]
        apart(tables, kind, table | more, number)
        tables[kind][-1] = {key: value for key, value in tables[kind][-1].items() if value is not None}
    names = {kind: [body["name"] for body in tables[kind]] for kind in ("cloth", "rigid", "rod")}
    tables["contact"] = [
        {"between": [names["cloth"][0], names["rigid"][0]], "friction": 0.1, "restitution": 0.5},
        {"between": [names["rigid"][0], names["rigid"][1]], "collide": False},
    ]
    return tables


@pytest.mark.parametrize("tables", [of_all_things(), of_all_joints(), of_all_keys()], ids=["things", "joints", "keys"])
def test_the_script_of_everything_gives_the_same_bits(tables, tmp_path):
    file = scene_file.from_tables(tables, tmp_path, "scene")
    names: dict = {}
    exec(python_text(file, tmp_path).split("\nfor _ in sim.run")[0], names)
    assert scene_file.same(names["scene"], file.scene)
    ours, theirs = file.scene.simulate(dt=file.run.dt, solver=file.run.solver), names["sim"]
    ours.step(2)
    theirs.step(2)
    for name in STATE:
        assert getattr(ours.state, name).tobytes() == getattr(theirs.state, name).tobytes(), name
    assert np.abs(ours.state.v).max() > 0.01, "it moves"


def test_all_joints_that_scenes_know_are_offered():
    assert set(joint_keys()) == set(JOINTS)
    assert all(said["unit"] for said in joint_keys()["hinge"].values() if said["kind"] in ("number", "limits"))


def test_every_key_of_bodies_loads_and_rules_can_be_edited():
    """What has no field by its kind has a panel of its own; a rod's edges alone are shown as the file says them."""
    panels = {
        "name",
        "rotation",
        "mesh",
        "material",
        "shape",
        "points",
        "section",
        "between",
        "drawing",
        "edges",
        "grid",
    }
    panels |= {"pin", "clamp", "force", "traction", "pressure", "torque", "fibres", "wind", "box", "cells"}
    found = {name: keys for name, keys in body_keys().items() if name != "sections"}
    assert {key for keys in found.values() for key, said in keys.items() if said["kind"] == "other"} <= panels
    assert found["cloth.wind"]["velocity"] == {"kind": "moving", "unit": "m/s", "needed": True, "yes": False}
    assert found["rigid"]["mask"]["kind"] == "groups" and found["tetrahedralize"]["grading"]["choices"][0] == 1


def test_a_law_of_ones_own_is_offered_that_makes_a_scene(tmp_path):
    material = OWN_LAW | {"parameters": {"mu": 1e5, "k": 1e6}, "density": 1000.0}
    soft = [{"name": "own", "mesh": {"box": [1, 1, 1], "cells": 1}, "material": material}]
    file = scene_file.from_tables({"format": 1, "soft": soft}, tmp_path, "scene")
    names: dict = {}
    exec(python_text(file, tmp_path).split("\nsim = ")[0], names)
    assert scene_file.same(names["scene"], file.scene)
