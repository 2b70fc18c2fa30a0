"""The cost of HTTP: ``python packaging/benchmarks wire GGUF``.

The same reply, greedy and without drafts, so that every token is an event of its own, comes by
turns from `paceline serve`, streamed, and from `paceline chat`, with the same settings. Told are:

- what HTTP takes of the tokens per second: from the first text to the last as their reader sees
  them, the server's compared with the program's, as the median over the turns;
- the milliseconds from a request to the first text beyond the seconds that the engine says it read
  the prompt for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from paceline.bench.recommend import Interval, bootstrap
from paceline.messages import LoadPair, ModelParams
from versus.sessions import Request
from versus.sides import Answer, ask, flat, options_of_ours, ours

QUESTION = "Describe a harbour in the early morning, before the boats leave."


def chat(load: LoadPair, n_tokens: int, home: Path) -> tuple[float, str]:
    """Return the seconds from the first text to the last of `paceline chat`, and the text."""
    options = options_of_ours(load) | {
        "--prompt": QUESTION,
        "--max-tokens": n_tokens,
        "--temperature": 0,
        "--strategy": "off",
    }
    command = [sys.executable, "-m", "paceline", "chat", *flat(options)]
    environment = {**os.environ, "PACELINE_HOME": str(home)}
    pieces, first, last = [], 0.0, 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        while piece := os.read(process.stdout.fileno(), 65_536):
            last = time.perf_counter()
            first = first or last
            pieces.append(piece)
    if process.returncode:
        raise ChildProcessError(f"paceline chat ended with {process.returncode}")
    return last - first, b"".join(pieces).decode()


def served(load: LoadPair, n_tokens: int, home: Path, turns: int) -> list[tuple[Answer, float]]:
    """Return for each turn the server's answer, and the seconds of `paceline chat`.

    Raises:
        ConnectionError: The server does not answer.
        ValueError: The two replies differ.
    """
    request = Request(({"role": "user", "content": QUESTION},), n_tokens, "", "")
    found = []
    with ours(load, home, "off") as server:
        ask(server, request, {})
        for turn in range(turns):
            if turn % 2:
                answer = ask(server, request, {})
            seconds, text = chat(load, n_tokens, home)
            if turn % 2 == 0:
                answer = ask(server, request, {})
            if text.strip() != answer.text.strip():
                raise ValueError(f"other texts: {text!r} and {answer.text!r}")
            found.append((answer, seconds))
    return found


def share_of_http(found: Sequence[tuple[Answer, float]]) -> Interval:
    """Return the share (0..1) of the tokens per second of `paceline chat` that HTTP takes."""
    return bootstrap([[1 - seconds / answer.rest_s for answer, seconds in found]])


def beyond_the_engine_ms(found: Sequence[tuple[Answer, float]]) -> Interval:
    """Return the milliseconds to the first text beyond those that the engine read the prompt."""
    return bootstrap([[1e3 * a.first_s - a.timings["prompt_ms"] for a, _ in found]])


def main(argv: Sequence[str] | None = None) -> int:
    """Print both figures, or JSON."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks wire")
    parser.add_argument("target", metavar="GGUF")
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    target = ModelParams(args.target, n_ctx=1024, n_threads=1, n_threads_batch=1)
    load = LoadPair(target, None, kernels="auto")
    with tempfile.TemporaryDirectory() as home:
        found = served(load, args.tokens, Path(home), args.turns)
    share, beyond = share_of_http(found), beyond_the_engine_ms(found)
    if args.json:
        print(json.dumps({"share": asdict(share), "beyond_ms": asdict(beyond)}))
    else:
        print(f"HTTP takes of the tokens per second: {share}")
        print(f"ms to the first text beyond the engine's own: {beyond}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
