"""`paceline rpc-server`: start, reported memory, refusals, ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from cli.program import COMMAND, TIMEOUT_S, assert_one_clear_line, paceline
from paceline.engine.facts import Facts
from paceline.engine.llama import devices
from paceline.engine.model.own_kernels import PROVED
from paceline.engine.model.rpc_servers import ask_server
from paceline.installation import kernel_files
from rpc_servers import client_of, rpc_servers

if TYPE_CHECKING:
    from pathlib import Path


def test_ready_is_a_line_of_json_and_the_only_one() -> None:
    """Native code prints a banner, and a line for each client that comes and goes."""
    with rpc_servers() as (server,):
        for _ in range(3):
            assert len(ask_server(server.endpoint).memory) == len(server.devices) == 1
        server.process.terminate()
        assert server.process.communicate(timeout=TIMEOUT_S)[0] == ""
        assert server.process.returncode == 0
    host, _, port = server.endpoint.partition(":")
    assert host == "127.0.0.1"
    assert int(port) > 0


def test_ready_is_a_line_for_people() -> None:
    with rpc_servers() as (server,):
        name, port = server.devices[0], server.endpoint.partition(":")[2]
    words = [*COMMAND, "rpc-server", "--port", port, "--device", name.lower(), "--host"]
    with subprocess.Popen([*words, "localhost"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"Lending {name} at {server.endpoint}\n"
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
@pytest.mark.parametrize("is_served", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_at_once_on_request(number: signal.Signals, code: int, *, is_served: bool) -> None:
    with rpc_servers() as (server,), ExitStack() as held:
        if is_served:
            held.enter_context(client_of(server.endpoint))
        server.process.send_signal(number)
        assert server.process.wait(TIMEOUT_S) == code


def test_an_invalid_client_does_not_end_it() -> None:
    with rpc_servers() as (server,):
        host, _, port = server.endpoint.partition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""
        assert ask_server(server.endpoint).memory


def test_free_memory_is_what_is_free() -> None:
    with rpc_servers(1, "--device", "CPU") as (server,):
        ((total, free),) = ask_server(server.endpoint).memory
    assert 0 < free < total == psutil.virtual_memory().total


def test_no_more_memory_is_reported_than_allowed() -> None:
    options = ("--device", "CPU", "--memory", "3MB")
    with rpc_servers(1, *options) as (server,):
        ((total, free),) = ask_server(server.endpoint).memory
    assert free == 3_000_000
    assert total == psutil.virtual_memory().total


def test_what_may_happen_is_said_where_others_can_reach_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with rpc_servers(1, "--host", "127.0.0.1"):
        pass
    assert capfd.readouterr().err == ""
    with rpc_servers(1, "--host", "0.0.0.0") as (server,):
        port = server.endpoint.removeprefix("0.0.0.0:")
    (line,) = capfd.readouterr().err.splitlines()
    assert "no key and no encryption" in line
    assert f"ssh -N -L {port}:127.0.0.1:{port}" in line


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--host", "::1"), 2, "IPv6"),
        (("--host", "no-such-name.invalid"), 1, "no-such-name.invalid"),
        (("--host", "192.0.2.1"), 1, "Nothing can listen at 192.0.2.1"),
        (("--host", ""), 2, "empty"),
        (("--port", "70000"), 2, "70000"),
        (("--device", "CPU,CUDA7"), 2, "There is no device “CUDA7”. Choose among CPU"),
        (("--device", ""), 2, "empty"),
        (("--device", "CPU,cpu"), 2, "CPU is named twice"),
        (("--memory", "much"), 2, "much"),
        (("--memory", "0"), 2, "no size"),
        (("--threads", "0"), 2, "--threads"),
    ],
)
def test_refusals(options: tuple[str, ...], code: int, words: str) -> None:
    result = paceline("rpc-server", "--port", "0", *options)
    assert_one_clear_line(result, words, code=code)
    assert result.out == ""


def test_a_refusal_as_json() -> None:
    result = paceline("rpc-server", "--json", "--host", "::1")
    assert (result.code, json.loads(result.out)["error"]["code"]) == (2, "no-ipv6")


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = paceline("rpc-server", "--port", str(port))
    assert_one_clear_line(result, f"Port {port} is in use", code=1)


@pytest.mark.skipif(kernel_files.find(None) is None, reason="own kernels are not built here")
def test_own_kernels_are_proved_before_they_are_used(paceline_home: Path) -> None:
    with rpc_servers(1, "--device", "CPU", "--kernels", "own"):
        facts = Facts(str(paceline_home / "cache"))
    assert PROVED in facts.below("kernel|").values()


def test_own_kernels_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda _cache: None)
    result = paceline("rpc-server", "--port", "0", "--device", "CPU", "--kernels", "own")
    assert_one_clear_line(result, "own CPU kernels cannot be used", code=1)


def test_a_build_without_rpc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "RPC", b"no such backend")
    result = paceline("rpc-server", "--port", "0")
    assert_one_clear_line(result, "has no RPC", code=1)
