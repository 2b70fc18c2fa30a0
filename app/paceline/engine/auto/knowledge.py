"""The knowledge that Auto keeps of a pair of models on this machine, across turns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from paceline.engine.auto.acceptance import Acceptance
from paceline.engine.auto.context_cost import ContextSlope
from paceline.engine.auto.costs import DraftCosts, VerifyCosts
from paceline.engine.auto.pace import Pace, RecentPlain
from paceline.engine.auto.tuning import TUNING


@dataclass
class Knowledge:
    """Costs, acceptance and pace of a pair; lives as long as the pair; for the engine's thread.

    Attributes:
        costs: Cost of a step by width.
        draft_costs: Cost of drafting by drafter; entries are created on first use, as in `rates`.
        rates: Acceptance, by drafter.
        pace: Present speed of the machine.
        recent: Durations of recent plain steps, in this and earlier replies.
        switch: Plain steps that a change of the width costs once, since the graph is rebuilt.
        own: Plain steps that a drafted step takes outside the target's decode, for asking and
            learning.
        saved_up: Plain steps whose share for deciding is not used yet; full once a draft has paid.
        gains: By drafter, committed tokens and plain steps of the recent steps that it drafted.
        n_reply: Typical length of a reply, in tokens.
        slope: Dependence of plain steps on the context's length.
        n_ctx: Tokens in the context of the last step.
        n_tokens: Tokens of the present reply.
        replays: Whether the accepted tokens of a partly rejected draft are decoded again.
    """

    costs: VerifyCosts = field(default_factory=VerifyCosts)
    draft_costs: defaultdict[str, DraftCosts] = field(
        default_factory=partial(defaultdict, DraftCosts)
    )
    rates: defaultdict[str, Acceptance] = field(default_factory=partial(defaultdict, Acceptance))
    pace: Pace = field(default_factory=Pace)
    recent: RecentPlain = field(default_factory=RecentPlain)
    switch: float = TUNING.prior_switch_steps
    own: float = 0.0
    saved_up: float = TUNING.max_saved_steps
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)
    n_reply: float = TUNING.prior_reply_tokens
    slope: ContextSlope = field(default_factory=ContextSlope)
    n_ctx: int = 0
    n_tokens: int = 0
    replays: bool = False

    def begin_reply(self) -> None:
        """Begin another reply, and learn from the last one what is known only at its end."""
        if self.n_tokens:
            self.n_reply += 0.25 * (self.n_tokens - self.n_reply)
            self.n_tokens = 0
            self.costs.age()
        for rates in self.rates.values():
            rates.begin_reply()
        slope = self.slope.fit()
        if slope is not None:
            self.learn_context(slope)

    def learn_context(self, slope: float, share: float | None = None) -> None:
        """Set the context's cost; estimates from replies stay as they were at their contexts."""
        before = self.costs.context.scale(self.n_ctx)
        self.costs.set_context(slope, share, keeps_ratios=self.pace.plain is not None)
        self.pace.rescale(before / self.costs.context.scale(self.n_ctx))

    def forget(self, *, keeps_rates: bool = False) -> None:
        """Forget what came from texts; the machine's costs stay.

        Args:
            keeps_rates: Whether the long-run acceptance stays, too.
        """
        self.n_tokens, self.n_reply, self.saved_up = (
            0,
            TUNING.prior_reply_tokens,
            TUNING.max_saved_steps,
        )
        self.gains.clear()
        if not keeps_rates:
            self.rates.clear()
        for rates in self.rates.values():
            rates.forget()
