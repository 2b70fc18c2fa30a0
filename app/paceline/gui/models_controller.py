"""Between the pair of models and the window: choosing files, loading, failures, devices."""

from __future__ import annotations

import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from paceline.catalog.model_files import PART
from paceline.chat.pair import Pair, PairState
from paceline.engine.model_params import DEFAULT_CTX
from paceline.engine.proposals import smaller_context
from paceline.errors import ModelError, UserError
from paceline.gui.viewmodels.choices import choice_of
from paceline.gui.viewmodels.pair import file_name
from paceline.messages import ModelParams

if TYPE_CHECKING:
    from paceline.chat.pair import PairLoader
    from paceline.gui.actions import Actions
    from paceline.gui.background import Background
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.gui.widgets.drop_zones import DropZones
    from paceline.gui.widgets.load_settings import LoadSettings
    from paceline.messages import LoadFailed

RELOAD, ALONE, SMALLER = "reload", "target-alone", "smaller-context"
"""Names of the actions that a notice can offer."""

MODELS = "models"
"""Topic of notices about files and loads; the next load that is wished for settles it."""

_TOO_LITTLE_MEMORY = {"does-not-fit", "out-of-memory"}
_GGUF_MAGIC = b"GGUF"


class ModelsController(QObject):
    """Decides what is loaded when; a file is looked at before the loaded pair is given up."""

    def __init__(
        self,
        *,
        loader: PairLoader,
        pair: PairModel,
        speculation: SpeculationModel,
        demo: Pair,
        background: Background,
        notifications: Notifications,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._loader = loader
        self._pair = pair
        self._speculation = speculation
        self._demo = demo
        self._background = background
        self._notifications = notifications
        self._window = window
        self._actions: Actions | None = None
        self._set_aside: str | None = None
        self._alone: Pair | None = None
        self._smaller: Pair | None = None
        pair.changed.connect(self._on_pair_changed)
        pair.failed.connect(self._on_load_failed)

    def connect_to(self, actions: Actions, loading: LoadSettings, zones: DropZones) -> None:
        """Listen to menus, to the panel, and to files dropped on the window."""
        self._actions = actions
        actions.open_target.triggered.connect(self._on_open_target)
        actions.open_draft.triggered.connect(self._on_open_draft)
        actions.no_draft.triggered.connect(self._on_no_draft)
        actions.demo_pair.triggered.connect(self.load_demo_pair)
        actions.reload.triggered.connect(self.reload)
        actions.stop_loading.triggered.connect(self._on_stop_loading)
        loading.reload_requested.connect(self._on_reload_with)
        zones.dropped.connect(self._on_dropped)

    @Slot()
    def load_demo_pair(self) -> None:
        """Load the pair that comes with the program."""
        self._load(self._demo)

    @Slot()
    def reload(self) -> None:
        """Load the same models again."""
        self._notifications.settled.emit(MODELS)
        if not self._loader.reload():
            self.load_demo_pair()

    def open_target(self, path: str) -> None:
        """Load another target; the draft model stays if it may fit."""
        pair = self._loader.state.pair
        # The demo pair's draft model fits no target but its own.
        draft = pair.draft if pair and pair.draft != self._demo.draft else None
        # A lookup cache belongs to a vocabulary, and so to the model from before.
        exact = pair is not None and pair.exact
        self._open(Pair(ModelParams(path), draft, exact=exact), path)

    def open_draft(self, path: str) -> None:
        """Load another draft model for the same target."""
        pair = self._loader.state.pair or self._demo
        self._open(replace(pair, draft=ModelParams(path)), path)

    def open_both(self, paths: list[str]) -> None:
        """Load two models: the larger one is the target."""
        small, large = sorted(paths, key=_size)[-2:]
        pair = self._loader.state.pair
        exact = pair is not None and pair.exact
        self._open(Pair(ModelParams(large), ModelParams(small), exact=exact), small, large)

    def _open(self, pair: Pair, *paths: str) -> None:
        self._background.start(_Look(pair, paths), self._on_looked_at, self._on_unusable)

    def _load(self, pair: Pair) -> None:
        self._notifications.settled.emit(MODELS)
        self._loader.load(pair)

    def _on_unusable(self, error: UserError) -> None:
        self._notifications.error(error.message, error.hint, topic=MODELS)

    def _on_looked_at(self, pair: object) -> None:
        if isinstance(pair, Pair):
            self._load(pair)

    # ------------------------------------------------------------------------------------ slots

    @Slot()
    def _on_open_target(self) -> None:
        path = self._ask_for_file(self.tr("Open a target model"))
        if path:
            self.open_target(path)

    @Slot()
    def _on_open_draft(self) -> None:
        path = self._ask_for_file(self.tr("Open a draft model"))
        if path:
            self.open_draft(path)

    @Slot()
    def _on_no_draft(self) -> None:
        pair = self._loader.state.pair
        if pair is not None and pair.draft is not None:
            self._load(replace(pair, draft=None))

    @Slot()
    def _on_stop_loading(self) -> None:
        self._loader.cancel()

    @Slot(object)
    def _on_reload_with(self, pair: Pair) -> None:
        self._load(pair)

    @Slot(list, bool)
    def _on_dropped(self, paths: list[str], is_draft: bool) -> None:  # noqa: FBT001
        paths = first_parts(paths)
        if len(paths) > 1:
            self.open_both(paths)
        elif is_draft:
            self.open_draft(paths[0])
        else:
            self.open_target(paths[0])

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        if self._actions is not None:
            self._actions.stop_loading.setEnabled(state.status == "loading")
            self._actions.no_draft.setEnabled(state.pair is not None and bool(state.pair.draft))
        if state.status in ("loading", "ready"):
            self._notifications.settled.emit(RELOAD)
        if state.status == "ready":
            if state.notes:
                self._notifications.warn(" ".join(state.notes), topic=MODELS)
            self._fit_strategy(has_draft=state.draft is not None)

    def _fit_strategy(self, *, has_draft: bool) -> None:
        """Without a draft model choose a strategy that needs none, and go back to it later."""
        speculation = self._speculation
        current = speculation.current
        if not has_draft and current.needs_draft_model:
            self._set_aside = current.name
            lookups = [info for info in speculation.members if info.family == "lookup"]
            speculation.choose(
                choice_of(lookups).name if lookups else speculation.usual("lookup") or "off"
            )
        elif has_draft and self._set_aside is not None:
            if not current.needs_draft_model:
                speculation.choose(self._set_aside)
            self._set_aside = None

    @Slot(object, bool)
    def _on_load_failed(self, failure: LoadFailed, falls_back: bool) -> None:  # noqa: FBT001
        failed, hint = self._pair.state.pair, failure.hint
        self._smaller = _with_less_context(failure, self._pair.state)
        if falls_back:
            hint = f"{hint} {self.tr('The models from before are loaded again.')}".strip()
        if self._smaller is not None:
            text = self.tr("Load with {} tokens").format(self._smaller.target.n_ctx)
            self._notifications.error(
                failure.message, hint, topic=MODELS, action=SMALLER, text=text
            )
        elif not falls_back:
            text = self.tr("Load again")
            self._notifications.error(failure.message, hint, topic=MODELS, action=RELOAD, text=text)
        elif failure.code == "vocabulary-mismatch" and failed is not None:
            self._alone = replace(failed, draft=None)
            text = self.tr("Load the target alone")
            self._notifications.error(failure.message, hint, topic=MODELS, action=ALONE, text=text)
        else:
            self._notifications.error(failure.message, hint, topic=MODELS)

    @Slot(str)
    def on_action(self, name: str) -> None:
        """Do what a notice of this controller offered."""
        if name == RELOAD:
            self.reload()
        elif name == ALONE and self._alone is not None:
            self._load(self._alone)
        elif name == SMALLER and self._smaller is not None:
            self._load(self._smaller)

    def _ask_for_file(self, title: str) -> str:
        pair = self._loader.state.pair
        folder = str(Path(pair.target.path).parent) if pair else ""
        path, _ = QFileDialog.getOpenFileName(
            self._window, title, folder, self.tr("GGUF models (*.gguf);;All files (*)")
        )
        return path


def _with_less_context(failure: LoadFailed, state: PairState) -> Pair | None:
    """The pair that found no room, with a shorter context; None where that would not help."""
    if failure.code not in _TOO_LITTLE_MEMORY or state.pair is None:
        return None
    if state.stage == "target" and state.fraction < 1:
        return None  # the target's weights alone are too large
    target, draft = state.pair.target, state.pair.draft
    n_ctx = failure.smaller_ctx or smaller_context(target.n_ctx or DEFAULT_CTX)
    if n_ctx is None:
        return None
    if draft is not None and (draft.n_ctx or DEFAULT_CTX) > n_ctx:
        draft = replace(draft, n_ctx=n_ctx)
    return replace(state.pair, target=replace(target, n_ctx=n_ctx), draft=draft)


class _Look:
    """Looks at files off the main thread: a wrong one must not cost the loaded pair."""

    def __init__(self, pair: Pair, paths: tuple[str, ...]) -> None:
        self._pair = pair
        self._paths = paths

    def __call__(self) -> Pair:
        """Read the first bytes of each file and return the pair.

        Raises:
            UserError: One of them is no GGUF file, or cannot be read.
        """
        for path in self._paths:
            check_is_gguf(path)
        return self._pair


def check_is_gguf(path: str) -> None:
    """Read a file's first bytes.

    Raises:
        UserError: It is no GGUF file, or cannot be read.
    """
    name = file_name(path)
    try:
        with Path(path).open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise UserError(
            "file-not-readable",
            f"“{name}” cannot be read: {error.strerror or error}.",
            "Check that it is there and that you may read it.",
        ) from error
    if magic != _GGUF_MAGIC:
        raise ModelError(
            "not-a-gguf",
            f"“{name}” is not a GGUF model file.",
            "Choose a file that ends in .gguf; other formats must be converted first.",
        )


def first_parts(paths: list[str]) -> list[str]:
    """The paths without the later parts of split models, which are loaded through the first."""
    parts = [(path, PART.search(path)) for path in paths]
    return [path for path, part in parts if part is None or int(part[1]) == 1] or paths[:1]


def _size(path: str) -> int:
    """Bytes of a model, all its parts together; 0 when it cannot be read."""
    split = PART.search(path)
    file = Path(path)
    pattern = f"{glob.escape(file.name[: -len(split[0])])}-*-of-{split[2]}.gguf" if split else ""
    try:
        parts = file.parent.glob(pattern) if split else [file]
        return sum(part.stat().st_size for part in parts)
    except OSError:
        return 0
