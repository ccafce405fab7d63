"""Runs the benchmark of meshes from surfaces and prints it as JSON; the same as 'pliant bench mesh --json'."""

import json

from pliant.benchmarks.mesh import run

if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
