"""The pair at the right of the picker: verdict, memory, and how it will be loaded."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal

import pytest
from msgspec import structs
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QScrollArea, QWidget

from gui.fake_judge import CARD, GIB, GOOD, FakeJudge, plan_of
from paceline import paths
from paceline.catalog.judge.pairing import PairVerdict, Reason, Remedy
from paceline.catalog.judge.speed import ExpectedSpeed, Speeds
from paceline.catalog.memory.values import DevicePlan, MemoryPlan, MemoryRemedy, Share
from paceline.chat.pair import Pair
from paceline.engine.measure.known import MeasuredPair
from paceline.engine.model.memory_hints import SLOW_CACHE
from paceline.engine.model.states import GoingBack
from paceline.errors import UserError
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate, Picks
from paceline.gui.models.picker.load_form import room_for_context
from paceline.gui.models.picker.memory_card import MemoryBar, parts_of
from paceline.gui.models.picker.pair_judgement import Judgement, PairJudgement
from paceline.gui.models.picker.pair_pane import PairPane
from paceline.gui.models.picker.verdict_card import VerdictCard
from paceline.gui.state.current_devices import RoomPlanner
from paceline.messages import DeviceInfo, EngineDescribed, StateStorage
from paceline.params import OWN_HEAD, Drafting, DraftModel, ModelParams, TargetHead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.settings import ThemeMode


TARGET = Candidate("/m/7b.gguf", "Qwen2.5 7B Instruct", n_bytes=4_700_000_000)
DRAFT = Candidate("hf:o/r:qwen2.5-0.5b.gguf", "Qwen2.5 0.5B", n_bytes=400_000_000, is_here=False)
REFUSED = PairVerdict(
    False,
    (Reason("token-differs", "Token 5 is “a” here and “b” there.", "bad"),),
    remedy=Remedy("One of the same family is here.", draft="/m/qwen2.5-0.5b-q8_0.gguf"),
)
CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 32 * GIB, 24 * GIB),))
GPU = EngineDescribed("", "", (DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, 8 * GIB),))


@pytest.fixture
def judge() -> FakeJudge:
    return FakeJudge()


@pytest.fixture
def pane(judge: FakeJudge, qtbot: QtBot) -> Iterator[PairPane]:
    look.use_icons(paths.resources() / "icons")
    judgement = PairJudgement(judge, RoomPlanner(judge))
    made = PairPane(judgement)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(made)
    qtbot.addWidget(area)
    area.resize(360, 900)
    area.show()
    made.form.show_engine(CPU)
    yield made
    judge.may_answer.set()
    judgement.close()


def pick(pane: PairPane, qtbot: QtBot, draft: Candidate | None = DRAFT) -> None:
    pane.show_picks(Picks(target=TARGET, draft=draft))
    qtbot.waitUntil(lambda: pane.judgement.judgement.plan is not None)


# --------------------------------------------------------------------------------- the verdict


FAILED = Judgement("failed", problem="The Hub is closed.", code="http", hint="Come back.")
OFFLINE = Judgement("failed", problem="Offline mode is on.", code="offline", hint="Go online.")
BY_TRANSLATION = PairVerdict(True, (Reason("by-translation", "Drafts are translated.", "note"),))
SWAP = replace(GOOD, remedy=Remedy("Swap.", target="/m/b.gguf", draft="/m/a.gguf"))
SLOWER = replace(GOOD, gain="Expect replies to become slower.", outlook="slower")
LITTLE = replace(GOOD, gain="Expect little.", outlook="little")


def known(verdict: PairVerdict | None) -> Judgement:
    return Judgement("known", CARD, CARD, verdict)


@pytest.mark.parametrize(
    ("judgement", "has_draft", "tone", "button"),
    [
        (Judgement(), False, "even", ""),
        (Judgement("looking"), True, "even", ""),
        (FAILED, True, "loss", "Look again"),
        (OFFLINE, True, "even", "Look again"),
        (known(None), False, "", ""),
        (known(GOOD), True, "gain", ""),
        (known(LITTLE), True, "even", ""),
        (known(SLOWER), True, "slower", ""),
        (known(SWAP), True, "gain", "Swap the two models"),
        (known(replace(BY_TRANSLATION, translated=0.87)), True, "", ""),
        (known(REFUSED), True, "loss", "Take qwen2.5-0.5b-q8_0 instead"),
    ],
)
def test_the_conclusion_comes_first_and_the_reasons_are_folded(
    qtbot: QtBot, judgement: Judgement, tone: str, button: str, *, has_draft: bool
) -> None:
    card = VerdictCard()
    qtbot.addWidget(card)
    card.show()
    card.show_judgement(judgement, has_draft=has_draft)
    assert card.conclusion.property("tone") == tone
    assert card.accessibleName().startswith(f"{card.conclusion.text()}. ")
    assert (not card.button.isHidden()) == bool(button)
    assert card.button.accessibleName() == button
    verdict = judgement.verdict
    reasons = [reason.text for reason in verdict.reasons] if verdict is not None else []
    assert card.why.toggle.isVisible() == bool(reasons)
    shown = [line.text.text().replace("\u200b", "") for line in card.lines if not line.isHidden()]
    assert shown[: len(reasons)] == reasons
    assert not any(line.isVisible() for line in card.lines)
    card.why.toggle.click()
    assert all(line.isVisible() for line in card.lines[: len(reasons)])


SPEED = ExpectedSpeed(4.0, 6.0, 8.0)


@pytest.mark.parametrize("basis", ["estimate", "measured"])
def test_the_conclusion_says_nothing_else_than_its_figures(
    qtbot: QtBot, basis: Literal["estimate", "measured"]
) -> None:
    card = VerdictCard()
    qtbot.addWidget(card)
    for verdict, gain in product((GOOD, LITTLE, SLOWER), (0.9, 1.0, 1.05, 1.4, 2.0)):
        drafted = ExpectedSpeed(*(gain * each for each in SPEED))
        card.show_judgement(known(verdict), has_draft=True, speeds=Speeds(SPEED, drafted, basis))
        text = card.sentence.text().replace("\u200b", "")
        assert text.startswith("About 6 tokens/s alone")
        assert f"({basis})" in text
        is_good = card.conclusion.property("tone") == "gain"
        is_meant_well = verdict is GOOD or basis == "measured"
        assert is_good == (is_meant_well and gain >= 1.15)
        assert ("with drafts" in text) == is_good, "a figure with drafts stands below Good alone"


def wanted(pane: PairPane) -> Pair:
    pair = pane.pair()
    assert pair is not None
    return pair


def test_a_head_drafts_in_place_of_a_draft_model(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.has_head = True
    pick(pane, qtbot, None)
    assert pane.names.names[1].text() == "MTP head inside"
    assert judge.judged == [(TARGET.reference, "")]
    assert wanted(pane).drafting == OWN_HEAD
    pane.show_picks(pane.picks.with_draft(None))
    qtbot.waitUntil(lambda: pane.judgement.judgement.status == "known")
    assert pane.names.names[1].text() == "none"
    assert wanted(pane).drafting is None
    head = replace(DRAFT, reference="/m/mtp-target.gguf", head="mtp")
    pane.show_picks(pane.picks.with_draft(head, uses_head=True))
    qtbot.waitUntil(lambda: pane.judgement.judgement.status == "known")
    assert wanted(pane).drafting == TargetHead("mtp", head.reference)
    assert not pane.form.draft.fields["n_ctx"].isEnabled()


def test_a_refused_pair_offers_what_to_take(pane: PairPane, judge: FakeJudge, qtbot: QtBot) -> None:
    long = Remedy("Another one.", draft=f"hf:o/r:{'very-' * 20}long.gguf")
    judge.verdict = replace(REFUSED, remedy=long)
    pick(pane, qtbot)
    assert pane.names.facts[0].text() == "7.62B · Q4_K_M · 4.7 GB"
    assert pane.obstacle() == REFUSED.reasons[0].text
    assert pane.memory.bars[0].figures.text() == "–", "what it would take is of no interest"
    assert "Token 5" in pane.verdict.lines[0].text.accessibleName()
    button = pane.verdict.button
    assert "…" in button.text(), "there is no room for all of it"
    assert "…" not in button.accessibleName()
    assert button.width() <= pane.verdict.width()
    taken: list[Remedy] = []
    pane.remedy_taken.connect(taken.append)
    button.click()
    assert taken == [long]
    judge.error = UserError("no-network", "The Hub cannot be reached.", "Look at the cable.")
    pane.show_picks(Picks(target=replace(TARGET, reference="/m/other.gguf"), draft=DRAFT))
    qtbot.waitUntil(lambda: pane.judgement.judgement.status == "failed")
    judge.error, judge.verdict = None, GOOD
    pane.verdict.button.click()  # to ask again
    qtbot.waitUntil(lambda: not pane.obstacle() and pane.judgement.judgement.status == "known")


def test_the_bar_shows_everything_in_numbers_and_follows_the_context(
    pane: PairPane, qtbot: QtBot
) -> None:
    pick(pane, qtbot)
    (bar,) = pane.memory.bars
    assert bar.figures.text() == "6.4 of 25.8 GB"
    assert "6.4 of 25.8 GB" in bar.accessibleName()
    sizes = ("4.7 GB", "268 MB", "419 MB", "50 MB", "377 MB", "537 MB")
    told = bar.accessibleDescription().split(", ")
    assert all(part.endswith(size) for part, size in zip(told, sizes, strict=True))
    assert bar.excess.isHidden()
    assert not any(way.isVisible() for way in pane.memory.ways)
    pane.form.context.slider.setValue(pane.form.context.slider.maximum())
    assert pane.form.target.fields["n_ctx"].value() == CARD.n_ctx_train
    assert pane.memory.isVisible()  # nothing flickers while it is worked out
    qtbot.waitUntil(lambda: "2.1 GB" in bar.accessibleDescription())
    assert pane.memory.bars == [bar]


def test_the_way_of_a_rollback_is_shown_where_it_costs_something(pane: PairPane) -> None:
    plan = plan_of(ModelParams("/m/7b.gguf"), None, free=24 * GIB)
    told = pane.memory.going_back
    pane.memory.details.toggle.setChecked(True)
    for way in ("cells", "states", "none"):
        pane.memory.show_plan(replace(plan, going_back=GoingBack(way, 9)))  # type: ignore[arg-type]
        assert told.isVisible() == (way != "cells")
        assert ("9" in told.text()) == (way == "states")
    pane.memory.show_plan(plan)
    assert not told.isVisible()


# ---------------------------------------------------------------------------------- the memory


def test_what_does_not_fit_offers_ways_out(pane: PairPane, judge: FakeJudge, qtbot: QtBot) -> None:
    def too_much(target: ModelParams, drafting: Drafting, *, free: int) -> MemoryPlan:
        del free
        plan = plan_of(target, drafting, free=5 * GIB)
        assert isinstance(drafting, DraftModel)
        quantised = DraftModel(replace(drafting.params, kv_type_k="q8_0", kv_type_v="q8_0"))
        ways = (
            MemoryRemedy("draft-cache", "Keep the draft's cache in q8_0.", target, quantised),
            MemoryRemedy("smaller-draft", "One of 210 MB would fit.", target, drafting),
            MemoryRemedy("lookups", "Draft by lookups alone.", target, None),
        )
        return replace(plan, remedies=ways)

    judge.make_plan = too_much
    pick(pane, qtbot)
    (bar,) = pane.memory.bars
    assert "1.0 GB" in bar.excess.text()
    assert "6.4 of 5.4 GB" in bar.accessibleName()
    cache, smaller, lookups = pane.memory.ways
    assert smaller.button.isHidden()  # which one, only the user can choose
    assert smaller.text.text() == "One of 210 MB would fit."
    cache.button.click()
    draft = wanted(pane).draft
    assert draft is not None
    assert (draft.kv_type_k, draft.kv_type_v) == ("q8_0", "q8_0")
    taken: list[Remedy] = []
    pane.remedy_taken.connect(taken.append)
    lookups.button.click()
    assert [(remedy.draft, remedy.strategy) for remedy in taken] == [("", "suffix")]


def test_every_device_has_a_bar_of_its_own(pane: PairPane, judge: FakeJudge, qtbot: QtBot) -> None:
    def two(target: ModelParams, drafting: Drafting, *, free: int) -> MemoryPlan:
        plan = plan_of(target, drafting, free=free, title="A card")
        rest = DevicePlan("CPU", "Memory", Share(GIB), Share(), free, free, 0)
        card = replace(plan.devices[0], device="CUDA0")
        return replace(plan, devices=(card, rest), is_measured=False)

    judge.make_plan = two
    pick(pane, qtbot)
    assert [bar.title.text() for bar in pane.memory.bars] == ["A card (CUDA0)", "Memory"]
    assert not pane.memory.problem.isHidden(), "it is estimated"
    judge.make_plan = plan_of
    pane.form.target.fields["n_ctx"].setValue(1024)
    qtbot.waitUntil(pane.memory.bars[1].isHidden)
    assert pane.memory.problem.isHidden()


def test_the_parts_are_distinguished_without_colours() -> None:
    def grey(colour: str) -> int:
        return QColor(colour).convertTo(QColor.Spec.Hsl).lightness()

    plan = plan_of(ModelParams("t"), ModelParams("d")).devices[0]
    modes: tuple[ThemeMode, ...] = ("light", "dark")
    for mode in modes:
        look.set_mode(mode)
        parts = parts_of(plan)
        taken = plan.target.total + plan.draft.total + plan.states
        assert sum(part.size for part in parts) == taken + plan.margin
        looks = {(grey(part.colour) // 24, bool(part.stripes)) for part in parts}
        assert len(looks) >= 5
    free = plan.target.total + plan.draft.total + plan.margin
    narrow = replace(plan, free=free, target=replace(plan.target, states=plan.margin // 4))
    assert narrow.fits, "states take a part of what is kept free"
    *_, states, kept, _ = parts_of(narrow)
    assert (states.size, kept.size) == (plan.margin // 4, plan.margin - plan.margin // 4)


def test_the_context_reaches_to_what_the_model_was_trained_for_and_comes_back(
    pane: PairPane, qtbot: QtBot
) -> None:
    pick(pane, qtbot)
    context, field = pane.form.context, pane.form.target.fields["n_ctx"]
    assert "32k" in context.words.text()
    assert context.n_ctx == 4096  # automatic
    assert context.slider.value() == round(context.slider.maximum() / 2)  # 512 · 2³ of 512 · 2⁶
    context.slider.setValue(0)
    assert field.value() == 512
    field.setValue(99_999)
    assert field.value() == 32768
    assert context.slider.value() == context.slider.maximum()
    field.setValue(8192)
    context.set_longest(2048)
    assert pane.form.target_params("").n_ctx == 2048
    assert "8k" in context.words.text(), "that it is cut is told"
    context.set_longest(32768)
    assert pane.form.target_params("").n_ctx == 8192
    pane.form.draft.fields["n_ctx"].setValue(40_000)
    assert "40,000" in pane.obstacle(), "the draft model was not trained for that"
    pane.form.draft.fields["n_ctx"].setValue(0)
    assert not pane.obstacle()


@pytest.mark.parametrize(
    ("wanted", "n_free", "n_bytes"),
    [
        (-1, 8 * GIB, GIB), (-1, 80 * GIB, 4 * GIB), (-1, GIB // 2, GIB // 16),
        (2 * GIB, 8 * GIB, 2 * GIB), (6 * GIB, 8 * GIB, 4 * GIB), (0, 8 * GIB, 0),
    ],
)  # fmt: skip
def test_the_prompt_cache_takes_a_part_of_what_is_left_and_never_makes_a_pair_unfit(
    qtbot: QtBot, wanted: int, n_free: int, n_bytes: int
) -> None:
    plan = plan_of(ModelParams("t"), DraftModel(ModelParams("d")))
    device = plan.devices[0]
    plan = replace(plan, devices=(replace(device, free=device.free - device.left + n_free),))
    kept = plan.with_prompts(StateStorage(wanted))
    (there,) = (part for part in parts_of(kept.devices[0]) if part.name.startswith("Prompt cache"))
    assert there.size == n_bytes
    assert kept.fits
    assert sum(part.size for part in parts_of(kept.devices[0])) <= kept.devices[0].free
    bars = MemoryBar(), MemoryBar()
    for bar, each in zip(bars, (plan, kept), strict=True):
        qtbot.addWidget(bar)
        bar.show_plan(each.devices[0])
    if n_free >= 8 * GIB:  # where it is narrow, less is kept free
        assert len({bar.figures.text() for bar in bars}) == 1, "it is not needed"
    assert plan.with_prompts(None) == plan


def test_what_lies_beyond_sliding_windows_is_taken_out_of_the_cache() -> None:
    plan = plan_of(ModelParams("t"), ModelParams("d")).devices[0]
    beyond = plan.target.kv // 3
    wide = replace(plan, target=replace(plan.target, beyond_windows=beyond))
    sizes = {part.name: part.size for part in parts_of(wide)}
    assert sizes["Its cache"] == plan.target.kv - beyond
    assert sizes["More than its sliding windows"] == beyond
    assert sum(sizes.values()) == sum(part.size for part in parts_of(plan))


@pytest.mark.parametrize(("free", "share"), [(7, 0.85), (4, None)])
def test_what_finds_room_is_marked(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot, free: int, share: float | None
) -> None:
    judge.free = free * GIB
    pick(pane, qtbot)
    context = pane.form.context
    assert ("18k" if share else "no context finds room") in context.words.text()
    assert context.mark.share == (pytest.approx(share, abs=0.05) if share else None)
    judge.make_plan = lambda target, drafting, *, free: plan_of(
        replace(target, n_ctx=target.n_ctx or 1280), drafting, free=free
    )
    pane.form.target.fields["n_threads"].setValue(2)
    qtbot.waitUntil(lambda: "1280" in context.words.text())  # an automatic one is made shorter


# ------------------------------------------------------------------------------------ the form


LOADED = [
    Pair(
        ModelParams("", 8192, 3, kv_type_k="q8_0", flash_attn="on", n_cpu_moe=2),
        DraftModel(ModelParams("", 8192, kv_type_v="q4_0", n_gpu_layers=7)),
    ),
    Pair(
        ModelParams("", split_mode="row", tensor_split=(3.0, 1.0), extra_bufts=False),
        DraftModel(ModelParams("", n_threads_batch=2, main_gpu=1)),
    ),
    Pair(
        ModelParams(""),
        DraftModel(ModelParams("", device="CPU", n_gpu_layers=0)),
        exact=True,
        lookup_cache="/texts/mine.bin",
    ),
]


def test_tab_goes_down_the_form(pane: PairPane) -> None:
    form = pane.form
    wanted: list[QWidget] = [form.context.slider, form.target.fields["n_ctx"]]
    wanted += [
        form.advanced.toggle,
        form.target.fields["n_gpu_layers"],
        form.draft.fields["n_gpu_layers"],
    ]
    wanted += [form.target.fields["device"], form.draft.fields["device"]]
    reached: list[QWidget] = []
    widget: QWidget = form
    while len(reached) < len(wanted):
        widget = widget.nextInFocusChain()
        if widget in wanted:
            reached.append(widget)
    assert [wanted.index(each) for each in reached] == list(range(len(wanted)))


def test_room_follows_from_the_cache_alone() -> None:
    plan = plan_of(ModelParams("t", 4096), None, free=6 * GIB)
    room = room_for_context(plan)
    assert room is not None
    assert plan_of(ModelParams("t", room), None, free=6 * GIB).fits
    assert not plan_of(ModelParams("t", room + 16), None, free=6 * GIB).fits


def test_the_drafts_context_follows_the_targets(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    assert wanted(pane).target == ModelParams(TARGET.reference)
    assert wanted(pane).draft == ModelParams(DRAFT.reference)
    for column, n_ctx in ((pane.form.target, 16384), (pane.form.draft, 2048)):
        column.fields["n_ctx"].setValue(n_ctx)
        assert wanted(pane).draft == ModelParams(DRAFT.reference, n_ctx)


@pytest.mark.parametrize("pair", LOADED)
def test_a_loaded_pairs_settings_come_back(pane: PairPane, qtbot: QtBot, pair: Pair) -> None:
    pane.form.show_engine(structs.replace(GPU, devices=(*GPU.devices, *CPU.devices)))
    pick(pane, qtbot)
    assert isinstance(pair.drafting, DraftModel)
    draft = DraftModel(replace(pair.drafting.params, path=DRAFT.reference))
    pair = replace(pair, target=replace(pair.target, path=TARGET.reference), drafting=draft)
    pane.show_pair(pair)
    assert wanted(pane) == pair
    if pair.exact:
        pane.form.exact.click()
        assert not wanted(pane).exact
        pane.show_picks(pane.picks.with_target(replace(TARGET, reference="/m/other.gguf")))
        assert wanted(pane).lookup_cache == "", "it belongs to a vocabulary"


def test_values_that_do_not_go_together_are_an_obstacle(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    more = pane.form.draft
    more.fields["kv_type_v"].setCurrentText("q4_0")
    assert not pane.obstacle()
    more.fields["flash_attn"].setCurrentText("off")
    assert pane.obstacle()
    assert pane.form.problem_text.text() == pane.obstacle()
    pane.show_picks(pane.picks.with_draft(None, uses_head=True))
    assert not pane.obstacle()
    pane.show_picks(pane.picks.with_draft(DRAFT, uses_head=True))
    more.fields["flash_attn"].setCurrentText("on")
    assert not pane.obstacle()
    assert pane.form.problem_text.isHidden()


def test_a_quantised_cache_on_a_processor_says_what_it_costs(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    form, more = pane.form, pane.form.draft
    cpu = DeviceInfo("CPU", "", "cpu", 1, 1)
    gpu = DeviceInfo("CUDA0", "", "gpu", 1, 1)
    form.show_engine(EngineDescribed("0", "", (cpu,)))
    assert form.cache_text.isHidden()
    more.fields["kv_type_k"].setCurrentText("q8_0")
    assert form.cache_text.text() == SLOW_CACHE
    pane.show_picks(pane.picks.with_draft(None, uses_head=True))
    assert form.cache_text.isHidden(), "there is no draft model"
    pane.show_picks(pane.picks.with_draft(DRAFT, uses_head=True))
    assert not form.cache_text.isHidden()
    form.show_engine(EngineDescribed("0", "", (cpu, gpu)))
    assert form.cache_text.isHidden(), "its cache is the GPU's"
    more.fields["n_gpu_layers"].setValue(0)
    assert not form.cache_text.isHidden()
    more.fields["kv_type_k"].setCurrentText("f16")
    assert form.cache_text.isHidden()
    form.show_engine(EngineDescribed("0", "", (cpu,)))
    form.show_pair(Pair(ModelParams("", kv_type_v="q4_0")))
    assert not form.cache_text.isHidden()


@pytest.mark.parametrize("n_gpus", [0, 1, 2])
def test_what_has_no_use_here_is_off_and_says_why(
    pane: PairPane, qtbot: QtBot, n_gpus: int
) -> None:
    pick(pane, qtbot)
    form = pane.form
    cards = tuple(DeviceInfo(f"CUDA{n}", f"Card {n}", "gpu", 8, 8) for n in range(n_gpus))
    form.show_engine(EngineDescribed("", "", cards))
    form.advanced.toggle.setChecked(True)
    assert form.reason.isVisible() == (n_gpus < 2)
    for column in (form.target, form.draft):
        assert column.fields["extra_bufts"].isEnabled()
        for name in ("n_gpu_layers", "device", "n_cpu_moe", "kv_offload"):
            assert column.fields[name].isEnabled() == (n_gpus > 0)
        for name in ("split_mode", "tensor_split", "main_gpu"):
            assert column.fields[name].isEnabled() == (n_gpus > 1)
    if n_gpus:
        assert "Card 0 (CUDA0)" in form.target.fields["device"].menu.actions()[1].text()
    pane.show_picks(pane.picks.with_draft(None))
    assert form.target.fields["n_threads"].isEnabled()
    assert not form.draft.fields["n_threads"].isEnabled()


def test_a_measured_speed_takes_the_place_of_an_estimate(
    qtbot: QtBot, judge: FakeJudge, pane: PairPane
) -> None:
    judge.before = MeasuredPair(0.1, tuple(1 + 0.1 * n for n in range(12)), 0.01, 0.8)
    pane.show_picks(Picks(target=TARGET, draft=DRAFT))
    qtbot.waitUntil(lambda: "(measured)" in pane.verdict.sentence.text())
    assert "About 10 tokens/s" in pane.verdict.sentence.text().replace("\u200b", "")


def test_a_lookup_cache_is_chosen_without_blocking(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    field = pane.form.lookup_cache
    field.choose.click()
    assert field.files.dialog is not None
    field.files.dialog.filesSelected.emit(["/texts/mine.bin"])
    field.files.dialog.reject()
    assert field.files.dialog is None
    assert wanted(pane).lookup_cache == "/texts/mine.bin"
    field.clear.click()
    assert wanted(pane).lookup_cache == ""
