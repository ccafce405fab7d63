"""What may touch in a scene: from bodies to solids and surfaces."""

import warnings

import numpy as np

from pliant.collide.detect import SLACK, Colliders
from pliant.collide.hull import build_hulls, sharp_margin
from pliant.collide.meshed import Meshed
from pliant.collide.mixed import Mixed
from pliant.collide.rod_arms import RodArms
from pliant.collide.shapes import code_of, hull_points, parameters
from pliant.collide.solids import Solids
from pliant.collide.surface_contacts import Surfaces
from pliant.collide.things import Things
from pliant.errors import SceneError
from pliant.kernels.collide import DEPTH
from pliant.kernels.device import Device
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, MESH
from pliant.meshes import TetMesh
from pliant.model.rod_neighbours import members, neighbours
from pliant.rotations import rotation_matrix
from pliant.scene.rod_shapes import around_points, bare_segments, point_piece
from pliant.scene.scene import Scene
from pliant.scene.shapes import Mesh, Plane

# Size of a slender body or a plate, in parts of half its thickness, at most.
SLENDER = 10.0
# Thickness of a surface of which the user says nothing: in parts of its mean edge, and of a rigid mesh at most in parts
# of its smallest extent.
THICKNESS, OF_EXTENT = 0.01, 0.5


def build_colliders(device: Device, scene: Scene, node_start: np.ndarray, bodies: dict, free: np.ndarray) -> Colliders:
    """Everything that may touch; bodies: arrays of the rigid bodies; free (n, 3): 1 where a node can move."""
    softs, rigids = scene.soft_bodies, scene.every_rigid
    things = _things(device, scene, softs, rigids, bodies["static"])
    _say_where_torques_end(things, softs, rigids)
    solids = _solids(device, things, rigids, bodies)
    meshed = _meshed(device, things, softs, rigids, node_start, bodies)
    sizes = np.concatenate([_sizes(softs), _solid_sizes(solids)])
    mixed = None
    if meshed and len(solids.convex) + len(solids.planes):
        loose = np.concatenate([free.any(axis=1), ~bodies["static"][meshed.mesh_body]])
        mixed = Mixed(meshed, solids, loose)
    acceleration = float(np.linalg.norm(scene.gravity))
    _refuse_bare_segments(scene, things, rigids)
    return Colliders(things, solids, meshed, mixed, SLACK * sizes, acceleration, arms=_rod_arms(scene, rigids))


def _refuse_bare_segments(scene: Scene, things: Things, rigids: list) -> None:
    """Refuse rods with segments that only planes meet wherever there is more that may touch them."""
    first = len(scene.soft_bodies)
    for rod in (rod for rod in scene.rods if rod.collide):
        bare = bare_segments(rod, around_points(rod))
        if not len(bare):
            continue
        own = {id(point) for point in rod}
        others = [
            first + i for i, body in enumerate(rigids) if not isinstance(body.shape, Plane) and id(body) not in own
        ]
        others = np.array([*range(first), *others], np.int64)
        point = np.full(len(others), first + next(i for i, body in enumerate(rigids) if body is rod[0]))
        if rod.self_contact or things.may_touch(point, others).any():
            i, j = rod.edges[bare[0]].tolist()
            raise SceneError(
                f"rod {rod.name!r}: {len(bare)} segments lie between two points where several meet, the first between "
                f"points {i} and {j}; these touch with balls, and such a segment with planes alone. Take segments=2 or "
                f"more, or let the rod touch planes alone (self_contact=False, group, mask) or nothing (collide=False)"
            )


def _rod_arms(scene: Scene, rigids: list) -> RodArms | None:
    """How far the pieces of rods that collide reach; None where there are none."""
    index, rows = {id(body): i for i, body in enumerate(rigids)}, []
    for rod in (rod for rod in scene.rods if rod.collide):
        numbers, around = [index[id(point)] for point in rod], around_points(rod)
        for i in range(len(rod)):
            if (piece := point_piece(rod, i, around)) is None:
                continue
            ends = [rod.edges[k].sum() - i if k >= 0 else i for k in piece.segments]
            rows.append((numbers[i], *(numbers[end] for end in ends), *piece.shares))
    if not rows:
        return None
    table = np.array(rows, float)
    bodies = table[:, :3].astype(np.int64)
    return RodArms(bodies[:, 0], np.ascontiguousarray(bodies[:, 1:]), np.ascontiguousarray(table[:, 3:]))


def _solid_sizes(solids: Solids) -> np.ndarray:
    """The sizes (b,) [m] of rigid bodies by which their contacts are judged, 0 of planes: of slender ones and plates no
    more than SLENDER times half their thickness."""
    size, half = np.where(np.isinf(solids.radius), 0.0, solids.radius), solids.parameter
    thin = np.full(len(size), np.inf)
    for code, columns in ((BOX, 3), (CYLINDER, 2), (CONE, 2), (CAPSULE, 1)):
        own = solids.code == code
        thin[own] = half[own, :columns].min(axis=1, initial=np.inf)
    hulls = solids.code == HULL
    thin[hulls] = solids.hull_depth[solids.index[hulls]] / DEPTH
    return np.minimum(size, SLENDER * thin)


def _things(device: Device, scene: Scene, softs: list, rigids: list, static: np.ndarray) -> Things:
    """All bodies as contacts see them."""
    both = [*softs, *rigids]

    def column(name: str, kind=float, none=np.nan):
        values = (getattr(body, name) for body in both)
        return np.array([none if value is None else value for value in values], kind)

    return Things(
        device,
        len(softs),
        column("friction"),
        column("restitution"),
        column("collide", bool, True),
        np.concatenate([np.zeros(len(softs), bool), static]),
        column("group", np.int64, 1),
        column("mask", np.int64, 0),
        _excluded(scene, both),
        _touching_itself(softs, rigids, (None, True)),
        _touching_itself(softs, rigids, (True,)),
        column("layer"),
        column("rolling_friction"),
        column("torsional_friction"),
        *_rules(scene, both),
        _families(scene, both),
    )


def _say_where_torques_end(things: Things, softs: list, rigids: list) -> None:
    """Warn of rigid bodies that resist rolling and may touch soft ones, on which no torque acts."""
    resists = np.flatnonzero(np.nan_to_num(things.rolling) + np.nan_to_num(things.torsional) > 0)
    for index, soft in enumerate(softs if len(resists) else ()):
        those = resists[things.may_touch(resists, np.full_like(resists, index))]
        if len(those):
            name = rigids[those[0] - len(softs)].name
            warnings.warn(
                f"rolling_friction and torsional_friction act between rigid bodies: where {name!r} touches the soft "
                f"body {soft.name!r} they do nothing; leave them out, or keep the two apart by groups or "
                f"scene.ignore_contact",
                stacklevel=2,
            )
            return


def _touching_itself(softs: list, rigids: list, answers: tuple) -> np.ndarray:
    """Whether bodies (t,) are soft, collide, and have one of these answers to whether they touch themselves."""
    own = [body.collide and body.self_contact in answers for body in softs]
    return np.array(own + [False] * len(rigids), bool)


def _excluded(scene: Scene, bodies: list) -> np.ndarray:
    """Sorted keys first * count + second of pairs that a joint or the user keeps from colliding."""
    index, pairs = {id(body): i for i, body in enumerate(bodies)}, set()
    for joint in scene.joints:
        ends = [index[id(thing)] for thing in (joint.things[:1] + joint.things[-1:]) if id(thing) in index]
        if not joint.collide and len(ends) == 2:
            pairs.add((min(ends), max(ends)))
    apart = [(a, b) for rule in scene.contact_rules if not rule.collide for a, b in _ruled(rule)]
    pairs |= {tuple(sorted((index[id(a)], index[id(b)]))) for a, b in apart + neighbours(scene)}
    return np.array(sorted(i * len(bodies) + j for i, j in pairs), np.int64)


def _ruled(rule) -> list[tuple]:
    """The pairs of things that a rule is about."""
    return [(a, b) for a in members(rule.a) for b in members(rule.b) if a is not b]


def _families(scene: Scene, bodies: list) -> np.ndarray:
    """For every body (t,) the number of a rod that passes through itself, whose point it is; else -1."""
    number = {id(point): k for k, rod in enumerate(scene.rods) if not rod.self_contact for point in rod}
    return np.array([number.get(id(body), -1) for body in bodies], np.int64)


def _rules(scene: Scene, bodies: list) -> tuple[np.ndarray, ...]:
    """Sorted keys of pairs with coefficients of their own, their friction and restitution."""
    index, rules = {id(body): i for i, body in enumerate(bodies)}, []
    for rule in scene.contact_rules:
        if rule.collide:
            numbers = [np.nan if value is None else value for value in (rule.friction, rule.restitution)]
            for a, b in _ruled(rule):
                i, j = sorted((index[id(a)], index[id(b)]))
                rules.append((i * len(bodies) + j, *numbers))
    keys, friction, restitution = np.array(sorted(rules), float).reshape(-1, 3).T
    return keys.astype(np.int64), friction, restitution


def _solids(device: Device, things: Things, rigids: list, bodies: dict) -> Solids:
    """The convex bodies; what does not collide has the code of a mesh, which takes no part."""
    count = len(rigids)
    code, index = np.full(count, MESH, np.int64), np.zeros(count, np.int64)
    parameter, clouds, hulls = np.zeros((count, 4)), [], []
    for i, body in enumerate(rigids):
        if not body.collide:
            continue
        code[i] = code_of(body.shape)
        parameter[i, :3] = parameters(body.shape)
        parameter[i, 3] = sharp_margin(code[i], parameter[i])
        if code[i] == HULL:
            index[i] = len(clouds)
            clouds.append(hull_points(body.shape))
            hulls.append(i)
    tables, margins = build_hulls(clouds)
    deep, depths = build_hulls(clouds, DEPTH)
    parameter[hulls, 3] = margins
    frames = (bodies["principal_rotation"], bodies["centre"], bodies["body_radius"])
    return Solids(device, things, code, parameter, index, tables, deep, np.append(depths, 0.0), *frames)


def _sizes(softs: list) -> np.ndarray:
    """Mean edge (s,) [m] of the meshes of soft bodies, of tets of ten nodes half of it."""
    sizes = []
    for body in softs:
        ends = body.mesh.points[body.mesh.edges]
        sizes.append(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean() / body.mesh.order)
    return np.array(sizes, float)


def _most_thick(shape) -> float:
    """The largest thickness [m] of a rigid mesh of which the user says nothing: contacts of a thin plate of long
    triangles must not act far above it. Soft bodies have those of their edges: opposite sides must not touch."""
    return OF_EXTENT * float(np.ptp(shape.surface.points, axis=0).min()) if isinstance(shape, Mesh) else np.inf


def _meshed(device: Device, things: Things, softs: list, rigids: list, node_start, bodies: dict) -> Meshed | None:
    """The boundaries of soft bodies and the rigid meshes; None where there are none that collide."""
    nodes = int(node_start[-1])
    triangles, size, most, thing = [], [np.zeros(0)], [np.zeros(0)], [np.zeros(0, np.int64)]
    points, owner, count = [np.zeros((0, 3))], [np.zeros(0, np.int64)], nodes
    for i, (body, edge) in enumerate(zip(softs, _sizes(softs))):
        thing.append(np.full(len(body.nodes), i))
        size.append(np.full(len(body.nodes), edge))
        most.append(np.full(len(body.nodes), np.inf))
        if body.collide:
            triangles.append(body.mesh.boundary_triangles + node_start[i])
    for i, body in enumerate(rigids):
        if not body.collide or code_of(body.shape) != MESH:
            continue
        surface = body.shape.surface
        triangles.append(surface.triangles + count)
        points.append((surface.points - bodies["centre"][i]) @ rotation_matrix(bodies["principal_rotation"][i]))
        owner.append(np.full(len(surface.points), i))
        thing.append(np.full(len(surface.points), len(softs) + i))
        ends = surface.points[surface.triangles]
        size.append(np.full(len(surface.points), np.linalg.norm(ends - np.roll(ends, 1, axis=1), axis=2).mean()))
        most.append(np.full(len(surface.points), _most_thick(body.shape)))
        count += len(surface.points)
    if not triangles:
        return None
    rest = np.concatenate([*(body.mesh.points for body in softs), *points])
    thing, size = np.concatenate(thing), np.concatenate(size)
    said = things.thickness[thing]
    radius = np.where(np.isnan(said), np.minimum(THICKNESS * size, np.concatenate(most)), said)
    surfaces = Surfaces(device, np.concatenate(triangles), thing, rest, things.all_pairs())
    cells = {
        i: body.mesh.tets + node_start[i]
        for i, body in enumerate(softs)
        if isinstance(body.mesh, TetMesh) and body.mesh.order == 1
    }
    return Meshed(surfaces, radius, size, thing, np.concatenate(points), np.concatenate(owner), cells)
