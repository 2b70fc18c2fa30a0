"""All steps of a reply as a table for other programs: RFC 4180, one row per step. No Qt."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.messages import StepCommitted, TurnStats

_BEGIN = ("step", "time_s", "tokens", "drafted", "accepted", "discarded")
_PLAIN = ("plain_tokens_per_s", "plain_low", "plain_high")
_END = ("draft_s", "verify_s", "sample_s", "total_s", "tokens_per_s", "plain", *_PLAIN)


def steps_csv(steps: Sequence[StepCommitted], stats: TurnStats | None) -> str:
    """Return the table.

    ``time_s`` counts from the prefill's end to the step's; ``tokens_per_s`` is that of the step
    alone; ``plain`` is 1 for a true plain step; the last three columns are those of the reply.
    Behind the sums there are three columns per drafter.
    """
    plain = [getattr(stats, name, None) for name in _PLAIN]
    drafters = list(dict.fromkeys(c.drafter for step in steps for c in step.drafted))
    out = io.StringIO()
    table = csv.writer(out)
    names = [f"{d} {what}" for d in drafters for what in ("drafted", "accepted", "discarded")]
    table.writerow([*_BEGIN, *names, *_END])
    seconds = 0.0
    for step in steps:
        seconds += step.total_s
        counts = {count.drafter: count for count in step.drafted}
        parts: list[int] = []
        for drafter in drafters:
            count = counts.get(drafter)
            parts += [count.n_drafted, count.n_accepted, count.n_discarded] if count else [0, 0, 0]
        table.writerow(
            [
                step.step,
                f"{seconds:.6f}",
                len(step.tokens),
                *(sum(parts[at::3]) for at in range(3)),
                *parts,
                *(f"{s:.6f}" for s in (step.draft_s, step.verify_s, step.sample_s, step.total_s)),
                f"{len(step.tokens) / step.total_s:.3f}" if step.total_s > 0 else "",
                int(step.plain),
                *(f"{speed:.3f}" if speed else "" for speed in plain),
            ]
        )
    return out.getvalue()
