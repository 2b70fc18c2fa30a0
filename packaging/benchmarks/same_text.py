"""Is the text the same? ``python packaging/benchmarks same_text --log FILE --target MODEL…``.

Counted beside what was promised: replies that differ from those of plain decoding, and rows of
logits in them that do. A *way* is a target with a choice of kernels, threads and mode. First it is
looked at until something is promised or not (`engine/sameness/promise.py`). Replies are two turns
of a chat: the shipped prompts, after up to 1,200 tokens of other text, at temperature 0 and 0.8,
once without drafts and once by each strategy, over the same cells of the prompt; a prompt has half
of the strategies at one temperature and half at the other, the next one the other way round. A
reply counts where drafts were accepted and rejected in it. Wherever it agrees so far, each row that
it drew from is compared bit by bit with that of plain decoding: rows that are equal give one text
at any temperature and seed, so they say more than the texts do. The second turn, a third as long,
is looked at where the first one is the same. The price is the thread's processor time of all
replies over that in default mode, after their first steps; with two threads it tells nothing.

All of it takes a night, so the log gets a line for each way and prompt, every way has its first
prompt before one has its second, and what the log has is not done again: the benchmark may be
stopped at any time, goes on where it was, and `--show` prints what is there. Evidence is kept
beside the log, as the program keeps it between loads.

Nothing may differ that was promised: the exit status is 1 if something does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

from paceline.bench.workload import read_workloads, shipped_workloads
from paceline.cli.output import in_columns
from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import common_prefix
from paceline.engine.sameness.look import sample_tokens
from paceline.messages import (
    Chat,
    ChatMessage,
    KernelWish,
    LogitBias,
    ModelParams,
    SamplingParams,
    TurnFinished,
)
from upper_bound import at_most

STRATEGIES = ("suffix", "draft", "ngram-simple", "auto")
MODES = ("default", "exact")
TEMPERATURES = (0.0, 0.8)
BEFORE = (0, 300, 900, 1200)
"""Tokens of other text in front of a prompt. Ways begin at different ones, both modes alike, so
that few prompts of each see all of them."""
_AGAIN = "Say that again in one sentence."
_ALL = "all targets"
_WAY = ("target", "kernels", "threads", "mode")


class Options(TypedDict):
    """Sampling settings of all replies to a prompt; see `generate`."""

    seed: int
    max_tokens: int
    ignore_eog: bool


Line = dict[str, Any]
"""Pattern of the log's line on one way with one prompt:

`_WAY` and `prompt` (its number) say which; `before` is how many tokens are in front; `promised` is
`Sameness.holds` at its beginning, `looks` (rows), `apart` and `widths` what was known of rows by
then; `replies` has one entry for each temperature and strategy.
"""


class Way(NamedTuple):
    """A target with its way of loading."""

    target: Path
    draft: Path | None
    kernels: str
    threads: int
    mode: str

    @property
    def key(self) -> tuple[str, str, int, str]:
        """The parts that `_WAY` names in the log."""
        return self.target.stem, self.kernels, self.threads, self.mode

    def n_before(self, number: int) -> int:
        """Return how many tokens of other text this prompt has in front of it."""
        shift = zlib.crc32(f"{self.target.stem} {self.kernels} {self.threads}".encode())
        return BEFORE[(number + shift) % len(BEFORE)]


# --------------------------------------------------------------------------------- measuring


def measure(way: Way, number: int, args: argparse.Namespace) -> Line:
    """Load a target one way, compare rows, then the replies to one prompt."""
    params = [
        ModelParams(str(path), n_threads=way.threads)
        for path in (way.target, way.draft)
        if path is not None
    ]
    n_tokens = args.tokens[min(way.threads, len(args.tokens)) - 1]
    facts = args.log.with_suffix(".facts")
    kernels = cast("KernelWish", way.kernels)
    with load_pair(*params, exact=way.mode == "exact", kernels=kernels, cache_dir=facts) as pair:
        promise = pair.loaded.promise
        while promise.sameness.holds is None and promise.look_at_a_text():
            promise.choose_widths()
        sameness = promise.sameness
        return {
            **dict(zip(_WAY, way.key, strict=True)),
            "prompt": number,
            "before": way.n_before(number),
            "promised": sameness.holds,
            "looks": sameness.n_rows,
            "apart": sameness.difference,
            "widths": str(pair.loaded.target.widths),
            "replies": [
                reply
                for turn, temperature in enumerate(TEMPERATURES)
                for reply in _replies(
                    pair,
                    _prompt(pair, number, way.n_before(number)),
                    _sampling(pair, temperature, args.few),
                    {"seed": number + 1, "max_tokens": n_tokens, "ignore_eog": True},
                    args.strategies[(number + turn) % 2 :: 2],
                )
            ],
        }


class RowDigests(dict[int, int]):
    """The last row of logits at each place in a context, as long as this process runs."""

    def __init__(self, context: CachedContext) -> None:
        super().__init__()
        feed = context.feed

        def watched(tokens: Sequence[int], n_rows: int, width: int = 0) -> Rows:
            first = len(context.tokens) + len(tokens) - n_rows
            rows = feed(tokens, n_rows, width)
            self.update((first + i, hash(row.tobytes())) for i, row in enumerate(rows))
            return rows

        context.feed = watched  # type: ignore[method-assign]

    def taken(self, n_tokens: int) -> list[int]:
        """Return those that a reply of so many tokens was drawn from, and begin anew."""
        first = min(self)  # the prompt's last token
        found = [self[first + i] for i in range(n_tokens)]
        self.clear()
        return found


def _replies(
    pair: Pair,
    prompt: Sequence[ChatMessage],
    sampling: SamplingParams,
    options: Options,
    strategies: Iterable[str],
) -> Iterator[Line]:
    """Generate two turns without drafts and by each strategy, and compare."""
    temperature, n_tokens = sampling.temperature, options["max_tokens"]
    digests = RowDigests(pair.loaded.target)

    def reply(
        messages: Sequence[ChatMessage], strategy: str, most: int
    ) -> tuple[TurnFinished, list[int], float]:
        wanted: Options = {**options, "max_tokens": most}
        made = generate(pair, messages, strategy=strategy, sampling=sampling, **wanted)
        next(made)  # with the prefill
        began = time.thread_time()
        done = made.finish()
        seconds = time.thread_time() - began
        return done, digests.taken(len(done.tokens)), seconds

    reply(prompt, "off", 1)  # so that all find the same cells of the prompt
    plain, plain_rows, plain_s = reply(prompt, "off", n_tokens)
    yield {"temperature": temperature, "strategy": "off", "seconds": round(plain_s, 4)}
    again = [
        *prompt,
        ChatMessage.of_text("assistant", plain.text),
        ChatMessage.of_text("user", _AGAIN),
    ]
    if pair.loaded.promise.sameness.is_exact:
        pair.loaded.empty()  # exact mode promises a next turn that is that of an empty context, too
    plain_next, *_ = reply(again, "off", n_tokens // 3)
    for strategy in strategies:
        if strategy.startswith("draft") and pair.draft is None:
            continue
        found, found_rows, found_s = reply(prompt, strategy, n_tokens)
        is_same = found.tokens == plain.tokens
        n_same = common_prefix(found.tokens, plain.tokens)
        rows = [a == b for a, b in zip(found_rows, plain_rows, strict=True)][: n_same + 1]
        yield {
            "temperature": temperature,
            "strategy": strategy,
            "accepted": found.stats.n_accepted,
            "drafted": found.stats.n_drafted,
            "seconds": round(found_s, 4),
            "rows": len(rows),
            "rows_off": rows.count(False),
            "same": is_same,
            "next_same": is_same
            and reply(again, strategy, n_tokens // 3)[0].tokens == plain_next.tokens,
        }


def _sampling(pair: Pair, temperature: float, n_few: int) -> SamplingParams:
    """Return how replies are drawn; above 0, of so many tokens alone."""
    few = sample_tokens(pair.vocab, n_few, 0)
    others = {*range(pair.vocab.n_tokens)} - {*few} if few else ()
    biases = tuple(LogitBias(token, -math.inf) for token in others)
    return SamplingParams(temperature=temperature, logit_bias=biases)


def _prompt(pair: Pair, number: int, n_before: int) -> list[ChatMessage]:
    """Return the conversation of this number, after so many tokens of other text."""
    chats = [
        workload.prompt
        for name in ("standard", "held_out")
        for workload in read_workloads(shipped_workloads(name))
        if isinstance(workload.prompt, Chat)
    ]
    first, *others = chats[number % len(chats)].messages
    tokens = sample_tokens(pair.vocab, n_before, number)
    text = b"".join(map(pair.vocab.piece, tokens)).decode(errors="replace")
    return [ChatMessage.of_text(first.role, f"{text}\n\n{first.text}".strip()), *others]


# ------------------------------------------------------------------------------- counting


@dataclass
class Count:
    """The log's figures of one way at one temperature.

    Attributes:
        promised: `Sameness.holds` at each prompt.
        n_replies: Drafted replies in which drafts were accepted and rejected.
        n_other: Number of those replies that differ from plain decoding.
        n_next: Second turns that were compared.
        n_other_next: Number of those turns that differ.
        n_rows: Rows of drafted replies that were compared.
        n_rows_off: Number of those rows that differ from plain decoding.
        n_checked: Replies and second turns that were promised to be the same.
        n_broken: Number of broken promises, also in replies whose drafts were all accepted.
        n_promised_rows: `n_rows` where the same text was promised.
        n_broken_rows: Number of those rows that differ.
        seconds: Seconds by prompt and strategy.
    """

    last: Line = field(default_factory=dict)
    promised: list[bool | None] = field(default_factory=list)
    n_replies: int = 0
    n_other: int = 0
    n_next: int = 0
    n_other_next: int = 0
    n_rows: int = 0
    n_rows_off: int = 0
    n_checked: int = 0
    n_broken: int = 0
    n_promised_rows: int = 0
    n_broken_rows: int = 0
    seconds: dict[tuple[int, str], float] = field(default_factory=dict)

    def add(self, line: Line, temperature: float) -> None:
        """Add the figures of one prompt."""
        self.last = line
        self.promised.append(line["promised"])
        for reply in line["replies"]:
            if reply["temperature"] != temperature:
                continue
            self.seconds[line["prompt"], reply["strategy"]] = reply["seconds"]
            if reply["strategy"] == "off":
                continue
            counts = 0 < reply["accepted"] < reply["drafted"]
            is_same = reply["same"]
            is_other_next = is_same and not reply["next_same"]
            self.n_replies += counts
            self.n_other += counts and not is_same
            self.n_next += is_same
            self.n_other_next += is_other_next
            self.n_rows += reply["rows"]
            self.n_rows_off += reply["rows_off"]
            if line["promised"]:
                self.n_checked += counts + is_same
                self.n_broken += (not is_same) + is_other_next
                self.n_promised_rows += reply["rows"]
                self.n_broken_rows += reply["rows_off"]

    @property
    def is_withdrawn(self) -> bool:
        """Return whether a row differed although the engine had promised that none does."""
        return any(a and b is False for a, b in itertools.pairwise(self.promised))

    def price(self, usual: Count) -> float | None:
        """Return seconds over those of the same replies in another count."""
        both = self.seconds.keys() & usual.seconds.keys()
        total = sum(usual.seconds[each] for each in both)
        return sum(self.seconds[each] for each in both) / total if total else None


def counted(lines: Iterable[Line]) -> dict[tuple[Any, ...], Count]:
    """Return the counts by `_WAY` and temperature."""
    counts: dict[tuple[Any, ...], Count] = defaultdict(Count)
    for line in lines:
        for temperature in TEMPERATURES:
            counts[(*(line[name] for name in _WAY), temperature)].add(line, temperature)
    return counts


_HEAD = (
    *_WAY, "T", "promised", "widths", "looks", "apart", "prompts", "replies that differ",
    "next turns", "rows that differ", "broken", "at most", "price",
)  # fmt: skip


def report(lines: Sequence[Line]) -> tuple[str, bool]:
    """Return the table of all ways, and whether a promise was broken."""
    counts = counted(lines)
    rows = [_HEAD]
    for key, count in sorted(counts.items()):
        *way, mode, temperature = key
        price = count.price(counts[(*way, MODES[0], temperature)]) if mode != MODES[0] else None
        says = {True: "yes", False: "no", None: "open"}
        promised = "withdrawn" if count.is_withdrawn else says[count.promised[-1]]
        apart = count.last["apart"]
        rows.append((
            *map(str, key), promised, count.last["widths"], str(count.last["looks"]),
            "" if apart is None else f"{apart:.2g}", str(len(count.promised)),
            f"{count.n_other} of {count.n_replies}",
            f"{count.n_other_next} of {count.n_next}",
            f"{count.n_rows_off} of {count.n_rows}",
            f"{count.n_broken} of {count.n_checked}" if count.n_checked else "",
            f"{at_most(count.n_broken, count.n_checked):.1%}" if count.n_checked else "",
            f"{price:.2f}" if price and key[2] == 1 else "",
        ))  # fmt: skip
    text = in_columns(rows).splitlines()
    by_target: dict[str, Count] = defaultdict(Count)
    for (target, *_), count in counts.items():
        for total in (by_target[target], by_target[_ALL]):
            total.n_checked += count.n_checked
            total.n_broken += count.n_broken
            total.n_promised_rows += count.n_promised_rows
            total.n_broken_rows += count.n_broken_rows
    text.append("\nPromised, and yet different; shares are upper limits at 95 %:")
    text += [
        f"{target}: {total.n_broken} of {total.n_checked} replies and next turns "
        f"({at_most(total.n_broken, total.n_checked):.2%}), {total.n_broken_rows} of "
        f"{total.n_promised_rows} rows ({at_most(total.n_broken_rows, total.n_promised_rows):.3%})"
        for target, total in sorted(by_target.items(), key=lambda item: item[0] == _ALL)
    ]
    drafted = Counter(
        reply["strategy"]
        for line in lines
        for reply in line["replies"]
        if 0 < reply.get("accepted", 0) < reply.get("drafted", 0)
    )
    by_strategy = ", ".join(f"{name} {n}" for name, n in sorted(drafted.items()))
    text.append(f"Replies with drafts accepted and rejected: {by_strategy}.")
    is_broken = any(c.n_broken or c.n_broken_rows or c.is_withdrawn for c in counts.values())
    return "\n".join(text) + "\n", is_broken


# ---------------------------------------------------------------------------------- running


def read_log(path: Path) -> list[Line]:
    """Return the lines of a log; one that was cut off counts as missing."""
    lines: list[Line] = []
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            lines.append(json.loads(text))
        except ValueError:
            continue
    return lines


def to_do(
    ways: Sequence[Way], lines: Iterable[Line], n_prompts: int, most_open: int
) -> Iterator[tuple[Way, int]]:
    """Return what the log does not have yet, one prompt of each way before the next of any.

    Args:
        ways: All of them.
        lines: The log, which may grow meanwhile.
        n_prompts: Number of prompts for each way.
        most_open: Prompts after which a way has no further one where nothing is promised.
    """
    for number in range(n_prompts):
        for way in ways:
            of_way = [line for line in lines if tuple(line[name] for name in _WAY) == way.key]
            if any(line["prompt"] == number for line in of_way):
                continue
            if number < most_open or not of_way or of_way[-1]["promised"]:
                yield way, number


def _target(text: str) -> tuple[Path, Path | None]:
    target, _, draft = text.partition(",")
    return Path(target), Path(draft) if draft else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python packaging/benchmarks same_text",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--log", required=True, type=Path, help="JSON lines; is made or goes on")
    parser.add_argument("--show", action="store_true", help="print what the log has, and stop")
    parser.add_argument("--target", nargs="+", default=[], type=_target, metavar="MODEL[,DRAFT]")
    parser.add_argument("--kernels", nargs="+", default=["own", "stock"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--prompts", type=int, default=30)
    parser.add_argument("--most-open", type=int, default=30, help="prompts where nothing holds")
    parser.add_argument(
        "--tokens", nargs="+", type=int, default=[200], help="of a reply; with one thread, two, …"
    )
    few = "tokens that replies consist of, so that random models say something again; 0 for all"
    parser.add_argument("--few", type=int, default=0, help=few)
    args = parser.parse_args(arguments)
    lines = read_log(args.log)
    ways = [
        Way(target, draft, kernels, threads, mode)
        for (target, draft), kernels, threads, mode in itertools.product(
            args.target, args.kernels, args.threads, args.modes
        )
    ]
    args.log.parent.mkdir(parents=True, exist_ok=True)
    for way, number in () if args.show else to_do(ways, lines, args.prompts, args.most_open):
        lines.append(measure(way, number, args))
        with args.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(lines[-1]) + "\n")
        sys.stderr.write(f"{' '.join(map(str, way.key))}: prompt {number + 1}\n")
    text, is_broken = report(lines)
    sys.stdout.write(text)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
