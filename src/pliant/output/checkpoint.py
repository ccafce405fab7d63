"""Checkpoints: one .npz file from which a simulation goes on exactly, bit for bit.

It holds the scene as the text of a scene file, the meshes that no recipe makes as arrays, and the arrays of the state.
Nothing in it is code; what is read is checked as a scene file is.
"""

import io
import math
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError

import numpy as np

from pliant import scene_file
from pliant._version import __version__
from pliant.checks import device_name, file_path, shown
from pliant.errors import DeviceError, PliantError, SceneError
from pliant.files import write_atomically
from pliant.meshes import TetMesh, TriMesh
from pliant.meshes import write as write_mesh
from pliant.model.state import State
from pliant.scene.cloth import Cloth
from pliant.scene.shapes import Heightfield, Hull
from pliant.scene_file.layout import scene_text
from pliant.scene_file.run import RunSettings
from pliant.scene_file.values import FORMAT as SCENE_FORMAT
from pliant.scene_file.write import check_saveable, describe, name_materials, run_table
from pliant.simulation import Simulation
from pliant.stepping.integrators import FIELDS as BDF2_FIELDS

MAGIC = "pliant checkpoint"
FORMAT = 6
SCENE_NAME = "scene.toml"
# Arrays of heightfields start with this, and go on with the file that the scene names.
NUMBERS = "numbers_"
# Damaged files end in one of these, depending on where the damage is.
UNREADABLE = (OSError, EOFError, ValueError, LookupError, zipfile.BadZipFile, zlib.error)
UNREADABLE += (RuntimeError, SyntaxError, MemoryError, ArithmeticError, TypeError, TokenError)


def write_checkpoint(sim: Simulation, path: str | os.PathLike) -> None:
    """Write the simulation to `path` (.npz); SceneError if the scene holds functions of time other than Keyframes."""
    path = file_path(path)
    if path.suffix.lower() != ".npz":
        raise SceneError(f"{path}: a checkpoint is a .npz file, not {path.suffix or 'without a suffix'!r}")
    try:
        sim.check_unchanged()
        text, mesh_arrays = _scene_arrays(sim)
    except SceneError as error:
        raise SceneError(f"{path}: this scene cannot be kept in a checkpoint:\n{error}") from None
    header = {"magic": MAGIC, "format": FORMAT, "version": __version__, "scene": text}
    state = {f"state_{name}": values for name, values in sim.state.arrays().items()}
    arrays = {name: np.asarray(value) for name, value in (header | mesh_arrays | state).items()}
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def _scene_arrays(sim: Simulation) -> tuple[str, dict[str, np.ndarray]]:
    """The text of the scene file, and the arrays of the meshes it names as files."""
    arrays: dict[str, np.ndarray] = {}
    scene = sim.scene_now()

    def keep(name: str, mesh: TetMesh | TriMesh, elements: np.ndarray) -> str:
        arrays[f"mesh_{name}_points"], arrays[f"mesh_{name}_elements"] = mesh.points, elements
        for label, members in mesh.sets.items() if not name.endswith(".obj") else ():
            arrays[f"mesh_{name}_set_{label}"] = members
        return name

    def soft(body) -> dict:
        source = body.mesh.source or {}
        if source and "file" not in source and not body.mesh.sets:
            return dict(source)
        number = scene.bodies.index(body)
        if isinstance(body, Cloth):
            return {"file": keep(f"{number}.msh", body.mesh, body.mesh.triangles)}
        return {"file": keep(f"{number}.node", body.mesh, body.mesh.tets)}

    def rigid(body) -> dict:
        number, shape = scene.bodies.index(body), body.shape
        if isinstance(shape, Heightfield):
            arrays[f"{NUMBERS}{number}.npy"] = shape.heights
            return {"heightfield": {"size": list(shape.size), "file": f"{number}.npy"}}
        kind = "hull" if isinstance(shape, Hull) else "mesh"
        return {kind: keep(f"{number}.obj", shape.surface, shape.surface.triangles)}

    def drawing(body) -> dict:
        name = f"{scene.bodies.index(body)}_drawing.obj"
        return {"file": keep(name, body.drawing, body.drawing.triangles)}

    check_saveable(scene)
    settings = RunSettings(dt=sim.dt, solver=sim.solver, precision=sim.precision, device=sim.device)
    tables = {"format": SCENE_FORMAT, **describe(scene, soft, rigid, drawing), "run": run_table(settings)}
    return scene_text(name_materials(tables)), arrays


def read_checkpoint(path: str | os.PathLike, device: str | None = None) -> Simulation:
    """The simulation in a checkpoint, ready to go on, on the device that it was on or on another; SceneError for
    anything else than a whole checkpoint."""
    path = file_path(path)
    if device is not None:
        device_name(device)
    arrays = _read_arrays(path)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        file = _read_scene(path, Path(folder), arrays)
    try:
        options = {"solver": file.run.solver, "precision": file.run.precision, "device": device or file.run.device}
        sim = Simulation(file.scene, file.run.dt, **options)
    except DeviceError as error:
        raise DeviceError(f"{path}: {error}; pliant.resume(path, device='cpu') goes on without one") from None
    except PliantError as error:
        if device not in (None, file.run.device):
            raise SceneError(f"{path}: its scene cannot be simulated on device {device!r}: {error}") from None
        raise SceneError(f"{path}: the checkpoint is damaged, its scene cannot be simulated: {error}") from None
    _restore(sim, arrays, path)
    return sim


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of the file, after a look at what the file says it is."""
    try:
        if not path.is_file():
            what = "this is not a file" if path.exists() else "there is no such checkpoint file"
            raise SceneError(f"{path}: {what}")
        raw = path.read_bytes()
        if not zipfile.is_zipfile(io.BytesIO(raw)):
            raise ValueError("it is not a .npz file, or its end is missing")
        with zipfile.ZipFile(io.BytesIO(raw)) as stored:
            arrays = {entry.filename.removesuffix(".npy"): _read_array(stored, entry) for entry in stored.infolist()}
    except SceneError:
        raise
    except UNREADABLE as error:
        raise SceneError(f"{path}: cannot be read as a pliant checkpoint: {error}") from None
    if str(arrays.get("magic")) != MAGIC:
        raise SceneError(f"{path}: this .npz file is not a pliant checkpoint (sim.checkpoint(path) writes them)")
    if not np.array_equal(arrays.get("format"), FORMAT):
        found, made_by = (str(arrays.get(name, "unknown"))[:40] for name in ("format", "version"))
        raise SceneError(
            f"{path}: the checkpoint has format {found}, written by pliant {made_by}; "
            f"pliant {__version__} reads format {FORMAT}"
        )
    return arrays


def _read_array(stored: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """One array of a .npz file, which takes no more memory than the file itself: arrays lie in it as they are, and one
    that claims to be larger than it is, or is packed, is refused before it is read."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise ValueError(f"{shown(entry.filename)} is packed; a checkpoint holds its arrays as they are")
    data = io.BytesIO(stored.read(entry))
    version = np.lib.format.read_magic(data)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"{shown(entry.filename)} is an array of an unknown format")
    shape, by_columns, dtype = readers[version](data)
    if dtype.hasobject or dtype.kind not in "biufU":
        raise ValueError(f"{shown(entry.filename)} holds {dtype}, which is neither numbers nor text")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data.getbuffer()) - data.tell():
        raise ValueError(f"{shown(entry.filename)} is not as long as it says")
    if not dtype.itemsize:
        return np.zeros(shape, dtype)
    values = np.frombuffer(data.getbuffer(), dtype, count, data.tell())
    return values.reshape(shape, order="F" if by_columns else "C").copy()


def _read_scene(path: Path, folder: Path, arrays: dict[str, np.ndarray]) -> scene_file.SceneFile:
    """The scene of a checkpoint, read as a scene file from a temporary folder."""
    try:
        for key in [name for name in arrays if name.startswith("mesh_") and name.endswith("_points")]:
            name = key.removeprefix("mesh_").removesuffix("_points")
            if Path(name).name != name or Path(name).suffix not in (".node", ".obj", ".msh"):
                raise SceneError(f"the name {name!r} of a mesh leads elsewhere")
            mesh_class = TetMesh if name.endswith(".node") else TriMesh
            start = f"mesh_{name}_set_"
            sets = {label.removeprefix(start): arrays[label] for label in arrays if label.startswith(start)}
            mesh = mesh_class(arrays[key], arrays[f"mesh_{name}_elements"], sets)
            write_mesh(folder / name, mesh)
        for key in [name for name in arrays if name.startswith(NUMBERS)]:
            name = key.removeprefix(NUMBERS)
            if Path(name).name != name or Path(name).suffix != ".npy":
                raise SceneError(f"the name {name!r} of an array leads elsewhere")
            np.save(folder / name, arrays[key])
        (folder / SCENE_NAME).write_text(str(arrays["scene"]), encoding="utf-8")
        return scene_file.read(folder / SCENE_NAME)
    except (PliantError, *UNREADABLE) as error:
        reason = str(error).replace(f"{folder}{os.sep}", "")
        raise SceneError(f"{path}: the checkpoint is damaged, its scene cannot be read: {reason}") from None


def _restore(sim: Simulation, arrays: dict[str, np.ndarray], path: Path) -> None:
    """Put the stored state in place of the first one, if it fits."""
    stored = {name.removeprefix("state_"): values for name, values in arrays.items() if name.startswith("state_")}
    expected = {name: np.asarray(value) for name, value in sim.state.arrays().items()}
    remembered = [name for name in stored if name.startswith("memory_")]
    expected |= {name: _like(sim, name, path) for name in remembered}
    if any(name.startswith("memory_bdf2.") for name in remembered):
        expected |= {name: _like(sim, name, path) for name in (f"memory_bdf2.{field}" for field in BDF2_FIELDS)}
    for name, fresh in expected.items():
        value = stored.get(name)
        if value is None:
            raise SceneError(f"{path}: the checkpoint is damaged: {name} of the state is missing")
        # as many as there were, and as many as some GPU has
        free = name.startswith(("impulses_contact", "memory_cuda.")) or name == "crossing"
        fits = value.shape[1:] == fresh.shape[1:] if free else value.shape == fresh.shape
        if not fits or value.dtype != fresh.dtype or value.ndim != fresh.ndim or not np.all(np.isfinite(value)):
            raise SceneError(f"{path}: the checkpoint is damaged: {name} of the state does not fit its scene")
    sim.state = State.from_arrays({name: stored[name] for name in expected})


def _like(sim: Simulation, name: str, path: Path) -> np.ndarray:
    """An array of the shape that one of a solver's or integrator's memory must have."""
    owner, _, array = name.removeprefix("memory_").partition(".")
    change = {"change": sim.state.velocity_triples()}
    both = change | {"before": sim.state.velocity_triples()}
    shapes = {"newton": both, "bounded": change, "dual": {"elements": sim.state.plastic_strain}}
    stretch = np.repeat(sim.state.plastic_strain[:, :1], 9, axis=1)
    shapes["mixed"] = {"stretch": stretch, "change": sim.state.velocity_triples()}
    shapes["mixed"] |= {"stated": np.stack([sim.state.x] * 2), "length": np.zeros(())}
    shapes["cuda"] = {"inverse": np.zeros(0, np.float32), "arms": np.zeros((0, 3), np.float32), "age": np.zeros(0)}
    shapes["bdf2"] = {field: getattr(sim.state, field) for field in BDF2_FIELDS}
    try:
        return shapes[owner][array]
    except KeyError:
        raise SceneError(f"{path}: the checkpoint is damaged: {name} of the state belongs to nothing") from None
