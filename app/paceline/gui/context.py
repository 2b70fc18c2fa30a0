"""The parts that every feature of the window may use, given to its controller as one value."""

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
    """The program's parts that more than one feature needs; made once, before the features.

    Attributes:
        client: The engine.
        session: The chats and the reply under way; told of as Qt signals by `signals`.
        shown: Which chat is shown.
        drafts: What is written in each chat and was not sent.
        next_reply: What the next reply is generated with.
        loader: Loads pairs; `pair` shows how the present one stands.
        speculation: Which strategy is chosen, with which settings.
        live: The figures of the reply under way.
        programs: The requests of other programs.
        background: Runs small jobs off the main thread.
        notices: Inline notices and the few dialogs that block.
        save_file: Asks for a place and writes a file there.
        actions: What menus and keys offer.
        undoing: What the key for it takes back.
        window: The parent of dialogs.
        settings: What is remembered between two starts; it also writes them.
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
