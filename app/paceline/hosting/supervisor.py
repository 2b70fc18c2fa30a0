"""Supervision of one child process: its start, detection of hanging, and the reason of its end.

Two parts: the `Keeper` holds the process, the `Watchdog` judges its signs of life.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from paceline.hosting.exit_reasons import (
    AGAIN,
    DIED,
    NOT_STARTED,
    Death,
    RestartPolicy,
    describe_death,
    told_later,
)
from paceline.hosting.lost_servers import EndKind, end_kind, with_servers
from paceline.hosting.wire import Beat, Done, LogLine, Upward, engine_language
from paceline.messages import Command, Event, Shutdown
from paceline.sentence import sentence
from paceline.workers.frames import WireError
from paceline.workers.process import ChildMain, ChildProcess

SILENT_S = 5.0
STUCK_S = 60.0
REMOTE_STUCK_S = 600.0
"""Replaces `STUCK_S` with RPC servers. While another machine computes, nothing moves here and it
cannot be asked: a piece of a prompt may take it minutes, as may compiling the programs of its GPU.
So may sending one large weight over a slow network. A connection without a cable shows no end by
itself, so there must be a limit."""
_MAX_TICK_S = 0.5
START_S = 60.0
POLL_S = 0.02
"""Seconds between polls of the host's own flags while it waits; messages are handled at once."""
MAX_LOG_CHARS = 20_000
"""Upper bound of the characters of one log record of the child."""

EngineProcess = ChildProcess[Command, Upward]

_logger = logging.getLogger(__name__)


class Keeper:
    """Holds the child, if there is one; belongs to one thread, like the child.

    Args:
        main: Function that runs in the child.
        restarts: Decides whether a dead child is restarted.
        sleep: Waits, for the back-off between two starts.
        is_closed: Returns whether the program ends: then no server is asked any more.

    Attributes:
        child: The process, or None if there is none.
        servers: RPC servers that the child's models are on, as HOST:PORT.
    """

    def __init__(
        self,
        main: ChildMain,
        restarts: RestartPolicy,
        sleep: Callable[[float], None] = time.sleep,
        is_closed: Callable[[], bool] = lambda: False,
    ) -> None:
        self._main = main
        self._restarts = restarts
        self._sleep = sleep
        self._is_closed = is_closed
        self.child: EngineProcess | None = None
        self.servers: tuple[str, ...] = ()

    def start(self, is_stopped: Callable[[], bool]) -> Death | None:
        """Start a child that is ready for commands.

        Args:
            is_stopped: Polled while it starts; true gives up.

        Returns:
            Why it did not start, with the code `NOT_STARTED`; None when it is ready.
        """
        refused_s = self._restarts.refused_s
        if refused_s > 0:
            return Death(
                NOT_STARTED,
                "The engine has ended three times within a minute, so it is not started again yet.",
                sentence(
                    "Wait {refused_s:.0f} seconds; then take other models or settings, or "
                    "try again.",
                    refused_s=refused_s,
                ),
            )
        self._sleep(self._restarts.delay_s)
        self.servers = ()
        try:
            self.child = ChildProcess(self._main, engine_language())
        except OSError as error:
            return Death(
                NOT_STARTED,
                sentence(
                    "The engine's process cannot be started ({why}).",
                    why=error.strerror or error
                ),
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
                    take_report(message)
            except WireError as error:
                return self.give_up(nonsense(error))
            if child.is_ready:
                return None
            if child.has_ended:
                return self.explain_end()
            if is_stopped():
                return self.stop_by_force()
        return self.give_up(
            sentence(
                "The engine's process was not ready within {start_s:.0f} seconds", start_s=START_S
            )
        )

    def give_up(self, reason: str) -> Death:
        """Kill a child that cannot be used any more; counts as a death.

        Args:
            reason: A clause for the log and the user, without a full stop.
        """
        self._kill()
        _logger.warning("%s; its process is ended", reason)
        death = Death(DIED, sentence("{reason}, so its process was ended.", reason=reason), AGAIN)
        return self._counted(self._with_servers(death, "hung"))

    def stop_by_force(self) -> Death:
        """Kill a child that does not stop on request; does not count as a death."""
        self._kill()
        death = Death(DIED, "The engine did not stop in time, so its process was ended.", AGAIN)
        return self._with_servers(death, "hung")

    def explain_end(self) -> Death:
        """Return the cause of a child's unrequested end; counts as a death."""
        assert self.child is not None
        end = self.child.find_end()
        self.child = None
        death = self._with_servers(describe_death(end), end_kind(end.said))
        _logger.warning("%s", death.reason)
        return self._counted(death)

    def end(self) -> None:
        """Ask the child to end; kill it if it does not."""
        if self.child is not None:
            self.child.end(Shutdown())
            self.child = None

    def _with_servers(self, death: Death, kind: EndKind) -> Death:
        return with_servers(death, () if self._is_closed() else self.servers, kind)

    def _counted(self, death: Death) -> Death:
        if death.by_server:  # the next load asks the servers first, and may leave one out
            return death
        self._restarts.note_death()
        if self._restarts.refused_s > 0:  # the next message would be refused
            return replace(death, hint=told_later(death.hint))
        return death

    def _kill(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child = None


def take_report(message: Upward) -> Event | None:
    """Write a log record of the child to the log; return a message that is an engine's event."""
    match message:
        case LogLine():
            level = min(max(message.level, logging.DEBUG), logging.CRITICAL)
            text = message.text[:MAX_LOG_CHARS]
            logging.getLogger(_own_logger(message.logger)).log(level, "%s", text)
        case Beat() | Done():
            pass
        case _:
            return message
    return None


def nonsense(error: WireError) -> str:
    """Return the reason to give up a child that sent something undecodable."""
    return sentence("The engine sent something that is no message ({error})", error=error)


def _own_logger(name: str) -> str:
    """Return the name if it is a logger of Paceline's; a broken child may name any other."""
    parts = name.split(".")
    is_own = parts[0] == "paceline" and all(part.isidentifier() for part in parts)
    return name if is_own else "paceline"


class Watchdog:
    """Decides whether a process that carries out a command works or hangs.

    Three signs of hanging: it sends nothing for `SILENT_S`, though a thread of its own should send
    a `Beat` twice a second (it is stopped, or the whole process is frozen); one native decode takes
    far longer than the ones before; or for `STUCK_S` nothing moves: no event, no CPU time, no byte
    read. Slow is not hanging: a large model may take minutes to be read from a disk, and then bytes
    are read; other machines may compute or receive for minutes, which has another limit.

    Time in which this process did not run (a suspended laptop, a stopped program) does not count.

    Attributes:
        awake_s: Seconds since `restart` in which this process ran.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self, *, is_remote: bool = False) -> None:
        """Start again from zero, at the begin of a command.

        Args:
            is_remote: Whether RPC servers take part.
        """
        self._is_remote = is_remote
        self._last_tick = self._clock()
        self.awake_s = 0.0
        self._silent_s = 0.0
        self._stuck_s = 0.0
        self._progress: tuple[float, ...] = ()
        self._beat: Beat | None = None

    def hear(self) -> None:
        """Note that the process has sent a message."""
        self._silent_s = 0.0

    def beat(self, beat: Beat) -> None:
        """Handle a beat of the process."""
        self.hear()
        # Whole seconds: a stuck process still spends some CPU time on its beats. (`round` refuses
        # a NaN.)
        progress = (beat.n_events, beat.cpu_s // 1, beat.read_bytes)
        if progress != self._progress:
            self._progress = progress
            self._stuck_s = 0.0
        self._beat = beat

    def trouble(self) -> str:
        """Return why the process must be killed, or ""; called several times a second."""
        now = self._clock()
        passed = min(now - self._last_tick, _MAX_TICK_S)
        self._last_tick = now
        self.awake_s += passed
        self._silent_s += passed
        self._stuck_s += passed
        if self._silent_s > SILENT_S:
            return sentence(
                "The engine has not answered for {silent_s:.0f} seconds", silent_s=SILENT_S
            )
        if self.decode_trouble():
            return self.decode_trouble()
        stuck_s = REMOTE_STUCK_S if self._is_remote else STUCK_S
        if self._stuck_s > stuck_s:
            return sentence(
                "Nothing has moved in the engine for {stuck_s:.0f} seconds", stuck_s=stuck_s
            )
        return ""

    def decode_trouble(self) -> str:
        """Return why the process must be killed because of its running decode, or "".

        Between two commands this is the only sign, since the process may be silent then.
        """
        beat = self._beat
        if beat is not None and beat.decode_s > beat.decode_limit_s > 0:
            return sentence(
                "A computation of the engine hangs: it has taken {decode_s:.0f} seconds",
                decode_s=beat.decode_s,
            )
        return ""

    @property
    def hung_kernels(self) -> str:
        """The build of our own kernels whose decode hangs, or empty if none of them hangs."""
        return self._beat.own_kernels if self._beat is not None and self.decode_trouble() else ""
