"""Calls a function in a process of its own: foreign engines that print, crash or hang, and clean memory figures."""

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

LIMIT = 900.0


class Failed(Exception):
    """Why a call gave nothing."""


def call(module: str, function: str, limit: float = LIMIT, **arguments):
    """What module.function(**arguments) returns, as JSON carries it; at most `limit` seconds.

    Raises Failed with the last line of what went wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", __name__, str(answer), module, function, json.dumps(arguments)]
        try:
            run = subprocess.run(
                command, cwd=folder, env=_environment(), capture_output=True, text=True, errors="replace", timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"took more than {limit:g} s") from None
        if run.returncode == 0 and answer.exists():
            return json.loads(answer.read_text())
        lines = run.stderr.strip().splitlines()
        raise Failed(lines[-1] if lines and run.returncode > 0 else f"ended with code {run.returncode}")


def _environment() -> dict[str, str]:
    """This environment, with this package in the path whatever the folder."""
    source = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path}


def main(answer: str, module: str, function: str, arguments: str) -> None:
    """The other side: call, and write the answer."""
    result = getattr(import_module(module), function)(**json.loads(arguments))
    Path(answer).write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
