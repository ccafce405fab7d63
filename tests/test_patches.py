"""Patches of flat sheets: what they prove does not touch does not."""

import numpy as np
import pytest

import pliant as pl
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.device import HOST


def surfaces(mesh) -> Surfaces:
    return Surfaces(HOST, mesh.triangles, np.zeros(len(mesh.points), np.int64), mesh.points, np.ones((1, 1), bool))


def folded(mesh, radius: float, rng) -> np.ndarray:
    """The mesh rolled around a cylinder, with noise: narrow rolls touch themselves."""
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    turn = x / radius
    out = np.stack([(radius + 0.004 * turn) * np.cos(turn), y, (radius + 0.004 * turn) * np.sin(turn)], axis=1)
    return out + 2e-3 * rng.standard_normal(out.shape)


def keys(found) -> set:
    return {tuple(row) for row in found[0].tolist()}


@pytest.mark.parametrize("radius", [0.02, 0.05, 0.3])
@pytest.mark.parametrize("mesh", [pl.meshes.grid((1, 0.5), (40, 20)), pl.meshes.disk(0.4, 12)])
def test_contacts_and_impacts_are_those_of_walks_through_trees(mesh, radius):
    rng, own = np.random.default_rng(3), surfaces(mesh)
    assert 0 in own.sheets
    start, thickness = folded(mesh, radius, rng), np.full(len(mesh.points), 1e-3)
    end = start + 0.01 * rng.standard_normal(start.shape) * np.array([1, 0, 1])
    other = surfaces(mesh)
    other.sheets = {}
    for new in (np.ones(len(start), bool), rng.random(len(start)) < 0.2):
        for first, last in ((start, start), (start, end)):
            few, many = (each._chosen(first, last, 2 * thickness, new) for each in (own, other))
            for kind in range(2):
                assert keys(few[kind]) <= keys(many[kind])
    reach = np.full(len(start), 1e-3)
    assert np.array_equal(own.contacts(start, thickness, reach).key, other.contacts(start, thickness, reach).key)
    met, all_met = (each.impacts(start, end, thickness) for each in (own, other))
    assert np.array_equal(met.time, all_met.time) and np.array_equal(met.first, all_met.first)
    assert len(met.time) > 0 or radius > 0.1


def test_a_flat_sheet_needs_no_pair():
    mesh = pl.meshes.grid((1, 1), 30)
    own = surfaces(mesh)
    x = mesh.points @ np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    found = own._chosen(x, x + 0.3, np.full(len(x), 5e-3))
    assert len(found[0][0]) == len(found[1][0]) == 0


def test_sheets_that_are_not_flat_or_not_convex_have_no_patches():
    mesh = pl.meshes.grid((1, 1), 8)
    bent = mesh.points + np.array([0, 0, 0.1]) * mesh.points[:, :1] ** 2
    cut = mesh.triangles[~np.all(mesh.points[mesh.triangles].mean(axis=1)[:, :2] > 0.5, axis=1)]
    body, allowed = np.zeros(len(mesh.points), np.int64), np.ones((1, 1), bool)
    assert not Surfaces(HOST, mesh.triangles, body, bent, allowed).sheets
    assert not Surfaces(HOST, cut, body, mesh.points, allowed).sheets
