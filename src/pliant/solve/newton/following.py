"""Pressures that follow the faces they act on: forces, work and stiffness within a step (C eq. 3.18)."""

import numpy as np

from pliant.checks import at_time
from pliant.meshes.face_rules import area_load_changes
from pliant.model.loads import pressure_forces

# Vectors of a solve with the pressures' stiffness, and the part of the error left by each solve without it.
MOST_VECTORS, INNER = 40, 0.1


class FollowingPressure:
    """What pressures do beyond their forces at the start of a step of length h, as a function of the nodes' velocities.

    They have no potential where their faces end. Their work is counted by the trapezoidal rule from the last iterate
    on, which is exact to second order in what is left to go.
    """

    def __init__(self, model, x: np.ndarray, h: float, time: float):
        self.model, self.x, self.h, self.time = model, x, h, time
        self.before = pressure_forces(model, x, time)
        self.base, self.base_force = np.zeros_like(x), np.zeros_like(x)

    def _force(self, v: np.ndarray) -> np.ndarray:
        return pressure_forces(self.model, self.x + self.h * v, self.time) - self.before

    def evaluate(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the work [J] since the last iterate, and the gradient (n, 3) [N s], at velocities v (n, 3)."""
        force = self._force(v)
        work = 0.5 * self.h * float(np.sum((self.base_force + force) * (v - self.base)))
        return -work, -self.h * force

    def go_on_from(self, v: np.ndarray) -> float:
        """Make v the last iterate; the value that `evaluate` had there, which is zero from now on."""
        value, gradient = self.evaluate(v)
        self.base, self.base_force = v.copy(), -gradient / self.h
        return value

    def stiffness_product(self, dv: np.ndarray) -> np.ndarray:
        """h^2 df/dx dv (n, 3) [N s] at the last iterate."""
        x, change = self.x + self.h * self.base, np.zeros_like(self.x)
        for faces, pressure in self.model.pressures:
            np.add.at(change, faces, -float(at_time(pressure, self.time)) * area_load_changes(x, dv, faces))
        return self.h * self.h * change


def solve_following(system, following: FollowingPressure, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """Solves (A - G) d = b with the system's A and the pressures' stiffness G, which is not symmetric: flexible GMRES
    with A^-1 as preconditioner. Returns d (triples, 3) and the iterations of the solves with A; zero, after none of
    them, where b is beyond all bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.sqrt(np.sum(b * b)))
    if not np.isfinite(size):
        return np.zeros_like(b), 0
    basis, answers, weights, iterations = [b / max(size, 1e-300)], [], [], 0
    hessenberg = np.zeros((MOST_VECTORS + 1, MOST_VECTORS))
    n = len(following.x)
    for k in range(MOST_VECTORS):
        answer, products = system.roughly_solve(basis[k], INNER)
        iterations += products
        w = system.product(answer)
        w[:n] -= system.free[:n] * following.stiffness_product(answer[:n])
        for j, vector in enumerate(basis):
            hessenberg[j, k] = float(np.sum(vector * w))
            w -= hessenberg[j, k] * vector
        hessenberg[k + 1, k] = float(np.sqrt(np.sum(w * w)))
        if not np.isfinite(hessenberg[: k + 2, k]).all():
            break
        answers.append(answer)
        part = hessenberg[: k + 2, : k + 1]
        goal = np.zeros(k + 2)
        goal[0] = size
        weights = np.linalg.lstsq(part, goal, rcond=None)[0]
        left = float(np.linalg.norm(part @ weights - goal))
        if left <= tolerance * size or hessenberg[k + 1, k] <= 1e-14:
            break
        basis.append(w / hessenberg[k + 1, k])
    return sum((weight * answer for weight, answer in zip(weights, answers)), np.zeros_like(b)), iterations
