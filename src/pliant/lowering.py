"""Typed functions written as LLVM code with fewer instructions than Numba writes; in place only while pliant compiles.

LLVM would remove the others, but only after they have been made, printed, read and looked at, which is much of the time
that compiling takes.
"""

from llvmlite import ir as llvm
from llvmlite.ir.instructions import InsertValue
from numba.core import analysis, cgutils, ir, types
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.np.arrayobj import load_item, store_item
from numba.parfors.parfor_lowering import ParforLower

# ---- parts of values


def _extract_value(self, agg, idx, name="", extract=llvm.IRBuilder.extract_value):
    """A part of a value; of one that has been put together here, the part that was put in."""
    index = idx if isinstance(idx, (tuple, list)) else (idx,)
    whole = agg
    while len(index) == 1 and isinstance(whole, InsertValue) and len(whole.indices) == 1:
        if whole.indices[0] == index[0]:
            return whole.value
        whole = whole.aggregate
    return extract(self, agg, idx, name)


# ---- variables


def counted(lower: Lower, name: str) -> bool:
    """Whether the function counts references to what a variable holds."""
    models = lower.context.data_model_manager
    return lower.context.enable_nrt and models[lower.typeof(name)].contains_nrt_meminfo()


def _find_variables(self) -> None:
    """Find variables that need no place in memory: their only assignment comes before all uses.

    Numba finds those of a single block. References to others are not counted, or they are arguments, which the caller
    holds as long as the function runs. Where there are parallel loops, which do not tell all that they use, arguments
    are the only ones.
    """
    self._singly_assigned_vars, self._blk_local_varmap, self.borrowed = set(), {}, set()
    assigned: dict[str, list] = {}
    elsewhere = set(analysis.must_use_alloca(self.blocks))
    for label, block in self.blocks.items():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                assigned.setdefault(statement.target.name, []).append((label, statement.value))
            elif type(statement) in analysis.ir_extension_usedefs:  # a parallel loop
                analysis.ir_extension_usedefs[type(statement)](statement, set(), elsewhere)
    parallel = isinstance(self, ParforLower) and self.flags.auto_parallel.enabled
    users: dict[str, set] = {}
    for label, names in analysis.compute_use_defs(self.blocks).usemap.items():
        for name in names:
            users.setdefault(name, set()).add(label)
    before = analysis.compute_cfg_from_blocks(self.blocks).dominators()
    for name, places in assigned.items():
        label, value = places[0]
        if len(places) > 1 or name in elsewhere:
            continue
        if not all(label < user and label in before[user] for user in users.get(name, ())):
            continue
        if isinstance(value, ir.Arg) and self.typeof(f"arg.{value.name}") == self.typeof(name):
            self.borrowed.add(name)
        elif parallel or (users.get(name) and counted(self, name)):
            continue
        self._singly_assigned_vars.add(name)


def _lower_assign(self, ty, inst, lower=Lower.lower_assign):
    """The value of an assignment; borrowed arguments are not counted, functions are known by their type."""
    if isinstance(ty, types.Dispatcher) and isinstance(inst.value, (ir.Global, ir.FreeVar)):
        return self.context.get_value_type(ty)(None)
    return self.fnargs[inst.value.index] if inst.target.name in self.borrowed else lower(self, ty, inst)


def _store_variable(self, value, name, argidx=None, store=Lower.storevar) -> None:
    if name in self._singly_assigned_vars or counted(self, name):
        store(self, value, name, argidx)
    else:
        self.builder.store(value, self.getvar(name))


def _delete_variable(self, name, delete=Lower.delvar) -> None:
    if name not in self.borrowed and counted(self, name):
        delete(self, name)


def _place(self, name, type, place=Lower.alloca):
    """A place in memory; only references must be cleared there."""
    if self.context.data_model_manager[type].contains_nrt_meminfo():
        return place(self, name, type)
    with self.builder.goto_entry_block():
        return self.builder.alloca(self.context.get_value_type(type), name=name)


def _meminfos(self, builder, ty, val, find=NRTContext.get_meminfos):
    """Counted parts of a value, looked for where there are any."""
    return find(self, builder, ty, val) if self._context.data_model_manager[ty].contains_nrt_meminfo() else []


# ---- items of arrays


def _item_pointer(lower: Lower, array: str, index: str):
    """Where an item of an array lies, if the index says which by whole numbers alone; None otherwise."""
    kind, which = lower.typeof(array), lower.typeof(index)
    kinds = which.types if isinstance(which, types.BaseTuple) else (which,)
    if type(kind) is not types.Array or kind.layout == "F" or len(kinds) != kind.ndim:
        return None
    if lower.context.enable_boundscheck or not all(isinstance(each, types.Integer) for each in kinds):
        return None
    builder, value, place = lower.builder, lower.loadvar(array), lower.loadvar(index)
    model = lower.context.data_model_manager[kind]
    parts = cgutils.unpack_tuple(builder, place) if isinstance(which, types.BaseTuple) else [place]
    shape = cgutils.unpack_tuple(builder, model.get(builder, value, "shape"))
    at = [_from_start(lower, *each) for each in zip(kinds, parts, shape, strict=True)]
    data = model.get(builder, value, "data")
    if kind.layout == "A":
        strides = cgutils.unpack_tuple(builder, model.get(builder, value, "strides"))
        offset = None
        for one, stride in zip(at, strides, strict=True):
            step = builder.mul(stride, one)
            offset = step if offset is None else builder.add(offset, step)
        return cgutils.pointer_add(builder, data, offset)
    offset = at[0]
    for one, size in zip(at[1:], shape[1:], strict=True):
        offset = builder.add(builder.mul(offset, size), one)
    return builder.gep(data, [offset])


def _from_start(lower: Lower, kind, index, size):
    """An index counted from the start, where negative ones count from the end."""
    builder = lower.builder
    if not kind.signed:
        return lower.context.cast(builder, index, kind, types.uintp)
    index = lower.context.cast(builder, index, kind, types.intp)  # of a literal only the type says its value
    if isinstance(index, llvm.Constant):
        return index if index.constant >= 0 else builder.add(size, index)
    negative = builder.icmp_signed("<", index, index.type(0))
    return builder.select(negative, builder.add(size, index), index)


def _lower_getitem(self, resty, expr, value, index, signature, lower=Lower.lower_getitem):
    kind = self.typeof(value.name)
    pointer = _item_pointer(self, value.name, index.name)
    if pointer is None:
        return lower(self, resty, expr, value, index, signature)
    return self.context.cast(self.builder, load_item(self.context, self.builder, kind, pointer), kind.dtype, resty)


def _lower_setitem(self, target_var, index_var, value_var, signature, lower=Lower.lower_setitem):
    kind, given = self.typeof(target_var.name), self.typeof(value_var.name)
    pointer = None
    if isinstance(given, (types.Number, types.Boolean)):
        pointer = _item_pointer(self, target_var.name, index_var.name)
    if pointer is None:
        return lower(self, target_var, index_var, value_var, signature)
    value = self.context.cast(self.builder, self.loadvar(value_var.name), given, signature.args[2])
    value = self.context.cast(self.builder, value, signature.args[2], kind.dtype)
    return store_item(self.context, self.builder, kind, value, pointer)


# ---- ranges


def _aggregate(builder, kind, parts):
    value = llvm.Constant(kind, llvm.Undefined)
    for index, part in enumerate(parts):
        value = builder.insert_value(value, part, index)
    return value


def _lower_call(self, fnty, expr, signature, lower=Lower._lower_call_normal):
    """Calls; those of range with steps of one."""
    ours = isinstance(fnty, types.Function) and fnty.typing_key is range and len(expr.args) < 3
    if not ours or expr.kws or expr.vararg:
        return lower(self, fnty, expr, signature)
    given = [self._cast_var(variable, kind) for variable, kind in zip(expr.args, signature.args, strict=True)]
    start, stop = given if len(given) == 2 else (given[0].type(0), given[0])
    kind = self.context.get_value_type(signature.return_type)
    return _aggregate(self.builder, kind, (start, stop, start.type(1)))


def _lower_expr(self, resty, expr, lower=Lower.lower_expr):
    if expr.op == "getiter" and isinstance(self.typeof(expr.value.name), types.RangeType):
        iterator = _range_iterator(self, expr)
        return lower(self, resty, expr) if iterator is None else iterator
    if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
        return _next_of_range(self, resty, expr)
    return lower(self, resty, expr)


def _range_iterator(lower: Lower, expr):
    """An iterator over a range with steps of one: how many are left is known at once."""
    builder, limits = lower.builder, lower.loadvar(expr.value.name)
    step = builder.extract_value(limits, 2)
    if not (isinstance(step, llvm.Constant) and step.constant == 1):
        return None
    start, stop = builder.extract_value(limits, 0), builder.extract_value(limits, 1)
    with builder.goto_entry_block():
        current, count = builder.alloca(start.type), builder.alloca(start.type)
    left = builder.sub(stop, start)
    builder.store(start, current)
    builder.store(builder.select(builder.icmp_signed(">", left, left.type(0)), left, left.type(0)), count)
    kind = lower.context.get_value_type(lower.fndesc.calltypes[expr].return_type)
    return _aggregate(builder, kind, (current, stop, step, count))


def _next_of_range(lower: Lower, resty, expr):
    builder, iterator = lower.builder, lower.loadvar(expr.value.name)
    current, step, count = (builder.extract_value(iterator, index) for index in (0, 2, 3))
    left, value = builder.load(count), builder.load(current)
    valid = builder.icmp_signed(">", left, left.type(0))
    with builder.if_then(valid):
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), count)
        builder.store(builder.add(value, step), current)
    return _aggregate(builder, lower.context.get_value_type(resty), (value, valid))


LEANER = (
    (llvm.IRBuilder, "extract_value", _extract_value),
    (Lower, "_find_singly_assigned_variable", _find_variables),
    (Lower, "lower_assign", _lower_assign),
    (Lower, "storevar", _store_variable),
    (Lower, "delvar", _delete_variable),
    (Lower, "alloca", _place),
    (NRTContext, "get_meminfos", _meminfos),
    (Lower, "lower_getitem", _lower_getitem),
    (Lower, "lower_setitem", _lower_setitem),
    (Lower, "_lower_call_normal", _lower_call),
    (Lower, "lower_expr", _lower_expr),
)
"""Whose attribute is replaced by what."""
