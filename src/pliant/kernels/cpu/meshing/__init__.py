"""Compiled loops of the mesher: where lattice lines cross a surface, cells of an octree, stencils, moving nodes."""
