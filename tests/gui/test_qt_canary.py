"""Guards the pin of PySide6 below 6.12 on Python before 3.12.

PySide6 6.12.0 takes a reference from None with every void call and one from True with every emit
there; after some thousand calls the interpreter aborts. From Python 3.12 on both are immortal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QLabel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

CALLS = 20_000
SLACK = 2_000


class Sender(QObject):
    sent = Signal(object)


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.n_received = 0

    @Slot(object)
    def receive(self, _value: object) -> None:
        self.n_received += 1


def test_void_calls_leave_the_references_of_none_alone(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for number in range(CALLS):
        label.setText(str(number % 10))
    assert abs(sys.getrefcount(None) - before) < SLACK
    assert label.text() == "9"


def test_emits_leave_the_references_of_true_and_none_alone(qtbot: QtBot) -> None:
    sender, receiver = Sender(), Receiver()
    sender.sent.connect(receiver.receive)
    before = sys.getrefcount(True), sys.getrefcount(None)
    for _ in range(CALLS):
        sender.sent.emit(None)
    after = sys.getrefcount(True), sys.getrefcount(None)
    assert receiver.n_received == CALLS
    assert all(abs(b - a) < SLACK for a, b in zip(before, after, strict=True))
