"""llama.cpp's own routes, as its editors and tools use them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from msgspec import structs

from paceline.messages import LoadPair, ModelParams, PrefillProgressed, StateStorage
from random_model import random_model
from server.puppet import end, said_by
from server.rig import running
from tiny_vocabularies import INFILL, sentencepiece

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.server.endpoint import Endpoint

HELLO = [{"role": "user", "content": "What is a list?"}]
LETTERS = {"grammar": "root ::= [a-z ]+"}
"""Random weights would rather write control tokens."""
GAP = {"input_prefix": "hello the", "input_suffix": "world", "n_predict": 8, **LETTERS}


def post(endpoint: Endpoint, path: str, **body: Any) -> dict[str, Any]:
    reply = httpx2.post(f"{endpoint.url}{path}", json=body, timeout=60)
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()
    return told


def refusal(endpoint: Endpoint, path: str, **body: Any) -> dict[str, Any]:
    reply = httpx2.post(f"{endpoint.url}{path}", json=body, timeout=60)
    assert reply.status_code == 400, reply.text
    error: dict[str, Any] = reply.json()["error"]
    return error


def streamed(endpoint: Endpoint, path: str, **body: Any) -> list[dict[str, Any]]:
    reply = httpx2.post(f"{endpoint.url}{path}", json=body | {"stream": True}, timeout=60)
    assert reply.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in reply.text.splitlines() if line and not line.startswith(":")]
    lines = [line for line in lines if line != "data: [DONE]"]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


# ------------------------------------------------------------------------------------------- tokens


def test_tokens_of_a_text_and_back(endpoint: Endpoint) -> None:
    text = "Grüße, what is a list? 🦜"
    tokens = post(endpoint, "/tokenize", content=text)["tokens"]
    pieces = post(endpoint, "/tokenize", content=text, with_pieces=True)["tokens"]
    assert [each["id"] for each in pieces] == tokens
    whole = b"".join(
        piece.encode() if isinstance(piece := each["piece"], str) else bytes(piece)
        for each in pieces
    )
    assert whole.decode() == text
    assert post(endpoint, "/detokenize", tokens=tokens)["content"] == text
    assert post(endpoint, "/detokenize", tokens=[])["content"] == ""
    assert post(endpoint, "/tokenize", content="")["tokens"] == []


def test_control_tokens_are_read_by_name_unless_told_otherwise(endpoint: Endpoint) -> None:
    prompt = post(endpoint, "/apply-template", messages=HELLO)["prompt"]
    read = post(endpoint, "/tokenize", content=prompt)["tokens"]
    plain = post(endpoint, "/tokenize", content=prompt, parse_special=False)["tokens"]
    assert len(plain) > len(read)
    assert post(endpoint, "/detokenize", tokens=read)["content"] == prompt


def test_the_token_that_begins_a_prompt_is_reported_if_asked_for(coder: Endpoint) -> None:
    own = post(coder, "/tokenize", content="hello")["tokens"]
    begun = post(coder, "/tokenize", content="hello", add_special=True)["tokens"]
    assert begun[1:] == own
    assert post(coder, "/tokenize", content="", add_special=True)["tokens"] == begun[:1]
    assert post(coder, "/detokenize", tokens=begun[:1])["content"] == "<s>"
    assert httpx2.get(f"{coder.url}/props").json()["bos_token"] == "<s>"


def test_a_prompt_by_the_template_has_the_reply_of_the_chat(endpoint: Endpoint) -> None:
    messages = [*HELLO, {"role": "assistant", "content": "A list"}]
    for each in (HELLO, messages):
        prompt = post(endpoint, "/apply-template", messages=each)["prompt"]
        chat = post(endpoint, "/v1/chat/completions", messages=each, max_tokens=30)
        raw = post(endpoint, "/v1/completions", prompt=prompt, max_tokens=30)
        own = post(endpoint, "/completion", prompt=prompt, n_predict=30)
        text = chat["choices"][0]["message"]["content"]
        assert raw["choices"][0]["text"] == own["content"] == text != ""
        assert raw["usage"]["prompt_tokens"] == chat["usage"]["prompt_tokens"]


def test_tools_are_part_of_the_prompt(endpoint: Endpoint) -> None:
    tool = {"type": "function", "function": {"name": "look_up_weather"}}
    plain = post(endpoint, "/apply-template", messages=HELLO)["prompt"]
    prompt = post(endpoint, "/apply-template", messages=HELLO, tools=[tool])["prompt"]
    assert "look_up_weather" in prompt
    assert "look_up_weather" not in plain


def test_what_cannot_be_read_is_refused(endpoint: Endpoint) -> None:
    assert refusal(endpoint, "/tokenize")["param"] == "content"
    assert refusal(endpoint, "/detokenize", tokens=["a"])["param"] == "tokens[0]"
    unknown = refusal(endpoint, "/detokenize", tokens=[10**6])
    assert (unknown["code"], unknown["param"]) == ("no_such_token", "tokens")
    assert refusal(endpoint, "/apply-template", messages=[])["param"] == "messages"
    blank = [{"role": "user", "content": " "}]
    assert refusal(endpoint, "/apply-template", messages=blank)["param"] == "messages"


def test_properties_name_the_model_and_no_path(endpoint: Endpoint, demo_load: LoadPair) -> None:
    reply = httpx2.get(f"{endpoint.url}/props")
    told = reply.json()
    assert told["model_path"] == told["model_alias"] == "paceline-demo-target-q8_0"
    assert told["n_ctx"] == told["default_generation_settings"]["n_ctx"] == 2048
    assert told["default_generation_settings"]["params"]["temperature"] == 0
    assert told["total_slots"] == 1
    assert "messages" in told["chat_template"]
    assert demo_load.target.path.rpartition("/")[0] not in reply.text


# ---------------------------------------------------------------------------------------- replies


def test_a_completion_tells_its_end_and_figures(endpoint: Endpoint) -> None:
    body: dict[str, Any] = {"prompt": "A list is", "n_predict": 24}
    whole = post(endpoint, "/completion", **body)
    assert whole["stop"] is True
    assert whole["tokens_predicted"] == whole["timings"]["predicted_n"] <= 24
    assert whole["tokens_evaluated"] == whole["timings"]["prompt_n"] + whole["timings"]["cache_n"]
    assert whole["stop_type"] in ("eos", "limit")
    assert whole["truncated"] is False
    assert whole["generation_settings"]["n_predict"] == 24
    *parts, last = streamed(endpoint, "/completion", **body)
    assert "".join(part["content"] for part in parts) == whole["content"] != ""
    assert not any(part["stop"] for part in parts)
    ignored = ("timings", "paceline")
    told = whole | {"content": "", "generation_settings": None}
    assert {
        k: v for k, v in (last | {"generation_settings": None}).items() if k not in ignored
    } == {k: v for k, v in told.items() if k not in ignored}
    stop = whole["content"][2:5]
    cut = post(endpoint, "/completion", **body, stop=[stop])
    assert (cut["stop_type"], cut["stopping_word"]) == ("word", stop)
    assert cut["content"] == whole["content"][: whole["content"].index(stop)]


@pytest.mark.parametrize("path", ["/completion", "/v1/chat/completions"])
def test_a_stream_reports_the_progress_of_the_prompt_on_request(path: str) -> None:
    content = {"prompt": "A list"} if path == "/completion" else {"messages": HELLO}
    said = [PrefillProgressed(22, 30), PrefillProgressed(30, 30), "A ", "reply.", end()]
    with said_by(said) as endpoint:
        quiet = streamed(endpoint, path, **content)
        told = streamed(endpoint, path, **content, return_progress=True)
    assert not any("prompt_progress" in each for each in quiet)
    found = [each["prompt_progress"] for each in told if "prompt_progress" in each]
    times = [each.pop("time_ms") for each in found]
    assert found == [{"total": 30, "cache": 10, "processed": n} for n in (10, 22, 30)]
    assert times == sorted(times)
    assert times[0] >= 0


def test_a_client_chooses_the_fields_of_a_response(endpoint: Endpoint) -> None:
    fields = ["content", "timings/predicted_n", "never/there"]
    body: dict[str, Any] = {"prompt": "A list is", "n_predict": 4, "response_fields": fields}
    assert post(endpoint, "/completion", **body).keys() == {"content", "timings/predicted_n"}
    assert streamed(endpoint, "/completion", **body)[-1].keys() == {
        "content",
        "timings/predicted_n",
    }


def test_likelihoods_are_those_of_the_other_form(endpoint: Endpoint) -> None:
    own = post(endpoint, "/completion", prompt="A list is", n_predict=6, n_probs=3)
    other = post(endpoint, "/v1/completions", prompt="A list is", max_tokens=6, logprobs=3)
    logprobs = other["choices"][0]["logprobs"]
    told = own["completion_probabilities"]
    assert [each["token"] for each in told] == logprobs["tokens"]
    assert [each["logprob"] for each in told] == pytest.approx(logprobs["token_logprobs"], abs=1e-3)
    assert [each["top_logprobs"][0]["id"] for each in told] == [each["id"] for each in told]
    assert all(len(each["top_logprobs"]) == 3 for each in told)


def test_a_prompt_may_be_read_ahead(endpoint: Endpoint) -> None:
    prompt = "Numbers: " + ", ".join(map(str, range(60)))
    ahead = post(endpoint, "/completion", prompt=prompt, n_predict=0)
    assert (ahead["content"], ahead["tokens_predicted"]) == ("", 0)
    assert [each["content"] for each in streamed(
        endpoint, "/completion", prompt=prompt, n_predict=0
    )] == [""]  # fmt: skip
    reply = post(endpoint, "/completion", prompt=prompt, n_predict=4)
    assert reply["timings"]["cache_n"] >= reply["tokens_evaluated"] - 1


# --------------------------------------------------------------------------------------------- gaps


@pytest.fixture(scope="module")
def coder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Random weights with marks for gaps and files, as Qwen2.5 Coder has them."""
    folder: Path = tmp_path_factory.mktemp("coder")
    vocabulary, file = folder / "vocabulary.gguf", folder / "random.gguf"
    with vocabulary.open("wb") as out:
        extra = (*INFILL, "<|repo_name|>", "<|file_sep|>")
        sentencepiece(blank=True, extra=extra).write(out)
    with file.open("wb") as out:
        random_model(vocabulary, n_layers=1).write(out)
    target = ModelParams(str(file), n_ctx=256, n_threads=1, n_threads_batch=1, n_gpu_layers=0)
    with running(LoadPair(target)) as endpoint:
        yield endpoint


def test_a_gap_is_filled_in(coder: Endpoint) -> None:
    filled = post(coder, "/infill", **GAP)
    assert filled["content"]
    suffix = post(
        coder, "/v1/completions", prompt="hello the", suffix="world", max_tokens=8, **LETTERS
    )
    assert suffix["usage"]["prompt_tokens"] == filled["tokens_evaluated"]
    assert suffix["choices"][0]["text"] == filled["content"]
    split = post(coder, "/infill", **GAP | {"input_prefix": "hello ", "prompt": "the"})
    assert split["content"] == filled["content"]
    assert (
        "".join(part["content"] for part in streamed(coder, "/infill", **GAP))
        == (filled["content"])
    )


def test_other_files_stand_before_it(coder: Endpoint) -> None:
    alone = post(coder, "/infill", **GAP)
    extra = [{"filename": "a", "text": "hello"}, {"filename": "b", "text": "world"}]
    filled = post(coder, "/infill", **GAP, input_extra=extra)
    assert filled["tokens_evaluated"] > alone["tokens_evaluated"] + 10
    assert filled["truncated"] is False
    assert filled["paceline"]["warnings"] == []
    ahead = post(coder, "/infill", input_extra=extra, n_predict=0)
    again = post(coder, "/infill", **GAP, input_extra=extra)
    assert again["content"] == filled["content"]
    assert ahead["tokens_evaluated"] < again["tokens_evaluated"]


def test_files_that_do_not_fit_are_left_out_and_reported(coder: Endpoint) -> None:
    extra = [{"filename": "a", "text": "hello the world " * 40}, {"filename": "b", "text": "the"}]
    filled = post(coder, "/infill", **GAP, input_extra=extra)
    kept = post(coder, "/infill", **GAP, input_extra=extra[1:])
    assert filled["truncated"] is True
    assert filled["content"] == kept["content"]
    assert filled["tokens_evaluated"] == kept["tokens_evaluated"]
    assert filled["paceline"]["warnings"] == [
        "1 of the texts in input_extra did not fit into the context and was left out."
    ]
    long = GAP | {"input_prefix": "hello the world " * 100}
    assert refusal(coder, "/infill", **long)["code"] == "context_length_exceeded"


def test_a_model_that_fills_in_no_gaps_says_so(endpoint: Endpoint) -> None:
    error = refusal(endpoint, "/infill", **GAP)
    assert error["code"] == "no_infill"
    assert "cannot fill in a gap" in error["message"]


# ------------------------------------------------------------------------------- stored states


def test_programs_share_what_was_read(demo_load: LoadPair) -> None:
    """Another API asks for the same text after a third program has used the context."""
    text = "It was a dark and stormy night. " * 40
    options: dict[str, Any] = {"max_tokens": 1, "n_predict": 1}
    with running(structs.replace(demo_load, states=StateStorage())) as kept:
        first = post(kept, "/completion", prompt=text, **options)["timings"]
        post(kept, "/completion", prompt="Quite another text", **options)
        again = post(kept, "/v1/completions", prompt=text, **options)["usage"]
    assert first["cache_n"] == 0
    details = again["prompt_tokens_details"]
    assert details["cached_tokens"] == first["prompt_n"] - 1
