"""Rods against closed forms and against solutions of Kirchhoff's equations by other means."""

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

import pliant as pl
from rod_scenes import line_rod, lowest_frequencies_squared
from verification import data


@pytest.fixture(scope="module")
def cases() -> dict:
    with data("cases.yaml").open() as file:
        return {case["id"]: case for case in yaml.safe_load(file)["cases"]}


def test_the_elastica_is_met_within_a_tenth_of_a_percent_with_forty_segments():
    # Mattiasson 1981: P L^2 / EI = 10, end at 1 - u = 0.44500 and w = 0.81061 of the length
    scene, rod = line_rod(40, 1.0, pl.Section.circle(0.001))
    rod[-1].force((0, 0, 10 * rod.stiffness["bending"][0, 0]))
    end = scene.equilibrium().rod(rod).points[-1]
    assert end == pytest.approx([1 - 0.55500, 0, 0.81061], abs=1e-3)
    coarse, eight = line_rod(8, 1.0, pl.Section.circle(0.001))
    eight[-1].force((0, 0, 10 * eight.stiffness["bending"][0, 0]))
    assert coarse.equilibrium().rod(eight).points[-1] == pytest.approx([0.445, 0, 0.81061], abs=5e-3)


def test_a_moment_bends_a_rod_into_a_circle_exactly():
    # M = 2 pi EI / L; pure bending has no discretisation error: every segment turns by the same angle
    section = pl.Section.rectangle(0.02, 0.005)  # a wide one, which does not leave the plane
    scene, rod = line_rod(10, 1.0, section, normal=(0, 1, 0))
    rod[-1].torque((0, 2 * np.pi * rod.stiffness["bending"][0, 0], 0))
    sim = scene.equilibrium()
    assert sim.rod(rod).points[-1] == pytest.approx([0, 0, 0], abs=1e-8)
    assert sim.rod(rod).curvature[:, 0] == pytest.approx(np.full(10, 2 * np.pi), rel=1e-8)


def test_a_twisted_ring_loses_its_plane_where_michell_says(cases):
    # a naturally straight rod closed to a ring is stable up to the twist 2 pi sqrt(3) EI / GJ
    expected = cases["ROD-05"]["expected"]["twist_times_GJ/EI"]
    count, radius, young, poisson = 60, 0.01, 1e7, 0.3
    ratio = (young * np.pi / 4 * radius**4) / (young / (2 * (1 + poisson)) * np.pi / 2 * radius**4)
    angle = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    length = 2 * count * np.sin(np.pi / count)
    twists, squares = [], []
    for share in (0.9, 0.95, 0.98):
        scene, twist = pl.Scene(gravity=(0, 0, 0)), share * expected * ratio
        options = {"closed": True, "straight": True, "normal": (0, 0, 1), "curvature": (0, 0, -twist / length)}
        rod = scene.add_rod(points, pl.Material.linear(young, poisson, 1000), radius, collide=False, **options)
        rod.clamp(0)
        # the lowest is the ring that rolls about its own line while it turns about the clamp: it costs nothing
        squares.append(lowest_frequencies_squared(scene.equilibrium(), 3)[1])
        twists.append(twist / ratio)
    slope, offset = np.polyfit(twists, squares, 1)
    assert -offset / slope == pytest.approx(expected, rel=0.03)
    assert squares[0] > squares[1] > squares[2] > 0


def _buckling_load(load_scene, guess: float) -> float:
    """The load at which the lowest frequency squared, nearly linear in the load's square, is zero."""
    shares, squares = (0.85, 0.92), []
    for share in shares:
        scene = load_scene(share * guess)
        squares.append(lowest_frequencies_squared(scene.equilibrium(), 1)[0])
    slope, offset = np.polyfit(np.square(shares), squares, 1)
    return guess * np.sqrt(-offset / slope)


def _deep_strip(count: int = 40):
    # height over thickness 40, length over height 12.5
    scene, rod = line_rod(count, 1.0, pl.Section.rectangle(0.08, 0.002), normal=(0, 0, 1), young=1e9, poisson=0.35)
    stiffness = rod.stiffness
    # bending about the first axis, along the height, is the weak one
    return scene, rod, np.sqrt(stiffness["bending"][0, 0] * stiffness["twist"][0])


def test_a_deep_strip_tips_sideways_under_a_load_at_its_end(cases):
    expected = cases["ROD-04"]["expected"]["tip"]

    def load(force: float):
        scene, rod, _ = _deep_strip()
        rod[-1].force((0, 0, -force))
        return scene

    scale = _deep_strip()[2]
    assert _buckling_load(load, expected * scale) / scale == pytest.approx(expected, rel=0.04)


def test_a_deep_strip_tips_sideways_under_its_own_weight(cases):
    expected = cases["ROD-04"]["expected"]["self_weight"]

    def load(per_length: float):
        scene, rod, _ = _deep_strip()
        scene.gravity = (0.0, 0.0, -per_length / rod.linear_density)
        return scene

    _, rod, scale = _deep_strip()
    found = _buckling_load(load, expected * scale)
    assert found / scale == pytest.approx(expected, rel=0.04)
    assert found / rod.stiffness["bending"][0, 0] == pytest.approx(
        cases["ROD-04"]["expected"]["Gamma_nu0.35"], rel=0.04
    )


@pytest.mark.parametrize("load", [4.448, 8.896, 13.345])
def test_the_princeton_beam(cases, load):
    # L = 0.508 m, 12.77 x 3.2024 mm, dead load P at an angle from the chord axis, the strong direction; where the
    # answer is 0, as the flap of a load along the chord, a millionth of a meter or of a degree is allowed
    section = pl.Section.rectangle(0.01277, 0.0032024)
    for angle in (0, 30, 45, 60, 90):
        scene, rod = line_rod(20, 0.508, section, normal=(0, 1, 0), young=71.7e9, poisson=0.31)
        turn = np.radians(angle)
        rod[-1].force((0, load * np.cos(turn), load * np.sin(turn)))
        state = scene.equilibrium().rod(rod)
        expected = cases["ROD-06"]["expected"][f"P={load},theta={angle}"]
        along, chord, flap = state.points[-1] - [0.508, 0, 0]
        assert flap == pytest.approx(expected["flap_disp_m"], rel=0.01, abs=1e-6)
        assert chord == pytest.approx(expected["chord_disp_m"], rel=0.01, abs=1e-6)
        assert along == pytest.approx(expected["axial_m"], rel=0.01)
        chord_axis = state.frames[-1][:, 0]
        twist = np.degrees(np.arctan2(chord_axis[2], chord_axis[1]))
        assert twist == pytest.approx(expected["twist_deg"], rel=0.03, abs=1e-6)


def _catenary(span: float, length: float, stretch: float, weight: float, count: int = 60):
    """A cable of nearly no bending stiffness between two points at one height, in equilibrium."""
    radius = 1e-4  # EI / (w L^3) is below 1e-4
    young = stretch / (np.pi * radius**2)
    density = weight / (9.81 * length * np.pi * radius**2)
    # begins as a slack arc of the right length, or as a straight line that is longer than the rest length
    along = np.linspace(0, 1, count + 1)
    if length > span:
        angle = brentq(lambda a: np.sin(a) / a - span / length, 1e-3, 3.1)
        bow = length / (2 * angle)
        turn = angle * (2 * along - 1)
        points = np.stack([bow * np.sin(turn) + span / 2, 0 * along, bow * (np.cos(angle) - np.cos(turn))], axis=1)
    else:
        points = np.stack([span * along, 0 * along, 0 * along], axis=1)
    scene = pl.Scene()
    stretched = max(span / length, 1.0)
    rod = scene.add_rod(points, pl.Material.linear(young, 0.0, density), radius, collide=False, stretched=stretched)
    for end, place in ((0, points[0]), (-1, points[-1])):
        scene.join(pl.Ball(rod[end], pl.world, at=tuple(place)))
    return scene, rod


def test_a_cable_hangs_in_a_catenary(cases):
    expected = cases["ROD-01"]["expected"]
    scene, rod = _catenary(1.0, 1.5, 1e5, 10.0)
    state = scene.equilibrium().rod(rod)
    assert -state.points[:, 2].min() == pytest.approx(expected["sag"], rel=0.005)
    along = state.points[1] - state.points[0]
    steep = np.degrees(np.arctan2(-along[2], along[0]))
    assert steep == pytest.approx(expected["end_slope_deg"], rel=0.005)
    level, end = state.tension[len(state.tension) // 2], 1.5 * state.tension[0] - 0.5 * state.tension[1]
    assert level / 10 == pytest.approx(expected["H_over_wL"], rel=0.005)
    assert end / 10 == pytest.approx(expected["Tmax_over_wL"], rel=0.005)


def test_a_cable_that_stretches_hangs_as_irvine_says(cases):
    for key, (length, stretch) in {
        "L0=1,EA=100": (1.0, 100.0),
        "L0=1.2,EA=50": (1.2, 50.0),
        "L0=0.95,EA=100": (0.95, 100.0),
    }.items():
        expected = cases["ROD-02"]["expected"][f"span1,{key},W=10"]
        scene, rod = _catenary(1.0, length, stretch, 10.0)
        state = scene.equilibrium().rod(rod)
        assert -state.points[:, 2].min() == pytest.approx(expected["sag"], rel=0.005)
        end = 1.5 * state.tension[0] - 0.5 * state.tension[1]  # tensions are those midway
        assert end == pytest.approx(expected["T_end"], rel=0.01)
        assert state.tension[len(state.tension) // 2] == pytest.approx(expected["H"], rel=0.01)


def test_a_straight_rod_is_held_in_kirchhoffs_helix_by_the_wrench_that_theory_gives():
    # with curvature k = cos^2 a / R, torsion t = sin a cos a / R and the torque GJ w along the rod: the force along the
    # axis of the helix is k (GJ w - EI t) / cos a
    radius, pitch, turns, count = 0.1, np.radians(20), 1.0, 80
    curvature, torsion = np.cos(pitch) ** 2 / radius, np.sin(pitch) * np.cos(pitch) / radius
    arc = np.linspace(0, turns * 2 * np.pi * radius / np.cos(pitch), count + 1)
    angle = arc * np.cos(pitch) / radius
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), arc * np.sin(pitch)], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    rod = scene.add_rod(points, pl.Material.linear(1e9, 0.3, 1000), 0.003, straight=True, collide=False)
    rod.clamp(0), rod.clamp(count)
    state = scene.equilibrium().rod(rod)
    assert np.abs(state.points - points).max() < 0.01 * radius
    bending, twist = rod.stiffness["bending"][0, 0], rod.stiffness["twist"][0]
    inside = slice(10, -10)
    assert np.linalg.norm(state.moment, axis=1)[inside] == pytest.approx(bending * curvature, rel=0.01)
    torque = state.torque[inside]
    force = np.einsum("mij,mj->mi", state.frames, np.column_stack([state.shear_force, state.tension]))[inside]
    assert force[:, 2] == pytest.approx(curvature * (torque - bending * torsion) / np.cos(pitch), rel=0.01)
    # frames carried along have no twist: what is left is that of the clamps, far below that of the torsion
    assert np.abs(torque).max() < 0.1 * twist * torsion


def test_a_hanging_curl_is_that_of_the_plane_elastica_under_its_weight():
    # EI theta'' = -(w (L - s)) cos(theta) with the natural curvature k: theta(0) = -90 degrees, theta'(L) = k
    length, natural, count = 1.0, 6.0, 50
    scene, rod = line_rod(
        count,
        length,
        pl.Section.rectangle(0.02, 0.004),
        direction=(0, 0, -1),
        normal=(0, 1, 0),
        curvature=(natural, 0, 0),
        gravity=(0, 0, -9.81),
    )
    weight, stiff = rod.linear_density * 9.81, rod.stiffness["bending"][0, 0]
    state = scene.equilibrium().rod(rod)

    def slope(s, y):
        # theta: angle of the tangent from straight down, towards the side to which the rod curls
        return np.stack([y[1], weight * (length - s) * np.sin(y[0]) / stiff])

    start = np.linspace(0, length, 200)
    answer = solve_bvp(
        slope, lambda a, b: np.array([a[0], b[1] - natural]), start, np.stack([natural * start, 0 * start + natural])
    )
    assert answer.success
    fine = np.linspace(0, length, 4001)
    theta = answer.sol(fine)[0]
    side = np.trapezoid(np.sin(theta), fine)
    down = np.trapezoid(np.cos(theta), fine)
    end = state.points[-1]
    assert abs(end[1]) < 1e-9
    assert [abs(end[0]), -end[2]] == pytest.approx([side, down], abs=0.01 * length)


@pytest.mark.slow
@pytest.mark.parametrize("friction, wraps", [(0.2, 0.5), (0.3, 1.0)])
def test_a_rope_slides_over_a_drum_as_euler_and_eytelwein_say(cases, friction, wraps):
    # T2 / T1 = exp(friction 2 pi wraps), of a rope without bending moments: this one is wound at rest
    expected = cases["ROD-07"]["expected"][f"mu={friction},wraps={wraps}"]
    drum, radius, count = 0.1, 0.002, int(40 * wraps)
    angle = np.pi - np.linspace(0, 2 * np.pi * wraps, count + 1)
    across, aside = (drum + 1.02 * radius), np.linspace(0, 3 * radius * wraps, count + 1)
    arc = np.stack([across * np.cos(angle), aside, across * np.sin(angle)], axis=1)
    straight = np.linalg.norm(arc[1] - arc[0]) * np.arange(1, 9)[:, None]
    out = np.array([np.sin(angle[-1]), 0, -np.cos(angle[-1])])
    points = np.concatenate([arc[0] - straight[::-1] * [0, 0, 1], arc, arc[-1] + straight * out])
    scene, around = pl.Scene(gravity=(0, 0, 0)), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    scene.add_rigid(pl.Cylinder(drum, 0.2), static=True, rotation=around, friction=friction)
    rope = pl.Material.linear(5e7, 0.3, 1000, damping=1e-3)
    rod = scene.add_rod(points, rope, radius, friction=friction, self_contact=False)
    rod[0].force((0, 0, -2.0))
    rod.clamp(len(rod) - 1, velocity=tuple(0.04 * out))
    sim = scene.simulate(1 / 200)
    ratios = []
    for _ in range(160):
        tension = sim.step().rod(rod).tension
        ratios.append(tension[-3] / tension[2])
    assert np.mean(ratios[-60:]) == pytest.approx(expected, rel=0.05)
