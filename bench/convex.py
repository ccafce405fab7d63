"""Times the narrow phase between convex solids: microseconds for each pair, by kinds, touching and apart, and seconds
of the first call. Run with an empty folder as PLIANT_CACHE to see what compiling takes."""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from scipy.spatial.transform import Rotation

from convex_reference import SCRATCH, collide_all, make
from pliant.collide.hull import build_hulls
from pliant.kernels.collide import ContactPoints
from pliant.kernels.cpu.collide.pairs import collide_pairs
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, SPHERE

PAIRS = 2000


def flat_boxes(random):
    """Boxes that lie on each other, turned about the vertical."""
    parameter = np.tile([0.5, 0.5, 0.5, 0.005], (2 * PAIRS, 1))
    position = np.zeros((2 * PAIRS, 3))
    position[::2] = np.column_stack([random.uniform(-0.3, 0.3, (PAIRS, 2)), 1 - 1e-4 * random.random(PAIRS)])
    frame = np.tile(np.eye(3), (2 * PAIRS, 1, 1))
    frame[::2] = Rotation.from_rotvec(np.outer(random.uniform(0, 3, PAIRS), [0, 0, 1])).as_matrix()
    return np.full(2 * PAIRS, BOX), parameter, position, frame


def random_pairs(code_a, code_b, distance, random):
    """Random solids of two kinds, their centres so far apart."""
    kinds = [make(code, random) for code in (code_a, code_b)]
    direction = random.normal(size=(PAIRS, 3))
    position = np.zeros((2 * PAIRS, 3))
    position[::2] = distance * direction / np.linalg.norm(direction, axis=1)[:, None]
    frame = Rotation.random(2 * PAIRS, random_state=1).as_matrix()
    parameter = np.tile([(*kind.parameter, 0, 0, 0)[:4] for kind in kinds], (PAIRS, 1))
    return kinds, np.tile([code_a, code_b], PAIRS), parameter.astype(float), position, frame


def microseconds(codes, parameter, position, frame, hulls, reach):
    """Best time for each pair of five runs, and contacts for each pair."""
    pairs = np.arange(2 * PAIRS).reshape(-1, 2)
    out = ContactPoints(*np.zeros((3, 8 * PAIRS, 3)), np.zeros(8 * PAIRS), np.zeros(8 * PAIRS, np.int64))
    index, room = np.zeros(2 * PAIRS, np.int64), np.zeros(8 * PAIRS, np.int64)
    arguments = (pairs, codes, parameter, index, hulls, position, frame, np.full(PAIRS, reach), 8, SCRATCH, room, out)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        count = collide_pairs(*arguments)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / PAIRS, count / PAIRS


def main():
    random = np.random.default_rng(0)
    start = time.process_time()
    collide_all([make(BOX, random), make(BOX, random)], np.array([[0, 1]]))
    print(f"first call {time.process_time() - start:.2f} s of processor time")
    hulls, _ = build_hulls([random.normal(size=(20, 3))])
    print("boxes lying on boxes: {:.2f} us, {:.1f} points".format(*microseconds(*flat_boxes(random), hulls, 0.01)))
    names = {SPHERE: "sphere", BOX: "box", CAPSULE: "capsule", CYLINDER: "cylinder", CONE: "cone", HULL: "hull"}
    for distance, what in ((0.3, "deep"), (1.0, "touching"), (2.2, "near"), (5.0, "far")):
        for a, b in ((SPHERE, SPHERE), (BOX, BOX), (BOX, CAPSULE), (CYLINDER, CYLINDER), (CONE, BOX), (HULL, HULL)):
            kinds, *arguments = random_pairs(a, b, distance, random)
            clouds = [kind.points for kind in kinds if kind.code == HULL][:1]
            time_taken, points = microseconds(*arguments, build_hulls(clouds)[0], 0.05)
            print(f"{what:9} {names[a]:9} {names[b]:9} {time_taken:6.2f} us, {points:.2f} points")


if __name__ == "__main__":
    main()
