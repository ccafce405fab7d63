"""Piles in a bin: rigid spheres and boxes, and soft cubes."""

import os

import numpy as np

import pliant as pl
from pliant.benchmarks._watched import watched
from pliant.benchmarks.peers import measure_piles

DENSITY, FRICTION, STEP = 1000.0, 0.5, 1 / 60
# A tolerance for games, penetrations of a percent of what touches; for how many bodies it is tried, and for how many
# nothing else is, neither the default tolerance nor other engines.
LOOSE, MANY, MOST = 0.1, 250, 1000


def bin_walls(width: float, height: float) -> list:
    """Sizes and positions [m] of the four walls of a bin."""
    walls, thick = [], 0.1
    for axis in range(2):
        for side in (-1, 1):
            size, place = [width + 2 * thick, width + 2 * thick, height], [0.0, 0.0, height / 2]
            size[axis], place[axis] = thick, side * (width + thick) / 2
            walls.append((size, place))
    return walls


def bin_scene(width: float, height: float, friction: float = FRICTION) -> pl.Scene:
    """A floor and four walls [m]."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=friction)
    for size, place in bin_walls(width, height):
        scene.add_rigid(pl.Box(size), static=True, position=place, friction=friction)
    return scene


def pile(count: int) -> tuple[list, float, float]:
    """Spheres and boxes of 0.1 m in turn, in layers: shape, size and position of each; width and height of the bin."""
    across, random = max(2, round((count / 4) ** (1 / 3))), np.random.default_rng(1)
    bodies = []
    for i in range(count):
        layer, place = divmod(i, across * across)
        x, y = (np.array(divmod(place, across)) - 0.5 * (across - 1)) * 0.14
        offset = random.uniform(-0.01, 0.01, 2)
        where = [float(x + offset[0]), float(y + offset[1]), 0.1 + 0.14 * layer]
        bodies.append(("sphere", [0.05], where) if i % 2 else ("box", [0.09, 0.09, 0.09], where))
    return bodies, 0.16 * across, 0.2 * across * 4


def rigid_pile(count: int) -> pl.Scene:
    """That pile, dropped."""
    bodies, width, height = pile(count)
    scene = bin_scene(width, height)
    for shape, size, place in bodies:
        kind = pl.Sphere(size[0]) if shape == "sphere" else pl.Box(size)
        scene.add_rigid(kind, density=DENSITY, position=place, friction=FRICTION)
    return scene


def peers_on_pile(count: int, seconds: float) -> list[dict]:
    """Other engines on it."""
    bodies, width, height = pile(count)
    walls, steps = bin_walls(width, height), round(seconds / STEP)
    return measure_piles(bodies=bodies, walls=walls, friction=FRICTION, density=DENSITY, steps=steps, step=STEP)


def soft_pile(across: int = 3, cells: int = 4) -> pl.Scene:
    """Soft cubes of 0.2 m, across^3 of them, dropped in layers."""
    scene, random = bin_scene(0.26 * across, 0.3 * across), np.random.default_rng(2)
    material = pl.Material.corotated(young=5e4, poisson=0.4, density=1000, damping=0.01)
    mesh = pl.meshes.box((0.2, 0.2, 0.2), cells=cells)
    for place in np.ndindex(across, across, across):
        x, y = (np.array(place[:2]) - 0.5 * across) * 0.25 + random.uniform(0, 0.04, 2)
        scene.add_soft(mesh, material, position=(x, y, 0.02 + 0.24 * place[2]), friction=0.5)
    return scene


def growth(name: str, counts: list[int], cases: list[dict]) -> dict:
    """With what power of the number of bodies the time of a step grows, by cases of these with a solver."""
    found = [next(case for case in cases if case["label"] == f"{n} rigid spheres and boxes, {name}") for n in counts]
    times = {kind: [case[kind] for case in found] for kind in ("ms_per_step", "mean_ms", "processor_ms")}
    powers = {f"exponent_{kind}": float(np.polyfit(np.log(counts), np.log(t), 1)[0]) for kind, t in times.items()}
    return {"label": f"growth from {counts[0]} to {counts[-1]} bodies, {name}", **powers}


def run(quick: bool = False, peers: bool | None = None) -> dict:
    """All cases; quick: few bodies, short, without other engines unless asked for."""
    counts, seconds = ((16, 32), 0.5) if quick else ((32, 64, 128, 250, 1000, 2000, 4000), 2.0)
    cases, several = [], counts if quick else [count for count in counts if count >= MANY]
    solvers = {"tolerance 0.1": pl.Newton(LOOSE), "Bounded": pl.Bounded()}
    for count in counts:
        label = f"{count} rigid spheres and boxes"
        if count <= MOST:
            cases.append(watched(label, rigid_pile(count), seconds))
        for name, solver in solvers.items() if count in several else ():
            cases.append(watched(f"{label}, {name}", rigid_pile(count), seconds, solver=solver))
        if count <= MOST and (peers or (peers is None and not quick)):
            cases += peers_on_pile(count, seconds)
    cases += [growth(name, several, cases) for name in solvers]
    cases.append(watched("27 soft cubes" if not quick else "8 soft cubes", soft_pile(2 if quick else 3), seconds))
    return {"name": "pile", "cores": os.cpu_count(), "cases": cases}
