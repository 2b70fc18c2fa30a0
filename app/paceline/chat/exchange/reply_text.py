"""The text of a reply whose reasoning another program kept apart, with a model's own marks."""

from __future__ import annotations

from paceline.engine.prompt.reasoning_marks import PAIRS


def with_reasoning(reasoning: str, answer: str = "") -> str:
    """Return a reply's text: what was thought between marks, then the answer as it is."""
    reasoning = _bare(reasoning)
    if not reasoning:
        return answer
    # Marks that the reasoning itself names would end it.
    opening, closing = next(
        (pair for pair in PAIRS.items() if pair[1] not in reasoning), ("<think>", "</think>")
    )
    return f"{opening}\n{reasoning}\n{closing}" + (f"\n\n{answer}" if answer else "")


def _bare(reasoning: str) -> str:
    """Return the reasoning without the marks that its program left around it."""
    text = reasoning.strip()
    for opening, closing in PAIRS.items():
        if text.startswith(opening):
            text = text.removeprefix(opening).removesuffix(closing).strip()
        elif text.endswith(closing) and opening not in text:
            text = text.removesuffix(closing).strip()
    return text


class ReplyText:
    """Puts a reply together from pieces of answer and reasoning, in their order."""

    def __init__(self) -> None:
        self._parts: list[tuple[bool, str]] = []  # whether it is reasoning, and the text
        self._goes_on = False

    def add(self, text: str, *, is_reasoning: bool = False) -> None:
        """Append a piece; it continues the last one as it is, unless that was of another kind."""
        if self._goes_on and self._parts[-1][0] == is_reasoning:
            self._parts[-1] = is_reasoning, self._parts[-1][1] + text
        else:
            self._parts.append((is_reasoning, text))
        self._goes_on = True

    def gap(self) -> None:
        """Note that something stood here which is not kept: what follows is another paragraph."""
        self._goes_on = False

    def text(self) -> str:
        """Return the whole."""
        if len(self._parts) == 1 and not self._parts[0][0]:
            return self._parts[0][1]
        parts = [(kind, text) for kind, text in self._parts if text.strip()]
        pieces = (with_reasoning(text) if kind else text.strip("\n") for kind, text in parts)
        return "\n\n".join(filter(None, pieces))
