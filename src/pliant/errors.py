"""The named exceptions of pliant; each message says what is wrong, where, and what is allowed."""


class PliantError(Exception):
    """Base of every exception that pliant raises on purpose."""


class SceneError(PliantError, ValueError):
    """A scene, or a scene file, asks for something that makes no sense."""


class MeshError(PliantError, ValueError):
    """A mesh is degenerate, inverted, non-manifold, or unreadable."""


class SolverError(PliantError, RuntimeError):
    """A solver cannot honour the scene, or the simulation broke down (step, body and element are named)."""
