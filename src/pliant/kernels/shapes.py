"""Codes of rigid shapes."""

SPHERE, BOX, CAPSULE, CYLINDER, PLANE, MESH, CONE, HULL, TRIANGLE = range(9)
