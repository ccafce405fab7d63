"""Recording a run: films, series of grids, and pictures of its end."""

import os
from collections.abc import Sequence
from pathlib import Path

from pliant.errors import SceneError
from pliant.output.film import FILM_SUFFIXES, GIF_FASTEST, Film, save_png
from pliant.output.save import append_state, save
from pliant.output.scene_view import SIZE, SceneView, Shot, as_camera
from pliant.output.vtu import PvdSeries

SUFFIXES = (".pvd", ".vtu", ".png", *FILM_SUFFIXES)


class Recorder:
    """Records a simulation into files of one folder, at about `frames_per_second` of simulated time.

    names: "NAME.webp" or "NAME.gif" (film in real time), "NAME.pvd" (series for ParaView), "NAME.png" and "NAME.vtu"
    (the last state). color, camera, joints, contacts: as in `scene_view.picture`; size: (width, height) of pictures in
    pixels.

        with pliant.Recorder(sim, "out", ["drop.webp", "drop.pvd"]) as recorder:
            for _ in sim.run(seconds=2):
                recorder.frame()

    Series are written as the simulation goes; films and pictures at the end of the block, also when an error ends it.
    """

    def __init__(
        self,
        sim,
        folder: str | os.PathLike,
        names: Sequence[str],
        frames_per_second: float = 30.0,
        *,
        color: str = "displacement",
        camera=None,
        size: tuple[int, int] = SIZE,
        joints: bool = False,
        contacts: bool = False,
    ):
        self.sim, self.folder, self.camera, self.size = sim, Path(folder), camera, size
        self.paths = [self.folder / _checked_name(name) for name in names]
        fastest = GIF_FASTEST if any(path.suffix == ".gif" for path in self.paths) else 1000
        wanted = min(float(frames_per_second), fastest)
        if not wanted > 0:
            raise SceneError(f"frames_per_second must be above 0, got {frames_per_second!r}")
        self.every = max(1, round(1 / (wanted * sim.dt)))
        if self.every * sim.dt * fastest < 1 - 1e-9:
            self.every += 1
        self.frames_per_second = 1 / (self.every * sim.dt)
        self.view = SceneView(sim, color, joints, contacts)
        self.shots: list[Shot] = []
        self._series = [PvdSeries(path) for path in self.paths if path.suffix == ".pvd"]
        self._first_step, self._last_step = sim.state.step, None
        self.written: list[Path] = []

    def __enter__(self) -> "Recorder":
        self.frame()
        return self

    def __exit__(self, error_type, *_) -> None:
        self.close()

    def frame(self) -> None:
        """Record the present state, if its turn has come; to be called after every step."""
        step = self.sim.state.step
        if step == self._last_step or (step - self._first_step) % self.every:
            return
        self._record()

    def _record(self) -> None:
        self._last_step = self.sim.state.step
        if any(path.suffix in FILM_SUFFIXES for path in self.paths):
            self.shots.append(self.view.shot())
        for series in self._series:
            append_state(series, self.sim)

    def close(self, progress=lambda shots: shots) -> list[Path]:
        """Write films and pictures; returns all files written. progress: wraps the shots as they are drawn."""
        self.written = [series.path for series in self._series if series.times]
        films = [path for path in self.paths if path.suffix in FILM_SUFFIXES]
        if films and self.shots:
            self._draw_films(films, progress)
        for path in self.paths:
            if path.suffix == ".vtu":
                save(self.sim, path)
                self.written.append(path)
            elif path.suffix == ".png":
                self._draw_last(path)
        return self.written

    def _draw_films(self, paths: list[Path], progress) -> None:
        films = [Film(path, self.frames_per_second) for path in paths]
        camera, limits = as_camera(self.view, self.shots, self.camera, self.size), self.view.limits(self.shots)
        for shot in progress(self.shots):
            image = self.view.draw(shot, camera, limits, self.size)
            for film in films:
                film.add(image)
        for film in films:
            film.save()
        self.written += paths

    def _draw_last(self, path: Path) -> None:
        """The last state, seen as in the film when there is one."""
        last = self.view.shot()
        shots = [*self.shots, last]
        camera = as_camera(self.view, shots, self.camera, self.size)
        save_png(path, self.view.draw(last, camera, self.view.limits(shots), self.size))
        self.written.append(path)


def _checked_name(name: str) -> str:
    if Path(name).name != name or Path(name).suffix not in SUFFIXES or Path(name).stem == name:
        raise SceneError(f"a recording needs a plain file name with one of {', '.join(SUFFIXES)}, got {name!r}")
    return name
