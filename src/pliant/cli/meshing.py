"""`pliant mesh info`, `convert` and `tetrahedralize`."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from pliant.cli.tools import INPUT, verbose_option

EXAMPLES = """\b
Examples:
  pliant mesh info part.msh
  pliant mesh convert part.msh part.vtu
  pliant mesh convert part.vtu surface.obj --surface
  pliant mesh tetrahedralize part.stl -o part.vtu
"""
INFO_EXAMPLES = """\b
Examples:
  pliant mesh info part.vtu --histogram     how good its tets are
  pliant mesh info scan.stl                 whether it can be filled with tets, or why not
"""
TETRAHEDRALIZE_EXAMPLES = """\b
Examples:
  pliant mesh tetrahedralize part.stl -o part.vtu
  pliant mesh tetrahedralize part.stl -o part.vtu --size 0.02 --grading 4 --sharp 30
  pliant mesh tetrahedralize scan.obj -o scan.node --repair --max-volume-error 0.03
"""


def worded(command: Callable) -> Callable:
    """Let messages of a command name options as commands do."""

    @wraps(command)
    def run(*words: Any, **options: Any) -> None:
        from pliant.meshes.wording import for_commands

        with for_commands():
            command(*words, **options)

    return run


@click.group(epilog=EXAMPLES)
@verbose_option
def mesh() -> None:
    """Look at meshes, convert them, make them of surfaces.

    Formats: .vtu, .msh, .node with .ele, .mesh, .obj, .stl, .ply; the last three hold triangles only, .node tets only.
    """


@mesh.command(epilog=INFO_EXAMPLES)
@click.argument("file", type=INPUT)
@click.option("--repair", is_flag=True, help="Merge points, drop bad elements, turn inverted ones.")
@click.option("--histogram", is_flag=True, help="Show how dihedral angles are spread.")
@verbose_option
@worded
def info(file: Path, repair: bool, histogram: bool) -> None:
    """Sizes, sets and quality of the mesh in FILE.

    Of a surface: its area, whether it is closed, the volume inside, and all for which `tetrahedralize` refuses it: open
    edges, triangles that disagree about the outside, repeated or flat ones, edges of more than two, and triangles that
    pass through each other.
    """
    from pliant import meshes
    from pliant.meshes.files import read_as_given

    found = meshes.read(file, repair=True) if repair else read_as_given(file)
    low, high = found.points.min(axis=0), found.points.max(axis=0)
    click.echo(f"{found!r}\nfrom {low.round(6).tolist()} to {high.round(6).tolist()} m")
    for name, members in sorted(found.sets.items()):
        click.echo(f"set {name!r}: {len(members)} nodes")
    if isinstance(found, meshes.TetMesh):
        quality = found.quality()
        click.echo(f"{quality.report()}\n{quality.histogram()}" if histogram else quality.report())
    else:
        click.echo(_surface_said(found))


def _surface_said(surface) -> str:
    """Area and volume of a surface, and its faults or that it has none."""
    from pliant.meshes.repair import signed_volume
    from pliant.meshes.surface_faults import listed, surface_faults

    points, triangles = surface.points, surface.triangles
    inside = f"closed, volume {signed_volume(points, triangles):.6g} m^3" if surface.is_closed else "not closed"
    faults = surface_faults(points, triangles)
    said = listed(faults, "tetrahedralize refuses it: it") if faults else "it bounds a solid: tetrahedralize takes it"
    return f"area {surface.areas.sum():.6g} m^2, {inside}\n{said}"


@mesh.command(epilog=EXAMPLES)
@click.argument("source", type=INPUT)
@click.argument("target", type=INPUT)
@click.option("--repair", is_flag=True, help="Merge points, drop bad elements, turn inverted ones.")
@click.option("--surface", is_flag=True, help="Write the boundary triangles of a tet mesh.")
@verbose_option
@worded
def convert(source: Path, target: Path, repair: bool, surface: bool) -> None:
    """Read the mesh SOURCE and write it as TARGET; the suffixes say the formats."""
    from pliant import meshes
    from pliant.meshes.files import check_target, kinds_in, known_suffix

    check_target(target, *([meshes.TriMesh] if surface else kinds_in(known_suffix(source))))
    found = meshes.read(source, repair=repair)
    if surface and isinstance(found, meshes.TetMesh):
        boundary = found.surface()
        found = meshes.TriMesh(boundary.points, boundary.triangles, repair=True)
    meshes.write(target, found)
    click.echo(f"wrote {target}: {found!r}")


@mesh.command(epilog=TETRAHEDRALIZE_EXAMPLES)
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
@worded
def tetrahedralize(source: Path, output: Path | None, **options) -> None:
    """Fill the closed surface in the file SOURCE with tets.

    What `pliant mesh info SOURCE` finds wrong with the surface is refused, or repaired with --repair.
    """
    from pliant import meshes
    from pliant.errors import MeshError
    from pliant.meshes.files import check_target

    if output is None and source.suffix.lower() == ".vtu":
        raise MeshError(f"{source}: the tets would take the place of the surface; name another file with -o")
    output = output or source.with_suffix(".vtu")
    check_target(output, meshes.TetMesh)
    with _notes_at_once():
        found = meshes.tetrahedralize(source, **{key: value for key, value in options.items() if value is not None})
    meshes.write(output, found)
    quality = found.quality()
    click.echo(f"{quality.report()}\n{quality.histogram()}\nwrote {output}: {found!r}")


@contextmanager
def _notes_at_once() -> Iterator[None]:
    """Print warnings when they come, also where an error follows."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: click.echo(str(message))
        yield
