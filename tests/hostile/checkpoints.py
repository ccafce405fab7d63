"""Small good checkpoints, and damages to their bytes, arrays and scenes."""

import io
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import calls
import formulas
import pliant as pl
from mutations import bytes_mutated


@cache
def good(folder: Path) -> list[bytes]:
    """Checkpoints of several solvers; those of the last two have a sheet, a rod, and a law of one's own that yields."""
    found = []
    solvers = (pl.Newton(integrator="bdf2"), pl.Dual(), pl.Newton(), pl.Mixed())
    for number, solver in enumerate(solvers):
        w = calls.world(folder) if number < 2 else calls.world(folder).dressed()
        if number == 2:
            yielding = {"plasticity": pl.Plasticity(0.01, 1.0, 0.5)}
            own = pl.Material.custom(formulas.GOOD[0], 1000, formulas.PARAMETERS, **yielding)
            w.scene.add_soft(pl.meshes.box((1, 1, 1), 1), own, position=(0, 0, 9), name="own")
        w.soft.mesh.sets["low"] = np.array([0, 1], np.int32)
        sim = w.scene.simulate(0.01, solver=solver).step(2)
        sim.checkpoint(folder / "good.npz")
        found.append((folder / "good.npz").read_bytes())
    return found


@st.composite
def with_other_arrays(draw, contents: list[bytes]) -> bytes:
    """A checkpoint whose arrays are changed one by one; the .zip around them is whole."""
    with np.load(io.BytesIO(draw(st.sampled_from(contents))), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(arrays)))
        change = draw(st.sampled_from(CHANGES))
        arrays[name] = change(arrays[name], draw(st.integers(0, 10**6)))
    text = arrays.get("scene")
    if text is not None and draw(st.booleans()):
        mutated = draw(bytes_mutated([str(text).encode()])).decode(errors="replace").replace("\0", "")
        arrays["scene"] = np.array(mutated)
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in arrays.items() if value is not None})
    return file.getvalue()


def _put(value, place: int, what):
    array = np.array(value)
    if array.size and array.dtype.kind in "iuf":
        array.flat[place % array.size] = what
    return array


CHANGES = (
    lambda value, place: None,
    lambda value, place: np.zeros(0),
    lambda value, place: np.asarray(value)[..., None],
    lambda value, place: np.asarray(value).ravel(),
    lambda value, place: np.asarray(value).astype(np.float32) if np.asarray(value).dtype.kind in "iuf" else value,
    lambda value, place: _put(value, place, 1),
    lambda value, place: _put(value, place, -1),
    lambda value, place: _put(value, place, 120),
    lambda value, place: _put(value, place, np.nan) if np.asarray(value).dtype.kind == "f" else value,
    lambda value, place: _put(value, place, 1e200) if np.asarray(value).dtype.kind == "f" else value,
    lambda value, place: np.array("a text"),
    lambda value, place: np.zeros((1000, 10)),
)


def packed(contents: bytes) -> bytes:
    """The same arrays, packed: what a bomb is made of."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(contents)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, old.read(entry))
    return file.getvalue()


def simulation_of(script: str) -> pl.Simulation:
    """The simulation that a script makes before it loops."""
    names: dict = {}
    exec(script.partition("while")[0], names)
    return names["sim"]
