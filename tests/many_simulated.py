"""Run in a process of its own with Numba's CUDA simulator: whole Newton steps of many scenes by their kernels, beside
those of the CPU."""

import contextlib
import warnings

import numpy as np
from numba.cuda.simulator import kernel as simulator

import pliant as pl
from many_scenes import DT, finger
from pliant.elements import tangles
from pliant.jit import kernel
from pliant.kernels import laws
from pliant.kernels.cuda import many_decisions, many_elements, many_program, many_rows, toolkit
from pliant.rows import potential
from pliant.solve.newton import closing, criteria, lengths, minimise, solver


@kernel
def deform(law, f, group, lane):
    return laws.deform(law, f, group, lane)


@kernel
def stiffness_moduli(law, s, group, lane):
    return laws.stiffness_moduli(law, s, group, lane)


def plain(value):
    """A value without the simulator's wrappers of arrays."""
    if isinstance(value, tuple):
        return type(value)(*map(plain, value)) if hasattr(value, "_fields") else tuple(map(plain, value))
    value = getattr(value, "_item", value)
    return getattr(value, "_ary", value)


def on_host(function):
    """What is compiled for the CPU, called from a simulated kernel."""
    return lambda *arguments: function(*map(plain, arguments))


@contextlib.contextmanager
def swapped(function, fake):
    """As the simulator's own, which takes the module back while other threads still use it."""
    function.__globals__["cuda"] = fake
    yield


def prepare() -> None:
    """Let kernels of many scenes run here, by two threads."""
    simulator.swapped_cuda_module = swapped
    many_elements.deform, many_elements.stiffness_moduli = on_host(deform), on_host(stiffness_moduli)
    for name in ("anchor_at", "coordinate", "fill_points", "fill_turning"):
        setattr(many_rows, name, on_host(getattr(many_rows, name)))
    many_program.THREADS = 2
    toolkit.find_gpu = lambda: None


def scenes() -> list[pl.Scene]:
    """Two fingers of one cell with different stiffness and goals."""
    return [finger(1e5, 0.5, (1, 1, 1)), finger(2e5, -0.3, (1, 1, 1))]


def beam() -> pl.Scene:
    """A cell without damping that is pinned at one end, loaded at the other, and has no joint."""
    scene = pl.Scene()
    block = scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=1), pl.Material.corotated(1e5, 0.3, 900))
    block.pin(block.nodes.x < 1e-9)
    block.force(block.nodes.x > 0.09, (0.0, 0.4, 0.0))
    return scene


def check_a_beam(newton: pl.Newton) -> None:
    """No joints, no damping, pins: one step."""
    there, here = (pl.simulate_many(beam(), DT, count=1, device=name, solver=newton).step() for name in ("cuda", "cpu"))
    assert not there.taken_on_cpu.any()
    moved = np.abs(here.positions() - here.starts[0].x).max()
    assert np.abs(there.positions() - here.positions()).max() < 1e-5 * moved


def check_constants() -> None:
    """Decisions are made by the numbers of the CPU's."""
    places = {
        lengths: ("SUFFICIENT", "OVERSHOOT", "MOST_CORRECTIONS"),
        minimise: ("MOST_TRIALS", "WHOLE", "NEAR", "RENEW"),
        closing: ("SLOW", "MOST_BALANCING", "FITTED", "PATIENCE"),
        criteria: ("GAP", "CLOSED", "SHUT"),
        solver: ("SHORTEST_START",),
        tangles: ("MOST_INVERTED",),
    }
    for module, names in places.items():
        for name in names:
            assert getattr(many_decisions, name) == getattr(module, name), name
    balanced = (many_decisions.BALANCED, many_decisions.LOOSELY_BALANCED)
    assert balanced == (criteria.IMBALANCE, criteria.LARGEST_IMBALANCE)
    for name in ("NO_MOBILITY", "NO_IMPULSE", "STIFF_PART"):
        assert getattr(many_rows, name) == getattr(potential, name), name


def main() -> None:
    prepare()
    check_constants()
    newton = pl.Newton(tolerance=1e-6)
    check_a_beam(newton)
    many = pl.simulate_many(scenes(), DT, device="cuda", solver=newton)
    cpu = pl.simulate_many(scenes(), DT, workers=1, solver=newton)
    for own in (many, cpu):
        own.set_motor("base", position=[0.4, -0.2], only=[1, 0])
        own.step(1)
    assert not many.taken_on_cpu.any() and many.converged.all() and many.time.tolist() == cpu.time.tolist()
    moved = np.abs(cpu.positions() - cpu.starts[0].x).max()
    assert np.abs(many.positions() - cpu.positions()).max() < 1e-5 * moved
    assert np.abs(many.joint_position() - cpu.joint_position()).max() < 1e-5
    assert np.abs(many.motor_effort() / cpu.motor_effort() - 1).max() < 1e-4
    first, second = many[1], cpu[1]
    assert first.time == second.time and first.state.step == 1 and first.info.newton_iterations >= 1
    assert np.abs(first.velocities(first.scene.soft_bodies[0]) - many.velocities()[1]).max() == 0.0
    assert first.motors == second.motors

    many.reset(0)
    assert many.time.tolist() == [0.0, DT] and np.array_equal(many.positions()[0], many.starts[0].x)
    stretched = 1.5 * cpu.positions()[1]
    many.set_positions("finger", stretched, only=1)
    assert np.array_equal(many.positions()[1], stretched)
    many.set_positions("finger", cpu.positions()[1] * (-1.0, 1.0, 1.0), only=1)  # inside out: a step for the CPU
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many.step(1)
    assert many.taken_on_cpu.tolist() == [0, 1]
    assert many.running.all()
    assert np.allclose(many.time, [DT, 2 * DT]) and many.infos[1].newton_iterations > 1  # it may be taken in parts
    print("simulated")


if __name__ == "__main__":
    main()
