"""RPC servers asked over a plain socket: real ones, and each kind that cannot be used."""

from __future__ import annotations

import socket
import threading

import psutil
import pytest

from paceline.engine.model.rpc_servers import (
    PROTOCOL,
    ask_server,
    ask_servers,
    read_server,
    rpc_devices,
    with_shared_memory,
)
from paceline.errors import ValueOutOfRangeError
from paceline.figures import DeviceInfo
from rpc_servers import UNUSABLE, VERSION, rpc_servers

GIB = 2**30
CPU = DeviceInfo("CPU", "a processor", "cpu", 64 * GIB, 40 * GIB)


def test_real_servers_tell_their_devices_and_stay_usable() -> None:
    with rpc_servers(2) as servers:
        endpoints = [server.endpoint for server in servers]
        for _ in range(3):
            answers = ask_servers(endpoints)
            assert [answer.problem for answer in answers] == [None, None]
            assert [answer.server for answer in answers] == endpoints
            ((total, free),) = answers[0].memory
            assert total == psutil.virtual_memory().total >= free > 0
            assert answers[0].address == "127.0.0.1"


def test_the_version_is_that_of_the_real_server() -> None:
    assert VERSION[:2] == PROTOCOL


@pytest.mark.parametrize("kind", sorted(UNUSABLE))
def test_a_server_that_cannot_be_used_is_named(kind: str) -> None:
    with UNUSABLE[kind]() as endpoint:
        answer = ask_server(endpoint, 0.5)
    assert answer.problem is not None
    assert endpoint in answer.problem.message
    assert answer.problem.server == endpoint
    assert answer.problem.hint
    assert answer.memory == ()


def test_a_server_of_another_version_is_refused_before_it_is_asked_for_devices() -> None:
    with UNUSABLE["other-version"]() as endpoint:
        problem = ask_server(endpoint, 0.5).problem
    assert problem is not None
    assert problem.message == f"The RPC server {endpoint} is of another version of llama.cpp."


def test_a_server_under_two_names_is_used_by_the_first() -> None:
    with rpc_servers() as (server,):
        port = server.endpoint.rpartition(":")[2]
        by_name = f"localhost:{port}"
        first, second = ask_servers([by_name, server.endpoint])
    assert first.memory
    assert first.problem is None
    assert second.memory == ()
    assert second.problem is not None
    assert second.problem.server == server.endpoint
    assert second.problem.message == f"{server.endpoint} and {by_name} are the same RPC server."


def test_a_name_that_is_looked_for_without_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_over = threading.Event()

    def look(*_: object) -> None:
        is_over.wait()
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look)
    monkeypatch.setattr("paceline.engine.model.rpc_servers.NAME_S", 0.01)
    try:
        problem = ask_server("box:50052").problem
    finally:
        is_over.set()
    assert problem is not None
    assert problem.message == "The computer “box” with the RPC server box:50052 is not found."


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("192.168.1.5:1234", "192.168.1.5:1234"),
        (" box ", "box:50052"),
        ("box:050", "box:50"),
        ("my_box-2.lan:50", "my_box-2.lan:50"),
    ],
)
def test_addresses_are_read(text: str, server: str) -> None:
    assert read_server(text) == server


@pytest.mark.parametrize(
    "text",
    [
        *("", ":1", "box:", "box:0", "box:65536", "box:x", "[::1]:5", "a b:5", "u@b:5", "b:²"),
        *("-oProxyCommand=x:5", "-x:5", "b;x:5", "$(x):5", "bäx:5"),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueOutOfRangeError, match="no address"):
        read_server(text)


def remote(server: str, *gib: int, n_before: int = 0) -> list[DeviceInfo]:
    return rpc_devices(server, [(n * GIB, n * GIB) for n in gib], n_before)


def shared(*devices: DeviceInfo, **addresses: str) -> dict[str, tuple[str, int]]:
    by_server = {f"{name}:1": address for name, address in addresses.items()}
    told = with_shared_memory([CPU, *devices], by_server)
    return {each.name: (each.shares, each.free_bytes // GIB) for each in told[1:]}


def test_memory_of_one_machine_is_reported_once() -> None:
    assert shared(*remote("here:1", 64), here="127.0.0.1") == {"RPC0": ("CPU", 40)}
    assert shared(*remote("tunnel:1", 32), tunnel="127.0.0.1") == {"RPC0": ("", 32)}
    two = [*remote("a:1", 24, 24), *remote("b:1", 24, n_before=2)]
    assert shared(*two, a="10.0.0.5", b="10.0.0.5") == {
        "RPC0": ("", 24),
        "RPC1": ("", 24),
        "RPC2": ("RPC0", 24),
    }
    assert shared(*two, a="10.0.0.5", b="10.0.0.6")["RPC2"] == ("", 24)
    chip = DeviceInfo("Vulkan0", "a chip", "igpu", 64 * GIB, 50 * GIB)
    assert shared(chip)["Vulkan0"] == ("CPU", 40)
    in_software = DeviceInfo("Vulkan0", "llvmpipe", "gpu", 64 * GIB, 40 * GIB)
    assert shared(in_software)["Vulkan0"] == ("CPU", 40)
    by_metal = DeviceInfo("MTL0", "Apple M2 Pro", "gpu", 48 * GIB, 48 * GIB)
    assert shared(by_metal)["MTL0"] == ("CPU", 40)
    card = DeviceInfo("CUDA0", "a card", "gpu", 24 * GIB, 20 * GIB)
    assert shared(card)["CUDA0"] == ("", 20)
