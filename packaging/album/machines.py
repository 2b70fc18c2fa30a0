"""Other computers: their page of settings, and a pair on several devices in the picker."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from album.studio import Studio
from paceline.catalog.memory.values import MemoryPlan
from paceline.gui.machines.page import MachinesPage
from paceline.settings import KeptServer

_LATE_MS = 300
_N_LAYERS = 4
_COMMAND = (sys.executable, "-m", "paceline", "rpc-server", "--json", "--port", "0")


@contextmanager
def _lent() -> Iterator[str]:
    """Lend this computer's processor while the block runs; yield HOST:PORT."""
    with subprocess.Popen(
        _COMMAND, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["endpoint"]
        finally:
            process.kill()


def machines(studio: Studio) -> None:
    """The page without a server, with several, and while one serves the loaded models."""
    program, controller = studio.program, studio.program.settings_controller
    controller.open_page(MachinesPage)
    page = controller.dialog
    assert page is not None
    studio.shoot("machines-empty", page)
    with _lent() as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refusing = f"127.0.0.1:{taken.getsockname()[1]}"
        program.settings.set(
            "rpc_servers", (KeptServer(server), KeptServer(refusing, is_used=False))
        )
        program.servers.ask()
        studio.until(lambda: len(program.servers.answers) == 2)
        studio.until_ready()
        program.servers.ask()
        studio.until(lambda: not program.servers.is_asked(server))
        studio.wait(_LATE_MS)
        studio.shoot("machines", page)
        page.accept()
        program.settings.set("rpc_servers", ())
        studio.until_ready()


def _n_gpu_layers(plan: MemoryPlan | None) -> int:
    return plan.target.n_gpu_layers if plan is not None else -1


def placed(studio: Studio) -> None:
    """The picker with a pair on two servers' devices: which ones, and what each has."""
    program, catalogue = studio.program, studio.program.catalogue
    assert catalogue is not None
    with _lent() as first, _lent() as second:
        program.settings.set("rpc_servers", (KeptServer(first), KeptServer(second)))
        studio.until_ready()
        studio.window.actions_.choose_models.trigger()
        picker = catalogue.picker
        studio.until(lambda: picker.dialog is not None and picker.dialog.main.isEnabled())
        assert picker.dialog is not None
        form = picker.dialog.pane.form
        area = form.parentWidget().parentWidget().parentWidget()
        area.ensureWidgetVisible(form.context)
        studio.shoot("picker-loaded", picker.dialog)
        form.advanced.toggle.setChecked(True)
        form.target.fields["n_gpu_layers"].setValue(_N_LAYERS)
        form.draft.fields["n_gpu_layers"].setValue(0)
        studio.until(lambda: _n_gpu_layers(picker.judgement.judgement.plan) == _N_LAYERS)
        studio.wait(_LATE_MS)
        area.ensureWidgetVisible(form.target.fields["kv_type_k"])
        studio.shoot("picker-devices", picker.dialog)
        form.target.fields["device"].open_menu()
        studio.wait(_LATE_MS)
        studio.shoot("picker-devices-menu", picker.dialog, form.target.fields["device"].menu)
        form.target.fields["device"].menu.close()
        picker.dialog.close()
        program.settings.set("rpc_servers", ())
        studio.until_ready()


def lost(studio: Studio) -> None:
    """A server that ends in mid-reply, in a narrow window, too."""
    program, size = studio.program, studio.window.size()
    with _lent() as server:
        program.settings.set("rpc_servers", (KeptServer(server),))
        studio.until_ready()
        program.shown.new()
        program.chat.send("Show me an example of a class.")
        studio.until(lambda: program.live.metrics.n_steps > 10)
    studio.until(lambda: program.pair.state.status == "dead")
    studio.wait(_LATE_MS)
    studio.shoot("server-lost")
    studio.resize(640, 700)
    studio.shoot("server-lost")
    studio.resize(size.width(), size.height())
    program.settings.set("rpc_servers", ())
    studio.until_ready()
