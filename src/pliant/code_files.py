"""Compiled code of a function on disk: where it lies, under which names, and what happens when it cannot be read."""

import contextlib
from hashlib import sha256

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator


class _CacheFile(IndexDataCacheFile):
    """Compiled code on disk. What cannot be read, because it is damaged or names classes that are no longer there, is
    compiled again; what cannot be written, because the disk is full or the folder has gone, is used without."""

    def save(self, key, data) -> None:
        """Keep code under a name that is its own: Numba numbers names, and two processes may take one for two codes."""
        name = f"{self._index_name.removesuffix('.nbi')}.{sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        with contextlib.suppress(OSError):
            self._save_data(name, data)
            self._save_index(self._load_index() | {key: name})

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:  # unpickling may raise anything
            return {}

    def load(self, key):
        try:
            return super().load(key)
        except Exception:
            return None


class _Place(_CacheLocator):
    """A folder of compiled code. Its name tells the sources apart, so neither their own folder nor the time at which
    they were put there count: any copy of pliant finds the code of another."""

    def __init__(self, folder: str, line: int):
        self.folder, self.line = folder, line

    def get_cache_path(self) -> str:
        return self.folder

    def get_source_stamp(self) -> None:
        return None

    def get_disambiguator(self) -> str:
        return str(self.line)


class _CacheNames(CompileResultCacheImpl):
    """Names of files of compiled code, in such a folder."""

    def __init__(self, function, folder: str):
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Place(folder, self._lineno)
        self._filename_base = self.get_filename_base(f"{function.__module__}.{function.__qualname__}", "")


class CodeFiles(FunctionCache):
    """The compiled code of one function on disk."""

    def __init__(self, function, folder: str):
        self._name, self._py_func = repr(function), function
        self._impl, self._cache_path = _CacheNames(function, folder), folder
        self._cache_file = _CacheFile(folder, self._impl.filename_base, None)
        self.enable()

    def kept(self, target_context) -> list[tuple]:
        """The signatures of which there is code on disk that this process can use."""
        target_context.refresh()
        codegen = target_context.codegen()
        return [key[0] for key in self._cache_file._load_index() if key == self._index_key(key[0], codegen)]

    def _save_overload(self, sig, data) -> None:
        with contextlib.suppress(OSError):  # the folder cannot be made
            super()._save_overload(sig, data)
