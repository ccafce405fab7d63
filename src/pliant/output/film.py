"""Pictures and films on disk: .png for one image, .webp or .gif for many."""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from pliant.files import write_atomically

FILM_SUFFIXES = (".webp", ".gif")
WEBP_QUALITY = 80
# A GIF counts time in hundredths of a second, and viewers slow down what is faster than two of them.
GIF_TICK_MS = 10
GIF_FASTEST = 50
# How many frames the common palette of a GIF looks at.
PALETTE_FRAMES = 8


def save_png(path: str | os.PathLike, image: np.ndarray) -> None:
    """Write an image (h, w, 3) uint8 as .png."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise ValueError(f"{path}: a picture is written as .png, not {path.suffix or 'without a suffix'!r}")
    with write_atomically(path) as temporary:
        Image.fromarray(_checked_image(image)).save(temporary, format="PNG", optimize=False)


class Film:
    """Collects frames and writes them as an animation that repeats for ever.

    `path` ends in .webp (small, true colours) or .gif (256 colours, opens everywhere); `fps` is frames per second.
    Frames wait in memory, losslessly compressed. As a context manager it saves at the end of the block.
    """

    def __init__(self, path: str | os.PathLike, fps: float = 30.0):
        self.path = Path(path)
        self.fps = float(fps)
        suffix = self.path.suffix.lower()
        if suffix not in FILM_SUFFIXES:
            raise ValueError(f"{self.path}: unknown kind of film {suffix!r}; allowed are {', '.join(FILM_SUFFIXES)}")
        fastest = GIF_FASTEST if suffix == ".gif" else 1000
        if not 0 < self.fps <= fastest:
            raise ValueError(f"{self.path}: fps must lie above 0 and up to {fastest} for {suffix}, got {fps}")
        self._shape: tuple[int, ...] = ()
        self._frames: list[bytes] = []

    def __len__(self) -> int:
        return len(self._frames)

    def __enter__(self) -> "Film":
        return self

    def __exit__(self, error_type, *_) -> None:
        if error_type is None:
            self.save()

    def add(self, frame: np.ndarray) -> None:
        """Append a frame (h, w, 3) uint8; all have the same size."""
        frame = _checked_image(frame)
        if self._frames and frame.shape != self._shape:
            raise ValueError(f"{self.path}: frame {len(self)} has shape {frame.shape}, those before {self._shape}")
        self._shape = frame.shape
        self._frames.append(zlib.compress(frame.tobytes(), 1))

    def save(self) -> None:
        """Write the file (again, when frames came since)."""
        if not self._frames:
            raise ValueError(f"{self.path}: a film needs at least one frame")
        gif = self.path.suffix.lower() == ".gif"
        first, *others = self._gif_frames() if gif else self._images(range(len(self)))
        options = {"format": "GIF"} if gif else {"format": "WEBP", "quality": WEBP_QUALITY, "method": 3}
        with write_atomically(self.path) as temporary:
            first.save(temporary, save_all=True, append_images=others, duration=self.durations_ms(), loop=0, **options)

    def durations_ms(self) -> list[int]:
        """How long each frame stays [ms]: whole ticks of the format whose sum follows the true time."""
        tick = GIF_TICK_MS if self.path.suffix.lower() == ".gif" else 1
        ends = np.round(np.arange(len(self) + 1) * 1000 / self.fps / tick).astype(int) * tick
        return np.diff(ends).tolist()

    def _images(self, numbers) -> Iterator[Image.Image]:
        for number in numbers:
            raw = zlib.decompress(self._frames[number])
            yield Image.frombytes("RGB", (self._shape[1], self._shape[0]), raw)

    def _gif_frames(self) -> Iterator[Image.Image]:
        """Frames with 256 colours from one palette, so that nothing flickers."""
        numbers = np.unique(np.linspace(0, len(self) - 1, PALETTE_FRAMES).astype(int))
        looked_at = np.concatenate([np.asarray(image)[::2, ::2] for image in self._images(numbers)])
        palette = Image.fromarray(looked_at).quantize(256, method=Image.Quantize.MEDIANCUT)
        for image in self._images(range(len(self))):
            yield image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)


def _checked_image(image: np.ndarray) -> np.ndarray:
    image = np.ascontiguousarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"image: expected (height, width, 3) uint8, got {image.shape} {image.dtype}")
    return image
