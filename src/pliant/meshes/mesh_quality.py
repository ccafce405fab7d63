"""How good the tets of a mesh are: volumes, dihedral angles, radius ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import quadratic, topology

if TYPE_CHECKING:
    from .tet_mesh import TetMesh

STRAIGHT = 1 - 1e-6
"""A tet with a ratio of Jacobians above this counts as straight."""
WORST_LIMIT = 3
"""How many of the worst tets a report names."""


@dataclass(frozen=True, eq=False)
class Quality:
    """Measures of the m tets of a mesh; angles in degrees. Angles, radii and edges are those between the corners.

    volumes: (m,) [m^3], of curved tets too.
    dihedral_min, dihedral_max: (m,) smallest and largest angle between two faces [degrees].
    radius_ratio: (m,) three times the inradius over the circumradius; 1 for a regular tet, 0 for a flat one.
    edge_min, edge_max: shortest and longest edge of the mesh [m].
    jacobian_ratio: (m,) lowest over highest det(Jacobian) among the Gauss points and corners of a tet: 1 for a straight
        one, below 0 for one that is turned inside out at a corner.
    """

    volumes: np.ndarray
    dihedral_min: np.ndarray
    dihedral_max: np.ndarray
    radius_ratio: np.ndarray
    edge_min: float
    edge_max: float
    jacobian_ratio: np.ndarray

    @property
    def min_volume(self) -> float:
        """Smallest volume [m^3]."""
        return float(self.volumes.min())

    @property
    def max_volume(self) -> float:
        """Largest volume [m^3]."""
        return float(self.volumes.max())

    @property
    def total_volume(self) -> float:
        """Sum of the volumes [m^3]."""
        return float(self.volumes.sum())

    @property
    def min_dihedral(self) -> float:
        """Smallest dihedral angle of the mesh [degrees]."""
        return float(self.dihedral_min.min())

    @property
    def max_dihedral(self) -> float:
        """Largest dihedral angle of the mesh [degrees]."""
        return float(self.dihedral_max.max())

    def report(self) -> str:
        """A short text with the ranges and the worst tets by name."""
        worst = np.argsort(self.radius_ratio, kind="stable")[:WORST_LIMIT]
        lines = [
            f"{len(self.volumes)} tets, total volume {self.total_volume:.6g} m^3",
            f"volume         {self.min_volume:.4g} to {self.max_volume:.4g} m^3",
            f"edge length    {self.edge_min:.4g} to {self.edge_max:.4g} m",
            f"dihedral angle {self.min_dihedral:.1f} to {self.max_dihedral:.1f} degrees (a regular tet has 70.5)",
            f"radius ratio   {self.radius_ratio.min():.3f} to {self.radius_ratio.max():.3f} (1 is best)",
        ]
        if (self.jacobian_ratio < STRAIGHT).any():
            bent = int(self.jacobian_ratio.argmin())
            lines.append(f"Jacobian ratio {self.jacobian_ratio[bent]:.3f} at least, of tet {bent} (1 is straight)")
        lines.append("worst tets:")
        lines += [
            f"  tet {index}: radius ratio {self.radius_ratio[index]:.3f}, dihedral angles "
            f"{self.dihedral_min[index]:.1f} to {self.dihedral_max[index]:.1f} degrees, "
            f"volume {self.volumes[index]:.4g} m^3"
            for index in worst
        ]
        return "\n".join(lines)


def quality(mesh: TetMesh) -> Quality:
    """Measure every tet of a mesh."""
    normals = face_normals(mesh)
    dihedral = dihedral_angles(normals)
    ends = mesh.points[mesh.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    return Quality(
        volumes=mesh.volumes,
        dihedral_min=dihedral.min(axis=1),
        dihedral_max=dihedral.max(axis=1),
        radius_ratio=radius_ratios(mesh, normals),
        edge_min=float(lengths.min()),
        edge_max=float(lengths.max()),
        jacobian_ratio=jacobian_ratios(mesh),
    )


def jacobian_ratios(mesh: TetMesh) -> np.ndarray:
    """Lowest over highest det(Jacobian) per tet (m,); 1 for tets of four nodes."""
    if mesh.order == 1:
        return np.ones(len(mesh.tets))
    places = np.concatenate([quadratic.GAUSS_POINTS, np.eye(4)])
    values = quadratic.determinants(mesh.points, mesh.tets, places)
    return values.min(axis=1) / values.max(axis=1)


def face_normals(mesh: TetMesh) -> np.ndarray:
    """Outward normals (m, 4, 3) of the faces opposite each node, as long as twice the face's area [m^2]."""
    corners = mesh.points[mesh.tets][:, topology.TET_FACES]
    return np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])


def dihedral_angles(normals: np.ndarray) -> np.ndarray:
    """Angles (m, 6) [degrees] between the faces with outward normals (m, 4, 3), one per edge."""
    unit = normals / np.linalg.norm(normals, axis=2, keepdims=True)
    first, second = topology.TET_EDGES.T
    cosine = -np.einsum("mei,mei->me", unit[:, first], unit[:, second])
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def radius_ratios(mesh: TetMesh, normals: np.ndarray) -> np.ndarray:
    """3 r / R per tet (m,): inradius r = 3V / area, circumradius R = |a2 bxc + b2 cxa + c2 axb| / 12V."""
    area = np.linalg.norm(normals, axis=2).sum(axis=1) / 2
    corners = mesh.points[mesh.tets]
    a, b, c = (corners[:, i] - corners[:, 3] for i in range(3))
    squares = [(side * side).sum(axis=1)[:, None] for side in (a, b, c)]
    offset = squares[0] * np.cross(b, c) + squares[1] * np.cross(c, a) + squares[2] * np.cross(a, b)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    inradius = 3 * volumes / area
    circumradius = np.linalg.norm(offset, axis=1) / (12 * volumes)
    return 3 * inradius / circumradius
