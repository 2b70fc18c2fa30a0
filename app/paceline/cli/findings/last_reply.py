"""`paceline doctor --last`: the figures of the last reply that may be remembered, with advice.

The figures of a drafter are those that llama.cpp prints at the end of a run
(`common/speculative.cpp`): calls, drafts, accepted drafts, tokens, accepted tokens, and how long
begin, draft and accept took.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from paceline.cli.chat_run import stats_object
from paceline.errors import UserError
from paceline.sizes import percent

_MAX_POSITIONS_SHOWN = 16


def collect(folder: Path) -> dict[str, Any]:
    """Return the report as plain data.

    Args:
        folder: The folder of `save_last_run`'s file.

    Raises:
        UserError: Nothing is kept there.
    """
    from paceline.chat.advice import advise  # imports all drafters, and NumPy
    from paceline.chat.last_run import load_last_run
    from paceline.engine.draft.strategy import strategy_named, strategy_text

    run = load_last_run(folder)
    if run is None:
        raise UserError(
            "no-last-run",
            "No figures of a reply are kept.",
            'Get some with `paceline chat --remember --prompt "…"`, or by a chat in the window.',
        )
    return {
        "when": datetime.fromtimestamp(run.when).astimezone().isoformat(timespec="seconds"),
        "strategy": run.strategy,
        "target": run.target,
        "draft": run.draft,
        "stats": stats_object(run.stats),
        "speedup": run.stats.speedup._asdict() if run.stats.speedup else None,
        "advice": [
            {
                "code": a.code,
                "text": a.text,
                "reason": a.reason,
                "strategy": strategy_text(a.strategy) if a.strategy is not None else "",
            }
            for a in advise(run.stats, strategy_named(run.strategy))
        ],
    }


def as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [
        f"last reply: {report['when']}",
        f"target: {report['target']}",
        f"draft model: {report['draft'] or 'none'}",
        f"strategy: {report['strategy']}",
        "",
        *_speed(report["stats"], report["speedup"]),
    ]
    for drafter, figures in report["stats"]["by_drafter"].items():
        lines += ["", *_drafter(drafter, figures)]
    lines.append("")
    for advice in report["advice"]:
        lines += [f"advice: {advice['text']}", f"  reason: {advice['reason']}"]
    return "\n".join(
        [*lines, *([] if report["advice"] else ["No advice: nothing stands out."]), ""]
    )


def _speed(stats: dict[str, Any], speedup: dict[str, float] | None) -> list[str]:
    against = "nothing drafted" if not stats["n_drafted"] else "no plain speed known"
    if speedup is not None:
        low, high = speedup["low"], speedup["high"]
        plain = stats["plain_tokens_per_s"]
        against = f"{speedup['ratio']:.2f} × ({low:.2f} to {high:.2f}) the plain {plain:.1f}"
    accepted, judged = stats["n_accepted"], stats["n_drafted"] - stats["n_discarded"]
    committed = stats["mean_committed_per_step"]
    return [
        f"speed: {stats['tokens_per_s']:.1f} tokens/s, {against}",
        f"tokens: {stats['n_generated']} in {stats['n_steps']} steps"
        + (f", {committed:.2f} per step" if committed is not None else ""),
        f"acceptance: {_share(accepted, judged)} ({accepted} of {judged} drafted tokens)",
    ]


def _drafter(name: str, d: dict[str, Any]) -> list[str]:
    rate = f"{_share(d['tokens_accepted'], d['tokens'])} accepted"
    lines = [
        f"{name}: {rate if d['tokens'] else 'nothing drafted'}",
        f"  calls: begin {d['n_begin']}, draft {d['n_draft']}, accept {d['n_accept']}",
        f"  drafts: {d['drafts']}, with accepted tokens {d['drafts_accepted']}",
        f"  tokens: {d['tokens']}, accepted {d['tokens_accepted']}",
        f"  time: begin {_ms(d['begin_s'])}, draft {_ms(d['draft_s'])}, "
        f"accept {_ms(d['accept_s'])}",
    ]
    places = d["accepted_per_position"]
    if places:
        rates = " ".join(_share(n, d["drafts"]) for n in places[:_MAX_POSITIONS_SHOWN])
        more = " …" if len(places) > _MAX_POSITIONS_SHOWN else ""
        lines.append(f"  accepted by place: {rates}{more}")
    return lines


def _share(part: int, whole: int) -> str:
    return f"{percent(part / whole)}%" if whole > 0 else "none"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"
