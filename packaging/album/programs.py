"""Other programs: the page with the switch, the light, and the list of their requests."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from album.studio import Studio
from paceline.gui.serving.page import ProgramsPage
from paceline.settings import Settings

_LATE_MS, _LONG = 300, 1_500
_RULES = " ".join(f"Rule {number} of the project is to be kept." for number in range(20))


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
    program.settings.update(
        serving_port=port, serves=True, serving_ignored=(r"^x-billing-header: .*;$",)
    )
    studio.until(lambda: program.serving.status == "on")
    studio.wait(_LATE_MS)
    assert page.dialog is not None
    studio.shoot("programs-page", page.dialog)
    area = page.dialog.stack.currentWidget()
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())  # type: ignore[attr-defined]
    studio.shoot("programs-page-end", page.dialog)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum() * 6 // 10)  # type: ignore[attr-defined]
    studio.shoot("programs-page-middle", page.dialog)
    page.dialog.accept()
    program.settings.set("serving_ignored", ())
    program.requests.open()
    studio.wait(_LATE_MS)
    studio.shoot("programs-list-empty", program.requests.dialog)
    _ask(studio, port, "Zed/0.214.0", "What is a list?", 40)
    _ask(studio, port, "OpenAI/Python 2.8.1", "Show me an example of a class.", 160)
    _ask(studio, port, "curl/8.5.0", "What is a tuple?", 24)
    for number in ("1a2b", "9f8e"):
        system = f"x-billing-header: cc_version=2.0.55; cch={number};\n{_RULES}"
        _ask(studio, port, "claude-cli/2.0.55", "How do I read a file?", 120, system=system)
    assert program.requests.dialog is not None
    program.requests.dialog.table.selectRow(0)
    studio.shoot("programs-list", program.requests.dialog)
    program.requests.dialog.accept()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_post, program.settings.settings, port, "Zed/0.214.0", "Hello", _LONG)
        studio.until(lambda: program.live.asker == "Zed" and program.live.metrics.n_steps > 40)
        program.chat.send("And what is a dictionary?")
        studio.wait(_LATE_MS)
        studio.shoot("programs-answering")
        program.requests.open()
        studio.shoot("programs-list-answering", program.requests.dialog)
        program.session.stop()
        studio.until(asked.done)
    studio.until_idle()
    program.requests.close()
    program.settings.set("serves", False)
    studio.until(lambda: program.serving.status == "off")


def _ask(
    studio: Studio, port: int, agent: str, text: str, n_tokens: int, *, system: str = ""
) -> None:
    """Be another program, while the window lives on."""
    settings, before = studio.program.settings.settings, studio.program.programs.n_answered
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_post, settings, port, agent, text, n_tokens, system=system)
        studio.until(asked.done)
        asked.result()
    studio.until(lambda: studio.program.programs.n_answered > before)


def _post(
    settings: Settings, port: int, agent: str, text: str, n_tokens: int, *, system: str = ""
) -> None:
    headers = {"authorization": f"Bearer {settings.serving_key}", "user-agent": agent}
    said = {"system": system, "user": text}
    body: dict[str, Any] = {
        "messages": [{"role": role, "content": said[role]} for role in said if said[role]],
        "max_tokens": n_tokens,
        "seed": 2,
    }
    if n_tokens == _LONG:
        body["ignore_eos"] = True
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    httpx2.post(url, json=body, headers=headers, timeout=60).raise_for_status()
