"""A text as a scripted reply: cut into tokens and steps as speculative decoding would commit them.

Made from a seed, so that two runs on two machines have the same. Steps commit one to seven tokens;
all but the last of a step come from a draft model or a lookup, which is about two thirds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from paceline.figures import DraftCount, TokenTrace
from paceline.messages import DrafterStats, StepCommitted, TurnStats
from paceline.run_record import ModelRecord, RunRecord

DRAFTERS = ("suffix", "draft")
TARGET = ModelRecord("Qwen2.5 Coder 7B Instruct", "qwen2.5-coder-7b-q4_k_m.gguf", "qwen2",
                     "7B Q4_K_M", 7_615_616_512, 4_683_073_536, 8192, 8, 8, 0)  # fmt: skip
DRAFT = ModelRecord("Qwen2.5 Coder 0.5B Instruct", "qwen2.5-coder-0.5b-q8_0.gguf", "qwen2",
                    "0.5B Q8_0", 494_032_768, 531_068_096, 8192, 8, 8, 0)  # fmt: skip
_TOKEN = re.compile(r"\s?\w{1,6}|\s+|[^\w\s]")


def tokens_of(text: str) -> list[str]:
    """Cut a text into pieces of the length of tokens."""
    return _TOKEN.findall(text)


def steps_of(tokens: Sequence[str], seed: int, *, speed: float = 41.2) -> tuple[StepCommitted, ...]:
    """Return the steps of a reply of these tokens, in the time of so many tokens per second."""
    random = Random(seed)
    steps: list[StepCommitted] = []
    at = end = 0
    while at < len(tokens):
        group = tokens[at : at + (1 if at == 0 else random.choice((1, 2, 3, 3, 4, 5, 7)))]
        at += len(group)
        drafter = random.choice(("suffix", "draft", "draft"))
        traces = []
        for place, token in enumerate(group):
            end += len(token)
            is_last = place == len(group) - 1
            traces.append(
                TokenTrace(
                    1000 + place,
                    "target" if is_last else drafter,
                    -1 if is_last else place,
                    None if is_last else round(random.uniform(0.55, 0.99), 2),
                    end,
                )
            )
        counts: tuple[DraftCount, ...] = ()
        if len(steps) % 9 and steps:
            n_drafted = len(group) - 1 + random.randrange(3)
            counts = (DraftCount(drafter, n_drafted, len(group) - 1),)
        seconds = (0.7 + 0.6 * random.random()) * len(group) / speed
        steps.append(
            StepCommitted(
                len(steps), tuple(traces), "".join(group), counts,
                0.22 * seconds, 0.66 * seconds, 0.04 * seconds, seconds,
                plain=not counts and len(group) == 1,
            )
        )  # fmt: skip
    return tuple(steps)


def stats_of(steps: Sequence[StepCommitted], seconds: float) -> TurnStats:
    """Return the figures after some steps, which took so many seconds."""
    n_tokens = sum(len(step.tokens) for step in steps)
    counts = [count for step in steps for count in step.drafted]
    n_drafted = sum(count.n_drafted for count in counts)
    n_accepted = sum(count.n_accepted for count in counts)
    speed, n_steps = n_tokens / max(seconds, 1e-9), max(len(steps) - 1, 1)
    return TurnStats(
        None, 412, 380, n_tokens, 0.31, seconds, seconds + 0.31, speed, 0.52 * speed,
        n_steps, n_drafted, n_accepted, 0, n_accepted / n_drafted if n_drafted else None,
        n_tokens / n_steps, 0.02 * seconds, tuple(_of(name, counts, seconds) for name in DRAFTERS),
        plain_low=0.48 * speed, plain_high=0.57 * speed,
    )  # fmt: skip


def _of(name: str, counts: Sequence[DraftCount], seconds: float) -> DrafterStats:
    own = [count for count in counts if count.drafter == name and count.n_drafted]
    places: Counter[int] = Counter()
    for count in own:
        places.update(range(count.n_accepted))
    share = 0.02 if name == "suffix" else 0.2
    return DrafterStats(
        name, 1, len(counts), len(own), 0.0, share * seconds, 0.0, len(own),
        sum(count.n_accepted > 0 for count in own), sum(count.n_drafted for count in own),
        sum(count.n_accepted for count in own), tuple(places[i] for i in range(6)),
    )  # fmt: skip


def record_of(message_id: str, text: str, seed: int) -> RunRecord:
    """Return the record of a scripted reply with this text."""
    steps = steps_of(tokens_of(text), seed)
    return RunRecord(
        message_id,
        "finished",
        started_s=1_780_000_000.0,
        strategy="suffix+draft:n_max=6",
        asked_strategy="suffix+draft:n_max=6",
        max_tokens=1024,
        seed=7,
        reason="eog",
        stats=stats_of(steps, sum(step.total_s for step in steps)),
        first_token_s=0.31,
        target=TARGET,
        draft=DRAFT,
        app_version="0.1",
        engine_version="0.3.36",
        steps=steps,
    )
