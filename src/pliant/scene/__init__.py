"""What the user says, checked and in SI units: scenes, bodies, shapes, materials, joints, loads, selections."""

from pliant.scene.scene import Keyframes, Scene

__all__ = ["Keyframes", "Scene"]
