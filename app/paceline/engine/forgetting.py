"""What one chat has taught the drafters, taken away again: of all vocabularies.

Each drafter takes its own out (`DrafterInfo.forget`), and the chat's log goes last. So whatever
stops this, it can be called again. Where the log is damaged nobody can tell what the chat has
taught, and all goes that was learned with that vocabulary.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from paceline.engine.drafters.base import DrafterInfo
from paceline.engine.drafters.chat_log import FOLDER, ChatLog, DamagedLogError

_log = logging.getLogger(__name__)


def forget(memory_dir: Path, chat: str, drafters: Sequence[DrafterInfo]) -> str:
    """Forget a chat; a chat without a log has taught nothing that could be told from the rest.

    Args:
        memory_dir: The folder with one folder per vocabulary; need not exist.
        chat: The chat's name.
        drafters: Those that may have learned something.

    Returns:
        What could not be taken out, in one sentence; empty: all is gone.
    """
    problems: list[str] = []
    try:
        folders = sorted({path.parent for path in memory_dir.glob(f"*/{FOLDER}")}) if chat else []
    except OSError as error:
        return _sentence([f"the folder cannot be read ({error})"])
    for folder in folders:
        log = ChatLog(folder, chat)
        try:
            if log.exists:
                problems += _forget_in(folder, log, drafters)
        except OSError as error:
            problems.append(f"its log stays ({error})")
    return _sentence(problems)


def _forget_in(folder: Path, log: ChatLog, drafters: Sequence[DrafterInfo]) -> list[str]:
    try:
        log.check()
    except DamagedLogError:
        _log.warning("%s is damaged; all that was learned with it goes", log.path)
        shutil.rmtree(folder)
        return []
    failures = []
    for info in drafters:
        if info.forget is None:
            continue
        try:
            info.forget(folder, log)
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything
            _log.warning("%s could not forget a chat: %s", info.id, error)
            failures.append(f"{info.id} keeps it ({error})")
    if not failures:
        log.remove()
    return failures


def _sentence(problems: Sequence[str]) -> str:
    if not problems:
        return ""
    return f"What was learned from the chat is not all gone: {'; '.join(problems)}."
