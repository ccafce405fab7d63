"""The mesher's compiled loops. They run on the host and are compiled, or loaded, when a mesh is first made."""

from pliant.kernels.device import HOST


def kernels():
    """The package of the mesher's kernels."""
    return HOST.meshing


def collision_kernels():
    """The package of kernels for trees of boxes and crossings of triangles."""
    return HOST.collide
