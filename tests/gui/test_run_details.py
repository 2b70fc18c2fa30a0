"""A run record and the result of a check, as they are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from PySide6.QtWidgets import QLabel, QWidget

from gui.fake_client import STATS, perhaps, plain_step, step_of, undrafted, without_plain
from paceline.chat.sameness import CannotCompare, Differs, Same
from paceline.gui.run import run_words
from paceline.gui.run.cards import FiguresCard
from paceline.gui.run.difference_view import DifferenceView
from paceline.gui.run.drafters_card import DraftersCard, judged_by_place
from paceline.gui.run.sameness import SamenessWords, result_words
from paceline.gui.state.figures import kernel_words, model_rows
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import (
    DrafterStats,
    KernelUse,
    TurnStats,
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


def test_a_reply_without_figures_has_those_of_its_steps() -> None:
    speed, plain, ratio, accepted, first, tokens = values(FAILED)
    assert float(speed) == pytest.approx(9 / 0.29, abs=0.05)
    assert (plain, ratio, first) == ("", "", "")
    assert accepted == "67\u202f%"
    assert tokens == "9"
    assert values(replace(FAILED, steps=())) == [""] * 6


def test_a_loss_is_not_reported_in_the_first_replies() -> None:
    slow = structs.replace(STATS, plain_tokens_per_s=60.0, plain_low=55.0, plain_high=65.0)
    record = replace(RECORD, stats=slow)
    assert run_words.figures(record)[2].tone == "loss"
    assert run_words.plain_words(record)
    hidden = run_words.figures(record, judges=False)
    assert (hidden[1].value, hidden[2].value, hidden[2].tone) == ("", "", None)
    assert run_words.plain_words(record, judges=False) == ""
    assert run_words.figures(RECORD, judges=False) == run_words.figures(RECORD)


def test_plain_decoding_is_an_estimate_and_says_from_what() -> None:
    told = {n: run_words.plain_words(replace(RECORD, steps=STEPS[:n])) for n in (7, 3, 2)}
    assert len(set(told.values())) == 3, "5 plain steps, one, none"
    for words in told.values():
        assert all(figure in words for figure in ("3.9 to 5.6 s", "2.0 s"))
    busy = replace(RECORD, stats=structs.replace(STATS, machine_busy=True))
    assert run_words.plain_words(busy).startswith(told[7])
    assert run_words.plain_words(busy) != told[7], "that the machine was busy is told"


def test_a_change_of_strategy_and_all_settings_are_reported() -> None:
    def row(name: str, **changes: Any) -> str:
        return dict(run_words.settings_rows(replace(RECORD, **changes))).get(name, "")

    strategies = row("Strategy", strategy="off")
    assert all(name in strategies for name in ("draft:n_max=4", "off"))
    assert [row(name) for name in ("Stop texts", "Reasoning", "Context", "Kernels")] == [""] * 4
    assert row("Context", n_cut=1).startswith("1 ")
    assert row("Context", n_cut=4).startswith("4 ")
    assert row("Stop texts", stop=("\n\n", "END")) == r"'\n\n', 'END'"
    prompting = Prompting("{{ x }}", "low")
    assert row("Reasoning", prompting=prompting) == "low"
    assert row("Chat template", prompting=prompting) != row("Chat template")
    warm = [
        row("Prompt", stats=structs.replace(STATS, n_prompt=4100, n_reused=2048, warm=where))
        for where in ("context", "memory", "disk")
    ]
    assert len(set(warm)) == 3
    assert all("4,100" in words and "2,048" in words for words in warm)


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


def test_the_kernels_that_computed_are_reported_where_known() -> None:
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


@pytest.mark.parametrize(
    ("stats", "shown", "tone"),
    [
        (STATS, ["41.2", "≈ 21.6", "1.9×", "71\u202f%", "0.4", "100"], "gain"),
        (perhaps(), ["41.2", "", "≈ 1×", "71\u202f%", "0.4", "100"], "even"),
        (undrafted(), ["41.2", "", ""], None),
        (without_plain(), ["41.2", "", ""], None),
        (structs.replace(STATS, plain_low=None), ["41.2", "", ""], None),
    ],
)
def test_a_ratio_is_shown_where_drafts_and_plain_decoding_are_known(
    qtbot: QtBot, stats: TurnStats, shown: list[str], tone: str | None
) -> None:
    record = replace(RECORD, stats=stats)
    assert values(record)[: len(shown)] == shown
    assert run_words.figures(record)[2].tone == tone
    assert run_words.plain_words(record), "why, or from what it is estimated"
    card = FiguresCard()
    qtbot.addWidget(card)
    card.show_record(record)
    texts = [label.text() for label in card.findChildren(QLabel) if not label.isHidden()]
    is_shown = any("≈ 21.6" in text for text in texts)
    assert is_shown == (stats is STATS), "what is not known takes no room"
    assert "–" not in texts
