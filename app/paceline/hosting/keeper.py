"""Keeps one child process: starts it when it is needed, and says how it came to its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from paceline.hosting.child_process import ChildMain, ChildProcess, engine_language
from paceline.hosting.deaths import AGAIN, DIED, LATER, NOT_STARTED, Death, RestartPolicy
from paceline.hosting.wire import Beat, Done, Dying, LogLine, Ready, Upward, WireError
from paceline.messages import Command, Event

START_S = 60.0
POLL_S = 0.02
"""How soon the host's wishes are seen while it waits; messages of the child are taken at once."""
MOST_LOGGED = 20_000
"""Characters of one record of the child."""

EngineProcess = ChildProcess[Command, Upward]

_logger = logging.getLogger(__name__)


class Keeper:
    """Holds the child, if there is one; belongs to one thread, like the child.

    Args:
        main: What runs in the child.
        restarts: Whether a child that died is started again.
        sleep: Waits, for the back-off between two starts.
    """

    def __init__(
        self,
        main: ChildMain,
        restarts: RestartPolicy,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._main = main
        self._restarts = restarts
        self._sleep = sleep
        self.child: EngineProcess | None = None

    def start(self, is_stopped: Callable[[], bool]) -> Death | None:
        """Start a child that is ready for commands.

        Args:
            is_stopped: Polled while it starts; true gives up.

        Returns:
            Why there is none, with the code `NOT_STARTED`; None when there is.
        """
        refused_s = self._restarts.refused_s
        if refused_s > 0:
            return Death(
                NOT_STARTED,
                "The engine has ended three times within a minute, so it is not started again yet.",
                f"Wait {refused_s:.0f} seconds; then take other models or settings, or try again.",
            )
        self._sleep(self._restarts.delay_s)
        try:
            self.child = ChildProcess(self._main, engine_language())
        except FileNotFoundError:  # `multiprocessing` asks for it
            return Death(
                NOT_STARTED,
                "The engine's process cannot be started: the folder in which Paceline was started "
                "is gone.",
                "Start Paceline in another folder.",
            )
        except OSError as error:
            return Death(
                NOT_STARTED,
                f"The engine's process cannot be started ({error.strerror or error}).",
                "Close other programs and try again.",
            )  # fmt: skip
        death = self._wait_until_ready(self.child, is_stopped)
        return replace(death, code=NOT_STARTED) if death else None

    def _wait_until_ready(
        self, child: EngineProcess, is_stopped: Callable[[], bool]
    ) -> Death | None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                for message in child.receive(POLL_S):
                    if isinstance(message, Ready):
                        return None
                    take_report(message)
            except WireError as error:
                return self.give_up(nonsense(error))
            if child.has_ended:
                return self.bury()
            if is_stopped():
                return self.stop_by_force()
        return self.give_up(f"The engine's process was not ready within {START_S:.0f} seconds")

    def give_up(self, reason: str) -> Death:
        """End a child that is of no use any more; the reason has no full stop."""
        self._kill()
        _logger.warning("%s; its process is ended", reason)
        return self._counted(Death(DIED, f"{reason}, so its process was ended.", AGAIN))

    def stop_by_force(self) -> Death:
        """End a child that does not stop when the user asks for it: that is no fault of its."""
        self._kill()
        return Death(DIED, "The engine did not stop in time, so its process was ended.", AGAIN)

    def bury(self) -> Death:
        """Say how a child died that has ended by itself."""
        assert self.child is not None
        death = self.child.describe_death()
        self.child = None
        _logger.warning("%s", death.reason)
        return self._counted(death)

    def end(self) -> None:
        """Ask the child to end, and see to it."""
        if self.child is not None:
            self.child.end()
            self.child = None

    def _counted(self, death: Death) -> Death:
        self._restarts.note_death()
        if self._restarts.refused_s > 0:  # the next message would be refused
            return replace(death, hint=death.hint.replace(AGAIN, LATER))
        return death

    def _kill(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child = None


def take_report(message: Upward) -> Event | None:
    """Carry out what is not for the engine's listener; returns what is."""
    match message:
        case LogLine():
            level = min(max(message.level, logging.DEBUG), logging.CRITICAL)
            text = message.text[:MOST_LOGGED]
            logging.getLogger(_own_logger(message.logger)).log(level, "%s", text)
        case Beat() | Done() | Ready() | Dying():
            pass
        case _:
            return message
    return None


def nonsense(error: WireError) -> str:
    """Return the reason to give up a child that sent this."""
    return f"The engine sent something that is no message ({error})"


def _own_logger(name: str) -> str:
    """Return a logger of this program; a broken child must not write into others' logs."""
    parts = name.split(".")
    is_own = parts[0] == "paceline" and all(part.isidentifier() for part in parts)
    return name if is_own else "paceline"
