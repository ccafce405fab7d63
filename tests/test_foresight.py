"""Contacts of soft bodies converge: triangles that tilt on round bodies, directions that foresee contacts, and contacts
that hold the same thing."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.cloth import draped
from pliant.benchmarks.pile import soft_pile
from pliant.collide.contacts import FEATURE_BITS, against_body
from pliant.kernels.lanes import LANES
from pliant.rows.tilting import fill
from pliant.solve.newton import foresight

ROUND = {
    "sphere": pl.Sphere(0.3),
    "capsule": pl.Capsule(0.2, 0.5),
    "capsule's end": pl.Capsule(0.2, 0.5),
    "cylinder": pl.Cylinder(0.25, 0.8),
    "rim": pl.Cylinder(0.25, 0.8),
    "cone": pl.Cone(0.4, 0.6),
}


def above(name: str) -> pl.Simulation:
    """One level triangle 2 mm above a round body that lies along the second axis."""
    corners = np.array([[-0.11, -0.07, 0.0], [0.13, -0.05, 0.0], [0.01, 0.12, 0.0]])
    normal = np.array([0.0, 0.0, 1.0])
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    match name:
        case "sphere":
            place, turn = (0, 0, -0.302), (1, 0, 0, 0)
        case "capsule":
            place, turn = (0, 0, -0.202), lying
        case "capsule's end":
            place, turn = (0, 0, -0.452), (1, 0, 0, 0)
        case "cylinder":
            place, turn = (0, 0, -0.252), lying
        case "rim":  # half upright: the highest point of its rim
            high, turn = (
                np.array([0.0, 0.25 - 0.4, 0.25 + 0.4]) * np.sqrt(0.5),
                (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0),
            )
            place = tuple(-high - 0.002 * normal)
        case _:  # a generator lies level: its middle is at half the radius
            lean = np.arctan2(0.4, 0.6)
            angle = np.pi / 2 - lean
            turn = (np.cos(angle / 2), np.sin(angle / 2), 0, 0)
            spun = np.array([0.0, 0.2 * np.cos(angle), 0.2 * np.sin(angle)])
            place = tuple(-spun - 0.002 * normal)
    scene = pl.Scene()
    mesh = pl.meshes.TriMesh(corners, [[0, 1, 2]])
    scene.add_cloth(mesh, pl.Material.corotated(1e5, 0.3, 300), 1e-4, self_contact=False)
    scene.add_rigid(ROUND[name], static=True, position=place, rotation=turn)
    return scene.simulate(0.01)


@pytest.mark.parametrize("name", ["sphere", "capsule's end", "rim"])
def test_the_gap_of_a_triangle_that_tilts_is_of_second_order(name):
    """gap = linear part - 1/2 theta^T rho theta + O(theta^3): against closest points found again."""
    sim = above(name)
    model, h = sim.model, 0.01
    rng = np.random.default_rng(3)
    change = 1e-3 * rng.standard_normal((3, 1)) * np.array([0.0, 0.0, 1.0])
    errors = []
    for scale in (1.0, 0.5):
        found = model.colliders.contacts(sim.state, h)
        inside = np.flatnonzero((found.weight > 0).sum(axis=1) == 3)
        assert len(inside) == 1
        found = found.these(inside)
        moved = sim.state.x + scale * change
        after = model.colliders.contacts(sim.state.changed(x=moved), h)
        after = after.these(np.flatnonzero(after.key >> FEATURE_BITS == found.key[0] >> FEATURE_BITS))
        u = np.zeros((model.triple_count, 3))
        tilts = fill(model, found, np.zeros(1, np.int64), sim.state, u, h)
        u[:3] = scale * change / h
        rate = np.empty(tilts.rows.target.shape)
        model.device.rows.row_rates(tilts.rows.start, tilts.rows.triples, tilts.rows.jacobian, u, rate)
        tilt = rate.reshape(-1)[tilts.index[0] + LANES * np.arange(3)]
        linear = float(found.normal[0] @ (found.weight[0, :3] @ (scale * change)))
        whole = after.gap[0] - found.gap[0]
        bent = -0.5 * h * float(tilt @ tilt)
        assert abs(bent) > 1e-7
        errors.append(abs(whole - linear - bent))
        assert errors[-1] < 0.05 * abs(bent)
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("name", list(ROUND))
def test_radii_are_those_of_the_bodies(name):
    """What a tilt about each level direction is worth: the radius across an axis, the half length along it."""
    sim = above(name)
    nodes, body = np.array([[0, 1, 2]]), sim.model.body_count - 1
    place = (np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]]), np.array([0.002]))
    found = against_body(nodes, np.full((1, 3), 1 / 3), [0], [body], 1, place, np.zeros(1, np.int64))
    tilts = fill(sim.model, found, np.zeros(1, np.int64), sim.state, np.zeros((sim.model.triple_count, 3)), 1.0)
    worth = []
    for axis in (0, 1):  # heights that rise by one per metre along the axis
        u = np.zeros((sim.model.triple_count, 3))
        u[:3, 2] = sim.state.x[:, axis]
        rate = np.empty(tilts.rows.target.shape)
        sim.model.device.rows.row_rates(tilts.rows.start, tilts.rows.triples, tilts.rows.jacobian, u, rate)
        worth.append(float(np.sum(rate**2)))
    radius, length = {
        "sphere": (0.302, 0.302),
        "capsule": (0.202, 0.25),
        "capsule's end": (0.202, 0.202),
        "cylinder": (0.252, 0.4),
        "rim": (0.25 * np.sqrt(2), 0.0),
        "cone": (0.202 / np.cos(np.arctan2(0.4, 0.6)), 0.3),
    }[name]
    assert worth[0] == pytest.approx(radius, rel=0.03)
    assert worth[1] == pytest.approx(length, rel=0.15 if name == "cone" else 0.03, abs=1e-3)


def test_a_sheet_drapes_on_a_ball_and_every_step_converges():
    sim = draped(12).simulate(1 / 60)
    iterations = []
    for _ in range(40):
        sim.step()
        assert sim.info.converged
        iterations.append(sim.info.newton_iterations)
    assert max(iterations) <= 30 and np.mean(iterations) <= 10


def test_contacts_that_hold_the_same_thing_converge_at_a_small_tolerance():
    """A ball on a block touches it at a few places close together, whose shares only small differences decide."""
    scene = pl.Scene()
    block = scene.add_soft(pl.meshes.box((1, 1, 0.4), (6, 6, 3)), pl.Material.neohookean(5e4, 0.3, 1000))
    block.pin(block.nodes.z < 1e-9)
    scene.add_rigid(pl.Sphere(0.15), mass=20, position=(0.47, 0.52, 0.56), friction=0.5)
    sim = scene.simulate(1 / 60, pl.Newton(tolerance=1e-4))
    for _ in range(25):
        sim.step()
        assert sim.info.converged


def test_directions_that_foresee_contacts_go_downhill_and_lower_the_model(monkeypatch):
    """Along each, the potential's slope is negative, and no contact is left that the model would rather have."""
    slopes = []
    plain = foresight.foresee_contacts

    def watched(potential, system, point, direction, size, enough):
        found, products = plain(potential, system, point, direction, size, enough)
        slopes.append(float(system.dot(point.gradient, found)))
        value, again = potential.evaluate(point.u)  # rows are as they were, or renewed with the point
        assert np.allclose(system.free * again, point.gradient, atol=1e-12 * np.abs(again).max())
        assert point.value == pytest.approx(value, rel=1e-9)
        return found, products

    monkeypatch.setattr("pliant.solve.newton.minimise.foresee_contacts", watched)
    sim = draped(8).simulate(1 / 60)
    sim.step(12)
    assert len(slopes) > 10 and max(slopes) < 0.0


def test_soft_cubes_that_slide_on_each_other_mostly_take_one_iteration():
    """Friction and loads that lag behind are renewed within a direction, also where that is slow: a step of three cubes
    that land askew on each other mostly ends with its first iteration, and nothing sinks in."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    soft = pl.Material.corotated(young=1e5, poisson=0.35, density=1000, damping=0.003)
    mesh = pl.meshes.box((0.2, 0.2, 0.2), cells=2)
    for k, shift in enumerate((0.0, 0.03, 0.0)):
        scene.add_soft(mesh, soft, position=(shift, 0.02 * k, 0.02 + 0.22 * k), friction=0.5)
    sim, iterations = scene.simulate(dt=1 / 60, solver=pl.Newton(linear="pcg"), threads=1), 0
    for _ in range(40):
        sim.step()
        assert sim.info.converged
        iterations += sim.info.newton_iterations
    assert iterations <= 52
    heights = [sim.positions(body)[:, 2] for body in scene.soft_bodies]
    assert heights[0].min() > -1e-3 * 0.2
    assert heights[2].min() > 0.3 and heights[1].min() > 0.15  # less than a quarter of a cube is squeezed


def test_small_things_in_long_steps_are_not_lifted_by_steps_that_converge():
    """A ball of 0.3 mm on a soft block, steps of 1/15 s: free fall in a step is a hundred times its size."""
    size = 1e-3
    scene = pl.Scene()
    block = scene.add_soft(
        pl.meshes.box((size, size, 0.4 * size), (5, 5, 2)), pl.Material.neohookean(young=1e3, poisson=0.3, density=1000)
    )
    block.pin(block.nodes.z < 1e-9 * size)
    scene.add_rigid(
        pl.Sphere(0.15 * size), density=1000, position=(0.47 * size, 0.52 * size, 0.56 * size), friction=0.5
    )
    simulation = scene.simulate(1 / 15)
    energy, whole = simulation.energy().total, simulation.energy().gravitational
    for _ in range(4):
        simulation.step()
        gained, energy = simulation.energy().total - energy, simulation.energy().total
        if simulation.info.converged:
            assert gained < 1e-4 * whole


def test_contacts_that_share_a_load_are_met_in_few_iterations():
    """27 cubes that fall on each other: hundreds of contacts carry together, and none ends deeper below the thickness
    than a thousandth of an edge."""
    sim = soft_pile().simulate(1 / 60)
    edge = float(sim.model.colliders.meshed.size[0])
    for _ in range(14):
        sim.step()
        assert sim.info.converged and sim.info.newton_iterations <= 8 and sim.info.parts == 1
        assert sim.contacts.gaps.min(initial=0.0) >= -1.001e-3 * edge
    assert len(sim.contacts) > 1000
