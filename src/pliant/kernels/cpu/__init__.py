"""Loops over elements, rows and triples on the CPU; they call formulas and do nothing else."""
