"""How many tokens a conversation has for a model, and what is left out of one that is too long.

*Sizes* are cheap enough to ask for while the user types. Rendering a chat template takes 10 ms for
a hundred messages, with some templates half a second. So a conversation is rendered and tokenized
once; while only its last message changes, the number follows by the tokens of that message alone.
Near a limit it is counted again: where texts meet, two tokens may become one, and the sum may be a
few off.

*Cuts* take whole turns of question and answer, from the oldest on; the system prompt and the last
question stay. Cutting one turn per reply would shift the whole prompt each time and reuse nothing
of it. So a chat has few places to cut at: each is the first question after 30 % of what a prompt
may have, counted from the place before. The first place after which the rest fits is the one.

Where the cut lies must not depend on what was asked before, or a reply could not be repeated. The
places depend on the messages before them alone, and the rest after a place only grows; so in a
chat that goes on, a cut stays or moves on, and never comes back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from paceline.content import Tool
from paceline.engine.model.backend import Reasoning
from paceline.engine.model.tokens import TokenSequence
from paceline.engine.prompt.learned_marks import MarkTexts
from paceline.engine.prompt.template import ChatTemplate
from paceline.errors import EngineError
from paceline.messages import ChatMessage
from paceline.sentence import sentence

NEAR = 16
"""Tokens from a limit within which a sum is not trusted."""
NEAR_SHARE = 0.05
"""Share of a limit within which it is not trusted either: templates do more than put together."""
FAR = 1.5
"""A sum of sizes above this share of a limit needs no template to say that it does not fit;
rendering what is many times too long may take longer than a template is given."""
_MOST_CONVERSATIONS = 4
_MOST_TEXT = 8 << 20  # characters of texts whose sizes are kept
_UNKNOWN_SHARE = 4  # tokens around a message, where the template does not let them be measured
_END_OF_REASONING = "</think>"
_REASONING = "inwardness"

_Key = tuple[tuple[ChatMessage, ...], str, tuple[Tool, ...]]


@dataclass(frozen=True, slots=True)
class Shares:
    """What a template adds.

    Attributes:
        user: Tokens around a user's message, and around the system prompt.
        assistant: Tokens around a reply.
        fixed: Tokens around the whole, ready for the next reply.
        drops_reasoning: Whether earlier replies lose what stands before the end of their reasoning.
    """

    user: int
    assistant: int
    fixed: int
    drops_reasoning: bool


class PromptSizes:
    """Counts for one model; on the engine's thread.

    Args:
        template: The model's.
    """

    def __init__(self, template: ChatTemplate) -> None:
        self.template = template
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._n_characters = 0
        self._around: OrderedDict[_Key, int] = OrderedDict()
        self._of_tools: dict[tuple[Tool, ...], int] = {}

    @cached_property
    def shares(self) -> Shares:
        """What the template adds, measured once on three short messages."""
        question, reply, again = "Why", "So", "How"
        user = ChatMessage.of_text("user", again)
        thought = f"<think>\n{_REASONING}\n{_END_OF_REASONING}\n\n{reply}"
        asked = ChatMessage.of_text("user", question)
        try:
            alone = len(self.template.encode([user])[0]) - self.of_text(again)
            answered = [asked, ChatMessage.of_text("assistant", reply), user]
            pair = len(self.template.encode(answered)[0]) - alone
            pair -= sum(map(self.of_text, (question, reply, again)))
            text = self.template.render([asked, ChatMessage.of_text("assistant", thought), user])
        except EngineError:
            return Shares(_UNKNOWN_SHARE, _UNKNOWN_SHARE, _UNKNOWN_SHARE, drops_reasoning=False)
        of_user = max(pair + 1, 0) // 2
        return Shares(
            of_user, max(pair, 0) - of_user, max(alone - of_user, 0), _REASONING not in text
        )

    def count(self, messages: Sequence[ChatMessage], limit: int, tools: Sequence[Tool] = ()) -> int:
        """Return the tokens of the prompt.

        Args:
            messages: The conversation, at least one message.
            limit: Exact near it, a few tokens off elsewhere, and a sum of sizes far above it.
            tools: Those that the model is told of.

        Raises:
            EngineError: The template refuses the conversation.
        """
        total = self.total(messages, tools)
        if is_hopeless(total, limit):
            return total
        last = messages[-1]
        is_text_alone = last == ChatMessage.of_text(last.role, last.text)
        if not (is_text_alone and self._is_plain(last.text)):
            return len(self.template.encode(messages, tools)[0])
        key = tuple(messages[:-1]), last.role, tuple(tools)
        around = self._around.get(key)
        if around is not None:
            self._around.move_to_end(key)
            n_tokens = around + self.of_text(last.text)
            if abs(n_tokens - limit) > max(NEAR, NEAR_SHARE * limit):
                return n_tokens
        n_tokens = len(self.template.encode(messages, tools)[0])
        self._around[key] = n_tokens - self.of_text(last.text)
        if len(self._around) > _MOST_CONVERSATIONS:
            self._around.popitem(last=False)
        return n_tokens

    def total(self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()) -> int:
        """Return the sum of all sizes: about the tokens of the prompt, and the same every time."""
        return self.shares.fixed + self.of_tools(tools) + sum(self.of_messages(messages))

    def of_tools(self, tools: Sequence[Tool]) -> int:
        """Return what the description of the tools takes; measured once for those asked last."""
        if not tools:
            return 0
        given = tuple(tools)
        if given not in self._of_tools:
            self._of_tools = {given: self._measured(given)}
        return self._of_tools[given]

    def _measured(self, tools: tuple[Tool, ...]) -> int:
        asked = [ChatMessage.of_text("user", "Why")]
        try:
            with_tools, alone = (len(self.template.encode(asked, each)[0]) for each in (tools, ()))
        except EngineError:
            return sum(self.of_text(part) for t in tools for part in (t.description, t.parameters))
        return with_tools - alone

    def of_messages(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return what each message takes, independent of its neighbours."""
        return [self._of_message(message) for message in messages]

    def of_text(self, text: str) -> int:
        """Return the tokens of a text alone; known for what was asked lately."""
        size = self._sizes.get(text)
        if size is not None:
            self._sizes.move_to_end(text)
            return size
        size = self._sizes[text] = len(self.template.vocab.tokenize(text, special=False))
        self._n_characters += len(text)
        while self._n_characters > _MOST_TEXT and len(self._sizes) > 1:
            self._n_characters -= len(self._sizes.popitem(last=False)[0])
        return size

    def _is_plain(self, text: str) -> bool:
        """Whether a text adds its own tokens to a prompt.

        Templates strip blanks, and what looks like a control token is taken apart.
        """
        vocab = self.template.vocab
        is_stripped = text == text.strip()
        return is_stripped and len(vocab.tokenize(text, special=True)) == self.of_text(text)

    def _of_message(self, message: ChatMessage) -> int:
        shares, text = self.shares, message.text
        if message.role != "assistant":
            return self.of_text(text) + shares.user
        if shares.drops_reasoning:
            text = text.rpartition(_END_OF_REASONING)[2].lstrip()
        called = sum(self.of_text(part) for c in message.calls for part in (c.name, c.arguments))
        return self.of_text(text) + called + shares.assistant


def is_hopeless(total: int, limit: int) -> bool:
    """Whether a sum of sizes is so far above a limit that counting is not needed."""
    return total > FAR * limit


def at_most(sizes: Sequence[int], n_tokens: int) -> tuple[int, ...]:
    """Take from the largest sizes what their sum is above `n_tokens`."""
    parts, excess = list(sizes), sum(sizes) - n_tokens
    for i in sorted(range(len(parts)), key=parts.__getitem__, reverse=True):
        if excess <= 0:
            break
        taken = min(excess, parts[i])
        parts[i] -= taken
        excess -= taken
    return tuple(parts)


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
        tools: Those that the model is told of.
    """

    def __init__(
        self,
        messages: Sequence[ChatMessage],
        sizes: PromptSizes,
        limit: int,
        tools: Sequence[Tool] = (),
    ) -> None:
        spoken = [i for i, message in enumerate(messages) if message.role != "system"]
        each = sizes.of_messages(messages)
        sums = [0, *accumulate(each[i] for i in spoken)]
        total = sizes.total(messages, tools)
        waiting = _waiting_calls(messages)
        questions = [
            k for k, i in enumerate(spoken) if k and messages[i].role == "user" and i not in waiting
        ]
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


def _waiting_calls(messages: Sequence[ChatMessage]) -> set[int]:
    """Return the messages between a call and its result: no place to part them."""
    called: dict[str, int] = {}
    between: set[int] = set()
    for i, message in enumerate(messages):
        called |= {call.id: i for call in message.calls}
        if message.role == "tool":
            between.update(range(called.get(message.answers, i) + 1, i + 1))
    return between


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
        tokens: At least one; it ends with an id.
        notes: Remarks for the user.
        n_cut: How many messages, or files beside a gap, were left out of it.
        opening: What it ends with where it opens the model's reasoning; else empty.
        marks: Marks of reasoning that the reply's text has others for; None: there are none.
        knows_marks: Whether template or vocabulary know marks of reasoning.
        stops: Texts that the reply ends before, by the template.
        reasoning: The marks of a reasoning that the reply may begin with; None: it has none.
        calls: The form in which the reply writes calls of tools; empty: it can hold none.
        shown: Control tokens that are text in the reply, with their texts.
    """

    tokens: TokenSequence
    notes: tuple[str, ...]
    n_cut: int
    opening: str = ""
    marks: MarkTexts | None = None
    knows_marks: bool = False
    stops: tuple[str, ...] = ()
    reasoning: Reasoning | None = None
    calls: str = ""
    shown: Mapping[int, str] = MappingProxyType({})


def encode_fitting(
    sizes: PromptSizes,
    messages: Sequence[ChatMessage],
    n_ctx: int,
    max_tokens: int,
    tools: Sequence[Tool] = (),
) -> FittedPrompt:
    """Put a conversation through the template, without its oldest messages if need be.

    Raises:
        EngineError: The template refuses it.
    """
    limit, template = n_ctx - room_for_reply(n_ctx, max_tokens), sizes.template
    if not is_hopeless(sizes.total(messages, tools), limit):
        tokens, notes = template.encode(messages, tools)
        if len(tokens) <= limit:
            return FittedPrompt(tokens, notes, 0)
    tried: dict[int, tuple[TokenSequence, tuple[str, ...]]] = {}

    def measure(kept: Sequence[ChatMessage]) -> int:
        tried[len(kept)] = encoded = template.encode(kept, tools)
        return len(encoded[0])

    n_cut = Cutter(messages, sizes, limit, tools).n_cut(measure)
    kept = without_oldest(messages, n_cut)
    tokens, notes = tried.get(len(kept)) or template.encode(kept, tools)
    if n_cut:
        note = sentence(
            "The oldest {n} messages were left out, because the chat no longer fits into the "
            "context.",
            n=n_cut,
        )
        if n_cut == 1:
            note = sentence(
                "The oldest message was left out, because the chat no longer fits into the context."
            )
        notes = (*notes, note)
    return FittedPrompt(tokens, notes, n_cut)
