"""The smallest script that fails as a random scene does: `python tests/random_shrink.py SEED...`."""

import ast
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np

from random_checks import Outcome, run
from random_scenes import Case, generate

KEPT = ("density", "position", "axis", "at", "static", "max_torque", "stiffness", "points", "triangles")
# Steps that a scene is given to fail in once it is being shrunk.
MORE_STEPS = 40
# Seconds after which a scene is small enough.
PATIENCE = 20.0


def outcome(case: Case) -> Outcome:
    """What becomes of a scene; one whose lines make no sense is refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(case)
        except Exception as error:
            return Outcome("refused", type(error).__name__, str(error))


def shrunk(case: Case) -> tuple[Case, Outcome]:
    """The case with fewer lines and options that still fails the same check, and its outcome."""
    found = outcome(case)
    going, begin = True, perf_counter()
    while going and perf_counter() - begin < PATIENCE:
        going = False
        for smaller in smaller_cases(case):
            now = outcome(replace(smaller, steps=MORE_STEPS))
            if (now.status, now.check) == (found.status, found.check):
                case, found, going = replace(smaller, steps=now.step), now, True
                break
    return replace(case, steps=found.step), found


def smaller_cases(case: Case) -> Iterator[Case]:
    """The case with a line less, or an option of a line or of the solver less."""
    for i in reversed(range(1, len(case.lines))):
        yield replace(case, lines=case.lines[:i] + case.lines[i + 1 :])
    for solver in shorter(case.solver):
        yield replace(case, solver=solver)
    for i in reversed(range(len(case.lines))):
        for line in shorter(case.lines[i]):
            yield replace(case, lines=(*case.lines[:i], line, *case.lines[i + 1 :]))
    if ".quadratic()" in "".join(case.lines):
        yield replace(case, lines=tuple(line.replace(".quadratic()", "") for line in case.lines))


def shorter(line: str) -> Iterator[str]:
    """A line of code without one of the keyword arguments of its calls."""
    count = sum(isinstance(node, ast.Call) for node in ast.walk(ast.parse(line)))
    for i in range(count):
        for k in range(20):
            tree = ast.parse(line)
            call = [node for node in ast.walk(tree) if isinstance(node, ast.Call)][i]
            if k >= len(call.keywords):
                break
            if call.keywords.pop(k).arg not in KEPT:
                yield ast.unparse(tree)


if __name__ == "__main__":
    for seed in map(int, sys.argv[1:]):
        small, found = shrunk(generate(seed))
        print(f"# {seed}: {found.status}, {found.check}, step {found.step}: {found.words[:300]}", flush=True)
        print(small.script, "\n", flush=True)
