"""Helpers of the verification tests: mapped meshes, limits over meshes, loads that vary in space."""

import numpy as np

import pliant as pl

EDGE = 1e-9


def mapped_box(cells, shape) -> pl.meshes.TetMesh:
    """A box of cells mapped to a body: shape takes coordinates r, s, t (n,) in 0..1 to points x, y, z [m]."""
    grid = pl.meshes.box((1, 1, 1), cells=tuple(int(c) for c in cells))
    r, s, t = grid.points.T
    return pl.meshes.TetMesh(np.stack(np.broadcast_arrays(*shape(r, s, t)), axis=1), grid.tets)


def limit(values, cells):
    """Where values on meshes of so many cells tend to (Richardson): two meshes remove the error of order h^2 of
    linear tets, three that of order h^4 too. The meshes must have cells of the same shape."""
    powers = np.array(cells, float)[:, None] ** (-2 * np.arange(len(cells)))
    return np.linalg.solve(powers, np.array(values, float))[0]


def displacements(sim, body) -> np.ndarray:
    """Displacements (n, 3) [m] of the nodes from where the scene put them."""
    return sim.positions(body) - body.nodes.positions


def at(body, point, reach=1e-6) -> np.ndarray:
    """Indices of the nodes within reach of a point, whose coordinates may be None for any."""
    near = np.ones(len(body.nodes), bool)
    for axis, value in enumerate(point):
        if value is not None:
            near &= np.abs(body.nodes.positions[:, axis] - value) < reach
    return np.flatnonzero(near)


def nodal_forces(body, forces) -> None:
    """Apply a force (n, 3) [N] to each node of a body."""
    for node in np.flatnonzero(np.abs(forces).max(axis=1) > 0):
        body.force([node], forces[node])


def end_couple(body, nodes, axis, centre, moment: float) -> None:
    """A couple [N m] on the nodes of an end face, as shear that grows with the distance from its centre: the nodal
    forces are w (axis x r), w the area of a node, scaled to the moment."""
    arm = np.cross(axis, body.nodes.positions[nodes] - centre)
    forces = np.zeros((len(body.nodes), 3))
    forces[nodes] = body.faces.node_areas(nodes)[:, None] * arm
    nodal_forces(body, moment / np.einsum("ij,ij->", forces[nodes], arm) * forces)


def turn(sim, body, nodes, axis, centre) -> float:
    """The mean small rotation [rad] of some nodes about an axis through a centre."""
    arm = np.cross(axis, body.nodes.positions[nodes] - centre)
    return float(np.einsum("ij,ij->", displacements(sim, body)[nodes], arm) / np.einsum("ij,ij->", arm, arm))


def soft_limit(answers, cells):
    """Where answers to one load tend to. Linear tets add a stiffness c h^2 to that of the body in bending and twist,
    whatever the load; so it is the stiffness, load over answer, that is extrapolated, as in `limit`."""
    return 1 / limit(1 / np.array(answers, float), cells)


def cantilever(law="corotated", cells=(20, 4, 4), **options):
    """The clamped beam of the benchmarks, and the nodes of its free end."""
    scene = pl.Scene()
    material = getattr(pl.Material, law)(1e6, 0.4, 1000, **options)
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=cells, pattern="six"), material)
    beam.pin(beam.nodes.x < 1e-9)
    return scene, beam, beam.nodes.x > 1 - 1e-9


def turek_and_hron_bar(layers: int, mu: float):
    """The bar of the benchmarks CSM1 to CSM3: its scene, and the nodes of the control point; plane strain."""

    def left(y):
        return 0.2 + np.sqrt(0.05**2 - (y - 0.2) ** 2)

    def shape(r, s, t):
        y = 0.19 + 0.02 * s
        return left(y) + (0.6 - left(y)) * r, y, 0.02 / layers * t

    scene = pl.Scene(gravity=(0, -2, 0))
    material = pl.Material.stvk(young=2.8 * mu, poisson=0.4, density=1000)
    bar = scene.add_soft(mapped_box((17.5 * layers, layers, 1), shape), material)
    bar.pin(bar.nodes.x < left(bar.nodes.y) + EDGE)
    bar.pin("all", axes="z")
    return scene, bar, at(bar, (0.6, 0.2, None))
