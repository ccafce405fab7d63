"""How pliant compiles: one place for Numba's flags and for the folders of compiled code.

`formula` is for the physics (scalars and tuples in, scalars and tuples out; inlined into every caller, CPU or CUDA);
`kernel` is for loops over arrays; `parallel_kernel` for loops whose iterations may run on several threads.

Compiled code lies in `CACHE/pliant-compiled/MODULE-HASH`, one folder for each compiled module and version of the
sources it is made of: an edit recompiles the modules that import the edited file, and no others.
"""

import ast
import atexit
import contextlib
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

# Threads that wait for others sleep soon instead of spinning: a busy machine would otherwise stall every parallel
# region.
os.environ.setdefault("GOMP_SPINCOUNT", "4000")

from pliant.errors import SceneError

# More threads than any machine has.
MOST_THREADS = 1024

_threads = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
if re.fullmatch(r"[+-]?\d+", _threads) and not 1 <= float(_threads) <= MOST_THREADS:
    # Numba would say so in a traceback, or crash
    raise SceneError(
        f"the environment variable NUMBA_NUM_THREADS must be from 1 to {MOST_THREADS}, it is {_threads:.20}"
    )

import numba  # noqa: E402
from llvmlite.binding import get_host_cpu_name  # noqa: E402
from numba import config  # noqa: E402

from pliant.compiler import compiled  # noqa: E402
from pliant.notices import COMPILING  # noqa: E402

# contract, arcp, nsz and reassoc let LLVM vectorise; "nnan"/"ninf" are left out so that NaN checks keep working.
FASTMATH = {"contract", "arcp", "nsz", "reassoc"}
# Part of every hash, in place of this file's text and `compiler.py`'s: raise it when they change the compiled code.
RECIPE = 10
# How many versions of a module keep their compiled code on disk.
KEPT_VERSIONS = 4
# Seconds after which any version that was not used goes.
FORGOTTEN_AFTER = 90 * 24 * 3600
# Groups of lanes below which one thread is quicker: a parallel region costs several microseconds.
SERIAL_GROUPS = 96

PACKAGE = Path(__file__).parent
HOME = "pliant-compiled"
# Only folders with such a name and with such a file inside are ever removed.
VERSION_NAME = re.compile(r"([\w.]+)-[0-9a-f]{16}")
MARKER = "made-by-pliant"
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+pliant\b[^(\n]*(?:\([^)]*\))?", re.MULTILINE)


# ---- which sources a module is made of


def sources(module: str, package: Path = PACKAGE) -> list[Path]:
    """Files of a module (of all modules, for a package) and of every module of the package that they import, sorted.

    Imports by imports count too; this file and the compiler do not (`RECIPE` does), an `__init__` only if a name comes
    from it.
    """
    found: set[Path] = set()
    waiting = _files(module, package)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imported_files(path, package))
    return sorted(found)


@cache
def source_hash(module: str, package: Path = PACKAGE) -> str:
    """16 hexadecimal digits of everything that compiled code of the module depends on."""
    settings = (RECIPE, sorted(FASTMATH), numba.__version__, sys.version_info[:3], _cpu())
    parts = [(path.name, _digest(path)) for path in sources(module, package)]
    return hashlib.sha256(repr((settings, parts)).encode()).hexdigest()[:16]


@cache
def _cpu() -> str:
    return get_host_cpu_name()


@cache
def _read(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(_read(path)).hexdigest()


@cache
def _modules(package: Path) -> dict[str, Path]:
    """Files of the package's modules by their names; a package's is its `__init__`. Without this file."""
    found = {}
    for folder, _, files in os.walk(package):
        names = ["pliant", *Path(folder).relative_to(package).parts]
        for file in files:
            if file.endswith(".py"):
                found[".".join(names if file == "__init__.py" else [*names, file[:-3]])] = Path(folder, file)
    return {name: path for name, path in found.items() if name != "pliant.jit"}


def _files(module: str, package: Path) -> list[Path]:
    """The file of a module, or all files of a package; of a module from elsewhere, the file it was read from."""
    modules = _modules(package)
    if module in modules and modules[module].name != "__init__.py":
        return [modules[module]]
    inside = [path for name, path in modules.items() if f"{name}.".startswith(f"{module}.")]
    file = getattr(sys.modules.get(module), "__file__", None)
    return inside or ([Path(file)] if file else [])


@cache
def _imported_files(path: Path, package: Path) -> set[Path]:
    """Files of the package's modules that a file imports."""
    modules = _modules(package)
    found = {modules.get(f"{module}.{name}") or modules.get(module) for module, name in _imports(_read(path).decode())}
    return found - {None}


def _imports(text: str) -> set[tuple[str, str]]:
    """(module, name) of all imports from the package, wherever they stand in a text; a plain import has no name."""
    try:
        nodes = ast.parse("\n".join(map(str.lstrip, IMPORT.findall(text)))).body
    except SyntaxError:  # something that is no import looks like one
        nodes = list(ast.walk(ast.parse(text)))
    plain = {(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {(node.module or "", a.name) for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
    return plain | named


# ---- where compiled code lies


@cache
def cache_folder(module: str = "pliant.kernels") -> Path:
    """Folder of a module's compiled code, there and ours; unless told, one that changes with any kernel's sources."""
    home, name = _home(), f"{module}-{source_hash(module)}"
    with contextlib.suppress(OSError):
        if not (home / name / MARKER).is_file():
            _forget_old_versions(home, module)
        folder = _made(home / name)
        if os.access(folder, os.W_OK):
            return folder
    return _made(_temporary_home() / name)


def _made(folder: Path) -> Path:
    """Make the folder, for this user only, unless it is there; its marker says when it was last used."""
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / MARKER).touch()
    return folder


@cache
def _home() -> Path:
    """The folder of all compiled code, made where it is not there: the first that is ours alone and can be written."""
    for place in (_cache_home, _shared_temporary_home):
        with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
            folder = place()
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if is_ours(folder) and can_write(folder):
                COMPILING.kept_in = folder
                return folder
    return _temporary_home()


def _cache_home() -> Path:
    if root := os.environ.get("PLIANT_CACHE"):
        return Path(root).absolute() / HOME
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pliant" / HOME


def _shared_temporary_home() -> Path:
    """A folder that this user's processes share until the machine forgets its temporary files."""
    return Path(tempfile.gettempdir()) / f"{HOME}-{_user()}"


@cache
def _temporary_home() -> Path:
    """A new folder that goes when the process ends."""
    folder = tempfile.mkdtemp(prefix=f"{HOME}-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_ours(folder: Path) -> bool:
    """Whether it is a folder, no link to one, of this user, where no other may write: code from there will run."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return False
    return os.name != "posix" or (found.st_uid == _user() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _user() -> int:
    return os.geteuid() if os.name == "posix" else 0


def can_write(folder: Path) -> bool:
    """Whether a file can be made there (permissions do not tell: the whole file system may be read-only)."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _forget_old_versions(home: Path, module: str) -> None:
    """Remove versions of the module but the last used, to make room for one more, and what was not used for long."""
    used = {path: _last_used(path) for path in home.iterdir() if _is_version(path)}
    own = sorted((path for path in used if VERSION_NAME.fullmatch(path.name)[1] == module), key=used.get, reverse=True)
    unused = [path for path in used if used[path] < time.time() - FORGOTTEN_AFTER]
    for path in {*own[KEPT_VERSIONS - 1 :], *unused}:
        shutil.rmtree(path, ignore_errors=True)


def _is_version(path: Path) -> bool:
    return bool(VERSION_NAME.fullmatch(path.name)) and not path.is_symlink() and (path / MARKER).is_file()


def _last_used(version: Path) -> float:
    try:
        return (version / MARKER).stat().st_mtime
    except OSError:  # another process has just removed it
        return 0.0


# ---- compiling


def formula(function):
    """Compile a scalar/tuple formula so that it disappears into its caller and the caller's lane loop vectorises."""
    return compiled(function, fastmath=FASTMATH, error_model="numpy", forceinline=True)


def kernel(function=None, *, parallel: bool = False, ordered: bool = False):
    """Compile a loop over arrays, cached on disk in the `cache_folder` of its module."""

    def decorate(python_function):
        return kernel_in(cache_folder(python_function.__module__), python_function, parallel=parallel, ordered=ordered)

    return decorate if function is None else decorate(function)


def kernel_in(folder: Path, function, *, parallel: bool = True, ordered: bool = False):
    """Compile a loop over arrays, cached on disk in a folder of its own; ordered: sums are taken as they are written,
    so that no loop over what is summed becomes vectors of numbers gathered from all over."""
    fast = FASTMATH - {"reassoc"} if ordered else FASTMATH
    options = {"fastmath": fast, "error_model": "numpy", "forceinline": False, "nogil": True, "parallel": parallel}
    dispatcher = compiled(function, **options)
    dispatcher.keep_in(str(folder))
    return dispatcher


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


def check_threads() -> int:
    """How many threads kernels run on. Refuse layers of threads that are not there, and processes that were forked from
    one whose threads had begun: they would end without a word."""
    if _FORKED:
        raise SceneError(
            "this process was forked from one that has simulated already, and its threads did not come along; start "
            'processes afresh, with multiprocessing.set_start_method("spawn")'
        )
    try:
        return numba.get_num_threads()  # begins them
    except ValueError as error:
        raise SceneError(f"the environment variable NUMBA_THREADING_LAYER: {' '.join(str(error).split())}") from None


_FORKED: list[int] = []
"""This process, if it was forked from one whose threads had begun."""


def _note_fork() -> None:
    with contextlib.suppress(ValueError):  # no threads yet
        if numba.threading_layer() == "omp":
            _FORKED.append(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@contextlib.contextmanager
def use_threads(count: int):
    """Run with that many threads, then as before."""
    before = check_threads()
    if before == count:
        yield
        return
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
