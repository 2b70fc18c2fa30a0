"""Sessions on either store: what is told of one must be true of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from paceline.storage.archive import Archive, ConversationStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["memory", "archive"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConversationStore]:
    if request.param == "memory":
        yield ConversationStore()
        return
    archive = Archive(tmp_path / "chats.db")
    archive.open()
    yield archive
    assert archive.close()


@pytest.fixture
def bench(store: ConversationStore) -> ChatBench:
    return ChatBench(store)
