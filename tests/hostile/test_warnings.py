"""Every warning says what to do, and that works: it is brought about, what it says is done, and it does not come again.

The table has an entry for every place in the package that warns, so that a new one must be tried as well.
"""

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant import scene_file
from pliant.scene_file import build as scene_build

SOURCES = Path(pl.__file__).parent
STEEL = pl.Material.corotated(1e6, 0.3, 1000)


def long_steps(dt: float) -> None:
    """A pin that passes an element in a step of 0.01 s."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((0.4, 0.2, 0.2), cells=(4, 1, 1)), pl.Material.neohookean(1e6, 0.3, 1000))
    body.pin(body.nodes.x < 1e-9, velocity=lambda time: (12.0 if time < 0.035 else 0.0, 0, 0))
    scene.simulate(dt=dt, threads=1).step(round(0.03 / dt))


def pressed(law: str) -> None:
    """A block that lands; St. Venant-Kirchhoff's law has no strength in compression, whatever the step."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = getattr(pl.Material, law)(1e4, 0.3, 1000)
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=3), material, position=(0, 0, 0.1), velocity=(0, 0, -2.5))
    scene.simulate(dt=1 / 120, threads=1).step(12)


def rolling(**options) -> None:
    """A ball with resistance to rolling above a soft body."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), 1), STEEL)
    soft.pin("z < 0.1")
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.5, 0.5, 2), **({"rolling_friction": 0.1} | options))
    scene.simulate(0.01)


def apart_by_order() -> None:
    """The same, kept apart by name."""
    scene = pl.Scene()
    soft = scene.add_soft(pl.meshes.box((1, 1, 1), 1), STEEL)
    soft.pin("z < 0.1")
    scene.ignore_contact(soft, scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.5, 0.5, 2), rolling_friction=0.1))
    scene.simulate(0.01)


def crossing(distance: float) -> None:
    """Two soft blocks of which one is put at a distance [m] from the other."""
    scene = pl.Scene(gravity=(0, 0, 0))
    for place in (0.0, 3.0):
        body = scene.add_soft(pl.meshes.box((1, 1, 1), 2), STEEL, position=(place, 0, 0))
    sim = scene.simulate(0.01, threads=1)
    sim.set_positions(body, np.add(body.nodes.positions, (distance - 3.0, 0.1, 0.1)))
    sim.step()


def swallowed(place: float) -> None:
    """A ball at a place [m] along a soft block of 1 m."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(pl.meshes.box((1, 1, 1), 2), STEEL)
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(place, 0.5, 0.5))
    scene.simulate(0.01, threads=1)


def in_halves(distance: float, self_contact: bool | None = None) -> None:
    """A soft body of two blocks with a distance [m] between their faces."""
    scene, block = pl.Scene(gravity=(0, 0, 0)), pl.meshes.box((1, 1, 1), 2)
    points = np.concatenate([block.points, block.points + np.array([1.0 + distance, 0, 0])])
    mesh = pl.meshes.TetMesh(points, np.concatenate([block.tets, block.tets + len(block.points)]))
    scene.add_soft(mesh, STEEL, self_contact=self_contact)
    scene.simulate(0.01, threads=1)


def overlapping(distance: float, ignored: bool = False) -> None:
    """Two balls of 1 m at a distance [m]."""
    scene = pl.Scene(gravity=(0, 0, 0))
    balls = [scene.add_rigid(pl.Sphere(0.5), mass=1, position=(place, 0, 0)) for place in (0, distance)]
    if ignored:
        scene.ignore_contact(*balls)
    scene.simulate(0.01, threads=1).step()


def corner(radius: float = 0.01, **options) -> None:
    pl.Scene().add_rod([[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]], STEEL, radius, **options)


def wrung(segments: int) -> None:
    """A rod whose middle is lowered between its ends, above the ground."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -1))
    law = pl.Material.linear(1e6, 0.3, 1000)
    rod = scene.add_rod([(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0)], law, radius=0.005, segments=segments)
    rod.clamp(0)
    rod.clamp(-1)
    rod.clamp(segments, velocity=(0, 0, -0.2))
    scene.simulate(1 / 50, threads=1).step(20)


def column(load: float) -> None:
    """A straight column of 1 m under a load, in parts of Euler's."""
    scene, law = pl.Scene(gravity=(0, 0, 0)), pl.Material.linear(1e8, 0.3, 1000)
    rod = scene.add_rod([(0, 0, 0), (0, 0, 1)], law, radius=0.01, segments=10)
    rod.clamp(0)
    rod[-1].force((0, 0, -load * np.pi**2 * 1e8 * np.pi * 0.01**4 / 16))
    scene.equilibrium()


def hung(point: int, place: float, arm: bool = False) -> None:
    """A ball that a joint holds to a point of a rod of 1 m, at a place [m] along it, perhaps by an arm."""
    scene, law = pl.Scene(gravity=(0, 0, 0)), pl.Material.linear(1e6, 0.3, 1000)
    rod = scene.add_rod([(0, 0, 0), (1, 0, 0)], law, radius=0.01, segments=10)
    held = rod[point]
    if arm:
        held = scene.add_rigid(pl.Box((0.4, 0.01, 0.01)), mass=0.1, position=(0.8, 0, 0), collide=False)
        scene.join(pl.Fixed(rod[point], held, at=tuple(rod.places[point])))
    ball = scene.add_rigid(pl.Sphere(0.05), mass=1, position=(place, 0, 0.1))
    scene.join(pl.Fixed(held, ball, at=(place, 0, 0)))
    scene.simulate(0.01, threads=1)


def meshed(triangles: slice, repair: bool) -> None:
    """Tets of a box, of whose surface perhaps a triangle is missing."""
    surface = pl.meshes.box((1, 1, 1), 2).surface()
    pl.meshes.tetrahedralize((surface.points, surface.triangles[triangles]), size=0.5, sharp=30, repair=repair)


def pulled(force) -> pl.Scene:
    """A ball that a function of time pulls."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Sphere(0.1), mass=1).force(force)
    return scene


def sent(force) -> None:
    """Steps of two simulations in two processes."""
    with pl.simulate_many([pulled(force), pulled(force)], 0.01, workers=2) as many:
        many.step()


def stopped(again: bool) -> None:
    """One of two simulations has a force that ends in nothing after a while."""

    def ends(time: float):
        return (0, 0, 1) if time < 0.025 else (0, 0, float("nan"))

    with pl.simulate_many([pulled((0, 0, 1)), pulled(ends)], 0.01, workers=1) as many:
        with warnings.catch_warnings():
            if again:
                warnings.simplefilter("ignore")
            many.step(3)
        assert list(many.failures) == [1] and "force" in str(many.failures[1])
        many.reset(only=1)
        assert not many.failures
        many.step()


def told_of_one(dt: float) -> None:
    """What one of many warns of."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(pl.meshes.box((1, 1, 1), 1), STEEL)
    place = pl.meshes.box((1, 1, 1), 1).points
    with pl.simulate_many(scene, dt, count=1, workers=1) as many:
        many.set_positions("soft0", [place if dt < 0.01 else place * (1, 1, -1)])
        many.step()


def looped(loop: bool) -> None:
    run = pulled((0, 0, 1)).simulate(0.01).run(0.03)
    for _ in run if loop else ():
        pass
    del run


def announced(cells: int, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(scene_build, "MANY_TETS", 1000)
    text = "format = 1\n[[soft]]\nmesh = {{ box = [1, 1, 1], cells = {} }}\n"
    text += 'material = {{ law = "corotated", young = 1e5, poisson = 0.3, density = 1000 }}\n'
    (folder / "a.toml").write_text(text.format(cells))
    scene_file.read(folder / "a.toml")


def explicit(dt: float, method: str = "symplectic", steps: int = 3) -> None:
    scene = pl.Scene()
    scene.add_soft(pl.meshes.box((1, 1, 1), 1), STEEL).pin("z < 0.1")
    scene.simulate(dt, solver=pl.Explicit(method=method)).step(steps)


def named_step(message: str) -> float:
    return 0.97 * float(re.search(r"scene is ([\d.e-]+) s", message)[1])


CASES: dict[str, list[tuple[str, Callable, list[Callable]]]] = {
    "elements/tangles.py": [
        ("turned inside out.*smaller dt", lambda: long_steps(0.01), [lambda _: long_steps(0.002)]),
        ("turned inside out.*neohookean", lambda: pressed("stvk"), [lambda _: pressed("neohookean")]),
    ],
    "model/colliders.py": [
        (
            "rolling_friction.*leave them out.*groups.*ignore_contact",
            rolling,
            [lambda _: rolling(rolling_friction=0), lambda _: rolling(mask=1 << 1), lambda _: apart_by_order()],
        )
    ],
    "model/joint_checks.py": [
        (
            "point 10 of rod.* 0.4 m away.*nearest is point 6.*hold the point.*put the place.*a rigid body, welded",
            lambda: hung(10, 0.6),
            [lambda _: hung(6, 0.6), lambda _: hung(10, 1.0), lambda _: hung(10, 0.6, arm=True)],
        )
    ],
    "model/overlaps.py": [
        ("Put them apart", lambda: crossing(0.5), [lambda _: crossing(1.2)]),
        (
            "overlap at the start.*move them apart.*ignore_contact",
            lambda: overlapping(0.8),
            [lambda _: overlapping(1.0), lambda _: overlapping(0.8, ignored=True)],
        ),
        (
            "touch themselves at the start.*leave a distance.*self_contact=False",
            lambda: in_halves(0.0),
            [lambda _: in_halves(0.01), lambda _: in_halves(0.0, self_contact=False)],
        ),
        ("lie inside soft ones.*move them apart", lambda: swallowed(0.5), [lambda _: swallowed(1.2)]),
        ("turns so sharply.*shorter segments", lambda: wrung(1), [lambda _: wrung(10)]),
    ],
    "statics/stability.py": [("not stably", lambda: column(1.1), [lambda _: column(0.9)])],
    "scene/rod_shapes.py": [
        ("segments=.*collide=False", corner, [lambda _: corner(0.05, segments=10), lambda _: corner(collide=False)])
    ],
    "meshes/from_surface.py": [
        ("was repaired.*mend", lambda: meshed(slice(1, None), True), [lambda _: meshed(slice(None), False)])
    ],
    "many/stepping.py": [
        (
            "take their steps in this process.*Keyframes always",
            lambda: sent(lambda time: (0, 0, 1)),
            [lambda _: sent(pl.Keyframes((0, 1), ((0, 0, 1), (0, 0, 2))))],
        )
    ],
    "many/simulations.py": [
        (r"1 of 2 simulations stopped.*reset\(only", lambda: stopped(False), [lambda _: stopped(True)]),
        ("simulation 0: .*inside out.*smaller dt", lambda: told_of_one(0.01), [lambda _: told_of_one(0.001)]),
    ],
    "running.py": [("for _ in sim.run", lambda: looped(False), [lambda _: looped(True)])],
    "scene_file/build.py": [("fewer cells", None, [])],
    "solve/explicit.py": [
        (
            "largest safe time step.*Make dt smaller",
            lambda: explicit(1.0, steps=1),
            [lambda text: explicit(named_step(text))],
        ),
        (
            "no stable time step.*'rk4' or 'symplectic'",
            lambda: explicit(1e-4, "rk2"),
            [lambda _: explicit(1e-4, "rk4"), lambda _: explicit(1e-4)],
        ),
    ],
}
"""By the file that warns: what it says, what brings it about, and what it says to do instead."""


def test_every_place_that_warns_is_tried():
    found: dict[str, int] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        if count := len(re.findall(r"\bwarn\(", path.read_text())):
            found[str(path.relative_to(SOURCES))] = count
    assert set(found) == set(CASES)
    assert not [name for name, count in found.items() if len(CASES[name]) < count]


def _told(call: Callable) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name, number", [(name, k) for name in CASES for k in range(len(CASES[name]))])
def test_what_a_warning_says_to_do_works(name, number, tmp_path, monkeypatch):
    says, bad, good = CASES[name][number]
    if name == "scene_file/build.py":
        bad, good = (lambda: announced(10, tmp_path, monkeypatch)), [lambda _: announced(3, tmp_path, monkeypatch)]
    texts = [text for text in _told(bad) if re.search(says, text)]
    assert texts
    for call in good:
        assert not _told(lambda call=call: call(texts[0]))
