"""Random small scenes: a dozen of them here, hundreds in the study (`make test-random`).

The study takes PLIANT_SCENES scenes (500) from the seed PLIANT_SEED (0) on; what a solver refuses is replaced by the
next seed. Seeds in KNOWN fail for a cause that is known, and are reported apart.
"""

import os
from collections import Counter

import pytest

from random_checks import run_seed

SEEDS = (15, 19, 20, 27, 35, 53, 54, 60, 63, 78, 84, 87)
# Seeds that fail, by cause.
CAUSES = {
    # angular velocities from momenta and late torques, of which bodies that turn far in a step make any size
    "spin after the step": (261, 395, 484),
    # errors of rows say little about motions where masses or stiffnesses differ
    "claim of dual": (96, 105, 131, 148, 278, 282, 492, 515),
    # corrections of loosely solved systems are smaller than the error
    "iterative linear solves": (391, 469, 497),
    # both of the above and below
    "spin and measure": (329,),
    # a velocity motor and an open joint that pull a light body about
    "motor": (90, 190, 232, 267, 312, 429, 451, 503),
    # stiff springs that are linear in a step stretch as bodies turn
    "linear rows of compliant joints": (7, 86, 92, 146, 225, 284, 294),
    # Newton stops after 50 iterations with open joints, and the step counts
    "not converged with open joints": (103, 290, 396, 476, 488),
    # small corrections far from the answer
    "slow convergence": (251, 371),
    # rows that are linear in a step and too long a turn
    "linear rows": (114, 121, 123, 145, 255, 381, 405),
    # what a correction is measured by holds the turning stiffness of another iterate
    "measure of the motion": (202,),
    # gaps are closed by moving nodes of stiff bodies
    "gaps closed against elasticity": (62, 259, 482),
    # a step that ends several turns away or inside out
    "another minimum": (195, 407),
    # not yet looked into
    "unsorted": (530, 541, 550, 555),
}
KNOWN: dict[int, str] = {seed: cause for cause, seeds in CAUSES.items() for seed in seeds}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_scene(seed):
    found = run_seed(seed)
    assert found.status == "ok", f"{found.check} in step {found.step}: {found.words}"


@pytest.mark.slow
def test_study():
    """Hundreds of scenes; prints how many ran, were refused, stopped and failed, and why."""
    seed, wanted = int(os.environ.get("PLIANT_SEED", 0)), int(os.environ.get("PLIANT_SCENES", 500))
    counts, failures, known, why = Counter(), {}, Counter(), Counter()
    while counts["run"] < wanted:
        found = run_seed(seed)
        counts["run"] += found.status != "refused"
        counts[found.status] += 1
        counts["not converged"] += found.unconverged > 0
        if found.status == "stopped":
            why[found.words.split("): ")[-1][:60]] += 1
        if found.status == "failed" and seed in KNOWN:
            known[KNOWN[seed]] += 1
        elif found.status == "failed":
            failures[seed] = f"{found.check} in step {found.step}: {found.words}"
        seed += 1
    print(report(counts, why, known))
    assert not failures, "\n".join(f"{seed}: {words}" for seed, words in failures.items())


def report(counts: Counter, why: Counter, known: Counter) -> str:
    """The study in words."""
    lines = [", ".join(f"{count} {name}" for name, count in counts.items())]
    lines += [f"stopped: {count} x {words}" for words, count in why.most_common()]
    lines += [f"known: {count} x {cause}" for cause, count in known.most_common()]
    return "\n".join(lines)
