"""Fake judge of pairs for tests of the window: its answers are set beforehand, or held back."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from paceline.catalog.card import Examined, ModelCard, Nature
from paceline.catalog.judge.pairing import PairVerdict, Reason
from paceline.catalog.memory.values import DevicePlan, MemoryPlan, Share
from paceline.params import Drafting, params_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paceline.engine.measure.known import MeasuredPair
    from paceline.errors import UserError
    from paceline.messages import DeviceInfo
    from paceline.params import ModelParams

GIB = 2**30
CARD = ModelCard(
    name="Qwen2.5 7B Instruct",
    architecture="qwen2",
    family="Qwen2.5",
    quantisation="Q4_K_M",
    license="apache-2.0",
    n_params=7_615_616_512,
    n_bytes=4_700_000_000,
    n_layers=28,
    n_ctx_train=32768,
    n_embd=3584,
    n_experts=0,
    n_vocab=152064,
    tokenizer="gpt2/qwen2",
    vocabulary="0123456789abcdef",
    has_template=True,
    layer_bytes=(150_000_000,) * 28,
    expert_bytes=(0,) * 28,
    input_bytes=300_000_000,
    output_bytes=400_000_000,
    kv_elements=((512, 512),) * 28,
)
SMALL = structs.replace(
    CARD, name="Qwen2.5 0.5B Instruct", n_params=494_032_768, n_bytes=398_000_000, n_layers=24
)
NATURE = Nature(2, 152064, -1, 151645, False, False, "attention", True)
GOOD = PairVerdict(
    True,
    (
        Reason("same-vocabulary", "Both read the same 151,936 tokens.", "good"),
        Reason("small-draft", "The draft model reads 12 times fewer bytes per token.", "good"),
    ),
    gain="Often 1.5 to 2 times as fast.",
    outlook="good",
)


def plan_of(
    target: ModelParams, drafting: Drafting, *, free: int = 24 * GIB, title: str = "Memory"
) -> MemoryPlan:
    """A plan whose caches grow with the context: 64 KiB per token, and 12 KiB for the draft."""
    draft = params_of(drafting)
    device = DevicePlan(
        "CPU",
        title,
        Share(int(4.4 * GIB), (target.n_ctx or 4096) * 65536, 300 * 2**20),
        Share(400 * 2**20, (draft.n_ctx or 4096) * 12288, 60 * 2**20) if draft else Share(),
        free,
        32 * GIB,
        GIB // 2,
    )
    decided = replace(target, n_ctx=target.n_ctx or 4096)
    return MemoryPlan((device,), decided, drafting, is_measured=True)


@dataclass
class FakeJudge:
    """A replacement of `catalog.models.Models` with fixed answers.

    Attributes:
        verdict: Verdict that `judge` returns.
        error: Error that every examination raises, or None.
        plan_error: Error that every memory plan raises, or None.
        free: Free bytes of the only device.
        may_answer: Examinations wait until it is set.
        judged: The pairs that were judged.
        planned: The pairs that were planned.
        n_looks: Number of examinations that have begun.
        has_head: True if targets contain an MTP head.
        before: Earlier measurements of every pair on this machine, or None.
        make_plan: Function that makes the plans.
    """

    verdict: PairVerdict = GOOD
    error: UserError | None = None
    plan_error: UserError | None = None
    free: int = 24 * GIB
    may_answer: threading.Event = field(default_factory=threading.Event)
    judged: list[tuple[str, str]] = field(default_factory=list)
    planned: list[tuple[ModelParams, Drafting]] = field(default_factory=list)
    n_looks: int = 0
    has_head: bool = False
    before: MeasuredPair | None = None
    make_plan: Callable[..., MemoryPlan] = plan_of

    def __post_init__(self) -> None:
        self.may_answer.set()

    def examine(self, reference: str, is_stopped: Callable[[], bool] = lambda: False) -> Examined:
        self.n_looks += 1
        while not self.may_answer.wait(0.005) and not is_stopped():
            pass
        if self.error is not None:
            raise self.error
        card = SMALL if "0.5" in reference else CARD
        return Examined(structs.replace(card, n_heads=int(self.has_head)), NATURE, ())

    def card(self, reference: str, is_stopped: Callable[[], bool] = lambda: False) -> ModelCard:
        return self.examine(reference, is_stopped).card

    def judge(
        self, target: str, draft: str, is_stopped: Callable[[], bool] = lambda: False
    ) -> PairVerdict:
        del is_stopped
        self.judged.append((target, draft))
        return self.verdict

    def measured(self, target: str, draft: str = "") -> MeasuredPair | None:
        del target, draft
        return self.before

    def plan(
        self,
        target: ModelParams,
        drafting: Drafting,
        devices: Sequence[DeviceInfo],
        reclaimable: Mapping[str, int] | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> MemoryPlan:
        del devices, reclaimable, is_stopped
        if self.plan_error is not None:
            raise self.plan_error
        self.planned.append((target, drafting))
        return self.make_plan(target, drafting, free=self.free)
