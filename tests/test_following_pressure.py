"""Pressures that follow their faces: stiffness against differences, large bending against the elastica, limit loads."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.model.loads import pressure_forces
from pliant.solve.newton.following import FollowingPressure

YOUNG, SIDE = 1e6, 0.1


def pressed_beam(cells: int, pressure: float):
    """A beam 1 m long, clamped at one end, pressed from above, with nu = 0."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((1, SIDE, SIDE), cells=(10 * cells, cells, cells))
    beam = scene.add_soft(mesh, pl.Material.corotated(YOUNG, 0.0, 1000))
    beam.pin(beam.nodes.x < 1e-9)
    beam.pressure(beam.faces.z > SIDE - 1e-9, pressure)
    return scene, beam


def tip(cells: int, pressure: float) -> np.ndarray:
    """Where the middle of the free end comes to rest (x, z), z from the middle of the clamped end."""
    scene, beam = pressed_beam(cells, pressure)
    sim = scene.equilibrium(load_steps=2)
    assert sim.info.converged
    return sim.positions(beam)[beam.nodes.x > 1 - 1e-9].mean(axis=0)[[0, 2]] - [0, SIDE / 2]


def elastica(load: float, stiffness: float) -> np.ndarray:
    """Tip (x, z) of an inextensible cantilever of length 1 m under a follower load [N/m] along its normal.

    From the free tip inwards, with the force F of the part beyond: dF/dt = load, dM/dt = F n, d theta/dt = -M / EI.
    """

    def rates(_, y):
        angle, moment, along, up = y[:4]
        shear = up * np.cos(angle) - along * np.sin(angle)
        load_x, load_z = load * np.sin(angle), -load * np.cos(angle)
        return [-moment / stiffness, shear, load_x, load_z, -np.cos(angle), -np.sin(angle)]

    root = solve_ivp(rates, (0, 1), np.zeros(6), rtol=1e-10, atol=1e-12).y[:, -1]
    turn = np.array([[np.cos(root[0]), np.sin(root[0])], [-np.sin(root[0]), np.cos(root[0])]])
    return turn @ -root[4:]


def test_stiffness_is_the_derivative_of_the_forces():
    """Forces are quadratic in the positions: central differences are exact up to rounding."""
    scene, _ = pressed_beam(1, 700.0)
    sim, random = scene.simulate(dt=0.01), np.random.default_rng(1)
    x = sim.state.x + 0.05 * random.normal(size=sim.state.x.shape)
    following, v, dv = FollowingPressure(sim.model, x, 0.01, 0.0), *random.normal(size=(2, *x.shape))
    following.go_on_from(v)
    ahead, behind = (pressure_forces(sim.model, x + 0.01 * (v + sign * dv), 0.0) for sign in (1, -1))
    expected = 0.01 * (ahead - behind) / 2
    assert np.abs(following.stiffness_product(dv) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_beam_bends_towards_the_elastica():
    """Linear tets are too stiff in bending: extrapolated from 2 and 4 cells across, 8 % of the deflection are left."""
    coarse, fine = tip(2, 200.0), tip(4, 200.0)
    assert (fine + (fine - coarse) / 3)[1] == pytest.approx(elastica(200.0 * SIDE, YOUNG * SIDE**4 / 12)[1], rel=0.08)


@pytest.mark.slow
def test_beam_bent_far_is_the_elastica():
    """With 8 cells across, within 2 % of the length; the end has turned by 66 degrees."""
    assert np.abs(tip(8, 600.0) - elastica(600.0 * SIDE, YOUNG * SIDE**4 / 12)).max() <= 0.02


@pytest.mark.parametrize("linear", ["pcg", "jacobi", "matrix-free", "superlu"])
def test_linear_solvers_agree_under_pressure(linear):
    """At rest and in motion, with the stiffness of the pressures on top of whatever solves the rest."""
    answers = []
    for choice in (linear, "cholesky"):
        scene, beam = pressed_beam(2, 200.0)
        rest = scene.equilibrium(solver=pl.Newton(tolerance=1e-6, max_iterations=200, linear=choice))
        sim = scene.simulate(dt=0.01, solver=pl.Newton(tolerance=1e-5, linear=choice)).step(10)
        assert rest.info.linear == sim.info.linear == choice and sim.info.converged
        answers.append(np.stack([rest.positions(beam), sim.positions(beam)]))
    assert np.abs(answers[0] - answers[1]).max() < 1e-7


def test_strong_pressures_take_few_iterations():
    """The tip turns by more than a right angle; 20 iterations for each half of the load at most."""
    scene, beam = pressed_beam(2, 1500.0)
    sim = scene.equilibrium(load_steps=2)
    assert sim.info.newton_iterations <= 20 and sim.positions(beam)[:, 0].max() < 0.9


def test_pressure_beyond_the_limit_point_is_no_equilibrium():
    """A neo-Hookean cube under suction on all sides: uniform stretch s with P = suction s^2. For E = 1 MPa, nu = 0.3
    suction has a maximum; beyond it the cube grows without bounds, and that is said."""
    lam, mu = YOUNG * 0.3 / (1.3 * 0.4), YOUNG / 2.6
    stretch = np.linspace(1, 5, 100001)
    suction = (mu * (stretch - 1 / stretch) + 3 * lam * np.log(stretch) / stretch) / stretch**2
    most, at = suction.max(), stretch[suction.argmax()]

    def grow(pressure):
        scene = pl.Scene(gravity=(0, 0, 0))
        cube = scene.add_soft(pl.meshes.box((1, 1, 1), cells=2), pl.Material.neohookean(YOUNG, 0.3, 1000))
        for axis, values in zip("xyz", cube.nodes.positions.T):
            cube.pin(values < 1e-9, axis)
        faces = (cube.faces.x > 1 - 1e-9) | (cube.faces.y > 1 - 1e-9) | (cube.faces.z > 1 - 1e-9)
        cube.pressure(faces, -pressure)
        return scene.equilibrium(load_steps=4).positions(cube).max()

    below = grow(0.98 * most)
    assert below < at and np.interp(below, stretch, suction) == pytest.approx(0.98 * most, rel=1e-6)
    with pytest.raises(pl.SolverError, match="no equilibrium found beyond"):
        grow(1.05 * most)


@pytest.mark.parametrize("pressure", [-0.1, -100.0])
def test_flat_membranes_bulge_in_one_load_step(pressure):
    """Flat, nothing but inertia resists a pressure, and a long step throws the sheet away; bulged, its tension does.
    For any pressure the same: the height grows as its third root, for what is small beside the radius."""
    height = []
    for share in (1.0, 0.125):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.stvk(1e6, 0.3, 1000)
        sheet = scene.add_cloth(pl.meshes.disk(1, 10), material, 1e-3, bend_stiffness=0, collide=False)
        sheet.pin(np.linalg.norm(sheet.nodes.positions, axis=1) > 1 - 1e-6)
        sheet.pressure("all", share * pressure)
        sim = scene.equilibrium(threads=1)
        assert sim.info.converged
        height.append(np.abs(sim.positions(sheet)[:, 2]).max())
    # by the square of the slope beside one, over which the law stiffens
    assert height[0] / height[1] == pytest.approx(2.0, abs=height[0] ** 2)
