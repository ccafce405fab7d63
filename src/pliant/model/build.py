"""From a scene to a model and its first state."""

import numpy as np

from pliant.checks import at_time, device_name
from pliant.collide.shapes import CODES, bounding_radius, check_pairs, parameters, sample_points
from pliant.errors import SceneError
from pliant.kernels import device as devices
from pliant.kernels.shapes import MESH
from pliant.model.joints import build_joints
from pliant.model.model import Model, SoftSurface
from pliant.model.soft import build_soft
from pliant.model.state import State, first_state
from pliant.rotations import matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Rigid
from pliant.scene.couplings import Attach
from pliant.scene.scene import Scene


def build(scene: Scene, elements_as_rows: bool = False, device: str = "cpu") -> tuple[Model, State]:
    """The model and the state at time 0 of a scene; elements_as_rows: distances that are elements follow the joints as
    rows, for solvers whose method is rows; device: where it will compute."""
    device = devices.device(device_name(device))
    if not scene.bodies:
        raise SceneError("the scene has no bodies: add one with scene.add_soft(...) or scene.add_rigid(...)")
    softs, rigids = scene.soft_bodies, scene.rigid_bodies
    node_start = np.cumsum([0] + [len(body.nodes) for body in softs])
    soft = build_soft(device, softs, node_start, int(node_start[-1]) + 2 * len(rigids))
    bodies = _build_rigid(rigids)
    more = [own.row_form() for own in soft["elements"].springs] if elements_as_rows else []
    blocks = build_joints(device, scene, node_start, bodies["position"], bodies["rotation"], more)
    excluded = _excluded(scene, rigids)
    check_pairs(rigids, excluded)
    count = len(rigids)
    motion = [bodies.pop(name) for name in ("position", "rotation", "velocity", "spin")]
    model = Model(
        device=device,
        soft_names=[body.name for body in softs],
        rigid_names=[body.name for body in rigids],
        node_start=node_start,
        gravity=np.array(scene.gravity),
        acceleration_bound=float(np.linalg.norm(scene.gravity)),
        soft_surfaces=_surfaces(scene, softs, rigids, node_start),
        collidable=np.array([i for i, body in enumerate(rigids) if body.collide], dtype=np.int64),
        excluded_pairs=np.array(sorted(i * count + j for i, j in excluded), dtype=np.int64),
        joints=blocks,
        joint_names=[joint.name for joint in scene.joints],
        fragile=_fragile(scene),
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
    return model, first_state(x, v, *motion, **sizes)


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
        "shape_parameter": np.zeros((count, 3)),
        "sample_radius": np.zeros(count),
        "body_radius": np.zeros(count),
    }
    samples, forces, torques = [], [], []
    for i, body in enumerate(rigids):
        mass, centre, inertia = body.mass_properties()
        moments, principal = (np.full(3, np.inf), np.array([1.0, 0, 0, 0])) if body.static else _principal(inertia)
        turn = rotation_matrix(body.rotation)
        out["body_mass"][i], out["body_inertia"][i] = mass, moments
        out["centre"][i], out["principal_rotation"][i] = centre, principal
        out["position"][i] = np.array(body.position) + turn @ centre
        out["rotation"][i] = multiply_quaternions(body.rotation, principal)
        spin, velocity = at_time(body.angular_velocity, 0.0), at_time(body.velocity, 0.0)
        out["velocity"][i], out["spin"][i] = velocity + np.cross(spin, turn @ centre), spin
        out["shape_parameter"][i] = parameters(body.shape)
        points, radius = sample_points(body.shape, centre)
        samples.append(points @ rotation_matrix(principal))
        out["sample_radius"][i], out["body_radius"][i] = radius, bounding_radius(body.shape, centre)
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
        "body_friction": np.array([np.nan if body.friction is None else body.friction for body in rigids], dtype=float),
        "body_restitution": np.array(
            [np.nan if body.restitution is None else body.restitution for body in rigids], dtype=float
        ),
        "shape_code": np.array([CODES[type(body.shape)] for body in rigids], dtype=np.int64),
        "sample_start": np.cumsum([0] + [len(points) for points in samples]),
        "sample_points": np.concatenate([*samples, np.zeros((0, 3))]),
    }
    return out


def _excluded(scene: Scene, rigids) -> set[tuple[int, int]]:
    """Pairs of rigid bodies that a joint keeps from colliding."""
    index = {id(body): i for i, body in enumerate(rigids)}
    pairs = set()
    for joint in scene.joints:
        ends = [index[id(thing)] for thing in (joint.things[:1] + joint.things[-1:]) if id(thing) in index]
        if not joint.collide and len(ends) == 2:
            pairs.add((min(ends), max(ends)))
    return pairs


def _surfaces(scene: Scene, softs, rigids, node_start) -> list[SoftSurface]:
    """Surface nodes of colliding soft bodies and the rigid bodies each may touch (not those it is joined to)."""
    surfaces = []
    joined = {(id(j.things[0]), id(j.things[-1])) for j in scene.joints if j.things and not j.collide}
    for body, first in zip(softs, node_start):
        if not body.collide:
            continue
        against = []
        for i, rigid in enumerate(rigids):
            if not rigid.collide or (id(body), id(rigid)) in joined or (id(rigid), id(body)) in joined:
                continue
            if CODES[type(rigid.shape)] == MESH:
                raise SceneError(
                    f"contact between soft body {body.name!r} and mesh {rigid.name!r} is not available; "
                    f"set collide=False on one of the two, or join them"
                )
            against.append(i)
        edges = body.mesh.edges
        size = float(np.linalg.norm(body.mesh.points[edges[:, 0]] - body.mesh.points[edges[:, 1]], axis=1).mean())
        nodes, size = np.unique(body.mesh.boundary_elements) + first, size / body.mesh.order
        surfaces.append(SoftSurface(nodes.astype(np.int64), np.array(against, dtype=np.int64), size))
    return surfaces
