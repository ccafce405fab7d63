"""Runs the cantilever benchmark and prints it as JSON; the same as 'pliant bench cantilever --json'."""

import json

from pliant.benchmarks.cantilever import run

if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
