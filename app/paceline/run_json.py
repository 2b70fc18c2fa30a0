"""Run records as JSON, with the steps in columns: for the database, exports and the clipboard.

A reply of 4,000 tokens has some 1,500 steps. As one object per step they would take 1.5 MB; a list
per field takes a tenth of that, and half of it goes away when it is compressed. What is lost:
times are rounded to microseconds and confidences to three digits; a number that is not finite
becomes 0, or no confidence. Everything else comes back as it was. No I/O, any thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

from paceline.codec import CodecError, decode_part, encode_part
from paceline.figures import DraftCount, TokenTrace
from paceline.messages import StepCommitted
from paceline.run_record import RunRecord

_T = TypeVar("_T", int, str)
_TIMES = ("draft_us", "verify_us", "sample_us", "total_us")
_TOKEN_COLUMNS = ("token", "source", "position", "text_end")
_COUNT_COLUMNS = ("drafter", "n_drafted", "n_accepted", "n_discarded")


def record_to_json(record: RunRecord, *, with_steps: bool = True) -> dict[str, Any]:
    """Return a record as JSON data; without steps `record_from_json` gives none."""
    data = encode_part(replace(record, steps=()))
    del data["steps"]
    if with_steps:
        data["steps"] = steps_to_json(record.steps)
    return data


def record_from_json(data: object) -> RunRecord:
    """Return the record that `record_to_json` gave this data for.

    Raises:
        CodecError: It is not such data.
    """
    if not isinstance(data, dict):
        raise CodecError(f"a run record is an object, not {type(data).__name__}")
    plain = {key: value for key, value in data.items() if key != "steps"}
    record = decode_part(RunRecord, plain)
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
    return {
        "turn": [number(step.turn_id) for step in steps],
        "step": [step.step for step in steps],
        "text": [step.text for step in steps],
        "plain": [int(step.plain) for step in steps],
        "draft_us": [_micros(step.draft_s) for step in steps],
        "verify_us": [_micros(step.verify_s) for step in steps],
        "sample_us": [_micros(step.sample_s) for step in steps],
        "total_us": [_micros(step.total_s) for step in steps],
        "n_tokens": [len(step.tokens) for step in steps],
        "n_counts": [len(step.drafted) for step in steps],
        "token": [token.token for token in tokens],
        "source": [number(token.source) for token in tokens],
        "position": [token.position for token in tokens],
        "confidence": [_confidence(token.confidence) for token in tokens],
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
        raise CodecError(f"steps are an object, not {type(data).__name__}")
    names = _column(data, "names", str)
    texts = _column(data, "text", str)
    n = len(texts)
    turn, number, plain, n_tokens, n_counts, draft, verify, sample, total = (
        _column(data, key, int, n)
        for key in ("turn", "step", "plain", "n_tokens", "n_counts", *_TIMES)
    )
    tokens = _tokens(data, names, sum(n_tokens))
    counts = _counts(data, names, sum(n_counts))
    if min(n_tokens, default=0) < 0 or min(n_counts, default=0) < 0:
        raise CodecError("a step has fewer than no tokens")
    token_ends, count_ends = list(accumulate(n_tokens)), list(accumulate(n_counts))
    return tuple(
        StepCommitted(
            _name(names, turn[i]),
            number[i],
            tuple(tokens[token_ends[i] - n_tokens[i] : token_ends[i]]),
            texts[i],
            tuple(counts[count_ends[i] - n_counts[i] : count_ends[i]]),
            draft[i] / 1e6,
            verify[i] / 1e6,
            sample[i] / 1e6,
            total[i] / 1e6,
            bool(plain[i]),
        )
        for i in range(n)
    )


def _tokens(data: dict[str, Any], names: list[str], n: int) -> list[TokenTrace]:
    token, source, position, distance = (_column(data, key, int, n) for key in _TOKEN_COLUMNS)
    confidence = data.get("confidence")
    if not isinstance(confidence, list) or len(confidence) != n:
        raise CodecError("steps.confidence is not a list as long as the others")
    return [
        TokenTrace(token[i], _name(names, source[i]), position[i], _share(confidence[i]), end)
        for i, end in enumerate(accumulate(distance))
    ]


def _counts(data: dict[str, Any], names: list[str], n: int) -> list[DraftCount]:
    columns = [_column(data, key, int, n) for key in _COUNT_COLUMNS]
    return [DraftCount(_name(names, name), *rest) for name, *rest in zip(*columns, strict=True)]


def _column(data: dict[str, Any], key: str, kind: type[_T], n: int | None = None) -> list[_T]:
    column = data.get(key)
    if not isinstance(column, list) or not all(type(value) is kind for value in column):
        raise CodecError(f"steps.{key} is not a list of {kind.__name__}")
    if n is not None and len(column) != n:
        raise CodecError(f"steps.{key} has {len(column)} values instead of {n}")
    return column


def _name(names: list[str], number: int) -> str:
    if not 0 <= number < len(names):
        raise CodecError(f"steps.names has no number {number}")
    return names[number]


def _share(value: object) -> float | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value if value is None else float(value)
    raise CodecError(f"steps.confidence: {value!r:.60} does not fit")


def _confidence(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 3)


def _micros(seconds: float) -> int:
    return round(seconds * 1e6) if math.isfinite(seconds) else 0
