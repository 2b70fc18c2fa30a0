"""What stored chats cost: ``python packaging/benchmarks storage``.

Builds a database of 10,000 conversations with 200,000 messages (words from Python's own library,
some replies of 200 kB, one conversation of 10,000 messages, a run record with every reply), then
measures what a person waits for: the start, opening conversations, searching, and how long a
message takes to be safe on the disk. Limits: 100 ms for the start, 5 ms for a conversation of 20
messages, 300 ms for the one of 10,000, 50 ms for 95 of 100 searches. Wall time; `--keep FILE` keeps
the database for another run.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from paceline.bench.recommend import percentile
from paceline.conversation import Conversation, Message, Role, title_of
from paceline.figures import DraftCount, TokenTrace, TurnStats
from paceline.messages import StepCommitted
from paceline.run_record import ModelRecord, RunRecord
from paceline.storage.archive import Archive

N_CONVERSATIONS, N_MESSAGES, N_LONG = 10_000, 200_000, 10_000
LIMITS_MS = {
    "start": 100.0,
    "open": 5.0,
    "open-longest": 300.0,
    "search": 50.0,
}
_LONG_REPLY, _EVERY = 200_000, 5_000
_STEPS = 30
_ROUNDS = 40
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing that was timed.

    Attributes:
        name: What; limits go by the part before the colon.
        n: How often.
        p50_ms: Half of them took less.
        p95_ms: Nineteen of twenty took less.
        max_ms: The slowest.
        n_found: What was found, where that says something.
    """

    name: str
    n: int
    p50_ms: float
    p95_ms: float
    max_ms: float
    n_found: int = 0

    @property
    def is_late(self) -> bool:
        """Whether a limit is broken."""
        limit = LIMITS_MS.get(self.name.split(":")[0])
        return limit is not None and self.p95_ms > limit


class Texts:
    """Random pieces of a large text; the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        folder = Path(sysconfig.get_path("stdlib"))
        files = sorted(folder.glob("*.py")) + sorted(folder.glob("*/*.py"))
        self._text = "".join(file.read_text("utf-8", "replace") for file in files)
        self.random = random.Random(seed)

    def piece(self, n: int) -> str:
        """About `n` characters."""
        start = self.random.randrange(max(len(self._text) - n, 1))
        return self._text[start : start + n].strip() or "empty"

    def words(self, least: int) -> list[str]:
        """Words of at least so many letters, the most frequent first."""
        counts: dict[str, int] = {}
        for word in re.findall(r"[^\W_]+", self._text.lower()):
            if len(word) >= least:
                counts[word] = counts.get(word, 0) + 1
        return sorted(counts, key=lambda word: -counts[word])


def build(archive: Archive, texts: Texts, n_conversations: int, n_messages: int) -> float:
    """Fill a database; return the seconds that took.

    Args:
        archive: Open and empty.
        texts: Where the words come from.
        n_conversations: How many; the first is long.
        n_messages: In all.
    """
    began = time.monotonic()
    n_long = min(N_LONG, n_messages // 2)
    per_chat = (n_messages - n_long) // (n_conversations - 1)
    record = _record(texts)
    n_replies = 0
    for number in range(n_conversations):
        n = n_long if number == 0 else per_chat
        messages: dict[str, Message] = {}
        parent = None
        for i in range(n):
            key = f"{number:08x}{i:024x}"
            is_reply = i % 2 == 1
            n_replies += is_reply
            size = texts.random.randint(200, 1200) if is_reply else texts.random.randint(20, 200)
            if is_reply and n_replies % _EVERY == 0:
                size = _LONG_REPLY
            role: Role = "assistant" if is_reply else "user"
            messages[key] = Message(key, parent, role, texts.piece(size), 1e9 + number)
            parent = key
        first = next(iter(messages.values()))
        chat = Conversation(
            f"{number:032x}", title_of(first.content), 1e9 + number, 1e9 + number,
            messages=MappingProxyType(messages), leaf_id=parent,
        )  # fmt: skip
        archive.save(chat, list(messages))
        for message in messages.values():
            if message.role == "assistant":
                archive.end_run(replace(record, message_id=message.message_id), message.content)
        if number % 200 == 0 and not archive.flush(600):
            raise RuntimeError(f"cannot be written: {archive.problem}")
    archive.flush(600)
    return time.monotonic() - began


def measure(path: Path, texts: Texts) -> list[Measured]:
    """Time everything on a database that `build` filled."""
    results = [_start(path)]
    archive = Archive(path)
    archive.open()
    try:
        results += _opening(archive, texts)
        results += _searching(archive, texts)
        results += _writing(archive, texts)
    finally:
        archive.close()
    return results


def _start(path: Path) -> Measured:
    times = []
    for _ in range(5):
        archive = Archive(path)
        began = time.perf_counter()
        archive.open()
        n = len(archive.summaries())
        times.append(time.perf_counter() - began)
        archive.close()
    return _measured("start", times, n)


def _opening(archive: Archive, texts: Texts) -> Iterator[Measured]:
    ids = [summary.conversation_id for summary in archive.summaries()]
    longest, some = f"{0:032x}", texts.random.sample(ids[1:], min(300, len(ids) - 1))
    chats = {"open": some, "open-longest": [longest] * 5}
    for name, wanted in chats.items():
        yield _measured(name, [_time(archive.load, key) for key in wanted])
        yield _measured(f"{name}-records", [_time(archive.runs, key) for key in wanted])
    replies = [f"{texts.random.randrange(1, len(ids)):08x}{1:024x}" for _ in range(100)]
    yield _measured("steps", [_time(archive.steps, key) for key in replies])


def _searching(archive: Archive, texts: Texts) -> Iterator[Measured]:
    words = texts.words(4)
    drawn = texts.random
    common, rare = words[:100], words[len(words) // 3 :]
    searches: dict[str, Callable[[], str]] = {
        "common word": lambda: drawn.choice(common),
        "rare word": lambda: drawn.choice(rare),
        "two common words": lambda: " ".join(drawn.sample(common, 2)),
        "common and rare": lambda: f"{drawn.choice(common)} {drawn.choice(rare)}",
        "four letters": lambda: drawn.choice(words)[:4],
        "three letters": lambda: drawn.choice(words)[:3],
        "two letters": lambda: drawn.choice(words)[:2],
        "one letter": lambda: drawn.choice(words)[:1],
        "no hit": lambda: f"{drawn.choice(common)} qqqzzz{drawn.random()}",
    }
    for name, make in searches.items():
        times, n_found = [], 0
        for _ in range(_ROUNDS):
            text = make()
            began = time.perf_counter()
            n_found += len(archive.search(text))
            times.append(time.perf_counter() - began)
        yield _measured(f"search: {name}", times, n_found)


def _writing(archive: Archive, texts: Texts) -> Iterator[Measured]:
    chat = Conversation("written", created_s=1.0)
    times = []
    for i in range(_ROUNDS):
        chat = chat.add(Message(f"written-{i}", chat.leaf_id, "user", texts.piece(200), 1.0))
        began = time.perf_counter()
        archive.save(chat, [f"written-{i}"])
        archive.flush()
        times.append(time.perf_counter() - began)
    yield _measured("write, durable", times)
    archive.remove("written")
    yield _measured("purge, until gone from the tables", [_time(_purge, archive)])


def _purge(archive: Archive) -> None:
    archive.purge("written")
    archive.flush()


def _time(action: Callable[[_T], object], value: _T) -> float:
    began = time.perf_counter()
    action(value)
    return time.perf_counter() - began


def _measured(name: str, times: Sequence[float], n_found: int = 0) -> Measured:
    ms = [1000 * value for value in times]
    return Measured(name, len(ms), statistics.median(ms), percentile(ms, 0.95), max(ms), n_found)


def _record(texts: Texts) -> RunRecord:
    """A reply of 60 tokens in 30 steps."""
    drawn = texts.random
    parts = (("draft", 0, 0.912), ("target", -1, None))
    steps = tuple(
        StepCommitted(
            "turn", i,
            tuple(
                TokenTrace(drawn.randrange(150_000), source, place, confidence, 8 * i + 4 * place)
                for source, place, confidence in parts
            ),
            texts.piece(8), (DraftCount("draft", 3, 1),),
            drawn.random() / 50, drawn.random() / 20, drawn.random() / 900, drawn.random() / 10,
        )
        for i in range(_STEPS)
    )  # fmt: skip
    stats = TurnStats(None, 100, 0, 60, 0.2, 2.0, 2.2, 30.0, 18.0, 30, 90, 30, 0, 0.33, 2.0, 0.01)
    model = ModelRecord("A model", "model-q8_0.gguf", "llama", "1B Q8_0", 10**9, 10**9, 4096, 4)
    return RunRecord(
        "", "finished", 1e9, "draft", "draft", seed=1, max_tokens=1024, stats=stats, reason="eog",
        target=model, draft=replace(model, name="A small model"), steps=steps,
    )  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every limit was kept."""
    parser = argparse.ArgumentParser(prog="benchmarks.storage", description=__doc__)
    parser.add_argument("--conversations", type=int, default=N_CONVERSATIONS)
    parser.add_argument("--messages", type=int, default=N_MESSAGES)
    parser.add_argument("--keep", type=Path, help="a database to keep, or to measure again")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    texts = Texts()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "chats.db"
        build_s = 0.0
        if not path.exists():
            archive = Archive(path)
            archive.open()
            build_s = build(archive, texts, options.conversations, options.messages)
            archive.close()
        results = measure(path, texts)
        size = path.stat().st_size
    if options.json:
        rows = [asdict(result) for result in results]
        print(json.dumps({"build_s": build_s, "bytes": size, "results": rows}, indent=1))
    else:
        print(f"{'':36}{'n':>5}{'p50 ms':>10}{'p95 ms':>10}{'max ms':>10}{'found':>8}")
        for result in results:
            print(
                f"{result.name:36}{result.n:5}{result.p50_ms:10.2f}{result.p95_ms:10.2f}"
                f"{result.max_ms:10.2f}{result.n_found:8}{'  LATE' if result.is_late else ''}"
            )
        print(f"{size / 2**20:.0f} MiB on disk, built in {build_s:.0f} s")
    return int(any(result.is_late for result in results))


if __name__ == "__main__":
    sys.exit(main())
