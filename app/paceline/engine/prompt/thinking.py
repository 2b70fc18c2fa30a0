"""Whether and how much a model reasons: the switches that chat templates have for it.

Templates agree on no name. So what each choice could mean is handed to the template under all
names that are in use, and a choice exists where it changes the prompt. Some templates read a text
in the system message in place of a variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from paceline.engine.prompt.renderer import Job, Outcome
from paceline.messages import ChatMessage

_EFFORTS = {"low": 512, "medium": 2048, "high": 8192, "max": 8192}
"""With the tokens that a template with a budget is told."""
CHOICES = ("off", "on", *_EFFORTS)
_NAMES = re.compile(
    r"\b(?:(?:enable_)?thinking|thinking_(?:mode|budget|effort)|reasoning(?:_effort)?)\b"
)
_TEXTS = (("/no_think", "/think"), ("detailed thinking off", "detailed thinking on"))
_NO_EFFORT = re.compile(r"reasoning_effort\b[^%}]{0,80}['\"](none|no_think)['\"]")
_PROBE = ChatMessage("user", "Why")

Render = Callable[[Sequence[Job]], list[Outcome]]


class ThinkingSwitch:
    """What a template does with each choice.

    Args:
        source: The template.
        render: Puts conversations through it.

    Attributes:
        choices: Those that it has, from the least reasoning to the most; empty: no switch.
    """

    def __init__(self, source: str, render: Render) -> None:
        self._source = source
        self._render = render
        self._texts: tuple[str, str] | None = None
        self.choices: tuple[str, ...] = self._look() if _NAMES.search(source) else ()
        for texts in _TEXTS:
            if not self.choices and texts[0] in source:
                self._texts = texts
                self.choices = self._look()

    def variables(self, choice: str) -> dict[str, Any]:
        """Return what the template is given for a choice; nothing for an empty one."""
        if not choice or self._texts:
            return {}
        is_on = choice != "off"
        given: dict[str, Any] = {"enable_thinking": is_on, "thinking": is_on, "reasoning": is_on}
        given["thinking_mode"] = "enabled" if is_on else "disabled"
        if choice in _EFFORTS:
            given |= {"reasoning_effort": choice, "thinking_effort": choice}
            given["thinking_budget"] = _EFFORTS[choice]
        elif not is_on:
            given["thinking_budget"] = 0
            if none := _NO_EFFORT.search(self._source):
                given["reasoning_effort"] = none[1]
        return given

    def messages(self, messages: Sequence[ChatMessage], choice: str) -> Sequence[ChatMessage]:
        """Return the conversation with the text that makes the choice, if a text does."""
        if not choice or self._texts is None:
            return messages
        text = self._texts[choice != "off"]
        if messages and messages[0].role == "system":
            text = f"{messages[0].content}\n\n{text}"
            messages = messages[1:]
        return (ChatMessage("system", text), *messages)

    def _look(self) -> tuple[str, ...]:
        asked = [(self.messages([_PROBE], choice), self.variables(choice)) for choice in CHOICES]
        # One that is refused knows other words.
        prompts = {
            choice: text
            for choice, (kind, text) in zip(CHOICES, self._render(asked), strict=True)
            if kind == "text"
        }
        off, on = prompts.get("off"), prompts.get("on")
        has_off = off is not None and (off != on or _NO_EFFORT.search(self._source) is not None)
        # A template that takes any word says nothing of "max".
        has_max = re.search(r"['\"]max['\"]", self._source) is not None
        is_real = {"off": has_off, "on": off != on, "max": has_max}
        kept: dict[str, str] = {}
        # An effort that does as another one, or as "on", is no choice of its own.
        for choice in ("off", "on", "low", "high", "medium", "max"):
            text = prompts.get(choice)
            if text is not None and text not in kept and is_real.get(choice, True):
                kept[text] = choice
        return tuple(c for c in CHOICES if c in kept.values()) if len(kept) > 1 else ()
