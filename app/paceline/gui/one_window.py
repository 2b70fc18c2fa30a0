"""One window for each home: a second start passes its files to the open window, and ends.

The first window holds a lock, and a local socket beside it receives the files of others. Both are
in a folder of this machine that no other user may enter, never in the home, which may be on a
network drive; their names derive from the home's path. Another window opens if no such folder is
available, if a second machine uses the home, or if the window with the lock does not answer.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from paceline.files import private_folder

_ANSWER = b"shown"
_MAX_MESSAGE_BYTES = 2**20
_logger = logging.getLogger(__name__)


class OneWindow(QObject):
    """Lock of a home, held from `claim` until it is closed; main thread."""

    called = Signal(list)
    """Another start requests the window, with these paths, if any."""

    def __init__(self, home: Path) -> None:
        """Create it without a lock.

        Args:
            home: The folder with the chats.
        """
        super().__init__()
        self._name = "paceline-" + hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:16]
        self._lock: QLockFile | None = None
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def claim(self, files: Sequence[Path] = (), patience_s: float = 10.0) -> bool:
        """Become the window of the home, or pass the files to the existing one.

        Args:
            files: Files to open.
            patience_s: Time to wait for the other window, which may be starting or busy.

        Returns:
            True if a window is to be opened here.
        """
        folder = _folder()
        if folder is None:
            return True
        address = self._name if sys.platform == "win32" else str(folder / self._name)
        lock = QLockFile(str(folder / f"{self._name}.lock"))
        # Never stale while its window lives, however long; stale at once when that has died.
        lock.setStaleLockTime(0)
        until = time.monotonic() + patience_s
        while not lock.tryLock(50):
            if lock.error() != QLockFile.LockError.LockFailedError:
                return True
            if _hand_over(address, files, until):
                return False
            if time.monotonic() > until:
                _logger.warning("the window that is open does not answer; another one is opened")
                return True
        self._lock = lock
        QLocalServer.removeServer(address)  # removes the socket of a killed window
        if not self._server.listen(address):
            _logger.warning("a second start will not be heard: %s", self._server.errorString())
        return True

    def close(self) -> None:
        """Release the home for another window."""
        self._server.close()
        if self._lock is not None:
            self._lock.unlock()

    @Slot()
    def _on_connection(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            connection.readyRead.connect(self._on_request)
            connection.disconnected.connect(connection.deleteLater)
            self._answer(connection)  # it may have arrived already

    @Slot()
    def _on_request(self) -> None:
        connection = self.sender()
        if isinstance(connection, QLocalSocket):
            self._answer(connection)

    def _answer(self, connection: QLocalSocket) -> None:
        if not connection.canReadLine():
            if connection.bytesAvailable() > _MAX_MESSAGE_BYTES:
                connection.abort()
            return
        try:
            files = [
                str(file)
                for file in json.loads(bytes(connection.readLine(_MAX_MESSAGE_BYTES).data()))
            ]
        except (ValueError, TypeError):
            connection.abort()
            return
        connection.write(_ANSWER)
        connection.flush()
        connection.disconnectFromServer()
        self.called.emit(files)


def _hand_over(address: str, files: Sequence[Path], until: float) -> bool:
    """Ask the window at an address to show itself and these files; return whether it answered."""
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(1000):
        return False
    socket.write(json.dumps([str(file.absolute()) for file in files]).encode() + b"\n")
    while socket.bytesAvailable() < len(_ANSWER):
        left_ms = int((until - time.monotonic()) * 1000)
        if left_ms <= 0 or not socket.waitForReadyRead(left_ms):
            break
    return socket.readAll().data() == _ANSWER


def _folder() -> Path | None:
    """Return a folder on this machine that only this user can enter, or None."""
    places = [Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent")]
    try:
        places.append(Path(tempfile.gettempdir(), f"paceline-{getpass.getuser()}"))
        private_folder(places[-1])
    except (OSError, KeyError):  # the user has no name, or no folder
        pass
    for place in places:
        if sys.platform == "win32":
            return places[-1] if places[-1].is_dir() else None
        try:
            status = place.lstat()
        except OSError:
            continue
        if status.st_uid == os.getuid() and not status.st_mode & 0o077:
            return place
    return None
