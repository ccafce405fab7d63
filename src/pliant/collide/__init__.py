"""Collision: which soft nodes and rigid bodies touch, or will within the step."""

from pliant.collide.detect import Contacts, detect

__all__ = ["Contacts", "detect"]
