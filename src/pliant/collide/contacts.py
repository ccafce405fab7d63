"""Contacts: pairs of points, on two sides, that may not pass each other."""

from dataclasses import dataclass
from functools import cache

import numpy as np

# Keys of contacts begin with their kind: of two solids kind << 60 | first << 38 | second << 16 | feature, of nodes with
# solids kind << 60 | node << 24 | body, of triangles with solids kind << 60 | triangle << 34 | body << 16 | feature.
# Kinds below are of two surfaces.
KIND_PLACE, FEATURE_BITS = 60, 16
SOLID_KIND, NODE_KIND, TRIANGLE_KIND = 4, 5, 6


def named_by_feature(keys: np.ndarray) -> np.ndarray:
    """Whether contacts (k,) are told from others of their pair by features of convex bodies alone."""
    kind = keys >> KIND_PLACE
    return (kind == SOLID_KIND) | (kind == TRIANGLE_KIND)


def of_solids(keys: np.ndarray) -> np.ndarray:
    """Whether contacts (k,) are with a solid, whose inside is known."""
    return (keys >> KIND_PLACE) >= SOLID_KIND


def among(keys: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether keys (k,) are among others."""
    if not len(others):
        return np.zeros(len(keys), bool)
    others = np.sort(others)
    return others[np.searchsorted(others, keys).clip(max=len(others) - 1)] == keys


@dataclass
class Contacts:
    """Contacts found at some positions. A side is up to three soft nodes or a rigid body.

    node, weight (k, 4): soft nodes of both sides, -1 for none, and their shares: those of the first side are positive
    and add up to 1, those of the second negative. body (k, 2): the rigid bodies of the sides, or -1. thing (k, 2): what
    the sides belong to, soft bodies counted first, then rigid ones. point (k, 3) [m]: where it is; normal (k, 3) from
    the second side to the first; gap (k,) [m], negative when penetrating. key (k,): names the contact from step to
    step.
    """

    node: np.ndarray
    weight: np.ndarray
    body: np.ndarray
    thing: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    key: np.ndarray

    def __len__(self) -> int:
        return len(self.key)

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """All arrays, in the order of the fields."""
        return self.node, self.weight, self.body, self.thing, self.point, self.normal, self.gap, self.key

    def these(self, which: np.ndarray) -> "Contacts":
        """Some of them, by mask or indices."""
        if which.dtype == bool:  # indices are quicker for several columns
            if which.all():
                return self
            which = np.flatnonzero(which)
        return Contacts(*(column.take(which, axis=0) for column in self.columns))

    def with_some(self, bodies: np.ndarray) -> np.ndarray:
        """Which contacts (k,) of rigid bodies are with some of these (b,) bool."""
        return bodies[self.body[:, 0]] | bodies[self.body[:, 1]]


@cache
def no_contacts() -> Contacts:
    """Nothing touches."""
    four, two, three = np.zeros((0, 4), np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 3))
    return Contacts(four, np.zeros((0, 4)), two, two, three, three, np.zeros(0), np.zeros(0, np.int64))


def joined(parts: list[Contacts]) -> Contacts:
    """All contacts of several lists."""
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else no_contacts()
    return Contacts(*(np.concatenate(columns) for columns in zip(*(part.columns for part in parts))))


def against_body(node: np.ndarray, weight: np.ndarray, thing, body, soft_count: int, found, key) -> Contacts:
    """Contacts of soft nodes (k, 1 to 3) with shares (k, 1 to 3), of soft bodies `thing`, with rigid bodies `body`;
    found: points, normals, gaps."""
    count = len(node)
    nodes, weights = np.full((count, 4), -1, np.int64), np.zeros((count, 4))
    nodes[:, : node.shape[1]], weights[:, : node.shape[1]] = node, weight
    bodies, things = np.full((count, 2), -1, np.int64), np.empty((count, 2), np.int64)
    bodies[:, 1], things[:, 0], things[:, 1] = body, thing, soft_count + np.asarray(body)
    return Contacts(nodes, weights, bodies, things, *found, key)


def between_bodies(a, b, soft_count: int, found, key: np.ndarray) -> Contacts:
    """Contacts of rigid bodies a and b; found: points, normals, gaps."""
    count = len(key)
    bodies = np.empty((count, 2), np.int64)
    bodies[:, 0], bodies[:, 1] = a, b
    nodes = np.full((count, 4), -1, np.int64)
    return Contacts(nodes, np.zeros((count, 4)), bodies, soft_count + bodies, *found, key)
