#!/usr/bin/env python3
"""Compare Paceline with llama.cpp's own server, run by run in turns.

    python packaging/versus_server.py --build DIR            build llama-server, print its path
    python packaging/versus_server.py --server PROGRAM [--target GGUF… --draft GGUF --json OUT …]
    python packaging/versus_server.py --server PROGRAM --sessions --target GGUF [--current PYTHON …]
    python packaging/versus_server.py --record --target GGUF    record the sessions' replies anew

Without --sessions it is the engine that is compared. Both sides get the same token ids as prompt,
decode greedily the same number of tokens with the same threads, context, cache types and attention,
and idle while the other one works. The order alternates from pair to pair (ours, server, server,
ours, …). Each measured run follows a short one on other tokens, so that neither side finds its own
caches and clocks warmer.

Ratios are ours by the server's (above 1: ours is faster), median over all pairs and prompts with a
95 % bootstrap interval: "decode" from the first token to the last; "total" from the prompt's start,
both by the side's own clock; "wall" what the caller waited, HTTP included on the server's side.
Where decode starts the server has its draft model's prompt behind it; if ours works it off later,
that counts against ours in "decode" and is even in "total".

With --sessions both are asked over HTTP, as agents ask: in each of three sessions a file is edited
and returned eight times in one growing conversation. Its history is on record and the same for all
sides, which reuse what they have read of it; replies are greedy, and as long as those on record. A
side is a server with one setting, started anew for each session: llama-server without drafts, with
ngram-simple and with ngram-mod; the same of llama.cpp's current server, where --current names an
interpreter that has the package xllamacpp; `paceline serve` under Auto, and with the file before
the edit as the request's prediction. Told are the seconds to the first text and from there to the
end, apart, as medians over the rounds summed up over a session, and by how much ours is faster than
the best setting of each of these programs, over the session and over all of them. A setting that
takes a fifth more than that one in the first round is not asked again. With --prompts
packaging/benchmarks/kinds.jsonl each greedy kind of reply is a session of one request.
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llama_cpp
from msgspec import structs

from paceline.engine.api import load_pair
from paceline.errors import UserError
from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from paceline.paths import demo_pair, resources
from versus.build import build_server
from versus.figures import Pair, summarise, table
from versus.ours import Ours
from versus.replay import replay
from versus.replay import summarise as summarise_sessions
from versus.replay import table as table_of_sessions
from versus.server import Server, version
from versus.sessions import read_sessions, record
from versus.sides import sides
from versus.strategies import Match, match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROMPTS = resources() / "benchmarks" / "versus.jsonl"
SESSIONS = Path(__file__).resolve().parent / "benchmarks" / "sessions.jsonl"
ROUSE_TOKENS = 8

Prompt = tuple[str, list[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, or compare and report."""
    options = parse_arguments(arguments)
    if options.build:
        print(build_server(options.build))
        return 0
    if options.record:
        with load_pair(ModelParams(str(options.target[0]), n_ctx=options.ctx)) as pair:
            record(options.prompts, pair)
        return 0
    # As an exception a termination passes the with statements that end the server.
    for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
        signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    try:
        found, text = (
            compare_sessions(options) if options.sessions is not None else compare_engines(options)
        )
    except (ConnectionError, UserError) as error:
        sys.exit(f"{error}")
    show_progress("")
    print(text)
    if options.json:
        options.json.write_text(json.dumps(describe(options) | found) + "\n")
    return 0


def compare_sessions(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the report of sessions over HTTP, and the same for people."""
    sessions = read_sessions(options.prompts)
    if options.sessions:
        sessions = [each for each in sessions if each.name in options.sessions]
    load = LoadPair(model_params(options.target[0], options), None, kernels=options.kernels)
    with tempfile.TemporaryDirectory() as home:
        compared = sides(load, options.server, options.current, Path(home))
        asked = list(replay(sessions, compared, options.rounds, show_progress))
    summary = summarise_sessions(asked)
    return summary, table_of_sessions(summary)


def compare_engines(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the report of all targets and strategies, and the same for people."""
    results = list(compare_all(options))
    return {"results": results}, table(results)


def compare_all(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the report's entry for every target and strategy."""
    for target in options.target:
        models = [model_params(path, options) for path in (target, options.draft)]
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


def model_params(path: Path, options: argparse.Namespace) -> ModelParams:
    """Return how both sides load a model."""
    return ModelParams(
        str(path),
        n_ctx=options.ctx,
        n_threads=options.threads,
        n_threads_batch=options.threads,
        n_gpu_layers=options.gpu_layers,
        flash_attn=options.flash_attn,
        kv_type_k=options.kv_type,
        kv_type_v=options.kv_type,
    )


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
    """The conditions of a comparison."""
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
    add("--prompts", type=Path, metavar="JSONL", help="other prompts, or sessions")
    add("--tokens", type=int, default=200, help="per reply (default 200)")
    add("--pairs", type=int, default=9, help="per prompt, at least 9 (default 9)")
    add("--threads", type=int, default=1)
    add("--ctx", type=int, help="default 2048, of sessions 8192")
    add("--gpu-layers", type=int, default=0, help="-1: as many as fit")
    add("--flash-attn", choices=("auto", "on", "off"), default="auto")
    add("--kv-type", default="f16")
    add("--kernels", choices=("auto", "own", "stock"), default="auto", help="of our side")
    add("--server-extra", nargs=argparse.REMAINDER, default=[], help="more flags for the server")
    add("--json", type=Path, metavar="OUT", help="write everything measured to this file")
    add("--sessions", nargs="*", metavar="NAME", help="compare by sessions, or these of them alone")
    add("--rounds", type=int, default=3, help="of the sessions (default 3)")
    add("--current", metavar="PYTHON", help="interpreter that has the package xllamacpp")
    add("--record", action="store_true", help="record the sessions' replies anew and stop")
    options = parser.parse_args(arguments)
    by_sessions = options.record or options.sessions is not None
    options.prompts = options.prompts or (SESSIONS if by_sessions else PROMPTS)
    options.ctx = options.ctx or (8192 if by_sessions else 2048)
    if options.build is None and options.server is None and not options.record:
        parser.error(
            "--server PROGRAM is missing; build one with: "
            "python packaging/versus_server.py --build DIR"
        )
    needed = [*options.target, options.draft, options.prompts, options.server]
    if missing := [str(path) for path in needed if path and not path.is_file()]:
        parser.error(f"there is no file {missing[0]}")
    if options.sessions:
        names = {session.name for session in read_sessions(options.prompts)}
        if unknown := [name for name in options.sessions if name not in names]:
            parser.error(f"{options.prompts} has no session {unknown[0]}")
    if options.pairs < 9:
        parser.error("--pairs: fewer than 9 say nothing")
    return options


if __name__ == "__main__":
    sys.exit(main())
