"""What many scenes on a GPU need of the host: refusals by name, layouts, numbers of motors; and whole steps of their
kernels in Numba's CUDA simulator."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from cuda_support import WHY_NOT
from many_scenes import DT, falling, finger, loaded, pull
from pliant.kernels.cuda import many_arrays
from pliant.solve.many import data
from pliant.solve.many.layout import PAIRS, lay_out


def two_laws() -> pl.Scene:
    scene = finger()
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=1), pl.Material.corotated(1e5, 0.3, 900), collide=False)
    return scene


def hung(**options) -> pl.Scene:
    scene = finger()
    scene.join(pl.Ball(pl.world, scene.soft_bodies[0], at=(0.1, 0.01, 0.01), name="end", **options))
    return scene


def driven(motor: pl.Motor, **options) -> pl.Scene:
    scene = finger()
    scene.join(pl.Slider(pl.world, scene.soft_bodies[0], at=(0.1, 0.01, 0.01), axis=(1, 0, 0), motor=motor, **options))
    return scene


def moving() -> pl.Scene:
    scene = finger()
    body = scene.soft_bodies[0]
    body.pin(body.nodes.x > 0.099, velocity=(0, 0, 1))
    return scene


def soft(**material) -> pl.Scene:
    scene = pl.Scene()
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=1), pl.Material.corotated(1e5, 0.3, 900, **material))
    return scene


@pytest.mark.parametrize(
    ("scenes", "options", "message"),
    [
        ([finger(), falling()], {}, "scene 1: .*rigid bodies, such as 'ball'"),
        ([loaded(pull)], {}, "scene 0: .*loads that are functions of time"),
        ([moving()], {}, "pins that move"),
        ([two_laws()], {}, "several material laws"),
        ([soft(plasticity=pl.Plasticity(0.02, 40, 0.4))], {}, "plasticity"),
        ([hung(break_force=1.0)], {}, "joints that break, as 'end'"),
        ([driven(pl.Motor(velocity=np.sin))], {}, "motors whose goal is a function of time"),
        ([driven(pl.Motor(velocity=1.0), limits=(0, 1))], {}, "motors of unlimited force against limits"),
        ([finger(), finger(cells=(4, 2, 2))], {}, "scene 1: .*of one structure, and its nodes are not"),
        ([finger(), hung()], {}, "scene 1: .*of one structure, and its joints are not"),
        ([finger(), finger(law="neohookean")], {}, "scene 1: .*its laws are not"),
        ([soft()], {"solver": pl.Dual()}, "pliant.Dual, but pliant.Newton"),
        ([finger()], {"solver": pl.Newton(integrator="bdf2")}, "BDF2"),
        ([finger()], {"solver": pl.Newton(linear="pcg")}, "linear='pcg'"),
        ([finger()], {"workers": 2}, "workers take steps on the CPU"),
    ],
)
def test_what_a_gpu_does_not_do_is_refused_by_name(scenes, options, message):
    with pytest.raises(pl.SceneError, match=message):
        pl.simulate_many(scenes, DT, device="cuda", **options)


@pytest.mark.skipif(not WHY_NOT, reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_is_missing():
    with pytest.raises(pl.PliantError, match="device 'cuda' needs"):
        pl.simulate_many([finger()], DT, device="cuda")


def test_the_band_adds_up_what_elements_have():
    """Blocks that are summed by the lists of a layout are the matrix of all elements; none lies outside the band."""
    model = hung().simulate(DT, threads=1).model
    layout, rng = lay_out(model), np.random.default_rng(0)
    count, width = model.node_count, layout.width
    assert sorted(layout.order) == list(range(count)) and width < count // 2
    blocks = rng.normal(size=(len(layout.tets), 6, 3, 3))
    dense = np.zeros((count, count, 3, 3))
    for nodes, own in zip(layout.tets, blocks):
        for (a, b), pair in PAIRS.items():
            row, column = nodes[a], nodes[b]
            dense[row, column] += own[pair]
            dense[column, row] += own[pair].T
            dense[row, row] -= own[pair]
            dense[column, column] -= own[pair].T
    band = np.zeros((count, width + 1, 3, 3)).reshape(-1)
    for k, place in enumerate(layout.block_place):
        for code in layout.block_codes[layout.block_start[k] : layout.block_start[k + 1]]:
            block = blocks.reshape(-1, 3, 3)[code >> 2]
            block = block.T if code & 1 else block
            band[place : place + 9] += (-block if code & 2 else block).ravel()
    band = band.reshape(count, width + 1, 3, 3)
    for row in range(count):
        for column in range(count):
            expected = dense[row, column]
            if column <= row:
                own = band[row, column - row + width] if row - column <= width else 0.0
                assert np.allclose(own, expected)


def test_motors_of_many_are_the_rows_of_one():
    sim = driven(pl.Motor(position=0.1, stiffness=5.0, damping=0.2, max_torque=3.0)).simulate(DT, threads=1)
    rows = data.given_rows(many_arrays, sim.model, DT)[None].copy()
    block = int(sim.model.joints.drives.block[1])
    for change in ({"position": 0.4, "stiffness": 7.0, "damping": 0.3}, {"velocity": 0.2, "max_torque": 2.0}):
        sim.set_motor(sim.scene.joints[1], **change)
        motor = {"position": np.nan, "velocity": np.nan, "stiffness": 0.0, "damping": 0.0, "max_torque": 3.0} | change
        data.set_motor_rows(many_arrays, rows, block, {name: np.array([value]) for name, value in motor.items()}, DT)
        assert np.allclose(rows[0], data.given_rows(many_arrays, sim.model, DT), rtol=1e-14)


def test_whole_steps_in_the_simulator_are_those_of_the_cpu():
    folder = Path(__file__).parent
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    command = [sys.executable, str(folder / "many_simulated.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and "simulated" in done.stdout, done.stderr
