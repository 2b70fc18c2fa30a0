"""`paceline rpc-server`: llama.cpp on other machines computes on this one's devices.

Ready is one line on stdout, with --json ``{"event": "listening", "endpoint", "devices"}``. SIGTERM
ends the server at once with exit code 0, Ctrl+C with 130.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NoReturn

import psutil

from paceline.cli import output
from paceline.cli.chat_run import json_line
from paceline.cli.model_options import add_kernels, read_kernels
from paceline.cli.usage import Parser, UsageError, plain_text, whole_number
from paceline.engine.model.rpc_servers import PORT, is_loopback
from paceline.errors import UserError
from paceline.paths import Paths
from paceline.server.port import bound
from paceline.sizes import read_size

if TYPE_CHECKING:
    from paceline.engine.llama.rpc_server import RpcServer

_POLL_S = 0.2
_FIRST_POLL_S = 0.005
_MAX_THREADS = 512


def add(parser: Parser) -> None:
    """Describe the command line of `paceline rpc-server`."""
    parser.description = """\
Lend this computer's devices to Paceline, or another program with llama.cpp, on
another computer, which puts layers of its models on them by --rpc HOST:PORT.
One client is served at a time.

There is no key and no encryption: all who reach the port can read prompts, and
crash or misuse the program. So it listens for this computer alone unless told
otherwise, and others reach it through ssh."""
    parser.epilog = f"""\
Example: paceline rpc-server
and on the other computer: ssh -N -L {PORT}:127.0.0.1:{PORT} THIS-COMPUTER
and there, as long as that runs: paceline chat --rpc 127.0.0.1:{PORT}"""
    parser.add_argument(
        "--host",
        type=plain_text,
        default="127.0.0.1",
        help="IPv4 address of this computer to listen at, or a name of it; other computers can "
        "reach any but its loopback (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=PORT,
        help="port to listen at; 0 takes a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        metavar="NAME[,NAME]",
        type=plain_text,
        help="devices to lend, by the names that `paceline doctor` shows (default: the GPUs, or "
        "the processor where there is none)",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=_memory,
        help="tell clients of no more free memory than this for each device, such as 8GB (default: "
        "what is free)",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=whole_number(1, _MAX_THREADS),
        help="threads of the processor, where that is lent (default: physical cores - 1)",
    )
    add_kernels(parser)
    parser.add_argument("--json", action="store_true", help="say that it listens as a JSON object")


def run(args: argparse.Namespace) -> int:
    """Carry out the command; it ends by a signal, or by an error.

    Raises:
        UserError: Nothing can listen there, a device is not there, or this build has no RPC.
    """
    with output.Interrupts() as interrupts, _ending_at_once():
        interrupts.when_hit(lambda: os._exit(output.EXIT_CODE))
        host = read_host(args.host)
        port = _free_port(host, args.port)  # first of all: a port in use is reported at once
        server = _made(args)
        if not is_loopback(host):
            output.remark(
                f"Other computers can reach {host}. There is no key and no encryption: all who "
                "reach the port can read prompts, and crash or misuse this program. It is better "
                "to listen at 127.0.0.1, and to reach it from the other computer through "
                f"`ssh -N -L {port}:127.0.0.1:{port} THIS-COMPUTER` as 127.0.0.1:{port}."
            )
        output.keep_from_native_code()
        return _serve(args, server, host, port)


def _made(args: argparse.Namespace) -> RpcServer:
    from paceline.engine.native import rpc_server

    server = rpc_server(args.device or "", args.memory)
    if any(device.kind == "cpu" for device in server.devices):
        _choose_kernels(args)
    return server


def _choose_kernels(args: argparse.Namespace) -> None:
    from paceline.engine.cancel import CancelFlag
    from paceline.engine.facts import Facts
    from paceline.engine.native import llama_backend

    cache = str(Paths.from_environment().cache_dir)
    wish = read_kernels(args)
    for note in llama_backend().choose_kernels(wish, Facts(cache), cache, CancelFlag()):
        output.remark(note)


def _serve(args: argparse.Namespace, server: RpcServer, host: str, port: int) -> NoReturn:
    from paceline.engine.model.threads import default_threads

    endpoint, n_threads = f"{host}:{port}", args.threads or default_threads()
    # Native code waits for clients without an end, and no signal would be heard on its thread.
    thread = threading.Thread(
        target=server.serve, args=(endpoint, n_threads), name="rpc-server", daemon=True
    )
    thread.start()
    while thread.is_alive() and not _listens(port):
        time.sleep(_FIRST_POLL_S)
    if thread.is_alive():
        _tell(args, endpoint, [device.name for device in server.devices])
    while thread.is_alive():
        thread.join(_POLL_S)
    raise UserError(
        "cannot-listen",
        "The server at {endpoint} has ended by itself.",
        "Start it again, or choose another port.",
        endpoint=endpoint,
    )


def _tell(args: argparse.Namespace, endpoint: str, devices: list[str]) -> None:
    results = output.Results()
    if args.json:
        listening = {"event": "listening", "endpoint": endpoint, "devices": devices}
        results.write(json_line(listening))
    else:
        results.write(f"Lending {', '.join(devices)} at {endpoint}\n")
    results.check()


def _listens(port: int) -> bool:
    """Return whether this process listens; opens no connection, which would block clients."""
    connections = psutil.Process().net_connections("tcp4")
    return any(
        each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in connections
    )


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """End the process with exit code 0 at a SIGTERM."""
    before = signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# ------------------------------------------------------------------------------------------ reading


def read_host(text: str) -> str:
    """Return the IPv4 address of a name or an address.

    Raises:
        UsageError: It is an IPv6 address, which llama.cpp's server cannot listen at.
        UserError: Nothing has that name.
    """
    if ":" in text:
        raise UsageError(
            "no-ipv6",
            f"llama.cpp's RPC server cannot listen at {text}, which is an IPv6 address.",
            "Give an IPv4 address of this computer, such as 127.0.0.1.",
        )
    try:
        return socket.gethostbyname(text)
    except (OSError, UnicodeError):
        raise UserError(
            "cannot-listen",
            "“{host}” is the name of no IPv4 address.",
            "Give an IPv4 address of this computer, such as 127.0.0.1.",
            host=text,
        ) from None


def _free_port(host: str, port: int) -> int:
    with closing(bound(host, port)) as taken:
        found: int = taken.getsockname()[1]
        return found


def _memory(text: str) -> int:
    size = read_size(text)
    if not size:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is no size such as 8GB")
    return size
