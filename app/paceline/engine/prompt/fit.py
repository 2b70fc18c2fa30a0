"""Which of the oldest messages are left out of a prompt that outgrows its context.

Whole turns of question and answer go, from the oldest on; the system prompt and the last question
stay. Cutting one turn per reply would shift the whole prompt each time and reuse nothing of it. So
a chat has few places to cut at: each is the first question after 30 % of what a prompt may have,
counted from the place before. The first place after which the rest fits is the one.

Where the cut lies must not depend on what was asked before, or a reply could not be repeated. The
places depend on the messages before them alone, and the rest after a place only grows; so in a
chat that goes on, a cut stays or moves on, and never comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from paceline.engine.prompt.size import PromptSizes, is_hopeless
from paceline.messages import ChatMessage

FULL = 0.7
"""What a prompt that was cut takes at most of the context without the reply's room, if the ends of
turns and the last question allow it."""
LARGEST_ROOM = 4
"""Of how many parts of the context one is kept free for the reply at most."""


def room_for_reply(n_ctx: int, max_tokens: int) -> int:
    """Return the tokens that have to be free after the prompt, so that nothing is left out."""
    return min(max_tokens, n_ctx // LARGEST_ROOM)


def without_oldest(messages: Sequence[ChatMessage], n_cut: int) -> list[ChatMessage]:
    """Return the conversation without its first `n_cut` messages, which are no system prompts."""
    kept: list[ChatMessage] = []
    for message in messages:
        if message.role != "system" and n_cut:
            n_cut -= 1
        else:
            kept.append(message)
    return kept


class Cutter:
    """Finds where to cut one conversation.

    Args:
        messages: All of it.
        sizes: Knows how many tokens each message takes.
        limit: Tokens that the prompt may have.
    """

    def __init__(self, messages: Sequence[ChatMessage], sizes: PromptSizes, limit: int) -> None:
        spoken = [i for i, message in enumerate(messages) if message.role != "system"]
        each = sizes.of_messages(messages)
        sums = [0, *accumulate(each[i] for i in spoken)]
        total = sizes.total(messages)
        questions = [k for k, i in enumerate(spoken) if k and messages[i].role == "user"]
        places = _places(questions, sums, (1 - FULL) * limit)
        if places:
            questions = [question for question in questions if question > places[-1]]
        self._places = places + questions
        self._sizes = [total - sums[place] for place in self._places]
        self._messages = messages
        self._limit = limit

    def n_cut(self, measure: Callable[[Sequence[ChatMessage]], int]) -> int:
        """Return how many messages to leave out of a conversation that does not fit.

        Args:
            measure: Counts the tokens of what is kept; sizes of single messages may be a few off.

        Raises:
            EngineError: From `measure`.
        """
        places = self._places
        if not places:
            return 0
        likely = (i for i, size in enumerate(self._sizes) if size <= self._limit)
        i = next(likely, len(places) - 1)
        if self._fits(i, measure):
            while i and self._fits(i - 1, measure):
                i -= 1
        else:
            i += 1
            while i < len(places) and not self._fits(i, measure):
                i += 1
        return places[min(i, len(places) - 1)]

    def _fits(self, i: int, measure: Callable[[Sequence[ChatMessage]], int]) -> bool:
        if is_hopeless(self._sizes[i], self._limit):
            return False
        return measure(without_oldest(self._messages, self._places[i])) <= self._limit


def _places(questions: Sequence[int], sums: Sequence[int], step: float) -> list[int]:
    """Return the first question after each `step` tokens."""
    places: list[int] = []
    begin = 0
    for question in questions:
        if sums[question] - begin >= step:
            places.append(question)
            begin = sums[question]
    return places


class FittedPrompt(NamedTuple):
    """A prompt as tokens.

    Attributes:
        tokens: At least one.
        notes: Remarks for the user.
        n_cut: How many messages were left out of it.
        opening: What it ends with where it opens the model's reasoning; else empty.
        stops: Texts that the reply ends before, by the template.
    """

    tokens: list[int]
    notes: tuple[str, ...]
    n_cut: int
    opening: str = ""
    stops: tuple[str, ...] = ()


def encode_fitting(
    sizes: PromptSizes,
    messages: Sequence[ChatMessage],
    n_ctx: int,
    max_tokens: int,
) -> FittedPrompt:
    """Put a conversation through the template, without its oldest messages if need be.

    Raises:
        EngineError: The template refuses it.
    """
    limit, template = n_ctx - room_for_reply(n_ctx, max_tokens), sizes.template
    if not is_hopeless(sizes.total(messages), limit):
        tokens, notes = template.encode(messages)
        if len(tokens) <= limit:
            return FittedPrompt(tokens, notes, 0)
    tried: dict[int, tuple[list[int], tuple[str, ...]]] = {}

    def measure(kept: Sequence[ChatMessage]) -> int:
        tried[len(kept)] = encoded = template.encode(kept)
        return len(encoded[0])

    n_cut = Cutter(messages, sizes, limit).n_cut(measure)
    kept = without_oldest(messages, n_cut)
    tokens, notes = tried.get(len(kept)) or template.encode(kept)
    if n_cut:
        what = "The oldest message was" if n_cut == 1 else f"The oldest {n_cut} messages were"
        notes = (*notes, f"{what} left out, because the chat no longer fits into the context.")
    return FittedPrompt(tokens, notes, n_cut)
