"""MTP heads: they draft from the target's hidden states, and the text does not change.

Most of the heads have random weights. Sampling is restricted to few tokens at high temperatures, so
that even their drafts are accepted now and then: target and head add the same noise.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import make_pairs
from integration.engine import PROMPT, Engine, ids
from paceline.engine import Draft, UserError, generate, load_pair
from paceline.engine.draft.mtp import Mtp
from paceline.engine.llama import hidden_rows
from paceline.engine.llama.mtp_head import MtpHead
from paceline.errors import CancelledError
from paceline.messages import (
    Calibrate,
    Calibrated,
    LoadFailed,
    ModelParams,
    PairLoaded,
    SamplingParams,
    StateOwner,
    StateStorage,
    TuneRejected,
)

INSIDE = "tiny-mtp", "tiny-mtp-glm4moe", "tiny-mtp-step35"
KINDS = (*INSIDE, "tiny-gemma4")
STRATEGIES = "mtp:n_max=1:p_min=0", "mtp:n_max=3:p_min=0", "suffix+mtp:min_match=3:mtp.p_min=0"


def engine_of(kind: str) -> Engine:
    sidecar = make_pairs.path("tiny-gemma4-assistant") if kind == "tiny-gemma4" else "auto"
    return Engine(make_pairs.path(kind), mtp=sidecar)


def head_of(engine: Engine) -> MtpHead:
    assert engine.pair.draft is not None
    head = engine.pair.draft.model
    assert isinstance(head, MtpHead)
    return head


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of(request.param) as engine:
        engine.watch_positions()
        yield engine


def drafted(engine: Engine, drafter: str = "mtp") -> tuple[int, int]:
    """Return how many tokens were drafted and accepted in the last turn."""
    counts = [count for step in engine.steps for count in step.drafted if count.drafter == drafter]
    return sum(count.n_drafted for count in counts), sum(count.n_accepted for count in counts)


@pytest.mark.grid(short=4)
@pytest.mark.parametrize("temperature", [2.0, 4.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_text_is_that_of_plain_decoding(
    engine: Engine, strategy: str, temperature: float
) -> None:
    engine.pair.empty()
    plain = ids(engine, "off", temperature)
    engine.pair.empty()
    assert ids(engine, strategy, temperature) == plain
    n_drafted, n_accepted = drafted(engine)
    assert n_drafted > n_accepted > 0
    assert engine.checks == len(engine.steps) > 0, "positions were compared after every step"


@pytest.mark.grid(short=2)
def test_two_turns_a_reply_once_more_and_an_edit(engine: Engine) -> None:
    def course(strategy: str) -> list[tuple[int, ...]]:
        engine.pair.empty()
        first = ids(engine, strategy, 0.5)
        second = ids(engine, strategy, 0.5, PROMPT + " and more")
        engine.idle()
        again = ids(engine, strategy, 0.5)
        return [first, second, again, ids(engine, strategy, 0.5, "abc edited hello")]

    plain = course("off")
    assert course(STRATEGIES[1]) == plain
    assert course("auto") == plain


@pytest.mark.grid(short=2)
def test_auto_can_use_the_head_once_costs_are_measured(engine: Engine) -> None:
    engine.pair.empty()
    plain = ids(engine, "off", 0.5)
    engine.client.request(Calibrate())
    measured = engine.events[-1]
    assert isinstance(measured, Calibrated)
    assert not measured.problem
    assert engine.pair.knowledge.draft_costs["mtp"].per_token
    assert ids(engine, "auto", 0.5) == plain


def test_any_rejection_leaves_the_state_of_a_fresh_context(
    engine: Engine, *, is_long: bool
) -> None:
    """Compare the head's rows after rollbacks with those of a head that read the text at once."""
    drawn = random.Random(1)
    target, context, head = engine.pair.target, engine.pair.draft, head_of(engine)
    assert context is not None
    n_patterns = 0
    while n_patterns < (1000 if is_long else 100):
        engine.pair.empty()
        text = [drawn.randrange(8192)]
        seen: dict[int, np.ndarray] = {}
        while len(text) < 80:
            head.n_true = len(text)
            seen[len(text)] = context.feed(text[len(context.tokens) :], 1)[0].copy()
            for _ in range(drawn.randrange(head.n_most if head.n_most < 4 else 4)):
                context.feed([drawn.randrange(8192)], 1)
            head.n_true = None
            context.rollback(len(text))
            assert context.tokens == text
            n_right, n_wrong = drawn.randrange(3), drawn.randrange(3)
            right = [drawn.randrange(8192) for _ in range(n_right + 1)]
            wrong = [drawn.randrange(8192) for _ in range(n_wrong)]
            target.feed([text[-1], *right[:-1], *wrong], len(right) + n_wrong)
            target.rollback(len(text) + n_right)
            text += right
            n_patterns += bool(wrong)
        if head.shares_memory:  # such a head has no cache of its own to compare
            continue
        context.clear()
        for n, token in enumerate(text, 1):
            row = context.feed([token], 1)[0]
            if n in seen:
                assert np.abs(row - seen[n]).max() < 0.01, (n, len(text))


@pytest.mark.grid(short=2)
def test_a_stopped_draft_leaves_the_head_usable(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.pair.empty()
    plain = ids(engine, "off", 0.5)
    head, original = head_of(engine), MtpHead.decode
    left = [40]

    def decode(self: MtpHead, tokens: list[int], n_rows: int) -> np.ndarray:
        left[0] -= 1
        if left[0] == 0:
            raise CancelledError
        return original(self, tokens, n_rows)

    with monkeypatch.context() as patch:
        patch.setattr(MtpHead, "decode", decode)
        begun = ids(engine, STRATEGIES[1], 0.5)
    assert plain[: len(begun)] == begun
    assert 0 < len(begun) < len(plain)
    assert head.n_true is None
    assert ids(engine, STRATEGIES[1], 0.5) == plain


def test_a_head_reads_only_the_end_of_a_text_whose_earlier_states_are_gone(
    monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    monkeypatch.setattr(hidden_rows, "MAX_HIDDEN_BYTES", 64 * 4 * 50)  # hidden states of 50 tokens
    for kind in KINDS if is_long else KINDS[::3]:
        with engine_of(kind) as engine:
            engine.watch_positions()
            prompt = PROMPT * 20
            plain = ids(engine, "off", 0.5, prompt)
            for strategy in (STRATEGIES[1], "auto", STRATEGIES[2]):
                engine.pair.empty()
                assert ids(engine, strategy, 0.5, prompt) == plain
            n_drafted, n_accepted = drafted(engine)
            assert n_drafted > n_accepted > 0
            head, context = head_of(engine), engine.pair.draft
            assert context is not None
            assert head.shares_memory or len(context.tokens) < 200
            assert ids(engine, STRATEGIES[1], 0.5) == ids(engine, "off", 0.5)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("temperature", [0.8, 0.0, 1.2])
def test_drafts_of_an_exact_head_are_accepted_and_a_wrong_head_changes_no_text(
    temperature: float,
) -> None:
    sampling = SamplingParams(temperature, top_k=40, top_p=1, min_p=0)
    shares = {}
    for kind in ("tiny-mtp-true", "tiny-mtp-step35-true", "tiny-mtp-false"):
        with Engine(make_pairs.path(kind)) as engine:
            options = {"sampling": sampling, "max_tokens": 200, "ignore_eog": True}
            plain = engine.reply(PROMPT, **options)
            reply = engine.reply(PROMPT, strategy=STRATEGIES[1], **options)
            assert reply.tokens == plain.tokens
            n_drafted, n_accepted = drafted(engine)
            assert n_drafted >= 120
            shares[kind] = n_accepted / n_drafted
    assert shares["tiny-mtp-true"] >= 0.99
    assert shares["tiny-mtp-step35-true"] >= 0.99
    assert shares["tiny-mtp-false"] < 0.05


@pytest.mark.parametrize("kind", ["tiny-mtp-true", "tiny-mtp-step35-true"])
def test_a_head_reads_no_hidden_states_of_the_text_before_a_restored_one(kind: str) -> None:
    """Restore a stored state, which has no hidden rows, after a reply to another text."""
    options = {"sampling": SamplingParams(0), "max_tokens": 60, "ignore_eog": True}
    texts = PROMPT * 40, "Quite another text. " * 200
    with Engine(make_pairs.path(kind), states=StateStorage(memory_bytes=1 << 30)) as engine:
        plain = engine.reply(texts[0], **options, owner=StateOwner("a"))
        engine.reply(texts[1], strategy=STRATEGIES[1], **options, owner=StateOwner("b"))
        reply = engine.reply(texts[0], strategy=STRATEGIES[1], **options, owner=StateOwner("a"))
        assert (reply.stats.warm, reply.tokens) == ("memory", plain.tokens)
        assert head_of(engine).first_place >= reply.stats.n_reused > 250
        n_drafted, n_accepted = drafted(engine)
        assert n_drafted > 30
        assert n_accepted >= 0.95 * n_drafted


@pytest.mark.parametrize("kind", ["tiny-mtp", "tiny-mtp-step35"])
def test_a_head_keeps_nothing_computed_from_the_states_of_drafted_tokens(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []
    propose = Mtp.propose_while

    def watched(self: Mtp, *args: Any) -> Draft:
        draft = propose(self, *args)
        held, history = self._context.tokens, self._history[self._origin :]
        assert held == list(history[: len(held)])
        lengths.append(len(draft.tokens))
        return draft

    monkeypatch.setattr(Mtp, "propose_while", watched)
    with Engine(make_pairs.path(kind)) as engine:
        ids(engine, "mtp:n_max=3:p_min=0", 2.0)
    assert max(lengths) > 1


def test_a_script_chooses_a_head() -> None:
    target = ModelParams(str(make_pairs.path("tiny-mtp-true")), n_ctx=512, n_threads=1)
    tokens = {}
    for mtp in ("auto", Path(target.path), "off"):
        with load_pair(target, mtp=mtp) as pair:
            assert (pair.draft is None) == (mtp == "off")
            strategy = "off" if mtp == "off" else "mtp:n_max=3:p_min=0"
            done = generate(pair, "Count.", strategy=strategy, max_tokens=40, seed=1).finish()
            assert (done.stats.n_accepted > 0) == (mtp != "off")
            tokens[mtp] = done.tokens
    assert len(set(tokens.values())) == 1
    with pytest.raises(UserError, match="A draft model and an MTP head are given") as caught:
        load_pair(target, target, mtp=target.path)
    assert caught.value.code == "two-drafters"


def test_a_draft_model_replaces_the_head_and_off_leaves_it_out() -> None:
    target = make_pairs.path("tiny-mtp")
    with Engine(target, mtp="off") as engine:
        assert engine.pair.draft is None
        assert "hidden" not in engine.pair.target.model.facts_key
        assert engine.run(PROMPT, strategy="mtp").code == "no-mtp-head"  # type: ignore[union-attr]
    with Engine(target, mtp=target) as engine:
        assert engine.pair.draft is not None
        assert engine.pair.draft.model.drafter == "mtp"
        assert "hidden" in engine.pair.target.model.facts_key, "steps cost more with them"
    with Engine(make_pairs.path("tiny-target"), mtp=make_pairs.path("tiny-target")) as engine:
        assert engine.pair.draft is None
    with Engine(target, make_pairs.path("tiny-draft")) as engine:
        assert engine.pair.draft is not None
        assert engine.pair.draft.model.drafter == "draft"
    with Engine(target) as engine:
        assert engine.run(PROMPT, strategy="draft").code == "no-draft-model"  # type: ignore[union-attr]


def test_a_head_that_llama_cpp_does_not_compute_is_not_loaded() -> None:
    with Engine(make_pairs.path("tiny-unused-head")) as engine:
        assert engine.pair.draft is None
        assert engine.loaded.notes == ()
        assert ids(engine, "auto", 0.5) == ids(engine, "off", 0.5)


def test_a_file_without_a_head_for_this_target_is_refused() -> None:
    for sidecar in ("tiny-draft", "tiny-gemma4-assistant", "not-a-model"):
        engine = Engine(make_pairs.path("tiny-lfm2"), mtp=make_pairs.path(sidecar))
        assert isinstance(engine.loaded, LoadFailed), sidecar


def test_a_build_without_calls_for_heads_loads_the_model_without_its_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise AttributeError(name)

    hidden_rows._extension.cache_clear()
    monkeypatch.setattr(hidden_rows.importlib, "import_module", missing)
    try:
        with Engine(make_pairs.path("tiny-mtp")) as engine:
            assert isinstance(engine.loaded, PairLoaded)
            assert any("no calls for MTP heads" in note for note in engine.loaded.notes)
            assert engine.pair.draft is None
            assert ids(engine, "auto", 0.5) == ids(engine, "off", 0.5)
    finally:
        hidden_rows._extension.cache_clear()


@pytest.mark.grid(short=2)
def test_a_head_works_on_after_the_target_got_a_new_context(engine: Engine) -> None:
    """Replace the target's context, as after a decode that ran out of memory."""
    engine.pair.empty()
    plain = ids(engine, "off", 0.5)
    model = engine.pair.target.model
    engine.pair.target.remake(model.n_ctx, model.n_batch)
    try:
        assert ids(engine, STRATEGIES[1], 0.5) == plain
        assert not [event for event in engine.events if isinstance(event, TuneRejected)]
    finally:
        engine.pair.empty()
        model.keep_states(16)
