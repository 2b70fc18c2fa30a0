"""The pair at the right of the picker: verdict, memory, and how it will be loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint
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
    (
        Reason(
            "token-differs", "Token 5 is “a” in the main model and “b” in the draft model.", "bad"
        ),
    ),
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


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize(
    ("judgement", "drafts", "conclusion", "tone", "sentence", "button"),
    [
        (Judgement(), "", "No model yet", "even", "Choose one in the list.", ""),
        (Judgement("looking"), "draft", "Looking…", "even", "Reading the headers of both", ""),
        (Judgement("looking"), "", "Looking…", "even", "Reading the header.", ""),
        (FAILED, "draft", "Cannot tell", "loss", "The Hub is closed. Come back.", "Look again"),
        (OFFLINE, "draft", "Not known", "even", "What is on Hugging Face", "Look again"),
        (known(None), "", "No draft model", "", "Guesses are copied from the text", ""),
        (known(GOOD), "draft", "Good", "gain", "Often 1.5 to 2 times", ""),
        (known(GOOD), "none", "Good", "gain", "Often 1.5 to 2 times", ""),
        (known(LITTLE), "draft", "Little gain", "even", "Expect little.", ""),
        (known(SLOWER), "draft", "Slower", "slower", "Expect replies to become slower.", ""),
        (known(SWAP), "draft", "Good", "gain", "", "Swap the two models"),
        (known(replace(BY_TRANSLATION, translated=0.87)), "draft", "Can be tried", "", "", ""),
        (
            known(REFUSED),
            "draft", "Does not go together", "loss", "Token 5", "Take qwen2.5-0.5b-q8_0 instead",
        ),
    ],
)  # fmt: skip
def test_the_conclusion_comes_first_and_the_reasons_are_folded(
    qtbot: QtBot,
    judgement: Judgement,
    drafts: str,
    conclusion: str,
    tone: str,
    sentence: str,
    button: str,
) -> None:
    card = VerdictCard()
    qtbot.addWidget(card)
    card.show()
    card.show_judgement(judgement, has_draft=drafts == "draft")
    assert (card.conclusion.text(), card.conclusion.property("tone")) == (conclusion, tone)
    assert card.sentence.text().replace("\u200b", "").startswith(sentence)
    assert card.accessibleName().startswith(f"{conclusion}. ")
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


@pytest.mark.parametrize("verdict", [GOOD, LITTLE, SLOWER])
@pytest.mark.parametrize("gain", [0.9, 1.0, 1.05, 1.4, 2.0])
@pytest.mark.parametrize("basis", ["estimate", "measured"])
def test_the_conclusion_says_nothing_else_than_its_figures(
    qtbot: QtBot, verdict: PairVerdict, gain: float, basis: Literal["estimate", "measured"]
) -> None:
    card = VerdictCard()
    qtbot.addWidget(card)
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


def test_nothing_is_chosen_at_first(pane: PairPane) -> None:
    assert pane.pair() is None
    assert not pane.form.target.fields["n_ctx"].isEnabled()
    assert [name.text() for name in pane.names.names] == ["not chosen yet", "none"]


def test_nothing_below_moves_while_models_are_looked_into(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    def places() -> tuple[QPoint, ...]:
        qtbot.wait(10)
        parts = pane.verdict, pane.memory, pane.form, pane.form.advanced
        return tuple(each.mapTo(pane, QPoint()) for each in parts)

    nothing = places()
    judge.may_answer.clear()
    pane.show_picks(Picks(target=TARGET, draft=DRAFT))
    looking = places()
    judge.may_answer.set()
    qtbot.waitUntil(lambda: pane.judgement.judgement.plan is not None)
    assert nothing == looking == places()
    judge.may_answer.clear()
    pane.show_picks(Picks(target=replace(TARGET, reference="/m/other.gguf")))
    assert pane.is_looking
    assert places() == looking
    judge.may_answer.set()
    qtbot.waitUntil(lambda: not pane.is_looking)
    assert places() == looking
    assert pane.form.context.words.text().startswith("Trained for")
    pane.show_picks(Picks())
    assert not pane.form.context.words.text().strip(), "no model was trained"
    assert places() == nothing


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
    assert pane.verdict.lines[0].text.accessibleName().startswith("Problem: Token 5")
    button = pane.verdict.button
    assert "…" in button.text(), "there is no room for all of it"
    assert "…" not in button.accessibleName()
    assert button.width() <= pane.verdict.width()
    taken: list[Remedy] = []
    pane.remedy_taken.connect(taken.append)
    button.click()
    assert taken == [long]


def test_what_cannot_be_told_can_be_asked_again(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.error = UserError("no-network", "The Hub cannot be reached.", "Look at the cable.")
    pane.show_picks(Picks(target=TARGET, draft=DRAFT))
    qtbot.waitUntil(lambda: bool(pane.obstacle()))
    judge.error = None
    pane.verdict.button.click()
    qtbot.waitUntil(lambda: not pane.obstacle() and pane.judgement.judgement.status == "known")


# ---------------------------------------------------------------------------------- the memory


def test_the_bar_tells_everything_in_numbers(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    (bar,) = pane.memory.bars
    assert pane.memory.pill.text() == "fits"
    assert bar.figures.text() == "6.4 of 25.8 GB"
    assert bar.accessibleName() == "Memory: 6.4 of 25.8 GB"
    assert bar.accessibleDescription() == (
        "Model 4.7 GB, Its cache 268 MB, Drafter 419 MB, Drafter's cache 50 MB, "
        "Buffers for computing 377 MB, Kept free 537 MB"
    )
    assert bar.excess.isHidden()
    assert not any(way.isVisible() for way in pane.memory.ways)


def test_how_a_target_goes_back_is_told_where_it_costs_something(
    pane: PairPane, qtbot: QtBot
) -> None:
    pick(pane, qtbot)
    plan = plan_of(ModelParams("/m/7b.gguf"), None, free=24 * GIB)
    told = pane.memory.going_back
    pane.memory.details.toggle.setChecked(True)
    for way, words in (("cells", ""), ("states", "take back 9 tokens"), ("none", "no room")):
        pane.memory.show_plan(replace(plan, going_back=GoingBack(way, 9)))  # type: ignore[arg-type]
        assert told.isVisible() == bool(words)
        assert words in told.text().replace("\u200b", "")
    pane.memory.show_plan(plan)
    assert not told.isVisible()


def test_the_bar_follows_the_context(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    (bar,) = pane.memory.bars
    pane.form.context.slider.setValue(pane.form.context.slider.maximum())
    assert pane.form.target.fields["n_ctx"].value() == CARD.n_ctx_train
    assert pane.memory.isVisible()  # nothing flickers while it is worked out
    qtbot.waitUntil(lambda: "Its cache 2.1 GB" in bar.accessibleDescription())
    assert pane.memory.bars == [bar]


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
    assert pane.memory.pill.text() == "does not fit"
    assert bar.excess.text() == "1.0 GB too much"
    assert bar.accessibleName() == "Memory: 6.4 of 5.4 GB, 1.0 GB too much"
    cache, smaller, lookups = pane.memory.ways
    assert cache.button.text() == "Quantise the draft's cache"
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
    assert pane.memory.problem.text() == "Estimated from the headers."
    judge.make_plan = plan_of
    pane.form.target.fields["n_ctx"].setValue(1024)
    qtbot.waitUntil(pane.memory.bars[1].isHidden)
    assert pane.memory.problem.isHidden()


def test_the_parts_are_told_apart_without_colours() -> None:
    plan = plan_of(ModelParams("t"), ModelParams("d")).devices[0]
    modes: tuple[ThemeMode, ...] = ("light", "dark")
    for mode in modes:
        look.set_mode(mode)
        parts = parts_of(plan)
        taken = plan.target.total + plan.draft.total + plan.states
        assert sum(part.size for part in parts) == taken + plan.margin
        looks = {(_grey(part.colour) // 24, bool(part.stripes)) for part in parts}
        assert len(looks) >= 5


def test_states_take_a_part_of_what_is_kept_free_and_never_make_a_pair_unfit() -> None:
    plan = plan_of(ModelParams("t"), ModelParams("d")).devices[0]
    free = plan.target.total + plan.draft.total + plan.margin
    narrow = replace(plan, free=free, target=replace(plan.target, states=plan.margin // 4))
    assert narrow.fits
    *_, states, kept, _ = parts_of(narrow)
    assert (states.size, kept.size) == (plan.margin // 4, plan.margin - plan.margin // 4)


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


def _grey(colour: str) -> int:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return round(0.299 * red + 0.587 * green + 0.114 * blue)


# ------------------------------------------------------------------------------------ the form


def test_the_context_reaches_to_what_the_model_was_trained_for(
    pane: PairPane, qtbot: QtBot
) -> None:
    pick(pane, qtbot)
    context = pane.form.context
    assert context.words.text() == "Trained for 32k tokens"
    assert context.n_ctx == 4096  # automatic
    assert context.slider.value() == round(context.slider.maximum() / 2)  # 512 · 2³ of 512 · 2⁶
    context.slider.setValue(0)
    assert pane.form.target.fields["n_ctx"].value() == 512
    pane.form.target.fields["n_ctx"].setValue(99_999)
    assert pane.form.target.fields["n_ctx"].value() == 32768
    assert context.slider.value() == context.slider.maximum()


def test_what_finds_room_is_marked(pane: PairPane, judge: FakeJudge, qtbot: QtBot) -> None:
    judge.free = 7 * GIB
    pick(pane, qtbot)
    assert pane.form.context.words.text() == "Trained for 32k tokens, up to about 18k find room"
    assert pane.form.context.mark.share is not None
    assert 0.8 < pane.form.context.mark.share < 0.9


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
    target, draft = wanted(pane).target, wanted(pane).draft
    assert target == ModelParams(TARGET.reference)
    assert draft == ModelParams(DRAFT.reference)
    pane.form.target.fields["n_ctx"].setValue(16384)
    assert wanted(pane).draft == ModelParams(DRAFT.reference, 16384)
    pane.form.draft.fields["n_ctx"].setValue(2048)
    assert wanted(pane).draft == ModelParams(DRAFT.reference, 2048)


def test_a_loaded_pairs_settings_come_back(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    target = ModelParams(TARGET.reference, 8192, 3, kv_type_k="q8_0", flash_attn="on", n_cpu_moe=2)
    draft = ModelParams(DRAFT.reference, 8192, kv_type_v="q4_0", n_gpu_layers=7)
    pane.show_pair(Pair(target, DraftModel(draft)))
    assert wanted(pane) == Pair(target, DraftModel(draft))
    assert pane.form.draft.fields["n_ctx"].text() == "same"


def test_values_that_do_not_go_together_are_an_obstacle(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    more = pane.form.draft
    more.fields["kv_type_v"].setCurrentText("q4_0")
    assert not pane.obstacle()
    more.fields["flash_attn"].setCurrentText("off")
    assert pane.obstacle().startswith("A quantised V cache needs flash attention.")
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


@pytest.mark.parametrize(
    ("n_gpus", "reason"), [(0, "finds no GPU here"), (1, "on one device"), (2, "")]
)
def test_what_has_no_use_here_is_off_and_says_why(
    pane: PairPane, qtbot: QtBot, n_gpus: int, reason: str
) -> None:
    pick(pane, qtbot)
    form = pane.form
    cards = tuple(DeviceInfo(f"CUDA{n}", f"Card {n}", "gpu", 8, 8) for n in range(n_gpus))
    form.show_engine(EngineDescribed("", "", cards))
    form.advanced.toggle.setChecked(True)
    assert reason in form.reason.text()
    assert form.reason.isVisible() == bool(reason)
    for column in (form.target, form.draft):
        assert column.fields["extra_bufts"].isEnabled()
        for name in ("n_gpu_layers", "device", "n_cpu_moe", "kv_offload"):
            assert column.fields[name].isEnabled() == (n_gpus > 0)
        for name in ("split_mode", "tensor_split", "main_gpu"):
            assert column.fields[name].isEnabled() == (n_gpus > 1)
    if n_gpus:
        entries = form.target.fields["device"].menu.actions()
        assert entries[1].text() == "Card 0 (CUDA0): 8 of 8 B free"
    pane.show_picks(pane.picks.with_draft(None))
    assert form.target.fields["n_threads"].isEnabled()
    assert not form.draft.fields["n_threads"].isEnabled()


def test_what_belongs_to_a_pair_as_a_whole_is_shown_and_taken(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    pair = replace(wanted(pane), exact=True, lookup_cache="/texts/mine.bin")
    pane.show_pair(pair)
    assert wanted(pane) == pair
    pane.form.exact.click()
    assert not wanted(pane).exact
    other = replace(TARGET, reference="/m/other.gguf")
    pane.show_picks(pane.picks.with_target(other))
    assert wanted(pane).lookup_cache == "", "it belongs to a vocabulary"


@pytest.mark.qt_log_ignore("This plugin does not support")
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


def test_a_context_that_is_cut_is_told_and_comes_back(pane: PairPane, qtbot: QtBot) -> None:
    pane.show_pair(Pair(ModelParams(TARGET.reference, 8192)))
    context = pane.form.context
    context.set_longest(2048)
    assert pane.form.target_params("").n_ctx == 2048
    assert context.words.text() == "Cut from 8k: trained for 2k tokens"
    context.set_longest(32768)
    assert pane.form.target_params("").n_ctx == 8192
    assert context.words.text() == "Trained for 32k tokens"
    del qtbot


def test_an_automatic_context_that_is_made_shorter_is_told(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    def shortened(target: ModelParams, drafting: Drafting, *, free: int) -> MemoryPlan:
        return plan_of(replace(target, n_ctx=target.n_ctx or 1280), drafting, free=free)

    judge.make_plan = shortened
    pick(pane, qtbot)
    words = pane.form.context.words
    assert words.text() == "Trained for 32k tokens, automatic: 1280, as many as find room"
    pane.form.target.fields["n_ctx"].setValue(4096)
    assert "automatic" not in words.text()


def test_where_no_context_finds_room_nothing_is_marked(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.free = 4 * GIB
    pick(pane, qtbot)
    assert pane.form.context.words.text() == "Trained for 32k tokens, no context finds room"
    assert pane.form.context.mark.share is None


def test_how_the_loaded_pair_is_loaded_stays(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    target = ModelParams(
        TARGET.reference, split_mode="row", tensor_split=(3.0, 1.0), extra_bufts=False
    )
    draft = ModelParams(DRAFT.reference, n_threads_batch=2, main_gpu=1)
    pane.show_pair(Pair(target, DraftModel(draft)))
    assert wanted(pane) == Pair(target, DraftModel(draft))


def test_a_draft_model_on_the_processor_stays_there(pane: PairPane, qtbot: QtBot) -> None:
    cpu, gpu = CPU.devices[0], GPU.devices[0]
    pane.form.show_engine(structs.replace(GPU, devices=(gpu, cpu)))
    pick(pane, qtbot)
    draft = ModelParams(DRAFT.reference, device="CPU", n_gpu_layers=0)
    pane.show_pair(Pair(ModelParams(TARGET.reference), DraftModel(draft)))
    assert wanted(pane).draft == draft


def test_a_context_beyond_the_drafts_training_is_an_obstacle(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    del judge
    pick(pane, qtbot)
    pane.form.draft.fields["n_ctx"].setValue(40_000)
    assert pane.obstacle().startswith("Draft model: A context of 40,000 tokens is longer than")
    pane.form.draft.fields["n_ctx"].setValue(0)
    assert not pane.obstacle()


def test_a_name_from_right_to_left_stays_beside_its_role(pane: PairPane, qtbot: QtBot) -> None:
    pick(pane, qtbot)
    name = pane.names.names[0]
    for text in (TARGET.title, "نموذج-صغير"):
        pane.show_picks(replace(pane.picks, target=replace(TARGET, title=text)))
        picture = name.grab().toImage()
        ground = picture.pixel(picture.width() - 1, 0)
        inked = [
            x
            for x in range(picture.width())
            if any(picture.pixel(x, y) != ground for y in range(picture.height()))
        ]
        assert inked[0] < 8


def test_what_was_measured_before_is_said_in_place_of_an_estimate(
    qtbot: QtBot, judge: FakeJudge, pane: PairPane
) -> None:
    judge.before = MeasuredPair(0.1, tuple(1 + 0.1 * n for n in range(12)), 0.01, 0.8)
    pane.show_picks(Picks(target=TARGET, draft=DRAFT))
    qtbot.waitUntil(lambda: "(measured)" in pane.verdict.sentence.text())
    text = pane.verdict.sentence.text().replace("\u200b", "")
    assert text.startswith("About 10 tokens/s alone, ")
