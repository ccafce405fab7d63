"""Matrices and solves of sheets in steps of bounded cost."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks import cloth
from pliant.elements.potential import ElementPotential
from pliant.rows.table import Rows
from pliant.solve.newton import bounded
from pliant.solve.newton.primal_system import PrimalSystem
from pliant.solve.newton.sheet_system import SheetSystem

DT = 1 / 60


def test_bending_of_a_flat_sheet_is_the_same_matrix_across_its_plane():
    """At rest, where J^T K J is exact; and the same in all directions, so that nothing resists a rotation."""
    model = cloth.hanging(7).simulate(DT).model
    rest, count, h = model.rest, model.triple_count, DT
    exact, folded = PrimalSystem(model, Rows.empty(model.joints.start), "pcg"), SheetSystem.of(model)
    potential = ElementPotential(model.elements, model.node_count)
    potential.take_frames(rest, model.elements.deform(rest)[0])
    potential.evaluate(rest)
    exact.take(potential.terms(h * h, h))
    folded.take_elements(potential, h)
    nothing = (np.zeros((count, 3, 3)), Rows.empty(model.joints.start), np.zeros((0, 6, 16)), rest)
    for system in (exact, folded):
        system.assemble(*nothing)
    across = np.random.default_rng(1).normal(size=(count, 3)) * (0, 0, 1) * folded.free
    first, second = exact.product(across), folded.product(across)
    assert np.abs(first).max() > 0.0
    assert np.abs(first - second).max() < 1e-5 * np.abs(first).max()
    folds = np.zeros((model.node_count, model.node_count))
    pattern, values = folded.folds, folded.sliced.fold_values
    row = np.repeat(np.arange(pattern.slices), np.diff(pattern.start))[:, None] * 16 + np.arange(16)
    column = pattern.column // 48 * 16 + pattern.column % 16
    node = np.full(pattern.slices * 16, -1)
    node[pattern.place] = np.arange(count)
    there = pattern.entry >= 0
    np.add.at(folds, (node[row[there]], node[column[there]]), values[there])
    assert np.abs(folds @ rest).max() < 1e-5 * np.abs(folds).max()


def test_sheets_that_are_curved_at_rest_keep_their_blocks():
    scene = pl.Scene()
    mesh = pl.meshes.grid((1, 1), 6)
    bent = mesh.points.copy()
    bent[:, 2] = 0.3 * bent[:, 0] ** 2
    scene.add_cloth(pl.meshes.TriMesh(bent, mesh.triangles), pl.Material.stvk(1e5, 0.3, 300), 1e-3)
    assert SheetSystem.of(scene.simulate(DT).model) is None


def test_more_products_lower_the_model_and_so_the_potential(monkeypatch):
    """Contacts open, close, stick and slide within one solve: it goes down product by product."""
    sim = cloth.draped(40).simulate(DT, solver=pl.Bounded(), threads=1)
    sim.step(8)
    ends = []

    def spied(potential, system, point, tolerance, most):
        rows, values = potential.row_potential, []
        smooth = point.gradient.copy()
        rows.add_impulses(smooth)
        level = rows.respond(point.u)
        for products in (2, 6, 24, 200):
            found, taken = original(potential, system, point, 1e-6, products)
            assert taken <= products
            pushed = smooth * system.free + 0.5 * system.product_without_contacts(found)
            values.append(rows.respond(point.u + found) - level + float(system.dot(pushed, found)))
            rows.respond(point.u)  # as it was asked
        ends.append(values)
        return original(potential, system, point, tolerance, most)

    original = bounded.descend
    monkeypatch.setattr(bounded, "descend", spied)
    sim.step(3)
    assert len(ends) == 3
    for values in ends:
        assert values[0] < 0.0
        assert values == sorted(values, reverse=True)
        assert values[2] < 0.9 * values[3]  # all lie below zero: 24 products leave less than a tenth


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_sheets_that_meet_on_their_way_go_on_together(speed):
    """Two sheets that meet head on are not stopped in space: what they have of momentum together is kept."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh, fabric = pl.meshes.grid((0.3, 0.3), 6), pl.Material.stvk(1e4, 0.3, 300)
    for height, own in ((0.0, 3 * speed), (0.02, speed)):
        place = (0.01 * height, 0.02 * height, height)
        scene.add_cloth(mesh, fabric, 1e-3, position=place, velocity=(0, 0, own), friction=0.0)
    sim = scene.simulate(DT, solver=pl.Bounded())
    mass = sim.model.node_mass
    before = float(mass @ sim.state.v[:, 2])
    sim.step(3)
    assert float(mass @ sim.state.v[:, 2]) == pytest.approx(before, rel=0.02)
    half = len(mass) // 2
    assert sim.state.x[:half, 2].mean() < sim.state.x[half:, 2].mean()
