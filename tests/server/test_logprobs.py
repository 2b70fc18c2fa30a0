"""Likelihoods of tokens on the wire: the model's own numbers, with any strategy, whole or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from integration.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import openai
    from openai.types.chat import ChatCompletionTokenLogprob

    from paceline.server.endpoint import Endpoint

TEXT = "To join two paths, use os.path.join. To join two lists"
HELLO: list[Any] = [{"role": "user", "content": "What is a list?"}]
N_BEST = 5


class Reference(NamedTuple):
    """A prompt and what comes after it."""

    prompt: list[int]
    drawn: list[Drawn]


class Drawn(NamedTuple):
    """A greedy token with the logarithms of the probabilities of the best ones."""

    piece: bytes
    logprob: float
    best: list[float]


@pytest.fixture(scope="module")
def expected(demo_pair: tuple[Path, Path]) -> Iterator[Reference]:
    """Return what the target writes, one token at a time."""
    with Engine(demo_pair[0], n_ctx=512) as engine:
        model = engine.pair.target.model
        prompt = model.vocab.tokenize(TEXT, special=False)
        model.clear()
        model.decode(prompt[:-1], 0)
        found: list[Drawn] = []
        token = prompt[-1]
        for _ in range(24):
            row = model.decode([token], 1)[0].astype(np.float64)
            row -= row.max() + np.log(np.exp(row - row.max()).sum())
            token = int(row.argmax())
            if token in model.vocab.eog:
                break
            best = np.sort(row)[::-1][:N_BEST].tolist()
            found.append(Drawn(model.vocab.piece(token), row[token], best))
        engine.pair.empty()
        assert len(found) > 10
        yield Reference(prompt, found)


@pytest.mark.parametrize("strategy", ["off", "draft:n_max=4:p_min=0", "auto"])
def test_a_text_has_the_numbers_of_the_rows(
    endpoint: Endpoint, client: openai.OpenAI, expected: Reference, strategy: str
) -> None:
    prompt, drawn = expected
    options: dict[str, Any] = {
        "model": "any", "prompt": prompt, "max_tokens": len(drawn), "logprobs": N_BEST,
        "extra_body": {"paceline": {"strategy": strategy}},
    }  # fmt: skip
    choice = client.completions.create(**options).choices[0]
    told = choice.logprobs
    assert told is not None
    assert told.tokens is not None
    assert told.top_logprobs is not None
    assert told.text_offset is not None
    assert told.tokens == [each.piece.decode() for each in drawn]
    assert told.token_logprobs == pytest.approx([each.logprob for each in drawn], abs=1e-3)
    for best, each in zip(told.top_logprobs, drawn, strict=True):
        assert sorted(best.values(), reverse=True) == pytest.approx(each.best, abs=1e-3)
    assert "".join(told.tokens) == choice.text
    ends = [*told.text_offset[1:], len(choice.text)]
    parts = [choice.text[a:b] for a, b in zip(told.text_offset, ends, strict=True)]
    assert parts == told.tokens
    kept = endpoint.journal.entries[-1].reply.steps
    assert kept
    assert not any(step.likely for step in kept), "they are told, but take too much memory"
    streamed = [c.choices[0].logprobs for c in client.completions.create(**options, stream=True)]
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        pieces = [getattr(each, name) for each in streamed if each is not None]
        assert [value for piece in pieces for value in piece] == getattr(told, name)


@pytest.mark.parametrize("temperature", [0, 0.8])
def test_a_chat_has_the_same_answer_whole_streamed_and_with_drafts(
    client: openai.OpenAI, temperature: float
) -> None:
    options: dict[str, Any] = {
        "model": "any", "messages": HELLO, "max_tokens": 40, "logprobs": True, "seed": 7,
        "top_logprobs": 3, "temperature": temperature,
    }  # fmt: skip

    def told(strategy: str, **more: Any) -> tuple[str, list[ChatCompletionTokenLogprob]]:
        reply = client.chat.completions.create(
            **options, **more, extra_body={"paceline": {"strategy": strategy}}
        )
        choice = reply.choices[0]
        assert choice.logprobs is not None
        return choice.message.content or "", choice.logprobs.content or []

    text, plain = told("off")
    assert b"".join(bytes(each.bytes or []) for each in plain).decode() == text != ""
    assert all(len(each.top_logprobs) == 3 for each in plain)
    assert all(each.top_logprobs[0].logprob >= each.logprob for each in plain)
    predicted = {"prediction": {"type": "content", "content": text}}
    for strategy, more in (("draft:n_max=4:p_min=0", {}), ("auto", {}), ("earlier", predicted)):
        other_text, others = told(strategy, **more)
        assert other_text == text
        assert [each.token for each in others] == [each.token for each in plain]
        assert [each.logprob for each in others] == pytest.approx(
            [each.logprob for each in plain], abs=1e-3
        )
    stream = client.chat.completions.create(
        **options, stream=True, extra_body={"paceline": {"strategy": "off"}}
    )
    streamed = [
        each
        for chunk in stream
        if chunk.choices[0].logprobs is not None
        for each in chunk.choices[0].logprobs.content or []
    ]
    assert [each.token for each in streamed] == [each.token for each in plain]
    assert [each.logprob for each in streamed] == pytest.approx(
        [each.logprob for each in plain], abs=1e-3
    )


@pytest.mark.parametrize("stop", [None, ["bc"], ["never"]])
def test_the_token_that_ends_a_reply_is_not_reported(
    client: openai.OpenAI, stop: list[str] | None
) -> None:
    """Not even where the last letter has waited until the end, as it may begin a stop text."""
    reply = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=40, logprobs=True, stop=stop,
        extra_body={"grammar": 'root ::= "ab"'},
    )  # fmt: skip
    choice = reply.choices[0]
    assert choice.finish_reason == "stop"
    assert choice.message.content == "ab"
    assert choice.logprobs is not None
    assert reply.usage is not None
    told = choice.logprobs.content or []
    assert "".join(each.token for each in told) == "ab"
    assert len(told) == reply.usage.completion_tokens - 1


def test_without_a_wish_nothing_is_told(client: openai.OpenAI) -> None:
    chat = client.chat.completions.create(model="any", messages=HELLO, max_tokens=4)
    text = client.completions.create(model="any", prompt=TEXT, max_tokens=4)
    assert chat.choices[0].logprobs is text.choices[0].logprobs is None


def test_tokens_within_a_character_are_shown_by_their_bytes(client: openai.OpenAI) -> None:
    bird = "\N{PARROT}a"
    forced = {"grammar": f'root ::= "{bird}"'}
    options: dict[str, Any] = {"model": "any", "max_tokens": 20, "extra_body": forced}
    text = client.completions.create(prompt=TEXT, logprobs=1, **options).choices[0]
    chat = client.chat.completions.create(messages=HELLO, logprobs=True, **options).choices[0]
    assert text.text == chat.message.content == bird
    assert text.logprobs is not None
    tokens, offsets = text.logprobs.tokens or [], text.logprobs.text_offset or []
    named = [token for token in tokens if token.startswith("bytes:\\x")]
    assert len(named) > 1
    data = b"".join(
        bytes.fromhex(token.removeprefix("bytes:").replace("\\x", ""))
        if token in named
        else token.encode()
        for token in tokens
    )
    assert data.decode() == bird
    assert offsets == [*[0] * len(named), 1], "a character begins where its first token does"
    assert chat.logprobs is not None
    content = chat.logprobs.content or []
    assert b"".join(bytes(each.bytes or []) for each in content).decode() == bird
