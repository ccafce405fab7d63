"""Equilibrium in load steps, and what a static problem must not be."""

from pliant.statics.loading import equilibrium

__all__ = ["equilibrium"]
