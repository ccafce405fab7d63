"""Pins, loads and joints as the page draws them: dots and arrows at points that move with their bodies."""

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

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
    """Loads of a body as arrows at time 0: kind, number, vector [N or Pa], and where: a place in the cover's nodes, or
    a point in the frame of a rigid shape [m]. Of a pressure the vector points inward."""
    if isinstance(body, Rigid):
        turn = rotation_matrix(body.rotation)
        points = [body.position if force.at is None else force.at for force in body.forces]
        return [
            {"kind": "force", "number": k, "vector": _at_start(force.vector), "at": _local(body, turn, point)}
            for k, (force, point) in enumerate(zip(body.forces, points))
        ]
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
    """Where joints hold the world, or a point of a rod at the start [m]."""
    sides = [world, *(point for rod in scene.rods for point in rod)]
    return [
        said | {"at": list(point)} | _axis(scene, said, np.eye(3))
        for side in sides
        for said, point in _held(scene, side)
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
