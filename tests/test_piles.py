"""Many rigid bodies that touch at once: every step is met, by Newton's method or by sweeps over contacts."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.contact import EDGE, moved, pyramid, stack_scene, tower
from pliant.benchmarks.pile import rigid_pile
from pliant.collide.detect import Colliders
from pliant.kernels.device import HOST
from pliant.kernels.lanes import LANES
from pliant.solve.newton import minimise
from pliant.solve.newton.settling import Settling
from pliant.solve.problem import warm_impulses
from pliant.stepping.step import pose


@pytest.mark.parametrize("alone", [True, False], ids=["sweeps alone", "sweeps between iterations"])
def test_a_pile_that_comes_down_converges_in_every_step(monkeypatch, alone):
    swept = []
    if not alone:
        monkeypatch.setattr(Settling, "solve", lambda *_: None)
    where, name = (Settling, "_swept") if alone else (minimise, "sweep")
    sweeps = getattr(where, name)
    monkeypatch.setattr(where, name, lambda *given: swept.append(sweeps(*given)) or swept[-1])
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


@pytest.mark.parametrize("count", [16, 32, 64])
def test_small_piles_take_no_more_iterations_than_large_ones(count):
    """Where contacts open, stick and slide in every step, Newton's method takes a dozen iterations: sweeps settle small
    piles as they do large ones, while they fall, roll and come to rest."""
    sim, iterations, steps = rigid_pile(count).simulate(dt=1 / 60), 0, 150
    for _ in range(steps):
        sim.step()
        iterations += sim.info.newton_iterations
        assert sim.info.converged and sim.info.imbalance <= 0.1
        assert sim.model.colliders.contacts_of_solids(sim.state, 0.0).gap.min(initial=0.0) > -6e-5  # [m]
    assert iterations <= 2 * steps


@pytest.mark.parametrize("seed", range(6))
def test_sweeps_end_where_no_contact_lacks_more_than_it_may(seed):
    """What others take from a contact after it was met may be given back before it is met again: it lacks something
    where sweeps end, though in no sweep when its turn comes."""
    start, triples, jacobian, target, friction, inverse_mass = blocks(200, 60, seed)
    impulse, u, mobility = np.zeros(target.shape), np.zeros((120, 3)), np.zeros(friction.shape)
    slow, hard = np.full(friction.shape, 1e-2), np.zeros(target.shape)
    geometry, numbers = (start, triples, jacobian, target, hard, friction), (slow, inverse_mass, impulse, u, mobility)
    sweeps, _, lacking = HOST.sweeps.sweep_contacts(*geometry, *numbers, 1, 20000, np.inf)
    rate = np.zeros(target.shape)
    HOST.rows.row_rates(start, triples, jacobian, u, rate)
    lack = ((target - rate)[:, 0] / slow)[mobility > 0.0].max()
    assert sweeps < 20000 and lack <= 1.0
    assert lacking == pytest.approx(max(lack, 0.0), rel=1e-9, abs=1e-9)


def test_a_pyramid_that_was_disturbed_comes_to_rest():
    """55 boxes that fall by 2 mm: what sweeps leave in each step does not add up to a creep."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.6)
    for place in EDGE * pyramid(10):
        place[2] += 2e-3 * (place[2] / EDGE + 0.5)  # [m]
        scene.add_rigid(pl.Box((EDGE,) * 3), density=1000, position=place, friction=0.6)
    sim, bodies = scene.simulate(dt=1 / 60), [body for body in scene.rigid_bodies if not body.static]
    sim.step(60)
    before = np.array([sim.pose(body)[0] for body in bodies])
    for _ in range(120):
        sim.step()
        assert sim.info.converged
    moved_by = np.linalg.norm(np.array([sim.pose(body)[0] for body in bodies]) - before, axis=1)
    assert moved_by.max() < 5e-4  # [m]; by Newton's method that ends within the tolerance, a millimetre


@pytest.mark.parametrize("count", [16, 96])
def test_a_loose_tolerance_is_met_in_every_step(count):
    """By sweeps alone for the most part: in balance, and no deeper than a hundredth of their size."""
    sim, settled = rigid_pile(count).simulate(dt=1 / 60, solver=pl.Newton(tolerance=0.1)), 0
    for _ in range(60):
        sim.step()
        assert sim.info.converged and sim.info.residual <= 0.1 and sim.info.imbalance <= 0.1
        assert sim.contacts.gaps.min(initial=0.0) > -1e-3
        settled += sim.info.linear == "sweeps"
    assert settled > 30


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


@pytest.mark.parametrize(("count", "bodies"), [(1, 10), (7, 10), (20, 10), (500, 300)])
def test_sweeps_end_where_signorini_and_coulomb_say(count, bodies):
    """Among many contacts a few need more sweeps than the others, and get them alone."""
    start, triples, jacobian, target, friction, inverse_mass = blocks(count, bodies, count)
    impulse, u = np.zeros(target.shape), np.zeros((2 * bodies, 3))
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


def test_impulses_turn_with_their_tangents():
    """The frame of a level normal jumps where it begins to look down; what a contact carries does not."""
    then, now = np.array([[1.0, 0.0, 1e-9]]), np.array([[1.0, 0.0, -1e-9]])
    impulse, index, out = np.array([[3.0, 0.5, -0.7]]), np.zeros(1, np.int64), np.zeros(3 * LANES)
    HOST.contacts.turn_impulses(np.ones(1, bool), then, impulse, now, index, out)
    before, after = np.empty((1, 3)), np.empty((1, 3))
    HOST.contacts.contact_forces(then, impulse, before)
    HOST.contacts.contact_forces(now, out[::LANES][None].copy(), after)
    np.testing.assert_allclose(after, before, atol=1e-8)
    assert abs(out[LANES] - 0.5) > 0.1 or abs(out[2 * LANES] + 0.7) > 0.1  # or the frame did not jump


def test_contacts_that_change_their_names_are_found_where_they_are():
    """Corners of a face, carried along and named in another order, and one of another pair."""
    old = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [5, 5, 5]])
    order, found = np.array([2, 0, 3, 1]), np.empty(5, np.int64)
    new = np.concatenate([old[order] + [2.0, -1.0, 0.1], [[7.0, 7, 7]]])
    HOST.contacts.match_points(np.array([1, 1, 1, 1, 2]), old, np.array([1, 1, 1, 1, 3]), new, found)
    assert found.tolist() == [2, 0, 3, 1, -1]


def test_faces_that_take_turns_in_clipping_keep_their_load():
    """Two boxes lie on each other at a small angle, and the one or the other clips: impulses stay in their corners."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    low = scene.add_rigid(pl.Box((0.1, 0.1, 0.02)), density=1000, position=(0, 0, 0.01))
    high = scene.add_rigid(pl.Box((0.1, 0.1, 0.02)), density=1000, position=(0.03, 0, 0.03))
    sim = scene.simulate(dt=1 / 60)
    sim.step(20)
    kept, names, carried = sim.state.impulses, [], []
    for tilted in (low, high):
        for body, angle in ((low, 0.0), (high, 0.0), (tilted, 0.05)):  # [rad]
            half = 0.5 * angle
            sim.set_pose(body, sim.pose(body)[0], (np.cos(half), 0.0, np.sin(half), 0.0))
        problem = pose(sim.model, sim.state, 1 / 60, False)
        own = np.flatnonzero((problem.rows.contacts.body != 0).all(axis=1))  # without the plane
        names.append(set(problem.rows.contacts.key[own].tolist()))
        impulse = warm_impulses(sim.model.device, kept, problem.rows).ravel()[problem.rows.contact_index[own]]
        point = problem.rows.contacts.point[own]
        carried.append((impulse[:, None] * point).sum(axis=0) / impulse.sum())
    assert not names[0] & names[1]  # or nothing here is told
    mine = (kept.contact_thing != 0).all(axis=1)
    centre = (kept.contacts[mine, :1] * kept.contact_point[mine]).sum(axis=0) / kept.contacts[mine, 0].sum()
    for found in carried:
        np.testing.assert_allclose(found[:2], centre[:2], atol=1e-3)


def test_a_step_begins_with_the_contacts_found_where_the_last_one_led(monkeypatch):
    looked = []
    look = Colliders._contacts
    monkeypatch.setattr(Colliders, "_contacts", lambda *given: looked.append(1) or look(*given))
    sim, again = rigid_pile(96).simulate(dt=1 / 60, solver=pl.Newton(tolerance=0.1)), 0
    for _ in range(30):
        sim.step()
        looked.clear()
        sim.model.colliders.contacts(sim.state, 1 / 60)
        again += len(looked)
    assert again < 10  # those of steps that spins or Newton's method have changed since
