"""A state whose nodes lie on a device until somebody reads them."""

from collections.abc import Callable
from dataclasses import fields

from pliant.model.state import State

# What lies there: each is downloaded when it is first read.
FETCHED = ("x", "v", "previous_velocity", "plastic_strain", "memory")
# What does not.
KEPT = tuple(field.name for field in fields(State) if field.name not in FETCHED)


class ResidentState(State):
    """A state of which FETCHED is downloaded when it is read; then, as copies with changes, it is like any other."""

    known_finite = True  # a step whose energies are not has failed

    @classmethod
    def lying(cls, plain: State, fetch: Callable, **changes) -> "ResidentState":
        """The state that has what a plain one has beside FETCHED, with changes; fetch: from this state and a name of
        FETCHED to its value."""
        state = object.__new__(cls)
        known, values = plain.__dict__, state.__dict__
        for name in KEPT:
            values[name] = known[name]
        values.update(changes, _fetch=fetch)
        return state

    def __getattr__(self, name: str):
        fetch = self.__dict__.get("_fetch")
        if name not in FETCHED or fetch is None:
            raise AttributeError(name)
        value = self.__dict__[name] = fetch(self, name)
        return value

    def changed(self, **values) -> State:
        self.settle()
        return super().changed(**values)

    def settle(self) -> None:
        """Download what has not been read yet: the device is about to forget it."""
        for name in FETCHED:
            getattr(self, name)
        self.__dict__.pop("_fetch", None)

    def __getstate__(self) -> dict:
        self.settle()
        return self.__dict__

    def __setstate__(self, values: dict) -> None:
        self.__dict__.update(values)
