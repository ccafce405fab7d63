"""The software rasteriser against projective geometry, colours against their tables, films against Pillow's reader."""

import numpy as np
import pytest
from PIL import Image

from pliant.output.drawing import tessellate
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.colors import CONTROL_POINTS, colormap, linear_from_srgb, srgb_color
from pliant.output.drawing.draw import tick_labels, tick_values
from pliant.output.drawing.picture import Ground, Legend, Light, Surface
from pliant.output.drawing.raster import render
from pliant.output.film import Film, save_png

SIZE = (240, 160)
WHITE = ("#ffffff", "#ffffff")
RED, GREEN = "#ff0000", "#00ff00"
FRONT = Camera((0, -10, 0), (0, 0, 0))  # right is +x, up is +z


def facing(depth: float, half: float, color: str = RED, **options) -> Surface:
    """A square of side 2 * half in the plane y = depth."""
    corners = [[-half, depth, -half], [half, depth, -half], [half, depth, half], [-half, depth, half]]
    return Surface(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]), color=color, **options)


def floor(half: float, **options) -> Surface:
    corners = [[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]]
    return Surface(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]), **options)


def ball(radius: float, centre=(0.0, 0.0, 0.0), segments: int = 96, **options) -> Surface:
    points, triangles = tessellate.sphere(radius, segments)
    return Surface(points + centre, triangles, **options)


def plain(surfaces, camera=FRONT, size=SIZE, **options) -> np.ndarray:
    return render(surfaces, camera, size, unlit=True, background=WHITE, **options)


def color_of(name: str) -> list[int]:
    return np.round(255 * srgb_color(name)).astype(int).tolist()


def test_a_sphere_covers_the_known_number_of_pixels():
    # Its outline is a cone with sin(a) = r / d around the axis of view: a disc of radius f tan(a) in the picture.
    radius, distance = 2.0, 10.0
    focal = FRONT.focal_length(SIZE[1])
    expected = np.pi * (focal * np.tan(np.arcsin(radius / distance))) ** 2
    image = plain([ball(radius, color="#000000")])
    covered = 1 - linear_from_srgb(image[..., 0] / 255).sum() / image[..., 0].size
    # the polyhedron lies inside the sphere by a relative (pi / segments)^2 / 2 = 0.05 %; sampling adds its noise
    assert covered * SIZE[0] * SIZE[1] == pytest.approx(expected, rel=0.01)


def test_the_nearer_surface_is_seen_whatever_the_order():
    near, far = facing(-1, 0.5), facing(1, 2, GREEN)
    first, second = plain([near, far]), plain([far, near])
    np.testing.assert_array_equal(first, second)
    assert first[80, 120].tolist() == color_of(RED) and first[80, 165].tolist() == color_of(GREEN)


def test_surfaces_that_cross_are_cut_along_their_line():
    # y = x / 2 and y = -x / 2 cross at x = 0; each is in front on one side
    tilt = np.array([[-1, -0.5, -1], [1, 0.5, -1], [1, 0.5, 1], [-1, -0.5, 1]])
    quads = np.array([[0, 1, 2], [0, 2, 3]])
    image = plain([Surface(tilt, quads, color=RED), Surface(tilt * [1, -1, 1], quads, color=GREEN)])
    assert image[80, 115].tolist() == color_of(RED) and image[80, 125].tolist() == color_of(GREEN)


def test_neighbouring_triangles_leave_no_gap():
    half = 3.0
    grid = np.linspace(-half, half, 13)
    x, z = (a.ravel() for a in np.meshgrid(grid, grid))
    node = np.arange(169).reshape(13, 13)
    a, b, c, d = (n.ravel() for n in (node[:-1, :-1], node[:-1, 1:], node[1:, 1:], node[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    image = plain([Surface(np.stack([x, 0 * x, z], 1), triangles, color=RED)])
    focal = FRONT.focal_length(SIZE[1])
    reach = int(focal * half / 10) - 1
    inside = image[max(80 - reach, 0) : 80 + reach, 120 - reach : 120 + reach]
    assert (inside == color_of(RED)).all()


@pytest.mark.parametrize("corners", [3, 4])
def test_a_floor_that_passes_under_the_eye_ends_at_the_horizon(corners):
    # Eye 1 m above an endless plane, level view: the horizon is the middle row.
    camera = Camera((0, 0, 1), (0, 1, 1))
    large = 1e5
    points = np.array([[-4 * large, -large, 0], [4 * large, -large, 0], [0, 8 * large, 0]])
    surface = Surface(points, np.array([[0, 1, 2]]), color=RED) if corners == 3 else floor(large, color=RED)
    image = plain([surface], camera)
    assert (image[:79] == 255).all() and (image[81:] == color_of(RED)).all()


def test_what_is_behind_the_eye_is_not_drawn():
    assert (plain([facing(-11, 1), facing(-10, 1), ball(1, (0, -30, 0))]) == 255).all()


def test_degenerate_and_enormous_triangles_are_harmless():
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [1e12, 1e12, -1e12], [-1e12, -1e12, 3e11], [0, -10, 1e-9]])
    triangles = np.array([[0, 1, 2], [0, 0, 1], [0, 3, 4], [3, 4, 5], [1, 5, 2], [0, 1, 5]])
    with np.errstate(all="raise", under="ignore"):
        image = render([Surface(points, triangles, smooth=True, edges=True)], FRONT, SIZE, ground=Ground(-1))
    assert image.shape == (160, 240, 3)


def test_fields_are_interpolated_in_perspective():
    # On the plane z = 0 seen from 1 m above, the row v below the horizon shows y = f / v.
    camera = Camera((0, 0, 1), (0, 1, 1))
    surface = floor(20.0)
    surface.field = surface.points[:, 1]
    image = plain([surface], camera, legend=Legend(vmin=0, vmax=10, colormap="gray", visible=False))
    rows = np.arange(100, 160)
    y = camera.focal_length(SIZE[1]) / (rows + 0.5 - 80)
    table = linear_from_srgb(colormap("gray")[:, 0])
    expected = np.interp(y / 10 * 255, np.arange(256), table)
    np.testing.assert_allclose(linear_from_srgb(image[rows, 120, 0] / 255), expected, atol=0.006)


@pytest.mark.parametrize("name", list(CONTROL_POINTS))
def test_field_ends_have_the_ends_of_the_color_map(name):
    surface = facing(0, 2)
    surface.field = np.array([5.0, 7.0])  # per triangle: below and above the diagonal
    image = plain([surface], legend=Legend(colormap=name, visible=False))
    low, high = CONTROL_POINTS[name][0], CONTROL_POINTS[name][-1]
    assert image[95, 130].tolist() == color_of(low) and image[65, 110].tolist() == color_of(high)


def test_smooth_shading_has_no_facets():
    light = Light(shadows=False, gloss=0)
    jumps = []
    for smooth in (False, True):
        image = render([ball(2, segments=24, color="#808080", smooth=smooth)], FRONT, SIZE, light=light)
        jumps.append(np.abs(np.diff(image[60:100, 100:140, 1].astype(int), axis=1)).max())
    assert jumps[0] >= 8 and jumps[1] <= 4


def test_both_sides_are_lit_alike():
    light = Light((0, -1, 0.2), shadows=False)
    front, back = facing(0, 2, "#909090"), facing(0, 2, "#909090")
    back.triangles = back.triangles[:, ::-1].copy()
    np.testing.assert_array_equal(render([front], FRONT, SIZE, light=light), render([back], FRONT, SIZE, light=light))


def test_light_follows_lamberts_law():
    # gray in linear light: key * cos(angle) on top of what does not depend on the key light
    lit = []
    for key in (0.0, 0.5):
        light = Light((1, -1, 0), key=key, ambient=0.3, gloss=0, shadows=False)
        image = render([facing(0, 2, "#b0b0b0")], FRONT, SIZE, light=light)
        lit.append(linear_from_srgb(image[80, 120, 1] / 255))
    albedo = linear_from_srgb(srgb_color("#b0b0b0"))[1]
    assert lit[1] - lit[0] == pytest.approx(albedo * 0.5 * np.cos(np.pi / 4), abs=0.006)


def test_the_shadow_of_a_sphere_is_the_known_ellipse():
    # Parallel light at the angle b from the vertical: an ellipse of area pi r^2 / cos(b), shifted by h tan(b).
    radius, height, tangent = 0.3, 1.5, 0.75
    camera = Camera((0.5, 0, 8), (0.5, 0, 0), up=(0, 1, 0), field_of_view_degrees=25)
    ground = Ground(0.0, colors=("#b0b0b0", "#b0b0b0"), fade=1e6)
    images = [
        linear_from_srgb(
            render([ball(radius, (0, 0, height))], camera, (480, 320), ground=ground, light=light)[..., 1] / 255
        )
        for light in (Light((-tangent, 0, 1)), Light((-tangent, 0, 1), shadows=False))
    ]
    loss = images[1] - images[0]
    shadow = loss > 0.5 * loss[160, :].max()
    shadow[:, :240] = False  # leave out the ball itself
    scale = camera.focal_length(320) / 8.0
    expected = np.pi * radius**2 * np.sqrt(1 + tangent**2)
    assert shadow.sum() / scale**2 == pytest.approx(expected, rel=0.02)
    centre = np.argwhere(shadow).mean(axis=0)
    assert (centre[1] + 0.5 - 240) / scale + 0.5 == pytest.approx(height * tangent, abs=0.01)
    assert (centre[0] + 0.5 - 160) / scale == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("segments", [16, 96])
def test_a_smooth_surface_does_not_shadow_itself(segments):
    scene = [ball(2, segments=segments, color="#909090", smooth=True)]
    light = Light((-0.3, -1, 0.4), gloss=0)
    shadowed, open_air = (
        render(scene, FRONT, SIZE, light=chosen).astype(int)
        for chosen in (light, Light((-0.3, -1, 0.4), gloss=0, shadows=False))
    )
    assert np.abs(shadowed - open_air).max() <= 3


def test_ground_is_a_checkerboard_and_fades():
    camera = Camera((0.5, 0.5, 10), (0.5, 0.5, 0), up=(0, 1, 0))
    ground = Ground(0.0, 1.0, colors=("#000000", "#ffffff"), fade=1e6)
    image = plain([], camera, ground=ground)
    square = camera.focal_length(SIZE[1]) / 10  # pixels per square
    middle = image[80, 120, 0]
    assert middle == 255
    assert image[80, 120 + round(square), 0] == 0 and image[80 + round(square), 120, 0] == 0
    assert image[80 + round(square), 120 + round(square), 0] == 255
    level = Camera((0, 0, 1), (0, 1, 1))
    far = render([], level, SIZE, ground=Ground(0.0, 1.0, fade=3.0), background=("#203040", "#203040"))
    assert far[81].tolist() == [color_of("#203040")] * SIZE[0] and far[159, 120].tolist() != color_of("#203040")


def test_mesh_lines_are_dark_and_thin():
    with_lines, without = plain([facing(0, 2, edges=True)]), plain([facing(0, 2)])
    darker = (with_lines.astype(int).sum(axis=2) < without.astype(int).sum(axis=2)).sum()
    side = 2 * 2 * FRONT.focal_length(SIZE[1]) / 10
    length = side * (4 + np.sqrt(2))
    assert 0.8 * length < darker < 3.5 * length


def test_same_scene_gives_the_same_bytes():
    scene = [ball(1, (0, 0, 1), smooth=True), facing(2, 3, edges=True)]
    options = {"ground": Ground(), "legend": Legend("stress [Pa]", 0, 2e5), "caption": "t = 1.25 s"}
    first, second = (render(scene, Camera.framing(scene[0].points), SIZE, **options).tobytes() for _ in range(2))
    assert first == second


def test_legend_bar_shows_the_color_map():
    bare = plain([], size=(480, 270))
    image = plain([], size=(480, 270), legend=Legend("height [m²]", 0, 1))
    changed = np.argwhere((image != bare).any(axis=2))
    assert changed[:, 1].min() > 300 and changed[:, 0].max() < 180
    for end in (0, -1):
        color = np.round(255 * colormap("lagoon")[end]).astype(int)
        assert (image == color).all(axis=2).sum() >= 8
    assert (plain([], size=(480, 270), legend=Legend(visible=False)) == bare).all()
    captioned = plain([], size=(480, 270), caption="t = 1 s")
    assert np.argwhere((captioned != bare).any(axis=2))[:, 0].min() > 200


@pytest.mark.parametrize(
    ("limits", "labels", "exponent"),
    [
        ((0, 1), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], 0),
        ((-2, 2), ["-2", "-1", "0", "1", "2"], 0),
        ((0, 115e3), ["0", "25", "50", "75", "100"], 3),
        ((0, 1.1e-4), ["0", "25", "50", "75", "100"], -6),
    ],
)
def test_ticks_are_round(limits, labels, exponent):
    ticks, power = tick_values(*limits)
    assert power == exponent and tick_labels(ticks, power) == labels


def test_framing_fills_the_picture():
    points = np.random.default_rng(3).normal(size=(50, 3)) * [3, 1, 0.5] + [10, -4, 2]
    camera = Camera.framing(points, margin=0.1)
    low, high = points.min(axis=0), points.max(axis=0)
    corners = np.array(np.meshgrid(*zip(low, high))).reshape(3, -1).T
    right, up, depth = camera.axes @ (corners - camera.eye).T
    half = np.tan(np.radians(camera.field_of_view_degrees) / 2)
    reach = max(np.abs(right / depth).max() / half * 9 / 16, np.abs(up / depth).max() / half)
    assert reach == pytest.approx(0.9, abs=0.01)


SHAPES = {
    "sphere": (tessellate.sphere(0.5), 4 / 3 * np.pi * 0.5**3),
    "capsule": (tessellate.capsule(0.5, 1.0), 4 / 3 * np.pi * 0.5**3 + np.pi * 0.5**2 * 2),
    "cylinder": (tessellate.cylinder(0.5, 1.0), np.pi * 0.5**2 * 2),
    "box": (tessellate.box((1, 2, 3)), 48.0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_face_outward(name):
    (points, triangles), volume = SHAPES[name]
    a, b, c = points[triangles].transpose(1, 0, 2)
    area_vectors = np.cross(b - a, c - a) / 2
    np.testing.assert_allclose(area_vectors.sum(axis=0), 0, atol=1e-12)  # closed
    assert (np.einsum("ij,ij->i", area_vectors, a + b + c) > 0).all()  # convex around the origin
    # divergence theorem; nodes lie on the true surface, so the polyhedron is smaller, by up to (2 pi / segments)^2 / 2
    assert np.einsum("ij,ij->", area_vectors, a) / 3 == pytest.approx(volume, rel=0.0086)


def frames(count: int) -> list[np.ndarray]:
    return [plain([ball(1, (0.3 * k - 1, 0, 0), 12)], size=(96, 64)) for k in range(count)]


@pytest.mark.parametrize(("suffix", "tolerance"), [(".webp", 12), (".gif", 12)])
def test_films_come_back_with_their_frames_and_times(tmp_path, suffix, tolerance):
    pictures = frames(7)
    with Film(tmp_path / f"drop{suffix}", fps=30) as film:
        for picture in pictures:
            film.add(picture)
    with Image.open(tmp_path / f"drop{suffix}") as read:
        assert read.n_frames == 7 and read.info["loop"] == 0
        durations = []
        for number, picture in enumerate(pictures):
            read.seek(number)
            error = np.abs(np.asarray(read.convert("RGB")).astype(int) - picture)
            assert error.mean() < tolerance
            durations.append(read.info["duration"])
    assert durations == film.durations_ms()
    assert abs(sum(durations) - 7 * 1000 / 30) <= (5 if suffix == ".gif" else 0.5)


def test_png_is_exact(tmp_path):
    (picture,) = frames(1)
    save_png(tmp_path / "drop.png", picture)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "drop.png")), picture)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Film("drop.mp4"), r"unknown kind of film '.mp4'; allowed are .webp, .gif"),
        (lambda: Film("drop.gif", fps=60), "fps must lie above 0 and up to 50 for .gif, got 60"),
        (lambda: Film("drop.webp").save(), "at least one frame"),
        (lambda: Film("drop.webp").add(np.zeros((4, 4))), r"expected \(height, width, 3\) uint8"),
        (lambda: save_png("drop.jpg", np.zeros((4, 4, 3), np.uint8)), "written as .png"),
        (lambda: Surface(np.zeros((3, 2)), [[0, 1, 2]]), r"points: expected shape \(n, 3\)"),
        (lambda: Surface(np.full((3, 3), np.nan), [[0, 1, 2]]), "point 0 is not finite"),
        (lambda: Surface(np.zeros((3, 3)), [[0, 1, 3]]), "whole node numbers from 0 to 2"),
        (lambda: Surface(np.zeros((3, 3)), [[0, 1, 2]], field=[1, 2]), r"per point \(3\) or per triangle \(1\)"),
        (lambda: Surface(np.zeros((3, 3)), [[0, 1, 2]], color="red"), "expected '#rrggbb' or three numbers"),
        (lambda: Legend(colormap="rainbow"), "unknown name 'rainbow'; allowed are lagoon"),
        (lambda: Legend(vmin=1, vmax=1), "vmin 1 must be less than vmax 1"),
        (lambda: Camera((0, 0, 0), (0, 0, 0)), "the same point"),
        (lambda: Light((0, 0, 0)), "not zero"),
        (lambda: render([], FRONT, (0, 10)), "whole pixels"),
        (lambda: render([], FRONT, supersample=9), "allowed are 1, 2, 3 and 4"),
        (lambda: tessellate.sphere(-1), "radius: expected a positive length"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
