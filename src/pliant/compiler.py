"""Numba's compiler, told what pliant's code is for: Python calls kernels, and nothing but kernels calls the rest.

Numba makes machine code of every function as soon as it is compiled, with wrappers for callers in Python and in C.
Here only kernels that Python calls become machine code, with one wrapper. What they call, and the bodies of their
parallel loops, stays LLVM code, hardly optimised, that is linked into every kernel which needs it and optimised there.
"""

import contextlib
from types import CodeType

from llvmlite.binding import Linkage, parse_assembly
from numba.core import untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import _FunctionCompiler
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    NativeLowering,
    NativeParforLowering,
    NopythonRewrites,
)
from numba.core.types import Integer, int64, unliteral
from numba.parfors.parfor_lowering import ParforLower

from pliant.code_files import CodeFiles
from pliant.interruptions import interruptions_later
from pliant.notices import COMPILING
from pliant.passes import FOREIGN, SUBSTITUTES
from pliant.shortcuts import no_collecting, shortcuts
from pliant.wrapping import KernelWrapper, can_wrap

# How LLVM links functions of which several libraries have a copy.
SHARED = {Linkage.linkonce_any, Linkage.linkonce_odr, Linkage.weak_any, Linkage.weak_odr}


class _Library(JITCodeLibrary):
    """A library that spends no time on functions it only declares."""

    def _optimize_functions(self, ll_module) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class InnerLibrary(_Library):
    """LLVM code of one function for kernels to link; made into machine code only if Python asks for its address."""

    def __init__(self, codegen, name):
        super().__init__(codegen, name)
        self.environments = {}
        self._emitted = None

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment) -> None:
        """Note what Numba would write into machine code, for the kernels that link this."""
        self.environments[name] = environment

    def finalize(self) -> None:
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def module(self):
        """The function's own code, without what it calls."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self):
        """The function's code with what it calls, for libraries other than kernels."""
        if self._shared_module is None:
            module = self.module.clone()
            for library in inner_libraries(self._linking_libraries):
                module.link_in(library.module, preserve=True)
            for library in other_libraries(self):
                module.link_in(library._get_module_for_linking(), preserve=True)
            self._shared_module = module
        return self._shared_module

    def get_pointer_to_function(self, name) -> int:
        """Address of machine code, if this library has such a function at all; wrappers of Numba's own code are not."""
        if all(function.name != name or function.is_declaration for function in self.module.functions):
            return 0
        if self._emitted is None:
            module = self._get_module_for_linking().clone()
            module.get_function(name).linkage = Linkage.external
            self._emitted = KernelLibrary(self._codegen, self._name)
            self._emitted.environments = self.environments
            self._emitted.add_llvm_module(module)
        return self._emitted.get_pointer_to_function(name)


class KernelLibrary(_Library):
    """Machine code of one kernel that calls no code of another library.

    Numba gives a kernel weak copies of the functions it calls and of the bodies of its parallel loops. Which copy runs
    depends on what else the process has loaded: after compiling, the one compiled first; from the cache, the kernel's
    own, so that products and sums may be fused and rounded otherwise. Private copies are the only ones a kernel can
    run, so its results have the same bits in every process.
    """

    def __init__(self, codegen, name):
        super().__init__(codegen, name)
        self.environments = {}

    def finalize(self) -> None:
        inner = inner_libraries(self._linking_libraries)
        self._linking_libraries = other_libraries(self)
        for library in inner:
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library.module, preserve=True)
        super().finalize()
        self.environments = {name: value for library in (self, *inner) for name, value in library.environments.items()}
        known = {variable.name for variable in self._final_module.global_variables}
        for name in known & set(self.environments):
            self._codegen.set_env(name, self.environments[name])

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage in SHARED and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()

    def _get_module_for_linking(self):
        """The names of its functions with nothing behind them: no code links a kernel, and Numba, which keeps this on
        disk beside the machine code, looks there for names alone. To load LLVM code takes twice as long again."""
        self._ensure_finalized()
        if self._shared_module is None:
            own = (each for each in self._final_module.functions if each.linkage == Linkage.external)
            names = [each.name for each in own if not each.is_declaration]
            self._shared_module = parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in names))
        return self._shared_module


def inner_libraries(libraries) -> list[InnerLibrary]:
    """Those of the libraries that have no machine code, and all such that they link: callers before what they call."""
    found: dict[InnerLibrary, None] = {}

    def visit(library) -> None:
        if isinstance(library, InnerLibrary) and library not in found:
            for called in library._linking_libraries:
                visit(called)
            found[library] = None

    for library in libraries:
        visit(library)
    return list(reversed(found))


def other_libraries(library) -> list[JITCodeLibrary]:
    """Libraries with machine code of their own that a library links, or that one of its inner libraries does."""
    every = [library, *inner_libraries(library._linking_libraries)]
    linked = dict.fromkeys(each for one in every for each in one._linking_libraries)
    return [each for each in linked if not isinstance(each, InnerLibrary)]


@contextlib.contextmanager
def inner_code(codegen):
    """Let all libraries made meanwhile be inner ones."""
    before = codegen._library_class
    codegen._library_class = InnerLibrary
    try:
        with no_collecting(), shortcuts():
            yield
    finally:
        codegen._library_class = before


class _Lower(ParforLower):
    """Lowering of a kernel: bodies of parallel loops get no wrappers, the kernel one for Python."""

    _disable_sroa_like_opt = False  # variables that parallel loops may hide from it are never among them

    def lower(self) -> None:
        super().lower()
        if not can_wrap(self.fndesc):
            self.create_cpython_wrapper(self.flags.release_gil)

    def lower_normal_function(self, fndesc) -> None:
        super().lower_normal_function(fndesc)
        if can_wrap(fndesc):
            KernelWrapper(self, self.flags.release_gil).build()


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """Numba's pass, with that lowering."""

    _name = "pliant_kernel_lowering"
    lowering_class = _Lower


class _LeanCompiler(Compiler):
    """Numba's compiler without passes that a function has no use for."""

    def unused(self) -> set[type]:
        """Passes for what pliant's functions never have; inlining of closures where there are none, rewriting of array
        expressions in formulas."""
        nested = any(isinstance(constant, CodeType) for constant in self.state.func_id.code.co_consts)
        flags, unused = self.state.flags, set(FOREIGN)
        if not nested and not flags.auto_parallel.enabled:
            unused |= {untyped_passes.InlineClosureLikes, untyped_passes.MakeFunctionToJitFunction}
        return unused | ({NopythonRewrites} if flags.forceinline else set())

    def define_pipelines(self):
        pipelines, unused = super().define_pipelines(), self.unused()
        for pipeline in pipelines:
            pipeline.passes = [(self.substitute(which), text) for which, text in pipeline.passes if which not in unused]
            pipeline.finalize()
        return pipelines

    def substitute(self, which: type) -> type:
        """The pass to run instead of one of Numba's."""
        return SUBSTITUTES.get(which, which)


class KernelCompiler(_LeanCompiler):
    """Compiles kernels that Python calls, each with a library of its own."""

    def substitute(self, which: type) -> type:
        return _KernelLowering if which in (NativeLowering, NativeParforLowering) else super().substitute(which)

    def _compile_core(self):
        codegen = self.state.targetctx.codegen()
        self.state.library = KernelLibrary(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        with COMPILING.noticed(), inner_code(codegen):
            return super()._compile_core()


class InnerCompiler(_LeanCompiler):
    """Compiles what kernels call."""

    def _compile_core(self):
        codegen = self.state.targetctx.codegen()
        self.state.library = InnerLibrary(codegen, self.state.func_id.func_qualname)
        with inner_code(codegen):
            return super()._compile_core()


class _Flags(Flags):
    """Numba's flags, compared in less time: the hash of all is one number, and they are looked up at every call."""

    __slots__ = ()
    HASH = hash(Flags())

    def __hash__(self):
        return self.HASH

    def __eq__(self, other):
        return self._values == other._values if type(other) is _Flags else super().__eq__(other)


class _FlaggedCompiler(_FunctionCompiler):
    """Numba's compiler of a function, with such flags."""

    def _customize_flags(self, flags):
        """Wrappers are made by the kernel's lowering alone; formulas make no arrays, so they count no references."""
        flags = _Flags(flags)
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.nrt = flags.nrt and not flags.forceinline
        return flags


class _Dispatcher(CPUDispatcher):
    """A dispatcher whose compiler has such flags."""

    def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=InnerCompiler):
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._compiler = _FlaggedCompiler(py_func, self.targetdescr, self.targetoptions, self.locals, pipeline_class)

    def compile(self, sig):
        """Compile, unless that has been done: Numba asks at every call."""
        known = self.overloads.get(sig) if isinstance(sig, tuple) else None
        return super().compile(sig) if known is None else known.entry_point


class Kernel(_Dispatcher):
    """A function with machine code for callers in Python, and LLVM code, compiled apart, for other compiled code."""

    def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=KernelCompiler):
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._inner = None

    @property
    def inner(self) -> CPUDispatcher:
        """The same function for compiled callers."""
        if self._inner is None:
            self._inner = _Dispatcher(self.py_func, self.locals, self.targetoptions)
        return self._inner

    def keep_in(self, folder: str) -> None:
        """Keep compiled code in a folder."""
        self._cache = CodeFiles(self.py_func, folder)

    def load_kept(self) -> None:
        """Load all that is kept of it on disk, so that its first call need not; what is not there is left to that."""
        for signature in self._cache.kept(self.targetctx):
            self.compile(signature)

    def compile(self, sig):
        """Compile, or load; Ctrl-C waits for it, because an exception in the midst of LLVM's work may crash it."""
        with interruptions_later():
            return super().compile(sig)

    def get_call_template(self, args, kws):
        """What the inner function returns for such arguments, with one kind of integers: int64, not constants."""
        _, args = self._compiler.fold_argument_types(args, kws)
        args = [int64 if isinstance(unliteral(kind), Integer) else kind for kind in args]
        return self.inner.get_call_template(args, {})

    def get_overload(self, sig):
        return self.inner.get_overload(sig)


def compiled(function, **options) -> Kernel:
    """The function as a kernel with Numba's options."""
    return Kernel(function, targetoptions={**options, "nopython": True, "boundscheck": None})
