"""Colours: sRGB and linear light, and colour maps computed from a few control points.

The maps are interpolated in OKLab (B. Ottosson, "A perceptual color space for image processing", 2020), where equal
steps look equal, with a monotone cubic through the control points.
"""

from functools import cache
from typing import NoReturn

import numpy as np

TABLE_SIZE = 256
# Lightness and chroma of the back of a sheet, as shares of those of its front.
BACK_LIGHTNESS, BACK_CHROMA = 0.86, 0.75

# sRGB control points, evenly spaced from the low to the high end of the field.
CONTROL_POINTS = {
    # dark violet, blue, teal, green, warm yellow: lightness rises all the way
    "lagoon": ("#46287a", "#3b60aa", "#1f979f", "#68c46a", "#f7e04b"),
    # near black, purple, red, orange, pale yellow
    "ember": ("#1a1033", "#64226b", "#b93556", "#f0803c", "#fbe9a3"),
    # blue, white, red: for signed fields, white at the middle
    "diverging": ("#1f4e9c", "#7fa9d9", "#f4f3f1", "#e79a84", "#a8212f"),
    "gray": ("#1c1c1e", "#f5f5f2"),
}

_LMS_FROM_RGB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB_FROM_LMS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear_from_srgb(srgb: np.ndarray) -> np.ndarray:
    """Display values in [0, 1] to linear light in [0, 1] (IEC 61966-2-1)."""
    srgb = np.asarray(srgb, dtype=float)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((np.maximum(srgb, 0.04045) + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: np.ndarray) -> np.ndarray:
    """Linear light to display values, both clipped to [0, 1]."""
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)


def srgb_color(color: str | tuple[float, float, float]) -> np.ndarray:
    """A colour given as "#rrggbb" or three display values in [0, 1], as an array (3,)."""
    if isinstance(color, str):
        digits = color.removeprefix("#")
        try:
            value = int(digits, 16) if len(digits) == 6 else _reject(color)
        except ValueError:
            _reject(color)
        return np.array([value >> 16, value >> 8 & 255, value & 255]) / 255
    values = np.asarray(color, dtype=float)
    if values.shape != (3,) or not ((values >= 0) & (values <= 1)).all():
        _reject(color)
    return values


def back_color(color: str | tuple[float, float, float]) -> tuple[float, float, float]:
    """The shade for the back of a sheet of such a colour, display values (3,): its complement, darker and greyer."""
    light, *hue = np.cbrt(linear_from_srgb(srgb_color(color)) @ _LMS_FROM_RGB.T) @ _LAB_FROM_LMS.T
    lab = np.array([BACK_LIGHTNESS * light, *(-BACK_CHROMA * np.array(hue))])
    linear = (lab @ np.linalg.inv(_LAB_FROM_LMS).T) ** 3 @ np.linalg.inv(_LMS_FROM_RGB).T
    return tuple(srgb_from_linear(linear).tolist())


def _reject(color: object) -> NoReturn:
    raise ValueError(f"color: expected '#rrggbb' or three numbers from 0 to 1, got {color!r}")


@cache
def colormap(name: str) -> np.ndarray:
    """The table (256, 3) of a colour map, display values (sRGB) in [0, 1]; its ends are the outer control points."""
    if name not in CONTROL_POINTS:
        raise ValueError(f"colormap: unknown name {name!r}; allowed are {', '.join(CONTROL_POINTS)}")
    controls = np.array([srgb_color(color) for color in CONTROL_POINTS[name]])
    lab = np.cbrt(linear_from_srgb(controls) @ _LMS_FROM_RGB.T) @ _LAB_FROM_LMS.T
    curve = _monotone(lab, np.linspace(0, len(lab) - 1, TABLE_SIZE))
    linear = (curve @ np.linalg.inv(_LAB_FROM_LMS).T) ** 3 @ np.linalg.inv(_LMS_FROM_RGB).T
    table = srgb_from_linear(linear)
    table[0], table[-1] = controls[0], controls[-1]
    table.flags.writeable = False
    return table


def _monotone(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The monotone cubic through values (n, k) at 0, 1, ..., n - 1, at some places (m,).

    Slopes are harmonic means of those of the sides, and 0 at an extremum (F. N. Fritsch, J. Butland, "A method for
    constructing local monotone piecewise cubic interpolants", 1984); at the ends they are those of a parabola, no
    steeper than three times the side.
    """
    sides = np.diff(values, axis=0)
    if len(sides) == 1:
        return values[0] + places[:, None] * sides[0]
    before, after = sides[:-1], sides[1:]
    same = before * after > 0
    inner = np.where(same, 2 * before * after / np.where(same, before + after, 1), 0)
    ends = [_end_slope(sides[0], sides[1]), _end_slope(sides[-1], sides[-2])]
    slopes = np.concatenate([ends[:1], inner, ends[1:]])
    k = np.minimum(places.astype(int), len(sides) - 1)
    s = (places - k)[:, None]
    bend, steep = slopes[k] + slopes[k + 1] - 2 * sides[k], 3 * sides[k] - 2 * slopes[k] - slopes[k + 1]
    return values[k] + s * (slopes[k] + s * (steep + s * bend))


def _end_slope(side: np.ndarray, following: np.ndarray) -> np.ndarray:
    slope = (3 * side - following) / 2
    slope = np.where(slope * side <= 0, 0, slope)
    return np.where((side * following < 0) & (np.abs(slope) > 3 * np.abs(side)), 3 * side, slope)
