"""Forces of contacts to be seen: arrows from the points of contact, in front of everything."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.output.drawing import tessellate
from pliant.output.drawing.picture import Surface
from pliant.rotations import axis_quaternion, rotation_matrix

ARROW_COLOR = "#c2185b"
# Length of the arrow of the reference force as a share of the size of the scene; no arrow is more than twice as long.
LONGEST = 0.2
CUT = 2.0
# Arrows below this share of the longest are left out: they would be heads alone.
SHORTEST = 0.01
HEAD_LENGTH, HEAD_RADIUS = 5.0, 2.2  # in radii of the shaft
# Arrows are drawn at this share of their distance from the eye, before what would hide them; the picture is the same.
NEAR = 0.02


@dataclass(frozen=True)
class ContactForces:
    """Where contacts are, points (k, 3) [m], and their forces (k, 3) [N]: on the body that is not static; of two that
    move, on the first."""

    points: np.ndarray
    forces: np.ndarray

    @property
    def largest(self) -> float:
        """The largest force [N], 0 without contacts."""
        return float(np.linalg.norm(self.forces, axis=1).max(initial=0.0))


def contact_forces(sim) -> ContactForces:
    """The contacts that carried load in the last step of a simulation."""
    report = sim.contacts
    sign = [-1.0 if getattr(first, "static", False) else 1.0 for first, _ in report.bodies]
    return ContactForces(report.points, np.array(sign)[:, None] * report.forces)


def reference_force(shots: Sequence[ContactForces | None]) -> float:
    """The force [N] whose arrow has full length: the largest of a moment, of several moments with contacts the median
    of theirs, so that one impact does not hide what rests."""
    largest = [shot.largest for shot in shots if shot is not None and shot.largest > 0]
    return float(np.median(largest)) if largest else 0.0


def arrow_surfaces(found: ContactForces | None, reference: float, size: float, radius: float, eye) -> list[Surface]:
    """Arrows as one surface for an eye (3,) [m]. reference [N]: the force with an arrow of full length; size [m]: of
    the scene; radius [m]: of shafts."""
    if found is None or reference == 0:
        return []
    share = np.linalg.norm(found.forces, axis=1) / reference
    points, triangles, count = [], [], 0
    for start, force, length in zip(found.points, found.forces, LONGEST * size * np.minimum(share, CUT)):
        if length > SHORTEST * LONGEST * size:
            turn = rotation_matrix(axis_quaternion(force))
            for part_points, part_triangles in _arrow(length, radius):
                points.append(eye + NEAR * (part_points @ turn.T + start - eye))
                triangles.append(part_triangles + count)
                count += len(part_points)
    if not points:
        return []
    return [Surface(np.concatenate(points), np.concatenate(triangles), ARROW_COLOR, smooth=True, shadow=False)]


def _arrow(length: float, radius: float):
    """Shaft and head, points and triangles each, from the origin along z; short arrows are thinner."""
    radius = min(radius, length / (2 * HEAD_LENGTH))
    head = HEAD_LENGTH * radius
    shaft, shaft_triangles = tessellate.cylinder(radius, (length - head) / 2, 12)
    tip, tip_triangles = tessellate.cone(HEAD_RADIUS * radius, head / 2, 16)
    yield shaft + np.array([0, 0, (length - head) / 2]), shaft_triangles
    yield tip + np.array([0, 0, length - head / 2]), tip_triangles
