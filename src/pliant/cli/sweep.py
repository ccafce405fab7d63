"""`pliant sweep`: a scene file run with several values of its numbers."""

import copy
import itertools
import json
import tomllib
from pathlib import Path

import click

from pliant.cli.tools import INPUT, verbose_option

EXAMPLES = """\b
Examples:
  pliant sweep beam.toml --set materials.rubber.young=1e5,2e5,4e5
  pliant sweep arm.toml --set joint.elbow.motor.position=0,0.5,1 --set soft.pad.friction=0.2,0.8 --json
"""
# Runs that a sweep may have.
MOST_RUNS = 100_000


@click.command(epilog=EXAMPLES)
@click.argument("scene", type=INPUT)
@click.option("--set", "changes", multiple=True, required=True, metavar="KEY=VALUE,...", help="Values of a key.")
@click.option("--seconds", type=float, help="How long [s]; as the file says when left out, like dt and device.")
@click.option("--dt", type=float, help="Time step [s].")
@click.option("--device", help="Where to compute: cpu or cuda.")
@click.option("--workers", type=int, help="Processes that take steps on the CPU; unless told, one for each core.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@verbose_option
def sweep(scene: Path, changes: tuple[str, ...], seconds, dt, device, workers, as_json: bool) -> None:
    """Run the scene file SCENE with every combination of values.

    KEY is the place of a value in the file, its parts joined by dots: a body or a joint is named by its name or its
    number from 0. VALUES are written as in the file, with commas between them. A run that fails does not stop the
    others. Reported of each are energies [J], coordinates of joints [rad or m], the largest displacement [m] of soft
    bodies and rods and the positions [m] of rigid ones at its end; files are not written.
    """
    from pliant.many.make import simulate_many

    keys, combinations = _combinations(changes)
    files = [_changed(scene, keys, values) for values in combinations]
    run = files[0].run
    options = {"solver": run.solver, "precision": run.precision, "device": device or run.device, "workers": workers}
    length = run.seconds if seconds is None else seconds
    with simulate_many([file.scene for file in files], run.dt if dt is None else dt, **options) as many:
        every = max(round(length / many.dt) // 50, 1)
        for _ in many.run(length, every=every, progress=False if as_json else None):
            pass
        runs = [_report(many, i, dict(zip(keys, values))) for i, values in enumerate(combinations)]
    click.echo(json.dumps({"scene": str(scene), "runs": runs}, indent=2) if as_json else _table(keys, runs))
    if many.failures:
        raise SystemExit(1)


def _combinations(changes: tuple[str, ...]) -> tuple[list[str], list[tuple]]:
    """The keys, and every combination of their values."""
    values = {}
    for change in changes:
        key, equals, text = change.partition("=")
        try:
            found = tomllib.loads(f"values = [{text}]")["values"] if equals and key.strip() else []
        except tomllib.TOMLDecodeError:
            found = []
        if not found:
            raise click.BadParameter(
                f"{change!r} is not KEY=VALUE,VALUE,... with values as in TOML", param_hint="--set"
            )
        if key.strip().split(".")[0] == "run":
            raise click.BadParameter("all runs share the table [run] of the file", param_hint="--set")
        if key.strip() in values:
            raise click.BadParameter(f"{key.strip()} is set twice", param_hint="--set")
        values[key.strip()] = found
    combinations = list(itertools.islice(itertools.product(*values.values()), MOST_RUNS + 1))
    if len(combinations) > MOST_RUNS:
        raise click.BadParameter(f"there are more than {MOST_RUNS} combinations", param_hint="--set")
    return list(values), combinations


def _changed(path: Path, keys: list[str], values: tuple):
    """The scene file with values at keys."""
    from pliant import scene_file
    from pliant.scene_file.files import folder_of

    data = copy.deepcopy(scene_file.parse(path))
    for key, value in zip(keys, values):
        _set(data, key, value, path)
    said = ", ".join(f"{key} = {json.dumps(value)}" for key, value in zip(keys, values))
    return scene_file.from_tables(data, folder_of(path), f"{path} with {said}")


def _set(data: dict, key: str, value, path: Path) -> None:
    """Put a value where a key leads; its last part may be new to a table, which the file's own checks judge."""
    from pliant.checks import listed
    from pliant.errors import SceneError

    *parents, last = key.split(".")
    place = data
    for depth, part in enumerate(parents):
        known = _steps(place)
        if part not in known:
            where = ".".join(parents[:depth]) or "the file"
            raise SceneError(f"{path}: there is no {key}: {where} has {listed(known) or 'no keys'}, but no {part!r}")
        place = place[known[part]]
    known = _steps(place)
    if isinstance(place, dict):
        place[last] = value
    elif last in known:
        place[known[last]] = value
    else:
        raise SceneError(f"{path}: there is no {key}: {'.'.join(parents)} has {listed(known) or 'no keys'}")


def _steps(place) -> dict:
    """What leads on from a place in a file, by name: keys of a table; items of a list by number, and by their names."""
    if isinstance(place, dict):
        return {key: key for key in place}
    if not isinstance(place, list):
        return {}
    named = {
        own["name"]: k for k, own in enumerate(place) if isinstance(own, dict) and isinstance(own.get("name"), str)
    }
    return {str(k): k for k in range(len(place))} | named


def _report(many, i: int, values: dict) -> dict:
    """What became of a run."""
    import numpy as np

    sim, failure = many[i], many.failures.get(i)
    energy, start = sim.energy(), many.starts[i]
    softs = zip(sim.scene.soft_bodies, sim.model.node_start[:-1], sim.model.node_start[1:])
    moved = np.linalg.norm(sim.state.x - start.x, axis=1)
    rods = zip(sim.scene.rods, sim.model.rods.points)
    shifted = np.linalg.norm(sim.state.body_position - start.body_position, axis=1)
    free = sim.model.joints.free
    coordinates = free.at(sim.state.pose)
    return {
        "values": values,
        "failed": None if failure is None else failure.reason,
        "time": sim.time,
        "energy": {name: float(getattr(energy, name)) for name in ("kinetic", "elastic", "gravitational", "joints")},
        "joints": {
            f"{sim.model.joint_names[joint]}.{name}": float(q)
            for joint, name, q in zip(free.joint, free.name, coordinates)
        },
        "soft": {body.name: float(moved[first:last].max()) for body, first, last in softs},
        "rods": {rod.name: float(shifted[points].max()) for rod, points in rods},
        "rigid": {body.name: sim.pose(body)[0].tolist() for body in sim.scene.rigid_bodies},
    }


def _table(keys: list[str], runs: list[dict]) -> str:
    """The runs as lines of text with columns."""
    moved = [f"{name} moved" for name in (*runs[0]["soft"], *runs[0]["rods"])]
    columns = [*keys, "time", "kinetic", "elastic", *runs[0]["joints"], *moved]
    lines = [columns]
    for run in runs:
        numbers = [run["time"], run["energy"]["kinetic"], run["energy"]["elastic"]]
        numbers += [*run["joints"].values(), *run["soft"].values(), *run["rods"].values()]
        lines.append([*(json.dumps(run["values"][key]) for key in keys), *(f"{number:.6g}" for number in numbers)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines]
    text += [f"run {i} stopped: {run['failed']}" for i, run in enumerate(runs) if run["failed"]]
    return "\n".join(text)
