"""What tests of the device "cuda" share: whether there is one, and scenes that it can do."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import DeviceError
from pliant.kernels.device import device


def missing() -> str:
    """Why there is no device "cuda" here; empty if there is."""
    try:
        device("cuda").check()
    except DeviceError as error:
        return str(error)
    return ""


WHY_NOT = missing()


def need_gpu() -> None:
    """Skip all tests of a module where there is no GPU."""
    if WHY_NOT:
        pytest.skip(f"no tests on a GPU: {WHY_NOT}", allow_module_level=True)


def block(law: str = "corotated", cells=(6, 2, 2), **options):
    """A clamped block of a law, and the body."""
    scene = pl.Scene()
    young = options.pop("young", 1e5)
    material = getattr(pl.Material, law)(young=young, poisson=0.3, density=1000.0, **options)
    body = scene.add_soft(pl.meshes.box((0.6, 0.2, 0.2), cells=cells), material, name=law)
    body.pin(body.nodes.x < 1e-9)
    return scene, body


def both(scene, steps: int, dt: float = 0.01, **options) -> tuple:
    """The scene after so many steps on the GPU and on the CPU, each solved to 1e-7."""
    solver = pl.Newton(**{"tolerance": 1e-7, "linear": "pcg", **options})
    return tuple(scene.simulate(dt, solver=solver, device=name).step(steps) for name in ("cuda", "cpu"))


def distance(a, b, body) -> float:
    """Largest distance of a body's nodes in two simulations, relative to how far the second has moved them."""
    moved = np.abs(b.positions(body) - body.nodes.positions).max()
    return float(np.abs(a.positions(body) - b.positions(body)).max() / moved)
