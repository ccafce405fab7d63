"""Commands with options of all kinds, from what the command line says it takes: an answer, or an error in words."""

import pytest

import faults

pytest.importorskip("hypothesis")

import click
from click.testing import CliRunner
from hypothesis import strategies as st

import pliant as pl
from limits import limited, trials
from pliant import running
from pliant.cli import main

pytestmark = pytest.mark.hostile
COUNT = {"cases": 0, "good": 0}
WORDS = (
    "",
    "a",
    "-1",
    "0",
    "1",
    "2",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "0.01",
    "out",
    "/dev/null",
    "case.toml",
    "b.vtu",
)
WORDS += (
    "../x.npz",
    "end.npz",
    "newton",
    "linear",
    "explicit",
    "16x16",
    "x",
    "stress",
    "nowhere/a.png",
    "a" * 300,
)
FITTING = {
    "changes": (
        *("materials.rubber.young=1e5,2e5", "soft.beam.friction=0.2", "soft.0.position=[0,0,1],[0,0,2]", "=", "a=1"),
        *("materials.rubber=1", "soft.beam.mesh.cells=1,0", "run.dt=1", "format=2,3", "soft.beam.mesh.box=1", "a=["),
    ),
    "workers": ("1", "1", "0", "x"),
    "seconds": ("0.02", "1e300", "-1"),
}
"""Words for some options, beside those for all."""

LEFT_OUT = ("bench", "demo")
"""Commands that compute for long, whatever they are told."""


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """All commands by the words that call them."""
    found = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, (*path, name))
        elif name not in LEFT_OUT:
            found[(*path, name)] = command
    return found


def one_command(draw, note, folder) -> None:
    """One command with words for its arguments and for some of its options."""
    words = draw(st.sampled_from(sorted(commands())), label="command")
    line = list(words)
    for parameter in commands()[words].params:
        if isinstance(parameter, click.Argument):
            line.append(draw(st.sampled_from(("case.toml", "case.toml", "case.msh", "case.npz", *WORDS))))
        elif parameter.name not in ("help", "verbose") and draw(st.integers(0, 3)) >= 3 - 2 * parameter.required:
            line.append(draw(st.sampled_from(parameter.opts)))
            count = 0 if getattr(parameter, "is_flag", False) else parameter.nargs
            line += [draw(st.sampled_from((*3 * FITTING.get(parameter.name, ()), *WORDS))) for _ in range(count)]
    note(" ".join(map(repr, line)))
    with limited(seconds=20):
        result = CliRunner().invoke(main, line)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in (0, 1, 2)
        COUNT["good"] += result.exit_code == 0
        if result.exit_code == 1 and words != ("run",):
            assert "error: " in result.output or "stopped" in result.output, result.output


def test_commands_answer_or_say_what_is_wrong(tmp_path, monkeypatch):
    count = running.step_count
    monkeypatch.chdir(tmp_path)
    path = faults.put(tmp_path, 0.05)
    path.write_text(path.read_text().partition("[[rigid]]")[0])  # what is left comes to rest soon
    pl.meshes.write(tmp_path / "case.msh", pl.meshes.box((1, 1, 1), 1))
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(1), mass=1)
    scene.simulate(0.01).checkpoint(tmp_path / "case.npz")
    if pytest.importorskip("uvicorn", reason="the studio needs the extra: pip install 'pliant[studio]'"):
        monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: [one.close() for one in sockets])
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    # a good command may ask for more steps than there is time for
    monkeypatch.setattr(running, "step_count", lambda *numbers: min(count(*numbers), 5))
    trials(lambda draw, note: one_command(draw, note, tmp_path), COUNT)
