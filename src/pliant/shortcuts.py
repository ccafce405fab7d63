"""What Numba's compiler would find out again and again, found out once; in place only while pliant compiles."""

import contextlib
import gc
import sys
from functools import cache
from weakref import WeakKeyDictionary

from numba.core import base, byteflow, event, interpreter, ir, ssa, types
from numba.core.base import BaseContext as TargetContext
from numba.core.datamodel.manager import DataModelManager
from numba.core.errors import WarningsFixer
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.types.abstract import _TypeMetaclass
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext

from pliant.calls import QUIETER
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
_packers: dict[tuple, object] = {}
_models: dict[tuple, object] = {}
_fresh: WeakKeyDictionary = WeakKeyDictionary()


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


def _packer(self, kinds, make=TargetContext.get_arg_packer):
    """How arguments of such types are passed."""
    key = (self.data_model_manager, tuple(kinds))
    if key not in _packers:
        _packers[key] = make(self, kinds)
    return _packers[key]


def _model(self, kind, find=DataModelManager.lookup):
    """How values of a type are represented."""
    key = (self, kind)
    found = _models.get(key)
    if found is None:
        found = _models[key] = find(self, kind)
    return found


def _declared(self, module, fndesc, declare=TargetContext.declare_function):
    """The declaration of a function in a module, made when it is first called there."""
    return module.globals.get(fndesc.mangled_name) or declare(self, module, fndesc)


def _refresh(self, refresh=TargetContext.refresh) -> None:
    """Look for new implementations, unless no module was imported and none were registered since the last time."""
    if _fresh.get(self) != _registered(self):
        refresh(self)
        _fresh[self] = _registered(self)


def _registered(context) -> tuple[int, int]:
    """How many modules there are, and how much is registered with what a target and its types have installed: some of
    it only when it is first asked for, with whichever registry comes first."""
    registries = (*context._registries, *context.typing_context._registries)
    return len(sys.modules), sum(len(items) for registry in registries for items in vars(registry).values() if items)


def _as_it_is(code):
    """What Numba rewrites for contexts and for large dictionaries, which no function has."""
    return code


def _no_warnings(self, filename=None, lineno=None):
    """Leave warnings as they are: Numba gathers them around every variable."""
    return contextlib.nullcontext()


class _Silent:
    """A log that nobody reads: a hundred thousand lines."""

    def debug(self, *_) -> None:
        pass


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
    (TargetContext, "get_arg_packer", _packer),
    (TargetContext, "declare_function", _declared),
    (TargetContext, "refresh", _refresh),
    (DataModelManager, "lookup", _model),
    (base, "_has_loc", cache(base._has_loc)),
    (interpreter, "peep_hole_delete_with_exit", _as_it_is),
    (interpreter, "peep_hole_fuse_dict_add_updates", _as_it_is),
    (WarningsFixer, "catch_warnings", _no_warnings),
    (ssa, "_logger", _Silent()),
    (byteflow, "_logger", _Silent()),
    (_TypeMetaclass, "__instancecheck__", type.__instancecheck__),
    (Lower, "_disable_sroa_like_opt", False),
    *LEANER,
    *QUIETER,
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
