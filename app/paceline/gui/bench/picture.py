"""A benchmark as a picture: the pair, a sentence, and bars for all prompts and for each of them.

The window saves it, and ``paceline bench --png`` writes it, where there may be neither a display
nor a Qt application yet. The colours are always those of the light theme.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QImage, QPainter

from paceline.errors import UserError
from paceline.files import write_whole
from paceline.gui.bench.chart import axis_end, paint_panel, panel_height
from paceline.gui.bench.rows import panels_of, verdict
from paceline.gui.bench.words import remark_text
from paceline.gui.look.colours import LIGHT
from paceline.gui.look.scale import BASE_PX, COMPACT, SMALL, px
from paceline.gui.look.theme import install_fonts, ui_font
from paceline.gui.plot.plot_picture import SCALE, png_of
from paceline.paths import resources

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.bench.runs import Report
    from paceline.gui.bench.rows import BenchPanel

_WIDTH, _MARGIN, _GAP = 1120, 28, 24
_HIGHEST = 6000
"""What does not fit into this height is left out; the report has it."""
_WRAPS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
_EXIT_DONE = 0


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchPicture", text)


def draw_chart(report: Report, path: Path) -> int:
    """Write the picture of a report as a PNG file; returns the exit code of the command line.

    Main thread. Where there is no Qt application, one without a display is made.

    Raises:
        UserError: The file cannot be written.
    """
    app = QGuiApplication.instance()
    if app is None:
        app = QGuiApplication(["paceline", "-platform", "offscreen"])
        install_fonts(resources() / "fonts")
    try:
        write_whole(path, png_of(picture_of(report)))
    except OSError as error:
        raise UserError(
            "not-saved",
            f"{path} cannot be written ({error.strerror or error}).",
            "Choose another folder.",
        ) from error
    return _EXIT_DONE


def picture_of(report: Report) -> QImage:
    """Draw the picture; needs a Qt application. Any thread."""
    panels = panels_of(report)
    found = verdict(panels[0].rows)
    texts = [
        (found.sentence, ui_font(BASE_PX + 4, QFont.Weight.DemiBold), LIGHT.text),
        (found.details, ui_font(SMALL), LIGHT.muted),
        (remark_text(report), ui_font(SMALL), LIGHT.muted),
        (
            _tr("Thin lines reach from the first to the third quartile of the repeats."),
            ui_font(SMALL),
            LIGHT.muted,
        ),
    ]
    width = px(_WIDTH) - 2 * px(_MARGIN)
    places = []
    top = float(px(_MARGIN))
    for text, font, colour in texts:
        if text:
            rect = QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 2000), int(_WRAPS), text)
            places.append((text, font, colour, QRectF(px(_MARGIN), top, width, rect.height() + 2)))
            top += rect.height() + px(8)
    cards, bottom = _cards(panels, top + px(8))
    image = QImage(round(px(_WIDTH) * SCALE), round(bottom * SCALE), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(QColor(LIGHT.window))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for text, font, colour, rect in places:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(rect, int(_WRAPS), text)
    longest = axis_end(list(panels))
    for panel, rect in cards:
        _paint_card(painter, rect, panel, longest)
    painter.end()
    return image


def _cards(
    panels: tuple[BenchPanel, ...], top: float
) -> tuple[list[tuple[BenchPanel, QRectF]], float]:
    """Place the panels: all prompts over the whole width, the others in two columns.

    Returns:
        The panels with their places, and where the picture ends.
    """
    margin, gap = px(_MARGIN), px(_GAP) / 2
    whole = px(_WIDTH) - 2 * margin
    half = (whole - gap) / 2
    height = _card_height(panels[0])
    cards = [(panels[0], QRectF(margin, top, whole, height))]
    top += height + gap
    singles = panels[1:] if len(panels) > 2 else ()  # one prompt is all prompts
    for at in range(0, len(singles), 2):
        height = _card_height(singles[at])
        if top + height > px(_HIGHEST):
            break
        for place, panel in enumerate(singles[at : at + 2]):
            cards.append((panel, QRectF(margin + place * (half + gap), top, half, height)))
        top += height + gap
    return cards, top - gap + margin


def _card_height(panel: BenchPanel) -> float:
    return panel_height(len(panel.rows)) + _head_height() + px(28)


def _head_height() -> float:
    return QFontMetricsF(ui_font(COMPACT, QFont.Weight.DemiBold)).height() + px(6)


def _paint_card(painter: QPainter, rect: QRectF, panel: BenchPanel, longest: float) -> None:
    painter.setPen(QColor(LIGHT.line))
    painter.setBrush(QColor(LIGHT.surface))
    painter.drawRoundedRect(rect, 10, 10)
    inner = rect.adjusted(px(16), px(14), -px(16), -px(14))
    painter.setFont(ui_font(COMPACT, QFont.Weight.DemiBold))
    painter.setPen(QColor(LIGHT.text))
    head = _head_height()
    title = panel.title or _tr("All prompts: speed, compared with plain decoding")
    shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(inner.width()))
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), head), int(_WRAPS), shown)
    bars = QRectF(inner.left(), inner.top() + head, inner.width(), inner.height() - head)
    paint_panel(painter, bars, panel, LIGHT, longest)
