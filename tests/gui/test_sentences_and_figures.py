"""A sentence about drafts is read as a user reads it, and must bear out the verdict beside it.

Figures are drawn at random, put into words, and the numbers of the words are read back. From these
numbers alone follows the verdict, with the rounding in which they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QLocale

from paceline.chat.auto_words import phase_words
from paceline.chat.decisions import PhaseKind, drafting, mix_of, phase_of
from paceline.engine.draft import grammar_drafter, registry
from paceline.figures import (
    MIN_GAIN_STEPS,
    MIN_GAIN_TOKENS,
    Decision,
    DraftCount,
    Outlook,
    Reason,
    TokenTrace,
    TurnStats,
    WidthCost,
)
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import in_words, install_language
from paceline.gui.state.figures import gain_of
from paceline.gui.state.sources import Sources
from paceline.messages import ControlReported, StepCommitted
from paceline.paths import resources

VERDICTS: dict[str, PhaseKind] = {"gain": "pays", "even": "even", "loss": "loses"}
NAMES = ("draft", "suffix", "ngram-mod")


@pytest.fixture(scope="module", params=["en", "de"])
def read(request: pytest.FixtureRequest, qapp: QCoreApplication) -> Iterator[Reader]:
    """Function that returns the numbers in a text, read in the language's notation."""
    language: str = request.param
    translators = install_language(language, resources())
    sources = Sources(map(in_words, (*registry.available(), grammar_drafter.INFO)))

    def numbers(text: str) -> list[float]:
        if language == "de":
            text = text.replace(".", "\0").replace(",", ".").replace("\0", ",")
        text = text.replace("−", "-")
        return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]

    try:
        yield lambda phase, judges=True: numbers(
            said(phase_words(phase, sources.title, judges=judges))
        )
    finally:
        for translator in translators:
            qapp.removeTranslator(translator)
        QLocale.setDefault(QLocale.c())


Reader = Callable[..., list[float]]


@st.composite
def replies(draw: st.DrawFn) -> TurnStats:
    """The figures of a reply with drafts, of any speed, with an interval around its gain."""
    n_steps = draw(st.integers(1, 3000))
    n = n_steps + 1 + draw(st.integers(0, 20 * n_steps))
    plain, ratio = draw(st.floats(0.3, 900)), draw(st.floats(0.2, 12))
    low, high = draw(st.floats(0.3, 1)), draw(st.floats(1, 3))
    speed = plain * ratio
    return TurnStats(
        True, 10, 0, n, 0.1, n / speed, n / speed, speed, plain, n_steps, 90, 60, 0, 2 / 3,
        (n - 1) / n_steps, 0.0, plain_low=plain / high, plain_high=plain / low,
    )  # fmt: skip


@given(stats=replies(), rate=st.floats(0, 1), per_step=st.floats(1, 20))
def test_the_effect_follows_from_the_numbers_of_its_sentence(
    read: Reader, stats: TurnStats, rate: float, per_step: float
) -> None:
    phase = drafting(("draft",), per_step, rate, stats)
    gain, numbers = gain_of(stats), read(phase)
    if stats.n_steps < MIN_GAIN_STEPS and stats.n_generated < MIN_GAIN_TOKENS:
        assert (phase.kind, gain.text, gain.tone) == ("drafts", "", "even")
        assert len(numbers) == 2
        return
    assert phase.kind == VERDICTS[gain.tone]
    if gain.tone == "even":
        assert numbers == [], "beside no figure stands none"
        assert gain.text == "≈ 1×"
        return
    tokens, times = numbers
    assert ("gain" if tokens > times else "loss" if tokens < times else "even") == gain.tone
    shown = float(gain.text.rstrip("×").replace(",", "."))
    error = 0.05 + shown * (0.005 / times + 0.005 / tokens) * 1.1
    assert tokens / times == pytest.approx(shown, abs=error + 1e-9)
    assert (shown > 1.0, shown < 1.0) == (gain.tone == "gain", gain.tone == "loss")
    hidden = gain_of(stats, judges=False)
    assert (hidden.text == "") == (gain.tone == "loss")
    assert len(read(phase, judges=False)) == 2


@st.composite
def reports(draw: st.DrawFn) -> ControlReported:
    """Strategy for reports of Auto's state."""
    plain_s = draw(st.floats(1e-4, 2))
    widths = sorted(draw(st.sets(st.integers(1, 63), max_size=12)))
    costs = tuple(
        WidthCost(w, plain_s * (1.0 if w == 1 else draw(st.floats(1, 9))), 5) for w in widths
    )
    rates = st.lists(st.floats(0, 1), max_size=6).map(tuple)
    outlooks = tuple(
        Outlook(
            name,
            draw(st.booleans()),
            plain_s * draw(st.floats(0, 1.5)),
            draw(rates),
            (),
            draw(st.none() | st.floats(0.01, 3)),
            draw(st.integers(0, 2000)),
            0,
            0.0,
        )
        for name in draw(st.sets(st.sampled_from(NAMES)))
    )
    return ControlReported(40, plain_s, 1.0, 0.2, costs, outlooks)


def plain_steps(reason: Reason) -> Sequence[StepCommitted]:
    trace = TokenTrace(1, "target", -1, None, 1)
    step = StepCommitted(1, (trace,), "x", (), 0, 0, 0, 0, decision=Decision("", 0, reason))
    return [step] * 32


@given(report=reports())
def test_a_model_is_faster_alone_by_the_numbers_of_its_sentence(
    read: Reader, report: ControlReported
) -> None:
    phase = phase_of(mix_of(plain_steps("expensive")), stats=None, report=report)
    numbers = read(phase)
    if phase.price is None:
        assert numbers == []
        return
    right, alone = numbers[-2:]
    assert right < alone
    # No other draft would have been better by what is known, so none speaks against the sentence.
    seconds = {cost.width: cost.seconds for cost in report.costs}
    first_places = [
        outlook.acceptance[0] - (seconds[2] + outlook.seconds_per_token) / seconds[1] + 1
        for outlook in report.drafters
        if outlook.n_judged and outlook.acceptance and 2 in seconds
    ]
    assert all(value < 0.01 for value in first_places)


@given(report=reports())
def test_a_drafter_pauses_by_the_number_of_its_sentence(
    read: Reader, report: ControlReported
) -> None:
    phase = phase_of(mix_of(plain_steps("shut")), stats=None, report=report)
    numbers = read(phase)
    assert len(numbers) <= (phase.gain is not None)
    assert numbers or phase.gain is None or len(phase.drafters) > 1
    assert all(times < 1.0 for times in numbers)


def test_a_trial_has_no_number(read: Reader) -> None:
    count = DraftCount("draft", 3, 1)
    step = StepCommitted(1, (), "", (count,), 0, 0, 0, 0, decision=Decision("draft", 3, "trial"))
    assert read(phase_of(mix_of([step] * 32), stats=None)) == []
