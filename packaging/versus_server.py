#!/usr/bin/env python3
"""Compare Paceline's engine with llama.cpp's own server, run by run in turns.

    python packaging/versus_server.py --build DIR            build llama-server, print its path
    python packaging/versus_server.py --server PROGRAM [--target GGUF… --draft GGUF --json OUT …]

Both sides get the same token ids as prompt, decode greedily the same number of tokens with the
same threads, context, cache types and attention, and idle while the other one works. The order
alternates from pair to pair (ours, server, server, ours, …). Each measured run follows a short
one on other tokens, so that neither side finds its own caches and clocks warmer.

Ratios are ours by the server's (above 1: ours is faster), median over all pairs and prompts with a
95 % bootstrap interval: "decode" from the first token to the last; "total" from the prompt's start,
both by the side's own clock; "wall" what the caller waited, HTTP included on the server's side.
Where decode starts the server has its draft model's prompt behind it; if ours works it off later,
that counts against ours in "decode" and is even in "total".
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llama_cpp
from msgspec import structs

from paceline.errors import UserError
from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from paceline.paths import demo_pair, resources
from versus.build import build_server
from versus.figures import Pair, summarise, table
from versus.ours import Ours
from versus.server import Server, version
from versus.strategies import Match, match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROMPTS = resources() / "benchmarks" / "versus.jsonl"
ROUSE_TOKENS = 8

Prompt = tuple[str, list[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, or compare and report."""
    options = parse_arguments(arguments)
    if options.build:
        print(build_server(options.build))
        return 0
    # As an exception a termination passes the with statements that end the server.
    for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
        signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    try:
        results = list(compare_all(options))
    except (ConnectionError, UserError) as error:
        sys.exit(f"{error}")
    show_progress("")
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(describe(options) | {"results": results}) + "\n")
    return 0


def compare_all(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the report's entry for every target and strategy."""
    for target in options.target:
        models = [
            ModelParams(
                str(path),
                n_ctx=options.ctx,
                n_threads=options.threads,
                n_threads_batch=options.threads,
                n_gpu_layers=options.gpu_layers,
                flash_attn=options.flash_attn,
                kv_type_k=options.kv_type,
                kv_type_v=options.kv_type,
            )
            for path in (target, options.draft)
        ]
        load = LoadPair(models[0], DraftModel(models[1]), kernels=options.kernels)
        for wanted in options.strategies:
            pairs = compare(wanted, load, options)
            yield {
                "model": target.stem,
                "strategy": wanted.name,
                "server_flags": list(wanted.server_flags),
                "summary": summarise(pairs),
                "pairs": [asdict(pair) for pair in pairs],
            }


def compare(wanted: Match, load: LoadPair, options: argparse.Namespace) -> list[Pair]:
    """Run all pairs of one strategy on one target."""
    if not wanted.needs_draft:
        load = structs.replace(load, drafting=None)
    pairs = []
    with (
        Server(options.server, load, wanted.server_flags, options.server_extra) as server,
        Ours(load, wanted.ours) as ours,
    ):
        prompts = read_prompts(options.prompts, server)
        for side in (ours, server):
            for _, tokens in prompts:
                side.run(tokens, options.tokens)
        for turn in range(options.pairs * len(prompts)):
            name, tokens = prompts[turn % len(prompts)]
            measured = {}
            for side in (ours, server) if turn % 2 == 0 else (server, ours):
                side.run(tokens[1:9], ROUSE_TOKENS)
                measured[side] = side.run(tokens, options.tokens)
            pairs.append(Pair(name, measured[ours], measured[server]))
            show_progress(f"{Path(load.target.path).stem} {wanted.name}: {turn + 1} pairs")
    return pairs


def show_progress(text: str) -> None:
    """Write a line over the one before, for people only."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def read_prompts(path: Path, server: Server) -> list[Prompt]:
    """Read lines of the benchmark's workload format: messages, or token ids."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        (line["name"], line.get("prompt_tokens") or server.tokenize(line["messages"]))
        for line in lines
    ]


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """What was compared on what."""
    names = "tokens", "pairs", "threads", "ctx", "gpu_layers", "flash_attn", "kv_type", "kernels"
    return {
        "machine": {"system": platform.platform(), "processor": platform.processor()},
        "server": version(options.server),
        "library": llama_cpp.__version__,
        "system_info": llama_cpp.llama_print_system_info().decode(),
        "settings": {name: getattr(options, name) for name in names},
    }


def read_strategies(text: str) -> list[Match]:
    """Read the list of strategies for argparse."""
    try:
        return [match(each) for each in text.split(",")]
    except (ValueError, UserError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read and check the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    demo_target, demo_draft = demo_pair()
    add("--build", type=Path, metavar="DIR", help="build llama-server in this folder and stop")
    add("--server", type=Path, metavar="PROGRAM", help="the llama-server to compare with")
    add("--target", type=Path, nargs="+", default=[demo_target], metavar="GGUF")
    add("--draft", type=Path, default=demo_draft, metavar="GGUF")
    add(
        "--strategies",
        type=read_strategies,
        default="off,draft:n_max=4:p_min=0",
        help="S,S,…; S as `paceline` takes it, or OURS/SERVERS where they differ",
    )
    add("--prompts", type=Path, default=PROMPTS, metavar="JSONL")
    add("--tokens", type=int, default=200, help="per reply (default 200)")
    add("--pairs", type=int, default=9, help="per prompt, at least 9 (default 9)")
    add("--threads", type=int, default=1)
    add("--ctx", type=int, default=2048)
    add("--gpu-layers", type=int, default=0, help="-1: as many as fit")
    add("--flash-attn", choices=("auto", "on", "off"), default="auto")
    add("--kv-type", default="f16")
    add("--kernels", choices=("auto", "own", "stock"), default="auto", help="of our side")
    add("--server-extra", nargs=argparse.REMAINDER, default=[], help="more flags for the server")
    add("--json", type=Path, metavar="OUT", help="write everything measured to this file")
    options = parser.parse_args(arguments)
    if options.build is None and options.server is None:
        parser.error(
            "--server PROGRAM is missing; build one with: "
            "python packaging/versus_server.py --build DIR"
        )
    needed = [*options.target, options.draft, options.prompts, options.server]
    if missing := [str(path) for path in needed if path and not path.is_file()]:
        parser.error(f"there is no file {missing[0]}")
    if options.pairs < 9:
        parser.error("--pairs: fewer than 9 say nothing")
    return options


if __name__ == "__main__":
    sys.exit(main())
