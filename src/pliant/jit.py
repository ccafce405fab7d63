"""How pliant compiles: one place for Numba's flags and for the folder of compiled code.

`formula` is for the physics (scalars and tuples in, scalars and tuples out; inlined into every caller, CPU or CUDA);
`kernel` is for loops over arrays; `parallel_kernel` for loops whose iterations may run on several threads.
"""

import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# Threads that wait for others sleep soon instead of spinning: a busy machine would otherwise stall every parallel
# region.
os.environ.setdefault("GOMP_SPINCOUNT", "4000")

import numba
from numba import config

from pliant.errors import SceneError

# contract, arcp, nsz and reassoc let LLVM vectorise; "nnan"/"ninf" are left out so that NaN checks keep working.
FASTMATH = {"contract", "arcp", "nsz", "reassoc"}
# How many source versions keep their compiled code on disk.
KEPT_VERSIONS = 4
# Groups of lanes below which one thread is quicker: a parallel region costs several microseconds.
SERIAL_GROUPS = 96


@cache
def cache_folder() -> Path:
    """Folder of compiled code; its name holds a hash of the package's sources (Numba misses edits in imports)."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    root = Path(os.environ.get("PLIANT_CACHE") or _default_cache_root())
    folder = root / f"{digest.hexdigest()[:16]}-numba{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old_versions(root)
    except OSError:  # a read-only home: compiled code then lives as long as the machine's temporary folder
        folder = Path(tempfile.gettempdir()) / f"pliant-{os.getuid()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _default_cache_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pliant"


def _forget_old_versions(root: Path) -> None:
    folders = sorted((p for p in root.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in folders[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)


def formula(function):
    """Compile a scalar/tuple formula so that it disappears into its caller and the caller's lane loop vectorises."""
    return numba.njit(fastmath=FASTMATH, error_model="numpy", forceinline=True)(function)


def kernel(function=None, *, parallel: bool = False):
    """Compile a loop over arrays, cached on disk in `cache_folder()`."""

    def decorate(python_function):
        return kernel_in(cache_folder(), python_function, parallel=parallel)

    return decorate if function is None else decorate(function)


def kernel_in(folder: Path, function, *, parallel: bool = True):
    """Compile a loop over arrays, cached on disk in a folder of its own."""
    user_folder = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, fastmath=FASTMATH, error_model="numpy", nogil=True, parallel=parallel)(function)
    finally:
        config.CACHE_DIR = user_folder


def parallel_kernel(function):
    """Like `kernel`, with `prange` loops on several threads. Write so that no result depends on their number."""
    return kernel(function, parallel=True)


def thread_count(threads: int | None, groups: int) -> int:
    """Threads to use for that many groups of lanes: as asked, or all cores, but one for small systems."""
    most = config.NUMBA_NUM_THREADS
    if threads is not None and (not isinstance(threads, int) or not 1 <= threads <= most):
        raise SceneError(f"threads must be a whole number from 1 to {most} on this machine, got {threads!r}")
    if threads is None and groups < SERIAL_GROUPS:
        return 1
    return threads or most


@contextmanager
def use_threads(count: int):
    """Run with that many threads, then as before."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
