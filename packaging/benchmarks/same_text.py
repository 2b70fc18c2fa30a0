"""Is the text the same? ``python packaging/benchmarks same_text --target MODEL… [--draft MODEL]``.

Counted beside what was promised: rows of logits that depend on the width of their batch, and
replies that differ from those of plain decoding. Every target is loaded with each choice of
kernels, threads and mode. Rows are compared at texts of up to 1,200 tokens
(`engine/sameness/promise.py`), at the widths in use. Replies are two turns of a chat: the shipped
prompts, after more or less other text, at temperature 0 and 0.8, once without drafts and once by
each strategy, in a context that was emptied; the second turn is looked at where the first one is
the same. A reply counts where drafts were accepted and rejected in it. The price is the time of all
drafted replies over that in default mode.

Nothing may differ that was promised: the exit status is 1 if something does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from paceline.bench.workload import Workload, read_workloads, shipped_workloads
from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.sameness.look import sample_tokens
from paceline.messages import (
    ChatMessage,
    KernelWish,
    ModelParams,
    SamplingParams,
    TurnFinished,
)

STRATEGIES = ("suffix", "ngram-simple", "auto")
MODES = ("default", "exact")
BEFORE = (0, 300, 900, 1200)
"""Tokens of other text in front of a prompt."""
_AGAIN = "Say that again in one sentence."


@dataclass
class Result:
    """What was found with one target, loaded one way.

    Attributes:
        promised: `Sameness.holds` after the looks.
        n_rows: Rows that were compared at the widths in use.
        n_replies: Drafted replies in which drafts were accepted and rejected.
        n_other: How many of them were not what plain decoding gives.
        n_turns: Second turns that were compared.
        n_other_turns: How many of them differ.
        seconds: Of all drafted replies.
    """

    target: str
    kernels: str
    threads: int
    mode: str
    widths: str = ""
    promised: bool | None = None
    n_rows: int = 0
    difference: float | None = None
    n_replies: int = 0
    n_other: int = 0
    n_turns: int = 0
    n_other_turns: int = 0
    seconds: float = 0.0

    @property
    def is_broken(self) -> bool:
        """Whether something differs that was promised."""
        return self.promised is True and bool(self.n_other or self.n_other_turns)


def measure(result: Result, pair: Pair, args: argparse.Namespace) -> None:
    """Compare rows, then replies."""
    promise = pair.loaded.promise
    while promise.sameness.n_rows < args.rows and promise.look_at_a_text():
        promise.settle()
    for prompt, sampling, seed in _turns(pair, args.prompts):

        def reply(
            prompt: tuple[ChatMessage, ...],
            strategy: str,
            sampling: SamplingParams = sampling,
            seed: int = seed,
            *,
            is_next: bool = False,
        ) -> TurnFinished:
            if not is_next:
                pair.loaded.empty()
            options = {"max_tokens": args.tokens, "seed": seed, "sampling": sampling}
            return generate(pair, prompt, strategy=strategy, **options).finish()

        plain = reply(prompt, "off")
        again = (*prompt, ChatMessage("assistant", plain.text), ChatMessage("user", _AGAIN))
        # Exact mode promises a next turn that is that of an empty context, too.
        plain_next = reply(again, "off", is_next=not promise.sameness.is_exact)
        for strategy in args.strategies:
            began = time.perf_counter()
            found = reply(prompt, strategy)
            result.seconds += time.perf_counter() - began
            is_same = found.tokens == plain.tokens
            if 0 < found.stats.n_accepted < found.stats.n_drafted:
                result.n_replies += 1
                result.n_other += not is_same
            if is_same:
                result.n_turns += 1
                found_next = reply(again, strategy, is_next=True)
                result.n_other_turns += found_next.tokens != plain_next.tokens
    sameness = promise.sameness
    result.promised, result.n_rows = sameness.holds, sameness.n_rows
    result.difference = sameness.difference
    result.widths = str(pair.loaded.target.widths)


def _turns(
    pair: Pair, n_prompts: int
) -> Iterator[tuple[tuple[ChatMessage, ...], SamplingParams, int]]:
    """Return conversations, how their replies are drawn, and seeds."""
    workloads: list[Workload] = []
    for name in ("standard", "held_out"):
        workloads += [w for w in read_workloads(shipped_workloads(name)) if w.messages]
    for number in range(n_prompts):
        messages = workloads[number % len(workloads)].messages
        n_before = BEFORE[number % len(BEFORE)]
        tokens = sample_tokens(pair.vocab, n_before, number)
        text = b"".join(map(pair.vocab.piece, tokens)).decode(errors="replace")
        first = ChatMessage(messages[0].role, f"{text}\n\n{messages[0].content}".strip())
        for temperature in (0.0, 0.8):
            yield (first, *messages[1:]), SamplingParams(temperature=temperature), number + 1


def _row(result: Result, usual: Result | None) -> tuple[str, ...]:
    promised = {True: "yes", False: "no", None: "open"}[result.promised]
    apart = "" if result.difference is None else f"{result.difference:.2g}"
    price = f"{result.seconds / usual.seconds:.2f}" if usual and usual.seconds else ""
    return (
        result.target, result.kernels, str(result.threads), result.mode, result.widths, promised,
        f"{result.n_rows}", apart, f"{result.n_other} of {result.n_replies}",
        f"{result.n_other_turns} of {result.n_turns}", price,
    )  # fmt: skip


_HEAD = (
    "target", "kernels", "threads", "mode", "widths", "promised", "rows", "apart",
    "replies that differ", "next turns", "price",
)  # fmt: skip


def _show(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python packaging/benchmarks same_text", description=__doc__
    )
    parser.add_argument("--target", nargs="+", required=True, type=Path)
    parser.add_argument("--draft", type=Path)
    parser.add_argument("--kernels", nargs="+", default=["own", "stock"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--prompts", type=int, default=30)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    results: list[Result] = []
    rows: list[tuple[str, ...]] = [_HEAD]
    for target in args.target:
        for kernels in args.kernels:
            for threads in args.threads:
                usual: Result | None = None
                for mode in args.modes:
                    result = Result(target.stem, kernels, threads, mode)
                    wish: KernelWish = kernels
                    params = [
                        ModelParams(str(path), n_threads=threads)
                        for path in (target, args.draft)
                        if path is not None
                    ]
                    with load_pair(*params, exact=mode == "exact", kernels=wish) as pair:
                        measure(result, pair, args)
                    usual = usual or result
                    results.append(result)
                    rows.append(_row(result, usual))
                    sys.stderr.write(_show([rows[0], rows[-1]]) + "\n")
    sys.stdout.write(_show(rows) + "\n")
    if args.json:
        args.json.write_text(json.dumps([asdict(r) for r in results], indent=1), "utf-8")
    return int(any(result.is_broken for result in results))


if __name__ == "__main__":
    sys.exit(main())
