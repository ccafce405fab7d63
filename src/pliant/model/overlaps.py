"""Bodies that overlap at the start: told, and refused where nothing can part them."""

import warnings

import numpy as np

from pliant.collide.intersections import CROSSING, intersections
from pliant.errors import SceneError

# Penetrations up to this part of a body's size are no overlap.
LITTLE = 1e-3
# Pairs that a message lists.
MOST_LISTED = 8


def check_overlaps(model, state, refuse: bool) -> None:
    """Raise if surfaces of soft bodies or meshes pass through each other, and, to `refuse`, if rigid bodies overlap."""
    crossing = _crossing_surfaces(model, state, exact=True)
    if crossing:
        raise SceneError(
            f"surfaces that pass through each other at the start: {_listed(model, crossing)}. Contacts cannot tell "
            f"their sides; move them apart, or let them not collide (scene.ignore_contact, self_contact=False)"
        )
    if not refuse:
        return
    found = model.colliders.contacts(state, 0.0)
    sizes = model.colliders.slack[found.thing].max(axis=1, initial=0.0)
    deep = {tuple(sorted(pair)) for pair in found.thing[found.gap < -LITTLE * 100 * sizes].tolist()}
    if deep:
        raise SceneError(
            f"bodies that overlap at the start: {_listed(model, sorted(deep))}. Move them apart, or have them pushed "
            f"apart with Scene(overlaps='resolve')"
        )


def crossing_pairs(model, state) -> np.ndarray:
    """Pairs (k, 2) of things whose surfaces cross, or lie in one another, of those that may touch."""
    return np.array(_crossing_surfaces(model, state, exact=False), np.int64).reshape(-1, 2)


def warn_of_crossings(model, before: np.ndarray, now: np.ndarray) -> None:
    """Say which pairs cross now and did not before."""
    if now is before:
        return
    known = {tuple(pair) for pair in before.tolist()}
    new = [tuple(pair) for pair in now.tolist() if tuple(pair) not in known]
    if new:
        warnings.warn(
            f"surfaces pass through each other: {_listed(model, new)}; they do not touch until they have come apart. "
            f"Put them apart (position, set_positions, set_pose); pliant.Newton() keeps apart what starts apart",
            stacklevel=2,
        )


def _crossing_surfaces(model, state, exact: bool) -> list[tuple[int, int]]:
    """Pairs of things whose surfaces cross; where not exact, those that have points in common as well."""
    colliders = model.colliders
    if not colliders.certificates or not np.all(np.isfinite(state.x)):
        return []
    x = colliders.meshed.places(state)
    if not any(colliders.certificates.may_touch(x, np.zeros(len(x)), 0.0)):
        return []
    pairs, how = intersections(colliders.meshed.surfaces, x, exact)
    index, thing = colliders.meshed.surfaces.index, colliders.meshed.thing
    crossing = pairs[how == CROSSING] if exact else pairs
    edges, triangles = thing[index.edges[crossing[:, 0], 0]], thing[index.triangles[crossing[:, 1], 0]]
    return sorted({tuple(sorted(pair)) for pair in zip(edges.tolist(), triangles.tolist())})


def _listed(model, pairs: list[tuple[int, int]]) -> str:
    names = [*model.soft_names, *model.rigid_names]
    words = [
        f"{names[a]!r} with {names[b]!r}" if a != b else f"{names[a]!r} with itself" for a, b in pairs[:MOST_LISTED]
    ]
    more = len(pairs) - len(words)
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")
