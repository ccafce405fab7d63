"""Model (constant arrays) and State (changing arrays), and what builds them from a scene."""

from pliant.model.model import Model
from pliant.model.state import State

__all__ = ["Model", "State"]
