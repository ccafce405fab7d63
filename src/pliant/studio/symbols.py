"""Pins, loads and joints as the page draws them: dots and arrows at points that move with their bodies."""

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from pliant.output.rod_view import Tube
from pliant.rotations import rotation_matrix
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joint_options import world
from pliant.scene.joints import BetweenPoints, held_points
from pliant.studio.covers import Cover


def pinned(body: Soft, cover: Cover) -> tuple[np.ndarray, np.ndarray]:
    """Which of a cover's nodes are pinned, as places in `cover.nodes`, and by which pin of the body (uint32)."""
    places, numbers = [], []
    for number, pin in enumerate(body.pins):
        held = np.flatnonzero(np.isin(cover.nodes, body.select(pin.nodes, "pin")))
        places.append(held)
        numbers.append(np.full(len(held), number))
    joined = [np.concatenate(each) if each else np.zeros(0) for each in (places, numbers)]
    return joined[0].astype(np.uint32), joined[1].astype(np.uint32)


def body_loads(body: Soft | Rigid, cover: Cover | None) -> list[dict[str, Any]]:
    """Loads of a body as arrows at time 0: kind, number, vector [N, N m, Pa or m/s], and where: a place in the cover's
    nodes, or a point in the frame of a rigid shape [m]. Of a pressure the vector points inward."""
    if isinstance(body, Rigid):
        turn = rotation_matrix(body.rotation)
        points = [body.position if force.at is None else force.at for force in body.forces]
        places = {"force": points, "torque": [body.position] * len(body.torques)}
        return [arrow | {"at": _local(body, turn, places[arrow["kind"]][arrow["number"]])} for arrow in _arrows(body)]
    positions, faces, said = body.nodes.positions, body.faces, []
    for k, force in enumerate(body.forces):
        centre = positions[body.select(force.nodes, "force")].mean(axis=0)
        said.append({"kind": "force", "number": k, "vector": _at_start(force.vector), "centre": centre})
    for k, traction in enumerate(body.tractions):
        centre = faces.centres[body.select_faces(traction.faces, "traction")].mean(axis=0)
        said.append({"kind": "traction", "number": k, "vector": _at_start(traction.vector), "centre": centre})
    for k, pressure in enumerate(body.pressures):
        chosen = body.select_faces(pressure.faces, "pressure")
        inward = -faces.normals[chosen].mean(axis=0)
        inward /= max(np.linalg.norm(inward), 1e-9)
        arrow = {"vector": (_at_start(pressure.pressure) * inward).tolist(), "inward": inward.tolist()}
        said.append({"kind": "pressure", "number": k, **arrow, "centre": faces.centres[chosen].mean(axis=0)})
    for k, wind in enumerate(getattr(body, "winds", ())):
        said.append({"kind": "wind", "number": k, "vector": _at_start(wind.velocity), "centre": positions.mean(axis=0)})
    for load in said:
        load["point"] = cover.nearest(positions, load.pop("centre"))
    return said


def _at_start(value: Any) -> Any:
    value = value(0.0) if callable(value) else value
    return np.asarray(value, float).tolist()


def anchors(scene, body: Soft | Rigid, cover: Cover | None) -> list[dict[str, Any]]:
    """Where joints hold a body: the number of the joint, which of its places this is, and a place in the cover's nodes
    or a point in the frame of a rigid shape [m], with the axis of the joint there."""
    held = _held(scene, body)
    if isinstance(body, Rigid):
        turn = rotation_matrix(body.rotation)
        return [said | {"at": _local(body, turn, point)} | _axis(scene, said, turn.T) for said, point in held]
    return [said | {"point": cover.nearest(body.nodes.positions, np.array(point))} for said, point in held]


def world_anchors(scene) -> list[dict[str, Any]]:
    """Where joints hold the world [m]."""
    return [said | {"at": list(point)} | _axis(scene, said, np.eye(3)) for said, point in _held(scene, world)]


def rod_symbols(scene, tube: Tube) -> dict[str, Any]:
    """Clamps, loads and joints of a rod, each at the middle of a ring of its surface: [first point, how many]. Clamps
    and loads are numbered among those of their point."""
    sides, found = len(tube.outline), {"loads": [], "anchors": [], "clamps": []}
    rings = {int(point): end for end, point in reversed(list(enumerate(tube.rod.edges.ravel())))}
    for number, point in enumerate(tube.rod):
        place = {"ring": [rings[number] * sides, sides]}
        if point.static:
            found["clamps"].append({"of": number, **place})
        found["anchors"] += [said | place for said, _ in _held(scene, point)]
        found["loads"] += [arrow | {"of": number, **place} for arrow in _arrows(point)]
    return found


def _arrows(body: Rigid) -> list[dict[str, Any]]:
    """Forces and torques of a rigid body or a point of a rod at time 0."""
    vectors = {"force": [force.vector for force in body.forces], "torque": body.torques}
    return [
        {"kind": kind, "number": k, "vector": _at_start(vector)}
        for kind, said in vectors.items()
        for k, vector in enumerate(said)
    ]


def lines(scene) -> list[int]:
    """The joints that are lines between the places that they hold."""
    return [k for k, joint in enumerate(scene.joints) if hasattr(joint, "path") or isinstance(joint, BetweenPoints)]


def _held(scene, side: object) -> list[tuple[dict[str, Any], Any]]:
    """The joints that hold on to something, and at which of their points [m]."""
    return [
        ({"joint": k, "place": place}, point)
        for k, joint in enumerate(scene.joints)
        for place, (held, point) in enumerate(held_points(joint))
        if held is side
    ]


def _axis(scene, said: dict[str, Any], turn: np.ndarray) -> dict[str, Any]:
    """The axis of a joint that needs one, turned."""
    joint = scene.joints[said["joint"]]
    needed = any(entry.name == "axis" and entry.default is MISSING for entry in fields(joint))
    return {"axis": (turn @ np.asarray(joint.axis, float)).tolist()} if needed else {}


def _local(body: Rigid, turn: np.ndarray, point) -> list[float]:
    return (turn.T @ np.subtract(point, body.position)).tolist()
