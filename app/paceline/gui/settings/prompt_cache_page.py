"""Settings about the prompt cache: what is kept of prompts that models have read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.translation import local_size
from paceline.gui.look.scale import STEP, px
from paceline.gui.settings.forms import ChoiceField, SettingsPage
from paceline.gui.settings.prompt_cache import PromptCache
from paceline.gui.state.settings_store import Setting, SettingsStore

_LOOK_MS = 500
_DISK_MB = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
_MEMORY_MB = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)


class KeepRow(QWidget):
    """The switch; it asks before it deletes the cache."""

    def __init__(self, title: str, explanation: str, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self.box = QCheckBox(title)
        self.box.setAccessibleDescription(explanation)
        remark = text_label(explanation, wraps=True)
        remark.setContentsMargins(px(20), 0, 0, 0)
        self.question = QWidget()
        words = text_label(
            self.tr("What is kept is deleted, in memory and on disk."), "", wraps=True
        )
        self.delete = styled(
            QPushButton(self.tr("Delete and switch off"), autoDefault=False), kind="danger"
        )
        self.stay = QPushButton(self.tr("Leave it on"), autoDefault=False)
        column_of(
            words,
            row_of(self.stay, self.delete, None, spacing=STEP),
            on=self.question,
            margins=(px(20), STEP, 0, 0),
            spacing=STEP,
        )
        column_of(self.box, remark, self.question, on=self, margins=0, spacing=2)
        self.box.clicked.connect(self._on_clicked)
        self.delete.clicked.connect(self._on_delete)
        self.stay.clicked.connect(self._show)
        setting.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        is_asking = self.question.isVisibleTo(self)
        self.question.hide()
        self.box.setChecked(bool(self._setting.value))
        if is_asking:
            self.box.setFocus()

    @Slot(bool)
    def _on_clicked(self, is_on: bool) -> None:  # noqa: FBT001
        if is_on:
            self._setting.set_value(True)
            return
        self.box.setChecked(True)
        self.question.show()
        self.stay.setFocus()

    @Slot()
    def _on_delete(self) -> None:
        self._setting.set_value(False)


class KeptRow(QWidget):
    """The size on disk, measured repeatedly while it is shown, and "Forget now"."""

    def __init__(self, cache: PromptCache) -> None:
        super().__init__()
        self._cache = cache
        self.amount = text_label("", "", plain=True)
        self.forget = QPushButton(self.tr("Forget now"), autoDefault=False)
        self.forget.setToolTip(self.tr("The next prompts are read again"))
        self.remark = text_label()
        row_of(self.amount, (self.remark, 1), self.forget, on=self, margins=0, spacing=STEP)
        self._again = QTimer(self, interval=_LOOK_MS)
        self._again.timeout.connect(cache.measure)
        cache.measured.connect(self._show)
        self.forget.clicked.connect(self._on_forget)

    def showEvent(self, event: QShowEvent) -> None:
        """Start to measure."""
        super().showEvent(event)
        self._cache.measure()
        self._again.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop measuring."""
        super().hideEvent(event)
        self._again.stop()
        say(self.remark, "")

    @Slot(object)
    def _show(self, n_bytes: int) -> None:
        words = self.tr("{} on disk").format(local_size(n_bytes))
        self.amount.setText(words if n_bytes else self.tr("Nothing on disk"))

    @Slot()
    def _on_forget(self) -> None:
        self._cache.forget()
        say(self.remark, self.tr("Forgotten, in memory, too."))
        self._cache.measure()


class PromptCachePage(SettingsPage):
    """Switch of the prompt cache, its limits, its size, and words about its content."""

    def __init__(self, store: SettingsStore, cache: PromptCache) -> None:
        super().__init__(QCoreApplication.translate("PromptCachePage", "Prompt cache"), store)
        self._cache = cache

    def _fill(self) -> None:
        setting = self._store.setting
        prompts = self.section(self.tr("Prompts that were read"))
        title = self.tr("Keep what models have read")
        explanation = self.tr(
            "A chat that you come back to goes on without its prompt being read again, also after "
            "a restart, and so do chats and requests of other programs that begin alike. When this "
            "is switched, the models are loaded again."
        )
        self.keep = KeepRow(title, explanation, setting("keeps_states"))
        self.add(prompts, self.keep, title, self.tr("state wait first token memory"))
        self._settings.append(setting("keeps_states"))
        sizes = [(-1, self.tr("Automatic"))]
        self.add_row(
            prompts,
            self.tr("On disk at most"),
            self.tr(
                "Automatic: 4 GB, and no more than a tenth of what is free. What was used longest "
                "ago goes first. Takes effect when models are loaded."
            ),
            ChoiceField(
                [*sizes, *((mb, local_size(mb * 1e6)) for mb in _DISK_MB)],
                setting("states_disk_mb"),
            ),
            self.tr("size limit"),
        )
        self.add_row(
            prompts,
            self.tr("In memory at most"),
            self.tr(
                "Automatic: an eighth of what is free after a load, and no more than 4 GB. Takes "
                "effect when models are loaded."
            ),
            ChoiceField(
                [*sizes, *((mb, local_size(mb * 1e6)) for mb in _MEMORY_MB)],
                setting("states_memory_mb"),
            ),
            self.tr("size limit"),
        )
        kept = self.section(self.tr("What is kept"))
        self.kept = KeptRow(self._cache)
        self.add(kept, self.kept, self.kept.forget.text(), self.tr("delete size"))
        promise = text_label(
            self.tr(
                "The states of models after the texts that they have read: your chats, and the "
                "prompts of other programs. The files hold the texts' tokens, so they say as much "
                "as the texts; only you can read them. Private chats never get to the disk, and "
                "their states serve no other chat. What you delete is gone from memory and disk "
                "at once; a chat that you bring back is read again."
            ),
            wraps=True,
        )
        self.add(kept, promise, promise.text())
