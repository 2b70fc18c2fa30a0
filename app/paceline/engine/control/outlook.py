"""What the controller knows, as a message for people."""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.control.knowledge import Knowledge
from paceline.engine.control.ledger import Ledger
from paceline.figures import Outlook
from paceline.messages import ControlReported


def report(
    knowledge: Knowledge,
    ledger: Ledger,
    drafters: Sequence[str],
    *,
    turn_id: str,
    step: int,
    n_ctx: int,
) -> ControlReported:
    """Return what is known by now."""
    costs, pace = knowledge.costs, knowledge.pace
    scale = costs.context.scale(n_ctx)
    unit = costs.plain
    own = (pace.plain or unit or 0.0) * scale
    plain = own * pace.wait
    speed = unit / (pace.plain * pace.wait) if unit and pace.plain else 1.0
    return ControlReported(
        turn_id,
        step,
        plain,
        speed,
        ledger.slack(own) * pace.wait,
        costs.table(n_ctx),
        tuple(_outlook(knowledge, name, plain, speed) for name in drafters),
    )


def _outlook(knowledge: Knowledge, name: str, plain: float, speed: float) -> Outlook:
    accepted = knowledge.accepted(name)
    run = accepted.long_run
    model = knowledge.models.get(name)
    cost = knowledge.draft_costs.get(name)
    per_token = (cost.per_token or 0.0) / speed if cost is not None else 0.0
    committed, took = knowledge.gains.get(name, (0.0, 0.0))
    return Outlook(
        name,
        model is None or model.gate.is_open,
        per_token,
        accepted.by_place(),
        accepted.by_confidence(),
        committed / took if took >= 4.0 else None,
        run.n_judged,
        run.n_accepted,
        run.saved * plain,
    )
