"""Steps that do not converge: they end inside nothing that they did not begin in, and gain no energy."""

import numpy as np
import pytest

import pliant as pl
from drop_checks import Watch
from pliant.output.run_log import RunLog
from random_drops import Drop
from surface_shapes import CORNERS, CUBE

RUBBER = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
THROWN = {
    "ball": pl.Sphere(0.05),
    "box": pl.Box((0.1, 0.08, 0.06)),
    "mesh": pl.Mesh(points=0.1 * (CORNERS - 0.5), triangles=CUBE),
    "soft": pl.meshes.box((0.1, 0.1, 0.1), 2).transformed(translation=(-0.05,) * 3),
}


class Throw(Drop):
    """Something thrown at a target, with a solver that is given up after so many iterations."""

    def __init__(self, target: str, thing: str, iterations: int):
        self.random = np.random.default_rng(2)
        self.dt, self.size, self.friction, self.restitution, self.iterations = 1 / 60, 0.1, 0.3, 0.0, iterations
        self.scene = pl.Scene()
        self.thrown, self.barrier, self.half_width, self.target = [], None, np.inf, target
        self.drop = lambda height: self.throw(THROWN[thing], height + 0.05, self.rotation(), (1, 0, -15), (3, 5, 2))
        if target == "plane":
            self.scene.add_rigid(pl.Plane(), static=True)
            self.drop(0.0)
        else:
            getattr(self, "make_" + target.replace(" ", "_"))()

    def simulate(self):
        solver = pl.Newton(max_iterations=self.iterations)
        return self.scene.simulate(dt=self.dt, threads=1, solver=solver)


@pytest.mark.parametrize("thing", THROWN)
@pytest.mark.parametrize("target", ["plane", "plate", "thin mesh", "sheet"])
def test_steps_that_are_given_up_end_inside_nothing(target, thing):
    """One iteration a step is far too little for an impact; of bodies held back, those are named that can move."""
    watch, held, unmet = Watch(Throw(target, thing, 1)), set(), 0
    for _ in range(8):
        watch.sim.step()
        assert watch.wrong() == ("", "")
        held |= set(watch.sim.info.held)
        unmet += not watch.sim.info.converged
    assert unmet
    assert held <= {body.name for body in watch.sim.scene.bodies if not getattr(body, "static", False)}


def test_what_is_held_back_goes_on():
    """A ball that was held back over a plane lies on it soon."""
    sim, held = Throw("plane", "ball", 1).simulate(), set()
    for _ in range(60):
        held |= set(sim.step().info.held)
    assert held and not sim.info.held
    assert sim.pose(sim.scene.rigid_bodies[1])[0][2] == pytest.approx(0.05, abs=1e-4)


def test_what_joints_hold_together_is_held_back_together():
    """Two balls on a rod, of which one is thrown at a plane: the joints stay shut."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    low = scene.add_rigid(pl.Sphere(0.05), mass=1, position=(0, 0, 0.1), velocity=(0, 0, -20))
    high = scene.add_rigid(pl.Sphere(0.05), mass=1, position=(0, 0, 0.4), velocity=(0, 0, -20))
    scene.join(pl.Fixed(low, high, (0, 0, 0.25)))
    sim = scene.simulate(dt=1 / 60, solver=pl.Newton(max_iterations=1))
    held = set()
    for _ in range(6):
        sim.step()
        held |= set(sim.info.held)
        assert sim.pose(low)[0][2] > 0.05 - 1e-4
        assert sim.pose(high)[0][2] - sim.pose(low)[0][2] == pytest.approx(0.3, abs=1e-4)
    assert held == {low.name, high.name}


@pytest.mark.parametrize("iterations", [1, 50])
def test_a_run_says_who_was_held_back(iterations):
    """By name, in its report and its numbers; and nothing where every step converged."""
    sim = Throw("plane", "ball", iterations).simulate()
    name, log = sim.scene.rigid_bodies[1].name, RunLog(sim)
    for _ in range(8):
        sim.step()
        log.add()
    assert log.summary()["held_back"] == ([name] if iterations == 1 else [])
    assert (f"held back in such steps, short of others: {name}" in log.text()) == (iterations == 1)
