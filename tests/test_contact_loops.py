"""Scenes of spheres alone have compiled loops of their own: they find what the loops for all shapes find."""

import numpy as np

import pliant as pl


def test_triangles_against_spheres(monkeypatch):
    scene = pl.Scene()
    rubber = pl.Material.corotated(2e6, 0.3, 600)
    scene.add_cloth(pl.meshes.grid((0.6, 0.4), cells=(12, 8)), rubber, thickness=5e-4, position=(-0.3, -0.2, 0.1015))
    scene.add_rigid(pl.Sphere(0.1), static=True)
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.5))
    sim = scene.simulate(dt=1 / 60)
    solids, mixed = sim.model.colliders.solids, sim.model.colliders.mixed
    assert solids.only_spheres
    by_spheres, found = type(mixed)._triangles, []

    def by_both(self, *arguments):
        solids.only_spheres = False
        expected = by_spheres(self, *arguments)
        solids.only_spheres = True
        found.append((by_spheres(self, *arguments), expected))
        return found[-1][0]

    monkeypatch.setattr(type(mixed), "_triangles", by_both)
    sim.step(6)
    assert max(len(contacts.key) for contacts, _ in found) > 10
    for contacts, expected in found:
        np.testing.assert_array_equal(contacts.key >> 16, expected.key >> 16)  # but for names of features
        for name in ("gap", "normal", "point"):
            np.testing.assert_allclose(getattr(contacts, name), getattr(expected, name), rtol=0, atol=1e-14)
