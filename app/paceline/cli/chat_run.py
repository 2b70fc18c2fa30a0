"""One reply of `paceline chat`, shown as text or as JSON lines.

Outside tools rely on the keys of the JSON lines: ``{"event": "step", …}`` for every decoding step,
then one ``finished`` or ``failed``. Numbers that JSON does not have (NaN, infinity) become null.

A step's ``sources`` has one entry per committed token: ``target``, or the id of the drafter that
proposed it (``grammar`` for what a grammar forced). ``drafted`` has one entry per drafter whose
tokens were verified in the step: none in a plain step, several where one drafter continues
another's draft. ``decision`` is what Auto decided for the step, with the fields of
`messages.Decision`; null without Auto.

``stats`` are the fields of `messages.TurnStats`; in ``by_drafter`` every drafter that was asked has
the fields of `messages.DrafterStats`, which are llama.cpp's statistics: calls of begin, draft and
accept (``n_begin``, ``n_draft``, ``n_accept``) and the seconds in them (``begin_s``, ``draft_s``,
``accept_s``), proposals with any token (``drafts``), those with any accepted token
(``drafts_accepted``), ``tokens``, ``tokens_accepted``, and ``accepted_per_position``, the accepted
tokens by their place in the whole draft, which as a rate is divided by ``drafts``. ``kernels`` says
by type of weights, and for "attention", whose kernels computed: "own", Paceline's, or "stock".
``kept`` is what the reply has of the one of ``--earlier``, with the fields of `messages.Kept` and
their ``share``; null without one.

``control`` of the finished reply is what Auto knows by then, with the fields of
`messages.ControlReported`; null without Auto. It is no line of its own, so that every line but the
last one is a step.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from paceline.chat.auto_words import reason_words
from paceline.chat.decisions import Mix
from paceline.chat.last_run import LastRun, save_last_run
from paceline.cli.loading import Planner, TurnError, carried_out, decide_layers, notes_of
from paceline.cli.output import EXIT_CODE, Interrupts, ProgressLine, Results, remark
from paceline.codec import encode
from paceline.figures import by_kind
from paceline.files import delete_folder, write_whole
from paceline.hosting.broker import Ticket
from paceline.hosting.client import EngineClient
from paceline.hosting.prompt_wait import PromptWait
from paceline.messages import (
    Chat,
    Command,
    ControlReported,
    Event,
    Infill,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    PairLoaded,
    PrefillProgressed,
    Prompt,
    RawText,
    Remember,
    StartTurn,
    StepCommitted,
    Tokens,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.paths import OLD_MEMORY
from paceline.sizes import percent

WAIT_SHOWN_AFTER_S = 1.0


@dataclass(frozen=True, slots=True)
class RequestedChat:
    """A load, a turn, and remarks about options without an effect.

    `kept_dir` is the folder for the reply's figures and the chat's text, and has those of earlier
    chats; None keeps nothing. `strategy` is the turn's strategy as the user wrote it.
    """

    load: LoadPair
    turn: StartTurn
    notes: tuple[str, ...] = ()
    kept_dir: Path | None = None
    strategy: str = "auto"


class ChatRun:
    """One load and one turn of a client, whose events are printed.

    `plan` decides the automatic GPU layers; without it llama.cpp does.
    """

    def __init__(
        self,
        client: EngineClient,
        request: RequestedChat,
        interrupts: Interrupts,
        *,
        as_json: bool,
        plan: Planner | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan = plan
        self._client = client
        self._request = request
        self._interrupts = interrupts
        self._results = Results(on_lost=self._cancel)
        self._printer: Printer = (JsonPrinter if as_json else TextPrinter)(self._results, clock)
        self._ticket: Ticket | None = None
        self._loaded: PairLoaded | None = None
        self._finished: TurnFinished | None = None
        self._strategy = ""
        self._error: TurnError | None = None

    def run(self) -> int:
        """Load, generate, close; returns the exit code."""
        self._tell(self._request.notes)
        try:
            if not self._interrupts.hit:
                self._carry_out(self._decided_load())
            if self._loaded and self._request.kept_dir:
                texts = load_texts(self._request.kept_dir)
                self._carry_out(Remember("remembered", texts, at_once=True))
            if self._loaded and not self._interrupts.hit:
                self._carry_out(self._request.turn)
        except TurnError as error:
            self._error = error
        finally:
            self._printer.close()
            self._client.close()
        self._keep()
        self._results.check()
        return self._exit_code()

    def _decided_load(self) -> LoadPair:
        load = self._request.load
        if self._plan is not None:
            load, notes = decide_layers(load, self._client, self._plan)
            self._tell(notes)
        return load

    def _keep(self) -> None:
        folder, turn = self._request.kept_dir, self._request.turn
        if folder is not None and self._loaded and self._finished:
            run = LastRun.of(
                self._strategy,
                self._finished.stats,
                self._loaded.target,
                self._loaded.draft,
            )
            save_last_run(folder, run)
            add_texts(folder, [*_texts_of(turn.prompt), self._finished.text])

    def _exit_code(self) -> int:
        if self._error is not None:
            raise self._error
        if self._results.error is not None:
            return 0  # the reader of the results has closed its end
        if self._finished is None:
            raise TurnError("cancelled", "Stopped before the reply began.")
        return EXIT_CODE if self._finished.reason == "cancelled" else 0

    def _cancel(self) -> None:
        if self._ticket is not None:
            self._ticket.cancel()

    def _carry_out(self, command: Command) -> None:
        self._ticket = self._client.request(command)
        for event in carried_out(self._ticket, self._interrupts):
            self._on_event(event)

    def _on_event(self, event: Event) -> None:
        match event:
            case LoadProgressed():
                self._printer.progress(event)
            case PrefillProgressed():
                self._printer.read(event)
            case PairLoaded():
                self._loaded = event
                self._tell(notes_of(event))
            case TurnStarted():
                self._tell(event.notes)
                self._printer.started(event)
            case StepCommitted():
                self._printer.step(event)
            case ControlReported():
                self._printer.control(event)
            case TurnFinished():
                from paceline.engine.draft.strategy import as_written  # loads NumPy

                self._finished = event
                self._strategy = as_written(event.strategy, self._request.strategy)
                self._printer.finished(event, self._strategy)
            case LoadFailed() | TurnFailed():
                raise TurnError(event.code, event.message, event.hint)
            case TuneRejected():
                remark(f"{event.message} {event.hint}")  # a drafter failed on the way

    @staticmethod
    def _tell(notes: tuple[str, ...]) -> None:
        for note in notes:
            remark(note)


def _texts_of(prompt: Prompt) -> list[str]:
    match prompt:
        case Chat():
            return [message.text for message in prompt.messages]
        case RawText():
            return [prompt.text]
        case Infill():
            return [prompt.before, prompt.after]
        case Tokens():
            return [""]


# ----------------------------------------------------------------------------------------- printers


class Printer:
    """Shows what happens in a turn; failures are printed by `main`, in the same way for both."""

    def __init__(self, results: Results, clock: Callable[[], float]) -> None:
        self._results = results
        self._clock = clock
        self._progress = ProgressLine()
        self._wait: PromptWait | None = None

    def progress(self, event: LoadProgressed) -> None:
        """Show the progress of a load if stderr is a terminal."""
        what = "the draft model" if event.stage == "draft" else "the target"
        self._progress.show(f"Loading {what} … {event.fraction:.0%}")

    def started(self, event: TurnStarted) -> None:
        """The prompt is being read: shown where that takes a while, as is `progress`."""
        wait = self._wait = PromptWait(event, self._clock())
        self._progress.follow(lambda: wait.words(self._clock(), WAIT_SHOWN_AFTER_S))

    def read(self, event: PrefillProgressed) -> None:
        """More of the prompt has been read."""
        if self._wait is not None:
            self._wait.grow(event, self._clock())

    def step(self, event: StepCommitted) -> None:
        """The reply grew."""

    def control(self, event: ControlReported) -> None:
        """Auto reports its measurements."""

    def finished(self, event: TurnFinished, strategy: str) -> None:
        """The reply is complete or was stopped; `strategy` is the one in force then, as text."""

    def close(self) -> None:
        """The turn is over, finished or failed."""
        self._progress.clear()


class TextPrinter(Printer):
    """The reply as it grows on stdout, its figures in one line on stderr.

    The text begins with what its prompt opened, for people to see.
    """

    def __init__(self, results: Results, clock: Callable[[], float]) -> None:
        super().__init__(results, clock)
        self._decisions = Mix()
        self._n_printed = 0

    def step(self, event: StepCommitted) -> None:
        """Print what the reply gained."""
        self._progress.clear()
        self._decisions.add(event)
        self._print(event.text)

    def finished(self, event: TurnFinished, strategy: str) -> None:
        """Print the rest of the text and the figures."""
        self._progress.clear()
        self._print(event.text[self._n_printed :])
        self._results.write("\n")
        self._n_printed = 0
        if self._results.error is None:
            remark(summary(event, strategy, self._decisions))

    def close(self) -> None:
        """End the line that a failed turn left open."""
        super().close()
        if self._n_printed:
            self._results.write("\n")

    def _print(self, text: str) -> None:
        self._n_printed += len(text)
        self._results.write(text)


class JsonPrinter(Printer):
    """One JSON object per step, and one for the finished reply."""

    _control: ControlReported | None = None
    _n_opening = _n_left = 0

    def started(self, event: TurnStarted) -> None:
        """Leave out the text before the first token, so that the text is that of `tokens`."""
        super().started(event)
        self._n_opening = self._n_left = len(event.opening)

    def step(self, event: StepCommitted) -> None:
        """Print the step."""
        self._progress.clear()
        text = event.text[self._n_left :]
        self._n_left -= len(event.text) - len(text)
        self._results.write(json_line(step_object(structs.replace(event, text=text))))

    def control(self, event: ControlReported) -> None:
        """Keep it: the last one becomes a part of the finished reply."""
        self._control = event

    def finished(self, event: TurnFinished, strategy: str) -> None:
        """Print the reply."""
        self._progress.clear()
        event = structs.replace(event, text=event.text[self._n_opening :])
        self._results.write(json_line(finished_object(event, strategy, self._control)))


def summary(event: TurnFinished, strategy: str, decisions: Mix) -> str:
    """Return the figures of a reply in one line."""
    stats = event.stats
    parts = [
        f"{_tokens(stats.n_generated)} in {stats.decode_s:.2f} s",
        f"{stats.tokens_per_s:.1f} tokens/s",
        *_plain(stats),
        *_acceptance(stats),
        *([f"kept {percent(stats.kept.share)}% of the earlier reply"] if stats.kept else []),
        f"prompt of {_tokens(stats.n_prompt)} in {stats.prefill_s:.2f} s",
        f"strategy {strategy}{decisions_in_words(decisions)}",
        f"seed {event.seed}",
        f"ended by {event.reason}",
    ]
    return "; ".join(parts)


def _tokens(n: int) -> str:
    return "1 token" if n == 1 else f"{n} tokens"


def _plain(stats: TurnStats) -> list[str]:
    speedup = stats.speedup
    if speedup is None:
        return []
    return [
        f"{speedup.ratio:.2f}× ({speedup.low:.2f}–{speedup.high:.2f}) "
        f"the plain {stats.plain_tokens_per_s:.1f} tokens/s"
    ]


def _acceptance(stats: TurnStats) -> list[str]:
    if stats.acceptance_rate is None:
        return []
    return [
        f"{stats.n_accepted} of {stats.n_drafted} drafted tokens accepted "
        f"({percent(stats.acceptance_rate)}%)"
    ]


def decisions_in_words(mix: Mix) -> str:
    """Return the shares of drafters and plain steps, with a reason; empty without Auto."""
    n = mix.n_steps
    parts = [f"{name} {percent(work.n_steps / n)}%" for name, work in mix.ranked if work.n_steps]
    if mix.plain:
        n_plain = sum(mix.plain.values())
        reason = max(mix.plain, key=mix.plain.__getitem__)
        parts.append(f"plain {percent(n_plain / n)}%, mostly: {reason_words(reason)}")
    return f" ({', '.join(parts)})" if parts else ""


# --------------------------------------------------------------------------------------- JSON lines


def json_line(data: dict[str, Any]) -> str:
    """Return one line of JSON with its line end."""
    return json.dumps(_finite(data), ensure_ascii=False, allow_nan=False) + "\n"


def step_object(event: StepCommitted) -> dict[str, Any]:
    """Return the object for a decoding step."""
    return {
        "event": "step",
        "step": event.step,
        "tokens": [trace.token for trace in event.tokens],
        "text": event.text,
        "sources": [trace.source for trace in event.tokens],
        "n_committed": len(event.tokens),
        "drafted": [
            {
                "drafter": count.drafter,
                "n_drafted": count.n_drafted,
                "n_accepted": count.n_accepted,
            }
            for count in event.drafted
        ],
        "draft_s": event.draft_s,
        "verify_s": event.verify_s,
        "sample_s": event.sample_s,
        "decision": encode(event.decision) if event.decision else None,
    }


def finished_object(
    event: TurnFinished, strategy: str, control: ControlReported | None = None
) -> dict[str, Any]:
    """Return the object that ends a reply.

    Args:
        event: The end of the reply.
        strategy: The strategy in force then, as text.
        control: Auto's last report.
    """
    known = encode(control) if control else None
    if known:
        del known["type"]
    return {
        "event": "finished",
        "text": event.text,
        "tokens": list(event.tokens),
        "reason": event.reason,
        "seed": event.seed,
        "strategy": strategy,
        "stats": stats_object(event.stats),
        "control": known,
    }


def failed_object(code: str, message: str, hint: str) -> dict[str, Any]:
    """Return the object that takes the place of `finished` after an error."""
    return {"event": "failed", "code": code, "message": message, "hint": hint}


def stats_object(figures: TurnStats) -> dict[str, Any]:
    """Return the object with the figures of a reply."""
    data: dict[str, Any] = encode(figures)
    data["by_drafter"] = {entry.pop("drafter"): entry for entry in data["by_drafter"]}
    data["kernels"] = by_kind(figures.kernels)
    if figures.kept is not None:
        data["kept"]["share"] = figures.kept.share
    data["reread"] = figures.reread and figures.reread.words
    return data


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


# ------------------------------------------------------------------------------ texts that are kept

_log = logging.getLogger(__name__)

FILE_NAME = "remembered.jsonl"
"""File below `Paths.data_dir`: the texts of chats with --remember, for the lookups of later ones.

A line for each chat, a JSON list of its texts. The window has its chats in the database and does
not read this file. One that is damaged loses the lines that cannot be read."""
STATES_OWNER = "command line"
"""Owner of the states of prompts that `paceline chat` reads."""
MAX_REMEMBERED_BYTES = 500_000
"""Upper bound of the bytes that are kept, the newest; indexing them takes half a second at the
start of each run."""


def load_texts(folder: Path) -> tuple[str, ...]:
    """Return the texts of earlier chats, the oldest first; delete the files of old versions.

    Of the window's chats it goes at the window's start, to which it says how the switch was left.
    """
    old = folder / OLD_MEMORY
    if not any(old.glob("*/chats")):
        with contextlib.suppress(OSError):  # the next run tries again
            delete_folder(old)
    texts: list[str] = []
    for line in _lines(folder / FILE_NAME):
        try:
            chat = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(chat, list):
            texts += (text for text in chat if isinstance(text, str))
    return tuple(texts)


def add_texts(folder: Path, texts: list[str]) -> None:
    """Add a chat, readable by the owner alone; a failure is logged and nothing else."""
    file = folder / FILE_NAME
    lines = [*_lines(file), json.dumps(texts).encode()]
    size = 0
    first = len(lines)
    while first and (size := size + len(lines[first - 1]) + 1) <= MAX_REMEMBERED_BYTES:
        first -= 1
    try:
        write_whole(file, b"".join(line + b"\n" for line in lines[first:]))
    except OSError as error:
        _log.warning("This chat is not remembered: %s", error.strerror or error)


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError:
        return []
