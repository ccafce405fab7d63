"""Steps of a scene with contacts, watched: times, iterations, convergence, penetrations."""

import time

import numpy as np

import pliant as pl


def watched(label: str, scene: pl.Scene, seconds: float, step: float = 1 / 60, solver=None, **more) -> dict:
    """One case of a benchmark: what `seconds` in steps of `step` [s] take; compilation happens beforehand."""
    scene.simulate(dt=step, solver=solver).step(2)
    sim = scene.simulate(dt=step, solver=solver)
    times, newton, linear, unconverged, parts, gaps, touching = [], [], [], 0, 0, [], []
    processor, imbalances = [], []
    for _ in range(round(seconds / step)):
        start, worked = time.perf_counter(), time.process_time()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - worked))
        imbalances.append(sim.info.imbalance)
        newton.append(sim.info.newton_iterations)
        linear.append(sim.info.iterations)
        unconverged += not sim.info.converged
        parts += sim.info.parts > 1
        # of rigid bodies as it is where the step has led, whatever the solver foresaw
        found = sim.contacts.gaps
        found = found if sim.model.node_count else sim.model.colliders.contacts_of_solids(sim.state, 0.0).gap
        gaps.append(float(found.min(initial=0.0)))
        touching.append(sim.info.contacts)
    touched = [ms for ms, count in zip(times, touching) if count] or times
    return {
        "label": label,
        "bodies": len(scene.bodies),
        "tets": sim.model.element_count,
        "contacts": max(touching),
        "ms_per_step": float(np.median(touched)),
        "mean_ms": float(np.mean(times)),
        "worst_ms": float(max(times)),
        "processor_ms": float(np.median(processor)),
        "imbalance": float(np.median(imbalances)),
        "newton": float(np.mean(newton)),
        "worst_newton": int(max(newton)),
        "iterations": float(np.mean(linear)),
        "worst_iterations": int(max(linear)),
        "unconverged": unconverged,
        "in_parts": parts,
        "deepest_mm": 1e3 * max(0.0, -min(gaps)),
        "crossing": len(sim.state.crossing),
        "kinetic_J": sim.energy().kinetic,
        **{name: value(sim) for name, value in more.items()},
    }
