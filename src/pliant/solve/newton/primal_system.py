"""The primal system M + h^2 K + J^T G J: assembled from element blocks, solved by the method that fits it."""

import math

import numpy as np
from numba import get_num_threads

from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import Augmented, BlockJacobi, RowTerms, SlicedMatrix, TwoLevel
from pliant.linalg.connectivity import Connectivity
from pliant.linalg.sliced import sliced_pattern
from pliant.linalg.two_level import Pieces, coarse_level, two_level
from pliant.rows.softness import FIRM_CONTACTS, LOOSE_CONTACTS, MIXED_CONTACTS, SOFT_CONTACTS
from pliant.rows.table import Rows
from pliant.solve.newton.diagonals import Diagonals, lowest_bound
from pliant.solve.newton.factor_pattern import FactorPattern, alike
from pliant.solve.newton.library_factor import LibraryFactor

# Multiplications of 3x3 blocks up to which a factorisation beats iterations, and pieces above which iterations have too
# large a coarse level.
DIRECT_WORK, MOST_PIECES = 25_000, 150
MOST_TRIPLES = 20_000
# Triples up to which systems with joints, where iterations are asked for, are iterated on in float64 and to a bound of
# the error: so few that factors would be taken otherwise.
MOST_EXACT = 60
MAX_ITERATIONS = 2000
# Rows of joints up to which they are met exactly by the preconditioner.
MOST_STIFF_ROWS = 150
# Choices of the linear solver with block Jacobi alone.
ONE_LEVEL = ("jacobi", "matrix-free")
LIBRARIES = ("superlu", "pardiso")
# Iterations of a solve after which the coarse level is renewed: it does not fit any more what contacts hold.
MANY_ITERATIONS = 15
# Slices of joints and contacts up to which those that do not push are left among the others: it is quicker.
FEW_SLICES = 8
# Slices of rows from which on several threads pay.
PARALLEL_SLICES = 96


class PrimalSystem:
    """The matrix of a model, with its pattern; `linear`: as in pliant.Newton. `dot` is that of triples (n, 3)."""

    patience = 1  # iterations before sweeps over contacts
    cut = staticmethod(Pieces.of)  # a model into the pieces of the coarse level

    def __init__(self, model, joints: Rows, linear: str, direct_work: float = DIRECT_WORK):
        self.count, self.node_count = model.triple_count, model.node_count
        self.elements, self.device = model.elements, model.device
        self.contact_softness = SOFT_CONTACTS if model.elements.sets else LOOSE_CONTACTS
        self.dot = self.device.linalg.triples.dot
        self.pattern = sliced_pattern(self.device, self.count, self._pattern_elements())
        self.free = np.ones((self.count, 3))
        self.free[: self.node_count] = model.free
        self.free[self.node_count :] = np.repeat(~model.static, 2)[:, None]
        self.pieces, self.joint_slices = self.cut(model), len(model.joints.start) - 1
        self.joint_places = (model.joints.slice, model.joints.lane)
        self.factors = None
        self.places, self.level, self.iterations = None, None, 0  # of the coarse level, and that; of the last solve
        # factorisations take at least a few products per triple; float32 iterations are too little for thin rods
        needed = self.pieces.count > MOST_PIECES or model.elements.on_bodies
        small = self.count <= min(direct_work / 5, MOST_TRIPLES) or needed
        if linear == "cholesky" or (linear == "auto" and small):
            factors = FactorPattern(model, joints, self.free, self.pattern)
            if linear == "cholesky" or factors.work <= direct_work or needed:
                self.factors = factors
        self.library = LibraryFactor(model, joints, self.free, self.pattern, linear) if linear in LIBRARIES else None
        self.linear = "cholesky" if self.factors else "pcg" if linear == "auto" else linear
        # joints of small systems cost nothing in float64, in which what they leave free is not lost in what they hold
        exact = self.factors or self.library or (len(model.joints.family) and self.count <= MOST_EXACT)
        dtype = np.float64 if exact else np.float32
        self.dtype, pattern = np.dtype(dtype), self.pattern
        self.gathering = pattern.gathering(self.free)
        self.sums = np.zeros((max(len(pattern.turned), 1), 9), dtype)  # without elements nothing fills them
        self.packed_free = pattern.pack(self.free, dtype, 1.0)
        self.offsets = pattern.offsets()
        shapes = (np.zeros(1, np.int64), np.zeros((0, LANES), self.offsets.dtype))
        self.no_rows = RowTerms(*shapes, np.zeros((0, 9, LANES), dtype), np.zeros((0, 6, LANES), dtype))
        self.placed_pieces = self.pieces.placed(pattern)
        self._make_room(dtype)
        shape = (pattern.slices, 3, LANES)
        self.work, self.x = np.empty((4, *shape), dtype), np.empty(shape, dtype)
        self.diagonals = np.empty((pattern.slices, 9, LANES), dtype)  # inverses of diagonal blocks
        # the bound of the spectrum by which solves of small systems with joints end
        self.proven, self.lowest = bool(exact) and self.iterates, 0.0
        self.direct = self.factors is not None or self.proven  # solves are exact, and cheap beside evaluations
        if self.direct and model.elements.sets and len(model.joints.family):
            self.contact_softness = MIXED_CONTACTS
        elif self.proven:
            self.contact_softness = FIRM_CONTACTS
        # whether sums are those of the stiffness last taken, slices and inverses those last assembled
        self.summed = self.filled = self.inverted = False
        self.without_rows = None  # inverses of diagonal blocks without rows

    def _pattern_elements(self) -> list[Connectivity]:
        """The elements whose blocks are assembled."""
        return self.elements.connectivity()

    def _make_room(self, dtype) -> None:
        """Room for the matrix and for what it is assembled from."""
        start, column = self.pattern.start, self.pattern.column
        self.blocks = np.zeros((self.elements.block_count, 9), dtype)
        self.sliced = SlicedMatrix(start, column, np.empty((len(column), 9, LANES), dtype))

    def take(self, terms: list) -> None:
        """Take the elements' stiffness, one for each set, for the next `assemble`."""
        self.summed = False
        for own, own_terms in zip(self.elements.sets, terms):
            own.blocks(own_terms, self.blocks)

    def assemble(self, mass: np.ndarray, rows: Rows, curvature: np.ndarray, x: np.ndarray | None = None) -> None:
        """Matrix and preconditioner from `blocks`, mass blocks (n, 3, 3) and the rows' curvatures G; x (n, 3): where
        nodes are, at the first of a step, when the coarse level is renewed."""
        pattern, kernels = self.pattern, self.device.linalg.sliced
        new = not (self.summed and np.array_equal(mass, self.mass))
        if new:
            kernels.gather_sums(self.gathering, self.blocks, self.sums)
            self.summed, self.mass, self.filled, self.without_rows, self.level = True, mass, False, None, None
        self.inverted = False
        self._take_rows(self._terms(rows, curvature))
        self.parallel = pattern.slices >= PARALLEL_SLICES and get_num_threads() > 1
        self.bare = self.factors is not None and rows.slices == 0  # factors and blocks are the whole matrix
        if self.library:
            self.library.factorise_library(self.sums, mass, rows, curvature)
        elif self.factors:
            self.preconditioner = self.factors.precondition(self.sums, mass, rows, curvature, self.offsets)
        else:
            if x is not None:
                self.places, self.iterations = x if new else self.places, np.inf
            self._precondition()

    @property
    def iterates(self) -> bool:
        """Whether systems are solved without factors, so that other rows alone are taken quickly."""
        return not (self.library or self.factors)

    def renew_contacts(self, curvature: np.ndarray) -> None:
        """Take other curvatures G (slices, 6, LANES) of the rows; factors stay."""
        if self.factors and self.factors.whole and alike(curvature, self.rows.weight):
            return
        weight = curvature.astype(self.dtype)
        if self.iterates and self.iterations <= MANY_ITERATIONS and np.array_equal(weight, self.rows.weight):
            return
        self._renew_rows(self.rows._replace(weight=weight))

    def renew_rows(self, rows: Rows, curvature: np.ndarray, joints: bool = False) -> None:
        """Take other rows and their curvatures; elements and masses stay as they were assembled. joints: those have
        turned so far that the preconditioner should know."""
        self._renew_rows(self._terms(rows, curvature), joints)

    def _terms(self, rows: Rows, curvature: np.ndarray) -> RowTerms:
        if not rows.slices:
            return self.no_rows
        numbers = (rows.jacobian.astype(self.dtype), curvature.astype(self.dtype))
        return RowTerms(rows.start, self.offsets[rows.triples], *numbers)

    def _renew_rows(self, rows: RowTerms, joints: bool = False) -> None:
        self._take_rows(rows)
        self.inverted = False
        if self.factors:
            self.factors.whole = False
        if not (self.library or self.factors):
            self._precondition(joints)

    @property
    def matrix(self) -> SlicedMatrix:
        """The matrix in slices, without rows; where factors are all that is asked for it is not needed."""
        if not self.filled:
            numbers = (self.sums, self.mass, self.sliced.values)
            self.device.linalg.sliced.fill_slices(self.gathering, self.pattern.start, *numbers)
            self.filled = True
        return self.sliced

    @property
    def inverse(self) -> np.ndarray:
        """Inverse diagonal blocks (slices, 9, LANES), with what rows add."""
        if not self.inverted:
            self._bare.write(self.acting, self.diagonals)
            self.inverted = True
        return self.diagonals

    @property
    def _bare(self) -> Diagonals:
        """The inverse diagonal blocks without rows, once for every matrix."""
        if self.without_rows is None:
            extra, free = self._extra_diagonals(), self.packed_free.ravel()
            self.without_rows = Diagonals(self.device, self.matrix, extra, free)
        return self.without_rows

    def _take_rows(self, rows: RowTerms) -> None:
        """Take rows, and those of them that act by themselves, where they are many."""
        if len(rows.start) <= 1 + FEW_SLICES:
            self.rows = self.acting = rows
            return
        kernels, entries = self.device.linalg.acting_rows, np.zeros(1, np.int64)
        slices = kernels.count_acting(rows.start, rows.weight, entries)
        acting = (np.zeros(slices + 1, np.int64), np.zeros((entries[0], LANES), rows.offset.dtype))
        acting += (np.zeros((entries[0], 9, LANES), self.dtype), np.zeros((slices, 6, LANES), self.dtype))
        kernels.gather_acting(*rows, *acting)
        self.rows, self.acting = rows, RowTerms(*acting)

    @property
    def jacobian(self) -> np.ndarray:
        """Jacobians (entries, 9, LANES) of the rows as last assembled."""
        return self.rows.jacobian

    def _extra_diagonals(self) -> np.ndarray:
        """What the diagonal blocks (slices, 9, LANES) of the operator have beyond those of the matrix, without rows."""
        return np.zeros((self.pattern.slices, 9, LANES), self.dtype)

    def _precondition(self, joints: bool = False) -> None:
        """Two levels at the start of a step; later on the coarse level stays, and the blocks are renewed, unless the
        last solve took many iterations. joints: their rows are renewed in it."""
        inverse = self.inverse  # renewed in place, also for a preconditioner that stays
        self.lowest = None if self.proven else 0.0
        if self.linear in ONE_LEVEL:
            self.preconditioner = BlockJacobi(inverse)
        elif self.iterations > MANY_ITERATIONS:
            which, self.iterations, own = self._stiff_rows(), 0, (self.acting, inverse)
            self.preconditioner = self._augmented(which) if 0 < len(which) <= MOST_STIFF_ROWS else self._two_level(*own)
        elif joints and isinstance(self.preconditioner, Augmented):
            self.preconditioner = self._with_joints(self.preconditioner.base, self._stiff_rows())

    def _two_level(self, rows: RowTerms, inverse: np.ndarray) -> TwoLevel:
        own = (self.placed_pieces, self.pattern)
        self.level = self.level or coarse_level(*own, self.matrix, self.packed_free, self.places)
        return two_level(*own, self.level, rows, self.packed_free, inverse)

    def _stiff_rows(self) -> np.ndarray:
        """Rows (m, 3) of joints that push: slice, row in its block, lane."""
        if not self.joint_slices:
            return np.zeros((0, 3), np.int64)
        slice_, lane = self.joint_places
        block, row = np.nonzero(self.rows.weight[slice_, :3, lane])
        return np.stack([slice_[block], row, lane[block]], axis=1)

    def _augmented(self, which: np.ndarray) -> Augmented:
        """Two levels of what there is without joints, and the joints' rows exactly."""
        rows, start = self.rows, self.rows.start
        first = start[self.joint_slices]
        loose = RowTerms(
            start[self.joint_slices :] - first,
            rows.offset[first:],
            rows.jacobian[first:],
            rows.weight[self.joint_slices :],
        )
        inverse = np.empty_like(self.diagonals)
        self._bare.write(loose, inverse)
        return self._with_joints(self._two_level(loose, inverse), which)

    def _with_joints(self, base: TwoLevel, which: np.ndarray) -> Augmented:
        """Two levels without joints, and such rows (m, 3) of joints exactly."""
        rows, free, size = self.rows, self.packed_free.ravel(), len(which)
        answers, extent = np.zeros((size, *self.x.shape), self.dtype), np.empty((size, 2), np.int64)
        found = (answers, extent, np.empty((size, size)))
        self.device.linalg.augmented.augment(base, rows, which, free, *found)
        return Augmented(base, rows.start, rows.offset, rows.jacobian, which, free, *found, np.empty(size))

    def solve(self, b: np.ndarray, tolerance: float, most: int = MAX_ITERATIONS) -> tuple[np.ndarray, int]:
        """The solution (n, 3) for a right-hand side (n, 3) that is zero where components are prescribed; iterations,
        at most so many of those by which a system without factors is solved."""
        if self.library:
            return self._solve_library(b * self.free, tolerance)
        if self.elements.on_bodies and self.factors and self.factors.whole:
            direction, products = self.roughly_solve(b, tolerance)
            self.indefinite = float(self.dot(b, direction)) < 0.0
            return direction, products
        # of unit size, so that no number of a float32 solve is denormal
        size = max(self.device.linalg.sliced.largest(b), 1e-300)
        right = self.pattern.pack_free(b, self.free, self.dtype, 1 / size)
        iterations = self._conjugate_gradients(right, tolerance, most)
        if iterations == 0 and self.indefinite and isinstance(self.preconditioner, Augmented):
            self.preconditioner = BlockJacobi(self.inverse)  # rounding has made the other one indefinite
            self.lowest = None if self.proven else 0.0
            iterations = self._conjugate_gradients(right, tolerance, most)
        return size * self.pattern.unpack(self.x), iterations

    def _conjugate_gradients(self, right: np.ndarray, tolerance: float, most: int) -> int:
        """Solve for a packed right-hand side into `x`; iterations, at most so many."""
        terms = (self.matrix, self.acting, self.packed_free, self.preconditioner)
        limits = (tolerance, most, self.parallel, self._lowest())
        iterations, _, self.indefinite = self.device.linalg.pcg.solve_pcg(*terms, right, self.x, self.work, *limits)
        self.iterations = iterations
        return iterations

    def _lowest(self) -> float:
        """A lower bound of the spectrum of the preconditioned matrix, 0 where none is asked for."""
        if self.lowest is None:
            own = self.preconditioner
            inverse = own.base.inverse if isinstance(own, Augmented) else own.inverse
            self.lowest = lowest_bound(self.pattern, inverse, self.free, self.mass)
        return self.lowest

    def roughly_solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """As `solve`; but with factors simply these, which lack what contacts couple and need no positive matrix."""
        self.indefinite = False
        if self.library:
            return self.free * self.library.solve(b * self.free), 1
        if not self.factors:
            return self.solve(b, tolerance)
        right = self.pattern.pack_free(b, self.free, self.dtype)
        self.device.linalg.pcg.apply_factor(self.preconditioner, right, self.x)
        return self.free * self.pattern.unpack(self.x), 1

    def product(self, u: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u over the free components (n, 3)."""
        return self._multiply(self.pattern.pack_free(u, self.free, self.dtype), self.acting)

    def product_without_contacts(self, u: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u of elements, masses and joints over the free components (n, 3)."""
        return self._multiply(self.pattern.pack_free(u, self.free, self.dtype), self._rows_up_to(self.joint_slices))

    def _rows_up_to(self, slices: int) -> RowTerms:
        """The first slices of the rows."""
        return self.rows._replace(start=self.rows.start[: slices + 1])

    def _multiply(self, x: np.ndarray, rows: RowTerms) -> np.ndarray:
        """The operator's product (n, 3) with a packed vector."""
        self.device.linalg.pcg.multiply(self.matrix, rows, self.packed_free, x, self.x, self.parallel)
        return self.pattern.unpack(self.x)

    def _solve_library(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """Conjugate gradients on the library's factors, which lack only what contacts couple."""
        x, r = np.zeros_like(b), b.copy()
        z = self.free * self.library.solve(r)
        p, rz = z, float(self.dot(r, z))
        first, iterations, self.indefinite = rz, 0, rz < 0.0
        while iterations < MAX_ITERATIONS and rz > tolerance * tolerance * first and rz > 0.0:
            q = self._multiply(self.pattern.pack(p, self.dtype), self.acting)
            alpha = rz / float(self.dot(p, q))
            x, r = x + alpha * p, r - alpha * q
            z = self.free * self.library.solve(r)
            new = float(self.dot(r, z))
            p, rz, iterations = z + new / rz * p, new, iterations + 1
            self.indefinite = rz < 0.0
        return x, iterations

    def local_norm(self, gradient: np.ndarray) -> float:
        """sqrt(g^T D^-1 g) with the diagonal blocks D."""
        if self.bare:
            return self.factors.local_norm(gradient)
        square = self.device.linalg.sliced.local_square(self.pattern.place, self.inverse, gradient)
        return math.sqrt(max(square, 0.0))

    def bare_product(self, u: np.ndarray) -> np.ndarray:
        """A u without the rows, over the free components (n, 3)."""
        self._multiply_bare(self.pattern.pack_free(u, self.free, self.dtype))
        return self.pattern.unpack(self.x)

    def _multiply_bare(self, x: np.ndarray) -> None:
        """The product without the rows with a packed vector, into `x`."""
        terms = (self.matrix, self._rows_up_to(0), self.packed_free)
        self.device.linalg.pcg.multiply(*terms, x, self.x, self.parallel)

    def quadratic(self, u: np.ndarray) -> float:
        """u^T A u without the rows, over the free components."""
        if self.bare:
            return self.factors.quadratic(u)
        x = self.pattern.pack_free(u, self.free, self.dtype)
        self._multiply_bare(x)
        return float(self.device.linalg.pcg.dot_slices(x, self.x))
