"""The rules of the house: who may import whom, and that files stay small enough to read."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "pliant").rglob("*.py"))


def test_import_rules_hold(capsys):
    cli = pytest.importorskip("importlinter.cli")
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 360
    assert not lines or lines[0].startswith('"""')


def test_every_room_is_in_the_architecture_page():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.relative_to(ROOT / "src" / "pliant").parts[0] for path in SOURCES} - {"__init__.py", "_version.py"}
    assert not [room for room in sorted(rooms) if f"`{room}" not in page]
