"""Readers of a state: energy, momentum, strain, stress, reactions, contacts, modes."""
