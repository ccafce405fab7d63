"""What Numba's compiler would find out again and again, found out once; in place only while pliant compiles."""

import contextlib
import gc

from numba.core import event, ir, types
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext

from pliant.lowering import LEANER

# Parts of instructions that are no variables and have none.
PLAIN = {str, int, float, bool, type(None), ir.Loc, ir.Scope}
# Types of arguments of which alone a built-in function's signature depends.
VALUES = (types.Number, types.Boolean, types.Literal, types.Array, types.BaseTuple, types.SliceType)
# Types whose attributes never change.
FIXED = (types.Array, types.BaseTuple, types.Module)
# Events that every function being compiled times for itself, a hundred thousand of them.
LOCKS = ("numba:llvm_lock", "numba:compiler_lock")
# Objects left by compiling, a third of a gigabyte, after which garbage is collected.
MOST_LITTER = 2_000_000

_litter = 0
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


def _post_process(self, emit_dels=False, extend_lifetimes=False, run=PostProcessor.run) -> None:
    """What Numba does after every pass, without the variables that live at each block, which generators alone need."""
    code = self.func_ir
    if code.is_generator:
        return run(self, emit_dels, extend_lifetimes)
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _start_event(kind, data=None, start=event.start_event):
    if kind not in LOCKS:
        start(kind, data)


def _end_event(kind, data=None, exc_details=None, end=event.end_event):
    if kind not in LOCKS:
        end(kind, data, exc_details)


SHORTCUTS = (
    (ir.Inst, "_rec_list_vars", _listed_variables),
    (PostProcessor, "run", _post_process),
    (BaseFunction, "get_call_type", _call_type),
    (event, "start_event", _start_event),
    (event, "end_event", _end_event),
    (BaseContext, "find_matching_getattr_template", _attribute),
    *LEANER,
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


@contextlib.contextmanager
def no_collecting():
    """Collect no garbage, which costs a seventh of compiling."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _leave_litter()
            gc.enable()


def _leave_litter() -> None:
    """Count what was made as old: it is looked through when much has come together, not after every kernel."""
    global _litter
    _litter += gc.get_count()[0]
    if _litter > MOST_LITTER:
        _litter = 0
        gc.collect()
    elif not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
