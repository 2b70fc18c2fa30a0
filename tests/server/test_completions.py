"""``/v1/completions``, as OpenAI's own client uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

import llama_files
from paceline.messages import LoadPair, ModelParams
from random_model import random_model
from server.puppet import end, said_by
from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.server.endpoint import Endpoint

PROMPT = "A list is"
TOKENS = [100, 200, 300, 400]


def test_a_text_continues_whole_and_streamed(client: openai.OpenAI) -> None:
    whole = client.completions.create(model="any", prompt=PROMPT, max_tokens=40)
    chunks = list(
        client.completions.create(
            model="any", prompt=PROMPT, max_tokens=40, stream=True,
            stream_options={"include_usage": True},
        )
    )  # fmt: skip
    choice = whole.choices[0]
    assert "".join(c.choices[0].text for c in chunks if c.choices) == choice.text != ""
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert [r for r in reasons if r] == [choice.finish_reason]
    assert whole.object == chunks[0].object == "text_completion"
    assert whole.usage is not None
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens <= 40
    assert chunks[-1].model_dump()["timings"]["predicted_n"] == whole.usage.completion_tokens


def test_several_prompts_have_several_replies_each(client: openai.OpenAI) -> None:
    options: dict[str, Any] = {"max_tokens": 12, "temperature": 1.5, "seed": 3}
    prompts = [PROMPT, "def main():"]
    several = client.completions.create(model="any", prompt=prompts, n=2, **options)
    alone = [
        client.completions.create(model="any", prompt=prompt, **options | {"seed": seed})
        for prompt in prompts
        for seed in (3, 4)
    ]
    assert [c.index for c in several.choices] == [0, 1, 2, 3]
    assert [c.text for c in several.choices] == [reply.choices[0].text for reply in alone]
    assert len({c.text for c in several.choices}) > 2
    usages = [reply.usage for reply in alone]
    assert several.usage is not None
    n_prompt = sum(usage.prompt_tokens for usage in usages[::2] if usage)
    assert several.usage.prompt_tokens == n_prompt, "each prompt counts once"
    assert several.usage.completion_tokens == sum(u.completion_tokens for u in usages if u)


def test_tokens_are_taken_as_they_are(client: openai.OpenAI) -> None:
    one = client.completions.create(model="any", prompt=TOKENS, max_tokens=8)
    two = client.completions.create(model="any", prompt=[TOKENS, TOKENS[:2]], max_tokens=8)
    assert one.usage is not None
    assert one.usage.prompt_tokens == len(TOKENS)
    assert two.usage is not None
    assert two.usage.prompt_tokens == len(TOKENS) + 2
    assert two.choices[0].text == one.choices[0].text


@pytest.mark.parametrize("prompt", [PROMPT, TOKENS])
def test_an_echo_stands_before_the_text(client: openai.OpenAI, prompt: Any) -> None:
    alone = client.completions.create(model="any", prompt=prompt, max_tokens=8).choices[0].text
    echoed = client.completions.create(model="any", prompt=prompt, max_tokens=8, echo=True)
    stream = client.completions.create(
        model="any", prompt=prompt, max_tokens=8, echo=True, stream=True
    )
    echo = echoed.choices[0].text.removesuffix(alone)
    assert echo
    assert echo != echoed.choices[0].text
    assert isinstance(prompt, list) or echo == prompt
    assert "".join(c.choices[0].text for c in stream) == echo + alone


def test_a_stop_text_ends_it(client: openai.OpenAI) -> None:
    whole = client.completions.create(model="any", prompt=PROMPT, max_tokens=40).choices[0].text
    stop = whole[4:7]
    cut = client.completions.create(model="any", prompt=PROMPT, max_tokens=40, stop=stop)
    assert cut.choices[0].text == whole[: whole.index(stop)]
    assert cut.choices[0].finish_reason == "stop"


def test_marks_of_reasoning_are_text_here(client: openai.OpenAI) -> None:
    forced = 'root ::= "<think>" "a" "</think>" "b"'
    whole = client.completions.create(
        model="any", prompt=PROMPT, max_tokens=40, extra_body={"grammar": forced}
    )
    assert whole.choices[0].text == "<think>a</think>b"


# --------------------------------------------------------------------------------------------- gaps


def test_a_model_that_fills_in_no_gaps_says_so(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(model="any", prompt="a = ", suffix="\nprint(a)")
    assert refused.value.code == "no_infill"
    assert "cannot fill in a gap" in refused.value.message
    ends = client.completions.create(model="any", prompt="a = ", suffix="", max_tokens=4)
    goes_on = client.completions.create(model="any", prompt="a = ", max_tokens=4)
    assert ends.choices[0].text == goes_on.choices[0].text, "nothing comes after: no gap"


@pytest.fixture(scope="module")
def coder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Random weights with StarCoder's vocabulary, which has marks for a gap."""
    file: Path = tmp_path_factory.mktemp("coder") / "random.gguf"
    with file.open("wb") as out:
        random_model(llama_files.vocabulary("starcoder"), n_layers=1).write(out)
    target = ModelParams(str(file), n_ctx=512, n_threads=1, n_threads_batch=1, n_gpu_layers=0)
    with running(LoadPair(target)) as endpoint:
        yield endpoint


def test_a_suffix_asks_for_what_is_missing(coder: Endpoint) -> None:
    before, after = "def area(r):\n    return ", "\n\nprint(area(2))\n"
    with openai.OpenAI(base_url=f"{coder.url}/v1", api_key="none", max_retries=0) as client:
        options: dict[str, Any] = {"model": "any", "max_tokens": 8}
        filled = client.completions.create(prompt=before, suffix=after, **options)
        written = client.completions.create(
            prompt=f"<fim_prefix>{before}<fim_suffix>{after}<fim_middle>", **options
        )
        echoed = client.completions.create(prompt=before, suffix=after, echo=True, **options)
    assert filled.choices[0].text == written.choices[0].text != ""
    assert filled.usage is not None
    assert written.usage is not None
    assert filled.usage.prompt_tokens == written.usage.prompt_tokens
    assert echoed.choices[0].text == before + filled.choices[0].text


def test_likelihoods_of_an_empty_reply_are_none() -> None:
    with said_by([end()]) as puppet:
        body = {"prompt": PROMPT, "logprobs": 2}
        reply = httpx2.post(f"{puppet.url}/v1/completions", json=body, timeout=60).json()
    (choice,) = reply["choices"]
    assert choice["text"] == ""
    told = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
    assert choice["logprobs"] == told
