"""Records: instances of dataclasses that are made anew where something about them changes."""

from dataclasses import fields
from functools import cache
from typing import TypeVar

Record = TypeVar("Record")


def changed(record: Record, **values) -> Record:
    """The record with other values of some of its fields: as dataclasses.replace, in a fraction of the time, for steps
    make dozens. For classes that compute nothing when they are made; what was computed since stays with the old one."""
    new, known = object.__new__(type(record)), record.__dict__
    new.__dict__.update({name: known[name] for name in _names(type(record))})
    new.__dict__.update(values)
    return new


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
