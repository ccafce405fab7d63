"""Frames kept of a run, to go back through and to make a film of; pictures and films as pliant draws them."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.output.film import Film, save_png
from pliant.output.looks import eye_and_target
from pliant.output.scene_view import SceneView
from pliant.studio.geometry import NO_COLOR, Moment, SceneGeometry

FRAMES_PER_SECOND = 25.0
MOST_BYTES = 256 * 2**20
"""How much memory the frames kept may take; then no more are kept, and the page is told."""

SIZE = (960, 540)

COLOR_SHARE = 0.02
"""The part of its time that a run spends on colours of frames that are kept; those between are interpolated."""


class Recording:
    """Moments of a simulation, FRAMES_PER_SECOND of them for a second of simulated time."""

    def __init__(self, sim, geometry: SceneGeometry, color: str):
        self.sim, self.geometry, self.color = sim, geometry, color
        self.view = SceneView(sim, color)
        self.shots: list[Moment] = []
        self.bytes, self.full, self.next_colors = 0, False, 0.0

    def keep(self) -> None:
        """Keep the present state, if it is time for it and there is room."""
        if self.full or self.sim.time < len(self.shots) / FRAMES_PER_SECOND - 1e-9:
            return
        shot = self._take()
        self.full = self.bytes + shot.bytes > MOST_BYTES
        if not self.full:
            self.shots.append(shot)
            self.bytes += shot.bytes

    @property
    def numbers(self) -> dict[str, Any]:
        """How many frames are kept, in how much memory and of how much [MiB], and whether there is no more room."""
        memory = [round(self.bytes / 2**20, 2), MOST_BYTES >> 20]
        return {"kept": len(self.shots), "memory": memory, "full": self.full}

    def _take(self) -> Moment:
        """The present moment; with colours as often as they take no more than their share of the time."""
        if self.color == NO_COLOR or perf_counter() < self.next_colors:
            return self.geometry.take(self.sim, NO_COLOR)
        began = thread_time()
        shot = self.geometry.take(self.sim, self.color)
        self.next_colors = perf_counter() + (thread_time() - began) / COLOR_SHARE
        return shot

    def shot(self, index: int) -> Moment:
        """A moment that was kept; colours that it lacks are those between its neighbours, linear in time."""
        index = max(0, min(index, len(self.shots) - 1))
        shot, known = self.shots[index], [k for k, each in enumerate(self.shots) if each.values is not None]
        if shot.values is not None or not known:
            return shot
        place = int(np.searchsorted(known, index))
        first, last = self.shots[known[max(place - 1, 0)]], self.shots[known[min(place, len(known) - 1)]]
        share = np.float32((shot.time - first.time) / (last.time - first.time)) if first is not last else np.float32(0)
        return replace(shot, values=[(1 - share) * a + share * b for a, b in zip(first.values, last.values)])

    def paint(self, color: str) -> None:
        """Colour what is kept from now on by another field; what was kept of the former one has no values of it."""
        if color != self.color:
            self.color, self.view = color, SceneView(self.sim, color)
            self.shots = [shot.plain() for shot in self.shots]

    def film(self, path: Path, camera: dict[str, Any] | None) -> int:
        """Write a film of what was kept; how many frames it has."""
        if not self.shots:
            raise SceneError("there is nothing to film yet; play first")
        painted = any(shot.values is not None for shot in self.shots)
        view = self.view if painted else SceneView(self.sim, "none")
        shots = [self.geometry.dressed(self.shot(index)) for index in range(len(self.shots))]
        eye = view.camera(shots, **look(camera))
        limits = view.limits(shots)
        film = Film(path, FRAMES_PER_SECOND)
        for shot in shots:
            film.add(view.draw(shot, eye, limits, SIZE))
        film.save()
        return len(shots)


def picture(sim, path: Path, color: str, camera: dict[str, Any] | None) -> None:
    """Write a picture of a simulation as it is now."""
    view = SceneView(sim, color)
    shot = view.shot()
    save_png(path, view.draw(shot, view.camera([shot], **look(camera)), view.limits([shot]), SIZE))


def look(camera: dict[str, Any] | None) -> dict[str, Any]:
    """Where the camera of a page stands and looks [m]; nothing to see it all."""
    return dict(zip(("eye", "target"), eye_and_target(camera)))
