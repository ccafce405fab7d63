"""Runs the brick benchmark and prints it as JSON; the same as 'pliant bench brick --json'."""

import json

from pliant.benchmarks.brick import run

if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
