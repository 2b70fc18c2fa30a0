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
def test_reasoning_and_answer_are_distinguished(template: str, written: str) -> None:
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


@pytest.mark.parametrize("template", [OPENED, PLAIN])
@pytest.mark.parametrize("is_drafted", [False, True])
def test_tokens_of_the_reasoning_are_counted(template: str, *, is_drafted: bool) -> None:
    rest = "I see.\n</think>\n\nHello, and hello again."
    written = rest if template == OPENED else f"<think>\n{rest}"
    body: dict[str, Any] = {"messages": HI}
    if is_drafted:
        body |= {
            "prediction": {"type": "content", "content": written},
            "paceline": {"strategy": "earlier"},
        }
    with answered_by(written, template) as endpoint:
        reply = httpx2.post(f"{endpoint.url}/v1/chat/completions", json=body, timeout=60).json()
        begun = [*HI, {"role": "assistant", "content": "<think>\nI s"}]
        second = httpx2.post(
            f"{endpoint.url}/v1/chat/completions", json={"messages": begun}, timeout=60
        ).json()
    assert (reply["timings"]["draft_n_accepted"] > 0) == is_drafted
    # A token is a letter. What the model has written between the marks counts, with line breaks.
    between = written.removeprefix("<think>").partition("</think>")[0]
    assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] == len(between)
    assert second["usage"]["completion_tokens_details"]["reasoning_tokens"] == len("ee.\n")


def test_a_reply_that_has_reasoning_alone_says_so() -> None:
    with answered_by("I see, I see, I see.", OPENED) as endpoint:
        body = {"messages": HI, "max_tokens": 5}
        reply = httpx2.post(f"{endpoint.url}/v1/chat/completions", json=body, timeout=60).json()
    choice = reply["choices"][0]
    assert choice["message"]["content"] == ""
    assert choice["message"]["reasoning_content"] == "I see"
    assert choice["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] == 5
