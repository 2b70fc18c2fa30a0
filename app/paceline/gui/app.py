"""The window's entry point: makes the parts, runs the event loop, ends in the right order.

Ctrl+C and a polite kill close the window, also while the event loop sleeps: Python runs signal
handlers only between two bytecodes, and there are none while Qt waits, so the signal's number
arrives through a socket that the event loop watches.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, TracebackType

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    QtMsgType,
    Signal,
    Slot,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from paceline import logs
from paceline.catalog.hub.client import is_offline
from paceline.catalog.models import Models
from paceline.engine.draft import registry
from paceline.engine.draft.base import DrafterInfo
from paceline.errors import UserError
from paceline.gui.beginning import Beginning, collect_less
from paceline.gui.engine_bridge import EngineBridge
from paceline.gui.kit.translation import install_language
from paceline.gui.program import Program
from paceline.gui.storage_controller import CHATS_FILE
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.paths import Paths, resources
from paceline.settings import (
    SETTINGS_FILE,
    LoadedSettings,
    kernels_of_environment,
    load_settings,
)

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class QuitSignals(QObject):
    """Signals of the system that ask the program to end; emits `interrupted` once per `install`."""

    interrupted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.was_interrupted = False
        self._reading, self._writing = socket.socketpair()
        for end in (self._reading, self._writing):
            end.setblocking(False)  # noqa: FBT003
        self._notifier = QSocketNotifier(self._reading.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)
        self._before: dict[int, object] = {}
        self._fd_before = -1

    def install(self) -> None:
        """Take over the signals; main thread only."""
        self._fd_before = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _note) for number in SIGNALS}

    def remove(self) -> None:
        """Restore the previous signal handlers."""
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._notifier.setEnabled(False)
        self._reading.close()
        self._writing.close()

    @Slot()
    def _on_signal(self) -> None:
        numbers = self._reading.recv(64)
        if any(number in SIGNALS for number in numbers) and not self.was_interrupted:
            self.was_interrupted = True
            self.interrupted.emit()


def _note(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the number arrives through the socket."""


INTERRUPTED = 130
_logger = logging.getLogger(__name__)


def run(begun: Beginning, files: Sequence[Path] = ()) -> int:
    """Open the window; return the exit code when it is closed.

    Raises:
        UserError: The files that belong to the program are missing.
    """
    app, one, frame = begun.app, begun.one, begun.frame
    program = make_program(begun.paths, begun.loaded)
    one.called.connect(program.call)
    failures = _Failures(program)
    ending = Ending(app, program)
    interrupts = QuitSignals(program)
    interrupts.interrupted.connect(program.window.close)
    failures.install()
    interrupts.install()
    program.window.fit_screen()
    if not begun.loaded.settings.window.geometry:
        program.window.move(frame.pos())
    frame.give_way(program.window)
    try:
        program.start()
        if files:
            program.call([str(file.absolute()) for file in files])
        code = app.exec()
    except BaseException:
        program.window.close()  # a running thread would delay or abort the end
        raise
    finally:
        interrupts.remove()
        failures.remove()
        frame.close()
        one.close()
    if not ending.engine_ended:
        # A thread in a native call cannot be stopped, and destroying it would abort the process.
        # Everything worth keeping is saved.
        logging.shutdown()
        os._exit(1)
    logs.tear_down()
    return INTERRUPTED if interrupts.was_interrupted else code


def make_program(paths: Paths, loaded: LoadedSettings | None = None) -> Program:
    """Make the window around a real engine; `QApplication` must exist.

    Args:
        paths: The home.
        loaded: Its settings; None to read them now.
    """
    collect_less()
    kernels_of_environment(os.environ)  # a wrong value is reported before there is a window
    infos, problem = _drafters()
    loaded = loaded or load_settings(paths.config_dir / SETTINGS_FILE)
    settings = loaded.settings
    install_language(settings.language, resources())
    engine = ThreadedClient(service_factory(settings.host_in_force))
    models = Models(
        paths,
        offline=settings.hub_offline or is_offline(os.environ),
        own_folders=[Path(folder) for folder in settings.model_folders],
        download_folder=Path(settings.download_folder) if settings.download_folder else None,
        proxy=settings.hub_proxy,
    )
    program = Program(
        client=EngineBridge(engine),
        engine=engine,
        infos=infos,
        resources=resources(),
        paths=paths,
        loaded=loaded,
        chats_file=paths.data_dir / CHATS_FILE,
        change_host=engine.change_host,
        models=models,
    )
    if problem is not None:
        program.notices.user_error(problem)
    return program


def _drafters() -> tuple[tuple[DrafterInfo, ...], UserError | None]:
    """Return all drafters; a plug-in that fails to import loses the plug-ins, not the window."""
    try:
        return registry.available(), None
    except UserError as error:
        _logger.warning("%s", error)
        built_in = (registry.find(name) for name in ("off", "auto", "draft"))
        return tuple(built_in), error


class Ending(QObject):
    """Leaves the event loop when the program has put everything away."""

    def __init__(self, app: QApplication, program: Program) -> None:
        super().__init__(program)
        self._app = app
        self.engine_ended = True
        program.ended.connect(self._on_ended)

    @Slot(bool)
    def _on_ended(self, engine_ended: bool) -> None:  # noqa: FBT001
        self.engine_ended = engine_ended
        self._app.quit()


class _Failures(QObject):
    """Logger of unexpected exceptions and of Qt's own warnings; bugs are shown, too."""

    _happened = Signal(str)

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._notifications = program.notices
        self._happened.connect(self._on_happened)

    def install(self) -> None:
        """Receive every exception that was not caught."""
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(self._on_qt_message)

    def remove(self) -> None:
        """Restore the interpreter's hooks."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _logger.error("unexpected error", exc_info=(kind, error, trace))
        self._happened.emit(f"{kind.__name__}: {error}")

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)

    @staticmethod
    def _on_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        level = {
            QtMsgType.QtDebugMsg: logging.DEBUG,
            QtMsgType.QtInfoMsg: logging.INFO,
            QtMsgType.QtWarningMsg: logging.WARNING,
        }.get(kind, logging.ERROR)
        _logger.log(level, "Qt: %s", text)

    @Slot(str)
    def _on_happened(self, what: str) -> None:
        self._notifications.error(
            self.tr("Something unexpected went wrong: {}.").format(what[:200]),
            self.tr("This is a fault of Paceline; the log file tells more."),
        )
