"""Beams: small and large deflections by end loads, own weight and couples, against beam theory and published values.

Linear tets are too stiff in bending, so two or three meshes with cells of the same shape are extrapolated to cells of
no size (Richardson with errors of order h^2, `studies.limit` and `studies.soft_limit`).
"""

import numpy as np
import pytest

import pliant as pl
from studies import EDGE, at, displacements, end_couple, limit, mapped_box, soft_limit, turn

# Factorisation: slender bodies are hard on iterations
DIRECT = pl.Newton(tolerance=1e-6, max_iterations=200, linear="cholesky")

# Small deflections


def test_cantilever_of_timoshenko():
    """SOL-12: v = P L^3 / (3 E I) + P L / (kappa G A) = 0.040306 m for 1 N; 1%, for full clamping stiffens the root."""

    def sag(cells, load=1e-3):
        scene = pl.Scene(gravity=(0, 0, 0))
        mesh = pl.meshes.box((1, 0.1, 0.1), cells=(10 * cells, cells, cells))
        beam = scene.add_soft(mesh, pl.Material.linear(1e6, 0.3, 1000))
        beam.pin(beam.nodes.x < EDGE)
        end = at(beam, (1, None, None))
        beam.force(end, (0, 0, load), spread="area")
        return displacements(scene.equilibrium(DIRECT), beam)[end, 2].mean() / load

    cells = (4, 6, 8)
    values = [sag(n) for n in cells]
    assert np.all(np.diff(values) > 0) and values[-1] < 0.040306
    assert soft_limit(values, cells) == pytest.approx(0.040306, rel=0.01)


def unit_loads(mesh, material, clamp, tip, directions) -> list[float]:
    """Displacements [m] of the tip face of a clamped beam along unit forces [N] in some directions."""
    answers = []
    for direction in np.array(directions, float):
        scene = pl.Scene(gravity=(0, 0, 0))
        beam = scene.add_soft(mesh, material)
        beam.pin(clamp(beam.nodes))
        end = np.flatnonzero(tip(beam.nodes))
        beam.force(end, direction, spread="area")
        answers.append(displacements(scene.equilibrium(DIRECT), beam)[end].mean(axis=0) @ direction)
    return answers


@pytest.mark.slow
def test_straight_cantilever_of_macneal_and_harder():
    """SOL-09: 6 x 0.2 x 0.1, unit tip loads: extension 3e-5, in-plane 0.1081, out of plane 0.4321; 1%."""

    def answers(cells):
        mesh = pl.meshes.box((6, 0.2, 0.1), cells=(60 * cells, 2 * cells, cells))
        material = pl.Material.linear(1e7, 0.3, 1.0)
        return unit_loads(mesh, material, lambda n: n.x < EDGE, lambda n: n.x > 6 - EDGE, np.eye(3))

    cells = (4, 6)
    np.testing.assert_allclose(soft_limit([answers(n) for n in cells], cells), (3e-5, 0.1081, 0.4321), rtol=0.01)


@pytest.mark.slow
def test_straight_cantilever_of_macneal_and_harder_twists():
    """SOL-09: unit torque: T L / (G J) = 0.0341085 with Saint-Venant's J = 0.22868 a b^3; 3%."""

    def angle(cells):
        scene = pl.Scene(gravity=(0, 0, 0))
        mesh = pl.meshes.box((6, 0.2, 0.1), cells=(60 * cells, 2 * cells, cells))
        beam = scene.add_soft(mesh, pl.Material.linear(1e7, 0.3, 1.0), position=(0, -0.1, -0.05))
        beam.pin(beam.nodes.x < EDGE)
        tip, about = at(beam, (6, None, None)), ((1, 0, 0), np.array([6.0, 0, 0]))
        end_couple(beam, tip, *about, moment=1.0)
        return turn(scene.equilibrium(DIRECT), beam, tip, *about)

    cells = (4, 6)
    assert soft_limit([angle(n) for n in cells], cells) == pytest.approx(0.0341085, rel=0.03)


@pytest.mark.slow
def test_twisted_beam_of_macneal_and_harder():
    """SOL-10: 12 x 1.1 x 0.32, pretwist 90 degrees: tip load along the thin direction of the root 0.005424, along its
    wide direction 0.001754; 2%."""

    def shape(r, s, t):
        wide, thin, angle = 1.1 * (s - 0.5), 0.32 * (t - 0.5), np.pi / 2 * r
        return 12 * r, wide * np.cos(angle) - thin * np.sin(angle), wide * np.sin(angle) + thin * np.cos(angle)

    def answers(cells):
        mesh = mapped_box((37.5 * cells, 3.5 * cells, cells), shape)
        material, directions = pl.Material.linear(29e6, 0.22, 1.0), ((0, 0, 1), (0, 1, 0))
        return unit_loads(mesh, material, lambda n: n.x < EDGE, lambda n: n.x > 12 - EDGE, directions)

    cells = (4, 6)
    np.testing.assert_allclose(soft_limit([answers(n) for n in cells], cells), (0.005424, 0.001754), rtol=0.02)


@pytest.mark.slow
def test_curved_beam_of_macneal_and_harder():
    """SOL-11: quarter ring, radii 4.12 and 4.32, thickness 0.1: tip load in plane, radial 0.08734, out of plane
    0.5022; 2%."""

    def shape(r, s, t):
        radius, angle = 4.12 + 0.2 * s, np.pi / 2 * r
        return radius * np.sin(angle), radius * np.cos(angle), 0.1 * t

    def answers(cells):
        mesh = mapped_box((66 * cells, 2 * cells, cells), shape)
        material, directions = pl.Material.linear(1e7, 0.25, 1.0), ((1, 0, 0), (0, 0, 1))
        return unit_loads(mesh, material, lambda n: n.x < EDGE, lambda n: n.y < EDGE, directions)

    cells = (3, 5)
    np.testing.assert_allclose(soft_limit([answers(n) for n in cells], cells), (0.08734, 0.5022), rtol=0.02)


# Large deflections. With nu = 0 a slab of one cell between planes bends as a beam of any width does.


def strip(cells: int, height: float = 0.05, gravity: float = 0.0, damping: float = 0.0):
    """A scene with a strip of length 1 m clamped at x = 0, and its bending stiffness E I [N m2]."""
    width, young = height / cells, 1e6
    scene = pl.Scene(gravity=(0, -gravity, 0))
    mesh = pl.meshes.box((1, height, width), cells=(round(cells / height), cells, 1))
    material = pl.Material.corotated(young, 0.0, 1000, mass_damping=damping)
    beam = scene.add_soft(mesh, material, position=(0, -height / 2, -width / 2), collide=False)
    beam.pin(beam.nodes.x < EDGE)
    beam.pin(beam.nodes.x < 1 - EDGE, axes="z")
    return scene, beam, young * width * height**3 / 12


def tip(sim, beam) -> np.ndarray:
    """x and y [m] of the middle of the end."""
    return sim.positions(beam)[at(beam, (1, 0, None))].mean(axis=0)[:2]


@pytest.mark.parametrize(
    "alpha, expected",
    [
        pytest.param(1, (0.9435668, 0.3017208), id="1"),
        pytest.param(5, (0.6123716, 0.7137915), marks=pytest.mark.slow, id="5"),
    ],
)
def test_elastica_under_a_dead_tip_load(alpha, expected):
    """SOL-13 (Bisshop and Drucker): alpha = P L^2 / (E I); 1% on both coordinates of the tip."""

    def bent(layers):
        scene, beam, stiffness = strip(layers)
        beam.force(beam.nodes.x > 1 - EDGE, (0, alpha * stiffness, 0), spread="area")
        return tip(scene.equilibrium(DIRECT, load_steps=5), beam)

    cells = (4, 6, 8)
    np.testing.assert_allclose(limit([bent(n) for n in cells], cells), expected, rtol=0.01)


@pytest.mark.parametrize(
    "weight, expected, height",
    [
        pytest.param(2, 0.2466732, 0.05, id="2"),
        pytest.param(20, 1.86393, 0.025, marks=pytest.mark.slow, id="20"),
    ],
)
def test_heavy_elastica(weight, expected, height):
    """SOL-14 (cantilever test of Romero et al. 2021): Gamma = rho A g L^3 / (E I); 1% on drop over reach."""

    def slope(layers):
        scene, beam, _ = strip(layers, height, gravity=weight * 1e6 * height**2 / 12 / 1000)
        x, y = tip(scene.equilibrium(DIRECT, load_steps=5), beam)
        return -y / x

    cells = (4, 6, 8)
    assert limit([slope(n) for n in cells], cells) == pytest.approx(expected, rel=0.01)


def test_damping_has_no_part_in_equilibrium():
    """Nothing moves, so nothing is damped: the same tip to 1e-6, whatever the damping and the number of load steps."""
    tips = []
    for damping, load_steps in ((0.0, 2), (5.0, 1), (5.0, 3)):
        scene, beam, _ = strip(2, gravity=2.0, damping=damping)
        tips.append(tip(scene.equilibrium(load_steps=load_steps), beam))
    np.testing.assert_allclose(tips[1:], [tips[0]] * 2, rtol=1e-6)


# Couples. A rigid plate on the end takes a torque, which keeps its axis: in the plane it is both dead and following.
# The plate's inertia is as the beam's stiffness wants it; a ramp and damping bring it to rest, where it has no part.


def rolled(cells: int, angle: float, height: float = 0.05) -> float:
    """The turn [rad] of the end of a strip at rest under the couple angle E I / L; it must be a circular arc."""
    scene, beam, stiffness = strip(cells, height, damping=3.0)
    plate = scene.add_rigid(
        pl.Box((0.01, height, height)), mass=0.1, inertia=stiffness / 9, position=(1.005, 0, 0), collide=False
    )
    scene.join(pl.Fixed(plate, beam, at=(1, 0, 0), nodes=beam.nodes.x > 1 - EDGE))
    plate.torque(pl.Keyframes((0, 3), ((0, 0, 0), (0, 0, angle * stiffness))))
    sim, total = scene.simulate(0.1, solver=pl.Newton(tolerance=1e-4)), 0.0
    for _ in range(400):
        w, _, _, z = sim.step().pose(plate)[1]
        total += (2 * np.arctan2(z, w) - total + np.pi) % (2 * np.pi) - np.pi
        if sim.time > 3.1 and np.abs(sim.velocities(beam)).max() < 3e-6:
            break
    else:
        pytest.fail("the strip did not come to rest")
    np.testing.assert_allclose(tip(sim, beam), arc(total), atol=0.002)
    return total


def arc(angle: float) -> tuple[float, float]:
    """The end of a circular arc of length 1 that turns by an angle."""
    return np.sin(angle) / angle, (1 - np.cos(angle)) / angle


def test_beam_bent_by_a_couple_on_a_rigid_plate():
    """CPL-04: M = E I / L bends it to an arc of 1 rad: (0.841471, 0.4596977); 1%."""
    cells = (2, 4)
    end = arc(soft_limit([rolled(n, 1.0) for n in cells], cells))
    np.testing.assert_allclose(end, (0.841471, 0.4596977), rtol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    "share, height, expected",
    [(0.25, 0.05, (0.6366198, 0.6366198)), (1.0, 0.025, (0.0, 0.0))],
    ids=["quarter", "circle"],
)
def test_strip_rolled_up_by_a_couple(share, height, expected):
    """SOL-15 (Simo and Vu-Quoc): M = f 2 pi E I / L; 1% of the length; f = 1 closes the circle."""
    cells = (4, 6)
    end = arc(soft_limit([rolled(n, 2 * np.pi * share, height) for n in cells], cells))
    np.testing.assert_allclose(end, expected, atol=0.01 * max(expected[0], 1))
