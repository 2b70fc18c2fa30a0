"""Drafts of a model with another tokenizer: the text of plain decoding, on real weights.

The demo draft drafts for SmolLM2 and SmolLM2 for Gemma 3; skipped where these cannot be downloaded.
llama.cpp's kernels with one thread on Q8_0, whose rows do not depend on the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import make_pairs
import real_models
from catalog.headers import gguf_bytes
from gguf_file import read
from integration.engine import GREEDY, WARM
from paceline.engine import (
    ChatMessage,
    ModelParams,
    Pair,
    SamplingParams,
    Translating,
    generate,
    load_pair,
)
from paceline.engine.model.translation import TranslatedContext
from paceline.engine.model.vocabularies import vocabulary_mismatch
from paceline.errors import ModelError

CODE = "Write a Python function that returns the average of a list of numbers."
PROSE = "Tell me about the history of bicycles."
DRAFT = "draft:n_max=4:p_min=0"


def params(path: Path, n_ctx: int = 1024, **options: object) -> ModelParams:
    return ModelParams(str(path), n_ctx=n_ctx, n_threads=1, **options)  # type: ignore[arg-type]


def load(target: Path, draft: Path, how: Translating | None = None, **options: object) -> Pair:
    own = {name: options.pop(name) for name in ("n_ctx",) if name in options}
    return load_pair(
        params(target),
        params(draft, **own, **options),
        kernels="stock",
        translating=how,
    )


@pytest.fixture(scope="module", params=["smollm2-by-demo", "gemma3-by-smollm2"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    smollm2 = real_models.path_or_skip("smollm2-135m", "q8_0")
    if request.param == "smollm2-by-demo":
        files = smollm2, make_pairs.DEMO_DRAFT
    else:
        files = real_models.path_or_skip("gemma3-270m", "q8_0"), smollm2
    with load(*files) as loaded:
        yield loaded


def draft_of(pair: Pair) -> TranslatedContext:
    draft = pair.loaded.draft
    assert isinstance(draft, TranslatedContext)
    return draft


def check_positions(pair: Pair, text: list[int], *, has_drafted: bool) -> None:
    """Both models hold what their books say, which is a part of the text."""
    target, draft = pair.loaded.target, draft_of(pair)
    own = draft.own
    is_short = own.n_ctx < target.n_ctx  # so that it holds the text's end alone
    assert target.model.n_past == len(target.tokens) - target.n_owed
    assert own.model.n_past == len(own.tokens) - own.n_owed
    assert target.tokens == text[: len(target.tokens)]
    if has_drafted:
        n = len(draft.tokens)
        starts = range(len(text) - n + 1) if is_short else range(1)
        assert any(text[i : i + n] == draft.tokens for i in starts)


def run(pair: Pair, prompt: object, strategy: str, n: int = 60, **options: object) -> list[int]:
    """Generate a reply, and look at both contexts after every step."""
    options = {"max_tokens": n, "seed": 3, "ignore_eog": True} | options
    reply = generate(pair, prompt, strategy=strategy, **options)  # type: ignore[arg-type]
    prompt_tokens: list[int] = []
    committed: list[int] = []
    has_drafted = False
    for step in reply:
        committed += [trace.token for trace in step.tokens]
        prompt_tokens = prompt_tokens or list(pair.loaded.target.tokens)
        text = [*prompt_tokens, *committed]
        has_drafted = has_drafted or any(count.drafter == "draft" for count in step.drafted)
        check_positions(pair, text, has_drafted=has_drafted and strategy == DRAFT)
    assert not reply.rejections
    assert reply.result is not None
    assert list(reply.result.tokens) == committed
    return committed


def test_what_can_be_translated(pair: Pair) -> None:
    target, draft = pair.loaded.target.model.vocab, draft_of(pair).model.vocab
    assert vocabulary_mismatch(target, draft) is not None
    translation = draft_of(pair).translation
    assert 0.85 < translation.share <= 1.0
    note = next(note for note in pair.loaded.notes if "translated" in note)
    assert f"{100 * translation.share:.0f} %" in note
    for token in range(0, target.n_tokens, 7):
        assert target.piece(token) in (b"", translation.written[token]), token


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "t0.8"])
def test_the_text_is_that_of_plain_decoding(
    pair: Pair, sampling: SamplingParams, *, is_long: bool
) -> None:
    n, prompts = (60, (CODE, PROSE)) if is_long else (16, (CODE,))
    n_accepted = n_drafted = 0
    for prompt in prompts:
        plain = run(pair, prompt, "off", n, sampling=sampling)
        more = ("suffix+draft:draft.n_max=4:draft.p_min=0",) if is_long else ()
        for strategy in (DRAFT, "auto", *more):
            assert run(pair, prompt, strategy, n, sampling=sampling) == plain, (prompt, strategy)
            assert pair.reply is not None
            if strategy == DRAFT:
                n_accepted += pair.reply.stats.n_accepted
                n_drafted += pair.reply.stats.n_drafted
    assert 0 < n_accepted < n_drafted


@pytest.mark.grid(short=1)
def test_two_turns_an_edit_and_a_stop(pair: Pair) -> None:
    def same(chat: list[ChatMessage]) -> str:
        plain = run(pair, chat, "off", 10)
        assert run(pair, chat, DRAFT, 10) == plain
        assert pair.reply is not None
        return pair.reply.text

    chat = [ChatMessage.of_text("user", CODE)]
    answer = same(chat)
    chat += [
        ChatMessage.of_text("assistant", answer),
        ChatMessage.of_text("user", "In one line, please: 3 µm 日本"),
    ]
    same(chat)
    same([ChatMessage.of_text("user", PROSE), *chat[1:]])
    reply = generate(pair, chat, strategy=DRAFT, max_tokens=100, seed=3, ignore_eog=True)
    for _ in range(7):
        next(reply)
    pair.cancel()
    for _ in reply:
        pass
    assert reply.result is not None
    assert reply.result.reason == "cancelled"
    same(chat)


def test_line_breaks_that_gemma_3_has_twice_are_drafted() -> None:
    """Draft a line break that exists as a token and as a byte, which the model never writes."""
    files = (real_models.path_or_skip(name, "q8_0") for name in ("gemma3-270m", "smollm2-135m"))
    with load(*files) as pair:
        piece = pair.loaded.target.model.vocab.piece
        list_of_words = "Shopping list:\n- apples\n- bread\n"
        reply = generate(pair, list_of_words, strategy=DRAFT, sampling=GREEDY, max_tokens=24)
        breaks = [t.source for step in reply for t in step.tokens if piece(t.token) == b"\n"]
    assert len(breaks) > 4
    assert breaks.count("draft") >= len(breaks) / 2


def test_a_text_that_outgrows_the_draft_model() -> None:
    smollm2 = real_models.path_or_skip("smollm2-135m", "q8_0")
    with load(smollm2, make_pairs.DEMO_DRAFT, n_ctx=56) as pair:
        plain = run(pair, CODE, "off", 36)
        assert run(pair, CODE, DRAFT, 36) == plain
        assert len(pair.loaded.target.tokens) > 56
        assert pair.reply is not None
        assert pair.reply.stats.n_accepted > 0
        assert len(draft_of(pair).own.tokens) <= 56


@pytest.mark.parametrize(
    "how",
    [
        Translating(bridges=True),
        Translating((("<|im_start|>", "### "), ("<|im_end|>", "<|endoftext|>"))),
    ],
    ids=["bridge", "replace"],
)
def test_the_text_stays_with_what_can_be_chosen(how: Translating) -> None:
    smollm2 = real_models.path_or_skip("smollm2-135m", "q8_0")
    with load(smollm2, make_pairs.DEMO_DRAFT, how) as pair:
        plain = run(pair, CODE, "off", 16, sampling=WARM, ignore_eog=False)
        assert run(pair, CODE, DRAFT, 16, sampling=WARM, ignore_eog=False) == plain
        assert pair.reply is not None
        assert 0 < pair.reply.stats.n_accepted < pair.reply.stats.n_drafted
        told = b"".join(map(pair.loaded.draft.model.vocab.text, draft_of(pair).own.tokens))
        assert (b"###" in told) == bool(how.replace)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("name", ["tiny-qwen35", "tiny-mamba", "tiny-swa"])
def test_a_draft_model_with_states_or_windows(name: str, tmp_path: Path) -> None:
    """The same tokens, but for one flag that keeps them from being taken as the target's."""
    model = read(make_pairs.path(name))
    model.set(tokenizer__ggml__add_bos_token=True)
    file = tmp_path / f"{name}.gguf"
    file.write_bytes(gguf_bytes(model))
    options = {} if name != "tiny-swa" else {"swa_full": False}
    with load(make_pairs.path("tiny-target"), file, **options) as pair:
        sampling = SamplingParams(temperature=8.0, top_k=0, top_p=1, min_p=0)
        for prompt in (CODE, PROSE):
            plain = run(pair, prompt, "off", 40, sampling=sampling)
            assert run(pair, prompt, DRAFT, 40, sampling=sampling) == plain
            assert pair.reply is not None
            assert pair.reply.stats.n_drafted > 20


def test_idle_time_brings_the_draft_model_up_to_the_target(pair: Pair) -> None:
    from paceline.engine.idle import CatchingUp

    run(pair, PROSE, "off", 12)
    pair.loaded.uses_draft = True
    work = CatchingUp(pair.loaded)
    while work.slice():
        pass
    assert draft_of(pair).tokens == pair.loaded.target.tokens


def test_too_few_common_tokens_are_refused() -> None:
    with pytest.raises(ModelError, match="cannot be translated"):
        load(make_pairs.DEMO_TARGET, make_pairs.path("tiny-foreign"))
