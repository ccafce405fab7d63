"""Loops over many rigid bodies, as points of rods are, on several threads; those of few would take longer."""

from numba import prange

from pliant.jit import parallel_kernel
from pliant.kernels.cpu.rigid import integrate_bodies, predict_bodies

# Bodies that a thread takes at a time.
TOGETHER = 512


@parallel_kernel
def predict_many(
    mass, inertia, static, rotation, angular_velocity, kicks, tension, h, late, momentum_out, mid_out, inverse_out
):
    """As `rigid.predict_bodies`."""
    for part in prange((mass.shape[0] + TOGETHER - 1) // TOGETHER):
        a, b = part * TOGETHER, min((part + 1) * TOGETHER, mass.shape[0])
        motion = (rotation[a:b], angular_velocity[a:b], kicks[a:b], tension[a:b], h, late)
        predict_bodies(mass[a:b], inertia[a:b], static[a:b], *motion, momentum_out[a:b], mid_out[a:b], inverse_out[a:b])


@parallel_kernel
def integrate_many(inertia, static, momentum, mid, turn, late, h, rotation_inout, angular_velocity_out):
    """As `rigid.integrate_bodies`."""
    for part in prange((static.shape[0] + TOGETHER - 1) // TOGETHER):
        a, b = part * TOGETHER, min((part + 1) * TOGETHER, static.shape[0])
        motion = (momentum[a:b], mid[a:b], turn[a:b], late[a:b], h)
        integrate_bodies(inertia[a:b], static[a:b], *motion, rotation_inout[a:b], angular_velocity_out[a:b])
