"""The page of an empty chat: at first the recorded example and offers, later questions alone.

The network is not used. The folders of models are scanned once the first load has ended, since both
would compete for the disk; results appear as they come. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QSize, Slot
from PySide6.QtGui import QIcon

from paceline import starter
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.judge.first_choice import LocalPair, RecommendedPair, best_here, recommended
from paceline.catalog.local.library import LibraryEntry
from paceline.chat.pair import Pair, PairState
from paceline.conversation import Conversation
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.translation import known_size, local_size, translator
from paceline.gui.models.candidates import speed_text
from paceline.gui.models.downloads.getting import PairGetter, first_model, pair_of
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.welcome.example import Example
from paceline.gui.welcome.options import OfferCard
from paceline.gui.welcome.page import WelcomePage
from paceline.gui.welcome.starters import Starter, starters
from paceline.names import visible
from paceline.params import OWN_HEAD, Drafting, DraftModel, ModelParams

_SIGN_PX = 32
_LOADED = ("ready", "failed", "dead")
_tr = translator("Welcome")


class MessageField(Protocol):
    """Field for messages; implemented by `chat.composer.Composer`."""

    @property
    def text(self) -> str:
        """The text written so far."""

    @property
    def can_send(self) -> bool:
        """Return whether there is something to send and no obstacle."""

    def set_text(self, text: str) -> None:
        """Set the text of the field."""

    def setFocus(self) -> None:
        """Focus the field."""


class LoadsPairs(Protocol):
    """Loads pairs of models; implemented by `models.controller.ModelsController`."""

    @property
    def demo(self) -> Pair:
        """The pair that comes with the program."""

    @property
    def first(self) -> Pair:
        """The pair of the first start: the starter if its file exists, else the demo pair."""

    def load_models(self, picked: Pair) -> None:
        """Load these files; settings of the pair as a whole stay."""


class KnownModels(Protocol):
    """Local and recommended models; implemented by `models.catalogue.Catalogue`."""

    @property
    def entries(self) -> Sequence[LibraryEntry]:
        """Known models on this computer."""

    @property
    def curated(self) -> Sequence[CuratedPair]:
        """Curated pairs of the program; raises UserError when their list cannot be read."""

    @property
    def is_looking(self) -> bool:
        """Return whether the folders of models are being scanned."""

    @property
    def getting(self) -> PairGetter:
        """Downloads and loads the recommended pair."""

    @property
    def getting_first(self) -> PairGetter:
        """Downloads and loads the first model."""

    def scan(self) -> None:
        """Scan the folders of models in the background."""


class WelcomeController(QObject):
    """Fills the page, and decides how much of it is shown."""

    def __init__(
        self,
        context: AppContext,
        *,
        composer: MessageField,
        loads: LoadsPairs,
        catalogue: KnownModels | None,
        devices: CurrentDevices,
        resources: Path,
    ) -> None:
        """Make the page.

        Args:
            context: The program's parts.
            composer: Receives the questions, and sends them where it can.
            loads: Loads the chosen models.
            catalogue: The catalogue of models; None to offer none.
            devices: The devices that models can be put on.
            resources: The folder of shipped files.
        """
        super().__init__(context.window)
        self._context, self._session = context, context.session
        self._composer, self._loads = composer, loads
        self._catalogue, self._devices = catalogue, devices
        self._is_first = not context.settings.value("was_welcomed")
        self._has_looked = False
        self._n_compared = 0
        self._best: LocalPair | None = None
        self._recommended: RecommendedPair | None = None
        example = Example(context.live.sources, resources / "examples" / "starter.jsonl")
        self.page = WelcomePage(example)
        sign = QIcon(str(resources / "icons" / "paceline.svg"))
        self.page.sign.setPixmap(sign.pixmap(QSize(_SIGN_PX, _SIGN_PX)))
        self._connect()
        self._show()
        self._show_offers()

    def _connect(self) -> None:
        context, devices, page = self._context, self._devices, self.page
        page.question_chosen.connect(self._on_question)
        page.typed.connect(self._on_typed)
        page.example.again.clicked.connect(self._composer.setFocus)
        page.first.button.clicked.connect(self._on_get_first)
        page.get.button.clicked.connect(self._on_get)
        page.own.button.clicked.connect(self._on_own)
        context.signals.started.connect(self.leave)
        context.shown.path_changed.connect(self._show)
        context.pair.changed.connect(self._on_pair)
        for changed in (devices.changed, devices.described, devices.read):
            changed.connect(self._show_offers)
        if self._catalogue is not None:
            page.get.keep_room()
            getting, first = self._catalogue.getting, self._catalogue.getting_first
            for changed in (getting.changed, getting.progressed):
                changed.connect(self._show_recommended)
            for changed in (first.changed, first.progressed):
                changed.connect(self._show_first_model)
            page.get.pauses.clicked.connect(getting.pause_or_resume)
            page.first.pauses.clicked.connect(first.pause_or_resume)
            for offer in (page.get, page.first):
                offer.pauses.clicked.connect(self._composer.setFocus)
        context.actions.example.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Show the page as at the first start, in an empty chat, and play the example."""
        if self._context.shown.conversation.path():
            self._context.actions.new_chat.trigger()
        self._is_first = True
        self._show()
        self._look_for_models()
        self.page.example.play()
        self._composer.setFocus()

    @Slot()
    def leave(self) -> None:
        """Show only questions from now on, after the first reply."""
        if self._is_first:
            self._is_first = False
            self._show()
            self._context.settings.update(was_welcomed=True)

    # ------------------------------------------------------------------------------ the contents

    @Slot()
    def _show(self) -> None:
        conversation: Conversation = self._context.shown.conversation
        page = self.page
        page.show_first(is_first=self._is_first and not conversation.private)
        page.offer(starters(self._name, is_demo=self._is_demo))
        if conversation.private:
            page.say(
                self.tr("A private chat"),
                self.tr(
                    "Nothing of it is stored or remembered; it is gone when the window closes."
                ),
            )
        elif self._is_first:
            page.say(self.tr("Now on this machine"), self._who_answers())
        else:
            page.say(self.tr("What shall we write?"), "")
        self._show_first_model()

    @property
    def _is_demo(self) -> bool:
        """Return whether the built-in pair answers, or will once it is loaded."""
        pair = self._context.pair.state.pair or self._loads.first
        return pair.target.path == self._loads.demo.target.path

    @property
    def _name(self) -> str:
        """Name of the model that answers; empty while it is unknown."""
        is_starter = self._context.pair.state.pair in (None, self._loads.first)
        return starter.NAME if is_starter and not self._is_demo else self._context.pair.target_name

    def _who_answers(self) -> str:
        if self._is_demo:
            return self.tr(
                "Two tiny models answer, to show how it works; they know only Python's "
                "documentation."
            )
        if self._name == starter.NAME:
            return self.tr("{} answers: a small model, often wrong.").format(self._name)
        return self.tr("{} answers.").format(self._name)

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        self._show()
        if state.status in _LOADED and self._is_first:
            self._look_for_models()

    def _look_for_models(self) -> None:
        if self._catalogue is not None and not self._has_looked:
            self._has_looked = True
            self._catalogue.scan()

    @Slot()
    def show_models(self) -> None:
        """Offer the local models that are known now."""
        if not self._is_first or self._catalogue is None:
            return
        n_models = len(self._catalogue.entries)
        # All are compared with each other, so not for each inspected file.
        if n_models != self._n_compared or not self._catalogue.is_looking:
            self._n_compared = n_models
            self._show_own()

    @Slot()
    def _show_offers(self) -> None:
        self._show_own()
        self._choose_recommended()

    def _show_own(self) -> None:
        if self._catalogue is None:
            return
        but_for = "" if self._loads.first == self._loads.demo else self._loads.first.target.path
        entries, n_free = self._catalogue.entries, self._devices.n_free
        self._best = best = best_here(entries, n_free, but_for=but_for)
        if best is None:
            self.page.own.hide()
            return
        facts = known_size(best.n_bytes)
        if best.draft is not None:
            facts = self.tr("yours, with {} as its draft model, {}").format(
                visible(best.draft.file.name), facts
            )
        else:
            facts = self.tr("yours, {}").format(facts)
        self.page.own.show_models(visible(best.target.file.name), facts, self.tr("Load"))

    def _choose_recommended(self) -> None:
        if self._catalogue is None:
            return
        try:
            pairs = self._catalogue.curated
        except UserError:  # the picker shows the problem of it
            return
        devices = self._devices
        self._recommended = recommended(pairs, devices.room.devices, devices.reading)
        self._show_recommended()

    @Slot()
    def _show_recommended(self) -> None:
        """Offer the recommended pair, or show the progress of its download."""
        offer, found = self.page.get, self._recommended
        if self._catalogue is None or found is None:
            offer.hide()
            return
        title = self.tr("Recommended for this machine: {}").format(found.pair.title)
        self._show_offer(offer, self._catalogue.getting, title, _facts(found), self.tr("Get it"))

    @Slot()
    def _show_first_model(self) -> None:
        """Offer a chat model as long as the built-in pair answers in its place."""
        offer, catalogue = self.page.first, self._catalogue
        is_missing = self._loads.first == self._loads.demo
        if catalogue is None or not is_missing or self._context.shown.conversation.private:
            offer.hide()
            return
        getting = catalogue.getting_first
        if not (self._is_demo or getting.is_busy):
            offer.hide()
            return
        size = local_size(starter.SIZE)
        self._show_offer(
            offer,
            getting,
            self.tr("A first model to talk with"),
            self.tr("{} from Hugging Face: quick, small, often wrong").format(starter.NAME),
            self.tr("Get {name}, {size}").format(name=starter.SHORT_NAME, size=size),
        )

    def _show_offer(
        self, offer: OfferCard, getting: PairGetter, title: str, facts: str, get: str
    ) -> None:
        """Offer models to download, or show the progress."""
        if not getting.is_busy:
            offer.show_models(title, getting.line or facts, get)
            return
        pauses = self.tr("Resume") if getting.is_paused else self.tr("Pause")
        offer.show_models(title, getting.line or facts, self.tr("Cancel"), pauses)

    # -------------------------------------------------------------------------------------- choice

    @Slot(object)
    def _on_question(self, starter: Starter) -> None:
        """Send a question; if that is impossible, put it into the field, which shows the reason."""
        composer = self._composer
        composer.setFocus()
        before = composer.text.rstrip()  # keeps text that has been written
        composer.set_text(f"{before}\n{starter.text}" if before else starter.text)
        if before or not composer.can_send:
            return
        shown, options = self._context.shown, self._context.next_reply.options
        if self._session.send(shown.id, starter.text, options, greedy=True) is not None:
            composer.set_text("")

    @Slot(str)
    def _on_typed(self, letters: str) -> None:
        """Write typed letters into the field."""
        self._composer.setFocus()
        self._composer.set_text(self._composer.text + letters)

    @Slot()
    def _on_own(self) -> None:
        self._composer.setFocus()
        if self._best is not None:
            target, draft = self._best.target, self._best.draft
            drafting: Drafting = OWN_HEAD
            if draft is not None:
                drafting = DraftModel(ModelParams(str(draft.file.path)))
            self._loads.load_models(Pair(ModelParams(str(target.file.path)), drafting))

    @Slot()
    def _on_get(self) -> None:
        self._composer.setFocus()
        if self._catalogue is None or self._recommended is None:
            return
        getting = self._catalogue.getting
        if getting.is_busy:
            getting.cancel()
        else:
            getting.get(pair_of(self._recommended.pair))

    @Slot()
    def _on_get_first(self) -> None:
        self._composer.setFocus()
        if self._catalogue is None:
            return
        getting = self._catalogue.getting_first
        if getting.is_busy:
            getting.cancel()
        else:
            getting.get(first_model())


def _facts(found: RecommendedPair) -> str:
    """Return the size of a download, and the expected speeds here."""
    parts = []
    if found.download is not None:
        size = local_size(found.download.n_bytes)
        parts.append(size if found.download.is_exact else _tr("about {}").format(size))
    if found.speeds is not None:
        parts.append(_tr("here {} (estimate)").format(speed_text(found.speeds)))
    return " · ".join(parts)
