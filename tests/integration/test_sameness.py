"""The same text with any strategy, on real weights: what this program promises.

llama.cpp's own kernels with one thread, so that logits of this file, Q8_0, do not depend on the
batch width; the last tests show what happens with two. Other types: `test_real_sameness.py`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import make_pairs
from integration.engine import GREEDY, WARM, Engine
from paceline.engine.sameness import promise
from paceline.messages import ChatMessage, EarlierReply, SamplingParams
from paceline.paths import resources

PROMPTS = (
    "What does os.path.join do?",
    "How do I read a file line by line?",
    "Explain the list and dict types.",
    "What is asyncio.TaskGroup for?",
    "Quote the first example for re.sub.",
    "Rename foo to bar: def foo(x): return foo(x - 1)",
    "How can I parse JSON and handle errors?",
    "Which exceptions does open() raise?",
    "Write a function that sums a list.",
    "Describe the sqlite3 module in detail.",
)
LONG_PROMPT = "word " * 300 + PROMPTS[3]
STRATEGIES = (
    "off",
    "draft:n_max=4:p_min=0",
    "draft",
    "prompt-lookup:max_ngram=2:n_pred=4",
    "auto",
    "draft:n_max=auto",
    "suffix+draft:draft.n_max=auto",
)


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair) as engine:
        yield engine


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "t0.8"])
def test_every_strategy_gives_the_plain_tokens(
    engine: Engine, prompt: str, sampling: SamplingParams, *, is_long: bool
) -> None:
    n = 200 if is_long else 100
    options = {"sampling": sampling, "seed": len(prompt), "ignore_eog": True, "max_tokens": n}
    plain = engine.reply(prompt, **options)
    assert len(plain.tokens) == n
    tried = 0
    for strategy in STRATEGIES:
        drafted = engine.reply(prompt, strategy=strategy, **options)
        assert drafted.tokens == plain.tokens, strategy
        assert drafted.text == plain.text
        stats = drafted.stats
        tried += 0 < stats.n_accepted < stats.n_drafted
    assert tried >= 1  # drafts were both accepted and rejected


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("strategy", ["earlier", "earlier+draft", "auto"])
def test_a_reply_that_replaces_another_has_the_plain_tokens_in_fewer_steps(
    engine: Engine, strategy: str
) -> None:
    """Edit a sampling setting, and a word of the question, and keep the seed."""
    options = {"seed": 3, "ignore_eog": True, "max_tokens": 100}
    old = engine.reply(PROMPTS[2], sampling=SamplingParams(temperature=0.75), **options)
    for prompt in (PROMPTS[2], PROMPTS[2].replace("Explain", "Describe")):
        plain = engine.reply(prompt, sampling=WARM, **options)
        new = engine.reply(
            prompt, sampling=WARM, strategy=strategy, earlier=(EarlierReply(old.tokens),), **options
        )
        assert (new.tokens, new.text) == (plain.tokens, plain.text)
        assert new.stats.kept is not None
        if prompt == PROMPTS[2] and strategy != "auto":  # whose decisions follow the clock
            assert new.stats.n_steps < plain.stats.n_steps / 1.5


def is_periodic(tokens: Sequence[int]) -> bool:
    """Return whether the last 300 tokens repeat with a period of at most 30."""
    tail = tokens[-300:]
    return any(tail[p:] == tail[:-p] for p in range(1, 31))


def test_prompt_lookup_needs_few_steps_where_the_text_is_periodic(
    engine: Engine, *, is_long: bool
) -> None:
    lines = (resources() / "benchmarks" / "periodic.jsonl").read_text("utf-8").splitlines()
    n_periodic = 0
    for line in map(json.loads, lines):
        prompt = line["messages"][0]["content"]
        options = {"max_tokens": line["max_tokens"], "ignore_eog": True}
        plain = engine.reply(prompt, **options)
        if not is_periodic(plain.tokens):
            continue
        n_periodic += 1
        looked_up = engine.reply(prompt, strategy="prompt-lookup", **options)
        assert looked_up.tokens == plain.tokens
        assert looked_up.stats.n_steps < plain.stats.n_steps / 3
        if not is_long:
            break
    assert n_periodic >= 1, "no shipped prompt has a periodic continuation"


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("temperature", [0.8, 0.0, 1.2])
def test_the_target_as_its_own_draft_is_accepted(target_path: Path, temperature: float) -> None:
    with Engine(target_path, target_path) as engine:
        stats = engine.reply(
            PROMPTS[0],
            strategy="draft:n_max=4:p_min=0",
            sampling=SamplingParams(temperature=temperature, top_k=0, top_p=1, min_p=0),
            max_tokens=150,
            ignore_eog=True,
        ).stats
    assert stats.n_drafted > 100
    assert stats.acceptance_rate is not None
    assert stats.acceptance_rate >= 0.99


def test_a_corrupted_draft_is_rejected_and_the_text_stays(target_path: Path) -> None:
    with Engine(target_path, make_pairs.path("draft-corrupt")) as engine:
        for sampling in (GREEDY, WARM):
            options = {"sampling": sampling, "max_tokens": 60, "ignore_eog": True}
            plain = engine.reply(PROMPTS[1], **options)
            drafted = engine.reply(PROMPTS[1], strategy="draft:n_max=4:p_min=0", **options)
            assert drafted.tokens == plain.tokens
            assert drafted.stats.n_drafted > 100
            assert drafted.stats.acceptance_rate is not None
            assert drafted.stats.acceptance_rate < 0.05


def test_a_second_turn_is_the_same_with_any_strategy(
    demo_pair: tuple[Path, Path], is_long: bool
) -> None:
    first = ChatMessage.of_text("user", PROMPTS[0])
    seconds = []
    for strategy in ("off", *(STRATEGIES[1:] if is_long else STRATEGIES[1::3])):
        with Engine(*demo_pair) as engine:
            options = {"strategy": strategy, "sampling": WARM, "max_tokens": 60}
            reply = engine.reply("", messages=(first,), **options)
            again = ChatMessage.of_text("user", "And on Windows?")
            chat = (first, ChatMessage.of_text("assistant", reply.text), again)
            second = engine.reply("", messages=chat, **options)
            assert second.stats.n_reused >= reply.stats.n_prompt
            seconds.append((reply.tokens, second.tokens))
    assert len(set(seconds)) == 1


def test_with_two_threads_idle_time_finds_out_that_rows_differ(
    demo_pair: tuple[Path, Path],
) -> None:
    """llama.cpp's attention divides a long context among threads for a single token alone."""
    with Engine(*demo_pair, n_threads=2) as engine:
        options = {"max_tokens": 300, "ignore_eog": True, "sampling": WARM}
        first = engine.reply(PROMPTS[3], **options)
        assert first.stats.batch_invariant is None
        for _ in range(8):  # beside other work four looks in a row have found nothing
            held = list(engine.pair.target.tokens)
            engine.idle()
            assert engine.pair.target.tokens == held
            assert engine.pair.target.model.n_past == len(held)
            again = engine.reply(PROMPTS[3], **options)
            assert again.tokens[:300] == first.tokens
            assert again.stats.batch_invariant is not True
            if again.stats.batch_invariant is False:
                break
            options["max_tokens"] += 30
        assert again.stats.batch_invariant is False, again.stats
        assert again.stats.n_rows_compared > 0
        assert again.stats.logit_difference is not None
        assert 0 < again.stats.logit_difference < 2


def test_exact_mode_gives_one_text_however_long_a_load_could_compare(
    demo_pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    """A load beside other work compares fewer rows, and knows less of which widths agree.

    After 300 tokens, where a reply without exact mode would be another one, see above.
    """
    monkeypatch.setattr(promise, "_clock", time.thread_time)  # others do not shorten a look
    options = {"max_tokens": 60, "ignore_eog": True, "sampling": WARM}
    drafting = STRATEGIES[1], "prompt-lookup:max_ngram=2"
    widths, texts = set(), set()
    for limit_s in (0.0, *[0.5] * is_long, promise.LIMIT_S):
        monkeypatch.setattr(promise, "LIMIT_S", limit_s)
        with Engine(*demo_pair, n_threads=2, n_ctx=1024, exact=True) as engine:
            assert any("xact mode" in note for note in engine.loaded.notes)
            widths.add(engine.pair.target.widths)
            plain = engine.reply(LONG_PROMPT, **options)
            assert plain.stats.n_prompt > 300
            texts.add(plain.tokens)
            for strategy in drafting if limit_s else drafting[:1]:
                drafted = engine.reply(LONG_PROMPT, strategy=strategy, **options)
                texts.add(drafted.tokens)
                assert 0 < drafted.stats.n_accepted < drafted.stats.n_drafted
                assert drafted.stats.batch_invariant is not False
    assert len(widths) > 1
    assert len(texts) == 1
