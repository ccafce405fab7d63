"""Deformable things: kinds, laws, element sets and their potential; elements as rows; tangled bodies."""
