"""The log of a session, from which unsaved work is recovered after a crash: the tables it began with, and every command
since. It is a hidden file in the folder of the studio, which goes when the scene is saved or left."""

import copy
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pliant.errors import SceneError
from pliant.files import write_atomically
from pliant.studio import commands

PATTERN = ".pliant-studio-*.json"
LARGEST = 64 * 2**20


class Log:
    """What a studio writes down of its unsaved edits."""

    def __init__(self, home: Path):
        self.path = home / f".pliant-studio-{secrets.token_hex(4)}.json"

    def write(self, name: str | None, start: dict[str, Any], done: Sequence[commands.Command]) -> bool:
        """Write the log; whether that was possible: a folder that cannot be written has none."""
        if not done:
            self.close(True)
            return True
        data = {"pid": os.getpid(), "name": name, "tables": start, "commands": list(map(commands.serialise, done))}
        with suppress(OSError), write_atomically(self.path) as temporary:
            temporary.write_text(json.dumps(data), encoding="utf-8")
            return True
        return False

    def close(self, saved: bool) -> None:
        """Delete the log, unless there is something in it that has not been saved."""
        if saved:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Lost:
    """Unsaved work of a studio that is gone."""

    path: Path
    name: str | None
    tables: dict[str, Any]
    commands: list[Any]

    @property
    def summary(self) -> str:
        """What it is, in words."""
        when = datetime.fromtimestamp(self.path.stat().st_mtime) if self.path.exists() else datetime.now()
        edits = f"{len(self.commands)} edit{'s' * (len(self.commands) != 1)}"
        return f"{edits} of {self.name or 'a scene without a name'}, {when:%d %B, %H:%M}"

    def history(self) -> commands.History:
        """The tables with their commands done, so that they can also be undone."""
        history = commands.History(copy.deepcopy(self.tables))
        for command in self.commands:
            history.do(commands.deserialise(command))
        return history

    def forget(self) -> None:
        """Delete it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def find_lost(home: Path) -> Lost | None:
    """The latest log in a folder whose studio runs no more; None if there is none that can be read."""
    logs = sorted(home.glob(PATTERN), key=lambda path: -path.stat().st_mtime if path.exists() else 0)
    for path in logs:
        with suppress(OSError, ValueError, KeyError, TypeError, SceneError):
            if path.is_symlink() or path.stat().st_size > LARGEST:
                continue
            data = json.loads(path.read_text(encoding="utf-8"))
            name, tables, done = data["name"], data["tables"], data["commands"]
            shaped = isinstance(tables, dict) and isinstance(done, list) and isinstance(name, str | None)
            if not shaped or not done or alive(int(data["pid"])):
                continue
            lost = Lost(path, name, tables, done)
            lost.history()
            return lost
    return None


def alive(pid: int) -> bool:
    """Whether a process of that number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
