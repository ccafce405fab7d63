"""Laws of materials at given deformation gradients: through the compiled kernels, and written out in NumPy.

The element is the unit corner: nodes 0, 1, 2 at e_x, e_y, e_z and node 3 at the origin, so that Dm = I, the rest
gradients of nodes 0, 1, 2 are the unit vectors, and the columns of W P are the energy's gradients of these nodes.
"""

import numpy as np

from pliant.formulas.hyperelastic import principal_stress
from pliant.formulas.svd import signed_svd
from pliant.kernels.cpu.hyperelastic import element_moduli, evaluate_elements
from pliant.kernels.cpu.stiffness import element_stiffness
from pliant.kernels.lanes import LANES, to_lanes
from pliant.kernels.laws import LAWS

# E = 1e6 Pa, nu = 0.3: the moduli of the published cases MAT-01 to MAT-05 [Pa]
YOUNG, POISSON = 1e6, 0.3
MU = YOUNG / (2 * (1 + POISSON))
LAM = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
CORNER = np.vstack([np.eye(3), np.zeros(3)])
# laws whose energy is infinite for inverted elements
BARRIERS = ("neohookean",)


def formulas(name: str):
    """psi, stress, dstress of a law as functions of the stretches (3,)."""

    def bound(function):
        return lambda s: np.array(function(tuple(map(float, s)), LAM, MU))

    return tuple(bound(function) for function in LAWS[name][1:4])


class Elements:
    """Separate tetrahedra of one law with rest shapes (m, 4, 3) [m]; states are node positions (m, 4, 3) [m]."""

    def __init__(self, name: str, rest: np.ndarray):
        self.count = len(rest)
        sides = (rest[:, :3] - rest[:, 3:]).transpose(0, 2, 1)  # Dm, columns X_k - X_3
        self.volume, self.inverse = np.linalg.det(sides) / 6, np.linalg.inv(sides)
        assert self.volume.min() > 0
        # types as in a model, so that its compiled code serves here too
        self.nodes = to_lanes(np.arange(4 * self.count, dtype=np.int32).reshape(-1, 4))
        self.gradients = to_lanes(self.inverse.reshape(-1, 9))
        self.weight = to_lanes(self.volume)[:, 0]
        self.law = LAWS[name][0](*(np.full(self.weight.shape, value) for value in (LAM, MU)))
        self.groups = len(self.weight)

    def evaluate(self, x: np.ndarray):
        """Energies of the groups (g,) [J] and gradients (m, 4, 3) [N]; frames are kept."""
        self.frames, slots = np.empty((self.groups, 21, LANES)), np.empty((self.groups, 12, LANES))
        energy = np.empty(self.groups)
        arguments = (np.ascontiguousarray(x.reshape(-1, 3)), self.nodes, self.gradients, self.weight)
        evaluate_elements(self.law, 0, self.groups, *arguments, self.frames, energy, slots)
        return energy, slots.transpose(0, 2, 1).reshape(-1, 4, 3)[: self.count]

    def stiffness(self, x: np.ndarray) -> np.ndarray:
        """Projected stiffness (m, 12, 12) [N/m]."""
        self.evaluate(x)
        blocks, moduli = np.empty((self.groups * LANES, 10, 9)), np.empty((self.groups, 12, LANES))
        element_moduli(self.law, 0, self.groups, self.frames, self.weight, True, moduli)
        nothing = np.zeros_like(self.weight)
        undamped = (False, self.gradients, np.zeros((self.groups, 9, LANES)), nothing, nothing, nothing)
        element_stiffness(self.frames, self.gradients, moduli, *undamped, blocks)
        full, pairs = np.empty((self.count, 12, 12)), [(i, j) for i in range(4) for j in range(i + 1)]
        for k, (i, j) in enumerate(pairs):
            block = blocks[: self.count, k].reshape(-1, 3, 3)
            full[:, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
            full[:, 3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.transpose(0, 2, 1)
        return full


def compiled(name: str, f: np.ndarray) -> tuple[float, np.ndarray]:
    """psi [J/m3] and P (3, 3) [Pa] at F (3, 3), as the solver's kernel has them."""
    energy, gradient = Elements(name, CORNER[None]).evaluate((CORNER @ np.asarray(f).T)[None])
    return 6 * float(energy[0]), 6 * gradient[0, :3].T


def spectral(name: str, f: np.ndarray) -> np.ndarray:
    """P (3, 3) [Pa] at F (3, 3) from signed_svd, the law's stress and principal_stress (not for the linear law)."""
    u, s, v = signed_svd(tuple(np.asarray(f, float).ravel()))
    return np.array(principal_stress(u, tuple(formulas(name)[1](s)), v)).reshape(3, 3)


# The laws as functions of F, in NumPy (theory section 4)


def rotation_of(f: np.ndarray) -> np.ndarray:
    """The nearest rotation, det R = +1, also of inverted F (theory section 4)."""
    u, _, vt = np.linalg.svd(f)
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def cofactor(f: np.ndarray) -> np.ndarray:
    """dJ/dF, the rows' cross products."""
    return np.array([np.cross(f[1], f[2]), np.cross(f[2], f[0]), np.cross(f[0], f[1])])


def direct_linear(f):
    e = (f + f.T) / 2 - np.eye(3)
    return MU * np.sum(e * e) + LAM / 2 * np.trace(e) ** 2, 2 * MU * e + LAM * np.trace(e) * np.eye(3)


def direct_corotated(f):
    r = rotation_of(f)
    trace = np.trace(r.T @ f) - 3
    return MU * np.sum((f - r) ** 2) + LAM / 2 * trace**2, 2 * MU * (f - r) + LAM * trace * r


def direct_arap(f):
    r = rotation_of(f)
    return MU * np.sum((f - r) ** 2), 2 * MU * (f - r)


def direct_stvk(f):
    e = (f.T @ f - np.eye(3)) / 2
    return MU * np.sum(e * e) + LAM / 2 * np.trace(e) ** 2, f @ (2 * MU * e + LAM * np.trace(e) * np.eye(3))


def direct_fixed_corotated(f):
    r, j = rotation_of(f), np.linalg.det(f)
    return MU * np.sum((f - r) ** 2) + LAM / 2 * (j - 1) ** 2, 2 * MU * (f - r) + LAM * (j - 1) * cofactor(f)


def direct_neohookean(f):
    j, i1 = np.linalg.det(f), np.sum(f * f)
    log, inverse = np.log(j), np.linalg.inv(f).T
    return MU / 2 * (i1 - 3) - MU * log + LAM / 2 * log**2, MU * (f - inverse) + LAM * log * inverse


def direct_stable_neohookean(f):
    """Smith, de Goes and Kim 2018, eq. 14, with m = 4/3 mu, l = lam + 5/6 mu."""
    m, l = 4 * MU / 3, LAM + 5 * MU / 6
    j, i1 = np.linalg.det(f), np.sum(f * f)
    psi = m / 2 * (i1 - 3) - m / 2 * np.log((i1 + 1) / 4) - 3 / 4 * m * (j - 1) + l / 2 * (j - 1) ** 2
    return psi, m * (1 - 1 / (i1 + 1)) * f + (l * (j - 1) - 3 / 4 * m) * cofactor(f)


# psi [J/m3] and P [Pa] from F (3, 3); a new law of the table LAWS needs its line here
DIRECT = {
    "linear": direct_linear,
    "corotated": direct_corotated,
    "arap": direct_arap,
    "stvk": direct_stvk,
    "fixed_corotated": direct_fixed_corotated,
    "neohookean": direct_neohookean,
    "stable_neohookean": direct_stable_neohookean,
}


# States


def rotation(random: np.random.Generator) -> np.ndarray:
    """A random rotation."""
    q, r = np.linalg.qr(random.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def rotated(s, random: np.random.Generator) -> np.ndarray:
    """U diag(s) V^T with random rotations."""
    return rotation(random) @ np.diag(s) @ rotation(random).T


def slope(function, x, axis: int, step: float) -> np.ndarray:
    """Central difference of order 6 along one entry of x: the error is step^6/140 times the seventh derivative."""
    total = 0.0
    for offset, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
        ahead, behind = np.array(x, float), np.array(x, float)
        ahead.flat[axis] += step * offset
        behind.flat[axis] -= step * offset
        total = total + weight * (np.asarray(function(ahead)) - np.asarray(function(behind))) / step
    return total
