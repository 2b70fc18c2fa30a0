"""The user guide: the shipped Markdown file as one page, with its plots in the theme's colours."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QByteArray, QLocale, QRectF, QSize, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QKeySequence,
    QPainter,
    QShortcut,
    QTextDocument,
    QTextOption,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QDialog, QFrame, QTextBrowser, QWidget

from paceline.chat.markdown import make_parser
from paceline.gui.kit.dialogs import closing_row, within_screen
from paceline.gui.kit.layouts import Refits, column_of
from paceline.gui.kit.search_field import SearchField
from paceline.gui.look.current import look
from paceline.gui.look.scale import PAGE, STEP, px
from paceline.gui.look.theme import ui_font

FILE = "guide.md"
_PICTURE = re.compile(r'<picture>.*?<img alt="([^"]*)" src="([^"]+)">\s*</picture>', re.DOTALL)
_HEADING = re.compile(r"<h([123])>(.*?)</h\1>")
_IMAGE = re.compile('<img src="([^"]+)"')
_FAMILIES = re.compile('font-family="[^"]*"')
_TEXT_PX = 14
_PLOT_PX = 640


def anchor_of(heading: str) -> str:
    """Return the name of a heading in links, as on GitHub."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


def file_in(folder: Path) -> Path:
    """Return the guide in the language of the interface, or else in English."""
    translated = (folder / FILE).with_suffix(f".{QLocale().name().split('_')[0]}.md")
    return translated if translated.is_file() else folder / FILE


def page_of(markdown: str) -> str:
    """Return the guide as HTML with named headings and a single file for each picture."""
    text = _PICTURE.sub(r"![\1](\2)", markdown)
    html = str(make_parser().render(text))
    html = html.replace("<th>", '<th align="left">').replace("\n</code></pre>", "</code></pre>")
    # Otherwise it counts as a line.
    html = html.replace("<p><img", '<p style="line-height: 100%"><img')
    return _HEADING.sub(
        lambda found: f'<h{found[1]}><a name="{anchor_of(found[2])}"></a>{found[2]}</h{found[1]}>',
        html,
    )


class GuidePage(Refits, QTextBrowser):
    """View of the page; only the guide's own pictures are read, and links open in the browser."""

    def __init__(self, folder: Path) -> None:
        """Read the guide.

        Args:
            folder: The folder of the file and its plots.

        Raises:
            OSError: The file cannot be read.
        """
        super().__init__()
        self._folder = folder
        self._html = page_of(file_in(folder).read_text(encoding="utf-8"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(self.tr("User guide"))
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        # Everything wraps, yet Qt rounds the widths of a table's columns up: a pixel too wide.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(PAGE)
        self.anchorClicked.connect(self._on_link)
        self._shown_px = 0
        self._again = QTimer(self, singleShot=True, interval=0)
        self._again.timeout.connect(self.show_page)
        look.changed.connect(self.show_page)
        self.show_page()

    @Slot()
    def show_page(self) -> None:
        """Show the page in the present colours and size."""
        theme, place = look.theme, self.verticalScrollBar().value()
        self._shown_px = self._plot_width()
        self.setFont(ui_font(_TEXT_PX))
        self.document().clear()  # also of the previous pictures
        for name in _IMAGE.findall(self._html):
            kind = QTextDocument.ResourceType.ImageResource.value
            self.document().addResource(kind, QUrl(name), self._plot(self._folder / name))
        self.document().setDefaultStyleSheet(
            f"a {{ color: {theme.accent}; text-decoration: none; }}"
            f"h1, h2 {{ font-weight: 600; }} h1 {{ font-size: {px(24)}px; }}"
            f"h2 {{ font-size: {px(18)}px; margin-top: {px(26)}px; }}"
            f"p, li {{ line-height: 135%; }} li {{ margin-bottom: {px(4)}px; }}"
            f"code {{ font-family: 'JetBrains Mono'; background: {theme.bubble}; }}"
            f"pre {{ background: {theme.bubble}; white-space: pre-wrap; }}"
            f"th, td {{ padding: {px(5)}px {px(12)}px {px(5)}px 0; }}"
            f"th {{ color: {theme.muted}; }}"
        )
        self.setHtml(self._html)
        self.verticalScrollBar().setValue(place)

    def _fit(self) -> None:
        """Limit the plots' width to the page's."""
        if self._plot_width() != self._shown_px:
            self._again.start()  # a page must not be replaced while it is laid out

    def _plot_width(self) -> int:
        return max(min(px(_PLOT_PX), self.viewport().width() - 2 * PAGE - 4), 1)

    def _plot(self, file: Path) -> QImage:
        """Draw a plot in the theme's colours."""
        dark = file.with_stem(f"{file.stem}-dark")
        drawing = (dark if look.theme.is_dark else file).read_text(encoding="utf-8")
        family = f'font-family="{ui_font(_TEXT_PX).family()}"'  # Qt reads a list as one name
        renderer = QSvgRenderer(QByteArray(_FAMILIES.sub(family, drawing).encode()))
        size = renderer.defaultSize().scaled(
            self._shown_px, _PLOT_PX, Qt.AspectRatioMode.KeepAspectRatio
        )
        ratio = self.devicePixelRatioF()
        image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter, QRectF(image.rect()))
        painter.end()
        image.setDevicePixelRatio(ratio)
        return image

    def loadResource(self, _kind: int, _name: QUrl | str) -> QByteArray:
        """Load nothing; the plots are added to the document directly."""
        return QByteArray()

    @Slot(QUrl)
    def _on_link(self, url: QUrl) -> None:
        if url.isRelative():
            self.scrollToAnchor(url.fragment())
        elif url.scheme() == "https":
            QDesktopServices.openUrl(url)


class GuideDialog(QDialog):
    """The page with a search, in a window beside the main one."""

    def __init__(self, folder: Path, parent: QWidget) -> None:
        """Set up the dialog; see `GuidePage` for errors."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("User guide"))
        self.page = GuidePage(folder)
        self.search = SearchField(self.tr("Find in the guide"))
        self.search.wanted.connect(self._on_wanted)
        self.search.confirmed.connect(self._on_next)
        self.search.left_downwards.connect(self.page.setFocus)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        head = column_of(self.search, margins=(PAGE, 2 * STEP, PAGE, STEP))
        column_of(head, (self.page, 1), closing_row(self), on=self, margins=0, spacing=0)
        self.setMinimumSize(420, 320)
        self.resize(within_screen(self, QSize(px(780), px(720))))
        self.search.setFocus()

    @Slot(str)
    def _on_wanted(self, _words: str) -> None:
        cursor = self.page.textCursor()
        cursor.setPosition(cursor.selectionStart())  # a longer word may begin at the same position
        self.page.setTextCursor(cursor)
        self._on_next()

    @Slot()
    def _on_next(self) -> None:
        """Select the next hit, after the last one the first."""
        words = self.search.text().strip()
        if words and not self.page.find(words):
            self.page.moveCursor(self.page.textCursor().MoveOperation.Start)
            self.page.find(words)
