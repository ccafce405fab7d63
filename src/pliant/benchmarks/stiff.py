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
            x, ms = ended(young, solver)
            error = float(np.abs(x - exact).max() / motion)
            found.append({"solver": name, "options": repr(solver), "young": young, "ms": ms, "error": error})
    return found


def draw(result: dict, path: str) -> None:
    """The result as a plot: error against milliseconds per step, both logarithmic, one panel per stiffness (SVG)."""
    width, height, gap = 150, 170, 36
    cases = [case for case in result["cases"] if np.isfinite(case["error"]) and np.isfinite(case["ms"])]
    low = np.floor(np.log10(min(case["ms"] for case in cases)))
    high = np.ceil(np.log10(max(case["ms"] for case in cases)))
    total = len(YOUNGS) * (width + 8) + gap
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height + 60}" font-family="sans-serif" '
        'font-size="10">',
        f'<rect width="{total}" height="{height + 60}" fill="white"/>',
    ]

    def place(panel: int, ms: float, error: float) -> tuple[float, float]:
        x = gap + panel * (width + 8) + width * (np.log10(ms) - low) / (high - low)
        return x, 20 + height * np.clip(-np.log10(max(error, 1e-12)) + 1, 0, 12) / 12

    for panel, young in enumerate(YOUNGS):
        left = gap + panel * (width + 8)
        parts.append(f'<rect x="{left}" y="20" width="{width}" height="{height}" fill="none" stroke="#bbb"/>')
        parts.append(f'<text x="{left + 4}" y="15">E = {young:.0e} Pa</text>')
        for tick in range(int(low), int(high) + 1):
            x, _ = place(panel, 10.0**tick, 1.0)
            parts.append(f'<text x="{x - 6:.1f}" y="{height + 34}">{10.0**tick:g}</text>')
        for name in SOLVERS:
            own = [case for case in cases if case["solver"] == name and case["young"] == young]
            places = [place(panel, case["ms"], case["error"]) for case in own]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>' for x, y in places]
    for power in range(0, 13, 3):
        _, y = place(0, 10.0**low, 10.0**-power)
        parts.append(f'<text x="2" y="{y + 3:.1f}">1e-{power}</text>')
    parts.append(f'<text x="{gap}" y="{height + 52}">milliseconds of one thread per step; error over motion</text>')
    for i, name in enumerate(SOLVERS):
        parts.append(f'<text x="{gap + 320 + 70 * i}" y="{height + 52}" fill="{COLOURS[name]}">{name}</text>')
    Path(path).write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def run(quick: bool = False) -> dict:
    """All stiffnesses; quick: three of them."""
    youngs = YOUNGS[::3] if quick else YOUNGS
    for solvers in SOLVERS.values():  # compiled before it is measured
        ended(youngs[0], solvers[0])
    return {"name": "stiff", "cores": os.cpu_count(), "cases": [case for young in youngs for case in measured(young)]}
