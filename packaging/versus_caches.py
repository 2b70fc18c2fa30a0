#!/usr/bin/env python3
"""Compare what is read again, over HTTP: Paceline, a version before, and llama.cpp's own server.

    python packaging/versus_caches.py --server PROGRAM --target GGUF [--before PYTHON …]

Two sessions are asked, request by request in turns, with short replies and no drafts: an agent's,
in whose system prompt the first line changes with each request, and three chats by turns. The sides
are llama-server with its prompt cache in memory, with and without chunks that are moved in it
(--cache-reuse); `paceline serve`, with and without --ignore-changes for the line that changes; and
the `paceline serve` of the interpreter that --before names, such as another checkout's. Each is
started anew for each session. Told are the seconds of a session, to the first text of its replies
and in all, as medians over the rounds summed up, the tokens that were read, and the seconds of the
best setting of llama-server by the side's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.cli.output import in_columns
from paceline.engine.api import load_pair
from paceline.errors import UserError
from paceline.messages import LoadPair, ModelParams
from versus.replay import FIRST, REST, Asked, Seconds, replay
from versus.rereading import CHANGES, agent, chats
from versus.server import Server
from versus.sides import GREEDY, OURS, SAME_SOURCES, Side, as_json, ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from versus.child import Child
    from versus.sessions import Session

_CACHE_MIB = 8192
_CHUNK = 256
"""Tokens that llama-server moves within a prompt at least."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and report."""
    options = parse_arguments(arguments)
    target = ModelParams(str(options.target), n_ctx=options.ctx, n_threads=1, n_threads_batch=1)
    load = LoadPair(target, None, kernels="auto")
    with tempfile.TemporaryDirectory() as home:
        compared = [
            side
            for side in sides(load, options.server, options.before, Path(home))
            if side.name.startswith(tuple(options.sides))
        ]
        asked: list[Asked] = []
        try:
            for each in replay(made_sessions(options), compared, options.rounds):
                asked.append(each)
                if sys.stderr.isatty():
                    print(f"\r{each.session} {each.request + 1}", end="\033[K", file=sys.stderr)
        except (ConnectionError, UserError) as error:
            sys.exit(f"{error}")
    print(table(asked))
    if options.json:
        everything = [each._asdict() | {"answer": as_json(each.answer)} for each in asked]
        options.json.write_text(json.dumps(everything) + "\n")
    return 0


def made_sessions(options: argparse.Namespace) -> list[Session]:
    """Return the sessions, with texts that are cut by the target's tokens."""
    with load_pair(ModelParams(str(options.target), n_ctx=512), kernels="stock") as pair:

        def n_tokens(text: str) -> int:
            return len(pair.vocab.tokenize(text, special=False))

        made = [
            agent(n_tokens, options.requests, options.tokens),
            chats(n_tokens, 3, options.turns, options.tokens_of_chats),
        ]
    return [each for each in made if each.requests]


def sides(load: LoadPair, server: Path, before: str | None, home: Path) -> list[Side]:
    """Return all sides for a model; every start of ours has a home of its own in a folder."""

    def side(program: str, setting: str, *more: str, python: str = sys.executable) -> Side:
        def start() -> Child:
            own = tempfile.mkdtemp(dir=home)  # nothing is stored there
            return ours(load, Path(own), "off", more, python)

        return Side(program, setting, start, lambda _: {})

    def theirs(setting: str, *more: str) -> Side:
        flags = ("--spec-type", "none", "--cache-ram", str(_CACHE_MIB), *more)
        return Side(SAME_SOURCES, setting, lambda: Server(server, load, flags), lambda _: GREEDY)

    return [
        *([side(OURS, "before", python=before)] if before else []),
        theirs("cache-ram"),
        side(OURS, "stored states"),
        side(OURS, "ignoring changes", "--ignore-changes", CHANGES),
        theirs("cache-reuse", "--cache-reuse", str(_CHUNK)),
    ]


def table(asked: Sequence[Asked]) -> str:
    """Return the results for people: a line for each session and side."""
    first, rest = Seconds(asked, FIRST), Seconds(asked, REST)
    rows = [["session", "side", "first s", "in all s", "tokens read", "of the best llama-server"]]
    for name in dict.fromkeys(each.session for each in asked):
        firsts = {side: first.sum(side, [name]) for side in first.sides}
        in_all = {side: seconds + rest.sum(side, [name]) for side, seconds in firsts.items()}
        of_theirs = [seconds for side, seconds in in_all.items() if side.startswith(SAME_SOURCES)]
        best = min(of_theirs, default=0.0)
        rows += [
            [
                name,
                side,
                f"{firsts[side]:.2f}",
                f"{seconds:.2f}",
                str(sum(n_read(asked, name, side))),
                f"{best / seconds:.2f}",
            ]
            for side, seconds in in_all.items()
        ]
    return in_columns(rows).rstrip()


def n_read(asked: Sequence[Asked], session: str, side: str) -> Iterator[int]:
    """Yield the tokens that a side read for each request of a session in the first round."""
    for each in asked:
        if (each.turn, each.session, each.side) == (0, session, side):
            yield each.answer.timings.get("prompt_n", 0)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add: Any = parser.add_argument
    add("--server", type=Path, required=True, metavar="PROGRAM", help="the llama-server")
    add("--target", type=Path, required=True, metavar="GGUF")
    add("--before", metavar="PYTHON", help="interpreter that has another version of Paceline")
    add("--ctx", type=int, default=8192)
    add("--sides", nargs="+", default=[""], metavar="SIDE", help="beginnings (default: all)")
    add("--requests", type=int, default=20, help="of the agent (default 20)")
    add("--tokens", type=int, default=4000, help="of its system prompt (default 4000)")
    add("--turns", type=int, default=6, help="of each of the three chats (default 6)")
    add("--tokens-of-chats", type=int, default=2000, help="of each first message (default 2000)")
    add("--rounds", type=int, default=1)
    add("--json", type=Path, metavar="OUT", help="write everything measured to this file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
