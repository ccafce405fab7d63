"""A pinhole camera in the world (z up, metres)."""

from dataclasses import dataclass
from math import radians, tan

import numpy as np


@dataclass(frozen=True)
class Camera:
    """Looks from `eye` [m] to `target` [m]; `up` is upward in the picture; the angle of view is the vertical one."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    field_of_view_degrees: float = 30.0

    def __post_init__(self):
        for name in ("eye", "target", "up"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise ValueError(f"camera {name}: expected three finite numbers, got {getattr(self, name)}")
            object.__setattr__(self, name, tuple(map(float, value)))
        if not 0 < self.field_of_view_degrees < 180:
            raise ValueError(f"field_of_view_degrees: must lie between 0 and 180, got {self.field_of_view_degrees}")
        if self.distance == 0:
            raise ValueError(f"camera eye and target are the same point {self.eye}")

    @property
    def distance(self) -> float:
        """From eye to target [m]."""
        return float(np.linalg.norm(np.subtract(self.target, self.eye)))

    @property
    def axes(self) -> np.ndarray:
        """Unit vectors (3, 3) in the world: the rows point right, up and forward in the picture."""
        forward = np.subtract(self.target, self.eye) / self.distance
        right = np.cross(forward, self.up)
        if np.linalg.norm(right) < 1e-9 * max(1e-300, float(np.linalg.norm(self.up))):  # looking along up
            right = np.cross(forward, np.eye(3)[np.argmin(np.abs(forward))])
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(right, forward), forward])

    def focal_length(self, height: float) -> float:
        """Distance of the picture plane, in the unit of `height` (pixels)."""
        return height / 2 / tan(radians(self.field_of_view_degrees) / 2)

    @classmethod
    def framing(
        cls,
        points: np.ndarray,
        direction: tuple[float, float, float] = (1.0, -1.8, 0.8),
        *,
        field_of_view_degrees: float = 30.0,
        aspect: float = 16 / 9,
        margin: float = 0.1,
        right: float = 0.0,
        top: float = 0.0,
    ) -> "Camera":
        """The camera that just sees the bounding box of `points` (n, 3) [m], standing off along `direction`.

        `aspect` is width over height of the picture; `margin` is the share of it left free around the box; `right` and
        `top`, the shares of width and height at these sides that are kept free of it.
        """
        points = np.asarray(points, dtype=float).reshape(-1, 3)
        if not len(points) or not np.isfinite(points).all():
            raise ValueError("framing: at least one point is needed, and all must be finite")
        low, high = points.min(axis=0), points.max(axis=0)
        size = max(float(np.linalg.norm(high - low)), 1e-6)
        corners = low + (high - low) * np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
        centre = (low + high) / 2
        direction = np.asarray(direction, dtype=float)
        toward_eye = direction / np.linalg.norm(direction)
        axes = cls(tuple(centre + toward_eye), tuple(centre)).axes
        # where the box may be seen: slopes to the left and down, to the right and up
        slope = tan(radians(field_of_view_degrees) / 2) * np.array([aspect, 1.0])
        least, most = -slope * (1 - margin), slope * np.minimum(1 - margin, 1 - 2 * np.array([right, top]))
        # beside - shift is to lie between least and most times distance + depth: stand off just far enough
        beside, depth = np.split(axes @ (corners - centre).T, [2])
        highest, lowest = (beside - np.outer(most, depth)).max(axis=1), (beside - np.outer(least, depth)).min(axis=1)
        eye_distance = max(float(((highest - lowest) / (most - least)).max()), 0.02 * size)
        shift = np.zeros(2)
        for _ in range(6):  # then leave as much room on one side as on the other
            seen = (beside - shift[:, None]) / (eye_distance + depth)
            shift += 0.5 * eye_distance * (seen.max(axis=1) + seen.min(axis=1) - most - least)
            shift = np.clip(shift, highest - eye_distance * most, lowest - eye_distance * least)
        centre = centre + shift @ axes[:2]
        return cls(
            tuple(centre + toward_eye * eye_distance),
            tuple(centre),
            field_of_view_degrees=field_of_view_degrees,
        )
