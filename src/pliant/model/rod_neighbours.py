"""Points of rods that are too near to each other along the rod to touch."""

from pliant.scene.rods import Rod, RodPoint
from pliant.scene.scene import Scene
from pliant.scene.shapes import Sphere

# Points are neighbours if less than this many of their radii lies between what both cover, along the rod.
APART = 4.0


def members(body) -> list:
    """The things that contacts know a body by: the points of a rod, else itself."""
    return list(body) if isinstance(body, Rod) else [body]


def neighbours(scene: Scene) -> list[tuple]:
    """Pairs of points of rods that never touch: near each other along rods, and along joints that join their points."""
    ways: dict[int, list] = {}
    points = {id(point): point for rod in scene.rods for point in rod}
    for rod in scene.rods:
        for (i, j), length in zip(rod.edges.tolist(), rod.lengths.tolist()):
            _link(ways, rod[i], rod[j], length)
    for joint in scene.joints:
        ends = [thing for thing in (joint.things[:1] + joint.things[-1:]) if isinstance(thing, RodPoint)]
        if not joint.collide and len(ends) == 2 and ends[0] is not ends[1]:
            _link(ways, *ends, 0.0)
    # a point covers half of its segments, and all of one that ends in a ball
    balls = {key for key, point in points.items() if isinstance(point.shape, Sphere)}
    share = {key: 1.0 if len(beside) > 2 or key in balls else 0.5 for key, beside in ways.items()}
    reach = {key: max(share[other] * length for other, length in ways[key]) for key in points}
    thick = {id(point): max(rod.section.extents) for rod in scene.rods for point in rod}
    pairs = []
    for key, point in points.items():
        for other in _near(ways, key, reach, APART * thick[key]):
            if key < other:
                pairs.append((point, points[other]))
    return pairs


def _link(ways: dict, first, second, length: float) -> None:
    ways.setdefault(id(first), []).append((id(second), length))
    ways.setdefault(id(second), []).append((id(first), length))


def _near(ways: dict, start: int, reach: dict, gap: float) -> list[int]:
    """All that lies so near to a point along the ways that at most `gap` [m] is between what both cover."""
    best, waiting = {start: 0.0}, [start]
    while waiting:
        at = waiting.pop()
        for other, length in ways.get(at, []):
            way = best[at] + length
            if way < best.get(other, float("inf")) and way - reach[start] - reach[other] <= gap + 1e-12:
                best[other] = way
                waiting.append(other)
    return [other for other in best if other != start]
