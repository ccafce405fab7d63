"""Rigid tools pressed into soft blocks, against closed forms (CPL-05 to CPL-07), and the contact patch test (CPL-08).

Half-spaces are quarters of blocks, by symmetry, graded away from the contact; they reach 60 contact radii down, which
makes them stiffer than a half-space by about 0.88 / 60 (Dimitriadis et al. 2002, eq. 8).
"""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from mechanisms import DUAL, ELIMINATED, EULER, case

YOUNG, POISSON, RADIUS = 1e6, 0.3, 0.1


def graded(length: float, fine: float, even: int, count: int) -> np.ndarray:
    """Places (count + 1,) [m] from 0 to a length: some even cells of a fine size, then growing ones."""
    left, more = length - even * fine, count - even
    growth = brentq(lambda r: fine * r * (r**more - 1) / (r - 1) - left, 1.0001, 10)
    return fine * np.concatenate(
        [np.arange(even + 1), even + growth * (growth ** np.arange(1, more + 1) - 1) / (growth - 1)]
    )


def quarter(width: float, depth: float, fine: float, cells: tuple[int, int], even: tuple[int, int]):
    """A quarter of a block below z = 0, quadratic tets, fine at its corner."""
    (across, down), mesh = cells, pl.meshes.box((1, 1, 1), cells=(cells[0], cells[0], cells[1]))
    points = np.array(mesh.points)
    for axis in range(2):
        places = graded(width, fine, even[0], across)
        points[:, axis] = np.interp(points[:, axis], np.linspace(0, 1, across + 1), places)
    points[:, 2] = -np.interp(1 - points[:, 2], np.linspace(0, 1, down + 1), graded(depth, fine, even[1], down))
    return pl.meshes.TetMesh(points, mesh.tets).quadratic()


def pressed(mesh, tool, depth: float, height: float) -> tuple[pl.Simulation, float]:
    """A block into which a tool is pressed by a depth [m] in one long step, and the force [N] of the whole of it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    block = scene.add_soft(mesh, pl.Material.linear(young=YOUNG, poisson=POISSON, density=1000), friction=0)
    block.pin(block.nodes.z < block.nodes.z.min() + 1e-9)
    block.pin(block.nodes.x < 1e-9, axes="x")
    block.pin(block.nodes.y < 1e-9, axes="y")
    tool = scene.add_rigid(tool, static=True, position=(0, 0, height), velocity=(0, 0, -depth), friction=0)
    sim = scene.simulate(dt=1.0).step()
    assert sim.info.converged
    return sim, 4 * float(sim.contact_force(tool, block)[2])


@pytest.mark.slow
def test_sphere_on_a_half_space():
    """CPL-05: F = 4/3 E* sqrt(R) d^1.5, a = sqrt(R d), E* = E / (1 - nu^2); 5 % on F, contacts end within a cell of
    a."""
    expected, depth, fine = case("CPL-05")["d=0.002"], 0.002, 0.0024
    radius = np.sqrt(RADIUS * depth)
    mesh = quarter(40 * radius, 60 * radius, fine, (13, 12), (7, 3))
    sim, force = pressed(mesh, pl.Sphere(RADIUS), depth, RADIUS)
    assert force == pytest.approx(expected["F"], rel=0.05)
    reach = np.linalg.norm(sim.contacts.points[:, :2], axis=1).max()
    assert reach == pytest.approx(expected["a"], abs=fine)


@pytest.mark.slow
def test_flat_punch_on_a_half_space():
    """CPL-06: F = 2 E* R d under a flat cylinder; 5 %. Ten cells to its edge, at which the pressure is singular."""
    expected = case("CPL-06")
    radius, depth = expected["R"], expected["d"]
    mesh = quarter(40 * radius, 60 * radius, radius / 10, (19, 15), (12, 4))
    _, force = pressed(mesh, pl.Cylinder(radius, 0.04), depth, 0.02)
    assert force == pytest.approx(expected["F"], rel=0.05)


def half(width: float, fine: float, cells: tuple[int, int], even: tuple[int, int]):
    """Half of a block below z = 0 with y >= 0, quadratic tets, fine about the middle of its edge."""
    (across, down), mesh = cells, pl.meshes.box((2, 1, 1), cells=(2 * cells[0], cells[0], cells[1]))
    points, even_spaced = np.array(mesh.points), np.linspace(0, 1, across + 1)
    points[:, 0] -= 1
    for axis in range(2):
        places = np.interp(np.abs(points[:, axis]), even_spaced, graded(width, fine, even[0], across))
        points[:, axis] = np.copysign(places, points[:, axis])
    points[:, 2] = -np.interp(1 - points[:, 2], np.linspace(0, 1, down + 1), graded(width, fine, even[1], down))
    return pl.meshes.TetMesh(points, mesh.tets).quadratic()


@pytest.mark.slow
def test_partial_slip_under_a_sphere():
    """CPL-07: pressed down, then shifted by 3 mu P (2 - nu) / (16 G a) [1 - (1 - Q / mu P)^(2/3)] in two long steps, a
    sphere sticks within c = a (1 - Q / mu P)^(1/3); 10 % on the stick area. Shallow, for what touches at the end of a
    long step has slid over the slope a / R of the sphere before; the block, of eight radii, makes P larger by 1.15."""
    expected, friction, poisson, depth = case("CPL-07"), 0.3, 0.49, 1e-5
    radius = np.sqrt(RADIUS * depth)
    normal = 1.15 * 4 / 3 * YOUNG / (1 - poisson**2) * np.sqrt(RADIUS) * depth**1.5
    most = 3 * friction * normal * (2 - poisson) * 2 * (1 + poisson) / (16 * YOUNG * radius)
    first, both = (most * (1 - (1 - part) ** (2 / 3)) for part in (0.5, 0.8))
    ways = (0, 0, -depth), (first, 0, 0), (both - first, 0, 0)
    scene = pl.Scene(gravity=(0, 0, 0))
    rubber = pl.Material.linear(young=YOUNG, poisson=poisson, density=1000)
    block = scene.add_soft(half(8 * radius, radius / 6, (11, 6), (7, 2)), rubber, friction=friction)
    block.pin(block.nodes.z < block.nodes.z.min() + 1e-9)
    block.pin(block.nodes.y < 1e-9, axes="y")
    motion = {"static": True, "velocity": lambda time: ways[int(np.ceil(time - 1e-6)) - 1]}
    tool = scene.add_rigid(pl.Sphere(RADIUS), position=(0, 0, RADIUS), friction=friction, **motion)
    sim = scene.simulate(dt=1.0).step()
    for part in (0.5, 0.8):
        sim.step()
        assert sim.info.converged
        force = np.abs(sim.contact_force(tool, block))
        assert force[0] / (friction * force[2]) == pytest.approx(part, abs=0.02)
        away = np.linalg.norm(sim.contacts.points[:, :2] - sim.pose(tool)[0][:2], axis=1)
        ratio = away[sim.contacts.sticking].max() / away.max()
        assert ratio**2 == pytest.approx(expected[f"c/a Q={part}muP"] ** 2, rel=0.1)


@pytest.mark.parametrize("solver", [EULER, DUAL, ELIMINATED], ids=["newton", "dual", "eliminated"])
@pytest.mark.parametrize("plate", ["box", "mesh"])
def test_patch_between_plates(plate, solver):
    """CPL-08: a block between a plane and a plate whose nodes do not match its own has the same stress everywhere; 1 %.
    Uniaxial: nothing holds its sides."""
    scene, down = pl.Scene(gravity=(0, 0, 0)), lambda time: (0, 0, -0.02 if time < 0.151 else 0.0)
    scene.add_rigid(pl.Plane(), static=True, friction=0)
    rubber = pl.Material.linear(young=YOUNG, poisson=POISSON, density=1000, damping=0.02)
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), cells=(3, 3, 2)), rubber, friction=0)
    block.pin(block.nodes.x < 1e-9, axes="x")
    block.pin(block.nodes.y < 1e-9, axes="y")
    motion = {"static": True, "velocity": down, "friction": 0}
    if plate == "box":
        scene.add_rigid(pl.Box((0.4, 0.4, 0.02)), position=(0.1, 0.1, 0.111), **motion)
    else:
        surface = pl.meshes.box((0.5, 0.5, 0.02), cells=(4, 4, 1)).surface()
        shape = pl.Mesh(points=surface.points, triangles=surface.triangles)
        scene.add_rigid(shape, position=(-0.137, -0.121, 0.101), **motion)
    sim = scene.simulate(dt=0.05, solver=solver).step(12)
    assert sim.info.converged
    stress = sim.stress(block)
    down, mean = stress[:, 2], float(stress[:, 2].mean())  # zz
    assert mean < -0.015 * YOUNG
    assert np.ptp(down) <= 0.01 * abs(mean) + YOUNG * case("CPL-08")["stress_spread"]
    # the whole of it: sigma = E e of the height that is left
    height = float(np.ptp(sim.positions(block)[:, 2]))
    assert mean == pytest.approx(YOUNG * (height / 0.1 - 1), rel=0.01)
