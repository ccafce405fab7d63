"""Joints of light bodies with soft bodies from soft to all but rigid: what renewals of their impulses leave."""

import numpy as np
import pytest

import pliant as pl
from pliant.rows import softness

# Where a body is held at the face of a beam, and where its centre is from there: a corner, within a triangle, an edge.
PLACES = {
    "corner": ((0.66, 0.2, 0), (0.1, 0, 0)),
    "face": ((0.66, 0.11, 0.07), (0.1, 0, 0)),
    "edge": ((0.66, 0.2, 0.13), (0.07, 0.05, 0)),
}
JOINTS = {"fixed": pl.Fixed, "hinge": lambda a, b, at: pl.Hinge(a, b, at, (0, 1, 0)), "ball": pl.Ball}
TOLERANCE = 1e-9


def motion(solver, joint="fixed", place="corner", young=4e8, density=35.0, cells=(4, 2, 2)):
    """What the nodes (n, 3) of a beam with a ball at its end move by in a first step [m], and the report on it."""
    at, arm = PLACES[place]
    scene, material = pl.Scene(), pl.Material.corotated(young, 0.14, 795, damping=0.01)
    beam = scene.add_soft(pl.meshes.box((0.66, 0.2, 0.2), cells), material)
    beam.pin(beam.nodes.x < 1e-3)
    ball = scene.add_rigid(pl.Sphere(0.066), density=density, position=np.add(at, arm), collide=False)
    scene.join(JOINTS[joint](ball, beam, at=at))
    sim = scene.simulate(dt=1 / 60, solver=solver, threads=1)
    before = sim.positions(beam).copy()
    sim.step()
    return sim.positions(beam) - before, sim.info


def difference(one, other) -> float:
    """The largest difference of two motions, relative to the second."""
    return float(np.abs(one - other).max() / np.abs(other).max())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("joint", JOINTS)
def test_newton_and_mixed_agree_however_stiff_the_body(joint, place):
    """The nodes that three points of a weld hold part only by what stretches the triangle between them: beside a light
    ball that is next to nothing, and what a row must be softer than. Both meet the same equations."""
    for young in (1e4, 1e6, 4e8, 1e10):
        for density in (35.0, 400.0, 5000.0):
            given = joint, place, young, density
            found, info = motion(pl.Newton(tolerance=TOLERANCE, max_iterations=100), *given)
            expected, other = motion(pl.Mixed(tolerance=TOLERANCE, outer=200), *given)
            assert info.converged and other.converged, given
            assert difference(found, expected) < 1e-6, given
            assert info.newton_iterations <= 12, given


def test_slowly_closing_joints_have_not_converged():
    """In single precision rows are as soft as rounding asks for, and leave nearly all of an error to the next renewal:
    what these still move counts, however small the gaps are."""
    fine = (6, 3, 3)
    expected, info = motion(pl.Newton(tolerance=TOLERANCE, linear="cholesky"), cells=fine)
    assert info.converged
    for most in (14, 50, 150):
        given = pl.Newton(tolerance=TOLERANCE, max_iterations=most, linear="pcg")
        found, info = motion(given, cells=fine)
        assert not info.converged or difference(found, expected) < 1e-6


def test_joints_of_what_nothing_holds_are_as_soft_as_before():
    """Without elements nothing is stiff, and the softness of a step is that of the model."""
    scene = pl.Scene()
    scene.join(pl.Hinge(scene.add_rigid(pl.Sphere(0.1), density=1000), pl.world, (0, 0, 1), (0, 1, 0)))
    model = scene.simulate(dt=1 / 60).model
    given = softness.joint_softness(model, np.float64)
    assert softness.step_softness(model, given, np.float64, 1 / 60) is given
