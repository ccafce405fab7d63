"""Repairs of a triangle surface until it bounds a solid, and what was done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import repair as repairs
from . import topology
from .checks import repeats_node
from .orientation import orient_surface
from .passing import Passages, passages
from .tri_mesh import is_degenerate


@dataclass(frozen=True, eq=False)
class RepairedSurface:
    """A closed surface: points (n, 3) [m], triangles (m, 3), what was done to it, a sentence each, and whether it
    passes through itself."""

    points: np.ndarray
    triangles: np.ndarray
    notes: list[str]
    crossed: bool = False


def repair_surface(points: np.ndarray, triangles: np.ndarray) -> RepairedSurface:
    """Merge points, drop useless triangles, orient, close holes.

    Holes are closed by triangles around the mean of their edge. Edges of more than two triangles, and triangles that
    pass through each other, stay: what counts is how often the surface winds around a point. Pieces that pass through
    each other point outward, as one body; one wholly inside another is a cavity.
    """
    notes: list[str] = []
    points, triangles = _clean(points, np.asarray(triangles, np.int64), notes)
    triangles = _agree(points, triangles, notes)
    points, triangles = close_holes(points, triangles, notes)
    passed = passages(points, triangles)
    triangles = _point_outward(points, triangles, passed, notes)
    _, counts, _ = topology.edge_balance(triangles, len(points))
    _note(notes, int((counts > 2).sum()), "edges of more than two triangles kept")
    _note(notes, len(np.unique(passed.triangles)), "triangles that others pass through kept")
    if repairs.signed_volume(points, triangles) <= 0:
        done = f", after these repairs: {'; '.join(notes)}" if notes else ""
        raise MeshError(f"the surface cannot be repaired: it encloses no volume{done}")
    return RepairedSurface(points, triangles, notes, len(passed.triangles) > 0)


def _note(notes: list[str], count: int, what: str) -> None:
    if count:
        notes.append(f"{count} {what}")


def _clean(points: np.ndarray, triangles: np.ndarray, notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Merge coincident points, but not those of different closed pieces; drop triangles without area and repeated ones,
    and points that none uses."""
    used = len(np.unique(triangles))
    points, triangles, _ = repairs.merge_points(points, triangles, {}, repairs.closed_parts(triangles, len(points)))
    _note(notes, used - len(np.unique(triangles)), "points merged with others")
    kept = repairs.drop_elements(triangles, repeats_node(triangles), "triangles")
    kept = repairs.drop_elements(kept, is_degenerate(points, kept), "triangles")
    _note(notes, len(triangles) - len(kept), "triangles without area dropped")
    single = repairs.drop_duplicates(kept, len(points))
    _note(notes, len(kept) - len(single), "repeated triangles dropped")
    points, triangles, _ = repairs.drop_unused(points, single, {})
    return points, triangles.astype(np.int64)


def _agree(points: np.ndarray, triangles: np.ndarray, notes: list[str]) -> np.ndarray:
    """Turn the fewer triangles of each piece that disagree with the others."""
    piece, flipped = repairs.consistent_orientation(triangles, len(points))
    most = np.bincount(piece, flipped) > np.bincount(piece) / 2
    turned = flipped != most[piece]
    _note(notes, int(turned.sum()), "triangles turned")
    return np.where(turned[:, None], triangles[:, ::-1], triangles)


def _point_outward(points: np.ndarray, triangles: np.ndarray, passed: Passages, notes: list[str]) -> np.ndarray:
    """Turn closed pieces to point outward, cavities inward."""
    oriented = orient_surface(points, triangles, passed)
    _, _, balance = topology.edge_balance(oriented, len(points))
    if (balance != 0).any():  # sheets between edges of more than two triangles: they agree as they are
        return triangles
    turned = (oriented != triangles).any(axis=1)
    piece, _ = repairs.consistent_orientation(triangles, len(points))
    hollow = [number for number in np.unique(piece[turned]) if _is_hollow(points, oriented[piece == number])]
    inward = turned & np.isin(piece, hollow)
    _note(notes, int((turned & ~inward).sum()), "triangles turned to point outward")
    _note(notes, int(inward.sum()), "triangles around cavities, wholly inside other pieces, turned to point inward")
    return oriented


def _is_hollow(points: np.ndarray, triangles: np.ndarray) -> bool:
    return repairs.signed_volume(points, triangles) < 0


def close_holes(points: np.ndarray, triangles: np.ndarray, notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Add triangles until every edge is passed as often forward as backward."""
    edges, _, balance = topology.edge_balance(triangles, len(points))
    missing = np.repeat(np.where(balance > 0, 1, -1), np.abs(balance))
    ends = np.repeat(edges, np.abs(balance), axis=0)
    # the new triangles pass them the other way
    ends = np.where((missing > 0)[:, None], ends[:, ::-1], ends)
    loops = _loops([tuple(int(node) for node in edge) for edge in ends])
    added, centres = [], []
    for loop in loops:
        if len(loop) == 3:
            added.append(loop)
            continue
        centre = len(points) + len(centres)
        centres.append(points[loop].mean(axis=0))
        added += [(a, b, centre) for a, b in zip(loop, loop[1:] + loop[:1])]
    if not loops:
        return points, triangles
    notes.append(f"{len(loops)} holes closed by {len(added)} triangles")
    points = np.concatenate([points, np.array(centres).reshape(-1, 3)])
    return points, np.concatenate([triangles, np.array(added, np.int64)])


def _loops(edges: list[tuple[int, int]]) -> list[list[int]]:
    """Directed edges, of which as many enter each node as leave it, as closed loops of nodes without repetition."""
    leaving: dict[int, list[int]] = {}
    for start, end in reversed(edges):
        leaving.setdefault(start, []).append(end)
    loops = []
    for start in list(leaving):
        while leaving[start]:
            path, place = [start], {start: 0}
            while leaving[path[-1]]:
                node = leaving[path[-1]].pop()
                if node in place:
                    loops.append(path[place[node] :])
                    for gone in path[place[node] + 1 :]:
                        del place[gone]
                    path = path[: place[node] + 1]
                else:
                    place[node] = len(path)
                    path.append(node)
    return [loop for loop in loops if len(loop) > 2]
