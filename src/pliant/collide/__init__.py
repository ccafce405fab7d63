"""Collision: which points of soft and rigid bodies touch, or will within the step."""

from pliant.collide.contacts import Contacts
from pliant.collide.detect import detect

__all__ = ["Contacts", "detect"]
