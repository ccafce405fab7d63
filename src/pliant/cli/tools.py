"""`pliant check`, `render` and `bench`."""

import json
import pkgutil
from importlib import import_module
from inspect import signature
from pathlib import Path

import click


class NamedFile(click.Path):
    """The path of a file; an empty name, which paths take for the folder one is in, is refused."""

    def convert(self, value, parameter, context) -> Path:
        if not str(value):
            self.fail("the name of a file must not be empty", parameter, context)
        return super().convert(value, parameter, context)


INPUT = NamedFile(dir_okay=False, path_type=Path)
# Cases side by side in the table of a benchmark.
COLUMNS = 5
CHECK_EXAMPLES = """\b
Example:
  pliant check examples/scenes/beam.toml
"""
RENDER_EXAMPLES = """\b
Examples:
  pliant render examples/scenes/beam.toml                     the start, as beam.png
  pliant render beam.toml --time 0.5 -o half.png --size 1280x720
  pliant render end.npz --color stress --eye 2 -3 1 --target 0 0 0.5
"""
BENCH_EXAMPLES = """\b
Examples:
  pliant bench grid --quick
  pliant bench grid --json > grid.json
  pliant bench cantilever --scaling --no-peers
"""


def _note_verbose(context: click.Context, _, value: bool) -> None:
    if value:
        context.find_root().meta["verbose"] = True


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_note_verbose,
    is_eager=True,
    help="Show where in the program an error arose.",
)


@click.command(epilog=CHECK_EXAMPLES)
@click.argument("scene", type=INPUT)
@verbose_option
def check(scene: Path) -> None:
    """Check the scene file SCENE: what is in it, or all that is wrong with it.

    It does all that `pliant run` does before the first step.
    """
    from pliant.checks import counted
    from pliant.cli.run import prepare

    run, recorder = prepare(scene, Path("out"), {})
    described, model = recorder.sim.scene, recorder.sim.model
    triangles = model.elements.triangle_count
    tets = model.element_count - triangles
    own = len(described.rigid_bodies)
    moving = ~model.static[:own]
    masses = {"soft": model.node_mass.sum(), "rigid": model.body_mass[:own][moving].sum()}
    rods, weight = _rods_said(described.rods)
    sheets = f"{counted(triangles, 'triangle')}, " if triangles else ""
    click.echo(f"{scene}: a good scene file")
    for body in described.bodies:
        click.echo(f"  {body!r}")
    click.echo(
        f"{len(model.soft_names)} soft and {own} rigid bodies{rods}, {counted(len(model.joint_names), 'joint')}\n"
        f"{counted(model.node_count, 'node')}, {counted(tets, 'tet')}, {sheets}"
        f"{counted(6 * tets + joint_rows(model), 'row')} without contacts\n"
        f"mass {masses['soft']:.6g} kg soft, {masses['rigid']:.6g} kg rigid{weight}\n"
        f"{run.seconds:g} s in steps of {run.dt:g} s; writes {', '.join(run.output) or 'nothing'}"
    )


def _rods_said(rods: list) -> tuple[str, str]:
    """How many rods there are and of what, and their mass; nothing where there are none."""
    from pliant.checks import counted

    if not rods:
        return "", ""
    points, segments = (sum(len(part(rod)) for rod in rods) for part in (list, lambda rod: rod.edges))
    mass = sum(rod.linear_density * float(rod.lengths.sum()) for rod in rods)
    sizes = f"{counted(points, 'point')}, {counted(segments, 'segment')}"
    return f", {counted(len(rods), 'rod')} ({sizes})", f", {mass:.6g} kg rods"


def joint_rows(model) -> int:
    """How many rows the joints of a model have."""
    from pliant.kernels import joints as j

    two, one = (j.ALIGN, j.LINE), (j.DISTANCE, j.ROPE, j.PLANE, j.PERPENDICULAR, j.COUPLING)
    fewer = dict.fromkeys(two, 2) | dict.fromkeys(one, 1)
    used = (model.joints.factor != 0).sum(axis=1)
    counted = (j.LIMIT, j.MOTOR)
    return sum(int(n) if family in counted else fewer.get(family, 3) for family, n in zip(model.joints.family, used))


def _size(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    try:
        width, height = (int(number) for number in value.lower().split("x"))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not WIDTHxHEIGHT, such as 960x540") from None
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise click.BadParameter(f"{value!r}: width and height must lie between 16 and 8192 pixels")
    return width, height


@click.command(epilog=RENDER_EXAMPLES)
@click.argument("source", type=INPUT)
@click.option("-o", "--output", type=INPUT, help="The .png file; beside the present folder, named after SOURCE.")
@click.option("--size", default="960x540", show_default=True, callback=_size, help="Width and height in pixels.")
@click.option("--color", help="displacement, strain, stress, plastic_strain or none.")
@click.option("--joints", is_flag=True, help="Draw axes, anchors and limits of joints too.")
@click.option("--contacts", is_flag=True, help="Draw forces of contacts as arrows.")
@click.option("--eye", type=float, nargs=3, help="Where the camera stands [m].")
@click.option("--target", type=float, nargs=3, help="Where it looks [m].")
@click.option("--time", default=0.0, show_default=True, type=float, help="Simulate so long before the picture [s].")
@verbose_option
def render(source: Path, output: Path | None, size, color: str | None, eye, target, time: float, **marks) -> None:
    """Draw SOURCE as a picture.

    SOURCE is a scene file (.toml) or a checkpoint (.npz).
    """
    from pliant.errors import SceneError
    from pliant.files import check_writable
    from pliant.scene_file.run import View

    if source.suffix.lower() not in (".toml", ".npz"):
        raise SceneError(f"{source}: a picture is made of a scene file (.toml) or a checkpoint (.npz)")
    output = output or Path(source.with_suffix(".png").name)
    if output.suffix.lower() != ".png":
        raise SceneError(f"{output}: a picture is written as .png")
    sim, run = _simulation(source)
    check_writable(output)
    for _ in sim.run(time):
        pass
    view = run.camera or View()
    camera = View(eye=eye or view.eye, target=target or view.target)
    marks = {name: asked or getattr(run, name) for name, asked in marks.items()}
    sim.save(output, size=size, color=color or run.color, camera=camera, **marks)
    click.echo(f"wrote {output}")


def _simulation(source: Path):
    """The simulation in a scene file or a checkpoint, and how to draw it."""
    from pliant import scene_file
    from pliant.scene_file.run import RunSettings
    from pliant.simulation import resume

    if source.suffix.lower() == ".npz":
        return resume(source, device="cpu"), RunSettings()
    file = scene_file.read(source)
    run = file.run
    with file.addressed():
        return file.scene.simulate(dt=run.dt, solver=run.solver, **run.place), run


def benchmark_names() -> list[str]:
    """The benchmarks there are: modules of pliant.benchmarks."""
    folder = Path(__file__).parents[1] / "benchmarks"
    entries = pkgutil.iter_modules([str(folder)])
    return sorted(entry.name for entry in entries if not (entry.ispkg or entry.name.startswith("_")))


@click.command(epilog=BENCH_EXAMPLES)
@click.argument("name", type=click.Choice(benchmark_names()))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quick", is_flag=True, help="Fewer steps.")
@click.option("--peers/--no-peers", default=None, help="cantilever, mesh: others too; on unless --quick.")
@click.option("--scaling", is_flag=True, default=None, help="cantilever: sizes up to 200,000 tets too; takes long.")
@verbose_option
def bench(name: str, as_json: bool, quick: bool, **options: bool | None) -> None:
    """Run a benchmark and print its cases."""
    run = import_module(f"pliant.benchmarks.{name}").run
    options = {option: value for option, value in options.items() if value is not None}
    for option in options:
        if option not in signature(run).parameters:
            raise click.UsageError(f"the benchmark {name} has no option --{option}")
    result = run(quick, **options)
    if as_json:
        click.echo(json.dumps(result, indent=2))
        return
    _print_table(result)


def _print_table(result: dict) -> None:
    """A benchmark's result: a column per case, a few to a table."""
    from rich.console import Console
    from rich.table import Table

    for start in range(0, len(result["cases"]), COLUMNS):
        cases = result["cases"][start : start + COLUMNS]
        table = Table(title=f"benchmark {result['name']} on {result['cores']} cores")
        table.add_column("")
        for case in cases:
            table.add_column(str(case["label"]), justify="right")
        keys = dict.fromkeys(key for case in cases for key in case if key != "label")
        for key in keys:
            table.add_row(key.replace("_", " "), *(_cell(case.get(key, "")) for case in cases))
        Console().print(table)


def _cell(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
