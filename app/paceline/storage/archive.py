"""Stores of a session's conversations: in memory, or in the user's archive on the disk.

Writing appends to a queue (`Pending`), which a thread carries to the database (`writer`, `disk`).
Reading happens on the caller's thread: it waits until the queue is written, and then asks the
database (`reading`). What the disk does not take soon, or not at all, is read from a database in
memory meanwhile (`held`). Only a message that is sent or finished waits longer.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from paceline.codec import CodecError
from paceline.content import Content, with_texts
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Folder,
    SearchHit,
    ViewPlace,
    clean,
    clean_files,
)
from paceline.messages import StepCommitted
from paceline.run_record import RunRecord
from paceline.storage import reading, salvage
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SaveFolder,
    SavePlace,
    SaveUnsent,
    SaveUnsentFiles,
    is_shown,
    read_rescued,
    rescue,
    rescued,
    saved,
)
from paceline.storage.database import in_memory, transaction
from paceline.storage.disk import Disk
from paceline.storage.held import Held
from paceline.storage.problems import (
    BROKEN,
    Opened,
    StorageError,
    StorageProblem,
    is_damage,
    problem_of,
)
from paceline.storage.reading import Source
from paceline.storage.writer import FAILURES, Pending, Writer
from paceline.storage.writing import is_carried_out

_T = TypeVar("_T")
MAX_READ_WAIT_S, MAX_SHOWN_WAIT_S = 0.1, 0.5
"""Upper bounds of the wait for the writer, in seconds: of a read, and of a sent or finished
message."""

_SHORT_WAIT_FACTOR = 10
"""After a wait, reads wait less for this many times its duration, so that waits do not add up."""

_MAX_REPAIR_S = 10.0
_logger = logging.getLogger(__name__)


NEW_CHAT = ""
"""The id of unsent text in a chat without messages."""


def no_such_chat() -> StorageError:
    """Return the error to raise for a conversation that is not there."""
    return StorageError("no-such-chat", "This chat is not there any more.")


class ConversationStore:
    """Keeps conversations, run records, unsent text and where each conversation was left.

    In memory: private chats, tests, and where there is no database. The session's thread calls
    everything, and reads what was written before. Whether a conversation is private is not kept.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()

    @cached_property
    def _memory(self) -> sqlite3.Connection:
        return in_memory()

    # ------------------------------------------------------------------------------- reading

    def summaries(self) -> tuple[ConversationSummary, ...]:
        """All conversations that are not removed, in no particular order."""
        return self._read(reading.summaries)

    def folders(self) -> tuple[Folder, ...]:
        """All folders that are not removed, in no particular order."""
        return self._read(reading.folders)

    def gone(self, conversation_ids: Iterable[str]) -> frozenset[str]:
        """Return those of these conversations that are gone; another program may delete."""
        return self._read(reading.gone, tuple(conversation_ids))

    def load(self, conversation_id: str) -> Conversation:
        """One conversation with all messages; a reply that is under way with its text so far.

        Raises:
            StorageError: It is not there, or cannot be read.
        """
        found = self._read(reading.load, conversation_id)
        if found is None:
            raise no_such_chat()
        return found

    def runs(self, conversation_id: str) -> Mapping[str, RunRecord]:
        """The records of its replies by message id, without their steps."""
        return self._read(reading.records, conversation_id)

    def steps(self, message_id: str) -> tuple[StepCommitted, ...]:
        """The steps of one reply; empty where none are kept."""
        return self._read(reading.steps, message_id)

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Titles and messages that have all words of the text, best first; any text is valid."""
        return self._read(reading.search, text, limit)

    def unsent(self, conversation_id: str) -> str:
        """Text that was written in it, but not sent; see `NEW_CHAT`."""
        return self._read(reading.unsent, conversation_id)

    def unsent_files(self, conversation_id: str) -> tuple[Attachment, ...]:
        """Files that were attached in it, but not sent."""
        return self._read(reading.unsent_files, conversation_id)

    def place(self, conversation_id: str) -> ViewPlace:
        """Return the place where the conversation was left."""
        return self._read(reading.place, conversation_id)

    # ------------------------------------------------------------------------------- writing

    def save(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Store its title, flags, settings and path, and these messages, new or changed."""
        self._add(saved(conversation, changed, removed))

    def save_folder(self, folder: Folder) -> None:
        """Store a folder; `remove`, `restore` and `purge` accept its id, too."""
        name, instructions = clean(folder.name), clean(folder.instructions)
        self._add(SaveFolder(Folder(folder.folder_id, name, instructions)))

    def begin_run(self, conversation_id: str, record: RunRecord) -> None:
        """A reply begins; its message has been saved, with no text."""
        self._add(BeginRun(conversation_id, record))

    def extend_run(
        self, conversation_id: str, message_id: str, text: str, steps: Sequence[StepCommitted]
    ) -> None:
        """The reply gained this text in these steps."""
        number = next(self._numbers)
        self._add(ExtendRun(conversation_id, message_id, number, clean(text), tuple(steps)))

    def end_run(self, conversation_id: str, record: RunRecord, content: Content) -> None:
        """The reply has ended with this whole content, which replaces its checkpoints."""
        self._add(EndRun(conversation_id, record, with_texts(content, clean)))

    def remove(self, conversation_id: str) -> None:
        """Hide a conversation until it is restored or purged."""
        self._add(Remove(conversation_id))

    def restore(self, conversation_id: str) -> None:
        """Show a removed conversation again."""
        self._add(Restore(conversation_id))

    def purge(self, conversation_id: str) -> None:
        """Delete a removed conversation for good; on the disk its bytes are overwritten."""
        self._add(Purge(conversation_id))

    def save_unsent(self, conversation_id: str, text: str) -> None:
        """Store unsent text; an empty text removes it."""
        self._add(SaveUnsent(conversation_id, clean(text)))

    def save_unsent_files(self, conversation_id: str, files: Iterable[Attachment]) -> None:
        """Store unsent files; an empty tuple removes them."""
        self._add(SaveUnsentFiles(conversation_id, clean_files(files)))

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Store the place where it was left."""
        self._add(SavePlace(conversation_id, place))

    # ------------------------------------------------------------------------------- waiting

    def mark(self) -> int:
        """Return a mark of everything written so far, for `is_written`."""
        return 0

    def is_written(self, mark: int) -> bool:  # noqa: ARG002  there is no disk
        """Return whether everything up to a mark is on the disk, or cannot be written now."""
        return True

    # ------------------------------------------------------------------------------- private

    def _add(self, change: Change) -> None:
        with transaction(self._memory):
            is_carried_out(self._memory, change)

    def _read(self, read: Callable[..., _T], *values: object) -> _T:
        return read([Source(self._memory)], *values)


class Archive(ConversationStore):
    """A store whose conversations are in one SQLite database.

    Changes that cannot be written are kept and retried, and the store's owner is notified of the
    problem. Private chats are not stored.
    """

    def __init__(
        self,
        path: Path,
        *,
        on_problem: Callable[[StorageProblem | None], None] | None = None,
        on_mended: Callable[[Opened], None] | None = None,
    ) -> None:
        """Make an archive; nothing is opened yet.

        Args:
            path: The database file; it and its folder are created when needed.
            on_problem: Called with the problem that keeps chats from being written, and with None
                when it is over; on the writer's thread, or on that of `open`.
            on_mended: Called with the result of repairing a file that was found damaged after
                `open`; on the writer's thread.
        """
        super().__init__()
        self._path = path
        self._pending = Pending()
        self._held: Held | None = None
        self._disk = Disk(path, on_mended or (lambda _opened: None))
        self._writer = Writer(
            self._disk, self._pending, on_problem or (lambda _problem: None), self._forget_rescued
        )
        self._rescued: list[Path] = []
        self._is_rescued = False
        self._rested_at = 0.0

    def open(self) -> Opened:
        """Open or create the database and start writing.

        Blocks for some 10 ms, and once, where the layout changes, as long as the file is copied.

        The archive works with any file: content that cannot be read is missing, and changes that
        cannot be written are kept in memory; see `problem`.
        """
        try:
            opened = self._disk.open()
        except FAILURES as error:
            self._writer.report(error)
            opened = Opened()
        for change in self._read_rescued():
            self._pending.add(change)
        self._writer.start()
        with contextlib.suppress(StorageError):  # then the next start ends them
            for end in self._read(reading.interrupted):
                self._pending.add(end)
        return opened

    # ------------------------------------------------------------------------------ the disk

    def removed(self) -> tuple[str, ...]:
        """The hidden conversations, whichever program hid them."""
        return self._read(reading.removed)

    @property
    def problem(self) -> StorageProblem | None:
        """The problem that keeps chats from being written, if there is one; any thread."""
        return self._writer.problem

    def retry(self) -> None:
        """Retry writing now and not in up to two seconds."""
        self._writer.retry()

    def mark(self) -> int:
        """Return a mark as the base class does, and write everything so far at once."""
        return self._pending.hurry()

    def is_written(self, mark: int) -> bool:
        """Return whether everything up to a mark is on the disk; see the base class."""
        return self._pending.is_done(mark) or self._writer.problem is not None

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Wait until everything so far is in the database; return False at the timeout."""
        return self._writer.wait_written(timeout_s, despite_problem=True)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write waiting changes, end the thread and close the file.

        Changes that cannot be written go to a file that the next `open` reads.

        Returns:
            Whether everything is in the database.
        """
        if self._writer.is_alive():
            self._writer.stop()
            self._writer.join(timeout_s)
        if not self._writer.is_alive():
            self._disk.close()
        left = self._pending.waiting()
        if left and not self._is_rescued:
            path = rescue(self._path, left)
            _logger.warning("%d changes to chats could not be stored; in %s", len(left), path)
            if path is not None:
                self._forget_rescued()
                self._is_rescued = True
        return not left

    def _read_rescued(self) -> list[Change]:
        """Return changes that an earlier program could not write."""
        changes: list[Change] = []
        for path in rescued(self._path):
            try:
                changes += read_rescued(path)
            except (OSError, CodecError) as error:
                _logger.warning("%s cannot be taken in: %s", path, error)
            else:
                self._rescued.append(path)
        return changes

    def _forget_rescued(self) -> None:
        """Delete the files whose changes are stored elsewhere now."""
        while self._rescued:
            with contextlib.suppress(OSError):
                self._rescued.pop().unlink()

    def _add(self, change: Change) -> None:
        if isinstance(change, SaveChat) and change.head.private:
            return
        with self._pending.changed:
            self._pending.add(change)
            if self._held is not None:
                self._held.waiting.append(change)
        if is_shown(change):
            self._wait_written(MAX_SHOWN_WAIT_S)

    def _read(self, read: Callable[..., _T], *values: object) -> _T:
        try:
            return self._read_now(read, *values)
        except BROKEN as error:
            failure: Exception = error
        if is_damage(failure):
            salvage.mark(self._path)
            if self._writer.mend(_MAX_REPAIR_S):
                try:
                    return self._read_now(read, *values)
                except BROKEN as error:
                    failure = error
        problem = problem_of(failure, self._path)
        raise StorageError(problem.code, problem.message, problem.hint) from failure

    def _wait_written(self, within_s: float) -> bool:
        """Wait until the queue is written; return whether it is. Later reads wait less."""
        began = time.monotonic()
        is_written = self._writer.wait_written(within_s)
        waited_s = time.monotonic() - began
        self._rested_at = max(self._rested_at, began) + _SHORT_WAIT_FACTOR * waited_s
        return is_written

    def _read_now(self, read: Callable[..., _T], *values: object) -> _T:
        rest_s = max(self._rested_at - time.monotonic(), 0.0)
        is_written = self._wait_written(
            0.0 if self._held else MAX_READ_WAIT_S - rest_s / _SHORT_WAIT_FACTOR
        )
        with self._disk.reading() as connection:
            with self._pending.changed:
                if is_written and connection is not None:
                    self._held = None
                elif self._held is None:
                    self._held = Held(self._pending.waiting())
                held = self._held
            with reading.at_one_moment(connection):
                if held is None:
                    assert connection is not None
                    return read([Source(connection)], *values)
                return read(held.sources(connection), *values)
