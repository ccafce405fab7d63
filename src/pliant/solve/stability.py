"""How long an explicit step may be: the largest frequency of a scene, and what a method makes of it."""

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from pliant.linalg.connectivity import lower_pairs
from pliant.rotations import rotation_matrix
from pliant.solve.matrices import element_blocks

# Displacement, relative to the size of the bodies, of the differences that stand for the stiffness matrix.
DIFFERENCE = 1e-6
SAMPLES = 1200


def largest_frequency(model, forces, state) -> float:
    """The largest w [rad/s] of M^-1 K at the state, by Lanczos' method on differences of the elastic forces; 0 when
    nothing can move or the forces are not finite."""
    root = np.where(model.free > 0, 1 / np.sqrt(model.node_mass)[:, None], 0.0)
    size = DIFFERENCE * float(np.ptp(state.x, axis=0).max())
    still = np.zeros_like(state.x)
    if not root.any() or not np.isfinite(forces(model, state.x, still, state.plastic_strain)).all():
        return 0.0

    def product(vector):
        """M^-1/2 K M^-1/2 y."""
        move = root * vector.reshape(-1, 3)
        length = np.abs(move).max(initial=0.0)
        if length == 0.0:
            return np.zeros_like(vector)
        away = (size / length) * move
        before = forces(model, state.x - away, still, state.plastic_strain)
        after = forces(model, state.x + away, still, state.plastic_strain)
        return (root * (before - after)).ravel() * (length / (2 * size))

    count = 3 * model.node_count
    start = np.sin(1.0 + np.arange(count) ** 2)  # any direction, but always the same
    operator = LinearOperator((count, count), matvec=product, dtype=float)
    try:
        squares = eigsh(operator, k=1, which="LM", tol=1e-2, v0=start, return_eigenvectors=False)
    except ArpackNoConvergence as failure:
        squares = failure.eigenvalues
    return float(np.sqrt(np.abs(squares).max(initial=0.0)))


def largest_rod_frequency(model, state) -> float:
    """The largest w [rad/s] of rods at the state; 0 without any. A bound: the largest of single segments with the
    masses at their ends (Irons and Treharne 1971)."""
    own = model.rods.set
    if own is None:
        return 0.0
    blocks = element_blocks(model, state)[own.first_block :].reshape(-1, own.kind.pairs, 9)[own.lanes]
    matrix = np.zeros((own.count, 4, 3, 4, 3))
    for place, (i, j) in enumerate(lower_pairs(own.kind.nodes)):
        block = blocks[:, place].reshape(-1, 3, 3)
        matrix[:, i, :, j] = block
        matrix[:, j, :, i] = block.transpose(0, 2, 1)
    bodies = (own.connectivity[:, [0, 2]] - model.node_count) // 2
    shared = np.bincount(bodies.ravel(), minlength=model.body_count)  # a point's mass is shared by its segments
    inverse = inverse_masses(model, state)[own.connectivity] * np.repeat(shared[bodies], 2, axis=1)[:, :, None, None]
    product = np.einsum("maij,majbk->maibk", inverse, matrix).reshape(-1, 12, 12)
    return float(np.sqrt(np.abs(np.linalg.eigvals(product)).max(initial=0.0)))


def inverse_masses(model, state) -> np.ndarray:
    """Inverse masses (triples, 3, 3), zero for what is static; nodes are left out."""
    out, n = np.zeros((model.triple_count, 3, 3)), model.node_count
    for b in np.flatnonzero(~model.static):
        turn = rotation_matrix(state.body_rotation[b])
        out[n + 2 * b] = np.eye(3) / model.body_mass[b]
        out[n + 2 * b + 1] = (turn / model.body_inertia[b]) @ turn.T
    return out


def amplification(method: str, h: float, frequency: float, damping: float) -> float:
    """Spectral radius of one step of x'' = -w^2 (x + beta x'): above 1 the oscillation grows."""
    square = frequency * frequency
    if method == "symplectic":
        step = np.array([[1 - h * damping * square, -h * square]])
        return _radius(np.concatenate([step, [[0, 1]] + h * step]))
    z = h * np.array([[-damping * square, -square], [1.0, 0.0]])
    order = {"rk2": 2, "rk4": 4}[method]
    matrix = term = np.eye(2)
    for k in range(1, order + 1):
        term = term @ z / k
        matrix = matrix + term
    return _radius(matrix)


def _radius(matrix: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def largest_safe_step(method: str, frequency: float, damping: float = 0.0) -> float:
    """The longest h [s] up to which no step lets the oscillation grow; 0 when there is none (rk2 without damping).

    Without damping 2/w for symplectic Euler and 2.83/w for rk4.
    """
    if frequency == 0.0:
        return np.inf
    if method == "rk2" and damping == 0.0:  # grows by 1 + (w h)^4 / 8 in every step
        return 0.0
    # strong damping needs far shorter steps than the oscillation itself: from 2 / (beta w^2) down
    shortest = 1e-3 * min(1.0, 1.0 / max(damping * frequency, 1e-300)) / frequency
    steps = np.geomspace(shortest, 3.0 / frequency, SAMPLES)
    safe = [amplification(method, h, frequency, damping) <= 1 + 1e-9 for h in steps]
    first_bad = safe.index(False) if False in safe else SAMPLES
    return 0.0 if first_bad == 0 else float(steps[first_bad - 1])
