"""What Auto knows of a pair of models on this machine, beyond a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import add

from paceline.engine.control.acceptance import Acceptance
from paceline.engine.control.admission import Admission
from paceline.engine.control.chances import START, Chances
from paceline.engine.control.context_slope import ContextSlope
from paceline.engine.control.costs import VerifyCosts
from paceline.engine.control.draft_costs import DraftCosts
from paceline.engine.control.gate import Gate
from paceline.engine.control.hope import hope
from paceline.engine.control.ledger import Ledger
from paceline.engine.control.pace import Pace
from paceline.engine.control.priors import Priors

HOPED = 6.0
"""Steps that what is hoped of a model counts for beside what its steps gave."""
_N_MEAN = 32
_LOOK_SOON, _LOOK_LATER = 4, 16  # steps of a model
_BAR = 0.5  # tokens; usual bets are worth less, and a text that repeats itself more
_TELLING = 16  # tokens of a reply, in which what was spent could come back
_REPLY = 200  # tokens that a reply is expected to have before any was seen


class ModelRecord:
    """How a draft model does.

    Args:
        judged: Its tokens that were judged in the long run, by class.

    Attributes:
        gate: Whether it is asked.
        chances: Which class of confidence follows which.
        hope: Tokens that its steps should gain, by what is known of its tokens (`hope.py`).
        n_steps: Steps that it drafted.
        looks_at: With so many of them, what is to be hoped is to be said anew.
        value: Tokens that a step of its gains over a plain one, less its time at the rate.
    """

    __slots__ = ("_mean", "chances", "gate", "hope", "looks_at", "n_steps", "value")

    def __init__(self, judged: Sequence[float]) -> None:
        self.gate = Gate()
        self.chances = Chances(judged)
        self.hope = 0.0
        self.n_steps = self.looks_at = 0
        self._mean = self.value = 0.0

    def begin_reply(self) -> None:
        """Get ready for another text."""
        self.gate.renew()
        self.looks_at = 0

    def look(
        self,
        accepted: Acceptance,
        rate: float,
        ratios: Sequence[float],
        *,
        most: int,
        each: float,
        switch: float,
    ) -> None:
        """Say anew what is to be hoped; the arguments are those of `hope.hope`."""
        self.looks_at = self.n_steps + (_LOOK_SOON if self.n_steps < 16 else _LOOK_LATER)
        first = list(map(add, accepted.rates_at(0), accepted.margins))
        chances = self.chances.row(START)
        self.hope = hope(
            chances, first, accepted.mean, rate, ratios, most=most, each=each, switch=switch
        )
        self._tell_value()

    def add(self, gain: float, value: float) -> None:
        """Count one step that it drafted.

        Args:
            gain: Tokens that it committed, less its plain steps.
            value: Tokens that it gained over a plain step, less its time at the rate.
        """
        n = self.n_steps = self.n_steps + 1
        self._mean += (value - self._mean) / (n if n < _N_MEAN else _N_MEAN)
        self._tell_value()
        self.gate.add(gain, self.hope)

    def _tell_value(self) -> None:
        n = self.n_steps if self.n_steps < _N_MEAN else _N_MEAN
        self.value = (HOPED * self.hope + n * self._mean) / (HOPED + n)


@dataclass
class Knowledge:
    """Lives as long as the pair; for the engine's thread.

    Attributes:
        costs: What a step costs by width.
        draft_costs: What drafting costs, by drafter.
        priors: Acceptance in the long run.
        pace: How fast the machine is at present.
        switch: Plain steps that another width costs once, since the graph is rebuilt.
        acceptance: Acceptance of late, by drafter.
        models: How the draft models do.
        gains: Committed tokens and plain steps of the steps that a drafter drafted, of late.
        n_reply: Tokens that replies have, roughly.
        slope: How plain steps depend on the context.
        n_ctx: The context of the last step.
        n_tokens: Tokens of the present reply.
        bar: Tokens that an offer has to be worth; above 0 where speculation lost by whole replies.
    """

    costs: VerifyCosts = field(default_factory=VerifyCosts)
    draft_costs: dict[str, DraftCosts] = field(default_factory=dict)
    priors: Priors = field(default_factory=Priors)
    pace: Pace = field(default_factory=Pace)
    switch: float = 0.03
    acceptance: dict[str, Acceptance] = field(default_factory=dict)
    models: dict[str, ModelRecord] = field(default_factory=dict)
    gains: dict[str, list[float]] = field(default_factory=dict)
    n_reply: float = _REPLY
    slope: ContextSlope = field(default_factory=ContextSlope)
    n_ctx: int = 0
    n_tokens: int = 0
    bar: float = 0.0
    _reply: tuple[Admission, Ledger] | None = None

    def begin_reply(self, models: Sequence[str], lookups: Sequence[str], ledger: Ledger) -> None:
        """Decide who takes part; note how long the last reply was, and what contexts cost by now.

        Args:
            models: The draft models of the strategy.
            lookups: Its lookups.
            ledger: The reply's account.
        """
        self.close_accounts()
        together = self.priors.strategy((*models, *lookups))
        sits_out = not together.begin_reply()
        self._reply, self.bar = (together, ledger), _BAR if sits_out else 0.0
        for name in models:
            self.model(name).begin_reply()
            # In this order: else a model's own turn could fall on replies that all sit out.
            if sits_out or not self.priors.drafter(name).admission.begin_reply():
                self.model(name).gate.sit_out()
        if self.n_tokens:
            self.n_reply += 0.25 * (self.n_tokens - self.n_reply)
            self.n_tokens = 0
            self.costs.age()
        slope = self.slope.fit()
        if slope is not None:
            self.learn_context(slope)

    def change_strategy(self) -> None:
        """Another strategy goes on with the reply, which is nobody's account then."""
        self._reply, self.bar = None, 0.0

    def close_accounts(self) -> None:
        """Count what the last reply gained, if it was long enough to tell and not sat out."""
        if self._reply is not None and not self.bar:
            together, ledger = self._reply
            together.add(ledger.saved_steps)
        self._reply, self.bar = None, 0.0
        self.priors.close_accounts(counts=self.n_tokens >= _TELLING)

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
        self.close_accounts()
        self.n_tokens = 0
        if not keeps_rates:
            self.priors = Priors()
        self.acceptance.clear()
        self.models.clear()
        self.gains.clear()
        self.n_reply = _REPLY

    def accepted(self, drafter: str) -> Acceptance:
        """Return a drafter's acceptance, made at its first use."""
        try:  # some eight times in a step, where nothing fails
            return self.acceptance[drafter]
        except KeyError:
            found = self.acceptance[drafter] = Acceptance(self.priors.drafter(drafter))
            return found

    def model(self, drafter: str) -> ModelRecord:
        """Return a draft model's record, made at its first use."""
        found = self.models.get(drafter)
        if found is None:
            found = self.models[drafter] = ModelRecord(self.priors.drafter(drafter).judged)
        return found

    def draft_cost(self, drafter: str) -> DraftCosts:
        """Return a draft model's costs, made at its first use."""
        found = self.draft_costs.get(drafter)
        if found is None:
            found = self.draft_costs[drafter] = DraftCosts()
        return found
