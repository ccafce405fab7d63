"""Mixed steps beside Newton's, from soft to stiff: how far a swinging beam is off after so much time of the processor.

Every curve is one solver at one stiffness, with more and more iterations per step; the answer is that of implicit Euler
to 1e-10. `draw` makes the plot of docs/mixed.md.
"""

import os
import time
from pathlib import Path

import numpy as np

import pliant as pl

YOUNGS = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10)
STEPS, STEP, CELLS = 10, 1 / 60, (12, 3, 3)
SOLVERS = {
    "mixed": [pl.Mixed(outer=outer, inner=inner, tolerance=1e-12) for outer, inner in ((1, 2), (1, 5), (2, 3), (4, 3))],
    "newton": [pl.Newton(max_iterations=most, tolerance=1e-12) for most in (1, 2, 4, 8)],
}
# Sizes of a panel of the plot, and the least error that it tells from none.
WIDTH, HEIGHT, SPACE, GAP = 140, 180, 16, 40
LEAST, DECADES = 1e-12, 12
# How often a run is timed; the least counts.
REPEATED = 3
COLOURS = {"mixed": "#00718f", "newton": "#c8553d"}


def beam(young: float) -> tuple[pl.Scene, pl.bodies.Soft]:
    """A neo-Hookean beam, clamped at one end, that touches nothing."""
    scene, law = pl.Scene(), pl.Material.neohookean(young=young, poisson=0.45, density=1000)
    body = scene.add_soft(pl.meshes.box((1.0, 0.2, 0.2), cells=CELLS), law, collide=False, self_contact=False)
    body.pin(body.nodes.x < 1e-9)
    return scene, body


def ended(young: float, solver) -> tuple[np.ndarray, float]:
    """Positions (n, 3) [m] after all steps, and milliseconds of one thread per step; not numbers where it gave up."""
    scene, body = beam(young)
    sim = scene.simulate(dt=STEP, solver=solver, threads=1)
    start = time.thread_time()
    try:
        sim.step(STEPS)
    except pl.SolverError:
        return np.full(body.nodes.positions.shape, np.nan), np.nan
    return sim.positions(body).copy(), 1e3 * (time.thread_time() - start) / STEPS


def measured(young: float) -> list[dict]:
    """Errors, relative to the motion, and milliseconds per step of all solvers at one stiffness."""
    exact, _ = ended(young, pl.Mixed(outer=100, inner=4, tolerance=1e-10))
    motion = np.abs(exact - beam(young)[1].nodes.positions).max()
    found = []
    for name, solvers in SOLVERS.items():
        for solver in solvers:
            runs = [ended(young, solver) for _ in range(REPEATED)]
            x, ms = runs[0][0], min(run[1] for run in runs)
            error = float(np.abs(x - exact).max() / motion)
            found.append({"solver": name, "options": repr(solver), "young": young, "ms": ms, "error": error})
    return found


def draw(result: dict, path: str) -> None:
    """The result as a plot: error against milliseconds per step, both logarithmic, one panel per stiffness (SVG)."""
    cases = [case for case in result["cases"] if np.isfinite(case["error"]) and np.isfinite(case["ms"])]
    youngs = sorted({case["young"] for case in cases})
    times = [case["ms"] for case in cases]
    ticks = [digit * 10.0**power for power in range(-2, 4) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if min(times) / 2 < tick < max(times) * 2]
    whole, high = GAP + len(youngs) * (WIDTH + SPACE), HEIGHT + 64
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {high}" font-family="sans-serif" '
        'font-size="10">',
        f'<rect width="{whole}" height="{high}" fill="white"/>',
    ]
    for panel, young in enumerate(youngs):
        own = [case for case in cases if case["young"] == young]
        parts += _panel(GAP + panel * (WIDTH + SPACE), own, ticks, labelled=panel == 0)
    parts.append(f'<text x="{GAP}" y="{high - 10}">milliseconds of one thread per step; error over motion</text>')
    for i, name in enumerate(SOLVERS):
        parts.append(f'<text x="{GAP + 320 + 70 * i}" y="{high - 10}" fill="{COLOURS[name]}">{name}</text>')
    Path(path).write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _panel(left: float, cases: list[dict], ticks: list[float], labelled: bool) -> list[str]:
    """The lines of one panel, with labels of its errors if it is the first."""
    first, decades = np.log10(ticks[0]), np.log10(ticks[-1] / ticks[0])

    def across(ms: float) -> float:
        return left + WIDTH * (np.log10(ms) - first) / decades

    def down(error: float) -> float:
        return 20 + HEIGHT * np.clip(-np.log10(max(error, LEAST)), 0, DECADES) / DECADES

    right, bottom = left + WIDTH, 20 + HEIGHT
    parts = [f'<text x="{left + WIDTH / 2}" y="13" text-anchor="middle">{cases[0]["young"]:.0e} Pa</text>']
    for x, tick in ((across(tick), tick) for tick in ticks):
        parts.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{bottom}" stroke="#eee"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>')
    for power in range(0, DECADES + 1, 3):
        y = down(10.0**-power)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#eee"/>')
        if labelled:
            parts.append(f'<text x="{left - 5}" y="{y + 3:.1f}" text-anchor="end">1e-{power}</text>')
    parts.append(f'<rect x="{left}" y="20" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>')
    for name in SOLVERS:
        places = [(across(case["ms"]), down(case["error"])) for case in cases if case["solver"] == name]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>' for x, y in places]
    return parts


def run(quick: bool = False) -> dict:
    """All stiffnesses; quick: three of them."""
    youngs = YOUNGS[::3] if quick else YOUNGS
    for solvers in SOLVERS.values():  # compiled before it is measured
        ended(youngs[0], solvers[0])
    return {"name": "stiff", "cores": os.cpu_count(), "cases": [case for young in youngs for case in measured(young)]}
