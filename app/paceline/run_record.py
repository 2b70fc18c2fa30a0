"""What is kept of one reply: what it was asked with, by which models, and every step; and its JSON.

A run record says enough to understand the reply later, to draw its plot and its token colours
again, and to repeat it: models with their fingerprints, seed, sampling, strategy. The text is not
in it: that is the message's.

The JSON, for the database, exports and the clipboard, has the steps in columns. A reply of 4,000
tokens has some 1,500 steps. As one object per step they would take 1.5 MB; a list per field takes a
tenth of that, and half of it goes away when it is compressed. What is lost: times are rounded to
microseconds, confidences and what Auto expected to three digits; a number that is not finite
becomes 0, no confidence, or what a plain step has; how likely tokens were is not kept.
Everything else comes back as it was. Auto's
decisions have columns of their own, of which old data, and replies without Auto, have none.

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
"""A stored record that is "running" belongs to a reply that the program did not see to its end."""


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model as it was when a reply was made.

    Attributes:
        name: What the file calls itself.
        file: The file's name without its folder.
        architecture: Of the header.
        description: Size and quantisation in words.
        n_params: Parameters.
        size_bytes: Size of the weights.
        n_ctx: Context in tokens.
        n_threads: Threads for decodes of one token.
        n_threads_batch: Threads for wider ones.
        n_gpu_layers: Layers on a GPU.
        fingerprint: SHA-256 over size, header and samples of the file; empty: not known.
        sha256: Of the whole file; empty: not known.
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
    """Why a reply failed, and what to do about it."""

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
    """One reply in figures.

    Attributes:
        message_id: The message that has the text.
        status: How far it came.
        started_s: When it was handed to the engine, in seconds since the epoch; 0: not known.
        strategy: The strategy in force at the end.
        asked_strategy: The one that it began with.
        sampling: How tokens were drawn.
        max_tokens: Tokens at most.
        seed: Key of the noise; None: it never began.
        stop: Texts that would have ended it.
        system_prompt: What stood before the conversation; empty: nothing.
        cuts: Whether the oldest messages might be left out.
        n_cut: Messages that were left out because the context was too small.
        reason: Why it ended; None: it did not, or it failed.
        error: Why it failed.
        stats: Its figures; None where it did not finish.
        first_token_s: Seconds from the request to the first token.
        notes: What the engine remarked.
        target: The target; None: not known.
        draft: The draft model; None: there was none.
        app_version: Paceline's version.
        engine_version: llama-cpp-python's version.
        steps: One per decoding step; empty as well where they are read on demand.
        prompting: How the conversation became a prompt.
        n_parts: In how many turns it was written; `stats` and `first_token_s` are those of the
            last, steps of all.
        edited: Whether its user wrote the text, from an earlier reply.
        knows_marks: Whether template or vocabulary know marks of reasoning; None: not known.
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
        """The steps that `stats` are of."""
        return last_part(self.steps, self.n_parts, has_begun=self.first_token_s is not None)

    @property
    def settings(self) -> ReplySettings:
        """What it was drawn with, under the seed that it had."""
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
    """Return the steps of the turn that a reply was written in last, which its figures are of.

    Args:
        steps: Those of all its turns.
        n_parts: How many turns these are.
        has_begun: Whether the last has given a token; that is not kept if the program is killed.
    """
    turns = _turns(steps)
    if not has_begun and len(set(turns)) < n_parts:
        return ()
    return tuple(step for step, turn in zip(steps, turns, strict=True) if turn == turns[-1])


def _turns(steps: Sequence[StepCommitted]) -> list[int]:
    """Return the number of the turn that each step is of: its first step has the number 0.

    Text that no step tells stands before that in a step of its own, without tokens.
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
    """Return a record as JSON data; without steps `record_from_json` gives none."""
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
    """Return a record as JSON that people can read, too: a field per line, its steps in columns."""
    fields = record_to_json(in_english(record)).items()
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record_from_json(data: object) -> RunRecord:
    """Return the record that `record_to_json` gave this data for.

    Raises:
        CodecError: It is not such data.
    """
    if not isinstance(data, dict):
        raise misfit(data, "an object")
    fields = {key: value for key, value in data.items() if key not in _NOT_READ}
    stats = fields.get("stats")
    if isinstance(stats, dict) and "plain_low" not in stats:  # nor is the estimate in these true
        fields["stats"] = {**stats, "plain_tokens_per_s": None}
    record = decode(RunRecord, fields)
    return replace(record, steps=steps_from_json(data["steps"])) if "steps" in data else record


def steps_to_json(steps: Sequence[StepCommitted]) -> dict[str, Any]:
    """Return steps as columns: one list per field, over all steps, tokens or draft counts.

    Names that repeat (turn, source, drafter) are numbers into `names`; `text_end` holds the
    distances from the token before.
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
        "turn": [number(f"turn {turn}") for turn in _turns(steps)],  # the version before reads it
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
    """Return the steps that `steps_to_json` gave this data for.

    Raises:
        CodecError: A column is missing, holds something else, or has another length.
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
    """Return the decisions by their steps' places."""
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
    """Columns from somewhere; each method raises a `CodecError` where one does not fit."""

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
        """Return several columns, whose keys have blanks between them."""
        return [self.of(int, key, n) for key in keys.split()]

    def named(self, key: str, n: int) -> list[str]:
        """Return a column of numbers as the names that they stand for."""
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
