"""Triangles that rest on something round: how contacts inside them move as they tilt.

The gap between a triangle and a round body is that at its closest point, which moves as the triangle tilts: by a tilt
theta (a slope, normal displacements over distances along the triangle) the gap is less than its linear part by
1/2 theta^T rho theta, with the body's radii of curvature rho. Without this term Newton's method on linear contacts
tilts triangles to and fro. With the normal impulse lambda it is a potential h lambda / 2 theta'^T rho theta' of the
rate theta' at which the triangle tilts from where the contact was found; where that is the end of the step, it is zero.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.kernels.lanes import LANES
from pliant.kernels.shapes import CAPSULE, CONE, CYLINDER, SPHERE
from pliant.rows.table import Rows, layout

# Shapes with round parts.
ROUND = (SPHERE, CAPSULE, CYLINDER, CONE)
# Difference of the cosine between normal and axis from that of a cylinder's or cone's side from which on a contact is
# on a rim, and the cosine from which on it is on a flat end.
OFF_SIDE, FLAT = 0.01, 0.9999
# Stiffness of a tilt without an impulse.
NOTHING = 1e-30


@dataclass(frozen=True)
class Tilting:
    """Blocks of tilts: rows, of unit stiffness; index (t,): flat index of each block's first row in `rows`; normal
    (t,): of its contact's normal row in the table of a step."""

    rows: Rows
    index: np.ndarray
    normal: np.ndarray

    def __len__(self) -> int:
        return len(self.index)

    def compliance(self, impulse: np.ndarray) -> np.ndarray:
        """Compliances (slices, 3, LANES) under the impulses (slices, 3, LANES) [N s] of the table of a step."""
        stiffness = np.maximum(impulse.reshape(-1)[self.normal], NOTHING)
        out = self.rows.compliance.copy()
        out.reshape(-1)[self.index[:, None] + LANES * np.arange(3)] = 1 / stiffness[:, None]
        return out


@cache
def no_tilting() -> Tilting:
    """None."""
    none = np.zeros(0, np.int64)
    return Tilting(Rows.empty(np.zeros(1, np.int64)), none, none)


def fill(model, contacts: Contacts, index: np.ndarray, state, u: np.ndarray, h: float) -> Tilting:
    """The tilts of contacts found at a state, to which velocities u (triples, 3) lead within h [s]; index (k,): of the
    contacts' normal rows."""
    there = _on_round_bodies(model, contacts)
    if not len(there):
        return no_tilting()
    contacts = contacts.these(there)
    used = contacts.weight > 0.0
    order, count = np.argsort(~used, axis=1, kind="stable")[:, :3], used.sum(axis=1)
    nodes = np.take_along_axis(contacts.node, order, axis=1)  # those with a share first
    slopes = _slopes(state.x[np.maximum(nodes, 0)], count)
    slopes = np.sqrt(h) * np.einsum("tij,tkj->tki", _root_radii(model, contacts, state), slopes)
    start, slice_, lane = layout(count)
    rows = Rows.empty(start)
    for i in range(3):
        own = np.flatnonzero(count > i)
        entry = rows.start[slice_[own]] + i
        rows.triples[entry, lane[own]] = nodes[own, i]
        rows.jacobian[entry, :, lane[own]] = np.einsum("ti,tj->tij", slopes[own, i], contacts.normal[own]).reshape(
            -1, 9
        )
    model.device.rows.row_rates(rows.start, rows.triples, rows.jacobian, u, rows.target)
    rows.compliance[:] = 1.0
    return Tilting(rows, slice_ * 3 * LANES + lane, index[there])


def _on_round_bodies(model, contacts: Contacts) -> np.ndarray:
    """Which contacts (t,) are of two or three nodes with a round body."""
    body = contacts.body[:, 1]
    several = np.flatnonzero(((contacts.weight > 0.0).sum(axis=1) >= 2) & (contacts.body[:, 0] < 0) & (body >= 0))
    return several[np.isin(model.colliders.solids.code[body[several]], ROUND)] if len(several) else several


def _slopes(x: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Gradients (t, 3, 3) [1/m] of the shares of three nodes at x (t, 3, 3), or of the first two along their line."""
    a, b = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    aa, ab, bb = (np.einsum("ti,ti->t", *pair)[:, None] for pair in ((a, a), (a, b), (b, b)))
    whole = (count == 3)[:, None]
    area = np.where(whole, aa * bb - ab * ab, 1.0)
    second = np.where(whole, (bb * a - ab * b) / area, a / aa)
    third = np.where(whole, (aa * b - ab * a) / area, 0.0)
    return np.stack([-second - third, second, third], axis=1)


def _root_radii(model, contacts: Contacts, state) -> np.ndarray:
    """Roots (t, 3, 3) [m^1/2] of the radii of curvature of round bodies at contacts, as matrices over directions; along
    an axis, where there is no curvature, of the half length over which a contact may move. On a rim contacts move along
    it alone; flat ends have none."""
    solids, body = model.colliders.stretched(state).solids, contacts.body[:, 1]
    placed, code, (wide, half) = solids.placed(state), solids.code[body], solids.parameter[body, :2].T
    axis, arm = placed.frame[body].reshape(-1, 3, 3)[:, :, 2], contacts.point - placed.origin[body]
    up, lean = np.einsum("ti,ti->t", arm, axis), np.abs(np.einsum("ti,ti->t", contacts.normal, axis))
    side = np.where(code == CONE, wide / np.hypot(wide, 2 * half), 0.0)
    straight = np.where(code == CAPSULE, np.abs(up) <= half, (code != SPHERE) & (np.abs(lean - side) <= OFF_SIDE))
    capped = (code == CAPSULE) & ~straight
    rim = ~straight & ((code == CYLINDER) | (code == CONE)) & (lean <= FLAT)
    away = np.where(straight, up, np.where(capped, np.clip(up, -half, half), 0.0))
    radius = np.linalg.norm(arm - away[:, None] * axis, axis=1) / np.sqrt(np.where(straight, 1.0 - lean**2, 1.0))
    radius = np.where(straight | capped | (code == SPHERE), radius, 0.0)
    along = np.where(straight, half, radius)
    outer = np.einsum("ti,tj->tij", axis, axis)
    roots = np.sqrt(radius)[:, None, None] * (np.eye(3) - outer) + np.sqrt(along)[:, None, None] * outer
    if rim.any():  # a normal that turns by an angle about the axis changes by less than that
        around = np.cross(axis[rim], contacts.normal[rim])
        ring = np.linalg.norm(arm[rim] - up[rim, None] * axis[rim], axis=1) / np.linalg.norm(around, axis=1) ** 5
        roots[rim] = np.sqrt(ring)[:, None, None] * np.einsum("ti,tj->tij", around, around)
    return roots
