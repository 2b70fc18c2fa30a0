"""Asks the engine once how fast this machine reads weights, when it has nothing else to do."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import PairState
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import Event, MeasureReading, Reading, ReadingMeasured

_MOST_TRIES = 5


class MachineReading(QObject):
    """Main thread; never waits. It is asked for after a load or a reply, until it is known.

    Anything else goes first, and a reply or a load that comes meanwhile ends it.

    Attributes:
        value: The processor's; None: not known yet, or not to be told.
    """

    known = Signal(object)
    """`Reading`, once"""

    def __init__(self, client: EngineClient, cache_dir: str, parent: QObject | None = None) -> None:
        """Ask nothing yet.

        Args:
            client: The engine.
            cache_dir: Folder of what was measured; empty: it is not kept.
            parent: Owns this.
        """
        super().__init__(parent)
        self._client = client
        self._cache_dir = cache_dir
        self._ticket: Ticket | None = None
        self._n_left = _MOST_TRIES
        self.value: Reading | None = None

    @Slot(object)
    def on_pair(self, state: PairState) -> None:
        """Ask once models are loaded."""
        if state.status == "ready":
            self.ask()

    @Slot()
    def ask(self) -> None:
        """Ask where it is not known, as often as makes sense."""
        if self.value is None and self._ticket is None and self._n_left:
            self._n_left -= 1
            command = MeasureReading(self._cache_dir)
            ticket = self._client.request(command, Priority.IDLE, self._on_event, "reading")
            self._ticket = ticket if ticket.state != "over" else None

    def _on_event(self, event: Event) -> None:
        self._ticket = None
        if isinstance(event, ReadingMeasured) and event.reading is not None:
            self.value = event.reading
            self.known.emit(event.reading)
