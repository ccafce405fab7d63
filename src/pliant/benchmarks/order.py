"""Four- against ten-node tets: how far the tip of a cantilever is off, and what a step of the same mesh takes."""

import os
import time
from pathlib import Path

import numpy as np

import pliant as pl

SIZE, YOUNG, DENSITY, STEP = (2.0, 0.2, 0.2), 1e6, 1000.0, 0.01
LOAD = 0.2  # N at the free end: deflections stay small
RATIOS = (0.3, 0.49)
CELLS = {1: (1, 2, 4, 6, 8), 2: (1, 2, 3, 4)}
FINEST = 6


def beam(cells: int, order: int, poisson: float) -> tuple[pl.Scene, pl.bodies.Soft]:
    """A clamped beam, `cells` high and broad and five times that long (ten times would be cubes), without weight."""
    mesh = pl.meshes.box(SIZE, cells=(5 * cells, cells, cells))
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.Material.corotated(YOUNG, poisson, DENSITY)
    body = scene.add_soft(mesh.quadratic() if order == 2 else mesh, material)
    body.pin(body.nodes.x < 1e-9)
    body.force(body.nodes.x > SIZE[0] - 1e-9, (0, 0, -LOAD), spread="area")
    return scene, body


def tip(cells: int, order: int, poisson: float) -> float:
    """Mean deflection [m] of the free end at rest."""
    scene, body = beam(cells, order, poisson)
    end = body.nodes.x > SIZE[0] - 1e-9
    rest = scene.equilibrium()
    return float((body.nodes.z[end] - rest.positions(body)[end, 2]).mean())


def milliseconds(cells: int, order: int, poisson: float, steps: int) -> float:
    """Median time of a step of the beam as it swings under the load."""
    scene, _ = beam(cells, order, poisson)
    sim, times = scene.simulate(dt=STEP).step(3), []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def run(quick: bool = False) -> dict:
    """The cases of both kinds, each with its error against ten-node tets six cells high."""
    cases = []
    for poisson in RATIOS:
        exact = tip(3 if quick else FINEST, 2, poisson)
        for order, sizes in CELLS.items():
            for cells in sizes[:2] if quick else sizes:
                cases.append(
                    {
                        "label": f"{(4, 10)[order - 1]}-node tets, {cells} high, nu {poisson}",
                        "nodes_per_tet": (4, 10)[order - 1],
                        "cells_high": cells,
                        "poisson": poisson,
                        "tets": 30 * cells**3,
                        "ms_per_step": milliseconds(cells, order, poisson, 5 if quick else 25),
                        "tip_error": abs(tip(cells, order, poisson) / exact - 1),
                    }
                )
    return {"name": "order", "cores": os.cpu_count(), "cases": cases}


def draw(result: dict, path: str | os.PathLike) -> None:
    """The result as a plot: error of the tip against milliseconds per step, both logarithmic (SVG)."""
    width, height, left, top, right, bottom = 640, 400, 70, 30, 80, 50
    cases = result["cases"]
    x, y = (np.log10([case[key] for case in cases]) for key in ("ms_per_step", "tip_error"))
    bounds = [(np.floor(values.min()), np.ceil(values.max())) for values in (x, y)]

    def place(a: float, b: float) -> tuple[float, float]:
        (x0, x1), (y0, y1) = bounds
        return (
            left + (a - x0) / (x1 - x0) * (width - left - right),
            height - bottom - (b - y0) / (y1 - y0) * (height - top - bottom),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{width / 2}" y="{height - 12}" text-anchor="middle">milliseconds per step</text>',
        f'<text x="16" y="{height / 2}" text-anchor="middle" transform="rotate(-90 16 {height / 2})">'
        "error of the tip</text>",
    ]
    for axis, (low, high) in enumerate(bounds):
        for power in np.arange(low, high + 1):
            u, v = place(power, bounds[1][0]) if axis == 0 else place(bounds[0][0], power)
            end = (u, top) if axis == 0 else (width - right, v)
            parts.append(f'<line x1="{u:.1f}" y1="{v:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" stroke="#ddd"/>')
            spot = (
                f'x="{u:.1f}" y="{v + 16:.1f}" text-anchor="middle"'
                if axis == 0
                else f'x="{u - 6:.1f}" y="{v + 4:.1f}" text-anchor="end"'
            )
            parts.append(f"<text {spot}>{10.0**power:g}</text>")
    for order, color in ((4, "#c0392b"), (10, "#2c6fbb")):
        for poisson, dash, away in zip(RATIOS, ("", ' stroke-dasharray="6 4"'), (18, 2)):
            chosen = [k for k, case in enumerate(cases) if (case["nodes_per_tet"], case["poisson"]) == (order, poisson)]
            points = [place(x[k], y[k]) for k in chosen]
            line = " ".join(f"{u:.1f},{v:.1f}" for u, v in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
            parts += [f'<circle cx="{u:.1f}" cy="{v:.1f}" r="3.5" fill="{color}"/>' for u, v in points]
            u, v = points[-1]
            name = f"{order}-node, nu {poisson}"
            parts.append(f'<text x="{u + 7:.1f}" y="{v + away:.1f}" fill="{color}">{name}</text>')
    Path(path).write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
