"""The window: its bars, panes, menus and keys. It decides nothing.

The top bar has name, menus, the pair with its state, and switches for theme and panes.

The user's choice of panes and the shown panes are two things: a narrow window hides the list of
chats first, then the panel, and both return when there is space. A pane that is requested in a
narrow window is shown nevertheless, in place of the other one if both do not fit, or of the chat if
large text leaves no space for that. Widths are stored for scale 1, so that larger text has wider
panes.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QMainWindow,
    QMenuBar,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QWidget,
)

from paceline.gui.beginning import DEFAULT_SIZE
from paceline.gui.chat.view import ChatPane
from paceline.gui.conversations.model import ConversationList
from paceline.gui.conversations.sidebar import Sidebar
from paceline.gui.kit.dialogs import within_screen
from paceline.gui.kit.drop_zones import DropZones
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import Refits, row_of, styled
from paceline.gui.look.colours import Theme
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX, font_px, px
from paceline.gui.look.style import SPLITTER
from paceline.gui.models.model_bar import ModelBar
from paceline.gui.panel import SpeculationPanel
from paceline.gui.state.actions import Actions
from paceline.gui.state.live import LiveFigures
from paceline.gui.state.pair import PairModel
from paceline.gui.state.speculation import SpeculationModel
from paceline.settings import WindowSettings

SIDEBAR_FITS_FROM = 1080
PANEL_FITS_FROM = 820


class Panes(QObject):
    """Owner of the splitter around sidebar, chat and panel."""

    visibility_changed = Signal()

    def __init__(
        self, sidebar: QWidget, chat: QWidget, panel: QWidget, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setObjectName(SPLITTER)
        for at, pane in enumerate((sidebar, chat, panel)):
            self.splitter.addWidget(pane)
            self.splitter.setStretchFactor(at, 1 if pane is chat else 0)
        self._chat = chat
        self._panes = {"sidebar": sidebar, "panel": panel}
        self._fits_from = {"sidebar": SIDEBAR_FITS_FROM, "panel": PANEL_FITS_FROM}
        self._wanted = {"sidebar": True, "panel": True}
        self._widths = {"sidebar": 248, "panel": 356}
        self._panel_px = panel.minimumWidth()
        self._room = 0
        self._fit_panel()
        self.splitter.splitterMoved.connect(self._on_splitter_moved)

    def is_shown(self, name: str) -> bool:
        """Return whether a pane, "sidebar" or "panel", is shown now."""
        return not self._panes[name].isHidden()

    def is_wanted(self, name: str) -> bool:
        """Return whether a pane is shown where it fits."""
        return self._wanted[name]

    def width_of(self, name: str) -> int:
        """Return the user's width of a pane at scale 1, also while the pane does not fit."""
        return self._widths[name]

    def restore(self, wanted: dict[str, bool], widths: dict[str, int]) -> None:
        """Restore the stored state."""
        self._wanted.update(wanted)
        self._widths.update(widths)
        for name in self._panes:
            self._show(name, is_shown=self._wanted[name] and self._fits(name, self._room))

    def toggle(self, name: str) -> None:
        """Show or hide a pane for the user."""
        is_shown = not self.is_shown(name)
        self._wanted[name] = is_shown
        self._show(name, is_shown=is_shown)
        if is_shown and self._needed_px() > self._room:
            self._show("panel" if name == "sidebar" else "sidebar", is_shown=False)
        self.visibility_changed.emit()

    def fit_text(self) -> None:
        """Adapt to another size of text."""
        self._fit_panel()
        for name in self._panes:
            self._show(name, is_shown=self._wanted[name] and self._fits(name, self._room))
        self._share_out()
        self.visibility_changed.emit()

    def fit(self, room: int) -> None:
        """Adapt to a new width of the window; panes appear and disappear only at thresholds."""
        before, self._room = self._room, room
        for name in self._panes:
            fits = self._fits(name, room)
            if fits != self._fits(name, before) or before == 0:
                self._show(name, is_shown=self._wanted[name] and fits)
        self._share_out()  # panes that had to be narrow meanwhile can be wide again
        self.visibility_changed.emit()

    def _fit_panel(self) -> None:
        """Widen the panel for larger text; smaller text leaves the frames as wide as they are."""
        self._panes["panel"].setMinimumWidth(max(self._panel_px, px(self._panel_px)))

    @Slot(int, int)
    def _on_splitter_moved(self, _at: int, handle: int) -> None:
        name = "sidebar" if handle == 1 else "panel"
        self._widths[name] = round(self._panes[name].width() * BASE_PX / font_px())

    def _fits(self, name: str, room: int) -> bool:
        return room >= px(self._fits_from[name])

    def _show(self, name: str, *, is_shown: bool) -> None:
        pane = self._panes[name]
        if is_shown == self.is_shown(name) and self._room:
            return
        pane.setVisible(is_shown)
        self._share_out()

    def _needed_px(self) -> int:
        """Return the minimum width of the chat and the panes beside it."""
        shown = (pane for name, pane in self._panes.items() if self.is_shown(name))
        return self._chat.minimumWidth() + sum(pane.minimumWidth() + 1 for pane in shown)

    def _share_out(self) -> None:
        self._chat.setVisible(not self._room or self._needed_px() <= self._room)
        left = px(self._widths["sidebar"]) if self.is_shown("sidebar") else 0
        right = px(self._widths["panel"]) if self.is_shown("panel") else 0
        room = max(self.splitter.width(), self._room)
        self.splitter.setSizes([left, max(room - left - right, 1), right])


ALL_MENUS_FROM = 860
_NAME_FROM = 720
_MORE_PX, _QT_MORE_PX = 24, 12
"""Width of the button that opens hidden menus, and the width that the menu bar assumes for it."""
_PLACED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show)
_HEIGHT, _TEXT_HEIGHT = 48, 34
"""Minimum height, and the height that a model's name needs at scale 1."""


class TopBar(Refits, QWidget):
    """Layout of the top bar with the window's widgets; the pair is in the middle."""

    def __init__(self, title: str, menus: QMenuBar, model_bar: ModelBar) -> None:
        super().__init__()
        self.setProperty("kind", "topbar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(_HEIGHT)
        self._name = text_label(title, "title")
        self._left_out: list[QToolButton] = []
        self._menus = menus
        self._more = menus.findChild(QToolButton, "qt_menubar_ext_button")
        if self._more is not None:
            self._more.setIcon(look.icon("more"))  # Qt's own is black in every theme
            self._more.setAccessibleName(self.tr("More menus"))
            self._more.installEventFilter(self)
        menus.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._left, self._right = QWidget(), QWidget()
        row_of(self._name, (menus, 1), on=self._left, margins=0, spacing=8)
        self._tools = row_of(None, on=self._right, margins=0, spacing=4)
        self._beside = row_of(margins=0, spacing=0)
        middle = row_of(model_bar, self._beside, margins=0, spacing=4)
        parts = (self._left, 1), middle, (self._right, 1)
        row_of(*parts, on=self, margins=(14, 0, 10, 0), spacing=12)

    def changeEvent(self, event: QEvent) -> None:
        """Adapt the height to larger text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.setFixedHeight(max(_HEIGHT, px(_TEXT_HEIGHT)))

    def event(self, event: QEvent) -> bool:
        """Fit menus of another width, as with another size of text."""
        is_done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return is_done

    def _fit(self) -> None:
        """Shorten the names of the models first, as long as all menus fit."""
        has_room = self.width() >= px(ALL_MENUS_FROM)
        self._name.setVisible(self.width() >= px(_NAME_FROM))
        for button in self._left_out:
            button.setVisible(has_room)
        self._menus.setMinimumWidth(self._menus.sizeHint().width() if has_room else 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the button of hidden menus large enough, wherever the menu bar puts it."""
        if watched is self._more and event.type() in _PLACED:
            self._place_more()
        return super().eventFilter(watched, event)

    def _place_more(self) -> None:
        """Put the button in place of the first menu where no menu fits."""
        button, menus = self._more, self._menus
        if button is None:
            return
        first = menus.actionGeometry(menus.actions()[0])
        width = px(_MORE_PX)
        is_shown = not first.isEmpty() and first.right() <= menus.width() - _QT_MORE_PX
        left = menus.width() - width if is_shown else 0
        button.setGeometry(left, 0, width, menus.height())

    def add_tool(self, action: QAction, *, gives_way: bool = False) -> QToolButton:
        """Add a button for an action at the right; `gives_way` hides it in narrow windows."""
        button = styled(QToolButton(), kind="quiet")
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.toolTip())
        self._tools.addWidget(button)
        if gives_way:
            self._left_out.append(button)
        return button

    def add_beside_models(self, widget: QWidget) -> None:
        """Put a widget beside the pair."""
        self._beside.addWidget(widget)

    def add_widget(self, widget: QWidget) -> None:
        """Put a widget before the buttons at the right."""
        self._tools.insertWidget(1, widget)  # after the stretch


class MainWindow(QMainWindow):
    """Three panes and a bar above."""

    closing = Signal()
    """The window is about to close; its state can still be read."""

    def __init__(
        self,
        *,
        conversations: ConversationList,
        speculation: SpeculationModel,
        figures: LiveFigures,
        pair: PairModel,
    ) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Paceline")
        self.setMinimumSize(640, 420)
        self.resize(*DEFAULT_SIZE)
        self._text_px = font_px()
        self.actions_ = Actions(self)
        self.sidebar = Sidebar(conversations)
        self.chat_pane = ChatPane(figures.sources)
        self.panel = SpeculationPanel(speculation, figures)
        self.panes = Panes(self.sidebar, self.chat_pane, self.panel, self)
        self.menus = QMenuBar()
        self.models_menu = self.actions_.fill(self.menus)
        self.model_bar = ModelBar(pair)
        self.top_bar = TopBar("Paceline", self.menus, self.model_bar)
        names = ("command", "moon", "settings", "panel-left", "panel-right")
        for action, name in zip(self._tools(), names, strict=True):
            action.setIcon(look.icon(name))
            action.setIconVisibleInMenu(False)
            gives_way = action in (self.actions_.palette, self.actions_.flip_theme)
            self.top_bar.add_tool(action, gives_way=gives_way)
        self.setMenuWidget(self.top_bar)
        self.setCentralWidget(self.panes.splitter)
        self.drop_zones = DropZones(self)
        self._connect_own()
        look.changed.connect(self._on_look)
        self._on_look(look.theme)

    def fit_screen(self) -> None:
        """Limit the size to the screen's."""
        size = within_screen(self, self.size())
        if size != self.size():
            self.resize(size)
            self.move(self.screen().availableGeometry().topLeft())

    def restore(self, settings: WindowSettings) -> None:
        """Restore the stored state of the window."""
        if settings.geometry:
            self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode()))
        self.panes.restore(
            {"sidebar": settings.sidebar_visible, "panel": settings.panel_visible},
            {"sidebar": settings.sidebar_width, "panel": settings.panel_width},
        )
        self.panel.show_tab(settings.panel_tab)
        self.panel.open_only(settings.open_sections)

    def state(self) -> WindowSettings:
        """Return the argument of `restore`."""
        return WindowSettings(
            geometry=self.saveGeometry().toBase64().toStdString(),
            sidebar_visible=self.panes.is_wanted("sidebar"),
            panel_visible=self.panes.is_wanted("panel"),
            sidebar_width=self.panes.width_of("sidebar"),
            panel_width=self.panes.width_of("panel"),
            panel_tab=self.panel.tab,
            open_sections=self.panel.open_sections,
        )

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001 - Qt's name
        """Move the focus to the messages in the conversation's place, whenever they were made.

        Qt follows the order of creation: messages would come after everything, and Tab from there
        would skip the rest of the window.
        """
        with self.chat_pane.chat.skipped_by_tab():
            has_moved = super().focusNextPrevChild(next)
        scroll_to(self.focusWidget())
        return has_moved

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit `closing` before the window closes, so that everything can be shut down."""
        self.closing.emit()
        super().closeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide panes when the window becomes narrow."""
        super().resizeEvent(event)
        self.panes.fit(self.width())

    def _tools(self) -> tuple[QAction, ...]:
        """Return the actions with a button at the right of the top bar, from the left."""
        actions = self.actions_
        return (
            actions.palette, actions.flip_theme, actions.settings, actions.sidebar, actions.panel
        )  # fmt: skip

    def _connect_own(self) -> None:
        actions = self.actions_
        actions.quit.triggered.connect(self.close)
        actions.search.triggered.connect(self._on_search)
        actions.write.triggered.connect(self._on_write)
        actions.rename.triggered.connect(self._on_rename)
        actions.pin.triggered.connect(self.sidebar.pin_shown)
        actions.tag.triggered.connect(self.sidebar.tag_shown)
        actions.archive.triggered.connect(self.sidebar.archive_shown)
        actions.move.triggered.connect(self._on_move)
        actions.delete.triggered.connect(self._on_delete)
        actions.sidebar.triggered.connect(self._on_toggle_sidebar)
        actions.panel.triggered.connect(self._on_toggle_panel)
        actions.chat_settings.triggered.connect(self._on_chat_settings)
        self.panes.visibility_changed.connect(self._on_panes_changed)
        self.chat_pane.errors.dismissed.connect(self._on_write)

    @Slot(object)
    def _on_look(self, theme: Theme) -> None:
        """Show the target of the theme's switch, and give larger text wider panes."""
        self.actions_.flip_theme.setIcon(look.icon("sun" if theme.is_dark else "moon"))
        if self._text_px != font_px():
            self._text_px = font_px()
            self.panes.fit_text()

    @Slot()
    def _on_search(self) -> None:
        self._show_sidebar()
        self.sidebar.finder.focus_search()

    @Slot()
    def _on_rename(self) -> None:
        if self.sidebar.has_shown:
            self._show_sidebar()
            self.sidebar.rename_shown()

    @Slot()
    def _on_move(self) -> None:
        if self.sidebar.has_shown:
            self._show_sidebar()
            self.sidebar.move_shown()

    @Slot()
    def _on_delete(self) -> None:
        if self.sidebar.has_shown:
            self._show_sidebar()  # its button to show the sidebar again is there
            self.sidebar.delete_shown()

    def _show_sidebar(self) -> None:
        if not self.panes.is_shown("sidebar"):
            self.panes.toggle("sidebar")

    @Slot()
    def _on_write(self) -> None:
        if self.chat_pane.isHidden():
            self.panes.toggle("panel")
        self.chat_pane.composer.setFocus()

    @Slot()
    def _on_toggle_sidebar(self) -> None:
        self.panes.toggle("sidebar")

    @Slot()
    def _on_toggle_panel(self) -> None:
        self.panes.toggle("panel")

    @Slot()
    def _on_chat_settings(self) -> None:
        """Show the shown chat's settings, and focus them."""
        if not self.panes.is_shown("panel"):
            self.panes.toggle("panel")
        self.panel.show_tab("chat")
        self.panel.sampling.sliders["temperature"].field.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_panes_changed(self) -> None:
        self.actions_.sidebar.setChecked(self.panes.is_shown("sidebar"))
        self.actions_.panel.setChecked(self.panes.is_shown("panel"))


def scroll_to(widget: QWidget | None) -> None:
    """Scroll all areas around a widget so that it is visible.

    Qt does this for a step of the focus within a scroll area, but not for one into it.
    """
    above = widget.parentWidget() if widget is not None else None
    while above is not None:
        if isinstance(above, QScrollArea) and widget is not None:
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
