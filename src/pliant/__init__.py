"""pliant: deformable solids together with articulated rigid bodies, in real time, with physics you can trust.

Names are loaded when they are first used, so that `import pliant` and `pliant --version` stay quick.
"""

from importlib import import_module

from pliant._version import __version__

_HOME = {
    "Attach": "scene.couplings",
    "Ball": "scene.joints",
    "Box": "scene.shapes",
    "Capsule": "scene.shapes",
    "Cone": "scene.shapes",
    "Coordinate": "scene.coordinates",
    "Cylinder": "scene.shapes",
    "Cylindrical": "scene.joints",
    "Distance": "scene.joints",
    "Bounded": "solve",
    "Dual": "solve",
    "Explicit": "solve",
    "FileError": "errors",
    "Fibres": "scene.cloth",
    "Fixed": "scene.joints",
    "Gear": "scene.couplings",
    "Heightfield": "scene.shapes",
    "Hinge": "scene.joints",
    "Hull": "scene.shapes",
    "Keyframes": "scene",
    "Linear": "solve",
    "Material": "scene.materials",
    "Mesh": "scene.shapes",
    "MeshError": "errors",
    "Modes": "readers.modes",
    "Motor": "scene.coordinates",
    "Mixed": "solve",
    "Newton": "solve",
    "OnLine": "scene.joints",
    "OnPlane": "scene.joints",
    "Planar": "scene.joints",
    "Plane": "scene.shapes",
    "Plasticity": "scene.materials",
    "PliantError": "errors",
    "Rack": "scene.couplings",
    "Recorder": "output.recorder",
    "Rope": "scene.joints",
    "Scene": "scene",
    "SceneError": "errors",
    "Screw": "scene.couplings",
    "Section": "scene.sections",
    "Simulation": "simulation",
    "Simulations": "many.simulations",
    "Slider": "scene.joints",
    "SolverError": "errors",
    "Sphere": "scene.shapes",
    "Spring": "scene.joints",
    "Tendon": "scene.couplings",
    "Torsion": "scene.joints",
    "Universal": "scene.joints",
    "Xpbd": "solve",
    "load": "scene_file",
    "resume": "simulation",
    "simulate_many": "many.make",
    "world": "scene.joint_options",
}
_ROOMS = {"bodies": "scene.bodies", "meshes": "meshes", "selections": "scene.selections"}

__all__ = ["__version__", *_HOME, *_ROOMS]


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"pliant.{_ROOMS[name]}")
    if name in _HOME:
        return getattr(import_module(f"pliant.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
