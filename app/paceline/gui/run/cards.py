"""A run record in words, and its cards: figures, drafters, models with their hashes.

What is not known is left out, so that a reply that failed or was interrupted shows the rest.

Who drafted what is a table in llama.cpp's words, and bars by the place in the draft. Of a model's
hashes the whole file's is on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QPushButton, QWidget

from paceline.figures import SpeedupVerdict
from paceline.gui.kit.card import NAME_PX, Card, FactsCard, Row
from paceline.gui.kit.labels import BreakingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, grid_of, row_of, set_look, styled
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.plot.bars import Bar, BarChart, BarStyle
from paceline.gui.state.figures import (
    DrafterRow,
    drafter_rows,
    kept_words,
    kernel_words,
    model_rows,
    percent_text,
    ratio_text,
    seconds_text,
    speed_text,
    tone_of,
)
from paceline.gui.state.metrics import StepMetrics, TimeShares
from paceline.gui.state.sources import Sources
from paceline.messages import DraftCount, StepCommitted, TurnStats
from paceline.params import SamplingParams
from paceline.run_record import ModelRecord, RunRecord

_tr = translator("RunDetails")


@dataclass(frozen=True, slots=True)
class Figure:
    """A large figure with what it means; `value` is empty where it is not known."""

    caption: str
    value: str
    unit: str = ""
    tone: SpeedupVerdict | None = None


def figures(record: RunRecord) -> tuple[Figure, ...]:
    """The large figures of a run."""
    speed, rate, stats = speed_of(record), acceptance_of(record), record.stats
    speedup = stats.speedup if stats is not None else None
    plain = stats.plain_tokens_per_s if stats is not None and speedup else None
    first = record.first_token_s
    if stats is not None:
        n_tokens = stats.n_generated
    else:
        n_tokens = sum(len(step.tokens) for step in record.last_part)
    return (
        Figure(_tr("Speed"), speed_text(speed) if speed else "", _tr("t/s")),
        Figure(_tr("Without drafts"), f"≈ {speed_text(plain)}" if plain else "", _tr("t/s")),
        Figure(
            _tr("Ratio"),
            ratio_text(speedup.ratio) if speedup is not None else "",
            tone=tone_of(stats) if stats is not None and speedup is not None else None,
        ),
        Figure(_tr("Accepted"), percent_text(rate) if rate is not None else ""),
        Figure(_tr("First token"), seconds_text(first) if first is not None else "", _tr("s")),
        Figure(_tr("Tokens"), f"{local(n_tokens):,}" if n_tokens else ""),
    )


def speed_of(record: RunRecord) -> float | None:
    """Tokens per second; of a reply without figures from its steps, None without any."""
    if record.stats is not None:
        return record.stats.tokens_per_s
    seconds = sum(step.total_s for step in record.last_part)
    n_tokens = sum(len(step.tokens) for step in record.last_part)
    return n_tokens / seconds if seconds > 0 and n_tokens else None


def acceptance_of(record: RunRecord) -> float | None:
    """Accepted of the judged tokens, 0..1."""
    if record.stats is not None:
        return record.stats.acceptance_rate
    counts = [count for step in record.last_part for count in step.drafted]
    judged = sum(count.n_drafted - count.n_discarded for count in counts)
    return sum(count.n_accepted for count in counts) / judged if judged > 0 else None


def figures_words(record: RunRecord) -> str:
    """The figures in one line that breaks between them, without those that are not known."""
    return " · ".join(
        f"{figure.caption} {figure.value} {figure.unit}".rstrip().replace(" ", "\N{NO-BREAK SPACE}")
        for figure in figures(record)
        if figure.value
    )


def plain_words(record: RunRecord) -> str:
    """What plain decoding would have taken; an estimate, and how it was made."""
    stats = record.stats
    if stats is None:
        return ""
    if not stats.n_drafted:
        return _tr("This reply was written without drafts: one token per step.")
    low, high = stats.plain_low, stats.plain_high
    if not (stats.speedup and low and high):
        return _tr("How fast it would have been without drafts was not measured.")
    n, n_plain = stats.n_generated, sum(step.plain for step in record.last_part)
    words = _tr("Without drafts these tokens would have taken {} to {} s; this took {} s.").format(
        seconds_text(n / high), seconds_text(n / low), seconds_text(stats.decode_s)
    )
    if n_plain == 1:
        source = _tr(
            "That is estimated from the one step of this reply without a draft, and from what "
            "wider steps cost here."
        )
    elif n_plain:
        source = _tr(
            "That is estimated from {} steps of this reply without a draft, and from what wider "
            "steps cost here."
        ).format(n_plain)
    else:
        source = _tr("That is estimated from what wider steps cost here.")
    words += " " + source
    if stats.machine_busy:
        words += " " + _tr("Other programs kept the machine busy, so speeds scatter.")
    return words


def ending_words(record: RunRecord) -> str:
    """How the reply ended; empty where it failed."""
    words = {
        "eog": _tr("The model ended the reply."),
        "stop": _tr("A stop text ended the reply."),
        "length": _tr("The token limit ended the reply."),
        "context": _tr("The context was full."),
        "cancelled": _tr("You stopped the reply."),
    }
    return words.get(record.reason or "", "")


def times(record: RunRecord) -> TimeShares:
    """Where the time went, prefill included; from the steps where there are no figures."""
    steps, stats = record.last_part, record.stats
    verify = sum(step.verify_s for step in steps)
    draft = sum(step.draft_s for step in steps)
    sample = sum(step.sample_s for step in steps)
    decode = stats.decode_s if stats is not None else sum(step.total_s for step in steps)
    rest = max(decode - verify - draft - sample, 0.0)
    prefill = stats.prefill_s if stats is not None else 0.0
    return TimeShares(verify, draft, sample, rest, prefill)


def heading(record: RunRecord) -> str:
    """When and how, in one line."""
    parts = [record.strategy or record.asked_strategy]
    if record.n_parts > 1:
        parts.append(_tr("part {} of the reply").format(record.n_parts))
    if record.started_s:
        when = QDateTime.fromSecsSinceEpoch(int(record.started_s))
        parts.insert(0, QLocale().toString(when, _tr("d MMM yyyy HH:mm")))
    if record.error is None:  # the error is shown above, in full
        parts.append(ending_words(record))
    return " · ".join(filter(None, parts))


def settings_rows(record: RunRecord) -> tuple[Row, ...]:
    """What the reply was asked with."""
    strategy = record.asked_strategy or record.strategy
    if record.strategy and record.strategy != strategy:
        strategy = _tr("{} at first, {} at the end").format(strategy, record.strategy)
    rows = [(_tr("Strategy"), strategy), (_tr("Sampling"), sampling_words(record.sampling))]
    if record.seed is not None:
        rows.append((_tr("Seed"), str(record.seed)))
    if record.stats is not None and record.stats.kept is not None:
        rows.append((_tr("Earlier reply"), kept_words(record.stats.kept)))
    if record.max_tokens:
        rows.append((_tr("Tokens at most"), f"{local(record.max_tokens):,}"))
    if record.prompting.template:
        rows.append((_tr("Chat template"), _tr("your own")))
    rows += [
        (_tr("Reasoning"), record.prompting.think),
        (_tr("Stop texts"), ", ".join(repr(text) for text in record.stop)),
        (_tr("JSON schema"), record.sampling.json_schema),
        (_tr("Grammar"), record.sampling.grammar),
    ]
    if record.n_cut:
        one, more = _tr("1 old message was left out"), _tr("{} old messages were left out")
        rows.append((_tr("Context"), one if record.n_cut == 1 else more.format(record.n_cut)))
    rows += _prompt_rows(record)
    versions = [
        text.format(version)
        for text, version in (
            (_tr("Paceline {}"), record.app_version),
            (_tr("llama-cpp-python {}"), record.engine_version),
        )
        if version
    ]
    rows.append((_tr("Versions"), ", ".join(versions)))
    return tuple(row for row in rows if row[1])


def _prompt_rows(record: RunRecord) -> list[Row]:
    stats = record.stats
    if stats is None:
        return []
    rows = [
        (
            _tr("Prompt"),
            _tr("{:,} tokens, {:,} of them still in the context").format(
                local(stats.n_prompt), local(stats.n_reused)
            ),
        )
    ]
    if stats.kernels:
        rows.append((_tr("Kernels"), kernel_words(stats.kernels)))
    rows.append((_tr("Logits"), logit_words(stats)))
    return rows


def logit_words(stats: TurnStats) -> str:
    """Whether the text can depend on drafts, and what that was concluded from."""
    if stats.batch_invariant is None:
        return _tr("not known yet whether they depend on the batch width")
    if not stats.batch_invariant:
        most = stats.logit_difference
        words = _tr("they depend on the batch width, so near-ties may fall either way")
        return words if most is None else _tr("{} (up to {:.2g} apart)").format(words, local(most))
    words = _tr("the same at every batch width, so the text does not depend on drafts")
    n_rows = stats.n_rows_compared
    return _tr("{} ({:,} rows compared)").format(words, local(n_rows)) if n_rows else words


def sampling_words(sampling: SamplingParams) -> str:
    """The settings that are not off."""
    if sampling.temperature == 0:
        parts = [_tr("temperature 0 (the likeliest token)")]
    else:
        parts = [_tr("temperature {:g}").format(local(sampling.temperature))]
        if sampling.top_k:
            parts.append(f"top-k {sampling.top_k}")
        if sampling.top_p < 1:
            parts.append(f"top-p {local(sampling.top_p):g}")
        if sampling.min_p:
            parts.append(f"min-p {local(sampling.min_p):g}")
    if sampling.repeat_penalty != 1:
        parts.append(_tr("repeat penalty {:g}").format(local(sampling.repeat_penalty)))
    if sampling.presence_penalty:
        parts.append(_tr("presence penalty {:g}").format(local(sampling.presence_penalty)))
    if sampling.frequency_penalty:
        parts.append(_tr("frequency penalty {:g}").format(local(sampling.frequency_penalty)))
    if sampling.logit_bias:
        parts.append(_tr("{} logit biases").format(len(sampling.logit_bias)))
    return ", ".join(parts)


class FiguresCard(Card):
    """Captions above figures, and a sentence below."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Figures"))
        self.heading = text_label("", "muted", wraps=True, plain=True)
        self._grid = grid_of(across=20, down=2)
        self.values: list[QLabel] = []
        self._captions: list[QLabel] = []
        self.plain = text_label(wraps=True)
        self.body.addWidget(self.heading)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.plain)

    def show_record(self, record: RunRecord) -> None:
        """Show the figures of this run."""
        self.heading.setText(heading(record))
        words = plain_words(record)
        say(self.plain, words)
        for at, figure in enumerate(figures(record)):
            if at == len(self.values):
                self._add_column()
            value = self.values[at]
            self._captions[at].setText(figure.caption)
            unit = f" {figure.unit}" if figure.unit else ""
            value.setText(f"{figure.value}{unit}" if figure.value else "–")
            value.setAccessibleName(f"{figure.caption}: {value.text()}")
            set_look(value, tone=figure.tone or "")

    def _add_column(self) -> None:
        at = len(self.values)
        caption, value = text_label(), text_label(role="figure")
        self.values.append(value)
        self._captions.append(caption)
        self._grid.addWidget(caption, 0, at)
        self._grid.addWidget(value, 1, at)
        self._grid.setColumnStretch(at, 1)


class ModelCard(FactsCard):
    """One model; below its rows the SHA-256 of the file, or a button for it."""

    hash_wanted = Signal(str)
    """The card's name"""
    hash_unwanted = Signal()

    def __init__(self, key: str, title: str, parent: QWidget | None) -> None:
        super().__init__(title, parent)
        self._key = key
        self.name = text_label(self.tr("SHA-256"), "muted")
        self.name.setFixedWidth(NAME_PX)
        self.value = styled(BreakingLabel(), role="value")
        self.button = styled(QPushButton(self.tr("Compute SHA-256")), kind="compact")
        self.button.clicked.connect(self._on_clicked)
        self.bar = QProgressBar(minimum=0, maximum=100)
        self.bar.setAccessibleName(self.tr("Reading the file"))
        self._is_reading = False
        row = row_of(
            (self.name, 0, Qt.AlignmentFlag.AlignTop),
            (self.value, 1),
            (self.bar, 1),
            self.button,
            spacing=12,
        )
        row.addStretch()
        self.body.addLayout(row)

    def show_model(self, model: ModelRecord | None, *, obstacle: str) -> None:
        """Show a model; `obstacle` says why its file cannot be read now, empty: it can."""
        self.setVisible(model is not None)
        if model is None:
            return
        self.show_rows(model_rows(model))
        self.button.setEnabled(not obstacle)
        self.button.setToolTip(obstacle)
        self.show_hash(model.sha256)

    def show_hash(self, sha256: str) -> None:
        """Show the hash; empty: it can be asked for."""
        self._is_reading = False
        say(self.value, with_soft_breaks(sha256))
        self.bar.hide()
        self.button.setText(self.tr("Compute SHA-256"))
        self.button.setVisible(not sha256)

    def show_progress(self, percent: int) -> None:
        """Show how much of the file has been read."""
        self._is_reading = True
        self.bar.setValue(percent)
        self.bar.show()
        self.button.setText(self.tr("Cancel"))

    @Slot()
    def _on_clicked(self) -> None:
        if self._is_reading:
            self.hash_unwanted.emit()
        else:
            self.hash_wanted.emit(self._key)


_PLACES = BarStyle(height=96, axis=16, widest=36, width=160, gaps=(4, 1), narrow=14)
_ALL_NAMED = 16
"""Places up to which every bar has its number below it."""
_LISTED = 8
"""Places that a screen reader reads."""


@dataclass(slots=True)
class Positions:
    """Of one drafter; both lists by the place in the whole draft, from 0.

    Attributes:
        accepted: Tokens accepted there.
        judged: Tokens drafted there that were not after the reply's end.
    """

    accepted: list[int] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)


def positions(steps: Iterable[StepCommitted]) -> dict[str, Positions]:
    """By the drafter's id."""
    found: dict[str, Positions] = {}
    changes: dict[str, list[int]] = {}  # of the number judged, from one place to the next
    for step in steps:
        firsts: dict[str, int] = {}
        for trace in step.tokens:
            if trace.position >= 0:
                firsts.setdefault(trace.source, trace.position)
                _add(found.setdefault(trace.source, Positions()).accepted, trace.position, 1)
        begin = 0
        for count in sorted(step.drafted, key=lambda count: _order(count, firsts)):
            judged = changes.setdefault(count.drafter, [])
            if count.n_drafted > count.n_discarded:
                _add(judged, begin, 1)
                _add(judged, begin + count.n_drafted - count.n_discarded, -1)
            begin += count.n_drafted
    for name, numbers in changes.items():
        places = found.setdefault(name, Positions())
        places.judged.extend(accumulate(numbers[:-1]))
        places.accepted.extend([0] * (len(places.judged) - len(places.accepted)))
    return {name: places for name, places in found.items() if any(places.judged)}


def _order(count: DraftCount, firsts: dict[str, int]) -> tuple[bool, int]:
    return count.drafter not in firsts, firsts.get(count.drafter, 0)


def _add(numbers: list[int], place: int, n: int) -> None:
    if place >= len(numbers):
        numbers.extend([0] * (place + 1 - len(numbers)))
    numbers[place] += n


class DraftersCard(Card):
    """A row and a chart per drafter; hidden where no drafter was asked."""

    def __init__(self, sources: Sources, parent: QWidget | None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Drafters"))
        self._sources = sources
        self._facts: tuple[DrafterRow, ...] = ()
        self.places: dict[str, Positions] = {}
        self.cells: list[list[QLabel]] = []
        self.charts: list[BarChart] = []
        self._content = QWidget()
        self.body.addWidget(self._content)
        look.follow(self._tint)

    def show_run(self, record: RunRecord, metrics: StepMetrics) -> None:
        """Show the drafters of a run, whose steps the metrics have."""
        self._facts = drafter_rows(metrics, record.stats, self._sources)
        self.places = positions(record.last_part)
        self.setVisible(bool(self._facts))
        self._content.hide()
        self.body.removeWidget(self._content)
        self._content.deleteLater()
        self._content = QWidget()
        column = column_of(self._make_table(), on=self._content, margins=0, spacing=6)
        self.charts = []
        shown = [facts for facts in self._facts if facts.drafter_id in self.places]
        if shown:
            column.addSpacing(8)
            column.addWidget(text_label(self.tr("Accepted, by the place in the draft")))
            column.addLayout(self._make_charts(shown))
        self.body.addWidget(self._content)

    def _colour(self, drafter_id: str) -> str:
        """The name of a drafter's colour in the theme."""
        return "accent" if self._sources.kind(drafter_id) == "draft" else "lookup"

    @Slot()
    def _tint(self) -> None:
        for facts, labels in zip(self._facts, self.cells, strict=True):
            colour = getattr(look.theme, self._colour(facts.drafter_id))
            labels[0].setText(f'<span style="color:{colour}">●</span> {escape(facts.title)}')

    def _make_table(self) -> QGridLayout:
        grid = grid_of(across=16, stretches=(0,))
        names = (
            self.tr("Drafter"), self.tr("Tokens accepted"), self.tr("Rate"),
            self.tr("Drafts accepted"), self.tr("Calls"), self.tr("Time"), self.tr("Per draft"),
        )  # fmt: skip
        for column, name in enumerate(names):
            grid.addWidget(text_label(name), 0, column)
        self.cells = []
        for row, facts in enumerate(self._facts, 1):
            texts = (
                facts.title, facts.tokens, facts.rate, facts.drafts, facts.calls, facts.seconds,
                facts.per_draft,
            )  # fmt: skip
            labels = [QLabel(text or "–") for text in texts]
            labels[0].setAccessibleName(facts.title)
            for column, label in enumerate(labels):
                grid.addWidget(label, row, column)
            self.cells.append(labels)
        self._tint()
        return grid

    def _make_charts(self, shown: Sequence[DrafterRow]) -> QGridLayout:
        grid = grid_of(across=24)
        for at, facts in enumerate(shown):
            chart = self._chart(facts)
            grid.addWidget(chart, at // 2 * 2, at % 2)
            if len(shown) > 1:
                title = text_label(facts.title, plain=True)
                grid.addWidget(title, at // 2 * 2 + 1, at % 2)
            self.charts.append(chart)
        return grid

    def _chart(self, facts: DrafterRow) -> BarChart:
        """A full bar is a place at which everything that was judged was accepted."""
        places = self.places[facts.drafter_id]
        every = 1 if len(places.judged) <= _ALL_NAMED else 4
        bars = [
            Bar(
                accepted / judged if judged else 0.0,
                "" if at % every else str(at + 1),
                self.tr("place {}: {} of {} ({})").format(
                    at + 1, accepted, judged, percent_text(accepted / judged) if judged else "–"
                ),
            )
            for at, (accepted, judged) in enumerate(
                zip(places.accepted, places.judged, strict=False)
            )
        ]
        chart = BarChart(_PLACES)
        chart.show_bars(bars, self._colour(facts.drafter_id))
        listed = ", ".join(bar.words for bar in bars[:_LISTED])
        chart.setAccessibleName(
            self.tr("{}, accepted by the place in the draft: {}").format(facts.title, listed)
        )
        return chart
