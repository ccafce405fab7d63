"""Writing files so that a reader, or a crash, never sees half of one."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pliant.errors import FileError


@contextmanager
def naming(path: str | os.PathLike, doing: str = "cannot be written") -> Iterator[None]:
    """Turn errors of the operating system inside the block into a FileError that names the file and says why."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: {doing}: {error.strerror or error}") from error


@contextmanager
def write_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary path beside `path` (same suffix); when the block ends well it takes the place of `path`.

    Missing parent folders are made. If the block raises, the temporary file is removed and `path` stays as it was; what
    the operating system refuses is a FileError.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem[:40]}.{uuid.uuid4().hex[:12]}.tmp{path.suffix}")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield temporary
            os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike) -> None:
    """Find out now whether `path` can be written later; a FileError where its folder takes no file."""
    path = Path(path)
    with naming(path):
        if path.is_dir():
            raise FileError(f"{path}: cannot be written: there is a folder of that name")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
