"""Every kernel of a step on the GPU against its twin on the CPU."""

import numpy as np
import pytest

import pliant as pl
from cuda_support import block, need_gpu
from pliant.elements.potential import ElementPotential
from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda.layout import inverse_width, ungrouped
from pliant.kernels.laws import LAWS
from pliant.solve.info import Info
from pliant.solve.newton.criteria import StepCriterion
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.primal_system import PrimalSystem
from pliant.solve.problem import Solution
from pliant.solve.residual import residual
from pliant.stepping.step import pose

need_gpu()
H = 0.01
VOLUME_LAWS = [name for name, law in LAWS.items() if law.volume]


class Twins:
    """A block on the GPU at velocities u, with the potential and the matrix of the same step on the CPU."""

    def __init__(self, law: str = "corotated", cells=(6, 2, 2), shake: float = 0.3, project: bool = True):
        self.scene, self.body = block(law, cells)
        self.sim = self.scene.simulate(H, solver=pl.Newton(linear="pcg"), device="cuda").step(3)
        self.host = self.scene.simulate(H, solver=pl.Newton(linear="pcg"))
        self.model, state = self.host.model, self.sim.state
        self.program = self.sim.working_solver.program
        self.problem = pose(self.model, state, H, False)
        solver = self.host.working_solver
        self.system = solver.system
        assert isinstance(self.system, PrimalSystem)
        softness = (solver.softness, self.system.contact_softness)
        self.increment = Increment(self.problem, solver.elements, self.system.free, *softness, solver.turning)
        rng = np.random.default_rng(0)
        predicted = self.problem.prediction.u
        self.u = np.where(self.model.free > 0, predicted + shake * rng.normal(size=predicted.shape), predicted)
        self.evaluate(project)

    def evaluate(self, project: bool) -> None:
        """Both at u, with the matrix assembled, and the coarse level of the GPU renewed."""
        program, state = self.program, self.sim.state
        self.value, self.gradient = self.increment.evaluate(self.u)
        self.system.take(self.increment.element_terms(project))
        self.increment.assembled = self.increment.blocks()
        rows = self.increment.row_potential
        self.system.assemble(self.increment.assembled, rows.rows, rows.curvature, state.x)
        start = {"x": state.x, "v": state.v, "u": self.u, "xt": state.x + H * self.u, "base": self.u}
        program.upload(**start, target=self.problem.prediction.u)
        numbers = program.room.download(program.numbers)
        numbers[[c.STEP, c.PROJECT, c.VALUE, c.MOST, c.SHARE]] = H, project, 1e300, 1e300, 1.0
        program.room.write(program.numbers, numbers)
        program.status_to(c.START)
        program.start()
        numbers = program.room.download(program.numbers)
        numbers[c.PROJECT] = project
        program.room.write(program.numbers, numbers)
        program.status_to(c.ITERATE)
        if not project:  # the start has made projected ones
            program.blocks()
        program.assemble()
        program.renew()
        self.sums = program.room.download(program.totals)
        self.energy = numbers[c.ENERGY]

    def record(self, first: int, count: int = 3) -> np.ndarray:
        """Components of the nodes' records, by node."""
        return self.program.layout.of_nodes(self.program.room.download(self.program.record), c.RECORD)[
            :, first : first + count
        ].astype(float)

    def product(self, u: np.ndarray) -> np.ndarray:
        """The GPU's matrix times u (n, 3), over the free components."""
        program, free = self.program, self.model.free
        rows = np.zeros((program.layout.rows, 4), np.float32)
        rows[program.layout.place, :3] = u * free
        program.room.write(program.gathered, rows)
        program.multiply()
        found = program.room.download(program.product).reshape(-1, 4)[program.layout.place, :3]
        return free * found


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("law", VOLUME_LAWS)
def test_energies_and_forces(law):
    twins = Twins(law, shake=0.1)
    potential = ElementPotential(twins.model.elements, twins.model.node_count)
    energy, _, force = potential.evaluate(twins.sim.state.x + H * twins.u)
    assert np.isclose(twins.energy, energy, rtol=1e-12)
    assert difference(-twins.record(c.B), twins.model.free * twins.gradient) < 1e-6
    assert np.isclose(twins.energy + twins.sums[c.S_INERTIA], twins.value, rtol=1e-11)
    assert np.linalg.norm(force) > 0


@pytest.mark.parametrize("law", VOLUME_LAWS)
@pytest.mark.parametrize("project", [True, False])
def test_the_matrix(law, project):
    twins = Twins(law, shake=0.1, project=project)
    u = np.random.default_rng(1).normal(size=twins.u.shape)
    assert difference(twins.product(u), twins.system.product(u)) < 2e-6


def test_sums_that_decide():
    twins = Twins()
    criterion = StepCriterion(
        twins.increment, twins.system, twins.problem.before, twins.problem.prediction.u - twins.problem.before
    )
    s = twins.sums
    assert np.isclose(s[c.S_KICK], criterion.kick, rtol=1e-10)
    assert np.isclose(s[c.S_FLOOR], criterion.rounding, rtol=1e-8)
    free, mass = twins.system.free, twins.increment.mass
    assert np.isclose(s[c.S_CHANGE], criterion.square(mass, free * (twins.u - twins.problem.before)), rtol=1e-10)
    assert np.isclose(s[c.S_ALL], criterion.square(mass, twins.u), rtol=1e-10)
    assert np.isclose(s[c.S_SQUARE], np.sum((free * twins.gradient) ** 2), rtol=1e-10)


def test_the_balance_is_measured_as_on_the_cpu():
    """Of a real step: what the GPU reports, and what the CPU measures of the same velocities."""
    scene, _ = block(cells=(12, 4, 4))
    sim = scene.simulate(H, device="cuda").step(4)
    before = sim.state
    sim.step()
    problem = pose(sim.model, before, H, False)
    solution = Solution(sim.state.v.copy(), np.zeros((0, 3, 16)), Info())
    assert np.isclose(sim.info.imbalance, residual(problem, solution, "implicit"), rtol=1e-6)


def test_the_coarse_inverse():
    """C (P^T A P) = 1, with P of the aggregates and arms that lie on the GPU, and A by products."""
    twins = Twins(cells=(12, 4, 4))
    program = twins.program
    layout, n = program.layout, 6 * program.shape.aggregates
    width = inverse_width(program.shape.blocks, program.shape.threads, program.shape.m)
    inverse = program.room.download(program.inverse).reshape(n, width)[:, :n].astype(float)
    arm, free = twins.record(c.ARM), twins.model.free
    aggregate = layout.place // layout.size
    motions = []
    for k in range(program.shape.aggregates):
        own = (aggregate == k)[:, None] * free
        motions += [own * axis for axis in np.eye(3)]
        motions += [own * np.cross(np.broadcast_to(axis, arm.shape), arm) for axis in np.eye(3)]
    expected = np.array([[np.vdot(p, a) for a in map(twins.product, motions)] for p in motions])
    program.coarsen()
    coarse = program.room.download(program.coarse).reshape(n, n)
    scale = 1 / np.sqrt(np.diag(expected))
    assert np.abs(scale[:, None] * (coarse - expected) * scale).max() < 1e-5
    assert np.abs(coarse @ inverse - np.eye(n)).max() < 2e-3


@pytest.mark.parametrize("cells", [(6, 2, 2), (24, 8, 8), (48, 16, 16)])
def test_conjugate_gradients(cells):
    """The direction solves the system as exactly as it was asked to, and the trial goes there."""
    twins = Twins(cells=cells)
    program = twins.program
    program.solve(c.ITERATE)
    numbers = program.room.download(program.numbers)
    direction, right = twins.record(c.X), -twins.model.free * twins.gradient
    left = right - twins.product(direction)
    diagonal = twins.system
    assert diagonal.local_norm(left) < 0.3 * diagonal.local_norm(right)
    assert np.isclose(numbers[c.SIZE], diagonal.local_norm(right), rtol=1e-4)
    assert np.array_equal(program.download("u"), twins.u + direction)
    assert np.allclose(program.download("xt"), twins.sim.state.x + H * (twins.u + direction), rtol=1e-15)
    tail = program.room.download(program.tail).reshape(c.TAIL_SUMS, -1).sum(axis=1)
    assert np.isclose(tail[c.T_SLOPE], np.vdot(twins.gradient * twins.model.free, direction), rtol=1e-5)
    new = twins.model.free * (twins.u + direction)
    elastic = twins.system.quadratic(new) - np.vdot(new, twins.model.node_mass[:, None] * new)
    assert np.isclose(tail[c.T_MOTION], elastic, rtol=1e-4)
    assert np.isclose(tail[c.T_HEAVY], np.vdot(direction, twins.model.node_mass[:, None] * direction), rtol=1e-5)


def test_conjugate_gradients_to_five_digits():
    twins = Twins(cells=(24, 8, 8))
    program = twins.program
    numbers = program.room.download(program.numbers)
    numbers[c.LAST_SIZE] = 1e9  # so the forcing is the smallest
    program.room.write(program.numbers, numbers)
    program.room.wait()
    program.solve(c.ITERATE)
    right = -twins.model.free * twins.gradient
    assert difference(twins.product(twins.record(c.X)), right) < 1e-3


def test_a_shorter_step_has_the_motion_that_is_foreseen():
    """u^T K u on the way back, from the numbers of the whole step."""
    from pliant.kernels.cuda.decisions import motion_at

    twins = Twins(cells=(12, 4, 4))
    program = twins.program
    program.solve(c.ITERATE)
    tail = program.room.download(program.tail).reshape(c.TAIL_SUMS, -1).sum(axis=1)
    numbers = np.zeros(c.NUMBERS)
    numbers[[c.SLOPE, c.MOTION, c.CROSS, c.HEAVY]] = tail
    direction = twins.record(c.X)
    for factor in (0.25, 0.5):
        new = twins.model.free * (twins.u + factor * direction)
        expected = twins.system.quadratic(new) - np.vdot(new, twins.model.node_mass[:, None] * new)
        assert np.isclose(motion_at(numbers, factor), expected, rtol=2e-2)


def test_records_hold_the_inverse_of_their_free_block():
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=2), pl.Material.corotated(1e5, 0.3, 1000.0))
    body.pin(body.nodes.x < 1e-9, axes="xz")
    sim = scene.simulate(H, device="cuda").step()
    program = sim.working_solver.program
    record = ungrouped(program.room.download(program.record), c.RECORD)[program.layout.place].astype(float)
    voigt = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
    for own, free in zip(record, sim.model.free):
        keep = np.flatnonzero(free)
        block_, inverse = own[c.DIAG + voigt], own[c.DINV + voigt]
        expected = np.zeros((3, 3))
        expected[np.ix_(keep, keep)] = np.linalg.inv(block_[np.ix_(keep, keep)])
        assert np.allclose(inverse, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
