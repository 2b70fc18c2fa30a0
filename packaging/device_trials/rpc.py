"""Cases with RPC servers on loopback; each server lends this machine's processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from device_trials.matrix import Place
from device_trials.outcomes import Case
from device_trials.rows_child import WIDTHS
from device_trials.vulkan import ALL, BOTH, DRAFT, OFF

MOST = 3
HERE = "here"


def cases(model: Callable[[str], Path]) -> list[Case]:
    """Return the cases: by number of servers, placement and strategy.

    Args:
        model: Returns the file of one of the tests' models.
    """
    found = [Case(HERE, OFF, ("--gpu-layers", "0"), 0)]
    for n in range(1, MOST + 1):
        servers = f"{n} server{'s' if n > 1 else ''}"
        found += [
            Case(f"{servers}, all layers", OFF, ALL, n),
            Case(f"{servers}, 4 layers", OFF, ("--gpu-layers", "4"), n),
            Case(f"{servers}, as many as fit", OFF, (), n),
            Case(f"{servers}, suffix", ("--strategy", "suffix"), ALL, n),
            Case(f"{servers}, draft model", DRAFT, BOTH, n),
            Case(f"{servers}, Auto", ("--strategy", "auto"), BOTH, n),
            Case(f"{servers}, exact mode", (*DRAFT, "--exact"), BOTH, n),
        ]
    apart = (*BOTH, "--device", "RPC0", "--device-draft", "RPC1")
    two = (*BOTH, "--device", "RPC0,RPC1", "--device-draft", "RPC2")
    head = ("--target", str(model("tiny-mtp-true")), "--strategy", "mtp")
    hybrid = ("--target", str(model("tiny-qwen35")), "--strategy", "suffix")
    return [
        *found,
        Case("draft model here", DRAFT, (*ALL, "--gpu-layers-draft", "0"), 1),
        Case("target here", DRAFT, ("--gpu-layers", "0", "--gpu-layers-draft", "99"), 1),
        Case("draft model on the other server", DRAFT, apart, 2),
        Case("target on two servers, draft model on the third", DRAFT, two, 3),
        Case("MTP head", head, ALL, 1),
        Case("a hybrid", hybrid, ALL, 1),
        Case("q8_0 cache", (*OFF, "--flash-attn", "on", "--kv-type-k", "q8_0"), ALL, 1),
        Case("a device that is not there", OFF, (*ALL, "--device", "RPC7"), 1),
        Case("row split", OFF, (*ALL, "--split-mode", "row"), 2),
    ]


@contextmanager
def places() -> Iterator[Callable[[int], Place]]:
    """Start the servers; yield a function that returns the options for so many of them."""
    with ExitStack() as ends:
        endpoints = [ends.enter_context(_server()) for _ in range(MOST)]

        def place(n: int) -> Place:
            words = tuple(word for each in endpoints[:n] for word in ("--rpc", each))
            return Place(os.environ, words)

        yield place


@contextmanager
def _server() -> Iterator[str]:
    """Start a server with stock kernels and one thread; yield its address."""
    words = ["rpc-server", "--json", "--port", "0", "--threads", "1", "--kernels", "stock"]
    command = [sys.executable, "-m", "paceline", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["endpoint"]
        finally:
            server.kill()


def prices(seconds: Mapping[str, tuple[float, ...]]) -> Iterator[str]:
    """Yield lines with the milliseconds of decodes of each width, here and on servers."""
    yield "Least milliseconds of a decode of " + ", ".join(map(str, WIDTHS)) + " tokens:"
    for name, taken in seconds.items():
        if name == HERE or name.endswith("all layers"):
            yield f"  {name}: " + ", ".join(f"{1000 * each:.1f}" for each in taken)
