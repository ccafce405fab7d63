"""Pairs of rigid bodies that are kept from look to look are those that a look without memory finds."""

import numpy as np
import pytest

import pliant as pl

H = 1 / 60


def _scene(count: int) -> pl.Scene:
    """Bodies of several shapes at random places above a floor, beside a wall."""
    random, scene = np.random.default_rng(3), pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    scene.add_rigid(pl.Box((0.1, 2, 2)), static=True, position=(-0.6, 0, 1))
    shapes = (pl.Sphere(0.05), pl.Box((0.1, 0.08, 0.06)), pl.Capsule(0.03, 0.1), pl.Cone(0.05, 0.1))
    for i in range(count):
        scene.add_rigid(
            shapes[i % len(shapes)], density=1000, position=random.uniform((-0.5, -0.5, 0.06), (0.5, 0.5, 1))
        )
    return scene


def _moved(state, random, far: np.ndarray, speed: float):
    """The state with bodies elsewhere, by up to far (b,) [m], and with other velocities."""
    loose = (np.arange(len(far)) >= 2)[:, None]  # the floor and the wall stay
    return state.changed(
        body_position=state.body_position + far[:, None] * random.uniform(-1, 1, (len(far), 3)),
        body_velocity=speed * loose * random.normal(size=(len(far), 3)),
        body_angular_velocity=10 * speed * loose * random.normal(size=(len(far), 3)),
    )


@pytest.mark.parametrize("speed", [0.0, 0.3, 4.0])
def test_kept_pairs_lead_to_the_same_contacts(speed):
    count, random = 300, np.random.default_rng(5)
    sim = _scene(count).simulate(dt=H)
    kept, state = sim.model.colliders, sim.state
    searches, find = [], kept.solids.near.find
    kept.solids.near.find = lambda *boxes: (searches.append(1), find(*boxes))[1]
    still = np.arange(count + 2) < 2
    for look in range(12):
        few = random.uniform(size=count + 2) < 0.01
        far = np.where(still, 0.0, np.where(few, 0.2, 1e-4)) if look % 6 else np.where(still, 0.0, 0.1)
        state = _moved(state, random, far, speed * (look % 6 == 0))
        fresh = _scene(count).simulate(dt=H).model.colliders
        one, other = kept._contacts(state, H), fresh._contacts(state, H)
        assert len(one) and np.array_equal(one.key, other.key) and np.array_equal(one.gap, other.gap)
    assert len(searches) < 12


@pytest.mark.parametrize("speed", [0.3, 4.0])
def test_no_pair_that_may_close_is_left_out(speed):
    """All pairs, each with reach beyond what may close: those kept in the end are the same."""
    random = np.random.default_rng(7)
    sim = _scene(120).simulate(dt=H)
    colliders, solids = sim.model.colliders, sim.model.colliders.solids
    state = _moved(sim.state, random, np.zeros(122), speed)
    found, everything = colliders._contacts(state, H), solids.convex
    first, second = np.triu_indices(len(everything), 1)
    all_pairs = np.stack([everything[first], everything[second]], axis=1)
    planes = np.stack([everything[1:], np.full(len(everything) - 1, solids.planes[0])], axis=1)
    solids.pairs = lambda *_: np.concatenate([all_pairs, planes])
    solids.lever, solids.inner = np.where(np.isinf(solids.radius), 0.0, solids.radius), np.zeros(len(solids.radius))
    other = colliders._contacts(state, H)
    assert len(found) and np.array_equal(np.sort(found.key), np.sort(other.key))
