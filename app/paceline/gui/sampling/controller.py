"""Controller between the shown chat and the sampling card: settings, last seed, forms, presets.

A line above the composer's buttons names the chat's differences from new chats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from paceline.chat.presets import MAX_FILE_BYTES, presets_from_text, presets_to_text
from paceline.conversation import Conversation
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.commands import PaletteCommand
from paceline.gui.kit.file_dialogs import OpenFile
from paceline.gui.kit.labels import YieldingButton
from paceline.gui.kit.layouts import row_of, styled
from paceline.gui.kit.notices import Action
from paceline.gui.kit.translation import fields_in_words, value_in_words
from paceline.gui.sampling.presets import PresetButton, PresetsState, ReplyPresets
from paceline.gui.sampling.reply_form import MAX_FORM_BYTES
from paceline.gui.sampling.sampling_settings import SamplingSettings
from paceline.gui.state.presets import PresetNamer, add_entry
from paceline.gui.state.settings_store import SAVE_AFTER_MS
from paceline.names import visible
from paceline.params import MAX_SEED, ReplySettings

_MAX_NAMED = 3
"""Maximum number of named differences; the tool tip has all of them."""

_FORMS = ("json_schema", "grammar")


def differences(now: ReplySettings, usual: ReplySettings) -> Iterator[str]:
    """Yield the differing settings, in a few words each."""
    form = now.sampling.json_schema or now.sampling.grammar
    for values, others in ((now.sampling, usual.sampling), (now, usual)):
        for name, parameter in fields_in_words(type(values)).items():
            value = getattr(values, name)
            is_other_form = form and not value and name in _FORMS
            if value != getattr(others, name) and not is_other_form:
                yield value_in_words(parameter, value)


class SettingsBadge(QWidget):
    """Two buttons: the differences, which lead to the settings, and one that resets them.

    A folder with instructions is named with them. Hidden without differences.
    """

    def __init__(self, presets: ReplyPresets) -> None:
        super().__init__()
        self._presets = presets
        self._folder = ""
        self.open_button = styled(YieldingButton(), kind="chip")
        self.reset_button = styled(QPushButton(self.tr("Reset")), kind="link")
        # Aligned, since the lower button would otherwise limit the row's height.
        reset = (self.reset_button, 0, Qt.AlignmentFlag.AlignVCenter)
        row_of(self.open_button, reset, on=self, margins=0, spacing=4)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        presets.changed.connect(self.refresh)
        self.refresh()

    def show_folder(self, words: str) -> None:
        """Show words about the chat's folder, too; empty for none."""
        if words != self._folder:
            self._folder = words
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the present differences."""
        presets = self._presets
        differ = tuple(differences(presets.now, presets.default_settings))
        found = (*filter(None, [self._folder]), *differ)
        n_more = len(found) - _MAX_NAMED
        shown = [*found[:_MAX_NAMED], *([self.tr("{} more").format(n_more)] if n_more > 0 else [])]
        preset = presets.preset(presets.default_key)
        usual = preset.name if preset is not None else ""
        words = " · ".join(shown)
        self.open_button.setText(words.replace("&", "&&"))
        self.open_button.setAccessibleName(self.tr("Settings of this chat: {}").format(words))
        self.open_button.setToolTip(
            self.tr("Set for this chat, otherwise than in “{}”:\n{}\nA click shows it.").format(
                usual, "\n".join(f"• {difference}" for difference in found)
            )
        )
        self.reset_button.setToolTip(
            self.tr("Let this chat have what new chats begin with: “{}”").format(usual)
        )
        self.reset_button.setAccessibleName(self.tr("Reset the settings of this chat"))
        self.reset_button.setVisible(bool(differ))
        self.setVisible(bool(found))


UNDO_PRESET = "undo-preset"
"""Topic of the notice after a preset replaced other values, or was deleted."""


class SamplingController(PresetNamer[ReplyPresets]):
    """Lets the card and the presets show and change the shown chat's settings; main thread."""

    def __init__(
        self,
        context: AppContext,
        *,
        card: SamplingSettings,
        presets: ReplyPresets,
        open_file: OpenFile,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(presets, context.window, parent)
        self._context = context
        self._shown = shown = context.shown
        self._open_file = open_file
        self._card = card
        self._shown_id = ""
        # The state that an undo restores; settings that are None were not touched.
        self._before: tuple[PresetsState, ReplySettings | None] | None = None
        self._keep_soon = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._keep_soon.timeout.connect(shown.keep_settings)
        self._make_buttons()
        card.seed.last.clicked.connect(self._on_last_seed)
        card.form.load.clicked.connect(self._on_load_form)
        for signal in (context.signals.ended, shown.path_changed):
            signal.connect(self._offer_last_seed)
        self._offer_last_seed()
        card.changed.connect(self._on_card_changed)
        shown.path_changed.connect(self._on_shown)
        presets.kept_changed.connect(self._on_kept_changed)
        for signal in (shown.path_changed, shown.details_changed):
            signal.connect(self._show_folder)
        self._on_shown(shown.conversation)
        self._show_folder()

    def _make_buttons(self) -> None:
        self.card_button = PresetButton(self.presets, self._fill, long=True)
        self.foot_button = PresetButton(self.presets, self._fill, long=False)
        self._card.add_presets(self.card_button)
        self.badge = SettingsBadge(self.presets)
        self.badge.open_button.clicked.connect(self._context.actions.chat_settings.trigger)
        for reset in (self._card.reset_button, self.badge.reset_button):
            reset.clicked.connect(self.reset)

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        """Show another chat's settings, and drop the undo, which concerns the previous chat."""
        if conversation.conversation_id != self._shown_id:
            self._shown_id, self._before = conversation.conversation_id, None
            self._context.notices.resolved.emit(UNDO_PRESET)
            self._show()

    @Slot()
    def _show_folder(self) -> None:
        """Show whose instructions precede the system prompt."""
        folder = self._shown.folder
        has_some = folder is not None and bool(folder.instructions)
        name = visible(folder.name) if folder is not None else ""
        words = self.tr("from folder “{}”").format(name) if has_some else ""
        self.badge.show_folder(words)
        self._card.show_folder(words, folder.instructions if folder is not None else "")

    def _show(self) -> None:
        settings = self._shown.settings
        self._card.show_settings(settings)
        self.presets.show_chat(settings)
        self._card.shown.emit()

    @Slot()
    def _on_card_changed(self) -> None:
        """Keep the change for the chat; it is stored on disk when the slider rests."""
        self._shown.set_settings(self._card.settings)
        self.presets.show_settings(self._card.settings)
        self._keep_soon.start()

    @Slot()
    def _on_kept_changed(self) -> None:
        """Store the list, and let a new chat without settings of its own follow another default."""
        presets = self.presets
        self._context.settings.update(reply_presets=presets.own, default_preset=presets.default_key)
        shown = self._shown
        if shown.conversation.settings is None and shown.settings != self._card.settings:
            self._show()

    def _last_seed(self) -> int | None:
        """Return the seed of the newest shown reply, or None without one."""
        for message in reversed(self._shown.conversation.path()):
            reply = self._shown.reply(message.message_id)
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

    @Slot()
    def _on_load_form(self) -> None:
        form = self._card.form.shown
        is_schema = form == "schema"
        self._open_file.ask(
            self._context.window,
            self.tr("Load a JSON schema") if is_schema else self.tr("Load a grammar"),
            self.tr("JSON (*.json);;All files (*)")
            if is_schema
            else self.tr("Grammars (*.gbnf *.txt);;All files (*)"),
            MAX_FORM_BYTES,
            partial(self._card.form.put_text, form),
        )

    # ----------------------------------------------------------------------------- presets

    def commands(self) -> Sequence[PaletteCommand]:
        """Return a command for each preset, for the palette; the chosen one is ticked."""
        return [
            PaletteCommand(
                title=self.tr("Use the preset {}").format(visible(row.title)),
                group=self.tr("Preset"),
                keys="",
                run=partial(self.apply, row.key),
                is_on=row.key == self.presets.chosen,
            )
            for row in self.presets.rows
        ]

    def _fill(self, menu: QMenu) -> None:
        """Add all presets and the actions on them."""
        presets, own = self.presets, self.presets.chosen_own
        was_built_in = True
        for row in presets.rows:
            if was_built_in and not row.is_built_in:
                menu.addSeparator()
            was_built_in = row.is_built_in
            is_default = row.key == presets.default_key
            add_entry(
                menu,
                self.tr("{} (new chats)").format(row.title) if is_default else row.title,
                partial(self.apply, row.key),
                is_chosen=row.key == presets.chosen,
                explanation=row.summary,
            )
        menu.addSeparator()
        add_entry(
            menu,
            self.tr("Use “{}” for new chats").format(presets.title),
            presets.make_default,
            is_on=presets.chosen != presets.default_key,
        )
        add_entry(menu, self.tr("Save as…"), self._save_as, is_on=presets.room > 0)
        if own is not None:
            name = own.name
            update = self.tr("Update “{}”").format(name)
            add_entry(menu, update, presets.update_chosen, is_on=presets.differs)
            rename = self.tr("Rename “{}”…").format(name)
            add_entry(menu, rename, partial(self.ask_new_name, name))
            add_entry(menu, self.tr("Delete “{}”").format(name), partial(self._delete, name))
        menu.addSeparator()
        add_entry(menu, self.tr("Import…"), self._import)
        add_entry(menu, self.tr("Export…"), self._export, is_on=bool(presets.own))

    def apply(self, key: str) -> None:
        """Apply a preset; settings that took work to make can be restored."""
        self._put(key, self.presets.applied(key), is_lost=self.presets.differs)

    @Slot()
    def reset(self) -> None:
        """Apply the settings of new chats; settings that took work to make can be restored."""
        presets = self.presets
        is_lost = presets.is_changed
        self._put(presets.default_key, presets.default_settings, is_lost=is_lost)

    def _put(self, key: str, after: ReplySettings, *, is_lost: bool) -> None:
        state, before = self.presets.state, self.presets.now
        self.presets.choose(key)
        self._card.use(after)
        if is_lost and after != before:
            words = self.tr("“{}” took the place of your values.")
            self._offer_undo(words.format(self.presets.title), state, before)

    def _save_as(self) -> None:
        self.ask_name(self.tr("Save as a preset"), self.tr("Save"), self.presets.save_as)

    @Slot()
    def undo(self) -> None:
        """Undo the action of the last notice."""
        if self._before is not None:
            (state, before), self._before = self._before, None
            self.presets.restore(state)
            if before is not None:
                self._card.use(before)
            self._context.notices.resolved.emit(UNDO_PRESET)

    # ------------------------------------------------------------------------------ within

    def _offer_undo(
        self, words: str, state: PresetsState, before: ReplySettings | None = None
    ) -> None:
        self._before = state, before
        undo = Action(self.tr("Undo"), self.undo)
        self._context.notices.inform(words, action=undo, topic=UNDO_PRESET)

    def _delete(self, name: str) -> None:
        state = self.presets.state
        self.presets.delete(name)
        self._offer_undo(self.tr("The preset “{}” is deleted.").format(name), state)

    def _import(self) -> None:
        self._open_file.ask(
            self._context.window,
            self.tr("Import presets"),
            self.tr("Presets (*.json);;All files (*)"),
            MAX_FILE_BYTES,
            self.import_presets,
        )

    def import_presets(self, text: str) -> None:
        """Add the presets of a file.

        Raises:
            UserError: The file has no presets, or too many.
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
        self._context.notices.inform(self.tr("Imported: {}.").format(", ".join(names)))

    def _export(self) -> None:
        self._context.save_file.ask(
            self._context.window,
            self.tr("Export your presets"),
            "paceline-presets.json",
            self.tr("Presets (*.json)"),
            partial(presets_to_text, self.presets.own),
        )
