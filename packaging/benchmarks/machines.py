"""Auto on eleven simulated machines: ``python packaging/benchmarks machines``.

Machines and texts are those of `tests/engine/auto/simulator.py`: what a verify batch costs by its
width, a drafted token, and a token of the prompt, as measured or published; texts of the easiness
that chats and code have, texts that are copied, and drafters that are always wrong. Shown are, by
machine and text, how much faster than plain decoding the whole turn is, which share of the gain of
the best fixed setting that is (chosen in hindsight, with nothing to read), and by how many plain
steps a turn was later than 1.02 times plain decoding and, where there is a draft model, the
prompt's share. Limits: no turn is later than promised, but for the noise of its timings, and
without a prompt useless drafts leave 0.985 of plain decoding's speed.

``--texts prose source turns`` are texts as MTP heads foresee them: two of five tokens of prose,
seven of eight of code, and both by turns.

``--prompt N`` puts a prompt of so many tokens before each reply, which the draft model has not
read; ``--learned`` begins without any knowledge of the machine.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, geometric_mean

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))  # the simulator lies there

from engine.auto import simulator as sim  # type: ignore[import-not-found]
from paceline.engine.auto import Knowledge
from paceline.engine.auto.tuning import TUNING

TEXTS = ("hard", "chat", "code", "copy", "table", "useless", "free")
USELESS = ("useless", "free")
"""Texts of which the draft model, or every lookup, knows nothing."""
WITHOUT_MODEL = ("table", "free")
LEAST = 0.985
MOST_LATE = 4.6
"""Four plain steps are promised; the rest is the noise of some hundred timings."""
_LENGTHS = (*range(9), 12, 16)
_COPIED = (1, 2, 3, 5, 7, 15, 31)
_N_MOST = 40


@dataclass(frozen=True, slots=True)
class Row:
    """Several replies of one kind on one machine.

    Attributes:
        machine: Its name.
        text: The kind.
        gain: Seconds of plain decoding over Auto's, prefill included; the mean.
        share: That over the mean gain of the best fixed settings.
        late: Plain steps beyond 1.02 times plain decoding and what the prompt adds; the most.
    """

    machine: str
    text: str
    gain: float
    share: float
    late: float


@cache
def text_of(kind: str, run: int, n: int) -> sim.Text:
    """Return a text of `n` tokens, the same one for every machine."""
    rng = random.Random(f"{kind}{run}")
    base = {"copy": "chat", "table": "hard", "free": "hard"}.get(kind, kind)
    text = sim.write(rng, (sim.KINDS | sim.HEADS).get(base, sim.USELESS), n)
    copies = {
        "copy": ((0.6, 120.0, 0.3), (0.3, 20.0, 0.5)),
        "table": ((0.5, 9.0, 0.3), (0.4, 6.0, 0.5)),
        "free": ((0.02, 5.0, 0.3), (0.0, 20.0, 0.6)),
    }.get(kind, ())
    for name, (share, length, false) in zip(("suffix", "ngram"), copies, strict=False):
        sim.copy_into(text, rng, name, share=share, length=length, false=false)
    return text


def measure(
    machines: Sequence[str] = tuple(sim.MACHINES),
    texts: Sequence[str] = TEXTS,
    *,
    n_runs: int = 2,
    n_tokens: int = 500,
    n_prompt: int = 0,
    is_known: bool = True,
) -> Iterator[Row]:
    """Decode these texts on these machines.

    Args:
        machines: Their names.
        texts: Their kinds.
        n_runs: Replies of each.
        n_tokens: Tokens of a reply.
        n_prompt: Tokens of the prompt; 0: no prefill counts.
        is_known: Whether the machine's costs are known; a reply learns them otherwise.
    """
    for name in machines:
        kit = sim.MACHINES[name]
        prefill = kit.prefill * n_prompt
        for kind in texts:
            has_model = kind not in WITHOUT_MODEL
            lent = (TUNING.promised_share + TUNING.reading_share) * prefill if has_model else 0.0
            gains, best, late = [], [], []
            for run in range(n_runs):
                text = text_of(kind, run, n_tokens)
                known = sim.calibrated(kit.curve, kit.draft, kit.batched)
                machine = sim.Machine(
                    kit.curve, kit.draft, random.Random(run), batched=kit.batched, cold=0.03
                )
                reply = sim.decode(
                    known if is_known else Knowledge(),
                    text,
                    machine,
                    n_tokens,
                    model="draft" if has_model else "",
                    n_most=_N_MOST,
                    n_prompt=max(n_prompt, 1),
                    prefill=kit.prefill if n_prompt else 0.0,
                )
                plain, took = reply.plain / sim.PLAIN_S, reply.seconds / sim.PLAIN_S
                gains.append((prefill + plain) / (prefill + took))
                best.append(
                    (prefill + plain) / (prefill + plain / _best_fixed(text, kit, n_tokens))
                )
                late.append(reply.excess - lent)
            yield Row(name, kind, fmean(gains), fmean(gains) / fmean(best), max(late))


def _best_fixed(text: sim.Text, kit: sim.Kit, n: int) -> float:
    """Return the gain of the best length that every step drafts, by the model or a copy."""
    gains: list[float] = [sim.fixed(text, kit.curve, kit.draft, k, n) for k in _LENGTHS]
    if "suffix" in text.copies:
        gains += [_copied(text, kit, k, n) for k in _COPIED]
    return max(gains)


def _copied(text: sim.Text, kit: sim.Kit, k: int, n: int) -> float:
    done, took = 0, 0.0
    while done < n:
        n_right, said = text.copies["suffix"][done]
        n_drafted = min(len(said), k)
        done += min(n_right, n_drafted) + 1
        took += kit.curve(n_drafted + 1)
    return done / took


def is_kept(rows: Sequence[Row], *, least: float = LEAST) -> bool:
    """Whether all of them keep the limits; `least`: what useless drafts leave."""
    return all(row.late <= MOST_LATE for row in rows) and all(
        row.gain >= least for row in rows if row.text in USELESS
    )


def report(rows: Sequence[Row]) -> str:
    """Return a table, and the geometric means and worst cases of all."""
    lines = [f"{'machine':9}{'text':9}{'gain':>8}{'share':>8}{'late':>9}"]
    lines += [
        f"{row.machine:9}{row.text:9}{row.gain:8.3f}{row.share:8.3f}{row.late:9.1f}" for row in rows
    ]
    useful = [row for row in rows if row.text not in USELESS]
    useless = [row for row in rows if row.text in USELESS]
    if useful:
        worst = min(useful, key=lambda row: row.share)
        lines.append(
            f"useful drafts: gain {geometric_mean(row.gain for row in useful):.3f}, share of the "
            f"best fixed setting {geometric_mean(row.share for row in useful):.3f} (worst "
            f"{worst.share:.3f}: {worst.machine}, {worst.text})"
        )
    if useless:
        worst = min(useless, key=lambda row: row.gain)
        lines.append(
            f"useless drafts: {geometric_mean(row.gain for row in useless):.4f} of plain decoding "
            f"(worst {worst.gain:.3f}: {worst.machine}, {worst.text})"
        )
    latest = max(rows, key=lambda row: row.late)
    lines.append(f"latest: {latest.late:.1f} plain steps ({latest.machine}, {latest.text})")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Print a table; exit 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks machines")
    parser.add_argument("--prompt", type=int, default=0, help="tokens before each reply")
    parser.add_argument("--learned", action="store_true", help="begin without knowledge")
    parser.add_argument("--runs", type=int, default=2, help="replies of each kind")
    machines, kinds = list(sim.MACHINES), [*TEXTS, *sim.HEADS]
    parser.add_argument("--machines", nargs="+", choices=machines, default=machines)
    parser.add_argument("--texts", nargs="+", choices=kinds, default=TEXTS)
    args = parser.parse_args(argv)
    rows = list(
        measure(
            args.machines,
            args.texts,
            n_runs=args.runs,
            n_prompt=args.prompt,
            is_known=not args.learned,
        )
    )
    print(report(rows))
    return int(not is_kept(rows, least=0.0 if args.prompt else LEAST))


if __name__ == "__main__":
    raise SystemExit(main())
