"""Bodies with the numbers of nodes and elements of those of the mixed solver's paper (T table 1), made of cells, faces
of an icosahedron and a chain of tets: its meshes are of no file that comes with pliant."""

import numpy as np

import pliant as pl


def of_cells(edge: float, parts, pattern: str = "mirrored") -> pl.meshes.TetMesh:
    """Cubes with edges of a length [m] in tets: boxes of cells, each from its first cell (3,) to behind its last (3,),
    that share whole faces."""
    parts = np.array(parts)
    parts -= parts[:, 0].min(axis=0)
    counts = parts[:, 1].max(axis=0)
    inside = np.zeros(counts, bool)
    for first, last in parts:
        inside[tuple(map(slice, first, last))] = True
    block = pl.meshes.box(edge * counts, counts, pattern)
    used, tets = np.unique(block.tets.reshape(inside.size, -1)[inside.ravel()], return_inverse=True)
    return pl.meshes.TetMesh(block.points[used], tets.reshape(-1, 4))


def tapered(edge: float, *sections) -> pl.meshes.TetMesh:
    """A bar of cells along x: of every section its length, width and height in cells."""
    parts, x = [], 0
    for length, width, height in sections:
        parts.append(((x, 0, 0), (x + length, width, height)))
        x += length
    return of_cells(edge, parts)


def animal(edge: float, trunk, leg, head, ear, pattern: str = "mirrored") -> pl.meshes.TetMesh:
    """A trunk (length, width, height in cells) on four legs (thickness, height), with a head (length, width, height) in
    front and two ears (width, length, height) on top."""
    (length, width, height), (thick, down), (far, wide, high), (across, along, up) = trunk, leg, head, ear
    side = (width - wide) // 2
    parts = [((0, 0, 0), trunk), ((length, side, height - high), (length + far, side + wide, height))]
    for y in (0, width - thick):
        parts += [((x, y, -down), (x + thick, y + thick, 0)) for x in (0, length - thick)]
    for y in (0, width - across):
        parts.append(((length - along, y, height), (length, y + across, height + up)))
    return of_cells(edge, parts, pattern)


def ball(parts: int, more: int) -> pl.meshes.TriMesh:
    """The surface of a ball of radius 0.3 m: an icosahedron with its edges in so many parts, and so many nodes more in
    the middles of triangles."""
    points, triangles = _icosahedron(parts)
    _, index, inverse = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    points, triangles = points[index], inverse.ravel()[triangles]
    split = np.arange(more) * (len(triangles) // max(more, 1))
    middle = len(points) + np.arange(more)
    a, b, c = triangles[split].T
    points = np.concatenate([points, points[triangles[split]].mean(axis=1)])
    cut = [np.stack(own, axis=1) for own in ((a, b, middle), (b, c, middle), (c, a, middle))]
    triangles = np.concatenate([np.delete(triangles, split, axis=0), *cut])
    return pl.meshes.TriMesh(0.3 * points / np.linalg.norm(points, axis=1, keepdims=True), triangles)


def _icosahedron(parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) of its faces, in so many parts along each edge, those of edges once for every face; outward
    triangles (m, 3)."""
    golden = (1 + 5**0.5) / 2
    corners = np.array([[0, a, b * golden] for a in (1, -1) for b in (1, -1)])
    corners = np.concatenate([np.roll(corners, turn, axis=1) for turn in range(3)])
    near = np.linalg.norm(corners[:, None] - corners[None], axis=2) < 2.1
    faces = [
        (a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[a, c]
    ]
    points, triangles = [], []
    for a, b, c in faces:
        if np.linalg.det(corners[[a, b, c]]) < 0:
            b, c = c, b
        first, start = len(points), [0]
        for i in range(parts + 1):
            start.append(start[-1] + parts + 1 - i)
            for j in range(parts + 1 - i):
                points.append((i * corners[a] + j * corners[b] + (parts - i - j) * corners[c]) / parts)
        for i in range(parts):
            for j in range(parts - i):
                here, above = first + start[i] + j, first + start[i + 1] + j
                triangles.append((here, above, here + 1))
                if j < parts - i - 1:
                    triangles.append((above, above + 1, here + 1))
    return np.array(points), np.array(triangles)


def helix(nodes: int) -> pl.meshes.TetMesh:
    """A chain of tets, each on a face of the one before (Coxeter's helix), with edges of 5 cm: as many edges, 3 n - 6,
    as a closed surface of n nodes has, which is what T's armadillo of rods is."""
    turn, radius, rise = np.arccos(-2 / 3), 0.05 * 3 * 3**0.5 / 10, 0.05 / 10**0.5
    k = np.arange(nodes)
    points = np.column_stack([k * rise, radius * np.cos(k * turn), radius * np.sin(k * turn)])
    return pl.meshes.TetMesh(points, k[:-3, None] + np.arange(4), repair=True)
