"""Recording a run: films, series of grids, and pictures of its end."""

import os
from collections.abc import Sequence
from pathlib import Path

from pliant.checks import file_path, instance, number, refusal
from pliant.errors import FileError, SceneError
from pliant.files import check_writable
from pliant.output.film import FILM_SUFFIXES, GIF_FASTEST, Film, save_png
from pliant.output.looks import checked_size
from pliant.output.save import append_state, save
from pliant.output.scene_view import SIZE, SceneView, Shot, as_camera
from pliant.output.vtu import PvdSeries
from pliant.simulation import Simulation

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
    Before the first frame it makes sure that every file can be written.
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
        instance(sim, "sim", Simulation, "a pliant.Simulation")
        self.sim, self.folder, self.camera, self.size = sim, file_path(folder, "folder"), camera, checked_size(size)
        self.paths = _checked_paths(self.folder, names)
        fastest = GIF_FASTEST if any(path.suffix == ".gif" for path in self.paths) else 1000
        wanted = min(number(frames_per_second, "frames_per_second", low=0, open_low=True), fastest)
        self.every = max(1, round(min(1 / (wanted * sim.dt), 1e15)))
        if self.every * sim.dt * fastest < 1 - 1e-9:
            self.every += 1
        self.frames_per_second = 1 / (self.every * sim.dt)
        self.view = SceneView(sim, color, joints, contacts)
        as_camera(self.view, [self.view.shot()], camera, self.size)
        self.shots: list[Shot] = []
        self._series = [PvdSeries(path) for path in self.paths if path.suffix == ".pvd"]
        self._first_step, self._last_step = sim.state.step, None
        self.written: list[Path] = []
        self._opened = self._closed = False

    def __enter__(self) -> "Recorder":
        self.frame()
        return self

    def __exit__(self, error_type, *_) -> None:
        self.close()

    def frame(self) -> None:
        """Record the present state, if its turn has come; to be called before the first and after every step."""
        if self._closed:
            raise SceneError("the recording has ended and its files are written: make another Recorder for more frames")
        if not self._opened:
            self.open()
        step = self.sim.state.step
        if step == self._last_step or (step - self._first_step) % self.every:
            return
        self._record()

    def open(self) -> None:
        """Make the folder, and see that every file can be written: FileError before anything is computed."""
        for path in self.paths:
            check_writable(path)
        self._opened = True

    def _record(self) -> None:
        self._last_step = self.sim.state.step
        if any(path.suffix in FILM_SUFFIXES for path in self.paths):
            self.shots.append(self.view.shot())
        for series in self._series:
            append_state(series, self.sim)

    def close(self, progress=lambda shots: shots) -> list[Path]:
        """Write pictures and films; returns all files written. progress: wraps the shots as they are drawn.

        What can be written is: a file that cannot does not keep the others from being tried, and all that failed are in
        the FileError at the end. Films, which take longest, come last.
        """
        self._closed, self.written = True, [series.path for series in self._series if series.times]
        failed: list[str] = []
        quick = {".vtu": lambda path: save(self.sim, path), ".png": self._draw_last}
        for path in self.paths:
            if path.suffix in quick:
                self._try(path, quick[path.suffix], failed)
        films = [path for path in self.paths if path.suffix in FILM_SUFFIXES]
        if films and self.shots:
            self._draw_films(films, progress, failed)
        if failed:
            raise FileError("\n".join(failed))
        return self.written

    def _try(self, path: Path, write, failed: list[str]) -> None:
        """Write one file; what keeps it from being written is noted."""
        try:
            write(path)
            self.written.append(path)
        except FileError as error:
            failed.append(str(error))

    def _draw_films(self, paths: list[Path], progress, failed: list[str]) -> None:
        films = [Film(path, self.frames_per_second) for path in paths]
        camera, limits = as_camera(self.view, self.shots, self.camera, self.size), self.view.limits(self.shots)
        for shot in progress(self.shots):
            image = self.view.draw(shot, camera, limits, self.size)
            for film in films:
                film.add(image)
        for film in films:
            self._try(film.path, lambda path, film=film: film.save(), failed)

    def _draw_last(self, path: Path) -> None:
        """The last state, seen as in the film when there is one."""
        last = self.view.shot()
        shots = [*self.shots, last]
        camera = as_camera(self.view, shots, self.camera, self.size)
        save_png(path, self.view.draw(last, camera, self.view.limits(shots), self.size))


def _checked_paths(folder: Path, names: Sequence[str]) -> list[Path]:
    """The files of a recording in its folder."""
    if not isinstance(names, list | tuple):
        raise refusal("names", "a list of file names", names)
    paths = []
    for name in names:
        plain = isinstance(name, str) and "\0" not in name and Path(name).name == name
        if not plain or Path(name).suffix not in SUFFIXES or Path(name).stem == name:
            raise refusal("a recording's file name", f"a plain one with one of {', '.join(SUFFIXES)}", name)
        if folder / name in paths:
            raise refusal("names", "different file names", names)
        paths.append(folder / name)
    return paths
