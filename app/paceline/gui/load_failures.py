"""What a load that failed, or was refused, leaves behind: a notice that says what to do next."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.pair import Pair
from paceline.engine.model_params import DEFAULT_CTX
from paceline.engine.proposals import smaller_context
from paceline.gui.look_at_pair import RefusedPairError
from paceline.gui.viewmodels.pair import model_name
from paceline.gui.viewmodels.savings import saving_title
from paceline.messages import ModelParams

if TYPE_CHECKING:
    from paceline.catalog.memory_values import MemoryRemedy
    from paceline.catalog.verdict import Verdict
    from paceline.chat.pair import PairState
    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.memory_advisor import MemoryAdvisor
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.pair_judgement import Judge
    from paceline.messages import LoadFailed

RELOAD, ALONE, SMALLER = "reload", "target-alone", "smaller-context"
TAKE, CHOOSE, SAVE_MEMORY = "take-instead", "choose-draft", "save-memory"
"""Names of the actions that a notice can offer."""

MODELS = "models"
"""Topic of notices about files and loads; the next load that is wished for settles it."""
_TOO_LITTLE_MEMORY = {"does-not-fit", "out-of-memory"}


class LoadFailures(QObject):
    """Tells what went wrong and offers one way out at a time; main thread."""

    load_wanted = Signal(object)
    """Pair"""
    reload_wanted = Signal()
    draft_wanted = Signal()
    """Another draft model is to be chosen"""

    def __init__(
        self,
        *,
        pair: PairModel,
        models: Judge | None,
        advisor: MemoryAdvisor,
        background: Background,
        notifications: Notifications,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pair = pair
        self._models = models
        self._advisor = advisor
        self._background = background
        self._notifications = notifications
        self._smaller: Pair | None = None
        self._alone: Pair | None = None
        self._saving: Pair | None = None
        self._instead: Pair | None = None
        self._failure: tuple[LoadFailed, str] | None = None
        advisor.advised.connect(self._on_advised)
        pair.failed.connect(self._on_load_failed)

    def on_unusable(self, error: UserError) -> None:
        """Tell why a file, or a pair of files, is not loaded."""
        if isinstance(error, RefusedPairError):
            self._refuse(error)
        else:
            self._notifications.error(error.message, error.hint, topic=MODELS)

    def _refuse(self, error: RefusedPairError) -> None:
        """Say at once why; what to take instead may need a search."""
        self._alone = replace(error.pair, draft=None)
        self._notifications.error(
            error.message,
            error.hint,
            topic=MODELS,
            action=ALONE,
            text=self.tr("Load the target alone"),
        )
        pair, models = error.pair, self._models
        if models is not None and pair.draft is not None:
            self._background.start(
                partial(models.judge, pair.target.path, pair.draft.path),
                partial(self._on_judged, error),
                _ignore,
            )

    def _on_judged(self, error: RefusedPairError, answer: object) -> None:
        remedy = cast("Verdict", answer).remedy
        if remedy is None or not remedy.draft or self._alone != replace(error.pair, draft=None):
            return
        name = model_name(remedy.draft)
        target = replace(error.pair.target, path=remedy.target or error.pair.target.path)
        self._instead = replace(error.pair, target=target, draft=ModelParams(remedy.draft))
        is_remote = remedy.draft.startswith("hf:")
        self._notifications.error(
            error.message,
            remedy.text,
            topic=MODELS,
            action=CHOOSE if is_remote else TAKE,
            text=self.tr("Choose a draft model…")
            if is_remote
            else self.tr("Take {} instead").format(name),
        )

    @Slot(object, bool)
    def _on_load_failed(self, failure: LoadFailed, falls_back: bool) -> None:  # noqa: FBT001
        failed, hint = self._pair.state.pair, failure.hint
        self._smaller = _with_less_context(failure, self._pair.state)
        if falls_back:
            hint = f"{hint} {self.tr('The models from before are loaded again.')}".strip()
        is_about_memory = failure.code in _TOO_LITTLE_MEMORY
        if is_about_memory and failed is not None and self._advisor.advise(failed):
            self._failure = failure, hint
            return
        self._tell_failure(failure, hint, failed, falls_back=falls_back)

    def _tell_failure(
        self, failure: LoadFailed, hint: str, failed: Pair | None, *, falls_back: bool
    ) -> None:
        action = text = ""
        if self._smaller is not None:
            action = SMALLER
            text = self.tr("Load with {} tokens").format(self._smaller.target.n_ctx)
        elif not falls_back:
            action, text = RELOAD, self.tr("Load again")
        elif failure.code == "vocabulary-mismatch" and failed is not None:
            self._alone = replace(failed, draft=None)
            action, text = ALONE, self.tr("Load the target alone")
        self._notifications.error(failure.message, hint, topic=MODELS, action=action, text=text)

    @Slot(object, object)
    def _on_advised(self, failed: Pair, remedy: MemoryRemedy | None) -> None:
        """What the plan of memory knows about a pair that found no room."""
        if self._failure is None:
            return
        (failure, hint), self._failure = self._failure, None
        if remedy is None:
            falls_back = self._pair.state.status != "failed"
            self._tell_failure(failure, hint, failed, falls_back=falls_back)
            return
        self._saving = replace(failed, target=remedy.target, draft=remedy.draft)
        self._notifications.error(
            failure.message,
            remedy.text,
            topic=MODELS,
            action=SAVE_MEMORY,
            text=saving_title(remedy.saving),
        )

    @Slot(str)
    def on_action(self, name: str) -> None:
        """Do what a notice of this controller offered."""
        wanted = {
            ALONE: self._alone,
            SMALLER: self._smaller,
            TAKE: self._instead,
            SAVE_MEMORY: self._saving,
        }.get(name)
        if name == RELOAD:
            self.reload_wanted.emit()
        elif name == CHOOSE:
            self.draft_wanted.emit()
        elif wanted is not None:
            self.load_wanted.emit(wanted)


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


def _ignore(_error: UserError) -> None:
    """Why no remedy was found helps nobody."""
