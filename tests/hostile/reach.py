"""Which part of the code the generators reach: lines of functions that were run, by room.

Compiled code (kernels and formulas) is not seen. `make test-reach` prints the table.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pliant

PACKAGE = Path(pliant.__file__).parent
COMPILED = ("kernels", "formulas")


class Reach:
    """Lines of functions that have not been run yet. A function all of whose lines were run is traced no more."""

    def __init__(self):
        self.left: dict[tuple[str, int], set[int]] = {}
        self.whole: dict[tuple[str, int], int] = {}
        for path in sorted(PACKAGE.rglob("*.py")):
            if path.relative_to(PACKAGE).parts[0] not in COMPILED:
                self._count(path)

    def _count(self, path: Path) -> None:
        for code in functions(compile(path.read_text(encoding="utf-8"), str(path), "exec")):
            lines = {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
            self.left[key(code)], self.whole[key(code)] = lines, len(lines)

    def start(self) -> None:
        sys.settrace(self.enter)

    def enter(self, frame: FrameType, event: str, _):
        """A function is called: follow it where it has lines that were not run."""
        left = self.left.get(key(frame.f_code)) if frame.f_code.co_filename.startswith(str(PACKAGE)) else None
        if not left:
            return None

        def line(frame: FrameType, event: str, _):
            if event == "line":
                left.discard(frame.f_lineno)
            return line

        return line

    def table(self) -> str:
        """The rooms with how many lines of functions they have, and how many of these were run."""
        rooms: dict[str, list[int]] = {}
        for (file, first), count in self.whole.items():
            room = rooms.setdefault(Path(file).relative_to(PACKAGE).parts[0], [0, 0])
            room[0] += count
            room[1] += count - len(self.left[file, first])
        rooms["all"] = [sum(each) for each in zip(*rooms.values())]
        lines = [
            f"{name:20s} {whole:6d} lines {100 * run / max(whole, 1):5.0f} %" for name, (whole, run) in rooms.items()
        ]
        return "\n".join(lines)

    def unreached(self) -> Iterator[str]:
        """Functions of which no line was run."""
        for (file, first), left in self.left.items():
            if left and len(left) == self.whole[file, first]:
                yield f"{Path(file).relative_to(PACKAGE)}:{first}"


def key(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def functions(code: CodeType) -> Iterator[CodeType]:
    """The functions in a module, without what runs as it is imported."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x02:  # CO_NEWLOCALS: not the body of a class
                yield constant
            yield from functions(constant)
