"""The engine in a process of its own: a service that hands every command to a child process.

What llama.cpp cannot survive (a failed assertion, a lost file, memory that ran out) ends the child
and nothing else: the host emits an `EngineDied`, or a `LoadFailed` when it happened in a load, and
the next command starts another child. A child that hangs, or that sends something that is no
message, is ended and replaced in the same way.

`handle` runs on the client's engine thread and returns when the command is done, as with an engine
in this process; meanwhile it passes events up, and cancels, `Tune`s and `Remember`s down.

A load that ends the engine is explained or tried again differently. Builds of llama.cpp exist whose
code for special instructions (AMX) crashes as soon as two tokens are decoded. The self-test after
every load shows that before a reply is lost to it, and the models are then loaded a second time
without the buffers that lead to this code. Where Paceline's own kernels have left a mark, the same
load is tried once more: the engine does not use them again.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from msgspec import structs

from paceline.engine.model.own_kernels import marks, write_mark
from paceline.engine.model.state_files import drop_files
from paceline.engine.refusals import (
    TOO_LARGE,
    no_model,
    no_prompt,
    not_calibrated,
    not_counted,
    not_encoded,
    not_running,
    too_large_to_encode,
)
from paceline.hosting.broker import STOPPABLE, Broker
from paceline.hosting.child import run_child
from paceline.hosting.exit_reasons import NOT_STARTED, OUT_OF_MEMORY, Death, RestartPolicy
from paceline.hosting.supervisor import (
    POLL_S,
    EngineProcess,
    Keeper,
    Watchdog,
    nonsense,
    take_report,
)
from paceline.hosting.wire import Beat, Done, Upward
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Cancel,
    Command,
    CountTokens,
    DescribeEngine,
    DropStates,
    Encode,
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    MeasureReading,
    ModelParams,
    PairLoaded,
    ReadAhead,
    ReadAheadEnded,
    ReadingMeasured,
    Remember,
    RenderPrompt,
    Reset,
    SayAside,
    Shutdown,
    StartTurn,
    StatesDropped,
    Tune,
    TurnFailed,
    TurnFinished,
    Unload,
    Unloaded,
)
from paceline.params import params_of, with_params
from paceline.sentence import sentence
from paceline.workers.frames import FrameError, WireError
from paceline.workers.process import ChildMain

_logger = logging.getLogger(__name__)


def without_extra_bufts(command: LoadPair) -> LoadPair | None:
    """Return the same load without extra buffers; None when it already had none."""
    target = replace(command.target, extra_bufts=False)
    drafting, draft = command.drafting, params_of(command.drafting)
    if draft is not None:
        drafting = with_params(drafting, replace(draft, extra_bufts=False))
    again = structs.replace(command, target=target, drafting=drafting)
    return again if again != command else None


class LoadWatch:
    """Follows one load by its events.

    Attributes:
        command: The load.
        is_over: Whether the engine has answered.
        is_loaded: Whether the models are there.

    Args:
        command: The load.
        note: Reason of a second try, shown to the user when it succeeds.
    """

    def __init__(self, command: LoadPair, note: str = "") -> None:
        self.command = command
        self._note = note
        self._marks = marks(command.cache_dir)
        self._params: ModelParams = command.target
        self.is_over = self.is_loaded = False
        self._has_weights = False

    def hear(self, event: Event) -> Event:
        """Update the state by an event; return it, with the note added to a `PairLoaded`."""
        match event:
            case LoadProgressed():
                draft = params_of(self.command.drafting)
                self._params = draft if draft and event.stage == "draft" else self.command.target
                self._has_weights = event.fraction >= 1
            case PairLoaded():
                self.is_over = self.is_loaded = True
                if self._note:
                    return structs.replace(event, notes=(*event.notes, self._told(self._note)))
            case LoadFailed():
                self.is_over = True
            case _:
                pass
        return event

    def next_try(self, death: Death) -> LoadWatch | None:
        """Return the load to try after a death, or None if there is no other way."""
        if marks(self.command.cache_dir) - self._marks:
            _logger.warning("the models are loaded again without own kernels")
            return LoadWatch(self.command, self._note)
        again = without_extra_bufts(self.command)
        if again is None or not self.died_in_self_test(death):
            return None
        _logger.warning("the models are loaded again without extra buffers")
        return LoadWatch(again, death.reason)

    def died_in_self_test(self, death: Death) -> bool:
        """Return whether native code crashed after all weights of a model were read."""
        return not self.is_over and self._has_weights and death.is_native

    def explain(self, death: Death) -> tuple[str, str]:
        """Return message and hint for a load that ended the engine."""
        if death.code == NOT_STARTED:
            return death.reason, death.hint
        name = Path(self._params.path).name
        message = sentence(
            "The engine ended while it loaded “{name}”. {reason}", name=name, reason=death.reason
        )
        if death.code == OUT_OF_MEMORY or not death.is_native:
            return message, death.hint
        return message, sentence(
            "The file may be damaged: download it again, or choose another one."
        )

    @staticmethod
    def _told(reason: str) -> str:
        return sentence(
            "{reason} So the models were loaded again without the special "
            "instructions of this CPU, which is a little slower.",
            reason=reason,
        )


LOAD_CANCEL_S = 2.0
TURN_CANCEL_S = 10.0
"""Seconds after which a cancel is carried out by ending the process."""
KEEP_S = 60.0
"""Time limit for storing the measurements of a reply after its end, which no cancel can stop."""
UNSOUND = "compute-failed"
"""Code of a failed turn after which the process is ended: its device is in an unknown state."""


class ProcessService:
    """Carries out commands in a child process; belongs to one thread, like the child.

    Args:
        emit: Takes every event, on the thread that calls `handle`.
        broker: Has the flag that cancels the running command, and `Tune`s for it.
        main: Function that runs in the child.
        restarts: Decides whether and when a dead child is restarted.
        sleep: Waits between two starts.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        broker: Broker,
        *,
        main: ChildMain = run_child,
        restarts: RestartPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._emit = emit
        self._broker = broker
        self._keeper = Keeper(main, restarts or RestartPolicy(), sleep, lambda: broker.is_closed)
        self._watchdog = Watchdog()
        self._cache_dir = ""
        self._n_open = 0  # commands that the child has and is not done with
        self._is_over = False  # the turn's last event has been emitted
        self._over_since = 0.0
        self._is_unsound = False

    @property
    def pid(self) -> int:
        """The child's process id; 0 when there is none."""
        child = self._keeper.child  # once: a host that closes asks from another thread
        return child.pid if child else 0

    def handle(self, command: Command) -> None:
        """Carry the command out; an end of the child becomes an event."""
        if not isinstance(command, (Shutdown, Cancel)):
            self.look()  # the child may have died since the last look
        match command:
            case LoadPair():
                self._load(command)
            case StartTurn():
                self._turn(command)
            case DescribeEngine():
                self._pass_on(self._carry_out(command))
            case ReadAhead() if self._broker.flag.is_set():  # its text may be deleted by now
                self._emit(ReadAheadEnded(is_over=False))
            case (
                Tune()
                | CountTokens()
                | RenderPrompt()
                | Encode()
                | Calibrate()
                | MeasureReading()
                | SayAside()
                | ReadAhead()
                | Remember()
                | DropStates()
                | Reset()
            ):
                self._ask(command)
            case Unload():
                self._unload(command)
            case Shutdown():
                self._keeper.end()
            case Cancel():
                pass  # the broker has set the flag already
            case _:
                assert_never(command)

    def look(self) -> None:
        """Check whether the child has died between two commands."""
        child = self._keeper.child
        if child is None:
            return
        try:
            self._take_last(child, 0)
        except WireError as error:
            self._pass_on(self._keeper.give_up(nonsense(error)))
            return
        if child.has_ended:
            self._pass_on(self._keeper.explain_end())
            return
        trouble = self._watchdog.decode_trouble()  # in idle work
        if trouble:
            self._pass_on(self._give_up(trouble))

    # ----------------------------------------------------------------------------- commands

    def _load(self, command: LoadPair) -> None:
        if self._broker.flag.is_set():  # stopped in the queue: what is loaded stays
            self._emit(LoadFailed("cancelled", "Stopped.", ""))
            return
        self._cache_dir = command.cache_dir
        self._leave_servers()
        watch = LoadWatch(command)
        death = self._carry_out(command, watch.hear)
        while death and not self._broker.flag.is_set() and (again := watch.next_try(death)):
            watch = again
            death = self._carry_out(watch.command, watch.hear)
        if death is None and not watch.is_over:
            death = self._keeper.give_up(sentence("The engine left a load without an answer"))
        if not watch.is_loaded:
            self._leave_servers()
        if death is None or watch.is_over:
            self._pass_on(death)
        elif self._broker.flag.is_set():
            self._emit(LoadFailed("cancelled", "Stopped.", ""))
        else:
            self._emit(LoadFailed(death.code, *watch.explain(death), lost=death.lost))

    def _turn(self, command: StartTurn) -> None:
        if self._keeper.child is None:
            self._emit(no_model())
            return
        self._is_unsound = False
        try:
            death = self._carry_out(command, self._hear_turn)
        except FrameError:
            self._emit(TurnFailed(*TOO_LARGE))
            return
        if death is None and not self._is_over:
            death = self._keeper.give_up(sentence("The engine left a reply without an end"))
        self._pass_on(death)
        if self._is_unsound:
            self._keeper.end()

    def _ask(
        self,
        command: Tune
        | CountTokens
        | RenderPrompt
        | Encode
        | Calibrate
        | MeasureReading
        | SayAside
        | ReadAhead
        | Remember
        | DropStates
        | Reset,
    ) -> None:
        """Carry out a command that starts no process; refuse it without a process."""
        if self._keeper.child is not None:
            with contextlib.suppress(FrameError):
                self._pass_on(self._carry_out(command))
                return
        match command:
            case Tune():
                self._emit(not_running(command.strategy))
            case CountTokens():
                self._emit(not_counted())
            case RenderPrompt():
                self._emit(no_prompt())
            case Encode():
                is_loaded = self._keeper.child is not None
                self._emit(too_large_to_encode() if is_loaded else not_encoded())
            case Calibrate():
                self._emit(not_calibrated())
            case MeasureReading():
                self._emit(ReadingMeasured())
            case SayAside():
                self._emit(AsideAnswered())
            case ReadAhead():
                self._emit(ReadAheadEnded())
            case DropStates(owners=owners, folder=folder):
                drop_files(folder, owners)
                self._emit(StatesDropped())
            case Remember() | Reset():
                pass  # nothing is loaded that could know of texts

    def _leave_servers(self) -> None:
        """End a child that may have models on RPC servers.

        Freeing them waits for the servers; and llama.cpp asks each one only once for its devices,
        which may be others when it is started anew.
        """
        if self._keeper.servers:
            self._keeper.end()

    def _unload(self, command: Unload) -> None:
        self._leave_servers()
        if self._keeper.child is None:
            self._emit(Unloaded())
            return
        self._pass_on(self._carry_out(command))
        self._keeper.end()  # only the end of the process is sure to free its memory

    def _hear_turn(self, event: Event) -> Event:
        if isinstance(event, (TurnFinished, TurnFailed)):
            self._is_over = True
            self._over_since = self._watchdog.awake_s  # from here `KEEP_S` counts
            self._is_unsound = isinstance(event, TurnFailed) and event.code == UNSOUND
        return event

    def _pass_on(self, death: Death | None) -> None:
        if death is not None:
            self._emit(EngineDied(death.reason, death.hint, death.lost))

    # ---------------------------------------------------------------------------- the loop

    def _carry_out(
        self, command: Command, hear: Callable[[Event], Event] = lambda event: event
    ) -> Death | None:
        """Hand a command to the child and wait until it is done.

        Args:
            command: The command; a child is started for it if there is none.
            hear: Takes every event and returns the one to emit.

        Returns:
            How the child died, or why it could not be started; None when all went well.

        Raises:
            FrameError: The command is too large; the child has not received it.
        """
        if self._keeper.child is None:
            refusal = self._keeper.start(self._broker.flag.is_set)
            if refusal is not None:
                return refusal
        child = self._keeper.child
        assert child is not None
        if isinstance(command, LoadPair):
            self._keeper.servers = command.servers
        if not child.send(command):
            return self._lost(child)
        try:
            return self._wait(child, command, hear)
        except BaseException:  # a listener's: the child's remaining messages would stay unread
            self._keeper.stop_by_force()
            raise

    def _wait(
        self, child: EngineProcess, command: Command, hear: Callable[[Event], Event]
    ) -> Death | None:
        self._n_open = 1
        self._is_over = False
        self._watchdog.restart(is_remote=bool(self._keeper.servers))
        stop = _Stop(command, self._broker, self._watchdog)
        while self._n_open:
            try:
                for message in child.receive(POLL_S):
                    event = self._take(message)
                    if event is not None:
                        self._emit(hear(event))
            except WireError as error:
                return self._keeper.give_up(nonsense(error))
            if child.has_ended:
                return self._keeper.explain_end()
            if not self._is_over:
                self._pass_down(child, command)
                if stop.is_overdue(child):
                    return self._keeper.stop_by_force()
            elif self._watchdog.awake_s - self._over_since > KEEP_S:
                return self._keeper.give_up(
                    sentence("The engine did not come to an end after a reply")
                )
            trouble = self._watchdog.trouble()
            if trouble:
                return self._give_up(trouble)
        return None

    def _give_up(self, trouble: str) -> Death:
        """End a child that hangs, and stop using our own kernels if it hangs in them.

        With RPC servers it may be one of them that hangs.
        """
        if self._watchdog.hung_kernels and not self._keeper.servers:
            write_mark(self._cache_dir, self._watchdog.hung_kernels)
        return self._keeper.give_up(trouble)

    def _take(self, message: Upward) -> Event | None:
        """Handle a message of the child; return it if it is an event of the engine."""
        if isinstance(message, Beat):
            self._watchdog.beat(message)
            return None
        self._watchdog.hear()
        if isinstance(message, Done):
            self._n_open -= 1
            if self._n_open < 0:
                raise WireError("done with what it was not asked for")
        return take_report(message)

    def _take_last(self, child: EngineProcess, seconds: float) -> None:
        """Handle a child's last messages, and then its end."""
        for _ in range(3):
            for message in child.receive(seconds):
                self._take(message)

    def _pass_down(self, child: EngineProcess, command: Command) -> None:
        """Pass on commands that can be carried out between two steps of a turn."""
        if isinstance(command, StartTurn):
            more = self._broker.take_between()
            with contextlib.suppress(FrameError):
                if more is not None and child.send(more):
                    self._n_open += 1

    def _lost(self, child: EngineProcess) -> Death:
        """Return the death of a child that does not accept a command."""
        with contextlib.suppress(WireError):
            self._take_last(child, POLL_S)
        if child.has_ended:
            return self._keeper.explain_end()
        return self._keeper.give_up(sentence("The engine takes no commands any more"))


class _Stop:
    """Passes a cancel on to the child, and checks that the child obeys in time."""

    def __init__(self, command: Command, broker: Broker, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._can_stop = isinstance(command, STOPPABLE)
        self._flag = broker.flag
        self._limit_s = LOAD_CANCEL_S if isinstance(command, LoadPair) else TURN_CANCEL_S
        self._began: float | None = None

    def is_overdue(self, child: EngineProcess) -> bool:
        """Pass on a new cancel; return whether the child has not obeyed one in time."""
        if self._began is not None:
            return self._watchdog.awake_s - self._began > self._limit_s
        if self._can_stop and self._flag.is_set():
            self._began = self._watchdog.awake_s
            child.send(Cancel())
        return False
