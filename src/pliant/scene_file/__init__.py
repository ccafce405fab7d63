"""Scenes as TOML files, both ways."""

from pliant.scene_file.files import RunSettings, SceneFile, View, describe, load, read, same, save

__all__ = ["RunSettings", "SceneFile", "View", "describe", "load", "read", "same", "save"]
