"""The JSON lines of `paceline chat --json`; outside tools rely on their keys.

``{"event": "step", …}`` for every decoding step, then one ``finished`` or ``failed``. Numbers that
JSON does not have (NaN, infinity) become null.

A step's ``sources`` has one entry per committed token: ``target``, or the id of the drafter that
proposed it (``grammar`` for what a grammar forced). ``drafted`` has one entry per drafter whose
tokens were verified in the step: none in a plain step, several where one goes on behind another.
``decision`` is what Auto decided for the step, with the fields of `messages.Decision`; null where
it is not in charge.

``stats`` are the fields of `messages.TurnStats`; in ``by_drafter`` every drafter that was asked has
the fields of `messages.DrafterStats`, which are llama.cpp's statistics: calls of begin, draft and
accept (``n_begin``, ``n_draft``, ``n_accept``) and the seconds in them (``begin_s``, ``draft_s``,
``accept_s``), proposals with any token (``drafts``), those with any accepted token
(``drafts_accepted``), ``tokens``, ``tokens_accepted``, and ``accepted_per_position``, the accepted
tokens by their place in the whole draft, which as a rate is divided by ``drafts``. ``kernels`` says
by type of weights, and for "attention", whose kernels computed: "own", Paceline's, or "stock".

``control`` at the end is what Auto knows by then, with the fields of `messages.ControlReported`;
null without Auto. It is no line of its own, so that every line but the last one stays a step.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

from paceline.figures import by_kind

if TYPE_CHECKING:
    from paceline.messages import ControlReported, StepCommitted, TurnFinished, TurnStats


def line(data: dict[str, Any]) -> str:
    """Return one line of JSON with its line end."""
    return json.dumps(_finite(data), ensure_ascii=False, allow_nan=False) + "\n"


def step(event: StepCommitted) -> dict[str, Any]:
    """Return the object for a decoding step."""
    return {
        "event": "step",
        "step": event.step,
        "tokens": [trace.token for trace in event.tokens],
        "text": event.text,
        "sources": [trace.source for trace in event.tokens],
        "n_committed": len(event.tokens),
        "drafted": [
            {
                "drafter": count.drafter,
                "n_drafted": count.n_drafted,
                "n_accepted": count.n_accepted,
            }
            for count in event.drafted
        ],
        "draft_s": event.draft_s,
        "verify_s": event.verify_s,
        "sample_s": event.sample_s,
        "decision": dataclasses.asdict(event.decision) if event.decision else None,
    }


def finished(event: TurnFinished, control: ControlReported | None = None) -> dict[str, Any]:
    """Return the object that ends a reply; `control` is what Auto knows by then."""
    return {
        "event": "finished",
        "text": event.text,
        "tokens": list(event.tokens),
        "reason": event.reason,
        "seed": event.seed,
        "strategy": event.strategy,
        "stats": stats(event.stats),
        "control": _control(control) if control else None,
    }


def failed(code: str, message: str, hint: str) -> dict[str, Any]:
    """Return the object that takes the place of `finished` after an error."""
    return {"event": "failed", "code": code, "message": message, "hint": hint}


def stats(figures: TurnStats) -> dict[str, Any]:
    """Return the object with the figures of a reply."""
    data = dataclasses.asdict(figures)
    data["by_drafter"] = {entry.pop("drafter"): entry for entry in data["by_drafter"]}
    data["kernels"] = by_kind(figures.kernels)
    return data


def _control(report: ControlReported) -> dict[str, Any]:
    data = dataclasses.asdict(report)
    del data["turn_id"]
    return data


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
