"""Closing the gaps of joints by factors: the same projection as by iterations, to what the factors round."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.grid import grid_scene, largest_gap
from pliant.kernels.lanes import LANES
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.dual.gaps import FACTOR_REGULARIZATION, ImpulseGaps, VelocityGaps, gap_factors
from pliant.solve.dual.row_factors import Meetings
from pliant.stepping.dynamics import predict


def _opened(scene: pl.Scene, seed: int):
    """Model of the scene, joint rows with its bodies and nodes out of place by 1e-3, and inverse masses."""
    sim = scene.simulate(dt=0.01, solver=pl.Dual(eliminate=True))
    model, state, rng = sim.model, sim.state, np.random.default_rng(seed)
    position = state.body_position + 1e-3 * rng.normal(size=state.body_position.shape)
    x = state.x + 1e-3 * rng.normal(size=state.x.shape)
    rows = Rows.empty(model.joints.start)
    joint_rows.fill(model.joints, rows, (state.angles, x, position, state.body_rotation), 1.0)
    return model, rows, predict(model, state, 0.01).inverse_mass


def _dense(model, rows: Rows, inverse_mass: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J (rows, 3 triples), M^-1 and b of rows with a Jacobian, as dense matrices."""
    mobility = np.zeros((3 * model.triple_count, 3 * model.triple_count))
    for k, s in enumerate(inverse_mass):
        mobility[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = s[[0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(3, 3)
    jacobian, target = [], []
    for s in range(rows.slices):
        for lane in range(rows.target.shape[2]):
            block = np.zeros((3, 3 * model.triple_count))
            for e in range(rows.start[s], rows.start[s + 1]):
                at = 3 * rows.triples[e, lane]
                block[:, at : at + 3] += rows.jacobian[e, :, lane].reshape(3, 3)
            jacobian.append(block)
            target.append(rows.target[s, :, lane])
    jacobian, target = np.concatenate(jacobian), np.concatenate(target)
    there = np.any(jacobian != 0, axis=1)
    return jacobian[there], mobility, target[there]


def _chain() -> pl.Scene:
    """Links of different kinds of joints, hung from the world."""
    scene = pl.Scene()
    box = {"density": 500.0, "collide": False}
    bodies = [scene.add_rigid(pl.Box((0.1, 0.2, 0.4)), position=(0, 0, -0.4 * k), **box) for k in range(4)]
    scene.join(pl.Ball(bodies[0], pl.world, at=(0, 0, 0.2)))
    scene.join(pl.Ball(bodies[0], bodies[1], at=(0, 0, -0.2)))
    scene.join(pl.Fixed(bodies[1], bodies[2], at=(0, 0, -0.6)))
    scene.join(pl.Ball(bodies[2], bodies[3], at=(0, 0, -1.0)))
    return scene


def _soft_and_rigid() -> pl.Scene:
    """A ball on the end of a soft beam whose other end is pinned."""
    scene = pl.Scene()
    material = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
    beam = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), material)
    beam.pin(beam.nodes.x < 1e-9)
    ball = scene.add_rigid(pl.Sphere(0.05), density=500.0, position=(0.5, 0.05, 0.05))
    scene.join(pl.Ball(ball, beam, at=(0.4, 0.05, 0.05)))
    return scene


@pytest.mark.parametrize("part", [1e-3, FACTOR_REGULARIZATION])
@pytest.mark.parametrize("by", ["velocities", "impulses"])
@pytest.mark.parametrize("make", [_chain, _soft_and_rigid])
def test_factors_give_the_mass_weighted_projection(make, part, by):
    """dx = M^-1 J^T (J M^-1 J^T + R)^-1 b by dense matrices of NumPy, R a part of the diagonal.

    Rounding is amplified by 1 / R."""
    model, rows, inverse_mass = _opened(make(), 3)
    meetings = Meetings(rows, inverse_mass.any(axis=1))
    closing = {
        "velocities": VelocityGaps(model.device, rows, model.triple_count),
        "impulses": ImpulseGaps(model.device, meetings, rows.slices * LANES),
    }
    move, solves = closing[by].close_gaps_by_factor(rows, inverse_mass, part)
    jacobian, mobility, target = _dense(model, rows, inverse_mass)
    own = jacobian @ mobility @ jacobian.T
    softness = part * (1 + part) * np.diag(np.diag(own))
    expected = (mobility @ jacobian.T @ np.linalg.solve(own + softness, target)).reshape(-1, 3)
    assert solves == 1 and np.abs(target).max() > 1e-4
    assert np.abs(move - expected).max() < max(1e-10, 1e-16 / part) * np.abs(expected).max()
    assert np.linalg.norm(jacobian @ move.ravel() - target) < 0.05 * np.linalg.norm(target)


def _star() -> pl.Scene:
    """Sixty balls around one body."""
    scene = pl.Scene()
    hub = scene.add_rigid(pl.Sphere(0.1), mass=1.0)
    for angle in np.linspace(0, 2 * np.pi, 60, endpoint=False):
        place = (np.cos(angle), np.sin(angle), 0.0)
        scene.join(pl.Ball(hub, scene.add_rigid(pl.Sphere(0.02), mass=0.1, position=place), at=place))
    return scene


def _net() -> pl.Scene:
    """Chains under a net."""
    return grid_scene(True, net=4, chain=6)


@pytest.mark.parametrize(("make", "kind"), [(_net, ImpulseGaps), (_star, VelocityGaps)])
def test_gaps_are_closed_by_what_is_cheaper_to_factorise(make, kind):
    """Impulses of chains are a band; those of joints at one body all have to do with each other."""
    model, rows, inverse_mass = _opened(make(), 3)
    assert isinstance(gap_factors(model.device, rows, inverse_mass.any(axis=1)), kind)


def test_a_redundant_net_stays_together():
    """A small joint grid hung by its corners, two seconds: gaps stay below 0.5 % of a link."""
    sim = grid_scene(True, net=5, chain=3).simulate(dt=1 / 60, solver=pl.Dual(eliminate=True))
    gap = 0.0
    for _ in range(120):
        sim.step()
        gap = max(gap, largest_gap(sim))
    assert gap < 5e-3
