"""What makes the panel comfortable: presets, “Which strategy?”, loaded forms, the last seed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.draft_presets_controller import DraftPresetsController
from paceline.gui.open_file import OpenFile
from paceline.gui.presets_controller import PresetsController
from paceline.gui.strategy_advisor import StrategyAdvisor
from paceline.gui.viewmodels.constraints import MAX_FORM_BYTES
from paceline.gui.viewmodels.reply_settings import ReplySettings
from paceline.settings import MAX_SEED

if TYPE_CHECKING:
    from paceline.gui.program import Program
    from paceline.settings import Settings


class Tuning(QObject):
    """Put together around the panel of a `Program`; main thread."""

    settings_changed = Signal()
    """Something that is remembered was changed"""

    def __init__(self, program: Program, settings: Settings) -> None:
        super().__init__(program)
        window, panel = program.window, program.window.panel
        self._session = program.session
        self._card = panel.sampling
        self._window = window
        self.open_file = OpenFile(program.background, program.notifications, self)
        self.replies = PresetsController(
            settings=settings,
            card=panel.sampling,
            open_file=self.open_file,
            save_file=program.save_file,
            notifications=program.notifications,
            window=window,
            parent=self,
        )
        self.drafts = DraftPresetsController(
            settings=settings,
            button=panel.draft_settings.presets,
            speculation=program.speculation,
            pair=program.pair,
            signals=program.signals,
            notifications=program.notifications,
            window=window,
            parent=self,
        )
        self.advisor = StrategyAdvisor(
            speculation=program.speculation,
            pair=program.pair,
            learn=panel.learning.switch,
            no_draft=window.actions_.no_draft,
            notifications=program.notifications,
            window=window,
            parent=self,
        )
        window.chat_pane.composer.set_preset_widget(self.replies.foot_button)
        window.chat_pane.errors.action_requested.connect(self.replies.on_action)
        window.actions_.which_strategy.triggered.connect(self.advisor.open)
        panel.picker.help_button.clicked.connect(self.advisor.open)
        panel.advice.free_wanted.connect(window.actions_.no_draft.trigger)
        panel.sampling.seed.last_wanted.connect(self._on_last_seed)
        panel.sampling.form.load_wanted.connect(self._on_load_form)
        self.replies.presets.kept_changed.connect(self.settings_changed)
        self.drafts.presets.kept_changed.connect(self.settings_changed)
        for signal in (program.signals.ended, program.signals.shown):
            signal.connect(self._on_replies)
        self._on_replies()

    def restore(self, settings: Settings) -> None:
        """Show how replies were drawn when the program ended."""
        self._card.show_settings(
            ReplySettings(
                settings.sampling,
                settings.max_tokens,
                settings.seed,
                settings.system_prompt,
                settings.stop,
            )
        )
        self.replies.show_settings()

    def fill(self, settings: Settings) -> Settings:
        """Return the settings with everything that is kept here."""
        return replace(
            settings,
            reply_presets=self.replies.presets.own,
            reply_preset=self.replies.presets.chosen,
            draft_presets=self.drafts.presets.presets,
        )

    def close(self) -> None:
        """Close every dialog with the window."""
        self.replies.close()
        self.drafts.close()
        self.advisor.close()

    def _last_seed(self) -> int | None:
        """The seed of the newest reply that is shown; None: there is none to use."""
        for message in reversed(self._session.current.path()):
            reply = self._session.reply_of(message.message_id)
            if reply is not None and reply.seed is not None:
                return reply.seed if reply.seed <= MAX_SEED else None
        return None

    @Slot()
    def _on_replies(self) -> None:
        self._card.seed.offer_last(is_there=self._last_seed() is not None)

    @Slot()
    def _on_last_seed(self) -> None:
        seed = self._last_seed()
        if seed is not None:
            self._card.seed.use(seed)

    @Slot(str)
    def _on_load_form(self, form: str) -> None:
        is_schema = form == "schema"
        self.open_file.ask(
            self._window,
            self.tr("Load a JSON schema") if is_schema else self.tr("Load a grammar"),
            self.tr("JSON (*.json);;All files (*)")
            if is_schema
            else self.tr("Grammars (*.gbnf *.txt);;All files (*)"),
            MAX_FORM_BYTES,
            partial(self._card.form.put_text, form),
        )
