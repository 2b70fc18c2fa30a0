"""The parts that all features of the window share, passed to their controllers as one value."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from paceline.chat.pair import PairLoader
from paceline.chat.session import ChatSession
from paceline.gui.kit.background import Background
from paceline.gui.kit.file_dialogs import SaveFile
from paceline.gui.kit.notices import Notifications
from paceline.gui.state.actions import Actions
from paceline.gui.state.chat_signals import ChatSignals
from paceline.gui.state.drafts import Drafts
from paceline.gui.state.live import LiveFigures
from paceline.gui.state.next_reply import NextReply
from paceline.gui.state.pair import PairModel
from paceline.gui.state.programs import ProgramReplies
from paceline.gui.state.settings_store import SettingsStore
from paceline.gui.state.shown_chat import ShownChat
from paceline.gui.state.speculation import SpeculationModel
from paceline.gui.state.undoing import Undoing
from paceline.hosting.client import EngineClient


@dataclass(frozen=True)
class AppContext:
    """Parts of the program that more than one feature needs; made once, before the features.

    Attributes:
        client: The engine.
        session: The chats and the running reply; `signals` emits its events as Qt signals.
        shown: The shown chat.
        drafts: The unsent messages of all chats.
        next_reply: The options of the next reply.
        loader: Loads pairs; `pair` has the state of the present one.
        speculation: The chosen strategy with its settings.
        live: The figures of the running reply.
        programs: The requests of other programs.
        background: Runs small jobs off the main thread.
        notices: Inline notices and the few dialogs that block.
        save_file: Asks for a place and writes a file there.
        actions: The actions of menus and keys.
        undoing: The action that the undo key reverses.
        window: The parent of dialogs.
        settings: The settings, which it also saves.
    """

    client: EngineClient
    session: ChatSession
    signals: ChatSignals
    shown: ShownChat
    drafts: Drafts
    next_reply: NextReply
    loader: PairLoader
    pair: PairModel
    speculation: SpeculationModel
    live: LiveFigures
    programs: ProgramReplies
    background: Background
    notices: Notifications
    save_file: SaveFile
    actions: Actions
    undoing: Undoing
    window: QWidget
    settings: SettingsStore
