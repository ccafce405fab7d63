"""From a scene to a model and its first state."""

from itertools import pairwise

import numpy as np

from pliant.checks import at_time
from pliant.collide.shapes import CODES, bounding_radius, check_pairs, parameters, sample_points
from pliant.errors import SceneError
from pliant.kernels.cpu.shapes import MESH
from pliant.kernels.lanes import LANES, group_count, to_lanes
from pliant.model.joints import build_joints
from pliant.model.model import LawRange, Model, Pinned, SoftSurface
from pliant.model.springs import element_share
from pliant.model.state import State, first_state
from pliant.rotations import matrix_quaternion, multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.scene import Scene


def build(scene: Scene) -> tuple[Model, State]:
    """The model and the state at time 0 of a scene."""
    if not scene.bodies:
        raise SceneError("the scene has no bodies: add one with scene.add_soft(...) or scene.add_rigid(...)")
    softs, rigids = scene.soft_bodies, scene.rigid_bodies
    for body in softs:
        if body.mesh.order != 1:
            raise SceneError(f"soft body {body.name!r} has ten-node tets, which are not simulated yet; use linear ones")
    node_start = np.cumsum([0] + [len(body.nodes) for body in softs])
    soft, bodies = _build_soft(softs, node_start), _build_rigid(rigids)
    blocks = build_joints(scene, node_start, bodies["position"], bodies["rotation"])
    excluded = _excluded(scene, rigids)
    check_pairs(rigids, excluded)
    count = len(rigids)
    adjacency = _element_adjacency(soft["element_nodes"], soft["volume"], int(node_start[-1]) + 2 * count)
    motion = [bodies.pop(name) for name in ("position", "rotation", "velocity", "spin")]
    model = Model(
        soft_names=[body.name for body in softs],
        rigid_names=[body.name for body in rigids],
        node_start=node_start,
        gravity=np.array(scene.gravity),
        acceleration_bound=float(np.linalg.norm(scene.gravity)),
        adjacency_start=adjacency[0],
        adjacency=adjacency[1],
        soft_surfaces=_surfaces(scene, softs, rigids, node_start),
        collidable=np.array([i for i, body in enumerate(rigids) if body.collide], dtype=np.int64),
        excluded_pairs=np.array(sorted(i * count + j for i, j in excluded), dtype=np.int64),
        joints=blocks,
        joint_names=[joint.name for joint in scene.joints],
        **soft,
        **bodies,
    )
    x = np.concatenate([body.nodes.positions for body in softs] or [np.zeros((0, 3))])
    v = np.concatenate([np.tile(body.velocity, (len(body.nodes), 1)) for body in softs] or [np.zeros((0, 3))])
    sizes = {"groups": len(model.volume), "joint_slices": len(blocks.start) - 1, "softs": len(softs)}
    return model, first_state(x, v, *motion, **sizes)


def _build_soft(softs: list[Soft], node_start: np.ndarray) -> dict:
    """Node and element arrays of all soft bodies."""
    # a linear law knows no rotation: its rest shape is the body as the scene puts it
    shapes = [body.nodes.positions if body.material.law == "linear" else body.mesh.points for body in softs]
    rest = np.concatenate([*shapes, np.zeros((0, 3))])
    tets = np.concatenate(
        [body.mesh.tets + first for body, first in zip(softs, node_start)] or [np.zeros((0, 4))]
    ).astype(np.int32)
    corners = rest[tets]
    dm = np.stack([corners[:, i] - corners[:, 3] for i in range(3)], axis=2)
    volume = np.linalg.det(dm) / 6 if len(tets) else np.zeros(0)
    gradients = np.linalg.inv(dm).reshape(-1, 9) if len(tets) else np.zeros((0, 9))

    sizes = [len(body.mesh.tets) for body in softs]
    bounds = np.cumsum([0, *sizes])

    def lanes(values, fill=0):
        """Values of all elements in lanes; every body begins a new group."""
        parts = [to_lanes(values[first:last], fill) for first, last in pairwise(bounds)]
        return np.concatenate(parts) if parts else to_lanes(values, fill)

    def spread(function, fill=0.0):
        columns = [np.full(size, float(function(body.material))) for body, size in zip(softs, sizes)]
        return lanes(np.concatenate([*columns, np.zeros(0)]), fill)[:, 0]

    def plasticity(name: str, otherwise: float):
        return spread(lambda material: getattr(material.plasticity, name) if material.plasticity else otherwise)

    def per_node(function):
        return np.concatenate([np.full(len(body.nodes), function(body), float) for body in softs] + [np.zeros(0)])

    density = np.concatenate([np.full(len(body.mesh.tets), body.material.density) for body in softs] + [np.zeros(0)])
    mass = np.bincount(tets.ravel(), weights=np.repeat(density * volume / 4, 4), minlength=len(rest)).astype(float)
    node_stiffness = _node_stiffness(softs, tets, volume, gradients, len(rest))
    group_start = np.cumsum([0, *(group_count(size) for size in sizes)])
    return {
        "element_start": bounds,
        "group_start": group_start,
        "rest": rest,
        "node_mass": mass,
        "node_stiffness": node_stiffness[0],
        "node_damping": node_stiffness[1],
        "node_mass_damping": per_node(lambda body: body.material.mass_damping),
        "node_friction": per_node(lambda body: np.nan if body.friction is None else body.friction),
        "node_restitution": per_node(lambda body: np.nan if body.restitution is None else body.restitution),
        "tets": tets,
        "element_nodes": lanes(tets),
        "gradients": lanes(gradients),
        "volume": lanes(volume)[:, 0],
        "density": spread(lambda material: material.density),
        "laws": _laws(softs, group_start),
        "corotate": spread(lambda material: material.law != "linear"),
        "lam": spread(lambda material: element_share(material) * material.lame[0]),
        "mu": spread(lambda material: element_share(material) * material.lame[1], 1.0),
        "young": spread(lambda material: element_share(material) * material.young, 1.0),
        "poisson": spread(lambda material: material.poisson),
        "damping": spread(lambda material: material.damping),
        "yield_strain": plasticity("yield_strain", np.inf),
        "creep": plasticity("creep", 0.0),
        "max_strain": plasticity("max_strain", np.inf),
        "plastic": any(body.material.plasticity is not None for body in softs),
        **_pins_and_loads(softs, node_start),
    }


def _node_stiffness(softs, tets, volume, gradients, count) -> tuple[np.ndarray, np.ndarray]:
    """Mean diagonal entry of the stiffness [N/m] of every node at rest, and of its damping [N s/m]."""
    moduli = [(sum(body.material.lame * np.array([1.0, 4.0])) / 3, body.material.damping) for body in softs]
    repeat = [len(body.mesh.tets) for body in softs]
    modulus, damping = (np.repeat([pair[k] for pair in moduli], repeat) for k in range(2))
    g = gradients.reshape(-1, 3, 3)
    squares = np.sum(np.concatenate([g, -g.sum(axis=1, keepdims=True)], axis=1) ** 2, axis=2)
    own = squares * (volume * modulus)[:, None]
    return tuple(
        np.bincount(tets.ravel(), weights=(own * factor[:, None]).ravel(), minlength=count).astype(float)
        for factor in (np.ones(len(tets)), damping)
    )


def _laws(softs: list[Soft], group_start: np.ndarray) -> list[LawRange]:
    """Ranges of groups of one law; neighbours of the same law are one range."""
    ranges: list[LawRange] = []
    for i, body in enumerate(softs):
        first, last = int(group_start[i]), int(group_start[i + 1])
        law, energy = body.material.law, body.material.energy
        if ranges and ranges[-1].name == law and ranges[-1].energy == energy:
            ranges[-1].last = last
        else:
            ranges.append(LawRange(law, first, last, energy))
    return ranges


def _pins_and_loads(softs: list[Soft], node_start) -> dict:
    """Which velocity components are free, and the pins and loads with global node indices."""
    free, pins, loads, pressures = np.ones((int(node_start[-1]), 3)), [], [], []
    for body, first in zip(softs, node_start):
        for pin in body.pins:
            nodes = body.select(pin.nodes, "pin")
            axes = np.array([axis in pin.axes for axis in "xyz"])
            free[np.ix_(nodes + first, axes)] = 0.0
            pins.append(Pinned(nodes + first, axes, pin.velocity, pin.displacement, body.nodes.positions[nodes]))
        for force in body.forces:
            nodes, shares = body.force_shares(force)
            loads.append((nodes + first, shares, force.vector))
        for traction in body.tractions:
            faces = body.select_faces(traction.faces, "traction")
            corners = body.faces.triangles[faces].ravel()
            weight = np.bincount(corners, weights=np.repeat(body.faces.areas[faces] / 3, 3), minlength=len(body.nodes))
            nodes = np.flatnonzero(weight)
            loads.append((nodes + first, weight[nodes], traction.vector))
        for pressure in body.pressures:
            faces = body.select_faces(pressure.faces, "pressure")
            pressures.append((body.faces.triangles[faces] + first, pressure.pressure))
    return {"free": free, "pins": pins, "node_loads": loads, "pressures": pressures}


def _element_adjacency(element_nodes: np.ndarray, volume: np.ndarray, triple_count: int):
    """CSR lists of the slots of every triple: slot (group, corner, lane) starts at ((group 4 + corner) 3) LANES +
    lane."""
    groups = len(element_nodes)
    offset = np.arange(groups * 4).reshape(groups, 4, 1) * 3 * LANES + np.arange(LANES)
    used = np.broadcast_to((volume > 0)[:, None, :], element_nodes.shape)
    nodes, offsets = element_nodes[used], offset[used]
    order = np.lexsort((offsets, nodes))
    start = np.zeros(triple_count + 1, np.int64)
    np.cumsum(np.bincount(nodes, minlength=triple_count), out=start[1:])
    return start, offsets[order].astype(np.int64)


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
        if not joint.collide and id(joint.a) in index and id(joint.b) in index:
            i, j = index[id(joint.a)], index[id(joint.b)]
            pairs.add((min(i, j), max(i, j)))
    return pairs


def _surfaces(scene: Scene, softs, rigids, node_start) -> list[SoftSurface]:
    """Surface nodes of colliding soft bodies and the rigid bodies each may touch (not those it is joined to)."""
    surfaces = []
    joined = {(id(j.a), id(j.b)) for j in scene.joints if not j.collide}
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
        nodes = np.unique(body.mesh.boundary_faces) + first
        surfaces.append(SoftSurface(nodes.astype(np.int64), np.array(against, dtype=np.int64), size))
    return surfaces
