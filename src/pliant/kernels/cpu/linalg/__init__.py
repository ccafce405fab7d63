"""Compiled loops of linear algebra."""
