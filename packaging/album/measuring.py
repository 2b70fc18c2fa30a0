"""What measures: the panel while Auto decides, and a small benchmark on the window's own engine."""

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
    panel.why.toggle.setChecked(True)
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
    panel.why.toggle.setChecked(False)
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
