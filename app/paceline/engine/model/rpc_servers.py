"""RPC servers of llama.cpp, which lend the devices of their machine: queried over a plain socket.

llama.cpp ends the process if a server does not answer, is busy or uses another protocol. So each
server is queried first, by the three cheap questions of its protocol
(ggml/src/ggml-rpc/ggml-rpc.cpp), without native code.

A server serves one program at a time. Only the engine's process connects with llama.cpp, for a
load; all others use this module.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import struct
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psutil
from msgspec import structs

from paceline.errors import ModelError, ValueOutOfRangeError
from paceline.figures import DeviceInfo, ServerProblem
from paceline.sentence import Sentence, sentence

PORT = 50052
"""Default port of llama.cpp's server."""
PROTOCOL = 7, 0
"""Major and minor version that this llama.cpp speaks (RPC_PROTO_MAJOR_VERSION)."""
ASK_S = 2.0
NAME_S = 5.0
"""Maximum seconds for resolving the address of a computer."""
_HELLO, _DEVICE_COUNT, _DEVICE_MEMORY = 14, 15, 11  # enum rpc_cmd
_CAPABILITIES = 24
_MAX_DEVICES = 64
_MAX_PORT = 65535
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Pattern of a host name; it is also used in command lines."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """A server's answer to the question for its devices.

    Attributes:
        server: Its HOST:PORT as given.
        address: Its IPv4 address; empty if it has none.
        memory: Total and free bytes of each device.
        problem: Reason why llama.cpp must not connect to it, or None if it may.
    """

    server: str
    address: str = ""
    memory: tuple[tuple[int, int], ...] = ()
    problem: ServerProblem | None = None


class RpcServerError(ModelError):
    """A server that is needed for a load cannot be used.

    Attributes:
        problems: Problems of all unusable servers, at least one.
    """

    def __init__(self, problems: Sequence[ServerProblem]) -> None:
        first = problems[0]
        super().__init__("rpc-server", first.message, first.hint)
        self.problems = tuple(problems)


def read_server(text: str) -> str:
    """Return HOST:PORT, with the default port if none is given.

    Raises:
        ValueOutOfRangeError: It is invalid; llama.cpp supports only IPv4.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon:
        host, port = port, str(PORT)
    is_number = port.isascii() and port.isdecimal() and 0 < int(port) <= _MAX_PORT
    if not is_number or not _HOST.fullmatch(host):
        raise ValueOutOfRangeError(
            "value-out-of-range",
            "“{text}” is no address of an RPC server.",
            "Give the computer's name or IPv4 address and the port, such as 192.168.1.5:{port}.",
            text=text,
            port=PORT,
        )
    return f"{host}:{int(port)}"


def ask_servers(servers: Sequence[str], seconds: float = ASK_S) -> list[ServerAnswer]:
    """Ask several servers at once; the answers are in order, see `ask_server`.

    A server that is given under two names, such as localhost and 127.0.0.1, may be used only by the
    first: llama.cpp would connect to it twice, and wait forever for the second answer.
    """
    if not servers:
        return []
    with ThreadPoolExecutor(len(servers), thread_name_prefix="rpc") as pool:
        answers = list(pool.map(lambda server: ask_server(server, seconds), servers))
    first: dict[tuple[str, str], str] = {}
    for i, answer in enumerate(answers):
        if answer.problem is None:
            place = answer.address, answer.server.rpartition(":")[2]
            if place in first:
                problem = _problem(answer.server, "same", first[place])
                answers[i] = ServerAnswer(answer.server, answer.address, problem=problem)
            first.setdefault(place, answer.server)
    return answers


def ask_server(server: str, seconds: float = ASK_S) -> ServerAnswer:
    """Ask a server for its devices, within `seconds` after its name is resolved. Any thread."""
    host, _, port = server.rpartition(":")
    address = _address(host)
    if not address:
        return ServerAnswer(server, problem=_problem(server, "name"))
    try:
        with _Line(address, int(port), seconds) as line:
            reply = line.ask(_HELLO, bytes(_CAPABILITIES), 4 + _CAPABILITIES)
            major, minor = reply[0], reply[1]
            if major != PROTOCOL[0] or minor > PROTOCOL[1]:
                return ServerAnswer(server, address, problem=_problem(server, "version"))
            (n,) = struct.unpack("<I", line.ask(_DEVICE_COUNT, b"", 4))
            if not 0 < n <= _MAX_DEVICES:
                return ServerAnswer(server, address, problem=_problem(server, "protocol"))
            memory = []
            for i in range(n):
                free, total = struct.unpack(
                    "<QQ", line.ask(_DEVICE_MEMORY, struct.pack("<I", i), 16)
                )
                memory.append((total, free))
            return ServerAnswer(server, address, tuple(memory))
    except ConnectionRefusedError:
        return ServerAnswer(server, address, problem=_problem(server, "refused"))
    except _SilentError:
        return ServerAnswer(server, address, problem=_problem(server, "silent"))
    except _OtherProtocolError:
        return ServerAnswer(server, address, problem=_problem(server, "protocol"))
    except OSError:
        return ServerAnswer(server, address, problem=_problem(server, "unreachable"))


def _address(host: str) -> str:
    """Return a computer's IPv4 address, or empty if it is not resolved within `NAME_S`.

    Resolving a name cannot be interrupted, so its thread is abandoned.
    """
    found: list[str] = []

    def find() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            first, *_ = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
            found.append(str(first[4][0]))

    finder = threading.Thread(target=find, name="rpc-name", daemon=True)
    finder.start()
    finder.join(NAME_S)
    return found[0] if found else ""


class _SilentError(Exception):
    """The server did not answer in time."""


class _OtherProtocolError(Exception):
    """An answer that no RPC server gives."""


class _Line:
    """A connection that is closed after some seconds, however slowly the other end answers."""

    def __init__(self, address: str, port: int, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._socket = socket.create_connection((address, port), seconds)

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, command: int, question: bytes, n_expected: int) -> bytes:
        """Return the answer to a question, which has `n_expected` bytes."""
        try:
            self._socket.sendall(struct.pack("<BQ", command, len(question)) + question)
            (n,) = struct.unpack("<Q", self._read(8))
            if n != n_expected:
                raise _OtherProtocolError
            return self._read(n)
        except TimeoutError:
            raise _SilentError from None
        except ConnectionError:
            raise _OtherProtocolError from None  # it closed on an unknown command

    def _read(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            self._socket.settimeout(max(self._until - time.monotonic(), 0.001))
            more = self._socket.recv(n - len(data))
            if not more:
                raise _OtherProtocolError
            data += more
        return data


def fewer_devices(server: str) -> ServerProblem:
    """Return the problem of a server that was restarted with fewer devices."""
    return _problem(server, "fewer")


def _problem(server: str, code: str, other: str = "") -> ServerProblem:
    message, hint = _PROBLEMS[code]
    arguments = {"server": server, "host": server.rpartition(":")[0], "other": other}
    return ServerProblem(server, Sentence(message, arguments), Sentence(hint, arguments))


_START = sentence(
    "Start it there by `paceline rpc-server`, which says at which address it listens; or leave "
    "this server out."
)
_PROBLEMS = {
    "name": (
        sentence("The computer “{host}” with the RPC server {server} is not found."),
        sentence("Check the name, or give its IPv4 address."),
    ),
    "refused": (sentence("No RPC server listens at {server}."), _START),
    "unreachable": (
        sentence("The computer with the RPC server {server} cannot be reached."),
        sentence("Check that it is switched on and in this network; or leave this server out."),
    ),
    "silent": (
        sentence("The RPC server {server} does not answer."),
        sentence(
            "It serves one program at a time: close the one that uses it, or look whether it still "
            "runs; or leave this server out."
        ),
    ),
    "protocol": (
        sentence(
            "What listens at {server} does not speak the protocol of llama.cpp's RPC servers."
        ),
        _START,
    ),
    "version": (
        sentence("The RPC server {server} is of another version of llama.cpp."),
        sentence("Install the same version of Paceline there; or leave this server out."),
    ),
    "same": (
        sentence("{server} and {other} are the same RPC server."),
        sentence("Name each server once."),
    ),
    "fewer": (
        sentence("The RPC server {server} has fewer devices now than it said before."),
        sentence("Try again."),
    ),
}


# ------------------------------------------------------------------------------------------ devices


def rpc_devices(server: str, memory: Iterable[tuple[int, int]], n_before: int) -> list[DeviceInfo]:
    """Return a server's devices, which are named RPC0, RPC1 and so on across all servers.

    Args:
        server: Its HOST:PORT.
        memory: Total and free bytes of each device.
        n_before: Number of devices of the servers before it.
    """
    return [
        DeviceInfo(f"RPC{n_before + i}", server, "rpc", total, free, server=server)
        for i, (total, free) in enumerate(memory)
    ]


def with_shared_memory(
    devices: Sequence[DeviceInfo], addresses: dict[str, str]
) -> list[DeviceInfo]:
    """Return the devices, each with the name of the one whose memory it shares.

    An integrated GPU shares the processor's. A server reports nothing of its machine but memory: on
    loopback a device with as much memory as this machine is this machine's processor; devices of
    several servers at one address with the same size are considered the same one, since a plan that
    counts too little memory is the lesser fault.

    Args:
        devices: All devices.
        addresses: IPv4 addresses by server.
    """
    main = next((each for each in devices if each.kind == "cpu"), None)
    here = _own_addresses()
    seen: dict[tuple[str, int], DeviceInfo] = {}
    told = []
    for device in devices:
        shares, free = device.shares, device.free_bytes
        address = addresses.get(device.server, "")
        if main is not None and _is_in_main_memory(device, main):
            shares, free = main.name, min(free, main.free_bytes)
        elif device.kind == "rpc":
            is_here = address in here or is_loopback(address)
            if main is not None and is_here and device.total_bytes == main.total_bytes:
                shares, free = main.name, min(free, main.free_bytes)
            else:
                first = seen.setdefault((address, device.total_bytes), device)
                shares = first.name if first.server != device.server else ""
        told.append(structs.replace(device, shares=shares, free_bytes=free))
    return told


def _is_in_main_memory(device: DeviceInfo, main: DeviceInfo) -> bool:
    """Return whether a device is a GPU without memory of its own.

    A software driver reports a discrete card, and so does Metal for Apple's chips.
    """
    if device.kind != "gpu" or device.shares:
        return device.kind == "igpu"
    return device.total_bytes == main.total_bytes > 0 or device.description.startswith("Apple ")


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this computer's own, unreachable for others."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_addresses() -> set[str]:
    cards = psutil.net_if_addrs().values()
    return {each.address for card in cards for each in card if each.family == socket.AF_INET}
