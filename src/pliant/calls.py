"""What a function's LLVM code holds in vain, taken out before it is printed; in place only while pliant compiles.

A third of what Numba writes is never used: arguments put together, kinds of errors that nobody asks for. And which
functions never fail, so that nobody need ask.
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
from numba.core.callconv import RETCODE_NONE
from numba.core.lowering import Lower

# Instructions that do nothing but give a value.
PURE = {CastInstr, ExtractValue, GEPInstr, ICMPInstr, InsertValue, Instruction, LoadInstr, PhiInstr, SelectInstr}
# What a function returns that has not failed.
FINE = (0, RETCODE_NONE.constant)

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


def result_place(builder, callee: llvm.Function):
    """A place in memory where a function leaves its result."""
    with builder.goto_entry_block():
        return builder.alloca(callee.function_type.args[0].pointee)


QUIETER = ((Lower, "lower_normal_function", _lower_function),)
"""Whose attribute is replaced by what."""
