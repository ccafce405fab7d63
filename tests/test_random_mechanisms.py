"""Random mechanisms: some here, hundreds in the study (`make test-random`).

The study takes PLIANT_MECHANISMS (300) from the seed PLIANT_SEED (0) on.
"""

import os

import pytest

from random_mechanisms import run

# 74, 119, 205 and 287 creep where only gaps must lead back to joints; 92 and 128 have light links between heavy bodies;
# 64 and 226 have limits and ropes that are overrun to second order; of 5 and 179 limits are opened, or met unforeseen,
# on the way back to joints.
SEEDS = (0, 1, 2, 3, 4, 5, 64, 74, 92, 119, 128, 179, 205, 226, 287)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_random_mechanism(seed):
    found = run(seed, steps=30)
    assert found.status == "ok", f"{found.status} in step {found.step}: {found.number:.3g}"
    assert found.unconverged == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_study_of_mechanisms():
    """Hundreds of mechanisms: none stops, gains energy or opens, and every step converges."""
    seed, count = int(os.environ.get("PLIANT_SEED", 0)), int(os.environ.get("PLIANT_MECHANISMS", 300))
    failures = {}
    for own in range(seed, seed + count):
        found = run(own)
        if found.status != "ok" or found.unconverged:
            failures[own] = (
                f"{found.status} in step {found.step}: {found.number:.3g}; {found.unconverged} steps not converged"
            )
    assert not failures, "\n".join(f"{own}: {words}" for own, words in failures.items())
