"""The record of one reply: settings, models and every step; and its JSON.

A run record has enough to understand the reply later, to draw its plot and its token colours again,
and to repeat it: models with their fingerprints, seed, sampling, strategy. It does not have the
text, which belongs to the message.

The JSON, for the database, exports and the clipboard, has the steps in columns. A reply of 4,000
tokens has some 1,500 steps. With one object per step they would take 1.5 MB; one list per field
takes a tenth of that, and compression halves it again. What is lost: times are rounded to
microseconds, confidences and Auto's expectations to three digits; a number that is not finite
becomes 0, no confidence, or the value of a plain step; likelihoods of tokens are not stored.
Everything else is restored exactly. Auto's decisions have columns of their own, which old data, and
replies without Auto, do not have.

No I/O, any thread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any, Literal, TypeVar, cast, get_args

from paceline.codec import CodecError, decode, encode, made_of, misfit
from paceline.figures import Decision, DraftCount, Reason, TokenTrace
from paceline.messages import FinishReason, StepCommitted, TurnStats
from paceline.params import Prompting, ReplySettings, SamplingParams
from paceline.sentence import UserText, sentence

RunStatus = Literal["running", "finished", "failed"]
"""A stored record that is "running" belongs to a reply whose end the program did not see."""


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model at the time of a reply.

    Attributes:
        name: Name in the file's metadata.
        file: Name of the file without its folder.
        architecture: Architecture in the header.
        description: Size and quantisation as text.
        n_params: Number of parameters.
        size_bytes: Bytes of the weights.
        n_ctx: Size of the context in tokens.
        n_threads: Number of threads for decodes of one token.
        n_threads_batch: Number of threads for wider decodes.
        n_gpu_layers: Number of layers on devices.
        fingerprint: SHA-256 of size, header and samples of the file; empty if not known.
        sha256: SHA-256 of the whole file; empty if not known.
    """

    name: str
    file: str
    architecture: str = ""
    description: str = ""
    n_params: int = 0
    size_bytes: int = 0
    n_ctx: int = 0
    n_threads: int = 0
    n_threads_batch: int = 0
    n_gpu_layers: int = 0
    fingerprint: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RunError:
    """The reason why a reply failed, and what to do about it."""

    code: str
    message: UserText
    hint: UserText = ""


CLOSED = RunError(
    "closed",
    "Paceline was closed while this reply was being written.",
    "What was there is kept. Continue the reply to have all of it.",
)
INTERRUPTED = RunError(
    "interrupted",
    "Paceline ended while this reply was being written.",
    "What was there is kept. Continue the reply to have all of it.",
)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The figures of one reply.

    Attributes:
        message_id: The message that has the text.
        status: State of the reply.
        started_s: Time at which it was sent to the engine, in seconds since the epoch; 0 if not
            known.
        strategy: Strategy at the end.
        asked_strategy: Strategy at the beginning.
        sampling: Sampling settings.
        max_tokens: Maximum number of tokens.
        seed: Key of the noise, or None if it never began.
        stop: Texts that would have ended it.
        system_prompt: Text before the conversation; may be empty.
        cuts: Whether the oldest messages might be omitted.
        n_cut: Number of messages that were omitted because the context was too small.
        reason: Reason of its end, or None if it did not end, or failed.
        error: Reason of a failure, or None.
        stats: Its figures, or None if it did not finish.
        first_token_s: Seconds from the request to the first token.
        notes: Notes of the engine.
        target: The target, or None if not known.
        draft: The draft model, or None without one.
        app_version: Paceline's version.
        engine_version: llama-cpp-python's version.
        steps: The decoding steps; also empty if they are read on demand.
        prompting: Settings of the conversion to a prompt.
        n_parts: Number of turns in which it was written; `stats` and `first_token_s` belong to the
            last one, steps to all.
        edited: Whether the user wrote the text, from an earlier reply.
        knows_marks: Whether template or vocabulary have marks of reasoning, or None if not known.
    """

    message_id: str
    status: RunStatus = "running"
    started_s: float = 0.0
    strategy: str = ""
    asked_strategy: str = ""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    system_prompt: str = ""
    cuts: bool = False
    n_cut: int = 0
    reason: FinishReason | None = None
    error: RunError | None = None
    stats: TurnStats | None = None
    first_token_s: float | None = None
    notes: tuple[UserText, ...] = ()
    target: ModelRecord | None = None
    draft: ModelRecord | None = None
    app_version: str = ""
    engine_version: str = ""
    steps: tuple[StepCommitted, ...] = ()
    prompting: Prompting = field(default_factory=Prompting)
    n_parts: int = 1
    edited: bool = False
    knows_marks: bool | None = None

    @property
    def last_part(self) -> tuple[StepCommitted, ...]:
        """The steps that `stats` belong to."""
        return last_part(self.steps, self.n_parts, has_begun=self.first_token_s is not None)

    @property
    def settings(self) -> ReplySettings:
        """The settings it was drawn with, including its seed."""
        return made_of(ReplySettings, self)


_T = TypeVar("_T", int, str, float)
_COLUMNS: dict[type, tuple[str, frozenset[type]]] = {
    int: (sentence("a list of whole numbers"), frozenset({int})),
    str: (sentence("a list of texts"), frozenset({str})),
    float: (sentence("a list of numbers"), frozenset({int, float, type(None)})),
}
_TIMES = ("draft", "verify", "sample", "total")
_OLD_REASONS = {"dear": "expensive"}
_NOT_READ = ("steps", "plain_tokens_per_s")  # old records guess the latter from other replies


def last_part(
    steps: Sequence[StepCommitted], n_parts: int, *, has_begun: bool
) -> tuple[StepCommitted, ...]:
    """Return the steps of a reply's last turn, which its figures belong to.

    Args:
        steps: Steps of all its turns.
        n_parts: Number of turns.
        has_begun: Whether the last turn has produced a token, which is not stored if the program is
            killed.
    """
    turns = _turns(steps)
    if not has_begun and len(set(turns)) < n_parts:
        return ()
    return tuple(step for step, turn in zip(steps, turns, strict=True) if turn == turns[-1])


def _turns(steps: Sequence[StepCommitted]) -> list[int]:
    """Return the number of the turn of each step; a turn's first step has the number 0.

    Text that belongs to no step precedes that in a separate step without tokens.
    """
    turns: list[int] = []
    turn, only_text = -1, False
    for step in steps:
        if step.step == 0 and not only_text:
            turn += 1
        only_text = step.step == 0 and not step.tokens
        turns.append(max(turn, 0))
    return turns


def record_to_json(record: RunRecord, *, with_steps: bool = True) -> dict[str, Any]:
    """Return a record as JSON data; without steps, `record_from_json` returns none."""
    data: dict[str, Any] = encode(replace(record, steps=()))
    del data["steps"]
    if with_steps:
        data["steps"] = steps_to_json(record.steps)
    return data


def in_english(record: RunRecord) -> RunRecord:
    """Return a record without the templates of its sentences, for readers of its JSON."""
    error = record.error and replace(
        record.error, message=str(record.error.message), hint=str(record.error.hint)
    )
    return replace(record, error=error, notes=tuple(map(str, record.notes)))


def record_text(record: RunRecord) -> str:
    """Return a record as readable JSON: a field per line, its steps in columns."""
    fields = record_to_json(in_english(record)).items()
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record_from_json(data: object) -> RunRecord:
    """Return the record for data of `record_to_json`.

    Raises:
        CodecError: The data is not such a record.
    """
    if not isinstance(data, dict):
        raise misfit(data, "an object")
    fields = {key: value for key, value in data.items() if key not in _NOT_READ}
    stats = fields.get("stats")
    if isinstance(stats, dict) and "plain_low" not in stats:  # their estimate is wrong as well
        fields["stats"] = {**stats, "plain_tokens_per_s": None}
    record = decode(RunRecord, fields)
    return replace(record, steps=steps_from_json(data["steps"])) if "steps" in data else record


def steps_to_json(steps: Sequence[StepCommitted]) -> dict[str, Any]:
    """Return steps as columns: one list per field, over all steps, tokens or draft counts.

    Repeated names (turn, source, drafter) are indexes into `names`; `text_end` has the differences
    from the token before.
    """
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    tokens = [token for step in steps for token in step.tokens]
    counts = [count for step in steps for count in step.drafted]
    ends = [token.text_end for token in tokens]
    decided = [(i, step.decision) for i, step in enumerate(steps) if step.decision is not None]
    columns = _decisions_to_json(decided, number) if decided else {}
    return columns | {
        "turn": [number(f"turn {turn}") for turn in _turns(steps)],  # the previous version reads it
        "step": [step.step for step in steps],
        "text": [step.text for step in steps],
        "plain": [int(step.plain) for step in steps],
        **{f"{of}_us": [_micros(getattr(s, f"{of}_s")) for s in steps] for of in _TIMES},
        "n_tokens": [len(step.tokens) for step in steps],
        "n_counts": [len(step.drafted) for step in steps],
        "token": [token.token for token in tokens],
        "source": [number(token.source) for token in tokens],
        "position": [token.position for token in tokens],
        "confidence": [_rounded(token.confidence) for token in tokens],
        "text_end": [end - before for before, end in zip([0, *ends], ends, strict=False)],
        "drafter": [number(count.drafter) for count in counts],
        "n_drafted": [count.n_drafted for count in counts],
        "n_accepted": [count.n_accepted for count in counts],
        "n_discarded": [count.n_discarded for count in counts],
        "names": list(names),
    }


def steps_from_json(data: object) -> tuple[StepCommitted, ...]:
    """Return the steps for data of `steps_to_json`.

    Raises:
        CodecError: A column is missing, has other values, or another length.
    """
    if not isinstance(data, dict):
        raise misfit(data, "an object", ".steps")
    columns = _Columns(data)
    texts = columns.of(str, "text")
    n = len(texts)
    number, plain, n_tokens, n_counts = columns.ints("step plain n_tokens n_counts", n)
    if min((*n_tokens, *n_counts), default=0) < 0:
        raise CodecError("has fewer than no tokens", ".steps")
    times = zip(*columns.ints(" ".join(f"{of}_us" for of in _TIMES), n), strict=True)
    n_all = sum(n_tokens)
    token, position, distance = columns.ints("token position text_end", n_all)
    source, confidence = columns.named("source", n_all), columns.shares("confidence", n_all)
    traces = map(TokenTrace, token, source, position, confidence, accumulate(distance))
    n_all = sum(n_counts)
    drafted = columns.ints("n_drafted n_accepted n_discarded", n_all)
    counts = map(DraftCount, columns.named("drafter", n_all), *drafted)
    decisions = _decisions(columns, n) if "decided_step" in data else {}
    return tuple(
        StepCommitted(
            number[i],
            tuple(islice(traces, n_tokens[i])),
            texts[i],
            tuple(islice(counts, n_counts[i])),
            draft / 1e6,
            verify / 1e6,
            sample / 1e6,
            total / 1e6,
            bool(plain[i]),
            decisions.get(i),
        )
        for i, (draft, verify, sample, total) in enumerate(times)
    )


def _decisions_to_json(
    decided: Sequence[tuple[int, Decision]], number: Callable[[str], int]
) -> dict[str, Any]:
    """Return columns over the steps that have a decision; `decided_step` counts steps from 0."""
    return {
        "decided_step": [step for step, _ in decided],
        "decided_drafter": [number(decision.drafter) for _, decision in decided],
        "decided_n": [decision.n_drafted for _, decision in decided],
        "decided_reason": [number(decision.reason) for _, decision in decided],
        "decided_expected": [_rounded(decision.expected) for _, decision in decided],
        "decided_gain": [_rounded(decision.gain) for _, decision in decided],
    }


def _decisions(columns: _Columns, n_steps: int) -> dict[int, Decision]:
    """Return the decisions by index of their step."""
    places = columns.of(int, "decided_step")
    n = len(places)
    if any(not 0 <= place < n_steps for place in places):
        raise CodecError("has a number that is none of a step", ".steps.decided_step")
    (drafted,) = columns.ints("decided_n", n)
    reasons = map(_reason, columns.named("decided_reason", n))
    expected, gain = (
        [1.0 if share is None else share for share in columns.shares(key, n)]
        for key in ("decided_expected", "decided_gain")
    )
    drafters = columns.named("decided_drafter", n)
    made = map(Decision, drafters, drafted, reasons, expected, gain)
    return dict(zip(places, made, strict=True))


def _reason(name: str) -> Reason:
    name = _OLD_REASONS.get(name, name)
    for reason in get_args(Reason):
        if name == reason:
            return cast("Reason", reason)
    raise CodecError(
        "has no reason of Auto's ({name:.60})", ".steps.decided_reason", name=repr(name)
    )


class _Columns:
    """Untrusted columns; each method raises a `CodecError` if one does not fit."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._names = self.of(str, "names")

    def of(self, kind: type[_T], key: str, n: int | None = None) -> list[_T]:
        column, (expected, types) = self._data.get(key), _COLUMNS[kind]
        if not isinstance(column, list) or not all(type(value) in types for value in column):
            raise misfit(column, expected, f".steps.{key}")
        if n is not None and len(column) != n:
            raise CodecError(
                "has {n_column:,} values instead of {n:,}",
                f".steps.{key}",
                n_column=len(column),
                n=n,
            )
        return column

    def ints(self, keys: str, n: int) -> list[list[int]]:
        """Return several columns, whose keys are separated by blanks."""
        return [self.of(int, key, n) for key in keys.split()]

    def named(self, key: str, n: int) -> list[str]:
        """Return a column of numbers converted to the names that they refer to."""
        numbers, names = self.of(int, key, n), self._names
        if not all(0 <= number < len(names) for number in numbers):
            raise CodecError("has a number that is none of a name", f".steps.{key}")
        return [names[number] for number in numbers]

    def shares(self, key: str, n: int) -> list[float | None]:
        return [None if v is None else float(v) for v in self.of(float, key, n)]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 3)


def _micros(seconds: float) -> int:
    micros = seconds * 1e6
    return round(micros) if math.isfinite(micros) else 0
