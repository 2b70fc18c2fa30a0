"""A session whose chats are in memory.

`test_many_chats` and the contract of stores say that chats in a database are the same.
"""

from __future__ import annotations

import pytest

from chat.chat_bench import ChatBench
from paceline.storage.archive import ConversationStore


@pytest.fixture
def store() -> ConversationStore:
    return ConversationStore()


@pytest.fixture
def bench(store: ConversationStore) -> ChatBench:
    return ChatBench(store)
