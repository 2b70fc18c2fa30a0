"""What the sampling card asks for: the last seed, a form from a file, presets with their files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.chat.presets import MAX_FILE_BYTES, presets_from_text, presets_to_text
from paceline.errors import UserError
from paceline.gui.kit.commands import PaletteCommand
from paceline.gui.kit.dialogs import NameDialog
from paceline.gui.kit.notices import Action
from paceline.gui.sampling.presets import PresetButton, ReplyPresets
from paceline.gui.sampling.reply_form import MAX_FORM_BYTES
from paceline.gui.state.reply_settings import ReplySettings
from paceline.settings import MAX_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.context import AppContext
    from paceline.gui.kit.file_dialogs import OpenFile
    from paceline.gui.sampling.sampling_settings import SamplingSettings
    from paceline.settings import ReplyPreset


class SamplingController(QObject):
    """Fills the card from the settings, the chat that is shown, and files; main thread."""

    def __init__(
        self,
        context: AppContext,
        *,
        card: SamplingSettings,
        open_file: OpenFile,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = context.session
        self._window = context.window
        self._settings = context.settings
        self._card = card
        self._open_file = open_file
        card.seed.last_wanted.connect(self._on_last_seed)
        card.form.load_wanted.connect(self._on_load_form)
        for signal in (context.signals.ended, context.signals.shown):
            signal.connect(self._offer_last_seed)
        self._offer_last_seed()

    def restore(self) -> None:
        """Show how replies were drawn when the program ended."""
        settings = self._settings.settings
        self._card.show_settings(
            ReplySettings(
                settings.sampling,
                settings.max_tokens,
                settings.seed,
                settings.system_prompt,
                settings.stop,
            )
        )

    def _last_seed(self) -> int | None:
        """The seed of the newest reply that is shown; None: there is none to use."""
        for message in reversed(self._session.current.path()):
            reply = self._session.conversations.reply_of(message.message_id)
            if reply is not None and reply.seed is not None:
                return reply.seed if reply.seed <= MAX_SEED else None
        return None

    @Slot()
    def _offer_last_seed(self) -> None:
        self._card.seed.offer_last(is_there=self._last_seed() is not None)

    @Slot()
    def _on_last_seed(self) -> None:
        seed = self._last_seed()
        if seed is not None:
            self._card.seed.use(seed)

    @Slot(str)
    def _on_load_form(self, form: str) -> None:
        is_schema = form == "schema"
        self._open_file.ask(
            self._window,
            self.tr("Load a JSON schema") if is_schema else self.tr("Load a grammar"),
            self.tr("JSON (*.json);;All files (*)")
            if is_schema
            else self.tr("Grammars (*.gbnf *.txt);;All files (*)"),
            MAX_FORM_BYTES,
            partial(self._card.form.put_text, form),
        )


UNDO_PRESET = "undo-preset"
"""Topic of the notice after a preset took the place of other values, or was deleted."""


class PresetsController(QObject):
    """Binds `ReplyPresets` to the sampling card and to two buttons; main thread."""

    def __init__(
        self,
        context: AppContext,
        *,
        card: SamplingSettings,
        open_file: OpenFile,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = context.settings
        settings = context.settings.settings
        self.presets = ReplyPresets(settings.reply_presets, settings.reply_preset, self)
        self._card = card
        self._open_file = open_file
        self._save_file = context.save_file
        self._notifications = context.notices
        self._window = context.window
        self._before: tuple[ReplySettings, str, tuple[ReplyPreset, ...]] | None = None
        self.dialog: NameDialog | None = None
        self.card_button = PresetButton(self.presets, long=True)
        self.foot_button = PresetButton(self.presets, long=False)
        card.set_preset_button(self.card_button)
        for button in (self.card_button, self.foot_button):
            menu = button.menu_
            menu.chosen.connect(self.apply)
            menu.save_as_wanted.connect(self.save_as)
            menu.update_wanted.connect(self.presets.update_chosen)
            menu.rename_wanted.connect(self._on_rename)
            menu.delete_wanted.connect(self._on_delete)
            menu.import_wanted.connect(self._on_import)
            menu.export_wanted.connect(self._on_export)
        card.changed.connect(self.show_settings)
        self.presets.kept_changed.connect(self._on_kept_changed)

    @Slot()
    def show_settings(self) -> None:
        """Know what is set in the card now."""
        self.presets.show_settings(self._card.settings)

    def commands(self) -> Sequence[PaletteCommand]:
        """Return a command for each preset, for the palette; the chosen one is ticked."""
        return [
            PaletteCommand(
                title=self.tr("Use the preset {}").format(row.title),
                group=self.tr("Preset"),
                keys="",
                run=partial(self.apply, row.key),
                is_on=row.key == self.presets.chosen,
            )
            for row in self.presets.rows
        ]

    @Slot(str)
    def apply(self, key: str) -> None:
        """Put a preset in force; what took work to set can be brought back."""
        presets = self.presets
        self.show_settings()
        before = self._card.settings
        is_lost = presets.differs or not presets.chosen
        snapshot = (before, presets.chosen, presets.own)
        after = presets.applied(key)
        presets.choose(key)
        self._card.use(after)
        if is_lost and after != before:
            self._offer_undo(
                self.tr("“{}” took the place of your values.").format(presets.title), snapshot
            )

    @Slot()
    def save_as(self) -> None:
        """Ask for the name of a new preset."""
        self.show_settings()
        self._ask(self.tr("Save as a preset"), self.tr("Save"), "", "")
        if self.dialog is not None:
            self.dialog.named.connect(self.presets.save_as)

    def close(self) -> None:
        """Close what is open, with the window."""
        if self.dialog is not None:
            self.dialog.reject()

    @Slot()
    def undo(self) -> None:
        """Undo what the last notice is about."""
        if self._before is not None:
            values, chosen, own = self._before
            self._before = None
            self.presets.restore(own, chosen)
            self._card.use(values)
            self._notifications.settled.emit(UNDO_PRESET)

    # ------------------------------------------------------------------------------ within

    def _ask(self, title: str, action: str, name: str, but: str) -> None:
        self.dialog = NameDialog(
            title, action, partial(self.presets.obstacle, but=but), name, self._window
        )
        self.dialog.finished.connect(self._on_finished)
        self.dialog.open()

    def _offer_undo(
        self, words: str, before: tuple[ReplySettings, str, tuple[ReplyPreset, ...]]
    ) -> None:
        self._before = before
        undo = Action(self.tr("Undo"), self.undo)
        self._notifications.tell(words, action=undo, topic=UNDO_PRESET)

    @Slot()
    def _on_kept_changed(self) -> None:
        self._settings.update(reply_presets=self.presets.own, reply_preset=self.presets.chosen)

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None

    @Slot()
    def _on_rename(self) -> None:
        own = self.presets.chosen_own
        if own is not None:
            self._ask(self.tr("Rename the preset"), self.tr("Rename"), own.name, own.name)
            if self.dialog is not None:
                self.dialog.named.connect(self._on_renamed)

    @Slot(str)
    def _on_renamed(self, name: str) -> None:
        self.presets.rename(self.presets.chosen, name)

    @Slot()
    def _on_delete(self) -> None:
        own = self.presets.chosen_own
        if own is not None:
            before = (self._card.settings, own.name, self.presets.own)
            self.presets.delete(own.name)
            self.show_settings()
            self._offer_undo(self.tr("The preset “{}” is deleted.").format(own.name), before)

    @Slot()
    def _on_import(self) -> None:
        self._open_file.ask(
            self._window,
            self.tr("Import presets"),
            self.tr("Presets (*.json);;All files (*)"),
            MAX_FILE_BYTES,
            self.take,
        )

    def take(self, text: str) -> None:
        """Add the presets of a file.

        Raises:
            UserError: It is not a file of presets, or they are too many.
        """
        found = presets_from_text(text)
        if len(found) > self.presets.room:
            raise UserError(
                "too-many-presets",
                self.tr("The file holds {} presets, and there is room for {}.").format(
                    len(found), self.presets.room
                ),
                self.tr("Delete some of yours first."),
            )
        names = self.presets.add(found)
        self._notifications.tell(self.tr("Imported: {}.").format(", ".join(names)))

    @Slot()
    def _on_export(self) -> None:
        self._save_file.ask(
            self._window,
            self.tr("Export your presets"),
            "paceline-presets.json",
            self.tr("Presets (*.json)"),
            partial(_content, self.presets.own),
        )


def _content(presets: Sequence[ReplyPreset]) -> bytes:
    return presets_to_text(presets).encode()
