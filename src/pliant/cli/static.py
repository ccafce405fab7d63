"""`pliant equilibrium` and `pliant modes`."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import click

from pliant.cli.tools import INPUT, verbose_option

FOLDER = click.Path(file_okay=False, path_type=Path)
EQUILIBRIUM_EXAMPLES = """\b
Examples:
  pliant equilibrium beam.toml
  pliant equilibrium beam.toml --load-steps 5 --out results --json
"""
MODES_EXAMPLES = """\b
Examples:
  pliant modes beam.toml
  pliant modes beam.toml -n 10 --pictures --out results
"""


@click.command(epilog=EQUILIBRIUM_EXAMPLES)
@click.argument("scene", type=INPUT)
@click.option("--out", default="out", show_default=True, type=FOLDER, help="Folder.")
@click.option("--load-steps", default=1, show_default=True, help="Steps in which the loads grow.")
@click.option("--time", default=0.0, show_default=True, help="Time [s] at which loads that change are taken.")
@click.option("--tolerance", default=1e-6, show_default=True, help="Part of the motion that may be left.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@verbose_option
def equilibrium(scene: Path, out: Path, load_steps: int, time: float, tolerance: float, as_json: bool) -> None:
    """Bring the scene file SCENE to rest under its loads.

    Leaves NAME-equilibrium.png, coloured as the file says, and NAME-equilibrium.vtu. Linear systems are solved as the
    file says if its solver is newton. The report is in SI units: m, Pa, J, rotations (w, x, y, z).
    """
    from pliant import scene_file
    from pliant.files import check_writable
    from pliant.solve import Newton

    file = scene_file.read(scene)
    linear = getattr(file.run.solver, "linear", "auto")
    solver = Newton(tolerance=tolerance, max_iterations=200, linear=linear)
    options = {"load_steps": load_steps, "time": time, "dt": file.run.dt, "threads": file.run.threads}
    options |= {"device": file.run.device, "progress": False if as_json else None}
    files = [out / f"{scene.stem}-equilibrium{suffix}" for suffix in (".png", ".vtu")]
    file.check_outputs(files)
    for path in files:
        check_writable(path)
    began = perf_counter()
    with file.addressed():
        sim = file.scene.equilibrium(solver=solver, **options)
    elapsed = perf_counter() - began
    looks = {"color": file.run.color, "camera": file.run.camera}
    written, failure = _written({files[0]: lambda path: sim.save(path, **looks), files[1]: sim.save})
    energy, info = sim.energy(), sim.info
    report = {
        "bodies": {body.name: _body(sim, body) for body in file.scene.soft_bodies},
        "rods": {rod.name: _rod(sim, rod) for rod in file.scene.rods},
        "rigid": {body.name: _pose(sim, body) for body in file.scene.rigid_bodies if not body.static},
        "energy": {"elastic": energy.elastic, "gravitational": energy.gravitational, "joints": energy.joints},
        "residual": info.residual,
        "linear": info.linear,
        "elapsed_s": elapsed,
        "files": written,
    }
    _tell(report, _rest_text(report), as_json, failure)


def _tell(report: dict, text: str, as_json: bool, failure: Exception | None) -> None:
    """Print a report, and what is wrong after it."""
    if as_json:
        click.echo(json.dumps(report | ({"error": str(failure)} if failure else {}), indent=2))
        raise SystemExit(1 if failure else 0)
    click.echo(text)
    if failure:
        raise failure


def _written(saves: dict[Path, Callable]) -> tuple[list[str], Exception | None]:
    """Save every file; those that are written, and why the first of the others is not. What was computed is told all
    the same."""
    from pliant.errors import FileError

    written, failure = [], None
    for path, save in saves.items():
        try:
            save(path)
            written.append(str(path))
        except FileError as error:
            failure = failure or error
    return written, failure


def _body(sim, body) -> dict:
    """Largest displacement [m] and von Mises stress [Pa] of a soft body."""
    import numpy as np

    moved = np.linalg.norm(sim.positions(body) - body.nodes.positions, axis=1)
    return {"displacement": float(moved.max()), "von_mises": float(sim.von_mises(body).max())}


def _rod(sim, rod) -> dict:
    """Largest displacement [m] of the points of a rod; of its segments the least and largest tension [N], the largest
    bending moment and torque [N m]."""
    import numpy as np

    state = sim.rod(rod)
    return {
        "displacement": float(np.linalg.norm(state.points - rod.places, axis=1).max()),
        "tension": [float(state.tension.min()), float(state.tension.max())],
        "moment": float(np.linalg.norm(state.moment, axis=1).max()),
        "torque": float(np.abs(state.torque).max()),
    }


def _pose(sim, body) -> dict:
    """Position [m] and rotation (w, x, y, z) of a rigid body."""
    position, rotation = sim.pose(body)
    return {"position": position.tolist(), "rotation": rotation.tolist()}


def _rest_text(report: dict) -> str:
    lines = [
        f"{name}: moved by up to {body['displacement']:.4g} m, von Mises stress up to {body['von_mises']:.4g} Pa"
        for name, body in report["bodies"].items()
    ]
    for name, rod in report["rods"].items():
        least, most = rod["tension"]
        lines.append(
            f"{name}: moved by up to {rod['displacement']:.4g} m, tension from {least:.4g} to {most:.4g} N, "
            f"bending moment up to {rod['moment']:.4g} N m, torque up to {rod['torque']:.4g} N m"
        )
    for name, pose in report["rigid"].items():
        at, turn = (" ".join(f"{value:.4g}" for value in pose[key]) for key in ("position", "rotation"))
        lines.append(f"{name}: rests at {at} m, rotation {turn}")
    lines.append(
        f"elastic energy {report['energy']['elastic']:.4g} J; residual {report['residual']:.1e}; "
        f"found in {report['elapsed_s']:.3g} s"
    )
    return "\n".join([*lines, *(f"wrote {file}" for file in report["files"])])


@click.command(epilog=MODES_EXAMPLES)
@click.argument("scene", type=INPUT)
@click.option("-n", "--number", default=6, show_default=True, help="How many modes, from the lowest.")
@click.option("--mass", default="lumped", show_default=True, help="lumped or consistent.")
@click.option("--pictures", is_flag=True, help="Draw every mode, as NAME-mode1.png and so on.")
@click.option("--out", default="out", show_default=True, type=FOLDER, help="Folder of the pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print the frequencies as one JSON object.")
@verbose_option
def modes(scene: Path, number: int, mass: str, pictures: bool, out: Path, as_json: bool) -> None:
    """Natural frequencies of the scene file SCENE about its start."""
    from pliant import scene_file
    from pliant.files import check_writable

    file = scene_file.read(scene)
    if pictures:
        check_writable(out / f"{scene.stem}-mode1.png")
    with file.addressed():
        found = file.scene.modes(number, mass=mass, device=file.run.device)
    files = [out / f"{scene.stem}-mode{k + 1}.png" for k in range(len(found))] if pictures else []
    written, failure = _written({path: partial(found.save, k=k) for k, path in enumerate(files)})
    frequencies = [float(value) for value in found.frequencies]
    lines = [f"mode {k + 1:3d}  {value:12.6g} Hz" for k, value in enumerate(frequencies)]
    lines += [_rigid_said(found.rigid)] if found.rigid else []
    text = "\n".join([*lines, *(f"wrote {path}" for path in written)])
    _tell({"frequencies": frequencies, "rigid": found.rigid, "files": written}, text, as_json, failure)


def _rigid_said(count: int) -> str:
    """What those modes are, and why there are more than one may expect."""
    first = "the first is a rigid motion" if count == 1 else f"the first {count} are rigid motions"
    return (
        f"{first} (0 Hz but for rounding) of what nothing holds, or as joints let it move; contacts hold nothing here"
    )
