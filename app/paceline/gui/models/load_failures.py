"""Failed and refused loads: a notice with the reason and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Slot

from paceline.catalog.judge.pairing import PairVerdict
from paceline.catalog.memory.values import MemoryRemedy
from paceline.chat.pair import Pair, PairState
from paceline.engine.model.memory_hints import smaller_context
from paceline.engine.model.model_params import DEFAULT_CTX
from paceline.errors import UserError
from paceline.figures import ServerProblem
from paceline.gui.context import AppContext
from paceline.gui.kit.notices import Action
from paceline.gui.kit.translation import local, translator
from paceline.gui.models.load_checks import MemoryAdvisor, RefusedPairError, saving_title
from paceline.gui.models.picker.pair_judgement import Judge
from paceline.gui.state.pair import model_name
from paceline.messages import LoadFailed, ModelParams
from paceline.params import OWN_HEAD, DraftModel, file_of, with_params
from paceline.sentence import joined

RELOAD = "reload"
"""Topic of notices that offer to load the models again; a load resolves it."""

MODELS = "models"
"""Topic of notices about files and loads; the next load removes it."""
_NOT_TOGETHER = {"vocabulary-mismatch", "wrong-head"}
_TOO_LITTLE_MEMORY = {"does-not-fit", "out-of-memory"}


class LoadFailures(QObject):
    """Reports failures and offers one remedy at a time; main thread."""

    def __init__(
        self,
        context: AppContext,
        models: Judge | None,
        advisor: MemoryAdvisor,
        *,
        load: Callable[[Pair], None],
        reload: Callable[[], None],
        load_without: Callable[[tuple[str, ...]], None],
        parent: QObject,
    ) -> None:
        """Follow failed loads.

        Args:
            context: The program's parts.
            models: Judges pairs, or None.
            advisor: Finds remedies for a lack of memory.
            load: Loads another pair.
            reload: Loads the previous pair again.
            load_without: Loads the failed pair without the RPC servers of these addresses.
            parent: Owns this object.
        """
        super().__init__(parent)
        self._load, self._reload, self._load_without = load, reload, load_without
        self._choose_draft = context.actions.choose_draft.trigger
        self._pair = context.pair
        self._background, self._notifications = context.background, context.notices
        self._models = models
        self._advisor = advisor
        self._smaller: Pair | None = None
        self._alone: Pair | None = None
        self._failure: tuple[LoadFailed, str] | None = None
        advisor.advised.connect(self._on_advised)
        context.pair.failed.connect(self._on_load_failed)

    def on_unusable(self, error: UserError) -> None:
        """Report why a file, or a pair of files, is not loaded."""
        if isinstance(error, RefusedPairError):
            self._refuse(error)
        else:
            self._notifications.error(error.message, error.hint, topic=MODELS)

    def _refuse(self, error: RefusedPairError) -> None:
        """Report the reason at once; finding a replacement may need a search."""
        self._alone = _alone(error.pair)
        self._notifications.error(
            error.message,
            error.hint,
            topic=MODELS,
            action=self._offer(self.tr("Load the model alone"), self._alone),
        )
        pair, models = error.pair, self._models
        if models is not None:
            # A failed search for a remedy needs no report: the notice already has the reason.
            judge = partial(models.judge, pair.files[0], pair.files[-1])
            self._background.start(judge, partial(self._on_judged, error))

    def _on_judged(self, error: RefusedPairError, verdict: PairVerdict) -> None:
        remedy = verdict.remedy
        if remedy is None or not remedy.draft or self._alone != _alone(error.pair):
            return
        name = model_name(remedy.draft)
        target = replace(error.pair.target, path=remedy.target or error.pair.target.path)
        drafting = DraftModel(ModelParams(remedy.draft))
        instead = replace(error.pair, target=target, drafting=drafting)
        if remedy.draft.startswith("hf:"):
            action = Action(self.tr("Choose a draft model…"), self._choose_draft)
        else:
            action = self._offer(self.tr("Take {} instead").format(name), instead)
        self._notifications.error(
            error.message,
            remedy.text,
            topic=MODELS,
            action=action,
        )

    @Slot(object, bool)
    def _on_load_failed(self, failure: LoadFailed, falls_back: bool) -> None:  # noqa: FBT001
        failed, hint = self._pair.state.pair, failure.hint
        if failure.lost:
            self._notifications.error(
                failure.message,
                hint,
                topic=RELOAD,
                action=without(failure.lost, self._load_without),
                other=Action(self.tr("Load again"), self._reload),
            )
            return
        self._smaller = _with_less_context(failure, self._pair.state)
        if falls_back:
            again = self.tr("The models from before are loaded again.")
            hint = joined([hint, again])
        is_about_memory = failure.code in _TOO_LITTLE_MEMORY
        if is_about_memory and failed is not None and self._advisor.advise(failed):
            self._failure = failure, hint
            return
        self._report_failure(failure, hint, failed, falls_back=falls_back)

    def _report_failure(
        self, failure: LoadFailed, hint: str, failed: Pair | None, *, falls_back: bool
    ) -> None:
        action, topic = None, MODELS
        if self._smaller is not None:
            words = self.tr("Load with {} tokens")
            words = words.format(f"{local(self._smaller.target.n_ctx):,}")
            action = self._offer(words, self._smaller)
        elif not falls_back:
            action, topic = Action(self.tr("Load again"), self._reload), RELOAD
        elif failure.code in _NOT_TOGETHER and failed is not None:
            self._alone = alone = _alone(failed)
            action = self._offer(self.tr("Load the model alone"), alone)
        self._notifications.error(failure.message, hint, topic=topic, action=action)

    @Slot(object, object)
    def _on_advised(self, failed: Pair, remedy: MemoryRemedy | None) -> None:
        """Offer the memory plan's remedy for a pair that did not fit."""
        if self._failure is None:
            return
        (failure, hint), self._failure = self._failure, None
        if remedy is None:
            falls_back = self._pair.state.status != "failed"
            self._report_failure(failure, hint, failed, falls_back=falls_back)
            return
        saving = replace(failed, target=remedy.target, drafting=remedy.drafting)
        self._notifications.error(
            failure.message,
            remedy.text,
            topic=MODELS,
            action=self._offer(saving_title(remedy.saving, failed.drafting), saving),
        )

    def _offer(self, text: str, pair: Pair) -> Action:
        return Action(text, partial(self._load, pair))


_tr = translator("LoadFailures")
_MAX_NAME_LETTERS = 30
"""Maximum number of letters of a name on a button, which leaves space for the notice beside it."""


def without(
    lost: Sequence[ServerProblem], load_without: Callable[[tuple[str, ...]], None]
) -> Action:
    """Return the offer to load the models without some RPC servers."""
    servers = tuple(problem.server for problem in lost)
    names = ", ".join(servers)
    words = _tr("Load without lost servers")  # the notice names them
    if len(names) <= _MAX_NAME_LETTERS:
        words = _tr("Load without {}").format(names)
    return Action(words, partial(load_without, servers))


def _with_less_context(failure: LoadFailed, state: PairState) -> Pair | None:
    """Return the pair with a shorter context, or None where that would not help."""
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
    drafting = with_params(state.pair.drafting, draft)
    return replace(state.pair, target=replace(target, n_ctx=n_ctx), drafting=drafting)


def _alone(pair: Pair) -> Pair:
    """Return the pair without a draft model or a head in a file of its own."""
    return replace(pair, drafting=OWN_HEAD) if file_of(pair.drafting) else pair
