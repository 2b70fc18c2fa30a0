"""What is photographed, scene by scene; each leaves the window as it was."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from psutil import Process
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from album import texts
from album.studio import Studio
from paceline.gui.widgets.message_view import MessageView
from paceline.gui.widgets.reasoning_block import ReasoningBlock
from paceline.gui.widgets.user_bubble import UserBubble

Scene = Callable[[Studio], None]
Names = dict[str, str]


def first_run(studio: Studio) -> None:
    """The page of the first start."""
    studio.shoot("first-run")


def empty(studio: Studio) -> None:
    """An empty chat, and a private one."""
    studio.program.extras.welcome.leave()
    studio.program.session.new()
    studio.shoot("empty-chat")
    studio.window.actions_.new_private.trigger()
    studio.shoot("private-chat")


def stored(studio: Studio) -> None:
    """Chats from the database: code and table, reasoning, run details, search, edit in place."""
    names = studio_names(studio)
    session, chat = studio.program.session, studio.window.chat_pane.chat
    session.show(names["Count words in a file"])
    studio.wait(300)
    studio.shoot("code-table")
    _hover(studio)
    reply = session.current.path()[-1].message_id
    studio.program.runs.open(reply)
    studio.wait(300)
    dialog = studio.dialog()
    studio.shoot("run-details", dialog)
    if dialog is not None:
        dialog.close()
    session.show(names["Fast string building"])
    studio.wait(300)
    studio.shoot("reasoning-folded")
    for block in chat.findChildren(ReasoningBlock):
        block.unfold()
    studio.wait(200)
    studio.shoot("reasoning-unfolded")
    bubble = chat.findChildren(UserBubble)[0]
    chat.go_to(bubble.message_id)
    studio.wait(100)
    bubble.begin_edit()
    studio.shoot("edit-in-place")
    QTest.keyClick(bubble.findChildren(QPlainTextEdit)[0], Qt.Key.Key_Escape)
    session.show(names["Find files by pattern"])
    sidebar = studio.window.sidebar
    sidebar.search.setText("file")
    studio.wait(500)
    studio.shoot("search")
    sidebar.search.clear()


def _hover(studio: Studio) -> None:
    """The tip of a drafted token."""
    views = [v for v in studio.window.chat_pane.chat.findChildren(MessageView) if v.isVisible()]
    for view in views:
        seen = view.visibleRegion().boundingRect()
        for x, y in product(range(20, 400, 7), range(seen.top() + 90, seen.bottom(), 9)):
            at = QPoint(x, y)
            if "target" not in (view.tool_tip_at(at) or "target"):
                place = view.viewport().mapToGlobal(at)
                QApplication.sendEvent(view.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, place))
                studio.wait(150)
                tips = [w for w in QApplication.topLevelWidgets() if w.inherits("QTipLabel")]
                studio.shoot("token-hover", *tips)
                for tip in tips:
                    tip.hide()
                return


def dialogs(studio: Studio) -> None:
    """What menus open: settings, palette, shortcuts, log, About, the picker."""
    actions, extras = studio.window.actions_, studio.program.extras
    actions.settings.trigger()
    dialog = studio.dialog()
    assert dialog is not None
    for page in ("general", "looks", "models", "privacy"):
        dialog.show_page(page)
        studio.shoot(f"settings-{page}", dialog)
    dialog.close()
    actions.palette.trigger()
    studio.wait(100)
    studio.shoot("palette")
    QTest.keyClicks(extras.help.palette.findChildren(QLineEdit)[0], "the")
    studio.shoot("palette-typed")
    extras.help.palette.leave()
    for name in ("shortcuts", "about", "log", "choose_models"):
        getattr(actions, name).trigger()
        studio.wait(400)
        dialog = studio.dialog()
        studio.shoot(name.replace("_", "-"), dialog)
        if dialog is not None:
            dialog.close()
        studio.wait(50)


def live(studio: Studio) -> None:
    """A reply of the real engine, in the middle and at its end."""
    program = studio.program
    program.speculation.use("draft:n_max=4")
    program.session.new()
    program.session.send("Show me an example of a class.")
    studio.until(
        lambda: program.session.active is not None and len(program.session.active.text) > 350
    )
    studio.shoot("live-plot")
    program.session.stop()
    studio.until(lambda: not studio.window.actions_.stop.isEnabled())
    studio.wait(500)
    studio.shoot("reply-finished")


def errors(studio: Studio) -> None:
    """What can go wrong, as the window tells it: a broken file, a missing one, no engine."""
    program, pane = studio.program, studio.window.chat_pane
    program.session.new()
    broken = studio.home / "broken.gguf"
    broken.write_bytes(b"GGUF\3\0\0\0 and then nothing")
    for name, path in (("corrupt-file", broken), ("no-file", studio.home / "gone.gguf")):
        program.models.open_target(str(path))
        studio.until(pane.errors.isVisible)
        studio.wait(300)
        studio.shoot(f"error-{name}")
        pane.errors.dismiss()
    for child in Process().children():
        child.kill()  # the engine's process, and the one that reads files
    studio.until(lambda: program.pair.state.status == "dead")
    studio.wait(300)
    studio.shoot("error-engine-died")
    pane.errors.dismiss()


def narrow(studio: Studio) -> None:
    """A window as narrow as it gets."""
    names = studio_names(studio)
    studio.program.session.show(names["Count words in a file"])
    studio.resize(640, 700)
    studio.shoot("narrow")


def studio_names(studio: Studio) -> Names:
    """The ids of the chats by their titles."""
    return {each.title: each.conversation_id for each in studio.program.session.summaries}


def fill(studio: Studio) -> None:
    """Put the chats into the database."""
    for conversation, records in (*texts.many(5), *texts.chats()):
        name = studio.program.session.import_conversation(conversation, records)
        if conversation.pinned:
            studio.program.session.pin(name, True)
        if conversation.tags:
            studio.program.session.tag(name, conversation.tags)


SCENES: tuple[Scene, ...] = (first_run, empty, fill, stored, dialogs, live, errors)
