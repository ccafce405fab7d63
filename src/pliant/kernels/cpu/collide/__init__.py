"""Loops of the narrow phase between convex shapes."""
