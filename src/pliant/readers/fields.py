"""Energies, momenta, and the fields of soft bodies: what a simulation reads of its own state."""

import numpy as np

from pliant.checks import choice
from pliant.errors import SceneError
from pliant.readers import report, sheets
from pliant.readers import strain as strains
from pliant.rotations import rotation_matrix
from pliant.scene.bodies import Soft
from pliant.scene.cloth import Cloth


class FieldReaders:
    """Part of Simulation: it has a model, a state, and knows the numbers of its soft bodies."""

    def energy(self) -> report.Energy:
        """Energies by kind [J]: kinetic, elastic, gravitational, of compliant joints, and their total."""
        return report.energy(self.model, self.state)

    def momentum(self) -> report.Momentum:
        """Linear [kg m/s] and angular [kg m2/s] momentum about the origin, of everything that is not static."""
        return report.momentum(self.model, self.state)

    def deformation_gradient(self, body: Soft) -> np.ndarray:
        """F = dx/dX (m, 3, 3) per element, X in the coordinates of the body's mesh: its rotation is part of F."""
        x = self.positions(body)
        return strains.deformation_gradient(body.mesh, x)

    def strain(self, body: Soft, at: str = "elements", measure: str = "rotated") -> np.ndarray:
        """Total strain xx, yy, zz, yz, xz, xy with engineering shear (gamma = 2 epsilon).

        at: "elements" (m, 6), or "nodes" (n, 6) for averages weighted by volume. measure: "rotated", the symmetric part
        of R^T F - I in the element's rotated frame (R = I for the linear law); "green", (F^T F - I)/2 in the axes of
        the mesh; "small", the symmetric part of the displacement's gradient in world axes.
        """
        if choice(measure, "measure", ("rotated", "green", "small")) == "rotated":
            values = self._fields(body)[0]
        elif measure == "green":
            x = self.positions(body)
            values = strains.mean_green_strain(body.mesh, x)
        else:
            values = strains.small_strain(self.deformation_gradient(body), rotation_matrix(body.rotation))
        return _placed(body, values, at)

    def plastic_strain(self, body: Soft) -> np.ndarray:
        """Plastic strain (m, 6) per element, as `strain`."""
        return strains.point_average(self.model.elements, self._soft(body), self.state.plastic_strain)

    def stress(self, body: Soft, at: str = "elements") -> np.ndarray:
        """Cauchy stress [Pa] xx, yy, zz, yz, xz, xy in world axes; at: "elements" (m, 6), or "nodes" (n, 6) for
        averages weighted by volume. A body of springs has the mean stress of their tensions over every tet."""
        return _placed(body, self._fields(body)[1], at)

    def von_mises(self, body: Soft, at: str = "elements") -> np.ndarray:
        """Von Mises stress [Pa]; at: "elements" (m,), or "nodes" (n,) for averages of these weighted by volume."""
        return _placed(body, strains.von_mises(self.stress(body)), at)

    def curvature(self, body: Cloth, from_rest: bool = False) -> np.ndarray:
        """Curvature (m, 3) [1/m] of the triangles of a cloth: 11, 22, 12 in their own axes, along the edge from node 0
        to 1 and across it; positive where the side of the normals is convex. from_rest: what it is beyond that at
        rest."""
        return sheets.curvature(self.model, self.state, self._cloth(body), body.thickness, from_rest)

    def resultants(self, body: Cloth) -> tuple[np.ndarray, np.ndarray]:
        """Forces [N/m] and moments [N m/m] (m, 3) per width in the triangles of a cloth: 11, 22, 12, axes as of
        `curvature`."""
        return sheets.resultants(self.model, self.state, self._cloth(body), body.thickness)

    def plastic_fold(self, body: Cloth) -> np.ndarray:
        """Plastic strain (m, 3) by bending at the surface of a cloth: 11, 22, 12 (doubled), axes as of `curvature`."""
        return sheets.plastic_fold(self.model, self.state, self._cloth(body))

    def _cloth(self, body: Cloth) -> int:
        if not isinstance(body, Cloth):
            raise SceneError(f"{body!r} is not a cloth")
        return self._soft(body)

    def _fields(self, body: Soft) -> tuple[np.ndarray, np.ndarray]:
        """Strain and stress (m, 6) of a body's elements."""
        return strains.element_fields(self.model, self.state)[self._soft(body)]


def _placed(body: Soft, values: np.ndarray, at: str) -> np.ndarray:
    """Values of a body's elements as they are, or as averages at its nodes."""
    placed = choice(at, "at", ("elements", "nodes"))
    return values if placed == "elements" else strains.node_average(body.mesh, values)
