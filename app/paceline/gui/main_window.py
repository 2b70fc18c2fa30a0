"""The window: where everything stands, its menus and keys. It decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, Signal, Slot
from PySide6.QtWidgets import QMainWindow, QMenuBar

from paceline.gui.actions import Actions
from paceline.gui.focus import scroll_to
from paceline.gui.panes import Panes
from paceline.gui.scale import font_px
from paceline.gui.widgets.chat_pane import ChatPane
from paceline.gui.widgets.drop_zones import DropZones
from paceline.gui.widgets.model_bar import ModelBar
from paceline.gui.widgets.sidebar import Sidebar
from paceline.gui.widgets.speculation_panel import SpeculationPanel
from paceline.gui.widgets.status_line import StatusLine
from paceline.gui.widgets.top_bar import TopBar
from paceline.settings import WindowSettings

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QCloseEvent, QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.conversations import ConversationList
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel

_TITLE_BAR_PX = 32
DEFAULT_SIZE = (1280, 800)


class MainWindow(QMainWindow):
    """Three panes, a bar above and a line below."""

    closing = Signal()
    """The window is about to go; what must be remembered can still be asked for."""

    def __init__(
        self,
        *,
        conversations: ConversationList,
        speculation: SpeculationModel,
        figures: LiveFigures,
        pair: PairModel,
        theme: Theme,
        icons: Icons,
    ) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Paceline")
        self.setMinimumSize(640, 420)
        self.resize(*DEFAULT_SIZE)
        self._icons = icons
        self._text_px = font_px()
        self.actions_ = Actions(self)
        self.sidebar = Sidebar(conversations, theme)
        self.chat_pane = ChatPane(theme)
        self.panel = SpeculationPanel(speculation, figures, theme)
        self.panes = Panes(self.sidebar, self.chat_pane, self.panel, self)
        self.status = StatusLine(theme)
        self.menus = QMenuBar()
        self.models_menu = self.actions_.fill(self.menus)
        self.model_bar = ModelBar(pair, self.models_menu)
        self.top_bar = TopBar("Paceline", self.menus)
        self.top_bar.set_model_bar(self.model_bar)
        for action in self._tools():
            gives_way = action in (self.actions_.palette, self.actions_.flip_theme)
            self.top_bar.add_tool(action, gives_way=gives_way)
        self.setMenuWidget(self.top_bar)
        self.setCentralWidget(self.panes.splitter)
        self.setStatusBar(self.status)
        self.drop_zones = DropZones(self)
        self._connect_own()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours and icons."""
        self._icons.set_theme(theme)
        icon = self._icons.icon
        flip = "sun" if theme.is_dark else "moon"
        names = ("command", flip, "settings", "panel-left", "panel-right")
        for action, name in zip(self._tools(), names, strict=True):
            action.setIcon(icon(name))
            action.setIconVisibleInMenu(False)
        self.top_bar.set_menus_icon(icon("more"))
        self.model_bar.set_arrow(icon("chevron-down"))
        self.panel.picker.set_arrow(icon("chevron-down"))
        self.chat_pane.errors.set_close_icon(icon("close"))
        self.panel.advice.set_close_icon(icon("close"))
        self.sidebar.set_theme(theme, self._icons)
        self.chat_pane.chat.set_icons(self._icons)
        self.chat_pane.composer.set_icons(self._icons)
        self.chat_pane.chat.set_theme(theme)
        self.panel.set_theme(theme)
        self.status.set_theme(theme)
        if self._text_px != font_px():
            self._text_px = font_px()
            self.panes.fit_text()

    def fit_screen(self) -> None:
        """Be no larger than the screen has room for; of a frame is known only that it has a bar."""
        room = self.screen().availableGeometry().adjusted(0, _TITLE_BAR_PX, 0, 0)
        if self.width() <= room.width() and self.height() <= room.height():
            return
        self.resize(self.size().boundedTo(room.size()))
        self.move(room.topLeft() - QPoint(0, _TITLE_BAR_PX))

    def restore(self, settings: WindowSettings) -> None:
        """Bring the window back as it was left."""
        if settings.geometry:
            self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode()))
        self.panes.restore(
            {"sidebar": settings.sidebar_visible, "panel": settings.panel_visible},
            {"sidebar": settings.sidebar_width, "panel": settings.panel_width},
        )
        self.panel.open_only(settings.open_sections)

    def state(self) -> WindowSettings:
        """What `restore` takes."""
        return WindowSettings(
            geometry=self.saveGeometry().toBase64().toStdString(),
            sidebar_visible=self.panes.is_wanted("sidebar"),
            panel_visible=self.panes.is_wanted("panel"),
            sidebar_width=self.panes.width_of("sidebar"),
            panel_width=self.panes.width_of("panel"),
            open_sections=self.panel.open_sections,
        )

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001 - Qt's name
        """Come to the messages where the conversation stands, whenever they were made.

        Qt goes by the order in which widgets were made: messages would be behind everything, and
        whoever comes to them from there would be led past the rest of the window.
        """
        with self.chat_pane.chat.passed_by():
            has_moved = super().focusNextPrevChild(next)
        scroll_to(self.focusWidget())
        return has_moved

    def closeEvent(self, event: QCloseEvent) -> None:
        """Say goodbye before the window goes."""
        self.closing.emit()
        super().closeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let panes give way when the window gets narrow."""
        super().resizeEvent(event)
        self.panes.fit(self.width())

    def _tools(self) -> tuple[QAction, ...]:
        """What has a button at the right of the top bar, from the left."""
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
        actions.delete.triggered.connect(self._on_delete)
        actions.sidebar.triggered.connect(self._on_toggle_sidebar)
        actions.panel.triggered.connect(self._on_toggle_panel)
        self.panes.visibility_changed.connect(self._on_panes_changed)
        self.chat_pane.errors.dismissed.connect(self._on_write)

    @Slot()
    def _on_search(self) -> None:
        self._show_sidebar()
        self.sidebar.focus_search()

    @Slot()
    def _on_rename(self) -> None:
        if self.sidebar.has_shown:
            self._show_sidebar()
            self.sidebar.rename_shown()

    @Slot()
    def _on_delete(self) -> None:
        if self.sidebar.has_shown:
            self._show_sidebar()  # the way back is offered there
            self.sidebar.delete_shown()

    def _show_sidebar(self) -> None:
        if not self.panes.is_shown("sidebar"):
            self.panes.toggle("sidebar")

    @Slot()
    def _on_write(self) -> None:
        self.chat_pane.composer.setFocus()

    @Slot()
    def _on_toggle_sidebar(self) -> None:
        self.panes.toggle("sidebar")

    @Slot()
    def _on_toggle_panel(self) -> None:
        self.panes.toggle("panel")

    @Slot()
    def _on_panes_changed(self) -> None:
        self.actions_.sidebar.setChecked(self.panes.is_shown("sidebar"))
        self.actions_.panel.setChecked(self.panes.is_shown("panel"))
