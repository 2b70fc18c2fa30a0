"""The two ways in which `paceline chat` shows a turn: as text, and as JSON lines."""

from __future__ import annotations

from typing import Protocol

from paceline.cli import jsonl
from paceline.cli.decisions import Decisions
from paceline.cli.output import Progress, Results, remark
from paceline.messages import (
    ControlReported,
    LoadProgressed,
    PrefillProgressed,
    StepCommitted,
    TurnFinished,
    TurnStats,
)


class Printer(Protocol):
    """Shows what happens in a turn. Failures are told elsewhere, in the same way for both."""

    def progress(self, event: LoadProgressed | PrefillProgressed) -> None:
        """Something takes its time."""

    def step(self, event: StepCommitted) -> None:
        """The reply grew."""

    def control(self, event: ControlReported) -> None:
        """Auto says what it knows."""

    def finished(self, event: TurnFinished) -> None:
        """The reply is complete or was stopped."""

    def close(self) -> None:
        """The turn is over, in whatever way."""


class TextPrinter:
    """The reply as it grows on stdout, its figures in one line on stderr."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._progress = Progress()
        self._decisions = Decisions()
        self._n_printed = 0

    def progress(self, event: LoadProgressed | PrefillProgressed) -> None:
        """Show it while stderr is a terminal."""
        self._progress.show(_progress_text(event))

    def step(self, event: StepCommitted) -> None:
        """Print what the reply gained."""
        self._progress.clear()
        self._decisions.add(event)
        self._print(event.text)

    def control(self, event: ControlReported) -> None:
        """Show nothing: what the decisions came to stands in the last line."""

    def finished(self, event: TurnFinished) -> None:
        """Print the rest of the text and the figures."""
        self._progress.clear()
        self._print(event.text[self._n_printed :])
        self._results.write("\n")
        self._n_printed = 0
        if self._results.error is None:
            remark(summary(event, self._decisions))

    def close(self) -> None:
        """End the line that a failed turn left open."""
        self._progress.clear()
        if self._n_printed:
            self._results.write("\n")

    def _print(self, text: str) -> None:
        self._n_printed += len(text)
        self._results.write(text)


class JsonPrinter:
    """One JSON object per step, and one for the finished reply."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._progress = Progress()
        self._control: ControlReported | None = None

    def progress(self, event: LoadProgressed | PrefillProgressed) -> None:
        """Show it while stderr is a terminal."""
        self._progress.show(_progress_text(event))

    def step(self, event: StepCommitted) -> None:
        """Print the step."""
        self._progress.clear()
        self._results.write(jsonl.line(jsonl.step(event)))

    def control(self, event: ControlReported) -> None:
        """Keep it: the last one becomes a part of the finished reply."""
        self._control = event

    def finished(self, event: TurnFinished) -> None:
        """Print the reply."""
        self._progress.clear()
        self._results.write(jsonl.line(jsonl.finished(event, self._control)))

    def close(self) -> None:
        """Take the progress line away."""
        self._progress.clear()


def _progress_text(event: LoadProgressed | PrefillProgressed) -> str:
    if isinstance(event, LoadProgressed):
        what = "the draft model" if event.stage == "draft" else "the target"
        return f"Loading {what} … {event.fraction:.0%}"
    return f"Reading the prompt … {event.n_done} of {event.n_total} tokens"


def summary(event: TurnFinished, decisions: Decisions) -> str:
    """Return the figures of a reply in one line."""
    stats = event.stats
    parts = [
        f"{_tokens(stats.n_generated)} in {stats.decode_s:.2f} s",
        f"{stats.tokens_per_s:.1f} tokens/s",
        *_plain(stats),
        *_acceptance(stats),
        f"prompt of {_tokens(stats.n_prompt)} in {stats.prefill_s:.2f} s",
        f"strategy {event.strategy}{decisions.words()}",
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
        f"({stats.acceptance_rate:.0%})"
    ]
