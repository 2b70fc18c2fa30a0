"""The tokens of any prompt, for programs: those that a reply would begin with."""

from __future__ import annotations

import pytest

from engine.bench import Bench
from engine.test_infill import BeginningVocabulary, MarkedVocabulary, bench_of, count, prompt_tokens
from fake_model import EOG, ByteVocabulary, FakeModel, scripted
from paceline.content import Tool, ToolUse
from paceline.engine.model.backend import Vocabulary
from paceline.messages import (
    Chat,
    ChatMessage,
    Encode,
    Encoded,
    Infill,
    Prompt,
    Prompting,
    RawText,
    Tokens,
    TurnFinished,
)

HI = (ChatMessage.of_text("user", "hi"),)


def encoded(bench: Bench, prompt: Prompt) -> Encoded:
    bench.client.request(Encode(prompt))
    answer = bench.events[-1]
    assert isinstance(answer, Encoded)
    return answer


@pytest.mark.parametrize(
    ("vocab", "prompt", "tokens", "text", "n_added"),
    [
        (ByteVocabulary, RawText("hé"), [*"hé".encode()], "hé", 0),
        (ByteVocabulary, RawText("a<end>"), [*b"a<end>"], "a<end>", 0),
        (ByteVocabulary, RawText("a<end>", special=True), [97, EOG], "a<end>", 0),
        (BeginningVocabulary, RawText("a"), [4, 97], "\x04a", 1),
        (BeginningVocabulary, RawText("<begin>a", special=True), [4, 97], "\x04a", 0),
        (BeginningVocabulary, Tokens((4, 97)), [4, 97], "\x04a", 0),
        (ByteVocabulary, Tokens((97, EOG, 0xC3)), [97, EOG, 0xC3], "a<end>\ufffd", 0),
        (MarkedVocabulary, Infill("b", "d"), [1, 98, 2, 100, 3], "\x01b\x02d\x03", 0),
        (BeginningVocabulary, Infill("b", ""), [4, 1, 98, 2, 3], "\x04\x01b\x02\x03", 1),
        (MarkedVocabulary, Infill("b", ""), [1, 98, 2, 3], "\x01b\x02\x03", 0),
        (MarkedVocabulary, Infill("", "<end>"), [1, 2, *b"<end>", 3], "\x01\x02<end>\x03", 0),
        (BeginningVocabulary, RawText("a<begin>", special=True), [4, 97, 4], "\x04a\x04", 1),
        (BeginningVocabulary, RawText("<begin><begin>", special=True), [4, 4], "\x04\x04", 0),
        (BeginningVocabulary, RawText("<begin>"), [4, *b"<begin>"], "\x04<begin>", 1),
    ],
)
def test_a_prompt_without_a_template(
    vocab: type[Vocabulary], prompt: Prompt, tokens: list[int], text: str, n_added: int
) -> None:
    pieces = tuple(b"<end>" if token == EOG else bytes([token]) for token in tokens)
    bench = bench_of(vocab())
    assert encoded(bench, prompt) == Encoded(tuple(tokens), pieces, text, n_added)
    assert prompt_tokens(bench, prompt) == tokens
    assert count(bench, prompt) == len(tokens)


def test_a_chat_is_put_through_its_template_with_all_that_it_holds() -> None:
    bench = Bench(target=FakeModel(scripted("x", 0), n_ctx=64))
    bench.load()
    messages = tuple(ChatMessage.of_text("user", f"question {n}") for n in range(40))
    answer = encoded(bench, Chat(messages, cuts=True))
    lines = [f"user: question {n}<end>\n" for n in range(40)]
    assert answer.text == "".join(lines)
    assert b"".join(answer.pieces).decode() == answer.text
    assert answer.tokens.count(EOG) == 40
    assert (answer.n_added, answer.code) == (0, "")
    failed = bench.fail(messages=messages, strategy="off")
    assert failed.code == "prompt-too-long"
    assert encoded(bench, RawText(answer.text, special=True)).tokens == answer.tokens


def test_the_templates_remarks_and_its_switch_count() -> None:
    bench = bench_of(ByteVocabulary())
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
        "{{ m.content }}|{% endfor %}{% if enable_thinking is defined and not enable_thinking %}"
        "quick{% endif %}"
    )
    messages = (ChatMessage.of_text("system", "Be brief."), *HI)
    answer = encoded(bench, Chat(messages, Prompting(source)))
    assert answer.text == "Be brief.\n\nhi|"
    assert len(answer.notes) == 1
    quick = encoded(bench, Chat(HI, Prompting(source, think="off")))
    assert (quick.text, bytes(quick.tokens)) == ("hi|quick", b"hi|quick")


def test_tools_are_in_the_prompt() -> None:
    bench = bench_of(ByteVocabulary())
    answer = encoded(bench, Chat(HI, tools=ToolUse((Tool("weather", "Tells the weather."),))))
    assert "Tells the weather." in answer.text
    assert b"".join(answer.pieces).decode() == answer.text
    assert isinstance(
        bench.ask(prompt=Chat(HI, tools=ToolUse((Tool("weather"),), "none"))), TurnFinished
    )


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        (RawText(""), "empty-prompt"),
        (Tokens(()), "empty-prompt"),
        (Tokens((1, 999)), "no-such-token"),
        (Tokens((-1,)), "no-such-token"),
        (Infill("a", "b"), "no-infill"),
        (Chat(()), "empty-prompt"),
        (Chat(HI, Prompting("{{ raise_exception('no') }}")), "template-refused"),
        (Chat(HI, Prompting("{{ nothing(")), "bad-template"),
        (Chat(HI, Prompting("nothing of it")), "bad-template"),
        (RawText("x" * (1 << 20) + "x"), "prompt-too-long"),
        (RawText("x" * (5 << 20)), "prompt-too-long"),
        (Infill("x" * (3 << 20), "x" * (3 << 20)), "prompt-too-long"),
        (Tokens((97,) * (5 << 20)), "prompt-too-long"),
        (Chat((ChatMessage.of_text("user", "x" * (5 << 20)),)), "prompt-too-long"),
    ],
)
def test_what_cannot_be_made_says_why(prompt: Prompt, code: str) -> None:
    bench = bench_of(ByteVocabulary())
    answer = encoded(bench, prompt)
    assert (answer.tokens, answer.pieces, answer.text, answer.code) == ((), (), "", code)
    assert answer.problem
    assert encoded(bench, RawText("a")).tokens == (97,), "the next one is answered"


def test_without_a_model_there_are_no_tokens() -> None:
    answer = encoded(Bench(), RawText("a"))
    assert (answer.tokens, answer.code) == ((), "no-model")
    assert answer.problem
    assert answer.hint


class TolerantVocabulary(ByteVocabulary):
    """Takes text that UTF-8 has no bytes for, as llama.cpp's does."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        return super().tokenize(text.encode("utf-8", "replace").decode(), special=special)


def test_half_a_character_becomes_a_question_mark() -> None:
    """Half a surrogate pair would not come through a pipe."""
    prompt = Chat((ChatMessage.of_text("user", "a\ud800b"),))
    answer = encoded(bench_of(TolerantVocabulary()), prompt)
    assert answer.text == "user: a?b<end>\n"
    assert b"".join(answer.pieces).decode() == answer.text


class LongVocabulary(ByteVocabulary):
    """Every token has a long text."""

    def piece(self, token: int) -> bytes:
        return super().piece(token) * 5_000


def test_texts_beyond_a_message_are_refused() -> None:
    bench = bench_of(LongVocabulary())
    assert encoded(bench, Tokens((97,) * 800)).text == "a" * 4_000_000
    assert encoded(bench, Tokens((97,) * 900)).code == "prompt-too-long"
