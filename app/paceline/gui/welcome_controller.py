"""What an empty chat shows: at the first run the welcome page, later questions to begin with.

Nothing is asked of the network. The folders of models are looked through once the first load has
ended, since both would fight for the disk; what is found appears as it comes. Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QStackedWidget

from paceline import starter
from paceline.errors import UserError
from paceline.gui.example_player import ExamplePlayer
from paceline.gui.viewmodels.candidates import size_text
from paceline.gui.viewmodels.first_pairs import best_here, estimated_bytes, quick_bytes, that_fit
from paceline.gui.viewmodels.machine import machine_facts, models_fact
from paceline.gui.viewmodels.starters import Starter, starters
from paceline.gui.widgets.picker.recommended_page import RecommendedPage
from paceline.gui.widgets.welcome.first_run_page import FirstRunPage
from paceline.gui.widgets.welcome.start_page import StartPage
from paceline.params import ModelParams

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.catalog.curated import CuratedPair
    from paceline.chat.pair import PairState
    from paceline.conversation import Conversation
    from paceline.gui.program import Program
    from paceline.gui.viewmodels.first_pairs import HerePair

N_RECOMMENDED = 3
_N_ASKED = 3
_SIGN_PX = 44
_LOADED = ("ready", "failed", "dead")


class WelcomeController(QObject):
    """Fills both pages, and decides which one is shown."""

    settings_changed = Signal()
    """The first-run page has been left for good."""

    def __init__(
        self, program: Program, *, was_welcomed: bool, resources: Path, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._program = program
        self._was_welcomed = was_welcomed
        self._is_open = not was_welcomed
        self._has_looked = False
        self._best: HerePair | None = None
        self._curated: list[CuratedPair] = []
        self._stack = QStackedWidget()
        self.page = FirstRunPage()
        self.start = StartPage()
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.start)
        sign = QIcon(str(resources / "icons" / "paceline.svg"))
        self.page.show_sign(sign.pixmap(QSize(_SIGN_PX, _SIGN_PX)))
        self._player = ExamplePlayer(
            program.session,
            program.signals,
            program.notifications,
            resources / "examples" / "starter.jsonl",
            self,
        )
        self.page.first.offer_other(self.tr("Watch an example"))
        self._connect(program)
        self.page.show_first(starter.NAME if program.starter is not None else "")
        self._show_which()
        self._show_pair()
        self._on_shown(program.session.current)
        self._on_room()
        program.window.chat_pane.chat.set_welcome(self._stack)

    def _connect(self, program: Program) -> None:
        self.page.skipped.connect(self.leave)
        self.page.first.chosen.connect(self._on_ask)
        self.page.first.other_chosen.connect(self._player.play)
        self.page.demo.clicked.connect(self._on_demo)
        self.page.own.chosen.connect(self._on_load_best)
        self.page.own.other_chosen.connect(self._on_choose)
        self.page.get.chosen.connect(self._on_recommended)
        self.page.get.other_chosen.connect(self._on_all_recommended)
        self.start.question_chosen.connect(self._ask)
        program.signals.started.connect(self.leave)
        program.signals.shown.connect(self._on_shown)
        program.pair.changed.connect(self._on_pair_changed)
        program.devices.changed.connect(self._on_room)
        program.devices.described.connect(self._on_room)
        program.window.actions_.welcome.triggered.connect(self.open)
        if program.catalogue is not None:
            program.catalogue.library.refreshed.connect(self._on_models)
            program.catalogue.library.busy_changed.connect(self._on_models)
            program.catalogue.entries.rowsInserted.connect(self._on_models)
            program.catalogue.picker.load_requested.connect(self.leave)

    @property
    def was_welcomed(self) -> bool:
        """Whether the first-run page has been left."""
        return self._was_welcomed

    @Slot()
    def open(self) -> None:
        """Show the first page again, in an empty chat."""
        if self._program.session.current.path():
            self._program.chats.conversations.new_chat()
        self._is_open = True
        self._show_which()
        self._look_for_models()
        self.page.first.options[0].setFocus()

    @Slot()
    def leave(self) -> None:
        """Show questions to begin with from now on."""
        if not self._is_open:
            return
        had_keyboard = self._stack.isAncestorOf(self._program.window.focusWidget())
        self._is_open = False
        self._show_which()
        if had_keyboard:
            self._program.window.chat_pane.composer.setFocus()
        if not self._was_welcomed:
            self._was_welcomed = True
            self.settings_changed.emit()

    def _show_which(self) -> None:
        self._stack.setCurrentWidget(self.page if self._is_open else self.start)

    # ------------------------------------------------------------------------------ the contents

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        if conversation.private:
            self.start.say(
                self.tr("A private chat"),
                self.tr(
                    "Nothing of it is stored or remembered; it is gone when the window closes."
                ),
            )
        else:
            self.start.say(
                self.tr("What shall we write?"),
                self.tr(
                    "Choose in the panel who writes ahead; every word is still the target's "
                    "own. The figures show whether it pays."
                ),
            )

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        self._show_pair()
        if state.status in _LOADED and self._is_open:
            self._look_for_models()

    def _show_pair(self) -> None:
        """Offer questions that suit what is loaded; the first model has its own on its card."""
        pair, demo = self._program.pair.state.pair, self._program.models.demo
        is_demo = pair is None or pair.target.path == demo.target.path
        self.start.offer(starters(self._program.pair.target_name, is_demo=is_demo))
        self.page.first.offer(self._of_first[:_N_ASKED])

    @property
    def _of_first(self) -> tuple[Starter, ...]:
        """The questions to the model of the first chat."""
        if self._program.starter is None:
            return starters("", is_demo=True)
        return starters(starter.NAME, is_demo=False)

    @Slot()
    def _on_room(self) -> None:
        self._show_machine()
        self._show_own()
        self._show_recommended()

    @Slot()
    def _on_models(self) -> None:
        if self._is_open:
            self._show_machine()
            self._show_own()

    def _show_machine(self) -> None:
        engine, catalogue = self._program.devices.description, self._program.catalogue
        facts = machine_facts(engine.devices if engine is not None else ())
        if catalogue is not None:
            entries = catalogue.entries.entries
            is_looking = catalogue.library.is_busy or not self._has_looked
            facts = (*facts, models_fact(entries, is_looking=is_looking))
        self.page.machine.show_facts(facts)

    def _show_own(self) -> None:
        card, catalogue = self.page.own, self._program.catalogue
        if catalogue is None:
            card.say(self.tr("Any GGUF file: as the target, as the draft model, or both."))
            card.offer_other(self.tr("Open a model file…"))
            return
        first = self._program.starter
        besides = first.target.path if first is not None else ""
        self._best = best_here(catalogue.entries.entries, self._n_free, besides=besides)
        card.offer_other(self.tr("Choose models…"))
        if self._best is None:
            card.offer(())
            card.say(
                self.tr(
                    "Files of LM Studio, Ollama and the Hugging Face cache are found by "
                    "themselves; add folders of your own, or drop GGUF files onto the window."
                )
            )
            return
        target, draft = self._best.target, self._best.draft
        card.say(
            self.tr("The best pair of yours that fits this machine:")
            if draft is not None
            else self.tr("The largest model of yours that fits this machine:")
        )
        remark = size_text(self._best.n_bytes)
        if draft is not None:
            remark = self.tr("drafted by {}, together {}").format(draft.file.name, remark)
        card.offer(((target.file.name, remark),))

    def _show_recommended(self) -> None:
        card, catalogue = self.page.get, self._program.catalogue
        card.setVisible(catalogue is not None)
        if catalogue is None:
            return
        try:
            curated = catalogue.curated
        except UserError as error:
            card.say(error.message)
            return
        n_bytes = quick_bytes(self._program.devices.room.devices)
        self._curated = that_fit(curated, n_bytes, N_RECOMMENDED)
        card.say(
            self.tr("Reported to work, and of a size for this machine. Nothing is fetched yet.")
            if self._curated
            else self.tr("Pairs that others have reported to work, with their sources.")
        )
        card.offer(
            [
                (
                    pair.title,
                    self.tr("about {}, on the disk and in memory").format(
                        size_text(estimated_bytes(pair))
                    ),
                )
                for pair in self._curated
            ]
        )
        card.offer_other(self.tr("All recommendations…"))

    @property
    def _n_free(self) -> int:
        return self._program.devices.room.n_free

    def _look_for_models(self) -> None:
        catalogue = self._program.catalogue
        if catalogue is not None and not self._has_looked:
            self._has_looked = True
            catalogue.library.refresh()

    # ------------------------------------------------------------------------------ what is chosen

    @Slot(int)
    def _on_ask(self, which: int) -> None:
        models, pair = self._program.models, self._program.pair.state.pair
        first = self._program.starter or models.demo
        if pair is not None and pair.target.path != first.target.path:
            models.load(first)
        self._ask(self._of_first[which].text)

    @Slot()
    def _on_demo(self) -> None:
        self._program.models.load_demo_pair()
        self.leave()

    @Slot(str)
    def _ask(self, text: str) -> None:
        """Send a question; where that cannot be, it stays in the field, which says why."""
        composer = self._program.window.chat_pane.composer
        composer.setFocus()
        before = composer.text.rstrip()  # what has been written is not thrown away
        composer.set_text(f"{before}\n{text}" if before else text)
        if not before and composer.can_send and self._program.session.send(text, greedy=True):
            composer.set_text("")

    @Slot(int)
    def _on_load_best(self, _which: int) -> None:
        if self._best is not None:
            target, draft = self._best.target, self._best.draft
            self._program.models.load_models(
                ModelParams(str(target.file.path)),
                ModelParams(str(draft.file.path)) if draft is not None else None,
            )
            self.leave()

    @Slot()
    def _on_choose(self) -> None:
        actions = self._program.window.actions_
        if self._program.catalogue is None:
            actions.open_target.trigger()
        else:
            actions.choose_models.trigger()

    @Slot(int)
    def _on_recommended(self, which: int) -> None:
        page = self._show_recommendations()
        if page is not None and which < len(self._curated):
            page.show_pair(self._curated[which])

    @Slot()
    def _on_all_recommended(self) -> None:
        self._show_recommendations()

    def _show_recommendations(self) -> RecommendedPage | None:
        catalogue = self._program.catalogue
        if catalogue is None:
            return None
        catalogue.picker.open(1)
        dialog = catalogue.picker.dialog
        if dialog is None:
            return None
        dialog.show_recommended()
        return dialog.page if isinstance(dialog.page, RecommendedPage) else None
