"""What an empty chat shows: at the first run the welcome page, later questions to begin with.

Nothing is asked of the network. The folders of models are looked through once the first load has
ended, since both would fight for the disk; what is found appears as it comes. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QSize, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QStackedWidget

from paceline import starter
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.judge.first_choice import (
    LocalPair,
    best_here,
    own_models,
    quick_bytes,
    that_fit,
)
from paceline.catalog.local.library import LibraryEntry
from paceline.chat.pair import Pair, PairState
from paceline.conversation import Conversation
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.welcome.example_player import ExamplePlayer
from paceline.gui.welcome.pages import (
    FirstRunPage,
    Starter,
    StartPage,
    machine_facts,
    models_fact,
    starters,
)
from paceline.names import visible
from paceline.params import OWN_HEAD, Drafting, DraftModel, ModelParams

N_RECOMMENDED = 3
_N_ASKED = 3
_SIGN_PX = 44
_LOADED = ("ready", "failed", "dead")


class MessageField(Protocol):
    """Where messages are written; implemented by `chat.composer.Composer`."""

    @property
    def text(self) -> str:
        """What is written so far."""

    @property
    def can_send(self) -> bool:
        """Whether there is something to send, and nothing in the way."""

    def set_text(self, text: str) -> None:
        """Put a text into the field."""

    def setFocus(self) -> None:
        """Put the keyboard into the field."""


class Loads(Protocol):
    """Loads pairs of models; implemented by `models.controller.ModelsController`."""

    @property
    def demo(self) -> Pair:
        """The pair that comes with the program."""

    @property
    def first(self) -> Pair:
        """What is loaded at the first start: the starter where it is there, else the demo pair."""

    def load(self, pair: Pair) -> None:
        """Load these models in place of what is loaded."""

    def load_demo_pair(self) -> None:
        """Load the pair that comes with the program."""

    def load_models(self, picked: Pair) -> None:
        """Load these files; what belongs to a pair as a whole stays."""


class KnownModels(Protocol):
    """The models here and the recommended ones; implemented by `models.catalogue.Catalogue`."""

    @property
    def entries(self) -> Sequence[LibraryEntry]:
        """The models on this computer, as far as they are known."""

    @property
    def curated(self) -> Sequence[CuratedPair]:
        """The pairs that are shipped as a list; raises UserError when it cannot be read."""

    @property
    def is_looking(self) -> bool:
        """Whether the folders are being looked through."""

    def look(self) -> None:
        """Look through the folders of models in the background."""

    def show_recommended(self, pair: CuratedPair | None = None) -> None:
        """Show the recommended pairs, and go to one of them."""


class WelcomeController(QObject):
    """Fills both pages, and decides which one is shown."""

    def __init__(
        self,
        context: AppContext,
        *,
        composer: MessageField,
        loads: Loads,
        catalogue: KnownModels | None,
        devices: CurrentDevices,
        resources: Path,
    ) -> None:
        """Make both pages.

        Args:
            context: The program's parts.
            composer: Takes the questions; sends them where it can.
            loads: Loads what is chosen.
            catalogue: What is known of models; None: nothing is, and only files are offered.
            devices: What models can be put on.
            resources: The files that are shipped.
        """
        super().__init__(context.window)
        self._context, self._session = context, context.session
        self._composer, self._loads = composer, loads
        self._catalogue, self._devices = catalogue, devices
        self._has_starter = loads.first != loads.demo
        self._is_open = not context.settings.value("was_welcomed")
        self._has_looked = False
        self._n_compared = 0
        self._best: LocalPair | None = None
        self._curated: list[CuratedPair] = []
        self.view = QStackedWidget()
        """What an empty chat shows"""
        self.page = FirstRunPage()
        self.start = StartPage()
        self.view.addWidget(self.page)
        self.view.addWidget(self.start)
        sign = QIcon(str(resources / "icons" / "paceline.svg"))
        self.page.sign.setPixmap(sign.pixmap(QSize(_SIGN_PX, _SIGN_PX)))
        self._player = ExamplePlayer(context, resources / "examples" / "starter.jsonl", self)
        self.page.first.offer_other(self.tr("Watch an example"))
        self._connect()
        self.page.show_first(starter.NAME if self._has_starter else "")
        self._show_which()
        self._show_pair()
        self._on_shown(context.shown.conversation)
        self._on_room()

    def _connect(self) -> None:
        context, devices = self._context, self._devices
        self.page.skip.clicked.connect(self.leave)
        self.page.first.chosen.connect(self._on_ask)
        self.page.first.other.clicked.connect(self._player.play)
        self.page.demo.clicked.connect(self._on_demo)
        self.page.own.chosen.connect(self._on_load_best)
        self.page.own.other.clicked.connect(self._on_choose)
        self.page.get.chosen.connect(self._on_recommended)
        self.page.get.other.clicked.connect(self._on_all_recommended)
        self.start.question_chosen.connect(self._ask)
        context.signals.started.connect(self.leave)
        context.shown.path_changed.connect(self._on_shown)
        context.pair.changed.connect(self._on_pair_changed)
        devices.changed.connect(self._on_room)
        devices.described.connect(self._on_room)
        context.actions.welcome.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Show the first page again, in an empty chat."""
        if self._context.shown.conversation.path():
            self._context.actions.new_chat.trigger()
        self._is_open = True
        self._show_which()
        self._look_for_models()
        self.page.first.options[0].setFocus()

    @Slot()
    def leave(self) -> None:
        """Show questions to begin with from now on."""
        if not self._is_open:
            return
        had_keyboard = self.view.isAncestorOf(self._context.window.focusWidget())
        self._is_open = False
        self._show_which()
        if had_keyboard:
            self._composer.setFocus()
        self._context.settings.update(was_welcomed=True)

    def _show_which(self) -> None:
        self.view.setCurrentWidget(self.page if self._is_open else self.start)

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
        pair, demo = self._context.pair.state.pair, self._loads.demo
        is_demo = pair is None or pair.target.path == demo.target.path
        self.start.offer(starters(self._context.pair.target_name, is_demo=is_demo))
        self.page.first.offer(self._of_first[:_N_ASKED])

    @property
    def _of_first(self) -> tuple[Starter, ...]:
        """The questions to the model of the first chat."""
        if self._has_starter:
            return starters(starter.NAME, is_demo=False)
        return starters("", is_demo=True)

    @Slot()
    def _on_room(self) -> None:
        self._show_machine()
        self._show_own()
        self._show_recommended()

    @Slot()
    def show_models(self) -> None:
        """Show what is known of the models of this computer now."""
        if not self._is_open or self._catalogue is None:
            return
        self._show_machine()
        n_models = len(self._catalogue.entries)
        # All are compared with each other: not for each file that is looked into.
        if n_models != self._n_compared or not self._catalogue.is_looking:
            self._n_compared = n_models
            self._show_own()

    def _show_machine(self) -> None:
        engine, catalogue = self._devices.description, self._catalogue
        facts = machine_facts(engine.devices if engine is not None else ())
        if catalogue is not None:
            is_looking = catalogue.is_looking or not self._has_looked
            facts = (*facts, models_fact(own_models(catalogue.entries), is_looking=is_looking))
        self.page.machine.show_facts(facts)

    def _show_own(self) -> None:
        card, catalogue = self.page.own, self._catalogue
        if catalogue is None:
            card.say(self.tr("Any GGUF file: as the target, as the draft model, or both."))
            card.offer_other(self.tr("Open a model file…"))
            return
        but_for = self._loads.first.target.path if self._has_starter else ""
        self._best = best_here(catalogue.entries, self._devices.n_free, but_for=but_for)
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
        remark = known_size(self._best.n_bytes)
        if draft is not None:
            remark = self.tr("drafted by {}, together {}").format(visible(draft.file.name), remark)
        card.offer(((visible(target.file.name), remark),))

    def _show_recommended(self) -> None:
        card, catalogue = self.page.get, self._catalogue
        card.setVisible(catalogue is not None)
        if catalogue is None:
            return
        try:
            curated = catalogue.curated
        except UserError as error:
            card.say(said(error.message))
            return
        n_bytes = quick_bytes(self._devices.room.devices)
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
                    self.tr("needs about {} of memory").format(known_size(pair.least_memory or 0)),
                )
                for pair in self._curated
            ]
        )
        card.offer_other(self.tr("All recommendations…"))

    def _look_for_models(self) -> None:
        if self._catalogue is not None and not self._has_looked:
            self._has_looked = True
            self._catalogue.look()

    # ------------------------------------------------------------------------------ what is chosen

    @Slot(int)
    def _on_ask(self, which: int) -> None:
        pair, first = self._context.pair.state.pair, self._loads.first
        if pair is not None and pair.target.path != first.target.path:
            self._loads.load(first)
        self._ask(self._of_first[which].text)

    @Slot()
    def _on_demo(self) -> None:
        self._loads.load_demo_pair()
        self.leave()

    @Slot(str)
    def _ask(self, text: str) -> None:
        """Send a question; where that cannot be, it stays in the field, which says why."""
        composer = self._composer
        composer.setFocus()
        before = composer.text.rstrip()  # what has been written is not thrown away
        composer.set_text(f"{before}\n{text}" if before else text)
        if before or not composer.can_send:
            return
        shown, options = self._context.shown, self._context.next_reply.options
        if self._session.send(shown.id, text, options, greedy=True) is not None:
            composer.set_text("")

    @Slot(int)
    def _on_load_best(self, _which: int) -> None:
        if self._best is not None:
            target, draft = self._best.target, self._best.draft
            drafting: Drafting = OWN_HEAD
            if draft is not None:
                drafting = DraftModel(ModelParams(str(draft.file.path)))
            self._loads.load_models(Pair(ModelParams(str(target.file.path)), drafting))
            self.leave()

    @Slot()
    def _on_choose(self) -> None:
        actions = self._context.actions
        if self._catalogue is None:
            actions.open_target.trigger()
        else:
            actions.choose_models.trigger()

    @Slot(int)
    def _on_recommended(self, which: int) -> None:
        if self._catalogue is not None:
            pairs = self._curated[which : which + 1]
            self._catalogue.show_recommended(pairs[0] if pairs else None)

    @Slot()
    def _on_all_recommended(self) -> None:
        if self._catalogue is not None:
            self._catalogue.show_recommended()
