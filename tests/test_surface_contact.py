"""Contact between surfaces: every contact once, and all that there are."""

import itertools

import numpy as np
import pytest

import surface_shapes as shapes
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.collide import EDGE_EDGE, VERTEX_EDGE, VERTEX_FACE, VERTEX_VERTEX
from pliant.kernels.cpu.collide.surfaces import FLAT
from pliant.kernels.device import HOST


def contacts_of(x, triangles, body, limit, rest=None, own=False):
    """Contacts closer than a limit, half of which is radius and half reach."""
    count = int(body.max(initial=0)) + 1
    allowed = np.ones((count, count), bool)
    if not own:
        np.fill_diagonal(allowed, False)
    surfaces = Surfaces(HOST, triangles, body, x if rest is None else rest, allowed)
    quarter = np.full(len(x), limit / 4)
    return surfaces, surfaces.contacts(x, quarter, quarter)


def check_geometry(found, x):
    """Points, normals and distances follow from nodes and weights."""
    vector = np.einsum("km,kmc->kc", found.weights, x[found.nodes])
    assert np.allclose(vector, found.first - found.second, atol=1e-14 * np.abs(x).max(initial=1))
    assert np.allclose(np.linalg.norm(found.normal, axis=1), 1, atol=1e-14)
    assert np.allclose(found.distance[:, None] * found.normal, vector, atol=1e-14 * np.abs(x).max(initial=1))
    assert np.all(np.diff(found.key) > 0)


def kinds(found):
    return np.bincount(found.kind, minlength=4).tolist()


TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
ONE = [[0, 1, 2]]
# a vertex of a far triangle that comes down on one place
SPIKE = np.array([[0, 0, 0], [0.01, 0.02, 5], [-0.02, 0.01, 5.0]])


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ((0.2, 0.2), VERTEX_FACE),
        ((0.5, 1e-3), VERTEX_FACE),
        ((0.5, 0.0), VERTEX_EDGE),
        ((0.5, 0.5), VERTEX_EDGE),
        ((0.5, -0.01), VERTEX_EDGE),
        ((0, 0), VERTEX_VERTEX),
        ((-0.01, -0.01), VERTEX_VERTEX),
    ],
)
def test_a_vertex_over_a_face_an_edge_a_corner(place, kind):
    x, triangles, body = shapes.join((TRIANGLE, ONE), (shapes.shifted(SPIKE, *place, 0.03), ONE))
    _, found = contacts_of(x, triangles, body, 0.1)
    check_geometry(found, x)
    assert found.kind.tolist() == [kind]
    outside = np.minimum(place, 0)
    assert found.distance[0] == pytest.approx(np.hypot(0.03, np.hypot(*outside)), rel=1e-12)
    assert found.key[0] == (kind << 60) | ({VERTEX_VERTEX: 0}.get(kind, 3) << 30) | (found.key[0] & (1 << 30) - 1)


def test_a_vertex_over_the_sides_between_triangles_of_a_plane_has_one_contact():
    sheet = shapes.grid(4)
    for place, kind in (((0.5, 0.5), VERTEX_VERTEX), ((0.5, 0.6), VERTEX_EDGE), ((0.6, 0.6), VERTEX_EDGE)):
        for shift in (0, 1e-17, 1e-12, -1e-9):
            spike = shapes.shifted(SPIKE, place[0] + shift, place[1], 0.03)
            x, triangles, body = shapes.join(sheet, (spike, ONE))
            _, found = contacts_of(x, triangles, body, 0.1)
            assert found.kind.tolist() == [kind]
            assert found.distance[0] == pytest.approx(0.03, rel=1e-9)
    for shift in np.logspace(-9, -3, 40):
        x, triangles, body = shapes.join(sheet, (shapes.shifted(SPIKE, 0.5 + shift, 0.6 - shift / 3, 0.03), ONE))
        _, found = contacts_of(x, triangles, body, 0.1)
        assert len(found) == 1


def test_a_vertex_that_slides_over_a_bumpy_sheet_close_by_has_one_contact():
    """At heights far below the size of triangles, over faces, edges and corners of a sheet that is hardly bent. Where
    rounding does not let tell which is nearest, contacts at the same place to rounding are kept."""
    rng = np.random.default_rng(10)
    sheet = shapes.grid(4, lambda x, y: 1e-3 * x * (1 - x))
    for height in np.logspace(-9, -2, 60):
        place = rng.uniform(0.1, 0.9, 2) if rng.random() < 0.5 else rng.integers(1, 8, 2) / 8
        column = min(int(4 * place[0]), 3)
        ends = 1e-3 * np.array([column, column + 1]) / 4 * (1 - np.array([column, column + 1]) / 4)
        ground = np.interp(place[0], [column / 4, (column + 1) / 4], ends)
        x, triangles, body = shapes.join(sheet, (shapes.shifted(SPIKE, *place, ground + height), ONE))
        _, found = contacts_of(x, triangles, body, 4 * height)
        assert len(found) == 1 or (height < 1e-6 and len(found) > 1)
        assert np.allclose(found.distance, height, rtol=1e-5, atol=1e-16)
        assert np.ptp(found.second[:, :2], axis=0).max() < 2e-3 * height


def test_crossed_and_parallel_edges():
    ridge = np.array([[-1, 0, 0], [1, 0, 0], [0, 0.3, -1], [0, -0.3, -1.0]])
    wings = [[0, 1, 2], [1, 0, 3]]
    across = ridge[:, [1, 0, 2]] * (1, 1, -1) + (0.1, 0.2, 0.05)
    x, triangles, body = shapes.join((ridge, wings), (across, wings))
    _, found = contacts_of(x, triangles, body, 0.1)
    check_geometry(found, x)
    assert kinds(found) == [0, 0, 0, 1]
    assert found.distance[0] == pytest.approx(0.05)
    assert np.allclose(found.normal, [[0, 0, -1]])
    assert np.allclose(found.weights, [[0.45, 0.55, -0.6, -0.4]])
    along = ridge * (1, 1, -1) + (0.5, 0, 0.05)
    x, triangles, body = shapes.join((ridge, wings), (along, wings))
    _, found = contacts_of(x, triangles, body, 0.1)
    assert kinds(found) == [0, 2, 0, 0]  # an end of each over the other
    assert np.allclose(found.distance, 0.05)
    aligned = ridge * (1, 1, -1) + (0, 0, 0.05)
    x, triangles, body = shapes.join((ridge, wings), (aligned, wings))
    assert kinds(contacts_of(x, triangles, body, 0.1)[1]) == [0, 0, 2, 0]


def test_coplanar_triangles_side_by_side():
    x, triangles, body = shapes.join((TRIANGLE, ONE), (TRIANGLE * (-1, -1, 1) + (0.3, -0.04, 0), ONE))
    _, found = contacts_of(x, triangles, body, 0.1)
    check_geometry(found, x)
    assert kinds(found) == [0, 2, 0, 0]
    assert np.allclose(found.normal, np.sign(found.normal[:, 1:2]) * (0, 1, 0))
    assert np.allclose(found.distance, 0.04)


def test_points_that_coincide_have_the_outward_normal_of_the_second():
    x, triangles, body = shapes.join((TRIANGLE, ONE), (shapes.shifted(SPIKE, 0.25, 0.25, 0), ONE))
    _, found = contacts_of(x, triangles, body, 0.1)
    assert found.distance.tolist() == [0.0]
    assert np.array_equal(found.normal, [[0, 0, 1]])


def test_neighbours_of_one_body_do_not_touch_but_folds_do():
    sheet, triangles = shapes.grid(8)
    body = np.zeros(len(sheet), int)
    _, found = contacts_of(sheet, triangles, body, 0.12, own=True)
    assert len(found) == 0  # edges are 0.125
    _, found = contacts_of(sheet, triangles, body, 0.4, own=True)
    assert np.all(found.distance > 0.2)  # closer at rest than their radii: no contacts
    far = sheet[:, 0] - 0.5
    folded = np.where(
        (far > 0)[:, None], sheet * (0, 1, 0) + np.column_stack([0.5 - far, far * 0, 0.05 + 0 * far]), sheet
    )
    _, found = contacts_of(folded, triangles, body, 0.06, rest=sheet, own=True)
    check_geometry(found, folded)
    corners = found.kind == VERTEX_VERTEX
    assert np.count_nonzero(corners) == 3 * 9  # the fourth column is nearer to the slope of the fold
    assert np.allclose(found.distance[corners], 0.05)
    assert found.distance.min() == pytest.approx(0.05 * 0.125 / np.hypot(0.125, 0.05))


# ---- all contacts, by another way


def feature_pairs(surfaces, x, body, limit):
    """Keys of all contacts by the geometry of offset blocks: a vertex over the inside of a face; beside an edge, on the
    outer side of the triangles that meet there; two corners, each on the outer side of all edges that meet at the
    other. Edges crossed inside, where one of the two closest points lies in the block of the other edge or so little
    beside it that the triangle is nearer than the edge by a part FLAT of the squared distance at most."""
    index, keys = surfaces.index, set()
    edges, triangles = index.edges, index.triangles

    def around(start, items, i):
        return triangles[items[start[i] : start[i + 1]]]

    def over_face(p, t):
        a, b, c = x[triangles[t]]
        n = np.cross(b - a, c - a)
        return all(np.dot(n, np.cross(e - s, p - s)) > 0 for s, e in ((a, b), (b, c), (c, a)))

    def beside(p, e, flat=0.0):
        a, b = x[edges[e]]
        if not 0 < np.dot(p - a, b - a) < np.dot(b - a, b - a):
            return False
        for triangle in around(index.edge_start, index.edge_triangles, e):
            third = x[next(i for i in triangle if i not in edges[e])]
            inward = third - a - np.dot(third - a, b - a) / np.dot(b - a, b - a) * (b - a)
            # a triangle that is nearer by the part f of its squared distance d^2: d^2 + inward^2 = (1 + f) d^2
            most = np.sqrt(flat / (1 + flat)) * np.linalg.norm(inward) * shapes.point_segment(p, a, b)
            if np.dot(p - a, inward) > most:
                return False
        return True

    def beyond(p, i):
        others = np.unique(around(index.vertex_start, index.vertex_triangles, i))
        return all(np.dot(p - x[i], x[j] - x[i]) <= 0 for j in others if j != i)

    for v in index.vertices:
        near = shapes.point_triangle(x[v], *(x[triangles[:, c]] for c in range(3))) < limit
        for t in np.flatnonzero(near & (body[triangles[:, 0]] != body[v])):
            if over_face(x[v], t) and shapes.point_triangle(x[v], *x[triangles[t]]) < limit:
                keys.add((VERTEX_FACE, v, t))
            for c in range(3):
                e, w = index.triangle_edges[t, c], triangles[t, c]
                if shapes.point_segment(x[v], *x[edges[e]]) < limit and beside(x[v], e):
                    keys.add((VERTEX_EDGE, v, e))
                if np.linalg.norm(x[v] - x[w]) < limit and beyond(x[v], w) and beyond(x[w], v):
                    keys.add((VERTEX_VERTEX, min(v, w), max(v, w)))
    for e, f in itertools.combinations(range(len(edges)), 2):
        a, b, c, d = x[np.concatenate([edges[e], edges[f]])]
        if body[edges[e, 0]] == body[edges[f, 0]] or shapes.segment_segment(a, b, c, d) >= limit:
            continue
        s, t = np.linalg.lstsq(np.column_stack([b - a, c - d]), c - a, rcond=None)[0]
        if 0 < s < 1 and 0 < t < 1 and (beside(a + s * (b - a), f, FLAT) or beside(c + t * (d - c), e, FLAT)):
            keys.add((EDGE_EDGE, e, f))
    return sorted((int(kind) << 60) | (int(i) << 30) | int(j) for kind, i, j in keys)


def bumpy(seed):
    rng = np.random.default_rng(seed)
    return lambda x, y: 0.08 * rng.normal(size=np.shape(x)) + 0.05 * np.sin(7 * x) * np.cos(5 * y)


SCENES = {
    "corner near face": (shapes.cube(), shapes.cube(0.2, 0.3, 1.43, seed=1)),
    "edge near edge": (shapes.cube(), shapes.cube(1.1, 0.1, 0.9, seed=8)),
    "bumpy sheets": (shapes.grid(5, bumpy(1)), shapes.grid(4, bumpy(2), (0.11, 0.07, 0.3), flip=True)),
    "sheet over cube": (shapes.cube(), shapes.grid(5, bumpy(3), (0.53, 0.41, 1.2), flip=True)),
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("limit", [0.05, 0.3])
def test_contacts_are_those_of_offset_blocks(name, limit):
    x, triangles, body = shapes.join(*SCENES[name])
    surfaces, found = contacts_of(x, triangles, body, limit)
    check_geometry(found, x)
    assert found.key.tolist() == feature_pairs(surfaces, x, body, limit)


def nearest_pairs(x, triangles, body, limit):
    """Distances of pairs of triangles of two bodies that no pair of their neighbours undercuts."""
    first, second = np.flatnonzero(body[triangles[:, 0]] == 0), np.flatnonzero(body[triangles[:, 0]] == 1)
    i, j = np.meshgrid(first, second, indexing="ij")
    distance = shapes.triangle_triangle(x[triangles[i.ravel()]], x[triangles[j.ravel()]]).reshape(i.shape)
    touches = (triangles[:, None, :, None] == triangles[None, :, None, :]).any(axis=(2, 3))
    near = np.argwhere(distance < limit)
    return [
        distance[a, b]
        for a, b in near
        if distance[a, b] <= distance[np.ix_(touches[first[a], first], touches[second[b], second])].min() + 1e-14
    ]


FACING = {
    "stacked cubes": (shapes.cube(), shapes.cube(0, 0, 1.05)),
    "shifted cubes": (shapes.cube(), shapes.cube(0.3, 0.4, 1.05)),
    "edges of cubes": (shapes.cube(), shapes.cube(1.03, 0.4, 1.04)),
    "sheets a nanometre apart": (shapes.grid(3), shapes.grid(4, origin=(0.05, 0.1, 1e-9), flip=True)),
    "corners of cubes": (shapes.cube(), shapes.cube(1.03, 1.02, 1.04)),
    "equal sheets": (shapes.grid(5), shapes.grid(5, origin=(0, 0, 0.05), flip=True)),
    "turned sheets": (
        shapes.grid(5),
        (shapes.rotated(shapes.grid(4)[0], 3) * (1, 1, 0) + (0, 0, 0.05), shapes.grid(4)[1]),
    ),
}


@pytest.mark.parametrize("name", [*FACING, *SCENES])
def test_whatever_is_near_has_a_contact_with_the_least_distance_there(name):
    limit = 0.1 if name in FACING else 0.4
    x, triangles, body = shapes.join(*(FACING[name] if name in FACING else SCENES[name]))
    _, found = contacts_of(x, triangles, body, limit)
    check_geometry(found, x)
    wanted = nearest_pairs(x, triangles, body, limit)
    assert wanted
    for distance in wanted:
        assert np.abs(found.distance - distance).min() < 1e-13
    assert found.distance.min() >= min(wanted) - 1e-13


def test_contacts_do_not_depend_on_how_the_trees_came_about():
    x, triangles, body = shapes.join(*SCENES["bumpy sheets"])
    surfaces, found = contacts_of(x, triangles, body, 0.3)
    quarter = np.full(len(x), 0.075)
    for shift in np.linspace(3, 0, 7):
        moved = x + shift * (body == 1)[:, None] * np.random.default_rng(6).normal(size=x.shape)
        again = surfaces.contacts(moved, quarter, quarter)
    assert len(found) > 50
    for name in ("key", "nodes", "weights", "first", "second", "normal", "distance"):
        assert np.array_equal(getattr(again, name), getattr(found, name)), name


def test_a_rod_is_triangles_with_equal_corners():
    rod = np.array([[-0.5, 0.2, 0.04], [0.4, 0.2, 0.04], [0.4, 0.2, 1.0]])
    x, triangles, body = shapes.join((TRIANGLE, ONE), (rod, [[0, 1, 1], [1, 2, 2]]))
    surfaces, found = contacts_of(x, triangles, body, 0.1)
    assert len(surfaces.index.edges) == 5
    assert kinds(found) == [1, 0, 0, 1]  # an end over the face, and the rod over the side x = 0
    assert np.allclose(found.distance, 0.04)
    other = np.array([[0.0, -0.5, 0.0], [0.0, 0.5, 0.0]])
    x, triangles, body = shapes.join((rod, [[0, 1, 1], [1, 2, 2]]), (other, [[0, 1, 1]]))
    assert kinds(contacts_of(x, triangles, body, 0.1)[1]) == [0, 0, 0, 1]
    x, triangles, body = shapes.join((rod, [[0, 1, 1], [1, 2, 2]]), (other[:, [1, 0, 2]] + (0, 0.2, 0), [[0, 1, 1]]))
    assert kinds(contacts_of(x, triangles, body, 0.1)[1]) == [0, 1, 1, 0]


def test_no_surface_has_no_contacts():
    x = np.zeros((3, 3))
    surfaces, found = contacts_of(x, np.zeros((0, 3), int), np.zeros(3, int), 1.0, own=True)
    assert len(found) == 0
    assert surfaces.impacts(x, x + 1, np.zeros(3)).earliest == 1
