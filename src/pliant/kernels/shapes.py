"""Codes of rigid shapes."""

SPHERE, BOX, CAPSULE, CYLINDER, PLANE, MESH = range(6)
