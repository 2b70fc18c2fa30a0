"""Run records as JSON: everything comes back, apart from the rounding that is promised."""

from __future__ import annotations

import json
import math
import random
import time
import zlib
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from msgspec import structs

from any_message import any_of
from paceline.codec import CodecError
from paceline.figures import Decision, DraftCount, KernelUse, TokenTrace
from paceline.messages import StepCommitted
from paceline.run_record import (
    RunError,
    RunRecord,
    record_from_json,
    record_text,
    record_to_json,
    steps_from_json,
    steps_to_json,
)
from paceline.sentence import Sentence, sentence
from storage.chats import as_of_old, record, steps


def confidence(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 3)


def rounded(step: StepCommitted) -> StepCommitted:
    tokens = tuple(structs.replace(t, confidence=confidence(t.confidence)) for t in step.tokens)
    times = {n: round(getattr(step, n), 6) for n in ("draft_s", "verify_s", "sample_s", "total_s")}
    decision = step.decision
    if decision is not None:
        expected, gain = confidence(decision.expected), confidence(decision.gain)
        decision = structs.replace(
            decision,
            expected=1.0 if expected is None else expected,
            gain=1.0 if gain is None else gain,
        )
    return structs.replace(step, tokens=tokens, decision=decision, likely=(), **times)


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data))


def test_a_record_with_every_field_comes_back() -> None:
    before = record("m", "Hello", " wörld", " 🎉")
    empty = RunRecord("")
    assert [
        f.name for f in fields(before) if getattr(before, f.name) == getattr(empty, f.name)
    ] == ["error"]
    assert record_from_json(through_json(record_to_json(before))) == before


def test_whose_kernels_computed_comes_back_and_old_records_do_not_say() -> None:
    before = record("m", "Hello")
    assert before.stats is not None
    uses = KernelUse("q4_K", "own"), KernelUse("attention", "stock")
    told = replace(before, stats=structs.replace(before.stats, kernels=uses))
    data = through_json(record_to_json(told))
    assert record_from_json(data) == told
    del data["stats"]["kernels"]
    assert record_from_json(data) == replace(told, stats=structs.replace(before.stats, kernels=()))
    data["stats"]["kernels"] = [{"kind": "q4_K", "by": "others"}]
    with pytest.raises(CodecError):
        record_from_json(data)


def test_an_old_record_has_no_interval_of_plain_decoding_and_no_ratio() -> None:
    before = record("m", "Hello")
    assert before.stats is not None
    assert before.stats.speedup is not None
    old = record_from_json(through_json(as_of_old(record_to_json(before))))
    unknown = structs.replace(
        before.stats,
        plain_tokens_per_s=None,
        plain_low=None,
        plain_high=None,
        machine_busy=False,
    )
    assert old == replace(before, stats=unknown)
    assert old.stats is not None
    assert old.stats.speedup is None
    assert "plain_tokens_per_s" not in record_to_json(old)


def test_sentences_keep_their_arguments_and_exports_have_plain_texts() -> None:
    why = sentence("“{name}” is {n:,} bytes short.", name="a{b}", n=4096)
    failed = replace(record("m"), error=RunError("x", why, "Mend it."), notes=(why,))
    kept = record_from_json(json.loads(json.dumps(record_to_json(failed))))
    assert kept.error is not None
    for text in (kept.error.message, *kept.notes):
        assert isinstance(text, Sentence)
        assert (text, text.arguments) == (why, why.arguments)
    told = json.loads(record_text(failed))
    assert told["error"]["message"] == told["notes"][0] == "“a{b}” is 4,096 bytes short."
    assert record_from_json(told) == kept  # as an earlier version wrote it


def test_steps_are_left_out_if_wanted() -> None:
    before = record("m", "Hello")
    data = record_to_json(before, with_steps=False)
    assert "steps" not in data
    assert record_from_json(data) == replace(before, steps=())


def test_times_and_confidences_are_rounded_and_nothing_else() -> None:
    token = TokenTrace(5, "draft", 2, 0.123456, 9)
    step = StepCommitted(3, (token,), "x", (), 0.0000014, 1 / 3, 0.25, 100.0000004)
    assert steps_from_json(steps_to_json([step])) == (rounded(step),)


def test_numbers_that_are_not_finite_do_not_break_the_file() -> None:
    token = TokenTrace(5, "draft", 2, float("nan"), 9)
    step = StepCommitted(3, (token,), "x", (), float("inf"), 0.5, 0.25, float("nan"))
    (found,) = steps_from_json(through_json(steps_to_json([step])))
    assert (found.draft_s, found.total_s, found.tokens[0].confidence) == (0.0, 0.0, None)


@given(any_of(StepCommitted))
def test_every_step_comes_back(step: StepCommitted) -> None:
    small = structs.replace(step, draft_s=0.5, verify_s=0.25, sample_s=0.0, total_s=1.0)
    again = steps_from_json(through_json(steps_to_json([small, small])))
    assert again == (rounded(small), rounded(small))


def decided() -> list[StepCommitted]:
    """Three steps, of which the second was another strategy's."""
    return [
        StepCommitted(0, (), "a", (), 0, 0, 0, 0, False, Decision("", 0, "first")),
        StepCommitted(1, (), "b", (), 0, 0, 0, 0),
        StepCommitted(2, (), "c", (), 0, 0, 0, 0, False, Decision("x", 3, "pays", 2.5, 1.3)),
    ]


def test_decisions_have_columns_where_there_are_any() -> None:
    data = steps_to_json(decided())
    assert data["decided_step"] == [0, 2]
    assert steps_from_json(through_json(data)) == tuple(decided())
    without = steps_to_json(decided()[1:2])
    assert not [key for key in without if key.startswith("decided")]


def test_a_reason_of_an_older_version_has_its_present_name() -> None:
    data = through_json(steps_to_json(decided()))
    data["names"] = ["dear" if name == "pays" else name for name in data["names"]]
    (decision,) = (step.decision for step in steps_from_json(data) if step.step == 2)
    assert decision is not None
    assert decision.reason == "expensive"


def test_steps_that_were_kept_before_there_was_auto_can_be_read() -> None:
    data = {k: v for k, v in steps_to_json(decided()).items() if not k.startswith("decided")}
    assert steps_from_json(data) == tuple(
        structs.replace(step, decision=None) for step in decided()
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decided_step", [0, 3]),
        ("decided_step", [-1, 2]),
        ("decided_step", [0]),
        ("decided_step", None),
        ("decided_drafter", [0, 99]),
        ("decided_reason", [1, 1]),
        ("decided_n", [0, "3"]),
        ("decided_gain", [1.0, "x"]),
        ("decided_gain", [1.0]),
        ("decided_expected", None),
    ],
)
def test_decisions_that_do_not_fit_are_refused(key: str, value: Any) -> None:
    data = {**steps_to_json(decided()), key: value}
    data["names"][1] = "nonsense" if key == "decided_reason" else data["names"][1]
    with pytest.raises(CodecError):
        steps_from_json(data)


def damaged(key: str, value: Any) -> dict[str, Any]:
    return {**steps_to_json(steps(["a", "b"])), key: value}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        damaged("token", [1]),
        damaged("token", [1, 2, 3, "4"]),
        damaged("source", [0, 0, 0, 99]),
        damaged("source", [0, 0, 0, -1]),
        damaged("step", [True, False]),
        damaged("confidence", ["x", None, None, None]),
        damaged("confidence", None),
        damaged("n_tokens", [6, -2]),
        damaged("names", [1]),
        damaged("total_us", [0.5, 1]),
    ],
)
def test_columns_that_do_not_fit_are_refused(data: Any) -> None:
    with pytest.raises(CodecError):
        steps_from_json(data)


def test_an_invalid_record_is_refused() -> None:
    for data in (None, [], {"message_id": 5}, {"message_id": "m", "colour": "red"}):
        with pytest.raises(CodecError):
            record_from_json(data)


def long_reply(n_tokens: int) -> tuple[StepCommitted, ...]:
    """Words, token ids and times as they come from a model."""
    drawn = random.Random(7)
    words = ["".join(drawn.choices("etaoinshrdlu", k=drawn.randint(2, 8))) for _ in range(3000)]
    made, end, n = [], 0, 0
    while n < n_tokens:
        n_accepted = drawn.choice([0, 1, 1, 2, 3])
        text = "".join(f" {drawn.choice(words)}" for _ in range(n_accepted + 1))
        tokens = [
            TokenTrace(drawn.randrange(30_000), "draft", i, drawn.random(), end + i + 1)
            for i in range(n_accepted)
        ]
        end += len(text)
        tokens.append(TokenTrace(drawn.randrange(30_000), "target", -1, None, end))
        n += len(tokens)
        counts = (DraftCount("draft", 3, n_accepted),)
        times = [drawn.uniform(0.5, 1) * scale for scale in (0.004, 0.02, 0.0002, 0.03)]
        made.append(StepCommitted(len(made), tuple(tokens), text, counts, *times))
    return tuple(made)


def test_a_long_reply_is_small_and_soon_done() -> None:
    reply = long_reply(4000)
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        text = json.dumps(steps_to_json(reply), ensure_ascii=False, separators=(",", ":"))
        seconds.append(time.perf_counter() - began)
    assert len(zlib.compress(text.encode())) < 80_000
    assert min(seconds) < 0.2  # wanted: 0.02
