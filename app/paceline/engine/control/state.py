"""What is known within one step, from its plan to what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.control.acceptance import Acceptance
from paceline.engine.control.chances import START, Chances
from paceline.engine.control.draft_costs import DraftCosts
from paceline.engine.control.knowledge import ModelRecord
from paceline.engine.control.steps import Settled
from paceline.figures import Decision, Reason

_NOTHING = Settled("", 0, Decision("", 0, "nothing"))


class Drafted:
    """A lookup's tokens in this step: their confidences and chances of survival."""

    __slots__ = ("confidences", "drafter", "survivals")

    def __init__(
        self, drafter: str, confidences: Sequence[float | None], survivals: list[float]
    ) -> None:
        self.drafter = drafter
        self.confidences = confidences
        self.survivals = survivals


class StepState:
    """The variables of a step; times in plain steps unless said otherwise.

    Attributes:
        reason: Why the step is a plain one without any question; None: it is open.
        settled: What was decided.
        plain: Seconds of a plain step now.
        slack: What may be lost.
        ratios: Cost by width, as hoped.
        careful: The same, as feared.
        noise: Factor that nine of ten steps stay below.
        most: Tokens that may be verified.
        certain: The same for what the grammar forces.
        rate: Tokens per plain step at present.
        switch: What another width costs once.
        last_width: Width of the step before.
        scale: How much dearer a step is at this context than at an empty one.
        best: Whose offer is the best one, empty: nobody's; with its confidences in `best_sure`, its
            length `n_best`, its `value` and the tokens `expected`.
        model: Who has drafted, a model or nobody; what follows up to `cls` is of that draft.
        accepted: The model's acceptance.
        chances: Which class of confidence follows which in its drafts.
        record: How it does.
        drafting: What its drafting costs.
        counts_chances: Whether this draft is counted there.
        classes: Its tokens' classes of confidence; `cls` is that of the last one.
        survivals: Their chances of survival, as likely as they are.
        survival: That of the last one, as far as it is safe to believe.
        extension: What a lookup adds to the model's draft.
        each: Cost of one drafted token.
        cost: Cost of what was drafted.
        n_backlog: Tokens that the model had to catch up with.
        n_room: Tokens that may be drafted at all.
        n_asked: Lookups that were asked.
        has_offer: Whether any lookup proposed anything.
        is_shut: Whether a model's gate is shut.
    """

    __slots__ = (
        "accepted", "best", "best_sure", "careful", "certain", "chances", "classes", "cls", "cost",
        "counts_chances", "drafting", "each", "expected", "extension", "has_offer", "is_shut",
        "last_width", "likely", "mean", "model", "most", "n_asked", "n_backlog", "n_best", "n_room",
        "noise", "plain", "rate", "ratios", "reason", "record", "scale", "settled", "slack",
        "survival", "survivals", "switch", "value",
    )  # fmt: skip

    def __init__(self) -> None:
        self.plain = self.slack = self.each = self.mean = 0.0
        self.ratios: Sequence[float] = ()
        self.careful: Sequence[float] = ()
        self.noise = self.rate = self.scale = self.survival = self.likely = 1.0
        self.switch = 0.0
        self.last_width = 1
        self.accepted: Acceptance
        self.chances: Chances
        self.record: ModelRecord
        self.drafting: DraftCosts
        self.classes: list[int] = []
        self.survivals: list[float] = []
        self.best_sure: Sequence[float | None] = ()
        self.cls = START
        self.counts_chances = True
        self.begin()

    def begin(self) -> None:
        """Start another step."""
        self.reason: Reason | None = None
        self.settled = _NOTHING
        self.most = self.certain = 0
        self.best = ""
        self.n_best = 0
        self.value = 0.0
        self.expected = 1.0
        self.model = ""
        self.extension: Drafted | None = None
        self.cost = 0.0
        self.n_backlog = 1
        self.n_asked = self.n_room = 0
        self.has_offer = False
        self.is_shut = False
