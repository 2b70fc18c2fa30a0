"""Settings about other programs: the switch, the key, and recipes for programs."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QWidget

from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.kit.fields import Segments
from paceline.gui.kit.labels import BreakingLabel, say, text_label
from paceline.gui.kit.layouts import column_of, row_of, set_look, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import COMPACT, STEP, px
from paceline.gui.look.theme import mono_font
from paceline.gui.serving.controller import ServingController
from paceline.gui.serving.expressions import ExpressionList
from paceline.gui.serving.recipes import recipes
from paceline.gui.settings.forms import NumberField, SettingsPage
from paceline.gui.state.settings_store import SettingsStore
from paceline.settings import MAX_PORT, MIN_PORT

_HIDDEN = "••••••••"
_RECIPE_LINES = 12


class StateRow(QWidget):
    """The server's state, with its address to copy."""

    def __init__(self, serving: ServingController) -> None:
        super().__init__()
        self._serving = serving
        self.pill = text_label("", "pill")
        self.words = styled(BreakingLabel(), role="value")
        self.copy = CopyButton()
        self.copy.setAccessibleName(self.tr("Copy the address"))
        row_of(
            self.pill,
            (self.words, 1),
            self.copy,
            on=self,
            margins=(px(20), 0, 0, 0),
            spacing=STEP,
        )
        serving.changed.connect(self.show_state)
        self.show_state()

    @Slot()
    def show_state(self) -> None:
        """Show the present state."""
        serving = self._serving
        is_wrong = serving.status == "off" and bool(serving.problem)
        pill, words, tone = {
            "off": (self.tr("off"), serving.problem, "danger" if is_wrong else "muted"),
            "starting": (self.tr("starting"), "", "muted"),
            "on": (self.tr("on"), serving.access.url, "accent"),
            "ending": (self.tr("ending"), self.tr("It ends after the reply under way."), "lookup"),
        }[serving.status]
        self.pill.setText(pill)
        set_look(self.pill, tone=tone)
        self.words.setText(words)
        set_look(self.words, role="danger" if is_wrong else "value")
        self.copy.set_code(serving.access.url if serving.status == "on" else None)


class KeyRow(QWidget):
    """The key, hidden until the user shows it."""

    shown_changed = Signal()
    """The key was shown or hidden."""

    def __init__(self, serving: ServingController) -> None:
        super().__init__()
        self._serving = serving
        self.field = QLineEdit(readOnly=True, echoMode=QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(self.tr("Key"))
        self.show_button = QPushButton(self.tr("Show"), autoDefault=False)
        self.show_button.setCheckable(True)
        self.show_button.toggled.connect(self._on_show)
        self.copy = QPushButton(self.tr("Copy"), autoDefault=False)
        self.copy.setAccessibleName(self.tr("Copy the key"))
        self.copy.clicked.connect(self._on_copy)
        self.renew = QPushButton(self.tr("Renew"), autoDefault=False)
        self.renew.setToolTip(self.tr("Programs that know this key are refused from then on"))
        self.renew.clicked.connect(serving.renew_key)
        row_of(
            (self.field, 1), self.show_button, self.copy, self.renew,
            on=self, margins=(px(20), 0, 0, 0), spacing=STEP,
        )  # fmt: skip
        serving.changed.connect(self._on_changed)
        self._on_changed()

    @property
    def is_shown(self) -> bool:
        """Return whether the key is readable."""
        return bool(self.show_button.isChecked())

    @Slot()
    def _on_changed(self) -> None:
        key = self._serving.access.key
        if key != self.field.text():
            self.field.setText(key)
            self.field.setCursorPosition(0)  # it is longer than the field
            self.copy.setText(self.tr("Copy"))
        self.field.setPlaceholderText("" if key else self.tr("Made when the switch is on"))
        for widget in (self.show_button, self.copy, self.renew):
            widget.setEnabled(bool(key))

    @Slot(bool)
    def _on_show(self, is_shown: bool) -> None:  # noqa: FBT001
        mode = QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password
        self.field.setEchoMode(mode)
        self.show_button.setText(self.tr("Hide") if is_shown else self.tr("Show"))
        self.shown_changed.emit()

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._serving.access.key)
        self.copy.setText(self.tr("Copied"))


class RecipesView(QWidget):
    """Recipes for one program at a time; copies contain the key."""

    def __init__(self, serving: ServingController, key: KeyRow) -> None:
        super().__init__()
        self._serving, self._key = serving, key
        self._recipes = {recipe.id: recipe for recipe in recipes()}
        self.choice = Segments([(each.id, each.name, each.where) for each in recipes()])
        self.choice.chosen.connect(self._show)
        self.where = text_label("", "muted", wraps=True)
        self.text = styled(QPlainTextEdit(readOnly=True, tabChangesFocus=True), kind="code")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(self.tr("Settings for the program"))
        self.copy = CopyButton()
        self.copy.setAccessibleName(self.tr("Copy the settings"))
        top = Qt.AlignmentFlag.AlignTop
        column_of(
            self.choice, row_of((self.where, 1), (self.copy, 0, top), spacing=STEP), self.text,
            on=self, margins=0, spacing=STEP,
        )  # fmt: skip
        self.choice.show_value("openai")
        look.follow(self._fit)
        key.shown_changed.connect(self._show)
        serving.changed.connect(self._show)
        self._show()

    @Slot()
    def _fit(self) -> None:
        self.text.setFont(mono_font(COMPACT))
        line = self.text.fontMetrics().lineSpacing()
        self.text.setFixedHeight(line * _RECIPE_LINES + 2 * px(10))

    @Slot()
    def _show(self) -> None:
        recipe, access = self._recipes[self.choice.value], self._serving.access
        say(self.where, recipe.where)
        self.copy.set_code(recipe.write(access))
        is_hidden = bool(access.key) and not self._key.is_shown
        shown = recipe.write(replace(access, key=_HIDDEN) if is_hidden else access)
        if shown != self.text.toPlainText():
            self.text.setPlainText(shown)


class ProgramsPage(SettingsPage):
    """Page of all settings about other programs."""

    def __init__(self, store: SettingsStore, serving: ServingController) -> None:
        super().__init__(QCoreApplication.translate("ProgramsPage", "Other programs"), store)
        self._serving = serving

    def _fill(self) -> None:
        serving = self._serving
        server = self.section(self.tr("Server"))
        self.add_switch(
            server,
            "serves",
            self.tr("Serve other programs"),
            self.tr(
                "Editors, agents and scripts on this computer can use the loaded models, in the "
                "forms of OpenAI's, Anthropic's and llama.cpp's APIs. Your own messages go first."
            ),
            "http api endpoint openai anthropic",
        )
        self.state = StateRow(serving)
        server.body.addWidget(self.state)
        port = NumberField(MIN_PORT, MAX_PORT, self._store.setting("serving_port"))
        self.add_row(
            server,
            self.tr("Port"),
            self.tr(
                "Only programs on this computer reach it, and HTTP is not encrypted: from another "
                "computer, go by ssh, or put a proxy with TLS before it."
            ),
            port,
            "localhost 127.0.0.1",
        )

        if serving.can_load:
            self.add_switch(
                server,
                "serving_loads",
                self.tr("Load the model that is asked for"),
                self.tr(
                    "Programs see all models of this computer, and the one that they name takes "
                    "the place of the loaded one, in your chats, too. Off: the loaded one answers "
                    "under any name."
                ),
            )

        key = self.section(self.tr("Who may ask"))
        self.add_switch(
            key,
            "serving_needs_key",
            self.tr("Programs need a key"),
            self.tr("Off: every program on this computer may ask, of all its users."),
            "password token",
        )
        self.key = KeyRow(serving)
        key.body.addWidget(self.key)
        self.add_switch(
            key,
            "serving_remembers",
            self.tr("Draft for them from your chats, too"),
            self.tr(
                "Words of your chats then speed up their replies. No text changes by that, but its "
                "speed can tell what your chats say. Nothing is learned from their own texts."
            ),
            self.tr("lookups privacy"),
        )

        changes = self.section(self.tr("Lines that change"))
        self.ignored = ExpressionList(self._store.setting("serving_ignored"))
        self.add_row(
            changes,
            self.tr("Ignore changes of lines"),
            self.tr(
                "Some programs put a number into their system prompt that is another one each "
                "time, and all that comes after it is read again. A line that an expression finds "
                "is replaced by the first such line of that program; the request's run says so."
            ),
            self.ignored,
            self.tr("prompt cache read again regular expression"),
        )

        self.recipes = RecipesView(serving, self.key)
        ready = self.section(self.tr("Ready-made settings"))
        names = " ".join(recipe.name for recipe in recipes())
        self.add(ready, self.recipes, names)
