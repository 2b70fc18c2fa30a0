"""Why a request was read again, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
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


def test_a_program_is_not_told_what_another_one_has_sent(endpoint: Endpoint) -> None:
    ask(endpoint, "secret", "one/1.0")
    assert ask(endpoint, "word", "two/1.0")["paceline"]["reread"] is None
