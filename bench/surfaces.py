"""Runs the benchmark of surface contact and prints it as JSON; the same as 'pliant bench surfaces --json'."""

import json

from pliant.benchmarks.surfaces import run

if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
