"""Saves pictures of every state of the picker: ``python tests/gui/picker_pictures.py FOLDER``.

The real dialog over made models and a Hub on loopback, in both themes; for looking at, not a test.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.gui.look.current import look

sys.path.insert(0, str(Path(__file__).parents[1]))

from PySide6.QtWidgets import QApplication, QMainWindow

from catalog.headers import gguf_bytes, sidecar_model
from gui.picker_world import (
    BIG,
    GIB,
    HUGE,
    Q4_K,
    Q8_0,
    SMALL,
    World,
    demo_repositories,
    make_library,
    make_repository,
)
from hub_server import Fault, HubServer
from paceline.gui.look.theme import apply_theme, install_fonts
from paceline.paths import resources

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.settings import ThemeMode

LIMIT_S = 20.0
QWEN = "Qwen/Qwen2.5-7B-Instruct-GGUF"
GEMMA = "unsloth/gemma-4-12B-it-qat-GGUF"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct-GGUF"


def make_hub(folder: Path) -> None:
    """Make the repositories that are searched for."""
    qwen = {"total": 7_615_616_512, "architecture": "qwen2", "context_length": 32768}
    llama = {"total": 8_030_261_248, "architecture": "llama", "context_length": 131072}
    make_repository(
        folder,
        QWEN,
        {
            "qwen2.5-7b-instruct-q4_k_m.gguf": (BIG, Q4_K),
            "qwen2.5-7b-instruct-q8_0.gguf": (BIG, Q8_0),
        },
        {"downloads": 184_000, "likes": 512, "license": "apache-2.0", "gguf": qwen},
    )
    make_repository(
        folder,
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        {"qwen2.5-0.5b-instruct-q8_0.gguf": (SMALL, Q8_0)},
        {
            "downloads": 96_000,
            "likes": 201,
            "license": "apache-2.0",
            "gguf": {**qwen, "total": 494_032_768},
        },
    )
    make_repository(
        folder,
        LLAMA,
        {"Llama-3.1-8B-Instruct-Q4_K_M.gguf": (BIG, Q4_K)},
        {
            "downloads": 1_240_000,
            "likes": 3100,
            "license": "llama3.1",
            "gated": "manual",
            "gguf": llama,
        },
    )
    make_repository(
        folder,
        "Qwen/Qwen2.5-72B-Instruct-GGUF",
        {"qwen2.5-72b-instruct-q4_k_m.gguf": (HUGE, Q4_K)},
        {
            "downloads": 21_000,
            "likes": 98,
            "license": "other",
            "gguf": {**qwen, "total": 72_706_203_648},
        },
    )
    make_repository(
        folder,
        GEMMA,
        {
            "gemma-4-12B-it-qat-Q4_0.gguf": (BIG, Q4_K),
            "gemma-4-12B-it-qat-Q8_0.gguf": (BIG, Q8_0),
            "mmproj-F16.gguf": (SMALL, Q8_0),
            "mtp-gemma-4-12B-it.gguf": (SMALL, Q4_K),
            "MTP/gemma-4-12B-it-Q8_0-MTP.gguf": (SMALL, Q8_0),
        },
        {"downloads": 640_000, "likes": 770, "license": "apache-2.0", "gguf": qwen},
    )
    demo_repositories(folder)


class Camera:
    """One dialog, photographed state by state."""

    def __init__(self, out: Path, mode: ThemeMode, world: World) -> None:
        self._out, self._mode, self.world = out, mode, world
        self.picker = world.picker

    def until(self, condition: Callable[[], bool]) -> None:
        """Process events until a condition holds, or until the time limit."""
        end = time.monotonic() + LIMIT_S
        while not condition() and time.monotonic() < end:
            QApplication.processEvents()
            time.sleep(0.005)
        if not condition():
            sys.stderr.write("a state did not come; its picture shows what came instead\n")

    def settle(self) -> None:
        """Let layouts come to rest."""
        end = time.monotonic() + 0.15
        while time.monotonic() < end:
            QApplication.processEvents()

    def shoot(self, name: str, size: tuple[int, int] = (1040, 720)) -> None:
        """Save a picture of the dialog."""
        dialog = self.picker.dialog
        assert dialog is not None
        dialog.resize(*size)
        self.settle()
        dialog.grab().save(str(self._out / f"{name}-{self._mode}.png"))

    def pick(self, page: str, text: str) -> None:
        """Pick the row whose title contains a text."""
        rows = getattr(self.picker.dialog, page).rows
        self.until(lambda: bool(rows.offers.rows))
        for at, offer in enumerate(rows.offers.rows):
            if text.casefold() in str(rows.offers.index(at, 0).data()).casefold():
                rows.show_row(at)
                rows.picked.emit(offer)
                return
        sys.stderr.write(f"no row “{text}”\n")

    def judged(self) -> None:
        """Wait for verdict and plan."""
        judgement = self.picker.judgement
        self.until(
            lambda: (
                judgement.judgement.status == "failed"
                or judgement.judgement.plan is not None
                or bool(judgement.judgement.plan_problem)
            )
        )


def installed(camera: Camera) -> None:
    """Everything that needs no network."""
    picker = camera.picker
    picker.open(1)
    camera.until(lambda: len(camera.world.library.offers) > 5 and not camera.world.library.is_busy)
    camera.shoot("01-installed", (1366, 768))
    camera.pick("installed", "7B")
    camera.judged()
    camera.shoot("02-target-picked")
    picker.open(2)
    camera.shoot("03-draft-step")
    camera.pick("installed", "0.5B")
    camera.judged()
    camera.shoot("04-pair")
    camera.shoot("05-pair-small", (760, 560))
    camera.pick("installed", "Llama-3.2")
    camera.judged()
    camera.shoot("06-refused")
    dialog = picker.dialog
    assert dialog is not None
    dialog.installed.without.click()
    camera.judged()
    camera.shoot("07-no-draft")
    picker.open(1)
    camera.pick("installed", "72B")
    camera.judged()
    camera.shoot("08-does-not-fit")
    dialog.installed.search.setText("nothing of this name")
    camera.shoot("09-no-match")
    dialog.installed.search.clear()
    dialog.show_page(dialog.recommended)
    camera.shoot("10-recommended")
    camera.shoot("10-recommended-small", (760, 560))
    camera.pick("recommended", "Qwen2.5 7B")
    camera.shoot("10-recommended-open")
    camera.pick("recommended", "Llama 3.1 8B")
    camera.judged()
    camera.shoot("10-recommended-pair")
    picker.open(1)
    dialog.show_page(dialog.installed)
    camera.pick("installed", "Qwen2.5-7B")
    picker.open(2)
    dialog.show_page(dialog.recommended)
    camera.shoot("11-recommended-drafts")


def searching(camera: Camera, server: HubServer) -> None:
    """The tab of the Hub."""
    picker = camera.picker
    picker.open(1)
    dialog = picker.dialog
    assert dialog is not None
    server.add(Fault("*/api/models", latency_s=1.0, times=1))
    dialog.show_page(dialog.hub)
    camera.shoot("20-searching")
    camera.until(lambda: bool(camera.world.hub.models))
    camera.shoot("21-results")
    camera.shoot("21-results-small", (760, 560))
    camera.pick("hub", QWEN)
    camera.until(lambda: dialog.hub.stack.currentWidget() is dialog.hub.card)
    camera.shoot("22-repository")
    files = dialog.hub.card.files
    files.picked.emit(files.offers.rows[0])
    picker.open(2)
    dialog.hub.card.back_button.click()
    dialog.hub.drafts.setChecked(False)
    camera.until(lambda: bool(camera.world.hub.models))
    camera.pick("hub", "0.5B")
    camera.until(lambda: dialog.hub.stack.currentWidget() is dialog.hub.card)
    files.picked.emit(files.offers.rows[0])
    camera.judged()
    camera.shoot("23-remote-pair")
    server.add(Fault("*.gguf", bytes_per_s=40_000_000))
    dialog.main.clicked.emit()
    camera.until(lambda: any(each.n_done > 2e7 for each in camera.world.states.downloads))
    camera.shoot("24-downloading")
    picker.open(1)
    dialog.hub.card.back_button.click()
    camera.pick("hub", LLAMA)
    camera.until(lambda: dialog.hub.stack.currentWidget() is dialog.hub.card)
    camera.shoot("25-gated")
    camera.shoot("25-gated-small", (760, 560))
    dialog.hub.card.back_button.click()
    dialog.hub.open_repository(GEMMA)
    camera.until(lambda: dialog.hub.card.name.text() == GEMMA)
    camera.shoot("25-sidecars", (1366, 768))
    dialog.hub.card.back_button.click()
    dialog.hub.search.setText("zzzz")
    camera.until(lambda: not (camera.world.hub.models or camera.world.hub.is_searching))
    camera.shoot("26-nothing-found")
    server.add(Fault("*/api/models", status=500))
    dialog.hub.search_now()
    camera.until(lambda: camera.world.hub.error is not None)
    camera.shoot("27-failed")
    server.clear()
    camera.world.hub.set_offline(True)
    dialog.hub.search_now()
    camera.until(lambda: camera.world.hub.error is not None)
    camera.shoot("28-offline")


def main(out: Path) -> None:
    """Save all pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    out.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    install_fonts(resources() / "fonts")
    for mode in ("light", "dark"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make_library(folder / "models")
            make_hub(folder / "hub")
            head = folder / "models" / "mtp-gemma-4-12B-it.gguf"
            head.write_bytes(gguf_bytes(sidecar_model("assistant")))
            with HubServer(folder / "hub") as server:
                world = World(
                    folder / "home",
                    endpoint=server.endpoint,
                    own_folders=(folder / "models",),
                    memory=24 * GIB,
                    mode=mode,
                    window=QMainWindow(),
                )
                apply_theme(app, look.theme)
                camera = Camera(out, mode, world)
                installed(camera)
                assert world.picker.dialog is not None
                world.picker.dialog.reject()
                camera.settle()
                searching(camera, server)
                world.close()
        app.processEvents()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
