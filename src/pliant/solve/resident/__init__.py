"""Solvers whose state lies on a device from step to step."""
