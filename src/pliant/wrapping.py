"""How Python calls a kernel: its arguments made native in a few instructions.

The dispatcher has looked at the types of all arguments before it calls, so nothing is checked twice; and of an array
only what the kernel uses is read. References to arrays are not counted: the caller holds them.
"""

from llvmlite import ir as llvm
from numba.core import cgutils, types
from numba.core.callwrapper import PyCallWrapper
from numba.core.pythonapi import PythonAPI

from pliant.calls import cannot_fail, result_place

# Members of an array that have one number for every axis.
AXES = ("shape", "strides")


def can_wrap(fndesc) -> bool:
    """Whether a function's arguments and results are of kinds that are known here."""
    return all(map(_known, fndesc.argtypes)) and (fndesc.restype == types.none or _plain(fndesc.restype))


def _plain(kind) -> bool:
    """Whether it is a number or a tuple of numbers."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_plain, kind.types))
    return isinstance(kind, (types.Float, types.Boolean)) or (isinstance(kind, types.Integer) and kind.signed)


def _known(kind) -> bool:
    if isinstance(kind, types.BaseTuple):
        return all(map(_known, kind.types))
    return type(kind) is types.Array or _plain(kind)


class KernelWrapper(PyCallWrapper):
    """The function that Python calls, in the module of the kernel; `counts` says which of its arguments are used."""

    def __init__(self, lower, release_gil: bool):
        super().__init__(
            lower.context, lower.module, lower.function, lower.fndesc, lower.env, lower.call_helper, release_gil
        )
        self.counts = lower.counts

    def build_wrapper(self, api: PythonAPI, builder, closure, args, kws) -> None:
        context, callee = self.context, self.func
        native = _Arguments(context, api, builder, callee.args[2:], self.counts)
        for index, kind in enumerate(self.fndesc.argtypes):
            native.take(kind, lambda index=index: api.tuple_getitem(args, index))
        native.check()
        place, problem = result_place(builder, callee), callee.args[1].type(None)
        if not cannot_fail(callee):
            problem = cgutils.alloca_once(builder, callee.args[1].type.pointee)
        thread = api.save_thread() if self.release_gil else None
        code = builder.call(callee, [place, problem, *native.values], attrs=("noinline",))
        if thread is not None:
            api.restore_thread(thread)
        if cannot_fail(callee):
            return self.give_back(api, builder, place)
        status = context.call_conv._get_return_status(builder, code, builder.load(problem))
        with builder.if_then(status.is_ok, likely=True):
            self.give_back(api, builder, place)
        context.call_conv.raise_error(builder, api, status)
        builder.ret(api.get_null_object())

    def give_back(self, api: PythonAPI, builder, place) -> None:
        """Return a kernel's result to Python."""
        kind = self.fndesc.restype
        if kind == types.none:
            return api.return_none()
        value = self.context.get_returned_value(builder, kind, builder.load(place))
        builder.ret(api.from_native_return(kind, value, env_manager=None))


class _Arguments:
    """Native values of Python's arguments, those that the kernel uses."""

    def __init__(self, context, api: PythonAPI, builder, wanted, counts: dict[int, int]):
        self.context, self.api, self.builder = context, api, builder
        self.wanted, self.counts, self.values = wanted, counts, []
        self.numbers, self.codes = False, None

    def used(self, offset: int = 0) -> bool:
        """Whether the kernel uses the argument so many after the next."""
        return bool(self.counts.get(id(self.wanted[len(self.values) + offset])))

    def skip(self) -> None:
        self.values.append(llvm.Constant(self.wanted[len(self.values)].type, llvm.Undefined))

    def take(self, kind, thing) -> None:
        """Append the values of one of Python's arguments; `thing()` is the object."""
        if isinstance(kind, types.BaseTuple):
            self.take_tuple(kind, thing)
        elif isinstance(kind, types.Array):
            self.take_array(kind, thing)
        elif self.used():
            self.values.append(
                self.context.data_model_manager[kind].as_argument(self.builder, self.number(kind, thing()))
            )
        else:
            self.skip()

    def take_tuple(self, kind, thing) -> None:
        known = []

        def whole():
            if not known:
                known.append(thing())
            return known[0]

        for index, each in enumerate(kind.types):
            self.take(each, lambda index=index: self.api.tuple_getitem(whole(), index))

    def take_array(self, kind, thing) -> None:
        """Append members of an array, as NumPy has them."""
        builder, model = self.builder, self.context.data_model_manager[kind]
        members = [
            (index, axis)
            for index, name in enumerate(model._fields)
            for axis in (range(kind.ndim) if name in AXES else (None,))
        ]
        if not any(map(self.used, range(len(members)))):
            for _ in members:
                self.skip()
            return
        with builder.goto_entry_block():
            place = builder.alloca(model.get_value_type())
        called = llvm.FunctionType(llvm.IntType(32), [self.api.pyobj, self.api.voidptr])
        adapt = cgutils.get_or_insert_function(builder.module, called, "numba_adapt_ndarray")
        code = builder.call(adapt, [thing(), builder.bitcast(place, self.api.voidptr)])
        self.codes = code if self.codes is None else builder.or_(self.codes, code)
        for index, axis in members:
            if self.used():
                where = (0, index) if axis is None else (0, index, axis)
                self.values.append(builder.load(cgutils.gep(builder, place, *where)))
            else:
                self.skip()

    def number(self, kind, thing):
        """A number or truth value."""
        api, builder, self.numbers = self.api, self.builder, True
        if isinstance(kind, types.Boolean):
            truth = api.object_istrue(thing)
            return builder.icmp_signed("!=", truth, truth.type(0))
        native = self.context.get_value_type(kind)
        if isinstance(kind, types.Integer):
            value = api.long_as_longlong(thing)
            return value if value.type == native else builder.trunc(value, native)
        value = api.float_as_double(thing)
        return value if value.type == native else builder.fptrunc(value, native)

    def check(self) -> None:
        """Return to Python where an object was not what its type promised."""
        builder, api = self.builder, self.api
        if self.codes is not None:
            with builder.if_then(cgutils.is_not_null(builder, self.codes), likely=False):
                api.err_set_string("PyExc_TypeError", "an argument is not an array")
                builder.ret(api.get_null_object())
        if self.numbers:
            with builder.if_then(api.c_api_error(), likely=False):
                builder.ret(api.get_null_object())
