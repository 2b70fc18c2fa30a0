"""Check of a reply: it is generated once more without drafts, and the texts are compared.

The claim of speculative decoding is that the text does not change; this shows it for one reply,
token by token. The prompt is built again from the conversation, and model, sampling and seed are
the reply's. Where the backend's logits depend on the width of a batch, a near-tie can be decided
differently: the margin says how near it was, as a difference of logits.

A prompt is prefilled in batches that begin after what the context still holds, so its cells differ
by rounding when that was another length. A reply that began with an empty context is checked with
an empty one, too; for the others a difference says how much was reused then and now.

The check is a turn of its own, outside the session: it belongs to no chat, nothing of it is
remembered, and any reply takes precedence over it. It lives on the session's thread.

Long, because the question, the answer and its meaning belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from paceline.chat.pair import PairLoader
from paceline.chat.prompt import KnownOf, build_messages, nothing_known
from paceline.chat.session import ChatSession
from paceline.codec import made_of
from paceline.conversation import Message
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import (
    Chat,
    ChatMessage,
    EngineDied,
    Event,
    PrefillProgressed,
    StartTurn,
    StepCommitted,
    Strategy,
    TextDiverged,
    Tokens,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.run_record import RunRecord
from paceline.sentence import sentence

PLAIN = Strategy.of("off")
_BEFORE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Same:
    """Every token of the reply is the same."""

    n_tokens: int


@dataclass(frozen=True, slots=True)
class Differs:
    """A token is different.

    Attributes:
        index: The token's index in the reply, from 0.
        n_tokens: Tokens of the reply.
        expected: Its text in the reply, or empty if the reply ended there or the token has no text.
        found: Its text in plain decoding; empty as above.
        margin: The smallest change of one logit with which plain decoding has the reply's token,
            too, or None if no change can.
        before: The end of the text that both share.
        is_promised: Whether equality was promised, for the reply and for the check.
        logit_difference: The largest difference of one logit that was measured between batch widths
            with this file on this computer, or None if not measured.
        reused: Numbers of the prompt's tokens that were in the context already, for the reply and
            for the check, or None if not known.
        any_context: Whether the text of the pair that is loaded now does not depend on what the
            context held before.
    """

    index: int
    n_tokens: int
    expected: str
    found: str
    margin: float | None
    before: str
    is_promised: bool
    logit_difference: float | None
    reused: tuple[int, int] | None = None
    any_context: bool = False


@dataclass(frozen=True, slots=True)
class CannotCompare:
    """The check has no result. `code` is stable, `message` says why, `hint` what to do."""

    code: str
    message: str
    hint: str = ""


Result = Same | Differs | CannotCompare


class SamenessListener(Protocol):
    """Shows the check; called on the session's thread."""

    def sameness_progressed(self, message_id: str, n_same: int, n_tokens: int) -> None:
        """The first `n_same` tokens of the reply are the same so far."""

    def sameness_ended(self, message_id: str, result: Result) -> None:
        """The check is over."""


@dataclass(slots=True)
class _Run:
    """The check that is under way."""

    message_id: str
    expected: tuple[int, ...]
    text: str
    text_ends: tuple[int, ...]
    found: list[int]
    found_ends: list[int]
    made_with: TurnStats | None
    diverged: TextDiverged | None = None
    cancelled: str = ""
    ticket: Ticket | None = None


class SamenessCheck:
    """Checks one reply at a time."""

    def __init__(
        self,
        client: EngineClient,
        session: ChatSession,
        pair: PairLoader,
        listener: SamenessListener,
        *,
        fingerprint_of: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._client = client
        self._session = session
        self._pair = pair
        self._listener = listener
        self._fingerprint_of = fingerprint_of
        self._run: _Run | None = None

    @property
    def is_running(self) -> bool:
        """Return whether a check is under way."""
        return self._run is not None

    @property
    def message_id(self) -> str:
        """The reply that is being checked, or empty if none is."""
        return self._run.message_id if self._run is not None else ""

    def obstacle(self, record: RunRecord) -> CannotCompare | None:
        """Return why this reply cannot be checked now, or None if it can."""
        if self._run is not None:
            return CannotCompare("busy", "A check is under way.", "Wait for its end, or stop it.")
        if self._session.active is not None:
            return CannotCompare("busy", "A reply is being written.", "Wait until it has ended.")
        if not any(step.tokens for step in record.steps) or record.seed is None:
            return CannotCompare("no-tokens", "No tokens of this reply were kept.")
        return self._model_obstacle(record)

    def _model_obstacle(self, record: RunRecord) -> CannotCompare | None:
        state = self._pair.state
        if state.status != "ready" or state.target is None:
            return CannotCompare("no-model", "No model is loaded.", "Load the reply's pair first.")
        made_by, loaded = record.target, state.target
        if made_by is None:
            return CannotCompare("no-model-known", "It was not kept which model wrote this reply.")
        if record.n_parts > 1:
            return CannotCompare(
                "in-parts", "This reply was continued, so it was not written in one turn."
            )
        fingerprint = self._fingerprint_of(loaded.path)
        if made_by.fingerprint and fingerprint:
            is_other = made_by.fingerprint != fingerprint
        else:
            is_other = (made_by.file, made_by.size_bytes) != (
                Path(loaded.path).name,
                loaded.size_bytes,
            )
        if is_other:
            return CannotCompare(
                "other-model",
                sentence(
                    "Another model is loaded than the one that wrote this reply ({file}).",
                    file=made_by.file,
                ),
                "Load that one, then verify again.",
            )
        return None

    def start(
        self,
        record: RunRecord,
        text: str,
        path: Sequence[Message],
        known: KnownOf = nothing_known,
    ) -> bool:
        """Begin to generate a reply once more, without drafts.

        Args:
            record: The reply's record with its steps.
            text: The reply's text.
            path: The conversation up to the question that it answered.
            known: Facts of how the other replies of the path were generated.

        Returns:
            Whether it began; if not, the listener has got the reason.
        """
        obstacle = self.obstacle(record)
        if obstacle is not None:
            self._listener.sameness_ended(record.message_id, obstacle)
            return False
        traces = [trace for step in record.steps for trace in step.tokens]
        tokens = tuple(trace.token for trace in traces)
        stats = record.stats
        self._run = _Run(
            record.message_id, tokens, text,
            tuple(trace.text_end for trace in traces), [], [], stats,
        )  # fmt: skip
        was_cut_off = record.reason in (None, "cancelled", "context")
        command = made_of(
            StartTurn,
            record,
            prompt=Chat(
                _without(build_messages(path, record.system_prompt, known), record.n_cut),
                record.prompting,
            ),
            strategy=PLAIN,
            # A stopped reply, or one that filled its context, did not end by a token.
            max_tokens=len(tokens) if was_cut_off else record.max_tokens,
            expected=tokens,
        )
        self._listener.sameness_progressed(record.message_id, 0, len(tokens))
        if stats is not None and stats.n_reused == 0:
            emptying = _emptying(command, tokens[0])
            self._client.request(emptying, Priority.IDLE, lambda _: self._give_way())
        run = self._run
        run.ticket = self._client.request(command, Priority.IDLE, partial(self._on_event, run))
        return True

    def cancel(self, message: str = sentence("The check was stopped.")) -> None:
        """Stop the running check; the listener is notified when it has ended."""
        run = self._run
        if run is not None and not run.cancelled:
            run.cancelled = message
            self._stop(run)

    @staticmethod
    def _stop(run: _Run) -> None:
        if run.ticket is not None:
            run.ticket.cancel()

    # -------------------------------------------------------------------------------- events

    def _on_event(self, run: _Run, event: Event) -> None:
        if run is not self._run:
            return
        if isinstance(event, EngineDied):
            self._end(CannotCompare("engine-died", event.reason, event.hint))
            return
        self._give_way()
        match event:
            case StepCommitted():
                self._grow(run, event)
            case TextDiverged():
                run.diverged = event
            case TurnFinished():
                self._end(self._result(run, event))
            case TurnFailed() if run.cancelled:
                self._end(CannotCompare("stopped", run.cancelled))
            case TurnFailed():
                self._end(CannotCompare(event.code, event.message, event.hint))
            case TurnStarted() | PrefillProgressed():
                self._listener.sameness_progressed(run.message_id, 0, len(run.expected))
            case _:
                pass

    def _give_way(self) -> None:
        """Stop the check when a reply or a load needs the engine."""
        if self._session.active is not None:
            self.cancel(sentence("A message was sent meanwhile, so the check gave way."))
        elif self._pair.state.status != "ready":
            self.cancel(sentence("Other models are being loaded, so the check gave way."))

    def _grow(self, run: _Run, step: StepCommitted) -> None:
        for trace in step.tokens:
            run.found.append(trace.token)
            run.found_ends.append(trace.text_end)
        n_same = _common(run.expected, run.found)
        self._listener.sameness_progressed(run.message_id, n_same, len(run.expected))
        if n_same < min(len(run.found), len(run.expected)):
            self._stop(run)

    def _result(self, run: _Run, end: TurnFinished) -> Result:
        n_same = _common(run.expected, end.tokens)
        n_tokens = len(run.expected)
        margin = None
        if run.diverged is not None:
            n_same, margin = run.diverged.index, run.diverged.margin
        elif n_same == n_tokens and len(end.tokens) <= n_tokens:
            return Same(n_tokens)
        elif n_same == len(end.tokens) and run.cancelled:
            return CannotCompare("stopped", run.cancelled)
        if n_same == len(end.tokens):
            # An end by the model or by a stop text has a token of its own, so only the full
            # context can have ended it.
            return CannotCompare(
                "context-too-short",
                sentence(
                    "The context is full after {n_same:,} tokens, all of them the same.",
                    n_same=n_same,
                ),
                "Load the model with the context that the reply had.",
            )
        begin = run.text_ends[n_same - 1] if n_same else 0
        here = run.text_ends[n_same] if n_same < n_tokens else begin
        there = run.found_ends[n_same] if n_same < len(run.found_ends) else len(end.text)
        return Differs(
            n_same,
            n_tokens,
            run.text[begin:here],
            end.text[begin:there],
            margin,
            run.text[max(begin - _BEFORE_CHARS, 0) : begin],
            self._is_promised(run.made_with, end.stats),
            _most(run.made_with, end.stats),
            None if run.made_with is None else (run.made_with.n_reused, end.stats.n_reused),
            self._any_context,
        )

    @property
    def _any_context(self) -> bool:
        sameness = self._pair.state.sameness
        return sameness is not None and sameness.any_context

    def _is_promised(self, then: TurnStats | None, now: TurnStats) -> bool:
        """Return whether equality was promised to both turns, computed on the same basis."""
        return (
            then is not None
            and bool(now.basis)
            and then.basis == now.basis
            and then.batch_invariant is True
            and now.batch_invariant is True
            and (self._any_context or then.n_reused == now.n_reused)
        )

    def _end(self, result: Result) -> None:
        run, self._run = self._run, None
        assert run is not None
        self._listener.sameness_ended(run.message_id, result)


def _emptying(command: StartTurn, token: int) -> StartTurn:
    """Return a turn after which the context shares no prefix with another prompt.

    No prompt begins with the first token of a reply to it.
    """
    return StartTurn(
        Tokens((token,)),
        sampling=command.sampling,
        strategy=PLAIN,
        max_tokens=1,
        seed=command.seed,
    )


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the common prefix."""
    n = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        n += 1
    return n


def _most(then: TurnStats | None, now: TurnStats) -> float | None:
    """Return the largest difference of a logit that either turn knew of."""
    known = (then.logit_difference if then is not None else None, now.logit_difference)
    return max((difference for difference in known if difference is not None), default=None)


def _without(messages: tuple[ChatMessage, ...], n_cut: int) -> tuple[ChatMessage, ...]:
    """Return the messages without the oldest ones, which were cut from the reply's prompt."""
    n_kept = 1 if messages and messages[0].role == "system" else 0
    return messages[:n_kept] + messages[n_kept + n_cut :]
