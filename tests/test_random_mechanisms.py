"""Random mechanisms: some here, hundreds in the study (`make test-random`).

The study takes PLIANT_MECHANISMS (300) from the seed PLIANT_SEED (0) on. Seeds in KNOWN fail for a cause that is known.
"""

import os
from collections import Counter

import pytest

from random_mechanisms import run

SEEDS = (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 80)
# Seeds that fail, by cause.
CAUSES: dict[str, tuple[int, ...]] = {
    # energy with eliminated rows, not yet looked into
    "unsorted": (135,),
}
KNOWN = {seed: cause for cause, seeds in CAUSES.items() for seed in seeds}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_random_mechanism(seed):
    found = run(seed, steps=30)
    assert found.status == "ok", f"{found.status} in step {found.step}: {found.number:.3g}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_study_of_mechanisms():
    """Hundreds of mechanisms; prints how many ran, stopped and failed, and how many had steps without convergence."""
    seed, count = int(os.environ.get("PLIANT_SEED", 0)), int(os.environ.get("PLIANT_MECHANISMS", 300))
    counts, failures = Counter(), {}
    for own in range(seed, seed + count):
        found = run(own)
        counts[found.status] += 1
        counts["with steps not converged"] += found.unconverged > 0
        if found.status not in ("ok", "stopped"):
            counts[f"known: {KNOWN.get(own, 'no')}"] += 1
            if own not in KNOWN:
                failures[own] = f"{found.status} in step {found.step}: {found.number:.3g}"
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    assert not failures, "\n".join(f"{own}: {words}" for own, words in failures.items())
