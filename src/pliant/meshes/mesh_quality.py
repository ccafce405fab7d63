"""How good the tets of a mesh are: volumes, dihedral angles, radius ratios, radius-edge ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks import shown
from ..errors import MeshError
from . import quadratic, topology

if TYPE_CHECKING:
    from .tet_mesh import TetMesh

STRAIGHT = 1 - 1e-6
"""A tet with a ratio of Jacobians above this counts as straight."""
WORST_LIMIT = 3
"""How many of the worst tets a report names."""
BAR = 50
"""Characters of the longest bar of a histogram."""


@dataclass(frozen=True, eq=False)
class Quality:
    """Measures of the m tets of a mesh; angles in degrees. Angles, radii and edges are those between the corners.

    volumes: (m,) [m^3], of curved tets too.
    dihedral: (m, 6) angles between two faces, one per edge [degrees]; dihedral_min, dihedral_max: (m,) the smallest and
        the largest of each tet.
    radius_ratio: (m,) three times the inradius over the circumradius; 1 for a regular tet, 0 for a flat one.
    radius_edge: (m,) circumradius over shortest edge; 0.612 for a regular tet, large for needles and caps, but also
        small for some flat ones (Shewchuk 1998).
    edge_min, edge_max: shortest and longest edge of the mesh [m].
    jacobian_ratio: (m,) lowest over highest det(Jacobian) among the Gauss points and corners of a tet: 1 for a straight
        one, below 0 for one that is turned inside out at a corner.
    """

    volumes: np.ndarray
    dihedral: np.ndarray
    dihedral_min: np.ndarray
    dihedral_max: np.ndarray
    radius_ratio: np.ndarray
    radius_edge: np.ndarray
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

    @property
    def max_radius_edge(self) -> float:
        """Largest radius-edge ratio of the mesh."""
        return float(self.radius_edge.max())

    def angle_counts(self, width: float = 10.0) -> tuple[np.ndarray, np.ndarray]:
        """How many of the 6 m dihedral angles lie in each range (k,), and the ends of the ranges (k + 1,) [degrees]."""
        ends = np.append(np.arange(0.0, 180.0, width), 180.0)
        return np.histogram(self.dihedral, ends)[0], ends

    def histogram(self, width: float = 10.0) -> str:
        """The dihedral angles as bars of text, a line for each range of so many degrees."""
        counts, ends = self.angle_counts(width)
        longest, total = max(counts.max(), 1), counts.sum()
        lines = ["dihedral angles [degrees]"]
        for low, high, count in zip(ends[:-1], ends[1:], counts):
            bar = "#" * int(np.ceil(BAR * count / longest))
            lines.append(f"  {low:3.0f} to {high:3.0f} {100 * count / total:6.2f} %  {bar}".rstrip())
        return "\n".join(lines)

    def report(self) -> str:
        """A short text with the ranges and the worst tets by name."""
        worst = np.argsort(self.radius_ratio, kind="stable")[:WORST_LIMIT]
        lines = [
            f"{len(self.volumes)} tets, total volume {self.total_volume:.6g} m^3",
            f"volume         {self.min_volume:.4g} to {self.max_volume:.4g} m^3",
            f"edge length    {self.edge_min:.4g} to {self.edge_max:.4g} m",
            f"dihedral angle {self.min_dihedral:.1f} to {self.max_dihedral:.1f} degrees (a regular tet has 70.5)",
            f"radius ratio   {self.radius_ratio.min():.3f} to {self.radius_ratio.max():.3f} (1 is best)",
            f"radius to edge {self.radius_edge.min():.3f} to {self.radius_edge.max():.3f} (0.612 is best)",
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
    if not hasattr(mesh, "tets"):  # the class is made with this module and not known here
        raise MeshError(f"quality is of a TetMesh, got {shown(mesh)}")
    normals = face_normals(mesh)
    dihedral = dihedral_angles(normals)
    ends = mesh.points[mesh.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    inradius, circumradius = radii(mesh, normals)
    return Quality(
        volumes=mesh.volumes,
        dihedral=dihedral,
        dihedral_min=dihedral.min(axis=1),
        dihedral_max=dihedral.max(axis=1),
        radius_ratio=3 * inradius / circumradius,
        radius_edge=circumradius / shortest_edges(mesh),
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


def radii(mesh: TetMesh, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Radii (m,) [m] of the spheres inside and around each tet: r = 3V / area, R = |a2 bxc + b2 cxa + c2 axb| / 12V."""
    area = np.linalg.norm(normals, axis=2).sum(axis=1) / 2
    corners = mesh.points[mesh.tets]
    a, b, c = (corners[:, i] - corners[:, 3] for i in range(3))
    squares = [(side * side).sum(axis=1)[:, None] for side in (a, b, c)]
    offset = squares[0] * np.cross(b, c) + squares[1] * np.cross(c, a) + squares[2] * np.cross(a, b)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return 3 * volumes / area, np.linalg.norm(offset, axis=1) / (12 * volumes)


def shortest_edges(mesh: TetMesh) -> np.ndarray:
    """Shortest distance (m,) [m] between two corners of each tet."""
    ends = mesh.points[mesh.tets][:, topology.TET_EDGES]
    return np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).min(axis=1)
