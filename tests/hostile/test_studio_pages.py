"""Requests of pages to the studio: an answer or an error in words, and a refused edit changes nothing."""

import asyncio
import copy

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")

from hypothesis import strategies as st

import studio_pages
from limits import limited, trials
from pliant.studio import stage

pytestmark = pytest.mark.hostile
COUNT = {"cases": 0, "requests": 0, "refused": 0}


async def one_page(draw, note, folder) -> None:
    """A few requests of a page."""
    session, client = await studio_pages.session_in(folder)
    try:
        for _ in range(draw(st.integers(1, 5))):
            text = studio_pages.request(draw, session)
            note(text[:1000])
            before = copy.deepcopy(session.history.tables)
            client.notes.clear()
            with limited(seconds=20):  # a step, a picture
                await session.answer(client, text)
                COUNT["requests"] += 1
                if any('"error"' in said for said in client.notes):
                    COUNT["refused"] += 1
                    assert session.history.tables == before, "a request that was refused has changed the scene"
        while session.history.undos:
            session.history.undo()
    finally:
        await session.close()


def test_requests_of_pages_are_answered_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "PATIENCE", 100.0)
    trials(lambda draw, note: asyncio.run(one_page(draw, note, tmp_path)), COUNT)
