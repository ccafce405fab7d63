"""Natural modes: against beam, bar and plate theory, springs, and the motion that simulations make of them."""

from itertools import pairwise

import numpy as np
import pytest
import yaml

import pliant as pl
from pliant.linalg import vibration
from pliant.readers import modes as modes_module
from verification import data

LAWS = ("linear", "corotated", "stvk", "neohookean", "fixed_corotated", "stable_neohookean")


def case(name: str) -> dict:
    """What a published case expects."""
    cases = yaml.safe_load(data("cases.yaml").read_text())["cases"]
    return next(entry["expected"] for entry in cases if entry["id"] == name)


def bar(cells, poisson=0.3, law="linear", clamped=True):
    """A bar 1 x 0.1 x 0.1 m along x with E = 1e6 and density 1000, clamped at x = 0; scene and body.

    The pattern of five tets has no preferred diagonal, so that bending in y and z are alike.
    """
    scene = pl.Scene()
    material = getattr(pl.Material, law)(young=1e6, poisson=poisson, density=1000)
    body = scene.add_soft(pl.meshes.box((1, 0.1, 0.1), cells, pattern="five"), material)
    if clamped:
        body.pin(body.nodes.x < 1e-9)
    return scene, body


def with_tip(scene, body, **options):
    """A mass of 5 kg of hardly any size, welded to the free end."""
    tip = scene.add_rigid(pl.Sphere(1e-3), mass=5, position=(1, 0.05, 0.05))
    scene.join(pl.Fixed(body, tip, at=(1, 0.05, 0.05), nodes=body.nodes.x > 1 - 1e-9, **options))
    return tip


def extrapolated(frequencies):
    """Richardson's limit of frequencies on meshes of 4 and 6 cells across, whose error is of second order.

    Linear tets are too stiff in bending: with 4 and 6 cells the frequencies are 6 % and 3 % too high.
    """
    coarse, fine = frequencies
    return fine - (coarse - fine) / ((6 / 4) ** 2 - 1)


def share(modes, body, k, axes) -> float:
    """Part of a mode's motion that is along some axes."""
    shape = modes.shape(body, k)
    return float(np.sum(shape[:, axes] ** 2) / np.sum(shape**2))


def test_cantilever_frequencies():
    # DYN-01: Timoshenko's beam; the clamped section, which cannot contract, adds about 0.4 %
    expected = case("DYN-01")["Timoshenko_Hz"]
    found = [bar(cells)[0].modes(4).frequencies for cells in ((40, 4, 4), (60, 6, 6))]
    assert found[0][[0, 2]] == pytest.approx(found[0][[1, 3]], rel=1e-6)  # bending in y and z
    limit = extrapolated(found)
    assert limit[0] == pytest.approx(expected[0], rel=0.01)
    assert limit[2] == pytest.approx(expected[1], rel=0.02)


def test_bar_frequency():
    # DYN-02: f = c / (4 L) of the longitudinal mode, among those of bending and torsion
    expected = case("DYN-02")["f_Hz"][0]
    scene, body = bar((20, 2, 2), poisson=0.0)
    modes = scene.modes(12)
    along = [k for k in range(12) if share(modes, body, k, [0]) > 0.9]
    assert modes.frequencies[along[0]] == pytest.approx(expected, rel=0.01)


def test_thick_plate_in_plane_modes():
    # DYN-08 (NAFEMS FV52): 10 x 10 x 1 m on its lower edges; three rigid modes, then those of bending (too stiff with
    # linear tets and dependent on the mesh at the line support: no gate) and three in the plane
    expected = case("DYN-08")
    goal = [expected["f8_Hz"], expected["f9_f10_Hz"], expected["f9_f10_Hz"]]
    scene = pl.Scene()
    steel = pl.Material.linear(young=200e9, poisson=0.3, density=8000)
    plate = scene.add_soft(pl.meshes.box((10, 10, 1), (20, 20, 4), pattern="five"), steel)
    n = plate.nodes
    side = (n.x < 1e-9) | (n.x > 10 - 1e-9) | (n.y < 1e-9) | (n.y > 10 - 1e-9)
    plate.pin(side & (n.z < 1e-9), axes="z")
    modes = scene.modes(12)
    assert modes.frequencies[:3] == pytest.approx(0, abs=1e-3 * modes.frequencies[3])
    flat = [k for k in range(3, 12) if share(modes, plate, k, [0, 1]) > 0.9]
    assert modes.frequencies[flat[:3]] == pytest.approx(goal, rel=0.01)


def test_cantilever_with_rigid_tip():
    # CPL-03: tip mass of half the beam's mass
    expected, found = case("CPL-03")["f_EB_Hz"], []
    for cells in ((40, 4, 4), (60, 6, 6)):
        scene, body = bar(cells)
        with_tip(scene, body)
        found.append(scene.modes(2).frequencies[0])
    assert extrapolated(found) == pytest.approx(expected, rel=0.02)


def test_mass_on_a_bar():
    # CPL-02: longitudinal mode of a bar with 5 kg at its end, z tan z = rho A L / m
    expected = case("CPL-02")["freq_E1e6_m5"]["f1_Hz"]
    scene, body = bar((20, 2, 2), poisson=0.0)
    tip = with_tip(scene, body)
    modes = scene.modes(8)
    along = [k for k in range(8) if share(modes, body, k, [0]) > 0.9]
    assert modes.frequencies[along[0]] == pytest.approx(expected, rel=0.005)
    # the tip moves with the end of the bar
    linear, _ = modes.shape(tip, along[0])
    end = modes.shape(body, along[0])[body.nodes.x > 1 - 1e-9]
    assert end == pytest.approx(np.tile(linear, (9, 1)), abs=1e-6 * np.abs(linear).max())


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_alike_at_rest(law):
    frequencies = bar((6, 1, 1), law=law)[0].modes(5).frequencies
    assert frequencies == pytest.approx(bar((6, 1, 1))[0].modes(5).frequencies, rel=1e-9)


def test_placement_does_not_matter():
    scene = pl.Scene()
    material = pl.Material.corotated(young=1e6, poisson=0.3, density=1000)
    body = scene.add_soft(
        pl.meshes.box((1, 0.1, 0.1), (6, 1, 1), pattern="five"), material, position=(3, 2, 1), rotation=(1, 2, 3, 4)
    )
    expected = bar((6, 1, 1), clamped=False)[0].modes(10).frequencies
    assert scene.modes(10).frequencies == pytest.approx(expected, rel=1e-6, abs=1e-4)
    assert scene.modes(10).shape(body, 9).shape == (28, 3)


def test_free_bodies_have_six_zero_modes_each_and_none_is_missed():
    scene = pl.Scene()
    material = pl.Material.linear(young=1e6, poisson=0.3, density=1000)
    mesh = pl.meshes.box((1, 0.2, 0.2), (6, 2, 2), pattern="five")
    bodies = [scene.add_soft(mesh, material, position=(0, i, 0)) for i in range(3)]
    modes = scene.modes(30)  # by Lanczos' iterations: 567 unknowns
    assert modes.frequencies[:18] == pytest.approx(0, abs=1e-4 * modes.frequencies[18])
    # every elastic mode appears three times
    groups = modes.frequencies[18:].reshape(-1, 3)
    assert groups == pytest.approx(np.repeat(groups[:, :1], 3, axis=1), rel=1e-6)
    # orthonormal in the mass
    mass = np.tile(scene.simulate(dt=1).model.node_mass[:, None], (1, 3)).ravel()
    phi = np.concatenate([modes.shapes[body.name] for body in bodies], axis=1).reshape(30, -1)
    assert (phi * mass) @ phi.T == pytest.approx(np.eye(30), abs=1e-8)


def test_few_unknowns_and_many_agree(monkeypatch):
    scene, body = bar((6, 1, 1))
    with_tip(scene, body)
    dense = scene.modes(6)
    monkeypatch.setattr(vibration, "DENSE", 0)
    assert scene.modes(6).frequencies == pytest.approx(dense.frequencies, rel=1e-8)


def test_consistent_mass():
    # both tend to the same, the consistent one from above; a consistent bar is 1 + (pi h / 2 L)^2 / 24 too high
    scene, body = bar((10, 1, 1), poisson=0.0)
    body.pin("all", axes="yz")
    lumped, consistent = (scene.modes(1, mass=mass).frequencies[0] for mass in ("lumped", "consistent"))
    exact = np.sqrt(1e3) / 4
    assert lumped < exact < consistent
    error = (np.pi / 20) ** 2 / 24
    assert consistent == pytest.approx(exact * (1 + error), rel=0.5 * error)
    assert lumped == pytest.approx(exact * (1 - error), rel=0.5 * error)


def test_rigid_bodies_on_springs():
    # sqrt(k/m) in three directions, rotations free; then two welded bodies as one
    scene = pl.Scene()
    upper = scene.add_rigid(pl.Sphere(0.1), mass=2)
    scene.join(pl.Ball(upper, pl.world, at=(0, 0, 0), compliance=1e-3))
    expected = np.sqrt(1e3 / 2) / (2 * np.pi)
    assert scene.modes(6).frequencies == pytest.approx([0, 0, 0, expected, expected, expected], abs=1e-6)
    lower = scene.add_rigid(pl.Sphere(0.1), mass=3, position=(0, 0, -1))
    scene.join(pl.Fixed(upper, lower, at=(0, 0, -0.5)))
    modes = scene.modes(6)
    assert modes.frequencies[3] == pytest.approx(np.sqrt(1e3 / 5) / (2 * np.pi), rel=1e-9)  # both along z
    (a, _), (b, _) = modes.shape(upper, 3), modes.shape(lower, 3)
    assert np.abs([a, b]) == pytest.approx(np.tile([0, 0, np.sqrt(1 / 5)], (2, 1)), abs=1e-6)
    # a second weld of the same two says nothing new
    scene.join(pl.Fixed(upper, lower, at=(0, 0, -0.2)))
    assert scene.modes(6).frequencies == pytest.approx(modes.frequencies, abs=1e-6)
    with pytest.raises(pl.SceneError, match="n = 7, but the joints leave only 6 modes"):
        scene.modes(7)


def test_rigid_joints_do_not_depend_on_their_small_compliance(monkeypatch):
    scene, body = bar((20, 2, 2))
    with_tip(scene, body)
    frequencies = scene.modes(4).frequencies
    for compliance in (1e-10, 1e-14):
        monkeypatch.setattr(modes_module, "RIGID_COMPLIANCE", compliance)
        assert scene.modes(4).frequencies == pytest.approx(frequencies, rel=1e-6)


@pytest.mark.parametrize("compliance", (0.0, 1e-3))
def test_simulations_move_with_the_frequency(compliance):
    # released from the first mode with a small amplitude, the tip comes back after one period; implicit Euler with 200
    # steps in a period makes it longer by (omega h)^2 / 3 = 0.03 %
    scene, body = bar((6, 1, 1), law="corotated")
    scene.gravity = (0.0, 0.0, 0.0)
    tip = with_tip(scene, body, compliance=compliance)
    modes = scene.modes(2)
    sim = scene.simulate(dt=1 / (200 * modes.frequencies[0]), solver=pl.Newton(tolerance=1e-6))
    modes.displace(sim, 0, 1e-3)
    start = np.array(tip.position)
    direction = sim.pose(tip)[0] - start
    motion = [float((sim.step().pose(tip)[0] - start) @ direction) for _ in range(170)]
    # in steps: at a quarter and at three quarters of the period
    crossings = [k + 1 + a / (a - b) for k, (a, b) in enumerate(pairwise(motion)) if a * b < 0]
    assert 2 * (crossings[1] - crossings[0]) == pytest.approx(200, rel=0.002)


def test_pictures(tmp_path):
    scene, body = bar((6, 1, 1))
    tip = with_tip(scene, body)
    modes = scene.modes(2)
    modes.save(tmp_path / "mode.png", 1, size=(64, 36))
    modes.save(tmp_path / "mode.vtu", 1)
    assert (tmp_path / "mode.png").stat().st_size and (tmp_path / "mode.vtu").stat().st_size
    sim = scene.simulate(dt=1)
    modes.displace(sim, 1)
    moved = np.linalg.norm(sim.positions(body) - body.nodes.positions, axis=1)
    assert moved.max() == pytest.approx(0.1, rel=1e-3)
    assert np.linalg.norm(sim.pose(tip)[0] - tip.position) == pytest.approx(0.1, rel=0.05)


def test_errors():
    scene, body = bar((1, 1, 1))
    for n in (0, 13, 2.5, True, "3"):
        with pytest.raises(pl.SceneError, match=r"n must be an integer from 1 to 12"):
            scene.modes(n)
    with pytest.raises(pl.SceneError, match="mass must be one of 'lumped', 'consistent', got 'none'"):
        scene.modes(1, mass="none")
    with pytest.raises(pl.SceneError, match="the number of a mode must be a whole number from 0 to 1, got 2"):
        scene.modes(2).shape(body, 2)
    with pytest.raises(pl.SceneError, match="is not a body of the scene"):
        scene.modes(2).shape(bar((1, 1, 1))[1], 0)
    rigid = pl.Scene()
    rigid.add_rigid(pl.Sphere(0.1), mass=1)
    with pytest.raises(pl.SceneError, match="something elastic"):
        rigid.modes(1)
    body.pin("all")
    with pytest.raises(pl.SceneError, match="everything in the scene is held"):
        scene.modes(1)


def test_rigid_motions_are_counted():
    """Six of a body that nothing holds, soft or rigid, three of what hangs on a ball joint, none of what is pinned."""
    for young in (1e3, 1e11):
        scene = pl.Scene()
        block = scene.add_soft(pl.meshes.box((1, 0.1, 0.1), (10, 1, 1)), pl.Material.corotated(young, 0.3, 1000))
        assert scene.modes(8).rigid == 6
        ball = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(1.5, 0, 0))
        assert scene.modes(14).rigid == 12
        scene.join(pl.Ball(block, ball, at=(1, 0, 0)))
        assert scene.modes(12).rigid == 9
        block.pin("x < 0.01")
        assert scene.modes(6).rigid == 3
    assert bar((10, 1, 1))[0].modes(3).rigid == 0
