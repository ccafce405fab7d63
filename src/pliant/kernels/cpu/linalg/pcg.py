"""Preconditioned conjugate gradients on a sliced matrix plus rows, the whole solve in one compiled call.

The operator is A + J^T G J: a sliced matrix (mass, elements) and row blocks (joints, contacts) that are not assembled.
Preconditioners are named tuples with one compiled `precondition` for each kind. Sums run over fixed chunks, so that
results do not depend on the number of threads.
"""

from importlib import import_module

import numpy as np
from numba import prange
from numba.extending import overload

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.augmented import apply_augmented
from pliant.kernels.cpu.linalg.block_ldl import solve_factored
from pliant.kernels.cpu.linalg.folds import add_folds, multiply_folded
from pliant.kernels.cpu.linalg.forest import solve_forest
from pliant.kernels.cpu.linalg.sliced import multiply_blocks, multiply_slices
from pliant.kernels.cpu.linalg.supernodes import solve_supernodes
from pliant.kernels.cpu.linalg.two_level import apply_two_level
from pliant.kernels.cpu.stiffness import add_slots
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import (
    Augmented,
    BlockJacobi,
    ElementMatrix,
    FactorPreconditioner,
    FoldedMatrix,
    ForestFactor,
    SupernodeFactor,
    TwoLevel,
)

# Slices that one thread takes at a time.
CHUNK = 8


def write_products(products, x, slots):
    """Slots of the stiffness of all sets times x. (Compiled code only.)"""
    raise TypeError(f"no compiled product for {products}")


@overload(write_products)
def _write_products(products, x, slots):
    if not len(products):
        return lambda products, x, slots: None
    module, name = products[0].instance_class.loop.split(".")
    write = getattr(import_module(f"pliant.kernels.cpu.{module}"), name)

    def implementation(products, x, slots):
        one = products[0]
        groups, components = one.places.shape[0], 3 * one.places.shape[1]
        own = slots[one.first : one.first + groups * components * LANES].reshape(groups, components, LANES)
        write(one.data, one.places, x, own)
        write_products(products[1:], x, slots)

    return implementation


@kernel
def add_products(matrix, free, x, out):
    """out += K x with the elements' stiffness K, for flat vectors; free is 0 where a component is prescribed."""
    write_products(matrix.products, x, matrix.slots)
    add_slots(matrix.slot_start, matrix.adjacency, matrix.node_places, matrix.slots, free, out)


def add_elements(matrix, free, x, out):
    """out += K x of what is not assembled, or apart. (Compiled code only.)"""
    raise TypeError(f"no compiled product for {type(matrix).__name__}")


@overload(add_elements)
def _add_elements(matrix, free, x, out):
    kind = getattr(matrix, "instance_class", None)
    if kind is ElementMatrix:
        return lambda matrix, free, x, out: add_products(matrix, free, x, out)
    if kind is FoldedMatrix:
        return lambda matrix, free, x, out: add_folds(matrix, free, x, out)
    return lambda matrix, free, x, out: None


@kernel
def add_rows(rows, free, x, out):
    """out += J^T G J x, for flat vectors x, out; free is 0 where a component is prescribed."""
    there, rate, force = np.empty((3, LANES)), np.empty((3, LANES)), np.empty((3, LANES))
    for s in range(rows.start.shape[0] - 1):
        for r in range(3):
            for lane in range(LANES):
                rate[r, lane] = 0.0
        for e in range(rows.start[s], rows.start[s + 1]):
            for lane in range(LANES):
                at = rows.offset[e, lane]
                there[0, lane], there[1, lane], there[2, lane] = x[at], x[at + LANES], x[at + 2 * LANES]
            for r in range(3):
                for lane in range(rows.jacobian.shape[2]):
                    rate[r, lane] += (
                        rows.jacobian[e, 3 * r, lane] * there[0, lane]
                        + rows.jacobian[e, 3 * r + 1, lane] * there[1, lane]
                        + rows.jacobian[e, 3 * r + 2, lane] * there[2, lane]
                    )
        g = rows.weight[s]
        for lane in range(rows.jacobian.shape[2]):
            r0, r1, r2 = rate[0, lane], rate[1, lane], rate[2, lane]
            force[0, lane] = g[0, lane] * r0 + g[5, lane] * r1 + g[4, lane] * r2
            force[1, lane] = g[5, lane] * r0 + g[1, lane] * r1 + g[3, lane] * r2
            force[2, lane] = g[4, lane] * r0 + g[3, lane] * r1 + g[2, lane] * r2
        for e in range(rows.start[s], rows.start[s + 1]):
            for c in range(3):
                for lane in range(rows.jacobian.shape[2]):
                    there[c, lane] = (
                        rows.jacobian[e, c, lane] * force[0, lane]
                        + rows.jacobian[e, 3 + c, lane] * force[1, lane]
                        + rows.jacobian[e, 6 + c, lane] * force[2, lane]
                    )
            for lane in range(LANES):  # several lanes may have a triple in common
                at = rows.offset[e, lane]
                out[at] += free[at] * there[0, lane]
                out[at + LANES] += free[at + LANES] * there[1, lane]
                out[at + 2 * LANES] += free[at + 2 * LANES] * there[2, lane]


@parallel_kernel
def _multiply_parallel(start, column, values, flat, out):
    slices = start.shape[0] - 1
    for chunk in prange((slices + CHUNK - 1) // CHUNK):
        first = chunk * CHUNK
        multiply_slices(first, min(first + CHUNK, slices), start, column, values, flat, out)


def multiply_parallel(matrix, free, x, out):
    """out (slices, 3, LANES) = A x for a flat vector, on several threads. (Compiled code only.)"""
    raise TypeError(f"no compiled product for {type(matrix).__name__}")


@overload(multiply_parallel)
def _multiply_all(matrix, free, x, out):
    if getattr(matrix, "instance_class", None) is FoldedMatrix:
        return lambda matrix, free, x, out: multiply_folded(matrix, free, x, out)

    def implementation(matrix, free, x, out):
        _multiply_parallel(matrix.start, matrix.column, matrix.values, x, out)
        add_elements(matrix, free, x, out.reshape(-1))

    return implementation


@kernel
def multiply(matrix, rows, free, x, out, parallel):
    """out = (A + J^T G J) x for vectors (slices, 3, LANES), on several threads if `parallel`."""
    slices, flat = matrix.start.shape[0] - 1, x.reshape(-1)
    if parallel:
        multiply_parallel(matrix, free.reshape(-1), flat, out)
    else:
        multiply_slices(0, slices, matrix.start, matrix.column, matrix.values, flat, out)
        add_elements(matrix, free.reshape(-1), flat, out.reshape(-1))
    add_rows(rows, free.reshape(-1), flat, out.reshape(-1))


@kernel
def dot_slices(a, b):
    """Sum of products in float64, over fixed chunks."""
    total = 0.0
    for s in range(a.shape[0]):
        part = np.float64(0.0)
        for c in range(3):
            for lane in range(a.shape[2]):
                part += np.float64(a[s, c, lane]) * np.float64(b[s, c, lane])
        total += part
    return total


def precondition(preconditioner, r, z):
    """z = M^-1 r. (Compiled code only: the overload below says how for each kind.)"""
    raise TypeError(f"no compiled preconditioner for {type(preconditioner).__name__}")


@kernel
def apply_block_jacobi(preconditioner, r, z):
    """z = D^-1 r, block by block."""
    multiply_blocks(preconditioner.inverse, r, z)


def solve_any(factor, x):
    """x = A^-1 x by factors of A, of columns, trees or panels. (Compiled code only.)"""
    raise TypeError(f"no compiled solve for {type(factor).__name__}")


@overload(solve_any)
def _solve_any(factor, x):
    if factor.instance_class is SupernodeFactor:
        return lambda factor, x: solve_supernodes(factor, x)
    if factor.instance_class is ForestFactor:
        return lambda factor, x: solve_forest(factor, x)
    return lambda factor, x: solve_factored(factor, x)


@kernel
def apply_factor(preconditioner, r, z):
    """z = (L D L^T)^-1 r."""
    flat_r, flat_z = r.reshape(-1), z.reshape(-1)
    offset, work = preconditioner.offset, preconditioner.work
    for i in range(offset.shape[0]):
        for c in range(3):
            work[i, c] = flat_r[offset[i] + c * LANES]
    solve_any(preconditioner.factor, work)
    z[:] = 0
    for i in range(offset.shape[0]):
        for c in range(3):
            flat_z[offset[i] + c * LANES] = work[i, c]


COMPILED_PRECONDITIONERS = {
    BlockJacobi: apply_block_jacobi,
    TwoLevel: apply_two_level,
    Augmented: apply_augmented,
    FactorPreconditioner: apply_factor,
}


@overload(precondition)
def _precondition(preconditioner, r, z):
    product = COMPILED_PRECONDITIONERS.get(getattr(preconditioner, "instance_class", None))
    if product is None:
        return None

    def implementation(preconditioner, r, z):
        product(preconditioner, r, z)

    return implementation


@kernel
def solve_pcg(matrix, rows, free, preconditioner, b, x_out, work, tolerance, max_iterations, parallel, lowest):
    """Solves (A + J^T G J) x = b from zero until sqrt(r^T M^-1 r) has fallen to `tolerance` of its start.

    b is zero where free (slices, 3, LANES) is. work (4, slices, 3, LANES). lowest: 0, or a lower bound of the spectrum
    of the preconditioned matrix: then until the error in the energy norm is at most `tolerance` of the solution, by its
    upper bound of Gauss and Radau (Meurant and Tichy 2013, "On computing quadrature-based bounds for the A-norm of the
    error in conjugate gradients", section 4). Returns the iterations, the part of the residual that is left, and
    whether the matrix turned out not to be positive definite.
    """
    r, z, p, q = work[0], work[1], work[2], work[3]
    for s in range(b.shape[0]):  # loops: assigned slices compile slowly
        for c in range(3):
            for lane in range(LANES):
                x_out[s, c, lane], r[s, c, lane] = 0, b[s, c, lane]
    precondition(preconditioner, r, z)
    for s in range(b.shape[0]):
        for c in range(3):
            for lane in range(LANES):
                p[s, c, lane] = z[s, c, lane]
    rz = dot_slices(r, z)
    first, iterations = rz, 0
    if not rz > 0.0:
        return 0, 0.0, rz < 0.0
    bound, energy = (1.0 / lowest if lowest > 0.0 else 0.0), 0.0
    while iterations < max_iterations and (
        bound * rz > tolerance * tolerance * energy if lowest > 0.0 else rz > tolerance * tolerance * first
    ):
        multiply(matrix, rows, free, p, q, parallel)
        curvature = dot_slices(p, q)
        if not curvature > 0.0:
            return iterations, np.sqrt(max(rz, 0.0) / first), True
        alpha = x_out.dtype.type(rz / curvature)
        for s in range(p.shape[0]):
            for c in range(3):
                for lane in range(p.shape[2]):
                    x_out[s, c, lane] += alpha * p[s, c, lane]
                    r[s, c, lane] -= alpha * q[s, c, lane]
        precondition(preconditioner, r, z)
        new = dot_slices(r, z)
        beta = x_out.dtype.type(new / rz)
        if lowest > 0.0:
            energy += rz / curvature * rz
            over = bound - rz / curvature
            bound = over / (lowest * over + new / rz) if over > 0.0 else 1.0 / lowest
        rz = new
        for s in range(p.shape[0]):
            for c in range(3):
                for lane in range(p.shape[2]):
                    p[s, c, lane] = z[s, c, lane] + beta * p[s, c, lane]
        iterations += 1
    return iterations, np.sqrt(max(rz, 0.0) / first), rz < 0.0
