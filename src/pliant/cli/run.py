"""`pliant run` and `pliant demo`."""

import dataclasses
import json
from pathlib import Path

import click

from pliant.cli.tools import INPUT, verbose_option

RUN_EXAMPLES = """\b
Examples:
  pliant run examples/scenes/beam.toml
  pliant run beam.toml --out results --seconds 5 --dt 0.005
  pliant run beam.toml --solver dual --method pgs --tolerance 1e-5 --json
  pliant run beam.toml --checkpoint end.npz     then: pliant render results/end.npz
"""

DEMO_EXAMPLES = """\b
Examples:
  pliant demo
  pliant demo --out /tmp/demo --seconds 1
"""


@click.command(epilog=RUN_EXAMPLES)
@click.argument("scene", type=INPUT)
@click.option(
    "--out", default="out", show_default=True, type=click.Path(file_okay=False, path_type=Path), help="Folder."
)
@click.option("--seconds", type=float, help="How long [s]; as the file says when left out, like all options below.")
@click.option("--dt", type=float, help="Time step [s].")
@click.option("--solver", "kind", help="Name of the solver: newton, mixed, dual, linear, explicit, xpbd, bounded.")
@click.option("--method", help="Method of the solver: mprgp or pgs (dual), symplectic, rk2 or rk4 (explicit).")
@click.option("--tolerance", type=float, help="Tolerance of the solver.")
@click.option("--max-iterations", type=int, help="Most iterations per step.")
@click.option("--threads", type=int, help="Number of threads.")
@click.option("--device", help="Where to compute: cpu or cuda.")
@click.option("--precision", help="Of the solver dual: float32 or float64.")
@click.option("--checkpoint", help="Also write the last state to this .npz file, to go on from with pliant.resume.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@verbose_option
def run(scene: Path, out: Path, checkpoint: str | None, as_json: bool, **options) -> None:
    """Run the scene file SCENE.

    What the file asks for is written into the folder --out, and nowhere else. Ctrl-C writes what there is and leaves a
    checkpoint to go on from (interrupted.npz); Ctrl-C again ends at once.
    """
    from pliant.output.run_log import run_recorded

    end = None if checkpoint is None else out / plain_checkpoint_name(checkpoint)
    settings, recorder = prepare(scene, out, options)
    finish(run_recorded(recorder.sim, settings.seconds, recorder, False if as_json else None, end), as_json)


def prepare(scene: Path, out: Path, options: dict):
    """All that comes before the first step, short of opening files: the settings, and the recorder of a simulation."""
    from pliant import scene_file
    from pliant.output.recorder import Recorder
    from pliant.running import step_count

    file = scene_file.read(scene)
    settings = with_options(file.run, options)
    names = [scene.stem + name if name.startswith(".") else name for name in settings.output]
    looks = {key: getattr(settings, key) for key in ("color", "camera", "joints", "contacts")}
    with file.addressed():
        sim = file.scene.simulate(dt=settings.dt, solver=settings.solver, **settings.place)
        step_count(settings.seconds, sim.dt)
        file.check_outputs(out / name for name in names)
        return settings, Recorder(sim, out, names, settings.frames_per_second, **looks)


@click.command(epilog=DEMO_EXAMPLES)
@click.option(
    "--out", default="out", show_default=True, type=click.Path(file_okay=False, path_type=Path), help="Folder."
)
@click.option("--seconds", default=4.0, show_default=True, type=float, help="How long [s].")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@verbose_option
def demo(out: Path, seconds: float, as_json: bool) -> None:
    """Run the demonstration.

    Beam, ball, clay and chain in one scene; leaves demo.webp, demo.png and demo.pvd.

    The very first run compiles the engine, which takes under a minute.
    """
    from pliant.demo import run_demo

    if not as_json:
        click.echo("A soft beam with a ball, a block of clay, and a wrecking ball on a chain.")
    finish(run_demo(out, seconds, progress=False if as_json else None), as_json)


def with_options(settings, options: dict):
    """The settings of a scene file with what the command line says instead."""
    from pliant.errors import SceneError
    from pliant.solve import SOLVERS

    given = {name: value for name, value in options.items() if value is not None}
    kind, solver = given.pop("kind", None), settings.solver
    if kind is not None:
        if kind not in SOLVERS:
            raise SceneError(f"--solver must be one of {', '.join(SOLVERS)}, got {kind!r}")
        solver = solver if isinstance(solver, SOLVERS[kind]) else SOLVERS[kind]()
    own = {field.name for field in dataclasses.fields(solver)}
    for_solver = {name: given.pop(name) for name in ("method", "tolerance", "max_iterations") if name in given}
    if set(for_solver) - own:
        raise SceneError(f"the solver {type(solver).__name__} has no option {', '.join(sorted(set(for_solver) - own))}")
    return dataclasses.replace(settings, solver=dataclasses.replace(solver, **for_solver), **given)


def plain_checkpoint_name(name: str) -> str:
    """A file name without folders that ends in .npz."""
    if Path(name).name != name or Path(name).suffix != ".npz":
        raise click.BadParameter(f"{name!r} is not a plain file name that ends in .npz", param_hint="--checkpoint")
    return name


def finish(log, as_json: bool) -> None:
    """Print the report; exit with 1 when the run broke off, with 130 when it was interrupted."""
    click.echo(json.dumps(log.summary(), indent=2) if as_json else log.text())
    if log.error:
        raise SystemExit(130 if log.interrupted else 1)
