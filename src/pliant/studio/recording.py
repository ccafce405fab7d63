"""Frames kept of a run, to go back through and to make a film of; pictures and films as pliant draws them."""

from pathlib import Path
from typing import Any

from pliant.errors import SceneError
from pliant.output.film import Film, save_png
from pliant.output.scene_view import SceneView, Shot, eye_and_target
from pliant.studio.geometry import SceneGeometry

FRAMES_PER_SECOND = 25.0
MOST_BYTES = 256 * 2**20
"""How much memory the frames kept may take; then no more are kept, and the page is told."""

SIZE = (960, 540)


class Recording:
    """Shots of a simulation, FRAMES_PER_SECOND of them for a second of simulated time."""

    def __init__(self, sim, geometry: SceneGeometry, color: str):
        self.sim, self.geometry, self.color = sim, geometry, color
        self.view = SceneView(sim, color)
        self.shots: list[Shot] = []
        self.bytes, self.full = 0, False

    def keep(self) -> None:
        """Keep the present state, if it is time for it and there is room."""
        if self.full or self.sim.time < len(self.shots) / FRAMES_PER_SECOND - 1e-9:
            return
        shot = self.geometry.take(self.sim, self.color)
        size = sum(array.nbytes for array in (*shot.points, *shot.tubes, *(shot.values or ()))) + 200 * len(shot.poses)
        self.full = self.bytes + size > MOST_BYTES
        if not self.full:
            self.shots.append(shot)
            self.bytes += size

    def paint(self, color: str) -> None:
        """Colour what is kept from now on by another field; what was kept of the former one has no values of it."""
        if color != self.color:
            self.color, self.view = color, SceneView(self.sim, color)
            self.shots = [self._plain(shot) for shot in self.shots]

    def _plain(self, shot: Shot) -> Shot:
        return Shot(shot.time, shot.points, None, shot.poses, shot.tubes, shot.strokes)

    def film(self, path: Path, camera: dict[str, Any] | None) -> int:
        """Write a film of what was kept; how many frames it has."""
        if not self.shots:
            raise SceneError("there is nothing to film yet; play first")
        painted = all(shot.values is not None for shot in self.shots)
        view = self.view if painted else SceneView(self.sim, "none")
        shots = self.shots if painted else [self._plain(shot) for shot in self.shots]
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
