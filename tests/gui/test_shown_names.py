"""Names from elsewhere in the window: none of them turns around what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QWidget

from gui.fake_client import model_info
from paceline.conversation import Attachment, Conversation, Message
from paceline.errors import UserError
from paceline.gui.state.pair import model_name
from paceline.messages import LoadPair, PairLoaded
from paceline.names import REPLACEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

EVIL = "Qwen\u202e3"
SEEN = f"Qwen{REPLACEMENT}3"
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)
WORDS = ("text", "toolTip", "accessibleName", "windowTitle", "placeholderText", "currentText")


def words_in(window: QWidget) -> Iterator[str]:
    """Whatever the widgets of a window and the rows of its lists say."""
    for widget in (window, *window.findChildren(QWidget)):
        for name in WORDS:
            says = getattr(widget, name, None)
            if callable(says):
                yield str(says())
        yield from (action.text() for action in widget.actions())
        model = widget.model() if isinstance(widget, QAbstractItemView) else None
        for row in range(model.rowCount() if model is not None else 0):
            for role in ROLES:
                yield str(model.index(row, 0).data(role) or "")


@pytest.mark.parametrize(
    ("file", "title", "name"),
    [
        ("/m/smollm2-q8_0.gguf", "Smollm2 135M 8k Lc500K Mix1 Ep2 Q8_0", "smollm2-q8_0"),
        ("/m/sha256-74701a8c35f6c8d9a4b91f3f3497643001d63e0c7a84e085bed4", "Llama 3.2 1B Q8_0",
         "Llama 3.2 1B Q8_0"),
        ("/m/big-00001-of-00003.gguf", "Wolf 70B", "big"),
        ("/m/unknown.gguf", "", "unknown"),
        (f"/a/{EVIL}.gguf", "", SEEN),
        (f"hf:owner/repo:{EVIL}.gguf", "", SEEN),
    ],
)  # fmt: skip
def test_a_model_is_called_by_its_file_where_that_is_shorter(
    file: str, title: str, name: str
) -> None:
    assert model_name(file, title) == name


def test_no_name_in_the_window_turns_around(program: Program, client: FakeClient) -> None:
    program.models.load_demo_pair()
    path = client.last(LoadPair).target.path
    target = structs.replace(model_info(path), name=f"{EVIL} Q4_K_M")
    client.emit(PairLoaded(target, None, 0.1, ()))
    session, pane = program.session, program.window.chat_pane
    file = Attachment(f"{EVIL}.txt", "x", 1)
    chat = Conversation("c", EVIL).add(
        Message.of_text("q", None, "user", "Hi", 1.0, attachments=(file,))
    )
    chat = chat.add(Message.of_text("a", "q", "assistant", "Hello", 2.0))
    session.conversations.put(chat, ("q", "a"))
    program.shown.show("c")
    session.tag("c", (EVIL,))
    presets = program.sampling.presets
    presets.save_as(EVIL)
    pane.composer.files.add([file])
    program.notices.user_error(UserError("x", f"“{EVIL}.gguf” cannot be used.", EVIL))
    said = list(words_in(program.window))
    assert f"{SEEN} Q4_K_M" in said, "the type of weights stays beside it"
    assert sum(SEEN in words for words in said) >= 8
    assert [words for words in said if "\u202e" in words] == []
    assert "\u202e" not in program.window.model_bar.accessibleName()
