"""Sizes of conversations in tokens, and the cutting of one that is too long.

*Sizes* are cheap enough to compute while the user types. Rendering a chat template takes 10 ms for
a hundred messages, with some templates half a second. So a conversation is rendered and tokenized
once; while only its last message changes, the size is updated by that message's tokens alone. Near
a limit it is counted again: two tokens may merge where texts meet, and the sum may be a few off.

*Cuts* remove whole turns of question and answer, the oldest first; the system prompt and the last
question stay. Cutting one turn per reply would shift the whole prompt each time, so that nothing
could be reused. So a chat has few places for a cut: each is the first question after 30 % of the
room for a prompt, counted from the place before. The first place after which the rest fits is used.

The place of a cut must not depend on earlier requests, or a reply could not be repeated. The places
depend only on the messages before them, and the rest after a place only grows; so in a chat that
goes on, a cut stays or moves forward, and never back.
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

NEAR_TOKENS = 16
"""Tokens from a limit within which a sum of sizes is not exact enough."""
NEAR_SHARE = 0.05
"""Share of a limit within which it is not exact enough either, since templates may add more."""
FAR_RATIO = 1.5
"""Factor on a limit above which a sum of sizes certainly does not fit; rendering a text that is
many times too long may exceed a template's time limit."""
_MAX_CONVERSATIONS = 4
_MAX_CACHED_CHARS = 8 << 20  # of the texts whose sizes are cached
_UNKNOWN_TOKENS = 4  # assumed tokens around a message, if the template hides them
_END_OF_REASONING = "</think>"
_REASONING = "inwardness"

_Key = tuple[tuple[ChatMessage, ...], str, tuple[Tool, ...]]


@dataclass(frozen=True, slots=True)
class Shares:
    """The tokens that a template adds.

    Attributes:
        user: Number of tokens around a user's message, and around the system prompt.
        assistant: Number of tokens around a reply.
        fixed: Number of tokens around the whole conversation, up to the next reply.
        drops_reasoning: Whether the reasoning of earlier replies is dropped.
    """

    user: int
    assistant: int
    fixed: int
    drops_reasoning: bool


class PromptSizes:
    """Counts the tokens of conversations for one model; for the engine's thread.

    Args:
        template: The model's template.
    """

    def __init__(self, template: ChatTemplate) -> None:
        self.template = template
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._n_characters = 0
        self._around: OrderedDict[_Key, int] = OrderedDict()
        self._of_tools: dict[tuple[Tool, ...], int] = {}

    @cached_property
    def shares(self) -> Shares:
        """The tokens that the template adds, measured once on three short messages."""
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
            return Shares(_UNKNOWN_TOKENS, _UNKNOWN_TOKENS, _UNKNOWN_TOKENS, drops_reasoning=False)
        of_user = max(pair + 1, 0) // 2
        return Shares(
            of_user, max(pair, 0) - of_user, max(alone - of_user, 0), _REASONING not in text
        )

    def count(self, messages: Sequence[ChatMessage], limit: int, tools: Sequence[Tool] = ()) -> int:
        """Return the number of tokens of the prompt.

        Args:
            messages: The conversation, at least one message.
            limit: Number of tokens near which the result is exact; otherwise it may be a few tokens
                off, and far above the limit it is a sum of sizes.
            tools: The tools that the model is given.

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
            if abs(n_tokens - limit) > max(NEAR_TOKENS, NEAR_SHARE * limit):
                return n_tokens
        n_tokens = len(self.template.encode(messages, tools)[0])
        self._around[key] = n_tokens - self.of_text(last.text)
        if len(self._around) > _MAX_CONVERSATIONS:
            self._around.popitem(last=False)
        return n_tokens

    def total(self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()) -> int:
        """Return the sum of all sizes: about the tokens of the prompt, the same every time."""
        return self.shares.fixed + self.of_tools(tools) + sum(self.of_messages(messages))

    def of_tools(self, tools: Sequence[Tool]) -> int:
        """Return the tokens of the tools' description; cached for the last tools."""
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
        """Return the tokens of each message, independent of its neighbours."""
        return [self._of_message(message) for message in messages]

    def of_text(self, text: str) -> int:
        """Return the tokens of a text alone; cached for recent texts."""
        size = self._sizes.get(text)
        if size is not None:
            self._sizes.move_to_end(text)
            return size
        size = self._sizes[text] = len(self.template.vocab.tokenize(text, special=False))
        self._n_characters += len(text)
        while self._n_characters > _MAX_CACHED_CHARS and len(self._sizes) > 1:
            self._n_characters -= len(self._sizes.popitem(last=False)[0])
        return size

    def _is_plain(self, text: str) -> bool:
        """Return whether a text adds exactly its own tokens to a prompt.

        It does not if templates strip its blanks, or if it contains names of control tokens.
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
    """Return whether a sum of sizes is so far above a limit that counting is not needed."""
    return total > FAR_RATIO * limit


def at_most(sizes: Sequence[int], n_tokens: int) -> tuple[int, ...]:
    """Reduce the largest sizes until their sum is at most `n_tokens`."""
    parts, excess = list(sizes), sum(sizes) - n_tokens
    for i in sorted(range(len(parts)), key=parts.__getitem__, reverse=True):
        if excess <= 0:
            break
        taken = min(excess, parts[i])
        parts[i] -= taken
        excess -= taken
    return tuple(parts)


MAX_FULL_SHARE = 0.7
"""Maximum share of the context, without the reply's room, for a prompt that was cut, as far as the
ends of turns and the last question allow it."""
REPLY_ROOM_DIVISOR = 4
"""Divisor of the context for the maximum room that is kept free for the reply."""


def room_for_reply(n_ctx: int, max_tokens: int) -> int:
    """Return the number of tokens to keep free after the prompt before messages are omitted."""
    return min(max_tokens, n_ctx // REPLY_ROOM_DIVISOR)


def without_oldest(messages: Sequence[ChatMessage], n_cut: int) -> list[ChatMessage]:
    """Return the conversation without its first `n_cut` messages, not counting system prompts."""
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
        messages: The whole conversation.
        sizes: The sizes of messages.
        limit: Maximum number of tokens of the prompt.
        tools: The tools that the model is given.
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
        places = _places(questions, sums, (1 - MAX_FULL_SHARE) * limit)
        if places:
            questions = [question for question in questions if question > places[-1]]
        self._places = places + questions
        self._sizes = [total - sums[place] for place in self._places]
        self._messages = messages
        self._limit = limit

    def n_cut(self, measure: Callable[[Sequence[ChatMessage]], int]) -> int:
        """Return how many messages to omit from a conversation that does not fit.

        Args:
            measure: Counts the tokens of the kept messages; sizes of single messages may be a few
                off.

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
    """Return the indexes of messages between a call and its result, where no cut is allowed."""
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
    """A prompt as tokens, with what the reply needs.

    Attributes:
        tokens: At least one token; the last one is an id.
        notes: Remarks for the user.
        n_cut: Number of messages, or of files beside a gap, that were omitted.
        opening: Text at its end that opens the model's reasoning; empty if there is none.
        marks: Learned marks of reasoning that the reply's text replaces, or None.
        knows_marks: Whether template or vocabulary have marks of reasoning.
        stops: Texts of the template before which the reply ends.
        reasoning: Marks of the reasoning that the reply may begin with, or None without reasoning.
        calls: Id of the form in which the reply writes calls of tools; empty if it cannot have any.
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
    """Apply the template to a conversation, without its oldest messages if necessary.

    Raises:
        EngineError: The template refuses the conversation.
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
