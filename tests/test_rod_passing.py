"""Rods pass through nothing, however thin it is and however fast they come; what touches them pushes their segments."""

import numpy as np
import pytest

import pliant as pl
from pliant.collide import detect
from pliant.rows import contacts as contact_rows


def rubber(young: float) -> pl.Material:
    return pl.Material.corotated(young, 0.3, 1200, damping=1e-3)


def line(**options) -> dict:
    return {"points": [(-0.5, 0, 0), (0.5, 0, 0)], "radius": 0.002} | options


def height(rod, axis: int) -> float:
    """How high [m] the middle of a rod along an axis is; it does not turn back there."""
    along = rod.points[:, axis]
    return float(np.interp(0.0, along, rod.points[:, 2]))


CASES = [(1e6, 2, 10, 1 / 60), (1e7, 5, 20, 1 / 60), (1e8, 20, 10, 1 / 60), (1e8, 20, 20, 1 / 240)]


@pytest.mark.filterwarnings("ignore:.*turns so sharply")
@pytest.mark.parametrize("young, speed, segments, dt", CASES)
@pytest.mark.parametrize("solver", [pl.Newton(), pl.Mixed()], ids=["newton", "mixed"])
def test_a_rod_that_hits_a_narrow_bar_stays_on_its_side(solver, young, speed, segments, dt):
    """The bar is narrower than a segment, so that most impacts are between the points."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Box((0.02, 0.3, 0.01)), static=True, position=(0, 0, -0.005))
    placed = {"position": (0.01, 0.01, 0.03), "velocity": (0, 0, -speed)}
    rod = scene.add_rod(material=rubber(young), **line(segments=segments, **placed))
    sim = scene.simulate(dt=dt, solver=solver)
    for _ in range(6):
        sim.step()
        now = sim.rod(rod)
        if np.all(np.diff(now.points[:, 0]) > 0):
            assert height(now, 0) > 0.0
        # it hangs over the bar, on both sides of it, and cannot have gone around
        assert now.points[:, 0].min() < -0.01 and now.points[:, 0].max() > 0.01


@pytest.mark.parametrize("young, speed, radius, dt", [(1e8, 5, 2e-3, 1 / 240), (1e7, 20, 5e-3, 1 / 120)])
def test_rods_that_hit_each_other_crosswise_stay_on_their_sides(young, speed, radius, dt):
    scene = pl.Scene(gravity=(0, 0, 0))
    low = scene.add_rod(material=rubber(young), **line(segments=20, radius=radius))
    low.clamp(0)
    low.clamp(-1)
    placed = {"position": (0.013, 0, 0.05), "velocity": (0, 0, -speed), "segments": 20, "radius": radius}
    top = scene.add_rod([(0, -0.5, 0), (0, 0.5, 0)], rubber(young), **placed)
    sim = scene.simulate(dt=dt)
    for _ in range(round(0.1 / dt)):
        sim.step()
        a, b = sim.rod(low), sim.rod(top)
        at = np.interp(0.0, b.points[:, 1], b.points[:, 0])
        apart = height(b, 1) - np.interp(at, a.points[:, 0], a.points[:, 2])
        assert apart > 1.2 * radius  # of 2: where rods turn sharply pieces are a little off their lines


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("segments, place", [(4, 0.075), (6, 0.05), (8, 0.0375)])
@pytest.mark.filterwarnings("ignore:.*turns so sharply")
def test_a_hose_of_few_segments_that_falls_on_a_bar_gains_no_energy(segments, place, dt):
    """Struck where a piece ends or between two points, it bends sharply; where pieces lie must not jump as it does."""
    scene = pl.Scene()
    soft = pl.Material.linear(1e6, 0.3, 1000)
    hose = scene.add_rod([(-0.3, 0, 0), (0.3, 0, 0)], soft, radius=0.01, segments=segments)
    upright = (0.5**0.5, 0.5**0.5, 0, 0)
    scene.add_rigid(pl.Capsule(0.01, 0.6), static=True, position=(place, 0, -0.3), rotation=upright)
    sim = scene.simulate(dt=dt)
    before, fallen = sim.energy().total, 2.5  # m/s
    for _ in range(round(0.4 / dt)):
        sim.step()
        now = sim.energy().total
        assert now <= before + 1e-9
        before = now
        assert sim.info.converged
    assert np.abs(sim.rod(hose).velocities).max() < 2 * fallen


def linking_number(a: np.ndarray, b: np.ndarray) -> int:
    """How often one closed line (n, 3) goes through another: Gauss's integral, of pairs of straight pieces exactly."""
    total = 0.0
    for p, q in zip(a, np.roll(a, -1, axis=0)):
        r, s = b, np.roll(b, -1, axis=0)
        corners = [r - p, s - p, s - q, r - q]
        sides = [np.cross(one, other) for one, other in zip(corners, corners[1:] + corners[:1])]
        sides = [side / np.maximum(np.linalg.norm(side, axis=1), 1e-300)[:, None] for side in sides]
        angles = [np.arcsin(np.clip(np.sum(m * n, axis=1), -1, 1)) for m, n in zip(sides, sides[1:] + sides[:1])]
        sign = np.sign(np.sum(np.cross(s - r, q - p) * corners[0], axis=1))
        total += float((sign * sum(angles)).sum())
    return round(total / (4 * np.pi))


@pytest.mark.filterwarnings("ignore:.*turns so sharply")
def test_linked_rings_that_are_pulled_apart_stay_linked():
    angle = np.arange(40) / 40 * 2 * np.pi
    c, s, o = 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0 * angle
    scene = pl.Scene(gravity=(0, 0, 0))
    first = scene.add_rod(np.stack([c, s, o], 1), rubber(1e8), radius=0.003, closed=True)
    second = scene.add_rod(np.stack([0.1 + c, o, s], 1), rubber(1e8), radius=0.003, closed=True)
    first.clamp(20)
    second.clamp(0, velocity=(2, 0, 0))
    sim = scene.simulate(dt=1 / 60)
    before = linking_number(sim.rod(first).points, sim.rod(second).points)
    assert abs(before) == 1
    for _ in range(12):
        sim.step()
        a, b = sim.rod(first), sim.rod(second)
        assert linking_number(a.points, b.points) == before
    assert a.stretch.max() > 1.1 and b.stretch.max() > 1.1  # they hold each other


# at points where a rod is bent a piece also turns a little as these move, which rows leave out
@pytest.mark.parametrize("bend, error", [(0.0, 1e-5), (0.01, 0.04)], ids=["straight", "bent"])
@pytest.mark.parametrize("other", ["ball", "rod", "cloth"])
def test_rates_of_contacts_are_those_of_their_gaps(other, bend, error):
    """J u is what gaps change by where points move by u and pieces follow, whatever frames do."""
    scene, random = pl.Scene(gravity=(0, 0, 0)), np.random.default_rng(3)
    shape = [(-0.3, 0, 0), (0, bend, 0), (0.3, 0, 2 * bend)]
    rod = scene.add_rod(shape, rubber(1e7), radius=0.01, segments=2)
    if other == "ball":
        scene.add_rigid(pl.Sphere(0.05), mass=1.0, position=(0.06, 0.9 * bend, 0.0595 + 0.25 * bend))
    elif other == "rod":
        across = [(0.06, -0.3, 0.0195 + 0.3 * bend), (0.07, 0.3, 0.0195 + 0.3 * bend)]
        scene.add_rod(across, rubber(1e7), radius=0.01, segments=3)
    else:
        scene.add_cloth(pl.meshes.grid((0.5, 0.5), 3), rubber(1e6), 2e-3, position=(-0.25, -0.25, -0.0105))
    sim = scene.simulate(dt=1 / 60)
    model, state, n = sim.model, sim.state, sim.model.node_count
    found = detect(model, state, sim.dt)
    still = np.zeros_like(state.velocity_triples())
    rows, index, _ = contact_rows.fill(model, found, np.zeros(len(found)), state.pose[2:], still, still, sim.dt)
    u = random.normal(size=still.shape)
    u[n + 1 :: 2] = 0.0
    rate, step, gaps = np.empty(rows.target.shape), 1e-6, []
    model.device.rows.row_rates(rows.start, rows.triples, rows.jacobian, u, rate)
    for sign in (-step, step):
        moved = {"x": state.x + sign * u[:n], "body_position": state.body_position + sign * u[n::2]}
        there = detect(model, state.changed(**moved), sim.dt)
        gaps.append(dict(zip(there.key.tolist(), there.gap.tolist(), strict=True)))
    across = np.abs(found.normal[:, 0]) < 0.1  # not of the ends of pieces within the rod
    same = [k for k, key in enumerate(found.key.tolist()) if across[k] and key in gaps[0] and key in gaps[1]]
    assert len(same) >= {"ball": 1, "rod": 1, "cloth": 8}[other]
    for k in same:
        key = int(found.key[k])
        assert (gaps[1][key] - gaps[0][key]) / (2 * step) == pytest.approx(rate.ravel()[index[k]], abs=error)
    assert len(rod) == 5
