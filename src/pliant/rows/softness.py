"""How soft rigid joints may be while Newton's method closes them (the method of multipliers, rows.potential).

Every renewal of the shifts leaves the part R / (R + m) of an error that sees the mobility m. Along a chain of light
links that carries a heavy load m is that of the load, far below that of the links at a row's own ends: the compliance R
is therefore taken smaller by the ratio of the lightest to the heaviest thing that joints connect. A body held at an arm
is as light as it feels there: one with hardly any inertia gives way across the arm, and not at all along it. In the
same way rows between directions see the least moment of inertia of a slender link where it turns about its length, and
the greatest of its neighbours in a chain that is not straight, about the points where these are held. What elements
hold is as heavy as they are stiff: welded to a light body, three nodes of a stiff one cannot part.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pliant.kernels.joints import ALIGN, ANGULAR, BODY, FACE, NODE, PERPENDICULAR
from pliant.kernels.lanes import LANES

# Compliance of joints relative to the mobility of what they touch, in float64 and in float32, and least ratios there.
SOFTNESS = {8: (1e-5, 1e-7), 4: (1e-4, 1e-1)}
# Up to this ratio between what a body feels like across and along an arm, renewals leave a hundredth of an error or
# less, and harder rows would only make valleys narrower.
HARMLESS = 1e3


class ContactSoftness(NamedTuple):
    """The same of normal and tangent rows of contacts.

    lightest: how much softer they may be than by the mobility of the heaviest things: what is light may carry them.
    firmness: what part of it is for contacts among rigid bodies alone: those of mechanisms, which carry much more than
    what touches, are firm. shares (triples,): parts of their mobility that bodies have for contacts, or all. kick: what
    gravity changes velocities by in a step [m/s].
    """

    normal: float
    tangent: float
    lightest: float
    firmness: float
    shares: np.ndarray | None = None
    kick: float = 0.0


# Of rigid bodies where the linear system is solved directly, and by iterations; and with soft bodies, where sheets and
# solids on many contacts are met soonest by soft ones.
FIRM_CONTACTS, LOOSE_CONTACTS = ContactSoftness(1e-2, 1e-2, 10.0, 1.0), ContactSoftness(2e-1, 5e-1, np.inf, 1.0)
SOFT_CONTACTS, MIXED_CONTACTS = ContactSoftness(0.7, 1.0, np.inf, 1.0), ContactSoftness(0.1, 0.1, np.inf, 0.01)
# ... and in steps of bounded cost, which renew impulses hardly ever: of solids, and of sheets, whose few products are
# better spent on their motion than on kinks.
BOUNDED_CONTACTS, BOUNDED_SHEETS = ContactSoftness(0.5, 0.5, np.inf, 1.0), ContactSoftness(2.0, 1.0, np.inf, 1.0)

# How many times the speed with which things move against each other counts, beside that of a kick, where what a contact
# carries is told from its impulse: hard contacts are for what rests, and many kinks for what tumbles.
TUMBLING = 10.0

# Contacts of sheets are softer along their normals by the square root of what stretching adds to the inertia of a node
# in a step, in parts of so much of it, up to a factor: across, where mostly something touches them, they move far more
# easily than their mobility, which is that of stretching, says; and contacts as hard as that are kinks that directions
# stop at.
LITTLE_STRETCHING, SOFTEST = 160.0, 5.0


def contact_softness(model, h: float, given: ContactSoftness) -> ContactSoftness:
    """Softness of contacts in a step of h [s]: the one given, or where all soft bodies are sheets a softer one."""
    given = given._replace(kick=h * model.acceleration_bound)
    if not model.elements.only_sheets:
        return given
    added = h * float(np.median((h * model.node_stiffness + model.node_damping) / model.node_mass))
    return given._replace(normal=given.normal * min(max(added / LITTLE_STRETCHING, 1.0) ** 0.5, SOFTEST))


def carried_mobility(rows, device, impulse: np.ndarray, velocity: np.ndarray, kick: float) -> np.ndarray:
    """The mobilities (slices, 1, LANES) [1/kg] of what contacts carry, by impulses (slices, 3, LANES) [N s] so far: of
    all that rests on a light body, not of that body. velocity (triples, 3): before the step."""
    rate = np.empty(impulse.shape)
    device.rows.row_rates(rows.start, rows.triples, rows.jacobian, velocity, rate)
    speed = kick + TUMBLING * np.sqrt((rate * rate).sum(axis=1, keepdims=True))
    return speed / np.maximum(impulse[:, :1], 1e-300)


def contact_shares(model) -> np.ndarray | None:
    """The parts (triples,) of their mobility that bodies have for contacts: what rigid joints hold to something heavier
    gives way as that does, at worst. None where there are no such joints."""
    blocks, n, count = model.joints, model.node_count, model.body_count
    both = blocks.rigid & (blocks.a.kind == BODY) & (blocks.b.kind == BODY)
    first, second = blocks.a.index[both, 0], blocks.b.index[both, 0]
    loose = ~(model.static[first] | model.static[second])
    if not loose.any():
        return None
    links = coo_matrix((np.ones(loose.sum()), (first[loose], second[loose])), shape=(count, count))
    _, group = connected_components(links, directed=False)
    heaviest = np.zeros(group.max() + 1)
    np.maximum.at(heaviest, group, np.where(model.static, 0.0, model.body_mass))
    share = np.where(model.static, 1.0, model.body_mass / np.maximum(heaviest[group], 1e-300))
    return np.concatenate([np.ones(n), np.repeat(share, 2)])


def joint_softness(model, dtype) -> np.ndarray:
    """Softness (slices, 3, LANES) of every joint of a model for linear systems of this type."""
    blocks = model.joints
    softness, least = SOFTNESS[np.dtype(dtype).itemsize]
    out = np.full((len(blocks.start) - 1, 3, LANES), softness)
    out[blocks.slice, :, blocks.lane] = (softness * np.maximum(_mobility_ratios(model, 0.0), least))[:, None]
    return out


def step_softness(model, given: np.ndarray, dtype, h: float) -> np.ndarray:
    """Softness (slices, 3, LANES) of joints in a step of h [s]: the one given, or less where elements hold what they
    connect; the same in all steps of a length."""
    blocks, known = model.joints, model.__dict__.get("_step_softness")
    if np.dtype(dtype).itemsize == 4 or not _on_elements(model):
        return given
    if known is None or known[0] != h or known[1] is not given:
        softness, least = SOFTNESS[np.dtype(dtype).itemsize]
        out, places = given.copy(), (blocks.slice, slice(None), blocks.lane)
        out[places] = np.minimum(out[places], (softness * np.maximum(_mobility_ratios(model, h), least))[:, None])
        known = model.__dict__["_step_softness"] = (h, given, out)
    return known[2]


def softer_than_asked(model, dtype, h: float) -> bool:
    """Whether joints with what elements hold are softer in a step of h [s] than these ask for: harder ones would drown
    in rounding. Renewals leave much of an error to such joints, without any doubt about where they fit."""
    _, least = SOFTNESS[np.dtype(dtype).itemsize]
    return _on_elements(model) and bool(np.any(model.joints.rigid & (_mobility_ratios(model, h) < least)))


def _on_elements(model) -> bool:
    """Whether there are rigid joints, and elements that hold what they may connect."""
    return bool(model.joints.rigid.any()) and bool(model.joints.on_nodes.any() or model.elements.on_bodies)


def _mobility_ratios(model, h: float) -> np.ndarray:
    """For every block (n,), the least over the greatest of what all things that joints connect with it resist by in a
    step of h [s]."""
    return np.where(_on_directions(model.joints), _inertia_ratios(model, h), _mass_ratios(model, h))


def _on_directions(blocks) -> np.ndarray:
    """Which blocks (n,) hold directions of rigid bodies."""
    return np.isin(blocks.family, (ANGULAR, ALIGN, PERPENDICULAR))


def _inertia_ratios(model, h: float) -> np.ndarray:
    """For every block (n,), the least over the greatest moment of inertia of all bodies that joints connect with it,
    the greatest about where they are held, with what rods resist turns by in a step of h [s]."""
    (_, greatest), stiffness = _held(model), h * (h * model.body_stiffness + model.body_damping)[1::2]
    own = (model.body_inertia.min(1, initial=np.inf), greatest)
    ratios = _ratios_of(model, np.full(model.node_count, np.nan), *(each + stiffness for each in own))
    return np.where(_on_directions(model.joints), ratios, 1.0)


def _mass_ratios(model, h: float) -> np.ndarray:
    """For every block (n,), the lightest over the heaviest mass of all that joints connect with it, the lightest as it
    feels where it is held, with what elements resist motions by in a step of h [s]: beside a light body the face of a
    stiff one is as heavy as that."""
    (lightest, _), stiffness = _held(model), h * (h * model.body_stiffness + model.body_damping)[::2]
    nodes = model.node_mass + h * (h * model.node_stiffness + model.node_damping)
    return _ratios_of(model, nodes, lightest + stiffness, model.body_mass + stiffness)


def _ratios_of(model, nodes: np.ndarray, least: np.ndarray, greatest: np.ndarray) -> np.ndarray:
    """For every block (n,), the least over the greatest of what all nodes (n,) and bodies (b,) that joints connect with
    it have."""
    ends = [np.concatenate([nodes, np.where(model.static, np.nan, own), [np.nan]]) for own in (least, greatest)]
    return _ratios(model, *ends)


def _held(model) -> tuple[np.ndarray, np.ndarray]:
    """Of every body (b,) the least mass [kg] that is felt at a point where a joint holds it, in any direction, and the
    greatest moment of inertia [kg m^2] about such a point; as they are but for what is out of proportion (HARMLESS)."""
    mass, inertia, points = model.body_mass, model.body_inertia, model.joints.points
    lightest, greatest = mass.copy(), inertia.max(1, initial=0.0)
    for side in (model.joints.a, model.joints.b):
        held = points[side.kind[points] == BODY]
        held = held[~model.static[side.index[held, 0]]]
        body, arm = side.index[held, 0], side.local[held]
        across = np.cross(arm[:, None, :], np.eye(3))
        turning = np.einsum("krj,kj,kcj->krc", across, 1 / inertia[body], across)
        felt = 1 / (1 / mass[body] + np.linalg.eigvalsh(turning)[:, -1])
        about = inertia[body].max(1, initial=0.0) + mass[body] * np.sum(arm**2, axis=1)
        np.minimum.at(lightest, body, HARMLESS * felt)
        np.maximum.at(greatest, body, about / HARMLESS)
    return lightest, greatest


def _ratios(model, least: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """For every block (n,), the least over the greatest of what all things (nodes, bodies, the world) that joints
    connect with it have; NaN for what does not move."""
    blocks, n = model.joints, model.node_count
    first, second = _representative(blocks.a, n), _representative(blocks.b, n)
    size = len(mass)
    world = size - 1
    first, second = np.where(first < 0, world, first), np.where(second < 0, world, second)
    moving = ~np.isnan(mass)
    both = moving[first] & moving[second]
    links = coo_matrix((np.ones(both.sum()), (first[both], second[both])), shape=(size, size))
    _, group = connected_components(links, directed=False)
    touched = np.unique(np.concatenate([first, second]))
    touched = touched[moving[touched]]
    low, high = np.full(group.max() + 1, np.inf), np.zeros(group.max() + 1)
    np.minimum.at(low, group[touched], least[touched])
    np.maximum.at(high, group[touched], mass[touched])
    own = np.where(moving[first], group[first], group[second])
    return np.where(high[own] > 0, low[own] / np.maximum(high[own], 1e-300), 1.0)


def _representative(side, node_count: int) -> np.ndarray:
    """A number for what each anchor (n,) holds on to: its (first) node, or its body after all nodes; -1: the world."""
    nodes = (side.kind == FACE) | (side.kind == NODE)
    return np.where(nodes, side.index[:, 0], np.where(side.kind == BODY, node_count + side.index[:, 0], -1))
