"""Controller of the server: starts and stops it, and has its state.

The server uses the window's engine, but directly, with events on the engine's thread, so that a
reply for a program does not wait for the window to paint.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.catalog.local.library import Library
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.sentences import said
from paceline.gui.serving.recipes import EndpointAccess
from paceline.gui.serving.window_models import WindowModels
from paceline.gui.state.next_reply import kept_for, names_of
from paceline.hosting.client import EngineClient
from paceline.params import ReplySettings
from paceline.server.served import Defaults

if TYPE_CHECKING:
    from paceline.server.endpoint import Endpoint

SERVING = "serving"
"""Topic of notices about the server."""
Status = Literal["off", "starting", "on", "ending"]
HOST = "127.0.0.1"
_KEY_BYTES = 24
_LOOK_MS = 50
CLOSE_S = 5.0
"""Time limit for the server's end when the window closes, in seconds."""
SETTINGS = (
    "serves", "serving_port", "serving_needs_key", "serving_key", "serving_remembers",
    "serving_loads", "serving_ignored", "learns_from_chats", "default_preset",
    "reply_presets", "promptings",
)  # fmt: skip
"""Settings that the server follows."""


class ServingController(QObject):
    """Owner of the server; main thread.

    Attributes:
        status: The server's state.
        can_load: Whether local models are known, so that programs can choose one.
        problem: Why it could not be started, in words, or empty.
    """

    changed = Signal()
    """Its state, or its address, key or model, has changed."""
    failed = Signal()
    """It could not be started; `problem` is the reason."""

    def __init__(
        self,
        context: AppContext,
        engine: EngineClient,
        *,
        library: Library | None,
        reload: Callable[[], None],
        load_installed: Callable[[str], None],
        settings_of_replies: Callable[[], ReplySettings],
        parent: QObject,
    ) -> None:
        """Follow the settings; nothing is started before `start`.

        Args:
            context: The program's parts.
            engine: The engine itself, whose events arrive on its own thread.
            library: The local models, or None if they are unknown.
            reload: Loads the models again where none are loaded; a bound method.
            load_installed: Loads the model of a path.
            settings_of_replies: Returns the defaults for requests.
            parent: Owns this object.
        """
        super().__init__(parent)
        self._context, self._engine = context, engine
        self._settings = context.settings
        self._reload, self._settings_of_replies = reload, settings_of_replies
        self._load_installed = load_installed
        self.can_load = library is not None
        self.models = WindowModels(engine, library, self)
        self.models.model_wanted.connect(self._on_model_wanted)
        self.models.load_wanted.connect(self._on_load_wanted)
        self.status: Status = "off"
        self.problem = ""
        self._endpoint: Endpoint | None = None
        self._started_with: tuple[int, bool] = (0, False)
        self._is_started = False
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._on_look)
        context.settings.changed.connect(self._on_setting)
        context.pair.changed.connect(self._on_pair)
        self.models.show_state(context.pair.state)

    @property
    def access(self) -> EndpointAccess:
        """Access to the server for programs, also while it is off."""
        value, served = self._settings.value, self.models.loaded
        key = value("serving_key") if value("serving_needs_key") else ""
        model, n_ctx = (served.id, served.target.n_ctx) if served else ("default", 4096)
        return EndpointAccess(f"http://{HOST}:{value('serving_port')}", key, model, n_ctx)

    def start(self) -> None:
        """Start the server if the settings say so, and follow them from now on."""
        self._is_started = True
        self._apply()

    @Slot()
    def renew_key(self) -> None:
        """Replace the key; programs with the old one are refused from now on."""
        self._settings.set("serving_key", secrets.token_urlsafe(_KEY_BYTES))

    def close(self) -> None:
        """Stop the server and its running reply; `wait` waits for the end."""
        self._is_started = False
        self._look.stop()
        if self._endpoint is not None:
            self._endpoint.stop(at_once=True)

    def wait(self) -> None:
        """Wait until the server has ended, which must be before the engine."""
        if self._endpoint is not None:
            self._endpoint.wait(CLOSE_S)

    # ------------------------------------------------------------------------------ wanted state

    @Slot(str)
    def _on_setting(self, name: str) -> None:
        if name not in SETTINGS:
            return
        if name in ("serves", "serving_port") and self._settings.value("serves"):
            self.problem = ""
        if self._endpoint is not None and self.status == "on":
            self._make_key()
            self._endpoint.change(self._defaults(), self.access.key)
        self._apply()
        self.changed.emit()

    @Slot(object)
    def _on_pair(self) -> None:
        self.models.show_state(self._context.pair.state)
        if self._endpoint is not None:
            self._endpoint.change(self._defaults(), self.access.key)
        self.changed.emit()

    @Slot()
    def _on_load_wanted(self) -> None:
        """Load models for a waiting program, unless a load has begun meanwhile."""
        if self._is_started and self._context.pair.state.status not in ("loading", "ready"):
            self._reload()

    @Slot(str)
    def _on_model_wanted(self, path: str) -> None:
        """Load another model for a waiting program."""
        if self._is_started:
            self._load_installed(path)

    @property
    def _wanted(self) -> tuple[int, bool]:
        """Settings whose change needs another server: its port, and whether it loads models."""
        return self._settings.value("serving_port"), self._settings.value("serving_loads")

    def _apply(self) -> None:
        """Start or stop the server by the settings."""
        if not self._is_started:
            return
        is_wanted = self._settings.value("serves")
        if self.status == "off" and is_wanted:
            self._set_status("starting")
            # Importing Starlette and uvicorn takes 0.1 s, in which the window would be frozen.
            self._context.background.start(_import_server, self._on_imported, self._on_failed)
        elif self.status == "on":
            assert self._endpoint is not None
            if not is_wanted or self._wanted != self._started_with:
                self._endpoint.stop()
                self._look.start()
                self._set_status("ending")

    def _on_imported(self, _nothing: None) -> None:
        from paceline.server.endpoint import Endpoint
        from paceline.server.listener import Listener
        from paceline.server.on_request import OnRequest

        if not (self._is_started and self._settings.value("serves")):
            self._set_status("off")
            return
        self._make_key()
        self._started_with = port, loads = self._wanted
        try:
            listener = Listener(HOST, port)
        except UserError as error:
            self._on_failed(error)
            return
        self._endpoint = Endpoint(
            self._engine,
            listener,
            lambda desk: OnRequest(desk, self.models) if loads and self.can_load else self.models,
            self._defaults(),
            key=self.access.key,
            journal=self._context.programs.journal,
        )
        self._endpoint.start()
        self._set_status("on")

    def _on_failed(self, error: UserError) -> None:
        self.problem = said(error.message, error.hint)
        self._set_status("off")
        self._settings.set("serves", False)  # noqa: FBT003
        self.failed.emit()

    @Slot()
    def _on_look(self) -> None:
        """Check whether the server has ended."""
        if self._endpoint is None or self._endpoint.wait(0):
            self._look.stop()
            self._endpoint = None
            self._set_status("off")
            self._apply()  # it may be wanted again, or at another port

    def _set_status(self, status: Status) -> None:
        self.status = status
        self.changed.emit()

    def _make_key(self) -> None:
        value = self._settings.value
        if value("serving_needs_key") and not value("serving_key"):
            self.renew_key()

    def _defaults(self) -> Defaults:
        """Return the defaults for a program's request."""
        value = self._settings.value
        return Defaults(
            self._settings_of_replies(),
            prompting=kept_for(value("promptings"), names_of(self._context.pair.state)),
            remember=value("serving_remembers") and value("learns_from_chats"),
            ignored=value("serving_ignored"),
        )


def _import_server() -> None:
    """Import the server's modules."""
    import paceline.server.endpoint
    import paceline.server.listener  # noqa: F401
