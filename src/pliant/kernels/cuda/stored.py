"""Compiled kernels on disk: a process that finds them there loads machine code instead of compiling for half a minute.

They lie in the folder of their module (`jit.cache_folder`), which an edit of any of its sources changes, in files named
by the kernel, what it is made for, and the types of its arguments.
"""

import contextlib
import hashlib
import importlib
import os
import pickle
import tempfile
from functools import cache
from pathlib import Path

from numba import config, cuda

from pliant.jit import cache_folder


@cache
def _versions() -> tuple:
    """Of what machine code depends on beside its sources: compiler, GPU."""
    names = ("numba_cuda", "cuda.bindings")
    found = [importlib.import_module(name).__version__ for name in names]
    return (*found, tuple(cuda.get_current_device().compute_capability))


def _described(kind) -> str:
    """A type in words; of a named tuple with its module, for users' laws have the same names, and of what is in it."""
    own = getattr(kind, "instance_class", None)
    inner = " ".join(_described(part) for part in getattr(kind, "types", ()) if hasattr(part, "instance_class"))
    return f"{kind} {own.__module__}.{own.__qualname__} {inner}" if own else str(kind)


class Stored:
    """The compiled versions of a kernel on disk, as Numba's dispatchers ask for them."""

    def __init__(self, module: str, name: str, key: tuple):
        self.module, self.name, self.key = module, name, key

    @property
    def cache_path(self) -> str:
        return str(cache_folder(self.module))

    def _file(self, signature) -> Path:
        parts = (self.name, self.key, [_described(kind) for kind in signature], _versions())
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        return Path(self.cache_path) / f"cuda-{self.name.rpartition('.')[2]}-{digest}.bin"

    def load_overload(self, signature, target_context):
        """The kernel for arguments of these types; None if there is none, or none that can be read."""
        kernels = importlib.import_module("numba.cuda.dispatcher")
        try:
            payload = pickle.loads(self._file(signature).read_bytes())
            return kernels._Kernel._rebuild(**payload)
        except Exception:  # whatever a damaged file, or one of another version, makes of it: it is compiled again
            return None

    def save_overload(self, signature, kernel) -> None:
        """Keep a kernel, if there is room; under another name until it is whole."""
        if kernel.launch_config_sensitive:  # made for one size of its grid alone
            return
        dumps = importlib.import_module("numba.cuda.serialize").dumps
        with contextlib.suppress(OSError, pickle.PicklingError):
            data, file = dumps(kernel._reduce_states()), self._file(signature)
            handle, name = tempfile.mkstemp(dir=file.parent)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            os.replace(name, file)

    def flush(self) -> None:
        """Numba's name for throwing them away, which `jit` does."""


def kernel(function=None, *, key: tuple = (), **options):
    """Compile a kernel, kept on disk; key: what a factory made it for. Options are those of Numba."""

    def decorate(python_function):
        if config.ENABLE_CUDASIM:  # the simulator knows no such options
            return cuda.jit(python_function)
        made = cuda.jit(**options)(python_function)
        made._cache = Stored(python_function.__module__, python_function.__qualname__, key)
        return made

    return decorate if function is None else decorate(function)
