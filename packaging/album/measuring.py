"""Pictures of measurements: Auto in the panel, two replies side by side, a small benchmark."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea

from album.scenes import QUESTION
from album.studio import Studio
from paceline.engine.draft.strategy import read_strategy
from paceline.gui.bench.setup_page import CHAT

REPEATS = 2
LIMIT_S = 120.0


def auto(studio: Studio) -> None:
    """Auto at work: its decisions in the panel, and what it knows after "Why"."""
    program, panel = studio.program, studio.window.panel
    usual = program.speculation.strategy
    program.speculation.use(read_strategy("auto"))
    panel.open_only(("details", "why"))
    program.shown.new()
    panel.sampling.max_tokens.setValue(700)
    program.chat.send(QUESTION)
    studio.until(
        lambda: (
            program.session.active is None
            or (bool(panel.headline.ratio.text()) and bool(panel.why.blocks))
        )
    )
    studio.shoot("auto-live")
    studio.until_idle()
    scroll = panel.tabs.currentWidget()
    assert isinstance(scroll, QScrollArea)
    scroll.ensureWidgetVisible(panel.why, 0, panel.height() // 2)
    studio.wait(200)
    studio.shoot("auto-why")
    program.runs.open_last()
    studio.shoot_dialog("run-auto")
    scroll.verticalScrollBar().setValue(0)
    panel.open_only(())
    program.speculation.use(usual)


def benchmark(studio: Studio) -> None:
    """The benchmark: what is to be measured, the run, and what was found."""
    program = studio.program
    studio.window.actions_.benchmark.trigger()
    dialog = program.bench.dialog
    assert dialog is not None
    studio.wait(300)
    studio.shoot("benchmark-setup", dialog)
    setup = dialog.setup
    setup.prompts.source.buttons[CHAT].click()
    setup.prompts.questions.setValue(1)
    setup.repeats.setValue(REPEATS)
    drafting = [name for name in setup.strategies if name.startswith("draft")]
    for name in setup.strategies:
        if name not in ("off", "auto", *drafting[:1]):
            setup.boxes[name].setChecked(False)
    dialog.start.click()
    driver = program.bench.driver
    studio.until(lambda: driver.is_running)
    studio.wait(1500)
    studio.shoot("benchmark-running", dialog)
    studio.until(lambda: not driver.is_running, LIMIT_S)
    studio.wait(300)
    studio.shoot_dialog("benchmark")


def compared(studio: Studio) -> None:
    """Two replies to one question: the choice, one of them half written, what came out."""
    program = studio.program
    program.shown.new()
    studio.window.panel.sampling.max_tokens.setValue(160)
    program.chat.send(QUESTION)
    studio.until_idle()
    studio.window.actions_.answer_twice.trigger()
    dialog = program.comparing.dialog
    assert dialog is not None
    studio.wait(300)
    studio.shoot("compare-choice", dialog)
    dialog.start.click()
    left = dialog.columns.left
    studio.until(lambda: len(left.reply.steps) > 40 or left.reply.has_ended)
    studio.shoot("compare-running", dialog)
    studio.until(lambda: not program.comparing.is_running, LIMIT_S)
    studio.wait(300)
    studio.shoot("compare", dialog)
    size = studio.window.size()
    studio.resize(640, 700)
    studio.shoot("compare-narrow", dialog)
    studio.resize(size.width(), size.height())
    dialog.close()
