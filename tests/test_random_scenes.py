"""Random small scenes: a dozen of them here, hundreds in the study (`make test-random`).

The study takes PLIANT_SCENES scenes (500) from the seed PLIANT_SEED (0) on; what a solver refuses is replaced by the
next seed. Seeds in KNOWN fail for a cause that is known, and are reported apart.
"""

import os
from collections import Counter

import pytest

from random_checks import run_seed

SEEDS = (15, 19, 20, 27, 35, 53, 54, 60, 63, 78, 84, 87)
# Small scenes whose steps were once less converged than they said: iterations on joints, contacts with these, turning.
SEEDS += (187, 207, 209, 391)
# Springs that are all but rigid, and light bodies that these hold: what they store and how fast they spin.
SEEDS += (113, 225, 284, 426, 524)
# Joints that are put back together after a step: into a plane, and against all of the motion.
SEEDS += (86, 123, 145)
# Seeds that fail, by cause.
CAUSES = {
    # a body so stiff that what is left to correct, 7e-11 J, is rounding of its forces, in a motion of 3e-7 J
    "rounding": (138,),
    # a node inside a body, which touches nothing, leaves it where its weight, eight times its modulus, crushes it
    "turned inside out": (381,),
    # a contact that carries load, or has been left: a vertex at the edge of what it touches
    "two answers": (270,),
    # in as many parts with a smaller tolerance, but others; 36 not with every rounding
    "divided otherwise": (36, 111),
    # a step of the dual solver whose motion by rows and by loads all but cancel: what is left is measured by their sum,
    # here 1.001 times what is allowed beside the motion, not with every rounding
    "measured by what cancels": (131,),
    # one contact closes in by a tenth in seven iterations: 16 tolerances are left, not with every rounding
    "slower than foreseen": (425,),
    # a light box that lands on an edge, beside all else, turns otherwise with other contacts found on the
    # way: 12.6 tolerances are left, all of them its own
    "found on the way": (184,),
    # contacts of bodies that are stiff beside their weight: 1.7 and 1.1 times what is allowed beside the motion is left
    "contacts of stiff bodies": (261, 389),
    # a step that ends several turns away, inside out, on the other side of a buckled shape, or elsewhere in a valley
    # that light bodies between stiff and heavy ones leave flat: of 522 it falls by 1e-4 over a third of the motion; of
    # 121, 130 and 476 bodies turn several times in a step; 451 and 504 not with every rounding
    "another minimum": (121, 130, 451, 476, 504, 522, 545),
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
