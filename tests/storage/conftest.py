"""An archive in a folder of its own, closed at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paceline.storage.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The place for the database of a test."""
    return tmp_path / "data" / "chats.db"


@pytest.fixture
def open_archive(db: Path) -> Iterator[Callable[[], Archive]]:
    """Opens the database; whatever was opened is closed at the end."""
    opened: list[Archive] = []

    def open_one() -> Archive:
        archive = Archive(db)
        archive.open()
        opened.append(archive)
        return archive

    yield open_one
    for archive in opened:
        archive.close()
