"""The first difference between a prompt and an earlier one, in words.

Both are compared as they were sent, before a template is applied. The words quote both, so they may
be shown only to the sender of both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from paceline.content import ChatMessage, Infill, Prompt, RawText, Tool
from paceline.engine.prompt.conversation import tools_of
from paceline.engine.prompt.reasoning_marks import PAIRS
from paceline.figures import RereadCode
from paceline.messages import Chat
from paceline.names import visible
from paceline.sentence import Sentence, sentence

MAX_QUOTED_CHARS = 40
"""Maximum number of characters of a quotation."""
_MAX_WORD_CHARS = 20
"""Maximum number of characters before the difference that complete a word."""
_MAX_END_CHARS = 80
"""Maximum number of characters of a line's beginning, and of its end, in an expression."""
_MIN_END_CHARS = 4
"""Minimum number of letters and digits of both together; with fewer an expression matches too
much."""
_SPECIAL = re.compile(r"[\\^$.|?*+(){}\[\]]")


class PromptChange(NamedTuple):
    """The first difference.

    Attributes:
        code: Code of the reason, see `Reread`.
        why: The change, as a clause after “since”.
        pattern: Regular expression, see `Reread`.
    """

    code: RereadCode
    why: Sentence
    pattern: str = ""


class Sent(NamedTuple):
    """A prompt as it was sent.

    Attributes:
        prompt: The whole prompt.
        n_cut: Number of messages, or of files beside a gap, that were omitted.
        reply: The reply to it; empty without one.
    """

    prompt: Prompt
    n_cut: int = 0
    reply: str = ""


def difference(before: Sent, now: Sent) -> PromptChange | None:
    """Return the first difference within the earlier prompt and its reply, or None."""
    match before.prompt, now.prompt:
        case Chat(), Chat():
            return _of_chats(before, before.prompt, now, now.prompt)
        case RawText(text=old), RawText(text=new) if not new.startswith(old):
            line = _first_line(old, new)
            return PromptChange(
                "text",
                sentence("line {line} of the prompt changed: {change}", line=line.number,
                         change=line.change),
            )  # fmt: skip
        case Infill(), Infill():
            return _of_infills(before.prompt, now.prompt, is_cut=before.n_cut != now.n_cut)
    return None


def _of_chats(before: Sent, old: Chat, now: Sent, new: Chat) -> PromptChange | None:
    system = [[m for m in chat.messages if m.role == "system"] for chat in (old, new)]
    spoken = [[m for m in chat.messages if m.role != "system"] for chat in (old, new)]
    return (
        _of_system(*system)
        or _of_tools(tools_of(old), tools_of(new))
        or _of_cuts(before.n_cut, now.n_cut)
        or _of_messages(*spoken)
        or _of_reply(before.reply, spoken[1][len(spoken[0]) :])
        or _of_prompting(old, new)
    )


def _of_system(old: Sequence[ChatMessage], new: Sequence[ChatMessage]) -> PromptChange | None:
    pairs = zip_longest((m.text for m in old), (m.text for m in new), fillvalue="")
    first = next(((was, now) for was, now in pairs if was != now), None)
    if first is None:
        return None
    line = _first_line(*first)
    why = sentence(
        "line {line} of the system prompt changed: {change}", line=line.number, change=line.change
    )
    return PromptChange("line", why, line.pattern)


def _of_tools(old: Sequence[Tool], new: Sequence[Tool]) -> PromptChange | None:
    if tuple(old) == tuple(new):
        return None
    was, now = {tool.name: tool for tool in old}, {tool.name: tool for tool in new}
    added = [name for name in now if name not in was]
    removed = [name for name in was if name not in now]
    changed = [name for name in now if name in was and now[name] != was[name]]
    n = len(added) + len(removed) + len(changed)
    if n > 1:
        why = sentence("{n} tools were added, removed or changed", n=n)
    elif added:
        why = sentence("the tool “{tool}” was added", tool=shortened(added[0]))
    elif removed:
        why = sentence("the tool “{tool}” was removed", tool=shortened(removed[0]))
    elif changed:
        why = sentence("the tool “{tool}” changed", tool=shortened(changed[0]))
    else:
        why = sentence("the order of the tools changed")
    return PromptChange("tools", why)


def _of_cuts(old: int, new: int) -> PromptChange | None:
    if new <= old:
        return None
    return PromptChange("left", sentence("old messages were left out, as the context was full"))


def _of_messages(old: Sequence[ChatMessage], new: Sequence[ChatMessage]) -> PromptChange | None:
    pairs = enumerate(zip(old, new, strict=False))
    first = next(((i, was, now) for i, (was, now) in pairs if was != now), None)
    if first is None:
        return None
    i, was, now = first
    if now in old[i + 1 :]:
        return PromptChange("left", sentence("earlier messages were left out"))
    if was in new[i + 1 :]:
        return PromptChange("message", sentence("message {n} was put before others", n=i + 1))
    if was.text == now.text:
        return PromptChange("message", sentence("message {n} changed", n=i + 1))
    change = _first_line(was.text, now.text).change
    return PromptChange(
        "message", sentence("message {n} changed: {change}", n=i + 1, change=change)
    )


def _of_reply(reply: str, after: Sequence[ChatMessage]) -> PromptChange | None:
    """Return the difference if the first message after the earlier prompt is not its reply."""
    if not reply or not after or after[0].role != "assistant" or after[0].calls:
        return None
    said = after[0].text.strip()
    if said == reply.strip():
        return None
    answer = reply
    for closing in PAIRS.values():
        answer = answer.rpartition(closing)[2]
    if said == answer.strip():
        return PromptChange("template", sentence("the reasoning of an earlier reply is left out"))
    change = _first_line(reply.strip(), said).change
    return PromptChange("message", sentence("an earlier reply changed: {change}", change=change))


def _of_prompting(old: Chat, new: Chat) -> PromptChange | None:
    if old.prompting.template != new.prompting.template:
        return PromptChange("template", sentence("another chat template was chosen"))
    if old.prompting.think != new.prompting.think:
        return PromptChange("template", sentence("another way to reason was chosen"))
    return None


def _of_infills(old: Infill, new: Infill, *, is_cut: bool) -> PromptChange | None:
    if is_cut:
        return PromptChange("left", sentence("other files were left out, as the context was full"))
    if old.files != new.files:
        return PromptChange("text", sentence("the files beside the gap changed"))
    if old.before != new.before:
        return PromptChange("text", sentence("the text before the gap changed"))
    if old.after != new.after:
        return PromptChange("text", sentence("the text after the gap changed"))
    return None


def written_otherwise(prompt: Prompt, change: Sentence) -> PromptChange:
    """Return the difference of prompts that were sent alike, but have other tokens."""
    if not isinstance(prompt, Chat):
        return PromptChange("text", sentence("the prompt changed: {change}", change=change))
    why = sentence(
        "the chat template writes an earlier part in another way: {change}", change=change
    )
    return PromptChange("template", why)


# ----------------------------------------------------------------------------------------- lines


class _Line(NamedTuple):
    """The first line that differs.

    Attributes:
        number: Number of the line, from 1.
        change: The earlier and the later line, quoted.
        pattern: Regular expression, see `Reread`.
    """

    number: int
    change: Sentence
    pattern: str


def _first_line(old: str, new: str) -> _Line:
    """Return the first line in which two texts differ; the texts must be different."""
    at = _n_same(old, new)
    begin = max(old.rfind("\n", 0, at), new.rfind("\n", 0, at)) + 1
    was, now = (text[begin:].partition("\n")[0] for text in (old, new))
    if was == now:  # one of the texts ends with this line
        begin += len(was) + 1
        was, now = (text[begin:].partition("\n")[0] for text in (old, new))
    number = max(old.count("\n", 0, begin), new.count("\n", 0, begin)) + 1
    return _Line(number, quoted(was, now), _pattern(was, now))


def quoted(was: str, now: str) -> Sentence:
    """Return the differing parts of both texts, in whole words and not too long."""
    n_first, n_last = _ends(was, now)
    begin = max(was.rfind(" ", 0, n_first) + 1, n_first - _MAX_WORD_CHARS)
    parts = []
    for text in (was, now):
        end = text.find(" ", max(len(text) - n_last, begin))
        parts.append(shortened(text[begin : end if end >= 0 else len(text)]))
    return sentence("“{was}” to “{now}”", was=parts[0], now=parts[1])


def shortened(text: str, longest: int = MAX_QUOTED_CHARS) -> str:
    """Return the beginning of a text as a quotation in one line."""
    text = visible(" ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _pattern(was: str, now: str) -> str:
    """Return an expression that matches both lines by their beginning and end, or empty.

    Neither line may be empty, and their common parts must distinguish them from other lines.
    """
    n_first, n_last = _ends(was, now)
    first, last = was[:n_first][:_MAX_END_CHARS], was[len(was) - n_last :][-_MAX_END_CHARS:]
    n_telling = sum(map(str.isalnum, first + last))
    if n_telling < _MIN_END_CHARS or not (was and now):
        return ""
    return f"^{_escaped(first)}.*{_escaped(last)}$"


def _escaped(text: str) -> str:
    """Return a readable expression for a text, unlike `re.escape`, which escapes spaces."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _ends(was: str, now: str) -> tuple[int, int]:
    """Return how many characters two texts share at the beginning, and then at the end."""
    n_first = _n_same(was, now)
    return n_first, _n_same(was[n_first:][::-1], now[n_first:][::-1])


def _n_same(some: str, other: str) -> int:
    """Return how many of the first characters are equal, at the speed of C."""
    low, high = 0, min(len(some), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if some[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
