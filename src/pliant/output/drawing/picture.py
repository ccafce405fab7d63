"""What a picture shows: surfaces, ground, light and legend. Plain geometry in metres (z up); no engine needed."""

from dataclasses import dataclass, field

import numpy as np

from pliant.output.drawing.colors import colormap, srgb_color

Color = str | tuple[float, float, float]


@dataclass
class Surface:
    """A triangulated surface, seen from both sides.

    `points` (n, 3) [m], `triangles` (k, 3). It has one `color` ("#rrggbb" or three display values from 0 to 1), or a
    scalar `field` per point (n,) or per triangle (k,) that the picture's colour map turns into colours (per point, when
    n = k). `back` is the colour of what is seen from behind, where corners turn clockwise; None: that of the front. A
    field is on both sides. `smooth` rounds the shading by averaged normals, `edges` draws the mesh as thin dark lines,
    `shadow` lets it cast one.
    """

    points: np.ndarray
    triangles: np.ndarray
    color: Color = "#8d99a6"
    field: np.ndarray | None = None
    smooth: bool = False
    edges: bool = False
    shadow: bool = True
    back: Color | None = None

    def __post_init__(self):
        self.points = np.ascontiguousarray(self.points, dtype=np.float64)
        self.triangles = np.asarray(self.triangles)
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise ValueError(f"surface points: expected shape (n, 3), got {self.points.shape}")
        finite = np.isfinite(self.points).all(axis=1)
        if not finite.all():
            raise ValueError(f"surface points: point {int(np.argmin(finite))} is not finite")
        if self.triangles.ndim != 2 or self.triangles.shape[1] != 3:
            raise ValueError(f"surface triangles: expected shape (k, 3), got {self.triangles.shape}")
        count = len(self.points)
        if self.triangles.size and (
            self.triangles.dtype.kind not in "iu" or self.triangles.min() < 0 or self.triangles.max() >= count
        ):
            raise ValueError(f"surface triangles: expected whole node numbers from 0 to {count - 1}")
        self.triangles = np.ascontiguousarray(self.triangles, dtype=np.int64)
        srgb_color(self.color)
        if self.back is not None:
            srgb_color(self.back)
        if self.field is not None:
            self.field = self._checked_field(np.asarray(self.field, dtype=np.float64))

    def _checked_field(self, values: np.ndarray) -> np.ndarray:
        if values.shape not in ((len(self.points),), (len(self.triangles),)):
            raise ValueError(
                f"surface field: expected one number per point ({len(self.points)}) or per triangle "
                f"({len(self.triangles)}), got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"surface field: entry {int(np.argmin(np.isfinite(values)))} is not finite")
        return values

    def corner_field(self) -> np.ndarray:
        """The field at the corners of every triangle (k, 3)."""
        if len(self.field) == len(self.points):
            return self.field[self.triangles]
        return np.repeat(self.field[:, None], 3, axis=1)


@dataclass(frozen=True)
class Ground:
    """A horizontal checkerboard at `height` [m] with squares of `checker` [m], fading into the background.

    `fade` [m] is the distance at which it is mostly gone; None takes it from the camera. From below it is invisible.
    """

    height: float = 0.0
    checker: float = 0.25
    colors: tuple[Color, Color] = ("#cfd4d8", "#e3e6e8")
    fade: float | None = None

    def __post_init__(self):
        if not self.checker > 0 or (self.fade is not None and not self.fade > 0):
            raise ValueError(f"ground: checker {self.checker} m and fade {self.fade} m must be positive")


@dataclass(frozen=True)
class Light:
    """A key light from far away with shadows, and soft light from all around.

    `direction` points to the key light. Strengths are in linear light: a white wall that faces the key light shows
    about `key + ambient`. `shadows` may be switched off; `gloss` is the strength of the highlight.
    """

    direction: tuple[float, float, float] = (-0.45, -0.55, 1.0)
    key: float = 0.72
    ambient: float = 0.42
    gloss: float = 0.10
    shadows: bool = True
    toward: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        direction = np.asarray(self.direction, dtype=float)
        length = np.linalg.norm(direction)
        if direction.shape != (3,) or not np.isfinite(length) or length == 0:
            raise ValueError(f"light direction: expected a vector that is not zero, got {self.direction}")
        object.__setattr__(self, "toward", direction / length)


@dataclass(frozen=True)
class Legend:
    """The colour bar: `title` (with its unit), the range of the fields (None: from the data) and the colour map."""

    title: str = ""
    vmin: float | None = None
    vmax: float | None = None
    colormap: str = "lagoon"
    visible: bool = True

    def __post_init__(self):
        colormap(self.colormap)
        if self.vmin is not None and self.vmax is not None and not self.vmin < self.vmax:
            raise ValueError(f"legend: vmin {self.vmin} must be less than vmax {self.vmax}")

    def range_of(self, surfaces: list[Surface]) -> tuple[float, float]:
        """The ends of the colour map: as given, else the smallest and largest field value of all surfaces."""
        fields = [surface.field for surface in surfaces if surface.field is not None and len(surface.field)]
        low = self.vmin if self.vmin is not None else min((float(f.min()) for f in fields), default=0.0)
        high = self.vmax if self.vmax is not None else max((float(f.max()) for f in fields), default=1.0)
        return (low, high) if low < high else (low, low + max(abs(low), 1.0) * 1e-6)
