"""Loads pairs of models: chosen in menus, dropped, saved, or used last.

The strategy must remain usable with the pair, without overriding the user's choice. A strategy that
needs a draft model is replaced when a pair without one is loaded, since every reply would be
refused; a loaded head takes the place of a draft model, and the other way round. The strategy
returns with the next draft model, unless another one was chosen before or during the load. Auto
always stays: without a draft model it drafts by lookups.

If the shown chat was last answered by other models than the loaded ones, according to its newest
record, these are offered. Nothing is loaded without a request, and messages go to the loaded
models.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMenu

from paceline.chat.pair import Pair, PairState
from paceline.engine.model.model_params import DEFAULT_CTX
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.drop_zones import DropZones
from paceline.gui.kit.file_dialogs import FileChooser
from paceline.gui.kit.notices import Action
from paceline.gui.kit.sentences import said
from paceline.gui.models.load_checks import (
    MemoryAdvisor,
    examined,
    first_parts,
    is_here,
    size_of,
)
from paceline.gui.models.load_failures import MODELS, RELOAD, LoadFailures
from paceline.gui.models.model_bar import PairsMenu
from paceline.gui.models.picker.pair_judgement import Judge
from paceline.gui.models.saved_pairs import SavedPairs, pair_title
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.state.speculation import SpeculationModel
from paceline.params import OWN_HEAD, DraftModel, ModelParams, with_params
from paceline.settings import kernels_of_environment


class StrategyFit(QObject):
    """Adapts the strategy to a pair that is ready, and reports that; main thread."""

    def __init__(self, speculation: SpeculationModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._speculation = speculation
        self._set_aside: str | None = None
        speculation.drafter_changed.connect(self._on_chosen)

    @Slot()
    def _on_chosen(self) -> None:
        """Forget the earlier strategy: the user has chosen one, perhaps the one in its place."""
        self._set_aside = None

    def fit(self, drafter: str) -> tuple[str, Action | None]:
        """Choose a strategy that is usable with the drafter loaded beside the target.

        Returns:
            Words about the change, empty without one, and an action to undo it, if possible.
        """
        speculation = self._speculation
        current, aside = speculation.current.name, self._set_aside
        if aside is not None and speculation.needs(aside) == drafter:
            speculation.choose(aside)
            words = self.tr("Drafts come from “{}” again.").format(speculation.current.title)
            return words, Action(self.tr("Undo"), partial(speculation.choose, current))
        if speculation.needs(current) in ("", drafter):
            return "", None
        parts = [info.id for info in speculation.members if info.family == "lookup"]
        parts += [drafter] if drafter else []
        speculation.choose("+".join(parts) or speculation.usual("lookup") or "off")
        self._set_aside = aside or current
        words = self.tr("Drafts come from “{}” with these models.")
        return words.format(speculation.current.title), None


class ModelsController(QObject):
    """Decides what is loaded when; checks files before the loaded pair is unloaded."""

    def __init__(
        self,
        context: AppContext,
        *,
        demo: Pair,
        first: Pair,
        saved: SavedPairs,
        models: Judge | None,
        devices: CurrentDevices,
    ) -> None:
        """Connect the parts; nothing is loaded yet.

        Args:
            context: The program's parts.
            demo: The pair that comes with the program.
            first: The pair to load if none was used before.
            saved: The pairs used last; loaded pairs are added to them.
            models: Judges pairs before they are loaded; None to leave that to the engine.
            devices: The devices that models can be put on.
        """
        super().__init__(context.window)
        self._context = context
        self._loader, self._notifications = context.loader, context.notices
        self.demo = demo
        self.first = first
        self.target_file, self.draft_file = FileChooser(self), FileChooser(self)
        self.target_file.chosen.connect(self.open_target)
        self.draft_file.chosen.connect(self.open_draft)
        self.pairs_menu: PairsMenu | None = None
        self._fit = StrategyFit(context.speculation, self)
        self._waiting: Pair | None = None
        self._saved = saved
        self._models = models
        self._devices = devices
        self._advisor = MemoryAdvisor(devices, context.background, self)
        self._advisor.decided.connect(self._on_decided)
        self.failures = LoadFailures(
            context,
            models,
            self._advisor,
            load=self.load,
            reload=self.reload,
            load_without=self.load_without,
            parent=self,
        )
        devices.described.connect(self._load_waiting)
        context.pair.changed.connect(devices.show_pair)
        context.pair.changed.connect(self._on_pair_changed)
        self._kernels = context.settings.setting("kernels")
        self._kernels.changed.connect(self._on_kernels)
        self._choose_kernels()
        self._planner = devices.planner
        self._usual_ctx = context.settings.setting("usual_ctx")
        self._usual_threads = context.settings.setting("usual_threads")
        self._usual_ctx.changed.connect(self._update_planner)
        for name in ("keeps_states", "states_memory_mb"):
            context.settings.setting(name).changed.connect(self._update_planner)
        self._update_planner()

    def connect_to(self, menu: QMenu, zones: DropZones) -> None:
        """Connect menus and files dropped on the window."""
        actions = self._context.actions
        self.pairs_menu = PairsMenu(menu, actions.forget, self._saved)
        self.pairs_menu.chosen.connect(self.load_saved)
        actions.open_target.triggered.connect(self._on_open_target)
        actions.open_draft.triggered.connect(self._on_open_draft)
        actions.no_draft.triggered.connect(self._on_no_draft)
        actions.demo_pair.triggered.connect(self.load_demo_pair)
        actions.reload.triggered.connect(self.reload)
        actions.stop_loading.triggered.connect(self._on_stop_loading)
        zones.dropped.connect(self._on_dropped)
        zones.folders_dropped.connect(self._on_folders_dropped)

    def start(self) -> None:
        """Load the pair used last if its files exist; at the first start, the starter."""
        pair = self._saved.pair(0) if self._saved.pairs else self.first
        self._loader.expect(pair)
        if _built_in(pair, self.demo):
            self.load(pair)
        else:
            self._context.background.start(
                partial(is_here, pair), partial(self._on_start, pair), self._on_no_start
            )

    @Slot(int)
    def load_saved(self, row: int) -> None:
        """Load one of the pairs used last; with a file missing, nothing is unloaded."""
        pair = self._saved.pair(row)
        self._open(pair, *pair.files)

    @Slot()
    def load_demo_pair(self) -> None:
        """Load the pair that comes with the program."""
        self.load(self.demo)

    @Slot()
    def reload(self) -> None:
        """Load the same models again."""
        self._notifications.resolved.emit(MODELS)
        self._give_up()
        if not self._loader.reload():
            self.load_demo_pair()

    @Slot(str)
    def open_target(self, path: str) -> None:
        """Load another target; the draft model stays if it may suit."""
        pair = self._loader.state.pair
        # The demo pair's draft model suits no target but its own.
        is_own = pair is not None and pair.draft not in (None, self.demo.draft)
        drafting = pair.drafting if pair is not None and is_own else OWN_HEAD
        # A lookup cache belongs to a vocabulary, so the previous model's is dropped.
        exact = pair is not None and pair.exact
        self._open(Pair(ModelParams(path), drafting, exact=exact), path)

    @Slot(str)
    def open_draft(self, path: str) -> None:
        """Load another draft model for the same target."""
        pair = self._loader.state.pair or self.demo
        self._open(replace(pair, drafting=DraftModel(ModelParams(path))), path)

    @Slot(str)
    def load_installed(self, path: str) -> None:
        """Load a model with its last settings and draft model, or else alone."""
        pairs = map(self._saved.pair, range(len(self._saved.pairs)))
        pair = next((pair for pair in pairs if pair.target.path == path), Pair(ModelParams(path)))
        self._open(pair, *pair.files)

    def open_both(self, paths: list[str]) -> None:
        """Load two models: the larger one is the target."""
        small, large = sorted(paths, key=size_of)[-2:]
        pair = self._loader.state.pair
        exact = pair is not None and pair.exact
        self._open(
            Pair(ModelParams(large), DraftModel(ModelParams(small)), exact=exact), small, large
        )

    @Slot(object)
    def load(self, pair: Pair) -> None:
        """Load these models in place of the loaded ones; automatic values are decided first."""
        self._notifications.resolved.emit(MODELS)
        self._give_up()
        is_dead = self._loader.state.status == "dead"  # then a load restarts the engine
        is_answered = self._devices.is_asked or not is_dead
        if is_answered and not (self._advisor.is_ready or _built_in(pair, self.demo)):
            self._waiting = pair  # the devices will be known in a moment
            self._loader.expect(pair)
            self._devices.ask()
        elif self._advisor.has_to_decide(pair):
            self._loader.expect(pair)
            self._advisor.decide(pair)
        else:
            self._on_decided(pair, None)

    @Slot(object)
    def load_models(self, picked: Pair) -> None:
        """Load these files; settings of the pair as a whole stay."""
        pair = self._loader.state.pair
        is_same_target = pair is not None and pair.target.path == picked.target.path
        cache = pair.lookup_cache if pair is not None and is_same_target else ""
        self.load(replace(picked, lookup_cache=cache, exact=pair is not None and pair.exact))

    @Slot(object)
    def load_first(self, pair: Pair) -> None:
        """Load the first model, which was not here when the window was opened."""
        self.first = pair
        self.load_models(pair)

    @Slot()
    def _load_waiting(self) -> None:
        """Load the pair that waited until the devices were known."""
        if self._waiting is not None:
            self.load(self._waiting)

    def _give_up(self) -> None:
        """Drop the pair that waits for an answer."""
        self._waiting = None
        self._advisor.give_up()

    def _load_waiting_anyway(self) -> None:
        """Load although the devices are unknown: the engine died, and the load restarts it."""
        pair, self._waiting = self._waiting, None
        if pair is not None:
            self._loader.load(pair)

    def _open(self, pair: Pair, *paths: str) -> None:
        examine = partial(examined, pair, paths, self._models)
        self._context.background.start(examine, self.load, self.failures.on_unusable)

    def _on_start(self, pair: Pair, are_here: bool) -> None:  # noqa: FBT001
        if are_here:
            self.load(pair)
            return
        self.load_demo_pair()
        if not self._saved.pairs:
            return
        self._notifications.warn(
            self.tr("The models that were used last are not there any more: {}.").format(
                self._saved.titles[0]
            ),
            self.tr("The demo pair takes their place."),
            topic=MODELS,
        )

    def _on_no_start(self, error: UserError) -> None:
        self.load_demo_pair()
        self.failures.on_unusable(error)

    # ------------------------------------------------------------------------------------ slots

    @Slot()
    def _on_open_target(self) -> None:
        self._ask(self.target_file, self.tr("Open a model"))

    @Slot()
    def _on_open_draft(self) -> None:
        self._ask(self.draft_file, self.tr("Open a draft model"))

    @Slot()
    def _on_no_draft(self) -> None:
        pair = self._loader.state.pair
        if pair is not None:
            self.load(replace(pair, drafting=OWN_HEAD if pair.draft else None))

    @Slot()
    def _on_stop_loading(self) -> None:
        self._give_up()
        self._loader.cancel()

    @Slot(list, bool)
    def _on_dropped(self, paths: list[str], is_draft: bool) -> None:  # noqa: FBT001
        paths = first_parts(paths)
        if len(paths) > 1:
            self.open_both(paths)
        elif is_draft:
            self.open_draft(paths[0])
        else:
            self.open_target(paths[0])

    @Slot(list)
    def _on_folders_dropped(self, folders: list[str]) -> None:
        """Add dropped folders to the folders of models."""
        for folder in folders:
            self._context.settings.setting("model_folders").add(folder)
        names = ", ".join(Path(folder).name for folder in folders)
        self._notifications.inform(
            self.tr("Models are looked for in “{}” from now on.").format(names),
            action=Action(self.tr("Choose models…"), self._context.actions.choose_models.trigger),
            topic=MODELS,
        )

    @Slot(object)
    def _on_pair_changed(self, state: PairState) -> None:
        actions = self._context.actions
        actions.stop_loading.setVisible(state.status == "loading")
        actions.no_draft.setEnabled(bool(state.drafter or (state.pair and state.pair.draft)))
        if state.status in ("loading", "ready"):
            self._notifications.resolved.emit(RELOAD)
        if state.status == "ready":
            fitted, undo = self._fit.fit(state.drafter)
            notes = [*map(said, state.notes), *self._notes_on_context(state)]
            if notes:
                self._notifications.warn(" ".join([*notes, fitted]).strip(), topic=MODELS)
            elif fitted:
                self._notifications.inform(fitted, action=undo, topic=MODELS)
            if state.pair is not None:
                draft = self._context.pair.draft_name if len(state.pair.files) > 1 else ""
                title = pair_title(self._context.pair.target_name, draft)
                self._saved.remember(state.pair, title)
        if state.status == "dead":
            self._load_waiting_anyway()
        if self.pairs_menu is not None:
            self.pairs_menu.tick(self._saved.row_of(state.pair))

    @Slot()
    def _on_kernels(self) -> None:
        """Load the models again, since kernels are chosen at the load."""
        self._choose_kernels()
        self.load_again()

    @Slot()
    def load_again(self) -> None:
        """Load the models again: kernels or devices have changed."""
        pair = self._loader.state.pair
        if pair is not None:
            self.load(pair)

    @Slot(object)
    def load_without(self, servers: tuple[str, ...]) -> None:
        """Load the failed models without these RPC servers, which are switched off."""
        pair, before = self._loader.state.pair, self._loader.servers
        kept = self._context.settings.setting("rpc_servers")
        kept.set_value(
            tuple(
                replace(each, is_used=each.is_used and each.address not in servers)
                for each in kept.value
            )
        )
        # If one of them was in use, switching it off has loaded the pair already.
        if pair is not None and self._loader.servers == before:
            self.load(pair.placed_anew)

    @Slot(bool)
    def load_on_other_servers(self, are_renumbered: bool) -> None:  # noqa: FBT001
        """Load the models again after a change of the RPC servers.

        Args:
            are_renumbered: Whether the names of the servers' devices have changed.
        """
        self._devices.ask_anew()
        pair = self._loader.state.pair
        if pair is not None:
            self.load(pair.placed_anew if are_renumbered else pair)

    @Slot()
    def _update_planner(self) -> None:
        """Set the planner's contexts and prompt cache by the settings."""
        if self._planner is not None:
            self._planner.usual_ctx = self._usual_ctx.value
            self._planner.states = self._loader.states

    def _choose_kernels(self) -> None:
        """Set the loader's kernels; it falls back with a note, which is better than no model."""
        wish = self._kernels.value
        if wish == "auto":
            wish = kernels_of_environment(os.environ)
        self._loader.kernels = "stock" if wish == "stock" else "auto"

    def _notes_on_context(self, state: PairState) -> list[str]:
        """Return a note where an automatic context was shortened for lack of memory."""
        pair, model = state.pair, state.target
        if pair is None or model is None or pair.target.n_ctx:
            return []
        usual = self._usual_ctx.value or DEFAULT_CTX
        if model.n_ctx >= min(usual, model.n_ctx_train or usual):
            return []
        text = self.tr("Memory has room for a context of {} tokens only.")
        return [text.format(model.n_ctx)]

    @Slot(object, object)
    def _on_decided(self, pair: Pair, decided: Pair | None) -> None:
        if n_threads := self._usual_threads.value:
            decided = _with_threads(decided or pair, n_threads)
        self._loader.load(pair, decided)

    def _ask(self, chooser: FileChooser, title: str) -> None:
        pair = self._loader.state.pair
        if pair is not None:
            chooser.remember(pair.target.path)
        chooser.ask_file(
            self._context.window, title, self.tr("GGUF models (*.gguf);;All files (*)")
        )


def _built_in(pair: Pair, demo: Pair) -> bool:
    """Return whether a pair is the demo pair, with any settings."""
    draft = pair.draft is None or (demo.draft is not None and pair.draft.path == demo.draft.path)
    return pair.target.path == demo.target.path and draft


def _with_threads(pair: Pair, n_threads: int) -> Pair:
    """Return a pair with `n_threads` threads where its own number is automatic."""

    def with_threads(params: ModelParams) -> ModelParams:
        return params if params.n_threads else replace(params, n_threads=n_threads)

    draft = with_threads(pair.draft) if pair.draft is not None else None
    return replace(
        pair, target=with_threads(pair.target), drafting=with_params(pair.drafting, draft)
    )


CHAT_PAIR = "chat-pair"
"""Topic of the offer; other models, or another chat, resolve it."""


class ChatPairOffer(QObject):
    """Offers the shown chat's models where other ones are loaded; main thread."""

    def __init__(self, context: AppContext, saved: SavedPairs, models: ModelsController) -> None:
        super().__init__(models)
        self._shown, self._loader = context.shown, context.loader
        self._notices = context.notices
        self._saved, self._models = saved, models
        self._seen: tuple[str, tuple[str, ...], tuple[str, ...]] = ("", (), ())
        signals, shown = context.signals, context.shown
        for signal in (shown.path_changed, signals.started, signals.ended, context.pair.changed):
            signal.connect(self._look)

    @Slot()
    def _look(self) -> None:
        """Offer them when the chat is shown. Models chosen afterwards are meant for the chat."""
        pair = self._loader.state.pair
        loaded = tuple(Path(file).name for file in pair.files) if pair is not None else ()
        seen = self._shown.id, self._used(), loaded
        if seen == self._seen:
            return
        (chat, _, before), self._seen = self._seen, seen
        self._notices.resolved.emit(CHAT_PAIR)
        shown, used, _ = seen
        if not used or not loaded or used == loaded or (before and chat == shown):
            return
        for row, title in enumerate(self._saved.titles):
            if tuple(Path(file).name for file in self._saved.pair(row).files) == used:
                load = Action(self.tr("Load them"), partial(self._models.load_saved, row))
                words = self.tr("This chat was answered by other models than the loaded ones: {}.")
                self._notices.inform(words.format(title), action=load, topic=CHAT_PAIR)
                return

    def _used(self) -> tuple[str, ...]:
        """Return the file names of the models of the newest reply; empty if unknown."""
        for message in reversed(self._shown.conversation.path()):
            reply = self._shown.reply(message.message_id)
            if reply is not None and reply.target is not None:
                draft = reply.draft.file if reply.draft is not None else ""
                # A head inside the target's file has no file of its own.
                return tuple(dict.fromkeys(filter(None, (reply.target.file, draft))))
        return ()
