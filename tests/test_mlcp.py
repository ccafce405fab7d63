"""Complementarity problems with known answers: MPRGP and PGS on dense matrices."""

import json

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial import Delaunay

import pliant as pl
from pliant.linalg.box_qp import solve_box_qp
from verification import data

METHODS = ("mprgp", "pgs")
BOX_CASES = {
    # objective, norm of the solution, variables at the lower and upper bounds (MLC-03, MLC-04)
    "boxqp_seed1_n20_nonneg": (-9.480673, 7.287456, 9, 0),
    "boxqp_seed2_n60_nonneg": (-9.480288, 6.625346, 28, 0),
    "boxqp_seed3_n60_box": (-10.69715, 3.240402, 11, 19),
    "boxqp_seed4_n200_box": (-54.21208, 6.052169, 56, 61),
    "boxqp_seed5_n80_mixed": (-23.31272, 6.857556, 24, 19),
    "boxqp_seed6_n100_nonneg": (-31.51772, 18.57911, 52, 0),
}
FCLIB = {
    "fclib_Box_Stacks-i0122-82-5": 0.03401411,
    "fclib_LMGC_100_PR_PerioBox-i00361-60-03000": 2622577.0,
}


def natural_residual(matrix, b, low, high, x):
    """|x - P(x - (A x - b))| in the largest component: zero exactly at a solution."""
    return np.abs(x - np.clip(x - (matrix @ x - b), low, high)).max()


def cone_projection(z, mu):
    """Projection of (n, t1, t2) rows on the cones |t| <= mu n."""
    n, t = z[:, 0], np.linalg.norm(z[:, 1:], axis=1)
    inside, polar = t <= mu * n, mu * t <= -n
    # onto the surface: along (1, mu t/|t|)
    c = (n + mu * t) / (1 + mu**2)
    tangent = np.divide(z[:, 1:], t[:, None], out=np.zeros_like(z[:, 1:]), where=t[:, None] > 0)
    surface = np.column_stack([c, (mu * c)[:, None] * tangent])
    return np.where(inside[:, None], z, np.where(polar[:, None], 0.0, surface))


def friction_residual(w, q, mu, r):
    """De Saxce's natural map: |r - P_K(r - (u + mu |u_t| n))| / |q|, u = W r + q; zero at Coulomb's solution."""
    u, r = (w @ r + q).reshape(-1, 3), r.reshape(-1, 3)
    u[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    return np.linalg.norm(r - cone_projection(r - u, mu)) / np.linalg.norm(q)


def murty_matrix(n):
    """Ones on the diagonal, twos below."""
    return np.eye(n) + np.tril(np.full((n, n), 2.0), -1)


@pytest.mark.parametrize("n", [10, 50, 200])
def test_murty_and_fathi(n):
    """MLC-01: w = M z - 1, 0 <= z, w complementary, has z = e1; Fathi's M M^T has condition number up to 4e9."""
    murty, ones, solution = murty_matrix(n), np.ones(n), np.eye(n)[0]
    fathi = murty @ murty.T
    for matrix, method in [(murty, "pgs"), (fathi, "pgs"), (fathi, "mprgp")]:
        z, info = solve_box_qp(matrix, ones, 0, np.inf, method=method, tolerance=1e-12)
        assert info.converged
        assert natural_residual(matrix, ones, 0, np.inf, z) <= 1e-8  # as the case asks
        assert np.abs(z - solution).max() <= 1e-8
    assert 0.5 * z @ fathi @ z - z.sum() == pytest.approx(-0.5, abs=1e-8)
    # MPRGP finds the one free variable after releasing and catching the others: fewer products than variables, about
    assert info.iterations <= n + 20


@pytest.mark.parametrize("method", METHODS)
def test_small_symmetric_complementarity_problems(method):
    """MLC-02 (Cottle, Pang, Stone): singular and regular 2x2 problems solved by hand."""
    # z1 + z2 = 1 on a segment
    z, _ = solve_box_qp([[1, 1], [1, 1]], [1, 1], 0, np.inf, method=method, tolerance=1e-12)
    assert z.min() >= 0 and z.sum() == pytest.approx(1, abs=1e-8)
    z, _ = solve_box_qp([[1, -1], [-1, 1]], [-1, 1], 0, np.inf, method=method, tolerance=1e-12)
    assert z[1] - z[0] == pytest.approx(1, abs=1e-8) and np.abs(z - [0, 1]).max() <= 1e-8
    z, _ = solve_box_qp([[2, 1], [1, 2]], [5, 6], 0, np.inf, method=method, tolerance=1e-12)
    assert np.abs(z - [4 / 3, 7 / 3]).max() <= 1e-8


def test_small_complementarity_problems_of_the_collection():
    """MLC-02: every listed solution is accepted; problems beyond a method are refused, not answered wrongly."""
    cases = json.loads(data("mlcp/small_lcps.json").read_text())
    solved, refused = [], []
    for name, case in cases.items():
        if not case.get("solutions"):
            continue
        matrix, q, solutions = np.array(case["M"]), np.array(case["q"]), np.array(case["solutions"])
        for method in METHODS:
            try:
                z, info = solve_box_qp(matrix, -q, 0, np.inf, method=method, tolerance=1e-12)
            except pl.SolverError:
                refused.append((name, method))
                continue
            solved.append((name, method))
            assert info.converged and natural_residual(matrix, -q, 0, np.inf, z) <= 1e-8, (name, method)
            if name == "lcp_CPS_1":  # the whole segment z1 + z2 = 1
                assert z.sum() == pytest.approx(1, abs=1e-8)
            else:
                assert np.abs(z - solutions).max(axis=1).min() <= 1e-8 * max(1, np.abs(solutions).max()), (name, method)
    symmetric = {"lcp_CPS_1", "lcp_CPS_5", "lcp_deudeu"}
    assert {name for name, method in solved if method == "mprgp"} == symmetric
    assert {name for name, method in solved if method == "pgs"} == symmetric | {
        "lcp_ortiz",
        "lcp_exp_murty",
        "lcp_exp_murty2",
    }
    # zero on the diagonal: no Gauss-Seidel, no conjugate gradients
    assert ("lcp_CPS_2", "pgs") in refused and ("lcp_CPS_3", "mprgp") in refused


def random_box_qp(seed, n, condition, kind):
    """A box problem with the given condition number: bounds of one kind, or of several mixed as in contact."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    matrix = basis @ np.diag(np.geomspace(1, 1 / condition, n)) @ basis.T
    b = matrix @ rng.normal(size=n) + 0.1 * rng.normal(size=n)
    low, high = np.zeros(n), np.full(n, np.inf)
    if kind == "box":
        low, high = np.full(n, -0.5), np.full(n, 0.5)
    elif kind == "mixed":
        third = n // 3
        low[:third], low[third : 2 * third], high[third : 2 * third] = -np.inf, -0.3, 0.3
    return (matrix + matrix.T) / 2, b, low, high


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "seed, n, condition, kind",
    [(1, 20, 1e2, "nonneg"), (2, 60, 1e4, "nonneg"), (3, 60, 1e3, "box"), (4, 150, 1e4, "box"), (5, 90, 1e3, "mixed")],
)
def test_random_box_problems_against_an_active_set_solver(seed, n, condition, kind, method):
    """min 1/2 x A x - b x = min 1/2 |C x - d|^2 with A = C^T C, b = C^T d: SciPy's BVLS gives the exact active set."""
    matrix, b, low, high = random_box_qp(seed, n, condition, kind)
    factor = np.linalg.cholesky(matrix).T
    reference = lsq_linear(
        factor, np.linalg.solve(factor.T, b), (low, high), method="bvls", tol=1e-15, max_iter=10 * n
    ).x
    x, info = solve_box_qp(matrix, b, low, high, method=method, tolerance=1e-12)
    assert info.converged
    # a relative gradient of 1e-12 moves x by condition * 1e-12 at most; both solvers keep to 1e-7 up to 1e4
    assert np.abs(x - reference).max() <= 1e-7 * np.abs(reference).max()
    assert np.array_equal(x <= low, reference <= low + 1e-12)
    assert np.array_equal(x >= high, reference >= high - 1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BOX_CASES)
def test_published_box_problems(name, method):
    """MLC-03, MLC-04: z to 1e-6 (1e-5 for n = 200, 1e-4 at condition 1e6), objective to 1e-8, active set exact."""
    case = np.load(data(f"mlcp/{name}.npz"))
    matrix, q, low, high, reference = (case[key] for key in ("M", "q", "lo", "hi", "z"))
    x, info = solve_box_qp(matrix, -q, low, high, method=method, tolerance=1e-12)
    objective, norm, at_low, at_high = BOX_CASES[name]
    tolerance = {"boxqp_seed4_n200_box": 1e-5, "boxqp_seed6_n100_nonneg": 1e-4}.get(name, 1e-6)
    assert info.converged

    def energy(z):
        return 0.5 * z @ matrix @ z + q @ z

    assert np.abs(x - reference).max() <= tolerance * np.abs(reference).max()
    assert energy(x) == pytest.approx(energy(reference), rel=1e-8)
    assert energy(x) == pytest.approx(objective, rel=2e-7)  # printed with seven digits
    assert np.linalg.norm(x) == pytest.approx(norm, rel=2e-7 + tolerance)
    assert (np.sum(x <= low), np.sum(x >= high)) == (at_low, at_high)


@pytest.mark.parametrize("method", METHODS)
def test_four_legged_table(method):
    """MLC-05: W = J diag(1, 3, 3) J^T of four corners is singular; any answer has W z = 1, so the sum of z is 1."""
    corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]], dtype=float)
    jacobian = np.column_stack([np.ones(4), corners[:, 1], -corners[:, 0]])
    w = jacobian @ np.diag([1.0, 3.0, 3.0]) @ jacobian.T
    assert np.linalg.matrix_rank(w) == 3
    z, info = solve_box_qp(w, np.ones(4), 0, np.inf, method=method, tolerance=1e-12)
    assert info.converged and z.min() >= 0
    assert np.abs(w @ z - 1).max() <= 1e-8
    assert z.sum() == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_one_frictional_contact(method):
    """MLC-08: one sliding contact, W r + q = u; the cone's answer is known, the box law gives another."""
    w, q = np.array([[15.0, -1, -2], [-1, 14, 1], [-2, 1, 16]]), np.array([-1.0, 2, 3])
    r, _ = solve_box_qp(w, -q, friction=[0.1], method=method, tolerance=1e-12)
    assert np.abs(r - [0.06569568, -0.003678615, -0.005443071]).max() <= 1e-6 * np.linalg.norm(r)
    u = w @ r + q
    assert np.allclose(u, [0, 1.877361, 2.777841], atol=1e-6)
    # Coulomb: the friction is mu r_n against the sliding direction
    assert np.allclose(r[1:], -0.1 * r[0] * u[1:] / np.linalg.norm(u[1:]), atol=1e-10)
    # box: both tangents at -mu r_n, u_n = 0: (15 + 0.3) r_n = 1
    box, _ = solve_box_qp(w, -q, friction=[0.1], cone=False, method=method, tolerance=1e-12)
    assert np.allclose(box, np.array([1, -0.1, -0.1]) / 15.3, atol=1e-10)


@pytest.mark.parametrize("method, tolerance", [("mprgp", 1e-6), ("pgs", 1e-4)])
@pytest.mark.parametrize("name", FCLIB)
def test_fclib_problems(name, method, tolerance):
    """MLC-07: 82 and 60 contacts with singular W; impulses are not unique, De Saxce's natural map judges."""
    case = np.load(data(f"mlcp/{name}.npz"))
    w, q, mu = case["W"], case["q"], case["mu"]
    r, info = solve_box_qp(w, -q, friction=mu, method=method, tolerance=0.1 * tolerance)
    assert info.converged
    assert friction_residual(w, q, mu, r) <= tolerance
    # far beyond what the case asks: the iteration goes on to converge
    r, info = solve_box_qp(w, -q, friction=mu, method=method, tolerance=1e-10)
    assert info.converged and friction_residual(w, q, mu, r) <= 1e-8
    # W is singular and r not unique (60 contacts, rank 72): the total normal impulse agrees within a few percent only
    assert r[::3].sum() == pytest.approx(FCLIB[name], rel=0.05)


def contact_problem(seed, bodies, contacts, mu):
    """Random contacts between random bodies that fall together: W = J M^-1 J^T and the free velocities q."""
    rng = np.random.default_rng(seed)
    jacobian = np.zeros((3 * contacts, 6 * bodies))
    for k in range(contacts):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        a, b = rng.choice(bodies, 2, replace=False)
        for body, sign in ((a, 1.0), (b, -1.0)):
            arm = rng.normal(size=3)
            cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
            jacobian[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] = sign * frame @ np.hstack([np.eye(3), -cross])
    inverse_mass = np.repeat(rng.uniform(0.2, 5, size=bodies), 6)
    return jacobian * inverse_mass @ jacobian.T, jacobian @ rng.normal(size=6 * bodies), np.full(contacts, mu)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_random_contact_problems(mu, method):
    """Coulomb's law for many bodies: De Saxce's natural map vanishes, also for singular W (more rows than freedoms)."""
    for seed, bodies, contacts in [(0, 6, 4), (1, 10, 12), (2, 5, 14)]:
        w, q, friction = contact_problem(seed, bodies, contacts, mu)
        r, info = solve_box_qp(w, -q, friction=friction, method=method, tolerance=1e-9)
        assert info.converged, (seed, info)
        assert friction_residual(w, q, friction, r) <= 1e-6, seed
        assert np.all(np.linalg.norm(r.reshape(-1, 3)[:, 1:], axis=1) <= mu * r[::3] * (1 + 1e-6) + 1e-12)


def disc_membrane(rings, radius):
    """Points of a disc in rings (centre, 6, 12, ... points) and the P1 stiffness of the Laplacian on its triangles."""
    points = [np.zeros((1, 2))]
    for ring in range(1, rings + 1):
        angle = 2 * np.pi * np.arange(6 * ring) / (6 * ring)
        points.append(radius * ring / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
    points = np.concatenate(points)
    triangles = Delaunay(points).simplices
    stiffness = np.zeros((len(points), len(points)))
    for triangle in triangles:
        p = points[triangle]
        edges = np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)  # opposite edge of each corner
        area = 0.5 * abs(np.cross(np.append(p[1] - p[0], 0), np.append(p[2] - p[0], 0))[2])
        if area > 1e-12:
            stiffness[np.ix_(triangle, triangle)] += edges @ edges.T / (4 * area)
    return points, stiffness


def test_membrane_over_a_spherical_obstacle():
    """MLC-09: min 1/2 |grad u|^2, u >= sqrt(1 - r^2), u = 0 at r = 2: contact until r* with r*^2 (1 - ln(r*/2)) = 1."""
    rings, r_star, u_at_1 = 20, 0.6979651, 0.4715199
    points, stiffness = disc_membrane(rings, 2.0)
    r = np.linalg.norm(points, axis=1)
    inside = r < 2 - 1e-9
    matrix = stiffness[np.ix_(inside, inside)]
    obstacle = np.where(r < 1, np.sqrt(np.maximum(1 - r**2, 0)), -np.inf)[inside]
    zero = np.zeros(inside.sum())
    u, info = solve_box_qp(matrix, zero, obstacle, np.inf, method="mprgp", tolerance=1e-10)
    assert info.converged
    touching = r[inside][u <= obstacle]
    element = 2.0 / rings
    assert abs(touching.max() - r_star) <= element  # the free boundary within one element
    at_one = np.abs(r[inside] - 1) < 1e-9
    assert np.allclose(u[at_one], u_at_1, rtol=0.01)
    outside = (r[inside] > r_star + element) & (r[inside] < 2)
    exact = -(r_star**2) * np.log(r[inside][outside] / 2) / np.sqrt(1 - r_star**2)
    assert np.abs(u[outside] - exact).max() <= 0.01  # 1% of the obstacle's height
    sweeps, slower = solve_box_qp(matrix, zero, obstacle, np.inf, method="pgs", tolerance=1e-8, max_iterations=2000)
    assert slower.converged and np.abs(sweeps - u).max() <= 1e-5  # gradient 1e-8 over the smallest eigenvalue ~1e-3
    assert info.iterations < slower.iterations


def test_rows_without_curvature_go_to_their_bounds():
    """A zero row and column: -b x is least at the bound that b points to; without one there is no minimum."""
    matrix, b = np.diag([2.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, -1.0, 0.0])
    for method in METHODS:
        x, info = solve_box_qp(matrix, b, -3, 5, method=method)
        assert info.converged and np.allclose(x, [0.5, 5, -3, 0])
        with pytest.raises(pl.SolverError, match="no minimum"):
            solve_box_qp(matrix, b, -3, np.inf, method=method)


def test_bad_box_problems_are_refused():
    with pytest.raises(pl.SolverError, match="square matrix"):
        solve_box_qp(np.eye(3), np.ones(2))
    with pytest.raises(pl.SolverError, match="positive diagonal"):
        solve_box_qp([[0, 1], [1, 0]], np.ones(2))
    with pytest.raises(pl.SolverError, match="symmetric"):
        solve_box_qp([[1, 1], [0, 1]], np.ones(2))
    with pytest.raises(pl.SolverError, match="low <= high"):
        solve_box_qp(np.eye(2), np.ones(2), 1, 0)
    with pytest.raises(pl.SolverError, match="mprgp, pgs"):
        solve_box_qp(np.eye(2), np.ones(2), method="newton")
    with pytest.raises(pl.SolverError, match="finite"):
        solve_box_qp(np.eye(2), [np.nan, 1])
    with pytest.raises(pl.SolverError, match="need 6 rows"):
        solve_box_qp(np.eye(3), np.ones(3), friction=[0.1, 0.2])
    with pytest.raises(pl.SolverError, match="not negative"):
        solve_box_qp(np.eye(3), np.ones(3), friction=[-0.1])
