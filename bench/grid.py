"""Runs the grid benchmark and prints it as JSON; the same as 'pliant bench grid --json'."""

import json

from pliant.benchmarks.grid import run

if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
