"""Auto's knowledge of a pair of models on this machine, beyond a turn."""

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
    """Costs, acceptance and pace; lives as long as the pair; for the engine's thread.

    Attributes:
        costs: What a step costs by width.
        draft_costs: What drafting costs, by drafter; made at the first use, as `rates` are.
        rates: Acceptance, by drafter.
        pace: How fast the machine is at present.
        recent: What plain steps took, in this and earlier replies.
        switch: Plain steps that another width costs once, since the graph is rebuilt.
        own: Plain steps that a drafted step takes outside the target's decode: asking, learning.
        saved_up: Plain steps whose shares for deciding are left; all of them once a draft has paid.
        gains: Committed tokens and plain steps of the steps that a drafter drafted, recently.
        n_reply: Tokens that replies have, roughly.
        slope: How plain steps depend on the context.
        n_ctx: The context of the last step.
        n_tokens: Tokens of the present reply.
        replays: Whether the accepted tokens of a draft that is rejected in part are decoded again.
    """

    costs: VerifyCosts = field(default_factory=VerifyCosts)
    draft_costs: defaultdict[str, DraftCosts] = field(
        default_factory=partial(defaultdict, DraftCosts)
    )
    rates: defaultdict[str, Acceptance] = field(default_factory=partial(defaultdict, Acceptance))
    pace: Pace = field(default_factory=Pace)
    recent: RecentPlain = field(default_factory=RecentPlain)
    switch: float = TUNING.first_switch
    own: float = 0.0
    saved_up: float = TUNING.saved_up
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)
    n_reply: float = TUNING.first_reply
    slope: ContextSlope = field(default_factory=ContextSlope)
    n_ctx: int = 0
    n_tokens: int = 0
    replays: bool = False

    def begin_reply(self) -> None:
        """Another reply begins: learn from the last one what is only then known."""
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
        """Say what the context costs; what was seen of it in replies stays as it was there."""
        before = self.costs.context.scale(self.n_ctx)
        self.costs.set_context(slope, share, keeps_ratios=self.pace.plain is not None)
        self.pace.rescale(before / self.costs.context.scale(self.n_ctx))

    def forget(self, *, keeps_rates: bool = False) -> None:
        """Forget what came from texts; what the machine costs stays.

        Args:
            keeps_rates: Acceptance in the long run stays, too.
        """
        self.n_tokens, self.n_reply, self.saved_up = 0, TUNING.first_reply, TUNING.saved_up
        self.gains.clear()
        if not keeps_rates:
            self.rates.clear()
        for rates in self.rates.values():
            rates.forget()
