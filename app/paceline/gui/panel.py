"""The right pane: the speed of replies, and the settings of the chat's replies.

Of two tabs, Speed has the figures, the plot and the strategy, with all else folded below; Chat has
the chat's settings. Advice only appears while the mouse is outside the panel, so that nothing moves
when it is about to be clicked.

`PanelController` connects the pane, the running reply and the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QTabWidget, QWidget

from paceline.chat.advice import MAX_ADVICE, Advice, advise, pair_advice
from paceline.chat.pair import PairState
from paceline.chat.reply import Reply
from paceline.gui.context import AppContext
from paceline.gui.kit.card import FoldSection
from paceline.gui.kit.dialogs import scrolling
from paceline.gui.kit.layouts import column_of, fill, styled
from paceline.gui.kit.notices import Action
from paceline.gui.kit.sentences import said
from paceline.gui.look.scale import GAP
from paceline.gui.look.style import PANEL
from paceline.gui.models.load_failures import RELOAD, without
from paceline.gui.plot.bars import TimeBar
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.gui.sampling.prompting import REFUSALS as TEMPLATE_CODES
from paceline.gui.sampling.prompting import TEMPLATE
from paceline.gui.sampling.sampling_settings import REFUSALS, SamplingSettings
from paceline.gui.speculation.draft_settings import DraftSettings
from paceline.gui.speculation.reply_cards import AdviceLine, DrafterCard, HeadlineCard
from paceline.gui.speculation.strategy_picker import StrategyPicker
from paceline.gui.speculation.why_card import WhyCard
from paceline.gui.state.figures import drafter_rows
from paceline.gui.state.live import LiveFigures
from paceline.gui.state.speculation import SpeculationModel
from paceline.messages import EngineDied, Strategy, TuneApplied, TuneRejected
from paceline.params import drafter_of
from paceline.settings import PanelTab

MIN_WIDTH = 346
"""Minimum width of the cards at scale 1; narrower ones would be cut off at the right."""


class SpeculationPanel(QWidget):
    """Layout of the cards; draws the live ones when the figures request it."""

    view_changed = Signal()
    """A section was opened or closed, or the other tab was chosen."""

    def __init__(
        self,
        speculation: SpeculationModel,
        figures: LiveFigures,
    ) -> None:
        super().__init__()
        self.setObjectName(PANEL)
        self.setProperty("kind", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(MIN_WIDTH)
        self._figures = figures
        self._speculation = speculation
        self._problem = ""
        self.picker = StrategyPicker(speculation)
        self.headline = HeadlineCard()
        self.why = WhyCard(figures.sources)
        self.advice = AdviceLine()
        self.plot = SpeedPlot(figures.metrics, figures.sources)
        self.drafters = DrafterCard()
        self.time_bar = TimeBar()
        self.draft_settings = DraftSettings(speculation)
        self.sampling = SamplingSettings()
        self.details = FoldSection()
        self.details.set_title(self.tr("Tune and details"))
        self.details.body.setSpacing(GAP)
        fill(self.details.body, self.draft_settings, self.why, self.drafters, self.time_bar)
        self._sections: dict[str, FoldSection | DrafterCard] = {
            "details": self.details,
            "why": self.why,
            "drafters": self.drafters,
            "more": self.sampling.more,
        }
        speed = _page(self.headline, self.plot, self.picker, self.advice, self.details)
        self._pages = {"speed": speed, "chat": _page(self.sampling)}
        self.tabs = QTabWidget()
        self.tabs.tabBar().setDrawBase(False)
        for name, title, what in (
            ("speed", self.tr("Speed"), self.tr("How fast replies are written, and why")),
            ("chat", self.tr("Chat"), self.tr("What this chat's replies are told and allowed")),
        ):
            self.tabs.setTabToolTip(self.tabs.addTab(self._pages[name], title), what)
        column_of(self.tabs, on=self, margins=(1, 0, 0, 0), spacing=0)
        for section in self._sections.values():
            section.toggled.connect(self.view_changed)
        self.details.toggled.connect(self._place_problem)
        self.tabs.currentChanged.connect(self.view_changed)
        speculation.strategy_changed.connect(self._show_why)
        speculation.refused.connect(self.show_problem)
        figures.refreshed.connect(self.refresh)
        figures.moved.connect(self._draw_plot)
        self.refresh()

    @property
    def tab(self) -> PanelTab:
        """The shown tab."""
        return "chat" if self.tabs.currentWidget() is self._pages["chat"] else "speed"

    def show_tab(self, tab: PanelTab) -> None:
        """Show a tab."""
        self.tabs.setCurrentWidget(self._pages[tab])

    @property
    def open_sections(self) -> tuple[str, ...]:
        """Names of the open sections."""
        return tuple(name for name, section in self._sections.items() if section.toggle.isChecked())

    def open_only(self, names: Iterable[str]) -> None:
        """Open these sections and close the others."""
        wanted = set(names)
        for name, section in self._sections.items():
            section.toggle.setChecked(name in wanted)

    def show_problem(self, text: str) -> None:
        """Show why strategy or settings are invalid; empty if they are valid."""
        self._problem = text
        self._place_problem()

    @Slot()
    def _place_problem(self) -> None:
        """Place the problem below open settings, where it moves no slider, or else above them."""
        is_open = self.details.toggle.isChecked()
        self.draft_settings.show_problem(self._problem if is_open else "")
        self.picker.show_problem("" if is_open else self._problem)

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the figures that were skipped while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        """Show or hide the advice that would have moved the content under the pointer."""
        super().leaveEvent(event)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw the present figures; does nothing while hidden."""
        if not self.isVisible():
            return
        figures = self._figures
        self.headline.show_headline(figures.headline)
        self.plot.show_asker(figures.asker)
        self._show_why()
        self._draw_plot()
        self.time_bar.show_times(figures.metrics.times)
        reply = figures.reply
        stats = reply.stats if reply is not None and reply.has_ended else None
        self.drafters.show_rows(drafter_rows(figures.metrics, stats, figures.sources))
        advises = reply is not None and stats is not None and self._may_advise(reply)
        key = reply.message_id if reply is not None and advises else ""
        if self.advice.key != key:
            self.advice.show_advice("", ())  # at once: it does not apply to this reply
        if reply is None or stats is None or not advises or self.underMouse():
            return  # `leaveEvent` updates the advice
        title, named = figures.sources.full_title, self._speculation.in_words
        advice = advise(stats, reply.strategy, named=named, title=title)
        self.advice.show_advice(key, (*self._pair_advice(), *advice)[:MAX_ADVICE])

    def _may_advise(self, reply: Reply) -> bool:
        """Return whether advice helps: the reply is the user's own, with the loaded pair.

        In the first replies of a home there is none.
        """
        figures, pair = self._figures, self._figures.pair
        if pair is None or figures.asker or not figures.judges:
            return False
        files = [info and PurePath(info.path).name for info in (pair.target, pair.draft)]
        return files == [made and made.file for made in (reply.target, reply.draft)]

    def _pair_advice(self) -> tuple[Advice, ...]:
        """Return what Auto learned about the pair in the shown reply.

        It is empty where drafts made this reply faster: the figures above would contradict it.
        """
        figures = self._figures
        report, pair, sources = figures.own_report, figures.pair, figures.sources
        if report is None or pair is None or figures.gain.tone == "gain":
            return ()
        found = pair_advice(
            report,
            models=sources.models,
            target=pair.target,
            draft=pair.draft,
            title=sources.title,
        )
        return (found,) if found is not None else ()

    @Slot()
    def _show_why(self) -> None:
        """Show Auto's knowledge; hidden where Auto decides nothing."""
        figures = self._figures
        has_decided = figures.decisions.whole.n_steps > 0
        self.why.setVisible(has_decided or self._speculation.is_controlled)
        self.why.show_report(figures.report)

    @Slot()
    def _draw_plot(self) -> None:
        figures, reply = self._figures, self._figures.reply
        ending = ""
        if reply is not None and reply.has_ended:
            ending = spoken(figures.metrics, figures.sources, reply.stats, judges=figures.judges)
        self.plot.refresh(figures.plain_tokens_per_s, ending, figures.gain.plain)


def _page(*cards: QWidget) -> QScrollArea:
    """Return these cards in a column that scrolls."""
    page = styled(QWidget(), kind="page")
    column = column_of(on=page, margins=14, spacing=12)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return scrolling(page)


SAMPLING = "sampling"
"""Topic of notices about settings of the next reply; a change of them resolves it."""
LOOKUP_CACHE = "lookup-cache"
"""Topic of notices about the lookup cache's file; loading the models again resolves it."""
LOOKUP_CACHE_CODES = ("bad-lookup-cache", "cannot-read", "other-vocabulary")
"""The engine's error codes for a lookup cache that cannot be used; the reply has not begun then."""
TOO_LONG = "prompt-too-long"
"""The engine's error code for a message that was sent before it was counted."""
RESTART = "restart"
"""Topic of notices about an engine that restarts; resolved when it has."""
TUNE_AFTER_MS = 120
"""Pause before a dragged slider's value is sent: when it rests, not at every pixel."""


class PanelController(QObject):
    """Sends changes of the strategy to the running reply, and shows their result."""

    settings_changed = Signal()
    """The strategy was changed, or a section opened or closed; both are saved."""
    reload_wanted = Signal()
    """The engine is to restart with the models that it had."""
    load_without_wanted = Signal(object)
    """The same without RPC servers of these addresses"""
    obstacle_changed = Signal(str)
    """The reason why no reply can begin with these settings, in words, or empty."""
    question_returned = Signal(object)
    """The `Message` whose reply was refused before it began"""

    def __init__(
        self,
        context: AppContext,
        *,
        panel: SpeculationPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._speculation = speculation = context.speculation
        self._panel = panel
        self._pair = pair = context.pair
        self._notifications = context.notices
        signals = context.signals
        self._tune = QTimer(self, singleShot=True, interval=TUNE_AFTER_MS)
        self._tune.timeout.connect(self._on_tune)
        speculation.strategy_changed.connect(self._on_strategy_changed)
        speculation.drafter_changed.connect(self._check_models)
        panel.sampling.changed.connect(self._on_sampling_changed)
        panel.sampling.shown.connect(self._on_sampling_changed)
        panel.view_changed.connect(self.settings_changed)
        self._actions = context.actions
        self._wish = ""
        panel.picker.draft_wanted.connect(self._on_draft_wanted)
        speculation.drafter_changed.connect(self._forget_wish)
        panel.advice.applied.connect(self._on_advice)
        panel.advice.free_wanted.connect(context.actions.no_draft.trigger)
        pair.changed.connect(self._on_pair_changed)
        signals.tuned.connect(self._on_tuned)
        signals.died.connect(self._on_died)
        signals.started.connect(self._check_models)  # the last reply's error no longer applies
        signals.ended.connect(self._on_idle)
        signals.ended.connect(self._on_ended)
        self._on_pair_changed(pair.state)

    # ---------------------------------------------------------------------------- user actions

    @Slot()
    def _on_strategy_changed(self) -> None:
        self._show_obstacle()
        self._tune.start()
        self.settings_changed.emit()

    @Slot()
    def _on_tune(self) -> None:
        self._session.tune(self._speculation.strategy)

    @Slot(str)
    def _on_draft_wanted(self, name: str) -> None:
        """Ask for a draft model; the strategy is chosen when one is being loaded."""
        self._wish = name
        actions = self._actions
        (actions.choose_draft if actions.choose_draft.isVisible() else actions.open_draft).trigger()

    @Slot()
    def _forget_wish(self) -> None:
        """Drop the wish: another strategy was chosen since."""
        self._wish = ""

    @Slot()
    def _on_sampling_changed(self) -> None:
        self._notifications.resolved.emit(SAMPLING)
        self.obstacle_changed.emit(self._panel.sampling.obstacle)

    @Slot(object)
    def _on_advice(self, strategy: Strategy) -> None:
        self._notifications.attempt(self._speculation.use, strategy)

    # ----------------------------------------------------------------------------- engine events

    @Slot(object, object)
    def _on_tuned(self, _reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        if isinstance(answer, TuneRejected):
            why = said(answer.message, answer.hint)
            self._panel.show_problem(self.tr("Not for this reply: {}").format(why))
        else:
            self._check_models()

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        """Return a message to the composer whose reply was refused before it began."""
        error = reply.error
        if error is None:
            self._warn_of_incomplete_json(reply)
        if error is None or reply.has_begun:
            return
        action: Action | None = None
        if error.code in REFUSALS:
            topic = SAMPLING
            self._panel.show_tab("chat")
        elif error.code in LOOKUP_CACHE_CODES:
            topic = LOOKUP_CACHE
            action = Action(self.tr("Choose models…"), self._actions.choose_models.trigger)
        elif error.code in TEMPLATE_CODES:
            topic = TEMPLATE
            action = Action(self.tr("Chat template…"), self._actions.chat_template.trigger)
        elif error.code == TOO_LONG:
            topic = SAMPLING
        else:
            return
        question = self._session.take_back(reply)
        if topic == SAMPLING:
            self._panel.sampling.show_refusal(error.code, said(error.message, error.hint))
        if question is None or error.code != TOO_LONG:  # otherwise the composer shows it
            self._notifications.error(error.message, error.hint, action=action, topic=topic)
        if question is not None:
            self.question_returned.emit(question)

    def _warn_of_incomplete_json(self, reply: Reply) -> None:
        """Warn if a reply ended before its JSON was complete."""
        hints = {
            "length": self.tr("Allow more than {} tokens.").format(
                reply.options.settings.max_tokens
            ),
            "context": self.tr("Load the models with a longer context."),
            "stop": self.tr("A stop string ended it: leave that out."),
        }
        if reply.options.settings.sampling.json_schema and reply.reason in hints:
            try:
                json.loads(reply.text)
            except (ValueError, RecursionError):
                words = self.tr("The reply is no complete JSON: it ended before the schema did.")
                self._notifications.warn(words, hints[reply.reason], topic=SAMPLING)

    @Slot(object)
    def _on_died(self, death: EngineDied) -> None:
        if self._pair.state.status == "loading":  # a reply waits, so the engine restarts at once
            hint = self.tr("It is being started again, and your message is answered then.")
            self._notifications.warn(death.reason, hint, topic=RESTART)
            return
        again = Action(self.tr("Start it again"), self.reload_wanted.emit)
        if death.lost:
            action = without(death.lost, self._on_without)
            self._notifications.error(
                death.reason, death.hint, action=action, other=again, topic=RELOAD
            )
        else:
            self._notifications.error(death.reason, death.hint, action=again, topic=RELOAD)

    def _on_without(self, servers: tuple[str, ...]) -> None:
        self.load_without_wanted.emit(servers)

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        self._speculation.set_drafter(state.drafter if state.status == "ready" else None)
        if state.status == "loading":
            wish, self._wish = self._wish, ""
            drafter = drafter_of(state.pair.drafting) if state.pair is not None else ""
            if wish and self._speculation.needs(wish) == drafter:
                self._speculation.choose(wish)
            self._panel.advice.forget_pair()
            self._notifications.resolved.emit(LOOKUP_CACHE)
        if state.status == "ready":
            self._notifications.resolved.emit(RESTART)
            self._check_models()

    @Slot()
    def _check_models(self) -> None:
        """Show the problem of the chosen strategy without waiting for a reply."""
        if not self._show_obstacle():
            self._panel.show_problem(self._speculation.problem)

    def _show_obstacle(self) -> bool:
        """Show that the chosen strategy lacks its draft model; return whether it does."""
        obstacle = self._speculation.obstacle(self._speculation.current.name)
        if obstacle:
            self._panel.show_problem(obstacle)
        return bool(obstacle)

    @Slot(object)
    def _on_idle(self) -> None:
        self._on_pair_changed(self._pair.state)
