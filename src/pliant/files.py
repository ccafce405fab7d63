"""Writing files so that a reader, or a crash, never sees half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary path beside `path` (same suffix); when the block ends well it takes the place of `path`.

    Missing parent folders are made. If the block raises, the temporary file is removed and `path` stays as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
