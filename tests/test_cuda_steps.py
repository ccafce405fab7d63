"""Whole scenes on the GPU and on the CPU: the same positions, the same bits in every run; states that lie there."""

import copy

import numpy as np
import pytest

import pliant as pl
from cuda_scenes import press_through, three_blocks, upright
from cuda_support import block, both, distance, need_gpu
from pliant.model.resident import FETCHED, ResidentState
from pliant.scene.materials import LAWS

need_gpu()
SOFT = pl.Material.corotated(1e5, 0.3, 900.0)
VOLUME_LAWS = [name for name in LAWS if name != "springs"]
# Solved to 1e-7 of a step's motion on both; what float32 matrices change in 15 steps.
CLOSE = 2e-5


@pytest.mark.parametrize("law", VOLUME_LAWS)
def test_every_law_moves_as_on_the_cpu(law):
    scene, body = block(law)
    gpu, cpu = both(scene, 15)
    assert gpu.info.converged and gpu.info.linear == "pcg"
    assert distance(gpu, cpu, body) < CLOSE


def test_a_law_of_the_users_moves_as_on_the_cpu():
    scene = pl.Scene()
    energy = lambda I1, J, mu, k: mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2  # noqa: E731
    rubber = pl.Material.custom(energy, 1000, {"mu": 4e4, "k": 1e5})
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2)), rubber)
    body.pin(body.nodes.x < 1e-9)
    gpu, cpu = both(scene, 15)
    assert distance(gpu, cpu, body) < CLOSE


def test_loads_pins_and_motions_act_as_on_the_cpu():
    scene = pl.Scene(gravity=(0.3, -0.2, -5.0))
    first = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2)), SOFT, collide=False)
    first.pin(first.nodes.x < 1e-9, displacement=lambda t: (0.0, 0.0, 0.05 * np.sin(8 * t)))
    first.force(first.nodes.x > 0.59, lambda t: (0.0, 3.0 * t, 1.0))
    first.traction(first.faces.centres[:, 2] > 0.199, (40.0, 0.0, 10.0))
    stretched = pl.Material.neohookean(2e5, 0.4, 1100.0, mass_damping=3.0)
    second = scene.add_soft(pl.meshes.box((0.3, 0.2, 0.2), cells=(3, 2, 2)), stretched, position=(2, 0, 0))
    second.pin(second.nodes.x < 2 + 1e-9, axes="x", velocity=(-0.2, 0, 0))
    second.pin(second.nodes.z < 1e-9, axes="z")
    gpu, cpu = both(scene, 20)
    for body in (first, second):
        assert distance(gpu, cpu, body) < CLOSE
    held = second.nodes.positions[:, 2] < 1e-9
    assert np.abs(gpu.positions(second)[held, 2]).max() < 1e-12


def test_a_displacement_of_each_node_is_met():
    scene, body = block()
    end = body.nodes.x > 0.59
    goals = np.random.default_rng(0).normal(size=(int(end.sum()), 3)) * 0.01
    body.pin(end, displacement=goals)
    gpu, cpu = both(scene, 3)
    assert np.allclose(gpu.positions(body)[end], body.nodes.positions[end] + goals, atol=1e-12)
    assert distance(gpu, cpu, body) < CLOSE


def test_steps_converge_by_the_criterion_of_the_cpu():
    """The default tolerance, with the CPU's pcg: about as many iterations, and a measured balance."""
    scene, body = block(cells=(24, 8, 8))
    gpu, cpu = (scene.simulate(0.01, solver=pl.Newton(linear="pcg"), device=name) for name in ("cuda", "cpu"))
    for _ in range(10):
        gpu.step()
        cpu.step()
        assert gpu.info.converged and gpu.info.residual <= 1e-2 and gpu.info.imbalance <= 0.1
        assert gpu.info.newton_iterations <= cpu.info.newton_iterations + 1
    assert distance(gpu, cpu, body) < 5e-3


def test_long_steps_and_hard_starts_are_searched_along_the_line():
    """A block that is flung and stretched far beyond what a whole Newton step allows."""
    scene, body = block("neohookean", young=1e4)
    sims = [
        scene.simulate(0.05, solver=pl.Newton(tolerance=1e-7, linear="pcg"), device=name) for name in ("cuda", "cpu")
    ]
    x = body.nodes.positions.copy()
    shortest = 1.0
    for sim in sims:
        sim.set_velocities(body, np.where(x[:, :1] > 0.3, (30.0, 0.0, 20.0), 0.0))
    for _ in range(6):
        for sim in sims:
            sim.step()
        shortest = min(shortest, sims[0].info.shortest_step)
        assert sims[0].info.converged
    assert shortest < 1.0
    assert distance(*sims, body) < 1e-4


def test_the_same_bits_in_every_run():
    scene, body = block(cells=(12, 4, 4))
    first, second = (scene.simulate(0.01, device="cuda").step(40) for _ in range(2))
    assert np.array_equal(first.positions(body), second.positions(body))
    assert np.array_equal(first.velocities(body), second.velocities(body))
    assert first.info.iterations == second.info.iterations


def test_old_states_stay_as_they_were():
    """Read at once in one run, and after a further step in another."""
    scene, _ = plastic_block()
    first, second = (scene.simulate(0.01, device="cuda").step(5) for _ in range(2))
    read, kept = copy.deepcopy(first.state), second.state
    assert not set(FETCHED) & set(kept.__dict__)
    second.step()
    for name in FETCHED:
        now, then = getattr(kept, name), getattr(read, name)
        if name == "memory":
            now, then = now["newton"]["change"], then["newton"]["change"]
        assert np.array_equal(now, then), name
    assert not np.array_equal(kept.x, second.state.x)


def test_reading_does_not_change_a_run():
    scene, body = block()
    quiet, read = (scene.simulate(0.01, device="cuda") for _ in range(2))
    for _ in range(12):
        quiet.step()
        read.step()
        read.positions(body), read.energy(), read.state.memory
    assert np.array_equal(quiet.positions(body), read.positions(body))


def test_states_go_from_device_to_device():
    scene, body = block()
    gpu = scene.simulate(0.01, solver=pl.Newton(tolerance=1e-7, linear="pcg"), device="cuda").step(5)
    cpu = scene.simulate(0.01, solver=pl.Newton(tolerance=1e-7, linear="pcg"))
    cpu.state = copy.deepcopy(gpu.state)
    gpu.step(5)
    cpu.step(5)
    assert distance(gpu, cpu, body) < CLOSE


def test_what_is_set_counts():
    scene, body = block()
    gpu, cpu = (scene.simulate(0.01, solver=pl.Newton(tolerance=1e-7), device=name).step(3) for name in ("cuda", "cpu"))
    for sim in (gpu, cpu):
        sim.set_positions(body, 1.02 * body.nodes.positions)
        sim.set_velocities(body, np.tile((0.0, 0.1, 0.2), (len(body.nodes), 1)))
        sim.step(5)
    assert distance(gpu, cpu, body) < CLOSE


def test_reactions_and_energies_are_read_as_on_the_cpu():
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2)), pl.Material.corotated(1e5, 0.3, 1000.0))
    pin = body.pin(body.nodes.x < 1e-9)
    gpu, cpu = both(scene, 8)
    assert np.allclose(gpu.reaction(pin), cpu.reaction(pin), rtol=1e-4, atol=1e-3)
    assert np.isclose(gpu.energy().total, cpu.energy().total, rtol=1e-6)
    assert np.allclose(gpu.stress(body), cpu.stress(body), rtol=1e-4, atol=1.0)


@pytest.mark.filterwarnings("ignore:.*turned inside out")
@pytest.mark.parametrize("floor", (False, True))
def test_bodies_inside_out_are_pulled_back_as_on_the_cpu(floor):
    """Of two of three sets, in resident steps (without a floor) and in driven ones; to 2e-5 of all motion."""
    scene, bodies = three_blocks(floor, ten=True)
    sims, named = both(scene, 1, 1 / 120), []
    for sim in sims:
        for body in bodies[1:]:
            press_through(sim, body)
    for _ in range(24):
        gpu, cpu = (sim.step() for sim in sims)
        assert gpu.info.tangled == cpu.info.tangled and gpu.info.converged
        named.append(gpu.info.tangled)
    assert set(named[0]) == {body.name for body in bodies[1:]} and named[-1] == []
    assert all(upright(body, gpu.positions(body)) for body in bodies[:3])
    assert max(distance(gpu, cpu, body) for body in bodies) < CLOSE
    assert isinstance(gpu.state, ResidentState) != floor


@pytest.mark.filterwarnings("ignore:.*turned inside out")
def test_a_pin_that_passes_an_element_in_a_step_tangles_as_on_the_cpu():
    """No start of such a step has a finite energy."""
    scene, body = block("neohookean", cells=(6, 2, 2), mass_damping=5.0)
    body.pin(body.nodes.x > 0.59, displacement=lambda t: (-0.15 if 0.015 < t < 0.035 else 0.0, 0.0, 0.0))
    (gpu, cpu), named = both(scene, 1), set()
    for _ in range(40):
        gpu.step(), cpu.step()
        assert gpu.info.tangled == cpu.info.tangled
        named |= set(gpu.info.tangled)
    assert named == {"neohookean"} and gpu.info.tangled == []
    assert distance(gpu, cpu, body) < 1e-3


def test_a_body_without_pins_falls():
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), pl.Material.corotated(1e5, 0.3, 1000.0))
    sim = scene.simulate(0.01, device="cuda").step(10)
    fallen = sim.positions(body) - body.nodes.positions
    # implicit Euler: g h^2 (1 + 2 + ... + 10)
    assert np.allclose(fallen, (0, 0, -9.81 * 1e-4 * 55), atol=1e-9)


def test_a_body_at_rest_without_gravity_stays():
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), pl.Material.corotated(1e5, 0.3, 1000.0))
    sim = scene.simulate(0.01, device="cuda").step(3)
    assert sim.info.converged
    assert np.abs(sim.positions(body) - body.nodes.positions).max() < 1e-14


def test_many_small_bodies():
    scene = pl.Scene()
    mesh = pl.meshes.box((0.1, 0.1, 0.1), cells=1)
    bodies = [
        scene.add_soft(
            mesh, pl.Material.corotated(1e4 * (1 + k % 3), 0.3, 1000.0), position=(0.3 * k, 0, 0), collide=False
        )
        for k in range(150)
    ]
    for body in bodies:
        body.pin(body.nodes.z < 1e-9)
    gpu, cpu = both(scene, 5)
    assert max(distance(gpu, cpu, body) for body in bodies) < 1e-4


@pytest.mark.parametrize("law", ["linear", "corotated", "stable_neohookean"])
def test_damped_bodies_move_as_on_the_cpu(law):
    scene, body = block(law, damping=0.02, mass_damping=1.5)
    gpu, cpu = both(scene, 15)
    assert distance(gpu, cpu, body) < CLOSE


def test_a_slender_stiff_beam_converges_in_every_step():
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1.0, 0.02, 0.02), cells=(120, 3, 3)), pl.Material.corotated(1e8, 0.4, 1000.0))
    body.pin(body.nodes.x < 1e-9)
    sim = scene.simulate(0.01, device="cuda")
    for _ in range(40):
        sim.step()
        assert sim.info.converged, sim.info


def test_bdf2_moves_as_on_the_cpu():
    scene, body = block("stable_neohookean", damping=0.005)
    gpu, cpu = both(scene, 15, integrator="bdf2")
    assert gpu.info.integrator == cpu.info.integrator == "bdf2" and gpu.info.converged
    assert distance(gpu, cpu, body) < CLOSE


def plastic_block():
    """A soft block that flows."""
    clay = pl.Plasticity(yield_strain=0.01, creep=20.0, max_strain=0.3)
    return block("corotated", young=3e4, plasticity=clay, damping=0.01)


def test_plastic_bodies_flow_as_on_the_cpu():
    scene, body = plastic_block()
    gpu, cpu = both(scene, 20)
    found, expected = gpu.plastic_strain(body), cpu.plastic_strain(body)
    assert np.abs(expected).max() > 0.01
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
    assert distance(gpu, cpu, body) < CLOSE


@pytest.mark.parametrize("law", ["linear", "corotated", "neohookean", "stable_neohookean"])
def test_tets_of_ten_nodes_move_as_on_the_cpu(law):
    scene = pl.Scene()
    material = getattr(pl.Material, law)(young=1e5, poisson=0.3, density=1000.0, damping=0.01)
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(4, 1, 1)).quadratic(), material)
    body.pin(body.nodes.x < 1e-9)
    gpu, cpu = both(scene, 12)
    assert gpu.info.converged and distance(gpu, cpu, body) < CLOSE


def test_springs_move_as_on_the_cpu():
    scene = pl.Scene()
    material = pl.Material.springs(1e5, 1000.0, damping=0.01)
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=(6, 2, 2)), material)
    body.pin(body.nodes.x < 1e-9)
    gpu, cpu = both(scene, 12)
    assert gpu.info.converged and distance(gpu, cpu, body) < CLOSE


def test_elements_of_several_kinds_move_as_on_the_cpu():
    scene, four = block()
    ten = scene.add_soft(
        pl.meshes.box((0.3, 0.1, 0.1), cells=(2, 1, 1)).quadratic(), SOFT, position=(0, 1, 0), collide=False
    )
    net = scene.add_soft(
        pl.meshes.box((0.3, 0.1, 0.1), cells=(3, 1, 1)),
        pl.Material.springs(1e5, 900.0),
        position=(0, 2, 0),
        collide=False,
    )
    for body in (ten, net):
        body.pin(body.nodes.x < 1e-9)
    gpu, cpu = both(scene, 10)
    assert max(distance(gpu, cpu, body) for body in (four, ten, net)) < CLOSE


def test_other_libraries_see_the_nodes_where_they_lie():
    torch = pytest.importorskip("torch")
    scene, body = block()
    sim = scene.simulate(0.01, device="cuda").step(5)
    view = sim.on_device()
    taken = torch.as_tensor(view.positions, device="cuda")
    packed = torch.from_dlpack(view.velocities)
    assert taken.is_cuda and packed.is_cuda and taken.shape == (len(body.nodes), 3)
    assert "x" not in sim.state.__dict__  # nothing was downloaded
    assert np.array_equal(taken.cpu().numpy(), sim.positions(body))
    assert np.array_equal(packed.cpu().numpy(), sim.velocities(body))
    sim.step()
    sim.on_device()
    assert np.array_equal(taken.cpu().numpy(), sim.positions(body))  # the same array


def test_a_step_downloads_nothing():
    scene, _ = block()
    sim = scene.simulate(0.01, device="cuda").step(3)
    assert not {"x", "v", "memory"} & set(sim.state.__dict__)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_a_run_that_is_resumed_goes_on_bit_by_bit(integrator):
    scene, body = block("stable_neohookean", cells=(12, 4, 4), damping=0.01)
    options = pl.Newton(integrator=integrator)
    whole = scene.simulate(0.01, solver=options, device="cuda").step(13)
    kept = copy.deepcopy(whole.state)
    again = scene.simulate(0.01, solver=options, device="cuda")
    again.state = kept
    for sim in (whole, again):
        sim.step(20)
    assert np.array_equal(whole.positions(body), again.positions(body))
    assert np.array_equal(whole.velocities(body), again.velocities(body))
