"""Calls between compiled functions, and what they need not check; in place only while pliant compiles.

After every call Numba compares what came back with all kinds of errors, which most functions cannot have.
"""

from llvmlite import ir as llvm
from llvmlite.ir.instructions import (
    CastInstr,
    ExtractValue,
    GEPInstr,
    ICMPInstr,
    InsertValue,
    Instruction,
    LoadInstr,
    PhiInstr,
    Ret,
    SelectInstr,
)
from numba.core import cgutils
from numba.core.callconv import RETCODE_NONE, CPUCallConv, Status, excinfo_ptr_t
from numba.core.lowering import Lower

# Instructions that do nothing but give a value.
PURE = {CastInstr, ExtractValue, GEPInstr, ICMPInstr, InsertValue, Instruction, LoadInstr, PhiInstr, SelectInstr}
# What a function returns that has not failed.
FINE = (0, RETCODE_NONE.constant)
# Stands for whether a call failed that cannot fail.
NO_ERROR = llvm.Constant(llvm.IntType(1), 0)

_cannot_fail: set[str] = set()


def cannot_fail(function: llvm.Function) -> bool:
    """Whether a function of this process, already lowered, never returns an error."""
    return function.name in _cannot_fail


def uses(function: llvm.Function) -> dict[int, int]:
    """How often each value, by its identity, is used in a function; what is made in vain is taken out of it."""
    counts: dict[int, int] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for part in _parts(instruction):
                counts[id(part)] = counts.get(id(part), 0) + 1
    removed = True
    while removed:
        removed = False
        for block in reversed(function.blocks):
            kept = []
            for instruction in reversed(block.instructions):
                if type(instruction) in PURE and not counts.get(id(instruction)):
                    removed = True
                    for part in _parts(instruction):
                        counts[id(part)] -= 1
                else:
                    kept.append(instruction)
            if len(kept) < len(block.instructions):
                block.instructions[:] = reversed(kept)
    return counts


def _parts(instruction) -> list:
    if type(instruction) is PhiInstr:
        return [value for value, _ in instruction.incomings]
    return instruction.operands


def _lower_function(self, fndesc, lower=Lower.lower_normal_function) -> None:
    """A function's code, without what is made in vain."""
    lower(self, fndesc)
    self.counts = uses(self.function)
    ends = [block.terminator for block in self.function.blocks if isinstance(block.terminator, Ret)]
    codes = [end.operands[0] for end in ends if end.operands]
    if all(isinstance(code, llvm.Constant) and code.constant in FINE for code in codes):
        _cannot_fail.add(self.function.name)


def _call_function(self, builder, callee, resty, argtys, args, attrs=None, call=CPUCallConv.call_function):
    """Call a function; of one that cannot fail nothing is asked but its result."""
    if attrs is not None or not (isinstance(callee, llvm.Function) and cannot_fail(callee)):
        return call(self, builder, callee, resty, argtys, args, attrs)
    given = self._get_arg_packer(argtys).as_arguments(builder, args)
    place = result_place(builder, callee)
    code = builder.call(callee, [place, callee.function_type.args[1](None), *given])
    status = Status(
        code=code,
        is_ok=cgutils.true_bit,
        is_none=builder.icmp_signed("==", code, RETCODE_NONE),
        is_error=NO_ERROR,
        is_stop_iteration=cgutils.false_bit,
        is_python_exc=cgutils.false_bit,
        is_user_exc=cgutils.false_bit,
        excinfoptr=llvm.Constant(excinfo_ptr_t, llvm.Undefined),
    )
    return status, self.context.get_returned_value(builder, resty, builder.load(place))


def result_place(builder, callee: llvm.Function):
    """A place in memory where a function leaves its result."""
    with builder.goto_entry_block():
        return builder.alloca(callee.function_type.args[0].pointee)


def _if_unlikely(builder, condition, usual=cgutils.if_unlikely):
    return _nothing() if condition is NO_ERROR else usual(builder, condition)


class _nothing:
    """A place for code that is not written: what follows a call that cannot fail."""

    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def _propagate(self, builder, status, propagate=CPUCallConv.return_status_propagate) -> None:
    if status.is_error is not NO_ERROR:
        propagate(self, builder, status)


QUIETER = (
    (Lower, "lower_normal_function", _lower_function),
    (CPUCallConv, "call_function", _call_function),
    (CPUCallConv, "return_status_propagate", _propagate),
    (cgutils, "if_unlikely", _if_unlikely),
)
"""Whose attribute is replaced by what."""
