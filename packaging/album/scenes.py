"""The scenes that are photographed; each leaves the window as it was."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QToolTip

from album import texts
from album.studio import Studio
from paceline.conversation import Folder
from paceline.engine.draft.strategy import read_strategy
from paceline.gui.chat.context_meter import description
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.reply_body import ReasoningBlock
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.conversations.groups import ARCHIVE
from paceline.hosting.prompt_wait import PromptWait
from paceline.messages import PrefillProgressed, TurnStarted
from paceline.params import ReplySettings, SamplingParams

Scene = Callable[[Studio], None]
QUESTION = "Show me an example of a class."


def first_run(studio: Studio) -> None:
    """The page of the first start, on a laptop and in a narrow window, too."""
    catalogue, size = studio.program.catalogue, studio.window.size()
    example = studio.program.welcome.page.example
    assert catalogue is not None
    studio.until(lambda: bool(catalogue.entries) and not catalogue.is_looking)
    studio.until(lambda: example.is_over)
    studio.shoot("first-run")
    for width, height in ((1366, 768), (640, 700)):
        studio.resize(width, height)
        studio.shoot("first-run")
    studio.resize(size.width(), size.height())


def empty(studio: Studio) -> None:
    """An empty chat, and a private one."""
    studio.program.welcome.leave()
    studio.program.shown.new()
    studio.shoot("empty-chat")
    studio.window.actions_.new_private.trigger()
    studio.shoot("private-chat")


def fill(studio: Studio) -> None:
    """Put the chats into the database."""
    for conversation, records in (*texts.many(5), *texts.chats()):
        name = studio.program.session.conversations.add_copy(conversation, records)
        studio.program.shown.show_copy(name)
        if conversation.pinned:
            studio.program.session.pin(name, True)
        if conversation.tags:
            studio.program.session.tag(name, conversation.tags)
    studio.until_counted()


def stored(studio: Studio) -> None:
    """Chats from the database: code and table, reasoning, run details, search, edit in place."""
    chat = studio.window.chat_pane.chat
    reply = studio.open_chat("Count words in a file")
    studio.shoot("code-table")
    _hover(studio)
    first, _, question, *_ = studio.program.shown.conversation.path()
    chat.show_kept_from(question.message_id)
    chat.go_to(first.message_id)
    studio.shoot("unseen-above")
    chat.show_kept_from("")
    studio.program.runs.open(reply)
    studio.shoot_dialog("run-details")
    _maths(studio, "maths")
    studio.open_chat("Fast string building")
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
    studio.open_chat("Find files by pattern")
    sidebar = studio.window.sidebar
    sidebar.search.setText("file")
    studio.wait(500)
    studio.shoot("search")
    sidebar.search.clear()
    _folders(studio)


def _folders(studio: Studio) -> None:
    """Two folders, one of them open, an archived chat, and the editor of a folder."""
    session, sidebar = studio.program.session, studio.window.sidebar
    work = Folder("work", "Python at work", "Answer in two sentences. Code has type hints.")
    session.put_folder(work)
    session.put_folder(Folder("notes", "Notes"))
    chats = [summary.conversation_id for summary in session.summaries]
    for chat in chats[:3]:
        session.move(chat, "work")
    session.move(chats[3], "notes")
    session.archive(chats[4], True)
    sidebar.model.set_open("work", on=True)
    studio.program.shown.show(chats[0])
    studio.wait(300)
    studio.shoot("folders")
    sidebar.folder_edit_wanted.emit("work")
    studio.shoot_dialog("folder-editor")
    studio.program.settings.update(chat_width="narrow", density="compact")
    sidebar.model.set_open(ARCHIVE, on=True)
    studio.wait(300)
    studio.shoot("folders-compact")
    studio.program.settings.update(chat_width="normal", density="comfortable")
    sidebar.model.set_open(ARCHIVE, on=False)
    session.archive(chats[4], False)
    session.remove_folder("notes")
    session.remove_folder("work")


def _maths(studio: Studio, name: str) -> None:
    """Formulas, and code that is wrapped and then scrolled."""
    reply = studio.open_chat("Fit a line to points")
    chat = studio.window.chat_pane.chat
    studio.until(lambda: sum(len(v.content.formulas) for v in chat.findChildren(MessageView)) > 6)
    chat.go_to(reply)
    studio.wait(200)
    studio.shoot(name)
    studio.window.actions_.wrap_code.trigger()
    chat.scroll_to_end()
    studio.wait(200)
    studio.shoot(f"{name}-code")
    studio.window.actions_.wrap_code.trigger()


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
                _shoot_tip(studio, "token-hover")
                return


def _shoot_tip(studio: Studio, name: str) -> None:
    studio.wait(150)
    tips = [w for w in QApplication.topLevelWidgets() if w.inherits("QTipLabel")]
    studio.shoot(name, *tips)
    for tip in tips:
        tip.hide()


def dialogs(studio: Studio) -> None:
    """Dialogs that menus open: settings, palette, shortcuts, About, the picker, where to export."""
    actions, palette = studio.window.actions_, studio.program.help.palette
    actions.settings.trigger()
    dialog = studio.dialog()
    assert dialog is not None
    pages = ("general", "looks", "models", "downloads", "privacy", "prompt-cache")
    for row, page in enumerate(pages):
        dialog.list.setCurrentRow(row)
        studio.wait(100)  # what is kept is looked up
        studio.shoot(f"settings-{page}", dialog)
    dialog.close()
    actions.palette.trigger()
    studio.wait(100)
    studio.shoot("palette")
    QTest.keyClicks(palette.findChildren(QLineEdit)[0], "the")
    studio.shoot("palette-typed")
    palette.leave()
    for name in ("shortcuts", "about", "export_chat"):
        getattr(actions, name).trigger()
        studio.shoot_dialog(name.replace("_", "-"))
    actions.choose_models.trigger()
    picker = studio.program.catalogue.picker if studio.program.catalogue else None
    assert picker is not None
    studio.until(lambda: picker.dialog is not None and picker.dialog.main.isEnabled())
    assert picker.dialog is not None
    studio.shoot("choose-models", picker.dialog)
    picker.dialog.show_recommended()
    rows = picker.dialog.recommended.rows
    rows.setFocus()
    QTest.keyClick(rows, Qt.Key.Key_Down)
    studio.wait(300)
    studio.shoot("choose-recommended", picker.dialog)
    picker.dialog.close()


def parts(studio: Studio) -> None:
    """Attached files, the plot's menu, and a chat without records of its replies."""
    program, pane, panel = studio.program, studio.window.chat_pane, studio.window.panel
    studio.open_chat("Count words in a file")
    panel.sampling.use(
        ReplySettings(SamplingParams(0.2, json_schema="{}"), system_prompt="You answer in JSON.")
    )
    studio.window.actions_.chat_settings.trigger()
    studio.until_counted()
    studio.shoot("chat-settings")
    panel.open_only(("more",))
    studio.wait(200)
    studio.shoot("chat-settings-more")
    program.sampling.reset()
    panel.show_tab("speed")
    panel.picker.chooser.click()
    studio.wait(150)
    studio.shoot("strategies", panel.picker.menu)
    panel.picker.menu.chosen.emit("")
    studio.wait(150)
    studio.shoot("strategies-all", panel.picker.menu)
    panel.picker.menu.hide()
    panel.open_only(("details",))
    studio.wait(200)
    studio.shoot("tune-and-details")
    panel.open_only(())
    more, menu = panel.plot.tools.more, panel.plot.tools.menu
    below = more.mapToGlobal(more.rect().bottomRight())
    menu.popup(below - QPoint(menu.sizeHint().width(), 0))
    studio.wait(150)
    studio.shoot("plot-menu", menu)
    menu.close()
    program.shown.show_copy(program.session.conversations.add_copy(texts.foreign(), {}))
    studio.until_counted()
    studio.shoot("imported-chat")
    studio.window.actions_.run.trigger()
    studio.shoot_dialog("imported-run")
    files = [studio.home / name for name in ("render.py", "measurements with a long name.csv")]
    for file in files:
        file.write_text(texts.FILE * 9, encoding="utf-8")
    program.shown.new()
    program.attachments.attach([str(file) for file in files])
    studio.until(lambda: len(pane.composer.attachments) == len(files))
    pane.composer.set_text("What does render return for an empty row?")
    studio.until_counted()
    studio.shoot("attachments")
    _read_ahead(studio)
    QTest.keyClick(pane.composer.edit, Qt.Key.Key_Return)
    studio.until(lambda: len(program.shown.conversation.path()) == 2)
    studio.until_idle()
    pane.chat.go_to(program.shown.conversation.path()[0].message_id)
    studio.wait(200)
    studio.shoot("attachments-sent")


def _read_ahead(studio: Studio) -> None:
    """The tip of the context meter."""
    meter = studio.window.chat_pane.composer.meter
    studio.until(lambda: meter.toolTip() != description(meter.use))
    studio.wait(1500)
    QToolTip.showText(meter.mapToGlobal(QPoint(0, -170)), meter.toolTip(), meter)
    _shoot_tip(studio, "read-ahead")


def live(studio: Studio) -> None:
    """A reply of the real engine, in the middle and at its end."""
    program, panel = studio.program, studio.window.panel
    program.speculation.use(read_strategy("draft:n_max=4"))
    program.shown.new()
    panel.sampling.max_tokens.setValue(1200)
    program.chat.send(QUESTION)
    studio.until(lambda: bool(panel.headline.ratio.text()))
    studio.wait(500)
    studio.shoot("live-plot")
    program.session.stop()
    studio.until_idle()
    studio.shoot("reply-finished")
    program.runs.open_last()
    studio.shoot_dialog("run-stopped")


def reading(studio: Studio) -> None:
    """The wait for the first token of a long chat, which the demo pair would read too fast."""
    program, usual = studio.program, studio.window.size()
    studio.open_chat("Fast string building")
    for width, height in ((usual.width(), usual.height()), (640, 700)):
        studio.resize(width, height)
        program.models.load_again()  # the reply waits for that
        program.chat.send("And which of them needs the least memory?")
        reply, now = program.session.active, program.session.clock()
        assert reply is not None
        reply.wait = PromptWait(TurnStarted(4_100, 2_048, 1), now - 7.6)
        reply.wait.grow(PrefillProgressed(3_200, 4_100), now)
        reply.status = "prefill"
        program.signals.progressed.emit(reply)
        studio.shoot("reading")
        program.session.stop()
        studio.until_ready()
        studio.until_idle()
    studio.resize(usual.width(), usual.height())


def text_sizes(studio: Studio) -> None:
    """Larger text, with which everything grows."""
    usual = studio.program.settings.value("font_px")
    for percent, size in ((125, 18), (150, 21)):
        studio.program.settings.set("font_px", size)
        studio.wait(400)
        studio.open_chat("Fast string building")
        studio.shoot(f"text-{percent}")
        studio.program.runs.open_last()
        studio.shoot_dialog(f"text-{percent}-run")
    studio.program.settings.set("font_px", usual)
    studio.wait(400)


def narrow(studio: Studio) -> None:
    """The window at its minimum width."""
    size = studio.window.size()
    studio.open_chat("Count words in a file")
    studio.resize(640, 700)
    studio.shoot("narrow")
    _maths(studio, "narrow-maths")
    studio.resize(size.width(), size.height())
