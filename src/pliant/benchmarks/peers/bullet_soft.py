"""PyBullet: a deformable body of stable neo-Hookean tets, integrated explicitly; mass as Bullet spreads it."""

import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pybullet

from pliant.benchmarks._beam import DENSITY, GRAVITY, SIZE, beam_mesh, clamped, lame, tip, write_vtk
from pliant.benchmarks.peers._timing import case, timed

SUBSTEPS = {"one step": 1, "100 substeps": 100}


def measure(variant: str, cells: list, steps: int, step: float) -> dict:
    """Steps from rest, each of so many substeps."""
    mesh, substeps = beam_mesh(cells), SUBSTEPS[variant]
    pybullet.connect(pybullet.DIRECT)
    body = _body(mesh, step / substeps)

    def advance():
        for _ in range(substeps):
            pybullet.stepSimulation()

    times = timed(advance, steps)
    return case(
        mesh,
        times,
        tip(mesh.points, _positions(body)),
        version=version("pybullet"),
        law="stable_neohookean",
        integrator="explicit (symplectic) Euler",
        masses="as Bullet spreads them",
    )


def _body(mesh, step: float) -> int:
    """The clamped beam in a fresh world."""
    pybullet.resetSimulation(pybullet.RESET_USE_DEFORMABLE_WORLD)
    pybullet.setGravity(0, 0, -GRAVITY)
    pybullet.setTimeStep(step)
    lam, mu = lame()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "beam.vtk"
        write_vtk(path, mesh)
        # the moduli of Smith, de Goes and Kim 2018 that are lam and mu at small strain
        body = pybullet.loadSoftBody(
            str(path),
            mass=DENSITY * float(np.prod(SIZE)),
            useNeoHookean=1,
            NeoHookeanMu=4 / 3 * mu,
            NeoHookeanLambda=lam + 5 / 6 * mu,
            NeoHookeanDamping=0.0,
            useSelfCollision=0,
            collisionMargin=1e-4,
        )
    for node in np.flatnonzero(clamped(mesh.points)):
        pybullet.createSoftBodyAnchor(body, int(node), -1, -1)
    return body


def _positions(body: int) -> np.ndarray:
    """Node positions (n, 3) [m]."""
    return np.array(pybullet.getMeshData(body, -1, flags=pybullet.MESH_DATA_SIMULATION_MESH)[1])
