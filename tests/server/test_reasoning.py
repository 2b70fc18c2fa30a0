"""Reasoning apart from the answer, where the prompt opens it and where the model does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

from fake_model import FakeBackend, FakeModel, scripted
from paceline.hosting.threaded import make_engine_service
from paceline.messages import LoadPair, ModelParams
from paceline.params import Prompting, ReplySettings, SamplingParams
from paceline.server.served import Defaults
from server.rig import running

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from paceline.server.endpoint import Endpoint

HI: list[Any] = [{"role": "user", "content": "hi"}]
OPENED = '{{ messages[-1].content }}{{ "<think>\\n" }}'
PLAIN = "{{ messages[-1].content }}"


def answered_by(reply: str, template: str) -> AbstractContextManager[Endpoint]:
    """Return an endpoint whose model writes this after the prompt “hi” of this template."""
    start = len("hi<think>\n" if template == OPENED else "hi")
    models = {"target": FakeModel(scripted(reply, start))}
    defaults = Defaults(
        ReplySettings(sampling=SamplingParams(temperature=0)), prompting=Prompting(template)
    )
    return running(
        LoadPair(ModelParams("target"), None),
        make_service=partial(make_engine_service, backend=lambda: FakeBackend(models)),
        defaults=defaults,
    )


@pytest.mark.parametrize(
    ("template", "written"),
    [(OPENED, "I see.\n</think>\n\nHello."), (PLAIN, "<think>\nI see.\n</think>\n\nHello.")],
    ids=["opened by the prompt", "opened by the model"],
)
def test_reasoning_and_answer_are_told_apart(template: str, written: str) -> None:
    with answered_by(written, template) as endpoint:
        with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="none") as client:
            whole = client.chat.completions.create(model="any", messages=HI)
            stream = client.chat.completions.create(model="any", messages=HI, stream=True)
            deltas = [chunk.choices[0].delta.model_dump() for chunk in stream]
        message = whole.choices[0].message.model_dump()
        assert (message["reasoning_content"], message["content"]) == ("I see.", "Hello.")
        for name in ("reasoning_content", "content"):
            assert "".join(delta.get(name) or "" for delta in deltas) == message[name]
        said = httpx2.post(f"{endpoint.url}/v1/messages", json={"messages": HI}, timeout=60)
        assert [(b["type"], b.get("thinking", b.get("text"))) for b in said.json()["content"]] == [
            ("thinking", "I see."),
            ("text", "Hello."),
        ]


def test_a_reply_that_has_reasoning_alone_says_so() -> None:
    with answered_by("I see, I see, I see.", OPENED) as endpoint:
        body = {"messages": HI, "max_tokens": 5}
        reply = httpx2.post(f"{endpoint.url}/v1/chat/completions", json=body, timeout=60).json()
    choice = reply["choices"][0]
    assert choice["message"]["content"] == ""
    assert choice["message"]["reasoning_content"] == "I see"
    assert choice["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
