"""Time series (.pvd) of grids (.vtu), as ParaView reads them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.files import write_atomically
from pliant.meshes.vtu_write import Cells, Fields, write_vtu


class PvdSeries:
    """A time series of grids: `NAME.pvd` lists the files in the sibling folder `NAME_frames/`.

    The list is rewritten after every grid, so whatever stops the program, what was written can be opened.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        if self.path.suffix != ".pvd":
            raise ValueError(f"{self.path}: a time series is a .pvd file")
        self.folder = self.path.with_name(self.path.stem + "_frames")
        self.times: list[float] = []
        self._parts: list[str] = []
        self._written_now: set[str] = set()
        self._entries: list[str] = []

    def append(
        self,
        time: float,
        points: np.ndarray,
        cells: Cells,
        point_data: Fields | None = None,
        cell_data: Fields | None = None,
        *,
        part: str = "",
    ) -> Path:
        """Write one part at `time` [s] (arguments as `write_vtu`) and list it; returns the .vtu path.

        Times may not decrease; parts with the same time belong to one step and need different names.
        """
        self._begin(float(time), part)
        file = self.folder / f"{self.path.stem}_{len(self.times) - 1:06d}{_file_label(part, self._parts)}.vtu"
        write_vtu(file, points, cells, point_data, cell_data)
        self._written_now.add(part)
        self._entries.append(
            f'<DataSet timestep="{self.times[-1]!r}" group="" part="{self._parts.index(part)}" '
            f"name={quoteattr(part)} file={quoteattr(f'{self.folder.name}/{file.name}')}/>\n"
        )
        self._write_list()
        return file

    def _begin(self, time: float, part: str) -> None:
        if not np.isfinite(time):
            raise ValueError(f"{self.path}: time {time} is not a finite number")
        if self.times and time < self.times[-1]:
            raise ValueError(f"{self.path}: time {time} s comes after {self.times[-1]} s; times may not decrease")
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self._written_now.clear()
        elif part in self._written_now:
            raise ValueError(f"{self.path}: part {part!r} is already written at time {time} s")
        if part not in self._parts:
            self._parts.append(part)

    def _write_list(self) -> None:
        head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n'
        text = f"{head}<Collection>\n{''.join(self._entries)}</Collection>\n</VTKFile>\n"
        with write_atomically(self.path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _file_label(part: str, parts: Sequence[str]) -> str:
    """What a part adds to its file name: nothing when unnamed, else its safe characters (and number, if changed)."""
    if not part:
        return ""
    safe = re.sub(r"[^A-Za-z0-9-]", "_", part)
    return f"_{safe}" if safe == part else f"_{safe}_{parts.index(part)}"
