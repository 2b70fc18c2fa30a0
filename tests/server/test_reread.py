"""The reason why tokens of a request were read again, as reported over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paceline.content import Chat, ChatMessage, Text
from paceline.engine.prompt.difference import Sent, difference
from paceline.errors import ValueOutOfRangeError
from paceline.server.unchanged import UnchangedLines, check_expression
from server.rig import GREEDY, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.messages import LoadPair
    from paceline.server.endpoint import Endpoint

REST = " ".join(f"Rule {i} is good." for i in range(40))


def ask(endpoint: Endpoint, line: str, program: str = "agent/1.0", **fields: object) -> Any:
    """Return the answer to a question after a system prompt whose second line is this one."""
    system = f"You help.\n{line}\n{REST}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Hi"}]
    answer = httpx2.post(
        f"{endpoint.url}/v1/chat/completions",
        json={"messages": messages, "max_tokens": 2, **fields},
        headers={"user-agent": program},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_response_says_why_it_was_read_again(endpoint: Endpoint) -> None:
    first = ask(endpoint, "x-billing: cch=1a2b;")
    again = ask(endpoint, "x-billing: cch=9f8e;")["paceline"]
    assert first["paceline"]["reread"] is None
    assert again["n_reused"] + again["n_read"] == first["usage"]["prompt_tokens"]
    assert again["reread"].endswith(
        "tokens were read again, since line 2 of the system prompt changed: “cch=1a2b;” to "
        "“cch=9f8e;”."
    )


def test_a_program_does_not_learn_what_another_one_has_sent(endpoint: Endpoint) -> None:
    ask(endpoint, "secret", "one/1.0")
    assert ask(endpoint, "word", "two/1.0")["paceline"]["reread"] is None


# ------------------------------------------------------------------------- changes that are ignored


@pytest.fixture(scope="module")
def ignoring(demo_load: LoadPair) -> Iterator[Endpoint]:
    with running(demo_load, defaults=replace(GREEDY, ignored=("^x-billing: ",))) as endpoint:
        yield endpoint


def test_with_an_expression_the_next_request_reuses_everything(ignoring: Endpoint) -> None:
    first = ask(ignoring, "x-billing: cch=1a2b;")
    again = ask(ignoring, "x-billing: cch=9f8e;")
    assert again["usage"]["prompt_tokens"] == first["usage"]["prompt_tokens"]
    assert again["choices"] == first["choices"]
    assert again["paceline"]["n_read"] == 1
    assert again["paceline"]["reread"] is None
    assert again["paceline"]["warnings"] == [
        "Line 2 of the system prompt was taken as unchanged: the model was given “x-billing: "
        "cch=1a2b;”."
    ]


def test_the_run_says_what_the_model_was_given(ignoring: Endpoint) -> None:
    ask(ignoring, "x-billing: 1", "run/1.0")
    ask(ignoring, "x-billing: 2", "run/1.0")
    assert "“x-billing: 1”" in ignoring.journal.entries[-1].reply.notes[0]


def test_claude_code_reuses_what_comes_after_its_first_line(ignoring: Endpoint) -> None:
    """Its first block is a line of its own, in Anthropic's form."""

    def say(nonce: str) -> Any:
        answer = httpx2.post(
            f"{ignoring.url}/v1/messages",
            json={
                "max_tokens": 2,
                "system": [
                    {"type": "text", "text": f"x-billing: cc_version=2.1; cch={nonce};"},
                    {"type": "text", "text": REST},
                ],
                "messages": [{"role": "user", "content": "Hi"}],
            },
            headers={"user-agent": "claude-cli/2.1.3 (external, cli)"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["paceline"]

    first, again = say("1a2b"), say("9f8e")
    assert (again["n_reused"], again["n_read"]) == (first["n_reused"] + first["n_read"] - 1, 1)


def test_several_replies_to_one_prompt_count_it_once(ignoring: Endpoint) -> None:
    one = ask(ignoring, "x-billing: 3", "several/1.0")
    three = ask(ignoring, "x-billing: 4", "several/1.0", n=3)
    assert three["usage"]["prompt_tokens"] == one["usage"]["prompt_tokens"]


def chat(*systems: str) -> Chat:
    said = [ChatMessage.of_text("system", text) for text in systems]
    return Chat((*said, ChatMessage.of_text("user", "date 5")))


@pytest.mark.parametrize(
    ("first", "second", "given"),
    [
        (["date 1"], ["date 2"], ["date 1"]),
        (["date 1\ndate 2"], ["date 3\ndate 4"], ["date 1\ndate 2"]),  # by their order
        (["date 1\nrest"], ["rest\ndate 4"], ["rest\ndate 1"]),  # wherever they stand
        (["date 1", "date 2"], ["date 3", "date 4"], ["date 1", "date 2"]),
        (["date 1"], ["date 3\ndate 4"], ["date 1\ndate 4"]),
        (["update"], ["date 3"], ["date 3"]),
        (["time 1\ndate 1"], ["time 2\ndate 2"], ["time 1\ndate 1"]),
    ],
)
def test_first_lines_take_the_place_of_later_ones(
    first: list[str], second: list[str], given: list[str]
) -> None:
    lines, expressions = UnchangedLines(), (r"^date \d", "^time")
    lines.put(chat(*first), expressions, "one")
    assert lines.put(chat(*second), expressions, "one")[0] == chat(*given)
    assert lines.put(chat(*second), expressions, "two")[0] == chat(*second)


def test_parts_of_a_system_prompt_count_their_lines_together() -> None:
    lines = UnchangedLines()

    def put(line: str) -> tuple[str, ...]:
        content = (Text("One\nTwo"), Text(line))
        return lines.put(Chat((ChatMessage("system", content),)), ("date",), "one")[1]

    assert put("date 1") == ()
    assert put("date 2") == (
        "Line 4 of the system prompt was taken as unchanged: the model was given “date 1”.",
    )


def test_an_expression_that_takes_too_long_is_reported_once_and_left_out() -> None:
    evil = r"(a|aa|aaa|b?)+$"
    line = "a" * 5_000 + "!"
    prompt, remarks = UnchangedLines().put(chat(f"{line}\n{line}\ndate 1"), (evil,), "one")
    assert prompt == chat(f"{line}\n{line}\ndate 1")
    assert [remark for remark in remarks if evil in remark] == list(remarks)
    assert len(remarks) == 1


def test_the_time_of_an_expression_is_that_of_all_lines_together() -> None:
    slow = "b.*b.*c"
    asked = chat("\n".join(["b" * 60] * 20_000))  # each takes a part of a millisecond
    prompt, remarks = UnchangedLines().put(asked, (slow,), "one")
    assert prompt == asked
    assert [remark for remark in remarks if slow in remark] == list(remarks)
    assert len(remarks) == 1


@pytest.mark.parametrize("wrong", ["(", "[a", ".*", "", "x" * 1_001])
def test_an_expression_that_cannot_be_is_refused(wrong: str) -> None:
    with pytest.raises(ValueOutOfRangeError):
        check_expression(wrong)
    prompt, remarks = UnchangedLines().put(chat("date 1"), (wrong,), "one")
    assert (prompt, len(remarks)) == (chat("date 1"), 1)


def test_what_a_reason_offers_can_be_read() -> None:
    lines = (f"x-billing-header: (cch={n}) #a;" for n in ("1a", "2b"))
    found = difference(*(Sent(chat(line)) for line in lines))
    assert found is not None
    assert found.pattern == r"^x-billing-header: \(cch=.*\) #a;$"


@given(st.text(max_size=30), st.text(max_size=30))
@example(r"some\^$.|?*+(){}[]{e}-#&~ 1 \d", r"some\^$.|?*+(){}[]{e}-#&~ 2 \d")
def test_what_a_reason_offers_finds_both_lines(was: str, now: str) -> None:
    was, now = (" ".join(text.split("\n")) for text in (was, now))
    found = difference(Sent(chat(f"One\n{was}")), Sent(chat(f"One\n{now}")))
    if found is None or not found.pattern:
        return
    lines = UnchangedLines()
    lines.put(chat(f"One\n{was}"), (found.pattern,), "one")
    assert lines.put(chat(f"One\n{now}"), (found.pattern,), "one")[0] == chat(f"One\n{was}")
