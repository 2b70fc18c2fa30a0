"""What an edited prompt keeps of its reply, and gains by it: ``python packaging/benchmarks edits``.

Each of 100 prompts is answered, edited in five small ways (`edited_prompts.py`) and answered again
with the same seed: by plain decoding, by `earlier` alone and by Auto, in changing order, with one
thread and in seconds of its processor time. Another seed shows what is kept by chance. Every reply
is compared with plain decoding's. With ``--log`` each edit is written down at once, and a later
run goes on after the last one.

Limits: what is kept is at least twice what another seed keeps; where 80 % are kept, `earlier` is at
least 1.5 times as fast with own kernels; Auto is at least 0.98 of plain decoding for each edit. The
exit status is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.edited_prompts import EDITS, N_PROMPTS, Edit, edited
from paceline.bench.recommend import bootstrap
from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.decode.comparison import kept_of
from paceline.engine.measure.calibration import calibrated
from paceline.figures import Kept
from paceline.messages import Calibrate, EarlierReply, ModelParams, TurnFinished

STRATEGIES = ("off", "earlier", "auto")
SEED, OTHER = 1, 2
TWICE, MUCH, FASTER, OF_PLAIN = 2.0, 0.8, 1.5, 0.98


def _reply(
    pair: Pair,
    edit: Edit,
    n_tokens: int,
    *,
    seed: int = SEED,
    how: str = "off",
    old: EarlierReply | None = None,
) -> tuple[TurnFinished, float, float]:
    """Return a reply, and the seconds of the whole and after the prompt."""
    pair.loaded.empty()
    began = time.thread_time()
    reply = generate(
        pair, edit.messages, strategy=how, sampling=edit.sampling, max_tokens=n_tokens, seed=seed,
        earlier=(old,) if old else (),
    )  # fmt: skip
    next(reply)
    read = time.thread_time()
    done = reply.finish()
    ended = time.thread_time()
    return done, ended - began, ended - read


def _kept(kept: Kept) -> list[int]:
    return [kept.n_earlier, kept.n_kept, kept.n_before, kept.n_kept_before]


def _measure(pair: Pair, n: int, name: str, n_tokens: int) -> dict[str, Any]:
    """Return what became of one edit of a prompt."""
    before, after = edited(n)[name]
    old = _reply(pair, before, n_tokens)[0].tokens
    fresh = _reply(pair, after, n_tokens, seed=OTHER)[0].tokens
    replaced = EarlierReply(old, same_prompt=before.messages == after.messages)
    row: dict[str, Any] = {"prompt": n, "edit": name, "fresh": _kept(kept_of(old, fresh))}
    tokens = set()
    first = n + EDITS.index(name)
    for i in range(len(STRATEGIES)):
        how = STRATEGIES[(first + i) % len(STRATEGIES)]
        done, whole_s, decode_s = _reply(pair, after, n_tokens, how=how, old=replaced)
        tokens.add(done.tokens)
        stats = done.stats
        row[how] = [whole_s, decode_s, stats.n_steps, stats.n_drafted, stats.n_accepted]
        row["kept"], row["n_tokens"] = _kept(kept_of(old, done.tokens)), len(done.tokens)
    return row | {"is_same": len(tokens) == 1}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and say whether the limits hold."""
    parser = argparse.ArgumentParser(prog="edits", description=__doc__)
    parser.add_argument("--target", help="default: SmolLM2-135M-Instruct in Q8_0")
    parser.add_argument("--draft", help="a draft model, for Auto; default: none")
    parser.add_argument("--kernels", choices=("own", "stock"), default="own")
    parser.add_argument("--prompts", type=int, default=N_PROMPTS)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--log", type=Path, help="rows as JSON lines, gone on with if it is there")
    parser.add_argument("--report", action="store_true", help="tell what the log has, and no more")
    args = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    if args.log and args.log.exists():
        rows = [json.loads(line) for line in args.log.read_text("utf-8").splitlines()]
    if not args.report:
        known = {(row["prompt"], row["edit"]) for row in rows}
        every = ((n, name) for n in range(args.prompts) for name in EDITS)
        _run(args, rows, [each for each in every if each not in known])
    return _judge(rows, is_own=args.kernels == "own")


def _run(
    args: argparse.Namespace, rows: list[dict[str, Any]], edits: list[tuple[int, str]]
) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    import real_models  # type: ignore[import-not-found]  # noqa: PLC0415 - it lies with the tests

    target = args.target or str(real_models.path("smollm2-135m", "q8_0"))
    draft = ModelParams(args.draft, n_ctx=1024, n_threads=1) if args.draft else None
    with load_pair(
        ModelParams(target, n_ctx=1024, n_threads=1), draft, kernels=args.kernels
    ) as pair:
        for model in pair.loaded.models:
            model.clock = time.thread_time
        calibrated(pair.loaded, Calibrate("all"))
        _reply(pair, edited(0)["synonym"][0], 20)  # its first steps are plain in any case
        for n, name in edits:
            rows.append(_measure(pair, n, name, args.tokens))
            print(f"prompt {n}, {name}", flush=True)
            if args.log:
                with args.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")


def _judge(rows: list[dict[str, Any]], *, is_own: bool) -> int:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["edit"]].append(row)
        groups["all"].append(row)
        if row["kept"][1] >= MUCH * row["kept"][0]:
            groups["keeps 80 %"].append(row)
    if not rows:
        return 2
    is_missed = False
    for name in (*EDITS, "all", "keeps 80 %"):
        group = groups[name]
        if not group:
            continue
        kept, fresh = (_shares(group, key) for key in ("kept", "fresh"))
        print(f"{name}: {len(group)} replies; kept {_told(kept)}; another seed {_told(fresh)}")
        speeds = {how: _speeds(group, how) for how in STRATEGIES[1:]}
        is_missed |= name == "all" and kept[0] < TWICE * fresh[0]
        is_missed |= name == "keeps 80 %" and is_own and speeds["earlier"] < FASTER
        is_missed |= speeds["auto"] < OF_PLAIN
    n_other = sum(not row["is_same"] for row in rows)
    print(f"{n_other} of {len(rows)} replies differ from plain decoding's")
    is_missed |= n_other > 0 and is_own
    print("a limit is missed" if is_missed else "within the limits")
    return int(is_missed)


def _shares(rows: list[dict[str, Any]], key: str) -> tuple[float, float, float]:
    """Return the shares kept of all tokens, and before and from the first insertion on."""
    n, kept, before, kept_before = (sum(row[key][i] for row in rows) for i in range(4))
    return kept / n, kept_before / max(before, 1), (kept - kept_before) / max(n - before, 1)


def _told(shares: tuple[float, float, float]) -> str:
    return "{:.0%} (before the first insertion {:.0%}, after {:.0%})".format(*shares)


def _speeds(rows: list[dict[str, Any]], how: str) -> float:
    """Print a strategy's times against plain decoding's; return the median without the prompt."""
    medians = []
    for place, what in ((1, "after the prompt"), (0, "whole")):
        found = bootstrap([[row["off"][place] / row[how][place] for row in rows]])
        total = sum(row["off"][place] for row in rows) / sum(row[how][place] for row in rows)
        medians.append(found.median)
        print(
            f"    {how:8} {what:17} {found.median:5.2f} ({found.low:.2f} to {found.high:.2f}), "
            f"of all seconds {total:.2f}"
        )
    per_step = fmean((row["n_tokens"] - 1) / max(row[how][2], 1) for row in rows)
    drafted, accepted = (sum(row[how][i] for row in rows) for i in (3, 4))
    print(f"    {how:8} {per_step:.2f} tokens per step, {accepted} of {drafted} accepted")
    return medians[0]
