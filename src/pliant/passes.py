"""Passes of Numba's compiler that pliant's functions need in another way, or not at all."""

from numba.core import ir, types, untyped_passes
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import IRLegalization, NopythonTypeInference

# Passes for what no function of pliant, nor one of Numba's that they call, has: contexts, loops over tuples of kinds,
# messages of exceptions that are put together, functions to be inlined by Numba.
FOREIGN = {
    *(untyped_passes.WithLifting, untyped_passes.LiteralUnroll, untyped_passes.LiteralPropagationSubPipelinePass),
    *(untyped_passes.RewriteDynamicRaises, untyped_passes.InlineInlinables),
}

# Expressions that give what they are made of, or a part of it.
VIEWS = {
    *("build_tuple", "cast", "exhaust_iter", "getattr", "getiter", "iternext", "pair_first", "pair_second", "phi"),
    *("static_getitem", "typed_getitem", "undef"),
}


@register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(NopythonTypeInference):
    """Numba's pass; a function that makes no arrays counts no references to those it is given."""

    _name = "pliant_type_inference"

    def run_pass(self, state):
        done = super().run_pass(state)
        if state.targetctx.enable_nrt and not makes_arrays(state):
            state.targetctx.enable_nrt = False
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class _Legalization(IRLegalization):
    """Numba's pass; it says where variables end only in functions that count references."""

    _name = "pliant_ir_legalization"

    def run_pass(self, state):
        return True if not state.targetctx.enable_nrt else super().run_pass(state)


def makes_arrays(state) -> bool:
    """Whether a typed function may own an array: it gives one back, or has one from other than views and arguments."""

    def holds(variable) -> bool:
        return state.targetctx.data_model_manager[state.typemap[variable.name]].contains_nrt_meminfo()

    def owns(statement) -> bool:
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem, ir.Return)):  # items that overlap are copied
            return holds(statement.value)
        value = getattr(statement, "value", None)
        if not isinstance(value, ir.Expr):
            return False
        if value.op == "call":
            called = state.typemap[value.func.name]
            unknown = not isinstance(called, types.Dispatcher) and getattr(called, "typing_key", None) is not len
            return holds(statement.target) or (unknown and any(map(holds, value.args)))
        if value.op == "getitem":  # arrays of indices copy
            return holds(value.index)
        parts = value.op in VIEWS or isinstance(state.typemap[statement.target.name], types.BaseTuple)
        return not parts and holds(statement.target)

    statements = (statement for block in state.func_ir.blocks.values() for statement in block.body)
    return state.flags.auto_parallel.enabled or any(map(owns, statements))


SUBSTITUTES = {NopythonTypeInference: _TypeInference, IRLegalization: _Legalization}
"""Passes of Numba's, and what runs in their place."""
