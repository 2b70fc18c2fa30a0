"""What the palette knows of: the menus, strategies, and chats. Saved pairs stand in the menus."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from paceline.gui.actions import OBSTACLE
from paceline.gui.viewmodels.choices import GROUPS
from paceline.gui.widgets.palette.commands import PaletteCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMenuBar

    from paceline.conversation import ConversationSummary
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.gui.widgets.palette.matching import Query

_LONGEST_TITLE = 200
_N_CANDIDATES = 300
"""Chats that are compared closely; the newest of those that have the letters."""
_N_NEWEST = 8


def plain_text(action: QAction) -> str:
    """Return what an action is called, without the marks of its keys."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


def actions_of(menus: QMenuBar) -> Iterator[tuple[str, QAction]]:
    """Yield every action of the menus with the path to it, e.g. "View › Theme"."""
    yield from _walk(menus.actions(), "")


def _walk(actions: Sequence[QAction], path: str) -> Iterator[tuple[str, QAction]]:
    for action in actions:
        below = action.menu()
        if isinstance(below, QMenu):
            name = plain_text(action)
            yield from _walk(below.actions(), f"{path} › {name}" if path else name)
        elif not action.isSeparator() and action.isVisible():
            yield path, action


class MenuCommands(QObject):
    """Every action of the menus."""

    def __init__(self, menus: QMenuBar, without: Sequence[QAction], parent: QObject) -> None:
        super().__init__(parent)
        self._menus = menus
        self._without = tuple(without)

    def commands(self) -> Sequence[PaletteCommand]:
        """Return them in the order of the menus."""
        return [
            PaletteCommand(
                title=plain_text(action).rstrip("…"),
                group=path,
                keys=action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
                run=action.trigger,
                obstacle=None if action.isEnabled() else str(action.property(OBSTACLE) or ""),
                is_on=action.isChecked() if action.isCheckable() else None,
            )
            for path, action in actions_of(self._menus)
            if action not in self._without
        ]


class StrategyCommands(QObject):
    """Every strategy that the panel offers."""

    def __init__(self, speculation: SpeculationModel, parent: QObject) -> None:
        super().__init__(parent)
        self._speculation = speculation

    def commands(self) -> Sequence[PaletteCommand]:
        """Return one for each; the chosen one is ticked."""
        model = self._speculation
        chosen = model.current.name
        return [
            PaletteCommand(
                title=self.tr("Use {}").format(choice.title),
                group=self.tr("Strategy"),
                keys="",
                run=partial(model.choose, choice.name),
                obstacle=model.obstacle(choice.name) or None,
                is_on=choice.name == chosen,
            )
            for group in GROUPS
            for choice in model.choices(group)
        ]


class ChatCommands(QObject):
    """Every chat, found by its title."""

    def __init__(
        self,
        summaries: Callable[[], Sequence[ConversationSummary]],
        show: Callable[[str], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._summaries, self._show = summaries, show
        self._chats: list[tuple[str, ConversationSummary]] = []

    def refresh(self) -> None:
        """Look at the list of chats again."""
        newest_first = sorted(self._summaries(), key=_changed, reverse=True)
        self._chats = [(s.title[:_LONGEST_TITLE].casefold(), s) for s in newest_first]

    def find(self, query: Query, limit: int) -> Sequence[PaletteCommand]:
        """Return the best of the newest that may match; with an empty query the newest."""
        if not query.letters:
            return [self._command(summary) for _, summary in self._chats[:_N_NEWEST]]
        found = []
        for title, summary in self._chats:
            if query.may_match(title):
                match = query.match(summary.title)
                if match is not None:
                    found.append((match.score, summary))
                if len(found) == _N_CANDIDATES:
                    break
        found.sort(key=_score, reverse=True)
        return [self._command(summary) for _, summary in found[:limit]]

    def _command(self, summary: ConversationSummary) -> PaletteCommand:
        group = self.tr("Private chat") if summary.private else self.tr("Chat")
        return PaletteCommand(
            title=summary.title or self.tr("New chat"),
            group=group,
            keys="",
            run=partial(self._show, summary.conversation_id),
        )


def _changed(summary: ConversationSummary) -> float:
    return summary.changed_s


def _score(found: tuple[float, ConversationSummary]) -> float:
    return found[0]
