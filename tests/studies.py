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
