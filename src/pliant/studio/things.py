"""What the menu Add of the studio offers: bodies as tables of a scene file, which a person then changes."""

from typing import Any

RUBBER = {"law": "stable_neohookean", "young": 5e5, "poisson": 0.45, "density": 1000.0, "damping": 0.01}
FABRIC = {"law": "stvk", "young": 2e5, "poisson": 0.3, "density": 300.0, "damping": 0.01}
WIRE = {"law": "linear", "young": 1e8, "poisson": 0.3, "density": 1500.0, "damping": 0.01}
SHEET = {"thickness": 1e-3, "material": FABRIC}


def _soft(name: str, mesh: dict, position: list[float]) -> dict[str, Any]:
    return {"name": name, "mesh": mesh, "position": position, "material": RUBBER}


def _rigid(name: str, **shape: Any) -> dict[str, Any]:
    return {"name": name, "shape": shape, "density": 1000.0, "position": [0.0, 0.0, 1.5]}


ROD_POINTS = [[0.0, 0.0, 1.4], [0.5, 0.0, 1.4], [1.0, 0.0, 1.4]]
THINGS: list[tuple[str, str, dict[str, Any]]] = [
    ("Soft box", "soft", _soft("soft box", {"box": [0.4, 0.4, 0.4], "cells": [4, 4, 4]}, [-0.2, -0.2, 0.5])),
    ("Soft beam", "soft", _soft("beam", {"box": [1.0, 0.2, 0.2], "cells": [10, 2, 2]}, [0.0, -0.1, 1.0])),
    ("Soft ball", "soft", _soft("soft ball", {"sphere": 0.25, "cells": 3}, [0.0, 0.0, 0.8])),
    (
        *("Soft cylinder", "soft"),
        _soft("soft cylinder", {"cylinder": {"radius": 0.2, "height": 0.5}, "cells": [3, 4]}, [0.0, 0.0, 0.5]),
    ),
    (
        *("Sheet", "cloth"),
        {"name": "sheet", "mesh": {"grid": [1.0, 1.0], "cells": [12, 12]}, "position": [-0.5, -0.5, 1.0]} | SHEET,
    ),
    (
        "Round sheet",
        "cloth",
        {"name": "round sheet", "mesh": {"disk": 0.5, "cells": 6}, "position": [0.0, 0.0, 1.0]} | SHEET,
    ),
    (
        *("Rod", "rod"),
        {"name": "rod", "points": ROD_POINTS, "segments": 8, "radius": 0.01, "material": WIRE, "clamp": [{"point": 0}]},
    ),
    ("Floor", "rigid", {"name": "floor", "shape": {"plane": [0.0, 0.0, 1.0]}, "static": True}),
    ("Rigid ball", "rigid", _rigid("ball", sphere=0.1)),
    ("Rigid box", "rigid", _rigid("box", box=[0.3, 0.3, 0.3])),
    ("Rigid capsule", "rigid", _rigid("capsule", capsule={"radius": 0.08, "length": 0.3})),
    ("Rigid cylinder", "rigid", _rigid("cylinder", cylinder={"radius": 0.1, "length": 0.3})),
    ("Rigid cone", "rigid", _rigid("cone", cone={"radius": 0.15, "length": 0.3})),
]
"""Title, kind of body, table."""
