"""The command line, `pliant`."""

from pliant.cli.group import main

__all__ = ["main"]
