"""``/metrics``: its format, and that it counts what replies say of themselves."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.messages import LoadPair
    from paceline.server.endpoint import Endpoint

KEY = {"authorization": "Bearer secret"}
HELLO = [{"role": "user", "content": "What is a list?"}]
_SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?[0-9.e+-]+)')


@pytest.fixture(scope="module")
def endpoint(demo_load: LoadPair) -> Iterator[Endpoint]:
    with running(demo_load, key="secret") as endpoint:
        yield endpoint


def read(endpoint: Endpoint) -> dict[tuple[str, str], float]:
    """The figures by name and labels; fails where a line is not as the format says."""
    reply = httpx2.get(f"{endpoint.url}/metrics", headers=KEY)
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert reply.text.endswith("\n")
    found: dict[tuple[str, str], float] = {}
    name = kind = ""
    names = []
    for line in reply.text.splitlines():
        if line.startswith("# HELP "):
            name, words = line.removeprefix("# HELP ").split(" ", 1)
            assert words.strip()
            names.append(name)
            kind = ""
        elif line.startswith("# TYPE "):
            typed, kind = line.removeprefix("# TYPE ").split(" ")
            assert typed == name
            assert kind == ("counter" if name.endswith("_total") else "gauge")
        else:
            sample = _SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == name
            assert kind
            assert (name, sample[2] or "") not in found
            found[name, sample[2] or ""] = float(sample[3])
    assert len(names) == len(set(names))
    assert all(each.startswith("paceline_") for each in names)
    return found


def ask(endpoint: Endpoint, **fields: Any) -> dict[str, Any]:
    body = {"messages": HELLO, "max_tokens": 40} | fields
    reply = httpx2.post(f"{endpoint.url}/v1/chat/completions", json=body, headers=KEY, timeout=60)
    told: dict[str, Any] = reply.json()
    return told


def test_it_counts_what_replies_tell(endpoint: Endpoint) -> None:
    before = read(endpoint)
    strategies = ["off", "draft:n_max=4:p_min=0", "suffix+draft:min_match=1:draft.p_min=0"]
    replies = [ask(endpoint, paceline={"strategy": each}) for each in strategies]
    after = read(endpoint)
    gained = Counter({key: value - before.get(key, 0) for key, value in after.items()})

    def gain(name: str, labels: str = "") -> float:
        return gained[f"paceline_{name}", labels]

    timings = [reply["timings"] for reply in replies]
    assert gain("tokens_predicted_total") == sum(t["predicted_n"] for t in timings)
    assert gain("prompt_tokens_total") == sum(t["prompt_n"] for t in timings)
    assert gain("prompt_tokens_reused_total") == sum(t["cache_n"] for t in timings) > 0
    assert gain("tokens_predicted_seconds_total") == pytest.approx(
        sum(t["predicted_ms"] for t in timings) / 1000, rel=0.05
    )
    assert gain("requests_total", 'route="/v1/chat/completions",status="finished"') == 3
    for drafter in ("draft", "suffix"):
        own = [
            each for reply in replies for each in reply["paceline"]["by_drafter"]
            if each["drafter"] == drafter
        ]  # fmt: skip
        places: Counter[int] = Counter()
        for each in own:
            places.update(dict(enumerate(each["accepted_per_position"])))
        of_drafter = {
            (name, int(labels.rpartition("=")[2].strip('"'))): value
            for (name, labels), value in gained.items()
            if f'drafter="{drafter}"' in labels
        }
        accepted = {place: n for (name, place), n in of_drafter.items() if "accepted" in name and n}
        assert accepted == {place + 1: n for place, n in places.items() if n}
        drafted = {place: n for (name, place), n in of_drafter.items() if "drafted" in name}
        assert sum(drafted.values()) == sum(each["tokens"] for each in own) > 0
        assert all(n <= drafted[place] for place, n in accepted.items())
    last = replies[-1]
    assert after["paceline_predicted_tokens_seconds", ""] == last["timings"]["predicted_per_second"]
    assert after["paceline_plain_tokens_seconds", ""] == last["paceline"]["plain_tokens_per_s"]
    assert after["paceline_requests_processing", ""] == 0
    assert after["paceline_requests_deferred", ""] == 0


def test_it_counts_what_failed(endpoint: Endpoint) -> None:
    ask(endpoint, messages=[{"role": "user", "content": "Hello " * 4000}])
    labels = 'route="/v1/chat/completions",status="context_length_exceeded"'
    assert read(endpoint)["paceline_requests_total", labels] == 1


def test_it_needs_the_key(endpoint: Endpoint) -> None:
    assert httpx2.get(f"{endpoint.url}/metrics").status_code == 401
    assert httpx2.get(f"{endpoint.url}/health").status_code == 200
