"""The window opens on a database of any bytes, shows what is intact and keeps what is new."""

from __future__ import annotations

import faulthandler
import random
import time
from typing import TYPE_CHECKING

import pytest

from gui.fake_client import FakeClient
from paceline.gui.storage_controller import CHATS_FILE
from paceline.settings import Settings, WindowSettings
from paceline.storage.archive import Archive
from storage.whole import N_CHATS, Whole, made_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paceline.gui.program import Program
    from trials import Trials

N_SEEDS, N_EACH = 120, 10
"""Together 1,000 databases with another byte and 200 that are cut off."""
LIMIT_S, HANGS_S = 5.0, 300.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return made_whole(tmp_path_factory.mktemp("whole") / CHATS_FILE)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_the_window_opens_whatever_the_bytes_are(
    make_program: Callable[..., Program],
    whole: Whole,
    tmp_path: Path,
    trials: Trials,
    allow_warnings: Callable[[str], None],
    seed: int,
) -> None:
    allow_warnings("was salvaged|chats are not written")
    drawn = random.Random(seed)
    for number in trials(1, N_EACH):
        file = tmp_path / str(number) / CHATS_FILE
        file.parent.mkdir()
        is_cut = (seed + number) % 6 == 5
        damage = whole.with_its_end_cut_off if is_cut else whole.with_one_byte_changed
        data, intact = damage(drawn)
        file.write_bytes(data)
        faulthandler.dump_traceback_later(HANGS_S, exit=True)
        try:
            use(make_program, file, intact, drawn)
        finally:
            faulthandler.cancel_dump_traceback_later()
        check_kept(file, intact)


def use(
    make_program: Callable[..., Program], file: Path, intact: set[str], drawn: random.Random
) -> None:
    """Open the window, look at some chats, and have one more reply."""
    client = FakeClient()
    client.takes_texts = False  # it would answer for 200 chats within one another's calls
    opened_last = WindowSettings(open_conversation=f"chat-{drawn.randrange(N_CHATS)}")
    settings = Settings(strategies=("draft",), was_welcomed=True, window=opened_last)
    began_s = time.process_time()  # other programs have no part in it
    program = make_program(settings, chats_file=file, engine=client)
    assert time.process_time() - began_s < LIMIT_S
    assert program.window.isVisible()
    client.finish_load()
    listed = {summary.conversation_id for summary in program.session.summaries}
    for text in drawn.sample(sorted(intact), min(len(intact), 5)):
        _, i, k = text.partition(">")[0].split()
        message_id = f"chat-{i}-{k}"
        if f"chat-{i}" in listed:
            program.shown.show(f"chat-{i}")
        else:  # its head is lost, and its messages are in one with another id
            hits = program.session.conversations.search(f"text {i} {k}", 1000)
            (chat_id,) = {hit.conversation_id for hit in hits if hit.message_id == message_id}
            program.shown.show(chat_id)
        assert program.shown.conversation.messages[message_id].text == text
        view = program.window.chat_pane.chat.reply_view(message_id)
        assert view is None or view.plain_text == text.strip()
    program.shown.new()
    assert program.chat.send("One more question")
    client.reply("One more reply")
    program.window.close()


def check_kept(file: Path, intact: set[str]) -> None:
    """Look for all of it as the next start would."""
    archive = Archive(file)
    archive.open()
    try:
        chats = [archive.load(summary.conversation_id) for summary in archive.summaries()]
        texts = {message.text for chat in chats for message in chat.messages.values()}
        assert intact | {"One more question", "One more reply"} <= texts
    finally:
        assert archive.close()
