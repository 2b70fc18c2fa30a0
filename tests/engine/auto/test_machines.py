"""Auto on eleven simulated machines, as measured or published, and on texts of nine kinds.

What a turn takes is compared with plain decoding and with the best fixed setting, chosen in
hindsight. No turn may be later than 1.02 times plain decoding and four plain steps and, where a
draft model has to read the prompt, its share of the prefill; the rest is the noise of timings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean, geometric_mean
from typing import NamedTuple

import pytest

from engine.auto.simulator import (
    HEADS,
    KINDS,
    MACHINES,
    PLAIN_S,
    USELESS,
    Kit,
    Machine,
    Text,
    calibrated,
    copy_into,
    decode,
    fixed,
    through,
    write,
)
from paceline.engine.auto import Knowledge
from paceline.engine.auto.tuning import TUNING

TEXTS = ("hard", "chat", "code", "copy", "table", "useless", "free")
WITHOUT_GAIN = ("useless", "free")
"""Texts of which the draft model, or every lookup, knows nothing."""
WITHOUT_MODEL = ("table", "free")
BASE = {"copy": "chat", "table": "hard", "free": "hard"}
COPIES = {
    "copy": ((0.6, 120.0, 0.3), (0.3, 20.0, 0.5)),
    "table": ((0.5, 9.0, 0.3), (0.4, 6.0, 0.5)),
    "free": ((0.02, 5.0, 0.3), (0.0, 20.0, 0.6)),
}
"""Share, length and wrong ends of what `suffix` and `ngram` find."""
MOST_LATE = 4.6


class Row(NamedTuple):
    """Several replies of one kind on one machine; `share` is of the best fixed setting's gain."""

    machine: str
    text: str
    gain: float
    share: float
    late: float


@cache
def text_of(kind: str, run: int, n: int) -> Text:
    rng = random.Random(f"{kind}{run}")
    text = write(rng, (KINDS | HEADS).get(BASE.get(kind, kind), USELESS), n)
    for name, (share, length, false) in zip(
        ("suffix", "ngram"), COPIES.get(kind, ()), strict=False
    ):
        copy_into(text, rng, name, share=share, length=length, false=false)
    return text


def measure(
    machines: Sequence[str],
    texts: Sequence[str],
    *,
    n_runs: int,
    n_tokens: int = 500,
    n_prompt: int = 0,
    is_known: bool = True,
) -> Iterator[Row]:
    for name in machines:
        kit = MACHINES[name]
        prefill = kit.prefill * n_prompt
        for kind in texts:
            has_model = kind not in WITHOUT_MODEL
            lent = (TUNING.promised_share + TUNING.reading_share) * prefill if has_model else 0.0
            gains, best, late = [], [], []
            for run in range(n_runs):
                text = text_of(kind, run, n_tokens)
                known = calibrated(kit.curve, kit.draft, kit.batched) if is_known else Knowledge()
                machine = Machine(
                    kit.curve, kit.draft, random.Random(run), batched=kit.batched, cold=0.03
                )
                reply = decode(
                    known, text, machine, n_tokens, n_most=40,
                    model="draft" if has_model else "",
                    n_prompt=max(n_prompt, 1), prefill=kit.prefill if n_prompt else 0.0,
                )  # fmt: skip
                plain, took = reply.plain / PLAIN_S, reply.seconds / PLAIN_S
                whole = prefill + plain
                gains.append(whole / (prefill + took))
                best.append(whole / (prefill + plain / best_fixed(text, kit, n_tokens)))
                late.append(reply.excess - lent)
            yield Row(name, kind, fmean(gains), fmean(gains) / fmean(best), max(late))


def best_fixed(text: Text, kit: Kit, n: int) -> float:
    """Return the gain of the best length that every step drafts, by the model or a copy."""
    gains = [fixed(text, kit.curve, kit.draft, k, n) for k in (*range(9), 12, 16)]
    if "suffix" in text.copies:
        gains += [copied(text, kit, k, n) for k in (1, 2, 3, 5, 7, 15, 31)]
    return max(gains)


def copied(text: Text, kit: Kit, k: int, n: int) -> float:
    done, took = 0, 0.0
    while done < n:
        n_right, said = text.copies["suffix"][done]
        n_drafted = min(len(said), k)
        done += min(n_right, n_drafted) + 1
        took += kit.curve(n_drafted + 1)
    return done / took


def check_promise(rows: Sequence[Row], least: float = 0.985) -> None:
    """Check that none is late, and that useless drafts leave this share of plain decoding."""
    assert [row for row in rows if row.late > MOST_LATE] == []
    assert [row for row in rows if row.text in WITHOUT_GAIN and row.gain < least] == []


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "learned"])
def test_it_is_late_nowhere_and_close_to_the_best_everywhere(is_known: bool) -> None:
    rows = list(measure(tuple(MACHINES), TEXTS, n_runs=1, n_tokens=400, is_known=is_known))
    assert len(rows) == 11 * len(TEXTS)
    check_promise(rows)
    useful = [row.share for row in rows if row.text not in WITHOUT_GAIN]
    assert geometric_mean(useful) > 1.0
    assert min(useful) > 0.87


def test_of_heads_it_takes_what_is_foreseen() -> None:
    """Acceptances of MTP heads as published: of prose, of code, and of both in turns."""
    rows = list(measure(["3090", "m4", "9950x", "own"], list(HEADS), n_runs=3))
    check_promise(rows)
    assert min(row.gain for row in rows) > 0.98
    assert min(row.share for row in rows) > 0.93
    by_turns = [row.share for row in rows if row.text == "turns"]
    assert geometric_mean(by_turns) > 1.0, "it is better than any fixed depth"


@pytest.mark.parametrize("n_prompt", [1000, 4000])
def test_a_prompt_takes_its_share(n_prompt: int) -> None:
    rows = list(measure(["own", "3090"], ["code", "useless"], n_runs=1, n_prompt=n_prompt))
    check_promise(rows, least=0.97)
    assert all(row.gain > 1.1 for row in rows if row.text == "code")


def test_where_two_rows_take_less_than_one_hardly_likely_drafts_pay() -> None:
    curve = through(n2=0.75, n4=0.95, n8=1.8, n16=3.4, n63=13)
    gains, late = {}, 0.0
    for on_device in (False, True):
        replies = []
        for run in range(4):
            knowledge = calibrated(curve, on_device=on_device)
            machine = Machine(curve, 0.1, random.Random(run))
            replies.append(decode(knowledge, text_of("hard", run, 500), machine, 500))
        gains[on_device] = geometric_mean([reply.gain for reply in replies])
        late = max(reply.excess for reply in replies)
    assert gains[True] > gains[False]
    assert late < MOST_LATE
