"""What is known of functions once they are LLVM code: which of their arguments are used, and which never fail, so that
nobody need ask; found out only while pliant compiles."""

from llvmlite import ir as llvm
from llvmlite.ir.instructions import PhiInstr, Ret
from numba.core.callconv import RETCODE_NONE
from numba.core.lowering import Lower

# What a function returns that has not failed.
FINE = (0, RETCODE_NONE.constant)

_cannot_fail: set[str] = set()


def cannot_fail(function: llvm.Function) -> bool:
    """Whether a function of this process, already lowered, never returns an error."""
    return function.name in _cannot_fail


def uses(function: llvm.Function) -> dict[int, int]:
    """How often each value, by its identity, is used in a function. (What is never used stays: without it LLVM leaves
    some loops unvectorised.)"""
    counts: dict[int, int] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for part in _parts(instruction):
                counts[id(part)] = counts.get(id(part), 0) + 1
    return counts


def _parts(instruction) -> list:
    if type(instruction) is PhiInstr:
        return [value for value, _ in instruction.incomings]
    return instruction.operands


def _lower_function(self, fndesc, lower=Lower.lower_normal_function) -> None:
    """A function's code, and what is known of it."""
    lower(self, fndesc)
    self.counts = uses(self.function)
    ends = [block.terminator for block in self.function.blocks if isinstance(block.terminator, Ret)]
    codes = [end.operands[0] for end in ends if end.operands]
    if all(isinstance(code, llvm.Constant) and code.constant in FINE for code in codes):
        _cannot_fail.add(self.function.name)


def result_place(builder, callee: llvm.Function):
    """A place in memory where a function leaves its result."""
    with builder.goto_entry_block():
        return builder.alloca(callee.function_type.args[0].pointee)


QUIETER = ((Lower, "lower_normal_function", _lower_function),)
"""Whose attribute is replaced by what."""
