"""Proofs by strain that a body cannot touch itself: they hold, and they are found where little is strained."""

import numpy as np
import pytest

import pliant as pl
from pliant.collide.certificates import LISTED, TOUCH
from pliant.collide.unstrained import PATIENCE, Together, Unstrained
from pliant.rotations import rotation_matrix


def certificates(mesh):
    """The proofs of a scene with one soft body."""
    scene = pl.Scene()
    scene.add_soft(mesh, pl.Material.corotated(1e6, 0.3, 1000))
    return scene.simulate(dt=0.01).model.colliders.certificates


def proves(proofs, least, *places):
    """The answer, whatever there was before."""
    proofs._hardly_strained(0, 0.0, *places)
    proofs.unstrained[0].wait = 0
    return proofs._hardly_strained(0, 0.5 * least, *places)


def deformed(points, random, size):
    """A smooth deformation, turned and moved."""
    waves = random.normal(size=(3, 3)) @ (points.T / np.ptp(points, axis=0).max())
    bent = points + size * np.sin(2 * waves + random.normal(size=(3, 1))).T
    turn = rotation_matrix(unit(random.normal(size=4)))
    return bent @ turn.T + random.normal(size=3)


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_what_is_proved_holds():
    """The least distance of parts with no common vertex, found by looking at all of them, is never below a proof."""
    mesh, random, found = pl.meshes.box((1, 0.3, 0.2), cells=(6, 3, 2)), np.random.default_rng(5), 0
    proofs = certificates(mesh)
    for _ in range(40):
        x = deformed(mesh.points, random, random.uniform(0, 0.25))
        proofs.listed.clear()
        truth = proofs._look(TOUCH, 0, x)  # as far as it is below LISTED edges
        for least in np.linspace(0.1, 1.0, 10) * LISTED * proofs.size[0]:
            if proves(proofs, least, x):
                found += 1
                assert truth >= least * (1 - 1e-12)
    assert found > 40


def test_bodies_that_turn_and_bend_little_are_proved_clear():
    mesh = pl.meshes.box((1, 0.2, 0.2), cells=(10, 2, 2))
    proofs = certificates(mesh)
    angle = 0.6 * mesh.points[:, 0]  # bent by 34 degrees along its length
    bent = np.stack([np.sin(angle) / 0.6, mesh.points[:, 1], mesh.points[:, 2] + (1 - np.cos(angle)) / 0.6], axis=1)
    assert proves(proofs, 0.1 * proofs.size[0], mesh.points, bent)


def test_what_folds_is_not_proved():
    mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10, 1, 1))
    folded = mesh.points.copy()
    folded[:, 0] = np.abs(folded[:, 0] - 0.5)  # one half lies in the other
    assert not proves(certificates(mesh), 0.0, folded)
    assert not proves(certificates(mesh), 0.0, np.full_like(folded, np.nan))


def test_a_body_that_is_not_convex_has_no_such_proof():
    """An L whose legs may close with little strain in any cell."""
    box = pl.meshes.box((1, 1, 0.2), cells=(5, 5, 1))
    middle = box.points[box.tets].mean(axis=1)
    tets = box.tets[(middle[:, 0] < 0.4) | (middle[:, 1] < 0.4)]
    used, index = np.unique(tets, return_inverse=True)
    mesh = pl.meshes.TetMesh(box.points[used], index.reshape(-1, 4))
    assert not proves(certificates(mesh), 0.0, mesh.points)


def test_a_proof_that_failed_is_not_tried_at_once():
    mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10, 1, 1))
    proofs = certificates(mesh)
    folded = mesh.points * (-0.5, 1.0, 1.0)  # turned inside out
    assert not proofs._hardly_strained(0, 0.0, folded)
    answers = [proofs._hardly_strained(0, 0.0, mesh.points) for _ in range(PATIENCE + 1)]
    assert answers == [False] * PATIENCE + [True]


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Dual()])
def test_proofs_change_no_bit(solver, monkeypatch):
    """A soft beam that is dropped on the floor and deformed: the same with and without such proofs."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    scene.add_soft(
        pl.meshes.box((0.5, 0.1, 0.1), cells=(5, 1, 1)), pl.Material.corotated(2e4, 0.3, 1000), position=(0, 0, 0.02)
    )
    ends = []
    for proved in (True, False):
        if not proved:
            monkeypatch.setattr("pliant.collide.unstrained.Unstrained.proves", lambda *_: False)
        sim = scene.simulate(dt=1 / 60, solver=solver).step(12)
        ends.append(sim.positions(scene.soft_bodies[0]).copy())
    assert np.array_equal(*ends)


def test_several_bodies_are_proved_together(monkeypatch):
    """Soft cubes that are dropped on each other, one of them pressed flat: the same with and without proofs, which one
    loop over all bodies finds for the others."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    mesh, found = pl.meshes.box((0.1, 0.1, 0.1), cells=2), []
    for k, young in enumerate((1e4, 5e4, 5e4)):
        scene.add_soft(mesh, pl.Material.corotated(young, 0.3, 1000), position=(0.02 * k, 0, 0.005 + 0.105 * k))
    proved = Together.proved

    def watched(*given):
        found.append(proved(*given))
        return found[-1]

    ends = []
    for watch in (watched, lambda self, least, *_: np.zeros(len(least), bool)):
        monkeypatch.setattr(Together, "proved", watch)
        ends.append(scene.simulate(dt=1 / 60).step(15).state.x.copy())
        monkeypatch.setattr(Unstrained, "proves", lambda *_: False)
    assert np.array_equal(*ends)
    assert np.any(found, axis=0).any()
