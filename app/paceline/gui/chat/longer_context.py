"""Holds back a message that does not fit into the context, and offers a context in which it does.

How long it may be is decided by what the model was trained for and by the memory plan, as for any
load. The text stays in the composer; once the models are loaded again it is counted anew.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.engine.model.model_params import DEFAULT_CTX
from paceline.gui.chat.context_meter import short_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.chat.pair import Pair, PairState
    from paceline.errors import UserError
    from paceline.gui.chat.composer import Composer
    from paceline.gui.chat.context_meter import ContextUse
    from paceline.gui.context import AppContext
    from paceline.gui.state.current_devices import CurrentDevices, Room, RoomPlanner

_LEAST_CTX = 1024


class LongerContext(QObject):
    """Follows what the context meter shows; main thread, plans in the pool."""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        devices: CurrentDevices,
        load: Callable[[Pair], None],
    ) -> None:
        """Hold nothing back yet.

        Args:
            context: The program's parts.
            composer: Has the message.
            devices: Plan memory; where they cannot, a load has to show whether there is room.
            load: Loads a pair.
        """
        super().__init__(context.window)
        self._pair, self._background = context.pair, context.background
        self._composer, self._devices, self._load = composer, devices, load
        self._options: tuple[Pair, ...] = ()
        self._found: Pair | None = None
        self._has_no_room = False
        composer.held.button.clicked.connect(self._on_load)

    @Slot(object)
    def show_use(self, use: ContextUse) -> None:
        """Hold back what was counted, or let it go."""
        if not (use.is_refused and use.n_unsent):
            self._options, self._found = (), None
            self._composer.hold_back("")
            return
        words = self.tr("Too long: the chat would have {} tokens, and the context holds {}.")
        self._words = words.format(f"{use.n_used:,}", f"{use.n_ctx:,}")
        options = options_for(self._pair.state, use)
        if options != self._options:
            self._options, self._found, self._has_no_room = options, None, False
            self._look_for_room()
        self._show()

    def _look_for_room(self) -> None:
        planner, options = self._devices.planner, self._options
        if options and planner is not None:
            job = partial(first_that_fits, planner, self._devices.look(), options)
            self._background.start(
                job, partial(self._on_planned, options), partial(self._on_no_plan, options)
            )
        elif options:
            self._found = options[0]

    def _on_planned(self, asked: tuple[Pair, ...], found: object) -> None:
        if asked is self._options:
            self._found = next((pair for pair in asked if pair is found), None)
            self._has_no_room = self._found is None
            self._show()

    def _on_no_plan(self, asked: tuple[Pair, ...], _error: UserError) -> None:
        self._on_planned(asked, asked[0])  # the load will say what is wrong

    def _show(self) -> None:
        found, why = self._found, ""
        button = ""
        if found is not None:
            n_ctx = found.target.n_ctx
            button = self.tr("Load with {} context").format(short_tokens(n_ctx, n_ctx))
        elif self._has_no_room:
            why = self.tr("Memory has no room for a longer one.")
        elif not self._options:
            why = self.tr("The model was trained for no more.")
        if why:
            why = f"{why} {self.tr('Shorten it, attach less, or start a new chat.')}"
        self._composer.hold_back(f"{self._words} {why}".strip(), button)

    @Slot()
    def _on_load(self) -> None:
        if self._found is not None:
            self._load(self._found)


def options_for(state: PairState, use: ContextUse) -> tuple[Pair, ...]:
    """The loaded pair with longer contexts: the best one first, and the least that suffices.

    The best one holds the whole chat and the whole reply that it may have.
    """
    pair, target = state.pair, state.target
    if pair is None or target is None:
        return ()
    longest = target.n_ctx_train or 4 * DEFAULT_CTX
    sizes = [_LEAST_CTX << n for n in range(32) if _LEAST_CTX << n < longest] + [longest]
    n_prompt = use.n_used + use.n_cut_tokens
    enough = [n for n in sizes if n > max(n_prompt, target.n_ctx)]
    best = [n for n in enough if n >= n_prompt + use.room]
    return tuple(_with_ctx(state, pair, n) for n in dict.fromkeys((*best[:1], *enough[:1])))


def _with_ctx(state: PairState, pair: Pair, n_ctx: int) -> Pair:
    draft = pair.draft
    if draft is not None and state.draft is not None and state.draft.n_ctx < n_ctx:
        draft = replace(draft, n_ctx=min(n_ctx, state.draft.n_ctx_train or n_ctx))
    return replace(pair, target=replace(pair.target, n_ctx=n_ctx), draft=draft)


def first_that_fits(planner: RoomPlanner, room: Room, pairs: Sequence[Pair]) -> Pair | None:
    """The first of these for which memory has room; None: for none of them. Worker thread.

    Raises:
        UserError: A file cannot be used.
    """
    return next((pair for pair in pairs if planner.plan(room, pair).fits), None)
