"""L D L^T on several threads, by parts of the elimination forest that know nothing of each other."""

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.block_ldl import factorise_run, solve_run


@parallel_kernel
def factorise_forest(runs, column_start, row, parent, start, values, row_out, lower_out, pivot_out):
    """As `block_ldl.factorise`, by runs (r + 1,) of columns that have nothing to do with each other; then those after
    the last run, which may have to do with all."""
    n = column_start.shape[0] - 1
    out = (np.zeros(n, np.int64), row_out, lower_out, pivot_out)
    for run in prange(runs.shape[0] - 1):
        begin, end = runs[run], runs[run + 1]
        factorise_run(begin, begin, end, column_start, row, parent, start, values, *out)
    if runs[-1] < n:
        factorise_run(0, runs[-1], n, column_start, row, parent, start, values, *out)


@parallel_kernel
def _solve_runs(runs, factor, z, x):
    for run in prange(runs.shape[0] - 1):
        solve_run(runs[run], runs[run + 1], factor, z, x)


@kernel
def solve_forest(factor, x_inout):
    """x = A^-1 x for x (n, 3), nodes in their own order."""
    _solve_runs(factor.runs, factor, np.empty(x_inout.shape), x_inout)
