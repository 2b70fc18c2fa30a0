"""`paceline serve` as a program of its own: ready, keys, ports, ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx2
import psutil
import pytest

from cli.program import paceline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELLO = [{"role": "user", "content": "What is a list?"}]
SMALL = ("--threads", "1", "--threads-draft", "1", "--ctx", "2048")


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command; give the process, and where it listens."""
    command = [sys.executable, "-m", "paceline", "serve", "--port", "0", "--json", *SMALL, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            assert ready["event"] == "listening"
            assert ready["model"] == "paceline-demo-target-q8_0"
            yield process, ready["url"]
        finally:
            process.kill()


def refusal(*options: str) -> tuple[int, str]:
    """Return the exit code and the error of a command line that is refused."""
    result = paceline("serve", *options)
    assert not result.out
    return result.code, result.err


def ask(url: str, **fields: Any) -> httpx2.Response:
    body = {"messages": HELLO, "max_tokens": 5} | fields
    return httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=60)


@pytest.mark.parametrize(("options", "is_kept"), [((), True), (("--state-cache", "off"), False)])
def test_what_is_read_is_kept_unless_that_is_off(
    paceline_home: Path, options: tuple[str, ...], *, is_kept: bool
) -> None:
    long = [{"role": "user", "content": "red green blue black " * 270}]
    with served(*options) as (process, url):
        for messages in (long, HELLO):  # the first is kept at the latest when the second comes
            assert ask(url, messages=messages).status_code == 200
        again = ask(url, messages=long).json()["timings"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert (again["cache_n"] > 1000) is is_kept
    assert is_kept or not (paceline_home / "cache" / "states").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_on_request(number: signal.Signals, code: int) -> None:
    with served() as (process, url):
        assert ask(url).status_code == 200
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        assert process.wait(20) == code
        # The free port may be another program's at once, so that it is not asked again.
        assert not psutil.wait_procs(children, 10)[1], "one that is left may listen on"


def test_the_reply_under_way_is_completed() -> None:
    with served() as (process, url):
        replies: list[httpx2.Response] = []

        def wait_behind() -> None:
            with suppress(httpx2.ConnectError):  # the port may be closed by then
                replies.append(ask(url, max_tokens=400, ignore_eos=True))

        thread = threading.Thread(target=wait_behind)
        body = {"messages": HELLO, "max_tokens": 300, "ignore_eos": True, "stream": True}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=60) as stream:
            lines = stream.iter_lines()
            next(lines)
            thread.start()  # waits in the queue, and is told that the server ends
            process.send_signal(signal.SIGTERM)
            assert [line for line in lines if line][-1] == "data: [DONE]"
        assert process.wait(20) == 0
        thread.join(20)
        assert [each.status_code for each in replies] in ([], [503])


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refusal("--port", str(port))
    assert code == 1
    assert len(said.splitlines()) == 1
    assert f"Port {port} is in use" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--host", "0.0.0.0"), "a key is needed"),
        (("--api-key", " "), "holds no key"),
        (("--api-key", "a", "--api-key-file", "b"), "not allowed with"),
        (("--allow-origin", "*"), "page's address"),
        (("--allow-origin", "null"), "page's address"),
        (("--allow-origin", "http://localhost:3000/"), "page's address"),
        (("--ignore-changes", "("), "is no regular expression"),
        (("--ignore-changes", ".*"), "finds every line"),
        (("--strategy", "magic"), "magic"),
        (("--port", "70000"), "70000"),
        (("--temperature", "-1"), "--temperature is -1"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], words: str) -> None:
    code, said = refusal(*options)
    assert (code, words in said) == (2, True), said


def test_a_key_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("secret-1\n")
    with served("--api-key-file", str(file)) as (_, url):
        assert httpx2.get(f"{url}/health").status_code == 200
        assert httpx2.get(f"{url}/v1/models").status_code == 401
        for headers in ({"authorization": "Bearer secret-1"}, {"x-api-key": "secret-1"}):
            assert httpx2.get(f"{url}/v1/models", headers=headers).status_code == 200


def test_no_word_of_a_prompt_is_in_the_log_or_on_stderr(
    paceline_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    word = "zebraquokka"
    with served() as (process, url):
        for fields in (
            {"messages": [{"role": "user", "content": word}]},
            {"messages": [{"role": "user", "content": word * 2_000}]},
            {"stop": word, "temperature": word},
            {"grammar": f"root ::= {word}"},
            {"paceline": {"strategy": word}},
            {word: 1},
        ):
            assert ask(url, **fields).status_code in (200, 400)
        httpx2.post(f"{url}/{word}", content=word, headers={"host": word})
        for child in psutil.Process(process.pid).children():
            child.kill()  # that is logged
        assert ask(url).status_code in (200, 500)
        assert ask(url).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    logs = [file.read_text(encoding="utf-8") for file in paceline_home.rglob("*.log")]
    assert logs
    assert word not in "".join([*logs, *capfd.readouterr()])


def test_other_models_are_loaded_on_request(paceline_home: Path) -> None:
    """The demo pair's draft model is another installed model; each reply names its own."""
    target, small = "paceline-demo-target-q8_0", "paceline-demo-draft-q8_0"
    folder = paceline_home / "data" / "models"
    folder.mkdir(parents=True)
    (folder / "broken.gguf").write_bytes(b"GGUF is what it says")
    with served("--load-on-request") as (process, url):
        data = httpx2.get(f"{url}/v1/models", timeout=60).json()["data"]
        names = {each["id"] for each in data}
        assert names >= {target, small}
        assert "broken" not in names
        assert ask(url).json()["model"] == target
        with ThreadPoolExecutor(6) as pool:
            asked = [small, target, small, small, target, small]
            replies = [pool.submit(ask, url, model=name) for name in asked]
            models = [each.result().json()["model"] for each in replies]
        assert models == asked
        unknown = ask(url, model="gpt-5")
        assert unknown.status_code == 404
        assert small in unknown.json()["error"]["message"]
        assert str(folder) not in unknown.text
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
