"""Requests of other programs: the one being answered, and finished ones. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot

from paceline.messages import Event, TurnStarted
from paceline.server.journal import Entry, Journal


class ProgramReplies(QObject):
    """Follower of the server's journal, whose events arrive on the server's thread.

    Attributes:
        journal: The last finished requests.
        answered: The request whose reply is generated now, or None.
        n_waiting: Requests that wait for the engine.
        n_answered: Finished requests since the start of the program.
    """

    changed = Signal()
    """A request was added, is being answered, or is finished."""
    began = Signal(object)
    """The reply to an `Entry` begins."""
    grew = Signal(object, object)
    """An `Entry` whose reply has begun, and an event of its turn"""
    ended = Signal(object)
    """An `Entry` is finished."""
    _queued = Signal(object)
    _reported = Signal(object, object)
    _over = Signal(object)

    def __init__(self, journal: Journal, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.journal = journal
        self.answered: Entry | None = None
        self.n_waiting = self.n_answered = 0
        queued = Qt.ConnectionType.QueuedConnection
        self._queued.connect(self._on_queued, queued)
        self._reported.connect(self._on_reported, queued)
        self._over.connect(self._on_over, queued)
        self._waiting: set[Entry] = set()
        journal.follow(self._hear_end, began=self._hear_begin, grew=self._hear_growth)

    @property
    def asker(self) -> str:
        """Name of the program whose reply is generated now, or empty."""
        return self.answered.caller.short if self.answered is not None else ""

    def forget(self) -> None:
        """Delete all finished requests."""
        self.journal.forget()
        self.changed.emit()

    # ------------------------------------------------------------------- on the server's thread

    def _hear_begin(self, entry: Entry) -> None:
        self._queued.emit(entry)

    def _hear_growth(self, entry: Entry, event: Event) -> None:
        self._reported.emit(entry, event)

    def _hear_end(self, entry: Entry) -> None:
        self._over.emit(entry)

    # ------------------------------------------------------------------------ on the main thread

    @Slot(object)
    def _on_queued(self, entry: Entry) -> None:
        self._waiting.add(entry)
        self._update()

    @Slot(object, object)
    def _on_reported(self, entry: Entry, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._waiting.discard(entry)
            self.answered = entry
            self.began.emit(entry)
            self._update()
        self.grew.emit(entry, event)

    @Slot(object)
    def _on_over(self, entry: Entry) -> None:
        self._waiting.discard(entry)
        if self.answered is entry:
            self.answered = None
        self.n_answered += 1
        self.ended.emit(entry)
        self._update()

    def _update(self) -> None:
        self.n_waiting = len(self._waiting)
        self.changed.emit()
