"""What a worker is asked that takes no step: what there is to choose from, files, selections, meshes, modes."""

import json
from pathlib import Path
from typing import Any

from pliant.errors import PliantError
from pliant.studio import studies
from pliant.studio.messages import pack


class Inquiries:
    """Of a worker: `file`, the scene that it has built, its `geometry`, its `folder`, `send` and `reset`."""

    def catalogue(self) -> dict[str, Any]:
        """What there is to choose from."""
        from pliant.studio.catalogue import catalogue

        return catalogue()

    def parse(self, file: str) -> dict[str, Any]:
        """The tables of a scene file; what JSON cannot say of them, such as dates, no scene file can hold."""
        from pliant import scene_file

        tables = scene_file.parse(Path(file))
        try:
            json.dumps(tables, allow_nan=False)
        except (TypeError, ValueError):
            scene_file.from_tables(tables, Path(file).parent, file)
            raise PliantError(f"{file}: the file holds values that no scene has") from None
        return tables

    def quality(self, body: str) -> dict[str, Any]:
        """How good the mesh of a soft body is, and its worst tets."""
        return studies.quality(self.file.scene.find(body))

    def select(self, body: str, what: str, selection: Any) -> list[int]:
        """The numbers of the nodes or faces that a selection picks."""
        return studies.select(self.file.scene.find(body), what, selection)

    def nodes(self, body: str) -> int:
        """Send the places of all nodes of a soft body at the start; how many there are."""
        import numpy as np

        points = np.ascontiguousarray(studies.nodes_of(self.file.scene.find(body)), np.float32)
        self.send(pack({"kind": "nodes", "revision": self.geometry.revision, "body": body}, [points]))
        return len(points)

    def rod_point(self, rod: str, point: list) -> dict[str, Any]:
        """The point of a rod that is nearest to a place at the start [m]."""
        return studies.rod_point(self.file.scene.find(rod), point)

    def curve(self, material: dict) -> dict[str, Any]:
        """Stress over stretch of a material."""
        return studies.curve(material)

    def modes(self, count: int) -> list[float]:
        """The lowest natural frequencies [Hz]."""
        self.reset()
        self.send(pack({"kind": "phase", "phase": "building"}))
        self.natural = self.file.scene.modes(count)
        return [float(frequency) for frequency in self.natural.frequencies]

    def mode(self, number: int) -> None:
        """Send a mode, which the page moves to and fro."""
        if self.natural is None:
            raise PliantError("no modes have been computed; ask for some first")
        sim = self.file.scene.simulate(dt=1.0)
        self.natural.displace(sim, number)
        frequency = float(self.natural.frequencies[number])
        self.send(self.geometry.mode(sim, {"number": number, "frequency": frequency}))

    def python(self) -> str:
        """The scene as a script."""
        from pliant.studio.python_text import python_text

        return python_text(self.file, self.folder)
