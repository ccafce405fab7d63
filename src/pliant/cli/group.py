"""The command line, `pliant`. Nothing heavy is imported until a command runs: --version and --help are quick."""

import sys
import traceback
from typing import Any

import click

from pliant._version import __version__
from pliant.cli import devices, meshing, run, static, studio, sweep, tools
from pliant.errors import PliantError

EXAMPLES = """\b
Examples:
  pliant demo                               the demonstration, into out/
  pliant check examples/scenes/beam.toml    what is wrong with a scene file
  pliant run examples/scenes/beam.toml      run it
  pliant equilibrium examples/scenes/beam.toml    where it comes to rest
  pliant modes examples/scenes/beam.toml    at which frequencies it rings
  pliant sweep examples/scenes/beam.toml --set materials.rubber.young=1e5,2e5    run it with several values
  pliant mesh info part.vtu                 how good a mesh is
  pliant studio examples/scenes/beam.toml   set up, run and look at it in the browser
"""


class Commands(click.Group):
    """A group that reports pliant's own errors in one line each, without a traceback (unless -v), and exits with 1, or
    with 130 when Ctrl-C ends it."""

    def main(self, *words, **options) -> Any:
        try:
            return super().main(*words, **options)
        except OSError as error:  # of the output itself, and not a pipe that nobody reads
            click.echo(f"error: the output cannot be written: {error.strerror or error}", err=True)
            sys.exit(1)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (PliantError, OSError) as error:
            if not isinstance(error, PliantError) and error.filename is None:
                raise
            if context.find_root().meta.get("verbose"):
                traceback.print_exc()
            else:
                click.echo(f"error: {error}", err=True)
            context.exit(1)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            context.exit(130)


@click.group(cls=Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pliant")
@tools.verbose_option
def main() -> None:
    """Deformable solids together with articulated rigid bodies, in real time."""


for command in (
    run.run,
    run.demo,
    static.equilibrium,
    static.modes,
    sweep.sweep,
    tools.check,
    tools.render,
    meshing.mesh,
    tools.bench,
    devices.devices,
    studio.studio,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
