"""Seconds to the first token by what was stored: ``python packaging/benchmarks first_word GGUF``.

A chat is asked for its next reply in the engine's process, on one thread, in five ways:

- cold: nothing of its prompt is stored;
- live: the context still holds it;
- memory: another chat was read in between;
- disk: the engine's process was started anew, and the files are in no cache of the system's;
- typed: another chat was read in between, and the new message but its last sentence ahead.

The chat grows by a reply and a message from one way to the next, so the warm ways have more to read
than the cold one. The ways take turns: a round has all of them, with a text of its own. Told are
medians over the rounds, their share of the cold way's, and whether what is promised holds: from
memory 5 % of cold and 0.15 s at most, from disk 8 % and 0.4 s.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import structs

from benchmarks.many_chats import Texts
from paceline.cli.output import in_columns
from paceline.engine.draft.strategy import read_strategy
from paceline.hosting.broker import Priority
from paceline.hosting.client import EngineClient
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    DraftModel,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    ReadAhead,
    ReadAheadEnded,
    SamplingParams,
    StartTurn,
    StateOwner,
    StateStorage,
    StepCommitted,
    TokensCounted,
    TurnFinished,
    TurnStarted,
)

COLD, LIVE, MEMORY, DISK, TYPED = ("cold", "live", "memory", "disk", "typed")
MOST = {MEMORY: (0.05, 0.15), DISK: (0.08, 0.4)}
"""Upper bounds of a warm start: a share of the seconds of a cold one, and seconds besides."""
AIM = {MEMORY: (0.03, 0.1), DISK: (0.05, 0.3)}
_REPLY, _OTHER, _TYPED = 8, 300, 60
"""Tokens of a reply, of another chat, and of a message that is typed, without its end."""
_WARM = {COLD: "context", LIVE: "context", MEMORY: "memory", DISK: "disk", TYPED: "context"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A first token.

    Attributes:
        n_prompt: Tokens of the cold way's prompt, as they were wanted.
        way: Name of the way.
        seconds: Seconds from the request to the first token.
        n_read: Tokens that were read before it.
        warm: Place of the other tokens; see `TurnStarted`.
    """

    n_prompt: int
    way: str
    seconds: float
    n_read: int
    warm: str


class Engine:
    """A pair in an engine's process of its own, and first tokens of chats with it.

    Args:
        client: Client whose engine has loaded the pair.
        strategy: Drafting strategy of the replies.
    """

    def __init__(self, client: EngineClient, strategy: str) -> None:
        self.client = client
        self._strategy = read_strategy(strategy)

    def n_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Return how many tokens a chat has.

        Raises:
            ChildProcessError: They were not counted.
        """
        counted = self.client.request(CountTokens(Chat(tuple(messages)))).wait()
        if not isinstance(counted, TokensCounted):
            raise ChildProcessError(f"not counted: {counted}")
        return counted.n_tokens

    def turn(self, messages: Sequence[ChatMessage], owner: StateOwner | None) -> StartTurn:
        """Return the command for the next reply to a chat."""
        return StartTurn(
            Chat(tuple(messages)),
            SamplingParams(temperature=0.0),
            self._strategy,
            max_tokens=_REPLY,
            ignore_eog=True,
            owner=owner,
        )

    def read_ahead(self, messages: Sequence[ChatMessage], owner: StateOwner | None) -> None:
        """Read the certain part of a prompt whose last message is still being typed.

        Raises:
            ChildProcessError: It was not read.
        """
        is_over = False
        while not is_over:
            command = ReadAhead(self.turn(messages, owner))
            answer = self.client.request(command, Priority.IDLE).wait()
            if not isinstance(answer, ReadAheadEnded):
                raise ChildProcessError(f"not read: {answer}")
            is_over = answer.is_over

    def first_word(
        self, messages: Sequence[ChatMessage], owner: StateOwner | None
    ) -> tuple[float, TurnStarted, str]:
        """Return the seconds to the first token, how the turn started, and the reply.

        Raises:
            ChildProcessError: There was no reply.
        """
        firsts: list[float] = []
        started: list[TurnStarted] = []

        def hear(event: Event) -> None:
            if isinstance(event, StepCommitted):
                firsts.append(time.perf_counter())
            elif isinstance(event, TurnStarted):
                started.append(event)

        began = time.perf_counter()
        answer = self.client.request(self.turn(messages, owner), on_event=hear).wait()
        if not isinstance(answer, TurnFinished):
            raise ChildProcessError(f"no reply: {answer}")
        return firsts[0] - began, started[0], answer.text


@contextmanager
def opened(load: LoadPair, states: Path) -> Iterator[Engine]:
    """Start an engine's process and load a pair in it whose states are kept in a folder.

    Raises:
        ChildProcessError: It cannot be loaded.
    """
    load = structs.replace(load, states=StateStorage(folder=str(states)))
    with closing(ThreadedClient(service_factory("process"))) as client:
        answer = client.request(load).wait()
        if not isinstance(answer, PairLoaded):
            raise ChildProcessError(f"not loaded: {answer}")
        yield Engine(client, "draft" if load.drafting else "off")


class Growing:
    """A chat that grows by a reply and a message from one way to the next.

    Args:
        engine: Engine that counts its tokens.
        texts: Source of its first message.
        n_tokens: Approximate number of tokens of its first prompt.
    """

    def __init__(self, engine: Engine, texts: Texts, n_tokens: int) -> None:
        text = texts.of_tokens(n_tokens, lambda text: engine.n_tokens([_said(text)]))
        self.messages = [_said(text)]
        self._typed = texts.of_tokens(_TYPED, lambda text: engine.n_tokens([_said(text)]))

    def go_on(self, reply: str) -> None:
        """Add a reply to the last prompt, and the next message."""
        question = f"What is in line {len(self.messages)}?"
        self.messages += [ChatMessage.of_text("assistant", reply), _said(question)]

    def type(self) -> list[ChatMessage]:
        """Let the last message begin with a text.

        Returns:
            The messages as they are before the last sentence is typed.
        """
        *before, last = self.messages
        self.messages = [*before, _said(f"{self._typed}\n\n{last.text}")]
        return [*before, _said(f"{self._typed}\n\n")]


def _said(text: str) -> ChatMessage:
    return ChatMessage.of_text("user", text)


def drop_from_cache(folder: Path) -> None:
    """Let the system read the files of a folder from the disk again, where it can be asked to."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def a_round(load: LoadPair, n_prompt: int, seed: int) -> Iterator[Asked]:
    """Ask one chat in all ways; nothing is stored before it."""
    owner, other_owner = StateOwner("the chat"), StateOwner("the other chat")

    def ask(engine: Engine, way: str) -> Asked:
        seconds, started, reply = engine.first_word(chat.messages, owner)
        chat.go_on(reply)
        return Asked(n_prompt, way, seconds, started.n_prompt - started.n_reused, started.warm)

    with tempfile.TemporaryDirectory() as folder:
        states = Path(folder)
        with opened(load, states) as engine:
            chat = Growing(engine, Texts(seed), n_prompt)
            other = Growing(engine, Texts(seed + 1), _OTHER)
            yield ask(engine, COLD)
            yield ask(engine, LIVE)
            engine.first_word(other.messages, other_owner)
            yield ask(engine, MEMORY)
        drop_from_cache(states)
        with opened(load, states) as engine:
            yield ask(engine, DISK)
            engine.first_word(other.messages, other_owner)
            engine.read_ahead(chat.type(), owner)
            yield ask(engine, TYPED)


class Row(NamedTuple):
    """The findings for a length; medians by way.

    Attributes:
        n_prompt: Tokens of the prompt.
        seconds: Seconds to the first token.
        n_read: Tokens that were read.
        other: Ways whose tokens came at least once from elsewhere than the way says.
    """

    n_prompt: int
    seconds: dict[str, float]
    n_read: dict[str, float]
    other: tuple[str, ...]

    def misses(self, bounds: Mapping[str, tuple[float, float]]) -> list[str]:
        """Return the ways that are not within their bound, a share of cold and seconds."""
        cold = self.seconds[COLD]
        return [
            way
            for way, (share, more) in bounds.items()
            if way in self.other or self.seconds[way] > share * cold + more
        ]


def rows_of(asked: Sequence[Asked]) -> list[Row]:
    """Return the medians by length."""
    rows = []
    for n_prompt in dict.fromkeys(each.n_prompt for each in asked):
        by_way: dict[str, list[Asked]] = {}
        for each in asked:
            if each.n_prompt == n_prompt:
                by_way.setdefault(each.way, []).append(each)
        other = (way for way in by_way if any(a.warm != _WARM[way] for a in by_way[way]))
        rows.append(
            Row(
                n_prompt,
                {way: median(a.seconds for a in of_way) for way, of_way in by_way.items()},
                {way: median(a.n_read for a in of_way) for way, of_way in by_way.items()},
                tuple(other),
            )
        )
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return table rows: seconds, share of the cold way's, tokens that were read."""
    ways = list(rows[0].seconds)
    lines = [["tokens", *ways, "promise", "aim"]]
    for row in rows:
        cells = [
            f"{row.seconds[way]:.3f} s {row.seconds[way] / row.seconds[COLD]:6.1%}"
            f" ({row.n_read[way]:.0f} read){'!' * (way in row.other)}"
            for way in ways
        ]
        kept = [", ".join(row.misses(bounds)) or "holds" for bounds in (MOST, AIM)]
        lines.append([str(row.n_prompt), *cells, *kept])
    told = in_columns(lines).rstrip()
    note = "\n! at least once its tokens came from elsewhere"
    return told + note * any(row.other for row in rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table or JSON, and return the exit code: 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks first_word")
    parser.add_argument("target", metavar="GGUF")
    parser.add_argument("--draft", metavar="GGUF")
    parser.add_argument("--ctx", type=int, default=8192)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1000, 4000], help="of prompts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    asked: list[Asked] = []
    with tempfile.TemporaryDirectory() as cache:
        models = [
            ModelParams(path, n_ctx=args.ctx, n_threads=1, n_threads_batch=1)
            for path in (args.target, args.draft)
            if path
        ]
        drafting = DraftModel(models[1]) if args.draft else None
        load = LoadPair(models[0], drafting, cache_dir=cache, kernels="auto")
        for turn in range(args.rounds):
            for n_prompt in args.tokens:
                asked += a_round(load, n_prompt, 1000 * turn + n_prompt)
    rows = rows_of(asked)
    print(json.dumps([row._asdict() for row in rows]) if args.json else table(rows))
    return 1 if any(row.misses(MOST) for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
