"""Every promise in docs/promises.md names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_promise_is_held_by_a_test():
    held = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "promises.md").read_text())
    assert len(held) > 30
    for file, name in held:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"
