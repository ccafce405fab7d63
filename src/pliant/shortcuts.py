"""What Numba's compiler would find out again and again, found out once; in place only while pliant compiles."""

import contextlib

from numba.core import event, ir, types
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext

# Parts of instructions that are no variables and have none.
PLAIN = {str, int, float, bool, type(None), ir.Loc, ir.Scope}
# Types of arguments of which alone a built-in function's signature depends.
VALUES = (types.Number, types.Boolean, types.Literal, types.Array, types.BaseTuple, types.SliceType)
# Types whose attributes never change.
FIXED = (types.Array, types.BaseTuple, types.Module)
# Events that every function being compiled times for itself, a hundred thousand of them.
LOCKS = ("numba:llvm_lock", "numba:compiler_lock")

_signatures: dict[tuple, object] = {}
_attributes: dict[tuple, dict] = {}


def _listed_variables(self, value, listed=ir.Inst._rec_list_vars):
    """Variables in a part of an instruction, as Numba lists them, without asking six times what a plain value is."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in PLAIN:
        return []
    if kind not in (dict, list, tuple):
        return listed(self, value)
    parts = value.values() if kind is dict else value
    return [variable for part in parts if type(part) not in PLAIN for variable in _listed_variables(self, part)]


def _call_type(self, context, args, kws, find=BaseFunction.get_call_type):
    """The signature of a call: Numba tries a dozen templates for every sum of two numbers.

    Only what the function's own templates say is remembered: those of overloads also note which of their variants to
    call, by the flags of the caller.
    """
    if kws or not all(isinstance(kind, VALUES) for kind in args):
        return find(self, context, args, kws)
    key = (self, context, tuple(args))
    known = _signatures.get(key)
    if known is None:
        known = find(self, context, args, kws)
        if self._impl_keys[known.args] is self.typing_key:
            _signatures[key] = known
    return known


def _attribute(self, kind, name, find=BaseContext.find_matching_getattr_template):
    """The template of an attribute and its type."""
    if not isinstance(kind, FIXED):
        return find(self, kind, name)
    key = (self, kind, name)
    if key not in _attributes:
        _attributes[key] = find(self, kind, name)
    return _attributes[key]


def _start_event(kind, data=None, start=event.start_event):
    if kind not in LOCKS:
        start(kind, data)


def _end_event(kind, data=None, exc_details=None, end=event.end_event):
    if kind not in LOCKS:
        end(kind, data, exc_details)


SHORTCUTS = (
    (ir.Inst, "_rec_list_vars", _listed_variables),
    (BaseFunction, "get_call_type", _call_type),
    (event, "start_event", _start_event),
    (event, "end_event", _end_event),
    (BaseContext, "find_matching_getattr_template", _attribute),
)


@contextlib.contextmanager
def shortcuts():
    """Compile with them."""
    before = [getattr(owner, name) for owner, name, _ in SHORTCUTS]
    for owner, name, quick in SHORTCUTS:
        setattr(owner, name, quick)
    try:
        yield
    finally:
        for (owner, name, _), usual in zip(SHORTCUTS, before, strict=True):
            setattr(owner, name, usual)
