"""Deformable things: their laws, rows, springs, and the recovery of tangled bodies."""
