"""The soft bodies of a scene as element sets, with masses, pins and loads of their nodes."""

import numpy as np

from pliant.elements.elements import Elements
from pliant.elements.kinds import BENDING, FIBRE, SPRING, TET4, TET10, TRI3, Kind
from pliant.elements.quadratic import Tet10Set
from pliant.elements.sets import ElementSet, Part, Tet4Set
from pliant.elements.springs import SpringSet
from pliant.errors import SceneError
from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES, group_count, to_lanes
from pliant.kernels.laws import law_facts
from pliant.meshes import quadratic
from pliant.meshes.topology import TET_EDGES, row_keys
from pliant.model import cloth
from pliant.model.model import Pinned
from pliant.model.pins import refuse_two_motions
from pliant.scene.bodies import Soft
from pliant.scene.cloth import Clamp, Cloth

SETS = {TET4: Tet4Set, TET10: Tet10Set, SPRING: SpringSet, **cloth.SETS}


def build_soft(device: Device, softs: list[Soft], node_start: np.ndarray, triple_count: int) -> dict:
    """Node arrays of all soft bodies, and their elements."""
    # a law that knows no rotation has as rest shape the body as the scene puts it
    shapes = [body.mesh.points if law_facts(body.material.law).rotates else body.nodes.positions for body in softs]
    rest = np.concatenate([*shapes, np.zeros((0, 3))])
    elements = build_elements(device, softs, node_start, rest, triple_count)
    mass, stiffness, damping = np.zeros((3, len(rest)))
    for own in elements.sets:
        nodes, beta = own.connectivity, own.element_damping[:, None]
        mass += _at_nodes(nodes, own.lumped_mass(rest), len(rest))
        stiffness += _at_nodes(nodes, own.node_stiffness(), len(rest))
        damping += _at_nodes(nodes, beta * own.node_stiffness(), len(rest))

    def per_node(function):
        return np.concatenate([np.full(len(body.nodes), function(body), float) for body in softs] + [np.zeros(0)])

    return {
        "elements": elements,
        "rest": rest,
        "node_mass": mass,
        "node_stiffness": stiffness,
        "node_damping": damping,
        "node_mass_damping": per_node(lambda body: body.material.mass_damping),
        **_pins_and_loads(softs, node_start),
    }


def _at_nodes(nodes: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Sums (count,) of values (m, w) at the nodes (m, w) of elements."""
    return np.bincount(nodes.ravel(), weights=values.ravel(), minlength=count)


def build_elements(
    device: Device, softs: list[Soft], node_start: np.ndarray, rest: np.ndarray, triple_count: int
) -> Elements:
    """One set for each kind and law of the bodies, in the order in which they come."""
    members: dict[tuple, list[int]] = {}
    for i, body in enumerate(softs):
        members.setdefault((kind_of(body), body.material.law, body.material.energy), []).append(i)
    bent = [i for i, body in enumerate(softs) if isinstance(body, Cloth) and body.plate_stiffness > 0]
    members |= {(BENDING, "bending", None): bent} if bent else {}
    most = max((len(body.fibres) for body in softs if isinstance(body, Cloth)), default=0)
    for k in range(most):
        woven = [i for i, body in enumerate(softs) if isinstance(body, Cloth) and len(body.fibres) > k]
        members[FIBRE, "fibres", k] = woven
    sets = [_build_set(device, key, [(i, softs[i]) for i in own], node_start, rest) for key, own in members.items()]
    cells = [_cells(body) + first for body, first in zip(softs, node_start)]
    speed = np.array([np.sqrt(body.material.lame[1] / body.material.density) for body in softs])
    return Elements(device, sets, cells, speed, triple_count)


def _cells(body: Soft) -> np.ndarray:
    """The tets or triangles of a soft body's mesh."""
    return body.mesh.triangles if isinstance(body, Cloth) else body.mesh.tets


def kind_of(body: Soft) -> Kind:
    """The kind of a soft body's elements."""
    if isinstance(body, Cloth):
        return TRI3
    if law_facts(body.material.law).volume:
        return TET4 if body.mesh.order == 1 else TET10
    if body.mesh.order != 1:
        raise SceneError(
            f"soft body {body.name!r} is a net of springs, which needs a mesh of tets of four nodes, but its mesh has "
            f"tets of ten; nothing would hold their midpoints"
        )
    return SPRING


def _build_set(
    device: Device, key: tuple, bodies: list[tuple[int, Soft]], node_start: np.ndarray, rest: np.ndarray
) -> ElementSet:
    kind, law, energy = key
    connect = [_nodes(kind, body) + node_start[i] for i, body in bodies]
    groups = np.cumsum([0, *(group_count(len(nodes)) for nodes in connect)])
    parts = [
        Part(i, int(first), int(last), len(nodes))
        for (i, _), first, last, nodes in zip(bodies, groups[:-1], groups[1:], connect)
    ]
    columns = {"device": device, "law": law, "energy": energy, "parts": parts}
    columns["nodes"] = _lanes(connect).astype(np.int32)
    if kind is SPRING:
        return SpringSet(**columns, **_spring_columns(bodies, connect))
    if kind is FIBRE:
        return cloth.fibre_set(columns, bodies, [rest[nodes] for nodes in connect])
    if kind in cloth.SETS:
        geometry = cloth.sheet_columns(kind, bodies, [rest[nodes[:, :3]] for nodes in connect])
        return cloth.SETS[kind](**columns, **(_point_columns(kind, bodies, connect) | geometry))
    geometry = [_geometry(rest, nodes) for nodes in connect]
    points = _point_columns(kind, bodies, connect)
    gradients, volume = (_point_lanes([part[k] for part in geometry]) for k in range(2))
    return SETS[kind](**columns, gradients=gradients, volume=volume[:, 0], **points)


def _nodes(kind: Kind, body: Soft) -> np.ndarray:
    """Nodes of the elements of a kind that a soft body has, within the body."""
    if kind in cloth.KINDS:
        return cloth.nodes_of(kind, body)
    return body.mesh.tets if kind.points else body.mesh.edges


def _geometry(rest: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (m, points, c) [1/m] and volumes (m, points, 1) [m3] at the points of tets (m, 4) or (m, 10)."""
    if nodes.shape[1] == 4:
        corners = rest[nodes]
        dm = np.stack([corners[:, i] - corners[:, 3] for i in range(3)], axis=2)
        return np.linalg.inv(dm).reshape(-1, 1, 9), (np.linalg.det(dm) / 6).reshape(-1, 1, 1)
    jacobian = quadratic.jacobians(rest, nodes, quadratic.GAUSS_POINTS)
    slopes = quadratic.shape_gradients(quadratic.GAUSS_POINTS)
    gradients = np.einsum("qak,mqki->mqai", slopes, np.linalg.inv(jacobian))
    return gradients.reshape(len(nodes), TET10.points, -1), np.linalg.det(jacobian)[:, :, None] / (6 * TET10.points)


def _lanes(parts: list[np.ndarray], fill: float = 0) -> np.ndarray:
    """Values (m, c) of the elements of several bodies as (groups, c, LANES); every body begins a new group."""
    return np.concatenate([to_lanes(values, fill) for values in parts])


def _point_lanes(parts: list[np.ndarray]) -> np.ndarray:
    """Values (m, points, c) of the elements of several bodies as (point groups, c, LANES)."""
    points, width = parts[0].shape[1:]
    flat = _lanes([values.reshape(len(values), -1) for values in parts])
    return np.ascontiguousarray(flat.reshape(-1, width, LANES)) if points > 1 else flat


def _point_columns(kind: Kind, bodies: list[tuple[int, Soft]], connect: list[np.ndarray]) -> dict:
    """The material at all points of a set."""

    def spread(function, fill=0.0):
        values = [np.full((len(nodes), 1), float(function(body.material))) for (_, body), nodes in zip(bodies, connect)]
        return np.repeat(_lanes(values, fill)[:, 0], kind.points, axis=0)

    def plasticity(name: str, otherwise: float):
        return spread(lambda material: getattr(material.plasticity, name) if material.plasticity else otherwise)

    return {
        "density": spread(lambda material: material.density),
        "lam": spread(lambda material: material.lame[0]),
        "mu": spread(lambda material: material.lame[1], 1.0),
        "young": spread(lambda material: material.young, 1.0),
        "poisson": spread(lambda material: material.poisson),
        "damping": spread(lambda material: material.damping),
        "yield_strain": plasticity("yield_strain", np.inf),
        "creep": plasticity("creep", 0.0),
        "max_strain": plasticity("max_strain", np.inf),
    }


def _spring_columns(bodies: list[tuple[int, Soft]], connect: list[np.ndarray]) -> dict:
    """Stiffness, rest length, mass and damping of the edges of bodies of springs."""
    around = [volume_around_edges(body.mesh) for _, body in bodies]
    ends = [body.mesh.points[body.mesh.edges] for _, body in bodies]
    length = [np.linalg.norm(pair[:, 1] - pair[:, 0], axis=1) for pair in ends]
    material = [body.material for _, body in bodies]
    columns = {
        "stiffness": [m.young * v / l**2 for m, v, l in zip(material, around, length)],
        "rest": length,
        # a tet's mass on its six edges, half of each at either end, is a fourth on each of its nodes
        "mass": [m.density * v / len(TET_EDGES) for m, v in zip(material, around)],
        "damping": [np.full(len(l), m.damping) for m, l in zip(material, length)],
    }
    return {name: _lanes([values[:, None] for values in parts])[:, 0] for name, parts in columns.items()}


def volume_around_edges(mesh) -> np.ndarray:
    """Volume (e,) [m3] of the tets around every edge of a mesh."""
    pairs, count = np.sort(mesh.tets[:, TET_EDGES].reshape(-1, 2), axis=1), len(mesh.points)
    place = np.searchsorted(row_keys(mesh.edges, count), row_keys(pairs, count))
    return np.bincount(place, weights=np.repeat(mesh.volumes, len(TET_EDGES)), minlength=len(mesh.edges))


def _pins_and_loads(softs: list[Soft], node_start) -> dict:
    """Which velocity components are free, and the pins and loads with global node indices."""
    free, pins, loads, pressures = np.ones((int(node_start[-1]), 3)), [], [], []
    for body, first in zip(softs, node_start):
        moved = np.full((len(body.nodes), 3), -1)
        for index, pin in enumerate(body.pins):
            nodes = body.select(pin.nodes, "pin")
            axes = np.array([axis in pin.axes for axis in "xyz"])
            refuse_two_motions(body, index, moved, nodes, axes)
            moved[np.ix_(nodes, axes)] = index
            free[np.ix_(nodes + first, axes)] = 0.0
            start = body.nodes.positions[nodes]
            clamped = isinstance(pin, Clamp) and cloth.edge_weights(body).max() == 1.0
            pins.append(Pinned(nodes + first, axes, pin.velocity, pin.displacement, start, clamped))
        for force in body.forces:
            nodes, shares = body.force_shares(force)
            loads.append((nodes + first, shares, force.vector))
        for traction in body.tractions:
            faces = body.select_faces(traction.faces, "traction")
            weight = body.faces.spread(faces, len(body.nodes))
            nodes = np.flatnonzero(weight)
            loads.append((nodes + first, weight[nodes], traction.vector))
        for pressure in body.pressures:
            faces = body.select_faces(pressure.faces, "pressure")
            pressures.append((body.faces.elements[faces] + first, pressure.pressure))
    sheets = [(body, first) for body, first in zip(softs, node_start) if isinstance(body, Cloth)]
    winds = [(body.mesh.triangles + first, wind) for body, first in sheets for wind in body.winds]
    return {"free": free, "pins": pins, "node_loads": loads, "pressures": pressures, "winds": winds}
