"""Many rigid bodies that touch at once: every step is met, by Newton's method or by sweeps over contacts."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.contact import moved, stack_scene, tower
from pliant.benchmarks.pile import rigid_pile
from pliant.kernels.device import HOST
from pliant.kernels.lanes import LANES
from pliant.solve.newton import minimise
from pliant.solve.newton.sweeping import sweep


def test_a_pile_that_comes_down_converges_in_every_step(monkeypatch):
    swept = []
    monkeypatch.setattr(minimise, "sweep", lambda *given: swept.append(sweep(*given)) or swept[-1])
    sim = rigid_pile(24).simulate(dt=1 / 60)
    last = sim.energy().total
    for _ in range(45):
        sim.step()
        assert sim.info.converged and sim.info.imbalance <= 0.2
        assert sim.energy().total <= last + 1e-3 * abs(last)
        last = sim.energy().total
    assert len(swept) > 20  # or nothing here was tried
    assert sim.contacts.gaps.min() > -2e-4
    forces, normal = sim.contacts.forces, sim.contacts.normals
    along = np.einsum("ij,ij->i", forces, normal)
    slide = np.linalg.norm(forces - along[:, None] * normal, axis=1)
    assert np.all(slide <= 0.5 * np.abs(along) * (1 + 1e-6) + 1e-9)


@pytest.mark.parametrize("count", [16, 96])
def test_a_loose_tolerance_is_met_in_every_step(count):
    """Few bodies by Newton's method, more by sweeps alone: in balance, and no deeper than a hundredth of their size."""
    sim, settled = rigid_pile(count).simulate(dt=1 / 60, solver=pl.Newton(tolerance=0.1)), 0
    for _ in range(60):
        sim.step()
        assert sim.info.converged and sim.info.residual <= 0.1 and sim.info.imbalance <= 0.1
        assert sim.contacts.gaps.min(initial=0.0) > -1e-3
        settled += sim.info.linear == "sweeps"
    assert settled > (30 if count == 96 else 0)


@pytest.mark.parametrize(
    "densities", [(1, 10, 100, 1000), (1, 1e4), (1000, 1, 1000, 1, 1000), (1, 1000, 1, 1000)], ids=str
)
def test_heavy_boxes_stand_on_light_ones(densities):
    """What contacts carry says how hard they are, not what touches there: else heavy boxes bounce and topple."""
    scene = stack_scene(tower(len(densities)), np.array(densities, float))
    sim, away = scene.simulate(dt=1 / 60), moved(scene)
    for _ in range(240):
        sim.step()
        assert sim.info.converged and sim.info.parts == 1
        assert away(sim) < 0.02  # [mm]
    assert sim.energy().kinetic < 1e-12


def blocks(count, bodies, seed):
    """Contacts between random pairs of bodies with random arms: rows as `sweep_contacts` takes them."""
    random = np.random.default_rng(seed)
    slices = -(-count // LANES)
    start = 4 * np.arange(slices + 1)
    triples, jacobian = np.zeros((4 * slices, LANES), np.int32), np.zeros((4 * slices, 9, LANES))
    friction, target = np.zeros((slices, LANES)), np.zeros((slices, 3, LANES))
    for k in range(count):
        s, lane = divmod(k, LANES)
        a, b = random.choice(bodies, 2, replace=False)
        frame = np.linalg.qr(random.normal(size=(3, 3)))[0]
        for side, (body, sign) in enumerate(((a, 1), (b, -1))):
            arm = random.uniform(-1, 1, 3)
            for half, rows in enumerate((sign * frame, sign * np.cross(arm, frame))):
                triples[start[s] + 2 * side + half, lane] = 2 * body + half
                jacobian[start[s] + 2 * side + half, :, lane] = rows.ravel()
        friction[s, lane], target[s, 0, lane] = random.choice([0.0, 0.3, 0.8]), random.uniform(-0.5, 1.0)
    inverse_mass = np.zeros((2 * bodies, 6))
    inverse_mass[:, :3] = random.uniform(0.5, 2.0, (2 * bodies, 1))
    return start, triples, jacobian, target, friction, inverse_mass


@pytest.mark.parametrize("count", [1, 7, 20])
def test_sweeps_end_where_signorini_and_coulomb_say(count):
    start, triples, jacobian, target, friction, inverse_mass = blocks(count, 10, count)
    impulse, u = np.zeros(target.shape), np.zeros((20, 3))
    slow, mobility = np.full(friction.shape, 1e-10), np.zeros(friction.shape)
    arguments = (start, triples, jacobian, target, np.zeros(target.shape), friction, slow, inverse_mass, impulse, u)
    sweeps, moved, lacking = HOST.sweeps.sweep_contacts(*arguments, mobility, 1, 20000, 1e-24)
    assert sweeps < 20000 and moved <= 1e-24 and lacking <= 1.0
    pushed = np.zeros_like(u)
    HOST.rows.add_row_impulses(start, triples, jacobian, impulse, pushed)
    np.testing.assert_allclose(u, inverse_mass[:, :1] * pushed, atol=1e-10)
    rate = np.zeros(target.shape)
    HOST.rows.row_rates(start, triples, jacobian, u, rate)
    opening, normal = (rate - target)[:, 0], impulse[:, 0]
    there = np.arange(normal.size).reshape(normal.shape) < count
    assert np.array_equal(mobility > 0.0, there)
    assert normal.max() > 0 and np.all(normal >= 0) and np.all(opening[there] > -1e-9)
    assert np.abs(opening * normal)[there].max() < 1e-9
    size, slip = np.hypot(impulse[:, 1], impulse[:, 2]), np.hypot(rate[:, 1], rate[:, 2])
    assert np.all(size <= friction * normal + 1e-12)
    # what slides is held back by all there is, against its motion
    power = impulse[:, 1] * rate[:, 1] + impulse[:, 2] * rate[:, 2]
    np.testing.assert_allclose(power[there], -(friction * normal * slip)[there], atol=1e-8)
