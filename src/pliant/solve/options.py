"""The solvers as the user names them: small validated dataclasses, light to import."""

from dataclasses import dataclass
from typing import ClassVar

from pliant.checks import choice, flag, number, whole
from pliant.errors import SceneError

MOST = 10**9
"""Iterations, sweeps and substeps at most."""

LINEAR = ("auto", "cholesky", "pcg", "jacobi", "matrix-free", "superlu", "pardiso")


class Checked:
    """Options whose fields are replaced by what their checks make of them."""

    def clean(self, option: str, check, *rules, **bounds) -> None:
        """Check one option and keep what the check returns."""
        cleaned = check(getattr(self, option), f"{type(self).__name__} {option}", *rules, **bounds)
        object.__setattr__(self, option, cleaned)


@dataclass(frozen=True)
class Dual(Checked):
    """The dual solver (BV): elements, joints and contacts as rows of one box-constrained problem in the impulses.

    method: "mprgp" (conjugate gradients with projections) or "pgs" (projected Gauss-Seidel).
    tolerance: stop when the projected gradient has fallen to this fraction of the right-hand side.
    eliminate: False: elements, joints and contacts are rows of one matrix-free problem, as BV. True: the rows without
    bounds (elements, joints) are eliminated by factorising M + h^2 K + J^T R^-1 J, and only contacts are iterated on
    its inverse: exact however stiff the material or heavy the chain; always in float64. regularization: extra
    compliance of every row, relative to its diagonal in J M^-1 J^T (BV's softening; 0: exact). diagonal: rotate the
    element rows so that their compliance is diagonal (the same answer). friction: "cone" (Coulomb's disc) or "box"
    (BV: each tangent direction on its own). warm_start: start from the impulses of the step before.
    """

    # distances that are elements are rows to the dual family
    elements_as_rows: ClassVar[bool] = True
    method: str = "mprgp"
    tolerance: float = 1e-4
    max_iterations: int = 3000
    eliminate: bool = False
    regularization: float = 0.0
    diagonal: bool = True
    friction: str = "cone"
    warm_start: bool = True

    def __post_init__(self):
        self.clean("method", choice, ("mprgp", "pgs"))
        self.clean("friction", choice, ("cone", "box"))
        for option in ("eliminate", "diagonal", "warm_start"):
            self.clean(option, flag)
        if self.method == "pgs" and self.eliminate:
            raise SceneError("Dual method 'pgs' sweeps over all rows; eliminate=True needs method 'mprgp'")
        self.clean("tolerance", number, low=0, open_low=True)
        self.clean("max_iterations", whole, low=1, high=MOST)
        self.clean("regularization", number, low=0)


@dataclass(frozen=True)
class Newton(Checked):
    """The primal solver: Newton's method on the incremental potential of a step (S 4.4); converged, for any law.

    tolerance: stop after a correction of at most this part of the step's motion, in the energy norm (no units, no
    dependence on the mesh); what is left after it is of the order of its square; and what touches penetrates by at most
    1e-3 of its size, or a tenth of the tolerance if that is more. max_iterations: 1 makes it linearly
    implicit. linear: how the linear systems are solved, "cholesky" (block L D L^T), "pcg" (conjugate gradients in
    float32 with two levels of preconditioning), "jacobi" (with one), "matrix-free" (the same, products straight from
    the elements: least memory), "superlu" (SciPy's), "pardiso" (MKL's, extra `mkl`), or "auto": "cholesky" for small
    bodies and chains, else "pcg"; `info.linear` says which. integrator: "euler" (implicit Euler), or "bdf2" of second
    order with little damping, which meets joints at the end of a step; not for plastic bodies.
    """

    tolerance: float = 1e-2
    max_iterations: int = 50
    linear: str = "auto"
    integrator: str = "euler"

    def __post_init__(self):
        self.clean("linear", choice, LINEAR)
        self.clean("integrator", choice, ("euler", "bdf2"))
        self.clean("tolerance", number, low=0, open_low=True)
        self.clean("max_iterations", whole, low=1, high=MOST)


@dataclass(frozen=True)
class Bounded(Checked):
    """Steps with a bound on what they cost, for real time: of soft bodies and sheets, or of rigid bodies that touch.

    iterations: linear systems of a step, each with the elements as they lie then; products: most products with their
    matrices in a step, by conjugate gradients; None: 12 of sheets alone, else 24. sweeps: of rigid bodies, passes over
    all contacts in a step, forth and back, which begin with the impulses of the last one; where few bodies touch, up to
    ten times as many. Contacts are those foreseen at the start of a step, and looked for once; what would pass through
    something on its way is held back (`info.held`). No step is taken again in parts. A step solves the same equations
    as one of Newton's method, but is as near to their answer as its cost allows: `info.converged` is false while
    anything touches, and `info.imbalance` says how near. It leaves no more energy than there was and outer forces gave,
    but what lifts bodies that overlap and what is prescribed gives. Joints, rods, and soft and freely moving rigid
    bodies together it does not take.
    """

    iterations: int = 1
    products: int | None = None
    sweeps: int = 60

    def __post_init__(self):
        self.clean("iterations", whole, low=1, high=MOST)
        self.clean("sweeps", whole, low=1, high=MOST)
        if self.products is None:
            return
        self.clean("products", whole, low=1, high=MOST)
        if self.products < self.iterations:
            raise SceneError(
                f"Bounded products must be at least its iterations, {self.iterations}, each of which takes one; got "
                f"{self.products}"
            )


@dataclass(frozen=True)
class Mixed(Checked):
    """Mixed variational steps (T): positions, stretches and rotations of elements in turn; any law, stiff or soft.

    outer: most outer iterations, in which the law is taken at the stretches so far; inner: most alternations between
    rotations and positions in each; a step ends before, unconverged, when six of these have not met its joints and
    contacts. tolerance: stop after a correction of at most this part of the step's motion, in
    the energy norm, if the step is in balance. rotation: "polar" (of the deformation gradient), or "procrustes" (T's
    own rule, which stalls a little short of the answer). linear: how the linear systems are solved, as of Newton.
    system: "reduced" (positions alone, sparse and positive), or "kkt" (T's own: positions and multipliers by conjugate
    gradients with a constant, factorised preconditioner, so `linear` stays "auto"; tets of four nodes without joints,
    contacts and damping).
    With outer=1 it is the method of the paper, fast and stable for any stiffness, and says so where a step has not
    converged. Its work is fixed only where nothing touches, is joined, or is a rod: else each of the inner steps is
    Newton's, with as many iterations as contacts and joints take.
    """

    outer: int = 30
    inner: int = 3
    tolerance: float = 1e-2
    rotation: str = "polar"
    linear: str = "auto"
    system: str = "reduced"

    def __post_init__(self):
        self.clean("rotation", choice, ("polar", "procrustes"))
        self.clean("system", choice, ("reduced", "kkt"))
        self.clean("linear", choice, LINEAR)
        if self.system == "kkt" and self.linear != "auto":
            raise SceneError(
                f"Mixed linear={self.linear!r} is for system='reduced': with system='kkt' linear systems are solved by "
                f"conjugate gradients with its own preconditioner; leave linear out"
            )
        self.clean("tolerance", number, low=0, open_low=True)
        self.clean("outer", whole, low=1, high=MOST)
        self.clean("inner", whole, low=1, high=MOST)


@dataclass(frozen=True)
class Linear(Checked):
    """The constant matrix of linear elasticity, M + h C + h^2 K, factorised once (C 2.4); bodies of the law "linear".

    factor: "cholesky" (block L D L^T; the only one for scenes with joints or contacts, which act on its inverse), "lu"
    (SuperLU) or "cg" (conjugate gradients with block Jacobi). mass: "lumped", or "consistent" with the linear shape
    functions. tolerance: part of the residual that "cg" and the impulses of joints and contacts may leave.
    """

    factor: str = "cholesky"
    mass: str = "lumped"
    tolerance: float = 1e-8

    def __post_init__(self):
        self.clean("factor", choice, ("cholesky", "lu", "cg"))
        self.clean("mass", choice, ("lumped", "consistent"))
        self.clean("tolerance", number, low=0, open_low=True)


@dataclass(frozen=True)
class Explicit(Checked):
    """Explicit steps for any law (C chapter 1): nothing is solved, and the time step must be small.

    method: "symplectic" (first order, energy stays bounded; joints and contacts by impulses), "rk2" (midpoint rule) or
    "rk4" (Runge-Kutta of fourth order); these two for scenes without joints, contacts and plasticity. A warning at the
    first step names the largest safe time step when dt exceeds it; what forces throw far beyond the scene in a step is
    an error. tolerance: of the impulses, as of Dual.
    """

    method: str = "symplectic"
    tolerance: float = 1e-6

    def __post_init__(self):
        self.clean("method", choice, ("symplectic", "rk2", "rk4"))
        self.clean("tolerance", number, low=0, open_low=True)


@dataclass(frozen=True)
class Xpbd(Checked):
    """Position-based dynamics (C 1.2; XPBD): Gauss-Seidel sweeps over rows that follow the moved positions.

    iterations: sweeps in every substep; the more, the nearer to implicit Euler. substeps: equal parts of a time step.
    compliance: "material" (XPBD: the stiffness is that of the
    materials), or "none" (PBD: everything is as stiff as the sweeps can make it). Laws: linear, corotated, springs.
    A step has converged (`info.converged`) whose last sweep changed velocities by at most a hundredth of what all of
    them did (`info.residual`), and that is in balance: of a stack, few sweeps have not, and its boxes sink.
    """

    elements_as_rows: ClassVar[bool] = True
    iterations: int = 10
    substeps: int = 1
    compliance: str = "material"

    def __post_init__(self):
        self.clean("iterations", whole, low=1, high=MOST)
        self.clean("substeps", whole, low=1, high=MOST)
        self.clean("compliance", choice, ("material", "none"))


SOLVERS = {
    "newton": Newton,
    "mixed": Mixed,
    "dual": Dual,
    "linear": Linear,
    "explicit": Explicit,
    "xpbd": Xpbd,
    "bounded": Bounded,
}
