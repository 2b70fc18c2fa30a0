"""An intact database of 80 chats, and the same with damage."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import NamedTuple

from paceline.content import of_text
from paceline.conversation import ViewPlace
from paceline.storage.archive import Archive
from storage.chats import chat, record

N_CHATS, N_TEXTS = 80, 4
PAGE = 4096


class Whole(NamedTuple):
    """An intact database.

    Attributes:
        path: Its file.
        data: Its bytes.
        page_of: The page, from 0, that holds each text.
        inner: The pages that hold no rows, but lead to those that do.
    """

    path: Path
    data: bytes
    page_of: dict[str, int]
    inner: frozenset[int]

    def with_one_byte_changed(self, drawn: random.Random) -> tuple[bytes, set[str]]:
        """Return other bytes, and the texts that must still be readable."""
        data = bytearray(self.data)
        at = drawn.randrange(len(data))
        data[at] ^= drawn.randrange(1, 256)
        page = at // PAGE
        if page in self.inner:  # it leads to many rows, which the kept copy alone still has
            return bytes(data), set()
        return bytes(data), {text for text, its_page in self.page_of.items() if its_page != page}

    def with_a_page_of_noise(self, drawn: random.Random) -> tuple[bytes, set[str]]:
        """Return other bytes, and the texts that must still be readable."""
        page = drawn.randrange(len(self.data) // PAGE)
        data = bytearray(self.data)
        data[page * PAGE : (page + 1) * PAGE] = drawn.randbytes(PAGE)
        if page in self.inner:
            return bytes(data), set()
        return bytes(data), {text for text, its_page in self.page_of.items() if its_page != page}

    def with_its_end_cut_off(self, drawn: random.Random) -> tuple[bytes, set[str]]:
        """Return fewer bytes, and the texts that must still be readable."""
        n = drawn.randrange(len(self.data))
        return self.data[:n], {text for text, page in self.page_of.items() if page < n // PAGE}


def text_of(i: int, k: int) -> str:
    """Text number k of chat number i."""
    return f"<text {i} {k}> " + "word " * (i % 7)


def made_whole(path: Path) -> Whole:
    """Write such a database."""
    archive = Archive(path)
    archive.open()
    for i in range(N_CHATS):
        made = chat(f"chat-{i}", *(text_of(i, k) for k in range(N_TEXTS)), title=f"title {i}")
        archive.save(made, list(made.messages))
        for k in range(1, N_TEXTS, 2):
            run = record(f"chat-{i}-{k}", "some ", "steps")
            archive.end_run(f"chat-{i}", run, of_text(text_of(i, k)))
        archive.save_place(f"chat-{i}", ViewPlace(f"chat-{i}-1", 5))
        if i % 5 == 0:
            archive.save_unsent(f"chat-{i}", f"unsent {i}")
    assert archive.close()
    data = path.read_bytes()
    texts = [text_of(i, k) for i in range(N_CHATS) for k in range(N_TEXTS)]
    page_of = {text: data.index(text.encode()) // PAGE for text in texts}
    connection = sqlite3.connect(path)
    inner = connection.execute("SELECT pageno - 1 FROM dbstat WHERE pagetype = 'internal'")
    found = Whole(path, data, page_of, frozenset(number for (number,) in inner))
    connection.close()
    return found
