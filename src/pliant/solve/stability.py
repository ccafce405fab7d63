"""How long an explicit step may be: the largest frequency of a scene, and what a method makes of it."""

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

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
