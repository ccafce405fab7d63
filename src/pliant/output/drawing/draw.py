"""The flat parts of a picture, drawn over it with Pillow: the colour bar and the caption."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, floor, log10

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pliant.output.drawing.colors import colormap
from pliant.output.drawing.picture import Legend

INK = (38, 44, 52)
PANEL_COLOR = (255, 255, 255)
PANEL_COVER = 184  # of 255
# Sizes below are for a picture 540 pixels high and grow with it.
REFERENCE_HEIGHT = 540
SMALLEST_SCALE = 0.3
TICK_FACTORS = (1, 2, 2.5, 5, 10)
# Pillow's own font has few signs beyond ASCII: raised ones are drawn small, some are spelled in other letters.
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
SPELLED = str.maketrans({"×": "x", "−": "-", "–": "-", "µ": "u", "μ": "u"})


def draw_legend(image: np.ndarray, legend: Legend, limits: tuple[float, float]) -> np.ndarray:
    """The image (h, w, 3) uint8 with the colour bar of `legend` for fields within `limits` at the right side."""
    at = _LegendPlan.of(legend, limits, image.shape[0])
    left, top = image.shape[1] - at.width - at.margin, at.margin
    picture = Image.fromarray(image)
    pen = _panel(picture, (left, top, left + at.width, top + at.height), at.gap)
    x, y = left + at.pad, top + at.pad
    for number, words in enumerate(at.heading):
        _write(pen, (x, y + at.line * number + at.line // 2), words, at.text)
    y += at.heading_height
    _paste_bar(picture, legend.colormap, (x, y, at.bar_width, at.bar_height))
    pen.rectangle((x - 1, y - 1, x + at.bar_width, y + at.bar_height), outline=INK)
    for tick, label in zip(at.ticks, at.labels):
        level = y + (at.bar_height - 1) * (1 - (tick - limits[0]) / (limits[1] - limits[0]))
        pen.line((x + at.bar_width, round(level), x + at.bar_width + at.gap // 2, round(level)), fill=INK, width=1)
        _write(pen, (x + at.bar_width + at.gap, level), label, at.text)
    return np.asarray(picture)


def legend_size(legend: Legend, limits: tuple[float, float], height: int) -> tuple[int, int]:
    """Width and height [pixels] of the upper right corner that a legend takes of a picture of such height, with as much
    room around it as there is to the edges."""
    at = _LegendPlan.of(legend, limits, height)
    return at.width + 2 * at.margin, at.height + 2 * at.margin


@dataclass(frozen=True)
class _LegendPlan:
    """Sizes [pixels] of the parts of a legend, and its words: tick labels and lines above the bar."""

    ticks: np.ndarray
    labels: list[str]
    heading: list[str]
    text: int
    line: int
    bar_width: int
    bar_height: int
    gap: int
    pad: int
    margin: int

    @classmethod
    def of(cls, legend: Legend, limits: tuple[float, float], height: int) -> "_LegendPlan":
        """That of a legend in a picture of such height."""
        scale = max(height / REFERENCE_HEIGHT, SMALLEST_SCALE)
        ticks, exponent = tick_values(*limits)
        heading = [legend.title] * bool(legend.title) + [_power_of_ten(exponent)] * bool(exponent)
        lengths = [round(length * scale) for length in (14, 20, 16, 200, 8, 12, 16)]
        return cls(ticks, tick_labels(ticks, exponent), heading, *lengths)

    @property
    def width(self) -> int:
        columns = [self.bar_width + self.gap + _text_width(label, self.text) for label in self.labels]
        return max(columns + [_text_width(words, self.text) for words in self.heading]) + 2 * self.pad

    @property
    def heading_height(self) -> int:
        return self.line * len(self.heading) + (self.pad // 2) * bool(self.heading)

    @property
    def height(self) -> int:
        return self.heading_height + self.bar_height + 2 * self.pad


def draw_caption(image: np.ndarray, text: str) -> np.ndarray:
    """The image (h, w, 3) uint8 with `text` (one or more lines) in its lower left corner."""
    scale = max(image.shape[0] / REFERENCE_HEIGHT, SMALLEST_SCALE)
    lines, size, line = text.split("\n"), round(17 * scale), round(24 * scale)
    pad, margin = round(8 * scale), round(16 * scale)
    width = max(_text_width(words, size) for words in lines) + 2 * pad + round(6 * scale)
    height = line * len(lines) + pad
    left, top = margin, image.shape[0] - margin - height
    picture = Image.fromarray(image)
    pen = _panel(picture, (left, top, left + width, top + height), round(8 * scale))
    for number, words in enumerate(lines):
        _write(pen, (left + pad + round(3 * scale), top + pad / 2 + line * (number + 0.5)), words, size)
    return np.asarray(picture)


def tick_values(low: float, high: float, wanted: int = 5) -> tuple[np.ndarray, int]:
    """About `wanted` round numbers within [low, high], and the power of ten to take out of their labels (or 0)."""
    rough = (high - low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(factor for factor in TICK_FACTORS if factor * power >= rough * (1 - 1e-9)) * power
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    magnitude = floor(log10(max(abs(low), abs(high))) + 1e-9)
    exponent = 3 * (magnitude // 3) if magnitude >= 4 or magnitude < -2 else 0
    return step * np.arange(first, last + 1), exponent


def tick_labels(ticks: np.ndarray, exponent: int = 0) -> list[str]:
    """The ticks divided by 10**exponent, all with as many decimals as the step between them needs."""
    scaled = np.asarray(ticks) / 10.0**exponent
    step = float(scaled[1] - scaled[0])
    decimals = max(0, -floor(log10(step) + 1e-9))
    if abs(round(step, decimals) - step) > 0.01 * step:  # steps of 2.5 need one more
        decimals += 1
    return [f"{value + 0.0:.{decimals}f}" for value in np.round(scaled, decimals)]


def _power_of_ten(exponent: int) -> str:
    raised = {plain: sign for sign, plain in RAISED.items()}
    return "× 10" + "".join(raised[digit] for digit in str(exponent))


def _runs(text: str) -> list[tuple[str, bool]]:
    """The text in pieces that are all on the line or all raised."""
    runs: list[tuple[str, bool]] = []
    for sign in text.translate(SPELLED):
        raised = sign in RAISED
        sign = RAISED.get(sign, sign)
        if runs and runs[-1][1] == raised:
            runs[-1] = (runs[-1][0] + sign, raised)
        else:
            runs.append((sign, raised))
    return runs


def _run_font(size: int, raised: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return _font(round(0.72 * size) if raised else size)


def _text_width(text: str, size: int) -> int:
    return ceil(sum(_run_font(size, raised).getlength(words) + 1 for words, raised in _runs(text)))


def _write(pen: ImageDraw.ImageDraw, place: tuple[float, float], text: str, size: int) -> None:
    """Text from the left end at `place`, centred on its height."""
    x, y = place
    for words, raised in _runs(text):
        font = _run_font(size, raised)
        pen.text((x, y - (0.36 * size if raised else 0.0)), words, fill=INK, font=font, anchor="lm")
        x += font.getlength(words) + 1


def _paste_bar(picture: Image.Image, name: str, box: tuple[int, int, int, int]) -> None:
    """The colour map as a bar at (left, top) with (width, height), high values on top."""
    left, top, width, height = box
    table = np.round(255 * colormap(name)).astype(np.uint8)
    rows = table[np.round(np.linspace(len(table) - 1, 0, height)).astype(int)]
    picture.paste(Image.fromarray(np.repeat(rows[:, None], width, axis=1)), (left, top))


def _panel(picture: Image.Image, box: tuple[int, int, int, int], radius: int) -> ImageDraw.ImageDraw:
    """A light, see-through panel on the picture; returns the pen that draws on it."""
    picture.paste(PANEL_COLOR, box, _panel_cover(box[2] - box[0], box[3] - box[1], radius))
    return ImageDraw.Draw(picture)


@lru_cache(maxsize=8)
def _panel_cover(width: int, height: int, radius: int) -> Image.Image:
    """How much of the picture a panel hides: a rectangle with round corners."""
    cover = Image.new("L", (2 * width, 2 * height), 0)
    ImageDraw.Draw(cover).rounded_rectangle((0, 0, 2 * width - 1, 2 * height - 1), 2 * radius, fill=PANEL_COVER)
    return cover.resize((width, height), Image.Resampling.BOX)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(6, size))
