"""The engine in a process of its own: a service that hands every command to a child process.

What llama.cpp cannot survive (a failed assertion, a lost file, memory that ran out) ends the child
and nothing else: the host hears an `EngineDied`, or a `LoadFailed` when it happened in a load, and
the next command starts another child. A child that hangs, or that sends anything but messages, is
ended and replaced in the same way.

`handle` runs on the host's engine thread and comes back when the command is done, as it does with
an engine in this process; meanwhile it passes events up, and cancels and `Tune`s down.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import assert_never

from paceline.engine.answers import no_model, not_calibrated, not_counted, not_running
from paceline.engine.kernel_marks import write_mark
from paceline.hosting.child import run_child
from paceline.hosting.child_process import ChildMain
from paceline.hosting.deaths import Death, RestartPolicy
from paceline.hosting.frames import FrameError
from paceline.hosting.inbox import Inbox, request_id_of
from paceline.hosting.keeper import POLL_S, EngineProcess, Keeper, nonsense, take_report
from paceline.hosting.load_watch import LoadWatch
from paceline.hosting.watchdog import Watchdog
from paceline.hosting.wire import Beat, Done, Upward, WireError
from paceline.messages import (
    Calibrate,
    CancelTurn,
    Command,
    CountTokens,
    DescribeEngine,
    EngineDied,
    Event,
    Forget,
    Forgotten,
    LoadFailed,
    LoadPair,
    Reset,
    Shutdown,
    StartTurn,
    Tune,
    TurnFailed,
    TurnFinished,
    Unload,
    Unloaded,
)

LOAD_CANCEL_S = 2.0
TURN_CANCEL_S = 10.0
"""A cancel that takes longer is carried out by ending the process."""
KEEP_S = 60.0
"""What drafters may take behind a reply to store what they learned; nobody could stop them else."""
UNSOUND = "compute-failed"
"""The code of a turn behind which no process can be trusted: its device is in no known state."""


class ProcessService:
    """Carries out commands in a child process; belongs to one thread, like the child.

    Args:
        emit: Takes every event, on the thread that calls `handle`.
        inbox: Says whether the command under way is to be cancelled, and holds `Tune`s for it.
        main: What runs in the child.
        restarts: Whether a child that died is started again.
        sleep: Waits, for the back-off between two starts.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        inbox: Inbox,
        *,
        main: ChildMain = run_child,
        restarts: RestartPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._emit = emit
        self._inbox = inbox
        self._keeper = Keeper(main, restarts or RestartPolicy(), sleep)
        self._watchdog = Watchdog()
        self._cache_dir = ""
        self._n_open = 0  # commands that the child has and is not done with
        self._is_over = False  # the turn's last event has been told
        self._over_since = 0.0
        self._is_unsound = False

    @property
    def pid(self) -> int:
        """The child's process id; 0 when there is none."""
        child = self._keeper.child  # once: a host that closes asks from another thread
        return child.pid if child else 0

    def handle(self, command: Command) -> None:
        """Carry the command out; whatever happens to the child becomes an event."""
        match command:
            case LoadPair():
                self._load(command)
            case StartTurn():
                self._turn(command)
            case Tune():
                self._ask(command, not_running(command))
            case DescribeEngine():
                self._pass_on(self._carry_out(command))
            case CountTokens():
                self._ask(command, not_counted(command))
            case Calibrate():
                self._ask(command, not_calibrated(command))
            case Reset():
                self._ask(command, None)
            case Forget():
                self._forget(command)
            case Unload():
                self._unload(command)
            case Shutdown():
                self._keeper.end()
            case CancelTurn():
                pass  # the inbox has set the flag already
            case _:
                assert_never(command)

    def look(self) -> None:
        """Notice when the child has died between two commands."""
        child = self._keeper.child
        if child is None:
            return
        try:
            for _ in range(3):  # what it said last, and behind that its end
                for message in child.receive(0):
                    self._take(message)
        except WireError as error:
            self._pass_on(self._keeper.give_up(nonsense(error)))
            return
        if child.has_ended:
            self._pass_on(self._keeper.bury())
            return
        trouble = self._watchdog.decode_trouble()  # of what it uses the time for
        if trouble:
            self._pass_on(self._give_up(trouble))

    # ----------------------------------------------------------------------------- commands

    def _load(self, command: LoadPair) -> None:
        if self._inbox.flag.is_set():  # stopped while it was waiting: what is loaded stays
            self._emit(_load_failed(command, "cancelled", "Stopped."))
            return
        self._cache_dir = command.cache_dir
        watch = LoadWatch(command)
        death = self._carry_out(command, watch.hear)
        while death and not self._inbox.flag.is_set() and (again := watch.next_try(death)):
            watch = again
            death = self._carry_out(watch.command, watch.hear)
        if death is None and not watch.is_over:
            death = self._keeper.give_up("The engine left a load without an answer")
        if death is None or watch.is_over:
            self._pass_on(death)
        elif self._inbox.flag.is_set():
            self._emit(_load_failed(command, "cancelled", "Stopped."))
        else:
            self._emit(_load_failed(command, death.code, *watch.explain(death)))

    def _turn(self, command: StartTurn) -> None:
        self.look()
        if self._keeper.child is None:
            self._emit(no_model(command.turn_id))
            return
        self._is_unsound = False
        try:
            death = self._carry_out(command, partial(self._hear_turn, command.turn_id))
        except FrameError:
            self._emit(
                TurnFailed(
                    command.turn_id, "prompt-too-long",
                    "The conversation is larger than any context.",
                    "Shorten it or start a new chat.",
                )
            )  # fmt: skip
            return
        if death is None and not self._is_over:
            death = self._keeper.give_up("The engine left a reply without an end")
        self._pass_on(death)
        if self._is_unsound:
            self._keeper.end()

    def _ask(self, command: Command, answer: Event | None) -> None:
        """Carry out what no process is started for; `answer` is told where none can."""
        self.look()
        death = None
        if self._keeper.child is not None:
            with contextlib.suppress(FrameError):
                death, answer = self._carry_out(command), None
        if answer is not None:
            self._emit(answer)
        self._pass_on(death)

    def _forget(self, command: Forget) -> None:
        was_answered = False

        def hear(event: Event) -> Event:
            nonlocal was_answered
            was_answered = was_answered or isinstance(event, Forgotten)
            return event

        death = self._carry_out(command, hear)
        self._pass_on(death)
        if death is not None and not was_answered:
            self._emit(Forgotten(command.chat, death.reason))

    def _unload(self, command: Unload) -> None:
        self.look()
        if self._keeper.child is None:
            self._emit(Unloaded())
            return
        self._pass_on(self._carry_out(command))
        self._keeper.end()  # only now it is sure that its memory is free

    def _hear_turn(self, turn_id: str, event: Event) -> Event:
        if isinstance(event, (TurnFinished, TurnFailed)) and event.turn_id == turn_id:
            self._is_over = True
            self._over_since = self._watchdog.awake_s  # what is left may take its time
            self._is_unsound = isinstance(event, TurnFailed) and event.code == UNSOUND
        return event

    def _pass_on(self, death: Death | None) -> None:
        if death is not None:
            self._emit(EngineDied(death.reason, death.hint))

    # ---------------------------------------------------------------------------- the loop

    def _carry_out(
        self, command: Command, hear: Callable[[Event], Event] = lambda event: event
    ) -> Death | None:
        """Hand a command to the child and wait until it is done.

        Args:
            command: What is to be done.
            hear: Sees every event and may put another one in its place.

        Returns:
            How the child died, or why there is none; None when all went well.

        Raises:
            FrameError: The command is too large; the child has not heard of it.
        """
        self.look()  # it may have died since the last look
        if self._keeper.child is None:
            refusal = self._keeper.start(self._inbox.flag.is_set)
            if refusal is not None:
                return refusal
        child = self._keeper.child
        assert child is not None
        if not child.send(command):
            return self._lost(child)
        try:
            return self._wait(child, command, hear)
        except BaseException:  # a listener's: nobody would take the rest of what the child says
            self._keeper.stop_by_force()
            raise

    def _wait(
        self, child: EngineProcess, command: Command, hear: Callable[[Event], Event]
    ) -> Death | None:
        self._n_open = 1
        self._is_over = False
        self._watchdog.restart()
        stop = _Stop(command, self._inbox, self._watchdog)
        while self._n_open:
            try:
                for message in child.receive(POLL_S):
                    event = self._take(message)
                    if event is not None:
                        self._emit(hear(event))
            except WireError as error:
                return self._keeper.give_up(nonsense(error))
            if child.has_ended:
                return self._keeper.bury()
            if not self._is_over:
                self._pass_tune(child, command)
                if stop.is_overdue(child):
                    return self._keeper.stop_by_force()
            elif self._watchdog.awake_s - self._over_since > KEEP_S:
                return self._keeper.give_up("The engine did not come to an end behind a reply")
            trouble = self._watchdog.trouble()
            if trouble:
                return self._give_up(trouble)
        return None

    def _give_up(self, trouble: str) -> Death:
        """End a child that hangs; own kernels that did it are not used again."""
        if self._watchdog.hung_kernels:
            write_mark(self._cache_dir, self._watchdog.hung_kernels)
        return self._keeper.give_up(trouble)

    def _take(self, message: Upward) -> Event | None:
        """Take a message of the child; returns it when it is one of the engine's events."""
        if isinstance(message, Beat):
            self._watchdog.beat(message)
            return None
        self._watchdog.hear()
        if isinstance(message, Done):
            self._n_open -= 1
            if self._n_open < 0:
                raise WireError("done with what it was not asked for")
        return take_report(message)

    def _pass_tune(self, child: EngineProcess, command: Command) -> None:
        if isinstance(command, StartTurn):
            tune = self._inbox.take_tune(command.turn_id)
            if tune is not None and child.send(tune):
                self._n_open += 1

    def _lost(self, child: EngineProcess) -> Death:
        """Say what became of a child that does not take a command."""
        with contextlib.suppress(WireError):
            for _ in range(3):  # what it said before it died
                for message in child.receive(POLL_S):
                    self._take(message)
        if child.has_ended:
            return self._keeper.bury()
        return self._keeper.give_up("The engine takes no commands any more")


class _Stop:
    """Passes a cancel on to the child, and knows when it takes too long."""

    def __init__(self, command: Command, inbox: Inbox, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._request_id = request_id_of(command)
        self._flag = inbox.flag
        self._limit_s = LOAD_CANCEL_S if isinstance(command, LoadPair) else TURN_CANCEL_S
        self._began: float | None = None

    def is_overdue(self, child: EngineProcess) -> bool:
        """Whether the child was told long ago; tells it if the user has just cancelled."""
        if self._began is not None:
            return self._watchdog.awake_s - self._began > self._limit_s
        if self._request_id and self._flag.is_set():
            self._began = self._watchdog.awake_s
            child.send(CancelTurn(self._request_id))
        return False


def _load_failed(command: LoadPair, code: str, message: str, hint: str = "") -> LoadFailed:
    return LoadFailed(command.request_id, code, message, hint)
