"""A run record and the result of a check in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtWidgets import QLabel, QWidget

from gui.fake_client import STATS, perhaps, plain_step, step_of, undrafted, without_plain
from paceline.chat.sameness import CannotCompare, Differs, Same
from paceline.gui.run import run_words
from paceline.gui.run.cards import FiguresCard
from paceline.gui.run.difference_view import DifferenceView
from paceline.gui.run.drafters_card import DraftersCard, judged_by_place
from paceline.gui.run.sameness import SamenessWords, progress_words, result_words
from paceline.gui.state.figures import kernel_words, model_rows
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import (
    DrafterStats,
    KernelUse,
    StepCommitted,
    TurnStats,
    Warmth,
)
from paceline.params import Prompting
from paceline.run_record import ModelRecord, RunError, RunRecord

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

STEPS = (step_of("x", 0), step_of("x", 1), *(plain_step(n) for n in range(2, 7)))
RECORD = RunRecord(
    "m",
    "finished",
    strategy="draft:n_max=4",
    asked_strategy="draft:n_max=4",
    seed=7,
    max_tokens=1024,
    reason="eog",
    stats=STATS,
    first_token_s=0.44,
    steps=STEPS,
)
FAILED = replace(
    RECORD, status="failed", reason=None, stats=None, first_token_s=None,
    error=RunError("decode-failed", "It broke.", "Try again."),
)  # fmt: skip


def values(record: RunRecord) -> list[str]:
    return [figure.value for figure in run_words.figures(record)]


def test_the_figures_are_those_of_the_line_below_the_reply() -> None:
    assert values(RECORD) == ["41.2", "≈ 21.6", "1.9×", "71\u202f%", "0.4", "100"]
    assert run_words.figures(RECORD)[2].tone == "gain"


def test_a_reply_without_figures_has_those_of_its_steps() -> None:
    speed, plain, ratio, accepted, first, tokens = values(FAILED)
    assert float(speed) == pytest.approx(9 / 0.29, abs=0.05)
    assert (plain, ratio, first) == ("", "", "")
    assert accepted == "67\u202f%"
    assert tokens == "9"
    assert values(replace(FAILED, steps=())) == [""] * 6


@pytest.mark.parametrize("strategy", ["off", "draft", "auto"])
def test_a_reply_without_drafts_has_no_ratio_whoever_was_asked(strategy: str) -> None:
    record = replace(RECORD, strategy=strategy, asked_strategy=strategy, stats=undrafted())
    assert values(record)[:3] == ["41.2", "", ""]
    assert run_words.figures(record)[2].tone is None
    assert "without drafts" in run_words.plain_words(record)


def test_a_ratio_that_may_be_a_gain_or_a_loss_is_even() -> None:
    (_, plain, ratio, *_) = run_words.figures(replace(RECORD, stats=perhaps()))
    assert (plain.value, ratio.value, ratio.tone) == ("", "≈ 1×", "even")


def test_a_loss_is_not_told_in_the_first_replies() -> None:
    slow = structs.replace(STATS, plain_tokens_per_s=60.0, plain_low=55.0, plain_high=65.0)
    record = replace(RECORD, stats=slow)
    assert run_words.figures(record)[2].tone == "loss"
    assert "Alone" in run_words.plain_words(record)
    hidden = run_words.figures(record, judges=False)
    assert (hidden[1].value, hidden[2].value, hidden[2].tone) == ("", "", None)
    assert run_words.plain_words(record, judges=False) == ""
    assert run_words.figures(RECORD, judges=False) == run_words.figures(RECORD)


def test_figures_that_are_not_known_take_no_room(qtbot: QtBot) -> None:
    card = FiguresCard()
    qtbot.addWidget(card)
    card.show_record(replace(RECORD, stats=perhaps()))
    shown = [label.text() for label in card.findChildren(QLabel) if not label.isHidden()]
    assert "Alone" not in shown
    assert "Ratio" in shown
    assert "–" not in shown
    card.show_record(RECORD)
    assert "Alone" in [la.text() for la in card.findChildren(QLabel) if not la.isHidden()]


@pytest.mark.parametrize(
    ("steps", "from_what"),
    [
        (STEPS, "5 steps of this reply without a draft, and from what wider steps cost here."),
        (
            STEPS[:3],
            "the one step of this reply without a draft, and from what wider steps cost here.",
        ),
        (STEPS[:2], "what wider steps cost here."),
    ],
    ids=["5", "1", "0"],
)
def test_plain_decoding_is_an_estimate_and_says_from_what(
    steps: tuple[StepCommitted, ...], from_what: str
) -> None:
    assert run_words.plain_words(replace(RECORD, steps=steps)) == (
        "Alone, the model would have taken 3.9 to 5.6 s for these tokens; this took 2.0 s. That is "
        f"estimated from {from_what}"
    )


def test_a_busy_machine_is_told() -> None:
    busy = replace(RECORD, stats=structs.replace(STATS, machine_busy=True))
    assert run_words.plain_words(busy).endswith("kept the machine busy, so speeds scatter.")
    assert "busy" not in run_words.plain_words(RECORD)


@pytest.mark.parametrize("stats", [without_plain(), structs.replace(STATS, plain_low=None)])
def test_what_is_not_known_of_plain_decoding_is_not_told(stats: TurnStats) -> None:
    record = replace(RECORD, stats=stats)
    assert values(record)[:3] == ["41.2", "", ""]
    assert "not measured" in run_words.plain_words(record)


def test_the_time_is_the_prefill_s_and_the_steps() -> None:
    times = run_words.times(RECORD)
    assert times.prefill_s == STATS.prefill_s
    assert times.verify_s == pytest.approx(0.012 + 5 * 0.04)
    assert times.total_s == pytest.approx(STATS.total_s)
    without = run_words.times(FAILED)
    assert (without.prefill_s, without.total_s) == (0.0, pytest.approx(0.29))


def test_a_continued_reply_has_the_figures_of_its_last_part_alone() -> None:
    before = STEPS
    record = replace(RECORD, steps=(*before, *STEPS), n_parts=2)
    assert "part 2 of the reply" in run_words.heading(record)
    assert "part" not in run_words.heading(RECORD)
    assert run_words.times(record) == run_words.times(RECORD)
    assert run_words.plain_words(record) == run_words.plain_words(RECORD)
    assert judged_by_place(record.last_part) == judged_by_place(STEPS) == {"draft": [1, 1, 1]}
    failed = replace(FAILED, steps=record.steps, n_parts=2)
    assert values(failed) == values(FAILED)
    assert values(replace(failed, first_token_s=None)) == values(failed), "it was killed"
    nothing = replace(failed, first_token_s=None, n_parts=3)
    assert values(nothing) == [""] * 6, "the third part failed before its first token"
    nothing = replace(
        record, stats=structs.replace(STATS, n_generated=0), first_token_s=None, n_parts=3
    )
    assert run_words.times(nothing).verify_s == 0.0, "it was stopped before its first token"


def test_a_change_of_strategy_is_told() -> None:
    rows = dict(run_words.settings_rows(replace(RECORD, strategy="off")))
    assert rows["Strategy"] == "draft:n_max=4 at first, off at the end"
    assert "Stop texts" not in rows
    rows = dict(run_words.settings_rows(replace(RECORD, n_cut=1)))
    assert rows["Context"] == "1 old message was left out"
    rows = dict(run_words.settings_rows(replace(RECORD, stop=("\n\n", "END"), n_cut=4)))
    assert rows["Stop texts"] == r"'\n\n', 'END'"
    assert rows["Context"].startswith("4 old messages")
    assert "Reasoning" not in rows
    rows = dict(run_words.settings_rows(replace(RECORD, prompting=Prompting("{{ x }}", "low"))))
    assert (rows["Chat template"], rows["Reasoning"]) == ("your own", "low")


@pytest.mark.parametrize(
    ("warm", "words"),
    [
        ("context", "still in the context"),
        ("memory", "kept in memory"),
        ("disk", "kept on disk"),
    ],
)
def test_it_is_told_where_the_warm_tokens_were(warm: Warmth, words: str) -> None:
    stats = structs.replace(STATS, n_prompt=4100, n_reused=2048, warm=warm)
    rows = dict(run_words.settings_rows(replace(RECORD, stats=stats)))
    assert rows["Prompt"] == f"4,100 tokens, 2,048 of them {words}"


def test_whose_kernels_computed_is_told_where_it_is_known() -> None:
    assert "Kernels" not in dict(run_words.settings_rows(RECORD))
    assert "Kernels" not in dict(run_words.settings_rows(FAILED))
    uses = [("q4_K", "own"), ("f32", "stock"), ("q6_K", "own"), ("attention", "own")]
    stats = structs.replace(STATS, kernels=tuple(KernelUse(kind, by) for kind, by in uses))  # type: ignore[arg-type]
    rows = dict(run_words.settings_rows(replace(RECORD, stats=stats)))
    assert rows["Kernels"] == "own (Q4_K, Q6_K, attention); llama.cpp's (F32)"
    assert kernel_words((KernelUse("f16", "stock"),)) == "llama.cpp's (F16)"


def test_a_model_is_described_as_far_as_it_is_known() -> None:
    model = ModelRecord("x", "x.gguf", description="llama 256M Q8_0", n_params=17_300_000)
    rows = dict(model_rows(replace(model, size_bytes=3 << 30, n_threads=2)))
    assert rows["Model"] == "llama Q8_0, 3.2 GB"
    assert rows["Parameters"] == "17.3 M"
    assert rows["Threads"] == "2 for one token, 2 for more"
    assert "Fingerprint" not in rows
    assert "Context" not in rows


def changed(words: SamenessWords) -> list[tuple[str, ...]]:
    """Return the marked text of either side, per row."""
    assert words.difference is not None
    return [
        tuple("".join(part.text for part in side if not part.is_same).strip() for side in row[:2])
        for row in words.difference.rows
        if not row.is_same
    ]


DIFFERS = Differs(
    117, 800, " blue", " green", 0.013, "the sea was", is_promised=False, logit_difference=None
)
MEASURED = replace(DIFFERS, logit_difference=0.4)


@pytest.mark.parametrize(
    ("result", "tone"),
    [
        (Same(800), "accent"),
        (CannotCompare("x", "No.", "Do that."), "muted"),
        (DIFFERS, "lookup"),
        (MEASURED, "lookup"),
        (replace(MEASURED, margin=0.9), "lookup"),
        (replace(MEASURED, reused=(300, 40)), "lookup"),
        (replace(MEASURED, margin=None), "lookup"),
        (replace(MEASURED, any_context=True), "lookup"),
        (replace(MEASURED, logit_difference=0.0), "lookup"),
        (replace(MEASURED, is_promised=True), "danger"),
        (replace(MEASURED, is_promised=True, margin=1e-5), "danger"),
    ],
)
def test_a_difference_is_a_fault_where_equality_was_promised(
    result: Same | Differs | CannotCompare, tone: str
) -> None:
    words = result_words(result)
    assert words.tone == tone
    if isinstance(result, Differs):
        assert "118 of 800" in words.verdict
        assert changed(words) == [("blue", "green")]
        assert ("please report" in words.details) == (tone == "danger")
        assert ("changes by 0.013" in words.details) == (result.margin == 0.013)
        assert ("near-tie" in words.details) == (result == MEASURED)
        assert ("Rounding was not seen" in words.details) == (
            tone == "lookup"
            and not result.any_context
            and (result.logit_difference == 0.0 or result.margin in {None, 0.9})
        )
        assert ("avoids that" in words.details) == (
            result in (DIFFERS, MEASURED) or result.reused == (300, 40)
        )
        assert ("300 tokens were reused then and 40 now" in words.details) == (
            result.reused == (300, 40)
        )


@pytest.mark.parametrize(
    ("expected", "found", "sides"),
    [
        ("", "\n", ("(its end, or a token without text)", "“⏎”")),
        (" ", "  ", ("“ ”", "“  ”")),
        (".\n", ".", (".⏎", ".")),
        (" <b>", " b", ("<b>", "b")),
    ],
)
def test_tokens_are_seen_whatever_they_are(
    expected: str, found: str, sides: tuple[str, str]
) -> None:
    assert changed(result_words(replace(DIFFERS, expected=expected, found=found))) == [sides]


@pytest.mark.parametrize(("expected", "found"), [("    ", "        "), ("\t", " "), ("  x", " x")])
def test_tokens_that_differ_in_blanks_alone_look_different(
    qtbot: QtBot, expected: str, found: str
) -> None:
    view = DifferenceView()
    qtbot.addWidget(view)
    words = result_words(replace(DIFFERS, expected=expected, found=found))
    assert words.difference is not None
    view.show_difference(words.difference)
    reply, plain = filter(None, view.toPlainText().splitlines())
    assert reply != plain


def test_progress_counts_tokens() -> None:
    assert progress_words(312, 1800) == "312 of 1,800 tokens the same"


def test_the_name_of_a_drafter_from_another_program_is_no_markup(qtbot: QtBot) -> None:
    sources = Sources()
    theirs = DrafterStats("<b>theirs</b>", 1, 9, 9, 0.0, 0.1, 0.0, 9, 4, 9, 4, (4,))
    record = replace(RECORD, stats=structs.replace(STATS, by_drafter=(theirs,)))
    window = QWidget()
    qtbot.addWidget(window)
    card = DraftersCard(sources, window)
    card.show_run(record, StepMetrics(sources))
    ((name, *_),) = card.cells
    assert name.text().endswith("&lt;b&gt;theirs&lt;/b&gt;")
