"""Compiled loops of the rasteriser."""
