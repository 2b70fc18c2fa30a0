"""A benchmark's figures in rows, words and pictures, for reports that were made by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QImage

from gui.bench_reports import plan_of, report_of
from paceline.bench.report import to_json
from paceline.bench.runner import Progress
from paceline.bench.runs import Failure
from paceline.bench.verdict import verdict
from paceline.chat.prompt import build_messages
from paceline.conversation import Conversation, Message
from paceline.engine.draft import registry
from paceline.engine.draft.strategy import strategy_named
from paceline.errors import UserError
from paceline.gui.bench import words
from paceline.gui.bench.chart import ROW_PX, BenchChart, draw_chart, picture_of
from paceline.gui.bench.choices import chat_outline, chat_workloads, contenders
from paceline.gui.bench.result_page import RATIO, SPEED, WHOLE, BenchTable
from paceline.gui.bench.rows import remarks, report_csv, rows_of
from paceline.gui.bench.words import PLAIN, kind_of, title_of
from paceline.gui.look.colours import LIGHT
from paceline.gui.look.current import look
from paceline.gui.state.speculation import SpeculationModel
from paceline.messages import Chat
from paceline.params import ReplySettings

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.bench.runs import Report
    from paceline.settings import ThemeMode

UNKNOWN = "plugin.phrases-that-were-collected-in-every-manual-of-the-house:x=3"
LONG = "suffix+ngram-mod+ngram-cache+prompt-lookup+draft:suffix.max=8:draft.n_max=4:draft.p_min=0.5"


def sentence_of(report: Report) -> str:
    return verdict(report, title_of).sentence


def test_the_rows_over_all_prompts_are_the_report_s_geometric_means(qtbot: QtBot) -> None:
    report = report_of(
        {
            "one": {"off": [4.0, 4.0, 4.0], "suffix": [2.0, 2.5, 4.0]},
            "two": {"off": [9.0, 9.0, 9.0], "suffix": [9.0, 9.0, 9.0]},
        }
    )
    plain, suffix = rows_of(report)
    assert (plain.strategy, suffix.strategy) == ("off", "suffix")
    assert plain.speedup == (1.0, 1.0, 1.0)
    # 1.3 lies between 1 and 1.6
    assert suffix.speedup == pytest.approx(((4 / 2.5) ** 0.5, 1.3**0.5, 1.8**0.5))
    assert suffix.whole is not None
    assert suffix.whole.ratio == pytest.approx(report.geomean["suffix"])
    assert (plain.n_runs, suffix.n_runs) == (6, 6)


def test_the_table_s_speeds_and_ratios_agree_on_a_machine_that_slows_down(qtbot: QtBot) -> None:
    # In pairs the draft model is faster, by the medians of the runs Auto is: 20 and 15 ms.
    report = report_of(
        {
            "one": {
                "off": [0.02, 0.04, 0.04],
                "draft": [0.01, 0.02, 0.02],
                "auto": [0.015, 0.015, 0.04],
            }
        }
    )
    table = BenchTable()
    qtbot.addWidget(table)
    table.show_rows(rows_of(report), "")
    shown = [
        [float(table.figures.text(row, column).rstrip("×")) for column in (SPEED, RATIO)]
        for row in range(3)
    ]
    plain_speed = shown[0][0]
    for speed, ratio in shown:
        assert speed / plain_speed == pytest.approx(ratio, rel=0.01)
    fastest = max(range(3), key=lambda row: shown[row][0])
    assert verdict(report).best == report.strategies[fastest] == "draft"


# ------------------------------------------------------------------------------------- figures


def test_rows_have_the_report_s_geometric_means_and_the_speed_that_fits_them() -> None:
    report = report_of(
        {
            "one": {"off": [4.0, 4.0, 40.0], "suffix": [5.0, 5.0, 5.0]},
            "two": {"off": [8.0, 8.0, 8.0], "suffix": [10.0, 10.0, 10.0]},
        },
        prefill_s=2.0,
    )
    plain, suffix = rows_of(report)
    assert plain.speedup == (1.0, 1.0, 1.0), "however it scatters"
    assert suffix.speedup is not None
    assert suffix.speedup.ratio == pytest.approx(0.8), "of the writing alone"
    assert suffix.whole is not None
    assert suffix.whole.ratio == pytest.approx(report.geomean["suffix"]) != 0.8
    assert plain.tokens_per_s is not None
    assert suffix.tokens_per_s == pytest.approx(0.8 * plain.tokens_per_s)
    assert (plain.n_runs, suffix.n_runs) == (6, 6)
    first = to_json(report)["workloads"][0]["results"][1]
    assert first["ratio_writing"]["median"] == pytest.approx(0.8)
    assert first["ratio_to_off"]["median"] == pytest.approx(6 / 7)


def test_a_table_for_other_programs_has_every_result(qtbot: QtBot) -> None:
    report = report_of(
        {"one": {"off": [4.0], "draft:n_max=3": [2.0]}, "two": {"off": [2.0], "suffix": [1.0]}}
    )
    table = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert [(row["workload"], row["strategy"]) for row in table] == [
        ("one", "off"), ("one", "draft:n_max=3"), ("two", "off"), ("two", "suffix"),
    ]  # fmt: skip
    assert float(table[1]["ratio"]) == 2.0
    assert {row["same_text"] for row in table} == {"1"}


# ------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (
            {"off": 4.0, "suffix": 2.0, "draft": 3.9},
            "Lookup is fastest: 2.00× in writing, 2.00× for the whole reply.",
        ),
        ({"off": 4.0, "suffix": 2.0, "draft": 2.01}, "is about as fast"),
        ({"off": 4.0, "suffix": 3.9, "draft": 4.0}, "nothing is faster than it alone"),
        (
            {"off": 4.0, "suffix": 5.0, "draft": 6.0},
            "with this pair: the best, Lookup, gives 0.80×",
        ),
        ({"off": 4.0, "suffix": 5.0}, "One prompt or one strategy is too few to judge the pair by"),
        ({"off": 4.0}, "too little to compare"),
        ({}, "Nothing has been measured yet."),
    ],
)
def test_the_verdict_says_what_the_figures_mean(
    qtbot: QtBot, times: dict[str, float], expected: str
) -> None:
    each = {name: [s, s, s] for name, s in times.items()}
    assert expected in sentence_of(report_of({"one": each, "two": each} if each else {}))
    if len(times) > 1 and min(times.values()) > 3:
        alone = sentence_of(report_of({"one": each}))
        assert "with this pair" not in alone
        assert "too few to judge" in alone


@pytest.mark.parametrize(
    ("others", "fastest"), [([3.9, 4.0], ""), ([4.0, 4.1], ""), ([5.0, 5.1], PLAIN)]
)
def test_what_scatters_around_nothing_is_neither_gain_nor_loss(
    qtbot: QtBot, others: list[float], fastest: str
) -> None:
    for wide in ([2.0, *others], [2.0, 3.0, 5.0, 6.0]):
        report = report_of({"one": {"off": [4.0] * len(wide), "suffix": wide}})
        found = verdict(report, title_of)
        assert "cannot be told" in found.sentence
        assert (found.kind, found.best) == ("open", "")
    times = {"off": [4.0] * 2, "suffix": others, "draft": [9.0] * 2}
    found = verdict(report_of({"one": times, "two": times}))
    assert (found.kind, found.best) == ("none", fastest), "it does not scatter"


def test_failures_and_other_texts_are_reported(qtbot: QtBot) -> None:
    failure = Failure("one", "draft", "no-draft", "There is no draft model.", "Load one.")
    report = report_of(
        {"one": {"off": [4.0, 4.0], "suffix": [2.0, 2.0]}},
        strategies=("off", "suffix", "draft"),
        other_text=("suffix",),
        failures=(failure,),
    )
    rows = rows_of(report)
    assert rows[1].same_text is False
    details = remarks(rows)
    assert "There is no draft model. Load one." in details
    assert "Lookup" in details
    assert rows[2].speedup is None
    assert rows[2].problem


@pytest.mark.parametrize(
    ("strategy", "title", "kind"),
    [
        ("off", "Plain decoding", "plain"),
        ("draft:n_max=1", "Draft model (1 token)", "model"),
        ("draft", "Draft model (16 tokens)", "model"),
        ("suffix+draft:draft.n_max=4", "Lookup → Draft model (4 tokens)", "both"),
        ("suffix:max=8:p_min=0.5", "Lookup (8 tokens, p_min 0.5)", "lookup"),
        ("ngram-mod+draft:draft.n_max=4", "Lookup → Draft model (N-gram pool, 4 tokens)", "both"),
        (UNKNOWN, UNKNOWN, "lookup"),
    ],
)
def test_strategies_are_called_by_what_they_do(
    qtbot: QtBot, strategy: str, title: str, kind: str
) -> None:
    assert title_of(strategy) == title
    assert kind_of(strategy) == kind


def test_what_cannot_work_here_says_why(qtbot: QtBot) -> None:
    model = SpeculationModel(registry.available(), [strategy_named("draft:n_max=5")])
    offered = contenders(model)
    names = [c.strategy for c in offered]
    assert names[0] == "off"
    assert len(names) == len(set(names))
    assert "draft:n_max=5" in names
    assert not any(c.obstacle for c in offered)
    model.set_drafter("")
    obstacles = {c.strategy: c.obstacle for c in contenders(model)}
    assert "No draft model" in obstacles["draft:n_max=3"]
    assert "No draft model" in obstacles["suffix+draft"]
    assert not obstacles["suffix"]
    stiff = {c.strategy: c.obstacle for c in contenders(model, can_rollback=False)}
    assert "cannot take tokens back" in stiff["suffix"]
    assert not stiff["off"]


def test_the_estimate_counts_replies_and_guesses_from_plain_speed(qtbot: QtBot) -> None:
    plan = plan_of(("off", "suffix"), n_workloads=3, n_repeats=5, max_tokens=100)
    assert words.estimate_text(plan, None).startswith("30 replies of up to 100 tokens")
    # 30 replies of 100 tokens, 4 of 8 to warm up, and 15 s until it is known what steps cost
    assert words.estimate_text(plan, words.BenchPace(100.0, 400.0)) == "30 replies, about 45 s"
    assert words.left_text(Progress("measure", 1, 4, None, None)) == ""
    assert words.left_text(Progress("measure", 1, 4, None, 300.0)) == "about 5 min left"
    assert words.left_text(Progress("measure", 1, 4, None, 3.0)) == "a few seconds left"


def test_how_auto_kept_its_promise_is_told_by_each_replys_own_plain_time(qtbot: QtBot) -> None:
    times = {"off": [9.0, 9.0, 9.0], "draft": [9.0, 9.0, 9.0], "auto": [2.3, 2.4, 2.3]}
    report = report_of({"one": times, "two": times}, plain_s=1.0)  # 1.02 s and 4 times 1/3 s
    assert words.bound_text(report) == "Auto was noticeably slower in 2 of 6 replies."
    assert words.bound_text(report_of({"one": times}, plain_s=None)) == ""
    said = "Auto was never noticeably slower."
    for auto_s, expected in ((1.0, said), (1.02, said), (1.1, "")):  # beside a loss nothing is said
        times = {"off": [1.0] * 3, "auto": [auto_s] * 3}
        assert words.bound_text(report_of({"one": times}, plain_s=1.0)) == expected
    del times["auto"]
    assert words.bound_text(report_of({"one": times})) == ""


def test_the_verdict_tells_writing_from_the_whole_reply_with_its_prompt(qtbot: QtBot) -> None:
    times = {"off": [4.0] * 3, "suffix": [1.0] * 3}
    report = report_of({"one": times, "two": times}, prefill_s=2.0)
    assert sentence_of(report) == "Lookup is fastest: 4.00× in writing, 2.00× for the whole reply."


def test_what_may_be_chance_is_so_in_both_columns_and_in_their_colour(qtbot: QtBot) -> None:
    times = {
        "off": [4.0] * 3,
        "suffix": [2.9, 3.0, 8.0],
        "draft": [3.0, 3.1, 3.2],
        "ngram-mod": [4.1] * 3,
        "ngram-cache": [4.2, 4.3, 4.4],
    }
    rows = rows_of(report_of({"one": times}, prefill_s=0.5))
    table = BenchTable()
    qtbot.addWidget(table)
    table.show_rows(rows, "")
    even, gain, loss = (LIGHT.muted, LIGHT.accent, LIGHT.danger)
    for at, ratio, whole, colour in (
        (1, "≈ 1×", "≈ 1×", even),
        (2, "1.29×", "1.25×", gain),
        (3, "≈ 1×", "≈ 1×", even),
        (4, "0.93×", "0.94×", loss),
    ):
        assert (rows[at].ratio_text, rows[at].whole_text) == (ratio, whole)
        assert (table.figures.text(at, RATIO), table.figures.text(at, WHOLE)) == (ratio, whole)
        assert table.figures.colour(at, RATIO) == QColor(colour)


# -------------------------------------------------------------------------------------- pictures


def share_of(image: QImage, colour: str) -> float:
    """Return the share of a picture that has this colour."""
    wanted = QColor(colour).rgb()
    places = [(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)]
    return sum(image.pixel(x, y) == wanted for x, y in places) / len(places)


def test_a_chart_says_its_bars_in_words(qtbot: QtBot) -> None:
    report = report_of(
        {"one": {"off": [4.0, 4.0, 4.0], "suffix": [2.0, 2.5, 4.0]}},
        strategies=("off", "suffix", "draft"),
    )
    chart = BenchChart()
    qtbot.addWidget(chart)
    chart.show_rows(rows_of(report))
    name = chart.accessibleName()
    assert "Lookup: 1.60× of plain decoding's speed" in name
    assert "half of the repeats between 1.30× and 1.80×" in name
    assert "Draft model (16 tokens): not measured" in name


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_bar_twice_as_long_is_twice_as_fast_and_is_said_in_words(
    qtbot: QtBot, mode: ThemeMode
) -> None:
    look.set_mode(mode)
    shares = []
    for seconds in (4.0, 2.0):  # the draft model's bar keeps the axis as it is
        times = {"off": [4.0], "suffix": [seconds], "draft": [1.0]}
        chart = BenchChart()
        qtbot.addWidget(chart)
        chart.show_rows(rows_of(report_of({"one": times}, strategies=(*times, LONG))))
        chart.resize(600, chart.sizeHint().height())
        shares.append(share_of(chart.grab().toImage(), look.theme.lookup))
    assert shares[0] > 0.005
    assert shares[1] / shares[0] == pytest.approx(2.0, rel=0.15)
    assert "Lookup: 2.00× of plain decoding's speed" in chart.accessibleName()
    assert f"{title_of(LONG)}: not measured" in chart.accessibleName()


def test_the_picture_grows_with_the_strategies_and_replaces_a_file(
    qtbot: QtBot, tmp_path: Path
) -> None:
    few = report_of({"one": {"off": [4.0], "draft": [2.0]}})
    times = {"off": [4.0], "suffix": [2.0], "draft": [2.0], LONG: [8.0]}
    many = report_of({f"{n} {'x' * 80}": times for n in range(60)})
    out = tmp_path / "chart.png"
    out.write_bytes(b"old")
    assert draw_chart(few, out) == 0
    small = QImage(str(out))
    assert small.width() == 2240
    assert share_of(small, LIGHT.accent) > 0.01
    assert draw_chart(many, out) == 0
    large = QImage(str(out))
    assert small.height() + 2 * 2 * ROW_PX <= large.height() < 2 * small.height()
    assert not picture_of(report_of({})).isNull(), "nothing was measured yet"
    with pytest.raises(UserError, match=r"cannot be written") as caught:
        draw_chart(few, out / "chart.png")
    assert caught.value.hint


def test_the_last_questions_of_a_chat_are_asked_after_all_that_was_said_before() -> None:
    chat = Conversation("c")
    messages = [Message.of_text("0", None, "user", "Text 0.")]
    messages += [
        Message.of_text(f"{n}", f"{n - 1}", "assistant" if n % 2 else "user", f"Text {n}.")
        for n in range(1, 20)
    ]
    for message in messages:
        chat = chat.add(message)
    settings = replace(ReplySettings(), system_prompt="Be brief.")
    outline, workloads = chat_outline(chat, settings, 5), chat_workloads(chat, settings, 5)
    assert [replace(w, prompt=Chat(())) for w in workloads] == [
        replace(w, prompt=Chat(())) for w in outline
    ]
    assert [w.prompt.messages[0].text for w in outline] == [f"Text {n}." for n in range(10, 20, 2)]
    assert workloads[0].prompt.messages == build_messages(messages[:11], "Be brief.")
    assert workloads[-1].prompt.messages == build_messages(messages[:19], "Be brief.")
