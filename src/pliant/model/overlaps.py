"""Bodies that overlap at the start: told, and refused where nothing can part them."""

import warnings

import numpy as np

from pliant.collide.intersections import CROSSING, inside, intersections
from pliant.errors import SceneError
from pliant.kernels.collide import VERTEX_FACE
from pliant.kernels.shapes import MESH
from pliant.rotations import rotation_matrix
from pliant.scene.bodies import Rigid

# Penetrations up to this part of a body's size are no overlap.
LITTLE = 1e-3
# Ways, in parts of edges, by which rounding may move what is at one place.
ROUNDING = 1e-13
# Overlaps beyond this part of a body's size are told where they are resolved: several times what a body may be placed
# too deep by rounding its position, or rests deeper than it should, and so little that pushing it out hardly shows.
TOLD = 0.02
# How far points of rods may lie off what they touch with, in parts of their first size, before it is said.
CORNER = 2.0
# Pairs that a message lists.
MOST_LISTED = 8


def check_overlaps(model, state, refuse: bool, filled: list[int], grounds: dict[int, Rigid]) -> None:
    """Raise if surfaces of soft bodies or meshes pass through each other, and, to `refuse`, if rigid bodies overlap or
    bodies lie inside soft ones, of which those are `filled`, or below heightfields, `grounds` by their numbers as
    things; otherwise say what does, and which of those `filled` touch themselves."""
    pairs, how = _meetings(model, state, exact=True)
    crossing = _by_things(model, state, pairs[how == CROSSING])
    if crossing:
        raise SceneError(
            f"surfaces that pass through each other at the start: {_listed(model, crossing)}. Contacts cannot tell "
            f"their sides; move them apart, or let them not collide (scene.ignore_contact, self_contact=False)"
        )
    touching = _touching_sheets(model, state, filled)
    if touching:
        raise SceneError(
            f"sheets that lie on each other without a distance at the start: {_listed(model, touching)}. Contacts "
            f"cannot tell their sides; move them apart, merge points that are meant to be one, or let them not collide "
            f"(scene.ignore_contact, self_contact=False)"
        )
    _tell_of_touching_themselves(model, _by_things(model, state, pairs), filled)
    swallowed, buried = _swallowed(model, state, filled), _buried(model, state, grounds)
    found = model.colliders.contacts(state, 0.0) if refuse or swallowed or buried else None
    for what, pairs in (("inside soft ones", swallowed), ("below heightfields", buried)):
        if pairs:
            _tell_swallowed(model, what, pairs, found, refuse)
    if not refuse:
        return
    sizes = model.colliders.slack[found.thing].max(axis=1, initial=0.0)
    if words := _overlapping(model, found, found.gap < -LITTLE * 100 * sizes):
        raise SceneError(
            f"bodies that overlap at the start: {words}. Move them apart, or have them pushed apart with "
            f"Scene(overlaps='resolve')"
        )


def _touching_sheets(model, state, filled: list[int]) -> dict[tuple[int, int], np.ndarray]:
    """Pairs of sheets, soft bodies that are not `filled`, that may touch and have points in common, but for neighbours
    in a mesh, and where [m]: what has met before it is stirred by no more than rounding."""
    meshed, found = model.colliders.meshed, {}
    sheet = np.ones(len(model.soft_names) + model.body_count, bool)
    sheet[len(model.soft_names) :] = sheet[filled] = False
    if meshed is None or not sheet.any() or not np.all(np.isfinite(state.x)):
        return found
    x, index, thing = meshed.places(state), meshed.surfaces.index, meshed.thing
    little = ROUNDING * meshed.size
    stir = little[:, None] * np.random.default_rng(0).uniform(-1.0, 1.0, x.shape)
    met = meshed.surfaces.impacts(x, x + stir, little)
    for kind, first, second in zip(*(each[met.time == 0.0] for each in (met.kind, met.first, met.second))):
        sides = (first, index.triangles[second, 0]) if kind == VERTEX_FACE else index.edges[[first, second], 0]
        pair = tuple(sorted(int(thing[side]) for side in sides))
        if sheet[list(pair)].all():
            found.setdefault(pair, x[sides[0]])
    return dict(sorted(found.items()))


def _tell_of_touching_themselves(model, meeting: dict[tuple[int, int], np.ndarray], filled: list[int]) -> None:
    """Say which of the soft bodies `filled` are among the pairs that have points in common, each with itself."""
    own = {pair: place for pair, place in meeting.items() if pair[0] == pair[1] and pair[0] in filled}
    if own:
        warnings.warn(
            f"surfaces that touch themselves at the start: {_listed(model, own)}. Contacts cannot part what has no "
            f"distance, and steps may not converge; merge nodes that are meant to be one, leave a distance, or let the "
            f"body not touch itself (self_contact=False)",
            stacklevel=2,
        )


def warn_of_overlaps(overlaps: str, model, state, h: float) -> None:
    """Say which bodies overlap before the first step of h [s], where the scene has them pushed apart."""
    if state.step or overlaps != "resolve":
        return
    found = model.colliders.contacts(state, h)
    if words := _overlapping(model, found, found.gap < -TOLD * model.colliders.size_of(found)):
        warnings.warn(
            f"bodies overlap at the start: {words}. The first steps push them apart, which moves and strains what was "
            f"at rest: move them apart, or let them not collide (scene.ignore_contact); Scene(overlaps='refuse') makes "
            f"this an error",
            stacklevel=3,
        )


def _overlapping(model, found, deep: np.ndarray) -> str:
    """In words the pairs of things that those contacts found are between which are deep (k,) bool, the deepest first;
    nothing where there are none."""
    deepest = np.flatnonzero(deep)
    deepest = deepest[np.argsort(found.gap[deepest], kind="stable")]
    pairs = found.thing[deepest].tolist()
    places, gaps = _first_of_each(pairs, found.point[deepest]), _first_of_each(pairs, found.gap[deepest])
    depths = {pair: -gap for pair, gap in gaps.items()}
    return _listed(model, places, depths)


def _swallowed(model, state, filled: list[int]) -> dict[tuple[int, int], np.ndarray]:
    """Pairs of things and `filled` soft bodies that may touch, of which a point of the first lies in the second, and
    that point [m]."""
    colliders, starts, found = model.colliders, model.node_start, {}
    if not filled or not np.all(np.isfinite(state.x)):
        return found
    x, index = colliders.meshed.places(state), colliders.meshed.surfaces.index
    owner, (things, points) = colliders.meshed.thing[index.triangles[:, 0]], _samples(model, x, state)
    for soft in filled:
        own = x[starts[soft] : starts[soft + 1]]
        near = np.all((points > own.min(axis=0)) & (points < own.max(axis=0)), axis=1) & (things != soft)
        near[near] = colliders.things.may_touch(np.full(int(near.sum()), soft), things[near])
        if near.any():
            within = inside(model.device, points[near], x, index.triangles[owner == soft])
            found.update({(int(k), soft): p for k, p in zip(things[near][within], points[near][within])})
    return found


def _buried(model, state, grounds: dict[int, Rigid]) -> dict[tuple[int, int], np.ndarray]:
    """Pairs of things and heightfields that may touch, of which a point of the first lies below the second, and that
    point [m]."""
    colliders, found = model.colliders, {}
    if not grounds or not np.all(np.isfinite(state.x)):
        return found
    things, points = _samples(model, colliders.meshed.places(state), state)
    for ground, body in grounds.items():
        own = (points - np.array(body.position)) @ rotation_matrix(body.rotation)
        below = (body.shape.above(own) < 0) & (things != ground)
        below[below] = colliders.things.may_touch(np.full(int(below.sum()), ground), things[below])
        found.update({(int(k), ground): p for k, p in zip(things[below], points[below])})
    return found


def _samples(model, x: np.ndarray, state) -> tuple[np.ndarray, np.ndarray]:
    """Things (k,), planes apart, and a point (k, 3) [m] of each, of surfaces at x (p, 3) a vertex."""
    solids, softs = model.colliders.solids, len(model.soft_names)
    rigid = np.flatnonzero((solids.code != MESH) & np.isfinite(solids.radius))
    own, first = np.unique(model.colliders.meshed.thing, return_index=True)
    return np.concatenate([own, softs + rigid]), np.concatenate([x[first], state.body_position[rigid]])


def _tell_swallowed(model, what: str, swallowed: dict, found, refuse: bool) -> None:
    """Refuse or tell what lies wholly inside soft bodies or below ground, as `what` says: of a solid that reaches out,
    there are contacts."""
    out = {tuple(sorted(pair)) for pair in found.thing[found.gap < 0.0].tolist()}
    within = {pair: place for pair, place in swallowed.items() if tuple(sorted(pair)) not in out}
    if not within:
        return
    words = (
        f"bodies that lie {what} at the start: {_listed(model, within)}. Contacts act at surfaces and part "
        f"them no more; move them apart, or let them not collide (scene.ignore_contact)"
    )
    if refuse:
        raise SceneError(words)
    warnings.warn(words, stacklevel=2)


def crossing_pairs(model, state) -> np.ndarray:
    """Pairs (k, 2) of things whose surfaces cross, or lie in one another, of those that may touch."""
    return np.array(list(_crossing_surfaces(model, state)), np.int64).reshape(-1, 2)


def warn_of_crossings(model, before: np.ndarray, state) -> None:
    """Say which pairs cross at a state and did not before, and where."""
    if state.crossing is before:
        return
    known = {tuple(pair) for pair in before.tolist()}
    new = [tuple(pair) for pair in state.crossing.tolist() if tuple(pair) not in known]
    if new:
        places = _crossing_surfaces(model, state)
        new = {pair: places.get(pair) for pair in new}
        warnings.warn(
            f"surfaces pass through each other: {_listed(model, new)}; they do not touch until they have come apart. "
            f"Put them apart (position, set_positions, set_pose); pliant.Newton() keeps apart what starts apart",
            stacklevel=2,
        )


def warn_of_step(model, before: np.ndarray, state, told: set[str]) -> None:
    """Say what a step has left that passes through something, or may; told: names of rods of which it was said."""
    warn_of_crossings(model, before, state)
    _warn_of_corners(model, state, told)


def _warn_of_corners(model, state, told: set[str]) -> None:
    """Say of rods, once of each, that the pieces with which they touch leave their points by more than their thickness
    where they turn sharply; told: their names."""
    arms = model.colliders.arms
    if arms is None or not model.may_touch:
        return
    solids = model.colliders.stretched(state).solids
    off, wide = arms.corners(solids, state), solids.parameter[arms.body, 0]
    for k in np.flatnonzero(off > CORNER * wide).tolist():
        rod, _, point = model.rigid_names[arms.body[k]].rpartition(".")
        if rod not in told:
            told.add(rod)
            warnings.warn(
                f"rod {rod!r} turns so sharply at point {point} that its contacts, which cut the corner, are "
                f"{off[k]:.3g} m off its line there. Take shorter segments (segments=...), or bend it less",
                stacklevel=4,
            )


def _crossing_surfaces(model, state) -> dict[tuple[int, int], np.ndarray]:
    """Pairs of things whose surfaces have points in common, as far as rounding shows, and where [m] an edge does."""
    return _by_things(model, state, _meetings(model, state, exact=False)[0])


def _meetings(model, state, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) of edges and triangles of surfaces that have points in common, and how (k,), as of `intersections`;
    exact: of a state before which there was none."""
    colliders, none = model.colliders, (np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    if not colliders.certificates or not np.all(np.isfinite(state.x)):
        return none
    x, proofs = colliders.meshed.places(state), colliders.certificates
    if not any(proofs.may_cross(x) if exact else proofs.may_touch(x, np.zeros(len(x)), 0.0)):
        return none
    return intersections(colliders.meshed.surfaces, x, exact)


def _by_things(model, state, pairs: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Pairs of things of which edges and triangles (k, 2) meet, and where [m] one of these edges is."""
    if not len(pairs):
        return {}
    meshed = model.colliders.meshed
    x, index, thing = meshed.places(state), meshed.surfaces.index, meshed.thing
    edges, triangles = index.edges[pairs[:, 0]], index.triangles[pairs[:, 1], 0]
    return _first_of_each(zip(thing[edges[:, 0]].tolist(), thing[triangles].tolist()), x[edges].mean(axis=1))


def _first_of_each(pairs, places: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Every pair once, in order, with the first of its places (k, 3)."""
    found = {}
    for pair, place in zip(pairs, places):
        found.setdefault(tuple(sorted(pair)), place)
    return dict(sorted(found.items()))


def _listed(model, places: dict[tuple[int, int], np.ndarray | None], depths: dict | None = None) -> str:
    """Pairs of things in words, with where they meet, and where depths [m] are known the deepest first."""
    names, words, pairs = [*model.soft_names, *model.rigid_names], [], list(places)
    if depths:
        pairs.sort(key=lambda pair: -depths[pair])
    for a, b in pairs[:MOST_LISTED]:
        place = places[a, b]
        where = "" if place is None else " near ({:.3g}, {:.3g}, {:.3g})".format(*place)
        depth = f", {depths[a, b]:.3g} m deep" if depths else ""
        words.append(f"{names[a]!r} with {repr(names[b]) if a != b else 'itself'}{where}{depth}")
    more = len(places) - len(words)
    return (", " if not depths else "; ").join(words) + (f" and {more} more" if more > 0 else "")
