"""Scalar fields of soft bodies, at elements and averaged to nodes, for pictures and files.

What computes them is imported by what needs it: the names of the fields are wanted long before their values.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ElementFields:
    """Six components (m, 6) per element of one soft body: xx, yy, zz, yz, xz, xy, shear strains doubled.

    strain and plastic strain are in the elements' rotated frames, stress [Pa] is in world axes.
    """

    strain: np.ndarray
    stress: np.ndarray
    plastic_strain: np.ndarray

    @property
    def von_mises(self) -> np.ndarray:
        """Von Mises stress (m,) [Pa]."""
        from pliant.readers.strain import von_mises

        return von_mises(self.stress)


def element_fields(sim) -> list[ElementFields]:
    """The fields of every soft body, in the order of the scene."""
    from pliant.readers import strain

    plastic, found = sim.state.plastic_strain, strain.element_fields(sim.model, sim.state)
    return [
        ElementFields(*fields, strain.point_average(sim.model.elements, body, plastic))
        for body, fields in enumerate(found)
    ]


@dataclass(frozen=True)
class ColorField:
    """What can colour soft bodies: the title of its legend, and the value per element, or per node (`nodes`, of a
    simulation for every soft body). `share` is the part of the nodes that the colours resolve: peaks at clamped
    corners, which grow with every refinement of the mesh, take the last colour. Rods: output/rod_fields.py.
    """

    title: str
    element: Callable[[ElementFields], np.ndarray] | None = None
    share: float = 0.99
    nodes: Callable[..., list[np.ndarray]] | None = None


def displacements(sim) -> list[np.ndarray]:
    """How far the nodes (n,) [m] of every soft body are from where the scene puts them."""
    bodies = sim.scene.soft_bodies
    return [np.linalg.norm(sim.positions(body) - body.nodes.positions, axis=1) for body in bodies]


def speeds(sim) -> list[np.ndarray]:
    """Speeds (n,) [m/s] of the nodes of every soft body."""
    return [np.linalg.norm(sim.velocities(body), axis=1) for body in sim.scene.soft_bodies]


def contact_pressures(sim) -> list[np.ndarray]:
    """Normal forces of contacts in the last step, spread over the three surface nodes around each by inverse distance,
    over the area of the nodes before deformation (n,) [Pa], of every soft body."""
    from scipy.spatial import cKDTree  # takes a while to load

    found, pressures = sim.contacts, []
    normal = np.abs(np.einsum("ki,ki->k", found.forces, found.normals))
    for body in sim.scene.soft_bodies:
        areas = body.faces.spread(np.arange(len(body.faces)), len(body.mesh.points))
        surface, forces = np.flatnonzero(areas > 0), np.zeros(len(areas))
        mine = [k for k, pair in enumerate(found.bodies) for side in pair if side is body]
        if mine:
            tree = cKDTree(np.asarray(sim.positions(body))[surface])
            distance, nearest = tree.query(found.points[mine], k=min(3, len(surface)))
            weights = 1 / (distance.reshape(len(mine), -1) + 1e-12)
            weights *= (normal[mine] / weights.sum(axis=1))[:, None]
            np.add.at(forces, surface[nearest.reshape(weights.shape)], weights)
        pressures.append(np.divide(forces, areas, out=np.zeros(len(areas)), where=areas > 0))
    return pressures


COLOR_FIELDS = {
    "displacement": ColorField("displacement [m]", share=1.0, nodes=displacements),
    "strain": ColorField("strain", lambda fields: np.linalg.norm(fields.strain, axis=1)),
    "stress": ColorField("von Mises stress [Pa]", lambda fields: fields.von_mises),
    "plastic_strain": ColorField("plastic strain", lambda fields: np.linalg.norm(fields.plastic_strain, axis=1)),
    "speed": ColorField("speed [m/s]", share=1.0, nodes=speeds),
    "contact_pressure": ColorField("contact pressure [Pa]", share=1.0, nodes=contact_pressures),
}


def node_colors(sim, name: str) -> list[np.ndarray]:
    """The field `name` of COLOR_FIELDS at the nodes (n,) of every soft body."""
    from pliant.readers.strain import node_average

    bodies, field = sim.scene.soft_bodies, COLOR_FIELDS[name]
    if field.nodes is not None:
        return field.nodes(sim)
    if not bodies:
        return []
    return [node_average(body.mesh, field.element(fields)) for body, fields in zip(bodies, element_fields(sim))]


def last_color(name: str, soft: list[np.ndarray], others: list[np.ndarray]) -> float:
    """The value of the field `name` at the end of the colours, from those of soft bodies and of others. What is largest
    on a rod does not grow with refinement: all of it is resolved."""
    found = [float(np.quantile(np.concatenate(soft), COLOR_FIELDS[name].share))] if soft else []
    return max(found + [float(values.max()) for values in others if len(values)], default=0.0)
