"""Scenes as TOML files, both ways."""

from pliant.scene_file.files import RunSettings, SceneFile, View, describe, from_tables, load, parse, read, same, save

__all__ = ["RunSettings", "SceneFile", "View", "describe", "from_tables", "load", "parse", "read", "same", "save"]
