"""Meshers of others, each behind an extra of its own and imported only when it is asked for."""

from __future__ import annotations

import contextlib
import tempfile
from importlib import import_module

import numpy as np

from ..errors import MeshError
from .wording import option

REGULAR = 6 * np.sqrt(2)
"""Edge cubed over volume of a regular tet."""

EXTRAS = {"pytetwild": ("tetwild", "mesh", "MPL-2.0"), "tetgen": ("tetgen", "tetgen", "AGPL-3.0")}
"""Package -> method, extra of pliant, licence."""


def load(package: str):
    """The package, or MeshError that names the extra which installs it."""
    method, extra, licence = EXTRAS[package]
    try:
        return import_module(package)
    except ImportError as error:
        raise MeshError(
            f"{option('method', method)} needs the package {package} (licence {licence}), which is not there: {error}; "
            f"install it with pip install 'pliant[{extra}]', or use {option('method', 'lattice')}"
        ) from None


def fill_by_tetwild(points: np.ndarray, triangles: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and tets of fTetWild with edges of about the size [m]; its envelope is a thousandth of the diagonal."""
    tetwild = load("pytetwild")
    with _as_mesh_error("tetwild"):
        return tetwild.tetrahedralize(points, triangles.astype(np.int32), edge_length_abs=size, quiet=True)


def fill_by_tetgen(
    points: np.ndarray,
    triangles: np.ndarray,
    size: float,
    min_dihedral: float | None,
    max_volume: float | None,
    max_radius_edge: float | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Points and tets of TetGen: Delaunay refinement by volume, radius-edge ratio and dihedral angle."""
    tetgen = load("tetgen")
    volume = min(size**3 / REGULAR, max_volume or np.inf)
    options = {"order": 1, "quality": True, "fixedvolume": True, "maxvolume": volume, "verbose": 0}
    options |= {"mindihedral": min_dihedral or 10.0, "minratio": max_radius_edge or 1.8}
    with _as_mesh_error("tetgen"):
        mesher = tetgen.TetGen(points, triangles.astype(np.int32))
        found = mesher.tetrahedralize(**options)
    return np.asarray(found[0]), np.asarray(found[1])


@contextlib.contextmanager
def _as_mesh_error(method: str):
    """Errors of a mesher as ours; what it writes into the working folder, some do, goes into one that is removed."""
    try:
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder, contextlib.chdir(folder):
            yield
    except MeshError:
        raise
    except (RuntimeError, ValueError) as error:
        used, other = option("method", method), option("method", "lattice")
        raise MeshError(f"{used} gave up on this surface: {error}; {other} may not") from error
