"""Measurement of how fast this machine reads weights, requested once while the engine is idle."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import PairState
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import Event, MeasureReading, Reading, ReadingMeasured

_MAX_TRIES = 5


class MachineReading(QObject):
    """Requester of the measurement: after each load or reply, until the value is known.

    Every other request goes first, and a reply or a load that comes meanwhile ends the measurement.
    Main thread; never waits.

    Attributes:
        value: The processor's; None while it is not known, or if it cannot be measured.
    """

    known = Signal(object)
    """`Reading`, emitted once."""

    def __init__(self, client: EngineClient, cache_dir: str, parent: QObject | None = None) -> None:
        """Keep the arguments; nothing is requested yet.

        Args:
            client: The engine.
            cache_dir: Folder for measurements, or empty to keep none.
            parent: Owns this.
        """
        super().__init__(parent)
        self._client = client
        self._cache_dir = cache_dir
        self._ticket: Ticket | None = None
        self._n_left = _MAX_TRIES
        self.value: Reading | None = None

    @Slot(object)
    def on_pair(self, state: PairState) -> None:
        """Request the measurement once models are loaded."""
        if state.status == "ready":
            self.ask()

    @Slot()
    def ask(self) -> None:
        """Request the measurement unless the value is known or too many tries failed."""
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
