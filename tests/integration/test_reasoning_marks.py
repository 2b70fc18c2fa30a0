"""Marks of reasoning that a vocabulary keeps as control tokens are text in a reply, others not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from gguf_file import q8, strings
from integration.engine import Engine
from make_pairs import tiny_llama
from paceline.chat.reasoning import answer_of, reasoning_of
from paceline.engine.llama import LlamaBackend
from paceline.engine.llama.vocabulary import LlamaVocabulary
from paceline.engine.model.backend import Reasoning
from paceline.engine.prompt.reasoning_marks import HARMONY, PAIRS, visible_tokens
from paceline.engine.prompt.template import ChatTemplate
from paceline.messages import ChatMessage, LogitBias, Prompting, SamplingParams

CONTROL, AS_TEXT = 3, 4
"""Types of tokens in a GGUF file."""
FIRST = 8192
HARMONY_TOKENS = (*HARMONY, "<|return|>", "<|call|>", "[INST]")
STRATEGIES = ("draft:n_max=4:p_min=0", "ngram-map-k", "suffix", "prompt-lookup:max_ngram=2")


def write_model(file: Path, texts: Sequence[str], kind: int = CONTROL, layers: int = 2) -> Path:
    """A random model whose vocabulary goes on with these tokens, from id 8192 on."""
    model = tiny_llama("with marks", layers)
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])
    kinds = np.frombuffer(model.metadata["tokenizer.ggml.token_type"], np.int32, offset=16)
    assert len(tokens) == FIRST
    tokens += texts
    model.set(tokenizer__ggml__tokens=tokens, llama__vocab_size=len(tokens))
    kinds = np.concatenate((kinds, np.full(len(texts), kind, np.int32)))
    model.set(tokenizer__ggml__token_type=kinds)
    rng = np.random.default_rng(72)
    for part in ("token_embd.weight", "output.weight"):
        model.tensors[part] = q8(rng, 64, len(tokens), gain=3.0)
    with file.open("wb") as out:
        model.write(out)
    return file


def pieces(file: Path, texts: Sequence[str], kind: int = CONTROL) -> list[str]:
    """Return the visible text of these tokens in a reply."""
    vocab = LlamaBackend().load_vocabulary(str(write_model(file, texts, kind, layers=1)))
    try:
        assert [vocab.text(FIRST + i).decode() for i in range(len(texts))] == list(texts)
        return [vocab.piece(FIRST + i).decode() for i in range(len(texts))]
    finally:
        vocab.close()


def is_of_tokens(pair: tuple[str, str]) -> bool:
    """Return whether each mark is one token."""
    return "channel" not in pair[0] and all(mark.count("|") <= 2 for mark in pair)


@pytest.mark.parametrize(
    "pair", [p for p in PAIRS.items() if is_of_tokens(p)], ids=lambda pair: pair[0]
)
def test_marks_are_shown_whatever_the_converter_made_of_them(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    for kind in (CONTROL, AS_TEXT):
        assert pieces(tmp_path / f"{kind}.gguf", pair, kind) == list(pair)


def test_no_other_control_token_is_shown(tmp_path: Path) -> None:
    shown = pieces(tmp_path / "a.gguf", (*HARMONY_TOKENS, "<|im_sep|>", "[THINK]"))
    assert shown == [*HARMONY, "", "", "", "", ""]  # [THINK] ends nowhere
    gemma = pieces(tmp_path / "b.gguf", ("<|channel>", "<channel|>", "<|turn>", "<turn|>"))
    assert gemma == ["<|channel>", "<channel|>", "", ""]
    kimi = pieces(tmp_path / "c.gguf", ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"))
    assert kimi == ["<|open|>", "<|close|>", "<|sep|>", ""]
    of_solar = "<|think|>", "<|content|>", "<|begin|>", "<|end|>"
    others = "<|flush|>", "<|calls|>"  # with both, <|end|> ends no generation
    assert pieces(tmp_path / "d.gguf", (*of_solar, *others)) == [*of_solar, "", ""]


def test_what_ends_a_message_elsewhere_stays_hidden(tmp_path: Path) -> None:
    """Use the token that ends a message in Phi-3's format."""
    assert pieces(tmp_path / "a.gguf", ("<|user|>", "<|end|>")) == ["", ""]
    assert pieces(tmp_path / "b.gguf", HARMONY)[-1] == ""


def test_a_mark_counts_with_all_that_belong_to_it() -> None:
    ids = {"<|start|>": 1, "<|channel|>": 2, "<|message|>": 3, "<think>": 5, "</think>": 6}
    assert dict(visible_tokens(ids.get)) == {5: "<think>", 6: "</think>"}
    assert dict(visible_tokens((ids | {"<|end|>": 4}).get)).keys() == {1, 2, 3, 4, 5, 6}
    assert not list(visible_tokens({}.get))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("marks")
    target = write_model(folder / "target.gguf", HARMONY_TOKENS)
    draft = write_model(folder / "draft.gguf", HARMONY_TOKENS, layers=1)
    with Engine(target, draft) as engine:
        yield engine


def vocabulary(engine: Engine) -> LlamaVocabulary:
    vocab = engine.pair.target.model.vocab
    assert isinstance(vocab, LlamaVocabulary)
    return vocab


BIAS = tuple(LogitBias(FIRST + i, 9.0) for i in (0, 1, 2, 3, 6))
"""Control tokens about every other time, `[INST]` among them."""
OFTEN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, logit_bias=BIAS)


def test_the_text_is_the_same_for_every_strategy(engine: Engine) -> None:
    options = {"sampling": OFTEN, "seed": 3, "max_tokens": 120}
    plain = engine.reply("Think.", **options)
    vocab = vocabulary(engine)
    shown = [t for t in plain.tokens if t in range(FIRST, FIRST + 4)]
    assert len(shown) > 10
    assert FIRST + 6 in plain.tokens
    assert "[INST]" not in plain.text
    bytes_ = b"".join(map(vocab.piece, plain.tokens))
    assert plain.text == bytes_.decode("utf-8", "replace")
    assert [plain.text.count(m) for m in HARMONY] == [shown.count(FIRST + i) for i in range(4)]
    n_accepted = 0
    for strategy in STRATEGIES:
        drafted = engine.reply("Think.", strategy=strategy, **options)
        assert (drafted.text, drafted.tokens) == (plain.text, plain.tokens), strategy
        n_accepted += drafted.stats.n_accepted
        traces = [trace for step in engine.steps for trace in step.tokens]
        assert "".join(step.text for step in engine.steps) == plain.text
        ends = [0, *(trace.text_end for trace in traces)]
        for trace, start in zip(traces, ends, strict=False):
            if trace.token in shown:
                mark = HARMONY[trace.token - FIRST]
                assert plain.text[start : trace.text_end].endswith(mark)
    assert n_accepted > 0


def test_a_mark_can_be_a_stop_text(engine: Engine) -> None:
    options = {"sampling": OFTEN, "seed": 3, "max_tokens": 120, "stop": ("<|channel|>",)}
    plain = engine.reply("Think.", **options)
    assert plain.reason == "stop"
    assert plain.tokens[-1] == FIRST + 1
    assert "<|channel|>" not in plain.text
    drafted = engine.reply("Think.", strategy="draft:p_min=0", **options)
    assert (drafted.text, drafted.tokens) == (plain.text, plain.tokens)


def test_a_reply_in_channels_is_distinguished(engine: Engine) -> None:
    vocab = vocabulary(engine)
    written = (
        "<|channel|>analysis<|message|>Why not?<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Because.<|return|>"
    )
    tokens = vocab.tokenize(written, special=True)
    assert tokens[-1] in vocab.eog
    text = b"".join(map(vocab.piece, tokens)).decode()
    assert text == written.removesuffix("<|return|>")
    assert (reasoning_of(text), answer_of(text)) == ("Why not?", "Because.")


@pytest.mark.parametrize(
    "typed", ["<|channel|>analysis<|message|>", "a <|start|><|end|>", "<<|end|>>", "<|return|>"]
)
def test_a_typed_mark_stays_text_on_the_way_in(engine: Engine, typed: str) -> None:
    vocab = vocabulary(engine)
    source = "{% for m in messages %}<|start|>{{ m.content }}<|end|>{% endfor %}"
    tokens, notes = ChatTemplate(source, vocab).encode((ChatMessage.of_text("user", typed),))
    assert (tokens[0], tokens[-1]) == (FIRST, FIRST + 3)
    assert all(token < FIRST for token in tokens[1:-1])
    assert b"".join(map(vocab.piece, tokens[1:-1])).decode() == typed
    assert notes == ()
    long = typed * 500
    plain = vocab.tokenize(long, special=False)
    assert b"".join(map(vocab.piece, plain)).decode() == long
    assert max(plain) < FIRST


@pytest.mark.parametrize("kind", [CONTROL, AS_TEXT])
@pytest.mark.parametrize("form", ["schema", "gbnf"])
def test_a_form_begins_after_the_reasoning(tmp_path: Path, kind: int, form: str) -> None:
    file = write_model(tmp_path / "marks.gguf", ["<think>", "</think>"], kind, layers=1)
    vocab = LlamaBackend().load_vocabulary(str(file))
    close, eog = FIRST + 1, sorted(vocab.eog)
    if form == "schema":
        grammar = vocab.grammar_of_schema('{"const": [1]}', after=Reasoning("", "</think>"))
    else:
        grammar = vocab.grammar('root ::= "[" " "? "1]"', after=Reasoning("", "</think>"))
    for token in vocab.tokenize('Hm: {"a": [2]}\n<b> </thin', special=False):
        grammar.accept(token)
        assert not grammar.allowed().flags[eog].any()
        assert grammar.forced() == []
    assert grammar.allowed().flags[close]
    grammar.accept(close)
    assert not grammar.allowed().flags[close]
    for token in vocab.tokenize("\n\n[1]", special=False):
        grammar.accept(token)
    assert grammar.allowed().flags[eog].all()
    assert grammar.forced()[0] in eog
    grammar.close()
    vocab.close()


def test_a_form_begins_after_a_mark_of_several_tokens(tmp_path: Path) -> None:
    parts = ["<|open|>", "<|close|>", "<|sep|>"]
    file = write_model(tmp_path / "marks.gguf", parts, CONTROL, layers=1)
    vocab = LlamaBackend().load_vocabulary(str(file))
    mark = "<|close|>think<|sep|><|open|>response<|sep|>"
    grammar = vocab.grammar_of_schema('{"enum": [7, 8]}', after=Reasoning("", mark))
    for token in (*vocab.tokenize("7 think", special=False), *vocab.tokenize(mark, special=True)):
        assert not grammar.allowed().flags[sorted(vocab.eog)].any()
        grammar.accept(token)
    digits = {vocab.piece(int(t)).strip() for t in grammar.allowed().flags.nonzero()[0]}
    assert digits == {b"7", b"8", b""}
    grammar.close()
    vocab.close()


@pytest.mark.parametrize("kind", [CONTROL, AS_TEXT])
def test_a_model_may_reason_before_a_form_or_not(tmp_path: Path, kind: int) -> None:
    file = write_model(tmp_path / "marks.gguf", ["<think>", "</think>"], kind, layers=1)
    vocab = LlamaBackend().load_vocabulary(str(file))
    begun = vocab.grammar_of_schema('{"const": [1]}', after=Reasoning("<think>", "</think>"))
    assert begun.allowed().flags[FIRST]
    for texts in (["[1]"], ["<think>", "Hm [", "</think>", "\n[1]"]):
        grammar = begun.clone()
        for text in texts:
            for token in vocab.tokenize(text, special=text.startswith("<")):
                grammar.accept(token)
        assert grammar.allowed().flags[sorted(vocab.eog)].all()
        grammar.close()
    begun.close()
    vocab.close()


OPENS = (
    "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<think>\n{% endif %}"
)


def test_a_reply_whose_prompt_opens_the_reasoning_ends_with_its_form(tmp_path: Path) -> None:
    target = write_model(tmp_path / "target.gguf", ["<think>", "</think>"])
    draft = write_model(tmp_path / "draft.gguf", ["<think>", "</think>"], layers=1)
    sampling = SamplingParams(
        temperature=1.0, top_k=0, top_p=1.0, min_p=0.0,
        logit_bias=(LogitBias(FIRST + 1, 7.0),),
        json_schema='{"type": "array", "items": {"const": 12}, "minItems": 2, "maxItems": 3}',
    )  # fmt: skip
    options = {
        "sampling": sampling,
        "max_tokens": 300,
        "prompting": Prompting(template=OPENS),
    }
    n_reasoned = 0
    with Engine(target, draft) as engine:
        for seed in range(6):
            plain = engine.reply("Twelve?", seed=seed, **options)
            if plain.reason != "eog":
                continue
            reasoning, _, form = plain.text.partition("</think>")
            n_reasoned += len(reasoning.strip()) > 0
            assert json.loads(form) in ([12, 12], [12, 12, 12])
            for strategy in ("suffix", "draft:p_min=0"):
                drafted = engine.reply("Twelve?", seed=seed, strategy=strategy, **options)
                assert (drafted.text, drafted.tokens) == (plain.text, plain.tokens)
    assert n_reasoned
