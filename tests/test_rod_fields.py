"""Strain and stress on the surfaces of rods, against the theory of beams by hand; pictures, files and the studio show
the same values."""

import math

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.output.grids import grids
from pliant.output.rod_fields import of_rods
from pliant.output.rod_view import Tube
from pliant.output.scene_view import SceneView, picture
from pliant.readers.rod_stress import surface_stress, torsion_modulus
from pliant.studio.geometry import SceneGeometry
from pliant.studio.recording import Recording
from rod_scenes import line_rod

YOUNG, POISSON, LENGTH = 1e9, 0.3, 1.0
SMALL = (64, 36)
ROUND = pl.Section.circle(0.01)
# The section modulus of bending about the second axis, which bends along the first: b h^2 / 6, and pi a^2 b / 4.
SECTIONS = {
    "circle": (ROUND, math.pi * 0.01**3 / 4),
    "tube": (pl.Section.tube(0.01, 0.008), math.pi * (0.01**4 - 0.008**4) / (4 * 0.01)),
    "ellipse": (pl.Section.ellipse(0.02, 0.01), math.pi * 0.02**2 * 0.01 / 4),
    "upright": (pl.Section.rectangle(0.02, 0.004), 0.004 * 0.02**2 / 6),
    "flat": (pl.Section.rectangle(0.004, 0.02), 0.02 * 0.004**2 / 6),
}


def loaded(section: pl.Section, force=(0, 0, 0), torque=(0, 0, 0), count: int = 20) -> pl.Simulation:
    """A rod along x at rest, clamped at the origin, with loads at its end; its section's first axis is z."""
    scene, rod = line_rod(count, LENGTH, section, young=YOUNG, poisson=POISSON, normal=(0, 0, 1))
    rod[-1].force(force)
    rod[-1].torque(torque)
    return scene.equilibrium()


def largest(sim, field: str) -> tuple[float, float]:
    """The largest colour value, and how far from the clamp it is [m]."""
    view = SceneView(sim, field)
    shot = view.shot()
    (values,), (points,) = shot.rod_values, shot.tubes
    assert view.limits([shot]) == (0.0, values.max())
    return float(values.max()), float(points[np.argmax(values), 0])


@pytest.mark.parametrize("name", SECTIONS)
def test_a_cantilever_with_an_end_load_has_its_largest_stress_at_the_clamp(name):
    """sigma = M / W with M = P L; the strain is sigma / E along the rod and -nu times that twice across it."""
    section, modulus = SECTIONS[name]
    load = 1e5 * modulus  # sigma / E is 1e-4
    sim = loaded(section, (0, 0, -load))
    by_hand = load * LENGTH / modulus
    stress, where = largest(sim, "stress")
    assert stress == pytest.approx(by_hand, rel=0.01) and abs(where) < 1e-3
    strain, where = largest(sim, "strain")
    assert strain == pytest.approx(by_hand / YOUNG * math.sqrt(1 + 2 * POISSON**2), rel=0.01) and abs(where) < 1e-3


@pytest.mark.parametrize("count", [2, 50])
def test_the_stress_of_a_cantilever_is_linear_along_it_with_any_segments(count):
    sim = loaded(ROUND, (0, 0, -0.05), count=count)
    rod = sim.scene.rods[0]
    along = surface_stress(rod, sim.rod(rod), ROUND.outline(4)).along[:, :, 0]  # at the upper side
    ends = rod.points[rod.edges][:, :, 0]
    expected = 0.05 * (LENGTH - ends) / SECTIONS["circle"][1]
    np.testing.assert_allclose(along, expected, atol=2e-3 * expected.max())


def test_tension_adds_to_bending_where_the_load_pulls():
    """N / A + M / W above, and N / A - M / W below, at the clamp."""
    pull, load, modulus = 50.0, 0.02, SECTIONS["circle"][1]
    sim = loaded(ROUND, (pull, 0, -load))
    rod = sim.scene.rods[0]
    along = surface_stress(rod, sim.rod(rod), ROUND.outline(4)).along[0, 0]
    moment = load * LENGTH - pull * -sim.rod(rod).points[-1, 2]  # the pull has its arm too
    assert moment < 0.99 * load * LENGTH
    expected = [pull / ROUND.area + side * moment / modulus for side in (1, -1)]
    np.testing.assert_allclose(along[[0, 2]], expected, rtol=0.01)


@pytest.mark.parametrize("ratio, factor", [(1, 0.208), (1.5, 0.231), (2, 0.246), (4, 0.282), (10, 0.312), (1e3, 1 / 3)])
def test_rectangles_twist_as_published(ratio, factor):
    """T / tau = k a b^2 with Timoshenko and Goodier's k (chapter 109), to their three digits and Roark's fit."""
    for sizes in ((ratio, 1.0), (1.0, ratio)):
        assert torsion_modulus(pl.Section.rectangle(*sizes)) == pytest.approx(factor * ratio, rel=0.006)


@pytest.mark.parametrize("name", ["circle", "tube", "ellipse"])
def test_torque_alone_is_stress_across(name):
    """T a / J of a circle, 2 T / (pi a b^2) of an ellipse; von Mises stress is sqrt(3) of it."""
    section, torque = SECTIONS[name][0], 0.01
    moduli = {"circle": math.pi * 0.01**3 / 2, "ellipse": math.pi * 0.02 * 0.01**2 / 2}
    moduli["tube"] = math.pi * (0.01**4 - 0.008**4) / (2 * 0.01)
    stress, _ = largest(loaded(section, torque=(torque, 0, 0)), "stress")
    assert stress == pytest.approx(math.sqrt(3) * torque / moduli[name], rel=1e-3)


def test_thin_rods_of_few_segments_are_hardly_sheared():
    """Their shear angle is mostly bending within a segment: the stress across is the shear force over the area."""
    load = 0.001
    sim = loaded(pl.Section.circle(0.002), (0, 0, -load), count=5)
    rod = sim.scene.rods[0]
    across = surface_stress(rod, sim.rod(rod), rod.section.outline(8)).across
    np.testing.assert_allclose(across, load / rod.section.area, rtol=0.02)


def test_natural_curvature_is_stress_in_the_shape_that_is_given():
    """A straight rod whose natural shape is an arc of radius R: E r / R."""
    scene, rod = line_rod(10, LENGTH, ROUND, young=YOUNG, poisson=POISSON, curvature=(0.5, 0, 0))
    (values,) = of_rods(scene.simulate(dt=1e-3, threads=1), [Tube(rod, 0)], "stress")
    assert values.max() == pytest.approx(YOUNG * 0.01 * 0.5, rel=1e-6)


def test_balls_of_a_network_have_the_largest_of_their_segments():
    scene = pl.Scene(gravity=(0, 0, 0))
    cross = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0)]
    material = pl.Material.linear(YOUNG, POISSON, 1000)
    rod = scene.add_rod(cross, material, radius=0.01, edges=[(0, 1), (2, 0), (0, 3)], segments=4)
    rod.clamp(1)
    rod[2].force((0, 0, -0.01))
    sim, tube = scene.equilibrium(), Tube(rod, 0)
    (values,) = of_rods(sim, [tube], "stress")
    assert tube.balls.tolist() == [0] and len(values) == len(tube.points(sim))
    rings = values[:-1].reshape(len(rod.edges), 2, -1)
    assert values[-1] == rings[rod.edges == 0].max() > 0.1 * values.max()
    surfaces = tube.surfaces(tube.points(sim), values)
    assert [len(surface.field) == len(surface.points) for surface in surfaces] == [True, True]
    assert set(surfaces[1].field) == {values[-1]}


def mixed_scene() -> pl.Simulation:
    """A rod that is bent more than a soft box, put elsewhere than its points say, after some steps."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 2), pl.Material.corotated(1e5, 0.3, 1000))
    soft.pin("z < 0.001")
    points = np.linspace(0, 1, 11)[:, None] * [1.0, 0, 0]
    rod = scene.add_rod(points, pl.Material.linear(1e8, 0.3, 1000), radius=0.01, position=(0, 0.4, 0.2))
    rod.clamp(0)
    return scene.simulate(dt=0.01, threads=1)


@pytest.mark.parametrize("field", ["displacement", "speed", "strain", "stress"])
def test_pictures_and_the_studio_show_the_same_values(field):
    sim = mixed_scene()
    (before,) = SceneView(sim, "displacement").shot().rod_values
    assert not before.any()
    sim.step(5)
    view, geometry = SceneView(sim, field), SceneGeometry(sim.scene, 1)
    shot, moment = view.shot(), geometry.take(sim, field)
    np.testing.assert_array_equal(moment.values[1], shot.rod_values[0])
    np.testing.assert_array_equal(geometry.dressed(moment).rod_values[0], shot.rod_values[0])
    share = 0.99 if field in ("strain", "stress") else 1.0  # of soft bodies; of rods all is resolved
    assert view.limits([shot])[1] == max(shot.rod_values[0].max(), np.quantile(shot.values[0], share))
    assert (picture(sim, SMALL, color=field) != picture(sim, SMALL, color="none")).any()


def test_films_colour_rods_with_one_range(tmp_path):
    sim = mixed_scene()
    recording = Recording(sim, SceneGeometry(sim.scene, 1), "stress")
    recording.keep()
    with pl.Recorder(sim, tmp_path, ["a.gif", "a.png"], 25, color="stress", size=SMALL) as recorder:
        for _ in sim.run(0.2):
            recorder.frame()
            recording.keep()
    peaks = [shot.rod_values[0].max() for shot in recorder.shots]
    assert recorder.view.limits(recorder.shots) == (0.0, max(peaks)) and max(peaks) > peaks[0]
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == len(peaks)
    assert recording.film(tmp_path / "b.gif", None) == len(recording.shots)


def test_fields_that_rods_do_not_have_leave_them_plain():
    scene, _ = line_rod(4, LENGTH, ROUND)
    view = SceneView(scene.simulate(dt=0.01, threads=1), "contact_pressure")
    shot = view.shot()
    assert view.limits([shot]) is None and len(shot.rod_values) == 0
    assert view.tubes[0].surfaces(shot.tubes[0])[0].field is None


def test_files_have_the_largest_stress_and_strain_of_every_segment():
    load, modulus = 0.05, SECTIONS["circle"][1]
    (grid,) = grids(loaded(ROUND, (0, 0, -load)))
    expected = load * LENGTH * (1 - np.arange(20) / 20) / modulus
    np.testing.assert_allclose(grid.cell_data["von_mises"], expected, rtol=0.01)
    ratio = math.sqrt(1 + 2 * POISSON**2) / YOUNG
    np.testing.assert_allclose(grid.cell_data["surface_strain"], ratio * grid.cell_data["von_mises"], rtol=0.01)
