"""What is part of a scene: a value that is assigned later is checked like one given at first, or refused by name."""

from copy import copy
from dataclasses import fields
from functools import cache
from typing import ClassVar, Self

import numpy as np

from pliant.errors import SceneError


class Sealed:
    """Something whose fields are open until it is part of a scene; then only some of them can be assigned, and no array
    of its own can be written to."""

    ASSIGNABLE: ClassVar[tuple[str, ...]] = ()
    # How often fields of anything that is part of a scene were assigned, so that nobody need look for what was not.
    writes: ClassVar[int] = 0

    def seal(self) -> None:
        """From now on it is part of a scene."""
        for value in self.__dict__.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__["_sealed"] = True

    def open_copy(self) -> Self:
        """A copy that is part of no scene."""
        other = copy(self)
        other.__dict__.pop("_sealed", None)
        return other

    def put(self, **values) -> None:
        """Assign what was checked already."""
        self.__dict__.update(values)
        Sealed.writes += 1

    def check_again(self) -> None:
        """Check what can be assigned."""

    def __setattr__(self, name: str, value) -> None:
        known = name in _field_names(type(self))
        if "_sealed" not in self.__dict__ or name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name in self.ASSIGNABLE:
            self._assign(name, value)
        else:
            why = "is said when it is made and cannot be assigned later" if known else "does not exist"
            raise SceneError(f"{name} of {self._called()} {why}{self._assignable()}")

    def __delattr__(self, name: str) -> None:
        if "_sealed" in self.__dict__:
            raise SceneError(f"{name} of {self._called()} cannot be taken away{self._assignable()}")
        object.__delattr__(self, name)

    def _called(self) -> str:
        return repr(getattr(self, "name", None) or "a scene")

    def _assignable(self) -> str:
        return f"; what can be assigned: {', '.join(self.ASSIGNABLE)}" if self.ASSIGNABLE else ""

    def _assign(self, name: str, value) -> None:
        before = dict(self.__dict__)
        Sealed.writes += 1
        del self.__dict__["_sealed"]
        try:
            object.__setattr__(self, name, value)
            self.check_again()
        except SceneError:
            self.__dict__.update(before)
            raise
        finally:
            self.seal()


class Noted(list):
    """A list that belongs to something in a scene: whatever changes it counts as an assignment."""


def _noting(name: str):
    change = getattr(list, name)

    def noting(self, *arguments, **options):
        Sealed.writes += 1
        return change(self, *arguments, **options)

    return noting


CHANGES = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort")
for _change in (*CHANGES, "__setitem__", "__delitem__", "__iadd__", "__imul__"):
    setattr(Noted, _change, _noting(_change))


@cache
def _field_names(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in fields(kind))
