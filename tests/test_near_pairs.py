"""Pairs that may be near, kept from look to look: what is found does not depend on what was looked at before."""

import numpy as np

import pliant as pl
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.device import HOST


def _sheets() -> tuple[Surfaces, np.ndarray]:
    """Two sheets, one above the other, that may touch each other and themselves; and where they are."""
    mesh = pl.meshes.grid((1, 1), 12)
    count = len(mesh.points)
    rest = np.concatenate([mesh.points, mesh.points + np.array([0.03, 0.02, 0.05])])
    triangles = np.concatenate([mesh.triangles, mesh.triangles + count])
    return Surfaces(HOST, triangles, np.repeat([0, 1], count), rest, np.ones((2, 2), bool)), rest


def test_what_moves_alone_is_found_as_if_all_were_looked_at(monkeypatch):
    """A corner that sways, then a wave through a few nodes, then all of both sheets: contacts and impacts are those of
    surfaces that have seen nothing before, and most looks are at a part of them."""
    kept, rest = _sheets()
    looks, chosen = [], Surfaces._chosen

    def watched(self, start, end, margin, new=None):
        if self is kept:
            looks.append(1.0 if new is None else new.mean())
        return chosen(self, start, end, margin, new)

    monkeypatch.setattr(Surfaces, "_chosen", watched)
    rng, x, radius = np.random.default_rng(3), rest.copy(), np.full(len(rest), 0.01)
    reach, touched, met = np.full(len(rest), 0.01), 0, 0
    for look in range(16):
        part = np.linalg.norm(rest[:, :2] - rng.uniform(0, 1, 2), axis=1) < (0.2 if look % 5 else 3.0)
        end = x + part[:, None] * rng.normal(0, 0.03, 3)
        fresh, _ = _sheets()
        one, other = kept.impacts(x, end, 0.1 * radius), fresh.impacts(x, end, 0.1 * radius)
        for name in ("kind", "first", "second", "time", "by_body"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        met += len(one.time)
        x = x + 0.9 * one.earliest * (end - x)
        one, other = kept.contacts(x, radius, reach), fresh.contacts(x, radius, reach)
        for name in ("key", "nodes", "weights", "distance"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        touched += len(one)
    assert touched > 100 and met > 5
    assert np.mean(looks) < 0.6
