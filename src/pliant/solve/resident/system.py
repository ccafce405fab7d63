"""The linear systems of Newton's method with the matrix on a device, and rows: what `PrimalSystem` is on the host."""

from dataclasses import replace

import numpy as np

from pliant.rows.softness import SOFT_CONTACTS
from pliant.rows.table import Rows
from pliant.solve.resident.wide_rows import HALF, ActiveRows, RigidPart

# Rows of joints up to which they are met exactly by the preconditioner.
MOST_STIFF_ROWS = 150
# The coarse level is renewed at the start of a step that is so many steps later, or when linear systems have taken so
# many passes more than when it was new; within a step where one took so many times as many, and some more.
MOST_STEPS, EXCESS_PASSES, FAR_MORE, SLACK = 25, 60, 2.0, 20


class Renewal:
    """When the coarse level is to be renewed."""

    def __init__(self):
        self.passes, self.age, self.excess = None, 0, 0
        self.far = False

    def due(self, first: bool) -> bool:
        """Whether it is, for a linear system that is the first of a step or not."""
        self.age += first
        if self.passes is None or self.far:
            return True
        return first and (self.age >= MOST_STEPS or self.excess >= EXCESS_PASSES)

    def renewed(self) -> None:
        """It was."""
        self.passes, self.age, self.excess, self.far = 0, 0, 0, False

    def note(self, passes: int, tolerance: float) -> None:
        """Takes up the passes of a linear system, as if it had been solved to a twentieth."""
        digits = max(-np.log10(max(tolerance, 1e-12)), 0.3) / 1.3
        passes = int(passes / digits)
        if self.passes == 0:
            self.passes = max(passes, 1)
        self.excess += max(passes - self.passes, 0)
        self.far = passes > FAR_MORE * self.passes + SLACK


class DrivenSystem:
    """M + h^2 K + J^T G J: elements and nodes on a device, rigid bodies on the host."""

    patience, linear, dtype = 3, "pcg", np.dtype(np.float32)
    direct, iterates = False, False  # solves take their time, and rows are taken with the elements
    bare = False  # nothing is factorised

    def __init__(self, model, program):
        self.program, n = program, model.node_count
        self.node_count, self.joint_slices = n, len(model.joints.start) - 1
        self.contact_softness, triples = SOFT_CONTACTS, model.device.linalg.triples
        self.dot, self.square = triples.dot, triples.quadratic_diagonal
        self.free = np.ones((model.triple_count, 3))
        self.free[:n], self.free[n:] = model.free, np.repeat(~model.static, 2)[:, None]
        self.linalg = model.device.linalg
        self.rigid = RigidPart(np.flatnonzero(~model.static), n, model.triple_count, self.linalg)
        self.place, self.aggregate = program.layout.place, program.layout.place // program.layout.size
        self.renewal, self.indefinite = Renewal(), False

    def take(self, terms: list) -> None:
        """Assemble the elements' stiffness; terms: whether it is projected (`DrivenElements.terms`)."""
        self.program.assemble(terms[0])

    def assemble(self, mass: np.ndarray, rows: Rows, curvature: np.ndarray, x: np.ndarray | None = None) -> None:
        """Complete the matrix with mass blocks (triples, 3, 3), of which nodes have their own on the device, and the
        rows' curvatures; x: where nodes are, at the first system of a step."""
        self.blocks, self.table = mass, replace(rows, jacobian=rows.jacobian.copy())
        loose = self._take_curvature(curvature)
        if self.renewal.due(x is not None):
            self._renew(loose)
        self._meet_stiff()

    def renew_contacts(self, curvature: np.ndarray) -> None:
        """Take other curvatures G (slices, 6, LANES) of the rows; elements and the coarse level stay."""
        self.program.release()
        self._take_curvature(curvature)
        self._meet_stiff()

    @property
    def jacobian(self) -> np.ndarray:
        """Jacobians (entries, 9, LANES) of the rows as last assembled."""
        return self.table.jacobian

    def _take_curvature(self, curvature: np.ndarray) -> np.ndarray:
        """Rows with these curvatures, to a matrix that has none yet; the numbers of those that hold several things and
        are not stiff."""
        self.rows = active = ActiveRows.of(self.table, curvature, self.free, self.joint_slices)
        if self.rigid.size:
            self.rigid.take(self.blocks, active)
        soft = active.triple < self.node_count
        nodes, bodies = (np.bincount(active.block[own], minlength=len(active.weight)) for own in (soft, ~soft))
        self.single, wide = (nodes == 1) & (bodies == 0), (nodes > 1) | ((nodes > 0) & (bodies > 0))
        stiff = np.flatnonzero(wide & active.joint)
        self.stiff = stiff if 3 * len(stiff) <= MOST_STIFF_ROWS else stiff[:0]
        loose = np.setdiff1d(np.flatnonzero(wide), self.stiff)
        self.wide, self.soft = np.concatenate([self.stiff, loose]), active.entries(soft)
        self._hold(np.flatnonzero(self.single), loose)
        self.program.take_rows(self._wide_data())
        return loose

    def _hold(self, single: np.ndarray, loose: np.ndarray) -> None:
        """Diagonal blocks: of rows on one node alone, which are all there is of these; of others, for the inverses."""
        single, loose = self.soft.these(single), self.soft.these(loose)
        nodes = np.concatenate([single.triple, loose.triple])
        rows, place = np.unique(self.place[nodes], return_inverse=True)
        extra, count = np.zeros((len(rows), 12)), len(single.triple)
        np.add.at(extra[:, :6], place[:count], single.diagonals())
        np.add.at(extra[:, 6:], place[count:], loose.diagonals())
        self.program.hold(rows, extra)

    def _wide_data(self):
        """The row blocks that hold several things as the device takes them."""
        kind = self.program.rows_type
        if not len(self.wide):
            return kind.nothing()
        own, m = self.soft.these(self.wide), len(self.wide)
        weight = own.weight.reshape(-1, 9)[:, HALF]
        body, jacobian = np.full((m, kind.bodies), -1), np.zeros((m, kind.bodies, 3, 3))
        response = np.zeros((0, 3 * m))
        if self.rigid.size:
            held = self.rows.entries(self.rigid.place[self.rows.triple] >= 0).these(self.wide)
            rank = np.arange(len(held.block)) - np.searchsorted(held.block, held.block)
            body[held.block, rank], jacobian[held.block, rank] = self.rigid.place[held.triple], held.jacobian
            response = self.rigid.response(self.wide)
        entries = (own.block, self.place[own.triple], own.jacobian)
        return kind(len(self.stiff), *entries, weight, body, jacobian, response)

    def _renew(self, loose: np.ndarray) -> None:
        """The coarse level, with what loose row blocks (k,) add to it."""
        own = self.soft.these(loose)
        arms = self.program.coarse_matrix(self.place[own.triple])
        touched, index = np.unique(self.aggregate[own.triple], return_inverse=True)
        added = np.zeros((0, 0))
        if len(loose):
            added = self._coarse_rows(own, arms, index, len(touched), loose)
        self.program.invert_with(touched, added)
        self.renewal.renewed()

    def _coarse_rows(self, own: ActiveRows, arms: np.ndarray, index: np.ndarray, count: int, loose) -> np.ndarray:
        """(J P)^T W J P (6 count, 6 count) of loose row blocks; a motion t, w of an aggregate moves a node by
        t + w x arm. index: the aggregate of every entry among `count`."""
        entries = replace(own, triple=np.arange(len(own.block)))
        turning = replace(entries, jacobian=np.cross(arms[:, None, :], own.jacobian))
        moved = entries.matrix(6 * index, 6 * count) + turning.matrix(6 * index + 3, 6 * count)
        pushed = own.weights() @ moved
        added = (moved.T @ pushed).toarray()
        if self.rigid.size:
            rows = (3 * loose[:, None] + np.arange(3)).ravel()
            passed = (self.rigid.jacobian[rows].T @ pushed).toarray()
            added -= passed.T @ self.rigid.solve(passed)
        return added

    def _meet_stiff(self) -> None:
        """Woodbury's matrix S = (1 + W J Y)^-1 W of the stiff rows."""
        if not len(self.stiff):
            return
        products = self.program.stiff_products()
        weight = self.rigid.weight(self.stiff) if self.rigid.size else self.rows.these(self.stiff).weights().toarray()
        matrix = self.linalg.elimination.met_exactly(weight, 0.5 * (products + products.T))
        self.program.take_woodbury(0.5 * (matrix + matrix.T))

    def solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """The solution (triples, 3) for a right-hand side (triples, 3); passes."""
        n, out = self.node_count, np.zeros_like(b)
        b, rigid = b * self.free, self.rigid
        right = b[:n]
        if rigid.size:
            numbers = b[rigid.triples].ravel()
            right = right - self._push_nodes(rigid.pushing @ rigid.solve(numbers))
        size = max(float(np.abs(right).max(initial=0.0)), 1e-300)
        found, passes, self.indefinite = self.program.solve(right / size, tolerance)
        out[:n] = size * found
        if rigid.size:
            back = rigid.solve(numbers - rigid.pushing.T @ self._rates(out))
            out[rigid.triples] = back.reshape(-1, 3)
            self.indefinite = self.indefinite or not rigid.positive
        self.renewal.note(passes, tolerance)
        return out, max(passes, 1)

    roughly_solve = solve

    def _push_nodes(self, impulse: np.ndarray) -> np.ndarray:
        """J_s^T times impulses (3 m,) of the active rows, at nodes (n, 3)."""
        out, soft = np.zeros((self.node_count, 3)), self.soft
        np.add.at(out, soft.triple, np.einsum("kri,kr->ki", soft.jacobian, impulse.reshape(-1, 3)[soft.block]))
        return out

    def _rates(self, u: np.ndarray) -> np.ndarray:
        """J_s u (3 m,) of the active rows at velocities u (triples, 3) of nodes."""
        out, soft = np.zeros((len(self.rows.weight), 3)), self.soft
        np.add.at(out, soft.block, np.einsum("kri,ki->kr", soft.jacobian, u[soft.triple]))
        return out.ravel()

    def product(self, u: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u over the free components (triples, 3)."""
        return self._product(u, np.ones(len(self.rows.weight)))

    def product_without_contacts(self, u: np.ndarray) -> np.ndarray:
        """The same of elements, masses and joints."""
        return self._product(u, self.rows.joint.astype(float))

    def _product(self, u: np.ndarray, share: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u with shares (m,) of the active row blocks."""
        n, out, u, rigid = self.node_count, np.zeros_like(u), u * self.free, self.rigid
        rate = self._rates(u)
        if rigid.size:
            rate += rigid.jacobian @ u[rigid.triples].ravel()
        push = (self.rows.weights() @ rate).reshape(-1, 3)
        if rigid.size:
            own = np.einsum("kij,kj->ki", rigid.mass, u[rigid.triples])
            out[rigid.triples] = own + (rigid.jacobian.T @ (share[:, None] * push).ravel()).reshape(-1, 3)
        # those on one node alone are part of its diagonal block
        out[:n] = self.program.multiply(u[:n]) + self._push_nodes((share - self.single)[:, None] * push)
        return self.free * out

    def local_norm(self, gradient: np.ndarray) -> float:
        """sqrt(g^T D^-1 g) with the diagonal blocks D."""
        g = gradient * self.free
        square = self.program.local_square(g[: self.node_count]) + self.rigid.local_square(g[self.rigid.triples])
        return float(np.sqrt(max(square, 0.0)))

    def quadratic(self, u: np.ndarray) -> float:
        """u^T A u without the rows, over the free components."""
        return self.program.stretch(u[: self.node_count]) + float(self.square(self.blocks, self.free * u))
