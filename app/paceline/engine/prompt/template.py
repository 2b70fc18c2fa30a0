"""The chat template of a model: converts a conversation into token ids.

The template comes from a file from the internet and runs in a separate process (`renderer`).

What a user typed must stay text: if it contains ``<|im_end|>``, the model must see these ten
characters, not its control token. When a message contains such a text, the template is rendered
twice: once as it is, once with placeholders for the contents. The parts between placeholders are
tokenized with control tokens, the contents without. A template that changes the contents cannot be
split this way; then the texts of control tokens in the contents are broken up, and a note says so.

Whether and how much a model reasons is a switch of its template, for which templates use different
names. So the possible values of each choice are passed to the template under all names in use, and
a choice exists if it changes the prompt. Some templates read a text in the system message instead
of a variable.
"""

from __future__ import annotations

import functools
import re
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from paceline.content import Tool, joined, of_text
from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.tokens import TokenSequence
from paceline.engine.prompt.conversation import is_about_tools
from paceline.engine.prompt.learned_marks import LearnedMarks, learn
from paceline.engine.prompt.reasoning_marks import PAIRS
from paceline.engine.prompt.renderer import Outcome, RenderJob, WriteCalls, renderer
from paceline.engine.prompt.segments import Segment, encode_segments, filled
from paceline.engine.prompt.tool_words import in_words
from paceline.engine.prompt.tool_writing import ToolWriting, learn_writing
from paceline.errors import EngineError
from paceline.messages import ChatMessage
from paceline.sentence import sentence

_EFFORTS = {"low": 512, "medium": 2048, "high": 8192, "max": 8192}
"""Choices of effort, each with the number of tokens for a template with a budget."""
CHOICES = ("off", "on", *_EFFORTS)
_NAMES = re.compile(
    r"\b(?:(?:enable_)?thinking|thinking_(?:mode|budget|effort)|reasoning(?:_effort)?)\b"
)
_TEXTS = (("/no_think", "/think"), ("detailed thinking off", "detailed thinking on"))
_NO_EFFORT = re.compile(r"reasoning_effort\b[^%}]{0,80}['\"](none|no_think)['\"]")
_PROBE = ChatMessage.of_text("user", "Why")

Render = Callable[[Sequence[RenderJob]], list[Outcome]]


class ThinkingSwitch:
    """The choices of reasoning that a template has.

    Args:
        source: The template in Jinja.
        render: Renders conversations with it.

    Attributes:
        choices: Its choices, from the least reasoning to the most; empty without a switch.
    """

    def __init__(self, source: str, render: Render) -> None:
        self._source = source
        self._render = render
        self._texts: tuple[str, str] | None = None
        self.choices: tuple[str, ...] = self._find_choices() if _NAMES.search(source) else ()
        for texts in _TEXTS:
            if not self.choices and texts[0] in source:
                self._texts = texts
                self.choices = self._find_choices()

    def variables(self, choice: str) -> dict[str, Any]:
        """Return the template's variables for a choice; none for an empty one."""
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
        content = of_text(self._texts[choice != "off"])
        if messages and messages[0].role == "system":
            content = joined(messages[0].content, content)
            messages = messages[1:]
        return (ChatMessage("system", content), *messages)

    def _find_choices(self) -> tuple[str, ...]:
        asked = [
            RenderJob(self.messages([_PROBE], choice), self.variables(choice)) for choice in CHOICES
        ]
        # A template that refuses a choice expects other words.
        prompts = {
            choice: text
            for choice, (kind, text) in zip(CHOICES, self._render(asked), strict=True)
            if kind == "text"
        }
        off, on = prompts.get("off"), prompts.get("on")
        has_off = off is not None and (off != on or _NO_EFFORT.search(self._source) is not None)
        # A template that accepts any word does not prove that it knows "max".
        has_max = re.search(r"['\"]max['\"]", self._source) is not None
        is_real = {"off": has_off, "on": off != on, "max": has_max}
        kept: dict[str, str] = {}
        # An effort with the effect of another one, or of "on", is not a choice of its own.
        for choice in ("off", "on", "low", "high", "medium", "max"):
            text = prompts.get(choice)
            if text is not None and text not in kept and is_real.get(choice, True):
                kept[text] = choice
        return tuple(c for c in CHOICES if c in kept.values()) if len(kept) > 1 else ()


_OTHER = sentence(
    "Take another template: under Models → Chat template… in the window, by "
    "--template on the command line."
)
_FORGETS = sentence(
    "Beside a system prompt, this model's chat template ignores how much the model is to reason."
)
_IN_WORDS = sentence(
    "This model's chat template cannot write these tools, so they, their calls and results "
    "were put into the prompt as text."
)
_SILENT = sentence(
    "This model's chat template leaves out what the model said beside a call of a tool."
)
_MIN_STOP_CHARS = 4
"""Minimum number of characters of a text that ends a reply within a line."""
BAD, REFUSED = "bad-template", "template-refused"
"""Codes of errors: the template fails, or refuses the conversation."""
_QUESTION, _REPLY, _AGAIN = "first question", "the reply", "second question"


class ChatTemplate:
    """A model's chat template, analysed at first use: raw prompts work without it.

    Args:
        source: The template in Jinja.
        vocab: The model's vocabulary.
        think: Choice of reasoning; see `Prompting`.
        write_calls: Writes calls as the template's models do, or None if that is not known.

    Attributes:
        source: The argument `source`.
        vocab: The argument `vocab`.
    """

    def __init__(
        self,
        source: str,
        vocab: Vocabulary,
        think: str = "",
        write_calls: WriteCalls | None = None,
    ) -> None:
        self.source = source
        self.vocab = vocab
        self._write_calls = write_calls
        self._think = think
        self._fails = False
        self._tried: tuple[tuple[Tool, ...], bool] | None = None

    @functools.cached_property
    def switch(self) -> ThinkingSwitch:
        """The switch between reasoning and none."""
        return ThinkingSwitch(self.source, self._probe)

    @functools.cached_property
    def stops(self) -> tuple[str, ...]:
        """Texts before which a reply ends: the template's texts around turns that are no tokens."""
        asked = ChatMessage.of_text("user", _QUESTION), ChatMessage.of_text("assistant", _REPLY)
        messages = self.switch.messages([*asked, ChatMessage.of_text("user", _AGAIN)], self._think)
        ((kind, text),) = self._probe([RenderJob(messages, self.switch.variables(self._think))])
        if kind != "text":
            return ()
        _, reply, rest = text.rpartition(_REPLY)
        after_reply, again, after_question = rest.partition(_AGAIN)
        if not (reply and again) or self._holds_control_tokens(after_reply):
            return ()
        parts = (
            "\n" * part.startswith("\n") + part.strip() for part in (after_reply, after_question)
        )
        # A text that any list, ruler or sentence may contain does not end a reply.
        return tuple(
            part
            for part in parts
            if any(map(str.isalnum, part))
            and (part.startswith("\n") or len(part) >= _MIN_STOP_CHARS)
        )

    @functools.cached_property
    def marks(self) -> LearnedMarks:
        """The marks with which it writes a reply with reasoning."""
        variables = self.switch.variables
        return learn(self.source, self._probe, variables(self._think), variables("on"))

    @functools.cached_property
    def knows_marks(self) -> bool:
        """Return whether it, or the vocabulary, has a mark that ends a reasoning."""
        if self.marks.closing or any(mark in self.source for mark in PAIRS.values()):
            return True
        return any(len(self.vocab.tokenize(m, special=True)) == 1 for m in PAIRS.values())

    @functools.cached_property
    def _tool_writing(self) -> ToolWriting:
        variables = self.switch.variables(self._think)
        return learn_writing(self._probe, variables, self._write_calls)

    def writes(self, tools: Sequence[Tool]) -> bool:
        """Return whether it can write tools like these, calls and results; else they become text.

        That text has Hermes' form. Templates that know tools may still fail at parameters of some
        kinds; rendering shows that, and the result is cached for the last tools.
        """
        if not (tools and self._tool_writing.is_known):
            return self._tool_writing.is_known
        given = tuple(tools)
        if self._tried is None or self._tried[0] != given:
            ((kind, _),) = self._outcomes(
                [RenderJob([_PROBE], self.switch.variables(self._think), given)]
            )
            self._tried = given, kind == "text"
        return self._tried[1]

    @functools.cached_property
    def _forgets_choice(self) -> bool:
        """Return whether the choice of reasoning has no effect beside a system prompt."""
        messages = ChatMessage.of_text("system", "So"), _PROBE
        jobs = [
            RenderJob(self.switch.messages(messages, choice), self.switch.variables(choice))
            for choice in self.switch.choices
        ]
        outcomes = set(self._probe(jobs))
        return len(outcomes) == 1 and outcomes.pop().kind == "text"

    def encode(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()
    ) -> tuple[TokenSequence, tuple[str, ...]]:
        """Return the prompt's tokens, up to the assistant's reply, and notes for the user.

        Args:
            messages: The conversation.
            tools: The tools that the model is given.

        Raises:
            EngineError: The template fails, takes too long, or refuses the conversation.
        """
        segments, notes = self._split(messages, tools)
        tokens = encode_segments(self.vocab, segments)
        v = self.vocab
        if v.add_bos and v.bos >= 0 and tokens[:1] != [v.bos]:
            tokens.insert(0, v.bos)
        return TokenSequence(tokens), tuple(notes)

    def render(self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()) -> str:
        """Return the prompt's text; arguments and errors as for `encode`."""
        return self.render_with_notes(messages, tools)[0]

    def render_with_notes(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()
    ) -> tuple[str, tuple[str, ...]]:
        """Return the prompt's text, and notes for the user; the rest as for `encode`."""
        segments, notes = self._split(messages, tools)
        return "".join(text for text, _ in segments), tuple(notes)

    def _split(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> tuple[list[Segment], list[str]]:
        told: list[str] = []
        writing = ToolWriting()
        if is_about_tools(messages, tools):
            if self.writes(tools):
                writing = self._tool_writing
                if writing.is_silent and any(m.calls and m.text for m in messages):
                    told.append(_SILENT)
                messages = writing.arranged(messages)
            else:
                messages, tools = in_words(messages, tools), ()
                told.append(_IN_WORDS)
        if self._think:
            if self._think not in self.switch.choices:
                raise self._no_such_thinking()
            messages = self.switch.messages(messages, self._think)
        tried: list[tuple[ChatMessage, ...]] = []
        for changes in _CHANGES:
            changed, notes = tuple(messages), [*told]
            for change, note in changes:
                changed = change(changed)
                notes.append(note)
            if changed in tried:
                continue
            tried.append(changed)
            has_system = any(message.role == "system" for message in changed)
            if self._think and has_system and self._forgets_choice:
                notes.append(_FORGETS)
            try:
                variables = self.switch.variables(self._think) if self._think else {}
                return self._segments(writing.job(changed, variables, tools), notes), notes
            except EngineError as error:
                if error.code != REFUSED:
                    raise
                last = error
        raise last

    def _no_such_thinking(self) -> EngineError:
        choices = self.switch.choices
        if not choices:
            return EngineError(
                "no-thinking-switch",
                "The chat template has no switch for how much the model reasons.",
                "Leave that to the model.",
            )
        return EngineError(
            "no-thinking-switch",
            "The chat template does not know “{think}” as a way to reason.",
            "It has {choices}.",
            think=self._think,
            choices=", ".join(choices),
        )

    def _segments(self, job: RenderJob, notes: list[str]) -> list[Segment]:
        plain = self._render(job)
        fields = job.fields()
        if self._holds_control_tokens("\n".join(job.names())):
            raise _cannot_be_kept()
        # All in one text, since a template may put two contents, or parts of one, side by side.
        said = "".join(map(_closed_up, job.messages))
        if not any(map(self._holds_control_tokens, (said, "".join(fields)))):
            return [(plain, True)]  # in one piece, as in training
        nonce = secrets.token_hex(8)
        texts: dict[str, str] = {}

        def marked(text: str) -> str:
            if not text:  # templates check whether anything is said beside a call
                return text
            mark = f"placeholder{nonce}x{len(texts)}x"
            texts[mark] = text
            return mark

        # As few fields as possible are replaced, so that the text around others is as in training.
        held = {text for text in fields if self._holds_control_tokens(text)}
        if self._holds_control_tokens("".join(text for text in fields if text not in held)):
            held.update(fields)
        marked_job = job.with_texts(marked, lambda text: marked(text) if text in held else text)
        pieces = re.split(f"(placeholder{nonce}x[0-9]+x)", self._render(marked_job))
        if found := filled(pieces, texts, plain):
            return found
        notes.append(
            sentence(
                "The chat template rewrites messages, so control tokens typed in them "
                "were broken up."
            )
        )
        broken = job.with_texts(self._break_up, self._break_up)
        parts = (*map(_closed_up, broken.messages), "".join(broken.fields()))
        if any(map(self._holds_control_tokens, parts)):
            raise _cannot_be_kept()  # two parts together form one
        return [(self._render(broken), True)]

    def check_question(
        self, messages: Sequence[ChatMessage], prompt: str, tools: Sequence[Tool] = ()
    ) -> None:
        """Refuse a prompt without the last question, since the model would answer something else.

        Raises:
            EngineError: The question is missing in all ways in which a template may write it.
        """
        asked = next((i for i in reversed(range(len(messages))) if messages[i].role == "user"), -1)
        if asked < 0 or (self._shows_question and messages[asked].text.strip() in prompt):
            return
        question, ends = _question()
        probe = [*messages]
        probe[asked] = ChatMessage.of_text("user", question)
        text = self.render(probe, tools)
        if not all(end in text for end in ends):
            raise EngineError(BAD, "The chat template leaves the question out.", _OTHER)

    @functools.cached_property
    def _shows_question(self) -> bool:
        """Return whether a prompt contains the question of a conversation that has nothing else."""
        question, ends = _question()
        asked = RenderJob(
            (ChatMessage.of_text("user", question),), self.switch.variables(self._think)
        )
        ((_, text),) = self._outcomes([asked])
        return all(end in text for end in ends)

    def _holds_control_tokens(self, text: str) -> bool:
        return self.vocab.tokenize(text, special=True) != self.vocab.tokenize(text, special=False)

    def _break_up(self, text: str) -> str:
        """Put a zero-width space after the first character of the text of each control token.

        Raises:
            EngineError: That does not help with this tokenizer.
        """
        for _ in range(4):  # breaking up one may create another
            if not self._holds_control_tokens(text):
                return text
            special = self.vocab.tokenize(text, special=True)
            plain = set(self.vocab.tokenize(text, special=False))
            names = {self.vocab.text(t).decode("utf-8", "replace") for t in set(special) - plain}
            for name in filter(None, names):
                text = text.replace(name, f"{name[0]}\u200b{name[1:]}")
        text = re.sub(
            r"([^\w\s\u200b])(?=\S)",
            "\\1\u200b",
            text,
            # Some tokenizers read other texts than its own as a control token.
        )
        if self._holds_control_tokens(text):
            raise _cannot_be_kept()
        return text

    def _render(self, job: RenderJob) -> str:
        ((kind, text),) = self._outcomes([job])
        match kind:
            case "text":
                return text
            case "refused":
                raise EngineError(
                    REFUSED,
                    "The chat template refuses this conversation: {text:bare}.",
                    "Let user and assistant alternate. {other}",
                    text=text,
                    other=_OTHER,
                )
            case _:
                raise EngineError(BAD, "The chat template failed: {text}.", _OTHER, text=text)

    def _probe(self, jobs: Sequence[RenderJob]) -> list[Outcome]:
        """Render to learn about the template; a template that fails entirely is not tried again."""
        if self._fails:
            return [Outcome("failed", sentence("it failed before"))] * len(jobs)
        outcomes = self._outcomes(jobs)
        self._fails = all(outcome.kind == "failed" for outcome in outcomes)
        return outcomes

    def _outcomes(self, jobs: Sequence[RenderJob]) -> list[Outcome]:
        v = self.vocab
        bos, eos = (v.text(t).decode("utf-8", "replace") if t >= 0 else "" for t in (v.bos, v.eos))
        return renderer().render((self.source, bos, eos), jobs)


def _closed_up(message: ChatMessage) -> str:
    return "".join(part.text for part in message.content) + message.reasoning


def _cannot_be_kept() -> EngineError:
    return EngineError(
        "control-token",
        "A message holds the text of a control token, and this model's chat template "
        "leaves no way to keep it plain text.",
        "Take it out of the message.",
    )


def fold_system(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with the system texts put before the first user message."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    at = next((i for i, m in enumerate(rest) if m.role == "user"), None)
    if not system or at is None:
        return tuple(messages)
    rest[at] = ChatMessage("user", functools.reduce(joined, [*system, rest[at].content]))
    return tuple(rest)


def in_turns(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages such that questions and replies alternate, starting with a question."""
    turns: list[ChatMessage] = []
    has_question = all(message.role != "user" for message in messages)  # then nothing is dropped
    for message in messages:
        has_question = has_question or message.role == "user"
        if message.role in ("assistant", "tool") and not has_question:
            continue
        if turns and turns[-1].role == message.role != "tool" and not turns[-1].calls:
            before = turns.pop()
            reasoning = "\n\n".join(filter(None, (before.reasoning, message.reasoning)))
            content = joined(before.content, message.content)
            message = structs.replace(  # noqa: PLW2901
                message, content=content, reasoning=reasoning
            )
        turns.append(message)
    return tuple(turns)


_FOLDED = (
    fold_system,
    sentence("This model knows no system role; its text was put before the question."),
)
_IN_TURNS = (
    in_turns,
    sentence(
        "This model wants questions and replies in turns: neighbours of one role "
        "were put together, and replies before the first question left out."
    ),
)
_CHANGES = ((), (_FOLDED,), (_IN_TURNS,), (_FOLDED, _IN_TURNS))
"""Changes with which a template may accept a conversation that it refuses, the mildest first."""


def _question() -> tuple[str, list[str]]:
    """Return a question that no template contains, with its beginning and end."""
    ends = [f"{secrets.randbelow(10**8):08}" for _ in range(2)]
    return f"{ends[0]}{' 0' * 200} {ends[1]}", ends
