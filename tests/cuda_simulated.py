"""Run in a process of its own with Numba's CUDA simulator: the kernels of the start of a step, of trials and of
corrections, against the same in NumPy."""

import numpy as np
from numba import cuda

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda import nodes
from pliant.kernels.cuda.layout import grouped, ungrouped

ROWS, H, GRAVITY = 64, 0.02, np.array([0.1, -0.2, -9.81])
rng = np.random.default_rng(0)


def vector(values: np.ndarray):
    return cuda.to_device(grouped(values))


def rows(array) -> np.ndarray:
    return ungrouped(array.copy_to_host(), 3)


def main() -> None:
    mass, drag = rng.uniform(1, 2, ROWS), rng.uniform(0, 3, ROWS)
    mass[-3:] = 0.0  # rows without a node
    there = mass > 0
    free = (rng.uniform(size=(ROWS, 3)) > 0.3).astype(float)
    x, v, u, target, start = (rng.normal(size=(ROWS, 3)) for _ in range(5))
    vectors = rng.normal(size=(4, 3))
    pin = np.where(free == 0, rng.integers(-1, 2, size=(ROWS, 3)) * 3, 0)
    loads = (np.arange(ROWS + 1), np.arange(ROWS) % 3, rng.normal(size=ROWS))
    record = np.zeros((ROWS, c.RECORD), np.float32)
    record[:, c.FREE : c.FREE + 3], record[:, c.X : c.X + 3] = free, rng.normal(size=(ROWS, 3))
    numbers = np.zeros(c.NUMBERS)
    numbers[[c.STEP, c.FRESH, c.KNOWN, c.ENERGY]], numbers[c.GRAVITY : c.GRAVITY + 3] = (H, 1, 1, 7.0), GRAVITY
    on_gpu = {name: vector(np.zeros((ROWS, 3))) for name in ("previous", "warm", "base", "x", "xt")}
    on_gpu |= {"v": vector(v), "u": vector(u), "target": vector(target), "xt": vector(x)}
    names = ("x", "v", "previous", "warm", "target", "u", "xt")
    record_, numbers_, status = (
        cuda.to_device(grouped(record)),
        cuda.to_device(numbers),
        cuda.to_device(np.zeros(1, np.int32)),
    )
    material = [cuda.to_device(array) for array in (mass, drag)]
    pins = (cuda.to_device(grouped(pin)), vector(start))
    arguments = (numbers_, status, *material, tuple(map(cuda.to_device, loads)), cuda.to_device(vectors.ravel()), *pins)
    nodes.predict[2, 32](*arguments, record_, *(on_gpu[name] for name in names))

    force = loads[2][:, None] * vectors[loads[1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        goal = (u + H * (GRAVITY + force / mass[:, None])) / (1 + H * drag)[:, None]
    held = np.where(pin > 0, vectors[2], np.where(pin < 0, (start + vectors[2] - x) / H, 0.0))
    goal = np.where(free > 0, goal, held)
    begin = goal + free * (u - target)
    for name, expected in (("x", x), ("v", u), ("previous", v), ("warm", u - target), ("target", goal), ("u", begin)):
        assert np.allclose(rows(on_gpu[name])[there], expected[there], rtol=1e-13), name
    assert np.allclose(rows(on_gpu["xt"])[there], (x + H * begin)[there], rtol=1e-13)
    assert status.copy_to_host()[0] == c.START and numbers_.copy_to_host()[c.MOST] == 7.0

    numbers = numbers_.copy_to_host()
    numbers[[c.FACTOR, c.TAKING]] = 0.25, 1.0
    numbers_, status = cuda.to_device(numbers), cuda.to_device(np.array([c.TRYING], np.int32))
    motion = [on_gpu[name] for name in ("x", "base", "u", "xt")]
    on_gpu["base"].copy_to_device(grouped(begin))
    nodes.trial[2, 32](numbers_, status, c.mask(c.TRYING), record_, *motion)
    tried, direction = begin + 0.25 * record[:, c.X : c.X + 3], record[:, c.X : c.X + 3]
    assert np.allclose(rows(on_gpu["u"]), tried, rtol=1e-6)
    nodes.correct[2, 32](numbers_, status, c.mask(c.BALANCE), record_, *motion)  # not its turn
    assert np.allclose(rows(on_gpu["u"]), tried, rtol=1e-6)
    status = cuda.to_device(np.array([c.BALANCE], np.int32))
    nodes.correct[2, 32](numbers_, status, c.mask(c.BALANCE), record_, *motion)
    assert np.allclose(rows(on_gpu["u"]), tried + direction, rtol=1e-6, atol=1e-6)
    numbers[c.TAKING] = 0.0
    nodes.correct[2, 32](cuda.to_device(numbers), status, c.mask(c.BALANCE), record_, *motion)
    assert np.allclose(rows(on_gpu["u"]), tried, rtol=1e-6, atol=1e-6)
    assert np.allclose(rows(on_gpu["xt"])[there], (x + H * tried)[there], rtol=1e-6, atol=1e-6)
    print("simulated")


if __name__ == "__main__":
    main()
