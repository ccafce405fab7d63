"""Scalar fields of soft bodies, at elements and averaged to nodes, for pictures and files."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.readers import strain
from pliant.readers.strain import node_average, von_mises


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
        return von_mises(self.stress)


def element_fields(sim) -> list[ElementFields]:
    """The fields of every soft body, in the order of the scene."""
    plastic, found = sim.state.plastic_strain, strain.element_fields(sim.model, sim.state)
    return [
        ElementFields(*fields, strain.point_average(sim.model.elements, body, plastic))
        for body, fields in enumerate(found)
    ]


@dataclass(frozen=True)
class ColorField:
    """What can colour soft bodies: the title of its legend, and the value per element.

    `element` is None for the displacement, which lives at nodes. `share` is the part of the nodes that the colours
    resolve: peaks at clamped corners, which grow with every refinement of the mesh, take the last colour.
    """

    title: str
    element: Callable[[ElementFields], np.ndarray] | None
    share: float = 0.99


COLOR_FIELDS = {
    "displacement": ColorField("displacement [m]", None, 1.0),
    "strain": ColorField("strain", lambda fields: np.linalg.norm(fields.strain, axis=1)),
    "stress": ColorField("von Mises stress [Pa]", lambda fields: fields.von_mises),
    "plastic_strain": ColorField("plastic strain", lambda fields: np.linalg.norm(fields.plastic_strain, axis=1)),
}


def node_colors(sim, name: str) -> list[np.ndarray]:
    """The field `name` of COLOR_FIELDS at the nodes (n,) of every soft body."""
    bodies, element = sim.scene.soft_bodies, COLOR_FIELDS[name].element
    if element is None:
        return [np.linalg.norm(sim.positions(body) - body.nodes.positions, axis=1) for body in bodies]
    if not bodies:
        return []
    return [node_average(body.mesh, element(fields)) for body, fields in zip(bodies, element_fields(sim))]
