"""The matrix of Newton's method against a dense sum of the elements' blocks."""

import numpy as np
import pytest

import pliant as pl
from pliant.linalg.pcg import multiply
from pliant.rows.table import Rows
from pliant.solve.primal_system import ELEMENT_PAIRS, PrimalSystem

# numbers of nodes 27, 32, 48, 64: some fill whole lanes of 16, so that the last place of the last slice is a node
CELLS = ((2, 2, 2), (1, 3, 3), (2, 3, 3), (3, 3, 3))


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("linear", ["cholesky", "pcg"])
def test_assembled_matrix_is_the_sum_of_its_parts(cells, linear):
    """A = M + sum of element blocks with prescribed rows and columns of the unit matrix: rounding of the matrix's
    precision, float64 with factors, else float32."""
    random = np.random.default_rng(1)
    scene = pl.Scene()
    body = scene.add_soft(pl.meshes.box((1.0, 1.0, 1.0), cells=cells), pl.Material.corotated(1e5, 0.3, 1000))
    body.pin(body.nodes.x < 0.01, axes="xz")
    model = scene.simulate(dt=0.01, threads=1).model
    system = PrimalSystem(model, Rows.empty(model.joints.start), linear)
    n, lanes = model.triple_count, np.flatnonzero(model.volume.ravel() > 0)
    mass = random.uniform(1, 2, (n, 1, 1)) * np.eye(3)
    dense = np.zeros((n, 3, n, 3))
    dense[np.arange(n), :, np.arange(n)] += mass
    for lane, tet in zip(lanes, model.tets):
        half = random.normal(size=(12, 12))
        whole = half @ half.T
        for k, (i, j) in enumerate(ELEMENT_PAIRS):
            system.blocks[lane, k] = whole[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].ravel()
        for i, a in enumerate(tet):
            for j, b in enumerate(tet):
                dense[a, :, b] += whole[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
    dense = dense.reshape(3 * n, 3 * n) * np.outer(system.free, system.free) + np.diag(1 - system.free.ravel())
    rows = Rows.empty(model.joints.start)
    system.assemble(mass, rows, np.zeros((rows.slices, 6, 16)), model.rest)
    x = random.normal(size=(n, 3))
    packed = system.pattern.pack(x, system.dtype)
    out = np.empty_like(packed)
    multiply(system.matrix, system.rows, system.packed_free, packed, out, False)
    rounding = 100 * np.finfo(system.dtype).eps
    assert np.abs(system.pattern.unpack(out).ravel() - dense @ x.ravel()).max() <= rounding * np.abs(dense).max()
    right = system.free * random.normal(size=(n, 3))
    answer, _ = system.solve(right, 1e-5)
    assert np.linalg.norm(dense @ answer.ravel() - right.ravel()) <= 1e-3 * np.linalg.norm(right)
