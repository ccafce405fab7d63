"""A double of the device's part in steps that the host drives: dense matrices and the host's elements, so that all that
the host does can be tested without a GPU."""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.kernels.cuda.layout import Layout, choose_shape
from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows
from pliant.solve.newton.primal_system import PrimalSystem
from pliant.solve.resident.data import other_sets, tet_sets
from pliant.solve.resident.driven import DrivenNewton

FULL = [0, 5, 4, 5, 1, 3, 4, 3, 2]


class WideRows:
    """What `kernels.cuda.row_arrays.WideData` is."""

    bodies = 8

    def __init__(self, stiff, block, row, jacobian, weight, body, body_jacobian, response):
        self.stiff, self.block, self.row, self.jacobian, self.weight = stiff, block, row, jacobian, weight
        self.body, self.body_jacobian, self.response = body, body_jacobian, response

    @classmethod
    def nothing(cls):
        none = np.zeros(0, np.int64)
        bodies = (np.zeros((0, 8), int), np.zeros((0, 8, 3, 3)), np.zeros((0, 0)))
        return cls(0, none, none, np.zeros((0, 3, 3)), np.zeros((0, 6)), *bodies)


class Double:
    """Dense twin of `kernels.cuda.driven.Driven`, in float64 but for the elements' blocks."""

    rows_type = WideRows

    def __init__(self, model):
        self.model, n = model, model.node_count
        tets, more = ([own.connectivity for own in sets] for sets in (tet_sets(model), other_sets(model)))
        self.layout = Layout(model.rest, model.node_start, tets, choose_shape(n, 132), more)
        self.node_of = np.full(self.layout.rows, -1)
        self.node_of[self.layout.place] = np.arange(n)
        self.potential = ElementPotential(model.elements, n)
        self.system = PrimalSystem(model, Rows.empty(np.zeros(1, np.int64)), "jacobi")
        self.free = model.free.ravel()
        self.solves = []  # passes of each

    def begin(self, x, h):
        self.x, self.h = x, h

    def take_frames(self, x):
        self.potential.take_frames(x, self.model.elements.deform(x)[0])

    def upload_plastic(self, strain, gradients):
        raise NotImplementedError("the double has no plastic elements: scenes with plasticity are compared on a GPU")

    def pull_back(self, tets, more):
        """Bodies of which any element is pulled back are tangled."""
        tangled = np.zeros(len(self.model.soft_names))
        for own, given in zip(tet_sets(self.model) + other_sets(self.model), [*tets, *more]):
            ends = np.cumsum([part.count for part in own.parts])
            for part, end in zip(own.parts, ends):
                tangled[part.body] = given is not None and given[0][end - part.count : end].all()
        self.potential.take_laws(tangled)

    def evaluate(self, x, v):
        energy, power, force = self.potential.evaluate(x, v)
        return energy, power, int(self.potential.inverted(x).sum()), force

    def assemble(self, project):
        self.system.take(self.potential.terms(self.h**2, self.h, project))
        self.matrix = self._assembled()

    def _assembled(self):
        """The dense matrix of elements and masses, by products."""
        n, model = self.model.node_count, self.model
        mass = np.zeros((model.triple_count, 3, 3))
        mass[:n] = (model.node_mass * (1 + self.h * model.node_mass_damping))[:, None, None] * np.eye(3)
        empty = Rows.empty(np.zeros(1, np.int64))
        self.system.assemble(mass, empty, np.zeros((0, 6, LANES)))
        out = np.zeros((3 * n, 3 * n))
        for k in range(3 * n):
            unit = np.zeros((model.triple_count, 3))
            unit[k // 3, k % 3] = 1.0
            out[:, k] = self.system.product(unit)[:n].ravel()
        self.plain = 0.5 * (out + out.T)
        self.mass = np.repeat(model.node_mass * (1 + self.h * model.node_mass_damping), 3)
        return self.plain.copy()

    def release(self):
        self.matrix = self.plain.copy()

    def hold(self, rows, extra):
        inner = self.matrix.copy()
        for row, numbers in zip(self.node_of[rows], extra):
            own = slice(3 * row, 3 * row + 3)
            self.matrix[own, own] += numbers[:6][FULL].reshape(3, 3)
            inner[own, own] += (numbers[:6] + numbers[6:])[FULL].reshape(3, 3)
        held = self.free == 0
        for each in (self.matrix, inner):
            each[held] = each[:, held] = 0.0
            each[held, held] = 1.0
        self.inner = np.linalg.inv(np.stack([inner[k : k + 3, k : k + 3] for k in range(0, len(inner), 3)]))

    def take_rows(self, data):
        m, n = len(data.weight), self.model.node_count
        self.data, jacobian = data, np.zeros((3 * m, 3 * n))
        for block, row, own in zip(data.block, data.row, data.jacobian):
            node = self.node_of[row]
            jacobian[3 * block : 3 * block + 3, 3 * node : 3 * node + 3] += own
        weight = np.zeros((3 * m, 3 * m))
        bodies = np.zeros((3 * m, len(data.response)))
        for q in range(m):
            own = slice(3 * q, 3 * q + 3)
            weight[own, own] = data.weight[q][FULL].reshape(3, 3)
            for at, j in zip(data.body[q], data.body_jacobian[q]):
                if at >= 0:
                    bodies[own, at : at + 3] += j
        if len(data.response):
            weight = weight - weight @ bodies @ data.response
        self.jacobian, self.weight = jacobian, weight
        self.whole = self.matrix + jacobian.T @ weight @ jacobian

    def coarse_matrix(self, rows):
        points, index = self.x, self.layout.place // self.layout.size
        centre = np.stack([np.bincount(index, points[:, c]) for c in range(3)], axis=1)
        count = np.bincount(index)
        self.arms = points - (centre / np.maximum(count, 1)[:, None])[index]
        n, a = self.model.node_count, self.layout.shape.aggregates
        P = np.zeros((3 * n, 6 * a))
        for i in range(n):
            x, y, z = self.arms[i]
            P[3 * i : 3 * i + 3, 6 * index[i] : 6 * index[i] + 3] = np.eye(3)
            P[3 * i : 3 * i + 3, 6 * index[i] + 3 : 6 * index[i] + 6] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        self.P = self.free[:, None] * P
        self.coarse = self.P.T @ self.matrix @ self.P
        return self.arms[self.node_of[rows]]

    def invert_with(self, aggregates, dense):
        where = (6 * aggregates[:, None] + np.arange(6)).ravel()
        self.coarse[np.ix_(where, where)] += dense
        self.inverse = np.linalg.pinv(self.coarse, hermitian=True)

    def base(self, r):
        return self.P @ (self.inverse @ (self.P.T @ r)) + self.free * self._jacobi(r)

    def _jacobi(self, r):
        return np.einsum("nij,nj->ni", self.inner, r.reshape(-1, 3)).ravel()

    def stiff_products(self):
        J = self.jacobian[: 3 * self.data.stiff] * self.free
        self.answers = np.stack([self.base(row) for row in J], axis=1)
        return J @ self.answers

    def take_woodbury(self, matrix):
        self.woodbury = matrix

    def precondition(self, r):
        z = self.base(r)
        if self.data.stiff:
            J = self.jacobian[: 3 * self.data.stiff] * self.free
            z = z - self.answers @ (self.woodbury @ (J @ z))
        return z

    def solve(self, b, tolerance):
        r, x = b.ravel() * self.free, np.zeros(b.size)
        z = self.precondition(r)
        p, rz = z, r @ z
        first, passes = rz, 0
        while rz > tolerance**2 * first and rz > 0 and passes < 500:
            q = self.free * (self.whole @ p)
            alpha = rz / (p @ q)
            x, r = x + alpha * p, r - alpha * q
            z = self.precondition(r)
            new = r @ z
            p, rz, passes = z + new / rz * p, new, passes + 1
        self.solves.append(passes)
        return x.reshape(-1, 3), passes, bool(rz < 0)

    def local_square(self, g):
        return float(g.ravel() @ self._jacobi(g.ravel()))

    def stretch(self, u):
        u = u.ravel() * self.free
        return float(u @ self.plain @ u - np.sum(self.mass * u * u))

    def multiply(self, u):
        return (self.free * (self.matrix @ u.ravel())).reshape(-1, 3)


class DoubledNewton(DrivenNewton):
    """The solver with the double in place of the device."""

    def __init__(self, options, model, state):
        self.options = options
        self.program = Double(model)
        self._begin_with(model, self.program)
