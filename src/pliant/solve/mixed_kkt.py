"""T's own global step: conjugate gradients on its KKT system with a constant, factorised preconditioner (T 3.2.1).

With velocities u, multipliers l of all tets times their volumes, J taking u to rates of F and C = W H^-1 W^T + K, the
system of theory section 6 is

    M du + h J^T l = M (u* - u),    h J du - C l = R S - F - C R g

Its preconditioner has 1/mu in place of C. Once the first row holds it holds in every iteration, and what is iterated is
(C + h^2 J M^-1 J^T) l, with the inverse of (1/mu + h^2 J M^-1 J^T) by the factors of M + h^2 J^T mu J, which couples no
two axes. K acts in the three directions of turns, of which H says nothing. (T has 1e-6 in all nine: then stiff bodies
are as soft as that, and others hardly turn.) What l has in these is of K, not of the law, so that rotations by T's rule
follow the stress of the quadratic instead.
"""

import numpy as np
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import splu

from pliant.elements.mixed import MixedPotential
from pliant.errors import SceneError
from pliant.kernels.lanes import LANES

# Compliance of turns relative to 1/mu, and iterations at most.
SOFTNESS, MOST_ITERATIONS = 20.0, 500


def refuse_beyond_kkt(model) -> None:
    """Tets of four nodes alone, which nothing holds but pins."""
    kinds = [own.kind.name for own in model.elements.sets if own.kind.stretches != "tets"]
    trouble = kinds[0] if kinds else "damping" if model.elements.damped else ""
    trouble = trouble or ("joints" if model.joint_names else "rigid bodies" if len(model.static) else "")
    trouble = trouble or ("contacts (see collide=False)" if model.may_touch else "pressures" if model.pressures else "")
    if trouble or not model.elements.sets:
        what = trouble or "a scene without soft bodies"
        raise SceneError(f"pliant.Mixed(system='kkt') has no place for {what}; use system='reduced'")


class KktSystem:
    """The KKT system of a model, with the factors of its preconditioner for steps of one length."""

    def __init__(self, model, elements: MixedPotential, free: np.ndarray):
        self.model, self.elements, self.free, self.h = model, elements, free[: model.node_count], 0.0
        self.parts = list(zip(model.elements.sets, elements.expansions))
        mu, volume = (np.concatenate([getattr(own, name) for own, _ in self.parts]) for name in ("mu", "volume"))
        there = volume > 0
        self.stiffness = np.where(there, mu * volume, 0.0)[:, None]  # C0^-1
        self.softness = np.divide(SOFTNESS, mu * volume, out=np.zeros_like(mu), where=there)

    def _factorise(self, h: float, mass: np.ndarray) -> None:
        """Factors of M + h^2 J^T mu J over the free nodes of each axis."""
        count = self.model.node_count
        self.h, self.mass = h, mass[:count, [0, 1, 2], [0, 1, 2]]
        rows, columns, values = [], [], []
        for own, _ in self.parts:
            gradients, nodes = own.element_gradients[:, 0], own.connectivity
            weight = own.point_values((own.mu * own.volume)[:, None])[:, 0, 0]
            values.append(np.einsum("e,eic,ejc->eij", weight, gradients, gradients))
            rows.append(np.broadcast_to(nodes[:, :, None], values[-1].shape))
            columns.append(np.broadcast_to(nodes[:, None], values[-1].shape))
        flat = [np.concatenate([part.ravel() for part in parts]) for parts in (values, rows, columns)]
        laplacian = coo_matrix((flat[0], (flat[1], flat[2])), shape=(count, count)).tocsr()
        self.factors, known = [], {}
        for axis in range(3):
            free = self.free[:, axis]
            key = (free.tobytes(), self.mass[:, axis].tobytes())
            if key not in known:
                held = diags(free) @ (diags(self.mass[:, axis]) + h * h * laplacian) @ diags(free) + diags(1 - free)
                known[key] = splu(held.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
            self.factors.append(known[key])

    def solve(self, potential, u: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """The change (triples, 3) of velocities u, and iterations; rotations and stretches are those of the
        elements."""
        if self.h != potential.h:
            self._factorise(potential.h, potential.mass)
        h, loose = self.h, (potential.push / self.mass - u) * self.free  # what u changes by without multipliers
        self._turn()
        l, right = self._start(self._rates(potential.x + h * (u + loose)))
        r = right - self._product(l)
        z = self._precondition(r)
        p, rz = z, self._dot(r, z)
        first, iterations = rz, 0
        while rz > tolerance * tolerance * first and iterations < MOST_ITERATIONS:
            q = self._product(p)
            alpha = rz / self._dot(p, q)
            l, r = l + alpha * p, r - alpha * q
            z = self._precondition(r)
            new = self._dot(r, z)
            p, rz, iterations = z + new / rz * p, new, iterations + 1
        return loose - h * self._forces(l) / self.mass, iterations

    def _dot(self, a: np.ndarray, b: np.ndarray) -> float:
        return float(np.vdot(a, b))

    def _turn(self) -> None:
        """Frames of all points with their rotations."""
        for _, own in self.parts:
            own.kernels.turn_points(
                own.rotation, own.frames, own.moduli, 1.0, own.turned, own.turned_moduli, *own.assembled[:2]
            )

    def _start(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Stresses R g of the law (points, 9, LANES) times volume, and F - R S + C R g, with F in `right`."""
        l = np.zeros_like(right)
        for own, there in self.parts:
            r, s = (part.reshape(-1, 3, 3, LANES) for part in (there.rotation, there.stretch))
            right[own.points] -= np.einsum("gikl,gkjl->gijl", r, s).reshape(-1, 9, LANES)
            u, v = (there.turned[:, first : first + 9].reshape(-1, 3, 3, LANES) for first in (0, 12))
            l[own.points] = np.einsum("gikl,gkl,gjkl->gijl", u, there.principal, v).reshape(-1, 9, LANES)
        self._add_compliance(l, right)
        return l, right

    def _add_compliance(self, l: np.ndarray, out: np.ndarray) -> None:
        for own, there in self.parts:
            numbers = (there.turned, there.turned_moduli, self.softness[own.points])
            there.kernels.add_compliance(*numbers, l[own.points], out[own.points])

    def _rates(self, v: np.ndarray) -> np.ndarray:
        """J v (points, 9, LANES)."""
        out = np.empty((self.model.elements.point_groups, 9, LANES))
        for own, there in self.parts:
            there.kernels.tet_gradients(v, own.nodes, own.gradients, out[own.points])
        return out

    def _forces(self, l: np.ndarray) -> np.ndarray:
        """J^T l (n, 3) on free components."""
        for own, there in self.parts:
            there.kernels.scatter_tets(l[own.points], own.gradients, own.own_slots(self.elements.slots))
        return self.elements._gathered() * self.free

    def _product(self, l: np.ndarray) -> np.ndarray:
        """(C + h^2 J M^-1 J^T) l."""
        out = self.h**2 * self._rates(self._forces(l) / self.mass)
        self._add_compliance(l, out)
        return out

    def _precondition(self, r: np.ndarray) -> np.ndarray:
        """(C0 + h^2 J M^-1 J^T)^-1 r with C0 = 1/mu, by the factors."""
        z = self.stiffness * r
        b = self._forces(z)
        x = np.stack([self.factors[axis].solve(b[:, axis]) for axis in range(3)], axis=1)
        return z - self.stiffness * (self.h**2 * self._rates(x * self.free))
