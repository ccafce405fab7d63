"""`pliant mesh tetrahedralize`."""

import warnings
from pathlib import Path

import click

from pliant.cli.tools import INPUT, mesh, verbose_option

EXAMPLES = """\b
Examples:
  pliant mesh tetrahedralize part.stl -o part.vtu
  pliant mesh tetrahedralize part.stl -o part.vtu --size 0.02 --grading 4 --sharp 30
  pliant mesh tetrahedralize scan.obj -o scan.node --repair --max-volume-error 0.03
"""


@mesh.command(epilog=EXAMPLES)
@click.argument("source", type=INPUT)
@click.option("-o", "--output", type=INPUT, help="The mesh to write; SOURCE with the suffix .vtu unless told.")
@click.option("--size", type=float, help="Length of edges at the surface [m]; a 32nd of the diagonal unless told.")
@click.option("--grading", type=int, help="How many times larger tets may be inside: 1, 2, 4, 8 or 16.")
@click.option("--min-dihedral", type=float, help="Smallest angle between two faces of a tet [degrees].")
@click.option("--sharp", type=float, help="Keep edges at which the surface turns by more than this [degrees].")
@click.option("--max-volume", type=float, help="Largest volume of a tet [m^3].")
@click.option("--max-radius-edge", type=float, help="Largest ratio of circumradius to shortest edge.")
@click.option("--max-volume-error", type=float, help="How much the volume may differ, in parts; 0.01 unless told.")
@click.option("--repair", is_flag=True, default=None, help="Close holes, drop and turn triangles first.")
@click.option("--method", help="lattice, tetwild (extra mesh) or tetgen (extra tetgen, AGPL).")
@verbose_option
def tetrahedralize(source: Path, output: Path | None, **options) -> None:
    """Fill the closed surface in the file SOURCE with tets."""
    from pliant import meshes
    from pliant.errors import MeshError

    if output is None and source.suffix.lower() == ".vtu":
        raise MeshError(f"{source}: the tets would take the place of the surface; name another file with -o")
    output = output or source.with_suffix(".vtu")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        found = meshes.tetrahedralize(source, **{key: value for key, value in options.items() if value is not None})
    for note in notes:
        click.echo(str(note.message))
    meshes.write(output, found)
    quality = found.quality()
    click.echo(f"{quality.report()}\n{quality.histogram()}\nwrote {output}: {found!r}")
