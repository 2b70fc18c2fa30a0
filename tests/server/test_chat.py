"""``/v1/chat/completions``, as OpenAI's own client uses it."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

from paceline.server.application import make_application
from paceline.server.context import Context
from paceline.server.http.guard import Access
from paceline.server.journal import Journal
from paceline.server.metrics import Metrics
from paceline.server.served import Defaults

if TYPE_CHECKING:
    from paceline.server.endpoint import Endpoint

HELLO: list[Any] = [{"role": "user", "content": "What is a list?"}]


def test_a_stream_has_the_text_of_the_whole_reply(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="any", messages=HELLO, max_tokens=60)
    stream = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=60, stream=True,
        stream_options={"include_usage": True},
    )  # fmt: skip
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert whole.choices[0].message.content == text != ""
    assert chunks[0].choices[0].delta.role == "assistant"
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert reasons == [*[None] * (len(reasons) - 1), whole.choices[0].finish_reason]
    assert chunks[-1].usage is not None
    assert whole.usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def test_a_reply_reports_its_figures(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="other", messages=HELLO, max_tokens=20)
    assert reply.model == "paceline-demo-target-q8_0", "any name is served by the loaded model"
    assert reply.usage is not None
    told = reply.model_dump()
    timings, own = told["timings"], told["paceline"]
    assert timings["predicted_n"] == reply.usage.completion_tokens
    assert timings["cache_n"] + timings["prompt_n"] == reply.usage.prompt_tokens
    assert timings["draft_n"] == sum(each["tokens"] for each in own["by_drafter"])
    assert own["n_reused"] == timings["cache_n"]
    again = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=20, seed=own["seed"], n=2
    )
    assert again.model_dump()["paceline"]["seed"] == own["seed"] + 1, "of the last one"
    assert own["same_text"] in ("any strategy", "any strategy and any cache", "none")


@pytest.mark.parametrize("strategy", ["off", "draft:n_max=4", "suffix"])
def test_a_request_chooses_its_strategy(client: openai.OpenAI, strategy: str) -> None:
    plain = client.chat.completions.create(model="any", messages=HELLO, max_tokens=40)
    reply = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=40, extra_body={"paceline": {"strategy": strategy}}
    )
    assert reply.choices[0].message.content == plain.choices[0].message.content
    drafters = {each["drafter"] for each in reply.model_dump()["paceline"]["by_drafter"]}
    assert drafters <= {strategy.partition(":")[0]}


def test_several_replies_have_seeds_that_count_up(client: openai.OpenAI) -> None:
    several = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=20, n=3, seed=5, temperature=1.5
    )
    alone = [
        client.chat.completions.create(
            model="any", messages=HELLO, max_tokens=20, seed=5 + i, temperature=1.5
        )
        for i in range(3)
    ]
    texts = [choice.message.content for choice in several.choices]
    assert texts == [reply.choices[0].message.content for reply in alone]
    assert len(set(texts)) > 1
    assert [choice.index for choice in several.choices] == [0, 1, 2]


def test_seeds_of_several_replies_begin_anew_after_the_largest(client: openai.OpenAI) -> None:
    several = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=20, n=2, seed=2**63 - 1, temperature=1.5
    )
    second = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=20, seed=0, temperature=1.5
    )
    assert several.choices[1].message.content == second.choices[0].message.content


def test_a_reply_continues_after_its_beginning(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="any", messages=HELLO, max_tokens=30)
    text = whole.choices[0].message.content or ""
    begun = text[: len(text) // 2]
    messages = [*HELLO, {"role": "assistant", "content": begun}]
    rest = client.chat.completions.create(model="any", messages=messages, max_tokens=30)
    assert (begun + (rest.choices[0].message.content or "")).startswith(begun)
    assert not (rest.choices[0].message.content or "").startswith(begun)


def test_a_prediction_is_copied(client: openai.OpenAI) -> None:
    expected = client.chat.completions.create(model="any", messages=HELLO, max_tokens=60)
    text = expected.choices[0].message.content or ""
    reply = client.chat.completions.create(
        model="any", messages=HELLO, max_tokens=60,
        prediction={"type": "content", "content": text},
        extra_body={"paceline": {"strategy": "earlier"}},
    )  # fmt: skip
    assert reply.choices[0].message.content == text
    assert reply.usage is not None
    details = reply.usage.completion_tokens_details
    assert details is not None
    assert (details.accepted_prediction_tokens or 0) > reply.usage.completion_tokens // 2


def test_what_is_not_known_is_named(endpoint: Endpoint) -> None:
    body = {
        "messages": [{"role": "user", "content": "Hello", "name": "me"}], "max_tokens": 3,
        "user": "me", "mirostat": 2, "stream": None, "paceline": {"startegy": "off", "more": None},
        "response_format": {"type": "text", "json_schema": {"strict": True, "note": "x"}},
    }  # fmt: skip
    reply = httpx2.post(f"{endpoint.url}/v1/chat/completions", json=body, timeout=60)
    assert reply.status_code == 200
    assert reply.headers["x-paceline-ignored"] == (
        "user, mirostat, paceline.startegy, response_format.json_schema.note"
    )


def test_without_a_model_the_server_is_not_healthy() -> None:
    class NoModels:
        loaded = None
        request = staticmethod(nullcontext)

    application = make_application(
        Context(None, NoModels(), Defaults(), Journal(), Metrics()),  # type: ignore[arg-type]
        Access("127.0.0.1", 80),
    )

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(application)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/health")

    reply = asyncio.run(ask())
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "no_model")


def test_health_and_models(client: openai.OpenAI, endpoint: Endpoint) -> None:
    assert httpx2.get(f"{endpoint.url}/health").json() == {"status": "ok"}
    [model] = client.models.list()
    assert model.id == "paceline-demo-target-q8_0"
    assert abs(model.created - time.time()) < 3_600
    meta = model.model_dump()["meta"]
    assert meta["n_ctx"] == 2048
    assert meta.keys() == {"n_ctx", "n_ctx_train", "n_vocab", "n_params", "size"}
    assert min(meta.values()) > 0
    assert client.models.retrieve(model.id) == model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")
