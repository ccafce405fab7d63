"""Instructions that Numba has no words for: 16-byte loads and stores, acquire and release over the whole GPU.

All have a side effect, so that none is moved across a barrier.
"""

from llvmlite import ir
from numba import types
from numba.cuda import cgutils
from numba.cuda.extending import intrinsic

FLOAT, LONG, NOTHING = ir.FloatType(), ir.IntType(64), ir.VoidType()


def _pointer(context, builder, signature, args):
    """Address of the entry args[1] of the array args[0]."""
    index = context.cast(builder, args[1], signature.args[1], types.intp)
    struct = context.make_array(signature.args[0])(context, builder, value=args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], struct, [index], wraparound=False)


def _emit(builder, result, values, text, constraints):
    """A line of PTX on values."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(ir.InlineAsm(kind, text, constraints, side_effect=True), values)


@intrinsic
def load4(typingctx, array, index):
    """Four float32 from a place that is a multiple of four."""
    result = types.UniTuple(types.float32, 4)

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        text = "ld.global.v4.f32 {$0, $1, $2, $3}, [$4];"
        value = _emit(builder, ir.LiteralStructType([FLOAT] * 4), [pointer], text, "=f,=f,=f,=f,l,~{memory}")
        return context.make_tuple(builder, result, [builder.extract_value(value, k) for k in range(4)])

    return result(array, index), codegen


@intrinsic
def store4(typingctx, array, index, a, b, c, d):
    """Four float32 to a place that is a multiple of four."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        values = [context.cast(builder, v, t, types.float32) for v, t in zip(args[2:], signature.args[2:])]
        text = "st.global.v4.f32 [$0], {$1, $2, $3, $4};"
        _emit(builder, NOTHING, [pointer, *values], text, "l,f,f,f,f,~{memory}")
        return context.get_dummy_value()

    return types.void(array, index, a, b, c, d), codegen


@intrinsic
def acquire(typingctx, array, index):
    """A 64-bit load that later loads do not overtake."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        return _emit(builder, LONG, [pointer], "ld.acquire.gpu.global.b64 $0, [$1];", "=l,l,~{memory}")

    return types.int64(array, index), codegen


@intrinsic
def release(typingctx, array, index, value):
    """A 64-bit store that earlier stores (also of the block, before a syncthreads) are seen before."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        number = context.cast(builder, args[2], signature.args[2], types.int64)
        _emit(builder, NOTHING, [pointer, number], "st.release.gpu.global.b64 [$0], $1;", "l,l,~{memory}")
        return context.get_dummy_value()

    return types.void(array, index, value), codegen
