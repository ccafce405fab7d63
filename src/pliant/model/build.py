"""From a scene to a model and its first state."""

from dataclasses import replace

import numpy as np

from pliant.checks import at_time, device_name
from pliant.collide.shapes import bounding_radius
from pliant.errors import SceneError, about
from pliant.kernels import device as devices
from pliant.meshes import TetMesh
from pliant.model.colliders import build_colliders
from pliant.model.joints import build_joints
from pliant.model.model import Model
from pliant.model.overlaps import check_overlaps
from pliant.model.parting import parted
from pliant.model.rods import build_rods, stiffness_of_bodies
from pliant.model.soft import build_soft
from pliant.model.state import State, first_state
from pliant.rotations import matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Rigid
from pliant.scene.couplings import Attach
from pliant.scene.scene import Scene
from pliant.scene.shapes import Heightfield


def build(scene: Scene, elements_as_rows: bool = False, device: str = "cpu") -> tuple[Model, State]:
    """The model and the state at time 0 of a scene; elements_as_rows: distances that are elements follow the joints as
    rows, for solvers whose method is rows; device: where it will compute."""
    device = devices.device(device_name(device))
    device.check()
    if not scene.bodies:
        raise SceneError(
            "the scene has no bodies: add one with scene.add_soft(...), add_cloth(...), add_rod(...) or add_rigid(...)"
        )
    softs, rigids = scene.soft_bodies, scene.every_rigid
    node_start = np.cumsum([0] + [len(body.nodes) for body in softs])
    soft = build_soft(device, softs, node_start, int(node_start[-1]) + 2 * len(rigids))
    bodies = _build_rigid(rigids)
    rods = build_rods(device, scene, int(node_start[-1]), bodies["rotation"])
    if rods.set is not None:
        soft["elements"] = replace(soft["elements"], sets=[*soft["elements"].sets, rods.set])
    body_stiffness, body_damping = stiffness_of_bodies(rods, int(node_start[-1]), len(rigids))
    more = [own.row_form() for own in soft["elements"].springs] if elements_as_rows else []
    blocks = build_joints(device, scene, node_start, bodies["position"], bodies["rotation"], more)
    colliders = build_colliders(device, scene, node_start, bodies, soft["free"])
    motion = [bodies.pop(name) for name in ("position", "rotation", "velocity", "spin")]
    model = Model(
        device=device,
        soft_names=[body.name for body in softs],
        rigid_names=[body.name for body in rigids],
        node_start=node_start,
        gravity=np.array(scene.gravity),
        acceleration_bound=float(np.linalg.norm(scene.gravity)),
        colliders=colliders,
        joints=blocks,
        joint_names=[joint.name for joint in scene.joints],
        fragile=_fragile(scene),
        rods=rods,
        body_stiffness=body_stiffness,
        body_damping=body_damping,
        **soft,
        **bodies,
    )
    x = np.concatenate([body.nodes.positions for body in softs] or [np.zeros((0, 3))])
    v = np.concatenate([np.tile(body.velocity, (len(body.nodes), 1)) for body in softs] or [np.zeros((0, 3))])
    sizes = {
        "groups": model.elements.point_groups,
        "joints": blocks,
        "softs": len(softs),
    }
    state = first_state(x, v, *motion, **sizes)
    state = parted(model, state, [i for i, body in enumerate(softs) if not isinstance(body.mesh, TetMesh)])
    filled = [i for i, body in enumerate(softs) if isinstance(body.mesh, TetMesh) and body.collide]
    grounds = {
        len(softs) + i: body
        for i, body in enumerate(scene.every_rigid)
        if isinstance(body.shape, Heightfield) and body.collide
    }
    check_overlaps(model, state, scene.overlaps == "refuse", filled, grounds)
    return model, state


def _fragile(scene: Scene) -> dict[int, tuple[float, float, bool]]:
    """Which joints may break, at which force [N] and torque [N m], and whether node by node."""
    joints = enumerate(scene.joints)
    strength = {j: (joint.break_force, joint.break_torque, isinstance(joint, Attach)) for j, joint in joints}
    return {j: most for j, most in strength.items() if min(most[:2]) < np.inf}


def _principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments and the rotation (quaternion) from the principal frame to the given one."""
    off_diagonal = inertia - np.diag(np.diag(inertia))
    if np.abs(off_diagonal).max() <= 1e-12 * np.abs(inertia).max():
        return np.diag(inertia).copy(), np.array([1.0, 0, 0, 0])
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1
    return moments, matrix_quaternion(axes)


def _build_rigid(rigids: list[Rigid]) -> dict:
    """Arrays of all rigid bodies."""
    count = len(rigids)
    out = {
        "body_mass": np.zeros(count),
        "body_inertia": np.zeros((count, 3)),
        "principal_rotation": np.tile([1.0, 0, 0, 0], (count, 1)),
        "centre": np.zeros((count, 3)),
        "position": np.zeros((count, 3)),
        "rotation": np.zeros((count, 4)),
        "velocity": np.zeros((count, 3)),
        "spin": np.zeros((count, 3)),
        "body_radius": np.zeros(count),
    }
    forces, torques = [], []
    for i, body in enumerate(rigids):
        with about(body):
            mass, centre, inertia = body.mass_properties()
        moments, principal = (np.full(3, np.inf), np.array([1.0, 0, 0, 0])) if body.static else _principal(inertia)
        turn = rotation_matrix(body.rotation)
        out["body_mass"][i], out["body_inertia"][i] = mass, moments
        out["centre"][i], out["principal_rotation"][i] = centre, principal
        out["position"][i] = np.array(body.position) + turn @ centre
        out["rotation"][i] = multiply_quaternions(body.rotation, principal)
        spin, velocity = at_time(body.angular_velocity, 0.0), at_time(body.velocity, 0.0)
        out["velocity"][i], out["spin"][i] = velocity + np.cross(spin, turn @ centre), spin
        out["body_radius"][i] = bounding_radius(body.shape, centre)
        to_body = rotation_matrix(out["rotation"][i]).T
        forces += [
            (i, f.vector, None if f.at is None else to_body @ (np.array(f.at) - out["position"][i]))
            for f in body.forces
        ]
        torques += [(i, torque) for torque in body.torques]
    moves = [
        callable(b.velocity) or callable(b.angular_velocity) or any(b.velocity) or any(b.angular_velocity)
        for b in rigids
    ]
    out |= {
        "static": np.array([body.static for body in rigids], dtype=bool),
        "immobile": np.array([body.static and not moving for body, moving in zip(rigids, moves)], dtype=bool),
        "driven": [
            (i, body.velocity, body.angular_velocity)
            for i, (body, moving) in enumerate(zip(rigids, moves))
            if body.static and moving
        ],
        "body_forces": forces,
        "body_torques": torques,
    }
    return out
