"""Kernels of whole Newton steps on an NVIDIA GPU, by subject; see docs/gpu.md for the layout and the order of work.

Vectors of nodes are (chunks, 3, WARP), elements (groups, components, WARP), flat: the offset of a component is a
constant, so a kernel keeps one address per array. Positions, velocities, forces and energies are float64, the matrix
and everything inside conjugate gradients float32. No atomics: every sum runs in a fixed order, so that results repeat
bit by bit.
"""
