"""Other programs: the page with the switch, the light, and the list of their requests."""

from __future__ import annotations

import socket

from album.studio import Studio
from paceline.gui.serving.page import ProgramsPage

_LATE_MS = 300


def served(studio: Studio) -> None:
    """The switch on: its page from top to bottom, and the light."""
    program = studio.program
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    page = program.settings_controller
    page.open_page(ProgramsPage)
    studio.wait(_LATE_MS)
    studio.shoot("programs-off", page.dialog)
    program.settings.update(serving_port=port, serves=True)
    studio.until(lambda: program.serving.status == "on")
    studio.wait(_LATE_MS)
    assert page.dialog is not None
    studio.shoot("programs-page", page.dialog)
    area = page.dialog.stack.currentWidget()
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())  # type: ignore[attr-defined]
    studio.shoot("programs-page-end", page.dialog)
    page.dialog.accept()
    studio.shoot("programs-light")
    program.settings.set("serves", False)
    studio.until(lambda: program.serving.status == "off")
