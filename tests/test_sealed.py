"""What a simulation has taken over cannot be written to behind its back."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.scene.sealed import Noted

RUBBER = pl.Material.corotated(1e6, 0.3, 1000)


def everything() -> pl.Scene:
    """A scene whose bodies, joints and loads hold arrays wherever they can."""
    scene = pl.Scene()
    mesh = pl.meshes.box((1, 1, 1), 1)
    mesh = pl.meshes.TetMesh(mesh.points, mesh.tets, sets={"left": [0, 1, 2]})
    soft = scene.add_soft(mesh, RUBBER, drawing=mesh.surface(), position=(0, 0, 5))
    soft.pin(np.array([0, 1]), displacement=np.zeros((2, 3)))
    soft.pin(pl.selections.InSet("left"), axes="x")
    soft.force(soft.nodes.x > 0.5, (0, 0, 1.0))
    soft.traction(soft.faces.z > 5.5, (0, 0, 1.0)), soft.pressure([0, 1], 1.0)
    cloth = scene.add_cloth(
        pl.meshes.grid((1, 1), 2), RUBBER, 0.01, fibres=pl.Fibres((1, 0, 0), 1e6), position=(0, 0, 9)
    )
    cloth.clamp([0]), cloth.wind((1, 0, 0))
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    part = pl.Mesh(points=corners, triangles=np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    scene.add_rigid(part, mass=1, inertia=np.eye(3), position=(3, 0, 0))
    ball = scene.add_rigid(pl.Hull(corners), mass=1, position=(6, 0, 0))
    scene.add_rigid(pl.Heightfield(np.zeros((2, 2)), (1, 1)), static=True, position=(0, 0, -9))
    line = np.array([[0.0, 5, 5], [0.5, 5, 5], [1, 5, 5]])
    turned = {"normal": np.array([[0.0, 0, 1]] * 2), "curvature": np.array([[0.0, 0, 1]] * 2)}
    rod = scene.add_rod(line, RUBBER, section=pl.Section.rectangle(0.02, 0.01), straight=True, **turned)
    net = scene.add_rod(line + 1, RUBBER, 0.01, edges=np.array([[0, 1], [1, 2]]))
    scene.join(pl.Fixed(soft, pl.world, (0, 0, 5), nodes=[0, 1]))
    scene.join(pl.Tendon([(ball, np.array([6.0, 0, 0])), (rod[0], np.array([0.0, 5, 5]))]))
    scene.join(pl.Distance(ball, net[0], np.array([[6.0, 0, 0], [1, 6, 6]])))
    return scene


def inside(thing, path: str, seen: set):
    """All arrays and lists that can be reached from a thing by public names, with how to get there."""
    if id(thing) in seen or isinstance(thing, type):
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray | list):
        yield path, thing
    if isinstance(thing, list | tuple):
        for k, entry in enumerate(thing):
            yield from inside(entry, f"{path}[{k}]", seen)
    elif isinstance(thing, dict):
        for key, entry in thing.items():
            yield from inside(entry, f"{path}[{key!r}]", seen)
    elif type(thing).__module__.startswith("pliant.") and not callable(thing):
        own = {field.name for field in fields(thing)} if is_dataclass(thing) else set()
        for key in sorted(own | set(vars(thing))):
            if not key.startswith("_") and key != "source" and hasattr(thing, key):
                yield from inside(getattr(thing, key), f"{path}.{key}", seen)


def test_no_array_of_what_is_in_a_scene_can_be_written_to():
    scene = everything()
    assert all(len(body.faces) for body in scene.soft_bodies)  # made when asked for
    seen: set = set()
    found = [entry for thing in (*scene.bodies, *scene.joints) for entry in inside(thing, thing.name, seen)]
    arrays = [(path, value) for path, value in found if isinstance(value, np.ndarray)]
    assert len(arrays) > 60
    assert [path for path, array in arrays if array.flags.writeable] == []
    # a list that grows is noticed, as what is added by pin, force, ...; anything else is a tuple
    lists = [(path, value) for path, value in found if isinstance(value, list)]
    assert lists and [path for path, value in lists if not isinstance(value, Noted)] == []


@pytest.mark.parametrize("name", ["points", "edges", "frames", "lengths", "curvature", "ends", "normal"])
def test_a_rod_in_a_scene_keeps_its_arrays(name):
    given = {"normal": np.array([[0.0, 0, 1]] * 2), "curvature": np.zeros((2, 3))}
    points = np.array([[0.0, 0, 0], [0.5, 0, 0], [1, 0, 0]])
    rod = pl.Scene().add_rod(points, RUBBER, section=pl.Section.rectangle(0.02, 0.01), **given)
    with pytest.raises(ValueError, match="read-only"):
        getattr(rod, name)[:] = 0
    points[:], given["normal"][:], given["curvature"][:] = 7, 7, 7  # the arrays of the caller stay the caller's
    assert not np.any(getattr(rod, name) == 7)
