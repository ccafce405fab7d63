"""From positions to contacts: broad phase by bounding boxes, narrow phase by signed distances."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.shapes import CAPSULE, CYLINDER, PLANE, SPHERE

# A contact is taken up when it may close within about two steps, or when the gap is below this part of the body's size.
SLACK = 0.01


@dataclass
class Contacts:
    """Contacts found in a step; side a is a soft node or a rigid body, side b a rigid body.

    node (n,): soft node, or -1. a, b (n,): rigid bodies (a is -1 for a node). point (n, 3) [m] on side a, normal (n, 3)
    from b to a, gap (n,) [m], negative when penetrating. key (n,): names the contact from step to step.
    """

    node: np.ndarray
    a: np.ndarray
    b: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    key: np.ndarray

    def __len__(self) -> int:
        return len(self.node)


def no_contacts() -> Contacts:
    """Nothing touches."""
    index = np.zeros(0, np.int64)
    return Contacts(index, index, index, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), index)


def detect(model, state, h: float) -> Contacts:
    """All contacts of the scene at the state's positions."""
    found = [*_soft_contacts(model, state, h), *_rigid_contacts(model, state, h)]
    if not found:
        return no_contacts()
    return Contacts(*(np.concatenate(columns) for columns in zip(*found)))


def _soft_contacts(model, state, h):
    """Surface nodes of soft bodies against rigid bodies whose bounding spheres reach them."""
    for soft in model.soft_surfaces:
        if not len(soft.against):
            continue
        nodes = soft.nodes
        low, high = state.x[nodes].min(axis=0), state.x[nodes].max(axis=0)
        reach = 2 * h * np.abs(state.v[nodes]).max()
        loose = nodes[model.free[nodes].any(axis=1)]
        for b in soft.against:
            radius = model.body_radius[b]
            travel = reach + 2 * h * np.linalg.norm(state.body_velocity[b]) + SLACK * soft.size
            centre = state.body_position[b]
            if np.isfinite(radius) and (
                np.any(centre + radius + travel < low) or np.any(centre - radius - travel > high)
            ):
                continue
            columns = model.device.narrow.nodes_against_body(
                loose if model.static[b] else nodes,  # nothing can part a prescribed node from a body that stays
                state.x,
                state.v,
                model.shape_code[b],
                model.shape_parameter[b],
                centre,
                state.body_rotation[b],
                model.principal_rotation[b],
                state.body_velocity[b],
                state.body_angular_velocity[b],
                h,
                SLACK * soft.size,
                model.acceleration_bound,
            )
            if len(columns[0]):
                node, point, normal, gap = columns
                none, body = np.full(len(node), -1), np.full(len(node), b)
                yield node, none, body, point, normal, gap, (np.int64(b) << 32) | node


def _rigid_contacts(model, state, h):
    """Rigid bodies against rigid bodies."""
    if not len(model.collidable):
        return
    for first, second in _candidate_pairs(model, state, h):
        a, b = _order(model.shape_code, first, second)
        found = _narrow(model, state, h, a, b)
        if len(found[0]):
            feature, point, normal, gap = found
            size = len(feature)
            key = -((((np.int64(a) << 24) | np.int64(b)) << 12) | feature) - 1
            yield np.full(size, -1), np.full(size, a), np.full(size, b), point, normal, gap, key


def _candidate_pairs(model, state, h) -> list[list[int]]:
    """Pairs of bodies whose bounding spheres may touch within a step, in ascending order."""
    radius = model.body_radius
    travel = 2 * h * np.linalg.norm(state.body_velocity, axis=1) + SLACK * np.where(np.isfinite(radius), radius, 0)
    low = state.body_position[:, 0] - radius - travel
    order = model.collidable[np.argsort(low[model.collidable], kind="stable")]
    arguments = (order, low[order], radius, state.body_position, travel, model.static)
    keys = np.empty(4 * len(order), np.int64)
    count = model.device.broad.sweep_pairs(*arguments, keys)
    if count > len(keys):
        keys = np.empty(count, np.int64)
        model.device.broad.sweep_pairs(*arguments, keys)
    keys = np.sort(keys[:count])
    return np.stack(np.divmod(keys[~np.isin(keys, model.excluded_pairs)], model.body_count), axis=1).tolist()


def _order(code, first, second):
    """Side a carries sample points, side b a distance function: planes are b, spheres are a."""
    if code[first] == PLANE or (code[second] == SPHERE and code[first] != SPHERE):
        return second, first
    return first, second


def _narrow(model, state, h, a, b):
    kernels, slack = model.device.narrow, SLACK * model.body_radius[a]
    pose_a, pose_b = (state.body_position[a], state.body_rotation[a]), (state.body_position[b], state.body_rotation[b])
    motion = (
        state.body_velocity[a],
        state.body_angular_velocity[a],
        state.body_velocity[b],
        state.body_angular_velocity[b],
    )
    if model.shape_code[a] == CAPSULE and model.shape_code[b] == CAPSULE:
        return kernels.capsule_pair(
            model.shape_parameter[a],
            model.shape_parameter[b],
            *pose_a,
            *pose_b,
            model.principal_rotation[a],
            model.principal_rotation[b],
            *motion,
            h,
            slack,
            model.acceleration_bound,
        )
    points = model.sample_points[model.sample_start[a] : model.sample_start[a + 1]]
    if model.shape_code[a] == CYLINDER and model.shape_code[b] == PLANE:
        frames = (
            state.body_rotation[a],
            model.principal_rotation[a],
            state.body_rotation[b],
            model.principal_rotation[b],
        )
        points = kernels.cylinder_points(points, model.shape_parameter[a], model.shape_parameter[b], *frames)
    return kernels.points_against_body(
        points,
        model.sample_radius[a],
        *pose_a,
        model.shape_code[b],
        model.shape_parameter[b],
        *pose_b,
        model.principal_rotation[b],
        *motion,
        h,
        slack,
        model.acceleration_bound,
    )
