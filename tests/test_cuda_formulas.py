"""The formulas compile for CUDA and give the CPU's numbers: nothing in formulas/ may grow CPU-only."""

import numpy as np
import pytest

from pliant.formulas.contact import (
    bounded_impulse,
    box_distance,
    capsule_distance,
    cone_impulse,
    contact_target,
    cylinder_distance,
)
from pliant.formulas.coordinates import hinge_angle
from pliant.formulas.elements import (
    corotated_strain,
    element_compliance,
    element_impulses,
    plastic_update,
    stiffness_block,
    strain_rate,
)
from pliant.formulas.hyperelastic import (
    nodal_gradients,
    positive_moduli,
    principal_block,
    stress_differential,
    world_block,
)
from pliant.formulas.joints import face_jacobian, face_normal, soft_row, tangent_frame, turning_stiffness
from pliant.formulas.matrix3 import symmetric_inverse
from pliant.formulas.rotation import (
    inverse_turn_jacobian,
    midpoint_newton,
    quaternion_matrix,
    quaternion_multiply,
    rotation_increment,
    turn_jacobian,
)
from pliant.formulas.svd import nearest_rotation
from pliant.jit import kernel
from pliant.kernels.laws import LAWS, deform, stiffness_moduli

OUTPUTS = 88


def evaluate(data, out):
    """All element and row formulas on twelve numbers; the same Python function is compiled for CPU and CUDA."""
    f = (data[0], data[1], data[2], data[3], data[4], data[5], data[6], data[7], data[8])
    a, b = (data[0], data[1], data[2]), (data[9], data[10], data[11])
    basis = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    r = nearest_rotation(f)
    e = corotated_strain(f, r, basis)
    rate = strain_rate(f, r, basis)
    impulse = element_impulses(e, r, f, basis)
    compliance = element_compliance(e, 0.7, -0.2, (1.0, 1.0, 1.0))
    plastic = plastic_update(e, rate, 0.05, 0.3, 0.4)
    block = stiffness_block(a, b, 2.0, 1.5)
    n, length = face_normal(a, (data[3], data[4], data[5]), b)
    face = face_jacobian(0.3, 0.2, b, n, length)
    softness, factor = soft_row(1e-3, 10.0, 0.01)
    t1, t2 = tangent_frame(n)
    inverse = symmetric_inverse((3.0 + e[0], 4.0 + e[1], 5.0 + e[2], 0.1 * e[3], 0.1 * e[4], 0.1 * e[5]))
    q = quaternion_multiply(rotation_increment(0.01, a), rotation_increment(0.02, b))
    mid = midpoint_newton((1.0, 2.0, 3.0), a, b, 0.01)
    d1, n1 = box_distance(a, (0.3, 0.4, 0.5))
    d2, n2 = capsule_distance(a, 0.2, 0.3)
    d3, n3 = cylinder_distance(b, 0.2, 0.3)
    for i in range(9):
        out[i], out[9 + i], out[18 + i], out[27 + i] = r[i], impulse[i], block[i], face[i]
    for i in range(6):
        out[36 + i], out[42 + i], out[48 + i] = e[i], rate[i], compliance[i]
        out[54 + i], out[60 + i] = plastic[i], inverse[i]
    for i in range(4):
        out[66 + i] = q[i]
    for i in range(3):
        out[70 + i], out[73 + i], out[76 + i] = t1[i], t2[i], mid[i]
        out[79 + i] = n1[i] + n2[i] + n3[i]
    out[82], out[83], out[84] = d1, d2, d3
    out[85], out[86], out[87] = softness, factor, length


def on_cpu(data):
    compiled = kernel(evaluate)
    out = np.empty((len(data), OUTPUTS))
    for row, result in zip(data, out):
        compiled(row, result)
    return out


def test_formulas_on_cuda_match_the_cpu(monkeypatch):
    # NumPy 2.5 removed a name that numba-cuda 0.30 still looks up
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    if not cuda.is_available():
        pytest.skip("no CUDA device on this machine: formulas were not compared on a GPU")
    compiled = cuda.jit(device=True)(evaluate)

    @cuda.jit
    def launch(data, out):
        i = cuda.grid(1)
        if i < data.shape[0]:
            compiled(data[i], out[i])

    rng = np.random.default_rng(0)
    data = rng.normal(size=(1000, 12))
    out = cuda.device_array((len(data), OUTPUTS))
    launch[(len(data) + 127) // 128, 128](cuda.to_device(data), out)
    found, expected = out.copy_to_host(), on_cpu(data)
    assert np.all(np.isfinite(found))
    # the same float64 formulas; only the order of fused multiply-adds differs
    scale = np.maximum(np.abs(expected), 1.0)
    assert np.max(np.abs(found - expected) / scale) < 1e-9


def test_the_cpu_side_of_the_comparison_is_finite_and_right():
    """What CUDA is compared with: rotations are rotations."""
    data = np.random.default_rng(1).normal(size=(50, 12))
    out = on_cpu(data)
    assert np.all(np.isfinite(out))
    rotation = out[:, :9].reshape(-1, 3, 3)
    assert np.allclose(rotation @ rotation.transpose(0, 2, 1), np.eye(3), atol=1e-12)


# What Newton's method needs beyond that: every law through the compiled dispatch, moduli and their projection,
# stiffness blocks and products, impulses of rows and cones, joints where a step leads.
LAW_OUTPUTS, NEWTON_OUTPUTS = 61, 57


def law_formulas(parameters):
    """A function of a law's parameters (n,), a row of data and its number: everything an element asks of its law."""

    def evaluate_law(lam, mu, data, i, out):
        law = parameters(lam, mu)
        f = (data[0], data[1], data[2], data[3], data[4], data[5], data[6], data[7], data[8])
        u, s, v, p, e = deform(law, f, 0, i)
        a, symmetric, skew = stiffness_moduli(law, s, 0, i)
        b, positive, turned = positive_moduli(a, symmetric, skew)
        block = world_block(
            u, principal_block((data[9], data[10], data[11]), (data[0], data[4], data[8]), b, positive, turned)
        )
        change = stress_differential(f, u, v, a, symmetric, skew)
        forces = nodal_gradients(p, f)
        for k in range(9):
            out[k], out[9 + k], out[18 + k], out[27 + k] = p[k], block[k], change[k], forces[k]
        for k in range(6):
            out[36 + k], out[42 + k] = a[k], b[k]
        for k in range(3):
            out[48 + k], out[51 + k], out[54 + k], out[57 + k] = symmetric[k], skew[k], positive[k], turned[k]
        out[60] = e

    return evaluate_law


def newton_formulas(data, out):
    """Rows, cones and joints on twelve numbers."""
    a, b, c = (data[0], data[1], data[2]), (data[3], data[4], data[5]), (data[6], data[7], data[8])
    l, g, e = cone_impulse(a, 0.6, 0.3, 0.2)
    bounded, slope, energy = bounded_impulse(data[9], 3.0, -0.5, 0.5)
    first, second = quaternion_matrix(rotation_increment(1.0, b)), quaternion_matrix(rotation_increment(1.0, c))
    angle, turn = hinge_angle(first, second, 0.2)
    stiffness = turning_stiffness(a, b)
    t, inverse = turn_jacobian(a), inverse_turn_jacobian(b)
    target = contact_target(data[9], 0.0, data[11], data[10], 0.5, 0.1, 0.01)
    for k in range(3):
        out[k], out[3 + k] = l[k], turn[k]
    for k in range(6):
        out[6 + k], out[12 + k] = g[k], stiffness[k]
    for k in range(9):
        out[18 + k], out[27 + k], out[36 + k], out[45 + k] = t[k], inverse[k], first[k], second[k]
    out[54], out[55], out[56] = e + bounded + slope + energy, angle, target


def compared(function, outputs, data, *constants):
    """Numbers (n, outputs) of a function on the GPU and on the CPU; constants: arrays that it takes first, and then the
    number of its row."""
    from numba import cuda

    compiled, on_host = cuda.jit(device=True)(function), kernel(function)
    out, expected = cuda.device_array((len(data), outputs)), np.empty((len(data), outputs))
    if constants:

        @cuda.jit
        def launch(lam, mu, data, out):
            i = cuda.grid(1)
            if i < data.shape[0]:
                compiled(lam, mu, data[i], i, out[i])

        for i in range(len(data)):
            on_host(*constants, data[i], i, expected[i])
    else:

        @cuda.jit
        def launch(data, out):
            i = cuda.grid(1)
            if i < data.shape[0]:
                compiled(data[i], out[i])

        for i in range(len(data)):
            on_host(data[i], expected[i])
    arrays = [cuda.to_device(array) for array in (*constants, data)]
    launch[(len(data) + 127) // 128, 128](*arrays, out)
    return out.copy_to_host(), expected


def need_cuda(monkeypatch):
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    if not cuda.is_available():
        pytest.skip("no CUDA device on this machine: Newton's formulas were not compared on a GPU")


def near(found, expected):
    """Equal up to the order of fused multiply-adds; what is no number is so on both."""
    assert np.array_equal(np.isfinite(found), np.isfinite(expected))
    there = np.isfinite(expected)
    scale = np.maximum(np.abs(expected), np.abs(np.where(there, expected, 0)).max(axis=1, keepdims=True))
    return float(np.max(np.abs(found - expected)[there] / scale[there]))


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.volume])
def test_laws_on_cuda_match_the_cpu(name, monkeypatch):
    """States near rest, stretched, flat and inverted."""
    need_cuda(monkeypatch)
    rng = np.random.default_rng(2)
    data = rng.normal(size=(500, 12))
    data[:300, :9] = np.eye(3).ravel() + 0.3 * data[:300, :9]
    lam, mu = rng.uniform(0.5, 2, (1, 500)), rng.uniform(0.5, 2, (1, 500))
    found, expected = compared(law_formulas(LAWS[name].parameters), LAW_OUTPUTS, data, lam, mu)
    assert near(found, expected) < 1e-7  # moduli divide differences of stretches


def test_newtons_rows_and_joints_on_cuda_match_the_cpu(monkeypatch):
    need_cuda(monkeypatch)
    data = np.random.default_rng(3).normal(size=(1000, 12))
    found, expected = compared(newton_formulas, NEWTON_OUTPUTS, data)
    assert near(found, expected) < 1e-9
