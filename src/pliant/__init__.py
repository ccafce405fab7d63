"""pliant: deformable solids together with articulated rigid bodies, in real time, with physics you can trust.

Names are loaded when they are first used, so that `import pliant` and `pliant --version` stay quick.
"""

from importlib import import_module

from pliant._version import __version__

_HOME = {
    "Ball": "joints",
    "Box": "shapes",
    "Capsule": "shapes",
    "Cylinder": "shapes",
    "Distance": "joints",
    "Dual": "solve",
    "Explicit": "solve",
    "Fixed": "joints",
    "Keyframes": "scene",
    "Linear": "solve",
    "Material": "materials",
    "Mesh": "shapes",
    "MeshError": "errors",
    "Modes": "modes",
    "Newton": "solve",
    "Plane": "shapes",
    "Plasticity": "materials",
    "PliantError": "errors",
    "Recorder": "output.recorder",
    "Scene": "scene",
    "SceneError": "errors",
    "Simulation": "simulation",
    "SolverError": "errors",
    "Sphere": "shapes",
    "Xpbd": "solve",
    "load": "scene_file",
    "resume": "simulation",
    "world": "joints",
}
_ROOMS = ("bodies", "meshes", "selections")

__all__ = ["__version__", *_HOME, *_ROOMS]


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"pliant.{name}")
    if name in _HOME:
        return getattr(import_module(f"pliant.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
